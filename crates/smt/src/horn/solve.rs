//! Solves systems of Horn clauses with Spacer (Komuravelli, Gurfinkel, Chaki: SMT-based model checking for
//! recursive programs, CAV 2014), which is part of the solver.
//!
//! Spacer's answer is not trusted: a solution is checked clause by clause, a refutation is rebuilt and
//! evaluated.

use super::check::{Failure, check_derivation, check_interpretation};
use super::derivation::{self, Derivation};
use super::reach::Relevance;
use super::{Application, HornSystem, Interpretation, RelationId};
use crate::decode::decode;
use crate::encode::{Encoder, Words, encode_sort};
use crate::limits::{NoAnswer, apart, within};
use crate::term::{Term, Variable};
use ir::IdVec;
use std::collections::BTreeMap;
use verdict::Budget;
use z3::ast::{Ast, Bool, Dynamic, forall_const};
use z3::{Fixedpoint, FuncDecl, Params, SatResult};

/// What was found out about a system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Solution {
    /// These formulas make all clauses true. [`check_interpretation`] agrees.
    Solved(Interpretation),
    /// No formulas do: `false` is derived. [`check_derivation`] agrees.
    Refuted(Derivation),
    /// Not known.
    Unknown(NoAnswer),
}

/// The relation that stands for `false`.
const GOAL: &str = "goal";

/// Finds formulas that make all clauses true, or a derivation of `false`.
pub fn solve(system: &HornSystem, budget: &Budget) -> Solution {
    apart(|| search(system, budget)).unwrap_or_else(Solution::Unknown)
}

/// What Spacer would do to relations and clauses before it starts.
const TRANSFORMATIONS: [&str; 6] = [
    "xform.slice",
    "xform.inline_linear",
    "xform.inline_eager",
    "xform.coi",
    "xform.compress_unbound",
    "xform.subsumption_checker",
];

/// How Spacer is set up. Its transformations are off: they would change the clauses, and with them what the
/// answers are about.
fn parameters() -> Params {
    let mut parameters = Params::new();
    parameters.set_symbol("engine", "spacer");
    for transformation in TRANSFORMATIONS {
        parameters.set_bool(transformation, false);
    }
    parameters
}

fn search(system: &HornSystem, budget: &Budget) -> Result<Solution, NoAnswer> {
    let relevance = Relevance::of(system, budget)?;
    let engine = Fixedpoint::new();
    engine.set_params(&parameters());
    let goal = FuncDecl::new(GOAL, &[], &z3::Sort::bool());
    engine.register_relation(&goal);
    let mut functions: IdVec<RelationId, FuncDecl> = IdVec::new();
    let mut names = BTreeMap::new();
    for (id, relation) in system.relations.enumerate() {
        let sorts: Vec<z3::Sort> =
            relation.parameters.iter().map(|parameter| encode_sort(&parameter.sort)).collect();
        let name = format!("relation {}", id.0);
        let function = FuncDecl::new(name.as_str(), &sorts.iter().collect::<Vec<_>>(), &z3::Sort::bool());
        names.insert(name, id);
        if relevance.default(id).is_none() {
            engine.register_relation(&function);
        }
        functions.push(function);
    }
    let mut encoder = Encoder::default();
    let mut can_fail = false;
    for (id, clause) in system.clauses.enumerate() {
        if !relevance.matters(system, id) {
            continue;
        }
        can_fail |= clause.head.is_none();
        let mut body: Vec<Bool> =
            clause.body.iter().map(|application| apply(&mut encoder, &functions, application)).collect();
        body.push(encoder.formula(&clause.constraint));
        let head = match &clause.head {
            Some(head) => apply(&mut encoder, &functions, head),
            None => goal.apply(&[]).as_bool().expect("a relation is Boolean"),
        };
        let variables: Vec<Dynamic> =
            clause.variables().iter().map(|variable| encoder.term(&variable.term())).collect();
        let bound: Vec<&dyn Ast> = variables.iter().map(|variable| variable as &dyn Ast).collect();
        let rule = forall_const(&bound, &[], &Bool::and(&body).implies(&head));
        engine.add_rule(&rule, Some(&format!("clause {}", id.0)));
    }
    if !can_fail {
        // No clause with the head `false` has a body that can hold: all that is derivable may be true.
        let formulas =
            system.relations.enumerate().map(|(id, _)| Term::bool(relevance.derivable[id])).collect();
        return Ok(Solution::Solved(Interpretation { formulas }));
    }
    // Where no relation has to say anything, no search is needed: each clause is a question by itself.
    let formulas = system.relations.enumerate().map(|(id, _)| Term::bool(relevance.derivable[id])).collect();
    let weakest = Interpretation { formulas };
    if check_interpretation(system, &weakest, &budget.part(4)).is_ok() {
        return Ok(Solution::Solved(weakest));
    }
    let query = goal.apply(&[]).as_bool().expect("a relation is Boolean");
    match within(budget, || engine.query(&query))? {
        SatResult::Sat => refuted(system, &engine, &names, budget),
        SatResult::Unsat => solved(system, &engine, &functions, (&relevance, encoder.words()), budget),
        SatResult::Unknown => Err(NoAnswer::GaveUp(engine.get_reason_unknown())),
    }
}

