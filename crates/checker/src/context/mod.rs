//! Checks proofs by contexts ([`verdict::ContextProof`]; paper 1).
//!
//! The checker derives the program as transitions again. From its start on, each thread is at a node of the
//! proof, and so in a state of its template's automaton; when it takes a step, an edge of the proof gives its
//! next node. By induction over executions, for every number of threads:
//!
//! * *Nodes*: the formula of a thread's node holds, over shared variables and its own. So does the label of
//!   its state, which follows from it.
//! * *Views*: for each thread there is a view of its node that counts the others correctly, and the formula
//!   of this view holds, too.
//!
//! The obligations ([`steps`]):
//!
//! 1. The first thread is at a node and has a view.
//! 2. Each step that a thread can take in a view leads to a node that an edge names, and the automaton
//!    simulates it: an edge of the automaton changes at least the shared variables that the step changes and
//!    the proof mentions, starts the same threads, and its conditions before and after hold. If the step
//!    changes no such variable and starts no thread, the automaton may stay in its state. Threads that the
//!    step starts are at nodes.
//! 3. The formula of a view's node still holds after each step of the automata that another thread can take
//!    there.
//! 4. There is a view after each of these steps, also for the started threads.
//! 5. No node is at an error, and no two threads with compatible views are at accesses that race ([`races`]).
//!
//! Only 4 assumes that labels hold *after* a step, since 2 and 3 have shown it for all threads: the step
//! preserves the node formula of each thread that does not move, whoever takes the step. For this it suffices
//! that all labels held before, and that the label of the moving thread holds after. So the labels of two
//! threads never justify each other within one step.
//!
//! While a thread is at an atomic location, no other one moves. A state is atomic only if all locations of
//! its nodes are. This rule shares only the meaning of steps with the search.

mod races;
mod steps;

use crate::ProofError;
use crate::ready::{self, claim};

use ir::{LocationKind, TemplateId};
use rustc_hash::FxHashSet;
use smt::{Answer, NoAnswer, Questions, Sort, Term, Variable};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use transitions::Scoped;
use verdict::{AbstractId, Budget, ContextProof, ContextView, Property, Views};

/// A state of a template's automaton.
type Spot = (TemplateId, AbstractId);
/// How many threads are where; `None` stands for any number.
type Counts = BTreeMap<Spot, Option<u32>>;

/// Checks a proof about a lowered program.
pub(crate) fn check(
    program: &Views,
    property: &Property,
    proof: &ContextProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let races = match property {
        Property::NoError(_) => false,
        Property::NoRace => true,
        Property::NoDeadlock | Property::NoLeak(_) => return Err(ProofError::Violated),
    };
    let prepared = ready::words(program, races, budget)?;
    // Views have at most one thread in an atomic region; a thread that starts there would be a second one.
    let [(first, ir::Count::Exactly(1))] = prepared.start.as_slice() else {
        return Err(ProofError::Claim("the program starts as one thread".to_owned()));
    };
    let mut started = prepared.templates.enumerate().filter(|(template, _)| template != first);
    if started.any(|(_, code)| code.locations[code.entry].runs_alone()) {
        return Err(ProofError::Claim("threads begin outside of atomic regions".to_owned()));
    }
    let system = ready::system(prepared, races);
    let scoped = Scoped::new(&system, &|| false);
    let scoped = scoped.ok_or_else(|| ProofError::Claim("the program starts as one thread".to_owned()))?;
    let mut check = Check {
        scoped: &scoped,
        proof,
        budget,
        views: proof.nodes.iter().map(|_| Vec::new()).collect(),
        visible: BTreeSet::new(),
        shown: RefCell::default(),
        questions: RefCell::default(),
    };
    check.form(property)?;
    check.start()?;
    for view in &proof.views {
        check.own_steps(view)?;
        check.other_steps(view)?;
    }
    check.races()?;
    crate::executions::context::try_claims(&system, &scoped, proof, budget)
}

