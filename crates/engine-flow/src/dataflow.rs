//! Which writes of one thread can be read by another (paper 4, figure 3: `mayReach`).
//!
//! Over-approximates: if in some execution a step of one thread is the last to modify a variable when another thread is at a location, that flow is among the results.
//! By the paper's projection lemma it is enough to look at two threads at a time, here the one that modified (at `u`) and the one that will read (at `v`), with
//! the pairs of [`crate::coreachable`]; a third thread that starts the reader takes the reader's place until then.
//!
//! * BASE: a step `u -> w` that modifies `x`, taken with another thread at `v`: `(w, v)`. Taken alone: `w`.
//! * STEP: from `(u, v)` either thread takes a step that does not modify `x`; alone, the first one does.
//! * SPAWN: such a step starts a thread of `C`: the first thread's, to `w`: `(w, entry of C)`, and the second one's: `(u, entry of C)`.
//! * INITIAL: without any modification, the locations that a thread reaches by steps of its own and of its creators that do not modify `x`.
//!
//! An assumption counts as a modification of all variables in it: guards make values known. A step that may or may not modify a variable is one that does: its own
//! transformer passes the old value on. What flows within one thread is not among the results: that is the sequential analysis of reaching definitions.

use crate::coreachable::{Reached, Rules};
use crate::model::{Model, Node, Step};
use ir::ids::Id;
use ir::passes::bits::BitSet;
use verdict::{Budget, Exhausted};

/// The shared variables of the data side, by number.
pub trait Variables {
    /// How many there are.
    fn count(&self) -> usize;
    /// Whether a step may modify a variable, or assumes something about it.
    fn modifies(&self, step: Step, variable: usize) -> bool;
}

/// A value that may flow from one thread to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DataFlow {
    /// The step that modified the variable; nothing for its initial value.
    pub from: Option<Step>,
    /// The variable.
    pub variable: usize,
    /// Where a thread may see the value.
    pub to: Node,
}

/// All flows of data between threads, by variable, source and target.
pub fn interference(
    model: &Model<'_>,
    rules: &Rules<'_, '_>,
    reached: &Reached,
    variables: &dyn Variables,
    budget: &Budget,
) -> Result<Vec<DataFlow>, Exhausted> {
    let mut found = Vec::new();
    let reached_steps: Vec<Step> = model
        .nodes
        .ids()
        .filter(|node| reached.nodes.contains(node.index()))
        .flat_map(|node| model.steps[node].iter().copied())
        .collect();
    for variable in 0..variables.count() {
        let new = |from| Search {
            model,
            rules,
            reached,
            variables,
            variable,
            from,
            alone: BitSet::new(model.nodes.len()),
            seen: std::collections::BTreeSet::new(),
            open_alone: Vec::new(),
            open_pairs: Vec::new(),
            to: BitSet::new(model.nodes.len()),
        };
        let mut initial = new(None);
        model.program.start.iter().for_each(|(template, _)| initial.be_alone(model.entry(*template)));
        initial.run(budget, &mut found)?;
        for step in reached_steps.iter().filter(|step| variables.modifies(**step, variable)) {
            let mut search = new(Some(*step));
            search.base(*step);
            search.run(budget, &mut found)?;
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

struct Search<'a, 'p> {
    model: &'a Model<'p>,
    rules: &'a Rules<'a, 'p>,
    reached: &'a Reached,
    variables: &'a dyn Variables,
    variable: usize,
    from: Option<Step>,
    /// Where the thread that modified may be, with no other one given.
    alone: BitSet,
    /// Where the two threads may be: first the one that modified.
    seen: std::collections::BTreeSet<(Node, Node)>,
    open_alone: Vec<Node>,
    open_pairs: Vec<(Node, Node)>,
    to: BitSet,
}

impl Search<'_, '_> {
    fn be_alone(&mut self, node: Node) {
        if self.reached.nodes.contains(node.index()) && self.alone.insert(node.index()) {
            self.open_alone.push(node);
        }
    }
    /// The thread that modified is at the first node, another one at the second.
    fn be_at(&mut self, writer: Node, reader: Node) {
        if self.reached.pairs.contains(writer.index(), reader.index()) && self.seen.insert((writer, reader)) {
            self.open_pairs.push((writer, reader));
            self.to.insert(reader.index());
        }
    }

    /// The steps from a node that do not modify the variable.
    fn quiet_steps(&self, node: Node) -> Vec<Step> {
        let steps = self.model.steps[node].iter().copied();
        steps.filter(|step| !self.variables.modifies(*step, self.variable)).collect()
    }

    fn base(&mut self, step: Step) {
        let source = self.model.node(step.template, self.model.edge(step).source);
        self.take_alone(step);
        for other in self.reached.pairs.related(source.index()) {
            self.take(step, Node::new(other));
        }
    }

    fn take_alone(&mut self, step: Step) {
        if self.rules.may_take_alone(step, &self.reached.pairs) {
            let target = self.model.target(step);
            self.be_alone(target);
            for child in self.rules.spawns(step) {
                let entry = self.model.entry(*child);
                self.be_at(target, entry);
                if self.from.is_none() {
                    self.be_alone(entry);
                }
            }
        }
    }

    /// The thread that modified takes a step while the other one is at a node.
    fn take(&mut self, step: Step, other: Node) {
        if self.rules.may_take(step, other, &self.reached.pairs) {
            self.be_at(self.model.target(step), other);
        }
    }

    fn run(mut self, budget: &Budget, found: &mut Vec<DataFlow>) -> Result<(), Exhausted> {
        let mut rounds = 0u64;
        loop {
            rounds += 1;
            if rounds.is_multiple_of(4096) {
                budget.check(self.seen.len() as u64 * 32 + found.len() as u64 * 32)?;
            }
            if let Some(node) = self.open_alone.pop() {
                for step in self.quiet_steps(node) {
                    self.take_alone(step);
                }
            } else if let Some((writer, reader)) = self.open_pairs.pop() {
                // The initial value needs no writer: one thread says all.
                if self.from.is_none() {
                    continue;
                }
                for step in self.quiet_steps(writer) {
                    self.take(step, reader);
                }
                for step in self.quiet_steps(reader) {
                    if self.rules.may_take(step, writer, &self.reached.pairs) {
                        self.be_at(writer, self.model.target(step));
                        for child in self.rules.spawns(step) {
                            self.be_at(writer, self.model.entry(*child));
                        }
                    }
                }
            } else {
                break;
            }
        }
        let targets = self.model.nodes.ids().filter(|node| {
            self.to.contains(node.index()) || (self.from.is_none() && self.alone.contains(node.index()))
        });
        found.extend(targets.map(|to| DataFlow { from: self.from, variable: self.variable, to }));
        Ok(())
    }
}
