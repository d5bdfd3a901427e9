//! One thread at a time: a model checker for sequential programs (graphs of steps over terms), and
//! [`predicates`].
//!
//! [`check`] answers whether a forbidden state can be reached: no, with an invariant for each node
//! ([`Invariants`]), or yes, with a path ([`Path`]). [`Memory`] answers the same, and keeps what it learns
//! for programs that are alike. Exact for the program that it is given. It knows nothing of threads and of
//! where the program comes from.
//!
//! The program becomes Horn clauses, one relation for each node that stays after runs of steps were put
//! together (large blocks), over the variables that matter there. What the solver answers is not believed:
//! invariants are checked clause by clause, a path is one only if a model of its formula is found.

mod check;
mod encode;
mod memory;
mod path;
pub mod predicates;
mod program;
#[cfg(test)]
mod tests;

pub use check::{Invariants, Outcome, check};
pub use memory::{Count, Memory};
pub use path::{Execution, Path};
pub use program::{Forbidden, Node, Program, Step};
