//! Environments against plain maps.

use domains::{Environment, Interval, Lattice};
use ir::{LocalId, Value};
use std::collections::BTreeMap;
use testkit::random::Random;

type Intervals = Environment<LocalId, Interval>;

#[test]
fn an_environment_is_a_map() {
    for seed in 0..200 {
        let random = &mut Random::new(seed);
        let mut model: BTreeMap<LocalId, Interval> = BTreeMap::new();
        let mut environment = Intervals::top();
        let limit = random.pick(&[3, 9, 70, 5000]);
        for _ in 0..120 {
            let variable = LocalId(random.below(limit) as u32);
            if random.once_in(3) {
                model.remove(&variable);
                environment.forget(variable);
            } else {
                let value = Interval::constant(random.below(9) as Value);
                model.insert(variable, value);
                environment.set(variable, value);
            }
            assert_eq!(environment.get(variable), model.get(&variable));
        }
        let listed: Vec<(LocalId, Interval)> = environment.iter().map(|(x, value)| (x, *value)).collect();
        assert_eq!(listed, model.clone().into_iter().collect::<Vec<_>>());
        // The shape does not depend on how it came about.
        let again: Intervals = model.iter().rev().map(|(x, value)| (*x, *value)).collect();
        assert!(again == environment);
        for (variable, _) in listed {
            environment.forget(variable);
        }
        assert!(environment.is_top() && environment == Intervals::top());
    }
}

#[test]
fn what_is_the_same_stays_shared() {
    let mut one: Intervals = (0..1000).map(|x| (LocalId(x), Interval::constant(1))).collect();
    let copy = one.clone();
    assert!(one.is_same(&copy) && one.join(&copy).is_same(&one));
    one.set(LocalId(7), Interval::constant(1));
    assert!(one.is_same(&copy), "setting what is known already changes nothing");
    one.set(LocalId(7), Interval::between(0, 1));
    assert!(!one.is_same(&copy) && one.join(&copy).is_same(&one) && one.meet(&copy).is_same(&copy));
}

#[test]
fn a_contradiction_is_bottom() {
    let mut environment: Intervals = [(LocalId(1), Interval::constant(1))].into_iter().collect();
    let other: Intervals = [(LocalId(1), Interval::constant(2))].into_iter().collect();
    assert!(environment.meet(&other).is_bottom());
    environment.set(LocalId(2), Interval::BOTTOM);
    assert!(environment.is_bottom() && environment.get(LocalId(1)).is_none());
    environment.set(LocalId(2), Interval::constant(1));
    assert!(environment.is_bottom(), "nothing comes back");
}
