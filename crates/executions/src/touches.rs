//! The memory that the edges at a location touch, computed from the code alone.
//!
//! Where there is no points-to information, a pointer is taken to stay in the object that its address starts
//! from, or to point to something whose address is taken (see [`crate::footprint`] for why a guess is
//! enough).

use ir::ids::Id;
use ir::{
    Callee, EdgeId, Expr, IdVec, Initial, Layout, Lhs, LocationId, LocationKind, ObjectId, Op, Place,
    Program, Storage, Targets, Template, TemplateId,
};

/// One object that a step may touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touch {
    /// Which.
    pub object: ObjectId,
    /// Whether it may be changed.
    pub write: bool,
    /// Whether it is the running thread's own instance, named directly.
    pub own: bool,
    /// Whether the access counts in races, and is not atomic by itself.
    pub plain: bool,
    /// Whether the access counts in races at all (making an object does not).
    pub data: bool,
    /// If a lock is taken that is named directly: its offset in the object.
    pub takes: Option<u64>,
}

/// What the edges of one location touch.
#[derive(Clone, Default, Debug)]
pub struct Next {
    /// Objects that are named directly.
    pub fixed: Vec<Touch>,
    /// Objects that computed addresses may lead to.
    pub computed: Vec<Touch>,
    /// Never private: enters an atomic region or ends the program.
    pub never: bool,
    /// Starts a thread.
    pub spawns: bool,
    /// Asks whether objects are live.
    pub asks_liveness: bool,
    /// Makes or ends objects.
    pub changes_liveness: bool,
    /// Addresses of locks, memory to free, and validity that are computed.
    pub hidden: Vec<Hidden>,
    /// Returns or ends the thread, and objects end with that.
    pub pops: bool,
    /// Ends the thread from any depth.
    pub exits: bool,
    /// Touches nothing at all that another thread could see.
    pub local: bool,
    /// At most one of the edges can be taken, no value is open, and one that cannot be taken changes nothing.
    pub determined: bool,
}

/// An address that a step uses without an access in the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hidden {
    /// A lock or unlock.
    Lock(Expr),
    /// A question whether an object is live.
    Valid(Expr),
}

/// What is known about all code together.
pub struct Code<'p> {
    /// The program.
    pub program: &'p Program,
    /// Objects that a pointer may point to.
    taken: Vec<ObjectId>,
    sites: Vec<ObjectId>,
    syncs: Vec<ObjectId>,
    procedures: Vec<TemplateId>,
    /// The frame objects of each template.
    pub frame_objects: IdVec<TemplateId, Vec<ObjectId>>,
    has_thread_locals: bool,
}

