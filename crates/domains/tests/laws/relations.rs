//! Numbers with octagons: assignments and conditions against the step semantics, and what only relations can
//! say.

use crate::expressions::{World, expression, local};
use domains::{Lattice, Number, Packing, Packs, Relational, Source, Statement};
use ir::{BinaryOp, Expr, IntType, LocalId, Value};
use testkit::random::Random;

/// All locals of one signedness, more or less, in overlapping packs.
fn packs() -> Packs<LocalId> {
    let groups: [&[u32]; 5] =
        [&[2, 3, 4, 5], &[8, 9, 10, 11, 19], &[10, 11, 12, 13], &[14, 15, 16, 17], &[0, 1, 10]];
    let guards = groups.map(|group| Statement::Guard(group.iter().map(|x| LocalId(*x)).collect()));
    Packs::new(Packing { largest: 5, mixed: true }, guards, |_| true)
}

fn holds(world: &World, packs: &Packs<LocalId>, state: &Relational<LocalId>) -> bool {
    world.holds(&state.numbers)
        && state.octagons.iter().all(|(pack, octagon)| {
            let values = packs.variables(pack).iter().map(|x| world.values[x.0 as usize]).collect::<Vec<_>>();
            let value = |(at, negated): (usize, bool)| if negated { -values[at] } else { values[at] };
            octagon.constraints().iter().all(|constraint| {
                value(constraint.first) + constraint.second.map_or(0, value) <= constraint.bound
            })
        })
}

/// Mostly sums and comparisons, which octagons can follow.
fn linear(random: &mut Random, ty: IntType, depth: usize) -> Expr {
    let kind = IntType::ALL.iter().position(|known| *known == ty).expect("a type") as u32;
    match random.below(if depth == 0 { 2 } else { 6 }) {
        0 => Expr::Const(ty.wrap(random.below(5) as Value - 1), ty),
        1 => local(2 * kind + random.below(2) as u32),
        2 => {
            let from = random.pick(&IntType::ALL);
            Expr::cast(ty, linear(random, from, depth - 1))
        }
        3 => expression(random, ty, depth - 1),
        _ => {
            let op = random.pick(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Add, BinaryOp::Mul]);
            Expr::binary(op, ty, linear(random, ty, depth - 1), linear(random, ty, depth - 1))
        }
    }
}

fn condition(random: &mut Random) -> Expr {
    let op = random.pick(&[BinaryOp::Lt, BinaryOp::Le, BinaryOp::Eq, BinaryOp::Ne]);
    let ty = random.pick(&IntType::ALL);
    let compared = Expr::binary(op, ty, linear(random, ty, 2), linear(random, ty, 2));
    match random.below(4) {
        0 => compared.not(),
        1 => compared.and(condition(random)),
        2 => {
            let both = compared.and(condition(random)).not();
            Expr::binary(
                BinaryOp::Ne,
                IntType::I32,
                Expr::cast(IntType::I32, both),
                Expr::Const(0, IntType::I32),
            )
        }
        _ => compared,
    }
}

