//! The engine: more delays, round by round.

use crate::symbolic::layers::{Ended, Layers};
use executions::guided::follow;
use ir::Span;
use smt::expressions::Mode;
use transitions::{System, prepare};
use verdict::{Budget, Engine, Events, Property, Reason, Task, Verdict};

/// Delays, round by round.
const DELAYS: [u32; 6] = [0, 1, 2, 3, 5, 8];
/// Larger programs are not tried.
const MOST_STEPS: usize = 6_000;

/// The engine.
#[derive(Clone, Default, Debug)]
pub struct Symbolic;

impl Engine for Symbolic {
    fn name(&self) -> &'static str {
        "symbolic"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, _: &dyn Events) -> Verdict {
        let not_supported =
            |text: &str| Verdict::Unknown(Reason::NotSupported(format!("symbolic: {text}"), Span::default()));
        if !matches!(task.property, Property::NoError(_)) {
            return not_supported("only errors are looked for");
        }
        let program = match prepare(task.program, false, budget) {
            Ok(program) => program,
            Err(why) => return Verdict::Unknown(why.reason("symbolic")),
        };
        let system = System::new(program, Mode::Integers);
        if system.steps.len() > MOST_STEPS {
            let text = format!("symbolic: the program has more than {MOST_STEPS} steps");
            return Verdict::Unknown(Reason::TooLarge(text));
        }
        let Some(layers) = Layers::new(&system) else {
            return not_supported("any number of threads run from the start");
        };
        for delays in DELAYS {
            // Violations of the formulas that no execution was found for.
            let mut found = None;
            let ended = layers.run(delays, budget, &mut |schedule| {
                found = follow(task.program, task.property, schedule, budget);
                found.is_some()
            });
            if let Some(trace) = found {
                return Verdict::Unsafe(trace);
            }
            match ended {
                Ended::Exhausted(why) => return Verdict::Unknown(Reason::Exhausted(why)),
                Ended::Complete | Ended::Bounded => {}
            }
        }
        Verdict::Unknown(Reason::GaveUp("symbolic: no violation with few delays was found".to_owned()))
    }
}
