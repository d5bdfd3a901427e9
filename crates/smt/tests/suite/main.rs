//! Tests of the crate from outside.

mod expressions;
mod formulas;
mod horn;
mod limits;
mod questions;
