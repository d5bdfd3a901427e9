//! Tests of the crate from outside.

mod formulas;
mod limits;
mod questions;
