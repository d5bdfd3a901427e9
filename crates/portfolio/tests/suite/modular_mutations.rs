//! The checker refuses a proof by what holds of every few threads with something taken away or made up.

use checker::check_proof;
use engine_horn::Horn;
use engine_horn::modular::{Effort, prove_by_groups, prove_by_steady_variables};
use portfolio::pipeline;
use smt::expressions::Mode;
use terms::{Operation, Term};
use transitions::{System, prepare};
use verdict::{Budget, Check, Engine, ModularProof, Proof, Reason, Silent, Task, Verdict};

/// A lock that is tested and set in one step, for which two threads must be looked at together; a counter
/// under a mutex; and threads that start threads.
const PROGRAMS: [(&str, Check, &str); 4] = [
    ("test and set", Check::Assertions, include_str!("../../../../tests/programs/modular/test-and-set.c")),
    ("test and set", Check::Races, include_str!("../../../../tests/programs/modular/test-and-set.c")),
    ("a counter", Check::Assertions, include_str!("../../../../tests/programs/modular/counter.c")),
    ("a tree", Check::Assertions, include_str!("../../../../tests/programs/modular/tree.c")),
];

fn proof_of(text: &str, check: Check) -> (verdict::Views, ModularProof) {
    let source = frontend_c::Source { name: "test.c".to_owned(), text: text.as_bytes().to_vec() };
    let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
    let lowered = pipeline::prepare(&program, check);
    let property = check.property();
    let task = Task { program: &lowered, property: &property };
    match Horn.verify(task, &Budget::steps_for(60.0), &Silent) {
        Verdict::Safe(Proof::Modular(proof)) => (lowered, *proof),
        other => panic!("no proof: {other:?}"),
    }
}

fn accepts(program: &verdict::Views, check: Check, proof: ModularProof) -> bool {
    let proof = Proof::Modular(Box::new(proof));
    check_proof(program, &check.property(), &proof, &Budget::steps_for(60.0)).is_ok()
}

/// The formula without one of its cases, and with one case made weaker.
fn changed(formula: &Term) -> Vec<(Term, bool)> {
    let cases: Vec<Term> = match formula.operation() {
        Operation::Or => formula.operands().to_vec(),
        _ => vec![formula.clone()],
    };
    let mut found = Vec::new();
    for number in 0..cases.len() {
        let others =
            || cases.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, case)| case.clone());
        found.push((Term::any(others()), true));
        if *cases[number].operation() == Operation::And {
            for part in 0..cases[number].operands().len() {
                let rest = cases[number].operands().iter().enumerate().filter(|(other, _)| *other != part);
                let weaker = Term::all(rest.map(|(_, term)| term.clone()));
                found.push((Term::any(others().chain([weaker])), false));
            }
        }
    }
    found
}

#[test]
fn a_modular_proof_counts_as_a_whole_only() {
    for (name, check, text) in PROGRAMS {
        let (program, proof) = proof_of(text, check);
        assert!(accepts(&program, check, proof.clone()), "{name}");
        let (mut weaker, mut weaker_refused, mut stronger, mut stronger_refused) = (0, 0, 0, 0);
        for number in 0..proof.invariants.len() {
            let mut none = proof.clone();
            let (_, formula) = none.invariants.remove(number);
            if formula.is_false() {
                continue;
            }
            let mut impossible = proof.clone();
            impossible.invariants[number].1 = Term::bool(false);
            assert!(!accepts(&program, check, impossible), "{name}: group {number} is said not to exist");
            for (formula, is_stronger) in changed(&formula) {
                let mut other = proof.clone();
                other.invariants[number].1 = formula;
                let refused = u32::from(!accepts(&program, check, other));
                if is_stronger {
                    (stronger, stronger_refused) = (stronger + 1, stronger_refused + refused);
                } else {
                    (weaker, weaker_refused) = (weaker + 1, weaker_refused + refused);
                }
            }
        }
        let mut trivial = proof.clone();
        trivial.invariants.iter_mut().for_each(|(_, formula)| *formula = Term::bool(true));
        assert!(!accepts(&program, check, trivial), "{name}: nothing is said");
        let mut nothing = proof.clone();
        nothing.invariants.clear();
        assert!(!accepts(&program, check, nothing), "{name}: there are no invariants");
        let mut larger = proof.clone();
        larger.size += 1;
        assert!(!accepts(&program, check, larger), "{name}: the groups are said to be larger");
        // No combination of locations may be dropped; the facts about one may be more than is needed.
        assert_eq!(stronger_refused, stronger, "{name}");
        assert!(weaker_refused > 0, "{name}: {weaker_refused} of {weaker}");
    }
}

/// Two permits for any number of threads: what holds of every two threads is not enough, what holds of every
/// three is.
#[test]
fn two_permits_need_groups_of_three() {
    let text = include_str!("../../../../tests/programs/modular/two-permits.c");
    let lowered = pipeline::prepare(&crate::queries::read(text), Check::Assertions);
    let words = prepare(&lowered, false, &Budget::unlimited()).expect("it is small");
    let system = System::new(words, Mode::Integers);
    let budget = Budget::steps_for(200.0);
    let proved = |largest: usize| prove_by_groups(&system, largest, Effort::All, &budget);
    match proved(2) {
        Err(Reason::GaveUp(why)) => assert!(why.starts_with("what holds of every 2 threads"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(proved(3).map(|proof| proof.size), Ok(3));
}

/// What is set before a thread starts, and what only one thread writes.
const STEADY: &str = "
#include <assert.h>
#include <pthread.h>
int limit, turns, other;
void *run(void *argument) {
  for (int i = 0; i < limit; i++) turns++;
  assert(limit == 5 && turns >= 0);
  return 0;
}
void *idle(void *argument) { return argument; }
int main(void) {
  pthread_t one, two;
  limit = 5;
  turns = 0;
  pthread_create(&one, 0, run, 0);
  pthread_create(&two, 0, idle, 0);
  other = -1;
  return 0;
}";

#[test]
fn what_is_steady_in_one_program_need_not_be_in_another() {
    let prove = |program: &verdict::Views| {
        let words = prepare(program, false, &Budget::unlimited()).expect("it is small");
        prove_by_steady_variables(&System::new(words, Mode::Integers), &Budget::steps_for(20.0))
    };
    let program = pipeline::prepare(&crate::queries::read(STEADY), Check::Assertions);
    let proof = prove(&program).expect("a proof");
    assert_eq!(proof.size, 1);
    assert!(accepts(&program, Check::Assertions, proof.clone()));
    let changes = [
        ("other = -1;", "limit = -1;"),
        ("other = -1;", "turns = -1;"),
        (
            "  turns = 0;\n  pthread_create(&one, 0, run, 0);",
            "  pthread_create(&one, 0, run, 0);\n  turns = -1;",
        ),
        ("return argument;", "limit = 6; return argument;"),
        ("return argument;", "turns = -1; return argument;"),
    ];
    for (from, to) in changes {
        assert!(STEADY.contains(from), "{from}");
        let text = STEADY.replacen(from, to, 1);
        let lowered = pipeline::prepare(&crate::queries::read(&text), Check::Assertions);
        assert!(!accepts(&lowered, Check::Assertions, proof.clone()), "{from} -> {to}");
        assert!(prove(&lowered).is_err(), "{from} -> {to}");
    }
}
