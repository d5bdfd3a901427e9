//! MainThreadCheck and AnswerEnvQuery (paper 5, algorithms 4.1 and 7.1), which are the same loop.
//!
//! The model checker searches for a violation. If there is one, it is followed backwards. Over a step of the
//! thread, by the weakest precondition. Over a move of the environment: if the path before it already leads
//! to such a state, no move is needed; otherwise the environment is queried. Comments give the lines of
//! algorithm 4.1. The whole path is followed back, without asking the model checker again (section 8.1,
//! reused counterexamples).
//!
//! Answers are executions, not formulas: preconditions of any state along one are computed from its steps on
//! demand (section 8.2 needs that for query invariants). Claims are kept for all later queries (section 8.3,
//! preserved environment information). So are the results of the model checker at a position: paths and
//! invariants of earlier programs are tried first ([`sequential::Memory`]).

use crate::build::{Bad, Built, EnvironmentQuery, Kind, Level, Promise};
use crate::generalise::{generalised, tight_bound};
use crate::inductive::{guesses, inductive};
use crate::known::Known;
use crate::model::Model;
use crate::post::{facts_of, post};
use crate::simplify::{normal, simplify};
use crate::wp::{Taken, wp, wp_of_path};
use indexmap::{IndexMap, IndexSet};
use sequential::{Count, Execution, Invariants, Memory, Outcome, Path};
use smt::{Answer, NoAnswer, Operation, Term, Variable};
use transitions::threads::ThreadNumber;
use verdict::queries::{Places, kept};
use verdict::{Budget, QueriesClaim};

/// How to search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Whether to search for inductive environment properties ([`crate::inductive`]). They do not pay off:
    /// see `docs/decisions.md`.
    pub inductive: bool,
}

/// A search for a proof.
pub struct Search<'a> {
    /// The threads.
    pub model: &'a Model,
    /// The hierarchy.
    pub order: Vec<ThreadNumber>,
    /// At position `k`: claims about the threads after position `k`.
    pub claims: Vec<Vec<QueriesClaim>>,
    /// What may be used.
    pub budget: &'a Budget,
    /// How often the model checker was asked.
    pub calls: usize,
    /// What is known to hold whenever the thread at a position is at a place, whatever the others did: each
    /// fact was proved with a claim, by position and place.
    pub reachable: Vec<Vec<IndexSet<Term>>>,
    /// At each position what the model checker has learnt of the programs of the thread there.
    memories: Vec<Memory>,
    /// At each position how many of the claims were there before any query.
    given: Vec<usize>,
    /// How to search.
    pub options: Options,
    /// Conditions that were looked at.
    tried: IndexSet<(usize, Term)>,
}

/// What came out of looking at a thread.
pub enum QueryOutcome {
    /// Nothing forbidden is reached.
    Safe(Box<Built>, Invariants),
    /// What is asked for is never reached, because a bound is not.
    Bound(Box<QueriesClaim>),
    /// These steps, of the thread and its environment, lead there: from a state that the query starts from.
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

    /// Adds what is known of threads without any query.
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
            from_scratch: sum.from_scratch + memory.count.from_scratch,
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

    /// Checks the thread at a position: for errors (algorithm 4.1), or for an answer to a query (algorithm
    /// 7.1).
    pub fn explore(
        &mut self,
        position: usize,
        query: Option<&EnvironmentQuery>,
        errors: &[(ThreadNumber, usize)],
    ) -> Result<QueryOutcome, NoAnswer> {
        let mut promises: Vec<Promise> = Vec::new();
        // Without claims nothing can be said of the environment.
        let mut claims_before = self.claims[position].len();
        let mut is_new = self.order[position + 1..].is_empty() || claims_before > self.given[position];
        loop {
            if let Some(query) = query.filter(|_| is_new)
                && let Some(claim) = tight_bound(self, position, query)?
            {
                return Ok(QueryOutcome::Bound(Box::new(claim)));
            }
            // Line 2.
            let built = self.level(position).build(query, &promises, errors);
            // Lines 3 and 4.
            match self.check(&built) {
                // Line 20.
                Outcome::Safe(invariants) => return Ok(QueryOutcome::Safe(Box::new(built), invariants)),
                Outcome::Unknown(why) => return Err(why),
                Outcome::Unsafe(path) => {
                    // Lines 5 to 18.
                    if let Some(taken) = self.follow_back(position, &built, &path, &mut promises)? {
                        return Ok(QueryOutcome::Taken(taken));
                    }
                    is_new = self.claims[position].len() > claims_before;
                    claims_before = self.claims[position].len();
                }
            }
        }
    }

