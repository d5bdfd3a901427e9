//! Many small, independent queries share a solver, since creating a solver takes longer than answering one of
//! them.

use crate::{Answer, NoAnswer, Solver, Term, satisfiable};
use verdict::Budget;

/// After this many queries, a new solver is created: by then, the old terms only cost time.
const MOST: usize = 401;

/// Asks questions.
pub struct Questions {
    solver: Solver,
    asked: usize,
    /// After so many questions a new solver is made.
    most: usize,
}

impl Default for Questions {
    fn default() -> Self {
        Self::renewed_after(MOST)
    }
}

impl Questions {
    /// With a new solver after so many questions.
    pub fn renewed_after(most: usize) -> Self {
        Self { solver: Solver::new(), asked: 0, most }
    }

    /// Runs a query with a solver without assertions; new assertions are removed afterwards.
    pub fn ask<Found>(&mut self, question: impl FnOnce(&mut Solver) -> Found) -> Found {
        self.asked += 1;
        if self.asked == self.most {
            *self = Self::renewed_after(self.most);
        }
        self.solver.push();
        let found = question(&mut self.solver);
        self.solver.pop();
        found
    }

    /// Whether a formula can hold.
    pub fn satisfiable(&mut self, formula: &Term, budget: &Budget) -> Answer {
        let answer = self.ask(|solver| {
            solver.assert(formula);
            solver.check(budget)
        });
        match answer {
            Answer::Unknown(NoAnswer::GaveUp(_)) => satisfiable(formula, budget),
            Answer::Sat | Answer::Unsat | Answer::Unknown(NoAnswer::Exhausted(_)) => answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No question knows of another one, also across many solvers.
    #[test]
    fn questions_have_nothing_to_do_with_each_other() {
        let mut questions = Questions::default();
        let budget = Budget::steps_for(60.0);
        let x = Term::int_variable("x");
        for round in 0..(2 * MOST as i128) {
            let is = x.equals(&Term::int(round));
            assert_eq!(questions.satisfiable(&is, &budget), Answer::Sat);
            assert_eq!(
                questions.satisfiable(&is.and(&x.equals(&Term::int(round + 1))), &budget),
                Answer::Unsat
            );
        }
    }
}
