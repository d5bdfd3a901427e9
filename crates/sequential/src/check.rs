//! The question whether something forbidden can be reached.

use crate::encode::Encoding;
use crate::path::{Path, realise};
use crate::program::{Node, Program};
use smt::horn::{Derivation, Interpretation, Solution, solve};
use smt::{NoAnswer, Term};
use verdict::Budget;

/// What was found out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Nothing forbidden can be reached.
    Safe(Invariants),
    /// Something forbidden is reached.
    Unsafe(Path),
    /// Not known.
    Unknown(NoAnswer),
}

/// The invariant of each node; `None` for nodes that were removed. Each path between two invariants preserves
/// them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariants {
    /// By node.
    pub formulas: Vec<Option<Term>>,
}

impl Invariants {
    /// What holds at a node.
    pub fn at(&self, node: Node) -> Option<&Term> {
        self.formulas.get(node).and_then(Option::as_ref)
    }
}

/// Whether something forbidden can be reached.
pub fn check(program: &Program, budget: &Budget) -> Outcome {
    check_encoded(program, &Encoding::new(program, budget), budget)
}

/// The same, by the solver for Horn clauses.
pub(crate) fn check_encoded(program: &Program, encoding: &Encoding, budget: &Budget) -> Outcome {
    match solve(&encoding.system, budget) {
        Solution::Solved(solution) => Outcome::Safe(encoding.invariants(program, &solution)),
        Solution::Refuted(derivation) => follow(program, encoding, &derivation, budget),
        Solution::Unknown(why) => Outcome::Unknown(why),
    }
}

impl Encoding {
    /// The invariants of a solution.
    pub(crate) fn invariants(&self, program: &Program, solution: &Interpretation) -> Invariants {
        let invariant = |node: Node| match self.relations.get(&node) {
            Some(relation) => Some(solution.formulas[*relation].clone()),
            None if !self.reached[node] => Some(Term::bool(false)),
            // From here nothing forbidden is reached, whatever holds.
            None if !self.leads[node] => Some(Term::bool(true)),
            None => None,
        };
        Invariants { formulas: (0..program.nodes.len()).map(invariant).collect() }
    }
}

/// The path of a derivation: every clause has at most one premise.
fn follow(program: &Program, encoding: &Encoding, derivation: &Derivation, budget: &Budget) -> Outcome {
    let mut clauses = Vec::new();
    let mut position = derivation.steps.len().checked_sub(1);
    while let Some(here) = position {
        let step = &derivation.steps[here];
        clauses.push(step.clause);
        position = step.premises.first().copied();
    }
    clauses.reverse();
    let mut steps: Vec<usize> =
        clauses.iter().flat_map(|clause| encoding.steps[clause.0 as usize].iter().copied()).collect();
    let Some(last) = steps.pop().and_then(|last| last.checked_sub(program.steps.len())) else {
        return Outcome::Unknown(NoAnswer::GaveUp("a derivation leads to nothing forbidden".to_owned()));
    };
    match realise(program, &steps, last, budget) {
        Ok(Some(path)) => Outcome::Unsafe(path),
        Ok(None) => Outcome::Unknown(NoAnswer::GaveUp("a path that was found cannot be taken".to_owned())),
        Err(why) => Outcome::Unknown(why),
    }
}
