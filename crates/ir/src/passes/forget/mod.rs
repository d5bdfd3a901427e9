//! Drops most variables of a program: an over-approximation that is small enough to prove something about one
//! of them.
//!
//! A forgotten variable has any value whenever it is read, and is never written. Values that depend on it may
//! be anything; a procedure that touches no kept variable is not called, and its result is arbitrary. So
//! every execution of the program is also an execution of the result, with the same accesses to kept
//! variables: a proof about the result holds for the program. A violation found in the result counts for
//! nothing. If a kept variable is accessed through a forgotten pointer, the pass gives no result (`lost.rs`).
//!
//! [`Forgetting::candidates`] proposes what to keep: the variable, and those that conditions around its
//! accesses read.

mod lost;

use super::footprint::accesses;
use super::{PointsTo, remove_dead_code, resolve_calls};
use crate::expr::{Expr, Place, Targets};
use crate::ids::{EdgeId, IdVec, LocalId, LocationId, ObjectId, TemplateId};
use crate::op::{Assignment, Callee, Lhs, Op, Rhs};
use crate::program::ObjectRole;
use crate::program::{LocationKind, Program, Range, Storage, Template};
use crate::types::Layout;
use lost::Lost;
use std::collections::BTreeSet;

/// A program, prepared for forgetting. Calls through pointers are branches.
pub struct Forgetting {
    program: Program,
    points_to: PointsTo,
    /// What each procedure and its callees touch.
    touched: IdVec<TemplateId, BTreeSet<ObjectId>>,
}

/// How an access relates to the kept objects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Kept,
    Forgotten,
    Mixed,
}

impl Forgetting {
    /// Prepares a lowered program.
    pub fn of(program: &Program) -> Self {
        let program = resolve_calls(program);
        let points_to = PointsTo::of(&program);
        let mut touched: IdVec<TemplateId, BTreeSet<ObjectId>> =
            program.templates.iter().map(|_| BTreeSet::new()).collect();
        let mut calls: Vec<(TemplateId, TemplateId)> = Vec::new();
        for (id, template) in program.templates.enumerate() {
            for op in template.edges.iter().flat_map(|edge| &edge.ops) {
                for access in accesses(&points_to, id, op) {
                    touched[id].extend(objects(&program, &access.region.targets));
                }
                match op {
                    Op::Lock(_, address) | Op::Unlock(_, address) => match address {
                        Expr::Address(object, _) => {
                            touched[id].insert(*object);
                        }
                        _ => touched[id].extend(program.objects.ids()),
                    },
                    Op::Call(Callee::Procedure(callee), ..) => calls.push((id, *callee)),
                    _ => {}
                }
            }
        }
        loop {
            let mut grew = false;
            for (caller, callee) in &calls {
                let theirs = touched[*callee].clone();
                let before = touched[*caller].len();
                touched[*caller].extend(theirs);
                grew |= touched[*caller].len() > before;
            }
            if !grew {
                break;
            }
        }
        Self { program, points_to, touched }
    }

    /// The name of an object.
    pub fn name(&self, object: ObjectId) -> &str {
        &self.program.objects[object].name
    }
    /// What to try to keep for an object, smaller sets first.
    pub fn candidates(&self, object: ObjectId) -> Vec<BTreeSet<ObjectId>> {
        let mut kept: BTreeSet<ObjectId> = [object].into();
        let mut found = vec![kept.clone()];
        for _ in 0..2 {
            let more = kept.iter().flat_map(|object| self.guards(*object)).chain(self.pointers(&kept));
            let more: BTreeSet<ObjectId> = more.collect();
            let before = kept.len();
            kept.extend(more);
            if kept.len() == before {
                break;
            }
            found.push(kept.clone());
        }
        found
    }

    /// The scalar variables that may hold addresses of some objects.
    fn pointers(&self, kept: &BTreeSet<ObjectId>) -> Vec<ObjectId> {
        let pointer = self.program.data_model.pointer();
        let holds = |object: &ObjectId| {
            let value = Expr::load(Place::cell(*object, 0, pointer));
            // Flow-insensitive: the content of a variable does not depend on the location.
            let targets = self.points_to.targets(TemplateId(0), &value);
            self.is_scalar(*object) && objects(&self.program, &targets).iter().any(|one| kept.contains(one))
        };
        self.program.objects.ids().filter(holds).collect()
    }

