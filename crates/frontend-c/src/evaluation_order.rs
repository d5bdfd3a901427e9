//! The order in which operands are evaluated, where C leaves it open and it matters.
//!
//! Operands of most operators, arguments of calls and entries of initialisers may be evaluated in any order
//! (C11 6.5 p3, 6.5.2.2 p10, 6.7.9 p23). The evaluations of an expression that may matter are its *events*:
//! reads, writes, calls, atomic operations, and constructs with an order of their own (`&&`, `?:`, `,`,
//! statement expressions) as a whole. An event comes after those of its operands. If two unordered events
//! conflict, the conflicting events are evaluated first, in an order that is chosen among all those with
//! different outcomes; the expression is then lowered from left to right with their values.
//!
//! Two unordered, conflicting plain accesses are undefined if they are to the same scalar, and independent if
//! they are not: one order suffices. If both name the same variable, nothing is proved.
//!
//! Exact, except for constructs with an order of their own of which several parts conflict with another
//! event: evaluations between these parts are not considered, which limits proofs.

use crate::effects::Effects;
use crate::facts;
use crate::function::Function;
use ir::{BinaryOp, Expr, IntType, Lhs, LocalId, ObjectId, Op};
use rucc_ast::{BinaryOp as Operator, UnaryOp};
use rucc_sema::{Conversion, ExprId, ExprKind};

/// The most orders that get separate code; more are chosen step by step in a loop.
const MOST_BRANCHES: usize = 6;
/// The most events that are permuted to find orders that differ.
const MOST_PERMUTED: usize = 5;
/// The most events that can be in conflict.
const MOST_EVENTS: usize = 31;

/// An evaluation whose order may matter.
struct Happening {
    id: ExprId,
    /// The event that it is an operand of.
    parent: Option<usize>,
    effects: Effects,
    /// The effects of its parts, if it is a construct with an order of its own.
    parts: Vec<Effects>,
    /// Whether it is a single plain access.
    is_plain: bool,
    /// Whether all its operands are evaluated completely before it.
    is_call: bool,
}

/// Where the value of an event is kept.
#[derive(Clone, Copy)]
enum Kept {
    Scalar(LocalId),
    Aggregate(ObjectId),
    Nothing,
}

/// The settled events of one expression, while it is lowered.
#[derive(Default)]
pub struct Settled {
    region: Vec<ExprId>,
    known: Vec<ExprId>,
}

/// Whether an expression has an order of its own.
fn is_sequenced(kind: &ExprKind) -> bool {
    matches!(
        kind,
        ExprKind::Binary { op: Operator::LogAnd | Operator::LogOr, .. }
            | ExprKind::Cond { .. }
            | ExprKind::Comma { .. }
            | ExprKind::StmtExpr(_)
    )
}

impl Function<'_, '_> {
    /// Before an expression is lowered, evaluates the events that have several possible orders. Pass the
    /// result to [`unsettle`](Self::unsettle) afterwards.
    pub fn settle_order(&mut self, id: ExprId) -> Settled {
        let kind = &self.unit.tree[id].kind;
        let is_leaf = matches!(kind, ExprKind::Const(_) | ExprKind::Decl(_) | ExprKind::Str(_));
        if is_leaf || is_sequenced(kind) || self.settled.contains(&id) {
            return Settled::default();
        }
        self.settle(&[id], false)
    }
    /// The same for the entries of an initialiser.
    pub fn settle_entries(&mut self, entries: &[ExprId]) -> Settled {
        if entries.iter().all(|entry| self.settled.contains(entry)) {
            return Settled::default();
        }
        self.settle(entries, true)
    }
    /// Drops the settled events of an expression after it is lowered.
    pub fn unsettle(&mut self, settled: Settled) {
        for id in settled.region {
            self.settled.remove(&id);
        }
        for id in settled.known {
            self.known.remove(&id);
        }
    }

