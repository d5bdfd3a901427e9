//! The Boolean program of a predicate abstraction: predicates, and a relation for each step (paper 3, section
//! 2.1).
//!
//! Control, creation of threads and atomic regions stay as they are; a predicate over shared variables is a
//! shared bit, one of a template is a local of its threads. Each step is one edge: a parallel assignment
//! under a constraint. If a step writes a shared variable that occurs in predicates of other threads, it
//! broadcasts their new values ([`ir::Op::Broadcast`]). The first thread has one more location at its
//! beginning, for relations between predicates at the start.
//!
//! Exact: the program has the executions that the relations allow. This module trusts the relations; others
//! show that they over-approximate the steps.

use crate::scopes::{Scoped, ScopedStep};
use indexmap::{IndexMap, IndexSet};
use ir::{
    Assignment, BinaryOp, Broadcast, Callee, Count, Edge, EdgeId, Expr, IdVec, Initial, IntType, Layout, Lhs,
    Local, LocalId, LocationKind, Object, ObjectId, Op, Place, Program, Rhs, Span, Storage, Template,
    TemplateId,
};
use verdict::{Fact, Literal, Moment, Predicate, PredicateRelation, StepAbstraction};

/// A Boolean program, and what its edges stand for.
#[derive(Clone, Debug)]
pub struct BooleanProgram {
    /// The program.
    pub program: Program,
    /// The step of each edge; `None` for the one at the beginning.
    pub steps: IdVec<TemplateId, Vec<Option<usize>>>,
    /// The object of each predicate over shared variables.
    pub objects: Vec<Option<ObjectId>>,
    /// The local of each predicate of a template.
    pub locals: Vec<Option<LocalId>>,
}

/// The use of a local of the Boolean program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Use {
    /// A predicate of the thread.
    Own(usize),
    /// A predicate of a thread that is about to be started.
    Started(usize, usize),
    /// A predicate as it was before the step, for others.
    Past(usize),
    /// The same, as broadcast to another thread.
    Broadcast(usize),
}

struct Builder<'a, 'p> {
    scoped: &'a Scoped<'p>,
    predicates: &'a [Predicate],
    objects: Vec<Option<ObjectId>>,
    uses: IdVec<TemplateId, IndexMap<Use, LocalId>>,
}

/// Builds the program. `initial` and `start` are the facts about predicates at the start, `steps` the effects
/// of each step.
pub fn boolean_program(
    scoped: &Scoped<'_>,
    predicates: &[Predicate],
    initial: &[Option<bool>],
    start: &[Vec<Literal>],
    steps: &[StepAbstraction],
) -> BooleanProgram {
    let source = scoped.program;
    let mut program = Program {
        data_model: source.data_model,
        files: source.files.clone(),
        start: vec![(scoped.main, Count::Exactly(1))],
        ..Program::default()
    };
    let mut objects = vec![None; predicates.len()];
    for (number, predicate) in predicates.iter().enumerate().filter(|(_, one)| one.scope.is_none()) {
        let initial = match initial[number] {
            Some(value) => Initial::Values(vec![(0, IntType::BOOL, Expr::bool(value))]),
            None => Initial::Unknown,
        };
        objects[number] = Some(program.objects.push(Object {
            name: predicate.formula.to_string(),
            storage: Storage::Static,
            size: 1,
            align: 1,
            layout: Layout::Scalar(IntType::BOOL),
            initial,
            span: Span::default(),
            role: ir::ObjectRole::Program,
        }));
    }
    let uses = source.templates.iter().map(|_| IndexMap::new()).collect();
    let mut builder = Builder { scoped, predicates, objects, uses };
    let mut step_of: IdVec<TemplateId, Vec<Option<usize>>> =
        source.templates.iter().map(|_| Vec::new()).collect();
    for (id, code) in source.templates.enumerate() {
        let mut template = Template {
            name: code.name.clone(),
            locations: code.locations.clone(),
            entry: code.entry,
            span: code.span,
            ..Template::default()
        };
        for (number, _) in predicates.iter().enumerate().filter(|(_, one)| one.scope == Some(id)) {
            builder.local(id, Use::Own(number));
        }
        template.parameters = builder.uses[id].len();
        program.templates.push(template);
    }
    let code = &mut program.templates[scoped.main];
    let first = code.location(LocationKind::Normal, false);
    let entry = std::mem::replace(&mut code.entry, first);
    let constraint = builder.all(start, &builder.reader(scoped.main, &[], true));
    code.edge(first, entry, vec![Op::Assign(Assignment { pairs: Vec::new(), constraint })], code.span);
    step_of[scoped.main].push(None);
    for (number, (step, abstraction)) in scoped.steps.iter().zip(steps).enumerate() {
        let ops = builder.ops(step, abstraction);
        let span = scoped.span(step);
        let edge = Edge { source: step.source, target: step.target, ops, span };
        program.templates[step.template].edges.push(edge);
        step_of[step.template].push(Some(number));
    }
    let mut locals = vec![None; predicates.len()];
    for (id, uses) in builder.uses.enumerate() {
        for (what, local) in uses {
            let name = match what {
                Use::Own(number) => {
                    locals[*number] = Some(*local);
                    predicates[*number].formula.to_string()
                }
                Use::Started(which, number) => format!("start {which}: {}", predicates[*number].formula),
                Use::Past(number) => format!("before: {}", predicates[*number].formula),
                Use::Broadcast(number) => format!("broadcast: {}", predicates[*number].formula),
            };
            program.templates[id].locals.push(Local { name, ty: IntType::BOOL, span: Span::default() });
        }
    }
    BooleanProgram { program, steps: step_of, objects: builder.objects, locals }
}

