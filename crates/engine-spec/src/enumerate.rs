//! Compositions whose variables have few values: enumerates all states; numbers of threads beyond a few are
//! not distinguished.
//!
//! Over-approximates the composition as it is counted (`counting.rs`): a number of threads that is more than
//! [`EXACT`] may have become less by one, or not. If no state is forbidden, the set of all reached states is
//! an invariant. Gives up if a step may set a number to many values, if there are too many states, and if a
//! forbidden state is found: the cause may be imprecise counting.

use crate::counting::Counting;
use indexmap::{IndexMap, IndexSet};
use smt::{Answer, Solver, Sort, Term, Value, Variable};
use verdict::Budget;

/// Numbers of threads up to this one are distinguished.
const EXACT: i128 = 2;
/// No more states are looked at.
const MOST_STATES: usize = 3_000;
/// No more first states.
const MOST_FIRST: usize = 64;
/// No step has more inputs.
const MOST_INPUTS: usize = 6;

/// A node, the values of the variables, and the numbers of threads.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    node: usize,
    values: Vec<i128>,
    numbers: Vec<i128>,
}

struct Enumeration<'a> {
    counting: &'a Counting<'a>,
    variables: Vec<Variable>,
    numbers: Vec<Variable>,
}

/// An invariant of the composition, if one is found.
pub(crate) fn enumerate(counting: &Counting<'_>, budget: &Budget) -> Option<Term> {
    let all = counting.program.variables.keys().cloned();
    let (numbers, variables) = all.partition(|variable| counting.counted.contains(variable));
    let enumeration = Enumeration { counting, variables, numbers };
    let steps = &counting.program.steps;
    let is_few = |step: &sequential::Step| {
        step.inputs.len() <= MOST_INPUTS && step.inputs.iter().all(|input| input.sort == Sort::Bool)
    };
    if !steps.iter().all(is_few) {
        return None;
    }
    let mut states: IndexSet<State> = enumeration.first(budget)?;
    let mut next = 0;
    while let Some(state) = states.get_index(next).cloned() {
        next += 1;
        if states.len() > MOST_STATES || budget.check(0).is_err() || enumeration.is_wrong(&state)? {
            return None;
        }
        for step in steps.iter().filter(|step| step.source == state.node) {
            enumeration.successors(&state, step, &mut states)?;
        }
    }
    Some(enumeration.formula(&states))
}

fn number(value: &Value) -> Option<i128> {
    value.as_int().or_else(|| value.as_bool().map(i128::from))
}

fn value(variable: &Variable, number: i128) -> Value {
    if variable.sort == Sort::Bool { Value::Bool(number != 0) } else { Value::Int(number) }
}

impl Enumeration<'_> {
    /// The states that the composition may start in.
    fn first(&self, budget: &Budget) -> Option<IndexSet<State>> {
        let program = &self.counting.program;
        let mut solver = Solver::new();
        solver.assert(&program.initial);
        let mut found = IndexSet::new();
        while solver.check(budget) == Answer::Sat {
            let mut read = |variables: &[Variable]| -> Option<Vec<i128>> {
                solver.values(variables).ok()?.iter().map(number).collect()
            };
            let (values, numbers) = (read(&self.variables)?, read(&self.numbers)?);
            let here = |variables: &[Variable], values: &[i128]| {
                Term::all(variables.iter().zip(values).map(|(v, n)| v.term().equals(&value(v, *n).term())))
            };
            let this = here(&self.variables, &values).and(&here(&self.numbers, &numbers));
            solver.assert(&this.not());
            let numbers = numbers.into_iter().map(|number| number.min(EXACT + 1)).collect();
            found.insert(State { node: program.entry, values, numbers });
            if found.len() > MOST_FIRST {
                return None;
            }
        }
        // The last question must have been answered.
        (!found.is_empty() && solver.check(budget) == Answer::Unsat).then_some(found)
    }

    /// The value of a term in a state, with some inputs.
    fn evaluate(&self, state: &State, inputs: &[(Variable, Value)], term: &Term) -> Option<Value> {
        term.evaluate(&|variable| {
            let at = |all: &[Variable]| all.iter().position(|known| known == variable);
            if let Some(position) = at(&self.variables) {
                return Some(value(variable, state.values[position]));
            }
            if let Some(position) = at(&self.numbers) {
                return Some(Value::Int(state.numbers[position]));
            }
            inputs.iter().find(|(input, _)| input == variable).map(|(_, value)| value.clone())
        })
        .ok()
    }

    fn is_wrong(&self, state: &State) -> Option<bool> {
        for forbidden in self.counting.program.forbidden.iter().filter(|one| one.node == state.node) {
            if self.evaluate(state, &[], &forbidden.formula)?.as_bool()? {
                return Some(true);
            }
        }
        Some(false)
    }

    fn successors(&self, state: &State, step: &sequential::Step, found: &mut IndexSet<State>) -> Option<()> {
        for choice in 0..1u32 << step.inputs.len() {
            let inputs: Vec<(Variable, Value)> = step
                .inputs
                .iter()
                .enumerate()
                .map(|(bit, input)| (input.clone(), Value::Bool(choice >> bit & 1 == 1)))
                .collect();
            if !self.evaluate(state, &inputs, &step.guard)?.as_bool()? {
                continue;
            }
            let mut next = State { node: step.target, ..state.clone() };
            for (position, variable) in self.variables.iter().enumerate() {
                if let Some(new) = step.updates.get(variable) {
                    next.values[position] = number(&self.evaluate(state, &inputs, new)?)?;
                }
            }
            let mut successors = vec![next];
            for (position, variable) in self.numbers.iter().enumerate() {
                let Some(new) = step.updates.get(variable) else { continue };
                let before = state.numbers[position];
                let after = self.evaluate(state, &inputs, new)?.as_int()?;
                let many = before > EXACT && after < before;
                let mut more = Vec::new();
                for successor in &mut successors {
                    successor.numbers[position] = after.min(EXACT + 1);
                    if many {
                        // There were more than that.
                        let mut still = successor.clone();
                        still.numbers[position] = before;
                        more.push(still);
                    }
                }
                successors.extend(more);
            }
            found.extend(successors);
        }
        Some(())
    }

    /// That one of some states is the one at hand.
    fn formula(&self, states: &IndexSet<State>) -> Term {
        let mut by_node: IndexMap<usize, Vec<Term>> = IndexMap::new();
        for state in states {
            let values = self.variables.iter().zip(&state.values);
            let values =
                values.map(|(variable, number)| variable.term().equals(&value(variable, *number).term()));
            let numbers = self.numbers.iter().zip(&state.numbers).map(|(variable, number)| {
                if *number > EXACT {
                    variable.term().at_least(&Term::int(*number))
                } else {
                    variable.term().equals(&Term::int(*number))
                }
            });
            by_node.entry(state.node).or_default().push(Term::all(values.chain(numbers)));
        }
        let none = Term::bool(false);
        let at =
            |node: usize| by_node.get(&node).map_or(none.clone(), |cases| Term::any(cases.iter().cloned()));
        self.counting.whole(&at)
    }
}
