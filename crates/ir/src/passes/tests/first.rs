//! A program that starts as several threads, and the same started by one.

use super::assert_same;
use super::generate::{Shape, generate};
use crate::ids::TemplateId;
use crate::passes::{split, started_by_one};
use crate::program::Count;

#[test]
fn several_first_threads_are_started_by_one() {
    let shape = Shape { workers: 0, statements: 3, large: false, calls: true, wild: false };
    let mut compared = 0;
    for seed in 9000..9150 {
        let mut program = generate(seed, shape);
        let copies = 1 + (seed % 2) as u32;
        program.start = vec![(TemplateId(0), Count::Exactly(1)), (TemplateId(1), Count::Exactly(copies))];
        let before = split(&program);
        let after = started_by_one(before.clone());
        assert!(matches!(after.start.as_slice(), [(_, Count::Exactly(1))]), "seed {seed}");
        assert_eq!(started_by_one(after.clone()), after, "seed {seed}");
        compared += u32::from(assert_same(seed, &before, &after));
    }
    assert!(compared > 60, "{compared} programs were small enough");
}
