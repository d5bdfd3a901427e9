//! Octagons: conjunctions of `±x ± y ≤ c` over a few integer variables.
//!
//! A. Miné, *The octagon abstract domain* (2006): difference-bound matrices over the signed variables `V₂ₖ =
//! xₖ`, `V₂ₖ₊₁ = -xₖ`; the cell in row `i` and column `j` bounds `Vⱼ - Vᵢ`. Closure for integers with
//! tightening: R. Bagnara, P. Hill, E. Zaffanella, *An improved tight closure algorithm for integer octagonal
//! constraints* (2008), theorem 2.
//!
//! Over-approximates. Bounds are exact; one that cannot be represented is infinite. Deviations:
//!
//! 1. Full matrices, not half ones: packs are small, and the code is plain.
//! 2. All assignments go through a new variable that is made equal to the right-hand side; the old one is
//!    then forgotten. For `±y + c` and `±x + c` this is as exact as the special cases.
//! 3. Guards with any linear form give a bound for each variable and each pair in it, with intervals for the
//!    rest.
//! 4. A widened matrix is kept as it is, because closing it would let a sequence of widenings continue
//!    forever. The closed form is computed beside it when it is needed.

use crate::bound::Bound;
use crate::interval::{Interval, is_extreme};
use crate::lattice::{Lattice, Thresholds};
use crate::linear::Linear;
use crate::matrix::{Matrix, node};
use ir::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A set of points with `dimension` integer coordinates.
#[derive(Clone)]
pub struct Octagon {
    dimension: usize,
    /// `None`: no point.
    content: Option<Arc<Content>>,
}

struct Content {
    /// The matrix, closed or as widening left it. It always has a point.
    matrix: Matrix,
    is_closed: bool,
    /// The closed form of a matrix that is not closed.
    closure: OnceLock<Matrix>,
}

/// `±x ≤ bound` or `±x ± y ≤ bound`: the variables with whether they are negated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constraint {
    /// The first variable.
    pub first: (usize, bool),
    /// The second variable, another one.
    pub second: Option<(usize, bool)>,
    /// The upper bound.
    pub bound: Value,
}

impl Octagon {
    /// All points.
    pub fn top(dimension: usize) -> Self {
        Self::from_closed(dimension, Matrix::top(dimension))
    }
    /// No point.
    pub fn bottom(dimension: usize) -> Self {
        Self { dimension, content: None }
    }
    /// The points with each coordinate in its interval.
    pub fn from_intervals(intervals: &[Interval]) -> Self {
        let mut octagon = Self::top(intervals.len());
        octagon.change(|matrix| {
            for (variable, interval) in intervals.iter().enumerate() {
                matrix.restrict_variable(variable, *interval);
            }
        });
        octagon
    }
    fn from_closed(dimension: usize, matrix: Matrix) -> Self {
        let content = Content { matrix, is_closed: true, closure: OnceLock::new() };
        Self { dimension, content: Some(Arc::new(content)) }
    }
    /// How many variables there are.
    pub fn dimension(&self) -> usize {
        self.dimension
    }
    /// Whether both are one and the same in memory.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.content, &other.content) {
            (None, None) => self.dimension == other.dimension,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
    fn closed(&self) -> Option<&Matrix> {
        let content = self.content.as_deref()?;
        if content.is_closed {
            return Some(&content.matrix);
        }
        Some(content.closure.get_or_init(|| {
            let mut matrix = content.matrix.clone();
            // A widened matrix holds what went into it, so it has a point; if not, it stays as it is.
            if matrix.close() { matrix } else { content.matrix.clone() }
        }))
    }
    /// Changes a closed copy of the matrix, and closes the result.
    fn change(&mut self, how: impl FnOnce(&mut Matrix)) {
        let Some(closed) = self.closed() else { return };
        let mut matrix = closed.clone();
        how(&mut matrix);
        if matrix == *closed && self.content.as_ref().is_some_and(|content| content.is_closed) {
            return;
        }
        *self = if matrix.close() {
            Self::from_closed(self.dimension, matrix)
        } else {
            Self::bottom(self.dimension)
        };
    }

    /// The values of a variable.
    pub fn interval(&self, variable: usize) -> Interval {
        self.closed().map_or(Interval::BOTTOM, |matrix| matrix.variable(variable))
    }
    /// The values of a linear form.
    pub fn range(&self, form: &Linear<usize>) -> Interval {
        if self.is_bottom() {
            return Interval::BOTTOM;
        }
        Interval::new(self.upper(&form.negate()).negate(), self.upper(form))
    }
    /// An upper bound of a form: variables one by one, or two of them together and the rest one by one.
    fn upper(&self, form: &Linear<usize>) -> Bound {
        let Some(matrix) = self.closed() else { return Bound::MINUS_INFINITY };
        let single = |(variable, factor): (&usize, &Value)| {
            matrix.variable(*variable).multiply(Interval::constant(*factor)).upper()
        };
        let separate = form.terms.iter().map(single).fold(form.constant.upper(), Bound::add_up);
        let mut best = separate;
        for (x, a) in &form.terms {
            for (y, b) in form.terms.range(x + 1..) {
                if a.abs() != b.abs() {
                    continue;
                }
                let rest = form.terms.iter().filter(|(z, _)| *z != x && *z != y).map(single);
                let rest = rest.fold(form.constant.upper(), Bound::add_up);
                let both = matrix.get(node(*y, *b > 0), node(*x, *a < 0));
                // A factor times an upper bound of a sum; too large is as good as infinite.
                let both = Bound::hull([both.multiply(Bound::finite(a.abs()))]).1;
                best = best.min(rest.add_up(both));
            }
        }
        best
    }

