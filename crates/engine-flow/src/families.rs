//! Families: threads that a unique thread starts in a loop ([`verdict::Family`]), and their parent's facts
//! about them.
//!
//! A template is tried as a family if all its starts are in one unique template, it is not unique itself,
//! and the argument or the place for the handle at its first start is a function of a local that is no
//! pointer: that is the index. What holds at each location of the parent is the greatest solution of a
//! forward analysis with the transfer of [`verdict::ParentStep`]; orders that grow from round to round are
//! dropped (widening). Only locals that are compared with or copied from the index, directly or indirectly,
//! are considered.

use crate::facts::FactsAnalysis;
use crate::model::{Model, Node, Step};
use ir::ids::Id;
use ir::passes::Affine;
use ir::passes::footprint::{Extent, Region, accesses};
use ir::{
    Assignment, BinaryOp, Callee, Count, EdgeId, Expr, IdVec, Lhs, LocalId, LocationId, Op, Rhs, Targets,
    TemplateId,
};
use std::collections::{BTreeSet, VecDeque};
use verdict::{Family, LocationFacts, Members, ParentFacts, ParentStep};

/// After this many visits of a location, its facts only shrink.
const ROUNDS_WITH_GAIN: usize = 8;
/// After this many visits, orders are widened.
const ROUNDS_WITH_NEW_ORDERS: usize = 3;

/// The families of a program, given the facts at each node.
pub fn families(
    model: &Model<'_>,
    analyses: &IdVec<TemplateId, FactsAnalysis<'_, '_>>,
    facts: &IdVec<Node, LocationFacts>,
) -> Vec<Family> {
    let found = model.program.templates.ids().filter_map(|template| {
        let parent = parent(model, template)?;
        let search = Search { model, analysis: &analyses[parent], facts, parent };
        let mut family = search.candidate(template)?;
        family.at = search.solve(&family);
        Some(family)
    });
    found.collect()
}

/// Parameters that are never assigned to, and are unspent objects at all starts.
pub fn owned_parameters(
    model: &Model<'_>,
    analyses: &IdVec<TemplateId, FactsAnalysis<'_, '_>>,
    facts: &IdVec<Node, LocationFacts>,
) -> Vec<(TemplateId, LocalId)> {
    let mut found: BTreeSet<(TemplateId, LocalId)> = BTreeSet::new();
    for (template, code) in model.program.templates.enumerate() {
        let started = model.program.start.iter().any(|(started, _)| *started == template);
        for parameter in (0..code.parameters).filter(|_| !started && !model.unique[template]) {
            let local = LocalId::new(parameter);
            let mut ops = code.edges.iter().flat_map(|edge| &edge.ops);
            if !ops.any(|op| op.targets().contains(&&Lhs::Local(local))) {
                found.insert((template, local));
            }
        }
    }
    for (node, facts) in facts.enumerate() {
        for step in &model.steps[node] {
            let values = analyses[step.template].values();
            let effects = analyses[step.template].walk(*step, facts, &mut |_, _| {});
            if effects.impossible {
                continue;
            }
            analyses[step.template].walk(*step, facts, &mut |op, facts| {
                let Op::Spawn(Callee::Procedure(child), arguments, _) = op else { return };
                for (parameter, argument) in arguments.iter().enumerate() {
                    let is_unspent = match values.canonical(argument, &facts.equal) {
                        Some(Expr::Local(local)) => facts.unspent.contains(&local),
                        _ => false,
                    };
                    if !is_unspent {
                        found.remove(&(*child, LocalId::new(parameter)));
                    }
                }
            });
        }
    }
    found.into_iter().collect()
}

