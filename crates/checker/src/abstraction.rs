//! Checks proofs by predicate abstraction ([`verdict::AbstractionProof`]).
//!
//! The checker derives the program as transitions again, and builds the Boolean program from what the proof
//! says of each step. Then:
//!
//! 1. Each predicate contains only variables in its scope: shared ones, and the own variables of the threads
//!    of one template.
//! 2. The claims about predicates at the start follow from what holds there.
//! 3. The claims about a step follow from the step; the solver derives them from its guard and the ranges of
//!    variables. A fact after the step is its formula with the new values substituted. Facts of another
//!    thread use separate copies of that thread's own variables, and nothing is assumed about the relation of
//!    the two threads.
//! 4. The Boolean program has no error, by a separate proof, which is checked like any other.
//!
//! So the Boolean program simulates the program. By induction over an execution, each bit is the truth value
//! of its predicate, for the thread that owns it. At the start this holds by 2. Each step of a thread is also
//! a step of the Boolean program: bits of predicates that contain no changed variable keep their values, as
//! these predicates keep their truth values; all other bits, including those of threads that the step starts
//! and of all other threads, get values that 3 allows. Control is the same. So the Boolean program reaches an
//! error if the program does.
//!
//! This rule shares with the search only the meaning of steps and the construction of the Boolean program.

use crate::ProofError;
use crate::ready::{self, claim};

use ir::TemplateId;
use smt::{Answer, NoAnswer, Sort, Term};
use transitions::{Scoped, ScopedStep, boolean_program};
use verdict::{
    AbstractionProof, Budget, Fact, Literal, Moment, Predicate, PredicateRelation, Property, StepAbstraction,
    Views,
};

/// Checks a proof about a lowered program.
pub(crate) fn check(
    program: &Views,
    property: &Property,
    proof: &AbstractionProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let Property::NoError(_) = property else { return Err(ProofError::Violated) };
    let prepared = ready::words(program, false, budget)?;
    let system = ready::system(prepared, false);
    let scoped = Scoped::new(&system, &|| false);
    let scoped = scoped.ok_or_else(|| ProofError::Claim("the program starts as one thread".to_owned()))?;
    let count = proof.predicates.len();
    for predicate in &proof.predicates {
        let exists = predicate.scope.is_none_or(|scope| (scope.0 as usize) < prepared.templates.len());
        claim(exists && *predicate.formula.sort() == Sort::Bool, "a predicate is a formula of a template")?;
        claim(scoped.is_scoped(predicate), "a predicate speaks of its scope")?;
    }
    claim(proof.initial.len() == count, "there is a first value for each predicate")?;
    claim(proof.steps.len() == scoped.steps.len(), "there is an abstraction of each step")?;
    check_start(&scoped, proof, budget)?;
    for (step, abstraction) in scoped.steps.iter().zip(&proof.steps) {
        Check { scoped: &scoped, predicates: &proof.predicates, step, budget }.check(abstraction)?;
    }
    let boolean = boolean_program(&scoped, &proof.predicates, &proof.initial, &proof.start, &proof.steps);
    crate::check_proof(&boolean.program.into(), property, &proof.inner, budget)
}

/// Checks that a formula follows from another.
fn follows(premise: &Term, formula: &Term, text: &str, budget: &Budget) -> Result<(), ProofError> {
    if formula.is_true() {
        return Ok(());
    }
    match smt::satisfiable(&premise.and(&formula.not()), budget) {
        Answer::Unsat => Ok(()),
        Answer::Unknown(NoAnswer::Exhausted(limit)) => Err(ProofError::TooExpensive(limit)),
        Answer::Sat | Answer::Unknown(NoAnswer::GaveUp(_)) => claim(false, text),
    }
}

