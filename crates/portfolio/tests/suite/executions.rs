//! What trying a proof on executions catches by itself, without the rules that check proofs.

use checker::{ProofError, check_proof, replay, try_listing, try_on_executions, try_points_to};
use engine_context::ContextInference;
use engine_flow::Flow;
use engine_horn::Horn;
use engine_queries::Queries;
use ir::{Expr, Target};
use portfolio::pipeline;
use std::path::PathBuf;
use terms::Term;
use testkit::annotation::annotations;
use verdict::{
    Budget, Check, Engine, LocationStatus, Locations, Proof, Reached, SharedLocation, Silent, Task, Trace,
    Verdict,
};

fn lowered(text: &str, check: Check) -> verdict::Views {
    let source = frontend_c::Source { name: "test.c".to_owned(), text: text.as_bytes().to_vec() };
    let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
    pipeline::prepare(&program, check)
}

fn proof_of(engine: &dyn Engine, program: &verdict::Views, check: Check) -> Proof {
    let property = check.property();
    let task = Task { program, property: &property };
    match engine.verify(task, &Budget::steps_for(120.0), &Silent) {
        Verdict::Safe(proof) => proof,
        other => panic!("{}: no proof: {other:?}", engine.name()),
    }
}

/// Whether an execution is met that a proof excludes. Steps are the only limit.
fn is_caught(program: &verdict::Views, check: Check, proof: Proof) -> bool {
    match try_on_executions(program, &check.property(), &proof, &Budget::unlimited()) {
        Err(ProofError::Execution(_)) => true,
        Ok(()) => false,
        Err(other) => panic!("{other}"),
    }
}

/// What is claimed of a program whose executions are followed: that none is bad.
fn claim(program: &verdict::Views) -> Proof {
    Proof::Exhaustive { copies: vec![1; program.start.len()], states: 1 }
}

/// The violation that is met, if there is one.
fn violation(text: &str, check: Check) -> Option<Option<Trace>> {
    let program = lowered(text, check);
    match try_on_executions(&program, &check.property(), &claim(&program), &Budget::unlimited()) {
        Err(ProofError::Execution(exception)) => {
            if let Some(trace) = &exception.trace {
                replay(&program, &check.property(), trace).expect("it is an execution");
            }
            Some(exception.trace)
        }
        Ok(()) => None,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn violations_are_met() {
    let race = "#include <pthread.h>
        int x; void *f(void *a) { x++; return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x = 2; return 0; }";
    let ends_in_an_atomic_function = "#include <pthread.h>
        #include <assert.h>
        int x; void __VERIFIER_atomic_last(void) { x = 1; pthread_exit(0); }
        void *f(void *a) { __VERIFIER_atomic_last(); return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); assert(x == 0); return 0; }";
    let other_signedness = "#include <assert.h>
        unsigned u; int main(void) { int *p = (int *)&u; *p = -1; assert(u == 0); return 0; }";
    let one_input = "#include <assert.h>
        extern int __VERIFIER_nondet_int(void);
        int main(void) { int i = __VERIFIER_nondet_int(); assert(i != 4711); return 0; }";
    let largest_input = "extern long __VERIFIER_nondet_long(void);
        int main(void) { long i = __VERIFIER_nondet_long(); if (i > 0) i = i + 1; return 0; }";
    let lock_order = "#include <pthread.h>
        pthread_mutex_t m, n;
        void *f(void *a) { pthread_mutex_lock(&m); pthread_mutex_lock(&n); pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0);
            pthread_mutex_lock(&n); pthread_mutex_lock(&m); return 0; }";
    let between_atomic_sections = "#include <pthread.h>
        #include <assert.h>
        extern void __VERIFIER_atomic_begin(void); extern void __VERIFIER_atomic_end(void);
        int x;
        void *f(void *a) { __VERIFIER_atomic_begin(); int y = x; __VERIFIER_atomic_end();
            __VERIFIER_atomic_begin(); x = y + 1; __VERIFIER_atomic_end(); return 0; }
        int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0);
            pthread_join(t, 0); pthread_join(u, 0); assert(x == 2); return 0; }";
    let all = [
        (race, Check::Races),
        (ends_in_an_atomic_function, Check::Assertions),
        (other_signedness, Check::Assertions),
        (one_input, Check::Assertions),
        (largest_input, Check::Overflow),
        (lock_order, Check::Deadlock),
        (between_atomic_sections, Check::Assertions),
    ];
    for (text, check) in all {
        let Some(Some(_)) = violation(text, check) else { panic!("{}: it is missed: {text}", check.name()) };
    }
}

