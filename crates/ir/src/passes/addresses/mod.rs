//! Where a program's behaviour depends on what C leaves open about addresses.
//!
//! The machine gives each object an address (`semantics/address.rs`), engines that prove give some objects
//! others, and no two allocations the same one. A program cannot tell the difference but by
//! 1. the *numbers* that addresses are: the order of addresses in different objects, their distance, their
//!    digits;
//! 2. an address that is *used again*: one of an object that has been freed, or that was on a stack, is equal
//!    to the address of a new one.
//!
//! [`note`] looks for comparisons, faults, sizes and accesses that depend on either, and adds an assumption
//! that limits proofs for each. Over-approximates: where nothing is found, all places that objects may have
//! give the same executions, up to the numbers themselves. What an address shows in spite of that: its low
//! bits, as far as the alignment of its object goes; that it is not 0, and in no page at either end of
//! memory; whether it is equal to another one (an address just after an object may be that of another object:
//! that is noted where the distance is a constant).
//!
//! Where the order of a few static objects is all that shows, it becomes an input (`order.rs`), and nothing
//! is noted. Other comparisons of numbers may have any result, beside that which they have in the machine
//! (`open.rs`): this is noted, and proofs hold for all results.
//!
//! A number may become an address without being computed from one: where a branch depends on digits, or by
//! counting up to it. So where addresses are compared as numbers, accesses at numbers that were not computed
//! from any address are noted, too, and so are those at inputs where digits or distances are compared.
//!
//! An execution of the machine is one for places that objects may really have, so violations stay what they
//! are. Where addresses that are used again can be seen, the machine may use them again
//! ([`Program::reuses_addresses`]).

mod numbers;
mod open;
mod order;
mod reused;

use super::points_to::{Offset, Pointee};
use crate::expr::{BinaryOp, Expr, PointerArithmetic};
use crate::ids::{ObjectId, TemplateId};
use crate::op::{Callee, Lhs, Op, Rhs};
use crate::program::{Assumption, Program, Span, Storage};
use crate::types::{IntType, Value};
use numbers::{Numbers, Shows};
use open::Opened;
use order::{Comparison, Whereabouts};

/// No object is so near to either end of memory.
const PAGE: Value = 4096;
/// No more than this many places are named of each kind.
const MOST_NOTES: usize = 4;

/// The assumption of places where numbers of addresses decide something.
pub const NUMBERS: &str =
    "what happens here depends on the order, the distance or the digits of addresses, which C leaves open";
const REUSED: &str = "here an address is compared that may have been freed and given out again";
const STACKED: &str =
    "here the address of a local is compared that may be gone, so that its place is used again";
const BESIDE: &str =
    "here an address just after an object is compared with that of another one, which may be equal";
const GUESSED: &str = "here a number is used as an address that was not computed from one, but may have been found by comparing with one";

/// Adds an assumption for each place at which a program depends on the numbers of addresses, or on their
/// being used again. Comparisons of addresses in a few static objects become inputs, if nothing else depends
/// on numbers.
pub fn note(program: &mut Program) {
    let mut observer = Observer::new(program);
    observer.run();
    let Observer { found, comparisons, mut opened, mut unfounded, at_inputs, guesses, .. } = observer;
    let are_numbers_seen = !opened.is_empty() || found.iter().any(|(text, _)| *text == NUMBERS);
    if are_numbers_seen {
        unfounded.extend(at_inputs);
    }
    if guesses || are_numbers_seen {
        add_notes(program, GUESSED, unfounded, true);
    }
    program.reuses_addresses |= found.iter().any(|(text, _)| *text == REUSED);
    let is_order_alone = opened.is_empty() && found.iter().all(|(text, _)| *text != NUMBERS);
    if !(is_order_alone && order::settle(program, &comparisons)) {
        let unsettled = comparisons.into_iter().map(|comparison| Opened {
            template: comparison.template,
            expr: comparison.expr,
            span: comparison.span,
        });
        opened.extend(unsettled);
    }
    open::open(program, &opened);
    let opened: Vec<Span> = opened.iter().map(|opened| opened.span).collect();
    for kind in [NUMBERS, REUSED, STACKED, BESIDE] {
        let spans = found.iter().filter(|(text, _)| *text == kind).map(|(_, span)| *span);
        add_notes(program, kind, spans.collect(), true);
    }
    add_notes(program, NUMBERS, opened, false);
}

