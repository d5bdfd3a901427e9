//! The differential test: on random programs the engines, the front end and the passes agree with a naive
//! exploration.
//!
//! Each seed gives a program as C text and, built without the front end, in the common representation. What
//! is reachable by following all steps of the latter, one by one, is the truth. `THREADPROOF_SEEDS=5000`
//! tries that many.

use checker::Checked;
use portfolio::pipeline;
use portfolio::runs::{Runs, WithReduction};
use testkit::oracle::{Bounds, Observed, explore};
use verdict::{Budget, Check, Engine, Proof, RunsProof, Silent, Task, Verdict, Views};

/// How many programs are tried by default.
const SEEDS: u64 = 16;
/// Seeds that showed a mistake once.
const ONCE_WRONG: [u64; 4] = [1799, 12694, 31260, 32547];
/// The checks that the random programs are about.
const CHECKS: [Check; 3] = [Check::Assertions, Check::Races, Check::Deadlock];

#[test]
fn engines_agree_with_a_naive_exploration() {
    let seeds = seeds_or(SEEDS);
    let mut failures = Vec::new();
    let mut proved = [0, 0, 0, 0, 0];
    let mut turn = 0;
    let first = std::env::var("THREADPROOF_FIRST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    for seed in (first..first + seeds).chain(ONCE_WRONG) {
        let built = testkit::random::random_program(seed);
        let source = frontend_c::Source {
            name: "random.c".to_owned(),
            text: testkit::random::random_c(seed).into_bytes(),
        };
        let read =
            frontend_c::read(&[source], &frontend_c::Options::default()).expect("random programs are C");
        for check in CHECKS {
            // All engines share the views of a program.
            let [built, read] = [&built, &read].map(|program| pipeline::prepare(program, check));
            let truth = is_violated(&built, check);
            for (origin, views) in [("built", &built), ("C", &read)] {
                let ask = |engine: &dyn Engine, seconds: f64| {
                    pipeline::verify_prepared(views, check, engine, &Budget::steps_for(seconds), &Silent)
                };
                // Proofs need not be found, but must not be wrong. One of the slow engines is asked, in turn.
                let queries = engine_queries::Queries::default();
                let provers: [&dyn Engine; 5] = [
                    &engine_flow::Flow,
                    &engine_horn::Horn,
                    &portfolio::STATES,
                    &queries,
                    &engine_context::ContextInference::OmegaCirc,
                ];
                turn = turn % 4 + 1;
                for number in [0, turn] {
                    let engine = provers[number];
                    let outcome = ask(engine, if number == 0 { 20.0 } else { 0.5 });
                    let place = format!("seed {seed}, {origin}, {}: {}", check.name(), engine.name());
                    match outcome.verdict {
                        Checked::Proved(_) if truth => {
                            failures.push(format!("{place} proves what is violated"))
                        }
                        Checked::Proved(_) => proved[number] += 1,
                        Checked::Unknown(verdict::Reason::Rejected(why)) => {
                            failures.push(format!("{place}: {why}"))
                        }
                        Checked::Refuted(_) if !truth => failures.push(format!("{place} refutes what holds")),
                        Checked::Refuted(_) | Checked::Unknown(_) => {}
                    }
                }
                let outcome = ask(&engine_explicit::Explicit::default(), 20.0);
                let said = match outcome.verdict {
                    Checked::Proved(_) => Some(false),
                    Checked::Refuted(_) => Some(true),
                    Checked::Unknown(_) => None,
                };
                if said != Some(truth) {
                    let name = check.name();
                    failures.push(format!("seed {seed}, {origin}, {name}: violated {truth}, said {said:?}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(
        proved.iter().all(|proved| *proved > 0),
        "flow, horn, states, queries and context prove {proved:?}"
    );
}

/// Without data races, it suffices to switch threads after steps that synchronise them: `explicit` says the
/// same of the program with atomic runs, and its proofs and traces are accepted.
#[test]
fn atomic_runs_change_no_verdict() {
    let mut counts = [0, 0, 0];
    for seed in 0..seeds_or(50) {
        let source = frontend_c::Source {
            name: "random.c".to_owned(),
            text: testkit::random::random_c(seed).into_bytes(),
        };
        let read = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
        let program = pipeline::prepare(&read, Check::Assertions);
        let property = Check::Assertions.property();
        let task = Task { program: &program, property: &property };
        let budget = Budget::steps_for(20.0);
        let Some(runs) = Runs::of(task, &engine_flow::Flow, &budget) else {
            counts[2] += 1;
            continue;
        };
        let truth = is_violated(&program, Check::Assertions);
        for (engine, sure) in
            [(&engine_explicit::Explicit::default() as &dyn Engine, true), (&engine_horn::Horn, false)]
        {
            let name = engine.name();
            let engine = WithReduction { engine, runs: Some(&runs) };
            let limit = if sure { budget.clone() } else { Budget::steps_for(1.0) };
            match pipeline::attempt(task, &engine, &limit, &budget, &Silent).verdict {
                Checked::Proved(_) => assert!(!truth, "seed {seed}: {name} proves what is violated"),
                Checked::Refuted(_) => assert!(truth, "seed {seed}: {name} refutes what holds"),
                Checked::Unknown(reason @ verdict::Reason::Rejected(_)) => {
                    panic!("seed {seed}: {name}: {reason}")
                }
                Checked::Unknown(reason) => assert!(!sure, "seed {seed}: {name}: {reason}"),
            }
        }
        counts[usize::from(truth)] += 1;
    }
    assert!(counts[0] > 5 && counts[1] > 5, "{counts:?} hold, are violated, may race");
}

/// With a race, runs must not be atomic: the example then looks right, and a proof of that is not accepted.
#[test]
fn atomic_runs_need_a_proof_that_nothing_races() {
    let text = std::fs::read(crate::root().join("examples/counter.c")).expect("the example is there");
    let source = frontend_c::Source { name: "counter.c".to_owned(), text };
    let read = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
    let program = pipeline::prepare(&read, Check::Assertions);
    let property = Check::Assertions.property();
    let budget = Budget::steps_for(20.0);
    let runs = ir::passes::lipton_reduce(&program).into();
    let task = Task { program: &runs, property: &property };
    let Verdict::Safe(errors) = engine_explicit::Explicit::default().verify(task, &budget, &Silent) else {
        panic!("without interruptions the counter is right");
    };
    assert_eq!(checker::check_proof(&runs, &property, &errors, &budget), Ok(()));
    for races in [Proof::OneThread, Proof::NoErrorLocation, errors.clone()] {
        let proof = Proof::Runs(Box::new(RunsProof { races, errors: errors.clone() }));
        assert!(checker::check_proof(&program, &property, &proof, &budget).is_err());
    }
    assert!(Runs::of(Task { program: &program, property: &property }, &engine_flow::Flow, &budget).is_none());
}

/// How many programs are tried.
fn seeds_or(default: u64) -> u64 {
    std::env::var("THREADPROOF_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// More states than this are not looked at where a thread runs twice.
const MOST_STATES: usize = 30_000;

/// Threads that are started in a loop, so that their number is not known beforehand: what `states` says
/// through predicates, some of which other threads change, is right.
#[test]
fn states_agrees_where_threads_are_started_in_a_loop() {
    let (proved, refuted) = agrees_in_loops(&portfolio::STATES, Check::Assertions);
    assert!(proved > 3 && refuted > 3, "{proved} proved, {refuted} refuted");
}

/// The same for contexts, which count threads.
#[test]
fn context_agrees_where_threads_are_started_in_a_loop() {
    for check in [Check::Assertions, Check::Races] {
        let (proved, refuted) = agrees_in_loops(&engine_context::ContextInference::OmegaCirc, check);
        assert!(proved > 3 && refuted > 3, "{}: {proved} proved, {refuted} refuted", check.name());
    }
}

/// How many programs with threads that are started in a loop an engine proves and refutes, all of them
/// rightly.
fn agrees_in_loops(engine: &dyn Engine, check: Check) -> (usize, usize) {
    let create = "  pthread_create(&t1, 0, thread1, 0);";
    let (mut proved, mut refuted) = (0, 0);
    for seed in 0..seeds_or(40) {
        let text = testkit::random::random_c(seed);
        let twice = text.replace(create, &format!("  for (int k = 0; k < 2; k++)\n  {create}"));
        let source = frontend_c::Source { name: "random.c".to_owned(), text: twice.into_bytes() };
        let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
        let views = pipeline::prepare(&program, check);
        let Some(truth) = explored(&views, check, MOST_STATES) else { continue };
        let outcome = pipeline::verify_prepared(&views, check, engine, &Budget::steps_for(0.7), &Silent);
        let name = engine.name();
        match outcome.verdict {
            Checked::Proved(_) => {
                assert!(!truth, "seed {seed}: {name} proves what is violated");
                proved += 1;
            }
            Checked::Refuted(_) => {
                assert!(truth, "seed {seed}: {name} refutes what holds");
                refuted += 1;
            }
            Checked::Unknown(verdict::Reason::Rejected(why)) => panic!("seed {seed}: {name}: {why}"),
            Checked::Unknown(_) => {}
        }
    }
    (proved, refuted)
}

/// Whether following all steps leads to a bad state.
fn is_violated(program: &Views, check: Check) -> bool {
    explored(program, check, usize::MAX).expect("there is no limit")
}

/// Whether following all steps leads to a bad state; `None` when there are too many states to say.
fn explored(program: &Views, check: Check, most: usize) -> Option<bool> {
    match explore(program, &check.property(), Bounds::states(most)) {
        Observed::Violation => Some(true),
        Observed::Nothing => Some(false),
        Observed::Partial | Observed::Bounded => None,
    }
}
