//! Craig interpolants: why two formulas contradict each other, in their common variables.

use crate::horn::{Application, Clause, HornSystem, Solution, solve};
use crate::limits::NoAnswer;
use crate::term::{Term, Variable};
use verdict::Budget;

/// What is between two formulas.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Interpolation {
    /// Follows from the first formula, contradicts the second, and has only variables that both have.
    Interpolant(Term),
    /// The two formulas can hold together.
    Consistent,
    /// Not known.
    Unknown(NoAnswer),
}

/// An interpolant of two formulas: a Horn clause says that it follows from the first, another that it
/// contradicts the second.
pub fn interpolate(first: &Term, second: &Term, budget: &Budget) -> Interpolation {
    let of_second = second.free_variables();
    let shared: Vec<Variable> =
        first.free_variables().into_iter().filter(|variable| of_second.contains(variable)).collect();
    let mut system = HornSystem::default();
    let between = system.relation("between", shared.clone());
    let applied = Application { relation: between, arguments: shared.iter().map(Variable::term).collect() };
    system.clause(Clause { body: vec![], constraint: first.clone(), head: Some(applied.clone()) });
    system.clause(Clause { body: vec![applied], constraint: second.clone(), head: None });
    match solve(&system, budget) {
        Solution::Solved(interpretation) => {
            Interpolation::Interpolant(interpretation.formulas[between].clone())
        }
        Solution::Refuted(_) => Interpolation::Consistent,
        Solution::Unknown(reason) => Interpolation::Unknown(reason),
    }
}
