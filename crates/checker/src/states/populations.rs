//! Checks that the populations cover all reachable configurations: they cover the start and the result of any
//! step; and no step leads to an error.
//!
//! A population stands for all configurations with at most its threads. With fewer threads a step does no
//! more, so it suffices to take each step with all threads of the population. Threads that cannot follow a
//! broadcast are removed: with one of them, the step cannot be taken at all. Threads outside of the closed
//! sets cannot exist; nor can more than one thread hold a lock, be in an atomic region, or be the only one of
//! its template.

use super::claim;
use super::settling::{Settling, TOO_LARGE, Thread, Transition};
use crate::ProofError;
use boolean::explicit::Shared;
use std::collections::{BTreeMap, HashMap};
use verdict::{Budget, Population};

/// Upper bounds on the number of threads of each kind; `None` stands for any number.
type Amounts = BTreeMap<Thread, Option<u32>>;

struct Test<'t, 'v, 'p> {
    settling: &'t Settling<'v, 'p>,
    populations: HashMap<Shared, Vec<Amounts>>,
}

/// The most ways of dividing threads up that are checked.
const MOST_DIVISIONS: usize = 1 << 17;

pub(super) fn check(
    settling: &Settling<'_, '_>,
    populations: &[Population],
    budget: &Budget,
) -> Result<(), ProofError> {
    let mut known: HashMap<Shared, Vec<Amounts>> = HashMap::new();
    for Population { shared, threads } in populations {
        if !settling.exist(*shared, threads.iter().map(|(thread, _)| *thread)) {
            return claim("a population has threads that there are not");
        }
        let amounts: Amounts = threads.iter().copied().collect();
        if amounts.len() != threads.len() {
            return claim("a population counts threads twice");
        }
        known.entry(*shared).or_default().push(amounts);
    }
    let test = Test { settling, populations: known };
    test.start(budget)?;
    for (index, Population { shared, threads }) in populations.iter().enumerate() {
        budget.check(index as u64 * 400).map_err(ProofError::TooExpensive)?;
        for (thread, most) in threads {
            if *most == Some(0) || !settling.is_possible(*shared, *thread) {
                continue;
            }
            let moves = settling.moves((*shared, *thread))?;
            if moves.error {
                return claim("a step leads from a population to an error");
            }
            for transition in &moves.list {
                test.step(threads, transition, budget)?;
            }
        }
    }
    Ok(())
}

impl Test<'_, '_, '_> {
    /// Checks that the populations cover the start.
    fn start(&self, budget: &Budget) -> Result<(), ProofError> {
        let mut all = vec![Amounts::new()];
        for (most, kinds) in self.settling.starts()? {
            all = divide(all, most, &kinds.into_iter().collect::<Vec<Thread>>(), budget)?;
        }
        let Some(initial) = self.settling.explicit.initial_shared() else { return claim(TOO_LARGE) };
        for shared in initial {
            budget.check(0).map_err(ProofError::TooExpensive)?;
            if !all.iter().all(|amounts| self.is_within(shared, amounts.clone())) {
                return claim("the start is not within a population");
            }
        }
        Ok(())
    }

    /// Checks that the populations cover the result of a thread's move.
    fn step(
        &self,
        threads: &[(Thread, Option<u32>)],
        transition: &Transition,
        budget: &Budget,
    ) -> Result<(), ProofError> {
        let mut all = vec![Amounts::new()];
        for (thread, most) in threads {
            let actor = u32::from(*thread == transition.from.1);
            let others = most.map(|most| most.saturating_sub(actor));
            all = divide(all, others, &self.settling.answers(transition, *thread), budget)?;
        }
        for mut amounts in all {
            transition.after.iter().for_each(|thread| add(&mut amounts, *thread, Some(1)));
            if !self.is_within(transition.shared, amounts) {
                return claim("a step leads out of the populations");
            }
        }
        Ok(())
    }

    /// Whether one population covers all possible configurations with at most these threads.
    fn is_within(&self, shared: Shared, mut amounts: Amounts) -> bool {
        amounts.retain(|thread, most| *most != Some(0) && self.settling.is_possible(shared, *thread));
        for (thread, most) in &mut amounts {
            if !self.settling.are_few(&[*thread, *thread]) {
                *most = Some(1);
            }
        }
        let fits = |population: &Amounts| {
            amounts.iter().all(|(thread, most)| match (most, population.get(thread)) {
                (_, Some(None)) => true,
                (Some(most), Some(Some(bound))) => most <= bound,
                (None, Some(Some(_))) | (_, None) => false,
            })
        };
        self.populations.get(&shared).is_some_and(|populations| populations.iter().any(fits))
    }
}

fn add(amounts: &mut Amounts, thread: Thread, more: Option<u32>) {
    let most = amounts.entry(thread).or_insert(Some(0));
    *most = most.and_then(|most| most.checked_add(more?));
}

/// Adds threads, each of one of some kinds, in all combinations; threads of no kind are removed.
fn divide(
    mut all: Vec<Amounts>,
    most: Option<u32>,
    kinds: &[Thread],
    budget: &Budget,
) -> Result<Vec<Amounts>, ProofError> {
    let rounds = match (most, kinds) {
        // All of them may be of any kind.
        (None, _) | (_, [] | [_]) => {
            for amounts in &mut all {
                kinds.iter().for_each(|kind| add(amounts, *kind, most));
            }
            return Ok(all);
        }
        (Some(most), _) => most,
    };
    for _ in 0..rounds {
        let with_one_more = |amounts: &Amounts| -> Vec<Amounts> {
            let with = |kind: &Thread| {
                let mut amounts = amounts.clone();
                add(&mut amounts, *kind, Some(1));
                amounts
            };
            kinds.iter().map(with).collect()
        };
        all = all.iter().flat_map(with_one_more).collect();
        all.sort_unstable();
        all.dedup();
        budget.check(all.len() as u64 * 400).map_err(ProofError::TooExpensive)?;
        if all.len() > MOST_DIVISIONS {
            return claim(TOO_LARGE);
        }
    }
    Ok(all)
}
