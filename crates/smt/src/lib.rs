//! The interface to the solver.
//!
//! [`Term`]s are our own and know nothing of the solver. [`Solver`] answers whether formulas can hold
//! together, [`eliminate`] and [`interpolate`] compute formulas from formulas, [`horn`] finds invariants.
//! [`expressions`] translates the expressions of programs to terms. Every query takes a budget, and really
//! ends with it.
//!
//! This is the only crate that links the solver, and none of its types leaves it. Engines may trust its
//! answers only because the checker asks again.

mod as_bits;
mod decode;
pub mod eliminate;
mod encode;
pub mod expressions;
pub mod horn;
pub mod interpolate;
pub mod limits;
pub mod questions;
mod solver;

pub use limits::NoAnswer;
pub use questions::Questions;
pub use solver::{Answer, Solver, can_fail, satisfiable};
pub use terms::{ArrayValue, Ghost, Instance, Name, NoValue, Operation, Sort, Symbol, Term, Value, Variable};
pub use terms::{construct, print, sort, term, value, visit};
