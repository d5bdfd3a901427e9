//! Proofs for any number of threads by what holds of every few of them.

use ir::{LocationId, TemplateId};
use serde::{Deserialize, Serialize};
use terms::Term;

/// Why no execution is bad, for any number of threads: what holds of every group of `size` different threads, whatever the others do; and what holds of all threads
/// together as long as there are fewer.
///
/// Variables and steps are those of the program as transitions, with mathematical integers. The variables that a thread has for itself get its position in the group, and where it
/// is is the number of its location.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModularProof {
    /// How many threads the invariants are about.
    pub size: usize,
    /// What holds of threads of these templates, which are in rising order; nothing is said where there is no entry.
    pub invariants: Vec<(Vec<TemplateId>, Term)>,
    /// Atomic locations at which nothing is said: a thread does not stay there.
    pub passed: Vec<(TemplateId, LocationId)>,
}
