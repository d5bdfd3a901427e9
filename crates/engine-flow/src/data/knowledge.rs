//! The consequences of an annotation for control.
//!
//! A step may be taken while another thread is at a location only if the assumptions of the step can hold
//! where both what ι says of the step's source, and what it says of the shared cells at the other location,
//! are true: both are true in that very state (paper 4, definition 4.1; ι itself is used where the paper uses
//! its abstraction by observable conditions, which is weaker).

use super::DataFacts;
use super::invariants::Annotation;
use super::setup::Setup;
use crate::model::{Node, Step};
use domains::{Lattice, Number, Variable};
use ir::ids::Id;
use ir::{EdgeId, IdVec, TemplateId};
use std::cell::RefCell;

/// An annotation, prepared for queries.
pub struct DataKnowledge<'s, 'a, 'p> {
    setup: &'s Setup<'a, 'p>,
    /// The annotation.
    pub annotation: &'s Annotation,
    /// Whether each step may be taken at all.
    takeable: IdVec<TemplateId, IdVec<EdgeId, bool>>,
    /// Where the answers of each step start; `None` when it reads nothing shared.
    first_answer: IdVec<TemplateId, IdVec<EdgeId, Option<usize>>>,
    /// A cache of answers.
    answers: RefCell<Vec<Answer>>,
    /// The shared cells that each step reads, if it assumes anything.
    guards: IdVec<TemplateId, IdVec<EdgeId, Vec<Variable>>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Open,
    Yes,
    No,
}

impl<'s, 'a, 'p> DataKnowledge<'s, 'a, 'p> {
    /// Prepares an annotation.
    pub fn new(setup: &'s Setup<'a, 'p>, annotation: &'s Annotation) -> Self {
        let templates = &setup.model.program.templates;
        let mut takeable = IdVec::new();
        let mut first_answer = IdVec::new();
        let mut answers = 0;
        let mut guards: IdVec<TemplateId, IdVec<EdgeId, Vec<Variable>>> = IdVec::new();
        for (template, code) in templates.enumerate() {
            let can_take = |edge: EdgeId| {
                let node = setup.source(Step { template, edge });
                let scope = setup.scope(template);
                let after = scope.after(edge, &annotation.equal[node], annotation.values[node].clone());
                !after.environment.is_bottom()
            };
            takeable.push(code.edges.ids().map(can_take).collect());
            let guards_of = |edge: EdgeId| {
                let node = setup.source(Step { template, edge });
                let mut guards = setup.scope(template).touches(edge, &annotation.equal[node]).guards;
                guards.retain(|cell| setup.memory.is_shared(*cell));
                guards
            };
            let here = guards.push(code.edges.ids().map(guards_of).collect());
            let place = |edge: EdgeId| {
                let first = answers;
                guards[here][edge].first()?;
                answers += setup.model.nodes.len();
                Some(first)
            };
            first_answer.push(code.edges.ids().map(place).collect());
        }
        let answers = RefCell::new(vec![Answer::Open; answers]);
        Self { setup, annotation, takeable, first_answer, answers, guards }
    }

    /// Whether a thread may be at a location, once the loop has ended.
    pub fn is_inhabited(&self, node: Node) -> bool {
        !self.annotation.values[node].is_bottom()
    }

    fn ask(&self, step: Step, other: Node) -> bool {
        let source = self.setup.source(step);
        let mut here = self.annotation.values[source].clone();
        let there = &self.annotation.values[other];
        if there.is_bottom() {
            // Not computed yet.
            return true;
        }
        let mut more = false;
        for cell in self.guards[step.template][step.edge].iter().copied() {
            let Some(theirs) = there.numbers.get(cell) else { continue };
            let mine = here.numbers.get(cell).copied().unwrap_or(Number::TOP);
            if !mine.less_or_equal(theirs) {
                here.numbers.set(cell, mine.meet(theirs));
                more = true;
            }
        }
        let packs = self.setup.memory.packs(step.template);
        for (pack, cells) in self.setup.memory.shared_packs() {
            let guards = &self.guards[step.template][step.edge];
            let Some(theirs) = there.octagons.get(pack) else { continue };
            if here.is_bottom() || !cells.iter().any(|cell| guards.contains(cell)) {
                continue;
            }
            let mine = here.octagon(packs, pack);
            if !mine.less_or_equal(theirs) {
                here.octagons.set(pack, mine.meet(theirs));
                more = true;
            }
        }
        if !more {
            return true;
        }
        let here = here.reduced(packs);
        let after = self.setup.scope(step.template).after(step.edge, &self.annotation.equal[source], here);
        !after.environment.is_bottom()
    }
}

impl DataFacts for DataKnowledge<'_, '_, '_> {
    /// Whether a location can be reached is left to the steps that lead to it: the data flow into it must be
    /// known before it can be ruled out.
    fn may_be_at(&self, _: Node) -> bool {
        true
    }
    fn may_take(&self, step: Step, other: Option<Node>) -> bool {
        if !self.takeable[step.template][step.edge] {
            return false;
        }
        let (Some(other), Some(first)) = (other, self.first_answer[step.template][step.edge]) else {
            return true;
        };
        let at = first + other.index();
        let known = self.answers.borrow()[at];
        match known {
            Answer::Yes => true,
            Answer::No => false,
            Answer::Open => {
                let answer = self.ask(step, other);
                self.answers.borrow_mut()[at] = if answer { Answer::Yes } else { Answer::No };
                answer
            }
        }
    }
}