    /// The scalar variables that decide, in their procedure or in one that leads there, whether an access to
    /// an object is made.
    fn guards(&self, object: ObjectId) -> BTreeSet<ObjectId> {
        let mut found = BTreeSet::new();
        for (id, template) in self.program.templates.enumerate() {
            if !self.touched[id].contains(&object) {
                continue;
            }
            let touches = |op: &Op| match op {
                Op::Call(Callee::Procedure(callee), ..) => self.touched[*callee].contains(&object),
                op => {
                    let mut all = accesses(&self.points_to, id, op).into_iter();
                    all.any(|access| objects(&self.program, &access.region.targets).contains(&object))
                }
            };
            let goals: Vec<LocationId> = template
                .edges
                .iter()
                .filter(|edge| edge.ops.iter().any(touches))
                .map(|edge| edge.source)
                .collect();
            let reach = reaching(template, &goals);
            let outgoing = template.outgoing();
            for (location, edges) in outgoing.enumerate() {
                // A branch one of whose edges does not lead to an access.
                if !reach[location] || edges.iter().all(|edge| reach[template.edges[*edge].target]) {
                    continue;
                }
                for edge in edges {
                    for op in &template.edges[*edge].ops {
                        if let Op::Assume(condition) = op {
                            self.sources(template, condition, &mut found);
                        }
                    }
                }
            }
        }
        found
    }

    /// The scalar variables that an expression depends on, through locals.
    fn sources(&self, template: &Template, expr: &Expr, found: &mut BTreeSet<ObjectId>) {
        let mut locals = BTreeSet::new();
        let mut queue: Vec<Expr> = vec![expr.clone()];
        while let Some(expr) = queue.pop() {
            let mut new = Vec::new();
            expr.walk(&mut |inner| match inner {
                Expr::Local(local) if locals.insert(*local) => new.push(*local),
                Expr::Load(place) => {
                    if let Expr::Address(object, _) = place.address
                        && self.is_scalar(object)
                    {
                        found.insert(object);
                    }
                }
                _ => {}
            });
            for edge in &template.edges {
                for op in &edge.ops {
                    let Op::Assign(assignment) = op else { continue };
                    for (lhs, rhs) in &assignment.pairs {
                        if let (Lhs::Local(local), Rhs::Value(value)) = (lhs, rhs)
                            && new.contains(local)
                        {
                            queue.push(value.clone());
                        }
                    }
                }
            }
        }
    }

    fn is_scalar(&self, object: ObjectId) -> bool {
        let object = &self.program.objects[object];
        object.storage == Storage::Static && matches!(object.layout, Layout::Scalar(_))
    }

    /// The program with only these objects; `None` when some access may be to a kept object or to another
    /// one.
    pub fn keep(&self, kept: &BTreeSet<ObjectId>, range: Range) -> Option<Program> {
        let mut keeper = Keeper { forgetting: self, kept, lost: Lost::default() };
        keeper.lost = Lost::of(&keeper);
        let mut result = Program { races_on: Some(vec![range]), ..self.program.clone() };
        for id in self.program.templates.ids() {
            keeper.template(id, &mut result.templates[id])?;
        }
        Some(remove_dead_code(&result))
    }
}

/// The locations from which some others can be reached.
fn reaching(template: &Template, goals: &[LocationId]) -> IdVec<LocationId, bool> {
    let mut reach: IdVec<LocationId, bool> = template.locations.iter().map(|_| false).collect();
    let mut queue = goals.to_vec();
    let mut incoming: IdVec<LocationId, Vec<LocationId>> =
        template.locations.iter().map(|_| Vec::new()).collect();
    for edge in &template.edges {
        incoming[edge.target].push(edge.source);
    }
    while let Some(location) = queue.pop() {
        if !std::mem::replace(&mut reach[location], true) {
            queue.extend(&incoming[location]);
        }
    }
    reach
}

