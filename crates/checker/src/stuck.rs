//! The graph of the states that a check explores, for the deadlock check: which threads are stuck
//! ([`ir::semantics::StateGraph`]).

use crate::inputs::Inputs;
use crate::proof::{Odometer, ProofError};
use ir::semantics::{Fate, Machine, Move, State, StateGraph, Stuck, ThreadIndex, Trail};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use verdict::Property;

/// States and moves between them; empty for other properties.
pub(crate) struct Graph {
    is_wanted: bool,
    states: Vec<State>,
    moves: Vec<Move>,
    bytes: u64,
}

impl Graph {
    /// A graph without states.
    pub fn new(property: &Property) -> Self {
        Self { is_wanted: *property == Property::NoDeadlock, states: Vec::new(), moves: Vec::new(), bytes: 0 }
    }
    /// Its size in bytes, without parts of states that are stored elsewhere as well.
    pub fn bytes(&self) -> u64 {
        self.bytes + (self.moves.len() * size_of::<Move>()) as u64
    }
    /// Adds the next state.
    pub fn state(&mut self, state: &State) {
        if self.is_wanted {
            self.bytes += 80 + 8 * (state.threads.len() + state.heap.len()) as u64;
            self.states.push(state.clone());
        }
    }
    /// Adds a move.
    pub fn add(&mut self, from: u32, to: u32, thread: ThreadIndex, trail: Trail) {
        if self.is_wanted {
            self.moves.push(Move { from, to, by: thread as u16, trail });
        }
    }
    fn fate(&self, machine: &Machine<'_>) -> Fate {
        let graph = StateGraph { states: self.states.len() as u32, moves: &self.moves, open: &[] };
        graph.fate(machine, &mut |number| (self.states[number as usize].clone(), false))
    }
    /// Whether no thread is stuck, once all states and moves are added.
    pub fn check(&self, machine: &Machine<'_>) -> Result<(), ProofError> {
        match self.fate(machine) {
            Fate::Free => Ok(()),
            Fate::Stuck(..) => Err(ProofError::Violated),
            Fate::Undecided(text) => Err(ProofError::Claim(text)),
        }
    }
}

/// The most states that are explored to see whether threads are stuck.
const MOST_STATES: usize = 50_000;

/// Whether these threads are stuck in a state, as all executions from there show.
pub(crate) fn are_stuck(machine: &Machine<'_>, state: &State, threads: &[ThreadIndex]) -> bool {
    let inputs = Inputs::new(machine.program);
    let mut graph = Graph::new(&Property::NoDeadlock);
    let mut seen: FxHashMap<State, u32> = FxHashMap::from_iter([(state.clone(), 0)]);
    let mut queue = VecDeque::from([(0, state.clone())]);
    while let Some((number, state)) = queue.pop_front() {
        if state.halted || threads.iter().any(|thread| machine.waits(&state, *thread).is_none()) {
            return false;
        }
        graph.state(&state);
        for thread in machine.schedulable(&state) {
            let Some((template, _)) = state.location(thread) else { continue };
            for &edge in machine.edges(&state, thread) {
                let mut odometer = Odometer::new(&inputs, (template, edge));
                loop {
                    match machine.step(&state, thread, edge, &mut odometer).result {
                        Ok(next) if machine.woke_for_no_reason(&next, thread) => {}
                        Ok(next) => {
                            // Under uncertainty, a step that may help does help.
                            let trail = Trail::default().then(machine, &next, thread, false);
                            let fresh = seen.len() as u32;
                            let to = *seen.entry(next.clone()).or_insert(fresh);
                            if to == fresh {
                                queue.push_back((fresh, next));
                            }
                            graph.add(number, to, thread, trail);
                        }
                        Err(Stuck::Limit(_)) => return false,
                        Err(Stuck::Blocked | Stuck::Fault(_)) => {}
                    }
                    if odometer.endless || seen.len() > MOST_STATES {
                        return false;
                    }
                    if !odometer.turn() {
                        break;
                    }
                }
            }
        }
    }
    match graph.fate(machine) {
        Fate::Stuck(_, found) => threads.iter().all(|thread| found.contains(thread)),
        Fate::Free | Fate::Undecided(_) => false,
    }
}
