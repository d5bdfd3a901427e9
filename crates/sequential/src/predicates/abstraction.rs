//! The effects of steps on predicates (paper 3, definition 2 and section 3.2; Ball, Podelski, Rajamani:
//! Boolean and Cartesian abstraction, TACAS 2001).
//!
//! Cartesian first: each new value by itself, as far as the related old ones determine it
//! ([`mod@crate::predicates::decide`]). New values that stay open are related pairwise if they have common
//! variables. Spurious steps of counterexamples that remain become clauses ([`Abstractor::strengthen`]):
//! the paper's `constrain`.
//!
//! Predicates of other threads. A predicate over shared and own variables changes when another thread writes
//! the shared ones. Its new value is determined by its old value, the other predicates of its thread, and the
//! predicates of the thread that takes the step, with separate copies of the two threads' own variables.
//! Nothing is assumed about the relation of the two threads, so the result holds for any two threads; an
//! undetermined value may be anything.
//!
//! Over-approximates: each relation follows from the step by the solver's word.

use crate::predicates::decide::{Cube, Decided, decide, literal};
use indexmap::IndexMap;
use ir::TemplateId;
use rustc_hash::FxHashMap;
use smt::visit::conjuncts;
use smt::{Answer, NoAnswer, Solver, Term, Variable};
use transitions::{Scoped, ScopedStep};
use verdict::{Budget, Exhausted, Fact, Literal, Moment, Predicate, PredicateRelation, StepAbstraction};

/// So many open new values of a step are related pairwise.
const MOST_PAIRED: usize = 20;

/// Lists of literals, of each of which one holds.
pub type Clauses = Vec<Vec<Literal>>;

/// Makes abstractions of the steps of a program, and remembers what it found.
pub struct Abstractor<'a, 'p> {
    scoped: &'a Scoped<'p>,
    /// What facts say of a formula, by step: facts are never renumbered, so this stays true when predicates
    /// are added.
    known: FxHashMap<(usize, Vec<Fact>, Subject), Decided>,
    /// Clauses that counterexamples have shown, by step: of own facts, and of those of other threads.
    learnt: IndexMap<(usize, Option<TemplateId>), Clauses>,
}

/// What is decided.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Subject {
    /// A new fact.
    Fact(Fact),
    /// Whether a part of the guard holds.
    Guard(Term),
}

/// A step, its facts as formulas, and a solver that knows when it is taken.
struct Question<'q, 's, 'p> {
    scoped: &'s Scoped<'p>,
    number: usize,
    step: &'q ScopedStep,
    predicates: &'q [Predicate],
    solver: Solver,
    taken: bool,
}

impl<'q, 's, 'p> Question<'q, 's, 'p> {
    fn new(scoped: &'s Scoped<'p>, number: usize, step: &'q ScopedStep, predicates: &'q [Predicate]) -> Self {
        Self { scoped, number, step, predicates, solver: Solver::new(), taken: false }
    }
    fn term(&self, fact: Fact) -> Term {
        self.scoped.fact(self.step, self.predicates, fact)
    }
    /// Asserts what always holds of the variables of some terms.
    fn invariant(&mut self, terms: &[Term]) {
        let invariant = self.scoped.invariant(self.step, terms);
        if !invariant.is_true() {
            self.solver.assert(&invariant);
        }
    }
    /// Asserts that the step is taken.
    fn take(&mut self) {
        if !std::mem::replace(&mut self.taken, true) {
            self.solver.assert(&self.step.guard);
            self.invariant(std::slice::from_ref(&self.step.guard));
        }
    }
}

impl<'a, 'p> Abstractor<'a, 'p> {
    /// One for a program.
    pub fn new(scoped: &'a Scoped<'p>) -> Self {
        Self { scoped, known: FxHashMap::default(), learnt: IndexMap::new() }
    }

