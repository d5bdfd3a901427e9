//! Abstract threads ([`ir::specification`]) as formulas.
//!
//! Exact: each assertion, relation and start condition is the formula of its expressions. If a variable of a
//! specification is no variable of the system (its memory is a map, or is not tracked), there are no
//! formulas.

use crate::system::{Kind, System};
use ir::specification::{Specification, Thread, same_object};
use ir::{Expr, IntType, Program, TemplateId};
use smt::expressions::{Mode, Translated, Untranslatable};
use smt::{Instance, Sort, Symbol, Term, Variable};

/// The representation of a specification's variables.
#[derive(Clone, Debug)]
pub struct Meaning<'s> {
    specification: &'s Specification,
    mode: Mode,
    /// For each variable of the specification, the variable of the state and its type.
    variables: Vec<(Variable, IntType)>,
    /// The id of the thread.
    me: Option<(Term, IntType)>,
}

/// The variable for another one's value before a step.
pub fn before(variable: &Variable) -> Variable {
    variable.instance(Instance::Before)
}

/// The variable that says whether a state of an abstract thread is a candidate: whether the thread may be in
/// it.
pub fn candidate(state: usize, name: &str) -> Variable {
    Variable::new(Symbol::Candidate { state: state as u32, name: name.to_owned() }, Sort::Bool)
}

/// The variable that says how many threads are in a state of an abstract thread.
pub fn population(thread: usize, state: usize, name: &str) -> Variable {
    let (thread, state) = (thread as u32, state as u32);
    Variable::new(Symbol::Population { thread, state, name: name.to_owned() }, Sort::Int)
}

impl<'s> Meaning<'s> {
    /// Over the variables of a system, as a thread of a template sees them. The specification is about
    /// `original`; passes have transformed it into the program of the system.
    pub fn of_thread(
        specification: &'s Specification,
        original: &Program,
        system: &System<'_>,
        template: TemplateId,
    ) -> Result<Self, Untranslatable> {
        let mut variables = Vec::new();
        for variable in &specification.variables {
            let fresh = || {
                let symbol = Symbol::Unmentioned(variable.name.clone());
                (Variable::new(symbol, system.mode.sort(variable.ty)), variable.ty)
            };
            let Some(object) = same_object(&original.objects[variable.object], system.program) else {
                // The program does not mention it.
                variables.push(fresh());
                continue;
            };
            let kind = Kind::Cell(object, variable.offset);
            let is_it = |known: &&crate::StateVariable| known.kind == kind;
            let seen = system.shared.iter().chain(&system.own[template]).find(is_it);
            let by_others = system.own.iter().flatten().find(is_it);
            variables.push(match (seen.map(|known| (known.variable.clone(), known.ty)), by_others) {
                (Some((known, Some(ty))), _) if ty.bytes() == variable.ty.bytes() => (known, ty),
                // Only threads of another template reach it.
                (None, Some(_)) => fresh(),
                _ => {
                    return Err(Untranslatable(format!(
                        "`{}` is not followed as a variable of its own",
                        variable.name
                    )));
                }
            });
        }
        let me = system.own[template].iter().find(|own| own.kind == Kind::Myself);
        let me = me.and_then(|own| Some((own.variable.term(), own.ty?)));
        Ok(Self { specification, mode: system.mode, variables, me })
    }

    /// Over variables with the names of the specification's.
    pub fn plain(specification: &'s Specification) -> Self {
        let mode = Mode::Integers;
        let plain = |variable: &ir::specification::Variable| {
            (Variable::new(variable.name.as_str(), mode.sort(variable.ty)), variable.ty)
        };
        let variables = specification.variables.iter().map(plain).collect();
        Self { specification, mode, variables, me: None }
    }

    /// The variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.variables.iter().map(|(variable, _)| variable)
    }
    /// What always holds of each variable.
    pub fn ranges(&self) -> impl Iterator<Item = (&Variable, Term)> {
        self.variables.iter().map(|(variable, ty)| (variable, self.mode.range(&variable.term(), *ty)))
    }

    /// The formula of conditions. Old values are those of [`before`].
    pub fn condition(&self, conditions: &[Expr]) -> Result<Term, Untranslatable> {
        let mut all = Vec::new();
        for condition in conditions {
            self.add_condition(condition, &mut all)?;
        }
        Ok(Term::all(all))
    }

    /// Adds the formulas of a condition; splits conjunctions, so that formulas stay simple.
    fn add_condition(&self, condition: &Expr, all: &mut Vec<Term>) -> Result<(), Untranslatable> {
        match condition {
            Expr::IfThenElse(three) if three.2 == Expr::bool(false) => {
                self.add_condition(&three.0, all)?;
                self.add_condition(&three.1, all)
            }
            other => {
                all.push(self.mode.condition(other, &mut |leaf| self.leaf(leaf, false))?);
                Ok(())
            }
        }
    }

    fn leaf(&self, expr: &Expr, old: bool) -> Result<Translated, Untranslatable> {
        let strange = || Untranslatable("an expression that no specification has".to_owned());
        match expr {
            Expr::Old(operand) => self.mode.translate(operand, &mut |leaf| self.leaf(leaf, true)),
            Expr::Load(place) => {
                let (object, offset) = place.as_cell().ok_or_else(strange)?;
                let number = self.specification.variable_at(object, offset).ok_or_else(strange)?;
                let (variable, ty) = &self.variables[number];
                let term = if old { before(variable).term() } else { variable.term() };
                let value = self.mode.cast(place.ty, &Translated::new(term, *ty));
                Ok(Translated::new(value, place.ty))
            }
            Expr::Myself => {
                let (me, ty) = self.me.clone().ok_or_else(strange)?;
                Ok(Translated::new(me, ty))
            }
            Expr::Const(..)
            | Expr::Local(_)
            | Expr::Address(..)
            | Expr::Procedure(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Cast(..)
            | Expr::IfThenElse(_)
            | Expr::Overflows(..)
            | Expr::Valid(..) => Err(strange()),
        }
    }

    /// The condition that a transition leads from the old values to the new ones.
    pub fn transition(&self, transition: &ir::specification::Transition) -> Result<Term, Untranslatable> {
        let frame = self.frame(&transition.changes);
        Ok(frame.and(&self.condition(&transition.condition)?))
    }

    /// The condition that all but some variables are unchanged.
    pub fn frame(&self, changes: &[usize]) -> Term {
        let stays = self.variables.iter().enumerate().filter(|(number, _)| !changes.contains(number));
        Term::all(stays.map(|(_, (variable, _))| variable.term().equals(&before(variable).term())))
    }

    /// The condition under which a step, from the old values to the new ones, may lead from a state of a
    /// thread to another: by a transition, or by idling.
    pub fn relation(&self, thread: &Thread, source: usize, target: usize) -> Result<Term, Untranslatable> {
        let mut cases = Vec::new();
        if source == target {
            cases.push(self.frame(&[]));
        }
        for transition in thread.transitions.iter().filter(|one| (one.source, one.target) == (source, target))
        {
            cases.push(self.transition(transition)?);
        }
        Ok(Term::any(cases))
    }
}
