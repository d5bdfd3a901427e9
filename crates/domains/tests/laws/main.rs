//! The laws of [`domains::Lattice`] and of valid abstraction, stated once and checked for every domain.
//!
//! Random numbers are the same on every machine. A failure prints the values that break the law.

mod amounts;
mod environments;
mod expressions;
mod lattices;
mod octagons;
mod operations;
mod packing;
mod refinement;
mod relations;
mod samples;
mod steps;
