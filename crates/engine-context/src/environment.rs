//! What contexts of any number of threads can come to (paper 1, section 5, ω-check: the set R).
//! Over-approximates.
//!
//! All configurations are computed from the automata alone, without the data but for this: where labels of
//! states contradict each other there are no threads in both, and a step is not taken where what holds before
//! it contradicts the labels.
//!
//! Deviation: edges of automata say what holds before and after them, and both are used.

use crate::counts::{Context, Counts, is_covered};
use crate::labels::Labels;
use smt::NoAnswer;
use std::collections::VecDeque;
use verdict::Budget;

/// Configurations that a context can come to from some configuration; all that can come about are covered by
/// one of them.
pub fn environment(
    context: &Context<'_>,
    start: Counts,
    labels: &mut Labels,
    budget: &Budget,
) -> Result<Vec<Counts>, NoAnswer> {
    let mut greatest: Vec<Counts> = vec![start.clone()];
    let mut open = VecDeque::from([start]);
    let mut found = 0u64;
    while let Some(counts) = open.pop_front() {
        budget.check(found * 200).map_err(NoAnswer::Exhausted)?;
        if !greatest.contains(&counts) {
            continue;
        }
        let holds = context.invariant(&counts);
        for (template, edge) in context.enabled(&counts, false) {
            let Some(next) = context.after(&counts, template, edge, None) else { continue };
            if greatest.iter().any(|known| is_covered(&next, known)) {
                continue;
            }
            let states = &context.acfas[template].states;
            let before = holds.and(&states[edge.source].label).and(&edge.action.guard);
            let after = context.invariant(&next).and(&states[edge.target].label).and(&edge.action.behind);
            // Threads whose labels contradict each other are not there at once.
            if !labels.can_hold(&before, budget)? || !labels.can_hold(&after, budget)? {
                continue;
            }
            greatest.retain(|known| !is_covered(known, &next));
            greatest.push(next.clone());
            open.push_back(next);
            found += 1;
        }
    }
    Ok(greatest)
}
