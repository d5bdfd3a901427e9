//! Formulas and the expressions inside them, independent of any solver, so that proofs can contain them.

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
