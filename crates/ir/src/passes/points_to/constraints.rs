//! From a program to its inclusion constraints.

use super::shape::{Shape, Shift, first_numbers, greatest_common_divisor};
use super::solve::{DynamicCall, Node, Pointee, Procedure, Solver};
use crate::expr::{BinaryOp, Expr, Place};
use crate::ids::{IdVec, LocalId, ObjectId, TemplateId};
use crate::op::{Assignment, Callee, Lhs, Op, Rhs};
use crate::program::{Initial, LocationKind, Program};
use crate::types::IntType;
use rustc_hash::FxHashMap;

/// Makes the constraints of a program. Returns the solver, the node of each template's first local, and the node that holds
/// every address that was ever taken.
pub fn constraints(program: &Program) -> (Solver, IdVec<TemplateId, Node>, Node) {
    let shapes: IdVec<ObjectId, Shape> = program.objects.iter().map(Shape::new).collect();
    let (first_local, locals) = first_numbers(program.templates.iter().map(|template| template.locals.len()));
    let (mut first_cell, cells) = first_numbers(shapes.iter().map(|shape| shape.cells.len()));
    first_cell.iter_mut().for_each(|first: &mut Node| *first += locals);
    let (thread_results, anything) = (locals + cells, locals + cells + 1);
    let procedures = program.templates.enumerate().map(|(id, template)| Procedure {
        parameters: (0..template.parameters as Node).map(|index| first_local[id] + index).collect(),
        result: template.result.map(|local| first_local[id] + local.0),
    });
    let procedures = procedures.collect();
    let solver = Solver::new(shapes, first_cell, procedures, thread_results, anything + 1);
    let constants = FxHashMap::default();
    let mut generator =
        Generator { program, solver, first_local, anything, template: TemplateId(0), constants };
    generator.solver.add(anything, Pointee::Anything);
    generator.run();
    (generator.solver, generator.first_local, anything)
}

/// How much a value that is added to an address moves it.
pub fn shift_by(pointer: IntType, amount: &Expr) -> Shift {
    match amount {
        // A large unsigned constant is a small negative one.
        Expr::Const(value, _) => Shift::By(IntType { signed: true, ..pointer }.wrap(*value)),
        other => Shift::MultipleOf(u128::from(divisor(other))),
    }
}

/// Something that divides all values of an expression; 0 if it is always 0. Wrapping is left out: an index that
/// wraps leaves its array.
fn divisor(expr: &Expr) -> u64 {
    match expr {
        Expr::Const(value, _) => u64::try_from(value.unsigned_abs()).unwrap_or(1),
        Expr::Cast(ty, operand) if ty.bits >= 32 => divisor(operand),
        Expr::Unary(crate::UnaryOp::Neg, _, operand) => divisor(operand),
        Expr::Binary(op, _, pair) => match op {
            BinaryOp::Mul => divisor(&pair.0).checked_mul(divisor(&pair.1)).unwrap_or(1),
            BinaryOp::Add | BinaryOp::Sub => greatest_common_divisor(divisor(&pair.0), divisor(&pair.1)),
            BinaryOp::Shl => match &pair.1 {
                Expr::Const(distance @ 0..63, _) => divisor(&pair.0).checked_mul(1 << distance).unwrap_or(1),
                _ => divisor(&pair.0),
            },
            _ => 1,
        },
        Expr::IfThenElse(three) => greatest_common_divisor(divisor(&three.1), divisor(&three.2)),
        _ => 1,
    }
}

/// How an operation on two values passes addresses on: how the left and the right operand's move.
pub fn flow(pointer: IntType, op: BinaryOp, ty: IntType, pair: &(Expr, Expr)) -> [Option<Shift>; 2] {
    let lost = Some(Shift::MultipleOf(1));
    match op {
        _ if ty == IntType::BOOL => [None, None],
        BinaryOp::Add => [Some(shift_by(pointer, &pair.1)), Some(shift_by(pointer, &pair.0))],
        BinaryOp::Sub => {
            let back = match shift_by(pointer, &pair.1) {
                Shift::By(by) => Shift::By(-by),
                other => other,
            };
            // The address that is subtracted is gone: a distance is no address.
            [Some(back), None]
        }
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Mul => [lost, lost],
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => [lost, None],
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => [None, None],
    }
}

struct Generator<'p> {
    program: &'p Program,
    solver: Solver,
    first_local: IdVec<TemplateId, Node>,
    /// Holds every address that was ever taken.
    anything: Node,
    template: TemplateId,
    constants: FxHashMap<Pointee, Node>,
}

