//! MainThreadCheck and AnswerEnvQuery (paper 5, algorithms 4.1 and 7.1), which are the same loop.
//!
//! The model checker looks for a violation. If there is one it is followed back. Over a step of the thread, what leads to the violation is its precondition. Over a move of the environment: if the path before it
//! leads to such a state already, no move is needed; otherwise the environment is asked. The whole path is followed back in this way, without asking the model checker again (section 8.1, reused counterexamples).
//!
//! Answers are executions, not formulas: from the steps of one, what leads to any state along it is computed when it is needed (section 8.2 needs that for query invariants).
//! Claims stay for all later questions (section 8.3, preserved environment information). So does what the model checker learnt at a position: paths and invariants of earlier programs are tried first
//! ([`sequential::Memory`]).

use crate::after::{after, conjuncts};
use crate::before::{Taken, before_all, before_step};
use crate::build::{Bad, Built, Kind, Level, Promise, Question};
use crate::generalise::{generalised, tight_bound};
use crate::inductive::{guesses, inductive};
use crate::known::Known;
use crate::lean::{lean, normal};
use crate::model::Model;
use indexmap::{IndexMap, IndexSet};
use sequential::{Count, Execution, Invariants, Memory, Outcome, Path};
use smt::{Answer, NoAnswer, Operation, Term, Variable};
use transitions::threads::ThreadNumber;
use verdict::queries::{Places, kept};
use verdict::{Budget, QueriesClaim};

/// How to search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Whether inductive environment properties are looked for ([`crate::inductive`]). They do not pay: see `docs/decisions.md`.
    pub inductive: bool,
}

/// A search for a proof.
pub struct Search<'a> {
    /// The threads.
    pub model: &'a Model,
    /// The hierarchy.
    pub order: Vec<ThreadNumber>,
    /// At position `k`: claims about the threads behind position `k`.
    pub claims: Vec<Vec<QueriesClaim>>,
    /// What may be used.
    pub budget: &'a Budget,
    /// How often the model checker was asked.
    pub calls: usize,
    /// What is known to hold whenever the thread at a position is at a place, whatever the others did: each fact was proved with a claim, by position and place.
    pub reachable: Vec<Vec<IndexSet<Term>>>,
    /// At each position what the model checker has learnt of the programs of the thread there.
    memories: Vec<Memory>,
    /// At each position how many of the claims were there before any question.
    given: Vec<usize>,
    /// How to search.
    pub options: Options,
    /// Conditions that were looked at.
    tried: IndexSet<(usize, Term)>,
}

/// What came out of looking at a thread.
pub enum Found {
    /// Nothing forbidden is reached.
    Safe(Box<Built>, Invariants),
    /// What is asked for is never reached, because a bound is not.
    Bound(Box<QueriesClaim>),
    /// These steps, of the thread and its environment, lead there: from a state that the question starts from.
    Taken(Vec<Taken>),
}

impl<'a> Search<'a> {
    /// A search with nothing known.
    pub fn new(model: &'a Model, order: Vec<ThreadNumber>, budget: &'a Budget) -> Self {
        let claims = vec![Vec::new(); order.len()];
        let places = |thread: &ThreadNumber| vec![IndexSet::new(); model.threads[*thread].locations + 1];
        let reachable = order.iter().map(places).collect();
        let memories = order.iter().map(|_| Memory::default()).collect();
        let given = vec![0; order.len()];
        let mut search = Self {
            model,
            order,
            claims,
            budget,
            calls: 0,
            reachable,
            memories,
            given,
            options: Options::default(),
            tried: IndexSet::new(),
        };
        search.add_known();
        search
    }

    /// Adds what is known of threads without any question.
    fn add_known(&mut self) {
        for position in 0..self.order.len() {
            let known = Known::new(self.model, &self.order, position);
            for (at, facts) in known.places(self.model).enumerate() {
                for phase in ["first", "second"] {
                    self.memories[position].suggest(&format!("{phase} {at}"), facts.iter().cloned());
                }
            }
            if let Some(claim) = known.claim(self.model).filter(|_| position > 0) {
                self.add(position, claim);
                self.given[position - 1] = 1;
            }
        }
    }

    /// Asks the model checker.
    pub fn check(&mut self, built: &Built) -> Outcome {
        self.calls += 1;
        self.memories[built.position].check(&built.program, self.budget)
    }

    /// How the model checker answered, at all positions together.
    pub fn counts(&self) -> Count {
        self.memories.iter().fold(Count::default(), |sum, memory| Count {
            by_path: sum.by_path + memory.count.by_path,
            by_facts: sum.by_facts + memory.count.by_facts,
            anew: sum.anew + memory.count.anew,
        })
    }

