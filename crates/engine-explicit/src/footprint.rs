//! What each step may touch, and what a thread may touch in its whole future from a location on.
//!
//! Over-approximates where points-to information ([`ir::Targets`]) is right. Where there is none, a pointer is taken to stay in
//! the object that its address starts from, or to point to something whose address is taken. As that is a guess,
//! every executed access is compared with what was foreseen ([`Footprints::foresees`]); the reduced search is
//! told when one was not. (If an execution makes an unforeseen access, so does one that the reduced search
//! follows: up to the first such access all commutes as claimed.)

use crate::bits::Bits;
use ir::ids::Id;
use ir::semantics::{Machine, State, ThreadIndex};
use ir::{
    Callee, EdgeId, Expr, IdVec, Initial, Layout, Lhs, LocationId, LocationKind, ObjectId, Op, Place,
    Program, Storage, Targets, Template, TemplateId,
};
use rustc_hash::FxHashMap;

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
    /// Whether the access counts in races at all (operations on locks do not).
    pub data: bool,
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
    /// Returns or ends the thread.
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

/// Set layout: for each object four bits (shared read, shared write, own read, own write), then the flags.
const SHARED_READ: usize = 0;
const SHARED_WRITE: usize = 1;
const OWN_READ: usize = 2;
const OWN_WRITE: usize = 3;

#[derive(Clone, Copy)]
enum Flag {
    Spawns,
    Joins,
    AsksLiveness,
    ChangesLiveness,
}

/// The footprints of a program.
pub struct Footprints {
    next: IdVec<TemplateId, IdVec<LocationId, Next>>,
    /// For each location, the set of its future.
    future: IdVec<TemplateId, IdVec<LocationId, u32>>,
    sets: Vec<Bits>,
    objects: usize,
    frame_objects: IdVec<TemplateId, Vec<ObjectId>>,
    thread_locals: Vec<ObjectId>,
    is_private_storage: IdVec<ObjectId, bool>,
}

/// Past this many bits for all locations together, a template has one set for all of its locations.
const MOST_BITS: usize = 1 << 31;

struct Facts<'p> {
    program: &'p Program,
    taken: Vec<ObjectId>,
    sites: Vec<ObjectId>,
    syncs: Vec<ObjectId>,
    procedures: Vec<TemplateId>,
    frame_objects: IdVec<TemplateId, Vec<ObjectId>>,
}

impl Footprints {
    /// Computes the footprints of a program.
    pub fn new(program: &Program) -> Self {
        let facts = Facts::new(program);
        let objects = program.objects.len();
        let thread_locals: Vec<ObjectId> = program
            .objects
            .enumerate()
            .filter(|(_, o)| o.storage == Storage::ThreadLocal)
            .map(|(id, _)| id)
            .collect();
        let is_private_storage = program
            .objects
            .iter()
            .map(|o| matches!(o.storage, Storage::Frame(_) | Storage::ThreadLocal))
            .collect();
        let next: IdVec<TemplateId, IdVec<LocationId, Next>> =
            program.templates.enumerate().map(|(_, code)| facts.locations(code)).collect();
        let mut this = Self {
            next,
            future: IdVec::new(),
            sets: Vec::new(),
            objects,
            frame_objects: facts.frame_objects.clone(),
            thread_locals,
            is_private_storage,
        };
        this.futures(&facts);
        this
    }

    /// What the edges at a location touch.
    pub fn next(&self, template: TemplateId, location: LocationId) -> &Next {
        &self.next[template][location]
    }

    fn empty(&self) -> Bits {
        Bits::new(self.objects * 4 + 4)
    }
    fn flag(&self, flag: Flag) -> usize {
        self.objects * 4 + flag as usize
    }

    fn add_next(&self, set: &mut Bits, next: &Next) {
        for touch in next.fixed.iter().chain(&next.computed) {
            let bit = match (touch.own, touch.write) {
                (false, false) => SHARED_READ,
                (false, true) => SHARED_WRITE,
                (true, false) => OWN_READ,
                (true, true) => OWN_WRITE,
            };
            set.insert(touch.object.index() * 4 + bit);
        }
        if next.spawns {
            set.insert(self.flag(Flag::Spawns));
        }
        if next.asks_liveness {
            set.insert(self.flag(Flag::AsksLiveness));
        }
        if next.changes_liveness {
            set.insert(self.flag(Flag::ChangesLiveness));
        }
    }

