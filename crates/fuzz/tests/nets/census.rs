//! Random programs are about everything that they should be.

use fuzz::census::census;

/// How many programs are looked at, and how many must have each construct.
const PROGRAMS: u64 = 2_000;
const FEWEST: u64 = 5;

#[test]
fn every_construct_is_produced() {
    let found = census(0..PROGRAMS);
    let rare: Vec<_> = found.iter().filter(|(_, count)| *count < FEWEST).collect();
    assert!(rare.is_empty(), "{rare:?}");
}
