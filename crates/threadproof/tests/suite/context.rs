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
    expect![[""]].assert_eq(&told.0.borrow().join("\n"));
    let picture = report::graph::contexts(&pipeline::prepare(&program, Check::Races), &proof);
    expect![[""]].assert_eq(&picture);
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
