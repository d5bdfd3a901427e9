//! Atomic runs.

use super::explore::observe;
use super::for_seeds;
use super::generate::Shape;
use crate::passes::{lipton_reduce, split};

fn atomic_locations(program: &crate::Program) -> usize {
    program.templates.iter().flat_map(|code| &code.locations).filter(|location| location.atomic).count()
}

/// Whether threads interleave or not makes a difference to the number of states alone, where there is no
/// race.
#[test]
fn runs_keep_errors_and_last_values_where_nothing_races() {
    let (mut compared, mut bad, mut shorter) = (0, 0, 0);
    for workers in [1, 2] {
        let shape = Shape { workers, statements: 4, large: false, calls: true, wild: false };
        for_seeds(20_000..21_000, shape, &mut |seed, program| {
            let before = split(program);
            let Some(seen) = observe(&before, 6_000) else { return };
            if !seen.races.is_empty() {
                return;
            }
            let after = lipton_reduce(&before);
            assert_eq!(crate::check::check(&after), Ok(()), "seed {seed}");
            let reduced = observe(&after, 12_000).expect("there are fewer states");
            assert_eq!(seen.errors, reduced.errors, "seed {seed}");
            assert_eq!(seen.finals, reduced.finals, "seed {seed}");
            compared += 1;
            bad += u32::from(!seen.errors.is_empty());
            shorter += u32::from(atomic_locations(&after) > atomic_locations(&before));
        });
    }
    assert!(compared > 100 && bad > 10 && shorter > 60, "{compared} compared, {bad} bad, {shorter} shorter");
}