    fn settle(&mut self, roots: &[ExprId], roots_count: bool) -> Settled {
        let mut settled = Settled::default();
        let mut events = Vec::new();
        for &root in roots {
            self.collect(root, None, !roots_count, &mut events, &mut settled.region);
        }
        if events.iter().all(|event| event.effects.only_reads()) || !self.builder.is_reachable() {
            return settled;
        }
        self.check_sequence(&events, if roots_count { None } else { roots.first().copied() });
        let pairs = conflicts(&events);
        let mut chosen: Vec<usize> = pairs.iter().flat_map(|&(one, other)| [one, other]).collect();
        chosen.sort_unstable();
        chosen.dedup();
        if chosen.is_empty() || !self.builder.is_reachable() {
            return settled;
        }
        let is_split = |one: &Happening, other: &Happening| {
            one.parts.iter().filter(|part| part.conflicts(&other.effects)).count() > 1
        };
        let is_split = pairs.iter().any(|&(one, other)| {
            is_split(&events[one], &events[other]) || is_split(&events[other], &events[one])
        });
        if is_split || chosen.len() > MOST_EVENTS {
            let span = self.builder.span;
            let text = "unsupported: not all orders in which C may evaluate this expression are looked at";
            self.global.assume(text.to_owned(), span, true);
        }
        if chosen.len() > MOST_EVENTS {
            return settled;
        }
        settled.known = self.evaluate_in_any_order(&events, &chosen, &pairs);
        settled
    }

    /// Collects the events of an expression and its operands, operands last.
    fn collect(
        &mut self,
        id: ExprId,
        parent: Option<usize>,
        is_root: bool,
        events: &mut Vec<Happening>,
        region: &mut Vec<ExprId>,
    ) {
        let unit = self.unit;
        let kind = unit.tree[id].kind;
        if self.known.contains_key(&id)
            || matches!(kind, ExprKind::ConstantP { .. } | ExprKind::ObjectSize { .. })
        {
            return;
        }
        if is_sequenced(&kind) {
            // One expression may initialise several elements.
            if events.iter().any(|event| event.id == id) {
                return;
            }
            let parts = self.all_effects(id);
            let mut effects = Effects::default();
            parts.iter().for_each(|part| effects.add(part));
            if !effects.is_empty() {
                events.push(Happening { id, parent, effects, parts, is_plain: false, is_call: false });
            }
            return;
        }
        if !self.settled.insert(id) {
            return;
        }
        region.push(id);
        let mut parent = parent;
        if !is_root {
            let effects = self.own_effects(id);
            let is_access = matches!(
                kind,
                ExprKind::Convert { kind: Conversion::Lvalue, .. }
                    | ExprKind::Assign { .. }
                    | ExprKind::Unary {
                        op: UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec,
                        ..
                    }
            );
            if !effects.is_empty() {
                let is_plain = is_access && !effects.synchronises();
                let is_call = matches!(kind, ExprKind::Call { .. });
                events.push(Happening { id, parent, effects, parts: Vec::new(), is_plain, is_call });
                parent = Some(events.len() - 1);
            }
        }
        for operand in facts::evaluated_operands(unit, id) {
            self.collect(operand, parent, false, events, region);
        }
    }

    /// Ends executions in which two accesses to the same variable, one of them a write, have no order.
    fn check_sequence(&mut self, events: &[Happening], root: Option<ExprId>) {
        let writes = |event: &Happening| !event.effects.only_reads();
        let root_target = root.filter(|root| {
            !matches!(self.unit.tree[*root].kind, ExprKind::Convert { kind: Conversion::Lvalue, .. })
        });
        let root_target = root_target.and_then(|root| self.direct_target(root));
        for (index, event) in events.iter().enumerate().filter(|(_, event)| event.is_plain && writes(event)) {
            let Some(target) = self.direct_target(event.id) else { continue };
            // A write of an operand, and the write of the operator that it is an operand of.
            let mut at = event.parent;
            let mut is_unordered = false;
            loop {
                let Some(above) = at.map(|above| &events[above]) else {
                    is_unordered |= root_target == Some(target);
                    break;
                };
                if above.is_call {
                    break;
                }
                is_unordered |= writes(above) && self.direct_target(above.id) == Some(target);
                at = above.parent;
            }
            is_unordered |= events.iter().enumerate().any(|(other, event)| {
                other != index
                    && event.is_plain
                    && !is_related(events, index, other)
                    && self.direct_target(event.id) == Some(target)
            });
            if is_unordered {
                let name = self.unit.name(target).to_owned();
                self.unsupported(&format!(
                    "undefined behaviour: '{name}' is changed and used in one expression without an order"
                ));
                return;
            }
        }
    }

