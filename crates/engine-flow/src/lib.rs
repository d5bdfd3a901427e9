//! Proofs for any number of threads, by alternating knowledge of control and of data (paper 4).
//!
//! The control side is here: what each thread knows by itself ([`facts`]), which pairs of locations are
//! coreachable ([`coreachable`]), and which accesses then still conflict ([`races`]). Threads that a loop
//! starts are distinguished by what their parent knows of them ([`families`]), or by numbers that they take
//! from counters ([`counters`]). The data side ([`data`]) computes which writes reach which reads, and
//! answers with [`data::DataFacts`].

pub mod checks;
pub mod coreachable;
pub mod counters;
pub mod data;
pub mod engine;
pub mod facts;
pub mod families;
pub mod listing;
pub mod locks;
pub mod model;
pub mod names;
mod ownership;
pub mod races;
pub mod reasons;
pub mod unreliable;
pub mod values;

pub use engine::{Flow, describe};
pub use listing::listing;
pub use ownership::ownership;
