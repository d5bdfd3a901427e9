//! Checks that configurations are unreachable: none is initial, and each predecessor of one contains one, or
//! is impossible.
//!
//! Impossible are threads outside of the closed sets, two threads that hold one lock or are both in an atomic
//! region, and more threads of a template than ever run. Steps are monotonic in the number of threads, so
//! minimal configurations suffice.

use super::claim;
use super::settling::{Settling, Start, TOO_LARGE, Thread, Transition};
use crate::ProofError;
use boolean::explicit::Shared;
use std::collections::{HashMap, HashSet};
use verdict::{Budget, Configuration};

struct Test<'t, 'v, 'p> {
    settling: &'t Settling<'v, 'p>,
    bad: HashMap<Shared, Vec<&'t [Thread]>>,
}

pub(super) fn check(
    settling: &Settling<'_, '_>,
    unreachable: &[Configuration],
    budget: &Budget,
) -> Result<(), ProofError> {
    let mut bad: HashMap<Shared, Vec<&[Thread]>> = HashMap::new();
    for configuration in unreachable {
        if configuration.threads.is_empty() || !configuration.threads.is_sorted() {
            return claim("a configuration is not in order");
        }
        if !settling.exist(configuration.shared, configuration.threads.iter().copied()) {
            return claim("a configuration has threads that there are not");
        }
        bad.entry(configuration.shared).or_default().push(&configuration.threads);
    }
    let test = Test { settling, bad };
    let mut into: HashMap<Shared, Vec<Transition>> = HashMap::new();
    for (index, (shared, thread)) in settling.states.iter().enumerate() {
        if index % 256 == 0 {
            budget.check(index as u64 * 400).map_err(ProofError::TooExpensive)?;
        }
        let moves = settling.moves((*shared, *thread))?;
        if moves.error && !test.is_bad(*shared, &[*thread]) {
            return claim("a step to an error is not among the configurations");
        }
        for transition in moves.list {
            into.entry(transition.shared).or_default().push(transition);
        }
    }
    let Some(initial) = settling.explicit.initial_shared() else { return claim(TOO_LARGE) };
    let initial: HashSet<Shared> = initial.into_iter().collect();
    let starts = settling.starts()?;
    for configuration in unreachable {
        if initial.contains(&configuration.shared) && is_initial(&starts, &configuration.threads) {
            return claim("an initial configuration is said to be unreachable");
        }
        for (index, transition) in into.get(&configuration.shared).into_iter().flatten().enumerate() {
            if index % 256 == 0 {
                budget.check(0).map_err(ProofError::TooExpensive)?;
            }
            test.leads_from_bad(transition, &configuration.threads, budget)?;
        }
    }
    Ok(())
}

/// Whether a sorted list contains all elements of another.
fn has_all(list: &[Thread], wanted: &[Thread]) -> bool {
    let mut at = 0;
    wanted.iter().all(|thread| {
        while at < list.len() && list[at] < *thread {
            at += 1;
        }
        at += 1;
        list.get(at - 1) == Some(thread)
    })
}

impl Test<'_, '_, '_> {
    /// Whether a configuration contains one that is claimed to be unreachable.
    fn is_bad(&self, shared: Shared, threads: &[Thread]) -> bool {
        self.bad.get(&shared).into_iter().flatten().any(|bad| has_all(threads, bad))
    }

    /// Whether such threads can exist at once.
    fn is_possible(&self, shared: Shared, threads: &[Thread]) -> bool {
        threads.iter().all(|thread| self.settling.is_possible(shared, *thread))
            && self.settling.are_few(threads)
    }

    /// Each predecessor of these threads by a move must be bad or impossible.
    fn leads_from_bad(
        &self,
        transition: &Transition,
        threads: &[Thread],
        budget: &Budget,
    ) -> Result<(), ProofError> {
        let mut rest = threads.to_vec();
        let mut touched = false;
        for after in &transition.after {
            if let Some(at) = rest.iter().position(|thread| thread == after) {
                rest.remove(at);
                touched = true;
            }
        }
        if !touched && transition.telling.is_none() && transition.from.0 == transition.shared {
            // The configuration existed before.
            return Ok(());
        }
        let mut before: Vec<Vec<Thread>> = vec![vec![transition.from.1]];
        for thread in rest {
            let becomes = |other: &&(Shared, Thread)| {
                other.0 == transition.from.0 && self.settling.answers(transition, other.1).contains(&thread)
            };
            let sources: Vec<Thread> = match &transition.telling {
                None => vec![thread],
                Some(_) => self.settling.states.iter().filter(becomes).map(|(_, other)| *other).collect(),
            };
            before = before
                .iter()
                .flat_map(|list| sources.iter().map(|source| list.iter().copied().chain([*source]).collect()))
                .collect();
            budget.check(before.len() as u64 * 200).map_err(ProofError::TooExpensive)?;
        }
        for mut list in before {
            list.sort_unstable();
            if self.is_possible(transition.from.0, &list) && !self.is_bad(transition.from.0, &list) {
                return claim("a configuration that leads to an unreachable one is not among them");
            }
        }
        Ok(())
    }
}

/// Whether threads may exist at the start. Over-approximates for threads that match several starts.
fn is_initial(starts: &[Start], threads: &[Thread]) -> bool {
    let fits = |thread: &Thread| starts.iter().any(|(_, at)| at.contains(thread));
    // A bounded start provides at most its number of threads, among those that match no other start.
    let too_many = starts.iter().enumerate().any(|(index, (most, at))| {
        let only_here = |thread: &&Thread| {
            at.contains(thread)
                && starts.iter().enumerate().all(|(other, (_, at))| other == index || !at.contains(thread))
        };
        let count = threads.iter().filter(only_here).count() as u64;
        most.is_some_and(|most| count > u64::from(most))
    });
    threads.iter().all(fits) && !too_many
}
