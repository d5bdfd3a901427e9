//! What all models are made of: arguments, words of synchronisation objects, atomic actions, results.

use super::{Answer, Argument, Call, Context, Pointee};
use ir::{
    Assignment, Assumption, BinaryOp, Expr, Initial, IntType, Layout, Lhs, LocalId, LocationId, Object,
    ObjectId, Op, Place, Rhs, SharedObject, Storage, Targets, Value, Waiting,
};

impl Call<'_> {
    /// The argument at a position.
    pub(super) fn argument(&self, index: usize) -> Option<&Argument> {
        self.arguments.get(index)
    }
}

impl Argument {
    /// Whether this pointer is known to be null.
    pub(super) fn is_always_null(&self) -> bool {
        self.is_null || self.constant == Some(0)
    }
    /// Whether this pointer is known not to be null.
    pub(super) fn is_never_null(&self) -> bool {
        self.text.is_some()
            || self.function.is_some()
            || matches!(self.value, Expr::Address(..) | Expr::Procedure(_))
    }
    /// The bytes that the pointer points to, where the type says so.
    pub(super) fn pointee_size(&self) -> Option<u64> {
        self.pointee.as_ref().map(|pointee| pointee.size).filter(|size| *size > 0)
    }
    /// Whether the object is known to have fewer bytes than a model needs.
    pub(super) fn is_smaller_than(&self, bytes: u64) -> bool {
        self.pointee_size().is_some_and(|size| size < bytes)
    }
    /// The type in which the pointer's target is accessed as a whole.
    pub(super) fn target_type(&self) -> Option<IntType> {
        self.pointee.as_ref().and_then(Pointee::access_type)
    }
}

impl Pointee {
    /// The type in which it is accessed as a whole.
    fn access_type(&self) -> Option<IntType> {
        self.scalar.or(match self.size {
            1 => Some(IntType::U8),
            2 => Some(IntType::U16),
            4 => Some(IntType::U32),
            8 => Some(IntType::U64),
            _ => None,
        })
    }
}

/// A 32-bit number, as the words of synchronisation objects are.
pub(super) fn number(value: Value) -> Expr {
    Expr::int(value, IntType::U32)
}
/// Whether two values of a type are equal.
pub(super) fn equal(ty: IntType, left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Eq, ty, left, right)
}
/// Whether two values of a type differ.
pub(super) fn differ(ty: IntType, left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Ne, ty, left, right)
}
/// Whether a value is not zero.
pub(super) fn truth(value: Expr, ty: IntType) -> Expr {
    if ty == IntType::BOOL { value } else { differ(ty, value, Expr::int(0, ty)) }
}
/// The running thread's id, as words hold it.
pub(super) fn myself() -> Expr {
    Expr::cast(IntType::U32, Expr::Myself)
}
/// A C `int`.
pub(super) fn int(value: Value) -> Expr {
    Expr::int(value, IntType::I32)
}
/// The answer of a function that returns this `int`.
pub(super) fn answer_int(value: Value) -> Option<Answer> {
    Some(Answer::Value(int(value)))
}
/// The answer of a function whose result was put into a cell.
pub(super) fn answer_cell(cell: Option<LocalId>) -> Option<Answer> {
    Some(cell.map_or(Answer::Nothing, |cell| Answer::Value(Expr::Local(cell))))
}
/// The answer of a function that makes its first argument an object without a meaning of its own, and
/// returns 0.
pub(super) fn clears_first(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    context.touch(call, 0, Touch::Clear);
    answer_int(0)
}
/// How an object that a model is about is used beside what the model does ([`Context::touch`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Touch {
    /// It is read.
    Read,
    /// It is changed in a way that is not modelled.
    Change,
    /// It loses its value, or has none that is modelled.
    Clear,
}
/// The answer of a function that changes nothing and returns 0.
pub(super) fn nothing_happens(_: &mut Context<'_>, _: &Call<'_>) -> Option<Answer> {
    answer_int(0)
}
/// The atomic cell at an address.
pub(super) fn atomic_place(address: Expr, ty: IntType) -> Place {
    Place { address, ty, atomic: true, targets: Targets::Any }
}

