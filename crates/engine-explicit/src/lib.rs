//! Explicit-state exploration of programs: the oracle for all engines, and a bug finder in its own right.