impl Generator<'_> {
    fn run(&mut self) {
        for (id, object) in self.program.objects.enumerate() {
            if let Initial::Values(values) = &object.initial {
                for (offset, ty, value) in values {
                    let Some(value) = self.value(value) else { continue };
                    let pointee = Pointee::Cell(id, self.solver.shapes[id].at(*offset));
                    self.solver.touched(pointee, ty.bytes()).for_each(|cell| self.solver.copy(value, cell));
                }
            }
        }
        for (id, template) in self.program.templates.enumerate() {
            self.template = id;
            let exits = template.locations.iter().any(|location| location.kind == LocationKind::Exit);
            if exits && let Some(local) = template.exit_value {
                self.solver.copy(self.local(local), self.solver.thread_results);
            }
            template.edges.iter().flat_map(|edge| &edge.ops).for_each(|op| self.op(op));
        }
        for (template, _) in &self.program.start {
            let call = DynamicCall { arguments: Vec::new(), result: None, is_spawn: true };
            self.solver.bind(*template, &call);
        }
    }

    fn local(&self, local: LocalId) -> Node {
        self.first_local[self.template] + local.0
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Free(_) | Op::Fill(..) | Op::Broadcast(_) => {
                // Loads inside make no address flow, but an address in a comparison is still taken.
                // One that names the lock or the bytes directly is not: it goes nowhere.
                for expr in op.expressions() {
                    if matches!(op, Op::Assume(_)) || !matches!(expr, Expr::Address(..)) {
                        self.value(expr);
                    }
                }
            }
            Op::Assign(assignment) => self.assign(assignment),
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

    fn assign(&mut self, assignment: &Assignment) {
        if let Some(constraint) = &assignment.constraint {
            self.value(constraint);
        }
        for (lhs, rhs) in &assignment.pairs {
            let ty = match lhs {
                Lhs::Local(local) => self.program.templates[self.template].locals[*local].ty,
                Lhs::Memory(place) => place.ty,
            };
            let value = match rhs {
                Rhs::Value(value) => self.value(value),
                // A constraint may force any address on the value.
                Rhs::Any if assignment.constraint.is_none() => None,
                Rhs::Any | Rhs::Unknown => {
                    (ty.bits >= self.program.data_model.pointer().bits).then_some(self.anything)
                }
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
                    cells.for_each(|cell| self.solver.copy(value, cell));
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
                if !self.solver.escaped_objects.contains(&object) {
                    self.solver.escaped_objects.push(object);
                }
            }
            Pointee::Procedure(procedure) => self.solver.escaped_procedures.push(procedure),
            Pointee::Anything => {}
        }
        self.constants.insert(pointee, node);
        node
    }

    fn load(&mut self, place: &Place) -> Option<Node> {
        match place.as_cell() {
            Some((object, offset)) => {
                let pointee = Pointee::Cell(object, self.solver.shapes[object].at(offset));
                let cells = self.solver.touched(pointee, place.ty.bytes());
                if cells.len() == 1 {
                    return Some(cells.start);
                }
                let node = self.solver.node();
                cells.for_each(|cell| self.solver.copy(cell, node));
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

    /// The node that holds the value of an expression; nothing if it never holds an address.
    fn value(&mut self, expr: &Expr) -> Option<Node> {
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
                (*ty != IntType::BOOL).then(|| self.moved([(Some(operand), Some(Shift::MultipleOf(1)))]))?
            }
            Expr::Binary(op, ty, pair) => {
                let (left, right) = (self.value(&pair.0), self.value(&pair.1));
                let [left_moves, right_moves] = flow(self.program.data_model.pointer(), *op, *ty, pair);
                self.moved([(left, left_moves), (right, right_moves)])
            }
            Expr::Cast(ty, operand) => {
                let operand = self.value(operand)?;
                (*ty != IntType::BOOL).then_some(operand)
            }
            Expr::IfThenElse(three) => {
                self.value(&three.0);
                let arms = [self.value(&three.1), self.value(&three.2)];
                self.moved(arms.map(|arm| (arm, Some(Shift::By(0)))))
            }
            Expr::Overflows(_, _, pair) => {
                self.value(&pair.0);
                self.value(&pair.1);
                None
            }
            Expr::Valid(operand, _) => {
                self.value(operand);
                None
            }
            Expr::Old(operand) => self.value(operand),
        }
    }

    fn moved<const N: usize>(&mut self, operands: [(Option<Node>, Option<Shift>); N]) -> Option<Node> {
        let moves: Vec<(Node, Shift)> =
            operands.into_iter().filter_map(|(node, shift)| Some((node?, shift?))).collect();
        if moves.is_empty() {
            return None;
        }
        let result = self.solver.node();
        for (node, shift) in moves {
            match shift {
                Shift::By(0) => self.solver.copy(node, result),
                shift => self.solver.shift(node, shift, result),
            }
        }
        Some(result)
    }
}
