//! The names that a formula of a proof may contain.
//!
//! A rule introduces names for values that a step reads and for intermediate values, and checks implications
//! for all values of all names. If a proof's formula contained such a name, or the name of an input of a
//! step, it would refer to a different value each time. So each rule lists the allowed names, and all others
//! are refused.

use crate::ProofError;
use smt::{Term, Variable};

/// Checks that a formula contains only known variables.
pub(crate) fn speaks_only_of(
    formula: &Term,
    known: impl Fn(&Variable) -> bool,
    what: &str,
) -> Result<(), ProofError> {
    match formula.free_variables().iter().find(|variable| !known(variable)) {
        None => Ok(()),
        Some(unknown) => Err(ProofError::Claim(format!(
            "{what} speaks of `{}`, which is no variable that it may speak of",
            unknown.name
        ))),
    }
}
