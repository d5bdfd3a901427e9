//! The checker refuses a proof by contexts with something taken away or made up.

use checker::check_proof;
use engine_context::ContextInference;
use portfolio::pipeline;
use terms::Term;
use verdict::{Budget, Check, ContextProof, Engine, Proof, Silent, Task, Verdict};

/// A state variable; two kinds of threads; an assertion. Each with a program that is alike and wrong.
const PROGRAMS: [(&str, &str, Check); 3] = [
    ("context/figure-1", "context/figure-1-early-broken", Check::Races),
    ("context/port", "context/port-broken", Check::Races),
    ("modular/test-and-set", "modular/test-and-set-broken", Check::Assertions),
];

fn lowered(name: &str, check: Check) -> verdict::Views {
    let file = crate::root().join(format!("tests/programs/{name}.c"));
    let text = std::fs::read(file).expect("the program is there");
    let source = frontend_c::Source { name: name.to_owned(), text };
    let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
    pipeline::prepare(&program, check)
}

fn proof_of(name: &str, check: Check) -> (verdict::Views, ContextProof) {
    let program = lowered(name, check);
    let property = check.property();
    let task = Task { program: &program, property: &property };
    match ContextInference::OmegaCirc.verify(task, &Budget::steps_for(60.0), &Silent) {
        Verdict::Safe(Proof::Context(proof)) => (program, *proof),
        other => panic!("{name}: no proof: {other:?}"),
    }
}

fn accepts(program: &verdict::Views, check: Check, proof: &ContextProof) -> bool {
    let proof = Proof::Context(Box::new(proof.clone()));
    check_proof(program, &check.property(), &proof, &Budget::steps_for(60.0)).is_ok()
}

/// How many changes of a kind were tried, and how many of them were refused.
#[derive(Default, Debug)]
struct Count {
    tried: usize,
    refused: usize,
}

