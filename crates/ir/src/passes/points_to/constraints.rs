//! From a program to its inclusion constraints.

use super::super::bits::BitSet;
use super::super::liveness::live_locals;
use super::Values;
use super::parts::Passed;
use super::ranges::Amounts;
use super::shape::{Offset, Shape, Shift, first_numbers};
use super::solve::{DynamicCall, Node, Pointee, Procedure, Solver};
use crate::expr::{BinaryOp, Expr, Place, PointerArithmetic};
use crate::ids::{Id, IdVec, LocalId, ObjectId, TemplateId};
use crate::op::{Assignment, Callee, Lhs, Op, Rhs};
use crate::program::{Edge, Initial, LocationKind, ObjectRole, Program, Template};
use crate::types::{IntType, gcd};
use rustc_hash::{FxHashMap, FxHashSet};

/// Makes the constraints of a program, which tell parts of addresses from addresses or do not. Returns the
/// solver, the node of each template's first local, and those of computed expressions.
pub fn constraints(
    program: &Program,
    amounts: &Amounts,
    tells_parts: bool,
) -> (Solver, IdVec<TemplateId, Node>, Values) {
    let divisors = size_divisors(program);
    let shape = |(id, object)| Shape::with_element(object, divisors[id], program.site_use(id));
    let shapes = program.objects.enumerate().map(shape);
    let shapes: IdVec<ObjectId, Shape> = shapes.collect();
    let (first_local, locals) = first_numbers(program.templates.iter().map(|template| template.locals.len()));
    let (mut first_cell, cells) = first_numbers(shapes.iter().map(|shape| shape.cells.len()));
    first_cell.iter_mut().for_each(|first: &mut Node| *first += locals);
    let (thread_results, anything) = (locals + cells, locals + cells + 1);
    let procedures = program.templates.enumerate().map(|(id, template)| Procedure {
        parameters: (0..template.parameters as Node).map(|index| first_local[id] + index).collect(),
        result: template.result.map(|local| first_local[id] + local.0),
    });
    let procedures = procedures.collect();
    let constant = program.objects.iter().map(|object| object.role == ObjectRole::Constant).collect();
    let mut solver = Solver::new((shapes, constant), first_cell, procedures, thread_results, anything + 1);
    solver.follows_inputs = program.foreign_numbers;
    let mut generator = Generator {
        program,
        amounts,
        tells_parts,
        solver,
        first_local,
        anything,
        template: TemplateId(0),
        in_constraint: false,
        constants: FxHashMap::default(),
        taken: FxHashSet::default(),
        values: program.templates.iter().map(|_| FxHashMap::default()).collect(),
    };
    generator.solver.add(anything, Pointee::Anything);
    generator.run();
    (generator.solver, generator.first_local, generator.values)
}

/// For each allocation site, what divides the number of bytes of all its objects; 0 if nothing is allocated
/// there.
fn size_divisors(program: &Program) -> IdVec<ObjectId, u64> {
    let mut found: IdVec<ObjectId, u64> = program.objects.iter().map(|_| 0).collect();
    let pointer = program.data_model.pointer();
    let locals = local_divisors(program);
    for (id, code) in program.templates.enumerate() {
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            if let Op::Allocate { site, size, .. } = op {
                let size = divisor(pointer, &|local| locals[id][local], size);
                found[*site] = gcd(found[*site], size.max(1));
            }
        }
    }
    found
}

/// For each local of each template, something that divides all values that it ever has.
type Divisors = IdVec<TemplateId, IdVec<LocalId, u64>>;

/// Says that a local may have a value that this divides; whether that is new.
fn lower(found: &mut Divisors, id: TemplateId, local: LocalId, by: u64) -> bool {
    let known = found[id][local];
    found[id][local] = gcd(known, by);
    found[id][local] != known
}

