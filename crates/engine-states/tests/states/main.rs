//! Tests of the `states` engine: the paper's examples, and random programs against the machine.

mod counters;
mod paper;
mod random;
mod systems;

use checker::{Checked, examine};
use engine_explicit::Explicit;
use engine_states::States;
use ir::passes::{Lowering, lower};
use verdict::{Budget, Check, Engine, Silent, Task, Views};

/// The engine, with the explorer that the portfolio gives it.
pub const STATES: States<'static> = States { explorer: &Explicit::DEFAULT };

/// A Boolean program, lowered for assertions.
pub fn read(text: &str) -> Views {
    let program =
        frontend_boolean::read_program("test.bp", text.as_bytes(), &frontend_boolean::Options::default())
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
    ir::check::check(&program).unwrap_or_else(|malformed| panic!("{malformed:?}\n{text}"));
    lower(&program, Lowering { assertions: true, reach_error: true, ..Lowering::default() }).into()
}

/// The checked verdict of `states`.
pub fn verify(program: &Views, seconds: f64) -> Checked {
    verify_by(&STATES, program, seconds)
}

/// The checked verdict of an engine.
pub fn verify_by(engine: &dyn Engine, program: &Views, seconds: f64) -> Checked {
    let property = Check::Assertions.property();
    let budget = Budget::steps_for(seconds);
    let verdict = engine.verify(Task { program, property: &property }, &budget, &Silent);
    examine(program, &property, verdict, &budget).unwrap_or_else(|rejection| panic!("{}", rejection.why))
}
