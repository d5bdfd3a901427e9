//! Tests of the explicit engine. Every verdict's evidence is checked.

mod builder;
mod programs;
mod random;

use checker::{check_proof, replay};
use engine_explicit::{Explicit, Options};
use ir::{ErrorKind, Program};
use verdict::{Budget, Engine, Property, Silent, Task, Verdict, Views};

/// What came of a task, its evidence checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Safe,
    Unsafe,
    Unknown,
}

pub(crate) fn assertions() -> Property {
    Property::NoError([ErrorKind::Assertion].into())
}

/// Runs the engine and checks what it returns.
pub(crate) fn ask_with(options: Options, program: &Program, property: &Property) -> (Answer, Verdict) {
    let budget = Budget::steps_for(20.0);
    let program = &Views::from(program.clone());
    let verdict = Explicit { options }.verify(Task { program, property }, &budget, &Silent);
    let answer = match &verdict {
        Verdict::Safe(proof) => {
            check_proof(program, property, proof, &budget).expect("the proof is accepted");
            Answer::Safe
        }
        Verdict::Unsafe(trace) => {
            replay(program, property, trace).expect("the trace replays");
            Answer::Unsafe
        }
        Verdict::Unknown(_) => Answer::Unknown,
    };
    (answer, verdict)
}

pub(crate) fn ask(program: &Program, property: &Property) -> Answer {
    ask_with(Options::default(), program, property).0
}
