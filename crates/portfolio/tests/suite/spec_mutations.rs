//! The checker refuses proofs by specifications with something taken away, weakened or made up.

use crate::specifications::{figure, paper, read_c, read_spec};
use checker::check_proof;
use engine_spec::Spec;
use ir::Count;
use ir::specification::Specification;
use portfolio::Portfolio;
use portfolio::pipeline;
use terms::{Sort, Symbol, Term, Variable};
use verdict::{Budget, Check, Composition, Conformance, Engine, Proof, Silent, SpecProof, Task, Verdict};

fn proof_of(program: &str, specification: &str) -> (verdict::Views, SpecProof) {
    let program = read_c(program);
    let specification = read_spec(specification, &program);
    let lowered = pipeline::prepare(&program, Check::Assertions);
    let property = Check::Assertions.property();
    let task = Task { program: &lowered, property: &property };
    let portfolio = Portfolio::default();
    let engine = Spec { specification: &specification, composer: &portfolio };
    match engine.verify(task, &Budget::steps_for(200.0), &Silent) {
        Verdict::Safe(Proof::Spec(proof)) => (lowered, *proof),
        other => panic!("no proof: {other:?}"),
    }
}

fn accepts(program: &verdict::Views, proof: SpecProof) -> bool {
    let property = Check::Assertions.property();
    check_proof(program, &property, &Proof::Spec(Box::new(proof)), &Budget::steps_for(100.0)).is_ok()
}

fn examples() -> Vec<(&'static str, verdict::Views, SpecProof)> {
    [
        ("figure 2", "abstract-threads-figure2.c", "figure3.tspec"),
        ("figure 4", "abstract-threads-figure4.c", "figure5.tspec"),
    ]
    .into_iter()
    .map(|(name, program, specification)| {
        let (program, proof) = proof_of(&paper(program), &figure(specification));
        (name, program, proof)
    })
    .collect()
}

/// Every change of what is claimed of threads.
fn of_conformance(said: &Conformance) -> Vec<(String, Conformance)> {
    let mut found = Vec::new();
    let formulas = |said: &Conformance| said.outside.len();
    for at in 0..formulas(said) {
        // A location that threads get to, with something said of it that can fail.
        let Some(formula) =
            said.outside[at].as_ref().filter(|formula| !formula.is_true() && !formula.is_false())
        else {
            continue;
        };
        let mut gone = said.clone();
        gone.outside[at] = None;
        found.push((format!("nothing at {at}"), gone));
        let mut never = said.clone();
        never.outside[at] = Some(Term::bool(false));
        found.push((format!("never at {at}"), never));
        let mut weak = said.clone();
        weak.outside[at] = Some(Term::bool(true));
        found.push((format!("anything at {at}"), weak));
        let mut made_up = said.clone();
        made_up.outside[at] = Some(formula.and(&Variable::new("made up", Sort::Bool).term()));
        found.push((format!("a foreign name at {at}"), made_up));
    }
    let mut short = said.clone();
    short.outside.pop();
    found.push(("a location is missing".to_owned(), short));
    found
}

#[test]
fn what_is_claimed_of_threads() {
    for (name, program, proof) in examples() {
        assert!(accepts(&program, proof.clone()), "{name}");
        for (number, said) in proof.threads.iter().enumerate() {
            for (what, changed) in of_conformance(said) {
                let mut wrong = proof.clone();
                wrong.threads[number] = changed;
                assert!(!accepts(&program, wrong), "{name}, thread {number}: {what}");
            }
            let mut gone = proof.clone();
            gone.threads.remove(number);
            assert!(!accepts(&program, gone), "{name}: without thread {number}");
            let mut twice = proof.clone();
            let other = (number + 1) % proof.threads.len();
            twice.threads[number] = proof.threads[other].clone();
            assert!(!accepts(&program, twice), "{name}: thread {other} twice");
        }
    }
}

