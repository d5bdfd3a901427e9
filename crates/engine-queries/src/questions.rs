//! Small questions to one solver: a new one costs more than most of them.

use smt::Solver;
use std::cell::RefCell;

/// After so many questions a new solver is taken: what it has learnt is more than what it needs.
const MOST: usize = 200;

/// A solver without assertions, for one question after the other.
#[derive(Default)]
pub struct Questions {
    state: RefCell<(Solver, usize)>,
}

impl Questions {
    /// Asks something of a solver without assertions; those that are made are gone afterwards.
    pub fn ask<T>(&self, question: impl FnOnce(&mut Solver) -> T) -> T {
        let mut state = self.state.borrow_mut();
        state.1 += 1;
        if state.1.is_multiple_of(MOST) {
            state.0 = Solver::new();
        }
        state.0.push();
        let answer = question(&mut state.0);
        state.0.pop();
        answer
    }
}
