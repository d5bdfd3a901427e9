//! Predicate abstraction, and the mining of predicates.
//!
//! Shared by the engines that abstract a program to the truth values of finitely many formulas.
//!
//! * [`decide`]: whether some formulas imply another one or its negation, by a solver.
//! * [`abstraction`]: the effect of steps on predicates: new values that the old ones determine, and clauses
//!   for the others. Over-approximates.
//! * [`path`]: executions of threads, step by step, as formulas over copies of all variables (paper 3,
//!   formula 14).
//! * [`mine`]: predicates that exclude a spurious execution.
//! * [`atoms`]: the atoms of formulas, in a normal form.
//!
//! Nothing here is trusted: the checker verifies again whatever a proof rests on.

pub mod abstraction;
pub mod atoms;
pub mod decide;
pub mod mine;
pub mod path;

pub use abstraction::Abstractor;
pub use atoms::Vocabulary;
pub use mine::{Mined, mine};
pub use path::{End, Feasibility, Path, PathEnd, PathStep, schedule};