    /// The level at a position.
    pub fn level(&self, position: usize) -> Level<'_> {
        Level {
            model: self.model,
            order: &self.order,
            position,
            claims: &self.claims[position],
            reachable: &self.reachable[position],
        }
    }

    /// Looks at the thread at a position: for errors, or for an answer to a question.
    pub fn explore(
        &mut self,
        position: usize,
        question: Option<&Question>,
        errors: &[(ThreadNumber, usize)],
    ) -> Result<Found, NoAnswer> {
        let mut promises: Vec<Promise> = Vec::new();
        // Without claims nothing can be said of the environment.
        let mut claims_before = self.claims[position].len();
        let mut is_new = self.order[position + 1..].is_empty() || claims_before > self.given[position];
        loop {
            if let Some(question) = question.filter(|_| is_new)
                && let Some(claim) = tight_bound(self, position, question)?
            {
                return Ok(Found::Bound(Box::new(claim)));
            }
            let built = self.level(position).build(question, &promises, errors);
            match self.check(&built) {
                Outcome::Safe(invariants) => return Ok(Found::Safe(Box::new(built), invariants)),
                Outcome::Unknown(why) => return Err(why),
                Outcome::Unsafe(path) => {
                    if let Some(taken) = self.follow_back(position, &built, &path, &mut promises)? {
                        return Ok(Found::Taken(taken));
                    }
                    is_new = self.claims[position].len() > claims_before;
                    claims_before = self.claims[position].len();
                }
            }
        }
    }

    /// Follows a violation back. Gives its execution if all moves of the environment are real; otherwise something was learnt.
    fn follow_back(
        &mut self,
        position: usize,
        built: &Built,
        path: &Path,
        promises: &mut Vec<Promise>,
    ) -> Result<Option<Vec<Taken>>, NoAnswer> {
        let program = &built.program;
        let mut executions = vec![Execution::new()];
        for step in &path.steps {
            let mut next = executions[executions.len() - 1].clone();
            next.step(&program.steps[*step]);
            executions.push(next);
        }
        let begin = path.steps.iter().position(|step| built.kinds[*step] == Kind::Begin);
        let first = begin.map_or(0, |begin| begin + 1);
        let mut formula = program.forbidden[path.forbidden].formula.clone();
        let mut taken = match built.bad[path.forbidden] {
            Bad::Goal => Vec::new(),
            Bad::Promise(number) => promises[number].taken.clone(),
        };
        for number in (first..path.steps.len()).rev() {
            let step = &program.steps[path.steps[number]];
            match built.kinds[path.steps[number]] {
                Kind::Own(own) => {
                    let inputs = &path.inputs[number];
                    formula = before_step(step, &formula, inputs, self.budget);
                    formula = lean(self.model, &formula, self.budget);
                    let thread = self.order[position];
                    taken.insert(0, Taken { thread, step: own, inputs: inputs.clone() });
                }
                Kind::Started | Kind::Begin | Kind::Wait(_) => formula = step.guard.and(&formula),
                Kind::Environment(at) => {
                    let prefix = &executions[number];
                    if !self.is_possible(built, prefix, &formula)? {
                        let question = self.question(position, built, prefix, &formula, (at, promises));
                        let Some(answer) = self.ask(position + 1, question)? else { return Ok(None) };
                        formula = before_all(self.model, &answer, &formula, self.budget);
                        formula = self.level(position).here(at, &formula);
                        taken.splice(0..0, answer);
                    }
                    let known = promises.iter().any(|promise| promise.at == at && promise.formula == formula);
                    if !known {
                        let promise = Promise { at, formula: formula.clone(), taken: taken.clone() };
                        promises.push(promise);
                    }
                    if !self.is_possible(built, prefix, &formula)? {
                        return Ok(None);
                    }
                }
            }
        }
        let start = &executions[first];
        Ok(self.is_possible(built, start, &formula)?.then_some(taken))
    }

    /// Whether an execution of a program can lead to a state that a formula holds of.
    fn is_possible(&self, built: &Built, prefix: &Execution, formula: &Term) -> Result<bool, NoAnswer> {
        let conditions = prefix.conditions.iter().cloned();
        let ranges = built.program.variables.values().cloned();
        let start = [built.program.initial.clone(), prefix.value(formula)];
        let question = Term::all(conditions.chain(start).chain(ranges));
        let answer = self.model.questions.ask(|solver| {
            solver.assert(&question);
            solver.check(self.budget)
        });
        match answer {
            Answer::Sat => Ok(true),
            Answer::Unsat => Ok(false),
            Answer::Unknown(why) => Err(why),
        }
    }

    /// What to ask the environment: can it go from where the path before its move leads to states that a formula holds of?
    fn question(
        &self,
        position: usize,
        built: &Built,
        prefix: &Execution,
        formula: &Term,
        (at, promises): (usize, &[Promise]),
    ) -> Question {
        let visible: IndexSet<Variable> = built.program.variables.keys().cloned().collect();
        let mut before = after(&built.program.initial, prefix, &visible);
        let level = self.level(position);
        before = before.iter().map(|fact| level.here(at, fact)).collect();
        // Where no promise holds, so that every answer is a new one.
        for promise in promises.iter().filter(|promise| promise.at == at) {
            before.extend(conjuncts(&promise.formula.not()));
        }
        self.reduced(position + 1, before, conjuncts(formula))
    }

    /// A question about the threads from a position on, without what has nothing to do with it, and without variables that stay as they are where others have their values (section 8.2: query
    /// invariants, constants in the second formula).
    fn reduced(&self, first: usize, before: Vec<Term>, after: Vec<Term>) -> Question {
        let threads = &self.order[first..];
        let written = self.model.written_by(threads);
        let read = self.model.read_by(threads);
        let mut before: Vec<Term> = before.into_iter().filter(|fact| !fact.is_true()).collect();
        let mut after = after;
        // Facts that give a variable its value that these threads neither read nor write.
        while let Some((position, variable, value)) =
            before.iter().enumerate().find_map(|(position, fact)| {
                let (variable, value) =
                    definition(fact, &|variable| !written.contains(variable) && !read.contains(variable))?;
                Some((position, variable, value))
            })
        {
            before.remove(position);
            let now = IndexMap::from([(variable.clone(), value.clone())]);
            let at_first = value.rename(|variable| written.contains(variable).then(|| kept(variable, first)));
            let then = IndexMap::from([(variable, at_first)]);
            before = before.iter().map(|fact| fact.substitute(&now)).collect();
            after = after.iter().map(|fact| fact.substitute(&then)).collect();
        }
        let before: Vec<Term> = before.iter().map(normal).filter(|fact| !self.model.is_range(fact)).collect();
        let after: Vec<Term> = after.iter().map(normal).collect();
        let after = conjuncts(&lean(self.model, &Term::all(after), self.budget));
        let mut before = before;
        let mut matters: IndexSet<Variable> = read.iter().chain(&written).cloned().collect();
        for variable in after.iter().flat_map(Term::free_variables) {
            matters.insert(variable);
        }
        before.retain(|fact| fact.free_variables().iter().any(|variable| matters.contains(variable)));
        let before: IndexSet<Term> = before.iter().flat_map(conjuncts).collect();
        let after: IndexSet<Term> = after.iter().flat_map(conjuncts).collect();
        Question { before: before.into_iter().collect(), after: after.into_iter().collect() }
    }

    /// Adds a claim about the threads from a position on.
    fn add(&mut self, position: usize, claim: QueriesClaim) {
        let facts = claim.reachable.at.iter().chain([&claim.reachable.before_start]);
        for (known, formula) in self.reachable[position].iter_mut().zip(facts) {
            known.extend(formula.iter().flat_map(conjuncts).filter(|fact| !fact.is_true()));
        }
        self.claims[position - 1].push(claim);
    }

    /// Asks whether the threads from a position on can go from states to states: an execution, or nothing, and then that is claimed.
    pub fn ask(&mut self, position: usize, question: Question) -> Result<Option<Vec<Taken>>, NoAnswer> {
        match self.explore(position, Some(&question), &[])? {
            Found::Taken(taken) => Ok(Some(taken)),
            Found::Bound(claim) => {
                self.add(position, *claim);
                Ok(None)
            }
            Found::Safe(built, invariants) => {
                let claim = generalised(self, position, &question, (*built, invariants))?;
                let guesses =
                    if self.options.inductive { guesses(self, position, &claim) } else { Vec::new() };
                self.add(position, claim);
                let mut tried = std::mem::take(&mut self.tried);
                let more = inductive(self, position, guesses, &mut tried);
                self.tried = tried;
                more?.into_iter().for_each(|claim| self.add(position, claim));
                Ok(None)
            }
        }
    }
}

/// A variable of a kind that an equation gives the value of.
fn definition(fact: &Term, of_kind: &dyn Fn(&Variable) -> bool) -> Option<(Variable, Term)> {
    if *fact.operation() != Operation::Equal {
        return None;
    }
    let [left, right] = fact.operands() else { return None };
    [(left, right), (right, left)].into_iter().find_map(|(one, other)| {
        let variable = one.as_variable().filter(of_kind)?;
        (!other.free_variables().contains(&variable)).then(|| (variable, other.clone()))
    })
}

/// The invariants of places, from those of nodes.
pub fn places(built: &Built, invariants: &Invariants, second: bool, locations: usize) -> Places {
    let nodes = if second { &built.second } else { &built.first };
    let of = |at: usize| nodes.get(at).copied().flatten().and_then(|node| invariants.at(node).cloned());
    Places { at: (0..locations).map(of).collect(), before_start: of(locations) }
}
