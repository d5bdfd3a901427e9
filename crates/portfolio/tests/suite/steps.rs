//! What a step is, and where others may run: no engine contradicts what the programs under
//! `tests/programs/steps` say. `explicit` and `flow` are asked about all programs elsewhere (`programs.rs`).

use checker::Checked;
use portfolio::pipeline;
use testkit::annotation::annotations;
use verdict::{Budget, Engine, Silent};

/// How long an engine may look at one program. None has to decide it.
const SECONDS: f64 = 0.5;

#[test]
fn no_engine_contradicts() {
    let queries = engine_queries::Queries::default();
    let engines: [&dyn Engine; 5] = [
        &engine_horn::Horn,
        &queries,
        &engine_context::ContextInference::OmegaCirc,
        &portfolio::STATES,
        &engine_horn::symbolic::Symbolic,
    ];
    let mut failures = Vec::new();
    for file in crate::programs::programs(&crate::root().join("tests/programs/steps")) {
        let text = std::fs::read_to_string(&file).expect("test programs are text");
        let wanted = annotations(&text).expect("test programs say what they are");
        let name = file.display().to_string();
        let source = frontend_c::Source { name: name.clone(), text: text.into_bytes() };
        let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it can be read");
        for (&check, expectation) in &wanted.expectations {
            let views = pipeline::prepare(&program, check);
            for engine in engines {
                let budget = Budget::steps_for(SECONDS);
                let found = pipeline::verify_prepared(&views, check, engine, &budget, &Silent);
                let wrong = match found.verdict {
                    Checked::Proved(_) => !expectation.holds,
                    Checked::Refuted(_) => expectation.holds,
                    Checked::Unknown(verdict::Reason::Rejected(_)) => true,
                    Checked::Unknown(_) => false,
                };
                if wrong {
                    failures.push(format!("{name}: {}: {}", check.name(), engine.name()));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
