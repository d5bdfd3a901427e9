//! Abstract control flow automata ([`verdict::Acfa`]) as specifications: a context that another engine has inferred is an abstract thread that the user can read and change.
//!
//! A label becomes the assertion of its state; what an edge may change, what holds before it and what holds behind it become a transition. A thread does not stay in an atomic state: ways
//! through such states become one transition. What cannot be said in C (of what has no name there) is left out: then there are more behaviours.
//!
//! The first thread counts from when it starts another: its abstract thread begins behind such steps, and what it did before is a start condition.

use crate::text::c_text;
use ir::{Layout, Program, Storage, TemplateId};
use smt::{Term, Variable};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use verdict::{AbstractEdge, AbstractId, Acfa, ContextProof, known_name};

/// A way from state to state: what is changed, and conditions on the variables before and behind it.
type Transition = (AbstractId, AbstractId, BTreeSet<Variable>, Vec<String>);

/// The abstract threads that a context says threads are.
pub fn spec_of_context(program: &Program, proof: &ContextProof) -> String {
    let name = |variable: &Variable| variable_name(program, variable);
    let mut functions: BTreeMap<&str, Vec<TemplateId>> = BTreeMap::new();
    for (template, code) in program.templates.enumerate() {
        if proof.nodes.iter().any(|node| node.template == template) {
            functions.entry(&code.name).or_default().push(template);
        }
    }
    let first = program.start.first().map(|(template, _)| *template);
    let mut out = String::new();
    for (function, templates) in functions {
        let mut threads = Vec::new();
        for template in templates {
            let acfa = &proof.acfas[template];
            if Some(template) == first {
                let starts = starting(acfa);
                let states = starts.iter().map(|state| acfa.states[*state].label.clone());
                let before = alone(acfa).iter().any(|edge| !edge.action.havoc.is_empty());
                if before && !starts.is_empty() {
                    let condition = c_text(&Term::any(states), &name).unwrap_or_else(|| "1".to_owned());
                    out.insert_str(0, &format!("start {condition};\n"));
                }
                threads.push((acfa, if starts.is_empty() { BTreeSet::from([acfa.start]) } else { starts }));
            } else {
                threads.push((acfa, BTreeSet::from([acfa.start])));
            }
        }
        let is_first = threads.len() == 1
            && program.templates.enumerate().any(|(id, code)| Some(id) == first && code.name == function);
        let count = if is_first { "1" } else { "any" };
        match spec_of_acfas(&threads, &format!("{function}_context"), function, count, &name) {
            Some(text) => out.push_str(&text),
            None => {
                let _ = writeln!(
                    out,
                    "// `{function}` does nothing to variables that matter: it needs no abstract thread."
                );
            }
        }
    }
    out
}

/// The name that specifications have for a variable of transitions: that of a global number.
fn variable_name(program: &Program, variable: &Variable) -> Option<String> {
    let name = known_name(&variable.name);
    let mut same = program.objects.iter().filter(|object| object.name == name);
    let (object, others) = (same.next()?, same.count());
    let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    let fits = matches!(object.layout, Layout::Scalar(_)) && object.storage == Storage::Static;
    (fits && others == 0 && is_word).then(|| name.to_owned())
}

/// The edges that the first thread takes before it has started another, and those that start the first one.
fn alone(acfa: &Acfa) -> Vec<&AbstractEdge> {
    let mut seen = BTreeSet::from([acfa.start]);
    let mut open = vec![acfa.start];
    let mut found = Vec::new();
    while let Some(at) = open.pop() {
        for edge in acfa.leaving(at) {
            found.push(edge);
            if edge.action.starts.is_empty() && seen.insert(edge.target) {
                open.push(edge.target);
            }
        }
    }
    found
}

/// Where the first thread is when it has just started another.
fn starting(acfa: &Acfa) -> BTreeSet<AbstractId> {
    alone(acfa).iter().filter(|edge| !edge.action.starts.is_empty()).map(|edge| edge.target).collect()
}

