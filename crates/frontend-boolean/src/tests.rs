//! Placeholder until the tests follow.
