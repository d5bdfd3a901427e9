//! Programs with annotations: right ones are accepted, forged ones and those of broken programs are refused.
//!
//! Annotations are made by weakening ([`builder`]): all that could be said is claimed everywhere, and what
//! the checker does not accept is taken out. What is left is the most that the checker would ever believe
//! of a program. So a race that it does not see here, it would overlook.

mod broken;
mod builder;
mod by_kind;
mod forged;
mod moved;
mod programs;
mod values;
mod words;
