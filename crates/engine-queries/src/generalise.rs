//! From one query whose answer is false to a claim (α', β') that excludes more (paper 5, sections 4.6, 8.2
//! and 8.3).
//!
//! First, the invariants of the model checker: facts that are not needed to show that they hold when the
//! second phase begins, or that they exclude β, are dropped; this costs no call of the model checker.
//! Equations are two facts each. Then α is dropped altogether, with one call and no further queries (quick
//! generalisation).
//!
//! Where a bound is asked for, the nearest that is never reached is looked for first, likewise.
//!
//! The optimizations of chapter 8, and where they are:
//! * reused counterexamples: `Search::follow_back` follows the whole path back; paths of earlier programs are
//!   tried first ([`sequential::Memory`]);
//! * skipped assertions in preconditions: assertions are not steps of a program, so preconditions never
//!   contain other assertions;
//! * query invariants, and constants in β: `Search::reduced`; an answer is computed from the formula that was
//!   asked about at first;
//! * inductive environment properties: [`crate::inductive`];
//! * preserved environment information: `Search::claims` and `Search::reachable` stay for all later queries;
//! * quick generalisation: [`quickly`].
//!
//! Deviation: dropping facts one by one, with a call each, was never worth its time after the cores.

use crate::build::{Built, EnvironmentQuery, Kind};
use crate::post::facts_of;
use crate::query::{Search, places};
use indexmap::{IndexMap, IndexSet};
use sequential::{Execution, Invariants, Node, Outcome};
use smt::{Answer, NoAnswer, Operation, Sort, Term, Variable};
use transitions::threads::literals;
use verdict::QueriesClaim;
use verdict::queries::{kept, old};

/// A bound is tight enough if it is off by less than this part of it.
const NEAR: i128 = 16;
/// Bounds that are further off are not made tighter.
const LARGEST_GAP: i128 = 4_096;

/// A program of which nothing forbidden is reached, and why.
pub type Proved = (Built, Invariants);

/// A claim that follows from an answer to a query about the threads from a position on.
pub fn generalised(
    search: &mut Search<'_>,
    position: usize,
    query: &EnvironmentQuery,
    proved: Proved,
) -> Result<QueriesClaim, NoAnswer> {
    let mut query = EnvironmentQuery { alpha: halves(&query.alpha), beta: halves(&query.beta) };
    let mut proved = proved;
    query = needed(search, &query, &proved)?;
    if !query.alpha.is_empty() {
        let attempt = EnvironmentQuery { alpha: Vec::new(), beta: query.beta.clone() };
        if let Some(better) = quickly(search, position, &attempt)? {
            query = needed(search, &attempt, &better)?;
            proved = better;
        }
    }
    Ok(claim(search, position, &query, &proved))
}

/// A claim that a bound is never reached, as tight as is cheap, that answers a query with false: β is such a
/// bound, on what these threads write. `None` when the query is another, or what is claimed of the threads
/// after it does not suffice.
///
/// Tight bounds are not only more useful, they are also easier to prove: for a loose one the model checker
/// may count.
pub fn tight_bound(
    search: &mut Search<'_>,
    position: usize,
    query: &EnvironmentQuery,
) -> Result<Option<QueriesClaim>, NoAnswer> {
    let written = search.model.written_by(&search.order[position..]);
    let mut known = IndexMap::new();
    literals(&search.model.initial, &mut known);
    for fact in &query.beta {
        let (Operation::LessOrEqual, [left, right]) = (fact.operation(), fact.operands()) else { continue };
        // The sum that is bounded, the bound, and how it is written down.
        let (sum, far, is_least) = match (left.operation(), right.operation()) {
            (Operation::Int(bound), _) => (right, *bound, true),
            (_, Operation::Int(bound)) => (left, *bound, false),
            _ => continue,
        };
        let Operation::Int(first) = *sum.substitute(&known).operation() else { continue };
        let gap = if is_least { far.checked_sub(first) } else { first.checked_sub(far) };
        let Some(gap) = gap.filter(|gap| (2..LARGEST_GAP).contains(gap)) else { continue };
        if !sum.free_variables().iter().all(|variable| written.contains(variable)) {
            continue;
        }
        let with_bound = |distance: i128| {
            let bound = if is_least { first + distance } else { first - distance };
            let fact = if is_least { Term::int(bound).at_most(sum) } else { sum.at_most(&Term::int(bound)) };
            EnvironmentQuery { alpha: Vec::new(), beta: vec![fact] }
        };
        if let Some((query, proved)) = nearest(search, position, gap, &with_bound)? {
            return Ok(Some(claim(search, position, &query, &proved)));
        }
    }
    Ok(None)
}