struct Check<'a, 'p> {
    scoped: &'a Scoped<'p>,
    proof: &'a ContextProof,
    budget: &'a Budget,
    /// The views of each node.
    views: Vec<Vec<&'a ContextView>>,
    /// The shared variables that the proof mentions.
    visible: BTreeSet<Variable>,
    /// Formulas that were shown to be unsatisfiable.
    shown: RefCell<FxHashSet<Term>>,
    questions: RefCell<Questions>,
}

impl Check<'_, '_> {
    /// Checks that everything that the proof names exists, formulas contain only allowed variables, labels
    /// follow from nodes, and no node is at an error.
    fn form(&mut self, property: &Property) -> Result<(), ProofError> {
        let (proof, scoped) = (self.proof, self.scoped);
        let templates = &scoped.program.templates;
        claim(proof.acfas.len() == templates.len(), "there is an automaton for each template")?;
        let shared = |term: &Term| {
            *term.sort() == Sort::Bool
                && term.free_variables().iter().all(|variable| scoped.shared.contains_key(variable))
        };
        for acfa in proof.acfas.iter() {
            claim(acfa.is_well_formed(), "automata are well formed")?;
            let labels = acfa.states.iter().map(|state| &state.label);
            let actions = acfa.edges.iter().flat_map(|edge| [&edge.action.guard, &edge.action.after]);
            for term in labels.chain(actions) {
                claim(shared(term), "automata speak of shared variables")?;
                self.visible.extend(term.free_variables());
            }
            let mut havoc = acfa.edges.iter().flat_map(|edge| &edge.action.havoc);
            let known = havoc.all(|variable| scoped.shared.contains_key(variable));
            claim(known, "automata change shared variables")?;
            let mut starts = acfa.edges.iter().flat_map(|edge| &edge.action.starts);
            claim(starts.all(|started| templates.get(*started).is_some()), "started templates exist")?;
        }
        for node in &proof.nodes {
            let code = templates.get(node.template);
            let location = code.and_then(|code| code.locations.get(node.location));
            let state = proof.acfas.get(node.template).and_then(|acfa| acfa.states.get(node.state));
            let (Some(location), Some(state)) = (location, state) else {
                return claim(false, "nodes are at locations and states");
            };
            claim(location.runs_alone() || !state.atomic, "atomic states are at atomic locations")?;
            let wrong = match (location.kind, property) {
                (LocationKind::Error(kind), Property::NoError(kinds)) => kinds.contains(&kind),
                _ => false,
            };
            claim(!wrong, "no node is at an error")?;
            self.speaks(node.template, &node.formula)?;
            self.follows(&node.formula, &state.label, "the label of a state follows from its nodes")?;
        }
        for edge in &proof.edges {
            let (from, to) = (proof.nodes.get(edge.from), proof.nodes.get(edge.to));
            let step = scoped.steps.get(edge.step);
            let fits = match (from, to, step) {
                (Some(from), Some(to), Some(step)) => {
                    (from.template, from.location) == (step.template, step.source)
                        && (to.template, to.location) == (step.template, step.target)
                }
                _ => false,
            };
            claim(fits, "edges are steps between nodes")?;
        }
        for view in &proof.views {
            let Some(node) = proof.nodes.get(view.node) else { return claim(false, "views are at nodes") };
            self.speaks(node.template, &view.formula)?;
            let exists = |(template, state): &Spot| {
                proof.acfas.get(*template).is_some_and(|acfa| acfa.states.get(*state).is_some())
            };
            claim(view.others.iter().all(|(spot, _)| exists(spot)), "views are of states that exist")?;
            let spots: BTreeSet<&Spot> = view.others.iter().map(|(spot, _)| spot).collect();
            claim(spots.len() == view.others.len(), "a view counts each state once")?;
            self.views[view.node].push(view);
        }
        Ok(())
    }

