//! From a program and a check to a verdict whose evidence was checked.

use checker::Checked;
use ir::Program;
use ir::passes::runner::checked;
use ir::passes::{self, Lowering};
use report::{End, Outcome, Sources, Tried};
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use verdict::{
    Budget, Check, Decisions, Engine, Event, Events, Evidence, Exhausted, Reason, Task, Verdict, Views,
};

/// The lowering for a check.
pub fn lowering(check: Check) -> Lowering {
    Lowering {
        assertions: check == Check::Assertions,
        reach_error: matches!(check, Check::Assertions | Check::ReachError),
        bounds: matches!(check, Check::Bounds | Check::Deref),
        frees: matches!(check, Check::Bounds | Check::Free),
        overflow: check == Check::Overflow,
        deadlock: check == Check::Deadlock,
        races: check == Check::Races,
    }
}

/// The program that the engine and the replayer see.
pub fn prepare(program: &Program, check: Check) -> Views {
    let lowered = checked("lower", passes::concrete(program, lowering(check)));
    checked("run to completion", passes::interrupts::run_to_completion(&lowered)).into()
}

/// A program, lowered once for each requested check.
pub struct Prepared {
    input: Arc<(Program, Sources)>,
    views: [OnceLock<Views>; Check::ALL.len()],
}

impl Prepared {
    /// A program of which nothing is derived yet.
    pub fn new(input: Arc<(Program, Sources)>) -> Self {
        Self { input, views: [const { OnceLock::new() }; Check::ALL.len()] }
    }

    /// The program lowered for a check, with its views.
    pub fn of(&self, check: Check) -> &Views {
        self.views[check as usize].get_or_init(|| prepare(&self.input.0, check))
    }
}

/// Answers one check by one engine, with checked evidence.
pub fn verify(
    program: &Program,
    check: Check,
    engine: &dyn Engine,
    budget: &Budget,
    events: &dyn Events,
) -> Outcome {
    verify_prepared(&prepare(program, check), check, engine, budget, events)
}

/// Answers one check about a program that is lowered for it.
pub fn verify_prepared(
    program: &Views,
    check: Check,
    engine: &dyn Engine,
    budget: &Budget,
    events: &dyn Events,
) -> Outcome {
    let start = Instant::now();
    let property = check.property();
    let task = Task { program, property: &property };
    let Attempted { verdict, decisions, tried } = attempt(task, engine, budget, budget, events);
    Outcome {
        check,
        variable: None,
        verdict,
        decisions,
        seconds: start.elapsed().as_secs_f64(),
        tries: vec![tried],
    }
}

/// The result of an engine.
pub struct Attempted {
    /// The verdict, with checked evidence.
    pub verdict: Checked,
    /// The status of each check, if the whole is not known.
    pub decisions: Option<Decisions>,
    /// For the report.
    pub tried: Tried,
}

/// Runs an engine, and checks its evidence. The search has a budget, and so has the whole.
pub fn attempt(
    task: Task<'_>,
    engine: &dyn Engine,
    budget: &Budget,
    whole: &Budget,
    events: &dyn Events,
) -> Attempted {
    search(task, engine, budget, events).check(task, whole)
}

/// The answer of an engine; its evidence is not checked yet.
pub struct Searched {
    engine: &'static str,
    verdict: Verdict,
    decided: Option<Result<Decisions, Reason>>,
    seconds: f64,
}

/// Runs an engine.
pub fn search(task: Task<'_>, engine: &dyn Engine, budget: &Budget, events: &dyn Events) -> Searched {
    let start = Instant::now();
    let decider = Decider { task, budget, events, decided: RefCell::default() };
    // A crashed engine gives no answer; no state that it shares with others is used afterwards.
    let verdict = catch_unwind(AssertUnwindSafe(|| engine.verify(task, budget, &decider)));
    let verdict = verdict.unwrap_or_else(|panic| Verdict::Unknown(crashed(engine.name(), panic.as_ref())));
    let decided = decider.decided.into_inner();
    Searched { engine: engine.name(), verdict, decided, seconds: start.elapsed().as_secs_f64() }
}

