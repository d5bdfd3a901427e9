//! What memory each thread owns, at each location of the program without calls ([`verdict::owned`]).
//!
//! A forward analysis of each template: where paths meet, memory is owned that is owned on all of them.
//! Under-approximates what is owned. The checker tests the result.

use std::collections::BTreeSet;
use verdict::owned::{after, settled};
use verdict::{Budget, Exhausted, OwnedClaims, OwnedMemory};

/// What is owned where paths meet.
fn meet(one: &[OwnedMemory], other: &[OwnedMemory]) -> Vec<OwnedMemory> {
    let mut left: Vec<&OwnedMemory> = other.iter().collect();
    let mut met = Vec::new();
    for memory in one {
        let is_same = |candidate: &&OwnedMemory| {
            candidate.site == memory.site && !candidate.copies.is_disjoint(&memory.copies)
        };
        let Some(found) = left.iter().position(is_same) else { continue };
        let found = left.remove(found);
        let copies: BTreeSet<_> = memory.copies.intersection(&found.copies).copied().collect();
        let all = memory.copies.iter().chain(&found.copies).chain(&memory.derived).chain(&found.derived);
        let derived = all.copied().filter(|local| !copies.contains(local)).collect();
        let size = memory.size.filter(|_| memory.size == found.size);
        met.push(OwnedMemory { site: memory.site, size, copies, derived });
    }
    met
}

/// The memory that threads own; `None` if some step is not understood.
pub fn ownership(program: &ir::Program, budget: &Budget) -> Result<Option<OwnedClaims>, Exhausted> {
    let mut claims: OwnedClaims = Vec::new();
    for code in &program.templates {
        let mut here: Vec<Option<Vec<OwnedMemory>>> = vec![None; code.locations.len()];
        let outgoing = code.outgoing();
        here[code.entry.0 as usize] = Some(Vec::new());
        let mut work = vec![code.entry];
        while let Some(location) = work.pop() {
            budget.check(0)?;
            let Some(before) = here[location.0 as usize].clone() else { continue };
            for edge in &outgoing[location] {
                let Some(edge) = settled(program, &code.edges[*edge], &before) else { continue };
                let Some(step) = after(program, &edge, &before) else { return Ok(None) };
                let target = &mut here[edge.target.0 as usize];
                let next = match &*target {
                    Some(known) => meet(known, &step.owned),
                    None => step.owned,
                };
                if target.as_ref() != Some(&next) {
                    *target = Some(next);
                    work.push(edge.target);
                }
            }
        }
        claims.push(here);
    }
    Ok(Some(claims))
}