fn has_load(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| found |= matches!(inner, Expr::Load(_)));
    found
}

impl Context<'_> {
    /// The type of pointers, and of `size_t`.
    pub(super) fn pointer(&self) -> IntType {
        self.program.data_model.pointer()
    }
    /// A value in a type.
    pub(super) fn convert(&self, value: Expr, ty: IntType) -> Expr {
        let from = self.program.type_in(&self.builder.template, &value);
        match value {
            value if from == ty => value,
            Expr::Const(value, _) if ty == IntType::BOOL => Expr::bool(value != 0),
            Expr::Const(value, _) => Expr::int(value, ty),
            value => Expr::cast(ty, value),
        }
    }
    /// An argument's value, to use any number of times at any later point: saved if it reads memory.
    pub(super) fn settle(&mut self, argument: &Argument) -> Expr {
        if has_load(&argument.value) {
            Expr::Local(self.builder.save(argument.value.clone(), argument.ty))
        } else {
            argument.value.clone()
        }
    }
    /// The same, in a type.
    pub(super) fn settle_as(&mut self, argument: &Argument, ty: IntType) -> Expr {
        let value = self.settle(argument);
        self.convert(value, ty)
    }
    /// The same, as an address.
    pub(super) fn settle_pointer(&mut self, argument: &Argument) -> Expr {
        let pointer = self.pointer();
        self.settle_as(argument, pointer)
    }
    /// The address so many bytes after another.
    pub(super) fn at_offset(&self, address: &Expr, offset: u64) -> Expr {
        match address {
            address if offset == 0 => address.clone(),
            Expr::Address(object, at) => Expr::Address(*object, at.saturating_add(offset)),
            address => self.sum(address.clone(), Expr::int(Value::from(offset), self.pointer())),
        }
    }
    /// An address, moved by a pointer-wide number.
    pub(super) fn sum(&self, address: Expr, distance: Expr) -> Expr {
        let ty = self.pointer();
        match (address, distance) {
            (Expr::Const(address, _), Expr::Const(distance, _)) => Expr::int(address + distance, ty),
            (address, distance) => Expr::binary(BinaryOp::Add, ty, address, distance),
        }
    }
    /// The word at an offset of a synchronisation object.
    pub(super) fn word(&self, object: &Expr, offset: u64) -> Place {
        atomic_place(self.at_offset(object, offset), IntType::U32)
    }
    /// The same, accessed as plain data is: by what must not happen while another thread uses the object.
    pub(super) fn plain_word(&self, object: &Expr, offset: u64) -> Place {
        Place { atomic: false, ..self.word(object, offset) }
    }
    /// Adds a local of its own name, so that [`super::simplify`] knows it.
    pub(super) fn named_local(&mut self, name: &str, ty: IntType) -> LocalId {
        let span = self.builder.span;
        self.builder.template.local(name, ty, span)
    }

    /// The current location, as one where a thread that cannot run waits for an object.
    pub(super) fn waiting_here(&mut self, object: SharedObject) -> LocationId {
        let here = self.builder.here();
        let here = match self.builder.template.locations[here].waiting {
            Waiting::Nothing => here,
            Waiting::For(_)
            | Waiting::Spurious
            | Waiting::Tracked
            | Waiting::Racing
            | Waiting::Returned
            | Waiting::Exited => {
                let next = self.builder.label();
                self.builder.place(next);
                next
            }
        };
        self.builder.template.locations[here].waiting = Waiting::For(object);
        here
    }
    /// Marks a location that is reached by what only the deadlock check keeps track of.
    pub(super) fn mark_tracked(&mut self, location: LocationId) {
        self.builder.template.locations[location].waiting = Waiting::Tracked;
    }
    /// Does something in the deadlock check only. It starts at the current location, and its first step leads
    /// to a marked one.
    pub(super) fn for_deadlocks(&mut self, action: impl FnOnce(&mut Self)) {
        let (here, next) = (self.builder.here(), self.builder.label());
        let span = self.builder.span;
        self.builder.template.edge(here, next, vec![], span);
        action(self);
        self.builder.place(next);
    }
    /// Leaves the deadlock check undecided for executions that come here; others continue.
    pub(super) fn undecided_for_deadlocks(&mut self) {
        self.for_deadlocks(|context| {
            let lost = context.builder.label();
            context.mark_tracked(lost);
            context.builder.alternative(Op::Assume(Expr::bool(true)), lost);
            context.builder.continue_at(lost);
            context.wait_unmodelled();
        });
    }
    /// Does one operation in the race check only.
    pub fn in_races(&mut self, op: Op) {
        let (here, marked, next) = (self.builder.here(), self.builder.label(), self.builder.label());
        let span = self.builder.span;
        self.builder.template.locations[marked].waiting = Waiting::Racing;
        self.builder.template.edge(here, next, vec![], span);
        self.builder.alternative(op, marked);
        self.builder.continue_at(marked);
        self.builder.place(next);
    }
    /// Uses what an argument points to, as plain data, in the race check only; nothing happens if it is null.
    pub(super) fn touch(&mut self, call: &Call<'_>, index: usize, how: Touch) {
        let Some(argument) = call.argument(index).filter(|argument| !argument.is_always_null()) else {
            return;
        };
        let pointer = self.settle_pointer(argument);
        let ty = if argument.is_smaller_than(4) { IntType::U8 } else { IntType::U32 };
        let place = Place::pointee(pointer.clone(), ty);
        self.unless_null(argument, pointer, |context| {
            let value = match how {
                Touch::Clear => Expr::int(0, ty),
                Touch::Read | Touch::Change => {
                    let value = context.builder.temporary(ty);
                    context.in_races(Op::set(Lhs::Local(value), Expr::load(place.clone())));
                    Expr::Local(value)
                }
            };
            match how {
                Touch::Read => {}
                Touch::Clear | Touch::Change => context.in_races(Op::set(Lhs::Memory(place), value)),
            }
        });
    }
    /// Adds a path out of a location that exists in the race check only: an operation fails there for no
    /// reason, or sees any value. One that really fails, or only looks, does not synchronise (C11
    /// 7.26.4.5p2, POSIX XBD 4.12), so nothing that others did before may be taken to happen before what
    /// comes next. If it may fail at any time, the part of an execution that happens before two racing
    /// accesses is an execution, in which both are next. It is none that proves a violation. The builder is
    /// then on this path, and the location is left.
    pub(super) fn unordered_from(&mut self, from: LocationId) {
        let (unordered, span) = (self.builder.label(), self.builder.span);
        self.builder.template.locations[unordered].waiting = Waiting::Racing;
        self.builder.template.edge(from, unordered, vec![Op::Assume(Expr::bool(true))], span);
        self.builder.continue_at(unordered);
        self.lose_path();
    }
    /// Waits for ever in an execution that proves no violation.
    pub(super) fn wait_unmodelled(&mut self) {
        self.lose_path();
        self.waiting_here(SharedObject::Condition);
        self.builder.emit(Op::Assume(Expr::bool(false)));
    }

    /// Continues in an atomic region that is entered from `from` by `first`, which may wait.
    pub(super) fn enter_atomic(&mut self, from: LocationId, first: Op) {
        self.builder.leave();
        self.builder.atomic_begin();
        let inside = self.builder.here();
        let span = self.builder.span;
        self.builder.template.edge(from, inside, vec![first], span);
    }
    /// Continues after the atomic region, which is left by `last`.
    pub(super) fn leave_atomic(&mut self, last: Op) {
        let from = self.builder.here();
        self.builder.leave();
        self.builder.atomic_end();
        let outside = self.builder.here();
        let span = self.builder.span;
        self.builder.template.edge(from, outside, vec![last], span);
    }
    /// Sets up an object: stores words at once. They are plain stores: by the first one, this races with
    /// each other use.
    pub(super) fn store_words(&mut self, object: &Expr, words: Vec<(u64, Expr)>) {
        let stores: Vec<Op> = words
            .into_iter()
            .map(|(at, value)| Op::set(Lhs::Memory(self.plain_word(object, at)), value))
            .collect();
        self.at_once(stores);
    }
    /// Does several operations, none of which waits, as one.
    pub(super) fn at_once(&mut self, mut ops: Vec<Op>) {
        let Some(last) = ops.pop() else { return };
        if ops.is_empty() {
            self.builder.emit(last);
            return;
        }
        let mut ops = ops.into_iter();
        if let Some(first) = ops.next() {
            let from = self.builder.here();
            self.enter_atomic(from, first);
        }
        for op in ops {
            self.builder.emit(op);
        }
        self.leave_atomic(last);
    }
    /// Reads a cell and, at once, stores a value that depends on it. Returns the local with the old value.
    pub(super) fn exchange(&mut self, place: Place, new: impl FnOnce(Expr) -> Expr) -> LocalId {
        let old = self.builder.temporary(place.ty);
        let read = Op::set(Lhs::Local(old), Expr::load(place.clone()));
        self.at_once(vec![read, Op::set(Lhs::Memory(place), new(Expr::Local(old)))]);
        old
    }

    /// A place for the `int` that a function returns, if someone wants it.
    pub(super) fn result_cell(&mut self, call: &Call<'_>) -> Option<LocalId> {
        call.result.map(|_| self.builder.temporary(IntType::I32))
    }
    /// Sets the result on this path.
    pub(super) fn put(&mut self, cell: Option<LocalId>, value: Value) {
        if let Some(cell) = cell {
            self.builder.set(Lhs::Local(cell), int(value));
        }
    }
    /// Sets the result to one of two values.
    pub(super) fn put_either(&mut self, cell: Option<LocalId>, one: Value, other: Value) {
        if let Some(cell) = cell {
            let next = self.builder.label();
            self.builder.alternative(Op::set(Lhs::Local(cell), int(one)), next);
            self.builder.alternative(Op::set(Lhs::Local(cell), int(other)), next);
            self.builder.continue_at(next);
        }
    }
    /// A fresh local with a value that is left open, within a constraint.
    pub(super) fn open_value(
        &mut self,
        ty: IntType,
        rhs: Rhs,
        constraint: impl FnOnce(Expr) -> Option<Expr>,
    ) -> Expr {
        let local = self.builder.temporary(ty);
        let constraint = constraint(Expr::Local(local));
        self.builder.emit(Op::Assign(Assignment { pairs: vec![(Lhs::Local(local), rhs)], constraint }));
        Expr::Local(local)
    }
    /// The answer of a function whose result is left open; nothing is emitted if no one wants it.
    pub(super) fn answer_open(&mut self, call: &Call<'_>, rhs: Rhs) -> Option<Answer> {
        Some(match call.result {
            // A function that gives back a signed number gives back no address.
            Some(ty) if rhs == Rhs::Unknown && ty.signed => Answer::Value(self.unknown_number(ty)),
            Some(ty) => Answer::Value(self.open_value(ty, rhs, |_| None)),
            None => Answer::Nothing,
        })
    }
    /// A fresh local with a value that is not modelled, and that was not computed from an address.
    pub(super) fn unknown_number(&mut self, ty: IntType) -> Expr {
        let local = self.builder.temporary(ty);
        self.builder.emit(Op::unknown_number(local, ty));
        Expr::Local(local)
    }
    /// The answer of a function whose result is such a value; nothing is emitted if no one wants it.
    pub(super) fn answer_number(&mut self, call: &Call<'_>) -> Answer {
        call.result.map_or(Answer::Nothing, |ty| Answer::Value(self.unknown_number(ty)))
    }
    /// Stores a value through a pointer argument, unless it is null.
    pub(super) fn store_through(&mut self, argument: &Argument, pointer: Expr, op: impl FnOnce(Lhs) -> Op) {
        let Some(ty) = argument.target_type().or(Some(self.pointer())) else { return };
        let store = op(Lhs::Memory(Place::pointee(pointer.clone(), ty)));
        self.unless_null(argument, pointer, |context| context.builder.emit(store));
    }
    /// Does something unless a pointer argument is null.
    pub(super) fn unless_null(&mut self, argument: &Argument, pointer: Expr, action: impl FnOnce(&mut Self)) {
        if argument.is_always_null() {
            return;
        }
        if argument.is_never_null() {
            return action(self);
        }
        let (some, done) = (self.builder.label(), self.builder.label());
        let ty = self.pointer();
        self.builder.branch(truth(pointer, ty), some, done);
        self.builder.continue_at(some);
        action(self);
        self.builder.place(done);
    }

    /// Does something, or does not: either may happen.
    pub(super) fn perhaps(&mut self, action: impl FnOnce(&mut Self)) {
        let (some, done) = (self.builder.label(), self.builder.label());
        self.builder.alternative(Op::Assume(Expr::bool(true)), done);
        self.builder.alternative(Op::Assume(Expr::bool(true)), some);
        self.builder.continue_at(some);
        action(self);
        self.builder.place(done);
    }
    /// Does something any number of times.
    pub(super) fn repeatedly(&mut self, action: impl FnOnce(&mut Self)) {
        let (head, some, done) = (self.builder.label(), self.builder.label(), self.builder.label());
        self.builder.place(head);
        self.builder.alternative(Op::Assume(Expr::bool(true)), done);
        self.builder.alternative(Op::Assume(Expr::bool(true)), some);
        self.builder.continue_at(some);
        action(self);
        self.builder.jump(head);
        self.builder.continue_at(done);
    }

    /// Notes what a verdict takes for granted; once for each text and place.
    pub(super) fn assume(&mut self, call: &Call<'_>, text: &str, limits_proof: bool) {
        let assumption = Assumption { text: format!("{}: {text}", call.name), span: call.span, limits_proof };
        if !self.program.assumptions.contains(&assumption) {
            self.program.assumptions.push(assumption);
        }
    }
    /// Says that memory may not be what it should be from here on: an execution that depends on it is no
    /// evidence.
    pub fn lose_track(&mut self) {
        self.open_value(IntType::BOOL, Rhs::Unknown, |value| Some(value.not()));
    }
    /// Makes each execution that comes here one that proves no violation.
    pub fn lose_path(&mut self) {
        self.open_value(IntType::BOOL, Rhs::Unknown, Some);
    }
    /// The object of the library itself that has this name; made when it is first asked for. The name is no
    /// identifier of C, so no object of the program has it.
    pub(super) fn own_object(&mut self, name: &str, storage: Storage, layout: Layout, size: u64) -> ObjectId {
        self.own_object_with(name, storage, layout, size, Initial::Values(vec![]))
    }
    /// The same, with an initial value.
    pub(super) fn own_object_with(
        &mut self,
        name: &str,
        storage: Storage,
        layout: Layout,
        size: u64,
        initial: Initial,
    ) -> ObjectId {
        debug_assert!(name.contains(' '), "{name} could be an object of the program");
        let known = self.program.objects.enumerate().find(|(_, object)| object.name == name);
        if let Some((id, _)) = known {
            return id;
        }
        let span = ir::Span::default();
        self.program.objects.push(Object {
            name: name.to_owned(),
            storage,
            size,
            align: 16,
            layout,
            initial,
            span,
            role: ir::ObjectRole::Program,
        })
    }
}
