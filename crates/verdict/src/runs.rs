//! Proofs about fewer interleavings: in a program without data races, it suffices to switch threads after
//! steps that synchronise them.

use crate::Proof;
use serde::{Deserialize, Serialize};

/// Why no error is reached: there is no data race, and no error when runs of plain steps are atomic
/// ([`ir::passes::runs`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunsProof {
    /// Why the program has no data race: a proof that covers all accesses that a step could make, whatever it
    /// reads ([`Proof::Flow`]), or that there is one thread.
    pub races: Proof,
    /// Why there is no error in the program with atomic runs.
    pub errors: Proof,
}
