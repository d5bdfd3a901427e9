//! Abstract control flow automata ([`verdict::Acfa`]) as specifications: a context that another engine has inferred is an abstract thread that the user can read and change.
//!
//! A label becomes the assertion of its state, a set of variables that an edge may change becomes what its transition changes. A thread does not stay in an atomic state: ways through such states become
//! one transition. What cannot be said in C (labels that speak of what has no name there) is left out: then there are more behaviours.

use crate::text::c_text;
use ir::Count;
use smt::Variable;
use std::collections::BTreeSet;
use std::fmt::Write;
use verdict::{AbstractId, Acfa};

/// The text of an abstract thread, which stands for the threads that run a function. Variables are those that have names.
pub fn spec_of_acfa(
    acfa: &Acfa,
    thread: &str,
    function: &str,
    count: Count,
    name: &dyn Fn(&Variable) -> Option<String>,
) -> String {
    let count = match count {
        Count::Any => "any".to_owned(),
        Count::Exactly(copies) => copies.to_string(),
    };
    let mut out = format!("thread {thread} runs {function} times {count} {{\n");
    let stays = |state: AbstractId| !acfa.states[state].atomic || state == acfa.start;
    let mut transitions: BTreeSet<(AbstractId, AbstractId, Vec<String>)> = BTreeSet::new();
    let mut reached: BTreeSet<AbstractId> = BTreeSet::from([acfa.start]);
    for (source, _) in acfa.states.enumerate().filter(|(state, _)| stays(*state)) {
        let mut open: Vec<(AbstractId, BTreeSet<String>)> = vec![(source, BTreeSet::new())];
        let mut seen = open.clone();
        while let Some((at, changed)) = open.pop() {
            for edge in acfa.leaving(at) {
                let mut changed = changed.clone();
                changed.extend(edge.action.havoc.iter().filter_map(name));
                if !stays(edge.target) {
                    let next = (edge.target, changed);
                    if !seen.contains(&next) {
                        seen.push(next.clone());
                        open.push(next);
                    }
                } else if edge.target != source || !changed.is_empty() {
                    transitions.insert((source, edge.target, changed.into_iter().collect()));
                    reached.insert(edge.target);
                }
            }
        }
    }
    for state in reached {
        let start = if state == acfa.start { "start " } else { "" };
        let label = &acfa.states[state].label;
        let asserts = match c_text(label, name) {
            _ if label.is_true() => String::new(),
            Some(text) => format!(" asserts {text}"),
            None => format!("; // {label}").trim_end().to_owned(),
        };
        let end = if asserts.starts_with(';') { "" } else { ";" };
        // Writing to a string does not fail.
        let _ = writeln!(out, "  {start}state S{}{asserts}{end}", state.0);
    }
    for (source, target, changed) in transitions {
        let changes =
            if changed.is_empty() { String::new() } else { format!(" changes {}", changed.join(", ")) };
        let _ = writeln!(out, "  S{} -> S{}{changes};", source.0, target.0);
    }
    out.push_str("}\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use smt::{Sort, Term};
    use verdict::{AbstractEdge, AbstractState, Action};

    /// A thread that takes a flag in one step through an atomic state, works, and gives it back.
    #[test]
    fn atomic_states_are_passed() {
        let x = Variable::new("x+0", Sort::Int);
        let is = |value: i128| x.term().equals(&Term::int(value));
        let state = AbstractState::new;
        let states = [state(Term::bool(true), false), state(is(0), true), state(is(1), false)];
        let edge = |source: u32, target: u32, havoc: bool| AbstractEdge {
            source: AbstractId(source),
            target: AbstractId(target),
            action: Action { havoc: havoc.then(|| x.clone()).into_iter().collect(), ..Action::default() },
        };
        let acfa = Acfa::new(
            states.into_iter().collect(),
            AbstractId(0),
            [edge(0, 1, false), edge(1, 2, true), edge(2, 0, true), edge(2, 2, false)],
        );
        let name = |variable: &Variable| variable.name.strip_suffix("+0").map(str::to_owned);
        let text = spec_of_acfa(&acfa, "Taker", "take", Count::Any, &name);
        let expected = "thread Taker runs take times any {
  start state S0;
  state S2 asserts (x == 1);
  S0 -> S2 changes x;
  S2 -> S0 changes x;
}
";
        assert_eq!(text, expected);
    }
}
