//! What one engine learns helps the others: a program without data races is given to them with fewer interleavings ([`ir::passes::runs`]).

use verdict::{Budget, Engine, Events, Proof, Property, RunsProof, Silent, Task, Verdict, Views};

/// The program with atomic runs, and why it may be taken instead: it has no data race.
pub struct Runs<'a> {
    program: &'a Views,
    races: Proof,
}

impl<'a> Runs<'a> {
    /// The program with atomic runs, if an engine proves that it has no data race. Not for Boolean programs, whose steps are atomic anyway.
    pub fn of(task: Task<'a>, engine: &dyn Engine, budget: &Budget) -> Option<Self> {
        // Races that do not count are races all the same.
        if task.program.races_on.is_some() {
            return None;
        }
        match engine.verify(Task { property: &Property::NoRace, ..task }, budget, &Silent) {
            // One thread is not interrupted anyway.
            Verdict::Safe(races @ Proof::Flow(_)) => {
                Some(Self { program: task.program.atomic_runs(budget).ok()?, races })
            }
            Verdict::Safe(_) | Verdict::Unsafe(_) | Verdict::Unknown(_) => None,
        }
    }
}

/// An engine that is given the program with atomic runs, where there is one.
pub struct OnRuns<'a> {
    /// The engine.
    pub engine: &'a dyn Engine,
    /// What it is given.
    pub runs: Option<&'a Runs<'a>>,
}

impl Engine for OnRuns<'_> {
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
            // Only flags of locations are different: it is an execution of the program, too.
            Verdict::Unsafe(trace) => Verdict::Unsafe(trace),
            Verdict::Unknown(reason) => Verdict::Unknown(reason),
        }
    }
}
