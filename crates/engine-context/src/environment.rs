//! The configurations that contexts of any number of threads can reach (paper 1, section 5, ω-check: the set
//! R). Over-approximates.
//!
//! All configurations are computed from the automata alone. Of data, only labels are used: two states with
//! contradictory labels do not both contain threads, and a step is not taken if its precondition contradicts
//! the labels.
//!
//! Deviation: edges of automata say what holds before and after them, and both are used.

use crate::counts::{Context, Counts, is_covered};
use crate::labels::Labels;
use smt::NoAnswer;
use std::collections::VecDeque;
use verdict::Budget;

/// Configurations that cover all those that a context can reach from a given one.
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
            let after = context.invariant(&next).and(&states[edge.target].label).and(&edge.action.after);
            // Threads with contradictory labels do not exist at once.
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
