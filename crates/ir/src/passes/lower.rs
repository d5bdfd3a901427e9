//! Property lowering: violations of the property become error locations, and no others remain.
//!
//! [`lower`] keeps the wanted kinds of errors; an unwanted one ends the program ([`LocationKind::Halt`]: a
//! failing assertion aborts). It splits shared accesses (see `split.rs`) and then, for accesses (`bounds`)
//! and signed arithmetic (`overflow`), adds, next to an edge, one edge for each check of its operations that
//! can fail. Such an edge performs the operations before, assumes that all earlier checks of its operation
//! pass, and that this one fails; it can be taken in exactly the states in which the operation would fault.
//! The guards read no plain shared memory: the operation reads it into a local first. Since a check and its
//! operation are alternatives in one state, no interference is possible between them.
//!
//! Exact, with these limits:
//! 1. Bounds are those of live objects. An access based on the address of a named object (`&a + index`) is
//!    checked against that object; one through a pointer is checked against whatever object is there.
//! 2. `Fill` and `Copy` of a size that is not constant check their first and last byte, and that both are in
//!    one object.
//! 3. Front ends test what is freed ([`ErrorKind::InvalidFree`]): by itself, freeing memory that was not
//!    allocated ends the execution without an error.
//! 4. A call through a pointer is checked against the procedures whose addresses are taken, whatever their
//!    types.
//! 5. Loads happen before the arithmetic next to them, and a check evaluates only its own operands. So if
//!    several checks of one operation fail, any of them may be reported; C leaves this order open.
//! 6. The constraints of assignments are not checked: they are specifications, not computations.

use super::sharing::base_object;
use super::split::{Amount, split_to};
use crate::expr::{BinaryOp, Expr, Place, UnaryOp};
use crate::ids::{Id, IdVec, LocationId, ObjectId, TemplateId};
use crate::op::{Callee, Lhs, Op, Rhs};
use crate::program::{Edge, ErrorKind, Initial, LocationKind, Object, Program, Template, Waiting};
use crate::types::{IntType, Value};
use std::collections::BTreeSet;

/// The errors to look for. All others do not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lowering {
    /// No assertion fails.
    pub assertions: bool,
    /// The error function is not called.
    pub reach_error: bool,
    /// No access lies outside of any object.
    pub bounds: bool,
    /// Only what was allocated is given back, and only once.
    pub frees: bool,
    /// No signed operation leaves its range.
    pub overflow: bool,
    /// Threads do not wait for ever: keeps code that only this check needs ([`Waiting::Tracked`]).
    pub deadlock: bool,
    /// Threads do not race: keeps code that only this check needs ([`Waiting::Racing`]).
    pub races: bool,
}

impl Lowering {
    /// Whether an error of this kind counts.
    pub fn wants(self, kind: ErrorKind) -> bool {
        match kind {
            ErrorKind::ReachError => self.reach_error,
            ErrorKind::Assertion => self.assertions,
            ErrorKind::InvalidAccess => self.bounds,
            ErrorKind::Overflow => self.overflow,
            ErrorKind::InvalidFree => self.frees,
        }
    }
}

/// Lowers a program for a property, and splits its shared accesses.
pub fn lower(program: &Program, lowering: Lowering) -> Program {
    let has_checks = lowering.bounds || lowering.overflow;
    let mut selected = program.clone();
    select_marked(&mut selected, Waiting::Tracked, lowering.deadlock);
    select_marked(&mut selected, Waiting::Racing, lowering.races);
    let mut result = split_to(&selected, if has_checks { Amount::OneAccessAlone } else { Amount::OneAccess });
    select_errors(&mut result, lowering);
    if has_checks {
        let procedures = procedures_with_address(&result);
        let Program { objects, templates, data_model, .. } = &mut result;
        for template in templates.iter_mut() {
            let pointer = data_model.pointer();
            let checker = Checker { objects, procedures: &procedures, pointer, lowering };
            checker.run(template);
        }
    }
    result
}

/// Removes code that only another check needs: edges to locations with its mark ([`Waiting::Tracked`],
/// [`Waiting::Racing`]), and what only these lead to. For the check itself, removes the plain jumps next to
/// them, which the other checks use.
pub fn select_marked(program: &mut Program, mark: Waiting, keep: bool) {
    for template in program.templates.iter_mut() {
        let marked = |edge: &Edge| template.locations[edge.target].waiting == mark;
        let outgoing = template.outgoing();
        let chooses = |source: LocationId| outgoing[source].iter().any(|edge| marked(&template.edges[*edge]));
        if !template.edges.iter().any(marked) {
            continue;
        }
        template.edges = template
            .edges
            .iter()
            .filter(|edge| if keep { !edge.ops.is_empty() || !chooses(edge.source) } else { !marked(edge) })
            .cloned()
            .collect();
        let outgoing = template.outgoing();
        let mut reached = vec![false; template.locations.len()];
        let mut work = vec![template.entry];
        while let Some(location) = work.pop() {
            if !std::mem::replace(&mut reached[location.index()], true) {
                work.extend(outgoing[location].iter().map(|edge| template.edges[*edge].target));
            }
        }
        let edges = template.edges.iter().filter(|edge| reached[edge.source.index()]).cloned().collect();
        template.edges = edges;
    }
}