impl Searched {
    /// Checks the evidence.
    pub fn check(self, task: Task<'_>, budget: &Budget) -> Attempted {
        let start = Instant::now();
        let Self { engine, verdict, decided, seconds } = self;
        let mut rejected = Vec::new();
        let examine = || checker::examine(task.program, task.property, verdict, budget);
        let mut verdict = match catch_unwind(AssertUnwindSafe(examine)) {
            Ok(Ok(checked)) => checked,
            Ok(Err(rejection)) => {
                rejected.push(rejection.evidence);
                rejected.extend(rejection.violation.map(Evidence::Trace));
                Checked::Unknown(Reason::Rejected(rejection.why))
            }
            Err(panic) => Checked::Unknown(crashed("the checker", panic.as_ref())),
        };
        let mut decisions = None;
        match (decided, &verdict) {
            (Some(Ok(found)), Checked::Unknown(_)) => decisions = Some(found),
            (Some(Err(reason @ Reason::Rejected(_))), Checked::Unknown(_)) => {
                verdict = Checked::Unknown(reason)
            }
            (Some(_) | None, Checked::Unknown(_) | Checked::Proved(_) | Checked::Refuted(_)) => {}
        }
        let end = match &verdict {
            Checked::Proved(_) => End::Proved,
            Checked::Refuted(_) => End::Refuted,
            Checked::Unknown(Reason::Exhausted(Exhausted::Cancelled)) => End::Stopped,
            Checked::Unknown(reason) => End::Unknown(reason.clone()),
        };
        let checking = start.elapsed().as_secs_f64();
        Attempted {
            verdict,
            decisions,
            tried: Tried { engine, started: 0.0, seconds, checking, end, rejected },
        }
    }
}

/// A known answer as an engine, so that its evidence is checked like any other.
pub struct Given {
    /// The engine that found it.
    pub engine: &'static str,
    /// What was found.
    pub verdict: Verdict,
}

impl Engine for Given {
    fn name(&self) -> &'static str {
        self.engine
    }
    fn verify(&self, _: Task<'_>, _: &Budget, _: &dyn Events) -> Verdict {
        self.verdict.clone()
    }
}

/// The crashed engine, and the message.
pub(crate) fn crashed(who: &str, panic: &(dyn Any + Send)) -> Reason {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason is known");
    Reason::Crashed(format!("{who} crashed: {text}"))
}

/// Checks partial proofs while an engine runs.
struct Decider<'a> {
    task: Task<'a>,
    budget: &'a Budget,
    events: &'a dyn Events,
    decided: RefCell<Option<Result<Decisions, Reason>>>,
}

/// The fraction of the remaining time for the check of a partial proof.
const SHARE: u32 = 16;

impl Events for Decider<'_> {
    fn event(&self, event: Event) {
        match event {
            Event::Attempt(attempt) => {
                let budget = self.budget.part(SHARE);
                let decided = checker::decide(self.task.program, self.task.property, &attempt, &budget);
                *self.decided.borrow_mut() = Some(decided.map_err(Reason::from));
            }
            Event::Phase(_) | Event::Progress { .. } => self.events.event(event),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use verdict::{Proof, Silent};

    /// Claims safety without a reason.
    struct Careless;

    impl Engine for Careless {
        fn name(&self) -> &'static str {
            "careless"
        }
        fn verify(&self, _: Task<'_>, _: &Budget, _: &dyn Events) -> Verdict {
            Verdict::Safe(Proof::NoErrorLocation)
        }
    }

    /// Panics.
    struct Broken;

    impl Engine for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }
        fn verify(&self, _: Task<'_>, _: &Budget, _: &dyn Events) -> Verdict {
            panic!("a case that was not thought of")
        }
    }

    #[test]
    fn an_engine_that_crashes_does_not_answer() {
        let source =
            frontend_c::Source { name: "a.c".to_owned(), text: "int main(void) { return 0; }".into() };
        let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
        let outcome = verify(&program, Check::Assertions, &Broken, &Budget::steps_for(10.0), &Silent);
        let Checked::Unknown(Reason::Crashed(why)) = outcome.verdict else { panic!("{:?}", outcome.verdict) };
        assert_eq!(why, "broken crashed: a case that was not thought of");
    }

    #[test]
    fn what_an_engine_believes_does_not_count() {
        let text = "#include <assert.h>\nint main(int argc, char **argv) { assert(argc != 3); return 0; }\n";
        let source = frontend_c::Source { name: "three.c".to_owned(), text: text.into() };
        let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
        let outcome = verify(&program, Check::Assertions, &Careless, &Budget::steps_for(10.0), &Silent);
        assert!(matches!(outcome.verdict, Checked::Unknown(Reason::Rejected(_))), "{:?}", outcome.verdict);
        let tried = &outcome.tries[0];
        assert!(!tried.rejected.is_empty(), "what was rejected can be reported");
    }
}