    /// Evaluates events in any order that makes a difference; returns those whose values are then known.
    fn evaluate_in_any_order(
        &mut self,
        events: &[Happening],
        chosen: &[usize],
        pairs: &[(usize, usize)],
    ) -> Vec<ExprId> {
        let kept: Vec<Kept> = chosen.iter().map(|&event| self.keep(events[event].id)).collect();
        let orders = orders(events, chosen, pairs);
        let has_labels = chosen.iter().any(|&event| self.has_label_inside(events[event].id));
        match orders {
            Some(orders) if orders.len() <= MOST_BRANCHES && !has_labels => {
                self.branch_into_orders(events, chosen, &kept, &orders);
            }
            Some(_) | None => self.loop_over_events(events, chosen, &kept),
        }
        let mut known = Vec::new();
        for (&event, &kept) in chosen.iter().zip(&kept) {
            self.note_value(events[event].id, kept);
            known.push(events[event].id);
        }
        known
    }
    /// A place for the value of an event.
    fn keep(&mut self, id: ExprId) -> Kept {
        let ty = self.unit.tree[id].ty;
        match self.unit.scalar_type(ty) {
            Some(scalar) => Kept::Scalar(self.builder.temporary(scalar)),
            None if self.unit.is_aggregate(ty) => Kept::Aggregate(self.frame_object("%value", ty, 1)),
            None => Kept::Nothing,
        }
    }
    fn note_value(&mut self, id: ExprId, kept: Kept) {
        let value = match kept {
            Kept::Scalar(local) => Expr::Local(local),
            Kept::Aggregate(object) => Expr::Address(object, 0),
            Kept::Nothing => Expr::int(0, IntType::I32),
        };
        self.known.insert(id, value);
    }
    /// Evaluates one event, and keeps its value.
    fn evaluate_event(&mut self, id: ExprId, kept: Kept) {
        let ty = self.unit.tree[id].ty;
        match kept {
            Kept::Scalar(local) => {
                let value = self.rvalue(id);
                let scalar = self.builder.template.locals[local].ty;
                let value = self.cast(value, scalar);
                self.builder.set(Lhs::Local(local), value);
            }
            Kept::Aggregate(object) => {
                let from = self.aggregate(id);
                self.copy(Expr::Address(object, 0), from, ty);
            }
            Kept::Nothing => self.effect(id),
        }
        self.note_value(id, kept);
    }
    fn branch_into_orders(
        &mut self,
        events: &[Happening],
        chosen: &[usize],
        kept: &[Kept],
        orders: &[Vec<usize>],
    ) {
        let starts: Vec<ir::LocationId> = orders.iter().map(|_| self.label()).collect();
        let done = self.label();
        for &start in &starts {
            self.alternative(Expr::bool(true), start);
        }
        self.builder.leave();
        for (order, start) in orders.iter().zip(starts) {
            let (known, lengths) = (self.known.clone(), self.lengths.clone());
            self.join(start);
            for event in order {
                let position = chosen.iter().position(|other| other == event).unwrap_or(0);
                self.evaluate_event(events[*event].id, kept[position]);
            }
            self.jump(done);
            self.known = known;
            self.lengths = lengths;
        }
        self.join(done);
    }
    /// Repeatedly chooses one of the events that are not evaluated yet.
    fn loop_over_events(&mut self, events: &[Happening], chosen: &[usize], kept: &[Kept]) {
        let mask = self.builder.temporary(IntType::U32);
        let number = |value: u32| Expr::int(i128::from(value), IntType::U32);
        let has = |bits: u32, expected: u32| {
            let found = Expr::binary(BinaryOp::And, IntType::U32, Expr::Local(mask), number(bits));
            Expr::binary(BinaryOp::Eq, IntType::U32, found, number(expected))
        };
        self.builder.set(Lhs::Local(mask), number(0));
        let (again, done) = (self.label(), self.label());
        self.place(again);
        let starts: Vec<ir::LocationId> = chosen.iter().map(|_| self.label()).collect();
        for (position, (&event, &start)) in chosen.iter().zip(&starts).enumerate() {
            let operands = chosen.iter().enumerate().filter(|(_, other)| is_above(events, event, **other));
            let before: u32 = operands.map(|(other, _)| 1 << other).sum();
            self.alternative(has(before | 1 << position, before), start);
        }
        let all = chosen.iter().enumerate().map(|(position, _)| 1u32 << position).sum();
        self.alternative(has(all, all), done);
        self.builder.leave();
        // Operands come last: they are lowered first, so that their values are known.
        for position in (0..chosen.len()).rev() {
            self.join(starts[position]);
            self.evaluate_event(events[chosen[position]].id, kept[position]);
            let added = Expr::binary(BinaryOp::Or, IntType::U32, Expr::Local(mask), number(1 << position));
            self.builder.emit(Op::set(Lhs::Local(mask), added));
            self.jump(again);
        }
        self.join(done);
    }
}

