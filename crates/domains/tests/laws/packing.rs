//! Packs: the paper's algorithm, the limit, and what goes beyond it.

use crate::expressions::{World, local};
use domains::{Packing, Packs, Statement, statements};
use ir::{BinaryOp, Expr, IntType, Lhs, LocalId, Op};
use std::collections::BTreeSet;

/// Below 10 they are local.
fn packs(packing: Packing, statements: &[Statement<LocalId>]) -> Vec<Vec<u32>> {
    let packs = Packs::new(packing, statements.iter().cloned(), |x| x.0 < 10);
    packs.ids().map(|pack| packs.variables(pack).iter().map(|x| x.0).collect()).collect()
}

fn set(variables: &[u32]) -> BTreeSet<LocalId> {
    variables.iter().map(|x| LocalId(*x)).collect()
}
fn assignment(variables: &[u32]) -> Statement<LocalId> {
    Statement::Assignment(set(variables))
}
fn guard(variables: &[u32]) -> Statement<LocalId> {
    Statement::Guard(set(variables))
}

#[test]
fn the_paper_partitions() {
    let paper = Packing { largest: 10, mixed: false };
    // A chain of locals, a guard of globals, and a mixed statement that counts for nothing.
    let program =
        [assignment(&[1, 2]), guard(&[2, 3]), guard(&[11, 12, 13]), assignment(&[3, 11]), guard(&[4])];
    assert_eq!(packs(paper, &program), [vec![1, 2, 3], vec![11, 12, 13]]);
    // Three variables in an assignment are too many for the paper, four are too many for all.
    assert!(packs(paper, &[assignment(&[1, 2, 3])]).is_empty());
    assert_eq!(packs(Packing::default(), &[assignment(&[1, 2, 3])]), [vec![1, 2, 3]]);
    assert!(packs(Packing::default(), &[assignment(&[1, 2, 3, 4])]).is_empty());
}

#[test]
fn locals_meet_globals() {
    let program = [assignment(&[1, 2]), guard(&[2, 11]), assignment(&[11, 12])];
    assert_eq!(packs(Packing::default(), &program), [vec![1, 2], vec![2, 11], vec![11, 12]]);
}

#[test]
fn packs_stay_small() {
    let packing = Packing { largest: 3, mixed: true };
    let chain: Vec<_> = (0..9).map(|x| assignment(&[x, x + 1])).collect();
    let found = packs(packing, &chain);
    assert!(found.iter().all(|pack| pack.len() <= 3), "{found:?}");
    for statement in &chain {
        let Statement::Assignment(pair) = statement else { continue };
        assert!(found.iter().any(|pack| pair.iter().all(|x| pack.contains(&x.0))), "{pair:?} in {found:?}");
    }
    assert!(packs(packing, &[guard(&[1, 2, 3, 4])]).is_empty());
}

#[test]
fn operations_relate_their_variables() {
    let world = World::new(0);
    let (x, y) = (local(5), local(7));
    let less = Expr::binary(BinaryOp::Lt, IntType::I32, x.clone(), y.clone());
    assert_eq!(statements(&Op::Assume(less), &world), [guard(&[5, 7])]);
    let copy = Op::set(Lhs::Local(LocalId(5)), y);
    assert_eq!(statements(&copy, &world), [assignment(&[5, 7])]);
    assert!(statements(&Op::any(Lhs::Local(LocalId(5))), &world).is_empty());
}