/// What divides the values of locals; 0 if one is always 0. The greatest solution of what assignments and
/// calls say, whatever their order.
fn local_divisors(program: &Program) -> Divisors {
    let pointer = program.data_model.pointer();
    let mut found: Divisors =
        program.templates.iter().map(|code| code.locals.iter().map(|_| 0).collect()).collect();
    // What is called or started through a pointer, or runs from the start, may be passed anything.
    let mut open = program.addressed_procedures();
    open.extend(program.start.iter().map(|(id, _)| *id));
    for (id, code) in program.templates.enumerate().filter(|(id, _)| open.contains(id)) {
        code.locals.ids().take(code.parameters).for_each(|local| found[id][local] = 1);
    }
    let mut grows = true;
    while grows {
        grows = false;
        for (id, code) in program.templates.enumerate() {
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                if let Op::Call(Callee::Procedure(callee), arguments, _)
                | Op::Spawn(Callee::Procedure(callee), arguments, _) = op
                {
                    let parameters = program.templates[*callee].locals.ids();
                    for (local, argument) in parameters.zip(arguments) {
                        let by = divisor(pointer, &|local| found[id][local], argument);
                        grows |= lower(&mut found, *callee, local, by);
                    }
                }
                if let Op::Assign(assignment) = op {
                    for (lhs, rhs) in &assignment.pairs {
                        if let (Lhs::Local(local), Rhs::Value(value)) = (lhs, rhs) {
                            let by = divisor(pointer, &|local| found[id][local], value);
                            grows |= lower(&mut found, id, *local, by);
                        } else if let Lhs::Local(local) = lhs {
                            grows |= lower(&mut found, id, *local, 1);
                        }
                    }
                } else {
                    for lhs in op.targets() {
                        if let Lhs::Local(local) = lhs {
                            grows |= lower(&mut found, id, *local, 1);
                        }
                    }
                }
            }
        }
    }
    found
}

/// How much a value that is added to an address moves it, given the range of that value.
fn shift_by(pointer: IntType, amount: &Expr, range: Option<(i128, i128)>) -> Shift {
    match (amount, range) {
        // A large unsigned constant is a small negative one.
        (Expr::Const(value, _), _) => Shift::By(IntType { signed: true, ..pointer }.wrap(*value)),
        (_, Some((least, greatest))) if least == greatest => Shift::By(least),
        (other, Some((least, greatest))) => match divisor(pointer, &|_| 1, other) {
            0 => Shift::By(0),
            step => Shift::Within { step, least, greatest },
        },
        (other, None) => Shift::MultipleOf(u128::from(divisor(pointer, &|_| 1, other))),
    }
}

/// Something that divides all values of an expression, given what divides those of locals; 0 if it is always
/// 0. What wraps around below the width of a pointer keeps the powers of two only; at that width, wrapping is
/// left out: an index that wraps leaves its array.
fn divisor(pointer: IntType, local: &dyn Fn(LocalId) -> u64, expr: &Expr) -> u64 {
    let of = |expr: &Expr| divisor(pointer, local, expr);
    let wrapped = |ty: IntType, divisor: u64| {
        let is_whole = ty.bits >= pointer.bits || divisor == 0;
        if is_whole { divisor } else { 1 << divisor.trailing_zeros() }
    };
    match expr {
        Expr::Const(value, _) => u64::try_from(value.unsigned_abs()).unwrap_or(1),
        Expr::Local(number) => local(*number),
        Expr::Cast(IntType::BOOL, _) => 1,
        Expr::Cast(ty, operand) => wrapped(*ty, of(operand)),
        Expr::Unary(crate::UnaryOp::Neg, ty, operand) => wrapped(*ty, of(operand)),
        Expr::Binary(op, ty, pair) => {
            let divisor = match op {
                BinaryOp::Mul => of(&pair.0).checked_mul(of(&pair.1)).unwrap_or(1),
                BinaryOp::Add | BinaryOp::Sub => gcd(of(&pair.0), of(&pair.1)),
                BinaryOp::Shl => match &pair.1 {
                    Expr::Const(distance @ 0..63, _) => of(&pair.0).checked_mul(1 << distance).unwrap_or(1),
                    _ => of(&pair.0),
                },
                _ => 1,
            };
            // A signed sum or product that leaves its type faults.
            let is_exact = ty.signed && *op != BinaryOp::Shl;
            if is_exact { divisor } else { wrapped(*ty, divisor) }
        }
        Expr::IfThenElse(three) => gcd(of(&three.1), of(&three.2)),
        _ => 1,
    }
}