    fn futures(&mut self, facts: &Facts<'_>) {
        let program = facts.program;
        // What an activation does in its whole life, with all that it calls and starts.
        let mut own: Vec<Bits> = Vec::new();
        for (template, code) in program.templates.enumerate() {
            let mut set = self.empty();
            for location in code.locations.ids() {
                self.add_next(&mut set, &self.next[template][location]);
            }
            self.add_frame(&mut set, template);
            if code.edges.iter().flat_map(|edge| &edge.ops).any(|op| matches!(op, Op::Join(..))) {
                set.insert(self.flag(Flag::Joins));
            }
            own.push(set);
        }
        let mut whole = own;
        let mut changed = true;
        while changed {
            changed = false;
            for (template, code) in program.templates.enumerate() {
                let mut set = whole[template.index()].clone();
                for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                    self.add_started(&mut set, op, facts, &whole);
                }
                if set != whole[template.index()] {
                    whole[template.index()] = set;
                    changed = true;
                }
            }
        }
        let locations: usize = program.templates.iter().map(|code| code.locations.len()).sum();
        let coarse = locations.saturating_mul(self.objects * 4 + 4) > MOST_BITS;
        let mut numbers: FxHashMap<Bits, u32> = FxHashMap::default();
        let mut future: IdVec<TemplateId, IdVec<LocationId, u32>> = IdVec::new();
        for (template, code) in program.templates.enumerate() {
            let mut of_location: IdVec<LocationId, u32> = code.locations.iter().map(|_| u32::MAX).collect();
            if coarse {
                let number = self.number(whole[template.index()].clone(), &mut numbers);
                of_location.iter_mut().for_each(|set| *set = number);
            } else {
                let outgoing = code.outgoing();
                for component in components(code, &outgoing) {
                    // Components come after those that they lead to: a target without a set is a member.
                    let mut set = self.empty();
                    self.add_frame(&mut set, template);
                    for &location in &component {
                        self.add_next(&mut set, &self.next[template][location]);
                        for &edge in &outgoing[location] {
                            let step = &code.edges[edge];
                            for op in &step.ops {
                                self.add_started(&mut set, op, facts, &whole);
                                if matches!(op, Op::Join(..)) {
                                    set.insert(self.flag(Flag::Joins));
                                }
                            }
                            if let Some(later) = self.sets.get(of_location[step.target] as usize) {
                                set.union(later);
                            }
                        }
                    }
                    let number = self.number(set, &mut numbers);
                    for location in component {
                        of_location[location] = number;
                    }
                }
            }
            future.push(of_location);
        }
        self.future = future;
    }

    fn number(&mut self, set: Bits, numbers: &mut FxHashMap<Bits, u32>) -> u32 {
        if let Some(number) = numbers.get(&set) {
            return *number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(set.clone());
        numbers.insert(set, number);
        number
    }

    /// An activation's objects end with it, wherever it is.
    fn add_frame(&self, set: &mut Bits, template: TemplateId) {
        let frame = &self.frame_objects[template];
        for object in frame.iter().chain(&self.thread_locals) {
            set.insert(object.index() * 4 + OWN_WRITE);
        }
        if !frame.is_empty() || !self.thread_locals.is_empty() {
            set.insert(self.flag(Flag::ChangesLiveness));
        }
    }

    /// Adds what a called procedure or a started thread may do.
    fn add_started(&self, set: &mut Bits, op: &Op, facts: &Facts<'_>, whole: &[Bits]) {
        match op {
            Op::Call(callee, ..) => {
                for template in facts.callees(callee) {
                    set.union(&whole[template.index()]);
                }
            }
            Op::Spawn(callee, ..) => {
                for template in facts.callees(callee) {
                    // The new thread's own instances are none that exist now.
                    let mut shared = whole[template.index()].clone();
                    for object in 0..self.objects {
                        shared.remove(object * 4 + OWN_READ);
                        shared.remove(object * 4 + OWN_WRITE);
                    }
                    set.union(&shared);
                }
            }
            Op::Assume(_)
            | Op::Assign(_)
            | Op::Lock(..)
            | Op::Unlock(..)
            | Op::Join(..)
            | Op::Allocate { .. } => {}
            Op::Free(_) | Op::Fill(..) | Op::Copy(..) => {}
        }
    }

    /// The sets of a thread's future: one for each activation.
    fn future_of<'a>(&'a self, state: &'a State, thread: ThreadIndex) -> impl Iterator<Item = &'a Bits> {
        let activations = state.threads[thread].activations.iter();
        activations
            .map(|activation| &self.sets[self.future[activation.template][activation.location] as usize])
    }

    /// Whether touching an object may collide with what a thread does later; also with what that thread does to its
    /// own instance of the object, if `own_too`.
    fn collides(&self, future: &Bits, object: ObjectId, write: bool, own_too: bool) -> bool {
        let at = object.index() * 4;
        future.contains(at + SHARED_WRITE)
            || (write && future.contains(at + SHARED_READ))
            || (own_too && (future.contains(at + OWN_WRITE) || (write && future.contains(at + OWN_READ))))
    }

    /// Whether the touches that are known without running collide with what another thread does later.
    pub fn fixed_collides(
        &self,
        state: &State,
        next: &Next,
        template: TemplateId,
        me: ThreadIndex,
        other: ThreadIndex,
    ) -> bool {
        self.future_of(state, other).any(|future| {
            next.fixed.iter().any(|touch| self.collides(future, touch.object, touch.write, !touch.own))
                || (next.spawns
                    && (future.contains(self.flag(Flag::Spawns)) || future.contains(self.flag(Flag::Joins))))
                || (next.changes_liveness && future.contains(self.flag(Flag::AsksLiveness)))
                || (next.pops && self.popped_collides(state, next, template, me, future))
        })
    }

    /// Whether the objects that end with a return collide with what another thread does later.
    fn popped_collides(
        &self,
        state: &State,
        next: &Next,
        template: TemplateId,
        me: ThreadIndex,
        future: &Bits,
    ) -> bool {
        let activations = &state.threads[me].activations;
        let dies = |objects: &[ObjectId]| {
            !objects.is_empty()
                && (future.contains(self.flag(Flag::AsksLiveness))
                    || objects.iter().any(|object| self.collides(future, *object, true, false)))
        };
        dies(&self.frame_objects[template])
            || ((next.exits || activations.len() == 1) && dies(&self.thread_locals))
            || (next.exits
                && activations.iter().any(|activation| dies(&self.frame_objects[activation.template])))
    }

    /// Whether the objects that computed addresses may lead to collide with what another thread does later.
    pub fn computed_collides(&self, state: &State, next: &Next, other: ThreadIndex) -> bool {
        self.future_of(state, other).any(|future| {
            next.computed.iter().any(|touch| self.collides(future, touch.object, touch.write, true))
                || (next.asks_liveness && future.contains(self.flag(Flag::ChangesLiveness)))
        })
    }

    /// Whether touching the bytes at an address collides with what another thread does later.
    pub fn address_collides(
        &self,
        machine: &Machine<'_>,
        state: &State,
        address: u64,
        write: bool,
        other: ThreadIndex,
    ) -> bool {
        let Some((object, _)) = machine.describe(state, address) else { return true };
        let owner = if self.is_private_storage[object] {
            machine.addresses.stack_at(address).map(|(thread, _)| thread)
        } else {
            None
        };
        self.future_of(state, other).any(|future| self.collides(future, object, write, owner == Some(other)))
    }

    /// Whether a thread may change which objects are live.
    pub fn may_change_liveness(&self, state: &State, other: ThreadIndex) -> bool {
        self.future_of(state, other).any(|future| future.contains(self.flag(Flag::ChangesLiveness)))
    }

    /// Whether a step at a location was expected to touch an object.
    pub fn foresees(&self, next: &Next, object: ObjectId, write: bool) -> bool {
        let mut all = next.fixed.iter().chain(&next.computed);
        all.any(|touch| touch.object == object && (touch.write || !write))
    }
}