    /// Follows a violation backwards. Returns its execution if all moves of the environment are real;
    /// otherwise the search has learned something.
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
                // Line 10: β = wp(π_end, ¬b), step by step.
                Kind::Own(own) => {
                    let inputs = &path.inputs[number];
                    formula = wp(step, &formula, inputs, self.budget);
                    formula = simplify(self.model, &formula, self.budget);
                    let thread = self.order[position];
                    taken.insert(0, Taken { thread, step: own, inputs: inputs.clone() });
                }
                Kind::Started | Kind::Begin | Kind::Wait(_) => formula = step.guard.and(&formula),
                Kind::Environment(at) => {
                    let prefix = &executions[number];
                    if !self.is_possible(built, prefix, &formula)? {
                        // Lines 11 to 15: α, and Reach(α, β); without an answer env_move is refined.
                        let query = self.environment_query(position, built, prefix, &formula, (at, promises));
                        let Some(answer) = self.reach(position + 1, query)? else { return Ok(None) };
                        // ψ: the states from which the answer leads to β.
                        formula = wp_of_path(self.model, &answer, &formula, self.budget);
                        formula = self.level(position).here(at, &formula);
                        taken.splice(0..0, answer);
                    }
                    // Line 17: assert(¬ψ) before the move.
                    let known = promises.iter().any(|promise| promise.at == at && promise.psi == formula);
                    if !known {
                        let promise = Promise { at, psi: formula.clone(), taken: taken.clone() };
                        promises.push(promise);
                    }
                    if !self.is_possible(built, prefix, &formula)? {
                        return Ok(None);
                    }
                }
            }
        }
        // Lines 5 and 6: no move of the environment remains.
        let start = &executions[first];
        Ok(self.is_possible(built, start, &formula)?.then_some(taken))
    }

    /// Whether an execution of a program can lead to a state that a formula holds of.
    fn is_possible(&self, built: &Built, prefix: &Execution, formula: &Term) -> Result<bool, NoAnswer> {
        let conditions = prefix.conditions.iter().cloned();
        let ranges = built.program.variables.values().cloned();
        let start = [built.program.initial.clone(), prefix.value(formula)];
        let question = Term::all(conditions.chain(start).chain(ranges));
        let answer = self.model.questions.borrow_mut().ask(|solver| {
            solver.assert(&question);
            solver.check(self.budget)
        });
        match answer {
            Answer::Sat => Ok(true),
            Answer::Unsat => Ok(false),
            Answer::Unknown(why) => Err(why),
        }
    }

    /// The query Reach(α, β) for the environment (lines 9 to 11): can it get from the end of the path before
    /// its move to states that satisfy a formula? Irrelevant parts are dropped.
    fn environment_query(
        &self,
        position: usize,
        built: &Built,
        prefix: &Execution,
        formula: &Term,
        (at, promises): (usize, &[Promise]),
    ) -> EnvironmentQuery {
        let visible: IndexSet<Variable> = built.program.variables.keys().cloned().collect();
        let mut alpha = post(&built.program.initial, prefix, &visible);
        let level = self.level(position);
        alpha = alpha.iter().map(|fact| level.here(at, fact)).collect();
        // Where no promise holds, so that every answer is a new one.
        for promise in promises.iter().filter(|promise| promise.at == at) {
            alpha.extend(facts_of(&promise.psi.not()));
        }
        self.reduced(position + 1, alpha, facts_of(formula))
    }

    /// A query about the threads from a position on, without irrelevant parts, and with unchanged variables
    /// replaced by their values (section 8.2: query invariants, constants in the second formula).
    fn reduced(&self, first: usize, alpha: Vec<Term>, beta: Vec<Term>) -> EnvironmentQuery {
        let threads = &self.order[first..];
        let written = self.model.written_by(threads);
        let read = self.model.read_by(threads);
        let mut alpha: Vec<Term> = alpha.into_iter().filter(|fact| !fact.is_true()).collect();
        let mut beta = beta;
        // Facts that give a variable its value that these threads neither read nor write.
        while let Some((position, variable, value)) = alpha.iter().enumerate().find_map(|(position, fact)| {
            let (variable, value) =
                definition(fact, &|variable| !written.contains(variable) && !read.contains(variable))?;
            Some((position, variable, value))
        }) {
            alpha.remove(position);
            let now = IndexMap::from([(variable.clone(), value.clone())]);
            let at_first = value.rename(|variable| written.contains(variable).then(|| kept(variable, first)));
            let then = IndexMap::from([(variable, at_first)]);
            alpha = alpha.iter().map(|fact| fact.substitute(&now)).collect();
            beta = beta.iter().map(|fact| fact.substitute(&then)).collect();
        }
        let alpha: Vec<Term> = alpha.iter().map(normal).filter(|fact| !self.model.is_range(fact)).collect();
        let beta: Vec<Term> = beta.iter().map(normal).collect();
        let beta = facts_of(&simplify(self.model, &Term::all(beta), self.budget));
        let mut alpha = alpha;
        let mut matters: IndexSet<Variable> = read.iter().chain(&written).cloned().collect();
        for variable in beta.iter().flat_map(Term::free_variables) {
            matters.insert(variable);
        }
        alpha.retain(|fact| fact.free_variables().iter().any(|variable| matters.contains(variable)));
        let alpha: IndexSet<Term> = alpha.iter().flat_map(facts_of).collect();
        let beta: IndexSet<Term> = beta.iter().flat_map(facts_of).collect();
        EnvironmentQuery { alpha: alpha.into_iter().collect(), beta: beta.into_iter().collect() }
    }

    /// Adds a claim about the threads from a position on.
    fn add(&mut self, position: usize, claim: QueriesClaim) {
        let facts = claim.reachable.at.iter().chain([&claim.reachable.before_start]);
        for (known, formula) in self.reachable[position].iter_mut().zip(facts) {
            known.extend(formula.iter().flat_map(facts_of).filter(|fact| !fact.is_true()));
        }
        self.claims[position - 1].push(claim);
    }

    /// Reach(α, β) (definition 3.2.1) of the threads from a position on. ψ is given as an execution; `None`
    /// when it is false, and then that is claimed.
    pub fn reach(
        &mut self,
        position: usize,
        query: EnvironmentQuery,
    ) -> Result<Option<Vec<Taken>>, NoAnswer> {
        match self.explore(position, Some(&query), &[])? {
            QueryOutcome::Taken(taken) => Ok(Some(taken)),
            QueryOutcome::Bound(claim) => {
                self.add(position, *claim);
                Ok(None)
            }
            QueryOutcome::Safe(built, invariants) => {
                let claim = generalised(self, position, &query, (*built, invariants))?;
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
