//! Abstract control flow automata ([`verdict::Acfa`]) as specifications: a context that another engine has
//! inferred is an abstract thread that the user can read and change.
//!
//! A label becomes the assertion of its state; what an edge may change, and what holds before and after it,
//! becomes its transition. A thread does not stay in an atomic state: paths through such states become one
//! transition. Facts that C cannot express (variables without a name) are dropped, which adds behaviour.
//!
//! A label says what holds while the others keep to their automata; an assertion is all that a thread may
//! rely on. So a thread need not conform to the abstract thread of its automaton: the caller has to check
//! that.

use crate::text::weaker_text;
use indexmap::{IndexMap, IndexSet};
use smt::{Answer, Instance, Operation, Questions, Term, Variable};
use std::collections::BTreeSet;
use std::fmt::Write;
use verdict::{AbstractId, Acfa, Budget};

/// More paths through atomic states are not looked at.
const MOST_PATHS: usize = 2_000;

/// An automaton, and what its variables are called.
pub(crate) struct Automaton<'a> {
    pub(crate) acfa: &'a Acfa,
    /// The variables that specifications can speak of.
    pub(crate) names: &'a IndexMap<Variable, String>,
    /// What always holds of them.
    pub(crate) ranges: &'a Term,
    /// Whether it is the one of the first thread, which begins to count when it starts another.
    pub(crate) is_first: bool,
}

/// What a thread does from a state where it stays to the next one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct AtomicPath {
    source: AbstractId,
    target: AbstractId,
    /// The variables that it may change.
    changed: BTreeSet<Variable>,
    /// What holds before it.
    before: BTreeSet<Term>,
    /// What holds after it.
    after: BTreeSet<Term>,
    /// Whether another thread is started.
    starts: bool,
}

/// An abstract thread as text.
pub(crate) struct Written {
    /// What holds when the first thread has started another, if this is that one.
    pub(crate) start: Option<String>,
    /// The variables that it may change until then.
    pub(crate) changed_before: BTreeSet<Variable>,
    /// States and transitions; `None` when it changes and asserts nothing.
    pub(crate) body: Option<String>,
}

/// The conjuncts of a formula.
fn parts(formula: &Term) -> Vec<Term> {
    match formula.operation() {
        Operation::And => formula.operands().to_vec(),
        _ if formula.is_true() => Vec::new(),
        _ => vec![formula.clone()],
    }
}

/// The parts of a disjunction.
fn alternatives(formula: &Term) -> Vec<Term> {
    match formula.operation() {
        Operation::Or => formula.operands().iter().flat_map(alternatives).collect(),
        _ => vec![formula.clone()],
    }
}

fn is_about(formula: &Term, variables: &BTreeSet<Variable>) -> bool {
    formula.free_variables().iter().any(|variable| variables.contains(variable))
}