#[test]
fn a_context_proof_counts_as_a_whole_only() {
    for (name, wrong, check) in PROGRAMS {
        let (program, proof) = proof_of(name, check);
        assert!(accepts(&program, check, &proof), "{name}");
        assert!(!accepts(&lowered(wrong, check), check, &proof), "{name}: the proof is not about {wrong}");
        let with = |change: &dyn Fn(&mut ContextProof)| {
            let mut other = proof.clone();
            change(&mut other);
            (other != proof).then(|| !accepts(&program, check, &other))
        };
        let refuses = |change: &dyn Fn(&mut ContextProof), what: &str| {
            assert_ne!(with(change), Some(false), "{name}: {what}");
        };
        refuses(&|proof| proof.views.clear(), "nobody sees anything");
        refuses(&|proof| proof.edges.clear(), "nobody moves");
        refuses(&|proof| proof.nodes.clear(), "nobody is anywhere");
        refuses(&|proof| proof.nodes.iter_mut().for_each(|node| node.location.0 = u32::MAX), "nowhere");
        refuses(&|proof| proof.nodes.iter_mut().for_each(|node| node.state.0 = u32::MAX), "in no state");
        refuses(&|proof| proof.views.iter_mut().for_each(|view| view.node = usize::MAX), "at no node");
        refuses(&|proof| proof.edges.iter_mut().for_each(|edge| edge.step = usize::MAX), "by no step");
        refuses(
            &|proof| proof.acfas = proof.acfas.iter().take(1).cloned().collect(),
            "a template without an automaton",
        );
        let unknown = Term::int_variable("made up").equals(&Term::int(0));
        refuses(
            &|proof| proof.nodes[0].formula = proof.nodes[0].formula.and(&unknown),
            "of a made up variable",
        );
        refuses(&|proof| proof.views[0].formula = Term::int(1), "no formula");
        let mut kinds: Vec<(&str, Count)> = Vec::new();
        let mut count = |kind: &'static str, refused: Option<bool>| {
            let Some(refused) = refused else { return };
            if kinds.iter().all(|(known, _)| *known != kind) {
                kinds.push((kind, Count::default()));
            }
            for (_, count) in kinds.iter_mut().filter(|(known, _)| *known == kind) {
                count.tried += 1;
                count.refused += usize::from(refused);
            }
        };
        for at in 0..proof.nodes.len() {
            count("a node that is never come to", with(&|proof| proof.nodes[at].formula = Term::bool(false)));
            count("a node that knows nothing", with(&|proof| proof.nodes[at].formula = Term::bool(true)));
        }
        for at in 0..proof.edges.len() {
            count(
                "an edge that is not there",
                with(&|proof| {
                    proof.edges.remove(at);
                }),
            );
        }
        for at in 0..proof.views.len() {
            count(
                "a view that is not there",
                with(&|proof| {
                    proof.views.remove(at);
                }),
            );
            count("a view that is impossible", with(&|proof| proof.views[at].formula = Term::bool(false)));
            count("a view of nobody", with(&|proof| proof.views[at].others.clear()));
        }
        for template in proof.acfas.ids() {
            for state in proof.acfas[template].states.ids() {
                let of = |change: &dyn Fn(&mut verdict::AbstractState)| {
                    with(&|proof| change(&mut proof.acfas[template].states[state]))
                };
                count("a state that nobody is in", of(&|state| state.label = Term::bool(false)));
                count("a state that says nothing", of(&|state| state.label = Term::bool(true)));
                count("a state that is atomic", of(&|state| state.atomic = true));
            }
            for edge in 0..proof.acfas[template].edges.len() {
                let of = |change: &dyn Fn(&mut verdict::Action)| {
                    with(&|proof| change(&mut proof.acfas[template].edges[edge].action))
                };
                count(
                    "a step that is not taken",
                    with(&|proof| {
                        proof.acfas[template].edges.remove(edge);
                    }),
                );
                count("a step that changes nothing", of(&|action| action.havoc.clear()));
                count("a step that starts nobody", of(&|action| action.starts.clear()));
                count("a step that is impossible", of(&|action| action.guard = Term::bool(false)));
                count("a step that makes the impossible", of(&|action| action.after = Term::bool(false)));
            }
        }
        for (kind, count) in &kinds {
            // Some facts are not needed, and some steps are never taken; most are.
            assert!(count.refused > 0 || kind.ends_with("nothing"), "{name}: {kind}: {count:?}");
            assert!(
                4 * count.refused >= count.tried || kind.ends_with("nothing"),
                "{name}: {kind}: {count:?}"
            );
        }
    }
}

/// A program that starts as several threads, or starts threads in atomic regions, is not what proofs by
/// contexts are about: neither the engine nor the checker takes it.
#[test]
fn programs_of_another_kind_are_refused() {
    let (name, check) = ("context/figure-1", Check::Races);
    let (program, proof) = proof_of(name, check);
    let property = check.property();
    let [(first, _)] = program.start.as_slice() else { panic!("{name} starts as one thread") };
    let other = program.templates.ids().find(|template| template != first).expect("threads are started");
    let mut several = program.clone();
    several.start.push((other, ir::Count::Exactly(1)));
    let mut any = program.clone();
    any.start[0].1 = ir::Count::Any;
    let mut atomic = program.clone();
    for template in program.templates.ids().filter(|template| template != first) {
        let entry = program.templates[template].entry;
        atomic.templates[template].locations[entry].atomic = true;
    }
    for (changed, what) in [(several, "one thread"), (any, "one thread"), (atomic, "atomic region")] {
        let changed = changed.into();
        let task = Task { program: &changed, property: &property };
        for engine in [ContextInference::Circ, ContextInference::OmegaCirc] {
            match engine.verify(task, &Budget::steps_for(60.0), &Silent) {
                Verdict::Unknown(reason) => assert!(reason.to_string().contains(what), "{what}: {reason}"),
                other => panic!("{what}: {other:?}"),
            }
        }
        let proof = Proof::Context(Box::new(proof.clone()));
        let refused = check_proof(&changed, &property, &proof, &Budget::steps_for(60.0));
        let why = refused.expect_err("the checker refuses it").to_string();
        assert!(why.contains(what), "{what}: {why}");
    }
}
