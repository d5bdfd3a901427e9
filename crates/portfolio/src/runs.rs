//! Results of one engine help the others: they get a race-free program with fewer interleavings
//! ([`ir::passes::runs`]).

use verdict::{Budget, Engine, Events, Proof, Property, RunsProof, Silent, Task, Verdict, Views};

/// The program with atomic runs, and why it is equivalent: it has no data race.
pub struct Runs<'a> {
    program: &'a Views,
    races: Proof,
}

impl<'a> Runs<'a> {
    /// The program with atomic runs, if an engine proves that there is no data race. Not for Boolean
    /// programs, whose steps are atomic anyway.
    pub fn of(task: Task<'a>, engine: &dyn Engine, budget: &Budget) -> Option<Self> {
        // All races matter here, even those that do not count for the check.
        if task.program.races_on.is_some() {
            return None;
        }
        match engine.verify(Task { property: &Property::NoRace, ..task }, budget, &Silent) {
            // One thread is not interrupted anyway.
            Verdict::Safe(races @ Proof::Flow(_)) => {
                Some(Self { program: task.program.lipton_reduce(budget).ok()?, races })
            }
            Verdict::Safe(_) | Verdict::Unsafe(_) | Verdict::Unknown(_) => None,
        }
    }
}

/// An engine that gets the program with atomic runs, if there is one.
pub struct WithReduction<'a> {
    /// The engine.
    pub engine: &'a dyn Engine,
    /// The program with atomic runs.
    pub runs: Option<&'a Runs<'a>>,
}

impl Engine for WithReduction<'_> {
    fn name(&self) -> &'static str {
        self.engine.name()
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        let Some(Runs { program, races }) = self.runs else {
            return self.engine.verify(task, budget, events);
        };
        match self.engine.verify(Task { program, ..task }, budget, events) {
            Verdict::Safe(errors) => {
                Verdict::Safe(Proof::Runs(Box::new(RunsProof { races: races.clone(), errors })))
            }
            // Only flags of locations differ: it is also an execution of the program.
            Verdict::Unsafe(trace) => Verdict::Unsafe(trace),
            Verdict::Unknown(reason) => Verdict::Unknown(reason),
        }
    }
}
