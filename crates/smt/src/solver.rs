//! An incremental solver: assertions on a stack, questions under assumptions, models and unsatisfiable cores.

use crate::decode::decode_value;
use crate::encode::Encoder;
use crate::limits::{NoAnswer, within};
use crate::sort::Sort;
use crate::term::{Operation, Term, Variable};
use crate::value::Value;
use rustc_hash::FxHashMap;
use std::time::Duration;
use verdict::Budget;
use z3::SatResult;
use z3::ast::Bool;

/// How many steps the solver may take unwatched: a millisecond's work for most formulas, and on a busy machine
/// never more than a few tenths of a second for small ones.
const FEW_STEPS: u32 = 10_000;
/// How many terms a small set of assertions has.
const SMALL: usize = 2_000;
/// With less time left than this, every question is watched from the beginning.
const LONGEST_UNWATCHED: Duration = Duration::from_millis(500);

/// A stack of assertions, and questions about them. Belongs to one thread; each thread may have any number.
pub struct Solver {
    solver: z3::Solver,
    encoder: Encoder,
    /// For each level of the stack, the Boolean that stands for each assumption that is no literal.
    stand_ins: Vec<FxHashMap<Term, Bool>>,
    /// How many stand-ins were made, for their names.
    made: u64,
    /// Of the last question, if its answer was [`Answer::Sat`].
    model: Option<z3::Model>,
    /// Of the last question, if its answer was [`Answer::Unsat`]: which assumptions are needed, by position.
    core: Vec<usize>,
}

/// Whether the assertions and assumptions can hold together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// They can; [`Solver::value`] says how.
    Sat,
    /// They cannot; [`Solver::core`] says which assumptions clash.
    Unsat,
    /// Not known.
    Unknown(NoAnswer),
}

/// Limits the steps of each question that follows; 0 is no limit.
fn limit_steps(solver: &z3::Solver, steps: u32) {
    let mut parameters = z3::Params::new();
    parameters.set_u32("rlimit", steps);
    solver.set_params(&parameters);
}