impl<'p> Code<'p> {
    /// Looks at a program.
    pub fn new(program: &'p Program) -> Self {
        let mut taken = vec![false; program.objects.len()];
        let mut procedures = vec![false; program.templates.len()];
        let mut value = |expr: &Expr| {
            expr.walk(&mut |inner| match inner {
                Expr::Address(object, _) => taken[object.index()] = true,
                Expr::Procedure(template) => procedures[template.index()] = true,
                // Loads are looked into below, where their addresses are no values.
                _ => {}
            });
        };
        for object in &program.objects {
            if let Initial::Values(values) = &object.initial {
                values.iter().for_each(|(_, _, expr)| value(expr));
            }
        }
        for op in program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
            for expr in value_positions(op) {
                escaping(expr, &mut value);
            }
        }
        let mut frame_objects: IdVec<TemplateId, Vec<ObjectId>> =
            program.templates.iter().map(|_| Vec::new()).collect();
        for (id, object) in program.objects.enumerate() {
            if let Storage::Frame(template) = object.storage {
                frame_objects[template].push(id);
            }
        }
        let which = |test: &dyn Fn(ObjectId) -> bool| program.objects.ids().filter(|id| test(*id)).collect();
        let is_site = |id: ObjectId| program.objects[id].storage == Storage::Site;
        Self {
            program,
            taken: which(&|id| taken[id.index()] || is_site(id)),
            sites: which(&is_site),
            syncs: which(&|id| {
                (taken[id.index()] || is_site(id)) && may_hold_lock(&program.objects[id].layout)
            }),
            procedures: program.templates.ids().filter(|id| procedures[id.index()]).collect(),
            frame_objects,
            has_thread_locals: program.objects.iter().any(|object| object.storage == Storage::ThreadLocal),
        }
    }

    /// The procedures that may be called or started.
    pub fn callees(&self, callee: &Callee) -> Vec<TemplateId> {
        match callee {
            Callee::Procedure(template) => vec![*template],
            Callee::Pointer(_) => self.procedures.clone(),
        }
    }

    /// What the edges at each location of a template touch.
    pub fn locations(&self, template: TemplateId) -> IdVec<LocationId, Next> {
        let code = &self.program.templates[template];
        let mut all: IdVec<LocationId, Next> =
            code.locations.iter().map(|_| Next { local: true, ..Next::default() }).collect();
        for (id, _) in code.edges.enumerate() {
            self.edge(template, id, &mut all[code.edges[id].source]);
        }
        for (location, edges) in code.outgoing().enumerate() {
            all[location].determined = all[location].local && is_determined(code, edges);
        }
        all
    }

    fn edge(&self, template: TemplateId, edge: EdgeId, next: &mut Next) {
        let code = &self.program.templates[template];
        let step = &code.edges[edge];
        let target = &code.locations[step.target];
        next.never |= target.atomic || target.kind == LocationKind::Halt;
        // A return that ends no objects is nobody else's affair.
        let has_objects = self.has_thread_locals || !self.frame_objects[template].is_empty();
        next.pops |= target.kind == LocationKind::Exit || (target.kind == LocationKind::End && has_objects);
        next.exits |= target.kind == LocationKind::Exit;
        for op in &step.ops {
            for expr in op.expressions() {
                self.reads(expr, next);
            }
            for lhs in op.targets() {
                if let Lhs::Memory(place) = lhs {
                    self.place(place, true, next);
                }
            }
            self.effects(op, next);
        }
        next.local = next.fixed.is_empty()
            && next.computed.is_empty()
            && !(next.never || next.spawns || next.asks_liveness || next.changes_liveness || next.pops)
            && next.hidden.is_empty();
    }

    fn effects(&self, op: &Op, next: &mut Next) {
        match op {
            Op::Assume(_) | Op::Assign(_) | Op::Join(..) => {}
            Op::Lock(_, address) | Op::Unlock(_, address) => match (address, root(address)) {
                (Expr::Address(object, offset), _) => {
                    let takes = matches!(op, Op::Lock(..)).then_some(*offset);
                    let own = self.is_own(*object);
                    let touch = Touch { object: *object, write: true, own, plain: false, data: true, takes };
                    push(&mut next.fixed, touch);
                }
                (_, root) => {
                    let objects = root.map_or_else(|| self.syncs.clone(), |object| vec![object]);
                    self.computed(&objects, true, false, true, next);
                    next.hidden.push(Hidden::Lock(address.clone()));
                }
            },
            Op::Spawn(callee, ..) => {
                next.spawns = true;
                for template in self.callees(callee) {
                    self.enters(template, next);
                }
            }
            Op::Call(callee, ..) => {
                for template in self.callees(callee) {
                    self.enters(template, next);
                }
            }
            Op::Allocate { site, .. } => {
                self.direct(*site, true, false, false, next);
                next.changes_liveness = true;
                // Others may free what it gives out again.
                next.never |= self.program.reuses_addresses;
            }
            Op::Free(_) => {
                self.computed(&self.sites, true, true, true, next);
                next.changes_liveness = true;
            }
            // Programs with it are refused before.
            Op::Broadcast(_) => {}
            Op::Fill(to, ..) => self.bytes(to, true, next),
            Op::Copy(to, from, _) => {
                self.bytes(to, true, next);
                self.bytes(from, false, next);
            }
        }
    }

    /// A new activation of a template: its frame objects come to life.
    fn enters(&self, template: TemplateId, next: &mut Next) {
        let code = &self.program.templates[template];
        next.never |=
            code.locations[code.entry].atomic || code.locations[code.entry].kind == LocationKind::Halt;
        for &object in &self.frame_objects[template] {
            self.direct(object, true, false, false, next);
            next.changes_liveness = true;
        }
    }

    fn bytes(&self, address: &Expr, write: bool, next: &mut Next) {
        let objects = root(address).map_or_else(|| self.taken.clone(), |object| vec![object]);
        self.computed(&objects, write, true, true, next);
    }

    fn reads(&self, expr: &Expr, next: &mut Next) {
        expr.walk(&mut |inner| match inner {
            Expr::Load(place) => self.place(place, false, next),
            Expr::Valid(address, _) => {
                next.asks_liveness = true;
                next.hidden.push(Hidden::Valid((**address).clone()));
            }
            Expr::Const(..) | Expr::Local(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => {}
            Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Cast(..)
            | Expr::IfThenElse(_)
            | Expr::Overflows(..)
            | Expr::Old(_) => {}
        });
    }

    fn place(&self, place: &Place, write: bool, next: &mut Next) {
        match (place.as_cell(), &place.targets) {
            (Some((object, _)), _) => self.direct(object, write, !place.atomic, true, next),
            (None, Targets::Of(targets)) => {
                let objects: Vec<ObjectId> = targets.iter().map(|target| target.object).collect();
                self.computed(&objects, write, !place.atomic, true, next);
            }
            (None, Targets::Any) => {
                let objects = root(&place.address).map_or_else(|| self.taken.clone(), |object| vec![object]);
                self.computed(&objects, write, !place.atomic, true, next);
            }
        }
    }

    fn direct(&self, object: ObjectId, write: bool, plain: bool, data: bool, next: &mut Next) {
        push(&mut next.fixed, Touch { object, write, own: self.is_own(object), plain, data, takes: None });
    }
    fn is_own(&self, object: ObjectId) -> bool {
        matches!(self.program.objects[object].storage, Storage::Frame(_) | Storage::ThreadLocal)
    }

    fn computed(&self, objects: &[ObjectId], write: bool, plain: bool, data: bool, next: &mut Next) {
        for &object in objects {
            push(&mut next.computed, Touch { object, write, own: false, plain, data, takes: None });
        }
    }
}

