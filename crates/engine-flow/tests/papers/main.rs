//! The examples of paper 4: their data flow graphs, annotations and verdicts, and proofs that fail when any
//! one claim is changed.

mod examples;
mod figures;
mod mutations;
mod relations;
