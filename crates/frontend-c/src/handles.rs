//! The time at which the id of a new thread is stored: POSIX does not guarantee that this happens before the
//! thread runs.
//!
//! A start is lowered as one step that also stores the id. If another thread may see the target of the store,
//! this pass makes the store a separate step, so that it may come late, and may race. Otherwise one step is
//! equivalent, and gives engines more information.
//!
//! Direction: exact. Visibility is over-approximated: a place may be seen if code that a started thread may
//! run names its object, or its address escapes; and points-to sets do not exclude that such code touches it.

use crate::library::runs_destructors;
use ir::ids::Id;
use ir::passes::PointsTo;
use ir::passes::footprint::{Extent, Region, accesses};
use ir::{Callee, Expr, Initial, Lhs, Op, Place, Program, Storage, Template, TemplateId};
use std::collections::BTreeSet;

/// Makes the store of an id a separate step wherever another thread may see it.
pub fn split(program: &mut Program) {
    let seen = SharedWithThreads::of(program);
    let pointer = program.data_model.pointer();
    let mut reached: Option<Reached> = None;
    for template in 0..program.templates.len() {
        let template = TemplateId::new(template);
        let storage = |object| program.objects[object].storage;
        let mut late = Vec::new();
        for (id, edge) in program.templates[template].edges.enumerate() {
            if let [Op::Spawn(_, _, Some(Lhs::Memory(place)))] = edge.ops.as_slice()
                && seen.sees(&place.address, storage)
                && reached.get_or_insert_with(|| Reached::of(program)).has(program, template, place)
            {
                late.push(id);
            }
        }
        let code = &mut program.templates[template];
        for edge in late {
            let (target, span) = (code.edges[edge].target, code.edges[edge].span);
            let atomic = code.locations[code.edges[edge].source].atomic && code.locations[target].atomic;
            let between = code.location(ir::LocationKind::Normal, atomic);
            let id = code.local("%id", pointer, span);
            let Some(Op::Spawn(_, _, result)) = code.edges[edge].ops.first_mut() else { continue };
            let Some(place) = result.replace(Lhs::Local(id)) else { continue };
            code.edges[edge].target = between;
            code.edge(between, target, vec![Op::set(place, Expr::Local(id))], span);
        }
    }
}

/// The memory that code of started threads may touch, by points-to sets.
struct Reached {
    points_to: PointsTo,
    regions: Vec<Region>,
}

impl Reached {
    fn of(program: &Program) -> Self {
        let points_to = PointsTo::of(program);
        let mut regions = Vec::new();
        for id in run_by_threads(program).into_iter().map(TemplateId::new) {
            for op in ops(&program.templates[id]) {
                regions.extend(accesses(&points_to, id, op).into_iter().map(|access| access.region));
                if let Op::Lock(_, address) | Op::Unlock(_, address) = op {
                    regions.push(Region::at(&points_to, id, address, Extent::Object));
                }
            }
        }
        Self { points_to, regions }
    }
    /// Whether a place that a template names may be touched.
    fn has(&self, program: &Program, template: TemplateId, place: &Place) -> bool {
        let bytes = Extent::Bytes(program.data_model.pointer().bytes());
        let region = Region::at(&self.points_to, template, &place.address, bytes);
        self.regions.iter().any(|reached| reached.overlaps(&region))
    }
}

/// What other threads may see.
pub struct SharedWithThreads {
    /// The static objects that code of started threads names, and all objects whose address escapes.
    objects: BTreeSet<usize>,
    /// Whether code of started threads reads or writes through an unknown pointer.
    through_pointers: bool,
}

