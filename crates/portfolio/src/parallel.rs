//! Several engines in parallel: the first answer with checked evidence counts, unless another engine has
//! evidence of the opposite.
//!
//! One queue has the engines that search for violations, the other those that search for proofs; each engine
//! gets a share of the remaining time when its turn comes. The first job takes from the first queue, all
//! others from the second; a job whose queue is empty takes from the other one. A single job alternates. The
//! order depends on a few [`Features`] of the program. A rejected proof or trace counts as no answer, and is
//! reported.
//!
//! While evidence is checked, no other engine starts for a while ([`PATIENCE`]): evidence is usually
//! accepted, and then the work of another engine would be wasted. Once there is an answer, no engine starts,
//! and running ones are asked to stop. Their answers are still compared: if one engine proves what another
//! refutes, there is no answer, and both pieces of evidence are reported. A proof that is being checked when
//! a refutation arrives has [`GRACE`] to be accepted.

use crate::STATES;
use crate::features::Features;
use crate::live::Live;
use crate::owned::Owned;
use crate::pipeline::{self, Attempted};
use crate::runs::{Runs, WithReduction};
use checker::Checked;
use engine_context::ContextInference;
use engine_explicit::Explicit;
use engine_flow::Flow;
use engine_horn::Horn;
use engine_horn::symbolic::Symbolic;
use engine_queries::Queries;
use ir::Program;
use report::{Outcome, Tried};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};
use verdict::{
    Budget, Cancel, Check, Decisions, Engine, Events, Evidence, Exhausted, Property, Reason, Task, Verdict,
    Views,
};

/// The engines, and how many of them run at once.
pub struct Portfolio {
    /// The engine that explores.
    pub explicit: Explicit,
    /// Whether the program was written as a Boolean one.
    pub boolean: bool,
    /// How many engines run at once.
    pub jobs: usize,
    /// Records what they do.
    pub live: Live,
    /// Whether all engines run to their end, even after an answer: for tests that compare all answers.
    pub to_the_end: bool,
}

impl Default for Portfolio {
    fn default() -> Self {
        Self {
            explicit: Explicit::default(),
            boolean: false,
            jobs: default_jobs(),
            live: Live::default(),
            to_the_end: false,
        }
    }
}

/// As many engines at once as there are processors, up to a few: each needs its own memory.
pub fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).clamp(1, 4)
}

/// Ownership, and what it leaves open by `flow`.
const OWNED: Owned<'static> = Owned(&Flow);

/// Deeply nested programs need a deep stack.
const STACK: usize = 512 << 20;
/// How often to check for a request to stop.
const INTERVAL: Duration = Duration::from_millis(50);
/// Exploration shows most violations within this time.
const GLANCE: Duration = Duration::from_secs(2);

/// How long the check of a proof may continue after a refutation was found.
const GRACE: Duration = Duration::from_millis(500);

/// How long the start of further engines waits for the check of evidence.
const PATIENCE: Duration = Duration::from_secs(1);

/// The purpose of a turn.
#[derive(Clone, Copy)]
enum Use {
    /// The question itself.
    Answer,
    /// The question itself, about the program with atomic runs if that is known to suffice.
    AnswerWithReduction,
    /// Whether there are data races: if not, runs may be atomic.
    Races,
}

/// An engine's turn.
#[derive(Clone, Copy)]
struct Turn<'a> {
    engine: &'a (dyn Engine + Sync),
    to: Use,
    /// Its share of the remaining time: all of it divided by this.
    part: u32,
    /// Its maximum time.
    most: Option<Duration>,
}

impl<'a> Turn<'a> {
    fn of(engine: &'a (dyn Engine + Sync), part: u32) -> Self {
        Self { engine, to: Use::Answer, part, most: None }
    }

    /// On the program with atomic runs.
    fn on_runs(engine: &'a (dyn Engine + Sync), part: u32) -> Self {
        Self { to: Use::AnswerWithReduction, ..Self::of(engine, part) }
    }
}

