//! Formulas and the expressions inside them. They know nothing of a solver, so that proofs can be made of
//! them.

pub mod construct;
pub mod print;
pub mod sort;
pub mod symbol;
pub mod table;
pub mod term;
pub mod value;
pub mod visit;

pub use sort::Sort;
pub use symbol::{Ghost, Instance, Name, Symbol};
pub use term::{Operation, Term, Variable};
pub use value::{ArrayValue, NoValue, Value};
