//! Counting up to k (paper 1, appendix A): lemma 1 on random programs, programs that need a certain k, and
//! changed proofs.

use crate::{read, verify_by};
use boolean::{FALSE, Recursion, View};
use checker::{Checked, check_proof};
use engine_states::Counting;
use engine_states::counters::{Counted, Counters, Counts, is_within};
use engine_states::cover::Cover;
use engine_states::reach::{Locks, reach};
use engine_states::transitions::{SharedId, Transitions};
use ir::Program;
use testkit::random::Random;
use testkit::random::boolean::{Features, program};
use verdict::{Budget, Check, Engine, Population, Proof, Property, Silent, Task, Verdict};

/// The states that a search finds, or the length of the trace and whether it is an execution.
type Found = Result<Vec<(SharedId, Counts)>, (usize, bool)>;

/// What the search finds for each k below a bound.
fn found(program: &Program, bound: u32) -> Vec<Found> {
    let budget = Budget::unlimited();
    let mut view = View::new(program, Recursion::Approximated, &budget).expect("it is Boolean");
    let reached = reach(&mut view, Locks::Exclusive).expect("there is time");
    let errors =
        view.points.iter().zip(&reached.sets).any(|(point, set)| point.error.is_some() && *set != FALSE);
    if !errors {
        return Vec::new();
    }
    let Property::NoError(kinds) = Check::Assertions.property() else { panic!("assertions are errors") };
    let Ok(transitions) = Transitions::new(&view, &reached.sets, &kinds, &budget) else {
        panic!("it is small")
    };
    let mut counters = Counters::new(&transitions);
    let mut all = Vec::new();
    for k in 0..bound {
        all.push(match counters.search(k, &budget) {
            Ok(Counted::Closed(states)) => Ok(states),
            Ok(Counted::Trace(path)) => {
                let mut cover = Cover::new(&transitions);
                Err((path.len(), cover.along(&path, &budget).expect("there is time").is_some()))
            }
            Err(_) => panic!("it is small"),
        });
    }
    all
}

/// Lemma 1: what is found with k + 1 is within what is found with k. And a trace gets no shorter, nor stops
/// being an execution.
#[test]
fn a_larger_k_finds_no_more() {
    let mut random = Random::new(11);
    let mut compared = [0; 2];
    for _ in 0..800 {
        let features = Features { atomic: true, waits: true, ..Features::default() };
        let text = program(&mut random, features);
        for pair in found(&read(&text), 4).windows(2) {
            match (&pair[0], &pair[1]) {
                (Ok(coarse), Ok(fine)) => {
                    compared[0] += 1;
                    for (shared, counts) in fine {
                        let covers =
                            |(other, most): &(SharedId, Counts)| shared == other && is_within(counts, most);
                        assert!(coarse.iter().any(covers), "{counts:?}\n{text}");
                    }
                }
                (Err((coarse, real)), Err((fine, still))) => {
                    compared[1] += 1;
                    assert!(coarse <= fine && (*still || !real), "{pair:?}\n{text}");
                }
                (Err((_, real)), Ok(_)) => assert!(!real, "{text}"),
                (Ok(_), Err(_)) => panic!("an error that a smaller k excludes\n{text}"),
            }
        }
    }
    assert!(compared[0] > 10 && compared[1] > 30, "{compared:?}");
}

/// As many threads as are asked for, each of which counts itself in and out, and an assertion that there are
/// never three.
fn counted(threads: usize) -> String {
    let starts = "start_thread worker();\n".repeat(threads);
    format!(
        "decl one := 0, two := 0;
        void main() begin {starts} end
        void worker() begin
          one, two := !one, two ^ one;
          assert(!(one & two));
          one, two := !one, two ^ !one;
        end"
    )
}

#[test]
fn two_threads_take_a_k_of_two() {
    let proved: Vec<bool> = found(&read(&counted(2)), 3).iter().map(Result::is_ok).collect();
    assert_eq!(proved, [false, false, true]);
    assert!(found(&read(&counted(2)), 2).iter().all(|found| matches!(found, Err((_, false)))));
    assert!(matches!(verify_by(&Counting, &read(&counted(2)), 20.0), Checked::Proved(_)));
    let Checked::Refuted(refutation) = verify_by(&Counting, &read(&counted(3)), 20.0) else {
        panic!("three threads are three")
    };
    assert_eq!(refutation.replayed.threads.len(), 4);
}

/// A proof without one of its populations, or with one that counts fewer threads than there are, is not
/// accepted.
#[test]
fn changed_populations_are_refused() {
    let program = read(&counted(2));
    let property = Check::Assertions.property();
    let budget = Budget::steps_for(60.0);
    let verdict = Counting.verify(Task { program: &program, property: &property }, &budget, &Silent);
    let Verdict::Safe(Proof::States(proof)) = verdict else { panic!("it is safe") };
    let accepted = |populations: Vec<Population>| {
        let proof = verdict::StatesProof { populations, ..(*proof).clone() };
        check_proof(&program, &property, &Proof::States(Box::new(proof)), &budget).is_ok()
    };
    assert!(accepted(proof.populations.clone()));
    assert!(proof.populations.len() > 3);
    for index in 0..proof.populations.len() {
        let mut fewer = proof.populations.clone();
        fewer.remove(index);
        assert!(!accepted(fewer), "without {:?}", proof.populations[index]);
        for thread in 0..proof.populations[index].threads.len() {
            let mut less = proof.populations.clone();
            let most = &mut less[index].threads[thread].1;
            *most = Some(most.expect("all are counted") - 1);
            assert!(!accepted(less), "{:?}", proof.populations[index]);
        }
    }
    // With any number of workers, there is an error.
    let last = proof.populations.len() - 1;
    let mut more = proof.populations.clone();
    more[last].threads.iter_mut().for_each(|(_, most)| *most = None);
    assert!(!accepted(more), "{:?}", proof.populations[last]);
    let mut twice = proof.populations.clone();
    let again = twice[0].threads[0];
    twice[0].threads.push(again);
    assert!(!accepted(twice));
}
