//! COARSEN (paper 4, algorithm 1): weakens data invariants and data flow in turn until a fixed point.
//!
//! It starts with no data flow between threads. In each round the annotation is computed for the data flow
//! known so far, the control side relates locations with it, and the search adds the data flow that this
//! makes possible. Data flow is never removed, so there are finitely many rounds. At the fixed point, the
//! annotation is inductive for a graph that contains all data flow that is possible under it, and holds in
//! all executions (theorem 5.2).
//!
//! Deviations from the paper:
//! 1. ι itself decides what is enabled, not its abstraction by observable conditions.
//! 2. The bound B of [`super::invariants`] needs only the data flow of writes.
//! 3. The data flow of a cell or pack is tracked only while that is affordable; otherwise only B bounds it.
//! 4. Relational domains (section 5.1) are used in a second run, in addition to the annotation of the first
//!    run, which holds for each variable alone. So grouping variables never loses information about one of
//!    them, as it may in the paper.

use super::flows::{FlowGraph, FlowSearch, Origin};
use super::invariants::{Annotation, Values, annotate};
use super::knowledge::DataKnowledge;
use super::setup::{Setup, Subject};
use crate::coreachable::Rules;
use ir::passes::bits::BitSet;
use std::collections::BTreeMap;
use verdict::{Budget, Exhausted};

/// The most pairs of locations in one round, for the data flow of all cells.
const MOST_WORK: usize = 60_000_000;
/// The most bits for the data flow of all cells in the proof.
const MOST_BITS: usize = 1 << 31;

/// The fixed point.
pub struct Coarsened {
    /// What holds of the variables at each location.
    pub annotation: Annotation,
    /// The cells and packs whose data flow is tracked.
    pub followed: Vec<Subject>,
    /// The data flow between threads.
    pub graph: FlowGraph,
}

/// COARSEN (algorithm 1). `pairs` is how many pairs of locations there are if nothing is known of data.
///
/// `given` is known to hold: the annotation of an earlier run.
pub fn coarsen(
    setup: &Setup<'_, '_>,
    pairs: usize,
    given: Option<&Values>,
    budget: &Budget,
) -> Result<Coarsened, Exhausted> {
    let nodes = setup.model.nodes.len();
    let followed = affordable(setup, pairs.max(nodes));
    // SequentialDFG: no data flow between threads.
    let mut graph = FlowGraph::new(setup);
    loop {
        budget.check(0)?;
        // Invariants.
        let annotation = annotate(setup, &graph, given, budget)?;
        // FeasibleDataflows: figure 3, under what the annotation says of control.
        let knowledge = DataKnowledge::new(setup, &annotation);
        let rules = Rules::new(setup.model, setup.known, &knowledge);
        let reached = rules.solve(budget)?;
        let search = FlowSearch { setup, rules: &rules, reached: &reached };
        // DF ← DF ∪ DF', until DF' ⊆ DF.
        if !extend(&mut graph, &search, &followed, budget)? {
            return Ok(Coarsened { annotation, followed, graph });
        }
    }
}

/// The cells and packs whose data flow is affordable: those with few definitions first.
fn affordable(setup: &Setup<'_, '_>, pairs: usize) -> Vec<Subject> {
    let mut counts: BTreeMap<Subject, usize> = setup.subjects().map(|subject| (subject, 1)).collect();
    for definition in &setup.definitions {
        *counts.entry(definition.subject).or_default() += 1;
    }
    let mut subjects: Vec<(usize, Subject)> =
        counts.into_iter().map(|(subject, count)| (count, subject)).collect();
    // Cells before packs: what is known of them without packs must stay known.
    subjects.sort_unstable_by_key(|(count, subject)| (matches!(subject, Subject::Pack(_)), *count, *subject));
    let square = setup.model.nodes.len().pow(2);
    let (mut work, mut bits) = (0usize, 0usize);
    let mut found = Vec::new();
    for (count, subject) in subjects {
        work = work.saturating_add(count.saturating_mul(pairs * 2));
        bits = bits.saturating_add(count.saturating_mul(square));
        if work > MOST_WORK || bits > MOST_BITS {
            break;
        }
        found.push(subject);
    }
    found.sort_unstable();
    found
}

/// Adds the data flow that is possible; says whether any is new.
fn extend(
    graph: &mut FlowGraph,
    search: &FlowSearch<'_, '_, '_>,
    followed: &[Subject],
    budget: &Budget,
) -> Result<bool, Exhausted> {
    let setup = search.setup;
    let mut grew = false;
    for subject in followed {
        let reach = search.reach(Origin::First(*subject), budget)?;
        let none = || BitSet::new(setup.model.nodes.len());
        grew |= graph.first.entry(*subject).or_insert_with(none).union_with(&search.targets(&reach));
    }
    for (id, definition) in setup.definitions.iter().enumerate() {
        if followed.binary_search(&definition.subject).is_ok() {
            let reach = search.reach(Origin::Definition(id), budget)?;
            grew |= graph.reach[id].union_with(&search.targets(&reach));
        }
        if definition.writes {
            grew |= graph.during[id].union_with(&search.during(definition.step));
        }
    }
    Ok(grew)
}
