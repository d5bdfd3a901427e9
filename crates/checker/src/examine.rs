//! Lets a verdict pass only with evidence that holds.

use crate::{Replayed, check_proof, replay};
use ir::Program;
use verdict::{Budget, Proof, Property, Reason, Trace, Verdict};

/// A verdict that may leave the tool.
#[derive(Debug)]
pub enum Checked {
    /// The property holds; the proof was accepted.
    Proved(Proof),
    /// It does not; the trace was replayed.
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
    /// What happened when it was replayed.
    pub replayed: Replayed,
}

/// Checks the evidence of a verdict about a program. Whoever made the verdict, it becomes unknown without evidence.
pub fn examine(program: &Program, property: &Property, verdict: Verdict, budget: &Budget) -> Checked {
    match verdict {
        Verdict::Unknown(reason) => Checked::Unknown(reason),
        Verdict::Unsafe(trace) => match replay(program, property, &trace) {
            Ok(replayed) => {
                Checked::Refuted(Box::new(Refutation { program: program.clone(), trace, replayed }))
            }
            Err(error) => Checked::Unknown(Reason::Rejected(error.to_string())),
        },
        Verdict::Safe(proof) => {
            if let Some(assumption) = program.assumptions.iter().find(|assumption| assumption.limits_proof) {
                return Checked::Unknown(Reason::Unsupported(assumption.text.clone(), assumption.span));
            }
            match check_proof(program, property, &proof, budget) {
                Ok(()) => Checked::Proved(proof),
                Err(error) => Checked::Unknown(error.into()),
            }
        }
    }
}