fn add_notes(program: &mut Program, text: &str, mut spans: Vec<Span>, limits_proof: bool) {
    spans.sort_unstable();
    spans.dedup_by_key(|span| (span.file, span.line));
    let note = |span| Assumption { text: text.to_owned(), span, limits_proof };
    program.assumptions.extend(spans.into_iter().take(MOST_NOTES).map(note));
}

/// Whether a comparison with the least or the greatest number of its type has the same result for all
/// numbers.
fn is_settled(op: BinaryOp, ty: IntType, (left, right): &(Expr, Expr)) -> bool {
    let is = |expr: &Expr, number: Value| matches!(expr, Expr::Const(value, _) if *value == number);
    match op {
        BinaryOp::Le => is(right, ty.max()) || is(left, ty.min()),
        BinaryOp::Lt => is(right, ty.min()) || is(left, ty.max()),
        _ => false,
    }
}

/// A comparison of the order of two addresses, without casts.
struct Order {
    template: TemplateId,
    op: BinaryOp,
    pair: (Expr, Expr),
    span: Span,
}

/// What is cast.
fn without_casts(expr: &Expr) -> Expr {
    let mut expr = expr;
    while let Expr::Cast(_, operand) = expr {
        expr = operand;
    }
    expr.clone()
}

struct Observer<'p> {
    program: &'p Program,
    numbers: Numbers<'p>,
    found: Vec<(&'static str, Span)>,
    /// Comparisons that show the order of some static objects only.
    comparisons: Vec<Comparison>,
    /// Comparisons whose result depends on numbers.
    opened: Vec<Opened>,
    /// Comparisons of the order of two addresses.
    orders: Vec<Order>,
    /// Accesses at numbers that were not computed from any address.
    unfounded: Vec<Span>,
    /// Accesses at inputs, perhaps.
    at_inputs: Vec<Span>,
    /// Whether an address is compared with a number that is none and no constant.
    guesses: bool,
}

impl<'p> Observer<'p> {
    fn new(program: &'p Program) -> Self {
        let numbers = Numbers::of(program);
        Self {
            program,
            numbers,
            found: Vec::new(),
            comparisons: Vec::new(),
            opened: Vec::new(),
            orders: Vec::new(),
            unfounded: Vec::new(),
            at_inputs: Vec::new(),
            guesses: false,
        }
    }

    fn run(&mut self) {
        // Whatever stands in a function that nobody calls, no execution depends on it.
        let reached = numbers::reached(self.program, &self.numbers.points_to);
        for (template, code) in self.program.templates.enumerate().filter(|(id, _)| reached[*id]) {
            for edge in &code.edges {
                edge.ops.iter().for_each(|op| self.operation(template, op, edge.span));
            }
        }
        self.both_orders();
    }

    fn note(&mut self, text: &'static str, span: Span) {
        self.found.push((text, span));
    }

    fn operation(&mut self, template: TemplateId, op: &Op, span: Span) {
        for expr in op.expressions() {
            let mut inner = Vec::new();
            expr.walk(&mut |expr| inner.push(expr));
            inner.into_iter().for_each(|expr| self.expression(template, expr, span));
        }
        for lhs in op.targets() {
            if let Lhs::Memory(place) = lhs {
                self.address(template, &place.address, span);
            }
        }
        match op {
            Op::Assume(_) | Op::Broadcast(_) => {}
            Op::Assign(assignment) => {
                for (_, rhs) in &assignment.pairs {
                    if let Rhs::Float(_, _, operands) = rhs {
                        operands.iter().for_each(|operand| self.amount(template, operand, span));
                    }
                }
            }
            Op::Lock(_, address) | Op::Unlock(_, address) | Op::Free(address) => {
                self.address(template, address, span);
            }
            Op::Spawn(callee, ..) | Op::Call(callee, ..) => {
                if let Callee::Pointer(pointer) = callee {
                    self.address(template, pointer, span);
                }
            }
            Op::Join(thread, _) => {
                if self.numbers.shows(template, thread).is_number() {
                    self.note(NUMBERS, span);
                }
            }
            Op::Allocate { size, .. } => self.amount(template, size, span),
            Op::Fill(to, _, size) => {
                self.address(template, to, span);
                self.amount(template, size, span);
            }
            Op::Copy(to, from, size) => {
                self.address(template, to, span);
                self.address(template, from, span);
                self.amount(template, size, span);
            }
        }
    }

