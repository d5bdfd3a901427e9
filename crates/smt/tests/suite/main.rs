//! Tests of the crate from outside.

mod expressions;
mod formulas;
mod limits;
mod questions;