    /// The points whose coordinate is in an interval.
    pub fn restrict(&mut self, variable: usize, interval: Interval) {
        if interval.is_bottom() {
            *self = Self::bottom(self.dimension);
        } else if !self.interval(variable).less_or_equal(&interval) {
            self.change(|matrix| matrix.restrict_variable(variable, interval));
        }
    }
    /// The points where some value of the form is not above 0.
    pub fn guard(&mut self, form: &Linear<usize>) {
        if self.is_bottom() {
            return;
        }
        let least = self.upper(&form.negate()).negate();
        if least > Bound::ZERO {
            *self = Self::bottom(self.dimension);
            return;
        }
        // `rest + a x ≤ 0`, so `a x ≤ -rest`, whatever the rest is.
        let limit = |kept: &[usize]| {
            let mut rest = form.clone();
            rest.terms.retain(|variable, _| !kept.contains(variable));
            self.upper(&rest.negate())
        };
        let mut bounds = Vec::new();
        for (x, a) in &form.terms {
            let bound = limit(&[*x]).divide_down(a.abs());
            // Cells of one variable bound its double.
            bounds.push((node(*x, *a > 0), node(*x, *a < 0), bound.double()));
            for (y, b) in form.terms.range(x + 1..) {
                if a.abs() == b.abs() {
                    let bound = limit(&[*x, *y]).divide_down(a.abs());
                    bounds.push((node(*y, *b > 0), node(*x, *a < 0), bound));
                }
            }
        }
        self.change(|matrix| {
            for (row, column, bound) in bounds {
                matrix.restrict(row, column, bound);
            }
        });
    }
    /// The points where some value of the form is 0.
    pub fn guard_zero(&mut self, form: &Linear<usize>) {
        self.guard(form);
        self.guard(&form.negate());
    }
    /// The points after a variable got a value of the form.
    pub fn assign(&mut self, variable: usize, form: &Linear<usize>) {
        let Some(closed) = self.closed() else { return };
        let fresh = self.dimension;
        let mut larger = Self::from_closed(self.dimension + 1, closed.with_variable());
        if let Some(difference) = form.subtract(&Linear::variable(fresh)) {
            larger.guard_zero(&difference);
        } else {
            larger.restrict(fresh, self.range(form));
        }
        *self = match larger.closed() {
            Some(matrix) => Self::from_closed(self.dimension, matrix.replaced_by_last(variable)),
            None => Self::bottom(self.dimension),
        };
    }
    /// The points after a variable got any value.
    pub fn forget(&mut self, variable: usize) {
        if let Some(closed) = self.closed() {
            let mut matrix = closed.clone();
            matrix.forget(variable);
            *self = Self::from_closed(self.dimension, matrix);
        }
    }
    /// The points that agree with a point of another set on common variables, as far as two of them at a time
    /// can tell: pairs of a variable here and there.
    pub fn agree(&mut self, other: &Self, common: &[(usize, usize)]) {
        let Some(theirs) = other.closed() else {
            *self = Self::bottom(self.dimension);
            return;
        };
        let Some(mine) = self.closed() else { return };
        let mut better = Vec::new();
        let nodes = common.iter().flat_map(|(here, there)| [false, true].map(|sign| (*here, *there, sign)));
        for (x, x_there, sign) in nodes.clone() {
            for (y, y_there, other_sign) in nodes.clone().filter(|(y, ..)| *y != x) {
                let bound = theirs.get(node(x_there, sign), node(y_there, other_sign));
                let (row, column) = (node(x, sign), node(y, other_sign));
                if bound < mine.get(row, column) {
                    better.push((row, column, bound));
                }
            }
        }
        if !better.is_empty() {
            self.change(|matrix| better.iter().for_each(|it| matrix.restrict(it.0, it.1, it.2)));
        }
    }
    /// The points for which constraints hold.
    pub fn of_constraints(dimension: usize, constraints: &[Constraint]) -> Self {
        let mut octagon = Self::top(dimension);
        octagon.change(|matrix| {
            for constraint in constraints {
                let (x, negated) = constraint.first;
                let (y, other) = constraint.second.unwrap_or(constraint.first);
                let bound = Bound::finite(constraint.bound);
                let bound = if constraint.second.is_some() { bound } else { bound.double() };
                matrix.restrict(node(y, !other), node(x, negated), bound);
            }
        });
        octagon
    }
    /// Constraints of two variables that, with the intervals of all variables, make up the set; none of them
    /// follows from the others.
    pub fn relations(&self) -> Vec<Constraint> {
        let intervals: Vec<Interval> = (0..self.dimension).map(|variable| self.interval(variable)).collect();
        let box_of_all = Self::from_intervals(&intervals);
        let mut kept: Vec<Constraint> =
            self.constraints().into_iter().filter(|constraint| constraint.second.is_some()).collect();
        for index in (0..kept.len()).rev() {
            let removed = kept.remove(index);
            let rest = box_of_all.meet(&Self::of_constraints(self.dimension, &kept));
            if !rest.less_or_equal(self) {
                kept.insert(index, removed);
            }
        }
        kept
    }
    /// The constraints that the set is made of, without those of two variables that follow from intervals.
    pub fn constraints(&self) -> Vec<Constraint> {
        let Some(matrix) = self.closed() else { return Vec::new() };
        let mut found = Vec::new();
        for x in 0..self.dimension {
            for negated in [false, true] {
                let interval = matrix.variable(x);
                let upper = if negated { interval.lower().negate() } else { interval.upper() };
                if let Some(bound) = upper.value() {
                    found.push(Constraint { first: (x, negated), second: None, bound });
                }
                for (y, other) in (x + 1..self.dimension).flat_map(|y| [(y, false), (y, true)]) {
                    let cell = matrix.get(node(y, !other), node(x, negated));
                    let range = matrix.variable(y);
                    let alone = upper.add_up(if other { range.lower().negate() } else { range.upper() });
                    if let Some(bound) = cell.value().filter(|_| cell < alone) {
                        found.push(Constraint { first: (x, negated), second: Some((y, other)), bound });
                    }
                }
            }
        }
        found
    }
}