fn objects(program: &Program, targets: &Targets) -> Vec<ObjectId> {
    match targets {
        Targets::Of(targets) => targets.iter().map(|target| target.object).collect(),
        Targets::Any => program.objects.ids().collect(),
    }
}

struct Keeper<'a> {
    forgetting: &'a Forgetting,
    kept: &'a BTreeSet<ObjectId>,
    lost: Lost,
}

impl Keeper<'_> {
    fn is_kept(&self, object: ObjectId) -> bool {
        let role = self.forgetting.program.objects[object].role;
        self.kept.contains(&object) || matches!(role, ObjectRole::Processor | ObjectRole::HandlerLevel)
    }
    /// Whether a call changes only forgotten variables. It may acquire the lock of the processor if it
    /// releases it: waiting for a while has no effect.
    fn makes_no_difference(&self, callee: TemplateId) -> bool {
        let code = &self.forgetting.program.templates[callee];
        let atomic = code.locations[code.entry].atomic;
        let mut ends = code.locations.iter().filter(|location| location.kind == LocationKind::End);
        let touched = &self.forgetting.touched[callee];
        ends.all(|end| end.atomic == atomic) && touched.iter().all(|object| !self.kept.contains(object))
    }
    fn place(&self, template: TemplateId, place: &Place) -> Where {
        self.address(template, &place.address)
    }
    /// The objects that an address may be in.
    fn objects_at(&self, template: TemplateId, address: &Expr) -> Vec<ObjectId> {
        match address {
            Expr::Address(object, _) => vec![*object],
            _ => objects(&self.forgetting.program, &self.forgetting.points_to.targets(template, address)),
        }
    }
    fn address(&self, template: TemplateId, address: &Expr) -> Where {
        let objects = self.objects_at(template, address);
        match (objects.iter().any(|id| self.is_kept(*id)), objects.iter().all(|id| self.is_kept(*id))) {
            (_, true) if !objects.is_empty() => Where::Kept,
            (false, _) => Where::Forgotten,
            _ => Where::Mixed,
        }
    }

    fn template(&self, id: TemplateId, template: &mut Template) -> Option<()> {
        for edge in template.edges.ids().collect::<Vec<EdgeId>>() {
            let mut ops = Vec::new();
            let mut open = Vec::new();
            for op in std::mem::take(&mut template.edges[edge].ops) {
                ops.extend(self.op(id, template, op, &mut open)?);
            }
            // Open values are chosen on an earlier edge: a value that is chosen on the same edge would not
            // count for races.
            if !open.is_empty() {
                let (source, span) = (template.edges[edge].source, template.edges[edge].span);
                let location = template.locations[source];
                let between = template.location(LocationKind::Normal, location.atomic);
                let pairs = open.into_iter().map(|local| (Lhs::Local(local), Rhs::Any)).collect();
                let chosen = Op::Assign(Assignment { pairs, constraint: None });
                template.edge(source, between, vec![chosen], span);
                template.edges[edge].source = between;
            }
            template.edges[edge].ops = ops;
        }
        Some(())
    }

    /// The remaining part of an operation. Puts locals that must get an arbitrary value before it into
    /// `open`.
    fn op(
        &self,
        id: TemplateId,
        template: &mut Template,
        mut op: Op,
        open: &mut Vec<LocalId>,
    ) -> Option<Option<Op>> {
        if self.lost.is_used(self, id, &op) {
            return None;
        }
        // A value that is arbitrary as a whole needs no choice.
        match &mut op {
            Op::Assume(condition) => {
                let (kept, forgotten) = self.loads(id, condition)?;
                if forgotten && !kept {
                    return Some(None);
                }
            }
            Op::Assign(assignment) => {
                if assignment.constraint.is_some() {
                    let constraint = assignment.constraint.take()?;
                    let (_, forgotten) = self.loads(id, &constraint)?;
                    let mut free = forgotten;
                    for (lhs, _) in &assignment.pairs {
                        if let Lhs::Memory(place) = lhs {
                            free |= self.place(id, place) != Where::Kept;
                        }
                    }
                    // Dropping the constraint of an assignment only adds behaviour.
                    assignment.constraint = (!free).then_some(constraint);
                }
                for (_, rhs) in &mut assignment.pairs {
                    if let Rhs::Value(value) = rhs {
                        let (kept, forgotten) = self.loads(id, value)?;
                        if forgotten && !kept {
                            *rhs = Rhs::Any;
                        }
                    }
                }
                let mut pairs = Vec::new();
                for (lhs, rhs) in std::mem::take(&mut assignment.pairs) {
                    match &lhs {
                        Lhs::Local(_) => pairs.push((lhs, rhs)),
                        Lhs::Memory(place) => match self.place(id, place) {
                            Where::Kept => pairs.push((lhs, rhs)),
                            Where::Forgotten => {
                                let mut reads = false;
                                if let Rhs::Value(value) = &rhs {
                                    reads |= self.loads(id, value)?.0;
                                }
                                reads |= self.loads(id, &place.address)?.0;
                                if reads {
                                    let local = template.local("%forgotten", place.ty, template.span);
                                    pairs.push((Lhs::Local(local), rhs));
                                }
                            }
                            Where::Mixed => return None,
                        },
                    }
                }
                assignment.pairs = pairs;
                if assignment.pairs.is_empty() && assignment.constraint.is_none() {
                    return Some(None);
                }
            }
            Op::Lock(_, address) | Op::Unlock(_, address) => {
                return match self.address(id, address) {
                    Where::Kept => Some(Some(op)),
                    Where::Forgotten => Some(None),
                    Where::Mixed => None,
                };
            }
            Op::Call(Callee::Procedure(callee), _, lhs) => {
                if self.makes_no_difference(*callee) {
                    return Some(lhs.clone().map(Op::any));
                }
            }
            Op::Fill(to, ..) => match self.address(id, to) {
                Where::Kept => {}
                Where::Forgotten => return Some(None),
                Where::Mixed => return None,
            },
            Op::Copy(to, from, _) => match (self.address(id, to), self.address(id, from)) {
                (Where::Kept, Where::Kept) => {}
                (Where::Forgotten, Where::Forgotten) => return Some(None),
                _ => return None,
            },
            Op::Allocate { result, .. } => return Some(Some(Op::any(result.clone()))),
            Op::Free(_) => return Some(None),
            Op::Spawn(..) | Op::Join(..) | Op::Broadcast(_) | Op::Call(Callee::Pointer(_), ..) => {
                return None;
            }
        }
        for expr in op.expressions_mut() {
            self.replace_loads(id, template, expr, open)?;
        }
        Some(Some(op))
    }

    /// Replaces reads of forgotten variables by arbitrary locals.
    fn replace_loads(
        &self,
        id: TemplateId,
        template: &mut Template,
        expr: &mut Expr,
        open: &mut Vec<LocalId>,
    ) -> Option<()> {
        if let Expr::Load(place) = expr {
            match self.place(id, place) {
                Where::Kept => {}
                Where::Mixed => return None,
                Where::Forgotten => {
                    // A read of a kept variable within the address must not get lost.
                    if self.loads(id, &place.address)?.0 {
                        return None;
                    }
                    let local = template.local("%any", place.ty, template.span);
                    open.push(local);
                    *expr = Expr::Local(local);
                    return Some(());
                }
            }
        }
        for operand in expr.operands_mut() {
            self.replace_loads(id, template, operand, open)?;
        }
        Some(())
    }

    /// Whether an expression reads kept variables, and forgotten ones; `None` when that is not known.
    fn loads(&self, id: TemplateId, expr: &Expr) -> Option<(bool, bool)> {
        let (mut kept, mut forgotten, mut mixed) = (false, false, false);
        expr.walk(&mut |inner| {
            if let Expr::Load(place) = inner {
                match self.place(id, place) {
                    Where::Kept => kept = true,
                    Where::Forgotten => forgotten = true,
                    Where::Mixed => mixed = true,
                }
            }
        });
        (!mixed).then_some((kept, forgotten))
    }
}
