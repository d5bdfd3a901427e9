//! Renderings of programs and verdicts: text, Markdown, HTML, JSON, SARIF, graphs. Does no IO.

mod answer;
pub mod baseline;
mod columns;
pub mod graph;
pub mod html;
pub mod human;
pub mod interleaving;
pub mod json;
pub mod listing;
pub mod markdown;
pub mod reproducer;
pub mod sarif;
pub mod shared_memory;
mod sources;
pub mod story;
pub mod style;
pub mod text;
pub mod witness;
mod words;

pub use answer::{Answer, End, Outcome, Report, Tried};
pub use shared_memory::SharedMemory;
pub use sources::Sources;