impl BooleanProgram {
    /// The step that an edge stands for.
    pub fn step(&self, template: TemplateId, edge: EdgeId) -> Option<usize> {
        self.steps[template].get(edge.0 as usize).copied().flatten()
    }
}

/// Reads the value of a fact.
type Reader<'r> = dyn Fn(&mut Builder<'_, '_>, Fact) -> Expr + 'r;

impl Builder<'_, '_> {
    fn local(&mut self, template: TemplateId, what: Use) -> LocalId {
        let next = LocalId(self.uses[template].len() as u32);
        *self.uses[template].entry(what).or_insert(next)
    }

    /// Where a predicate that a thread of a template sees is kept.
    fn place(&mut self, template: TemplateId, predicate: usize) -> Lhs {
        match self.objects[predicate] {
            Some(object) => Lhs::Memory(Place { atomic: true, ..Place::cell(object, 0, IntType::BOOL) }),
            None => Lhs::Local(self.local(template, Use::Own(predicate))),
        }
    }

    fn value(&mut self, template: TemplateId, predicate: usize) -> Expr {
        match self.place(template, predicate) {
            Lhs::Memory(place) => Expr::load(place),
            Lhs::Local(local) => Expr::Local(local),
        }
    }

    /// Reads facts for the thread that takes a step: in a constraint, after the assignment of the changed
    /// predicates; otherwise before it.
    fn reader<'r>(&self, template: TemplateId, changed: &'r [usize], in_constraint: bool) -> Box<Reader<'r>> {
        Box::new(move |builder, fact| {
            let assigned = in_constraint && changed.contains(&fact.predicate);
            match fact.moment {
                Moment::Before if assigned => Expr::Old(Box::new(builder.value(template, fact.predicate))),
                Moment::Before | Moment::After => builder.value(template, fact.predicate),
                Moment::Started(which) => {
                    Expr::Local(builder.local(template, Use::Started(which, fact.predicate)))
                }
                // There are no facts about others here.
                Moment::OtherBefore | Moment::OtherAfter => Expr::bool(true),
            }
        })
    }

    /// Reads facts for another thread, of template `to`.
    fn other_reader<'r>(&self, to: TemplateId, changed: &'r [usize], in_constraint: bool) -> Box<Reader<'r>> {
        Box::new(move |builder, fact| {
            let assigned = in_constraint && changed.contains(&fact.predicate);
            match fact.moment {
                Moment::Before => Expr::Local(builder.local(to, Use::Broadcast(fact.predicate))),
                Moment::OtherBefore if assigned => Expr::Old(Box::new(builder.value(to, fact.predicate))),
                Moment::OtherBefore | Moment::OtherAfter => builder.value(to, fact.predicate),
                Moment::After | Moment::Started(_) => Expr::bool(true),
            }
        })
    }

    fn literal(&mut self, literal: Literal, reader: &Reader<'_>) -> Expr {
        let value = reader(self, literal.fact);
        if literal.holds { value } else { value.not() }
    }

    /// The condition that one literal of each list holds.
    fn all(&mut self, clauses: &[Vec<Literal>], reader: &Reader<'_>) -> Option<Expr> {
        let mut all: Option<Expr> = None;
        for clause in clauses {
            let one = self.joined(BinaryOp::Or, clause, reader);
            all = Some(match all {
                Some(rest) => Expr::binary(BinaryOp::And, IntType::BOOL, rest, one),
                None => one,
            });
        }
        all
    }

    fn joined(&mut self, op: BinaryOp, literals: &[Literal], reader: &Reader<'_>) -> Expr {
        let mut found: Option<Expr> = None;
        for literal in literals {
            let one = self.literal(*literal, reader);
            found = Some(match found {
                Some(rest) => Expr::binary(op, IntType::BOOL, rest, one),
                None => one,
            });
        }
        found.unwrap_or_else(|| Expr::bool(op == BinaryOp::And))
    }

    /// The new value of a fact: its definition, or any value.
    fn new_value(&mut self, relation: &PredicateRelation, fact: Fact, reader: &Reader<'_>) -> Rhs {
        let Some((_, cubes)) = relation.functions.iter().find(|(decided, _)| *decided == fact) else {
            return Rhs::Any;
        };
        let mut value: Option<Expr> = None;
        for cube in cubes {
            let one = self.joined(BinaryOp::And, cube, reader);
            value = Some(match value {
                Some(rest) => Expr::binary(BinaryOp::Or, IntType::BOOL, rest, one),
                None => one,
            });
        }
        Rhs::Value(value.unwrap_or_else(|| Expr::bool(false)))
    }

    fn ops(&mut self, step: &ScopedStep, abstraction: &StepAbstraction) -> Vec<Op> {
        let (scoped, predicates) = (self.scoped, self.predicates);
        let template = step.template;
        let all = 0..predicates.len();
        let changed: Vec<usize> = all
            .clone()
            .filter(|number| {
                let predicate = &predicates[*number];
                scoped.sees(template, predicate) && scoped.changes(step, predicate)
            })
            .collect();
        let before = self.reader(template, &changed, false);
        let after = self.reader(template, &changed, true);
        let mut pairs = Vec::new();
        for predicate in &changed {
            let fact = Fact { predicate: *predicate, moment: Moment::After };
            let value = self.new_value(&abstraction.own, fact, &before);
            pairs.push((self.place(template, *predicate), value));
        }
        let mut spawns = Vec::new();
        for (which, start) in step.starts.iter().enumerate() {
            let mut arguments = Vec::new();
            for predicate in all.clone().filter(|number| predicates[*number].scope == Some(start.template)) {
                let fact = Fact { predicate, moment: Moment::Started(which) };
                let value = self.new_value(&abstraction.own, fact, &before);
                let local = self.local(template, Use::Started(which, predicate));
                pairs.push((Lhs::Local(local), value));
                arguments.push(Expr::Local(local));
            }
            spawns.push(Op::Spawn(Callee::Procedure(start.template), arguments, None));
        }
        let mut broadcasts = Vec::new();
        let mut past: IndexSet<usize> = IndexSet::new();
        for to in scoped.program.templates.ids() {
            let changed: Vec<usize> = all
                .clone()
                .filter(|number| {
                    predicates[*number].scope == Some(to) && scoped.changes_other(step, &predicates[*number])
                })
                .collect();
            if changed.is_empty() {
                continue;
            }
            let nothing = PredicateRelation::default();
            let relation = abstraction.others.iter().find(|(other, _)| *other == to);
            let relation = relation.map_or(&nothing, |(_, relation)| relation);
            broadcasts.push(self.broadcast(to, template, relation, &changed, &mut past));
        }
        for predicate in past {
            let value = before(self, Fact { predicate, moment: Moment::Before });
            pairs.push((Lhs::Local(self.local(template, Use::Past(predicate))), Rhs::Value(value)));
        }
        let constraint = self.all(&abstraction.own.clauses, &after);
        let mut ops = Vec::new();
        if !pairs.is_empty() || constraint.is_some() {
            ops.push(Op::Assign(Assignment { pairs, constraint }));
        }
        ops.extend(broadcasts);
        ops.extend(spawns);
        ops
    }

    /// The assignment of other threads of a template. `past` gets the predicates whose old values are
    /// broadcast to them.
    fn broadcast(
        &mut self,
        to: TemplateId,
        from: TemplateId,
        relation: &PredicateRelation,
        changed: &[usize],
        past: &mut IndexSet<usize>,
    ) -> Op {
        let before = self.other_reader(to, changed, false);
        let after = self.other_reader(to, changed, true);
        let mut pairs = Vec::new();
        for predicate in changed {
            let fact = Fact { predicate: *predicate, moment: Moment::OtherAfter };
            let value = self.new_value(relation, fact, &before);
            pairs.push((self.place(to, *predicate), value));
        }
        let constraint = self.all(&relation.clauses, &after);
        let cubes = relation.functions.iter().flat_map(|(_, cubes)| cubes).chain(&relation.clauses);
        let needed: IndexSet<usize> = cubes
            .flatten()
            .filter(|literal| literal.fact.moment == Moment::Before)
            .map(|literal| literal.fact.predicate)
            .collect();
        let mut arguments = Vec::new();
        for predicate in needed {
            past.insert(predicate);
            let value = self.local(to, Use::Broadcast(predicate));
            arguments.push((value, Expr::Local(self.local(from, Use::Past(predicate)))));
        }
        Op::Broadcast(Broadcast { to, arguments, assignment: Assignment { pairs, constraint } })
    }
}
