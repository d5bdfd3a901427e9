//! What some formulas say of another: by trying their values one after the other.
//!
//! The values form a tree, which is cut where the other formula is decided; the assumptions that the solver needs for that become a *cube* that stands for many branches. A bound on the number
//! of questions ends the search early: what is not decided by then counts as open, which is always sound.

use smt::{Answer, NoAnswer, Solver, Term};
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

/// What the others say of a formula, where the solver's assertions hold. An answer that the solver does not give is taken to be that all is possible.
pub fn decide(
    solver: &mut Solver,
    others: &[Term],
    formula: &Term,
    budget: &Budget,
) -> Result<Decided, Exhausted> {
    let found = Decided { always: true, ..Decided::default() };
    let mut search = Search { solver, others, formula, budget, found, models: Vec::new(), questions: 0 };
    search.explore(&mut Vec::new())?;
    Ok(search.found)
}

/// Whether a cube says at least as much as another.
fn within(cube: &Cube, wider: &Cube) -> bool {
    wider.iter().all(|literal| cube.contains(literal))
}

impl Search<'_> {
    fn explore(&mut self, cube: &mut Cube) -> Result<(), Exhausted> {
        if self.found.holds.iter().chain(&self.found.fails).any(|known| within(cube, known)) {
            return Ok(());
        }
        for value in [true, false] {
            if let Some(core) = self.impossible(cube, value)? {
                let decided = if value { &mut self.found.fails } else { &mut self.found.holds };
                decided.retain(|known| !within(known, &core));
                decided.push(core);
                return Ok(());
            }
        }
        if cube.len() == self.others.len() || self.questions > MOST_QUESTIONS {
            self.found.always = false;
            return Ok(());
        }
        for value in [true, false] {
            cube.push((cube.len(), value));
            self.explore(cube)?;
            cube.pop();
        }
        Ok(())
    }

    /// Literals of the cube under which the formula cannot have a value; nothing if it can.
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
                let mut values = Vec::with_capacity(self.others.len());
                for other in self.others {
                    match self.solver.bool_value(other) {
                        Ok(value) => values.push(value),
                        Err(_) => return Ok(None),
                    }
                }
                self.models.push((values, value));
                Ok(None)
            }
            Answer::Unknown(NoAnswer::Exhausted(limit)) => Err(limit),
            Answer::Unknown(NoAnswer::GaveUp(_)) => Ok(None),
        }
    }
}

/// That a formula has a value.
pub fn literal(formula: &Term, value: bool) -> Term {
    if value { formula.clone() } else { formula.not() }
}
