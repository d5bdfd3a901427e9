//! Which accesses of two threads may be a race.
//!
//! Over-approximates [`ir::semantics::Machine::race`]: an access of a step counts at the step's source, if
//! the operations before it on its edge can happen. Two accesses may race if one writes, not both are atomic,
//! the points-to sets allow a common object that more than one thread reaches, and their addresses let the
//! bytes overlap. If both name an object of the running thread, these are different objects.

use crate::follow::Follower;
use crate::groups::Member;
use ir::passes::PointsTo;
use ir::passes::footprint::{self, Extent, Region};
use ir::{EdgeId, Expr, IdVec, LocationId, ObjectId, Op, Program, Storage, Targets, TemplateId};
use smt::{Sort, Term, Variable};

/// An access that a step may make.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    /// The thread's template.
    pub template: TemplateId,
    /// The edge.
    pub edge: EdgeId,
    /// The thread's location before it.
    pub source: LocationId,
    /// The condition under which the step gets this far: over the variables before the step, and the inputs.
    pub condition: Term,
    /// Its address; `None` when not known.
    pub address: Option<Term>,
    /// Values that may be anything.
    pub inputs: Vec<Variable>,
    /// The bytes that it may touch and others may see.
    region: Region,
    write: bool,
    atomic: bool,
    /// Whether it names an object of the running thread.
    own: bool,
}

/// The context for finding accesses.
pub(crate) struct Visibility<'a> {
    pub points_to: &'a PointsTo,
    pub escapes: &'a IdVec<ObjectId, bool>,
}

/// The accesses of an edge that others may see. The follower is at its start.
pub(crate) fn accesses(
    program: &Program,
    visibility: &Visibility<'_>,
    mut follower: Follower<'_, '_, '_>,
) -> Vec<Access> {
    let (template, edge) = (follower.template, follower.edge);
    let code = &program.templates[template];
    let what = &code.edges[edge];
    let mut found = Vec::new();
    for op in &what.ops {
        // In a constraint, some values are those after the assignment: then only constant addresses are
        // known.
        let several_states = matches!(op, Op::Assign(assignment) if assignment.constraint.is_some());
        for access in footprint::accesses(visibility.points_to, template, op) {
            let counted = access.region.where_races_count(program);
            let Some(region) = visible(&counted, visibility.escapes) else { continue };
            let constant = matches!(access.address, Expr::Address(..));
            let before = follower.guard.clone();
            let address = (constant || !several_states).then(|| follower.value(access.address));
            // Without an address there is no access.
            let condition = Term::all(std::mem::replace(&mut follower.guard, before));
            let own = matches!(access.address, Expr::Address(object, _)
                if matches!(program.objects[*object].storage, Storage::Frame(_) | Storage::ThreadLocal));
            found.push(Access {
                template,
                edge,
                source: what.source,
                condition,
                address,
                inputs: follower.inputs.clone(),
                region,
                write: access.write,
                atomic: access.atomic || code.locations[what.source].atomic,
                own,
            });
        }
        follower.op(op);
    }
    found.retain(|access| !access.condition.is_false());
    found
}

/// The part of a region that others may see.
fn visible(region: &Region, escapes: &IdVec<ObjectId, bool>) -> Option<Region> {
    let Targets::Of(targets) = &region.targets else { return Some(region.clone()) };
    let seen: Vec<_> = targets.iter().filter(|target| escapes[target.object]).copied().collect();
    (!seen.is_empty()).then(|| Region { targets: Targets::Of(seen.into()), extent: region.extent })
}

impl Access {
    /// The condition under which two accesses of different threads may race: over the variables of both.
    pub fn race(
        &self,
        mine: Member,
        other: &Access,
        theirs: Member,
        is_shared: &dyn Fn(&Variable) -> bool,
    ) -> Term {
        self.race_between(other, &|term| mine.term(term, is_shared), &|term| theirs.term(term, is_shared))
    }

    /// The same, with the names that the variables of the two have.
    pub fn race_between(
        &self,
        other: &Access,
        mine: &dyn Fn(&Term) -> Term,
        theirs: &dyn Fn(&Term) -> Term,
    ) -> Term {
        let harmless =
            !(self.write || other.write) || (self.atomic && other.atomic) || (self.own && other.own);
        if harmless || !self.region.overlaps(&other.region) {
            return Term::bool(false);
        }
        let both = mine(&self.condition).and(&theirs(&other.condition));
        let (Some(here), Some(there)) = (&self.address, &other.address) else { return both };
        let (here, there) = (mine(here), theirs(there));
        both.and(&self.reaches(&here, &there)).and(&other.reaches(&there, &here))
    }

    /// The condition that an access that starts at one address reaches another.
    fn reaches(&self, start: &Term, address: &Term) -> Term {
        match (self.region.extent, start.sort()) {
            (Extent::Bytes(bytes), Sort::Int) => {
                address.less_than(&start.plus(&Term::int(i128::from(bytes))))
            }
            _ => Term::bool(true),
        }
    }
}
