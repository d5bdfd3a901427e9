//! Each pass keeps what can be seen of a program: on random small programs, and on hand-written ones for the
//! subtle rules.

mod compress;
mod explore;
mod generate;
mod inline;
mod points_to;
mod split;

use crate::check::check;
use crate::program::Program;
use generate::{Shape, generate};

/// A program with more states than this is skipped.
const LIMIT: usize = 6_000;

/// Runs `check` on the programs of some seeds.
fn for_seeds(seeds: std::ops::Range<u64>, shape: Shape, check: &mut dyn FnMut(u64, &Program)) {
    let many: u64 = std::env::var("MANY").ok().and_then(|m| m.parse().ok()).unwrap_or(0);
    for seed in seeds.clone().chain((0..many).map(|i| seeds.start + 100_000 + i)) {
        check(seed, &generate(seed, shape));
    }
}

/// Compares all that can be seen of a program before and after a pass; says whether the program was small enough.
fn assert_same(seed: u64, before: &Program, after: &Program) -> bool {
    if std::env::var("SHOW").is_ok_and(|shown| shown == seed.to_string()) {
        println!("{}\n=======\n{}", crate::text::print(before), crate::text::print(after));
    }
    assert_eq!(check(after), Ok(()), "seed {seed}");
    let (Some(before), Some(after)) = (explore::observe(before, LIMIT), explore::observe(after, 2 * LIMIT))
    else {
        return false;
    };
    assert_eq!(before.errors, after.errors, "seed {seed}");
    assert_eq!(before.races, after.races, "seed {seed}");
    assert_eq!(before.finals, after.finals, "seed {seed}");
    assert_eq!(before.deadlock, after.deadlock, "seed {seed}");
    true
}

#[test]
fn show_one() {
    let Ok(seed) = std::env::var("SEED") else { return };
    let seed = seed.parse().unwrap();
    let large = std::env::var("LARGE").is_ok();
    let statements = std::env::var("STMTS").map_or(3, |s| s.parse().unwrap());
    let program = generate(
        seed,
        Shape { workers: 1, statements, large, calls: true, wild: std::env::var("WILD").is_ok() },
    );
    let split =
        crate::passes::lower(&program, crate::passes::Lowering { bounds: true, ..Default::default() });
    println!("{}\n=======\n{}", crate::text::print(&program), crate::text::print(&split));
    println!(
        "{:?} {:?}",
        explore::observe(&crate::passes::lower(&program, Default::default()), LIMIT),
        explore::observe(&split, LIMIT)
    );
}