fn apply(encoder: &mut Encoder, functions: &IdVec<RelationId, FuncDecl>, application: &Application) -> Bool {
    let arguments: Vec<Dynamic> = application.arguments.iter().map(|term| encoder.term(term)).collect();
    let arguments: Vec<&dyn Ast> = arguments.iter().map(|argument| argument as &dyn Ast).collect();
    functions[application.relation].apply(&arguments).as_bool().expect("a relation is Boolean")
}

fn refuted(
    system: &HornSystem,
    engine: &Fixedpoint,
    names: &BTreeMap<String, RelationId>,
    budget: &Budget,
) -> Result<Solution, NoAnswer> {
    let proof = within(budget, || engine.get_answer())?;
    let proof = proof.ok_or_else(|| NoAnswer::GaveUp("there is no refutation".to_owned()))?;
    let derivation = derivation::read(system, &proof.into(), names, GOAL, budget)?;
    match check_derivation(system, &derivation) {
        Ok(()) => Ok(Solution::Refuted(derivation)),
        Err(wrong) => Err(NoAnswer::GaveUp(format!("the refutation is wrong: {wrong}"))),
    }
}

/// Reads off the solution. The lemmas that Spacer knows to hold for ever come first; where they do not
/// suffice, those of the highest levels are added.
fn solved(
    system: &HornSystem,
    engine: &Fixedpoint,
    functions: &IdVec<RelationId, FuncDecl>,
    (relevance, words): (&Relevance, &Words),
    budget: &Budget,
) -> Result<Solution, NoAnswer> {
    let levels = functions
        .enumerate()
        .filter(|(id, _)| relevance.default(*id).is_none())
        .map(|(_, function)| engine.get_num_levels(function))
        .max()
        .unwrap_or(0);
    let mut formulas: IdVec<RelationId, Term> = system
        .relations
        .enumerate()
        .map(|(id, _)| Term::bool(relevance.default(id).unwrap_or(true)))
        .collect();
    let mut last = NoAnswer::GaveUp("there is no solution".to_owned());
    for level in std::iter::once(-1).chain((0..levels as i32).rev()) {
        let mut changed = level == -1;
        for (id, function) in functions.enumerate() {
            if relevance.default(id).is_none() {
                let parameters: Vec<Term> =
                    system.relations[id].parameters.iter().map(Variable::term).collect();
                let Some(lemmas) = engine.get_cover_delta(level, function) else { continue };
                let lemmas = decode(&lemmas.into(), &parameters, words)
                    .map_err(|foreign| NoAnswer::GaveUp(format!("not understood: {}", foreign.0)))?;
                changed |= !lemmas.is_true();
                formulas[id] = formulas[id].and(&lemmas);
            }
        }
        if !changed {
            continue;
        }
        let interpretation = Interpretation { formulas: formulas.clone() };
        match check_interpretation(system, &interpretation, budget) {
            Ok(()) => return Ok(Solution::Solved(interpretation)),
            Err(Failure::Unknown(_, reason)) => last = reason,
            Err(Failure::Fails(_)) => {
                last = NoAnswer::GaveUp("the solution was not confirmed".to_owned());
            }
        }
        if let NoAnswer::Exhausted(_) = last {
            break;
        }
    }
    Err(last)
}
