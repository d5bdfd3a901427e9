//! Bounded runs of the nets that random programs and changed proofs are.

mod bounded;
mod census;
mod headers;
mod oracle;
mod proofs;
mod universal;