/// An execution with a value that is not modelled refuses a proof, but is no violation to report.
#[test]
fn what_is_not_modelled_is_no_violation() {
    let text = "#include <assert.h>
        extern int f(int);
        int main(void) { int i = f(1) > 3; assert(i != 1); return 0; }";
    let found = violation(text, Check::Assertions);
    assert!(matches!(found, Some(None)), "{found:?}");
}

#[test]
fn long_executions_come_to_an_end() {
    let text = "#include <pthread.h>
        int a[4096]; unsigned i;
        void *f(void *p) { for (;;) i++; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0);
            for (unsigned j = 0; ; j++) a[j % 4096] = j; }";
    assert!(violation(text, Check::Assertions).is_none());
}

/// A listing that leaves out a location with a race is met by an execution, and one that lists it as open
/// is not.
#[test]
fn listings_that_leave_out_a_race_are_met() {
    let text = "#include <pthread.h>
        struct { int before, x, after; } s;
        void *f(void *a) { s.x++; return a; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); s.x++; pthread_join(t, 0); return s.before; }";
    let program = lowered(text, Check::Races);
    let mut listing = Locations { locations: Vec::new(), reached: Reached::default() };
    let Err(ProofError::Execution(met)) = try_listing(&program, &listing, &Budget::unlimited()) else {
        panic!("the race is missed")
    };
    assert!(met.claim.starts_with("byte 4 of s has no race"), "{}", met.claim);
    let object = program.objects.enumerate().find(|(_, object)| object.name == "s").expect("it is there").0;
    let mut list = |first, status| {
        let cell = Target { object, first, stride: 0, count: 1 };
        listing.locations.push(SharedLocation { cell, size: 4, accesses: Vec::new(), more: 0, status });
        try_listing(&program, &listing, &Budget::unlimited()).is_ok()
    };
    assert!(!list(0, LocationStatus::Open(Vec::new())));
    assert!(!list(4, LocationStatus::RaceFree(Vec::new())));
    assert!(list(4, LocationStatus::Open(Vec::new())));
}

/// The annotated programs whose name ends so, in order.
fn annotated(ending: &str) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(crate::root().join("tests/programs")).expect("the programs are there");
    let mut files: Vec<_> = folders
        .flatten()
        .filter_map(|folder| std::fs::read_dir(folder.path()).ok())
        .flat_map(|folder| folder.flatten().map(|file| file.path()))
        .filter(|file| file.to_string_lossy().ends_with(ending))
        .collect();
    files.sort();
    files
}

/// What programs are about to touch lies in the points-to sets, in all programs that stay in their objects.
#[test]
fn accesses_are_inside_of_points_to_sets() {
    let mut outside = Vec::new();
    for file in annotated(".c") {
        let text = std::fs::read_to_string(&file).expect("test programs are text");
        let wanted = annotations(&text).expect("test programs are annotated");
        let leaves = wanted.expectations.iter().any(|(check, _)| *check == Check::Bounds);
        if !wanted.arguments.is_empty() || leaves {
            continue;
        }
        let program = lowered(&text, Check::Races);
        if let Err(error) = try_points_to(&program, &Budget::unlimited()) {
            outside.push(format!("{}: {error}", file.display()));
        }
    }
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}