/// For a non-unique template, the only template that starts its threads, if that is unique.
fn parent(model: &Model<'_>, template: TemplateId) -> Option<TemplateId> {
    let started = model.program.start.iter();
    let mut started = started.filter(|(_, count)| *count != Count::Exactly(0));
    if model.unique[template] || started.any(|(started, _)| *started == template) {
        return None;
    }
    let mut parents = BTreeSet::new();
    for (parent, code) in model.program.templates.enumerate() {
        let starts = |op: &Op| matches!(op, Op::Spawn(Callee::Procedure(child), ..) if *child == template);
        if code.edges.iter().flat_map(|edge| &edge.ops).any(starts) {
            parents.insert(parent);
        }
    }
    let mut parents = parents.into_iter();
    let parent = parents.next().filter(|parent| model.unique[*parent])?;
    parents.next().is_none().then_some(parent)
}

struct Search<'s, 'a, 'p> {
    model: &'s Model<'p>,
    analysis: &'s FactsAnalysis<'a, 'p>,
    facts: &'s IdVec<Node, LocationFacts>,
    parent: TemplateId,
}

impl Search<'_, '_, '_> {
    fn source(&self, edge: EdgeId) -> &LocationFacts {
        let location = self.model.program.templates[self.parent].edges[edge].source;
        &self.facts[self.model.node(self.parent, location)]
    }

    /// The family as its first start looks, without facts.
    fn candidate(&self, template: TemplateId) -> Option<Family> {
        let code = &self.model.program.templates[self.parent];
        let mut found = None;
        for edge in code.edges.ids() {
            let step = Step { template: self.parent, edge };
            self.analysis.walk(step, self.source(edge), &mut |op, facts| {
                let Op::Spawn(Callee::Procedure(child), arguments, lhs) = op else { return };
                if *child == template {
                    let now = self.described(template, arguments, lhs.as_ref(), facts);
                    // A later copy of the start may be more informative: in the first, constants may replace
                    // the index.
                    found = found.take().or(now);
                }
            });
        }
        found
    }

    fn described(
        &self,
        template: TemplateId,
        arguments: &[Expr],
        lhs: Option<&Lhs>,
        facts: &LocationFacts,
    ) -> Option<Family> {
        let code = &self.model.program.templates[self.parent];
        // Locals that are known constants keep their names.
        let is_constant = |value: &Expr| matches!(value, Expr::Const(..));
        let equal: Vec<_> = facts.equal.iter().filter(|(_, value)| !is_constant(value)).cloned().collect();
        let canonical = |expr: &Expr| self.analysis.values().canonical(expr, &equal);
        let is_kept = |parameter: usize| {
            let mut ops = self.model.program.templates[template].edges.iter().flat_map(|edge| &edge.ops);
            !ops.any(|op| op.targets().contains(&&Lhs::Local(LocalId::new(parameter))))
        };
        let arguments = arguments.iter().enumerate();
        let arguments: Vec<Option<Expr>> =
            arguments.map(|(parameter, value)| canonical(value).filter(|_| is_kept(parameter))).collect();
        let handle = match lhs {
            Some(Lhs::Memory(place)) => canonical(&place.address),
            Some(Lhs::Local(_)) | None => None,
        };
        let is_number = |local: &Expr| {
            let targets = self.model.points_to.targets(self.parent, local);
            matches!(targets, Targets::Of(targets) if targets.is_empty())
        };
        let index_of = |atom: &Expr| match atom {
            Expr::Local(local) => is_number(atom).then_some(*local),
            _ => None,
        };
        let sums: Vec<Affine> = handle
            .iter()
            .chain(arguments.iter().flatten())
            .map(|expr| Affine::of(self.model.program, code, expr))
            .collect();
        let atoms = || sums.iter().flat_map(|sum| sum.terms.iter().map(|(atom, _)| atom));
        let index = atoms().find_map(index_of).or_else(|| {
            // Some other function of a local, such as its square.
            let mut found = None;
            atoms().for_each(|atom| atom.walk(&mut |inner| found = found.or_else(|| index_of(inner))));
            found
        })?;
        let handle = handle.filter(|handle| !self.others_write(handle));
        Some(Family { template, parent: self.parent, index, arguments, handle, at: Vec::new() })
    }

    /// Whether other threads may write where handles are.
    fn others_write(&self, handle: &Expr) -> bool {
        let model = self.model;
        let bytes = model.program.data_model.pointer().bytes();
        let region = Region::at(model.points_to, self.parent, handle, Extent::Bytes(bytes));
        let mut others = model.program.templates.enumerate().filter(|(id, _)| *id != self.parent);
        others.any(|(other, code)| {
            code.edges.iter().flat_map(|edge| &edge.ops).any(|op| {
                let mut accesses = accesses(model.points_to, other, op).into_iter();
                let words = match op {
                    Op::Lock(_, address) | Op::Unlock(_, address) => {
                        Some(Region::at(model.points_to, other, address, Extent::Bytes(8)))
                    }
                    _ => None,
                };
                accesses.any(|access| access.write && access.region.overlaps(&region))
                    || words.is_some_and(|words| words.overlaps(&region))
            })
        })
    }

    fn solve(&self, family: &Family) -> Vec<ParentFacts> {
        let code = &self.model.program.templates[self.parent];
        let relevant = relevant_locals(code, self.seeds(family));
        let outgoing = code.outgoing();
        let mut entering: IdVec<LocationId, Vec<EdgeId>> =
            code.locations.iter().map(|_| Vec::new()).collect();
        code.edges.enumerate().for_each(|(id, edge)| entering[edge.target].push(id));
        let mut after: IdVec<EdgeId, Option<ParentFacts>> = code.edges.iter().map(|_| None).collect();
        let mut found: IdVec<LocationId, Option<ParentFacts>> = code.locations.iter().map(|_| None).collect();
        let mut rounds: IdVec<LocationId, usize> = code.locations.iter().map(|_| 0).collect();
        let first = ParentFacts {
            members: Some(Members { none: true, ..Members::default() }),
            ..ParentFacts::default()
        };
        found[code.entry] = Some(first.clone());
        let mut queue = VecDeque::from([code.entry]);
        while let Some(location) = queue.pop_front() {
            for edge in &outgoing[location] {
                let Some(here) = &found[location] else { continue };
                let target = code.edges[*edge].target;
                after[*edge] = self.after(family, *edge, here.clone(), &relevant);
                let mut inputs = entering[target].iter().filter_map(|edge| after[*edge].as_ref());
                let Some(mut now) = inputs.next().cloned() else { continue };
                inputs.for_each(|input| now = meet(&now, input));
                if target == code.entry {
                    now = meet(&now, &first);
                }
                rounds[target] += 1;
                if let Some(before) = &found[target] {
                    if rounds[target] > ROUNDS_WITH_NEW_ORDERS {
                        let known = now.orders.clone();
                        now.orders = before.orders.clone();
                        now.orders.retain(|less, more| {
                            known.distance(less, more) <= before.orders.distance(less, more)
                                && known.distance(less, more).is_some()
                        });
                    }
                    if rounds[target] > ROUNDS_WITH_GAIN {
                        now.members = match (&now.members, &before.members) {
                            (Some(now), Some(before)) => Some(now.widen(before)),
                            _ => None,
                        };
                    }
                }
                if found[target].as_ref() != Some(&now) {
                    found[target] = Some(now);
                    if !queue.contains(&target) {
                        queue.push_back(target);
                    }
                }
            }
        }
        found.iter().map(|found| found.clone().unwrap_or_default()).collect()
    }

    /// The index, and the locals in addresses of what members and handles are about.
    fn seeds(&self, family: &Family) -> BTreeSet<LocalId> {
        let model = self.model;
        let code = &model.program.templates[self.parent];
        let known = family.arguments.iter().flatten().chain(&family.handle);
        let region = |expr: &Expr| Region::at(model.points_to, self.parent, expr, Extent::Object);
        let regions: Vec<Region> = known.map(region).collect();
        let mut found = BTreeSet::from([family.index]);
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            for access in accesses(model.points_to, self.parent, op) {
                if regions.iter().any(|region| region.overlaps(&access.region)) {
                    found.extend(locals_of(access.address));
                }
            }
        }
        found
    }

    fn after(
        &self,
        family: &Family,
        edge: EdgeId,
        mut here: ParentFacts,
        relevant: &BTreeSet<LocalId>,
    ) -> Option<ParentFacts> {
        let step = Step { template: self.parent, edge };
        let effects = self.analysis.walk(step, self.source(edge), &mut |op, facts| {
            self.parent_step(family, facts, &mut |step| step.apply(op, &mut here));
        });
        let is_relevant = |local: Option<LocalId>| local.is_none_or(|local| relevant.contains(&local));
        here.orders.retain(|less, more| is_relevant(less) && is_relevant(more));
        (!effects.impossible).then_some(here)
    }

    fn parent_step(&self, family: &Family, facts: &LocationFacts, with: &mut dyn FnMut(&ParentStep<'_>)) {
        let equal: Vec<_> = facts.equal.iter().filter(|(local, _)| *local != family.index).cloned().collect();
        let canonical = |expr: &Expr| self.analysis.values().canonical(expr, &equal);
        with(&ParentStep {
            program: self.model.program,
            points_to: self.model.points_to,
            family,
            canonical: &canonical,
        });
    }
}