impl Lattice for Octagon {
    fn is_bottom(&self) -> bool {
        self.content.is_none()
    }
    fn is_top(&self) -> bool {
        self.content.as_ref().is_some_and(|content| content.matrix.is_top())
    }
    fn less_or_equal(&self, other: &Self) -> bool {
        if self.is_same(other) {
            return true;
        }
        match (self.closed(), &other.content) {
            (None, _) => true,
            (_, None) => false,
            (Some(a), Some(b)) => a.less_or_equal(&b.matrix),
        }
    }
    fn join(&self, other: &Self) -> Self {
        match (self.closed(), other.closed()) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            _ if self.is_same(other) => self.clone(),
            // Closed matrices are the least ones, and the greater cells of two closed ones are closed again.
            (Some(a), Some(b)) => Self::from_closed(self.dimension, a.combine(b, |_, x, y| x.max(y))),
        }
    }
    fn meet(&self, other: &Self) -> Self {
        let (Some(_), Some(b)) = (self.closed(), other.closed()) else { return Self::bottom(self.dimension) };
        let mut met = self.clone();
        met.change(|matrix| *matrix = matrix.combine(b, |_, x, y| x.min(y)));
        met
    }
    fn widen(&self, next: &Self, thresholds: &Thresholds) -> Self {
        let Some(content) = self.content.as_deref() else { return next.clone() };
        let Some(next) = next.closed() else { return self.clone() };
        let matrix = content.matrix.combine(next, |double, old, new| {
            if new <= old {
                old
            } else if double {
                thresholds.above(new.divide_up(2)).double()
            } else {
                thresholds.above(new)
            }
        });
        if matrix == content.matrix {
            return self.clone();
        }
        let content = Content { matrix, is_closed: false, closure: OnceLock::new() };
        Self { dimension: self.dimension, content: Some(Arc::new(content)) }
    }
    fn narrow(&self, next: &Self) -> Self {
        let (Some(content), Some(next)) = (self.content.as_deref(), next.closed()) else {
            return Self::bottom(self.dimension);
        };
        let mut narrowed = self.clone();
        let old = &content.matrix;
        narrowed.change(|matrix| {
            *matrix = old.combine(next, |double, old, new| {
                let open = !old.is_finite() || (double && is_extreme(old.divide_down(2)));
                if open { new.min(old) } else { old }
            });
        });
        narrowed
    }
}

impl PartialEq for Octagon {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || (self.closed() == other.closed() && self.dimension == other.dimension)
    }
}

impl fmt::Debug for Octagon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_bottom() {
            return f.write_str("⊥");
        }
        f.debug_list().entries(self.constraints().iter().map(ToString::to_string)).finish()
    }
}
impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |negated| if negated { "-" } else { "" };
        write!(f, "{}x{}", sign(self.first.1), self.first.0)?;
        if let Some((variable, negated)) = self.second {
            write!(f, " {} x{variable}", if negated { "-" } else { "+" })?;
        }
        write!(f, " ≤ {}", self.bound)
    }
}