/// Whether one event is an operand of another, at any depth.
fn is_above(events: &[Happening], above: usize, below: usize) -> bool {
    let mut at = events[below].parent;
    while let Some(parent) = at {
        if parent == above {
            return true;
        }
        at = events[parent].parent;
    }
    false
}

fn is_related(events: &[Happening], one: usize, other: usize) -> bool {
    is_above(events, one, other) || is_above(events, other, one)
}

/// The pairs of events without an order that conflict.
fn conflicts(events: &[Happening]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (index, event) in events.iter().enumerate() {
        for (other_index, other) in events.iter().enumerate().skip(index + 1) {
            let commute =
                event.is_plain && other.is_plain || event.effects.only_reads() && other.effects.only_reads();
            let is_open = !commute && !is_related(events, index, other_index);
            if is_open && event.effects.conflicts(&other.effects) {
                found.push((index, other_index));
            }
        }
    }
    found
}

/// The orders of the chosen events that differ in the order of a pair in conflict; `None` if there are too
/// many events.
fn orders(events: &[Happening], chosen: &[usize], pairs: &[(usize, usize)]) -> Option<Vec<Vec<usize>>> {
    if chosen.len() > MOST_PERMUTED {
        return None;
    }
    let mut found: Vec<(Vec<bool>, Vec<usize>)> = Vec::new();
    let mut stack: Vec<Vec<usize>> = vec![Vec::new()];
    while let Some(order) = stack.pop() {
        if order.len() == chosen.len() {
            let place = |event: usize| order.iter().position(|other| *other == event);
            let signature: Vec<bool> = pairs.iter().map(|&(one, other)| place(one) < place(other)).collect();
            if found.iter().all(|(other, _)| *other != signature) {
                found.push((signature, order));
            }
            continue;
        }
        for &next in chosen.iter().rev() {
            let is_ready =
                chosen.iter().all(|&other| order.contains(&other) || !is_above(events, next, other));
            if !order.contains(&next) && is_ready {
                let mut longer = order.clone();
                longer.push(next);
                stack.push(longer);
            }
        }
    }
    Some(found.into_iter().map(|(_, order)| order).collect())
}