/// The procedures whose addresses are used as values, in order.
fn procedures_with_address(program: &Program) -> Vec<TemplateId> {
    let mut found = BTreeSet::new();
    let mut look = |expr: &Expr| {
        expr.walk(&mut |inner| {
            if let Expr::Procedure(id) = inner {
                found.insert(*id);
            }
        });
    };
    for object in &program.objects {
        if let Initial::Values(values) = &object.initial {
            values.iter().for_each(|(_, _, value)| look(value));
        }
    }
    let ops = program.templates.iter().flat_map(|template| &template.edges).flat_map(|edge| &edge.ops);
    ops.flat_map(Op::expressions).for_each(look);
    found.into_iter().collect()
}

/// Turns unwanted error locations into ends of the program. Front ends reach an invalid access or an invalid
/// free by an extra edge next to those on which the program continues, so that edge is removed.
pub fn select_errors(program: &mut Program, lowering: Lowering) {
    for kind in [ErrorKind::InvalidAccess, ErrorKind::InvalidFree] {
        if lowering.wants(kind) {
            continue;
        }
        for Template { locations, edges, .. } in program.templates.iter_mut() {
            let is_kept = |edge: &&Edge| locations[edge.target].kind != LocationKind::Error(kind);
            *edges = edges.iter().filter(is_kept).cloned().collect();
        }
    }
    for location in program.templates.iter_mut().flat_map(|template| template.locations.iter_mut()) {
        if let LocationKind::Error(kind) = location.kind
            && !lowering.wants(kind)
        {
            location.kind = LocationKind::Halt;
        }
    }
}

/// A check of an operation.
struct Check {
    /// True if and only if it fails; does not fault if all earlier checks passed.
    fails: Expr,
    kind: ErrorKind,
}

struct Checker<'a> {
    objects: &'a IdVec<ObjectId, Object>,
    /// The procedures whose addresses are taken.
    procedures: &'a [TemplateId],
    pointer: IntType,
    lowering: Lowering,
}

/// The checks of one operation so far, and the conditions under which the next part is evaluated.
#[derive(Default)]
struct Checks {
    found: Vec<Check>,
    conditions: Vec<Expr>,
}

impl Checks {
    fn add(&mut self, kind: ErrorKind, fails: Expr) {
        let when = |fails, condition: &Expr| {
            Expr::IfThenElse(Box::new((condition.clone(), fails, Expr::bool(false))))
        };
        let fails = self.conditions.iter().rev().fold(fails, when);
        self.found.push(Check { fails, kind });
    }
}