/// The nearest distance, up to a largest, at which a query is answered by false: first with distances that
/// grow, then between two.
fn nearest(
    search: &mut Search<'_>,
    position: usize,
    largest: i128,
    query: &dyn Fn(i128) -> EnvironmentQuery,
) -> Result<Option<(EnvironmentQuery, Proved)>, NoAnswer> {
    let mut yes = 0;
    let mut next = 1.min(largest);
    let mut best = loop {
        match quickly(search, position, &query(next))? {
            Some(proved) => break (next, proved),
            None if next == largest => return Ok(None),
            None => (yes, next) = (next, (next * 4).min(largest)),
        }
    };
    // Near enough is near enough.
    while best.0 - yes > 1 + best.0 / NEAR {
        let middle = yes + (best.0 - yes) / 2;
        match quickly(search, position, &query(middle))? {
            Some(proved) => best = (middle, proved),
            None => yes = middle,
        }
    }
    Ok(Some((query(best.0), best.1)))
}

/// Equations of integers as two facts each.
fn halves(facts: &[Term]) -> Vec<Term> {
    let mut found = IndexSet::new();
    for fact in facts.iter().flat_map(facts_of) {
        match (fact.operation(), fact.operands()) {
            (Operation::Equal, [left, right]) if *left.sort() == Sort::Int => {
                found.insert(left.at_most(right));
                found.insert(left.at_least(right));
            }
            _ => {
                found.insert(fact);
            }
        }
    }
    found.into_iter().collect()
}

/// Asks the model checker once.
pub fn quickly(
    search: &mut Search<'_>,
    position: usize,
    query: &EnvironmentQuery,
) -> Result<Option<Proved>, NoAnswer> {
    let built = search.level(position).build(Some(query), &[], &[]);
    match search.check(&built) {
        Outcome::Safe(invariants) => Ok(Some((built, invariants))),
        Outcome::Unsafe(_) | Outcome::Unknown(NoAnswer::GaveUp(_)) => Ok(None),
        Outcome::Unknown(NoAnswer::Exhausted(limit)) => Err(NoAnswer::Exhausted(limit)),
    }
}

