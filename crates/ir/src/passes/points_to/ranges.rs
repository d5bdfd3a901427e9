//! How far addresses move: ranges of the amounts that are added to them.
//!
//! A forward analysis with intervals of the locals of each template by itself, with widening to the
//! constants of the template. Memory may hold anything. It is made for locals only that amounts depend on.
//!
//! A range of an amount covers all places in its template where that amount is added to something.
//! Over-approximates.

use super::super::is_past;
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::ids::{EdgeId, Id, IdVec, LocalId, LocationId, TemplateId};
use crate::op::{Assignment, Callee, Lhs, Op, Rhs};
use crate::program::{Edge, Program, Template};
use crate::types::{IntType, Value};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Instant;

/// The least and the greatest value.
type Range = (Value, Value);
/// The ranges of the locals that are looked at.
type Ranges = Vec<Range>;

/// No more locals of a template are looked at than this.
const MOST_LOCALS: usize = 64;
/// After this many visits of a location, ranges grow to the next constant.
const VISITS_WITH_GAIN: u32 = 3;
/// After this many, they grow to all of their type.
const MOST_VISITS: u32 = 40;

/// The ranges of amounts in the templates of a program.
#[derive(Default)]
pub struct Amounts {
    known: IdVec<TemplateId, FxHashMap<Expr, Range>>,
}

impl Amounts {
    /// Finds the ranges of a program's amounts, as far as time allows.
    pub fn of(program: &Program, deadline: Option<Instant>) -> Self {
        let nothing = || program.templates.iter().map(|_| FxHashMap::default()).collect();
        // A broadcast changes locals from outside.
        if program.has_broadcasts() {
            return Self { known: nothing() };
        }
        let mut parameters: IdVec<TemplateId, Option<Ranges>> =
            program.templates.iter().map(|_| None).collect();
        let mut known: IdVec<TemplateId, FxHashMap<Expr, Range>> = nothing();
        // Where any procedure may be called through a pointer, nothing is known of parameters.
        let rounds: &[bool] = if calls_through_pointers(program) { &[true] } else { &[false, true] };
        for &is_last in rounds {
            let mut passed = Passed::new(program);
            for (id, code) in program.templates.enumerate() {
                if is_past(deadline) {
                    return Self { known: nothing() };
                }
                let analysis = Analysis::new(program, code, parameters[id].as_ref());
                let found = analysis.solve();
                if is_last {
                    known[id] = analysis.amounts(&found);
                } else {
                    analysis.pass_arguments(&found, &mut passed);
                }
            }
            parameters = passed.ranges;
        }
        Self { known }
    }

    /// The range of an amount that a template adds to something.
    pub fn get(&self, template: TemplateId, amount: &Expr) -> Option<Range> {
        self.known.get(template)?.get(amount).copied()
    }
}

/// Whether some procedure is called or started through a pointer.
fn calls_through_pointers(program: &Program) -> bool {
    let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    ops.any(|op| matches!(op, Op::Call(Callee::Pointer(_), ..) | Op::Spawn(Callee::Pointer(_), ..)))
}

/// What parameters get at all starts and calls.
struct Passed {
    ranges: IdVec<TemplateId, Option<Ranges>>,
}

impl Passed {
    /// Nothing is passed yet; what is started by the program itself, or through a pointer, may get anything.
    fn new(program: &Program) -> Self {
        let any_indirect = calls_through_pointers(program);
        let ranges = program.templates.enumerate().map(|(id, code)| {
            let started = program.start.iter().any(|(started, _)| *started == id);
            let nothing = (Value::MAX, Value::MIN);
            (!started && !any_indirect).then(|| vec![nothing; code.parameters])
        });
        Self { ranges: ranges.collect() }
    }
}

struct Analysis<'p> {
    program: &'p Program,
    code: &'p Template,
    /// The locals that are looked at.
    tracked: Vec<LocalId>,
    /// The constants of the template, and their neighbours, in order.
    constants: Vec<Value>,
    first: Ranges,
}

impl<'p> Analysis<'p> {
    fn new(program: &'p Program, code: &'p Template, parameters: Option<&Ranges>) -> Self {
        let tracked = tracked(code);
        let mut constants: Vec<Value> = Vec::new();
        for expr in code.edges.iter().flat_map(|edge| &edge.ops).flat_map(Op::expressions) {
            expr.walk(&mut |inner| {
                if let Expr::Const(value, _) = inner {
                    constants.extend([value - 1, *value, value + 1]);
                }
            });
        }
        constants.sort_unstable();
        constants.dedup();
        let first = tracked.iter().map(|local| {
            let passed = parameters.and_then(|ranges| ranges.get(local.index()));
            let all = of_type(code.locals[*local].ty);
            passed
                .filter(|(least, greatest)| least <= greatest)
                .map_or(all, |range| meet(*range, all).unwrap_or(all))
        });
        let first = first.collect();
        Self { program, code, tracked, constants, first }
    }

