//! Numbers and octagons together: facts about each variable, and about those that share a pack.
//!
//! Paper 4, section 5.1 (relational domains on packs). Over-approximates. The parts are reduced with each
//! other: bounds go from numbers to octagons before a condition or an assignment, and back afterwards; packs
//! with two or more common variables exchange their constraints on these.

use crate::environment::Environment;
use crate::evaluate::{Numbers, Resolve};
use crate::interval::Interval;
use crate::lattice::{Lattice, Thresholds};
use crate::linear::{Linear, Linearizer};
use crate::number::Number;
use crate::octagon::Octagon;
use crate::packs::{Octagons, Overlap, PackId, Packs};
use crate::refine::{Refiner, assume};
use ir::ids::Id;
use ir::{BinaryOp, Expr, IntType, UnaryOp};
use std::collections::BTreeSet;

/// A set of states. A pack without an octagon: nothing is known of it.
#[derive(Clone, Debug)]
pub struct Relational<V: Id> {
    /// What is known of each variable.
    pub numbers: Numbers<V>,
    /// What is known of each pack.
    pub octagons: Octagons,
}

/// How often numbers and octagons tell each other what they know.
const MOST_ROUNDS: usize = 8;

/// A right-hand side: an expression, or any of some values.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// The value of an expression.
    Value(&'a Expr),
    /// One of these.
    Any(Number),
}

impl<V: Id> Relational<V> {
    /// All states.
    pub fn top() -> Self {
        Self { numbers: Numbers::top(), octagons: Octagons::top() }
    }
    /// No state.
    pub fn bottom() -> Self {
        Self { numbers: Numbers::bottom(), octagons: Octagons::bottom() }
    }
    fn number(&self, variable: V) -> Number {
        self.numbers.get(variable).copied().unwrap_or(Number::TOP)
    }
    /// What is known of a pack.
    pub fn octagon(&self, packs: &Packs<V>, pack: PackId) -> Octagon {
        let known = self.octagons.get(pack).cloned();
        known.unwrap_or_else(|| Octagon::top(packs.variables(pack).len()))
    }
    /// The form in the dimensions of a pack; variables outside of it become intervals.
    fn localize(&self, packs: &Packs<V>, pack: PackId, form: &Linear<V>) -> Linear<usize> {
        form.rename(|x| packs.position(pack, x), |x| self.number(x).interval())
    }
    /// The values of a form.
    pub fn range(&self, packs: &Packs<V>, form: &Linear<V>) -> Interval {
        let mut range = form.range(|variable| self.number(variable).interval());
        for pack in packs_of(packs, form) {
            if let Some(octagon) = self.octagons.get(pack) {
                range = range.meet(&octagon.range(&self.localize(packs, pack, form)));
            }
        }
        range
    }
    /// The expression as a form.
    pub fn linear<R: Resolve<Variable = V>>(&self, packs: &Packs<V>, expr: &Expr, resolve: &R) -> Linear<V> {
        let range = |form: &Linear<V>| self.range(packs, form);
        Linearizer { refiner: Refiner::new(resolve), numbers: &self.numbers, range: &range }.linear(expr)
    }
    /// The values of an expression, with the help of the octagons.
    pub fn evaluate<R: Resolve<Variable = V>>(&self, packs: &Packs<V>, expr: &Expr, resolve: &R) -> Number {
        let value = crate::evaluate::evaluate(expr, &self.numbers, resolve);
        if packs.is_empty() || value.as_constant().is_some() || value.is_bottom() {
            return value;
        }
        if let Expr::Binary(op, _, pair) = expr
            && op.is_comparison()
        {
            return value.meet(&self.compare(packs, *op, pair, resolve));
        }
        if let Expr::Cast(ty, operand) = expr
            && let Some(inner) = under_casts(operand, resolve)
        {
            return value.meet(&self.evaluate(packs, inner, resolve).cast(*ty));
        }
        let form = self.linear(packs, expr, resolve);
        value.meet(&self.range(packs, &form).into())
    }
    fn compare<R: Resolve<Variable = V>>(
        &self,
        packs: &Packs<V>,
        op: BinaryOp,
        pair: &(Expr, Expr),
        resolve: &R,
    ) -> Number {
        let Some(form) = self.difference(packs, pair, resolve) else { return Number::BOOLEAN };
        let (range, zero) = (self.range(packs, &form), Interval::constant(0));
        match op {
            BinaryOp::Eq => range.equal(zero).into(),
            BinaryOp::Ne => range.equal(zero).not().into(),
            BinaryOp::Lt => range.less(zero).into(),
            BinaryOp::Le => range.not_greater(zero).into(),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr => Number::BOOLEAN,
        }
    }
    fn difference<R: Resolve<Variable = V>>(
        &self,
        packs: &Packs<V>,
        pair: &(Expr, Expr),
        resolve: &R,
    ) -> Option<Linear<V>> {
        self.linear(packs, &pair.0, resolve).subtract(&self.linear(packs, &pair.1, resolve))
    }