/// A run: conditions that hold and assignments, one after the other; the abstract run never loses the
/// concrete one.
#[test]
fn runs_stay_inside() {
    let packs = packs();
    for seed in 0..2500 {
        let mut world = World::new(seed);
        let random = &mut Random::new(seed + (4 << 32));
        let mut state = Relational { numbers: world.environment(random), ..Relational::top() };
        for _ in 0..8 {
            let before = state.clone();
            if random.once_in(2) {
                let condition = condition(random);
                let Ok(truth) = world.concrete(&condition) else { continue };
                state = state.assume(&packs, &condition, truth != 0, &world);
                assert!(
                    holds(&world, &packs, &state),
                    "{condition:?} is {truth}: {before:?} became {state:?}"
                );
                continue;
            }
            // A parallel assignment of two variables.
            let targets = [random.below(18) as u32, random.below(18) as u32];
            let exprs = targets.map(|target| linear(random, IntType::ALL[target as usize / 2], 2));
            let values = [world.concrete(&exprs[0]), world.concrete(&exprs[1])];
            let (Ok(first), Ok(second)) = (values[0], values[1]) else { continue };
            let abstract_value = state.evaluate(&packs, &exprs[0], &world);
            assert!(
                abstract_value.contains(first),
                "{:?} = {first}: {abstract_value} in {state:?}",
                exprs[0]
            );
            if targets[0] == targets[1] {
                continue;
            }
            let mut pairs = vec![(LocalId(targets[0]), Source::Value(&exprs[0]))];
            world.values[targets[0] as usize] = first;
            if random.once_in(2) {
                world.values[targets[1] as usize] = second;
                pairs.push((LocalId(targets[1]), Source::Value(&exprs[1])));
            }
            state = state.assign(&packs, &pairs, &world);
            assert!(holds(&world, &packs, &state), "{targets:?} := {exprs:?}: {before:?} became {state:?}");
            if random.once_in(4) {
                state.put(
                    &packs,
                    LocalId(targets[1]),
                    Number::of_type(IntType::ALL[targets[1] as usize / 2]),
                );
                assert!(holds(&world, &packs, &state), "{before:?} became {state:?}");
            }
        }
    }
}

const INT: IntType = IntType::I32;
const X: LocalId = LocalId(10);
const Y: LocalId = LocalId(11);

fn compare(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, INT, left, right)
}

#[test]
fn relations_are_kept() {
    let (packs, world) = (packs(), World::new(0));
    let (x, y) = (Expr::Local(X), Expr::Local(Y));
    let one = Expr::Const(1, INT);
    // y = x + 1, then x is compared with y whatever they are.
    let sum = compare(BinaryOp::Add, x.clone(), one.clone());
    let state = Relational::top().assign(&packs, &[(Y, Source::Value(&sum))], &world);
    assert_eq!(
        state.evaluate(&packs, &compare(BinaryOp::Lt, x.clone(), y.clone()), &world),
        Number::constant(1)
    );
    let difference = compare(BinaryOp::Sub, y.clone(), x.clone());
    assert_eq!(state.evaluate(&packs, &difference, &world), Number::constant(1));
    assert!(state.assume(&packs, &compare(BinaryOp::Le, y.clone(), x.clone()), true, &world).is_bottom());
    // A bound of one is a bound of the other.
    let small = compare(BinaryOp::Lt, x.clone(), Expr::Const(10, INT));
    let bounded = state.assume(&packs, &small, true, &world);
    assert_eq!(bounded.numbers.get(Y).map(|y| y.interval().upper()), Some(domains::Bound::finite(10)));
    // A swap: both right-hand sides are evaluated first.
    let swapped = state.assign(&packs, &[(X, Source::Value(&y)), (Y, Source::Value(&x))], &world);
    assert!(!swapped.is_bottom());
    let increased = compare(BinaryOp::Add, x.clone(), one);
    let equal = state.assign(&packs, &[(X, Source::Value(&increased))], &world);
    assert_eq!(equal.evaluate(&packs, &compare(BinaryOp::Eq, x, y), &world), Number::constant(1));
}

#[test]
fn unsigned_differences_need_order() {
    let (packs, world) = (packs(), World::new(0));
    let unsigned = IntType::U32;
    let (a, b) = (LocalId(12), LocalId(13));
    let difference = Expr::binary(BinaryOp::Sub, unsigned, Expr::Local(a), Expr::Local(b));
    let top: Relational<LocalId> = Relational::top();
    assert_eq!(top.evaluate(&packs, &difference, &world), Number::of_type(unsigned));
    let ordered = Expr::binary(BinaryOp::Le, unsigned, Expr::Local(b), Expr::Local(a));
    let near = Expr::binary(BinaryOp::Le, unsigned, difference.clone(), Expr::Const(5, unsigned));
    let state = top.assume(&packs, &ordered, true, &world).assume(&packs, &near, true, &world);
    assert_eq!(state.evaluate(&packs, &difference, &world), Number::between(0, 5));
}
