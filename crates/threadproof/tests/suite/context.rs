//! The engine `context`: figure 1 of paper 1 round by round as section 2.4 tells it, and pairs of programs that are alike but for one mistake.

use checker::Checked;
use engine_context::ContextInference;
use expect_test::expect;
use std::cell::RefCell;
use threadproof::pipeline;
use verdict::{Budget, Check, Event, Events, Proof};

fn read(path: &std::path::Path) -> ir::Program {
    let text = std::fs::read(path).expect("the program is there");
    let source = frontend_c::Source { name: "test.c".to_owned(), text };
    frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C")
}

/// Keeps what is told.
#[derive(Default)]
struct Told(RefCell<Vec<String>>);

impl Events for Told {
    fn event(&self, event: Event) {
        if let Event::Phase(text) = event {
            self.0.borrow_mut().push(text);
        }
    }
}

/// Section 2.4 of the paper: first a race along a path that a thread cannot take by itself, then one that two threads cannot take together; then no more, with k = 1.
#[test]
fn figure_1_round_by_round() {
    let program = read(&crate::root().join("tests/programs/context/figure-1.c"));
    let told = Told::default();
    let budget = Budget::seconds(60.0);
    let outcome = pipeline::verify(&program, Check::Races, &ContextInference, &budget, &told);
    let Checked::Proved(Proof::Context(proof)) = outcome.verdict else { panic!("not proved") };
    let told = told.0.borrow();
    let rounds: Vec<&String> = told.iter().filter(|text| text.starts_with("context: round")).collect();
    assert_eq!((rounds.len(), rounds[0].as_str()), (3, "context: round 1, k = 1: "), "{told:?}");
    assert!(rounds.iter().all(|text| text.contains("k = 1")) && rounds[2].contains("state"), "{told:?}");
    let spurious = told.iter().filter(|text| text.starts_with("context: no execution takes lines")).count();
    assert_eq!(spurious, 2, "{told:?}");
    assert_eq!(proof.acfas.iter().map(|acfa| acfa.states.len()).collect::<Vec<_>>(), [2, 4]);
    let picture = report::graph::contexts(&pipeline::prepare(&program, Check::Races), &proof);
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
}

/// The pairs are about races among any number of threads.
#[test]
fn pairs_are_decided_by_contexts() {
    let mut wrong = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(crate::root().join("tests/programs/context-pairs"))
        .expect("the pairs are there")
        .map(|file| file.expect("it can be read").path())
        .collect();
    files.sort();
    assert!(files.len() >= 38);
    for file in files {
        let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let budget = Budget::seconds(60.0);
        let outcome =
            pipeline::verify(&read(&file), Check::Races, &ContextInference, &budget, &Told::default());
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
    let names = ["state+0@1", "point+4@12", "worker.old%2#1", "number of threads"];
    assert_eq!(names.map(verdict::known_name), ["state", "point+4", "old", "number of threads"]);
}
