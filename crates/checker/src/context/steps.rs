//! The steps of a thread and of others, from a view.

use super::{Check, Counts, Spot, add, counts, counts_right};
use crate::ProofError;
use crate::ready::claim;
use indexmap::IndexMap;
use ir::TemplateId;
use smt::{Instance, Term, Variable};
use transitions::{ScopedStart, ScopedStep};
use verdict::{AbstractEdge, ContextView};

/// A node to which a step may lead, and the condition for it, after the step.
struct Successor {
    node: usize,
    condition: Term,
}

impl Check<'_, '_> {
    /// Obligation 1: the first thread.
    pub(super) fn start(&self) -> Result<(), ProofError> {
        let main = self.scoped.main;
        let nobody = Counts::new();
        let views = self.first_nodes(main).into_iter().flat_map(|node| {
            let formula = &self.proof.nodes[node].formula;
            let views = self.views[node].iter().filter(|view| counts_right(view, &nobody));
            views.map(|view| view.formula.and(formula)).collect::<Vec<_>>()
        });
        self.follows(&self.scoped.initial, &Term::any(views), "the first thread is at a node and has a view")
    }

    /// Obligations 2 and 4, for the steps of the thread itself.
    pub(super) fn own_steps(&self, view: &ContextView) -> Result<(), ProofError> {
        let node = &self.proof.nodes[view.node];
        let others = counts(view);
        if self.occupied(&others).next().is_some() {
            return Ok(());
        }
        let steps = self.scoped.steps.iter().enumerate();
        let here = steps.filter(|(_, step)| (step.template, step.source) == (node.template, node.location));
        for (number, step) in here {
            let successors = self.successors(view, number, step);
            let seen = self.seen(view);
            let terms: Vec<Term> = successors.iter().map(|successor| successor.condition.clone()).collect();
            let premise = seen.and(&self.scoped.premise(step, &terms));
            let some = Term::any(terms);
            self.follows(&premise, &some, "a step leads to a node, and the automaton can do as much")?;
            let mut then = others.clone();
            for start in &step.starts {
                add(&mut then, (start.template, self.proof.acfas[start.template].start))?;
                let nodes = self.first_nodes(start.template).into_iter();
                let formulas = nodes.map(|node| self.proof.nodes[node].formula.clone());
                let started = self.started(step, start, &Term::any(formulas))?;
                self.follows(&premise, &started, "a thread that is started is at a node")?;
            }
            let labels = self.labels(&then).substitute(&step.updates);
            let mut earlier = Term::bool(false);
            for successor in &successors {
                let premise = premise.and(&successor.condition).and(&earlier.not()).and(&labels);
                earlier = earlier.or(&successor.condition);
                let views = self.views[successor.node].iter().filter(|view| counts_right(view, &then));
                let seen = Term::any(views.map(|view| view.formula.substitute(&step.updates)));
                self.follows(&premise, &seen, "there is a view after a step")?;
                self.births(
                    step,
                    &others,
                    (node.template, self.proof.nodes[successor.node].state),
                    &premise,
                )?;
            }
        }
        Ok(())
    }

    /// The nodes to which a step may lead.
    fn successors(&self, view: &ContextView, number: usize, step: &ScopedStep) -> Vec<Successor> {
        let node = &self.proof.nodes[view.node];
        let mut starts: Vec<TemplateId> = step.starts.iter().map(|start| start.template).collect();
        starts.sort();
        let changed: Vec<&Variable> = self
            .visible
            .iter()
            .filter(|variable| step.updates.get(*variable).is_some_and(|value| *value != variable.term()))
            .collect();
        let edges = self.proof.edges.iter().filter(|edge| edge.from == view.node && edge.step == number);
        let successors = edges.map(|edge| {
            let to = &self.proof.nodes[edge.to];
            let stays = to.state == node.state && changed.is_empty() && starts.is_empty();
            let can = |answer: &&AbstractEdge| {
                answer.target == to.state
                    && answer.action.starts == starts
                    && changed.iter().all(|variable| answer.action.havoc.contains(*variable))
            };
            let answers = self.proof.acfas[node.template].leaving(node.state).iter().filter(can);
            let answered = Term::any(
                answers.map(|answer| answer.action.guard.and(&answer.action.after.substitute(&step.updates))),
            );
            let possible = if stays { Term::bool(true) } else { answered };
            Successor { node: edge.to, condition: possible.and(&to.formula.substitute(&step.updates)) }
        });
        successors.collect()
    }

