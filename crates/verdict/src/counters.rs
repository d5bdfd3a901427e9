//! Counters: cells of static objects that threads take numbers from, or count themselves in.
//!
//! * A *ticket* is a local that got the value of the counter before its thread increased the counter by some
//!   increment. So the local plus the increment is at most the counter, as long as the counter only grows.
//!   Two threads' tickets differ at least by the lesser of their increments: the later one is a value of the
//!   counter that was already past the earlier one. A step that may decrease the counter, or that is not
//!   understood, must not be possible while another thread is at a location where it has a ticket.
//! * Locations have *weights*. The counter is at least the sum of the weights of the locations that all
//!   threads are at. Each possible step adds to the counter at least what it adds to the sum. A step that
//!   needs a counter too low for the weights of its own thread and of another one is not possible.
//!
//! [`CounterStep`] is the effect of one edge's operations on a counter, relative to its value before the
//! edge; all operations of an edge happen at once. Equalities from the data side of a proof relate locals to
//! the counter before the edge. All numbers are integers: signed overflow faults, and of unsigned arithmetic
//! only the addition of 1 to a value that is not the greatest is understood.

use crate::present::LocalEqualities;
use ir::passes::footprint::{Extent, Region, accesses};
use ir::passes::{Affine, PointsTo};
use ir::{
    Assignment, BinaryOp, Expr, IntType, Lhs, LocalId, ObjectId, Op, Place, Program, Rhs, Storage,
    TemplateId, UnaryOp, Value,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A counter, and the claims about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// The static object.
    pub object: ObjectId,
    /// The counter's offset in it.
    pub offset: u64,
    /// Its type.
    pub ty: IntType,
    /// The tickets that a thread has at each location, with their increments, by the numbers of locations.
    /// Empty when there are no claims about tickets.
    pub tickets: Vec<BTreeMap<LocalId, Value>>,
    /// The weight of each location, by the numbers of locations. Empty when there are no claims about
    /// weights.
    pub weights: Vec<Value>,
}

/// The effect of a thread's operations on a counter.
pub struct CounterStep<'a> {
    program: &'a Program,
    points_to: &'a PointsTo,
    template: TemplateId,
    counter: &'a Counter,
    /// Locals that are the counter's first value plus a constant.
    values: BTreeMap<LocalId, Value>,
    /// What locals are equal to.
    present: LocalEqualities,
    /// The counter is not the greatest value of its type.
    can_grow: bool,
    /// The counter's value minus its first value, if known.
    pub now: Option<Value>,
    /// The tickets that the thread has.
    pub tickets: BTreeMap<LocalId, Value>,
    /// Whether the counter may have decreased at some point.
    pub shrinks: bool,
    /// The counter's first value is at most this.
    pub at_most: Option<Value>,
}

impl<'a> CounterStep<'a> {
    /// The state before an edge.
    pub fn new(
        program: &'a Program,
        points_to: &'a PointsTo,
        template: TemplateId,
        counter: &'a Counter,
        equal: &[(LocalId, Expr)],
        tickets: BTreeMap<LocalId, Value>,
    ) -> Self {
        let mut step = Self {
            program,
            points_to,
            template,
            counter,
            values: BTreeMap::new(),
            present: LocalEqualities::new(equal),
            can_grow: false,
            now: Some(0),
            tickets,
            shrinks: false,
            at_most: None,
        };
        let known: Vec<_> =
            equal.iter().filter_map(|(local, value)| Some((*local, step.value(value)?))).collect();
        step.values.extend(known);
        step
    }

    fn is_counter(&self, place: &Place) -> bool {
        place.as_cell() == Some((self.counter.object, self.counter.offset)) && place.ty == self.counter.ty
    }

