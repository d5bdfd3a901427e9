//! Octagons against all points of a small cube.

use crate::lattices::form;
use domains::{Bound, Interval, Lattice, Linear, Octagon, Thresholds};
use ir::Value;
use std::collections::BTreeSet;
use testkit::random::Random;

type Point = [Value; 3];

const REACH: Value = 5;

fn cube() -> impl Iterator<Item = Point> {
    let line = -REACH..=REACH;
    line.clone().flat_map(move |x| {
        let line = line.clone();
        line.clone().flat_map(move |y| line.clone().map(move |z| [x, y, z]))
    })
}

/// The least and the greatest value of a form at a point.
fn values(form: &Linear<usize>, point: &Point) -> Interval {
    let sum = form.terms.iter().map(|(variable, factor)| factor * point[*variable]).sum();
    form.constant.plus(Interval::constant(sum))
}

/// An octagon inside of the cube, and its points.
fn octagon(random: &mut Random) -> (Octagon, BTreeSet<Point>) {
    let mut octagon = Octagon::from_intervals(&[Interval::between(-REACH, REACH); 3]);
    let mut points: BTreeSet<Point> = cube().collect();
    for _ in 0..random.below(6) {
        let mut form = form(random);
        // Two variables and one constant: the constraint is octagonal, so nothing may be lost.
        while form.terms.len() > 2 {
            form.terms.pop_last();
        }
        form.terms.values_mut().for_each(|factor| *factor = factor.signum());
        octagon.guard(&form);
        points.retain(|point| values(&form, point).lower() <= Bound::ZERO);
    }
    (octagon, points)
}

/// The sharpest bounds of all octagonal forms.
fn bounds(points: &BTreeSet<Point>) -> Vec<(Linear<usize>, Interval)> {
    let mut found = Vec::new();
    for (x, y, factor) in
        [(0, 0, 0), (1, 1, 0), (2, 2, 0), (0, 1, 1), (0, 1, -1), (0, 2, 1), (0, 2, -1), (1, 2, 1), (1, 2, -1)]
    {
        let mut form = Linear::variable(x);
        if factor != 0 {
            form.terms.insert(y, factor);
        }
        let range = points.iter().fold(Interval::BOTTOM, |range, point| range.join(&values(&form, point)));
        found.push((form, range));
    }
    found
}

fn assert_exact(octagon: &Octagon, points: &BTreeSet<Point>) {
    assert_eq!(octagon.is_bottom(), points.is_empty(), "{octagon:?}");
    for (form, range) in bounds(points) {
        assert_eq!(octagon.range(&form), range, "{form:?} in {octagon:?}");
    }
}

#[test]
fn closure_is_exact() {
    for seed in 0..600 {
        let (octagon, points) = octagon(&mut Random::new(seed));
        assert_exact(&octagon, &points);
    }
}

#[test]
fn joins_and_projections_are_the_best() {
    for seed in 0..200 {
        let random = &mut Random::new(seed);
        let ((a, mut points), (b, more)) = (octagon(random), octagon(random));
        let both: BTreeSet<Point> = points.intersection(&more).copied().collect();
        assert_exact(&a.meet(&b), &both);
        let mut forgotten = a.clone();
        let variable = random.below(3);
        forgotten.forget(variable);
        forgotten.restrict(variable, Interval::between(-REACH, REACH));
        let projected = points.iter().flat_map(|point| {
            (-REACH..=REACH).map(move |value| {
                let mut moved = *point;
                moved[variable] = value;
                moved
            })
        });
        assert_exact(&forgotten, &projected.collect());
        points.extend(more);
        assert_exact(&a.join(&b), &points);
    }
}

#[test]
fn assignments_hold_all_results() {
    for seed in 0..400 {
        let random = &mut Random::new(seed);
        let (before, points) = octagon(random);
        let (variable, form) = (random.below(3), form(random));
        let mut after = before.clone();
        after.assign(variable, &form);
        let mut results = BTreeSet::new();
        for point in &points {
            let range = values(&form, point);
            for value in range.lower().value().unwrap()..=range.upper().value().unwrap() {
                let mut moved = *point;
                moved[variable] = value;
                results.insert(moved);
            }
        }
        let octagonal = form.terms.len() <= 1 && form.terms.values().all(|factor| factor.abs() == 1);
        if octagonal {
            assert_exact(&after, &results);
        }
        for (form, range) in bounds(&results) {
            assert!(range.less_or_equal(&after.range(&form)), "{before:?} {variable} := {form:?}: {after:?}");
        }
    }
}

#[test]
fn guards_keep_all_points() {
    for seed in 0..400 {
        let random = &mut Random::new(seed);
        let (before, mut points) = octagon(random);
        let form = form(random);
        let mut after = before.clone();
        after.guard(&form);
        assert!(after.less_or_equal(&before));
        points.retain(|point| values(&form, point).lower() <= Bound::ZERO);
        for (bounded, range) in bounds(&points) {
            assert!(range.less_or_equal(&after.range(&bounded)), "{before:?} {form:?}: {after:?}");
        }
    }
}

#[test]
fn large_bounds_do_not_overflow() {
    let far: Value = 1 << 125;
    let mut octagon =
        Octagon::from_intervals(&[Interval::between(-far, far), Interval::between(far, far + 1)]);
    let mut form = Linear::variable(0);
    form.terms.insert(1, 1 << 30);
    let range = octagon.range(&form);
    assert!(range.upper() == Bound::PLUS_INFINITY && range.lower().is_finite());
    octagon.assign(0, &form);
    assert!(!octagon.is_bottom());
    octagon.assign(0, &Linear::variable(1).plus(1));
    let mut difference = Linear::variable(0);
    difference.terms.insert(1, -1);
    assert_eq!(octagon.range(&difference), Interval::constant(1));
}

/// `x + y = 1` and `x = y` have a common point, but no integer one.
#[test]
fn parity_is_seen() {
    let mut sum = Linear::variable(0).plus(-1);
    sum.terms.insert(1, 1);
    let mut difference = Linear::variable(0);
    difference.terms.insert(1, -1);
    let (mut line, mut diagonal) = (Octagon::top(2), Octagon::top(2));
    line.guard_zero(&sum);
    diagonal.guard_zero(&difference);
    assert!(!line.is_bottom() && !diagonal.is_bottom());
    assert!(line.meet(&diagonal).is_bottom());
    line.guard_zero(&difference);
    assert!(line.is_bottom());
}

/// Two variables that stay close together and grow in turns. A closed form of what was widened would bring
/// the bound of one back from that of the other, and the sequence would go through all numbers (A. Miné,
/// section 4.5).
#[test]
fn what_was_widened_is_not_closed() {
    let thresholds = Thresholds::new([]);
    let mut close = Linear::variable(0).plus(-1);
    close.terms.insert(1, -1);
    let mut state = Octagon::from_intervals(&[Interval::between(0, 1); 2]);
    let mut rises = 0;
    for turn in 0..400 {
        let upper = |variable: usize| state.interval(variable).upper();
        let mut next = Octagon::top(2);
        for variable in 0..2 {
            let more = Bound::finite(Value::from(variable == turn % 2));
            next.restrict(variable, Interval::new(Bound::ZERO, upper(variable).add_up(more)));
        }
        next.guard(&close);
        next.guard(&close.negate().plus(-2));
        let wider = state.widen(&next, &thresholds);
        rises += u32::from(wider != state);
        state = wider;
    }
    assert!(rises < 60, "{rises} rises");
}
