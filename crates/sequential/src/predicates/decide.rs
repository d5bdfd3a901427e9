//! What some formulas say of another: which of their values decide it.
//!
//! First each of the others by itself. Then the solver enumerates possible values, one after the other,
//! outside of those that are known: if they determine the formula, those that the solver needs become a
//! *cube*, which stands for many values; if they do not, the formula stays open. Limits on open values and on
//! queries end the search early: what is undecided by then counts as open, which is always sound.

use smt::{Answer, NoAnswer, Solver, Symbol, Term};
use verdict::{Budget, Exhausted};

/// Literals of formulas, by their position.
pub type Cube = Vec<(usize, bool)>;

/// What is known of a formula.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Decided {
    /// It holds wherever all literals of one of these do.
    pub holds: Vec<Cube>,
    /// It fails wherever all literals of one of these do.
    pub fails: Vec<Cube>,
    /// Whether that is so for all values of the others that are possible.
    pub always: bool,
}

/// No more questions than this are asked for one formula.
const MOST_QUESTIONS: usize = 160;
/// After so many values that do not decide it, a formula counts as open.
const MOST_OPEN: usize = 6;

struct Search<'a> {
    solver: &'a mut Solver,
    others: &'a [Term],
    formula: &'a Term,
    budget: &'a Budget,
    found: Decided,
    /// Values that are possible: of the others, and of the formula.
    models: Vec<(Vec<bool>, bool)>,
    questions: usize,
}

/// Whether the others determine a formula, under the solver's assertions. Without an answer of the solver,
/// everything counts as possible.
pub fn decide(
    solver: &mut Solver,
    others: &[Term],
    formula: &Term,
    budget: &Budget,
) -> Result<Decided, Exhausted> {
    let found = Decided { always: true, ..Decided::default() };
    let mut search = Search { solver, others, formula, budget, found, models: Vec::new(), questions: 0 };
    search.solver.push();
    let ended = search.run();
    search.solver.pop();
    ended.map(|()| search.found)
}

impl Search<'_> {
    fn run(&mut self) -> Result<(), Exhausted> {
        if self.learn(&vec![])? {
            return Ok(());
        }
        for position in 0..self.others.len() {
            for value in [true, false] {
                self.learn(&vec![(position, value)])?;
            }
        }
        let mut open = 0;
        while self.questions <= MOST_QUESTIONS && open < MOST_OPEN {
            self.questions += 1;
            match self.solver.check_assuming(&[outside()], self.budget) {
                Answer::Unsat => return Ok(()),
                Answer::Unknown(NoAnswer::Exhausted(limit)) => return Err(limit),
                Answer::Unknown(NoAnswer::GaveUp(_)) => break,
                Answer::Sat => {}
            }
            let Some(values) = self.values() else { break };
            let cube: Cube = values.into_iter().enumerate().collect();
            if !self.learn(&cube)? {
                self.found.always = false;
                open += 1;
                self.exclude(&cube);
            }
        }
        self.found.always = false;
        Ok(())
    }

    /// The values of the others in the solver's model.
    fn values(&mut self) -> Option<Vec<bool>> {
        let mut values = Vec::with_capacity(self.others.len());
        for other in self.others {
            values.push(self.solver.bool_value(other).ok()?);
        }
        Some(values)
    }

    /// Whether a cube decides the formula. If so, what it takes of the cube is noted, and not looked at
    /// again.
    fn learn(&mut self, cube: &Cube) -> Result<bool, Exhausted> {
        for value in [true, false] {
            let Some(mut core) = self.impossible(cube, value)? else { continue };
            // Each that can go goes.
            let mut at = 0;
            while at < core.len() {
                let mut fewer = core.clone();
                fewer.remove(at);
                match self.impossible(&fewer, value)? {
                    Some(smaller) => core = smaller,
                    None => at += 1,
                }
            }
            self.exclude(&core);
            let decided = if value { &mut self.found.fails } else { &mut self.found.holds };
            decided.push(core);
            return Ok(true);
        }
        Ok(false)
    }

    /// Keeps a cube out of what is asked for next. Whether something is impossible must not depend on it.
    fn exclude(&mut self, cube: &Cube) {
        let not_all = cube.iter().map(|(position, value)| literal(&self.others[*position], !value));
        self.solver.assert(&outside().implies(&Term::any(not_all)));
    }

    /// Literals of the cube under which the formula cannot have a value; `None` when it can.
    fn impossible(&mut self, cube: &Cube, value: bool) -> Result<Option<Cube>, Exhausted> {
        let fits = |(others, formula): &(Vec<bool>, bool)| {
            *formula == value && cube.iter().all(|(position, value)| others[*position] == *value)
        };
        if self.models.iter().any(fits) {
            return Ok(None);
        }
        self.questions += 1;
        let mut assumptions: Vec<Term> =
            cube.iter().map(|(position, value)| literal(&self.others[*position], *value)).collect();
        assumptions.push(literal(self.formula, value));
        match self.solver.check_assuming(&assumptions, self.budget) {
            Answer::Unsat => {
                let core = self.solver.core().iter().filter_map(|position| cube.get(*position).copied());
                Ok(Some(core.collect()))
            }
            Answer::Sat => {
                if let Some(values) = self.values() {
                    self.models.push((values, value));
                }
                Ok(None)
            }
            Answer::Unknown(NoAnswer::Exhausted(limit)) => Err(limit),
            Answer::Unknown(NoAnswer::GaveUp(_)) => Ok(None),
        }
    }
}

/// That nothing known is looked at again.
fn outside() -> Term {
    Term::bool_variable(Symbol::Outside)
}

/// That a formula has a value.
pub fn literal(formula: &Term, value: bool) -> Term {
    if value { formula.clone() } else { formula.not() }
}
