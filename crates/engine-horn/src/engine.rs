//! The engine: prepares a program, and tries what fits it.

use crate::product::graph::Order;
use crate::product::prove;
use ir::passes::{Goal, InlineLimits, lock_words, symbolic_of_lowered};
use smt::expressions::Mode;
use transitions::System;
use verdict::{Budget, Engine, Events, Property, Reason, Task, Verdict};

/// The engine.
#[derive(Clone, Default, Debug)]
pub struct Horn;

impl Engine for Horn {
    fn name(&self) -> &'static str {
        "horn"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, _: &dyn Events) -> Verdict {
        let goal = Goal { races: *task.property == Property::NoRace, faults: false };
        let program = match symbolic_of_lowered(task.program, goal, InlineLimits::default()) {
            Ok(program) => lock_words(&program),
            Err(error) => return Verdict::Unknown(Reason::Bounded(format!("horn: {error}"))),
        };
        let system = System::new(&program, Mode::Integers);
        if std::env::var_os("HORN_DEBUG").is_some() {
            eprintln!("{}", ir::text::print(&program));
            for v in &system.shared { eprintln!("shared {} {:?}", v.variable.name, v.first.as_ref().map(|t| t.to_string())); }
            for (t, own) in system.own.enumerate() { for v in own { eprintln!("own {t} {} {:?}", v.variable.name, v.first.as_ref().map(|t| t.to_string())); } }
            for s in &system.steps {
                eprintln!("step {} {} -> {}: {}", s.template, s.source, s.target, s.guard);
                for (v, t) in &s.updates { eprintln!("    {} := {}", v.name, t); }
                for t in &s.starts { eprintln!("    start {} {}", t.template, t.id); }
            }
        }
        let order = if std::env::var_os("HORN_RR").is_some() { Order::RoundRobin } else { Order::Sequential };
        match prove(&system, order, budget) {
            Ok(()) => Verdict::Unknown(Reason::Bounded("PROVED".to_owned())),
            Err(reason) => Verdict::Unknown(reason),
        }
    }
}