/// Changes of the specification, each of which makes it say something that is not so.
fn of_specification(specification: &Specification) -> Vec<(String, Specification)> {
    let mut found = Vec::new();
    for (number, thread) in specification.threads.iter().enumerate() {
        for position in 0..thread.transitions.len() {
            let mut gone = specification.clone();
            gone.threads[number].transitions.remove(position);
            found.push((format!("{} without transition {position}", thread.name), gone));
            if !thread.transitions[position].changes.is_empty() {
                let mut stays = specification.clone();
                stays.threads[number].transitions[position].changes.clear();
                found.push((format!("{} with a frame for transition {position}", thread.name), stays));
            }
        }
        for (position, state) in thread.states.iter().enumerate() {
            if !state.assertion.is_empty() {
                let mut lost = specification.clone();
                lost.threads[number].states[position].assertion.clear();
                found.push((format!("{} without the assertion of {}", thread.name, state.name), lost));
            }
        }
        let mut elsewhere = specification.clone();
        elsewhere.threads[number].initial = vec![thread.states.len() - 1];
        found.push((format!("{} starts at its end", thread.name), elsewhere));
        let mut gone = specification.clone();
        gone.threads.remove(number);
        found.push((format!("without {}", thread.name), gone));
        if thread.count == Count::Any {
            let mut few = specification.clone();
            few.threads[number].count = Count::Exactly(1);
            found.push((format!("one {}", thread.name), few));
        }
    }
    let mut start = specification.clone();
    start.start = Some(vec![ir::Expr::bool(false)]);
    found.push(("a start that never is".to_owned(), start));
    let mut name = specification.clone();
    if let [first, second, ..] = name.variables.as_mut_slice() {
        second.name.clone_from(&first.name);
        found.push(("two variables of one name".to_owned(), name));
    }
    found
}

/// A proof whose specification was changed is refused, unless the rest is also right: some transitions are
/// not needed, as another candidate takes the step.
#[test]
fn what_the_specification_says() {
    for (name, program, proof) in examples() {
        let (mut refused, mut all) = (0, 0);
        for (what, specification) in of_specification(&proof.specification) {
            all += 1;
            let wrong = SpecProof { specification: specification.clone(), ..proof.clone() };
            if !accepts(&program, wrong) {
                refused += 1;
                continue;
            }
            let property = Check::Assertions.property();
            let task = Task { program: &program, property: &property };
            let engine = Spec { specification: &specification, composer: &engine_flow::Flow };
            let again = engine.verify(task, &Budget::steps_for(100.0), &Silent);
            assert!(matches!(again, Verdict::Safe(_)), "{name}: {what}");
        }
        assert!(refused * 3 > all * 2, "{name}: {refused} of {all}");
    }
}

/// The invariant of the composition: gone, made up, with one of its parts gone, or with a number of threads
/// that is too low.
#[test]
fn what_is_claimed_of_the_composition() {
    for (name, program, proof) in examples() {
        let Composition::Counting(invariant) = &proof.composition else { panic!("it was counted") };
        let wrong = |composition: Composition| SpecProof { composition, ..proof.clone() };
        let counting = |term: Term| wrong(Composition::Counting(term));
        assert!(!accepts(&program, counting(Term::bool(true))), "{name}");
        assert!(!accepts(&program, counting(Term::bool(false))), "{name}");
        let foreign = invariant.and(&Variable::new("made up", Sort::Bool).term());
        assert!(!accepts(&program, counting(foreign)), "{name}");
        for variable in invariant
            .free_variables()
            .iter()
            .filter(|variable| matches!(variable.name.symbol(), Symbol::Population { .. }))
        {
            let none = invariant.and(&variable.term().at_most(&Term::int(0)));
            assert!(!accepts(&program, counting(none)), "{name}: nobody in {}", variable.name);
        }
        assert!(!accepts(&program, wrong(Composition::Program(Box::new(Proof::NoErrorLocation)))), "{name}");
        assert!(!accepts(&program, wrong(Composition::Program(Box::new(Proof::OneThread)))), "{name}");
    }
}