impl<'p> Facts<'p> {
    fn new(program: &'p Program) -> Self {
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
        }
    }

    fn callees(&self, callee: &Callee) -> Vec<TemplateId> {
        match callee {
            Callee::Procedure(template) => vec![*template],
            Callee::Pointer(_) => self.procedures.clone(),
        }
    }

    fn locations(&self, code: &Template) -> IdVec<LocationId, Next> {
        let mut all: IdVec<LocationId, Next> =
            code.locations.iter().map(|_| Next { local: true, ..Next::default() }).collect();
        for (id, _) in code.edges.enumerate() {
            self.edge(code, id, &mut all[code.edges[id].source]);
        }
        for (location, edges) in code.outgoing().enumerate() {
            all[location].determined = all[location].local && is_determined(code, edges);
        }
        all
    }

    fn edge(&self, code: &Template, edge: EdgeId, next: &mut Next) {
        let step = &code.edges[edge];
        let target = &code.locations[step.target];
        next.never |= target.atomic || target.kind == LocationKind::Halt;
        let ends = matches!(target.kind, LocationKind::End | LocationKind::Exit);
        next.pops |= ends;
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
            Op::Lock(_, address) | Op::Unlock(_, address) => match root(address) {
                Some(object) if matches!(address, Expr::Address(..)) => {
                    self.direct(object, true, false, false, next)
                }
                root => {
                    let objects = root.map_or_else(|| self.syncs.clone(), |object| vec![object]);
                    self.computed(&objects, true, false, false, next);
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
            }
            Op::Free(_) => {
                self.computed(&self.sites, true, true, true, next);
                next.changes_liveness = true;
            }
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
        let own = matches!(self.program.objects[object].storage, Storage::Frame(_) | Storage::ThreadLocal);
        push(&mut next.fixed, Touch { object, write, own, plain, data });
    }

    fn computed(&self, objects: &[ObjectId], write: bool, plain: bool, data: bool, next: &mut Next) {
        for &object in objects {
            push(&mut next.computed, Touch { object, write, own: false, plain, data });
        }
    }
}