impl Default for Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver {
    /// A solver without assertions.
    pub fn new() -> Self {
        let solver = z3::Solver::new();
        limit_steps(&solver, FEW_STEPS);
        Self {
            solver,
            encoder: Encoder::default(),
            stand_ins: vec![FxHashMap::default()],
            made: 0,
            model: None,
            core: Vec::new(),
        }
    }
    /// Opens a level: what is asserted from now on is gone after the matching [`Solver::pop`].
    pub fn push(&mut self) {
        self.solver.push();
        self.stand_ins.push(FxHashMap::default());
    }
    /// Closes the level opened last.
    ///
    /// # Panics
    /// If there is none.
    pub fn pop(&mut self) {
        assert!(self.stand_ins.len() > 1, "there is no level to close");
        self.stand_ins.pop();
        self.solver.pop(1);
    }
    /// Demands that a formula holds.
    ///
    /// # Panics
    /// If the term is no formula.
    pub fn assert(&mut self, formula: &Term) {
        let formula = self.encoder.formula(formula);
        self.solver.assert(&formula);
    }
    /// Whether the assertions can hold together.
    pub fn check(&mut self, budget: &Budget) -> Answer {
        self.check_assuming(&[], budget)
    }
    /// Whether the assertions can hold together with all assumptions, which are any formulas and hold for this question only.
    pub fn check_assuming(&mut self, assumptions: &[Term], budget: &Budget) -> Answer {
        self.model = None;
        self.core.clear();
        let literals: Vec<Bool> = assumptions.iter().map(|assumption| self.literal(assumption)).collect();
        match self.ask(&literals, budget) {
            Err(reason) => Answer::Unknown(reason),
            Ok(SatResult::Sat) => match self.solver.get_model() {
                Some(model) => {
                    self.model = Some(model);
                    Answer::Sat
                }
                None => Answer::Unknown(NoAnswer::GaveUp("there is no model".to_owned())),
            },
            Ok(SatResult::Unsat) => {
                if !literals.is_empty() {
                    let core = self.solver.get_unsat_core();
                    self.core =
                        (0..literals.len()).filter(|position| core.contains(&literals[*position])).collect();
                }
                Answer::Unsat
            }
            Ok(SatResult::Unknown) => {
                let reason = self.solver.get_reason_unknown().unwrap_or_default();
                Answer::Unknown(NoAnswer::GaveUp(reason))
            }
        }
    }
    /// Asks the solver. Most questions are answered at once: those that look small are first asked with a limit on the solver's steps,
    /// which needs no second thread. What that does not decide is asked again under watch.
    fn ask(&self, literals: &[Bool], budget: &Budget) -> Result<SatResult, NoAnswer> {
        let ask = || {
            if literals.is_empty() { self.solver.check() } else { self.solver.check_assumptions(literals) }
        };
        budget.check(0).map_err(NoAnswer::Exhausted)?;
        let in_no_hurry = budget.remaining().is_none_or(|left| left > LONGEST_UNWATCHED);
        if in_no_hurry && self.encoder.size() <= SMALL {
            let answer = ask();
            if answer != SatResult::Unknown {
                return Ok(answer);
            }
        }
        limit_steps(&self.solver, 0);
        let answer = within(budget, ask);
        limit_steps(&self.solver, FEW_STEPS);
        answer
    }
    /// A literal that stands for an assumption on the present levels.
    fn literal(&mut self, assumption: &Term) -> Bool {
        let atom = match assumption.operation() {
            Operation::Not => &assumption.operands()[0],
            _ => assumption,
        };
        if matches!(atom.operation(), Operation::Variable(_)) {
            return self.encoder.formula(assumption);
        }
        if let Some(known) = self.stand_ins.iter().find_map(|level| level.get(assumption)) {
            return known.clone();
        }
        let formula = self.encoder.formula(assumption);
        // No other name has an exclamation mark followed by a number in front.
        let stand_in = Bool::new_const(format!("!{}", self.made));
        self.made += 1;
        self.solver.assert(stand_in.implies(&formula));
        self.stand_ins
            .last_mut()
            .expect("there is always a level")
            .insert(assumption.clone(), stand_in.clone());
        stand_in
    }
    /// The positions of assumptions of the last question that cannot hold together with the assertions, if its answer was
    /// [`Answer::Unsat`]. Not always the fewest possible.
    pub fn core(&self) -> &[usize] {
        &self.core
    }
    /// The value of a term in the model of the last question, if its answer was [`Answer::Sat`]. An error where the value
    /// cannot be written down: an integer of more than 128 bits, an array without a finite description.
    ///
    /// # Panics
    /// If the last answer was another.
    pub fn value(&mut self, term: &Term) -> Result<Value, NoAnswer> {
        let model = self.model.as_ref().expect("only a satisfiable question has a model");
        let value = model.eval(&self.encoder.term(term), true);
        let value = value.ok_or_else(|| NoAnswer::GaveUp(format!("no value for {term}")))?;
        decode_value(&value)
            .map_err(|foreign| NoAnswer::GaveUp(format!("no value for {term}: {}", foreign.0)))
    }
    /// The value of an integer term in the model; see [`Solver::value`].
    pub fn int_value(&mut self, term: &Term) -> Result<i128, NoAnswer> {
        assert_eq!(*term.sort(), Sort::Int, "an integer is expected here, not {term}");
        let value = self.value(term)?;
        value.as_int().ok_or_else(|| NoAnswer::GaveUp(format!("the value of {term} is no integer")))
    }
    /// Whether a formula holds in the model; see [`Solver::value`].
    pub fn bool_value(&mut self, formula: &Term) -> Result<bool, NoAnswer> {
        assert_eq!(*formula.sort(), Sort::Bool, "a formula is expected here, not {formula}");
        let value = self.value(formula)?;
        value.as_bool().ok_or_else(|| NoAnswer::GaveUp(format!("the value of {formula} is no truth value")))
    }
    /// The values of variables in the model; see [`Solver::value`].
    pub fn values(&mut self, variables: &[Variable]) -> Result<Vec<Value>, NoAnswer> {
        variables.iter().map(|variable| self.value(&variable.term())).collect()
    }
}

/// Whether a formula can hold, asked of a fresh solver.
pub fn satisfiable(formula: &Term, budget: &Budget) -> Answer {
    let mut solver = Solver::new();
    solver.assert(formula);
    solver.check(budget)
}

/// Whether a formula always holds: [`Answer::Unsat`] means that it does.
pub fn can_fail(formula: &Term, budget: &Budget) -> Answer {
    satisfiable(&formula.not(), budget)
}