/// The text of an abstract thread, which stands for the threads that run a function: each is one of some automata, with the states in which it begins. Variables are those that have names. Nothing if
/// it has nothing to say.
fn spec_of_acfas(
    acfas: &[(&Acfa, BTreeSet<AbstractId>)],
    thread: &str,
    function: &str,
    count: &str,
    name: &dyn Fn(&Variable) -> Option<String>,
) -> Option<String> {
    let mut states = String::new();
    let mut arrows: BTreeSet<(u32, u32, String)> = BTreeSet::new();
    let mut first_number = 0;
    let mut says_nothing = true;
    for (acfa, starts) in acfas {
        let mut reached: BTreeSet<AbstractId> = starts.clone();
        let mut open: Vec<AbstractId> = starts.iter().copied().collect();
        while let Some(at) = open.pop() {
            for transition in transitions(acfa, starts, at, name) {
                if reached.insert(transition.1) {
                    open.push(transition.1);
                }
                let number = |state: AbstractId| first_number + state.0;
                says_nothing &= transition.2.is_empty();
                arrows.insert((number(transition.0), number(transition.1), said(&transition, name)));
            }
        }
        for state in reached {
            let start = if starts.contains(&state) { "start " } else { "" };
            let label = &acfa.states[state].label;
            says_nothing &= label.is_true();
            let asserts = match c_text(label, name) {
                _ if label.is_true() => ";".to_owned(),
                Some(text) => format!(" asserts {text};"),
                None => format!("; // {label}"),
            };
            // Writing to a string does not fail.
            let _ = writeln!(states, "  {start}state S{}{asserts}", first_number + state.0);
        }
        first_number += acfa.states.len() as u32;
    }
    if says_nothing {
        return None;
    }
    let mut out = format!("thread {thread} runs {function} times {count} {{\n{states}");
    for (source, target, what) in arrows {
        let _ = writeln!(out, "  S{source} -> S{target}{what};");
    }
    out.push_str("}\n");
    Some(out)
}

/// What a transition says behind its states.
fn said((_, _, changed, conditions): &Transition, name: &dyn Fn(&Variable) -> Option<String>) -> String {
    let changed: BTreeSet<String> = changed.iter().filter_map(name).collect();
    let mut text = String::new();
    if !changed.is_empty() {
        let names: Vec<String> = changed.into_iter().collect();
        let _ = write!(text, " changes {}", names.join(", "));
    }
    if !conditions.is_empty() {
        let _ = write!(text, ": {}", conditions.join(" && "));
    }
    text
}

/// The ways from a state to the next in which a thread stays.
fn transitions(
    acfa: &Acfa,
    starts: &BTreeSet<AbstractId>,
    source: AbstractId,
    name: &dyn Fn(&Variable) -> Option<String>,
) -> Vec<Transition> {
    let stays = |state: AbstractId| !acfa.states[state].atomic || starts.contains(&state);
    let text = |term: &Term, name: &dyn Fn(&Variable) -> Option<String>| {
        (!term.is_true()).then(|| c_text(term, name)).flatten()
    };
    let mut found = Vec::new();
    // Where it is, what was changed, and what held before.
    type Open = (AbstractId, BTreeSet<Variable>, Option<String>);
    let mut open: Vec<Open> = vec![(source, BTreeSet::new(), None)];
    let mut seen: BTreeSet<Open> = open.iter().cloned().collect();
    while let Some((at, before, condition)) = open.pop() {
        for edge in acfa.leaving(at) {
            let mut changed = before.clone();
            changed.extend(edge.action.havoc.iter().filter(|one| name(one).is_some()).cloned());
            let condition = if at == source { text(&edge.action.guard, name) } else { condition.clone() };
            if !stays(edge.target) {
                let next = (edge.target, changed, condition);
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            } else if edge.target != source || !changed.is_empty() {
                let behind = text(&edge.action.behind, &|variable| {
                    let prime = if changed.contains(variable) { "'" } else { "" };
                    name(variable).map(|name| format!("{name}{prime}"))
                });
                let conditions = condition.into_iter().chain(behind).collect();
                found.push((source, edge.target, changed, conditions));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use smt::Sort;
    use verdict::{AbstractState, Action};

    /// A thread that takes a flag in one step through an atomic state, works, and gives it back.
    #[test]
    fn atomic_states_are_passed() {
        let x = Variable::new("x+0", Sort::Int);
        let is = |value: i128| x.term().equals(&Term::int(value));
        let state = AbstractState::new;
        let states = [state(Term::bool(true), false), state(is(0), true), state(is(1), false)];
        let edge = |source: u32, target: u32, guard: Option<i128>, behind: Option<i128>| AbstractEdge {
            source: AbstractId(source),
            target: AbstractId(target),
            action: Action {
                havoc: behind.map(|_| x.clone()).into_iter().collect(),
                guard: guard.map_or(Term::bool(true), is),
                behind: behind.map_or(Term::bool(true), is),
                ..Action::default()
            },
        };
        let acfa = Acfa::new(
            states.into_iter().collect(),
            AbstractId(0),
            [
                edge(0, 1, Some(0), None),
                edge(1, 2, None, Some(1)),
                edge(2, 0, None, Some(0)),
                edge(2, 2, None, None),
            ],
        );
        let name = |variable: &Variable| variable.name.strip_suffix("+0").map(str::to_owned);
        let starts = BTreeSet::from([AbstractId(0)]);
        let text = spec_of_acfas(&[(&acfa, starts)], "Taker", "take", "any", &name);
        let expected = "thread Taker runs take times any {
  start state S0;
  state S2 asserts (x == 1);
  S0 -> S2 changes x: (x == 0) && (x' == 1);
  S2 -> S0 changes x: (x' == 0);
}
";
        assert_eq!(text.as_deref(), Some(expected));
    }
}