    /// A formula about a thread that a step starts, over the variables before the step.
    fn started(&self, step: &ScopedStep, start: &ScopedStart, formula: &Term) -> Result<Term, ProofError> {
        let shared = step.updates.iter().filter(|(variable, _)| self.scoped.shared.contains_key(*variable));
        let mut values: IndexMap<Variable, Term> =
            shared.map(|(variable, value)| (variable.clone(), value.clone())).collect();
        values.extend(start.first.iter().map(|(variable, value)| (variable.clone(), value.clone())));
        let known = |variable: &Variable| {
            self.scoped.shared.contains_key(variable) || start.first.contains_key(variable)
        };
        claim(formula.free_variables().iter().all(known), "a thread that is started has first values")?;
        Ok(formula.substitute(&values))
    }

    /// Obligation 4, for the threads that a step starts. `mover`: where the thread that takes the step is
    /// afterwards.
    fn births(
        &self,
        step: &ScopedStep,
        others: &Counts,
        mover: Spot,
        premise: &Term,
    ) -> Result<(), ProofError> {
        for (position, start) in step.starts.iter().enumerate() {
            let mut seen = others.clone();
            add(&mut seen, mover)?;
            for (_, sibling) in step.starts.iter().enumerate().filter(|(other, _)| *other != position) {
                add(&mut seen, (sibling.template, self.proof.acfas[sibling.template].start))?;
            }
            let mut seen_by_it = Vec::new();
            for node in self.first_nodes(start.template) {
                let formula = &self.proof.nodes[node].formula;
                let views = self.views[node].iter().filter(|view| counts_right(view, &seen));
                seen_by_it.extend(views.map(|view| view.formula.and(formula)));
            }
            let started = self.started(step, start, &Term::any(seen_by_it))?;
            self.follows(premise, &started, "there is a view for a thread that is started")?;
        }
        Ok(())
    }

    /// Obligations 3 and 4, for the steps of other threads.
    pub(super) fn other_steps(&self, view: &ContextView) -> Result<(), ProofError> {
        let node = &self.proof.nodes[view.node];
        if self.scoped.program.templates[node.template].locations[node.location].runs_alone() {
            return Ok(());
        }
        let others = counts(view);
        for (spot, count) in &others {
            let somebody_else = self.occupied(&others).any(|other| other != *spot);
            if *count == Some(0) || somebody_else {
                continue;
            }
            for edge in self.proof.acfas[spot.0].leaving(spot.1) {
                self.other_step(view, &others, *spot, edge)?;
            }
        }
        Ok(())
    }

    fn other_step(
        &self,
        view: &ContextView,
        others: &Counts,
        spot: Spot,
        edge: &AbstractEdge,
    ) -> Result<(), ProofError> {
        let node = &self.proof.nodes[view.node];
        let mut then = others.clone();
        match then.get_mut(&spot) {
            Some(Some(number)) if *number > 0 => *number -= 1,
            _ => {}
        }
        add(&mut then, (spot.0, edge.target))?;
        for started in &edge.action.starts {
            add(&mut then, (*started, self.proof.acfas[*started].start))?;
        }
        let after = |variable: &Variable| variable.instance(Instance::AfterStep);
        let primed = |term: &Term| {
            term.rename(|variable| edge.action.havoc.contains(variable).then(|| after(variable)))
        };
        let ranges = Term::all(
            edge.action
                .havoc
                .iter()
                .map(|variable| self.scoped.ranges([&variable.term()]).rename(|_| Some(after(variable)))),
        );
        let before = self.seen(view).and(self.label(spot)).and(&edge.action.guard);
        let made = edge.action.after.and(self.label((spot.0, edge.target)));
        let premise = before.and(&primed(&made)).and(&ranges);
        self.follows(&premise, &primed(&node.formula), "what a node says survives the steps of others")?;
        let premise = premise.and(&primed(&node.formula)).and(&primed(&self.labels(&then)));
        let views: Vec<&&ContextView> =
            self.views[view.node].iter().filter(|view| counts_right(view, &then)).collect();
        // Most steps change nothing relevant.
        let unchanged = view.formula.free_variables().is_disjoint(&edge.action.havoc);
        if unchanged && views.iter().any(|next| next.formula == view.formula) {
            return Ok(());
        }
        let seen = Term::any(views.iter().map(|view| primed(&view.formula)));
        self.follows(&premise, &seen, "there is a view after a step of another thread")
    }
}