/// Of the broken programs of the tests, most are caught by executions alone.
#[test]
fn most_broken_programs_are_caught() {
    let (mut caught, mut missed) = (0, Vec::new());
    for file in annotated("-broken.c") {
        let text = std::fs::read_to_string(&file).expect("test programs are text");
        let wanted = annotations(&text).expect("test programs are annotated");
        if !wanted.arguments.is_empty() {
            continue;
        }
        for (check, expectation) in &wanted.expectations {
            let program = lowered(&text, *check);
            if expectation.holds || program.has_broadcasts() {
                continue;
            }
            match is_caught(&program, *check, claim(&program)) {
                true => caught += 1,
                false => missed.push(format!("{} {}", file.display(), check.name())),
            }
        }
    }
    let all = caught + missed.len();
    assert!(10 * caught >= 8 * all, "{caught} of {all} are caught; not these:\n{}", missed.join("\n"));
}

const LOCKED: &str = "#include <pthread.h>
    #include <assert.h>
    int x, n; pthread_mutex_t m; extern int __VERIFIER_nondet_int(void);
    void *f(void *a) { for (int i = 0; i < 3; i++) { pthread_mutex_lock(&m); x = i; pthread_mutex_unlock(&m); } return 0; }
    int main(void) { pthread_t t, u; n = __VERIFIER_nondet_int();
        if (n < 0 || n > 10) return 0;
        pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0);
        pthread_mutex_lock(&m); x = 2; int y = x; pthread_mutex_unlock(&m);
        pthread_join(t, 0); pthread_join(u, 0);
        for (int i = 0; i < n; i++) assert(i < 10 && y >= 0 && y < 3);
        return 0; }";

#[test]
fn wrong_claims_of_flow_are_met() {
    for check in [Check::Races, Check::Assertions] {
        let program = lowered(LOCKED, check);
        let Proof::Flow(proof) = proof_of(&Flow, &program, check) else { panic!("it is a proof by flow") };
        let caught =
            |proof: &verdict::FlowProof| is_caught(&program, check, Proof::Flow(Box::new(proof.clone())));
        assert!(!caught(&proof), "it is right");
        // Places.
        let there: Vec<usize> = (0..proof.reachable.len()).filter(|node| proof.reachable[*node]).collect();
        let without = |node: &usize| {
            let mut wrong = proof.clone();
            wrong.reachable[*node] = false;
            caught(&wrong)
        };
        let found = there.iter().filter(|node| without(node)).count();
        assert!(10 * found >= 7 * there.len(), "{found} of {} places", there.len());
        // Pairs of places.
        let (mut tried, mut found) = (0, 0);
        for one in &there {
            for other in proof.coreachable.related(*one).collect::<Vec<_>>() {
                let mut wrong = proof.clone();
                wrong.coreachable.remove(*one, other);
                tried += 1;
                found += usize::from(caught(&wrong));
            }
        }
        assert!(10 * found >= 5 * tried, "{found} of {tried} pairs");
        // Facts at all locations.
        let lock = proof.facts.iter().flatten().find_map(|facts| facts.locks.first().cloned());
        if let Some(lock) = lock {
            let mut wrong = proof.clone();
            wrong.facts.iter_mut().flatten().for_each(|facts| facts.locks = vec![lock.clone()]);
            assert!(caught(&wrong), "locks");
        }
        let mut wrong = proof.clone();
        let mut changed = false;
        for (_, value) in wrong.facts.iter_mut().flatten().flat_map(|facts| &mut facts.equal) {
            if let Expr::Const(number, _) = value {
                *number ^= 1;
                changed = true;
            }
        }
        assert!(!changed || caught(&wrong), "equalities");
        // Bounds.
        let Some(data) = &proof.data else { continue };
        let (mut tried, mut found) = (0, 0);
        for (node, known) in data.invariants.iter().enumerate() {
            for index in 0..known.as_ref().map_or(0, Vec::len) {
                let mut wrong = proof.clone();
                let bounds = wrong.data.as_mut().and_then(|data| data.invariants[node].as_mut());
                let Some((_, bounds)) = bounds.and_then(|known| known.get_mut(index)) else { continue };
                bounds.lower = bounds.upper.map_or(Some(1_000_003), |upper| Some(upper + 1));
                bounds.upper = None;
                tried += 1;
                found += usize::from(caught(&wrong));
            }
        }
        assert!(tried == 0 || 10 * found >= 5 * tried, "{found} of {tried} bounds");
    }
}

