//! Accepts a verdict only with valid evidence.

use crate::silence::always_undefined;
use crate::{ProofError, Replayed, check_proof, replay};
use ir::Program;
use verdict::{Budget, Evidence, Proof, Property, Reason, Trace, Verdict, Views};

/// A verdict whose evidence was checked.
#[derive(Debug)]
pub enum Checked {
    /// The property holds; the proof was accepted.
    Proved(Proof),
    /// The property does not hold; the trace was replayed.
    Refuted(Box<Refutation>),
    /// Neither is known.
    Unknown(Reason),
}

/// A violation, with the program that its trace runs on.
#[derive(Debug)]
pub struct Refutation {
    /// The program, lowered for the check.
    pub program: Program,
    /// The execution.
    pub trace: Trace,
    /// The result of the replay.
    pub replayed: Replayed,
}

/// Invalid evidence: a bug in this tool, if it comes from an engine.
#[derive(Debug)]
pub struct Rejection {
    /// What is wrong with it.
    pub why: String,
    /// The rejected evidence.
    pub evidence: Evidence,
    /// A violation that contradicts it.
    pub violation: Option<Trace>,
}

/// Whether a proof is about executions, and not only about the form of the program.
fn says_something(proof: &Proof) -> bool {
    !matches!(proof, Proof::NoErrorLocation | Proof::OneThread)
}

/// Checks the evidence of a verdict about a program. Without valid evidence there is no verdict, whoever gave
/// it.
pub fn examine(
    program: &Views,
    property: &Property,
    verdict: Verdict,
    budget: &Budget,
) -> Result<Checked, Box<Rejection>> {
    let reject = |why: String, evidence| Err(Box::new(Rejection { why, evidence, violation: None }));
    match verdict {
        Verdict::Unknown(reason) => Ok(Checked::Unknown(reason)),
        Verdict::Unsafe(trace) => match replay(program, property, &trace) {
            Ok(replayed) => Ok(Checked::Refuted(Box::new(Refutation {
                program: program.program().clone(),
                trace,
                replayed,
            }))),
            Err(error) => reject(error.to_string(), Evidence::Trace(trace)),
        },
        Verdict::Safe(proof) => {
            if let Some(assumption) = program.limiting_assumption() {
                let unsupported = Reason::NotSupported(assumption.text.clone(), assumption.span);
                return Ok(Checked::Unknown(unsupported));
            }
            match check_proof(program, property, &proof, budget) {
                Ok(()) if !says_something(&proof) => Ok(Checked::Proved(proof)),
                Ok(()) => match always_undefined(program) {
                    None => Ok(Checked::Proved(proof)),
                    Some((what, span)) => Ok(Checked::Unknown(Reason::Undefined(what.to_owned(), span))),
                },
                Err(ProofError::Execution(exception)) => {
                    let (why, violation) = (exception.to_string(), exception.trace);
                    Err(Box::new(Rejection { why, evidence: Evidence::Proof(proof), violation }))
                }
                Err(error) => match Reason::from(error) {
                    Reason::Rejected(why) => reject(why, Evidence::Proof(proof)),
                    reason => Ok(Checked::Unknown(reason)),
                },
            }
        }
    }
}