fn check_start(scoped: &Scoped<'_>, proof: &AbstractionProof, budget: &Budget) -> Result<(), ProofError> {
    let shared = |number: usize| proof.predicates.get(number).is_some_and(|one| one.scope.is_none());
    let value = |number: usize, holds: bool| {
        let formula = &proof.predicates[number].formula;
        if holds { formula.clone() } else { formula.not() }
    };
    let mut claims = Vec::new();
    for (number, known) in proof.initial.iter().enumerate() {
        if let Some(holds) = known {
            claim(shared(number), "only predicates over shared variables have a first value")?;
            claims.push(value(number, *holds));
        }
    }
    for clause in &proof.start {
        let all = clause.iter().all(|one| one.fact.moment == Moment::Before && shared(one.fact.predicate));
        claim(all, "at the start there are predicates over shared variables only")?;
        claims.push(Term::any(clause.iter().map(|one| value(one.fact.predicate, one.holds))));
    }
    follows(&scoped.initial, &Term::all(claims), "what is said of the start holds there", budget)
}

/// The check of one step.
struct Check<'a, 'p> {
    scoped: &'a Scoped<'p>,
    predicates: &'a [Predicate],
    step: &'a ScopedStep,
    budget: &'a Budget,
}

impl Check<'_, '_> {
    fn check(&self, abstraction: &StepAbstraction) -> Result<(), ProofError> {
        self.relation(&abstraction.own, &|fact| self.is_own_new(fact), &|fact| self.is_old(fact))?;
        for (to, relation) in &abstraction.others {
            let is_theirs = |fact: Fact| self.predicates[fact.predicate].scope == Some(*to);
            let is_new = |fact: Fact| {
                fact.moment == Moment::OtherAfter
                    && is_theirs(fact)
                    && self.scoped.changes_other(self.step, &self.predicates[fact.predicate])
            };
            let is_old =
                |fact: Fact| self.is_old(fact) || (fact.moment == Moment::OtherBefore && is_theirs(fact));
            self.relation(relation, &is_new, &is_old)?;
        }
        Ok(())
    }

    /// A predicate before the step that the thread sees.
    fn is_old(&self, fact: Fact) -> bool {
        fact.moment == Moment::Before
            && self.scoped.sees(self.step.template, &self.predicates[fact.predicate])
    }

    /// A predicate of the thread, or of one that it starts, to which the step gives a value.
    fn is_own_new(&self, fact: Fact) -> bool {
        let predicate = &self.predicates[fact.predicate];
        match fact.moment {
            Moment::After => {
                self.scoped.sees(self.step.template, predicate) && self.scoped.changes(self.step, predicate)
            }
            Moment::Started(which) => {
                let template: Option<TemplateId> = self.step.starts.get(which).map(|start| start.template);
                template.is_some() && predicate.scope == template
            }
            Moment::Before | Moment::OtherBefore | Moment::OtherAfter => false,
        }
    }

    fn relation(
        &self,
        relation: &PredicateRelation,
        is_new: &dyn Fn(Fact) -> bool,
        is_old: &dyn Fn(Fact) -> bool,
    ) -> Result<(), ProofError> {
        let exists = |fact: Fact| fact.predicate < self.predicates.len();
        let mut claims = Vec::new();
        for (fact, cubes) in &relation.functions {
            claim(exists(*fact) && is_new(*fact), "a step decides only facts after it")?;
            let fit = cubes.iter().flatten().all(|one| exists(one.fact) && is_old(one.fact));
            claim(fit, "facts before a step decide")?;
            let cubes = cubes.iter().map(|cube| Term::all(cube.iter().map(|one| self.literal(*one))));
            claims.push(self.fact(*fact).equals(&Term::any(cubes)));
        }
        for clause in &relation.clauses {
            let fit = clause.iter().all(|one| exists(one.fact) && (is_new(one.fact) || is_old(one.fact)));
            claim(fit, "a clause is about a step")?;
            claims.push(Term::any(clause.iter().map(|one| self.literal(*one))));
        }
        let all = Term::all(claims);
        let premise = self.scoped.premise(self.step, [&all]);
        follows(&premise, &all, "what is said of a step follows from it", self.budget)
    }

    fn fact(&self, fact: Fact) -> Term {
        self.scoped.fact(self.step, self.predicates, fact)
    }

    fn literal(&self, literal: Literal) -> Term {
        let fact = self.fact(literal.fact);
        if literal.holds { fact } else { fact.not() }
    }
}
