//! Contexts of any number of threads: how many are in each state of each template's automaton, counted up to
//! k (paper 1, section 3.4). Over-approximates.
//!
//! A number is exact; *many* stands for any number, including zero: if more than k threads have entered a
//! state, they may leave it one by one.
//!
//! Deviations:
//! 1. The paper treats a state with ω threads as inhabited. Here it need not be: if it is atomic, it does not
//!    block other threads, and its label need not hold.
//! 2. At most one thread is in an atomic state, so one is counted there with any k.
//! 3. There are several templates. A step that starts a thread adds one to the start of its template's
//!    automaton.
//!
//! With a bound ([`Context::most`]) it is the opposite: a context of at most this many threads of each
//! template (section 5, ω-check), which under-approximates.

use domains::Amount;
use ir::{Count, IdVec, TemplateId};
use smt::Term;
use std::collections::BTreeMap;
use verdict::{AbstractEdge, AbstractId, Acfa};

/// A state of some template's automaton.
pub type Spot = (TemplateId, AbstractId);

/// The number of threads in each state; states that are not listed have none.
pub type Counts = BTreeMap<Spot, Amount>;

/// The automata of all templates, and how far threads are counted.
pub struct Context<'a> {
    /// What threads of each template may do.
    pub acfas: &'a IdVec<TemplateId, Acfa>,
    /// Numbers beyond this one are not distinguished.
    pub k: u32,
    /// The most threads of a template: a further start has no effect. `None` when there is no bound.
    pub most: Option<u32>,
}

impl Context<'_> {
    fn is_atomic(&self, (template, state): &Spot) -> bool {
        self.acfas[*template].states[*state].atomic
    }

    fn add(&self, counts: &mut Counts, spot: Spot, more: Amount) {
        let k = if self.is_atomic(&spot) { self.k.max(1) } else { self.k };
        let amount = counts.entry(spot).or_insert(Amount::NONE);
        *amount = amount.plus(more).limited(k);
        if amount.is_none() {
            counts.remove(&spot);
        }
    }

    /// The threads that a program has at its start, without one of a template.
    pub fn start(&self, start: &[(TemplateId, Count)], without: Option<TemplateId>) -> Counts {
        let mut counts = Counts::new();
        let mut without = without;
        for (template, count) in start {
            let amount = match count {
                Count::Exactly(copies) if *copies > 0 && without == Some(*template) => {
                    without = None;
                    Amount::Exactly(copies - 1)
                }
                Count::Exactly(copies) => Amount::Exactly(*copies),
                Count::Any => Amount::Many,
            };
            let amount = match self.most {
                Some(most) => amount.min(Amount::Exactly(most)),
                None => amount,
            };
            self.add(&mut counts, (*template, self.acfas[*template].start), amount);
        }
        counts
    }

    /// Adds a thread that was just started.
    pub fn start_one(&self, counts: &mut Counts, template: TemplateId) {
        let here = counts.iter().filter(|((other, _), _)| *other == template);
        let all = here.fold(Amount::NONE, |all, (_, amount)| all.plus(*amount));
        if self.most.is_none_or(|most| all < Amount::Exactly(most)) {
            self.add(counts, (template, self.acfas[template].start), Amount::ONE);
        }
    }

    /// The counts without one thread of a state; `None` when it has none.
    pub fn without(&self, counts: &Counts, spot: Spot) -> Option<Counts> {
        let mut rest = counts.clone();
        let amount = rest.remove(&spot)?.less_one()?;
        self.add(&mut rest, spot, amount);
        Some(rest)
    }

    /// The atomic states that certainly contain a thread.
    pub fn occupied<'c>(&'c self, counts: &'c Counts) -> impl Iterator<Item = Spot> + 'c {
        let atomic = counts.iter().filter(|(spot, amount)| **amount != Amount::Many && self.is_atomic(spot));
        atomic.map(|(spot, _)| *spot)
    }

    /// The edges that some thread can take. `alone`: the thread beside the context is in an atomic state
    /// itself.
    pub fn enabled<'c>(
        &'c self,
        counts: &'c Counts,
        alone: bool,
    ) -> impl Iterator<Item = (TemplateId, &'c AbstractEdge)> + 'c {
        let atomic: Vec<Spot> = self.occupied(counts).collect();
        let runs = move |spot: &&Spot| match (alone, &*atomic) {
            (false, []) => true,
            (false, [only]) => *spot == only,
            _ => false,
        };
        let spots = counts.keys().filter(move |spot| runs(spot));
        spots.flat_map(|(template, state)| {
            self.acfas[*template].leaving(*state).iter().map(move |edge| (*template, edge))
        })
    }

    /// The counts after a step of one thread; `None` when no thread is at the source. One of the started
    /// threads of a template may be excluded.
    pub fn after(
        &self,
        counts: &Counts,
        template: TemplateId,
        edge: &AbstractEdge,
        without: Option<TemplateId>,
    ) -> Option<Counts> {
        let mut next = self.without(counts, (template, edge.source))?;
        self.add(&mut next, (template, edge.target), Amount::ONE);
        let omitted = edge.action.starts.iter().position(|started| without == Some(*started));
        for (_, started) in edge.action.starts.iter().enumerate().filter(|(at, _)| Some(*at) != omitted) {
            self.start_one(&mut next, *started);
        }
        Some(next)
    }

    /// What holds of shared variables: the labels of all states that certainly contain a thread.
    pub fn invariant(&self, counts: &Counts) -> Term {
        let inhabited = counts.iter().filter(|(_, amount)| **amount != Amount::Many);
        Term::all(inhabited.map(|((template, state), _)| self.acfas[*template].states[*state].label.clone()))
    }
}

/// Whether counts cover all configurations that others stand for.
pub fn is_covered(some: &Counts, others: &Counts) -> bool {
    let amount = |counts: &Counts, spot: &Spot| counts.get(spot).copied().unwrap_or(Amount::NONE);
    let covered =
        |spot: &Spot| amount(others, spot) == Amount::Many || amount(others, spot) == amount(some, spot);
    some.keys().chain(others.keys()).all(covered)
}
