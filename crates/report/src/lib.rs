//! Renderings of programs and verdicts: text, JSON, SARIF, graphs.

pub mod graph;
pub mod text;