    /// The value of an expression minus the counter's first value.
    fn value(&self, expr: &Expr) -> Option<Value> {
        let code = &self.program.templates[self.template];
        match expr {
            Expr::Load(place) if self.is_counter(place) => self.now,
            Expr::Local(local) => self.values.get(local).copied(),
            Expr::Cast(ty, inner) if self.program.type_in(code, inner) == *ty => self.value(inner),
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), ty, pair) => {
                let (left, Expr::Const(right, _)) = (self.value(&pair.0)?, &pair.1) else { return None };
                let by = if *op == BinaryOp::Add { *right } else { -right };
                let is_exact = ty.signed || (by == 1 && self.can_grow && Some(left) == self.now);
                (*ty == self.counter.ty && is_exact).then_some(left + by)
            }
            _ => None,
        }
    }

    /// Follows one operation.
    pub fn apply(&mut self, op: &Op) {
        if let Op::Assume(condition) = op {
            self.assume(condition, true);
            return;
        }
        let pairs: &[(Lhs, Rhs)] = match op {
            Op::Assign(Assignment { pairs, constraint: None }) => pairs,
            _ => &[],
        };
        let mut gained: Vec<(LocalId, Option<Value>, Option<Value>)> = Vec::new();
        let mut stored = None;
        for pair in pairs {
            match pair {
                (Lhs::Local(local), Rhs::Value(value)) => {
                    let ticket = match value {
                        Expr::Local(from) => self.tickets.get(from).copied(),
                        _ => None,
                    };
                    gained.push((*local, self.value(value), ticket));
                }
                (Lhs::Memory(place), Rhs::Value(value)) if self.is_counter(place) => {
                    stored = self.value(value);
                }
                _ => {}
            }
        }
        let is_exact_store = pairs.len() == 1 && stored.is_some();
        self.write(op, if is_exact_store { stored } else { None });
        for lhs in op.targets() {
            if let Lhs::Local(local) = lhs {
                self.values.remove(local);
                self.tickets.remove(local);
            }
        }
        for (local, value, ticket) in gained {
            self.values.extend(value.map(|value| (local, value)));
            self.tickets.extend(ticket.map(|ticket| (local, ticket)));
        }
        self.present.apply(self.points_to, self.template, op);
    }

    /// The memory that an operation may write, with the value that it stores to the counter if it is a plain
    /// store there.
    fn write(&mut self, op: &Op, stored: Option<Value>) {
        let bytes = self.counter.ty.bytes();
        let region = Region::exact(self.counter.object, self.counter.offset, bytes);
        let accesses = accesses(self.points_to, self.template, op);
        let mut writes = accesses.iter().filter(|access| access.write);
        let mut written = writes.any(|access| access.region.overlaps(&region));
        if let Op::Lock(_, address) | Op::Unlock(_, address) = op {
            let words = Region::at(self.points_to, self.template, address, Extent::Object);
            written |= words.overlaps(&region);
        }
        if !written {
            return;
        }
        self.can_grow = false;
        let by = match (stored, self.now) {
            (Some(stored), Some(now)) => Some(stored - now),
            _ => None,
        };
        match by {
            Some(by) if by >= 0 => {
                let taken = self.values.iter().filter(|(_, value)| by > 0 && Some(**value) == self.now);
                let taken: Vec<(LocalId, Value)> = taken.map(|(local, _)| (*local, by)).collect();
                self.tickets.extend(taken);
            }
            Some(_) | None => {
                self.shrinks = true;
                self.tickets.clear();
            }
        }
        self.now = stored;
    }

    fn assume(&mut self, condition: &Expr, holds: bool) {
        match condition {
            Expr::Unary(UnaryOp::Not, IntType::BOOL, inner) => self.assume(inner, !holds),
            Expr::Cast(IntType::BOOL, inner) => {
                let known = match &**inner {
                    Expr::Local(local) => self.present.of(*local),
                    _ => None,
                };
                let inner = known.map_or_else(|| (**inner).clone(), Expr::clone);
                let code = &self.program.templates[self.template];
                match &inner {
                    Expr::Cast(_, truth) if self.program.type_in(code, truth) == IntType::BOOL => {
                        self.assume(truth, holds);
                    }
                    number if !holds => self.compare(BinaryOp::Eq, number, 0, true),
                    number => self.compare(BinaryOp::Ne, number, 0, true),
                }
            }
            Expr::Binary(BinaryOp::And, IntType::BOOL, pair) if holds => {
                self.assume(&pair.0, true);
                self.assume(&pair.1, true);
            }
            Expr::Binary(op, _, pair) if op.is_comparison() => {
                if let Expr::Const(constant, _) = &pair.1 {
                    self.compare(*op, &pair.0, *constant, holds);
                } else if let (Expr::Const(constant, _), BinaryOp::Eq | BinaryOp::Ne) = (&pair.0, op) {
                    self.compare(*op, &pair.1, *constant, holds);
                }
            }
            _ => {}
        }
    }

    /// Learns that a comparison with a constant holds, or does not.
    fn compare(&mut self, op: BinaryOp, left: &Expr, constant: Value, holds: bool) {
        let Some(value) = self.value(left) else { return };
        let greatest = match (op, holds) {
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) | (BinaryOp::Le, true) => Some(constant),
            (BinaryOp::Lt, true) => Some(constant - 1),
            _ => None,
        };
        let is_not = matches!((op, holds), (BinaryOp::Ne, true) | (BinaryOp::Eq, false));
        if Some(value) == self.now {
            self.can_grow |= greatest.is_some_and(|greatest| greatest < self.counter.ty.max())
                || (is_not && constant == self.counter.ty.max());
        }
        if let Some(greatest) = greatest {
            let first = greatest - value;
            self.at_most = Some(self.at_most.map_or(first, |known| known.min(first)));
        }
    }
}