    /// What is known of predicates over shared variables at the start: of each, and clauses about several.
    pub fn initial(
        &mut self,
        predicates: &[Predicate],
        budget: &Budget,
    ) -> Result<(Vec<Option<bool>>, Clauses), Exhausted> {
        let mut solver = Solver::new();
        solver.assert(&self.scoped.initial);
        let mut values = Vec::new();
        let mut open = Vec::new();
        for (number, predicate) in predicates.iter().enumerate() {
            let mut value = None;
            if predicate.scope.is_none() {
                for holds in [true, false] {
                    if is_impossible(&mut solver, &[literal(&predicate.formula, !holds)], budget)? {
                        value = Some(holds);
                    }
                }
                if value.is_none() {
                    open.push(Fact { predicate: number, moment: Moment::Before });
                }
            }
            values.push(value);
        }
        let terms: Vec<Term> = open.iter().map(|fact| predicates[fact.predicate].formula.clone()).collect();
        Ok((values, pairs(&mut solver, &open, &terms, budget)?))
    }

    /// What a step does.
    pub fn step(
        &mut self,
        number: usize,
        predicates: &[Predicate],
        budget: &Budget,
    ) -> Result<StepAbstraction, Exhausted> {
        let scoped = self.scoped;
        let step = &scoped.steps[number];
        let own = self.own(number, step, predicates, budget)?;
        let mut others = Vec::new();
        for template in scoped.program.templates.ids() {
            let changed: Vec<Fact> = (0..predicates.len())
                .filter(|one| {
                    predicates[*one].scope == Some(template) && scoped.changes_other(step, &predicates[*one])
                })
                .map(|predicate| Fact { predicate, moment: Moment::OtherAfter })
                .collect();
            if !changed.is_empty() {
                let relation = self.other(number, step, template, &changed, predicates, budget)?;
                others.push((template, relation));
            }
        }
        Ok(StepAbstraction { own, others })
    }

    fn own(
        &mut self,
        number: usize,
        step: &ScopedStep,
        predicates: &[Predicate],
        budget: &Budget,
    ) -> Result<PredicateRelation, Exhausted> {
        let scoped = self.scoped;
        let mut old = Vec::new();
        let mut new = Vec::new();
        for (predicate, what) in predicates.iter().enumerate() {
            if scoped.sees(step.template, what) {
                old.push(Fact { predicate, moment: Moment::Before });
                if scoped.changes(step, what) {
                    new.push(Fact { predicate, moment: Moment::After });
                }
            }
            for (which, start) in step.starts.iter().enumerate() {
                if what.scope == Some(start.template) {
                    new.push(Fact { predicate, moment: Moment::Started(which) });
                }
            }
        }
        let mut relation = PredicateRelation::default();
        self.guards(number, step, &old, predicates, &mut relation, budget)?;
        let question = Question::new(scoped, number, step, predicates);
        self.relate(question, &old, &new, &mut relation, budget)?;
        if let Some(learnt) = self.learnt.get(&(number, None)) {
            relation.clauses.extend(learnt.iter().cloned());
        }
        Ok(relation)
    }

    fn other(
        &mut self,
        number: usize,
        step: &ScopedStep,
        template: TemplateId,
        changed: &[Fact],
        predicates: &[Predicate],
        budget: &Budget,
    ) -> Result<PredicateRelation, Exhausted> {
        let scoped = self.scoped;
        let mut old = Vec::new();
        for (predicate, what) in predicates.iter().enumerate() {
            if what.scope == Some(template) {
                old.push(Fact { predicate, moment: Moment::OtherBefore });
            }
            if scoped.sees(step.template, what) {
                old.push(Fact { predicate, moment: Moment::Before });
            }
        }
        let mut relation = PredicateRelation::default();
        let question = Question::new(scoped, number, step, predicates);
        self.relate(question, &old, changed, &mut relation, budget)?;
        if let Some(learnt) = self.learnt.get(&(number, Some(template))) {
            relation.clauses.extend(learnt.iter().cloned());
        }
        Ok(relation)
    }