/// What is claimed of several threads at once, and of objects that one thread alone knows.
#[test]
fn wrong_claims_of_flow_about_threads_and_objects_are_met() {
    let check = Check::Races;
    let found = |path: &str, change: &dyn Fn(&mut verdict::FlowProof)| {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
        let program = lowered(&std::fs::read_to_string(root.join(path)).expect("it is there"), check);
        let Proof::Flow(proof) = proof_of(&Flow, &program, check) else { panic!("it is a proof by flow") };
        assert!(!is_caught(&program, check, Proof::Flow(proof.clone())), "{path} is right");
        let mut wrong = proof.clone();
        change(&mut wrong);
        assert_ne!(wrong, proof, "{path} has such claims");
        is_caught(&program, check, Proof::Flow(wrong))
    };
    let tickets = |proof: &mut verdict::FlowProof| {
        let all = proof.counters.iter_mut().flat_map(|counter| &mut counter.tickets);
        all.flat_map(|tickets| tickets.values_mut()).for_each(|step| *step += 1_000);
    };
    assert!(found("counters/tickets.c", &tickets), "tickets");
    let weights = |proof: &mut verdict::FlowProof| {
        let all = proof.counters.iter_mut().flat_map(|counter| &mut counter.weights);
        all.for_each(|weight| *weight += 1_000);
    };
    assert!(found("counters/running.c", &weights), "weights");
    let members = |change: &dyn Fn(&mut verdict::Members)| {
        found("families/element-after-join.c", &|proof: &mut verdict::FlowProof| {
            let at = proof.families.iter_mut().flat_map(|family| &mut family.at);
            at.filter_map(|facts| facts.members.as_mut()).for_each(change);
        })
    };
    assert!(members(&|members| members.none = true), "members");
    assert!(
        members(&|members| members.below.iter_mut().for_each(|bound| bound.plus -= 1_000)),
        "indices of members"
    );
    let fresh = |proof: &mut verdict::FlowProof| {
        for facts in &mut proof.facts {
            let known: Vec<_> = facts.iter().flat_map(|facts| facts.fresh.clone()).collect();
            facts.iter_mut().for_each(|facts| facts.fresh = known.clone());
        }
    };
    assert!(found("heap/aba-stack.c", &fresh), "fresh objects");
}

#[test]
fn wrong_invariants_of_groups_are_met() {
    let text = include_str!("../../../../tests/programs/modular/test-and-set.c");
    for check in [Check::Assertions, Check::Races] {
        let program = lowered(text, check);
        let Proof::Modular(proof) = proof_of(&Horn, &program, check) else { panic!("it is one of groups") };
        assert!(!is_caught(&program, check, Proof::Modular(proof.clone())), "it is right");
        let mut found = 0;
        for index in 0..proof.invariants.len() {
            let mut wrong = proof.clone();
            wrong.invariants[index].1 = Term::bool(false);
            found += usize::from(is_caught(&program, check, Proof::Modular(wrong)));
        }
        assert!(2 * found >= proof.invariants.len(), "{found} of {}", proof.invariants.len());
        // One that the rules would not look for, as its templates are in no order.
        let mut wrong = proof.clone();
        let mixed = wrong.invariants.iter().map(|(of, _)| of).find(|of| of.first() != of.last()).cloned();
        if let Some(mut of) = mixed {
            of.reverse();
            wrong.invariants.push((of, Term::bool(false)));
            assert!(is_caught(&program, check, Proof::Modular(wrong)));
        }
    }
}

