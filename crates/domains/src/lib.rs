//! Abstract domains: what can be said about numbers without running the program.
//!
//! * [`Lattice`] is the interface of all domains, with its laws; [`Thresholds`] are the bounds at which
//!   widening stops.
//! * [`Interval`], [`Congruence`] and their product [`Number`] stand for sets of integers.
//! * [`Environment`] maps variables to such sets; it is cheap to clone and to compare with a relative.
//! * [`evaluate()`], [`assume`] and [`refine()`] give [`ir::Expr`] its meaning in an environment, forwards
//!   and backwards. An engine implements [`Resolve`] to say which expressions are variables.
//! * [`Memory`] divides a program's memory into variables; [`Scope`] gives [`ir::Op`] its meaning in an
//!   environment of these.
//! * [`Amount`] is a number of threads, counted up to a limit.
//! * [`Interference`] is the effect of other threads on these values.
//! * [`Octagon`] relates the variables of one [pack](Packs); [`Relational`] is an environment together with
//!   octagons.
//!
//! Everything here over-approximates: the abstract result always contains each value that [`ir::semantics`]
//! can compute. Integers are exact, and nothing overflows silently: a bound that cannot be represented is
//! infinite.
//!
//! This crate knows no engine, holds no fixed-point loop, and does no IO.

pub mod amount;
mod bits;
pub mod bound;
pub mod congruence;
pub mod environment;
pub mod equalities;
pub mod evaluate;
pub mod interference;
pub mod interval;
pub mod lattice;
pub mod linear;
mod matrix;
pub mod memory;
pub mod number;
pub mod octagon;
pub mod packs;
pub mod refine;
pub mod relational;
pub mod touches;
pub mod transfer;

pub use amount::Amount;
pub use bound::Bound;
pub use congruence::Congruence;
pub use environment::Environment;
pub use evaluate::{Numbers, Resolve, evaluate};
pub use interference::{Interference, Written};
pub use interval::Interval;
pub use lattice::{Lattice, Thresholds};
pub use linear::Linear;
pub use memory::{Cell, Memory, TouchedCells, Variable};
pub use number::Number;
pub use octagon::{Constraint, Octagon};
pub use packs::{Octagons, Overlap, PackId, Packing, Packs, Statement, statements};
pub use refine::{assume, refine};
pub use relational::{Relational, Source};
pub use touches::Touches;
pub use transfer::{After, Scope, Started};