    /// An address that is used for an access.
    fn address(&mut self, template: TemplateId, address: &Expr, span: Span) {
        if self.numbers.shows(template, address).has(Shows::DIGITS) {
            self.note(NUMBERS, span);
        }
        let is_constant = matches!(address, Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_));
        if is_constant {
            return;
        }
        let pointees = self.numbers.points_to.pointees(template, address);
        if pointees.is_empty() {
            self.unfounded.push(span);
        } else if pointees.iter().any(|pointee| matches!(pointee, Pointee::Input(_))) {
            self.at_inputs.push(span);
        }
    }

    /// A number of bytes.
    fn amount(&mut self, template: TemplateId, amount: &Expr, span: Span) {
        if self.numbers.shows(template, amount) != Shows::NOTHING {
            self.note(NUMBERS, span);
        }
    }

    fn expression(&mut self, template: TemplateId, expr: &Expr, span: Span) {
        match expr {
            Expr::Const(..) | Expr::Local(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => {}
            Expr::Unary(..) | Expr::IfThenElse(_) | Expr::Old(_) => {}
            Expr::Load(place) => self.address(template, &place.address, span),
            Expr::Valid(address, _) => self.address(template, address, span),
            Expr::Cast(ty, operand) => {
                if *ty == IntType::BOOL && self.numbers.shows(template, operand).is_number() {
                    if self.numbers.shows(template, operand).has(Shows::PAIRED) {
                        self.note(REUSED, span);
                    }
                    self.opened.push(Opened { template, expr: expr.clone(), span });
                }
            }
            Expr::Overflows(_, _, pair) => {
                self.amount(template, &pair.0, span);
                self.amount(template, &pair.1, span);
            }
            Expr::Binary(_, IntType::BOOL, _) => {}
            Expr::Binary(BinaryOp::Lt, _, pair) if self.asks_for_object(template, pair) => {}
            Expr::Binary(op, ty, pair) if is_settled(*op, *ty, pair) => {}
            Expr::Binary(op, ty, pair) => {
                let shows = [&pair.0, &pair.1].map(|operand| self.numbers.shows(template, operand));
                // What was computed from addresses may lead from one object into another.
                let arithmetic = PointerArithmetic::of(self.program.data_model.pointer(), *op, *ty, pair);
                if arithmetic == Some(PointerArithmetic::Move) && shows[1] != Shows::NOTHING {
                    self.note(NUMBERS, span);
                }
                if shows != [Shows::NOTHING; 2] {
                    self.binary(template, (*op, *ty), pair, shows, span);
                }
            }
        }
    }

    fn binary(
        &mut self,
        template: TemplateId,
        (op, ty): (BinaryOp, IntType),
        pair: &(Expr, Expr),
        [left, right]: [Shows; 2],
        span: Span,
    ) {
        let depends = match op {
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => right != Shows::NOTHING,
            // A signed product may leave its range, a sum with digits, too, and, in a small memory, any sum.
            BinaryOp::Mul => ty.signed,
            BinaryOp::Add | BinaryOp::Sub => {
                let stays = op == BinaryOp::Sub && self.numbers.in_one_object(template, &pair.0, &pair.1);
                let digits = left.or(right).has(Shows::PART.or(Shows::DIGITS));
                ty.signed && (digits || (ty.bits <= 32 && !stays))
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => false,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => {
                let equality = matches!(op, BinaryOp::Eq | BinaryOp::Ne);
                match (left, right) {
                    _ if left.is_number() || right.is_number() => true,
                    (Shows::ADDRESS, Shows::ADDRESS) if equality => {
                        self.equality(template, pair, span);
                        false
                    }
                    (Shows::ADDRESS, Shows::ADDRESS) => {
                        let stays = self.numbers.in_one_object(template, &pair.0, &pair.1);
                        if !stays {
                            let pair = (without_casts(&pair.0), without_casts(&pair.1));
                            self.orders.push(Order { template, op, pair, span });
                        }
                        !stays && !self.is_order(template, (op, ty), pair, span)
                    }
                    (Shows::ADDRESS, _) => self.is_seen_by(&pair.1, equality),
                    (_, _) => self.is_seen_by(&pair.0, equality),
                }
            }
        };
        if depends && op.is_comparison() {
            let are_several = left != Shows::NOTHING && right != Shows::NOTHING;
            let both = left.or(right);
            if both.has(Shows::PAIRED) || (are_several && both.has(Shows::OLD)) {
                self.note(REUSED, span);
            }
            let expr = Expr::Binary(op, ty, Box::new(pair.clone()));
            self.opened.push(Opened { template, expr, span });
        } else if depends {
            self.note(NUMBERS, span);
        }
    }

    /// Whether a comparison asks if an address is in a static object: if its distance from there, as an
    /// unsigned number, is less than a constant, which is at most the object's size. Objects are apart
    /// wherever they are; only what is just after an object may be the start of another one.
    fn asks_for_object(&self, template: TemplateId, (distance, most): &(Expr, Expr)) -> bool {
        let (Expr::Binary(BinaryOp::Sub, ty, inner), Expr::Const(most, _)) = (distance, most) else {
            return false;
        };
        let (address, Expr::Address(object, 0)) = (&inner.0, &inner.1) else { return false };
        let size = |object: ObjectId| self.program.objects[object].size;
        let is_inside = |pointee: &Pointee| match pointee {
            Pointee::Cell(target, Offset::At { at, loose }) => {
                *loose != 0 || self.program.objects[*target].storage == Storage::Site || *at < size(*target)
            }
            Pointee::Cell(_, Offset::Every { .. }) | Pointee::Procedure(_) => true,
            Pointee::Anything | Pointee::Input(_) | Pointee::Part => false,
        };
        *ty == self.program.data_model.pointer().unsigned()
            && self.program.objects[*object].storage == Storage::Static
            && (1..=Value::from(size(*object))).contains(most)
            && self.numbers.shows(template, address) == Shows::ADDRESS
            && self.numbers.points_to.pointees(template, address).iter().all(is_inside)
    }

    /// Takes note of a comparison that shows the order of some static objects only; says whether it is one.
    fn is_order(
        &mut self,
        template: TemplateId,
        (op, ty): (BinaryOp, IntType),
        pair: &(Expr, Expr),
        span: Span,
    ) -> bool {
        let mut loads = false;
        [&pair.0, &pair.1].into_iter().for_each(|operand| {
            operand.walk(&mut |inner| loads |= matches!(inner, Expr::Load(_)));
        });
        if loads || ty != self.program.data_model.pointer() {
            return false;
        }
        let [Some(left), Some(right)] = [&pair.0, &pair.1].map(|operand| self.whereabouts(template, operand))
        else {
            return false;
        };
        let expr = Expr::Binary(op, ty, Box::new(pair.clone()));
        if !self.comparisons.iter().any(|known| known.template == template && known.expr == expr) {
            self.comparisons.push(Comparison { template, expr, operands: [left, right], span });
        }
        true
    }
    /// The static objects that an address may be in; `None` when it may be in others.
    fn whereabouts(&self, template: TemplateId, address: &Expr) -> Option<Whereabouts> {
        let mut found: Whereabouts = Vec::new();
        for pointee in self.numbers.points_to.pointees(template, address) {
            let Pointee::Cell(object, offset) = pointee else { return None };
            if self.program.objects[object].storage != Storage::Static {
                return None;
            }
            let at = match offset {
                Offset::At { at, loose: 0 } => Some(at),
                Offset::At { .. } | Offset::Every { .. } => None,
            };
            match found.iter_mut().find(|(known, _)| *known == object) {
                Some((_, offsets)) => match (offsets.as_mut(), at) {
                    (Some(offsets), Some(at)) => offsets.push(at),
                    (_, _) => *offsets = None,
                },
                None => found.push((object, at.map(|at| vec![at]))),
            }
        }
        Some(found)
    }

    /// Whether the number of an address decides its comparison with something that is no address.
    fn is_seen_by(&mut self, other: &Expr, equality: bool) -> bool {
        let pointer = self.program.data_model.pointer().unsigned();
        match other {
            Expr::Const(value, _) => (PAGE..=pointer.max() - PAGE).contains(&pointer.wrap(*value)),
            Expr::Cast(_, operand) if matches!(**operand, Expr::Const(..)) => {
                self.is_seen_by(operand, equality)
            }
            // Numbers that were not computed from an address are none (assumption 14), unless they are used
            // as one.
            _ => {
                self.guesses = true;
                !equality
            }
        }
    }

    /// Two addresses are compared for equality.
    fn equality(&mut self, template: TemplateId, pair: &(Expr, Expr), span: Span) {
        if self.numbers.in_one_object(template, &pair.0, &pair.1) {
            return;
        }
        let places = [&pair.0, &pair.1].map(|operand| self.places(template, operand));
        let storage = |object: ObjectId| self.program.objects[object].storage;
        let [reused, stacked] = self.are_reused(&places);
        let is_end = |(object, offset): &(ObjectId, Offset)| match offset {
            Offset::At { at, loose } => *loose == 0 && *at == self.program.objects[*object].size,
            Offset::Every { .. } => false,
        };
        let is_start = |offset: &Offset| match offset {
            Offset::At { at, .. } => *at == 0,
            Offset::Every { first, .. } => *first == 0,
        };
        let beside = |ends: &[(ObjectId, Offset)], starts: &[(ObjectId, Offset)]| {
            let after = |end: &(ObjectId, Offset)| {
                let mut starts = starts.iter();
                storage(end.0) != Storage::Site
                    && is_end(end)
                    && starts.any(|(object, offset)| *object != end.0 && is_start(offset))
            };
            ends.iter().any(after)
        };
        let beside = beside(&places[0], &places[1]) || beside(&places[1], &places[0]);
        for (text, holds) in [(REUSED, reused), (STACKED, stacked), (BESIDE, beside)] {
            if holds {
                self.note(text, span);
            }
        }
    }

    /// Whether one of two addresses may be that of an object that was freed, or that is gone from a stack,
    /// while the other one is that of an object in its place.
    fn are_reused(&self, places: &[Vec<(ObjectId, Offset)>; 2]) -> [bool; 2] {
        let storage = |object: ObjectId| self.program.objects[object].storage;
        let any = |side: usize, test: &dyn Fn(ObjectId) -> bool| {
            places[side].iter().any(|(object, _)| test(*object))
        };
        let (is_freed, is_site) = (
            |object: ObjectId| self.numbers.reused.freed[object],
            |object: ObjectId| storage(object) == Storage::Site,
        );
        let is_dangling = |object: ObjectId| self.numbers.reused.dangling[object];
        let is_stacked = |object: ObjectId| match storage(object) {
            Storage::Frame(_) | Storage::ThreadLocal => true,
            Storage::Static | Storage::Site => false,
        };
        let crosses = |one: &dyn Fn(ObjectId) -> bool, other: &dyn Fn(ObjectId) -> bool| {
            (any(0, one) && any(1, other)) || (any(1, one) && any(0, other))
        };
        [crosses(&is_freed, &is_site), crosses(&is_dangling, &is_stacked)]
    }

    /// Takes note of two comparisons by order that together show whether two addresses are equal.
    fn both_orders(&mut self) {
        let orders = std::mem::take(&mut self.orders);
        for (number, one) in orders.iter().enumerate() {
            let is_other = |other: &Order| {
                let (pair, turned) = (&other.pair, (&other.pair.1, &other.pair.0));
                let is_same = one.pair == *pair;
                let is_turned = (&one.pair.0, &one.pair.1) == turned;
                other.template == one.template && ((is_same && other.op != one.op) || is_turned)
            };
            if let Some(other) = orders[..number].iter().find(|other| is_other(other)) {
                let places = [&one.pair.0, &one.pair.1].map(|operand| self.places(one.template, operand));
                let [reused, stacked] = self.are_reused(&places);
                for (text, holds) in [(REUSED, reused), (STACKED, stacked)] {
                    if holds {
                        self.note(text, one.span);
                        self.note(text, other.span);
                    }
                }
            }
        }
    }

    /// The places that a value may be the address of.
    fn places(&self, template: TemplateId, expr: &Expr) -> Vec<(ObjectId, Offset)> {
        let mut found = Vec::new();
        for pointee in self.numbers.points_to.pointees(template, expr) {
            match pointee {
                Pointee::Cell(object, offset) => found.push((object, offset)),
                Pointee::Anything => {
                    let objects = self.numbers.points_to.escaped_objects().iter();
                    found.extend(objects.map(|object| (*object, Offset::ANYWHERE)));
                }
                Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A comparison that is said to be settled has one result for all numbers, and those with the ends of a
    /// type are said to be.
    #[test]
    fn settled_comparisons_have_one_result() {
        for ty in [IntType::U8, IntType::I8] {
            for constant in ty.min()..=ty.max() {
                for op in [BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le] {
                    for is_left in [false, true] {
                        let holds = |number: Value| {
                            let (left, right) = if is_left { (constant, number) } else { (number, constant) };
                            match op {
                                BinaryOp::Eq => left == right,
                                BinaryOp::Ne => left != right,
                                BinaryOp::Lt => left < right,
                                _ => left <= right,
                            }
                        };
                        let results: Vec<bool> = (ty.min()..=ty.max()).map(holds).collect();
                        let is_same = results.iter().all(|result| *result == results[0]);
                        let (number, constant) = (Expr::Local(crate::LocalId(0)), Expr::int(constant, ty));
                        let pair = if is_left { (constant, number) } else { (number, constant) };
                        assert_eq!(is_settled(op, ty, &pair), is_same, "{op:?} {pair:?}");
                    }
                }
            }
        }
    }
}