    /// When a step cannot be taken: each part of its guard by itself, those with inputs together.
    fn guards(
        &mut self,
        number: usize,
        step: &ScopedStep,
        old: &[Fact],
        predicates: &[Predicate],
        relation: &mut PredicateRelation,
        budget: &Budget,
    ) -> Result<(), Exhausted> {
        let mut parts: Vec<Term> = Vec::new();
        let mut together = Vec::new();
        for part in conjuncts(&step.guard) {
            let free = part.free_variables();
            let known = |variable: &Variable| {
                self.scoped.shared.contains_key(variable)
                    || self.scoped.own[step.template].contains_key(variable)
            };
            if free.iter().all(known) { parts.push(part) } else { together.push(part) }
        }
        if !together.is_empty() {
            parts.push(Term::all(together));
        }
        for part in parts.iter().filter(|part| !part.is_true()) {
            let asked = relevant(self.scoped, step, predicates, old, part, &Term::bool(true));
            let key = (number, asked.clone(), Subject::Guard(part.clone()));
            if !self.known.contains_key(&key) {
                let mut question = Question::new(self.scoped, number, step, predicates);
                let terms: Vec<Term> = asked.iter().map(|fact| question.term(*fact)).collect();
                question.invariant(&terms);
                question.invariant(std::slice::from_ref(part));
                let found = decide(&mut question.solver, &terms, part, budget)?;
                self.known.insert(key.clone(), found);
            }
            for cube in &self.known[&key].fails {
                relation.clauses.push(negated(&asked, cube, None));
            }
        }
        Ok(())
    }

    /// Decides new facts by old ones.
    fn relate(
        &mut self,
        mut question: Question<'_, 'a, 'p>,
        old: &[Fact],
        new: &[Fact],
        relation: &mut PredicateRelation,
        budget: &Budget,
    ) -> Result<(), Exhausted> {
        let mut open = Vec::new();
        for fact in new {
            let formula = question.term(*fact);
            let guard = &question.step.guard;
            let asked = relevant(self.scoped, question.step, question.predicates, old, &formula, guard);
            let key = (question.number, asked.clone(), Subject::Fact(*fact));
            if !self.known.contains_key(&key) {
                question.take();
                let terms: Vec<Term> = asked.iter().map(|fact| question.term(*fact)).collect();
                question.invariant(&terms);
                question.invariant(std::slice::from_ref(&formula));
                let found = decide(&mut question.solver, &terms, &formula, budget)?;
                self.known.insert(key.clone(), found);
            }
            let found = &self.known[&key];
            if found.always {
                let cubes = found.holds.iter().map(|cube| literals(&asked, cube)).collect();
                relation.functions.push((*fact, cubes));
            } else {
                open.push(*fact);
                for (cubes, holds) in [(&found.holds, true), (&found.fails, false)] {
                    let clauses =
                        cubes.iter().map(|cube| negated(&asked, cube, Some(Literal { fact: *fact, holds })));
                    relation.clauses.extend(clauses);
                }
            }
        }
        if open.len() > 1 {
            question.take();
            let terms: Vec<Term> = open.iter().map(|fact| question.term(*fact)).collect();
            question.invariant(&terms);
            relation.clauses.extend(pairs(&mut question.solver, &open, &terms, budget)?);
        }
        Ok(())
    }

