//! What one engine learns helps the others: a program without data races is given to them with fewer interleavings ([`ir::passes::runs`]).

use ir::Program;
use verdict::{Budget, Engine, Events, Proof, Property, RunsProof, Silent, Task, Verdict};

/// The program with atomic runs, and why it may be taken instead: it has no data race.
pub struct Runs {
    program: Program,
    /// The same, with runs that end at the heads of loops.
    at_loops: Program,
    races: Proof,
}

impl Runs {
    /// The program with atomic runs, if an engine proves that it has no data race. Not for Boolean programs, whose steps are atomic anyway.
    pub fn of(task: Task<'_>, engine: &dyn Engine, budget: &Budget) -> Option<Self> {
        // Races that do not count are races all the same.
        if task.program.races_on.is_some() {
            return None;
        }
        match engine.verify(Task { property: &Property::NoRace, ..task }, budget, &Silent) {
            // One thread is not interrupted anyway.
            Verdict::Safe(races @ Proof::Flow(_)) => {
                let of = |at_loops: bool| ir::passes::atomic_runs(task.program, at_loops);
                Some(Self { program: of(false), at_loops: of(true), races })
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
    pub runs: Option<&'a Runs>,
    /// Whether runs end at the heads of loops.
    pub at_loops: bool,
}

impl Engine for OnRuns<'_> {
    fn name(&self) -> &'static str {
        self.engine.name()
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        let Some(Runs { program, at_loops, races }) = self.runs else {
            return self.engine.verify(task, budget, events);
        };
        let program = if self.at_loops { at_loops } else { program };
        match self.engine.verify(Task { program, ..task }, budget, events) {
            Verdict::Safe(errors) => {
                let (races, at_loops) = (races.clone(), self.at_loops);
                Verdict::Safe(Proof::Runs(Box::new(RunsProof { races, at_loops, errors })))
            }
            // Only flags of locations are different: it is an execution of the program, too.
            Verdict::Unsafe(trace) => Verdict::Unsafe(trace),
            Verdict::Unknown(reason) => Verdict::Unknown(reason),
        }
    }
}