const HAND_SHAKE: &str = "#include <pthread.h>
    #include <assert.h>
    extern int __VERIFIER_nondet_int(void);
    _Atomic int full; _Atomic int slot;
    void *f(void *a) { while (__VERIFIER_nondet_int()) { while (full) ; slot = 7; full = 1; } return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0);
        while (__VERIFIER_nondet_int()) { while (!full) ; assert(slot == 7); full = 0; } return 0; }";

#[test]
fn wrong_nodes_of_products_are_met() {
    let check = Check::Assertions;
    let program = lowered(HAND_SHAKE, check);
    let Proof::Product(proof) = proof_of(&Horn, &program, check) else { panic!("it is a product") };
    assert!(!is_caught(&program, check, Proof::Product(proof.clone())), "it is right");
    let (mut tried, mut found, mut gone) = (0, 0, 0);
    for part in 0..proof.parts.len() {
        for node in 0..proof.parts[part].nodes.len() {
            if proof.parts[part].nodes[node].invariant.as_ref().is_some_and(|known| !known.is_false()) {
                let mut wrong = proof.clone();
                wrong.parts[part].nodes[node].invariant = Some(Term::bool(false));
                tried += 1;
                found += usize::from(is_caught(&program, check, Proof::Product(wrong)));
            }
            let mut wrong = proof.clone();
            wrong.parts[part].nodes[node].moves.clear();
            gone += usize::from(is_caught(&program, check, Proof::Product(wrong)));
        }
    }
    assert!(4 * found >= tried && gone > 0, "{found} of {tried} invariants, {gone} nodes without moves");
}

#[test]
fn wrong_claims_of_queries_are_met() {
    let check = Check::Assertions;
    let program = lowered(HAND_SHAKE, check);
    let Proof::Queries(proof) = proof_of(&Queries::default(), &program, check) else { panic!("it asks") };
    assert!(!is_caught(&program, check, Proof::Queries(proof.clone())), "it is right");
    let mut wrong = proof.clone();
    for part in &mut wrong.parts {
        for formula in part.main.at.iter_mut().flatten() {
            *formula = Term::bool(false);
        }
    }
    assert!(is_caught(&program, check, Proof::Queries(wrong)));
}

#[test]
fn wrong_nodes_of_contexts_are_met() {
    let check = Check::Races;
    let program = lowered(include_str!("../../../../tests/programs/context/figure-1.c"), check);
    let engine = ContextInference::OmegaCirc;
    let Proof::Context(proof) = proof_of(&engine, &program, check) else { panic!("it is a context") };
    assert!(!is_caught(&program, check, Proof::Context(proof.clone())), "it is right");
    let mut found = 0;
    for node in 0..proof.nodes.len() {
        let mut wrong = proof.clone();
        let place = (wrong.nodes[node].template, wrong.nodes[node].location);
        for other in wrong.nodes.iter_mut().filter(|other| (other.template, other.location) == place) {
            other.formula = Term::bool(false);
        }
        found += usize::from(is_caught(&program, check, Proof::Context(wrong)));
    }
    assert!(2 * found >= proof.nodes.len(), "{found} of {}", proof.nodes.len());
}

/// The rules alone accept what has nothing to check; executions are tried with every proof.
#[test]
fn the_checker_tries_executions() {
    let check = Check::Assertions;
    let program = lowered(HAND_SHAKE, check);
    for engine in [&Horn as &dyn Engine, &Queries::default()] {
        let proof = proof_of(engine, &program, check);
        assert_eq!(check_proof(&program, &check.property(), &proof, &Budget::unlimited()), Ok(()));
    }
}