    /// Checks that a formula contains only shared variables and the own variables of a template's threads.
    fn speaks(&mut self, template: TemplateId, formula: &Term) -> Result<(), ProofError> {
        claim(*formula.sort() == Sort::Bool, "a node has a formula")?;
        for variable in formula.free_variables() {
            if self.scoped.shared.contains_key(&variable) {
                self.visible.insert(variable);
            } else {
                let own = self.scoped.own[template].contains_key(&variable);
                claim(own, "a formula speaks of variables of its thread")?;
            }
        }
        Ok(())
    }

    /// Checks that a formula follows from another, for variables in their ranges.
    fn follows(&self, premise: &Term, formula: &Term, text: &str) -> Result<(), ProofError> {
        if formula.is_true() || premise.is_false() || premise == formula {
            return Ok(());
        }
        self.impossible(&premise.and(&formula.not()), text)
    }

    /// Checks that a formula is unsatisfiable, for variables in their ranges.
    fn impossible(&self, formula: &Term, text: &str) -> Result<(), ProofError> {
        let formula = formula.and(&self.scoped.ranges([formula]));
        if formula.is_false() || self.shown.borrow().contains(&formula) {
            return Ok(());
        }
        let answer = self.questions.borrow_mut().satisfiable(&formula, self.budget);
        match answer {
            Answer::Unsat => {
                self.shown.borrow_mut().insert(formula);
                Ok(())
            }
            Answer::Unknown(NoAnswer::Exhausted(limit)) => Err(ProofError::TooExpensive(limit)),
            Answer::Sat | Answer::Unknown(NoAnswer::GaveUp(_)) => claim(false, text),
        }
    }

    fn label(&self, (template, state): Spot) -> &Term {
        &self.proof.acfas[template].states[state].label
    }

    /// The labels of all states that certainly contain a thread.
    fn labels(&self, others: &Counts) -> Term {
        let inhabited = others.iter().filter(|(_, count)| count.is_some_and(|count| count > 0));
        Term::all(inhabited.map(|(spot, _)| self.label(*spot).clone()))
    }

    /// The atomic states that certainly contain a thread.
    fn occupied<'c>(&'c self, others: &'c Counts) -> impl Iterator<Item = Spot> + 'c {
        let inhabited = others.iter().filter(|(_, count)| count.is_some_and(|count| count > 0));
        let atomic =
            inhabited.filter(|((template, state), _)| self.proof.acfas[*template].states[*state].atomic);
        atomic.map(|(spot, _)| *spot)
    }

    /// What holds for a thread with a view, over shared variables and its own.
    fn seen(&self, view: &ContextView) -> Term {
        let node = &self.proof.nodes[view.node];
        view.formula.and(&node.formula).and(&self.labels(&counts(view)))
    }

    /// The nodes at which threads of a template start.
    fn first_nodes(&self, template: TemplateId) -> Vec<usize> {
        let entry = self.scoped.program.templates[template].entry;
        let start = self.proof.acfas[template].start;
        let nodes = self.proof.nodes.iter().enumerate();
        nodes
            .filter(|(_, node)| node.template == template && node.location == entry && node.state == start)
            .map(|(number, _)| number)
            .collect()
    }
}

/// The threads that a view counts.
fn counts(view: &ContextView) -> Counts {
    view.others.iter().copied().collect()
}

/// Adds a thread in a state.
fn add(others: &mut Counts, spot: Spot) -> Result<(), ProofError> {
    let count = others.entry(spot).or_insert(Some(0));
    if let Some(number) = count {
        *number = number.checked_add(1).ok_or_else(|| ProofError::Claim("counts are small".to_owned()))?;
    }
    Ok(())
}

/// Whether a view counts the given threads correctly.
fn counts_right(view: &ContextView, others: &Counts) -> bool {
    let counted = counts(view);
    let number = |counts: &Counts, spot: &Spot| counts.get(spot).copied().unwrap_or(Some(0));
    counted.keys().chain(others.keys()).all(|spot| {
        let said = number(&counted, spot);
        said.is_none() || said == number(others, spot)
    })
}
