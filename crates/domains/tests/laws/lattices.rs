//! The laws of lattices, for every domain.

use crate::samples;
use domains::{Environment, Interval, Lattice, Linear, Number, Octagon, Relational, Thresholds};
use ir::{IntType, LocalId, Value};
use std::fmt::Debug;
use testkit::random::Random;

/// A domain under test: random elements, and what they mean.
trait Sample: Lattice + Debug {
    /// What elements are sets of.
    type Point: Debug;
    fn random(random: &mut Random) -> Self;
    /// A point near to what random elements hold.
    fn point(random: &mut Random) -> Self::Point;
    fn contains(&self, point: &Self::Point) -> bool;
    /// An element that is a little larger: the worst that a loop can do to widening.
    fn grow(&self, random: &mut Random) -> Self;
}

/// The values of a few variables.
type Tuple = [Value; 3];

fn small(random: &mut Random) -> Value {
    random.below(9) as Value - 4
}

impl Sample for Interval {
    type Point = Value;
    fn random(random: &mut Random) -> Self {
        if random.once_in(12) {
            return Self::BOTTOM;
        }
        let middle = samples::value(random, IntType::I16);
        samples::interval_around(random, middle)
    }
    fn point(random: &mut Random) -> Value {
        samples::value(random, IntType::I16)
    }
    fn contains(&self, point: &Value) -> bool {
        Interval::contains(*self, *point)
    }
    fn grow(&self, random: &mut Random) -> Self {
        self.plus(Self::between(-(random.below(2) as Value), random.below(3) as Value))
    }
}

impl Sample for Number {
    type Point = Value;
    fn random(random: &mut Random) -> Self {
        if random.once_in(12) {
            return Self::BOTTOM;
        }
        let middle = samples::value(random, IntType::I16);
        samples::number_around(random, middle)
    }
    fn point(random: &mut Random) -> Value {
        samples::value(random, IntType::I16)
    }
    fn contains(&self, point: &Value) -> bool {
        Number::contains(self, *point)
    }
    fn grow(&self, random: &mut Random) -> Self {
        let more = self.interval().plus(Interval::between(0, random.pick(&[0, 1, 2, 12, 64])));
        self.join(&more.upper().value().map_or(*self, Number::constant))
    }
}

impl Sample for Environment<LocalId, Number> {
    type Point = Tuple;
    fn random(random: &mut Random) -> Self {
        if random.once_in(12) {
            return Self::bottom();
        }
        // Far apart, so that tries of different heights meet.
        let variables = [LocalId(0), LocalId(9), LocalId(700)];
        let mut environment = Self::top();
        for variable in variables {
            if !random.once_in(3) {
                let middle = small(random);
                environment.set(variable, samples::number_around(random, middle));
            }
        }
        environment
    }
    fn point(random: &mut Random) -> Tuple {
        std::array::from_fn(|_| small(random))
    }
    fn contains(&self, point: &Tuple) -> bool {
        let known =
            |variable: u32, value: Value| self.get(LocalId(variable)).is_none_or(|n| n.contains(value));
        !self.is_bottom() && known(0, point[0]) && known(9, point[1]) && known(700, point[2])
    }
    fn grow(&self, random: &mut Random) -> Self {
        self.iter().map(|(variable, number)| (variable, number.grow(random))).collect()
    }
}

/// A form with small factors.
pub fn form(random: &mut Random) -> Linear<usize> {
    let constant = small(random);
    let mut form = Linear::constant(Interval::between(constant, constant + random.below(2) as Value));
    for variable in 0..3 {
        if random.once_in(2) {
            form.terms.insert(variable, random.pick(&[-1, 1, -1, 1, -1, 1, 2, -3]));
        }
    }
    form
}

impl Sample for Octagon {
    type Point = Tuple;
    fn random(random: &mut Random) -> Self {
        let mut octagon = Self::top(3);
        for variable in 0..3 {
            if !random.once_in(4) {
                let lower = small(random);
                octagon.restrict(variable, Interval::between(lower, lower + random.below(5) as Value));
            }
        }
        for _ in 0..random.below(4) {
            octagon.guard(&form(random));
        }
        octagon
    }
    fn point(random: &mut Random) -> Tuple {
        std::array::from_fn(|_| small(random))
    }
    fn contains(&self, point: &Tuple) -> bool {
        let value =
            |(variable, negated): (usize, bool)| if negated { -point[variable] } else { point[variable] };
        let holds = |constraint: domains::Constraint| {
            value(constraint.first) + constraint.second.map_or(0, value) <= constraint.bound
        };
        !self.is_bottom() && self.constraints().into_iter().all(holds)
    }
    fn grow(&self, random: &mut Random) -> Self {
        let mut larger = self.clone();
        let variable = random.below(3);
        let amount = Interval::between(0, random.below(3) as Value);
        let mut form = Linear::variable(variable);
        form.constant = amount;
        larger.assign(variable, &form);
        larger
    }
}

