//! The names that a formula of a proof may mention.
//!
//! A rule makes names up for what a step reads and for values on the way, and asks whether something follows for all values of all names. A formula with such a name, or with that of an input of
//! a step, would speak of a value that is another one each time; so each rule says which names there are, and all others are refused.

use crate::ProofError;
use smt::{Term, Variable};

/// That a formula is about known variables only.
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
