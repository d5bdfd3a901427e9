//! The engine `context`: figure 1 of paper 1 round by round as section 2.4 tells it, and pairs of programs
//! that are alike but for one mistake.

use checker::Checked;
use engine_context::ContextInference;
use expect_test::expect;
use portfolio::pipeline;
use std::cell::RefCell;
use terms::{Instance, Name, Symbol};
use verdict::{Budget, Check, Event, Events, Proof};

fn read(path: &std::path::Path) -> ir::Program {
    let text = std::fs::read(path).expect("the program is there");
    let source = frontend_c::Source { name: "test.c".to_owned(), text };
    frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C")
}

/// Records all events.
#[derive(Default)]
struct Reported(RefCell<Vec<String>>);

impl Events for Reported {
    fn event(&self, event: Event) {
        if let Event::Phase(text) = event {
            self.0.borrow_mut().push(text);
        }
    }
}

/// Section 2.4 of the paper: first a race along a path that a thread cannot take by itself, then one that two
/// threads cannot take together; then no more, with k = 1.
#[test]
fn figure_1_round_by_round() {
    let program = read(&crate::root().join("tests/programs/context/figure-1.c"));
    let reported = Reported::default();
    let budget = Budget::steps_for(60.0);
    let outcome = pipeline::verify(&program, Check::Races, &ContextInference::Circ, &budget, &reported);
    let Checked::Proved(Proof::Context(proof)) = outcome.verdict else { panic!("not proved") };
    let reported = reported.0.borrow();
    let rounds: Vec<&String> = reported.iter().filter(|text| text.starts_with("context: round")).collect();
    assert_eq!((rounds.len(), rounds[0].as_str()), (3, "context: round 1, k = 1: "), "{reported:?}");
    assert!(rounds.iter().all(|text| text.contains("k = 1")) && rounds[2].contains("state"), "{reported:?}");
    let spurious =
        reported.iter().filter(|text| text.starts_with("context: no execution takes lines")).count();
    assert_eq!(spurious, 2, "{reported:?}");
    assert_eq!(proof.acfas.iter().map(|acfa| acfa.states.len()).collect::<Vec<_>>(), [2, 4]);
    let lowered = pipeline::prepare(&program, Check::Races);
    let seen = engine_context::analysed_program(&lowered, &Check::Races.property(), &Budget::unlimited())
        .expect("it is small");
    let picture = report::graph::contexts(seen, &proof);
    expect![[r#"
        digraph context {
          node [shape=box, style=rounded, fontname=monospace, fontsize=10];
          edge [fontname=monospace, fontsize=10];
          subgraph cluster_t0 {
            label="main";
            t0_a0 [label="a0\nstate <= 0", style="rounded,bold", tooltip="a0\nstate <= 0"];
            t0_a1 [label="a1", style="rounded", tooltip="a1"];
            t0_a0 -> t0_a1 [label="if state <= 0\nstarts worker", edgetooltip="if state <= 0\nstarts worker"];
            t0_a1 -> t0_a1 [label="starts worker", edgetooltip="starts worker"];
          }
          subgraph cluster_t1 {
            label="worker";
            t1_a0 [label="a0", style="rounded,bold", tooltip="a0"];
            t1_a1 [label="a1\nstate > 0\nnext: the access in line 19", style="rounded", tooltip="a1\nstate > 0\nnext: the access in line 19"];
            t1_a2 [label="a2\nstate > 0\nnext: the access in line 19", style="rounded", tooltip="a2\nstate > 0\nnext: the access in line 19"];
            t1_a3 [label="a3\nstate > 0", style="rounded", tooltip="a3\nstate > 0"];
            t1_a0 -> t1_a1 [label="if state <= 0\nchanges state\nthen state > 0", edgetooltip="if state <= 0\nchanges state\nthen state > 0"];
            t1_a1 -> t1_a2 [label="", edgetooltip=""];
            t1_a2 -> t1_a3 [label="", edgetooltip=""];
            t1_a3 -> t1_a0 [label="if state > 0\nchanges state\nthen state <= 0", edgetooltip="if state > 0\nchanges state\nthen state <= 0"];
          }
        }
    "#]].assert_eq(&picture);
    // The picture has the same boxes and texts.
    let svg = report::graph::contexts_svg(seen, &proof);
    let texts = svg.split("<text").skip(1).filter_map(|text| text.split_once('>')?.1.split('<').next());
    expect![[r#"
        main 
        a0
        state &lt;= 0
        a1
        if state &lt;= 0
        starts worker
        starts worker
        worker 
        a0
        a1
        state &gt; 0
        next: the access in line 19
        a2
        state &gt; 0
        next: the access in line 19
        a3
        state &gt; 0
        if state &lt;= 0
        changes state
        then state &gt; 0
        if state &gt; 0
        changes state
        then state &lt;= 0"#]]
    .assert_eq(&texts.collect::<Vec<_>>().join("\n"));
    assert!(svg.starts_with("<svg") && !svg.contains("href"), "it needs nothing else");
}

/// What is inferred is a specification that the threads conform to, and that does not go wrong.
#[test]
fn contexts_are_specifications() {
    let text = |folder: &str, name: &str| {
        let path = crate::root().join("tests/programs").join(folder).join(name);
        let program = read(&path);
        let budget = Budget::steps_for(60.0);
        let outcome = pipeline::verify(
            &program,
            Check::Races,
            &ContextInference::OmegaCirc,
            &budget,
            &Reported::default(),
        );
        let Checked::Proved(Proof::Context(proof)) = outcome.verdict else { panic!("not proved") };
        let text = portfolio::specification::of_contexts(&program, Check::Races, &proof, &budget);
        let text = text.expect("it is small");
        let specification = crate::specifications::read_spec(&text, &program);
        let lowered = pipeline::prepare(&program, Check::Assertions);
        let found = engine_spec::conform(&specification, &lowered, &budget).expect("it can be looked at");
        assert!(found.threads.iter().all(|checked| checked.result.is_ok()), "{name}: {text}");
        text
    };
    expect![[r#"
        // What threads do, as contexts have it.

        // `main` needs no abstract thread: it changes no variable here, and its checks do not fail.

        thread Worker_spec runs worker times any {
          start state S0;
          state S1 asserts (state > 0);
          state S2 asserts (state > 0);
          state S3 asserts (state > 0);
          S0 -> S1 changes state: (state <= 0) && (state' > 0);
          S1 -> S2: (state > 0);
          S2 -> S3: (state > 0);
          S3 -> S0 changes state: (state' <= 0);
        }
    "#]]
    .assert_eq(&text("context", "figure-1.c"));
    for name in ["split-request.c", "turn-of-two.c", "flag-is-raised.c"] {
        assert!(text("context-pairs", name).contains("thread "), "{name}");
    }
}

/// The pairs are about races among any number of threads. ω-CIRC decides each of them (the annotations say
/// so); CIRC does, too.
#[test]
fn pairs_are_decided_without_the_omega_check() {
    let mut wrong = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(crate::root().join("tests/programs/context-pairs"))
        .expect("the pairs are there")
        .map(|file| file.expect("it can be read").path())
        .collect();
    files.sort();
    assert_eq!(files.len(), 40);
    for file in files {
        let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let text = std::fs::read_to_string(&file).expect("it can be read");
        assert!(text.contains("// args: --engine context\n"), "{name} is decided by another engine");
        let twin = match name.strip_suffix("-broken") {
            Some(safe) => format!("{safe}.c"),
            None => format!("{name}-broken.c"),
        };
        assert!(file.with_file_name(&twin).exists(), "{name} has no other version");
        let budget = Budget::steps_for(60.0);
        let outcome = pipeline::verify(
            &read(&file),
            Check::Races,
            &ContextInference::Circ,
            &budget,
            &Reported::default(),
        );
        let right = match outcome.verdict {
            Checked::Proved(_) => !name.ends_with("-broken"),
            Checked::Refuted(_) => name.ends_with("-broken"),
            Checked::Unknown(_) => false,
        };
        if !right {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn names_that_a_programmer_knows() {
    let cell = |name: &str, offset: u64| Symbol::Cell { name: name.to_owned(), object: 1, offset };
    let local = Symbol::Local { template: "worker".to_owned(), name: "old".to_owned(), local: 2 };
    let own = Name::from(local).instance(Instance::Thread(1));
    let names = [cell("state", 0).into(), cell("point", 4).into(), own, Symbol::Threads.into()];
    let known = names.map(|name: Name| verdict::known_name(&name));
    assert_eq!(known, ["state", "point+4", "old", "number of threads"]);
}