    /// The operations of each edge that change ranges of locals that are looked at, or may not be taken in
    /// some ranges. `None` for edges that are never taken.
    fn relevant(&self) -> IdVec<EdgeId, Option<Vec<&'p Op>>> {
        let mentions = |expr: &Expr| {
            let mut found = false;
            expr.walk(&mut |inner| {
                found |= matches!(inner, Expr::Local(local) if self.number(*local).is_some());
            });
            found
        };
        // A condition on other things alone holds or not whatever the ranges are.
        let holds = |condition: &Expr| self.assume(condition, true, &mut self.first.clone());
        let is_relevant = |op: &Op| match op {
            Op::Assume(condition) => mentions(condition),
            _ => op
                .targets()
                .iter()
                .any(|lhs| matches!(lhs, Lhs::Local(local) if self.number(*local).is_some())),
        };
        let of_edge = |edge: &'p Edge| {
            let is_taken = edge.ops.iter().all(|op| match op {
                Op::Assume(condition) => mentions(condition) || holds(condition),
                _ => true,
            });
            is_taken.then(|| edge.ops.iter().filter(|op| is_relevant(op)).collect())
        };
        self.code.edges.iter().map(of_edge).collect()
    }

    fn number(&self, local: LocalId) -> Option<usize> {
        self.tracked.binary_search(&local).ok()
    }

    /// The ranges at each location that can be reached.
    fn solve(&self) -> IdVec<LocationId, Option<Ranges>> {
        let mut found: IdVec<LocationId, Option<Ranges>> = self.code.locations.iter().map(|_| None).collect();
        let mut visits: IdVec<LocationId, u32> = self.code.locations.iter().map(|_| 0).collect();
        let outgoing = self.code.outgoing();
        let order = reverse_postorder(self.code, &outgoing);
        let relevant = self.relevant();
        found[self.code.entry] = Some(self.first.clone());
        let mut queue = BTreeSet::from([(order[self.code.entry], self.code.entry)]);
        while let Some((_, location)) = queue.pop_first() {
            // It is put back below; most edges lead elsewhere.
            let Some(here) = found[location].take() else { continue };
            let mut changed_here = None;
            for edge in &outgoing[location] {
                let Some(ops) = &relevant[*edge] else { continue };
                let target = self.code.edges[*edge].target;
                let mut now = Cow::Borrowed(changed_here.as_ref().unwrap_or(&here));
                if !ops.is_empty() && !ops.iter().all(|op| self.apply(op, now.to_mut())) {
                    continue;
                }
                if target == location {
                    let mut joined = changed_here.clone().unwrap_or_else(|| here.clone());
                    if !self.join(&mut joined, &now, visits[target]) {
                        continue;
                    }
                    changed_here = Some(joined);
                } else {
                    match &mut found[target] {
                        before @ None => *before = Some(now.into_owned()),
                        Some(before) => {
                            if !self.join(before, &now, visits[target]) {
                                continue;
                            }
                        }
                    }
                }
                visits[target] += 1;
                queue.insert((order[target], target));
            }
            found[location] = Some(changed_here.unwrap_or(here));
        }
        found
    }

    /// Widens ranges by others; whether that changes any.
    fn join(&self, before: &mut Ranges, now: &Ranges, visits: u32) -> bool {
        let mut changed = false;
        for ((before, now), local) in before.iter_mut().zip(now).zip(&self.tracked) {
            if before.0 <= now.0 && now.1 <= before.1 {
                continue;
            }
            let wider = self.widen(*before, *now, *local, visits);
            changed |= wider != *before;
            *before = wider;
        }
        changed
    }

    fn widen(&self, before: Range, now: Range, local: LocalId, visits: u32) -> Range {
        let joined = (before.0.min(now.0), before.1.max(now.1));
        if joined == before || visits < VISITS_WITH_GAIN {
            return joined;
        }
        let all = of_type(self.code.locals[local].ty);
        if visits > MOST_VISITS {
            return all;
        }
        let below = self.constants.partition_point(|constant| *constant <= joined.0);
        let above = self.constants.partition_point(|constant| *constant < joined.1);
        let least = below.checked_sub(1).map_or(all.0, |index| self.constants[index].max(all.0));
        let greatest = self.constants.get(above).map_or(all.1, |constant| (*constant).min(all.1));
        (
            if joined.0 == before.0 { before.0 } else { least.min(joined.0) },
            if joined.1 == before.1 { before.1 } else { greatest.max(joined.1) },
        )
    }

    /// Follows one operation; whether it can be taken.
    fn apply(&self, op: &Op, ranges: &mut Ranges) -> bool {
        if let Op::Assume(condition) = op {
            return self.assume(condition, true, ranges);
        }
        let mut new: Vec<(usize, Range)> = Vec::new();
        if let Op::Assign(Assignment { pairs, .. }) = op {
            for (lhs, rhs) in pairs {
                if let (Lhs::Local(local), Rhs::Value(value)) = (lhs, rhs)
                    && let Some(number) = self.number(*local)
                {
                    new.push((number, self.eval(value, ranges)));
                }
            }
        }
        for lhs in op.targets() {
            if let Lhs::Local(local) = lhs
                && let Some(number) = self.number(*local)
            {
                ranges[number] = of_type(self.code.locals[*local].ty);
            }
        }
        for (number, range) in new {
            if let Some(range) = meet(range, ranges[number]) {
                ranges[number] = range;
            }
        }
        true
    }

    fn type_of(&self, expr: &Expr) -> IntType {
        self.program.type_in(self.code, expr)
    }

    /// The values that an expression may have.
    fn eval(&self, expr: &Expr, ranges: &Ranges) -> Range {
        let all = of_type(self.type_of(expr));
        let fits = |range: Range| if meet(range, all) == Some(range) { range } else { all };
        match expr {
            Expr::Const(value, _) => (*value, *value),
            Expr::Local(local) => self.number(*local).map_or(all, |number| ranges[number]),
            Expr::Cast(IntType::BOOL, _) => all,
            Expr::Cast(_, operand) => fits(self.eval(operand, ranges)),
            Expr::Unary(UnaryOp::Neg, ty, operand) => {
                let (least, greatest) = self.eval(operand, ranges);
                settle((-greatest, -least), *ty)
            }
            Expr::Binary(op, ty, pair) => {
                let (left, right) = (self.eval(&pair.0, ranges), self.eval(&pair.1, ranges));
                binary(*op, left, right).map_or(all, |range| settle(range, *ty))
            }
            Expr::IfThenElse(three) => {
                let (one, other) = (self.eval(&three.1, ranges), self.eval(&three.2, ranges));
                (one.0.min(other.0), one.1.max(other.1))
            }
            Expr::Load(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself | Expr::Unary(..) => all,
            Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => all,
        }
    }

    /// A range of integers, one of which is an amount modulo 2 to the width of a pointer.
    fn eval_amount(&self, expr: &Expr, ranges: &Ranges) -> Range {
        let pointer = self.program.data_model.pointer();
        let of = |expr: &Expr| self.eval_amount(expr, ranges);
        match expr {
            Expr::Cast(ty, operand) if ty.bits >= pointer.bits => of(operand),
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), ty, pair)
                if ty.bits >= pointer.bits =>
            {
                let range = binary(*op, of(&pair.0), of(&pair.1));
                range.unwrap_or_else(|| of_type(*ty))
            }
            Expr::Unary(UnaryOp::Neg, ty, operand) if ty.bits >= pointer.bits => {
                let (least, greatest) = of(operand);
                (-greatest, -least)
            }
            _ => self.eval(expr, ranges),
        }
    }

    /// A condition holds, or does not; whether that is possible.
    fn assume(&self, condition: &Expr, holds: bool, ranges: &mut Ranges) -> bool {
        match condition {
            Expr::Const(value, _) => (*value != 0) == holds,
            Expr::Unary(UnaryOp::Not, IntType::BOOL, inner) => self.assume(inner, !holds, ranges),
            // A truth value that was made a number, and that back.
            Expr::Cast(IntType::BOOL, inner) => match &**inner {
                Expr::Cast(_, inner) if self.type_of(inner) == IntType::BOOL => {
                    self.assume(inner, holds, ranges)
                }
                _ => true,
            },
            Expr::Binary(BinaryOp::And, IntType::BOOL, pair) if holds => {
                self.assume(&pair.0, true, ranges) && self.assume(&pair.1, true, ranges)
            }
            Expr::Binary(BinaryOp::Or, IntType::BOOL, pair) if !holds => {
                self.assume(&pair.0, false, ranges) && self.assume(&pair.1, false, ranges)
            }
            Expr::Binary(op, _, pair) if op.is_comparison() => {
                let (left, right) = (&pair.0, &pair.1);
                match (op, holds) {
                    (BinaryOp::Lt, true) => self.order(left, right, 1, ranges),
                    (BinaryOp::Lt, false) => self.order(right, left, 0, ranges),
                    (BinaryOp::Le, true) => self.order(left, right, 0, ranges),
                    (BinaryOp::Le, false) => self.order(right, left, 1, ranges),
                    (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => {
                        self.order(left, right, 0, ranges) && self.order(right, left, 0, ranges)
                    }
                    (BinaryOp::Eq, false) | (BinaryOp::Ne, true) => {
                        self.differ(left, right, ranges) && self.differ(right, left, ranges)
                    }
                    _ => true,
                }
            }
            _ => true,
        }
    }

    /// `less` plus `by` is at most `more`.
    fn order(&self, less: &Expr, more: &Expr, by: Value, ranges: &mut Ranges) -> bool {
        let (low, high) = (self.eval(less, ranges), self.eval(more, ranges));
        self.restrict(less, (low.0, high.1 - by), ranges) && self.restrict(more, (low.0 + by, high.1), ranges)
    }

    /// The first is not the second: not its only value, if that is at an end of the first one's range.
    fn differ(&self, one: &Expr, other: &Expr, ranges: &mut Ranges) -> bool {
        let (range, (least, greatest)) = (self.eval(one, ranges), self.eval(other, ranges));
        if least != greatest {
            return true;
        }
        let least_left = range.0 + Value::from(range.0 == least);
        let greatest_left = range.1 - Value::from(range.1 == least);
        self.restrict(one, (least_left, greatest_left), ranges)
    }

    /// An expression's value is in a range.
    fn restrict(&self, expr: &Expr, to: Range, ranges: &mut Ranges) -> bool {
        match expr {
            Expr::Local(local) => {
                let Some(number) = self.number(*local) else { return to.0 <= to.1 };
                let range = meet(ranges[number], to);
                range.is_some_and(|range| {
                    ranges[number] = range;
                    true
                })
            }
            Expr::Cast(ty, operand) if *ty != IntType::BOOL => {
                let inside = self.eval(operand, ranges);
                let is_kept = meet(inside, of_type(*ty)) == Some(inside);
                if is_kept { self.restrict(operand, to, ranges) } else { to.0 <= to.1 }
            }
            Expr::Binary(BinaryOp::Add, ty, pair) => {
                let Expr::Const(by, _) = &pair.1 else { return to.0 <= to.1 };
                let (least, greatest) = self.eval(&pair.0, ranges);
                let is_exact = ty.signed || greatest + by <= of_type(*ty).1;
                let (least, greatest) = if is_exact { (to.0 - by, to.1 - by) } else { (least, greatest) };
                self.restrict(&pair.0, (least, greatest), ranges)
            }
            _ => to.0 <= to.1,
        }
    }

    fn pass_arguments(&self, found: &IdVec<LocationId, Option<Ranges>>, passed: &mut Passed) {
        self.walk(found, &mut |op, ranges| {
            if let Op::Spawn(Callee::Procedure(callee), arguments, _)
            | Op::Call(Callee::Procedure(callee), arguments, _) = op
                && let Some(parameters) = &mut passed.ranges[*callee]
            {
                for (parameter, argument) in parameters.iter_mut().zip(arguments) {
                    let (least, greatest) = self.eval(argument, ranges);
                    *parameter = (parameter.0.min(least), parameter.1.max(greatest));
                }
            }
        });
    }

    fn walk(&self, found: &IdVec<LocationId, Option<Ranges>>, visit: &mut dyn FnMut(&Op, &Ranges)) {
        for edge in &self.code.edges {
            let Some(mut now) = found[edge.source].clone() else { continue };
            for op in &edge.ops {
                visit(op, &now);
                if !self.apply(op, &mut now) {
                    break;
                }
            }
        }
    }

    fn amounts(&self, found: &IdVec<LocationId, Option<Ranges>>) -> FxHashMap<Expr, Range> {
        let half = 1 << (self.program.data_model.pointer().bits - 1);
        let mut amounts: FxHashMap<Expr, Range> = FxHashMap::default();
        self.walk(found, &mut |op, ranges| {
            for amount in amounts_of(op) {
                let (least, greatest) = self.eval_amount(amount, ranges);
                let known = amounts.entry(amount.clone()).or_insert((least, greatest));
                *known = (known.0.min(least), known.1.max(greatest));
            }
        });
        amounts.retain(|_, (least, greatest)| -half < *least && *greatest < half);
        amounts
    }
}

