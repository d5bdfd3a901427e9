//! Compression and dead code.

use super::generate::Shape;
use super::{assert_same, for_seeds};
use crate::passes::{InlineLimits, compress, inline, remove_dead_code, resolve_calls, split};

const SHAPE: Shape = Shape { workers: 1, statements: 4, large: false, calls: true, wild: false };

#[test]
fn dead_code_keeps_the_verdict() {
    let mut compared = 0;
    for_seeds(3000..3400, SHAPE, &mut |seed, program| {
        let before = split(program);
        compared += u32::from(assert_same(seed, &before, &remove_dead_code(&before)));
    });
    assert!(compared > 150, "{compared} programs were small enough");
}

#[test]
fn compression_keeps_the_verdict() {
    let mut compared = 0;
    for_seeds(4000..4500, SHAPE, &mut |seed, program| {
        let before = split(program);
        let after = compress(&before);
        assert_eq!(compress(&after), after, "seed {seed}: compressing again changes nothing");
        compared += u32::from(assert_same(seed, &before, &after));
    });
    assert!(compared > 150, "{compared} programs were small enough");
}

#[test]
fn compression_keeps_the_verdict_of_inlined_programs() {
    let (mut compared, mut sizes) = (0, [0, 0]);
    for_seeds(5000..5300, SHAPE, &mut |seed, program| {
        let inlined = inline(&resolve_calls(program), InlineLimits::default()).expect("small").program;
        let before = split(&inlined);
        let after = compress(&remove_dead_code(&before));
        let size = |program: &crate::Program| {
            program.templates.iter().map(|code| code.locations.len()).sum::<usize>()
        };
        sizes = [sizes[0] + size(&before), sizes[1] + size(&after)];
        compared += u32::from(assert_same(seed, &before, &after));
    });
    assert!(compared > 100, "{compared} programs were small enough");
    assert!(sizes[1] * 10 < sizes[0] * 6, "{sizes:?} locations before and after");
}
