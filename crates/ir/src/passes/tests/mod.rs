//! Each pass keeps what can be seen of a program: on random small programs, and on hand-written ones for the
//! subtle rules.

mod explore;
mod generate;
mod points_to;
mod split;

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