/// What an operation adds to something or subtracts from it, other than constants.
fn amounts_of(op: &Op) -> Vec<&Expr> {
    let mut found = Vec::new();
    for expr in op.expressions() {
        expr.walk(&mut |inner| {
            if let Expr::Binary(BinaryOp::Add | BinaryOp::Sub, _, pair) = inner {
                let amounts = [&pair.0, &pair.1].into_iter();
                found.extend(amounts.filter(|amount| !matches!(amount, Expr::Const(..) | Expr::Address(..))));
            }
        });
    }
    found
}

/// The locals that amounts depend on, as far as these are locals.
fn tracked(code: &Template) -> Vec<LocalId> {
    let locals_of = |expr: &Expr, found: &mut BTreeSet<LocalId>| {
        expr.walk(&mut |inner| {
            if let Expr::Local(local) = inner {
                found.insert(*local);
            }
        });
    };
    let mut found: BTreeSet<LocalId> = BTreeSet::new();
    let ops = || code.edges.iter().flat_map(|edge| &edge.ops);
    for amount in ops().flat_map(amounts_of) {
        locals_of(amount, &mut found);
    }
    loop {
        let before = found.len();
        for op in ops() {
            if let Op::Assign(Assignment { pairs, .. }) = op {
                for (lhs, rhs) in pairs {
                    if let (Lhs::Local(local), Rhs::Value(value)) = (lhs, rhs)
                        && found.contains(local)
                    {
                        locals_of(value, &mut found);
                    }
                }
            }
        }
        if found.len() == before || found.len() > MOST_LOCALS {
            return found.into_iter().take(MOST_LOCALS).collect();
        }
    }
}