/// What is still to do.
struct Queues<'a> {
    refuters: VecDeque<Turn<'a>>,
    provers: VecDeque<Turn<'a>>,
}

impl<'a> Queues<'a> {
    fn next(&mut self, refuter: bool) -> Option<Turn<'a>> {
        let (first, other) = match refuter {
            true => (&mut self.refuters, &mut self.provers),
            false => (&mut self.provers, &mut self.refuters),
        };
        first.pop_front().or_else(|| other.pop_front())
    }

    /// For a single job: a short search for violations, then proofs, then the remaining turns.
    fn in_turns(mut self) -> Self {
        let mut turns = VecDeque::new();
        turns.extend(self.provers.pop_front());
        let last = self.refuters.pop_back();
        if self.refuters.is_empty() {
            turns.extend(last.map(|turn| Turn { part: 3, ..turn }));
        }
        turns.append(&mut self.refuters);
        turns.append(&mut self.provers);
        turns.extend(last);
        Self { refuters: turns, provers: VecDeque::new() }
    }
}

/// What is still to do, for several jobs at once.
struct Turns<'a> {
    state: Mutex<TurnsState<'a>>,
    /// Signals that a check of evidence, or all work, has ended.
    changed: Condvar,
    patience: Duration,
}

struct TurnsState<'a> {
    queues: Queues<'a>,
    /// The number of pieces of evidence that are being checked, and when the last check began.
    checks: usize,
    since: Instant,
}

impl<'a> Turns<'a> {
    fn new(queues: Queues<'a>) -> Self {
        let state = Mutex::new(TurnsState { queues, checks: 0, since: Instant::now() });
        Self { state, changed: Condvar::new(), patience: PATIENCE }
    }

    fn lock(&self) -> MutexGuard<'_, TurnsState<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next turn, once no evidence is being checked or the check takes long; `None` when all turns are
    /// taken, or there is an answer.
    fn next(&self, refuter: bool, budget: &Budget) -> Option<Turn<'a>> {
        let mut state = self.lock();
        loop {
            // A job that holds the state sees all earlier answers.
            budget.look(0).ok()?;
            let left = self.patience.saturating_sub(state.since.elapsed());
            if state.checks == 0 || left.is_zero() {
                return state.queues.next(refuter);
            }
            let wait = left.min(INTERVAL);
            (state, _) = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Evidence was found, and is being checked from now on.
    fn check_begins(&self) {
        let mut state = self.lock();
        state.checks += 1;
        state.since = Instant::now();
    }

    /// It was checked. With `stop` that is the answer, and no further engine starts.
    fn check_ends(&self, stop: Option<&Cancel>) {
        let mut state = self.lock();
        state.checks -= 1;
        if let Some(cancel) = stop {
            cancel.cancel();
        }
        self.changed.notify_all();
    }
}

/// The results of the engines so far.
#[derive(Default)]
struct Known {
    verdict: Option<Checked>,
    /// The attempt that gave the verdict.
    decided_by: usize,
    decisions: Option<Decisions>,
    tries: Vec<Tried>,
    /// Why each engine gave up.
    reasons: Vec<(&'static str, Reason)>,
}

impl Known {
    /// Records an answer. Returns whether it is the first.
    fn add(&mut self, attempted: Attempted) -> bool {
        let Attempted { verdict, decisions, tried } = attempted;
        let engine = tried.engine;
        self.tries.push(tried);
        self.decisions = self.decisions.take().or(decisions);
        match (verdict, &self.verdict) {
            (Checked::Unknown(reason), _) => self.reasons.push((engine, reason)),
            (verdict @ (Checked::Proved(_) | Checked::Refuted(_)), None) => {
                self.decided_by = self.tries.len() - 1;
                self.verdict = Some(verdict);
                return true;
            }
            (Checked::Proved(proof), Some(Checked::Refuted(refutation))) => {
                let first = Evidence::Trace(refutation.trace.clone());
                self.contradict(first, Evidence::Proof(proof));
            }
            (Checked::Refuted(refutation), Some(Checked::Proved(proof))) => {
                let first = Evidence::Proof(proof.clone());
                self.contradict(first, Evidence::Trace(refutation.trace));
            }
            (Checked::Proved(_), Some(Checked::Proved(_)))
            | (Checked::Refuted(_), Some(Checked::Refuted(_)))
            | (Checked::Proved(_) | Checked::Refuted(_), Some(Checked::Unknown(_))) => {}
        }
        false
    }

