//! An incremental solver: a stack of assertions, queries under assumptions, models and unsatisfiable cores.

use crate::as_bits::as_bits;
use crate::decode::decode_value;
use crate::encode::Encoder;
use crate::limits::{NoAnswer, solver_limit, within};
use crate::sort::Sort;
use crate::term::{Operation, Term, Variable};
use crate::value::Value;
use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use std::time::Duration;
use verdict::Budget;
use z3::SatResult;
use z3::ast::Bool;

/// How many steps the solver may take unwatched: a millisecond's work for most formulas, and on a busy
/// machine never more than a few tenths of a second for small ones.
const FEW_STEPS: u32 = 10_000;
/// How many terms a small set of assertions has.
const SMALL: usize = 10_000;
/// The cost of an unwatched query, if steps are counted: most are answered in a fifth of a millisecond.
const UNWATCHED: u64 = 200;
/// What a solver for one question costs.
const FRESH: u64 = 1_000;
/// What was asserted before costs a little in each question: one step for so many terms.
const TERMS: u64 = 4;
/// How long a question about bit-vectors may take, before it is asked in another way.
const LONGEST_AS_BITS: Duration = Duration::from_secs(4);
/// With less time left than this, every question is watched from the beginning.
const LONGEST_UNWATCHED: Duration = Duration::from_millis(500);

/// A stack of assertions, and questions about them. Belongs to one thread; each thread may have any number.
pub struct Solver {
    solver: z3::Solver,
    encoder: Encoder,
    /// What is asserted, from the outermost level on; there is always one.
    levels: Vec<Level>,
    /// Whether the last question had no answer. The solver cannot be asked again then (see
    /// [`crate::limits`]): it is replaced by a new one with the same assertions.
    worn_out: bool,
    /// How many stand-ins were made, for their names.
    made: u64,
    /// Of the last question, if its answer was [`Answer::Sat`].
    model: Option<z3::Model>,
    /// Of the last question, if its answer was [`Answer::Unsat`]: which assumptions are needed, by position.
    core: Vec<usize>,
}

