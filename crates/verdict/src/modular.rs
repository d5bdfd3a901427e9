//! Proofs for any number of threads, by invariants of every small group of them.

use ir::{LocationId, TemplateId};
use serde::{Deserialize, Serialize};
use terms::Term;

/// Why no execution is bad, for any number of threads: invariants of every group of `size` different threads,
/// whatever the others do, and invariants of all threads together as long as there are fewer than `size`.
///
/// Variables and steps are those of the program as transitions, with mathematical integers. A thread's own
/// variables are marked with its position in the group; one more variable holds the number of its location.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModularProof {
    /// How many threads the invariants are about.
    pub size: usize,
    /// The invariant of threads of these templates, which are in rising order. There is no claim where there
    /// is no entry.
    pub invariants: Vec<(Vec<TemplateId>, Term)>,
    /// Atomic locations without invariants: a thread does not stay there.
    pub passed: Vec<(TemplateId, LocationId)>,
}
