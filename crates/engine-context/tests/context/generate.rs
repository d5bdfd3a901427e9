//! Random automata over two Boolean variables.

use ir::IdVec;
use proptest::prelude::*;
use smt::{Term, Value, Variable};
use std::collections::BTreeSet;
use verdict::{AbstractEdge, AbstractId, AbstractState, Acfa, Action};

/// The variables.
pub fn variables() -> [Variable; 2] {
    ["a", "b"].map(|name| Variable::new(name, smt::Sort::Bool))
}

/// Those variables whose bit is set.
pub fn chosen(bits: u8) -> BTreeSet<Variable> {
    let all = variables().into_iter().enumerate();
    all.filter(|(index, _)| bits >> index & 1 == 1).map(|(_, variable)| variable).collect()
}

/// A label, by number. Some of them say the same in different words.
fn label(number: u8) -> Term {
    let [a, b] = variables().map(|variable| variable.term());
    match number {
        0 => a,
        1 => a.not(),
        2 => a.or(&b),
        3 => a.not().and(&b.not()).not(),
        4 => b.equals(&a),
        _ => Term::bool(true),
    }
}

/// Whether a formula holds for values of the variables, given as bits.
pub fn holds(formula: &Term, bits: u8) -> bool {
    let value = |variable: &Variable| {
        let index = variables().iter().position(|known| known == variable)?;
        Some(Value::Bool(bits >> index & 1 == 1))
    };
    formula.evaluate(&value).is_ok_and(|value| value.as_bool() == Some(true))
}

prop_compose! {
    /// An automaton with at most this many states.
    pub fn acfas(most: usize)(
        states in prop::collection::vec((0..20u8, prop::bool::weighted(0.2), prop::bool::weighted(0.2)), 1..=most),
        edges in prop::collection::vec((0..most, 0..most, 0..4u8, 0..20u8, 0..20u8), 0..3 * most),
        start in 0..most,
    ) -> Acfa {
        let count = states.len();
        let id = |number: usize| AbstractId((number % count) as u32);
        let all: IdVec<AbstractId, AbstractState> =
            states.into_iter().map(|(number, atomic, access)| {
                let accesses = access.then_some(0).into_iter().collect();
                AbstractState { label: label(number), atomic, accesses }
            }).collect();
        let edges = edges.into_iter().map(|(source, target, havoc, guard, after)| AbstractEdge {
            source: id(source),
            action: match havoc {
                0 => Action::default(),
                _ => Action {
                    havoc: chosen(havoc),
                    guard: label(guard),
                    after: label(after),
                    ..Action::default()
                },
            },
            target: id(target),
        });
        Acfa::new(all, id(start), edges)
    }
}

/// All steps of a thread in a state, with the values after them.
pub fn steps(acfa: &Acfa, state: AbstractId, before: u8) -> Vec<(&AbstractEdge, u8)> {
    let mut found = Vec::new();
    for edge in acfa.leaving(state) {
        for after in (0..4u8).filter(|_| holds(&edge.action.guard, before)) {
            let kept = variables().iter().enumerate().all(|(index, variable)| {
                edge.action.havoc.contains(variable) || (before ^ after) >> index & 1 == 0
            });
            if kept && holds(&acfa.states[edge.target].label, after) && holds(&edge.action.after, after) {
                found.push((edge, after));
            }
        }
    }
    found
}
