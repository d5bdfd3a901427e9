//! Renderings of programs and verdicts: text, JSON, SARIF, graphs. Does no IO.

mod answer;
pub mod graph;
pub mod human;
pub mod json;
pub mod listing;
pub mod sarif;
mod sources;
pub mod text;
pub mod witness;

pub use answer::{Answer, End, Outcome, Tried};
pub use sources::Sources;
