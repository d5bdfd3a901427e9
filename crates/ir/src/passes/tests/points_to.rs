//! What addresses point to.

use super::explore::observe_with;
use super::generate::Shape;
use super::{LIMIT, for_seeds};
use crate::expr::{Expr, Place, Targets};
use crate::op::{Callee, Lhs, Op};
use crate::passes::{PointsTo, points_to, split};
use crate::semantics::{Machine, State};

const SHAPE: Shape = Shape { workers: 1, statements: 5, large: false, calls: true, wild: false };

/// Checks that the address of each computed place lies in its targets, in one state.
fn check_state(machine: &Machine<'_>, state: &State, points_to: &PointsTo, checked: &mut [u64; 2]) {
    for thread in 0..state.threads.len() {
        for edge in machine.edges(state, thread) {
            let (template, _) = state.location(thread).expect("it has edges");
            let ops = &machine.program.templates[template].edges[*edge].ops;
            let [op] = ops.as_slice() else { continue };
            let mut places: Vec<&Place> = Vec::new();
            for expr in op.expressions() {
                expr.walk(&mut |inner| {
                    if let Expr::Load(place) = inner {
                        places.push(place);
                    }
                });
            }
            places.extend(op.targets().into_iter().filter_map(|lhs| match lhs {
                Lhs::Memory(place) => Some(place),
                Lhs::Local(_) => None,
            }));
            for place in places {
                let Targets::Of(targets) = &place.targets else { continue };
                let Ok(address) = machine.peek(state, thread, &place.address) else { continue };
                let Some((object, offset)) = machine.describe(state, address as u64) else { continue };
                let found = targets.iter().any(|target| {
                    let distance = offset.wrapping_sub(target.first);
                    target.object == object
                        && match target.stride {
                            0 => distance == 0,
                            stride => distance.is_multiple_of(stride) && distance / stride < target.count,
                        }
                });
                let name = &machine.program.objects[object].name;
                assert!(found, "{name} + {offset} is no target of {place:?}");
                checked[0] += 1;
            }
            if let Op::Call(Callee::Pointer(pointer), ..) = op {
                let address = machine.peek(state, thread, pointer).expect("a load") as u64;
                let callee = machine.addresses.procedure_at(address).expect("a procedure");
                assert!(points_to.callees(template, pointer).contains(&callee));
                checked[1] += 1;
            }
        }
    }
}

#[test]
fn all_addresses_are_among_their_targets() {
    let mut checked = [0, 0];
    for_seeds(0..250, SHAPE, &mut |_, program| {
        for program in [points_to::annotate(program), points_to::annotate(&split(program))] {
            let points_to = PointsTo::of(&program);
            let mut count = [0, 0];
            observe_with(&program, LIMIT / 4, &mut |machine, state| {
                check_state(machine, state, &points_to, &mut count)
            });
            checked = [checked[0] + count[0], checked[1] + count[1]];
        }
    });
    assert!(checked[0] > 10_000 && checked[1] > 100, "{checked:?}");
}
