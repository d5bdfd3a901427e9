//! Tests proofs by environment queries ([`verdict::QueriesProof`]).
//!
//! Tested are states in which no thread is in the middle of an atomic region or at a quiet location. If the
//! main thread, or the first thread of a claim, took the last step, the formula of its place must hold. There
//! are no formulas for places after others moved. The claims themselves, which are about two states, are not
//! tested. States before the threads are settled are not states of the proof.

use super::formulas::{is_false, value};
use super::try_watch;
use super::walk::{Moment, Outside, Watch};
use crate::ProofError;
use crate::queries_view::View;
use indexmap::IndexMap;
use ir::LocationId;
use ir::semantics::{State, ThreadIndex};
use smt::{Term, Value, Variable};
use transitions::groups::Member;
use transitions::{Kind, StateVariable, System};
use verdict::queries::{BEFORE_START, Places, place};
use verdict::{Budget, QueriesProof};

/// Tests the formulas.
pub(crate) fn try_claims(
    system: &System<'_>,
    view: &View,
    proof: &QueriesProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let mut variables: IndexMap<Variable, (Option<usize>, &StateVariable)> =
        system.shared.iter().map(|shared| (shared.variable.clone(), (None, shared))).collect();
    // In the proof, settled threads change the number and the set of started threads.
    variables.retain(|_, (_, shared)| !matches!(shared.kind, Kind::Threads | Kind::ThreadId(_)));
    for (number, thread) in view.threads.iter().enumerate() {
        let member = Member { template: thread.template, position: number };
        let own = system.own[thread.template].iter();
        variables.extend(own.map(|own| (member.own(&own.variable), (Some(number), own))));
        variables.shift_remove(&place(number));
    }
    let mut claims: Vec<(usize, &Places)> = Vec::new();
    for part in &proof.parts {
        claims.extend(part.order.first().map(|main| (*main, &part.main)));
        for (position, about) in part.claims.iter().enumerate() {
            let Some(first) = part.order.get(position + 1) else { continue };
            claims.extend(about.iter().map(|claim| (*first, &claim.reachable)));
        }
    }
    let settled = view.threads.iter().map(|_| false).collect();
    try_watch(system.program, &mut Claims { system, view, variables, claims, settled }, budget)
}

struct Claims<'a, 'p> {
    system: &'a System<'p>,
    view: &'a View,
    variables: IndexMap<Variable, (Option<usize>, &'a StateVariable)>,
    /// Threads, and what holds where they are.
    claims: Vec<(usize, &'a Places)>,
    /// Whether each thread has reached the location where it starts in the proof, in this execution.
    settled: Vec<bool>,
}

impl Claims<'_, '_> {
    /// The machine's thread for each thread of the proof.
    fn who(&self, state: &State) -> Vec<Option<ThreadIndex>> {
        let mut taken = vec![false; state.threads.len()];
        let find = |thread: &crate::queries_view::Thread| {
            let mut all = state.threads.iter().enumerate();
            let (index, _) =
                all.find(|(index, other)| other.template == thread.template && !taken[*index])?;
            taken[index] = true;
            Some(index)
        };
        self.view.threads.iter().map(find).collect()
    }
}

impl Watch for Claims<'_, '_> {
    fn look(&mut self, moment: &Moment<'_, '_>) -> Option<Outside> {
        if moment.step == 0 {
            self.settled.fill(false);
        }
        let who = self.who(moment.state);
        let mut places: Vec<i128> = Vec::new();
        let mut is_cut = true;
        for (number, thread) in self.view.threads.iter().enumerate() {
            match who[number].map(|index| moment.places[index].1) {
                Some(LocationId(at)) => {
                    self.settled[number] |= at as usize == thread.entry;
                    is_cut &= self.settled[number] && thread.atomic.get(at as usize) == Some(&false);
                    places.push(i128::from(at));
                }
                // For the proof, it runs from the beginning.
                None if thread.at_start => places.push(thread.entry as i128),
                None => places.push(BEFORE_START),
            }
        }
        if !is_cut {
            return None;
        }
        let value_of = |variable: &Variable| {
            if let Some((owner, what)) = self.variables.get(variable) {
                let thread = match owner {
                    Some(number) => Some(who[*number]?),
                    None => None,
                };
                return value(self.system, moment.machine, moment.state, thread, what);
            }
            let number = (0..places.len()).find(|number| place(*number) == *variable)?;
            Some(Value::Int(places[number]))
        };
        for (thread, claimed) in &self.claims {
            if moment.mover.is_none() || who.get(*thread).copied().flatten() != moment.mover {
                continue;
            }
            let at = *places.get(*thread)?;
            let at = usize::try_from(at).ok()?;
            let formula: Option<&Term> = claimed.at.get(at).and_then(Option::as_ref);
            if formula.is_some_and(|formula| is_false(formula, &value_of)) {
                let claim = format!("what is said of thread {thread} at location {at} holds");
                return Some(Outside { claim, violation: None });
            }
        }
        None
    }

    fn price(&self, _: usize) -> u64 {
        2 + 4 * self.claims.len() as u64
    }
}
