//! Proofs by contexts (paper 1): what each thread does to shared variables, as an automaton for each template, and what a thread sees of the others.

use crate::{AbstractId, Acfa, Predicate};
use ir::{IdVec, LocationId, TemplateId};
use serde::{Deserialize, Serialize};
use terms::{Instance, Name, Symbol, Term, Variable};

/// Why no execution is bad, for any number of threads.
///
/// Variables and steps are those of the program as transitions with variables sorted into shared and own ones, with mathematical integers. Each thread is in a state of its
/// template's automaton, and at a node of its template's graph; and each sees of the others only how many are in which states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextProof {
    /// The predicates that the formulas are made of; nothing rests on them.
    pub predicates: Vec<Predicate>,
    /// The source line of each access; nothing rests on it.
    pub lines: Vec<u32>,
    /// What threads of each template do to shared variables, at most.
    pub acfas: IdVec<TemplateId, Acfa>,
    /// Where threads can be.
    pub nodes: Vec<ContextNode>,
    /// How threads get from node to node. Where several are possible, the first one counts.
    pub edges: Vec<ContextEdge>,
    /// What threads can see.
    pub views: Vec<ContextView>,
}

/// A node of the graph of a template: where a thread is, whoever else is where.
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
    /// How many others are in which states of which template's automaton, in order; nothing stands for any number, also for none. There are none in states that are not here.
    pub others: Vec<((TemplateId, AbstractId), Option<u32>)>,
    /// What the thread knows then, of shared variables and its own.
    pub formula: Term,
}

/// A formula with the names that a programmer knows: `state` for the cell `state+0@1`, `old` for the local `worker.old%2#1`. Different variables may get the same name.
pub fn for_people(formula: &Term) -> Term {
    formula.rename(|variable| {
        let name = known_name(&variable.name);
        (name != variable.name.text()).then(|| Variable::new(name.as_str(), variable.sort.clone()))
    })
}

/// The name of a variable of transitions that a programmer knows.
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