/// Numbers of locations such that most edges lead to higher ones.
fn reverse_postorder(code: &Template, outgoing: &IdVec<LocationId, Vec<EdgeId>>) -> IdVec<LocationId, usize> {
    let mut order: IdVec<LocationId, usize> = code.locations.iter().map(|_| usize::MAX).collect();
    let mut seen: IdVec<LocationId, bool> = code.locations.iter().map(|_| false).collect();
    let mut next = code.locations.len();
    let mut path = vec![(code.entry, 0)];
    seen[code.entry] = true;
    while let Some((location, done)) = path.pop() {
        match outgoing[location].get(done) {
            Some(edge) => {
                path.push((location, done + 1));
                let target = code.edges[*edge].target;
                if !std::mem::replace(&mut seen[target], true) {
                    path.push((target, 0));
                }
            }
            None => {
                next -= 1;
                order[location] = next;
            }
        }
    }
    order
}

fn of_type(ty: IntType) -> Range {
    (ty.min(), ty.max())
}

fn meet(one: Range, other: Range) -> Option<Range> {
    let both = (one.0.max(other.0), one.1.min(other.1));
    (both.0 <= both.1).then_some(both)
}

/// A result in its type: a signed one that leaves it faults, an unsigned one wraps.
fn settle(range: Range, ty: IntType) -> Range {
    let all = of_type(ty);
    match meet(range, all) {
        Some(inside) if inside == range || ty.signed => inside,
        _ => all,
    }
}

