//! The checker refuses a proof by predicate abstraction with something taken away or made up.

use checker::check_proof;
use portfolio::STATES;
use portfolio::pipeline;
use terms::Term;
use verdict::{
    AbstractionProof, Budget, Check, Engine, Fact, Literal, Moment, PredicateRelation, Proof, Silent, Task,
    Verdict,
};

/// Shared predicates, predicates that other threads change, arguments of threads, and a fixed set of threads.
const PROGRAMS: [&str; 4] = ["mutex", "growing", "arguments", "turn"];

fn proof_of(name: &str) -> (verdict::Views, AbstractionProof) {
    let file = crate::root().join(format!("tests/programs/predicates/{name}.c"));
    let text = std::fs::read(file).expect("the program is there");
    let source = frontend_c::Source { name: name.to_owned(), text };
    let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
    let lowered = pipeline::prepare(&program, Check::Assertions);
    let property = Check::Assertions.property();
    let task = Task { program: &lowered, property: &property };
    match STATES.verify(task, &Budget::steps_for(60.0), &Silent) {
        Verdict::Safe(Proof::Abstraction(proof)) => (lowered, *proof),
        other => panic!("{name}: no proof: {other:?}"),
    }
}

fn accepts(program: &verdict::Views, proof: AbstractionProof) -> bool {
    let property = Check::Assertions.property();
    check_proof(program, &property, &Proof::Abstraction(Box::new(proof)), &Budget::steps_for(60.0)).is_ok()
}

/// All relations of a proof.
fn relations(proof: &mut AbstractionProof) -> Vec<&mut PredicateRelation> {
    let steps = proof.steps.iter_mut();
    steps
        .flat_map(|step| std::iter::once(&mut step.own).chain(step.others.iter_mut().map(|(_, one)| one)))
        .collect()
}

#[test]
fn made_up_abstractions_are_refused() {
    for name in PROGRAMS {
        let (program, proof) = proof_of(name);
        assert!(accepts(&program, proof.clone()), "{name}");
        let count = relations(&mut proof.clone()).len();
        let (mut tried, mut refused) = (0, 0);
        for relation in 0..count {
            let with = |change: &dyn Fn(&mut PredicateRelation)| {
                let mut other = proof.clone();
                change(relations(&mut other)[relation]);
                (other != proof).then(|| accepts(&program, other))
            };
            let original = relations(&mut proof.clone())[relation].clone();
            for clause in 0..original.clauses.len() {
                // A clause without one of its literals, where that is not true anyway; a clause that says the
                // opposite.
                for literal in 0..original.clauses[clause].len() {
                    let less = with(&|one| {
                        one.clauses[clause].remove(literal);
                    });
                    tried += u32::from(less.is_some());
                    refused += u32::from(less == Some(false));
                }
            }
            for function in 0..original.functions.len() {
                let opposite = with(&|one| {
                    let (_, cubes) = &mut one.functions[function];
                    *cubes = if cubes.is_empty() { vec![vec![]] } else { vec![] };
                });
                tried += u32::from(opposite.is_some());
                refused += u32::from(opposite == Some(false));
            }
            // Nothing follows from nothing: no step is impossible in general.
            assert_ne!(
                with(&|one| one.clauses.push(vec![])),
                Some(true),
                "{name}: a step is said to be impossible"
            );
        }
        // Some changes say nothing wrong: of steps that are never taken, or of facts that are always so.
        assert!(tried == 0 || 2 * refused > tried, "{name}: {refused} of {tried}");
    }
}

#[test]
fn predicates_and_first_values_must_be_right() {
    for name in PROGRAMS {
        let (program, proof) = proof_of(name);
        for number in 0..proof.predicates.len() {
            if let Some(value) = proof.initial[number] {
                let mut other = proof.clone();
                other.initial[number] = Some(!value);
                assert!(!accepts(&program, other), "{name}: first value {number}");
            } else {
                let mut other = proof.clone();
                let fact = Fact { predicate: number, moment: Moment::Before };
                other.start.push(vec![Literal { fact, holds: true }]);
                assert!(!accepts(&program, other), "{name}: clause about {number} at the start");
            }
            let main = program.start[0].0;
            let mut other = proof.clone();
            other.predicates[number].scope = Some(main);
            other.initial[number] = None;
            assert!(!accepts(&program, other), "{name}: predicate {number} of the first thread");
            let mut other = proof.clone();
            other.predicates[number].formula =
                Term::int_variable("a variable that nobody has").equals(&Term::int(0));
            assert!(!accepts(&program, other), "{name}: predicate {number}");
        }
        let mut other = proof.clone();
        other.steps.pop();
        assert!(!accepts(&program, other), "{name}: without a step");
        let mut other = proof.clone();
        other.steps.iter_mut().for_each(|step| *step = verdict::StepAbstraction::default());
        assert!(!accepts(&program, other), "{name}: nothing is known of steps");
        let mut other = proof.clone();
        other.inner = Proof::NoErrorLocation;
        assert!(!accepts(&program, other), "{name}: no reason");
    }
}
