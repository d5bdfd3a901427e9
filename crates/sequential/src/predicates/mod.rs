//! Predicate abstraction, and predicates.
//!
//! What engines share that see a program through the truth of finitely many formulas.
//!
//! * [`decide`]: what some formulas say of another, by a solver.
//! * [`abstraction`]: what steps do to predicates: new values that old ones decide, and clauses for the
//!   others. Over-approximates.
//! * [`path`]: executions of threads, step by step, as formulas over copies of all variables (paper 3,
//!   formula 14).
//! * [`mine`]: predicates that exclude an execution that does not exist.
//! * [`atoms`]: the formulas that others are made of, each in one form.
//!
//! Nothing here is believed: the checker asks again whatever a proof rests on.

pub mod abstraction;
pub mod atoms;
pub mod decide;
pub mod mine;
pub mod path;

pub use abstraction::Abstractor;
pub use atoms::Vocabulary;
pub use mine::{Mined, mine};
pub use path::{End, Feasibility, Path, PathEnd, PathStep, schedule};