impl Automaton<'_> {
    fn stays(&self, state: AbstractId) -> bool {
        !self.acfa.states[state].atomic || state == self.acfa.start
    }

    /// All paths from a state where a thread stays; `None` when there are too many.
    fn paths(&self, source: AbstractId) -> Option<BTreeSet<AtomicPath>> {
        let nothing = AtomicPath {
            source,
            target: source,
            changed: BTreeSet::new(),
            before: BTreeSet::new(),
            after: BTreeSet::new(),
            starts: false,
        };
        let mut open = vec![nothing];
        let mut seen: BTreeSet<AtomicPath> = open.iter().cloned().collect();
        let mut found = BTreeSet::new();
        while let Some(path) = open.pop() {
            for edge in self.acfa.leaving(path.target) {
                let action = &edge.action;
                let mut next = AtomicPath { target: edge.target, ..path.clone() };
                let holds = parts(&action.guard).into_iter().filter(|part| !is_about(part, &path.changed));
                next.before.extend(holds);
                next.after.retain(|part| !is_about(part, &action.havoc));
                next.after.extend(parts(&action.after));
                next.changed.extend(action.havoc.iter().cloned());
                next.starts |= !action.starts.is_empty();
                if self.stays(edge.target) {
                    next.after.extend(parts(&self.acfa.states[edge.target].label));
                    found.insert(next);
                } else if seen.insert(next.clone()) {
                    open.push(next);
                }
                if seen.len() + found.len() > MOST_PATHS {
                    return None;
                }
            }
        }
        Some(found)
    }

    /// Whether some step is such a path. If that is not known, one is.
    fn is_possible(&self, path: &AtomicPath, questions: &mut Questions, budget: &Budget) -> bool {
        let after = |variable: &Variable| {
            path.changed.contains(variable).then(|| variable.instance(Instance::AfterStep))
        };
        let before = Term::all(path.before.iter().cloned()).and(&self.acfa.states[path.source].label);
        let then = Term::all(path.after.iter().cloned()).and(self.ranges).rename(after);
        let whole = before.and(self.ranges).and(&then);
        !matches!(questions.satisfiable(&whole, budget), Answer::Unsat)
    }

    /// The same formula without what always holds, and without alternatives that others cover.
    fn shorter(&self, formula: &Term, questions: &mut Questions, budget: &Budget) -> Term {
        let mut is_never =
            |term: &Term| matches!(questions.satisfiable(&term.and(self.ranges), budget), Answer::Unsat);
        if is_never(&formula.not()) {
            return Term::bool(true);
        }
        match formula.operation() {
            Operation::And => {
                Term::all(formula.operands().iter().map(|part| self.shorter(part, questions, budget)))
            }
            Operation::Or => {
                let mut parts = alternatives(formula);
                for index in (0..parts.len()).rev() {
                    let rest = || parts.iter().enumerate().filter(|(other, _)| *other != index);
                    let outside = Term::all(rest().map(|(_, part)| part.not())).and(&parts[index]);
                    if is_never(&outside) {
                        parts.remove(index);
                    }
                }
                Term::any(parts)
            }
            _ => formula.clone(),
        }
    }

    fn text(&self, path: &AtomicPath) -> Option<String> {
        let primed = |variable: &Variable| {
            let prime = if path.changed.contains(variable) { "'" } else { "" };
            self.names.get(variable).map(|name| format!("{name}{prime}"))
        };
        let plain = |variable: &Variable| self.names.get(variable).cloned();
        let changes: Vec<&str> =
            path.changed.iter().filter_map(|variable| self.names.get(variable)).map(String::as_str).collect();
        if path.source == path.target && changes.is_empty() {
            return None;
        }
        let known = parts(&self.acfa.states[path.source].label);
        let before = path.before.iter().filter(|part| !known.contains(part));
        let mut conditions: IndexSet<String> = before.filter_map(|part| weaker_text(part, &plain)).collect();
        conditions.extend(path.after.iter().filter_map(|part| weaker_text(part, &primed)));
        let mut out = format!("S{} -> S{}", path.source.0, path.target.0);
        // Writing to a string does not fail.
        if !changes.is_empty() {
            let _ = write!(out, " changes {}", changes.join(", "));
        }
        if !conditions.is_empty() {
            let conditions: Vec<String> = conditions.into_iter().collect();
            let _ = write!(out, ": {}", conditions.join(" && "));
        }
        Some(out + ";")
    }

    /// The abstract thread; `None` when it is too large.
    pub(crate) fn written(&self, budget: &Budget) -> Option<Written> {
        let mut questions = Questions::default();
        let plain = |variable: &Variable| self.names.get(variable).cloned();
        let (mut initial, mut changed_before) = (BTreeSet::from([self.acfa.start]), BTreeSet::new());
        let mut start = None;
        if self.is_first {
            let mut conditions: BTreeSet<String> = BTreeSet::new();
            let mut is_open = false;
            let mut alone = vec![self.acfa.start];
            initial.clear();
            let mut at = 0;
            while at < alone.len() {
                for path in self.paths(alone[at])? {
                    changed_before.extend(path.changed.iter().cloned());
                    if path.starts {
                        initial.insert(path.target);
                        let holds = Term::all(path.after.iter().cloned());
                        match weaker_text(&holds, &plain) {
                            Some(text) => drop(conditions.insert(text)),
                            None => is_open = true,
                        }
                    } else if !alone.contains(&path.target) {
                        alone.push(path.target);
                    }
                }
                at += 1;
            }
            let conditions: Vec<String> = conditions.into_iter().collect();
            start = (!is_open && !conditions.is_empty()).then(|| conditions.join(" || "));
        }
        let mut transitions: IndexSet<String> = IndexSet::new();
        let mut says_something = false;
        let mut reached: Vec<AbstractId> = initial.iter().copied().collect();
        let mut at = 0;
        while at < reached.len() {
            for path in self.paths(reached[at])? {
                if self.is_possible(&path, &mut questions, budget) {
                    says_something |= path.changed.iter().any(|variable| self.names.contains_key(variable));
                    transitions.extend(self.text(&path));
                    if !reached.contains(&path.target) {
                        reached.push(path.target);
                    }
                }
            }
            at += 1;
        }
        reached.sort();
        let mut out = String::new();
        for state in reached {
            let first = if initial.contains(&state) { "start " } else { "" };
            let label = self.shorter(&self.acfa.states[state].label, &mut questions, budget);
            let asserts = weaker_text(&label, &plain);
            says_something |= asserts.is_some();
            let asserts = asserts.map_or_else(String::new, |text| format!(" asserts {text}"));
            let _ = writeln!(out, "  {first}state S{}{asserts};", state.0);
        }
        for transition in transitions {
            let _ = writeln!(out, "  {transition}");
        }
        Some(Written { start, changed_before, body: says_something.then_some(out) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smt::Sort;
    use verdict::{AbstractEdge, AbstractState, Action};

    /// A thread that takes a flag in one step through an atomic state, works, and gives it back.
    #[test]
    fn atomic_states_are_passed() {
        let x = Variable::new("x+0", Sort::Int);
        let hidden = Variable::new("hidden", Sort::Int);
        let is = |value: i128| x.term().equals(&Term::int(value));
        let state = AbstractState::new;
        let known = is(1).and(&hidden.term().equals(&Term::int(7)));
        let states = [state(Term::bool(true), false), state(is(0), true), state(known, false)];
        let edge = |source: u32, target: u32, guard: Term, after: Option<Term>| AbstractEdge {
            source: AbstractId(source),
            target: AbstractId(target),
            action: Action {
                havoc: after.is_some().then(|| x.clone()).into_iter().collect(),
                guard,
                after: after.unwrap_or_else(|| Term::bool(true)),
                ..Action::default()
            },
        };
        let always = || Term::bool(true);
        let acfa = Acfa::new(
            states.into_iter().collect(),
            AbstractId(0),
            [
                edge(0, 1, always(), None),
                edge(1, 2, is(0), Some(is(1))),
                edge(2, 0, always(), Some(is(0))),
                edge(2, 2, always(), None),
                // Not possible: the variable is 1 here.
                edge(2, 0, is(5), Some(is(9))),
            ],
        );
        let names = IndexMap::from([(x.clone(), "x".to_owned())]);
        let always = Term::bool(true);
        let automaton = Automaton { acfa: &acfa, names: &names, ranges: &always, is_first: false };
        let written = automaton.written(&Budget::steps_for(60.0)).expect("it is small");
        let expected = "  start state S0;
  state S2 asserts (x == 1);
  S0 -> S2 changes x: (x == 0) && (x' == 1);
  S2 -> S0 changes x: (x' == 0);
";
        assert_eq!(written.body.as_deref(), Some(expected));
        assert_eq!(written.start, None);
    }

    /// The first thread counts from where it starts another.
    #[test]
    fn the_first_thread_begins_late() {
        let x = Variable::new("x+0", Sort::Int);
        let is = |value: i128| x.term().equals(&Term::int(value));
        let states = [is(0), is(3), Term::bool(true)].map(|label| AbstractState::new(label, false));
        let edge = |source: u32, target: u32, action: Action| AbstractEdge {
            source: AbstractId(source),
            target: AbstractId(target),
            action,
        };
        let changes = || Action { havoc: BTreeSet::from([x.clone()]), ..Action::default() };
        let starts = Action { starts: vec![ir::TemplateId(1)], ..Action::default() };
        let acfa = Acfa::new(
            states.into_iter().collect(),
            AbstractId(0),
            [edge(0, 1, changes()), edge(1, 1, starts), edge(1, 2, changes())],
        );
        let names = IndexMap::from([(x.clone(), "x".to_owned())]);
        let always = Term::bool(true);
        let automaton = Automaton { acfa: &acfa, names: &names, ranges: &always, is_first: true };
        let written = automaton.written(&Budget::steps_for(60.0)).expect("it is small");
        assert_eq!(written.start.as_deref(), Some("(x == 3)"));
        assert!(written.changed_before.contains(&x));
        let expected = "  start state S1 asserts (x == 3);\n  state S2;\n  S1 -> S2 changes x;\n";
        assert_eq!(written.body.as_deref(), Some(expected));
    }
}