impl Sample for Relational<LocalId> {
    type Point = (Tuple, Tuple);
    fn random(random: &mut Random) -> Self {
        let mut octagons = domains::Octagons::top();
        if random.once_in(2) {
            octagons.set(domains::PackId(3), Octagon::random(random));
        }
        Self { numbers: Environment::random(random), octagons }
    }
    fn point(random: &mut Random) -> Self::Point {
        (Environment::point(random), Octagon::point(random))
    }
    fn contains(&self, point: &Self::Point) -> bool {
        let related = self.octagons.get(domains::PackId(3)).is_none_or(|known| known.contains(&point.1));
        !self.is_bottom() && self.numbers.contains(&point.0) && related
    }
    fn grow(&self, random: &mut Random) -> Self {
        let mut octagons = self.octagons.clone();
        for (pack, octagon) in self.octagons.iter() {
            octagons.set(pack, octagon.grow(random));
        }
        Self { numbers: self.numbers.grow(random), octagons }
    }
}

fn thresholds(random: &mut Random) -> Thresholds {
    Thresholds::new((0..random.below(5)).map(|_| samples::value(random, IntType::I8)).collect::<Vec<_>>())
}

fn laws<D: Sample>(rounds: u64) {
    for seed in 0..rounds {
        let random = &mut Random::new(seed);
        let (a, b, c) = (D::random(random), D::random(random), D::random(random));
        let (join, meet) = (a.join(&b), a.meet(&b));
        let thresholds = thresholds(random);
        let widened = a.widen(&b, &thresholds);
        let narrowed = join.narrow(&a);
        assert!(a.less_or_equal(&a) && a == a.clone(), "{a:?}");
        if a.less_or_equal(&b) && b.less_or_equal(&c) {
            assert!(a.less_or_equal(&c), "transitive: {a:?} {b:?} {c:?}");
        }
        assert_eq!(a == b, a.less_or_equal(&b) && b.less_or_equal(&a), "antisymmetric: {a:?} {b:?}");
        assert!(a.less_or_equal(&join) && b.less_or_equal(&join), "join: {a:?} {b:?} {join:?}");
        assert!(join == b.join(&a) && a.join(&a) == a, "join: {a:?} {b:?}");
        assert!(meet.less_or_equal(&a) && meet.less_or_equal(&b), "meet: {a:?} {b:?} {meet:?}");
        assert!(a.less_or_equal(&widened) && b.less_or_equal(&widened), "widen: {a:?} {b:?} {widened:?}");
        assert!(
            a.less_or_equal(&narrowed) && narrowed.less_or_equal(&join),
            "narrow: {join:?} {a:?} {narrowed:?}"
        );
        if a.is_bottom() || b.is_top() {
            assert!(a.less_or_equal(&b), "{a:?} {b:?}");
        }
        for _ in 0..30 {
            let point = D::point(random);
            let (in_a, in_b) = (a.contains(&point), b.contains(&point));
            assert!(!in_a || !a.is_bottom(), "{a:?} holds {point:?}");
            if in_a || in_b {
                assert!(join.contains(&point) && widened.contains(&point), "{a:?} {b:?} {point:?}");
            }
            assert_eq!(meet.contains(&point), in_a && in_b, "meet: {a:?} {b:?} {meet:?} {point:?}");
            if in_a && a.less_or_equal(&b) {
                assert!(in_b, "{a:?} {b:?} {point:?}");
            }
        }
    }
}

/// Sequences of widenings and narrowings end.
fn sequences<D: Sample>(rounds: u64) {
    for seed in 0..rounds {
        let random = &mut Random::new(seed);
        let thresholds = thresholds(random);
        let mut state = D::random(random);
        let mut rises = 0;
        for _ in 0..2000 {
            let next = if random.once_in(50) { D::random(random) } else { state.grow(random) };
            let wider = state.widen(&next, &thresholds);
            rises += u32::from(wider != state);
            state = wider;
        }
        assert!(rises < 900, "{rises} rises");
        let mut quiet = true;
        for _ in 0..50 {
            let wider = state.widen(&state.grow(random), &thresholds);
            quiet &= wider == state;
            state = wider;
        }
        assert!(quiet, "{state:?}");
        for _ in 0..200 {
            let next = state.meet(&D::random(random));
            let narrower = state.narrow(&next);
            quiet = narrower == state;
            state = narrower;
        }
        assert!(quiet, "{state:?}");
    }
}

#[test]
fn intervals_are_a_lattice() {
    laws::<Interval>(3000);
    sequences::<Interval>(40);
}

#[test]
fn numbers_are_a_lattice() {
    laws::<Number>(5000);
    sequences::<Number>(40);
}

#[test]
fn environments_are_a_lattice() {
    laws::<Environment<LocalId, Number>>(3000);
    sequences::<Environment<LocalId, Number>>(20);
}

#[test]
fn octagons_are_a_lattice() {
    laws::<Octagon>(1500);
    sequences::<Octagon>(10);
}

#[test]
fn numbers_with_octagons_are_a_lattice() {
    laws::<Relational<LocalId>>(1000);
    sequences::<Relational<LocalId>>(5);
}