/// What was asserted between a push and the next.
#[derive(Default)]
struct Level {
    assertions: Vec<Term>,
    /// The Boolean that stands for each assumption that is no literal.
    stand_ins: IndexMap<Term, Bool>,
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

/// A new solver of the library, with a limit on steps.
fn fresh() -> z3::Solver {
    let solver = z3::Solver::new();
    limit_steps(&solver, FEW_STEPS);
    // Without an open level the solver would work the first question through all its simplifications, which
    // takes longer than a small question.
    solver.push();
    solver
}

fn question(solver: &z3::Solver, literals: &[Bool]) -> SatResult {
    if literals.is_empty() { solver.check() } else { solver.check_assumptions(literals) }
}

impl Default for Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver {
    /// A solver without assertions.
    pub fn new() -> Self {
        Self {
            solver: fresh(),
            encoder: Encoder::default(),
            levels: vec![Level::default()],
            worn_out: false,
            made: 0,
            model: None,
            core: Vec::new(),
        }
    }
    /// Opens a level: what is asserted from now on is gone after the matching [`Solver::pop`].
    pub fn push(&mut self) {
        self.renew();
        self.solver.push();
        self.levels.push(Level::default());
    }
    /// Closes the level opened last.
    ///
    /// # Panics
    /// If there is none.
    pub fn pop(&mut self) {
        assert!(self.levels.len() > 1, "there is no level to close");
        self.renew();
        self.levels.pop();
        self.solver.pop(1);
    }
    /// Demands that a formula holds.
    ///
    /// # Panics
    /// If the term is no formula.
    pub fn assert(&mut self, formula: &Term) {
        self.renew();
        let encoded = self.encoder.formula(formula);
        self.solver.assert(&encoded);
        self.innermost().assertions.push(formula.clone());
    }
    fn innermost(&mut self) -> &mut Level {
        self.levels.last_mut().expect("there is always a level")
    }
    /// Replaces a solver that cannot be asked again.
    fn renew(&mut self) {
        if !self.worn_out {
            return;
        }
        self.solver = fresh();
        for (depth, level) in self.levels.iter().enumerate() {
            if depth > 0 {
                self.solver.push();
            }
            for assertion in &level.assertions {
                self.solver.assert(self.encoder.formula(assertion));
            }
            for (assumption, stand_in) in &level.stand_ins {
                self.solver.assert(stand_in.implies(self.encoder.formula(assumption)));
            }
        }
        self.worn_out = false;
    }
    /// Whether the assertions can hold together.
    pub fn check(&mut self, budget: &Budget) -> Answer {
        self.check_assuming(&[], budget)
    }
    /// Whether the assertions can hold together with all assumptions, which are any formulas and hold for
    /// this question only.
    pub fn check_assuming(&mut self, assumptions: &[Term], budget: &Budget) -> Answer {
        self.model = None;
        self.core.clear();
        self.renew();
        let literals: Vec<Bool> = assumptions.iter().map(|assumption| self.literal(assumption)).collect();
        match self.ask(assumptions, &literals, budget) {
            Err(reason) => Answer::Unknown(reason),
            Ok((SatResult::Sat, _)) => match self.solver.get_model() {
                Some(model) => {
                    self.model = Some(model);
                    Answer::Sat
                }
                None => Answer::Unknown(NoAnswer::GaveUp("there is no model".to_owned())),
            },
            Ok((SatResult::Unsat, by_bits)) => {
                if !literals.is_empty() {
                    let core: FxHashSet<Bool> = match by_bits {
                        true => FxHashSet::default(),
                        false => self.solver.get_unsat_core().into_iter().collect(),
                    };
                    self.core = (0..literals.len())
                        .filter(|position| by_bits || core.contains(&literals[*position]))
                        .collect();
                }
                Answer::Unsat
            }
            Ok((SatResult::Unknown, _)) => {
                let reason = self.solver.get_reason_unknown().unwrap_or_default();
                Answer::Unknown(NoAnswer::GaveUp(reason))
            }
        }
    }
    /// Asks the solver. Most questions are answered at once: those that look small are first asked with a
    /// limit on the solver's steps, which needs no second thread. What that does not decide is asked again
    /// under watch, first as a question about bit-vectors. With the answer: whether that one gave it.
    fn ask(
        &mut self,
        assumptions: &[Term],
        literals: &[Bool],
        budget: &Budget,
    ) -> Result<(SatResult, bool), NoAnswer> {
        budget.check(0).map_err(NoAnswer::Exhausted)?;
        if let Some(answer) = self.unwatched(literals, budget) {
            return Ok((answer, false));
        }
        let asserted = self.levels.iter().flat_map(|level| &level.assertions);
        if clash_as_bits(&Term::all(asserted.chain(assumptions).cloned()), budget) {
            return Ok((SatResult::Unsat, true));
        }
        self.renew();
        limit_steps(&self.solver, solver_limit(budget));
        let answer = within(budget, || question(&self.solver, literals));
        limit_steps(&self.solver, FEW_STEPS);
        self.worn_out = !matches!(answer, Ok(SatResult::Sat | SatResult::Unsat));
        answer.map(|answer| (answer, false))
    }
    /// Asks with a limit on steps, if the question looks small and there is time.
    fn unwatched(&mut self, literals: &[Bool], budget: &Budget) -> Option<SatResult> {
        let in_no_hurry = budget.remaining_by_clock().is_none_or(|left| left > LONGEST_UNWATCHED);
        if !in_no_hurry || self.encoder.size() > SMALL {
            return None;
        }
        budget.spend(UNWATCHED + self.encoder.size() as u64 / TERMS);
        let answer = question(&self.solver, literals);
        self.worn_out = answer == SatResult::Unknown;
        (!self.worn_out).then_some(answer)
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
        if let Some(known) = self.levels.iter().find_map(|level| level.stand_ins.get(assumption)) {
            return known.clone();
        }
        let formula = self.encoder.formula(assumption);
        // No other name has an exclamation mark followed by a number in front.
        let stand_in = Bool::new_const(format!("!{}", self.made));
        self.made += 1;
        self.solver.assert(stand_in.implies(&formula));
        self.innermost().stand_ins.insert(assumption.clone(), stand_in.clone());
        stand_in
    }
    /// The positions of assumptions of the last question that cannot hold together with the assertions, if
    /// its answer was [`Answer::Unsat`]. Not always the fewest possible.
    pub fn core(&self) -> &[usize] {
        &self.core
    }
    /// The value of a term in the model of the last question, if its answer was [`Answer::Sat`]. An error
    /// where the value cannot be written down: an integer of more than 128 bits, an array without a finite
    /// description.
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

/// Whether the solver finds that a formula cannot hold when it is asked about bit-vectors only.
fn clash_as_bits(formula: &Term, budget: &Budget) -> bool {
    let Some(bits) = as_bits(formula) else { return false };
    let patience = budget.part(4).within(LONGEST_AS_BITS);
    let solver = z3::Solver::new();
    let mut encoder = Encoder::default();
    solver.assert(encoder.formula(&bits));
    limit_steps(&solver, solver_limit(&patience));
    within(&patience, || solver.check()) == Ok(SatResult::Unsat)
}

/// Whether a formula can hold. Unlike a [`Solver`], which is made for many questions, this uses all
/// simplifications where the formula is not decided at once.
pub fn satisfiable(formula: &Term, budget: &Budget) -> Answer {
    if let Err(limit) = budget.check(0) {
        return Answer::Unknown(NoAnswer::Exhausted(limit));
    }
    budget.spend(FRESH);
    let mut quick = Solver::new();
    quick.assert(formula);
    let answer = match quick.unwatched(&[], budget) {
        None if clash_as_bits(formula, budget) => Ok((SatResult::Unsat, None)),
        None => {
            let thorough = z3::Solver::new();
            thorough.assert(quick.encoder.formula(formula));
            within(budget, || (thorough.check(), thorough.get_reason_unknown()))
        }
        Some(decided) => Ok((decided, None)),
    };
    match answer {
        Err(reason) => Answer::Unknown(reason),
        Ok((SatResult::Sat, _)) => Answer::Sat,
        Ok((SatResult::Unsat, _)) => Answer::Unsat,
        Ok((SatResult::Unknown, reason)) => Answer::Unknown(NoAnswer::GaveUp(reason.unwrap_or_default())),
    }
}

/// Whether a formula can fail to hold: [`Answer::Unsat`] means that it always holds.
pub fn can_fail(formula: &Term, budget: &Budget) -> Answer {
    satisfiable(&formula.not(), budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A solver that had no answer is replaced, with all levels, assertions and assumptions.
    #[test]
    fn a_worn_out_solver_is_replaced() {
        let budget = Budget::steps_for(60.0);
        let x = Term::int_variable("x");
        let limit = |bound: i128| x.at_most(&Term::int(bound));
        let assumptions = [x.at_least(&Term::int(5)), x.at_least(&Term::int(7))];
        let mut solver = Solver::new();
        solver.assert(&limit(9));
        solver.push();
        assert_eq!(solver.check_assuming(&assumptions, &budget), Answer::Sat);
        solver.worn_out = true;
        solver.assert(&limit(6));
        solver.worn_out = true;
        assert_eq!(solver.check_assuming(&assumptions, &budget), Answer::Unsat);
        assert_eq!(solver.core(), [1]);
        solver.worn_out = true;
        solver.push();
        solver.assert(&limit(4));
        solver.worn_out = true;
        assert_eq!(solver.check_assuming(&assumptions[..1], &budget), Answer::Unsat);
        solver.worn_out = true;
        solver.pop();
        assert_eq!(solver.check_assuming(&assumptions[..1], &budget), Answer::Sat);
        solver.worn_out = true;
        solver.pop();
        assert_eq!(solver.check_assuming(&assumptions, &budget), Answer::Sat);
        assert!(solver.int_value(&x).is_ok_and(|value| (7..=9).contains(&value)));
    }

    /// Whoever gets no answer marks the solver.
    #[test]
    fn a_solver_without_an_answer_is_worn_out() {
        let mut solver = Solver::new();
        let product = |left: &str, right: &str| Term::int_variable(left).times(&Term::int_variable(right));
        solver.assert(
            &product("x", "y").plus(&product("y", "z")).equals(&product("z", "x").plus(&Term::int(77))),
        );
        limit_steps(&solver.solver, 1);
        assert_eq!(solver.unwatched(&[], &Budget::steps_for(60.0)), None);
        assert!(solver.worn_out);
        assert_eq!(solver.check(&Budget::steps_for(60.0)), Answer::Sat);
        assert!(!solver.worn_out);
    }
}