    /// Learns from facts that were seen together in an abstract step of a thread, for another thread if
    /// `other` names its template: if the step cannot do that, some of them become a clause. Says whether it
    /// did.
    pub fn strengthen(
        &mut self,
        number: usize,
        other: Option<TemplateId>,
        seen: &[Literal],
        predicates: &[Predicate],
        budget: &Budget,
    ) -> Result<bool, Exhausted> {
        let step = &self.scoped.steps[number];
        let facts: Vec<Term> = seen
            .iter()
            .map(|one| literal(&self.scoped.fact(step, predicates, one.fact), one.holds))
            .collect();
        let mut solver = Solver::new();
        solver.assert(&self.scoped.premise(step, &facts));
        match solver.check_assuming(&facts, budget) {
            Answer::Unsat => {}
            Answer::Sat | Answer::Unknown(NoAnswer::GaveUp(_)) => return Ok(false),
            Answer::Unknown(NoAnswer::Exhausted(limit)) => return Err(limit),
        }
        let mut core = solver.core().to_vec();
        // Each that can go goes.
        let mut at = 0;
        while at < core.len() {
            let fewer: Vec<usize> =
                core.iter().enumerate().filter(|(p, _)| *p != at).map(|(_, c)| *c).collect();
            let terms: Vec<Term> = fewer.iter().map(|position| facts[*position].clone()).collect();
            if is_impossible(&mut solver, &terms, budget)? {
                core = fewer;
            } else {
                at += 1;
            }
        }
        let clause: Vec<Literal> = core
            .iter()
            .map(|position| Literal { holds: !seen[*position].holds, ..seen[*position] })
            .collect();
        let known = self.learnt.entry((number, other)).or_default();
        if known.contains(&clause) {
            return Ok(false);
        }
        known.push(clause);
        Ok(true)
    }
}

/// No more old facts than this are asked about a formula.
const MOST_ASKED: usize = 12;

/// The old facts that have to do with a formula: those that share a variable with it, or with a part of a
/// condition that does. Those with the fewest other variables come first.
fn relevant(
    scoped: &Scoped<'_>,
    step: &ScopedStep,
    predicates: &[Predicate],
    old: &[Fact],
    formula: &Term,
    condition: &Term,
) -> Vec<Fact> {
    let mut wanted = formula.free_variables();
    for part in conjuncts(condition) {
        let free = part.free_variables();
        if free.iter().any(|variable| formula.free_variables().contains(variable)) {
            wanted.extend(free);
        }
    }
    let mut found: Vec<(usize, Fact)> = Vec::new();
    for fact in old {
        let term = scoped.fact(step, predicates, *fact);
        let free = term.free_variables();
        let common = free.iter().filter(|variable| wanted.contains(*variable)).count();
        if common > 0 {
            let same = term == *formula || term == formula.not();
            found.push((if same { 0 } else { 1 + free.len() - common }, *fact));
        }
    }
    found.sort();
    found.into_iter().map(|(_, fact)| fact).take(MOST_ASKED).collect()
}

fn is_impossible(solver: &mut Solver, terms: &[Term], budget: &Budget) -> Result<bool, Exhausted> {
    match solver.check_assuming(terms, budget) {
        Answer::Unsat => Ok(true),
        Answer::Sat | Answer::Unknown(NoAnswer::GaveUp(_)) => Ok(false),
        Answer::Unknown(NoAnswer::Exhausted(limit)) => Err(limit),
    }
}

/// Clauses of two open facts each, that have variables in common.
fn pairs(solver: &mut Solver, facts: &[Fact], terms: &[Term], budget: &Budget) -> Result<Clauses, Exhausted> {
    let mut clauses = Vec::new();
    for first in 0..facts.len().min(MOST_PAIRED) {
        for second in 0..first {
            let of_second = terms[second].free_variables();
            if terms[first].free_variables().is_disjoint(&of_second) {
                continue;
            }
            for (one, other) in [(true, true), (true, false), (false, true), (false, false)] {
                let both = [literal(&terms[first], one), literal(&terms[second], other)];
                if is_impossible(solver, &both, budget)? {
                    clauses.push(vec![
                        Literal { fact: facts[first], holds: !one },
                        Literal { fact: facts[second], holds: !other },
                    ]);
                }
            }
        }
    }
    Ok(clauses)
}

fn literals(facts: &[Fact], cube: &Cube) -> Vec<Literal> {
    cube.iter().map(|(position, holds)| Literal { fact: facts[*position], holds: *holds }).collect()
}

/// That not all of a cube holds, or something else does.
fn negated(facts: &[Fact], cube: &Cube, or: Option<Literal>) -> Vec<Literal> {
    let cube = cube.iter().map(|(position, holds)| Literal { fact: facts[*position], holds: !holds });
    cube.chain(or).collect()
}
