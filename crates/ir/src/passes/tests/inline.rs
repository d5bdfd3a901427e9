//! Calls through pointers, and inlining.

use super::generate::Shape;
use super::{assert_same, for_seeds};
use crate::op::Op;
use crate::passes::{InlineLimits, inline, resolve_calls, split};

const SHAPE: Shape = Shape { workers: 1, statements: 4, large: false, calls: true, wild: false };

#[test]
fn resolving_calls_keeps_the_verdict() {
    let mut compared = 0;
    for_seeds(1000..1300, SHAPE, &mut |seed, program| {
        let before = split(program);
        let after = resolve_calls(&before);
        let is_dynamic = |op: &Op| crate::passes::calls::is_dynamic(op);
        assert!(
            !after.templates.iter().any(|code| code.edges.iter().any(|edge| edge.ops.iter().any(is_dynamic)))
        );
        compared += u32::from(before != after && assert_same(seed, &before, &after));
    });
    assert!(compared > 30, "{compared} programs with such calls were small enough");
}

#[test]
fn inlining_keeps_the_verdict() {
    let mut compared = 0;
    for_seeds(2000..2400, SHAPE, &mut |seed, program| {
        let before = resolve_calls(&split(program));
        let after = inline(&before, InlineLimits::default()).expect("small").program;
        let is_call = |op: &Op| matches!(op, Op::Call(..));
        assert!(
            !after.templates.iter().any(|code| code.edges.iter().any(|edge| edge.ops.iter().any(is_call)))
        );
        compared += u32::from(assert_same(seed, &before, &after));
    });
    assert!(compared > 150, "{compared} programs were small enough");
}