/// The range of an operation's result as an integer, where it has one.
fn binary(op: BinaryOp, left: Range, right: Range) -> Option<Range> {
    match op {
        BinaryOp::Add => Some((left.0.checked_add(right.0)?, left.1.checked_add(right.1)?)),
        BinaryOp::Sub => Some((left.0.checked_sub(right.1)?, left.1.checked_sub(right.0)?)),
        BinaryOp::Mul => {
            let mut products = Vec::new();
            for one in [left.0, left.1] {
                for other in [right.0, right.1] {
                    products.push(one.checked_mul(other)?);
                }
            }
            Some((*products.iter().min()?, *products.iter().max()?))
        }
        BinaryOp::Div if right.0 > 0 && left.0 >= 0 => Some((left.0 / right.1, left.1 / right.0)),
        BinaryOp::Rem if right.0 > 0 => {
            let most = right.1 - 1;
            let least = if left.0 >= 0 { 0 } else { (-most).max(left.0) };
            Some((least, if left.1 >= 0 { most.min(left.1) } else { 0 }))
        }
        BinaryOp::And if right.0 >= 0 || left.0 >= 0 => {
            let of = |range: Range| if range.0 >= 0 { range.1 } else { Value::MAX };
            Some((0, of(left).min(of(right))))
        }
        BinaryOp::Shr if left.0 >= 0 && right.0 >= 0 && right.1 < 64 => {
            Some((left.0 >> right.1, left.1 >> right.0))
        }
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => Some((0, 1)),
        _ => None,
    }
}
