//! Proofs by contexts (paper 1): for each template an automaton with a thread's effects on shared variables,
//! and what a thread sees of the others.

use crate::{AbstractId, Acfa, Predicate};
use ir::{IdVec, LocationId, TemplateId};
use serde::{Deserialize, Serialize};
use terms::{Instance, Name, Symbol, Term, Variable};

/// Why no execution is bad, for any number of threads.
///
/// Variables and steps are those of the program as transitions, with shared variables distinguished from a
/// thread's own, and with mathematical integers. Each thread is in a state of its template's automaton, and
/// at a node of its template's graph. It sees of the others only how many are in which states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextProof {
    /// The predicates in the formulas, for reports; the proof does not rely on them.
    pub predicates: Vec<Predicate>,
    /// The source line of each access, for reports; the proof does not rely on it.
    pub lines: Vec<u32>,
    /// Over-approximations of what threads of each template do to shared variables.
    pub acfas: IdVec<TemplateId, Acfa>,
    /// Where threads can be.
    pub nodes: Vec<ContextNode>,
    /// How steps lead from node to node. Where several entries apply, the first one counts.
    pub edges: Vec<ContextEdge>,
    /// What threads can see.
    pub views: Vec<ContextView>,
}

/// A node of the graph of a template: where a thread is, wherever the others are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextNode {
    /// The template.
    pub template: TemplateId,
    /// Where the thread is in the program.
    pub location: LocationId,
    /// Where it is in the automaton of its template: what others see of it.
    pub state: AbstractId,
    /// What it knows there, of shared variables and its own.
    pub formula: Term,
}

/// A step from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextEdge {
    /// The node before the step.
    pub from: usize,
    /// Which of the program's steps.
    pub step: usize,
    /// The node after it.
    pub to: usize,
}

/// What a thread may see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextView {
    /// Where the thread is.
    pub node: usize,
    /// How many others are in which states of which template's automaton, in order; `None` stands for any
    /// number, including zero. There are none in states that are not listed.
    pub others: Vec<((TemplateId, AbstractId), Option<u32>)>,
    /// What the thread knows then, of shared variables and its own.
    pub formula: Term,
}

/// A formula with source names: `state` for the cell `state+0@1`, `old` for the local `worker.old%2#1`.
/// Different variables may get the same name.
pub fn with_source_names(formula: &Term) -> Term {
    formula.rename(|variable| {
        let name = known_name(&variable.name);
        (name != variable.name.text()).then(|| Variable::new(name.as_str(), variable.sort.clone()))
    })
}

/// The source name of a variable of transitions.
pub fn known_name(name: &Name) -> String {
    match name.symbol() {
        Symbol::Cell { name, offset: 0, .. } => name.clone(),
        Symbol::Cell { name, offset, .. } => format!("{name}+{offset}"),
        Symbol::Map { names, .. } => format!("map of {}", names.join(", ")),
        Symbol::FrameAddress { name, .. } => format!("&{name}"),
        Symbol::Local { name, .. } => name.clone(),
        Symbol::Instance(of, Instance::Thread(_))
            if matches!(
                of.symbol(),
                Symbol::Cell { .. } | Symbol::Map { .. } | Symbol::FrameAddress { .. } | Symbol::Local { .. }
            ) =>
        {
            known_name(of)
        }
        _ => name.text().to_owned(),
    }
}
