//! States in which only results of threads lead to some allocated memory: whether it is found again, by
//! joining these threads, in all continuations.
//!
//! Memory that is found again was not lost. In a finite graph of all states and moves, an execution that
//! stays among such states either ends in one, or goes around a cycle of them. So if each of them has a
//! move, and no cycle is made of them alone, every execution leaves them.

use std::collections::BTreeMap;

/// The states that await a join, and the moves from them, by the number of the state.
#[derive(Default)]
pub(crate) struct Awaiting {
    moves: BTreeMap<u32, Vec<u32>>,
}

impl Awaiting {
    /// Adds a state that awaits a join.
    pub fn state(&mut self, number: u32) {
        self.moves.entry(number).or_default();
    }

    /// Adds a move, which counts if it is from such a state.
    pub fn add(&mut self, from: u32, to: u32) {
        if let Some(moves) = self.moves.get_mut(&from) {
            moves.push(to);
        }
    }

    /// Whether every execution leaves these states, once all states and moves are added.
    pub fn all_end(&self) -> bool {
        if self.moves.values().any(Vec::is_empty) {
            return false;
        }
        // States are taken away once all moves to them, from such states, are.
        let mut entering: BTreeMap<u32, usize> = self.moves.keys().map(|state| (*state, 0)).collect();
        for to in self.moves.values().flatten() {
            if let Some(count) = entering.get_mut(to) {
                *count += 1;
            }
        }
        let mut free: Vec<u32> =
            entering.iter().filter(|(_, count)| **count == 0).map(|(state, _)| *state).collect();
        let mut taken = 0;
        while let Some(state) = free.pop() {
            taken += 1;
            for to in &self.moves[&state] {
                let Some(count) = entering.get_mut(to) else { continue };
                *count -= 1;
                if *count == 0 {
                    free.push(*to);
                }
            }
        }
        taken == self.moves.len()
    }
}

#[cfg(test)]
mod tests {
    use super::Awaiting;

    fn all_end(states: &[u32], moves: &[(u32, u32)]) -> bool {
        let mut awaiting = Awaiting::default();
        states.iter().for_each(|state| awaiting.state(*state));
        moves.iter().for_each(|(from, to)| awaiting.add(*from, *to));
        awaiting.all_end()
    }

    #[test]
    fn a_state_without_moves_and_a_cycle_never_end() {
        assert!(all_end(&[], &[(0, 0)]));
        assert!(all_end(&[1, 2], &[(0, 1), (1, 2), (2, 3), (3, 1), (1, 3)]));
        assert!(!all_end(&[1, 2], &[(1, 2)]), "nothing follows 2");
        assert!(!all_end(&[1, 2], &[(1, 2), (2, 1), (1, 3)]));
        assert!(!all_end(&[1], &[(1, 1), (1, 2)]));
    }
}
