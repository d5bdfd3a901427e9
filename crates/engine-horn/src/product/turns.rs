//! How often a thread goes through its loop while others go through theirs once: so that loops that count in
//! different steps keep pace.
//!
//! Nothing rests on this but what invariants look like.

use indexmap::{IndexMap, IndexSet};
use ir::LocationId;
use smt::{Operation, Term, Variable};
use transitions::threads::{Thread, Threads};

/// No thread goes first more often than this.
const MOST_TURNS: i128 = 8;

/// For each thread how often it may reach the head of a loop before the next one goes first. A thread that
/// counts further in one round gets fewer turns.
pub fn turns(threads: &Threads, heads: &[IndexSet<LocationId>]) -> Vec<usize> {
    let paces: Vec<Option<i128>> =
        threads.threads.iter().zip(heads).map(|(thread, heads)| pace(thread, heads)).collect();
    let fastest = paces.iter().flatten().copied().max().unwrap_or(1);
    let turns = paces.iter().map(|pace| pace.map_or(1, |pace| (fastest / pace).clamp(1, MOST_TURNS)));
    turns.map(|turns| usize::try_from(turns).unwrap_or(1)).collect()
}

/// How far a thread counts in one round of its loops, if it has some: the most that one variable of a thread
/// grows.
fn pace(thread: &Thread, heads: &IndexSet<LocationId>) -> Option<i128> {
    let mut sums: IndexMap<&Variable, i128> = IndexMap::new();
    let looping: IndexSet<LocationId> = heads.iter().flat_map(|head| circle(thread, *head)).collect();
    for (_, steps) in thread.steps.enumerate().filter(|(location, _)| looping.contains(location)) {
        // Where paths part, each of them counts for itself.
        let mut here: IndexMap<&Variable, i128> = IndexMap::new();
        for (variable, value) in steps.iter().flat_map(|step| &step.updates) {
            if let Some(more) = growth(variable, value) {
                let most = here.entry(variable).or_insert(0);
                *most = more.max(*most);
            }
        }
        for (variable, more) in here {
            *sums.entry(variable).or_insert(0) += more;
        }
    }
    sums.values().copied().filter(|sum| *sum > 0).max()
}

/// The constant that is added to a variable, wherever that is in its new value.
fn growth(variable: &Variable, value: &Term) -> Option<i128> {
    let mut found = None;
    value.walk(|inner| {
        if *inner.operation() == Operation::Add
            && let [one, other] = inner.operands()
        {
            for (one, other) in [(one, other), (other, one)] {
                if one.as_variable().as_ref() == Some(variable)
                    && let Some(more) = other.as_literal().and_then(|literal| literal.as_int())
                    && (1..=MOST_TURNS).contains(&more)
                {
                    found = Some(more);
                }
            }
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    found
}

/// The locations on circles through one.
fn circle(thread: &Thread, head: LocationId) -> IndexSet<LocationId> {
    let steps = thread.steps.iter().flatten();
    let (there, back): (Vec<_>, Vec<_>) =
        steps.map(|step| ((step.source, step.target), (step.target, step.source))).unzip();
    let (after, before) = (reached(head, &there), reached(head, &back));
    after.into_iter().filter(|at| before.contains(at)).collect()
}

fn reached(from: LocationId, pairs: &[(LocationId, LocationId)]) -> IndexSet<LocationId> {
    let mut next: IndexMap<LocationId, Vec<LocationId>> = IndexMap::new();
    for (source, target) in pairs {
        next.entry(*source).or_default().push(*target);
    }
    let mut found = IndexSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        open.extend(next.get(&at).into_iter().flatten().filter(|target| found.insert(**target)));
    }
    found
}