/// Whether at most one of the edges can be taken, without open values, and failing to take one changes
/// nothing.
fn is_determined(code: &Template, edges: &[EdgeId]) -> bool {
    let simple = |op: &Op| match op {
        Op::Assume(_) => true,
        Op::Assign(assignment) => {
            assignment.constraint.is_none() && matches!(assignment.pairs.as_slice(), [(_, ir::Rhs::Value(_))])
        }
        Op::Lock(..) | Op::Unlock(..) | Op::Spawn(..) | Op::Join(..) | Op::Allocate { .. } => false,
        Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Call(..) | Op::Broadcast(_) => false,
    };
    let ops = |edge: &EdgeId| code.edges[*edge].ops.as_slice();
    match edges {
        [edge] => ops(edge).len() <= 1 && ops(edge).iter().all(simple),
        [one, other] => match (ops(one), ops(other)) {
            ([Op::Assume(yes)], [Op::Assume(no)]) => *no == yes.clone().not() || *yes == no.clone().not(),
            _ => false,
        },
        _ => false,
    }
}

fn push(touches: &mut Vec<Touch>, touch: Touch) {
    if !touches.contains(&touch) {
        touches.push(touch);
    }
}

/// The object that an address starts from, as C's pointer arithmetic has it. Arithmetic on signed integers is
/// none.
fn root(address: &Expr) -> Option<ObjectId> {
    match address {
        Expr::Address(object, _) => Some(*object),
        Expr::Binary(_, ty, _) if ty.signed => None,
        Expr::Binary(ir::BinaryOp::Add, _, pair) => match (root(&pair.0), root(&pair.1)) {
            (Some(object), None) | (None, Some(object)) => Some(object),
            (Some(_), Some(_)) | (None, None) => None,
        },
        Expr::Binary(ir::BinaryOp::Sub, _, pair) => root(&pair.0),
        Expr::Cast(_, operand) => root(operand),
        _ => None,
    }
}

/// The expressions of an operation whose values go somewhere (not: addresses that are only accessed).
fn value_positions(op: &Op) -> Vec<&Expr> {
    let addresses: Vec<&Expr> = match op {
        Op::Lock(_, address) | Op::Unlock(_, address) | Op::Free(address) => vec![address],
        Op::Fill(to, ..) => vec![to],
        Op::Copy(to, from, _) => vec![to, from],
        Op::Broadcast(_) => vec![],
        Op::Assume(_) | Op::Assign(_) | Op::Spawn(..) | Op::Join(..) | Op::Allocate { .. } | Op::Call(..) => {
            vec![]
        }
    };
    let places = op.targets().into_iter().filter_map(|lhs| match lhs {
        Lhs::Memory(place) => Some(&place.address),
        Lhs::Local(_) => None,
    });
    let places: Vec<&Expr> = places.chain(addresses).collect();
    op.expressions()
        .into_iter()
        .filter(|expr| !places.iter().any(|place| std::ptr::eq(*place, *expr) && root(place).is_some()))
        .collect()
}

/// Calls `value` on the parts of an expression from which addresses may get out.
fn escaping(expr: &Expr, value: &mut dyn FnMut(&Expr)) {
    match expr {
        Expr::Load(place) => {
            if root(&place.address).is_none() {
                escaping(&place.address, value);
            } else {
                indices(&place.address, value);
            }
        }
        Expr::Address(..) | Expr::Procedure(_) => value(expr),
        Expr::Const(..) | Expr::Local(_) | Expr::Myself => {}
        Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::Cast(..)
        | Expr::IfThenElse(_)
        | Expr::Overflows(..)
        | Expr::Valid(..)
        | Expr::Old(_) => {
            for operand in expr.operands() {
                escaping(operand, value);
            }
        }
    }
}

/// The parts of an address with a known root that are not the root: indices may hold loads with addresses in
/// them.
fn indices(address: &Expr, value: &mut dyn FnMut(&Expr)) {
    match address {
        Expr::Address(..) => {}
        Expr::Binary(_, _, pair) => {
            for operand in [&pair.0, &pair.1] {
                if root(operand).is_some() { indices(operand, value) } else { escaping(operand, value) }
            }
        }
        Expr::Cast(_, operand) => indices(operand, value),
        other => escaping(other, value),
    }
}

fn may_hold_lock(layout: &Layout) -> bool {
    match layout {
        Layout::Scalar(_) => false,
        Layout::Array { element, .. } => may_hold_lock(element),
        Layout::Record(fields) => fields.iter().any(|field| may_hold_lock(&field.layout)),
        Layout::Sync(_) | Layout::Bytes(_) => true,
    }
}