/// An address that depends on a ticket: a factor times the ticket, plus a part that is the same for all
/// threads.
#[derive(Clone, Debug)]
pub struct TicketAddress {
    factor: Value,
    rest: Affine,
    step: Value,
}

impl TicketAddress {
    /// Whether accesses of two threads, of these sizes, never overlap.
    ///
    /// That a ticket times the size of an element does not wrap around is assumption 14.
    pub fn is_apart(&self, bytes: u64, other: &Self, other_bytes: u64, pointer: IntType) -> bool {
        let apart = self.rest.clone().plus(&other.rest, -1, pointer);
        let least = self.factor * self.step.min(other.step);
        self.factor == other.factor
            && (1..=1 << (pointer.bits / 2)).contains(&self.factor)
            && apart.terms.is_empty()
            && apart.constant + least >= Value::from(other_bytes)
            && apart.constant - least + Value::from(bytes) <= 0
    }
}

impl CounterStep<'_> {
    /// An address that the next operation accesses, if it depends on a ticket and on nothing else of the
    /// thread's own.
    ///
    /// A loaded value is the same for all threads in the state before the step, as long as the step has
    /// written nothing.
    pub fn address(&self, address: &Expr) -> Option<TicketAddress> {
        let expanded = self.present.expand(address, &|local| self.tickets.contains_key(&local));
        expanded.iter().find_map(|address| self.of_ticket(address))
    }

    fn of_ticket(&self, address: &Expr) -> Option<TicketAddress> {
        let sum = Affine::of(self.program, &self.program.templates[self.template], address);
        let is_static = |object: ObjectId| self.program.objects[object].storage == Storage::Static;
        let is_common = |atom: &Expr| match atom {
            Expr::Address(object, _) => is_static(*object),
            Expr::Load(place) => place.as_cell().is_some_and(|(object, _)| is_static(object)),
            _ => false,
        };
        let ticket = sum.terms.iter().find_map(|(atom, _)| match atom {
            Expr::Local(local) => Some((atom.clone(), *self.tickets.get(local)?)),
            _ => None,
        });
        let (atom, step) = ticket?;
        let (factor, rest) = sum.split(&atom)?;
        rest.terms.iter().all(|(atom, _)| is_common(atom)).then_some(TicketAddress { factor, rest, step })
    }
}
