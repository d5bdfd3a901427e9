//! Proofs for any number of threads, by alternating knowledge of control and of data (paper 4).
//!
//! The control side is here: what each thread knows by itself ([`facts`]), which locations two threads can be
//! at ([`coreachable`]), and which accesses that leaves in conflict ([`races`]). Threads that are started in
//! loops are distinguished by what their parent knows of them ([`families`]), or by numbers from counters
//! ([`counters`]). The data side answers [`data::DataFacts`] and asks which writes reach which reads
//! ([`data`]).

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
pub mod races;
pub mod reasons;
pub mod unreliable;
pub mod values;

pub use engine::{Flow, describe};
pub use listing::listing;
