//! Each pass preserves the observable behaviour: on random small programs, and on hand-written ones for the
//! subtle rules.

mod allocators;
mod compress;
pub(super) mod explore;
mod forget;
pub(super) mod generate;
mod helpers;
mod inline;
mod jumps;
mod lock_order;
mod lock_words;
mod points_to;
mod rules;
mod runs;
mod slice;
mod split;
mod unique;

use crate::check::check;
use crate::program::Program;
use generate::{Shape, generate};

/// A program with more states than this is skipped.
const LIMIT: usize = 6_000;

/// Runs `check` on the programs of some seeds.
fn for_seeds(seeds: std::ops::Range<u64>, shape: Shape, check: &mut dyn FnMut(u64, &Program)) {
    for seed in seeds {
        check(seed, &generate(seed, shape));
    }
}

/// Compares the observable behaviour of a program before and after a pass; says whether the program was small
/// enough.
fn assert_same(seed: u64, before: &Program, after: &Program) -> bool {
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