    /// The states after a parallel assignment: all right-hand sides are evaluated, then all variables set.
    pub fn assign<R: Resolve<Variable = V>>(
        &self,
        packs: &Packs<V>,
        pairs: &[(V, Source<'_>)],
        resolve: &R,
    ) -> Self {
        let mut after = self.clone();
        let mut forms = Vec::new();
        for (variable, source) in pairs {
            let (value, form) = match source {
                Source::Value(expr) => {
                    (self.evaluate(packs, expr, resolve), vec![self.linear(packs, expr, resolve)])
                }
                Source::Any(values) => (*values, Vec::new()),
            };
            after.put(packs, *variable, value);
            forms.push((*variable, form));
        }
        after.relate_assigned(packs, self, &forms);
        after
    }
    /// Relates variables that got their new values in one assignment, and no others did, to what these were
    /// computed from: forms over the variables `before` it, each of which has all the values of the
    /// right-hand side.
    pub fn relate_assigned(&mut self, packs: &Packs<V>, before: &Self, assigned: &[(V, Vec<Linear<V>>)]) {
        let touched: BTreeSet<PackId> =
            assigned.iter().flat_map(|(variable, _)| packs.of(*variable)).copied().collect();
        for pack in touched {
            if self.is_bottom() || before.is_bottom() {
                *self = Self::bottom();
                return;
            }
            let mut octagon = before.octagon(packs, pack);
            let mut changed = BTreeSet::new();
            for (variable, forms) in assigned {
                let Some(position) = packs.position(pack, *variable) else { continue };
                // A variable that has its new value already is an interval here: its old values.
                let to = |x: V| packs.position(pack, x).filter(|_| !changed.contains(&x));
                let strange = |form: &&Linear<V>| form.terms.keys().filter(|x| to(**x).is_none()).count();
                let Some(best) = forms.iter().min_by_key(strange) else {
                    octagon.forget(position);
                    octagon.restrict(position, self.number(*variable).interval());
                    changed.insert(*variable);
                    continue;
                };
                let local = |form: &Linear<V>| form.rename(to, |x| before.number(x).interval());
                let form = local(best);
                for read in form.terms.keys() {
                    octagon.restrict(*read, before.number(packs.variables(pack)[*read]).interval());
                }
                octagon.assign(position, &form);
                // What the others are of is still there, unless it is the variable itself.
                for form in forms.iter().filter(|form| *form != best && strange(form) == 0).map(local) {
                    let equal = form.subtract(&Linear::variable(position));
                    if let Some(equal) = equal.filter(|_| !form.terms.contains_key(&position)) {
                        octagon.guard_zero(&equal);
                    }
                }
                octagon.restrict(position, self.number(*variable).interval());
                changed.insert(*variable);
            }
            self.store(packs, pack, octagon);
        }
    }
    /// Gives a variable any of some values.
    pub fn put(&mut self, packs: &Packs<V>, variable: V, values: Number) {
        self.numbers.set(variable, values);
        if self.is_bottom() {
            *self = Self::bottom();
            return;
        }
        for pack in packs.of(variable) {
            if let (Some(octagon), Some(position)) =
                (self.octagons.get(*pack), packs.position(*pack, variable))
            {
                let mut octagon = octagon.clone();
                octagon.forget(position);
                self.octagons.set(*pack, octagon);
            }
        }
    }
    /// Drops all that is known of a variable.
    pub fn forget(&mut self, packs: &Packs<V>, variable: V) {
        if !self.is_bottom() {
            self.put(packs, variable, Number::TOP);
        }
    }
    /// The same states, with all that numbers and octagons know of each other.
    pub fn reduced(&self, packs: &Packs<V>) -> Self {
        let mut state = self.reduced_in(packs, packs.ids().collect());
        // What one pack says of a variable counts for those before it, too.
        for _ in 0..MOST_ROUNDS {
            let next = state.reduced_in(packs, packs.ids().collect());
            let same = next.numbers == state.numbers;
            state = next;
            if same {
                break;
            }
        }
        state
    }
    /// The same, if what differs from this was computed from `base`, which is reduced: what did not change
    /// can tell nothing new.
    pub fn reduced_since(&self, packs: &Packs<V>, base: &Self) -> Self {
        let is_changed = |pack: &PackId| {
            let same = match (self.octagons.get(*pack), base.octagons.get(*pack)) {
                (Some(a), Some(b)) => a.is_same(b),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            !same
                || packs
                    .variables(*pack)
                    .iter()
                    .any(|variable| self.number(*variable) != base.number(*variable))
        };
        self.reduced_in(packs, packs.ids().filter(is_changed).collect())
    }
    fn reduced_in(&self, packs: &Packs<V>, mut changed: BTreeSet<PackId>) -> Self {
        let mut state = self.clone();
        for pack in &changed {
            if state.is_bottom() {
                return Self::bottom();
            }
            let mut octagon = state.octagon(packs, *pack);
            for (position, variable) in packs.variables(*pack).iter().enumerate() {
                octagon.restrict(position, state.number(*variable).interval());
            }
            state.store(packs, *pack, octagon);
        }
        for Overlap { packs: (first, second), common } in packs.overlaps() {
            if state.is_bottom() {
                break;
            }
            if !changed.contains(first) && !changed.contains(second) {
                continue;
            }
            let (mut a, mut b) = (state.octagon(packs, *first), state.octagon(packs, *second));
            let (before_a, before_b) = (a.clone(), b.clone());
            a.agree(&before_b, common);
            b.agree(&a, &common.iter().map(|(x, y)| (*y, *x)).collect::<Vec<_>>());
            for (pack, octagon, before) in [(*first, a, before_a), (*second, b, before_b)] {
                if !octagon.is_same(&before) && !state.is_bottom() {
                    state.store(packs, pack, octagon);
                    changed.insert(pack);
                }
            }
        }
        if state.is_bottom() { Self::bottom() } else { state }
    }
    /// Keeps a pack's octagon and tells the numbers what it knows.
    fn store(&mut self, packs: &Packs<V>, pack: PackId, octagon: Octagon) {
        if octagon.is_bottom() {
            *self = Self::bottom();
            return;
        }
        for (position, variable) in packs.variables(pack).iter().enumerate() {
            let number = self.number(*variable);
            let better = number.meet(&octagon.interval(position).into());
            if better != number {
                self.numbers.set(*variable, better);
            }
        }
        self.octagons.set(pack, octagon);
        if self.numbers.is_bottom() || self.octagons.is_bottom() {
            *self = Self::bottom();
        }
    }

    /// The states in which a condition (a Boolean) has a truth value.
    pub fn assume<R: Resolve<Variable = V>>(
        &self,
        packs: &Packs<V>,
        condition: &Expr,
        truth: bool,
        resolve: &R,
    ) -> Self {
        let numbers = assume(condition, truth, self.numbers.clone(), resolve);
        let state = Self { numbers, octagons: self.octagons.clone() };
        if state.is_bottom() {
            Self::bottom()
        } else if packs.is_empty() {
            state
        } else {
            state.relate(packs, condition, truth, resolve)
        }
    }
    fn relate<R: Resolve<Variable = V>>(
        self,
        packs: &Packs<V>,
        condition: &Expr,
        truth: bool,
        resolve: &R,
    ) -> Self {
        match condition {
            Expr::Unary(UnaryOp::Not, IntType::BOOL, operand) => self.relate(packs, operand, !truth, resolve),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), IntType::BOOL, pair) => {
                if truth == (*op == BinaryOp::And) {
                    let first = self.relate(packs, &pair.0, truth, resolve);
                    return first.relate(packs, &pair.1, truth, resolve);
                }
                let first = self.assume(packs, &pair.0, truth, resolve);
                first.join(&self.assume(packs, &pair.1, truth, resolve))
            }
            Expr::Binary(op, _, pair) if op.is_comparison() => match truth_of(*op, pair, resolve) {
                Some((inner, same)) => self.relate(packs, inner, truth == same, resolve),
                None => self.relate_comparison(packs, *op, truth, pair, resolve),
            },
            Expr::Cast(_, operand) => match under_casts(operand, resolve) {
                Some(inner) => self.relate(packs, inner, truth, resolve),
                None => self,
            },
            Expr::Const(..)
            | Expr::Local(_)
            | Expr::Load(_)
            | Expr::Address(..)
            | Expr::Procedure(_)
            | Expr::Myself
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::IfThenElse(_)
            | Expr::Valid(..)
            | Expr::Old(_) => self,
            Expr::Overflows(op, ty, pair) => {
                let (left, right) =
                    (self.linear(packs, &pair.0, resolve), self.linear(packs, &pair.1, resolve));
                let form = match op {
                    BinaryOp::Add => left.add(&right),
                    BinaryOp::Sub => left.subtract(&right),
                    _ => None,
                };
                let fits =
                    form.is_some_and(|form| self.range(packs, &form).less_or_equal(&Interval::of_type(*ty)));
                if fits && truth { Self::bottom() } else { self }
            }
        }
    }
    fn relate_comparison<R: Resolve<Variable = V>>(
        self,
        packs: &Packs<V>,
        op: BinaryOp,
        truth: bool,
        pair: &(Expr, Expr),
        resolve: &R,
    ) -> Self {
        let Some(form) = self.difference(packs, pair, resolve) else { return self };
        // Each of these is not above 0.
        let mut forms = match (op, truth) {
            (BinaryOp::Lt, true) => vec![form.plus(1)],
            (BinaryOp::Lt, false) => vec![form.negate()],
            (BinaryOp::Le, true) => vec![form.clone()],
            (BinaryOp::Le, false) => vec![form.negate().plus(1)],
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => vec![form.clone(), form.negate()],
            _ => vec![],
        };
        if forms.is_empty() {
            // Different: known to be above or below if it is known not to be the other.
            let range = self.range(packs, &form);
            if range.lower() >= crate::Bound::ZERO {
                forms.push(form.negate().plus(1));
            } else if range.upper() <= crate::Bound::ZERO {
                forms.push(form.plus(1));
            }
        }
        let mut state = self;
        for pack in packs_of(packs, &form) {
            if state.is_bottom() {
                break;
            }
            let mut octagon = state.octagon(packs, pack);
            for variable in form.terms.keys() {
                if let Some(position) = packs.position(pack, *variable) {
                    octagon.restrict(position, state.number(*variable).interval());
                }
            }
            for form in &forms {
                octagon.guard(&state.localize(packs, pack, form));
            }
            state.store(packs, pack, octagon);
        }
        state
    }
}

/// The packs with a variable of a form.
fn packs_of<V: Id>(packs: &Packs<V>, form: &Linear<V>) -> BTreeSet<PackId> {
    form.terms.keys().flat_map(|variable| packs.of(*variable)).copied().collect()
}

/// The Boolean that an expression is, or is converted from: from a Boolean outwards, no conversion changes
/// the value.
fn under_casts<'e, R: Resolve>(expr: &'e Expr, resolve: &R) -> Option<&'e Expr> {
    let mut inner = expr;
    while resolve.type_of(inner) != IntType::BOOL {
        let Expr::Cast(_, operand) = inner else { return None };
        inner = operand;
    }
    Some(inner)
}