impl SharedWithThreads {
    /// What the threads of a program may see.
    pub fn of(program: &Program) -> Self {
        let run = run_by_threads(program);
        let mut seen = Self { objects: BTreeSet::new(), through_pointers: false };
        for (id, code) in program.templates.enumerate() {
            let is_run = run.contains(&id.index());
            for op in ops(code) {
                // Copies and fills access their operands.
                let accessed = match op {
                    Op::Copy(..) => 2,
                    Op::Fill(..) => 1,
                    _ => 0,
                };
                // The addresses of left-hand sides come last.
                let places = op.targets().iter().filter(|lhs| matches!(lhs, Lhs::Memory(_))).count();
                let expressions = op.expressions();
                let values = expressions.len() - places;
                for (index, expr) in expressions.into_iter().enumerate() {
                    seen.expression(program, expr, is_run, index < accessed || index >= values);
                }
            }
        }
        for object in &program.objects {
            if let Initial::Values(values) = &object.initial {
                values.iter().for_each(|(_, _, value)| seen.expression(program, value, false, false));
            }
        }
        seen
    }
    /// Visits an expression; `is_place` if it is the address of an access.
    fn expression(&mut self, program: &Program, expr: &Expr, is_run: bool, is_place: bool) {
        match expr {
            Expr::Address(object, _) => {
                let is_own = program.objects[*object].storage != Storage::Static;
                if !is_place || is_run && !is_own {
                    self.objects.insert(object.index());
                }
            }
            Expr::Load(place) => {
                self.through_pointers |= is_place && is_run;
                self.expression(program, &place.address, is_run, true);
            }
            // The first operand is the pointer.
            Expr::Binary(_, _, pair) if is_place => {
                self.expression(program, &pair.0, is_run, true);
                self.expression(program, &pair.1, is_run, false);
            }
            Expr::Cast(_, inner) if is_place => self.expression(program, inner, is_run, true),
            other => {
                self.through_pointers |= is_place && is_run;
                for operand in other.operands() {
                    self.expression(program, operand, is_run, false);
                }
            }
        }
    }
    /// Whether other threads than the current one may see the memory at an address.
    pub fn sees(&self, address: &Expr, storage: impl Fn(ir::ObjectId) -> Storage) -> bool {
        match root(address) {
            Some(object) => match storage(object) {
                Storage::Static | Storage::Frame(_) => self.objects.contains(&object.index()),
                Storage::ThreadLocal | Storage::Site => true,
            },
            // It may point to what they name.
            None => self.through_pointers || !self.objects.is_empty(),
        }
    }
}

/// The object that an address is computed from.
fn root(address: &Expr) -> Option<ir::ObjectId> {
    match address {
        Expr::Address(object, _) => Some(*object),
        Expr::Binary(_, _, pair) => root(&pair.0),
        Expr::Cast(_, inner) => root(inner),
        _ => None,
    }
}

fn ops(code: &Template) -> impl Iterator<Item = &Op> {
    code.edges.iter().flat_map(|edge| &edge.ops)
}

/// The procedures that a started thread may run.
pub fn run_by_threads(program: &Program) -> BTreeSet<usize> {
    let mut named = BTreeSet::new();
    let mut name = |expr: &Expr| {
        expr.walk(&mut |inner| {
            if let Expr::Procedure(id) = inner {
                named.insert(id.index());
            }
        });
    };
    program.templates.iter().flat_map(ops).flat_map(Op::expressions).for_each(&mut name);
    for object in &program.objects {
        if let Initial::Values(values) = &object.initial {
            values.iter().for_each(|(_, _, value)| name(value));
        }
    }
    let reached = |callee: &Callee| match callee {
        Callee::Procedure(id) => BTreeSet::from([id.index()]),
        Callee::Pointer(_) => named.clone(),
    };
    let mut found = BTreeSet::new();
    let mut work: Vec<usize> = Vec::new();
    for op in program.templates.iter().flat_map(ops) {
        if let Op::Spawn(callee, ..) = op {
            work.extend(reached(callee));
        }
    }
    // Destructors of thread-specific values are called through pointers.
    if !work.is_empty() && runs_destructors(program) {
        work.extend(&named);
    }
    while let Some(id) = work.pop() {
        if !found.insert(id) {
            continue;
        }
        for op in ops(&program.templates[TemplateId::new(id)]) {
            if let Op::Call(callee, ..) = op {
                work.extend(reached(callee));
            }
        }
    }
    found
}