/// How an operation on two values passes addresses on: those of the left and of the right operand, given the
/// ranges of some values, and whether parts are distinguished from addresses.
pub fn flow(
    pointer: IntType,
    op: BinaryOp,
    ty: IntType,
    pair: &(Expr, Expr),
    range: &dyn Fn(&Expr) -> Option<(i128, i128)>,
    tells_parts: bool,
) -> [Option<Passed>; 2] {
    let moved = |by: Shift| Some(Passed::Moved(by));
    let lost = moved(Shift::MultipleOf(1));
    let part = if tells_parts { Some(Passed::Part) } else { lost };
    let shift_by = |amount: &Expr| shift_by(pointer, amount, range(amount));
    match PointerArithmetic::of(pointer, op, ty, pair) {
        Some(PointerArithmetic::Move) => {
            // A pointer stays in its object, whatever it is moved by.
            let by = shift_by(&pair.1);
            return [moved(if op == BinaryOp::Sub { back(by) } else { by }), None];
        }
        Some(PointerArithmetic::Difference) if tells_parts => return [part, part],
        Some(PointerArithmetic::Difference) | None => {}
    }
    match op {
        _ if ty == IntType::BOOL => [None, None],
        BinaryOp::Add => [moved(shift_by(&pair.1)), moved(shift_by(&pair.0))],
        BinaryOp::Sub => {
            // What is subtracted twice is an address again.
            [moved(back(shift_by(&pair.1))), lost]
        }
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => [lost, lost],
        BinaryOp::Mul => [part, part],
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => [part, None],
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => [None, None],
    }
}

/// The same move in the other direction.
fn back(shift: Shift) -> Shift {
    match shift {
        Shift::By(by) => Shift::By(-by),
        Shift::Within { step, least, greatest } => Shift::Within { step, least: -greatest, greatest: -least },
        other @ Shift::MultipleOf(_) => other,
    }
}

/// Whether an expression has a node of its own.
pub fn is_computed(pointer: IntType, expr: &Expr) -> bool {
    match expr {
        Expr::Load(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::IfThenElse(_) => true,
        Expr::Cast(ty, _) => ty.bits < pointer.bits,
        Expr::Const(..) | Expr::Myself | Expr::Local(_) | Expr::Address(..) | Expr::Procedure(_) => false,
        Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => false,
    }
}

/// Whether an operation may show whether its operands are equal.
fn is_compared(op: BinaryOp) -> bool {
    op.is_comparison() || matches!(op, BinaryOp::Sub | BinaryOp::Xor)
}

/// Whether one of two operands is a constant.
fn has_constant(pair: &(Expr, Expr)) -> bool {
    matches!(pair.0, Expr::Const(..)) || matches!(pair.1, Expr::Const(..))
}

/// Whether some values of a template are left open.
fn has_open_values(template: &Template) -> bool {
    let is_open = |op: &Op| match op {
        Op::Assign(assignment) => {
            assignment.pairs.iter().any(|(_, rhs)| matches!(rhs, Rhs::Any | Rhs::Unknown))
        }
        _ => false,
    };
    template.edges.iter().flat_map(|edge| &edge.ops).any(is_open)
}

/// Whether a local may be read after an operation of an edge, given what is live after the edge.
fn is_read(edge: &Edge, index: usize, local: LocalId, live: &BitSet) -> bool {
    live.contains(local.index()) || edge.reads_later(index, local)
}

/// Numbers below this that a function gives are no addresses. Larger bounds, such as those of types, exclude
/// none.
const LEAST_ADDRESS: i128 = 1 << 31;

/// Whether a constraint keeps a local below a constant that is smaller than addresses.
fn is_bounded(local: LocalId, constraint: &Expr) -> bool {
    let is_local = |expr: &Expr| *expr == Expr::Local(local);
    let is_constant = |expr: &Expr| matches!(expr, Expr::Const(value, _) if *value < LEAST_ADDRESS);
    match constraint {
        Expr::Binary(BinaryOp::Le | BinaryOp::Lt, _, pair) => is_local(&pair.0) && is_constant(&pair.1),
        Expr::Binary(BinaryOp::And, IntType::BOOL, pair) => {
            is_bounded(local, &pair.0) || is_bounded(local, &pair.1)
        }
        _ => false,
    }
}

/// Whether a constraint keeps what is assigned below some other value.
fn has_bound(lhs: &Lhs, constraint: Option<&Expr>) -> bool {
    let (Lhs::Local(local), Some(constraint)) = (lhs, constraint) else { return false };
    match constraint {
        Expr::Binary(BinaryOp::Le | BinaryOp::Lt, _, pair) => {
            pair.0 == Expr::Local(*local) && !pair.1.mentions(*local)
        }
        Expr::Binary(BinaryOp::And, IntType::BOOL, pair) => {
            has_bound(lhs, Some(&pair.0)) || has_bound(lhs, Some(&pair.1))
        }
        _ => false,
    }
}

struct Generator<'p> {
    program: &'p Program,
    amounts: &'p Amounts,
    /// Whether parts of addresses are distinguished from addresses.
    tells_parts: bool,
    solver: Solver,
    first_local: IdVec<TemplateId, Node>,
    /// Holds every address that was ever taken.
    anything: Node,
    /// The template whose operations are looked at. First values name no locals, so they may be of any.
    template: TemplateId,
    /// Whether what is looked at is the constraint of an assignment.
    in_constraint: bool,
    constants: FxHashMap<Pointee, Node>,
    /// The objects among [`Solver::escaped_objects`].
    taken: FxHashSet<ObjectId>,
    /// What was made already: an expression has one value wherever it is in its template.
    values: Values,
}