/// Whether at most one of the edges can be taken, without open values, and failing to take one changes nothing.
fn is_determined(code: &Template, edges: &[EdgeId]) -> bool {
    let simple = |op: &Op| match op {
        Op::Assume(_) => true,
        Op::Assign(assignment) => {
            assignment.constraint.is_none() && matches!(assignment.pairs.as_slice(), [(_, ir::Rhs::Value(_))])
        }
        Op::Lock(..) | Op::Unlock(..) | Op::Spawn(..) | Op::Join(..) | Op::Allocate { .. } => false,
        Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Call(..) => false,
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

/// The object that an address starts from, as C's pointer arithmetic has it.
fn root(address: &Expr) -> Option<ObjectId> {
    match address {
        Expr::Address(object, _) => Some(*object),
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

/// The parts of an address with a known root that are not the root: indices may hold loads with addresses in them.
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

/// The strongly connected components of a template's graph, targets before sources (Tarjan 1972, without recursion).
fn components(code: &Template, outgoing: &IdVec<LocationId, Vec<EdgeId>>) -> Vec<Vec<LocationId>> {
    const UNSEEN: u32 = u32::MAX;
    let count = code.locations.len();
    let (mut index, mut low, mut on_stack) = (vec![UNSEEN; count], vec![0; count], vec![false; count]);
    let (mut stack, mut found, mut clock) = (Vec::new(), Vec::new(), 0);
    for root in code.locations.ids() {
        if index[root.index()] != UNSEEN {
            continue;
        }
        let mut work: Vec<(LocationId, usize)> = vec![(root, 0)];
        while let Some((at, edge)) = work.pop() {
            let me = at.index();
            if edge == 0 {
                index[me] = clock;
                low[me] = clock;
                clock += 1;
                stack.push(at);
                on_stack[me] = true;
            }
            if let Some(&id) = outgoing[at].get(edge) {
                work.push((at, edge + 1));
                let target = code.edges[id].target;
                if index[target.index()] == UNSEEN {
                    work.push((target, 0));
                } else if on_stack[target.index()] {
                    low[me] = low[me].min(index[target.index()]);
                }
                continue;
            }
            if low[me] == index[me] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member.index()] = false;
                    component.push(member);
                    if member == at {
                        break;
                    }
                }
                found.push(component);
            }
            if let Some((parent, _)) = work.last() {
                low[parent.index()] = low[parent.index()].min(low[me]);
            }
        }
    }
    found
}