    /// The last attempt contradicts the answer: there is none. Keeps the evidence of both.
    fn contradict(&mut self, first: Evidence, last: Evidence) {
        let said = |evidence: &Evidence| match evidence {
            Evidence::Proof(_) => "proves",
            Evidence::Trace(_) => "refutes",
        };
        let (verb, other_verb) = (said(&first), said(&last));
        let mut engines = [""; 2];
        let by = [(self.decided_by, first), (self.tries.len() - 1, last)];
        for (engine, (index, evidence)) in engines.iter_mut().zip(by) {
            if let Some(tried) = self.tries.get_mut(index) {
                *engine = tried.engine;
                tried.rejected.push(evidence);
            }
        }
        let [one, other] = engines;
        let text =
            format!("{one} {verb} what {other} {other_verb}, and both pieces of evidence are accepted");
        self.verdict = Some(Checked::Unknown(Reason::Contradiction(text)));
        self.decisions = None;
    }
}

/// Rejected evidence comes first: it is a bug of ours. Then the reason of the engine that handles such
/// programs best.
fn why(mut reasons: Vec<(&'static str, Reason)>, best: &str) -> Reason {
    // The last reason of an engine is more informative than its first.
    reasons.reverse();
    let rank = |(engine, reason): &(&'static str, Reason)| match reason {
        Reason::Rejected(_) | Reason::Crashed(_) | Reason::Contradiction(_) => 0,
        Reason::Exhausted(Exhausted::Cancelled) => 3,
        _ if *engine == best => 1,
        _ => 2,
    };
    let first = reasons.into_iter().min_by_key(rank);
    first.map_or(Reason::GaveUp("no engine answered".to_owned()), |(_, reason)| reason)
}

/// The portfolio as an engine, for engines that need another one.
impl Engine for Portfolio {
    fn name(&self) -> &'static str {
        "auto"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, _: &dyn Events) -> Verdict {
        let known = self.run(task, budget);
        match known.verdict {
            Some(Checked::Proved(proof)) => Verdict::Safe(proof),
            Some(Checked::Refuted(refutation)) => Verdict::Unsafe(refutation.trace),
            Some(Checked::Unknown(reason)) => Verdict::Unknown(reason),
            None => Verdict::Unknown(why(known.reasons, self.explicit.name())),
        }
    }
}

impl Portfolio {
    /// Answers one check with checked evidence.
    pub fn verify(&self, program: &Program, check: Check, budget: &Budget) -> Outcome {
        self.verify_prepared(&pipeline::prepare(program, check), check, budget)
    }

    /// Answers one check about a program that is lowered for it.
    pub fn verify_prepared(&self, program: &Views, check: Check, budget: &Budget) -> Outcome {
        let start = Instant::now();
        let property = check.property();
        let known = self.run(Task { program, property: &property }, budget);
        let seconds = start.elapsed().as_secs_f64();
        let best = if self.boolean { STATES.name() } else { self.explicit.name() };
        let (verdict, decisions) = match known.verdict {
            Some(verdict) => (verdict, None),
            None => (Checked::Unknown(why(known.reasons, best)), known.decisions),
        };
        Outcome { check, variable: None, verdict, decisions, seconds, tries: known.tries }
    }