/// The facts of a query that its invariants need.
fn needed(
    search: &Search<'_>,
    query: &EnvironmentQuery,
    proved: &Proved,
) -> Result<EnvironmentQuery, NoAnswer> {
    let (built, invariants) = proved;
    let program = &built.program;
    let level = search.level(built.position);
    let mut alpha: IndexSet<usize> = IndexSet::new();
    let mut beta: IndexSet<usize> = IndexSet::new();
    let ranges = Term::all(program.variables.values().cloned());
    let step_of = |kind: Kind| {
        let number = built.kinds.iter().position(|other| *other == kind);
        number.map(|number| &program.steps[number])
    };
    for at in (0..built.second.len()).filter(|at| level.is_cut(*at)) {
        let invariant = |nodes: &[Option<Node>]| nodes[at].and_then(|node| invariants.at(node)).cloned();
        // Where the second phase begins, what is said of it holds.
        if let (Some(first), Some(second)) = (invariant(&built.first), invariant(&built.second)) {
            let mut execution = Execution::new();
            step_of(Kind::Wait(at)).into_iter().for_each(|wait| execution.step(wait));
            let conditions = execution.conditions.iter().cloned();
            let now: IndexMap<Variable, Term> =
                built.kept.iter().map(|v| (kept(v, built.position), level.here(at, &v.term()))).collect();
            let not_started = execution.value(&level.not_started_yet(at));
            let fails = execution.value(&second.substitute(&now)).not();
            let known = Term::all([ranges.clone(), first, not_started, fails].into_iter().chain(conditions));
            let value = |fact: &Term| execution.value(&level.here(at, fact));
            add_core(search, &known, &query.alpha, &value, &mut alpha)?;
        }
        // It excludes β.
        if let Some(second) = invariant(&built.second) {
            let mut execution = Execution::new();
            step_of(Kind::Environment(at)).into_iter().for_each(|moved| execution.step(moved));
            let conditions = execution.conditions.iter().cloned();
            let known = Term::all([ranges.clone(), second].into_iter().chain(conditions));
            let value = |fact: &Term| execution.value(&level.here(at, fact));
            add_core(search, &known, &query.beta, &value, &mut beta)?;
        }
    }
    let chosen = |facts: &[Term], chosen: &IndexSet<usize>| {
        let numbered = facts.iter().enumerate().filter(|(number, _)| chosen.contains(number));
        numbered.map(|(_, fact)| fact.clone()).collect()
    };
    Ok(EnvironmentQuery { alpha: chosen(&query.alpha, &alpha), beta: chosen(&query.beta, &beta) })
}

/// Adds facts that cannot all hold with what is known.
fn add_core(
    search: &Search<'_>,
    known: &Term,
    facts: &[Term],
    value: &dyn Fn(&Term) -> Term,
    core: &mut IndexSet<usize>,
) -> Result<(), NoAnswer> {
    let facts: Vec<Term> = facts.iter().map(value).collect();
    // What is false by itself is the only one that is needed.
    if let Some(number) = facts.iter().position(Term::is_false) {
        core.insert(number);
        return Ok(());
    }
    // Those that are needed anyway first.
    let chosen: Vec<Term> = core.iter().map(|number| facts[*number].clone()).collect();
    search.model.questions.borrow_mut().ask(|solver| {
        solver.assert(known);
        if !chosen.is_empty() && solver.check_assuming(&chosen, search.budget) == Answer::Unsat {
            return Ok(());
        }
        match solver.check_assuming(&facts, search.budget) {
            Answer::Unsat => {
                core.extend(solver.core().iter().copied());
                Ok(())
            }
            // Something that the invariants do not show by themselves: nothing is left out.
            Answer::Sat => {
                core.extend(0..facts.len());
                Ok(())
            }
            Answer::Unknown(why) => Err(why),
        }
    })
}

/// The claim of a query whose answer is false.
pub fn claim(
    search: &Search<'_>,
    position: usize,
    query: &EnvironmentQuery,
    (built, invariants): &Proved,
) -> QueriesClaim {
    let locations = search.model.threads[search.order[position]].locations;
    let names: IndexMap<Variable, Term> = search
        .model
        .variables
        .keys()
        .map(|variable| (kept(variable, position), old(variable).term()))
        .collect();
    let mut moving = places(built, invariants, true, locations);
    for formula in moving.at.iter_mut().chain([&mut moving.before_start]).flatten() {
        *formula = formula.substitute(&names);
    }
    // What was assumed holds, too.
    let mut reachable = places(built, invariants, false, locations);
    let known = &search.reachable[position];
    for (formula, known) in reachable.at.iter_mut().chain([&mut reachable.before_start]).zip(known) {
        if let Some(formula) = formula {
            let facts: IndexSet<Term> = facts_of(formula).into_iter().chain(known.iter().cloned()).collect();
            *formula = Term::all(facts);
        }
    }
    QueriesClaim {
        before: Term::all(query.alpha.iter().cloned()),
        after: Term::all(query.beta.iter().cloned()).substitute(&names),
        reachable,
        moving,
    }
}