/// The facts about members before each operation of one of the parent's steps.
pub fn walk_parent(
    model: &Model<'_>,
    analysis: &FactsAnalysis<'_, '_>,
    facts: &IdVec<Node, LocationFacts>,
    family: &Family,
    step: Step,
    visit: &mut dyn FnMut(&ParentFacts),
) {
    let search = Search { model, analysis, facts, parent: family.parent };
    let location = model.edge(step).source;
    let mut here = family.at[location.index()].clone();
    analysis.walk(step, search.source(step.edge), &mut |op, facts| {
        visit(&here);
        search.parent_step(family, facts, &mut |step| step.apply(op, &mut here));
    });
}

fn meet(one: &ParentFacts, other: &ParentFacts) -> ParentFacts {
    let members = match (&one.members, &other.members) {
        (Some(one), Some(other)) => Some(one.meet(other)),
        _ => None,
    };
    ParentFacts { orders: one.orders.meet(&other.orders), members }
}

/// The locals that are compared with some locals or copied to or from them, directly or through others.
fn relevant_locals(code: &ir::Template, mut found: BTreeSet<LocalId>) -> BTreeSet<LocalId> {
    let mut linked: Vec<BTreeSet<LocalId>> = Vec::new();
    let mut compared = |expr: &Expr| {
        expr.walk(&mut |inner| {
            if let Expr::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Eq | BinaryOp::Ne, ..) = inner {
                linked.push(locals_of(inner));
            }
        });
    };
    let mut copied = Vec::new();
    for op in code.edges.iter().flat_map(|edge| &edge.ops) {
        op.expressions().into_iter().for_each(&mut compared);
        if let Op::Assign(Assignment { pairs, .. }) = op {
            for (lhs, rhs) in pairs {
                if let (Lhs::Local(local), Rhs::Value(value)) = (lhs, rhs) {
                    let mut locals = locals_of(value);
                    locals.insert(*local);
                    copied.push(locals);
                }
            }
        }
    }
    linked.extend(copied);
    loop {
        let before = found.len();
        for locals in &linked {
            if locals.iter().any(|local| found.contains(local)) {
                found.extend(locals);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn locals_of(expr: &Expr) -> BTreeSet<LocalId> {
    let mut found = BTreeSet::new();
    expr.walk(&mut |inner| {
        if let Expr::Local(local) = inner {
            found.insert(*local);
        }
    });
    found
}
