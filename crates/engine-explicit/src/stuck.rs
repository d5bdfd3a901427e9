//! The moves between stored states, for the deadlock check: which threads are stuck in which of them
//! ([`ir::semantics::StateGraph`]).

use crate::store::{StateId, Store};
use ir::semantics::{Fate, Machine, Move, StateGraph, Trail};

/// Moves between stored states, by their places in the table.
#[derive(Default)]
pub struct Moves {
    all: Vec<Move>,
    /// States from which the machine's limits cut off moves.
    limited: Vec<StateId>,
    /// States from which moves with more candidates for open values come later.
    later: Vec<StateId>,
}

impl Moves {
    /// The bytes that they take.
    pub fn bytes(&self) -> u64 {
        (self.all.capacity() * size_of::<Move>() + (self.limited.capacity() + self.later.capacity()) * 4)
            as u64
    }
    /// Adds a move.
    pub fn add(&mut self, from: StateId, to: StateId, by: u16, trail: Trail) {
        let one = Move { from, to, by, trail };
        if self.all.last() != Some(&one) {
            self.all.push(one);
        }
    }
    /// Notes that moves from a state are missing: because of a limit, or until later.
    pub fn note_missing(&mut self, from: StateId, limited: bool, later: bool) {
        if limited {
            self.limited.push(from);
        }
        if later {
            self.later.push(from);
        }
    }

    /// The fate of the threads. `all`: the search is complete.
    pub fn fate(&self, machine: &Machine<'_>, store: &mut Store, all: bool) -> Fate {
        let ids = store.ids();
        let number = |id: &StateId| ids.partition_point(|known| known < id) as u32;
        let moves: Vec<Move> = self
            .all
            .iter()
            .map(|one| Move { from: number(&one.from), to: number(&one.to), ..*one })
            .collect();
        let mut open: Vec<u32> = self.limited.iter().map(number).collect();
        if !all {
            open.extend(self.later.iter().map(number));
            open.extend(ids.iter().filter(|id| !store.is_all_expanded(**id)).map(number));
        }
        open.sort_unstable();
        let graph = StateGraph { states: ids.len() as u32, moves: &moves, open: &open };
        let found = graph.fate(machine, &mut |number| {
            let stored = store.get(ids[number as usize]);
            (stored.state, stored.tainted)
        });
        match found {
            Fate::Stuck(number, threads) => Fate::Stuck(ids[number as usize], threads),
            other => other,
        }
    }
}