/// `(int)b == 0`, `(int)b != 0` and their kin: the Boolean, and whether the comparison holds when it does.
fn truth_of<'e, R: Resolve>(op: BinaryOp, pair: &'e (Expr, Expr), resolve: &R) -> Option<(&'e Expr, bool)> {
    let same = match op {
        BinaryOp::Eq => true,
        BinaryOp::Ne => false,
        _ => return None,
    };
    let (expr, value) = match pair {
        (expr, Expr::Const(value @ (0 | 1), _)) | (Expr::Const(value @ (0 | 1), _), expr) => (expr, *value),
        _ => return None,
    };
    let inner = under_casts(expr, resolve).filter(|inner| !matches!(inner, Expr::Const(..)))?;
    Some((inner, same == (value == 1)))
}

impl<V: Id> Lattice for Relational<V> {
    fn is_bottom(&self) -> bool {
        self.numbers.is_bottom() || self.octagons.is_bottom()
    }
    fn is_top(&self) -> bool {
        self.numbers.is_top() && self.octagons.is_top()
    }
    fn less_or_equal(&self, other: &Self) -> bool {
        self.is_bottom()
            || (self.numbers.less_or_equal(&other.numbers) && self.octagons.less_or_equal(&other.octagons))
    }
    fn join(&self, other: &Self) -> Self {
        self.combine(other, Environment::join, Environment::join)
    }
    fn meet(&self, other: &Self) -> Self {
        self.combine(other, Environment::meet, Environment::meet)
    }
    fn widen(&self, next: &Self, thresholds: &Thresholds) -> Self {
        self.combine(next, |a, b| a.widen(b, thresholds), |a, b| a.widen(b, thresholds))
    }
    fn narrow(&self, next: &Self) -> Self {
        self.combine(next, Environment::narrow, Environment::narrow)
    }
}

impl<V: Id> Relational<V> {
    fn combine(
        &self,
        other: &Self,
        numbers: impl Fn(&Numbers<V>, &Numbers<V>) -> Numbers<V>,
        octagons: impl Fn(&Octagons, &Octagons) -> Octagons,
    ) -> Self {
        let normal = |state: &Self| if state.is_bottom() { Self::bottom() } else { state.clone() };
        let (a, b) = (normal(self), normal(other));
        normal(&Self {
            numbers: numbers(&a.numbers, &b.numbers),
            octagons: octagons(&a.octagons, &b.octagons),
        })
    }
}

impl<V: Id> PartialEq for Relational<V> {
    fn eq(&self, other: &Self) -> bool {
        self.less_or_equal(other) && other.less_or_equal(self)
    }
}