    fn run(&self, task: Task<'_>, budget: &Budget) -> Known {
        let queries = Queries::default();
        let errors = matches!(task.property, Property::NoError(_));
        let mut queues = self.queues(&queries, errors, Features::of(task.program));
        if crate::owned::is_about_memory(task) {
            queues.provers.push_front(Turn::of(&OWNED, 4));
        }
        self.run_queues(queues, task, budget)
    }

    fn run_queues(&self, queues: Queues<'_>, task: Task<'_>, budget: &Budget) -> Known {
        let turns = Turns::new(if self.jobs > 1 { queues } else { queues.in_turns() });
        let runs: OnceLock<Runs<'_>> = OnceLock::new();
        // Stops searches, and checks of evidence.
        let (stop, stop_checks) = (Cancel::default(), Cancel::default());
        let whole = Budget { cancel: stop.clone(), ..budget.clone() };
        let checks = Budget { cancel: stop_checks.clone(), ..budget.clone() };
        let mut known = Known::default();
        std::thread::scope(|scope| {
            let (answers, answered) = mpsc::channel();
            for job in 0..self.jobs.max(1) {
                let (answers, turns, whole, checks, runs) = (answers.clone(), &turns, &whole, &checks, &runs);
                let work = move || {
                    while let Some(turn) = turns.next(job == 0, whole) {
                        let share = whole.remaining().map(|left| left / turn.part);
                        let time = share.into_iter().chain(turn.most).min();
                        // Steps of engines beside it do not count.
                        let whole = &whole.apart();
                        let budget = time.map_or(whole.clone(), |time| whole.within(time));
                        let engine = match turn.to {
                            Use::Answer => WithReduction { engine: turn.engine, runs: None },
                            Use::AnswerWithReduction => {
                                WithReduction { engine: turn.engine, runs: runs.get() }
                            }
                            Use::Races => {
                                if let Some(found) = Runs::of(task, turn.engine, &budget) {
                                    let _ = runs.set(found);
                                }
                                continue;
                            }
                        };
                        let (started, listener) = self.live.start(turn.engine.name());
                        let searched = pipeline::search(task, &engine, &budget, &listener);
                        turns.check_begins();
                        let mut attempted = searched.check(task, checks);
                        let is_answer = !matches!(attempted.verdict, Checked::Unknown(_));
                        turns.check_ends((is_answer && !self.to_the_end).then_some(&whole.cancel));
                        attempted.tried.started = started;
                        listener.end(&attempted.tried);
                        if answers.send(attempted).is_err() {
                            break;
                        }
                    }
                };
                // If a thread cannot be started, there is one engine less; the first always runs.
                let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work.clone());
                if thread.is_err() && job == 0 {
                    work();
                }
            }
            drop(answers);
            let mut refuted_at = None;
            loop {
                match answered.recv_timeout(INTERVAL) {
                    Ok(attempted) => {
                        if known.add(attempted) && !self.to_the_end {
                            stop.cancel();
                            match &known.verdict {
                                // A proof that is being checked would contradict it.
                                Some(Checked::Refuted(_)) => refuted_at = Some(Instant::now()),
                                // Only a refutation would contradict it, and refutations are checked to their
                                // end.
                                Some(Checked::Proved(_) | Checked::Unknown(_)) | None => stop_checks.cancel(),
                            }
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        if budget.cancel.is_cancelled() {
                            stop.cancel();
                            stop_checks.cancel();
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
                if refuted_at.is_some_and(|at: Instant| at.elapsed() >= GRACE) {
                    stop_checks.cancel();
                }
            }
        });
        known
    }

    /// The engines, their order, and their time. Some engines handle errors only.
    fn queues<'a>(&'a self, queries: &'a Queries, errors: bool, features: Features) -> Queues<'a> {
        let mut refuters = VecDeque::new();
        if features.inputs && errors {
            refuters.push_back(Turn { most: Some(GLANCE), ..Turn::of(&self.explicit, 20) });
            refuters.push_back(Turn::of(&Symbolic, 10));
        }
        refuters.push_back(Turn::of(&self.explicit, 1));
        let mut provers = VecDeque::new();
        if self.boolean {
            provers.push_back(Turn::of(&STATES, 2));
        }
        provers.push_back(Turn::of(&Flow, 4));
        if errors {
            if !self.boolean {
                provers.push_back(Turn { to: Use::Races, ..Turn::of(&Flow, 8) });
            }
            match features.many_threads {
                true => provers.push_back(Turn::on_runs(&Horn, 2)),
                // Without atomic runs, loops of several threads can run in lockstep.
                false => provers.extend([Turn::of(&Horn, 2), Turn::on_runs(&Horn, 3)]),
            }
            match features.many_threads {
                _ if self.boolean => provers.push_back(Turn::of(queries, 2)),
                true => provers.extend([Turn::on_runs(&STATES, 2), Turn::on_runs(queries, 2)]),
                false => provers.extend([Turn::on_runs(queries, 2), Turn::on_runs(&STATES, 2)]),
            }
        }
        // `context` handles any number of threads; it succeeds quickly or not at all.
        match errors {
            true => provers.push_back(Turn::on_runs(&ContextInference::OmegaCirc, 3)),
            false if features.many_threads => provers.push_back(Turn::of(&ContextInference::OmegaCirc, 3)),
            false => provers.extend([Turn::of(&Horn, 2), Turn::of(&ContextInference::OmegaCirc, 2)]),
        }
        let last = if features.inputs && errors { Turn::of(&Symbolic, 1) } else { Turn::on_runs(&Horn, 1) };
        provers.push_back(last);
        Queues { refuters, provers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::End;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use verdict::{Proof, Silent};

    fn read(text: &str) -> Program {
        let source = frontend_c::Source { name: "a.c".to_owned(), text: text.into() };
        frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C")
    }

    /// Proves what has no error location.
    struct Quick;

    impl Engine for Quick {
        fn name(&self) -> &'static str {
            "quick"
        }
        fn verify(&self, _: Task<'_>, _: &Budget, _: &dyn Events) -> Verdict {
            Verdict::Safe(Proof::NoErrorLocation)
        }
    }

    /// Runs until it is stopped, and counts how often it is started.
    #[derive(Default)]
    struct Patient(AtomicUsize);

    impl Engine for Patient {
        fn name(&self) -> &'static str {
            "patient"
        }
        fn verify(&self, _: Task<'_>, budget: &Budget, _: &dyn Events) -> Verdict {
            self.0.fetch_add(1, Ordering::Relaxed);
            loop {
                if let Err(exhausted) = budget.check(0) {
                    return Verdict::Unknown(Reason::Exhausted(exhausted));
                }
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn no_engine_starts_once_there_is_an_answer() {
        let program = pipeline::prepare(&read("int main(void) { return 0; }"), Check::Assertions);
        let property = Check::Assertions.property();
        let task = Task { program: &program, property: &property };
        for jobs in [1, 2, 4] {
            let (patient, late) = (Patient::default(), Patient::default());
            let portfolio = Portfolio { jobs, ..Portfolio::default() };
            let refuters = [Turn::of(&patient, 1), Turn::of(&late, 1)];
            let provers = [Turn::of(&Quick, 1), Turn::of(&patient, 1), Turn::of(&patient, 1)];
            let queues = Queues { refuters: refuters.into(), provers: provers.into() };
            let known = portfolio.run_queues(queues, task, &Budget::seconds(600.0));
            assert!(matches!(known.verdict, Some(Checked::Proved(_))));
            assert!(patient.0.load(Ordering::Relaxed) < jobs.max(2), "of {jobs} jobs one has proved it");
            assert_eq!(late.0.load(Ordering::Relaxed), 0);
        }
    }

    /// The turn that another job gets while evidence is checked, which is the answer in the end.
    fn turn_during_a_check(patience: Duration) -> Option<&'static str> {
        let patient = Patient::default();
        let (refuters, provers) = ([Turn::of(&patient, 1)].into(), VecDeque::new());
        let turns = Turns { patience, ..Turns::new(Queues { refuters, provers }) };
        let budget = Budget::unlimited();
        turns.check_begins();
        std::thread::scope(|scope| {
            let next = scope.spawn(|| turns.next(true, &budget).map(|turn| turn.engine.name()));
            let given_up = Instant::now() + Duration::from_millis(200);
            while !next.is_finished() && Instant::now() < given_up {
                std::thread::yield_now();
            }
            turns.check_ends(Some(&budget.cancel));
            next.join().expect("no job panics")
        })
    }

    #[test]
    fn no_engine_starts_while_evidence_is_checked() {
        assert_eq!(turn_during_a_check(Duration::from_secs(600)), None);
        assert_eq!(turn_during_a_check(Duration::ZERO), Some("patient"), "a check that takes long");
    }

    #[test]
    fn all_engines_run_to_their_end_where_that_is_asked_for() {
        let program = read("int main(void) { return 0; }");
        let portfolio = Portfolio { to_the_end: true, ..Portfolio::default() };
        let outcome = portfolio.verify(&program, Check::Assertions, &Budget::seconds(60.0));
        assert!(matches!(outcome.verdict, Checked::Proved(_)));
        assert!(outcome.tries.iter().all(|tried| tried.end != End::Stopped), "{:?}", outcome.tries);
        let names: Vec<&str> = outcome.tries.iter().map(|tried| tried.engine).collect();
        for name in ["flow", "explicit", "horn", "queries", "states", "context"] {
            assert!(names.contains(&name), "{names:?}");
        }
    }

    #[test]
    fn a_proof_and_a_refutation_are_no_answer() {
        let program = read("#include <assert.h>\nint main(int argc, char **argv) { assert(argc != 3); }\n");
        let budget = Budget::seconds(60.0);
        let prepared = pipeline::prepare(&program, Check::Assertions);
        let property = Check::Assertions.property();
        let task = Task { program: &prepared, property: &property };
        let refuted = || pipeline::attempt(task, &Explicit::default(), &budget, &budget, &Silent);
        // As if the checker had accepted it.
        let proved = || {
            let tried = Tried {
                engine: "careless",
                started: 0.0,
                seconds: 0.0,
                checking: 0.0,
                end: End::Proved,
                rejected: Vec::new(),
            };
            Attempted { verdict: Checked::Proved(Proof::NoErrorLocation), decisions: None, tried }
        };
        let orders = [[refuted(), proved()], [proved(), refuted()]];
        for (order, text) in orders.into_iter().zip(["explicit refutes what", "careless proves what"]) {
            let mut known = Known::default();
            let first: Vec<bool> = order.into_iter().map(|attempted| known.add(attempted)).collect();
            assert_eq!(first, [true, false]);
            known.add(proved());
            let Some(Checked::Unknown(reason @ Reason::Contradiction(_))) = &known.verdict else {
                panic!("{:?}", known.verdict)
            };
            assert!(reason.to_string().contains(text), "{reason}");
            let kept = known.tries.iter().filter(|tried| !tried.rejected.is_empty()).count();
            assert_eq!(kept, 2, "both pieces of evidence are kept");
            let mut outcome = portfolio_outcome(known);
            let other = pipeline::verify(&program, Check::Assertions, &Explicit::default(), &budget, &Silent);
            assert!(matches!(other.verdict, Checked::Refuted(_)));
            outcome.push(other);
            // Then there is no verdict even for other checks.
            assert!(matches!(report::Answer::of(&outcome, &[]), report::Answer::Unknown(_)));
        }
    }

    fn portfolio_outcome(known: Known) -> Vec<Outcome> {
        let verdict = known.verdict.expect("there is an answer");
        let check = Check::Races;
        vec![Outcome { check, variable: None, verdict, decisions: None, seconds: 0.0, tries: known.tries }]
    }
}
