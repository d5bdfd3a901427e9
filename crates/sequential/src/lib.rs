//! One thread at a time: a model checker for sequential programs (graphs of steps over terms), and
//! [`predicates`].
//!
//! [`check`] decides whether a forbidden state is reachable: no, with an invariant for each node
//! ([`Invariants`]), or yes, with a path ([`Path`]). [`Memory`] does the same, and keeps what it learns for
//! similar programs. The answer is exact for the given program. This crate knows nothing of threads, nor of
//! where the program comes from.
//!
//! The program becomes Horn clauses. Sequences of steps are first merged into large blocks; each remaining
//! node has a relation over the variables that matter there. The solver's answer is not trusted: invariants
//! are checked clause by clause, and a path counts only with a model of its formula.

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