impl Generator<'_> {
    fn run(&mut self) {
        for (id, object) in self.program.objects.enumerate() {
            if let Initial::Values(values) = &object.initial {
                for (offset, ty, value) in values {
                    let Some(value) = self.value(value) else { continue };
                    let pointee = Pointee::Cell(id, self.solver.shapes[id].at(*offset));
                    for cell in self.solver.touched(pointee, ty.bytes()) {
                        self.solver.copy(value, cell);
                    }
                }
            }
        }
        self.close_given();
        for (id, template) in self.program.templates.enumerate() {
            self.template = id;
            let exits = template.locations.iter().any(|location| location.kind == LocationKind::Exit);
            if exits && let Some(local) = template.exit_value {
                self.solver.copy(self.local(local), self.solver.thread_results);
            }
            let live = has_open_values(template).then(|| live_locals(template));
            for edge in &template.edges {
                let live = live.as_ref().map(|live| &live[edge.target]);
                for (index, op) in edge.ops.iter().enumerate() {
                    self.op(op, &|local| live.is_none_or(|live| is_read(edge, index, local, live)));
                }
            }
        }
        for (template, _) in &self.program.start {
            let call = DynamicCall { arguments: Vec::new(), result: None, is_spawn: true };
            self.solver.bind(*template, &call);
        }
    }

    /// Who was given an address ([`ObjectRole::Given`]) may give it on, moved within its object, and what is
    /// stored there: what the object holds may be any of the addresses that code outside of the program was
    /// given, moved within its object, and any address that is stored in such an object.
    fn close_given(&mut self) {
        let given = self.program.objects.enumerate().find(|(_, object)| object.role == ObjectRole::Given);
        let Some((given, _)) = given else { return };
        let all = self.solver.node();
        let whole = Pointee::Cell(given, Offset::ANYWHERE);
        for cell in self.solver.touched(whole, u64::MAX) {
            self.solver.copy(cell, all);
            self.solver.copy(all, cell);
        }
        self.solver.shift(all, Shift::MultipleOf(1), all);
        self.solver.load(all, self.program.data_model.pointer().bytes(), all);
    }

    fn local(&self, local: LocalId) -> Node {
        self.first_local[self.template] + local.0
    }

    /// Makes the constraints of an operation, given which locals may be read after it.
    fn op(&mut self, op: &Op, is_read: &dyn Fn(LocalId) -> bool) {
        match op {
            Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Free(_) | Op::Fill(..) | Op::Broadcast(_) => {
                // Loads inside make no address flow, but an address in a comparison is still taken.
                // One that names the lock or the bytes directly is not: it goes nowhere.
                for expr in op.expressions() {
                    if let Op::Assume(condition) = op {
                        self.look(condition);
                    } else if !matches!(expr, Expr::Address(..)) {
                        self.value(expr);
                    }
                }
            }
            Op::Assign(assignment) => self.assign(assignment, is_read),
            Op::Spawn(callee, arguments, handle) => {
                self.call(callee, arguments, None, true);
                // A thread's id is no address; its place's address may be a computed one.
                if let Some(lhs) = handle {
                    self.address_of(lhs);
                }
            }
            Op::Join(thread, result) => {
                self.value(thread);
                if let Some(lhs) = result {
                    self.store(lhs, self.solver.thread_results);
                }
            }
            Op::Allocate { site, size, result, .. } => {
                self.value(size);
                let pointee = Pointee::Cell(*site, self.solver.shapes[*site].at(0));
                let address = self.constant(pointee);
                self.store(result, address);
            }
            Op::Copy(to, from, size) => {
                let (to, from) = (self.value(to), self.value(from));
                self.value(size);
                let size = match size {
                    Expr::Const(size, _) => u64::try_from(*size).ok(),
                    _ => None,
                };
                if let (Some(to), Some(from)) = (to, from) {
                    self.solver.copy_memory(to, from, size);
                }
            }
            Op::Call(callee, arguments, lhs) => {
                let result = lhs.as_ref().map(|lhs| {
                    let node = self.solver.node();
                    self.store(lhs, node);
                    node
                });
                self.call(callee, arguments, result, false);
            }
        }
    }

    fn assign(&mut self, assignment: &Assignment, is_read: &dyn Fn(LocalId) -> bool) {
        if let Some(constraint) = &assignment.constraint {
            self.in_constraint = true;
            self.look(constraint);
            self.in_constraint = false;
        }
        for (lhs, rhs) in &assignment.pairs {
            let ty = match lhs {
                Lhs::Local(local) => self.program.templates[self.template].locals[*local].ty,
                Lhs::Memory(place) => place.ty,
            };
            let is_wide = ty.bits >= self.program.data_model.pointer().bits;
            // What is never read (as of a variable that is declared without a value) and what a constraint
            // keeps below a constant is no address.
            let is_number = match (lhs, &assignment.constraint) {
                (Lhs::Local(local), Some(constraint)) => is_bounded(*local, constraint),
                (Lhs::Local(local), None) => !is_read(*local),
                (Lhs::Memory(_), _) => false,
            };
            let open = is_wide && !is_number;
            let value = match rhs {
                Rhs::Value(value) => self.value(value),
                // An input in a constraint is compared there, like one that an assumption follows.
                Rhs::Any => open.then(|| self.solver.input()),
                Rhs::Unknown if has_bound(lhs, assignment.constraint.as_ref()) => {
                    open.then(|| self.solver.input())
                }
                Rhs::Unknown => open.then_some(self.anything),
                Rhs::Float(_, _, operands) => self.computed(operands),
            };
            match value {
                Some(value) => self.store(lhs, value),
                None => self.address_of(lhs),
            }
        }
    }

    /// Takes note of the addresses in a computed address. A cell that is named directly is not thereby taken.
    fn address_of(&mut self, lhs: &Lhs) {
        if let Lhs::Memory(place) = lhs
            && place.as_cell().is_none()
        {
            self.value(&place.address);
        }
    }

    fn call(&mut self, callee: &Callee, arguments: &[Expr], result: Option<Node>, is_spawn: bool) {
        let arguments = arguments.iter().map(|argument| self.value(argument)).collect();
        let call = DynamicCall { arguments, result, is_spawn };
        match callee {
            Callee::Procedure(callee) => self.solver.bind(*callee, &call),
            Callee::Pointer(pointer) => {
                if let Some(pointer) = self.value(pointer) {
                    self.solver.call(pointer, call);
                }
            }
        }
    }

    fn store(&mut self, lhs: &Lhs, value: Node) {
        match lhs {
            Lhs::Local(local) => self.solver.copy(value, self.local(*local)),
            Lhs::Memory(place) => match place.as_cell() {
                Some((object, offset)) => {
                    let pointee = Pointee::Cell(object, self.solver.shapes[object].at(offset));
                    let cells = self.solver.touched(pointee, place.ty.bytes());
                    cells.into_iter().for_each(|cell| self.solver.copy(value, cell));
                }
                None => {
                    if let Some(pointer) = self.value(&place.address) {
                        self.solver.store(pointer, place.ty.bytes(), value);
                    }
                }
            },
        }
    }

    /// A node that holds one address, which is thereby taken.
    fn constant(&mut self, pointee: Pointee) -> Node {
        if let Some(node) = self.constants.get(&pointee) {
            return *node;
        }
        let node = self.solver.node();
        self.solver.add(node, pointee);
        match pointee {
            Pointee::Cell(object, _) => {
                if self.taken.insert(object) {
                    self.solver.escaped_objects.push(object);
                }
            }
            Pointee::Procedure(procedure) => self.solver.escaped_procedures.push(procedure),
            Pointee::Anything | Pointee::Input(_) | Pointee::Part => {}
        }
        self.constants.insert(pointee, node);
        node
    }

    fn load(&mut self, place: &Place) -> Option<Node> {
        let value = self.whole_load(place)?;
        Some(self.narrowed(place.ty, value))
    }

    /// What a value is in some type: a part of itself, if that is narrower than a pointer.
    fn narrowed(&mut self, ty: IntType, value: Node) -> Node {
        if !(self.tells_parts && ty.bits < self.program.data_model.pointer().bits) {
            return value;
        }
        let part = self.solver.node();
        self.solver.part(value, part);
        part
    }

    fn whole_load(&mut self, place: &Place) -> Option<Node> {
        match place.as_cell() {
            Some((object, offset)) => {
                let pointee = Pointee::Cell(object, self.solver.shapes[object].at(offset));
                let cells = self.solver.touched(pointee, place.ty.bytes());
                if let [cell] = cells.as_slice() {
                    return Some(*cell);
                }
                let node = self.solver.node();
                cells.into_iter().for_each(|cell| self.solver.copy(cell, node));
                Some(node)
            }
            None => {
                let pointer = self.value(&place.address)?;
                let node = self.solver.node();
                self.solver.load(pointer, place.ty.bytes(), node);
                Some(node)
            }
        }
    }

    /// The node that holds the value of an expression; `None` when it never holds an address.
    fn value(&mut self, expr: &Expr) -> Option<Node> {
        if !is_computed(self.program.data_model.pointer(), expr) {
            return self.fresh_value(expr);
        }
        if let Some(known) = self.values[self.template].get(expr) {
            return *known;
        }
        let value = self.fresh_value(expr);
        self.values[self.template].insert(expr.clone(), value);
        value
    }

    /// Makes the constraints of an expression whose value is not kept: addresses in it are taken, memory is
    /// read at others, and inputs are compared.
    fn look(&mut self, expr: &Expr) {
        match expr {
            Expr::Const(..) | Expr::Myself | Expr::Local(_) => {}
            Expr::Address(..) | Expr::Procedure(_) => {
                self.value(expr);
            }
            Expr::Load(place) => {
                if place.as_cell().is_none() {
                    self.value(&place.address);
                }
            }
            Expr::Unary(_, _, operand) | Expr::Cast(_, operand) | Expr::Old(operand) => self.look(operand),
            Expr::Valid(operand, _) => {
                self.value(operand);
            }
            Expr::Binary(op, ty, pair) if is_compared(*op) && !has_constant(pair) => {
                if let (Some(left), Some(right)) = (self.value(&pair.0), self.value(&pair.1)) {
                    let is_address = *ty == self.program.data_model.pointer().unsigned();
                    self.compare(left, right, *op, self.in_constraint && is_address);
                }
            }
            Expr::Binary(_, _, pair) | Expr::Overflows(_, _, pair) => {
                self.look(&pair.0);
                self.look(&pair.1);
            }
            Expr::IfThenElse(three) => {
                self.look(&three.0);
                self.look(&three.1);
                self.look(&three.2);
            }
        }
    }

    /// Two values are compared. Where inputs are foreign, that makes one an address only if it says what is
    /// assigned, as an address: not a length with a sign, nor a part of an address. A difference may be
    /// compared with any constant, so that the values are that far apart.
    fn compare(&mut self, left: Node, right: Node, op: BinaryOp, says_value: bool) {
        if !says_value && self.program.foreign_numbers {
            return;
        }
        if op.is_comparison() {
            self.solver.compare(left, right);
            return;
        }
        for (one, other) in [(left, right), (right, left)] {
            if let Some(near) = self.moved(Shift::MultipleOf(1), [Some(other)]) {
                self.solver.compare(one, near);
            }
        }
    }

    fn fresh_value(&mut self, expr: &Expr) -> Option<Node> {
        match expr {
            Expr::Const(..) | Expr::Myself => None,
            Expr::Local(local) => Some(self.local(*local)),
            Expr::Load(place) => self.load(place),
            Expr::Address(object, offset) => {
                let pointee = Pointee::Cell(*object, self.solver.shapes[*object].at(*offset));
                Some(self.constant(pointee))
            }
            Expr::Procedure(template) => Some(self.constant(Pointee::Procedure(*template))),
            Expr::Unary(_, ty, operand) => {
                let operand = self.value(operand)?;
                (*ty != IntType::BOOL).then(|| self.moved(Shift::MultipleOf(1), [Some(operand)]))?
            }
            Expr::Binary(op, ty, pair) => {
                if op.is_comparison() || *ty == IntType::BOOL {
                    // The result holds no address.
                    self.look(expr);
                    return None;
                }
                let (left, right) = (self.value(&pair.0), self.value(&pair.1));
                let arithmetic = PointerArithmetic::of(self.program.data_model.pointer(), *op, *ty, pair);
                // What a pointer is moved by is not compared with it.
                let is_compared = is_compared(*op) && arithmetic != Some(PointerArithmetic::Move);
                if let (true, Some(left), Some(right)) = (is_compared, left, right) {
                    self.compare(left, right, *op, false);
                }
                let range = |amount: &Expr| self.amounts.get(self.template, amount);
                let [left_moves, right_moves] =
                    flow(self.program.data_model.pointer(), *op, *ty, pair, &range, self.tells_parts);
                self.passed([(left, left_moves), (right, right_moves)])
            }
            Expr::Cast(ty, operand) => {
                let operand = self.value(operand)?;
                (*ty != IntType::BOOL).then(|| self.narrowed(*ty, operand))
            }
            Expr::IfThenElse(three) => {
                self.look(&three.0);
                let arms = [self.value(&three.1), self.value(&three.2)];
                self.moved(Shift::By(0), arms)
            }
            Expr::Overflows(..) | Expr::Valid(..) => {
                self.look(expr);
                None
            }
            Expr::Old(operand) => self.value(operand),
        }
    }

    /// What is computed from some values in a way that loses offsets.
    fn computed(&mut self, operands: &[Expr]) -> Option<Node> {
        let operands: Vec<_> = operands.iter().map(|operand| self.value(operand)).collect();
        self.moved(Shift::MultipleOf(1), operands)
    }

    fn moved(&mut self, by: Shift, operands: impl IntoIterator<Item = Option<Node>>) -> Option<Node> {
        self.passed(operands.into_iter().map(|operand| (operand, Some(Passed::Moved(by)))))
    }

    fn passed(&mut self, operands: impl IntoIterator<Item = (Option<Node>, Option<Passed>)>) -> Option<Node> {
        let passed: Vec<(Node, Passed)> =
            operands.into_iter().filter_map(|(node, passed)| Some((node?, passed?))).collect();
        if passed.is_empty() {
            return None;
        }
        let result = self.solver.node();
        for (node, passed) in passed {
            match passed {
                Passed::Moved(Shift::By(0)) => self.solver.copy(node, result),
                Passed::Moved(by) => self.solver.shift(node, by, result),
                Passed::Part => self.solver.part(node, result),
            }
        }
        Some(result)
    }
}