impl Checker<'_> {
    fn run(&self, template: &mut Template) {
        let mut errors: Vec<(ErrorKind, LocationId)> = Vec::new();
        let mut added: Vec<Edge> = Vec::new();
        let outgoing = template.outgoing();
        for edges in &outgoing {
            let first_added = added.len();
            for edge in edges {
                let Edge { source, ops, span, .. } = template.edges[*edge].clone();
                for (index, op) in ops.iter().enumerate() {
                    let mut checks = Checks::default();
                    self.op(op, &mut checks);
                    let mut before = ops[..index].to_vec();
                    for Check { fails, kind } in checks.found {
                        let target = match errors.iter().find(|(known, _)| *known == kind) {
                            Some((_, location)) => *location,
                            None => {
                                let location = template.location(LocationKind::Error(kind), false);
                                errors.push((kind, location));
                                location
                            }
                        };
                        let mut ops = before.clone();
                        ops.push(Op::Assume(fails.clone()));
                        before.push(Op::Assume(fails.not()));
                        // Both arms of a conditional have the same checks.
                        if !added[first_added..]
                            .iter()
                            .any(|known| known.target == target && known.ops == ops)
                        {
                            added.push(Edge { source, target, ops, span });
                        }
                    }
                }
            }
        }
        added.into_iter().for_each(|edge| {
            template.edges.push(edge);
        });
    }

    fn op(&self, op: &Op, checks: &mut Checks) {
        match op {
            Op::Assume(operand) | Op::Join(operand, None) | Op::Free(operand) => self.expr(operand, checks),
            Op::Assign(assignment) => {
                for (lhs, rhs) in &assignment.pairs {
                    if let Rhs::Value(value) = rhs {
                        self.expr(value, checks);
                    }
                    self.lhs(lhs, checks);
                }
            }
            Op::Lock(kind, address) | Op::Unlock(kind, address) => {
                self.expr(address, checks);
                self.access(address, kind.bytes(), checks);
            }
            Op::Spawn(callee, arguments, lhs) | Op::Call(callee, arguments, lhs) => {
                if let Callee::Pointer(pointer) = callee {
                    self.expr(pointer, checks);
                }
                arguments.iter().for_each(|argument| self.expr(argument, checks));
                if let (Callee::Pointer(pointer), true) = (callee, self.lowering.bounds) {
                    checks.add(ErrorKind::InvalidAccess, self.is_no_procedure(pointer));
                }
                lhs.iter().for_each(|lhs| self.lhs(lhs, checks));
            }
            Op::Join(operand, Some(lhs)) | Op::Allocate { size: operand, result: lhs, .. } => {
                self.expr(operand, checks);
                self.lhs(lhs, checks);
            }
            Op::Broadcast(broadcast) => {
                broadcast.arguments.iter().for_each(|(_, argument)| self.expr(argument, checks));
            }
            Op::Fill(to, byte, size) => {
                [to, byte, size].into_iter().for_each(|operand| self.expr(operand, checks));
                self.range(to, size, checks);
            }
            Op::Copy(to, from, size) => {
                [to, from, size].into_iter().for_each(|operand| self.expr(operand, checks));
                self.range(from, size, checks);
                self.range(to, size, checks);
            }
        }
    }

    fn lhs(&self, lhs: &Lhs, checks: &mut Checks) {
        match lhs {
            Lhs::Local(_) => {}
            Lhs::Memory(place) => self.place(place, checks),
        }
    }

    fn place(&self, place: &Place, checks: &mut Checks) {
        self.expr(&place.address, checks);
        self.access(&place.address, place.ty.bytes(), checks);
    }

    /// Checks what an expression computes, inner parts first.
    fn expr(&self, expr: &Expr, checks: &mut Checks) {
        match expr {
            Expr::Const(..) | Expr::Local(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => {}
            Expr::Load(place) => self.place(place, checks),
            Expr::Unary(UnaryOp::Neg, ty, operand) => {
                self.expr(operand, checks);
                self.arithmetic(BinaryOp::Sub, *ty, (Expr::Const(0, *ty), (**operand).clone()), checks);
            }
            Expr::Unary(UnaryOp::Not, _, operand) | Expr::Cast(_, operand) | Expr::Valid(operand, _) => {
                self.expr(operand, checks);
            }
            Expr::Binary(op, ty, pair) => {
                self.expr(&pair.0, checks);
                self.expr(&pair.1, checks);
                self.arithmetic(*op, *ty, (**pair).clone(), checks);
            }
            Expr::Overflows(_, _, pair) => {
                self.expr(&pair.0, checks);
                self.expr(&pair.1, checks);
            }
            Expr::IfThenElse(three) => {
                self.expr(&three.0, checks);
                checks.conditions.push(three.0.clone());
                self.expr(&three.1, checks);
                checks.conditions.pop();
                checks.conditions.push(three.0.clone().not());
                self.expr(&three.2, checks);
                checks.conditions.pop();
            }
            // Occurs only in constraints.
            Expr::Old(_) => {}
        }
    }

    fn arithmetic(&self, op: BinaryOp, ty: IntType, operands: (Expr, Expr), checks: &mut Checks) {
        let can_overflow = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl => {
                ty.signed
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shr => false,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => false,
        };
        if self.lowering.overflow && matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            self.shift(op, ty, &operands, checks);
        }
        if self.lowering.overflow && can_overflow && !never_overflows(op, ty, &operands) {
            checks.add(ErrorKind::Overflow, Expr::Overflows(op, ty, Box::new(operands)));
        }
    }

    /// Checks that a shift is defined in C: the distance is less than the width, and a value that is shifted
    /// to the left is not negative. (Whether the result fits is a separate check.)
    fn shift(&self, op: BinaryOp, ty: IntType, (value, distance): &(Expr, Expr), checks: &mut Checks) {
        let width = Value::from(ty.bits);
        let is_short = matches!(distance, Expr::Const(distance, _) if (0..width).contains(distance));
        if !is_short {
            // A negative distance becomes a huge one.
            let distance = Expr::cast(IntType::U64, distance.clone());
            let short = Expr::binary(BinaryOp::Lt, IntType::U64, distance, Expr::int(width, IntType::U64));
            checks.add(ErrorKind::Overflow, short.not());
        }
        let is_positive = matches!(value, Expr::Const(0.., _));
        if op == BinaryOp::Shl && ty.signed && !is_positive {
            let negative = Expr::binary(BinaryOp::Lt, ty, value.clone(), Expr::int(0, ty));
            checks.add(ErrorKind::Overflow, negative);
        }
    }

    /// Checks an access of a constant size.
    fn access(&self, address: &Expr, size: u64, checks: &mut Checks) {
        if self.lowering.bounds
            && let Some(fails) = self.out_of_bounds(address, size)
        {
            checks.add(ErrorKind::InvalidAccess, fails);
        }
    }

    /// Whether a pointer is the address of no procedure.
    fn is_no_procedure(&self, pointer: &Expr) -> Expr {
        let mut tests: Vec<Expr> = self
            .procedures
            .iter()
            .map(|id| Expr::binary(BinaryOp::Ne, self.pointer, pointer.clone(), Expr::Procedure(*id)))
            .collect();
        // A balanced conjunction, so that it does not become deep.
        while tests.len() > 1 {
            let pairs = tests.chunks(2).map(|pair| pair.iter().cloned().reduce(Expr::and));
            tests = pairs.map(|test| test.unwrap_or(Expr::bool(true))).collect();
        }
        tests.pop().unwrap_or(Expr::bool(true))
    }

    /// Whether an access leaves its object; `None` when it never does.
    fn out_of_bounds(&self, address: &Expr, size: u64) -> Option<Expr> {
        let Some(object) = base_object(address) else {
            return Some(Expr::Valid(Box::new(address.clone()), size).not());
        };
        let room = self.objects[object].size.checked_sub(size);
        match (address, room) {
            (Expr::Address(_, offset), Some(room)) if *offset <= room => None,
            (_, None) => Some(Expr::bool(true)),
            (_, Some(room)) => {
                let room = Expr::int(Value::from(room), self.pointer);
                Some(Expr::binary(BinaryOp::Le, self.pointer, self.offset(address), room).not())
            }
        }
    }

    /// The offset of an address in its base object; it wraps around.
    fn offset(&self, address: &Expr) -> Expr {
        match address {
            Expr::Address(_, offset) => Expr::int(Value::from(*offset), self.pointer),
            Expr::Binary(op, ty, pair) => Expr::binary(*op, *ty, self.offset(&pair.0), pair.1.clone()),
            other => other.clone(),
        }
    }

    /// Checks an access of a size that is computed.
    fn range(&self, address: &Expr, size: &Expr, checks: &mut Checks) {
        if !self.lowering.bounds {
            return;
        }
        if let Expr::Const(size, _) = size {
            if let Ok(size @ 1..) = u64::try_from(*size) {
                self.access(address, size, checks);
            }
            return;
        }
        let ty = self.pointer;
        let size = Expr::cast(ty, size.clone());
        let last = Expr::binary(BinaryOp::Sub, ty, size.clone(), Expr::Const(1, ty));
        // By a cast that changes nothing, the address of the last byte is computed from that of the first:
        // then both are in the same object ([`Expr::Valid`]), and so are all bytes in between.
        let start = match base_object(address) {
            Some(_) => address.clone(),
            None => Expr::cast(ty, address.clone()),
        };
        let last = Expr::binary(BinaryOp::Add, ty, start, last);
        checks.conditions.push(Expr::binary(BinaryOp::Ne, ty, size, Expr::Const(0, ty)));
        self.access(address, 1, checks);
        self.access(&last, 1, checks);
        // A huge size wraps around to an address before the first one.
        let wraps = match base_object(address) {
            Some(_) => Expr::binary(BinaryOp::Lt, ty, self.offset(&last), self.offset(address)),
            None => Expr::binary(BinaryOp::Lt, ty, last, address.clone()),
        };
        checks.add(ErrorKind::InvalidAccess, wraps);
        checks.conditions.pop();
    }
}

/// Whether constants alone show that a signed operation stays in range.
fn never_overflows(op: BinaryOp, ty: IntType, operands: &(Expr, Expr)) -> bool {
    match (op, &operands.1) {
        // Only the least value divided by -1 leaves the range.
        (BinaryOp::Div | BinaryOp::Rem, Expr::Const(divisor, _)) => *divisor != -1,
        (_, Expr::Const(right, _)) => match &operands.0 {
            Expr::Const(left, _) => match op {
                BinaryOp::Add => ty.contains(left + right),
                BinaryOp::Sub => ty.contains(left - right),
                BinaryOp::Mul => ty.contains(left * right),
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}
