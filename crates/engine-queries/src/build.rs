//! The sequential programs: a thread with the moves of its environment between its steps (paper 5, sections
//! 4.1 to 4.3, 6.1, 7.2 and 7.3).
//!
//! For the main thread: at each place where others may run (cut points) the environment first makes a move
//! (`env_move`). The move gives the variables that the environment writes any values that no claim excludes.
//! A query has a first phase (`try_start`), in which all others make unconstrained moves. At a cut point
//! where α holds, the second phase may begin, in which only the environment moves.
//!
//! Deviations from the paper:
//! 1. Phases are nodes, not a variable. So are places of the thread itself.
//! 2. A thread that has not started is at a special place, which it leaves when it starts.
//! 3. Results of earlier queries about places in the first phase are assumed there.
//! 4. Claims also apply in the first phase if the remaining threads write nothing that the threads of the
//!    claim read, and nothing that the claim mentions: then their steps can be moved to the end.

use crate::model::Model;
use crate::wp::Taken;
use indexmap::{IndexMap, IndexSet};
use sequential::{Forbidden, Node, Program, Step};
use smt::{Instance, Term, Variable};
use transitions::threads::ThreadNumber;
use verdict::QueriesClaim;
use verdict::queries::{BEFORE_START, kept, old, place, strip_old};

/// A thread at a position of the hierarchy, with what is known of its environment.
#[derive(Clone, Copy)]
pub struct Level<'a> {
    /// The threads.
    pub model: &'a Model,
    /// The hierarchy.
    pub order: &'a [ThreadNumber],
    /// The position of the thread in it; the environment comes after it.
    pub position: usize,
    /// What is claimed of the environment.
    pub claims: &'a [QueriesClaim],
    /// What is known to hold at each place, whatever the others did.
    pub reachable: &'a [IndexSet<Term>],
}

/// An environment query Reach(α, β) (definition 3.2.1): whether some threads can get from one set of states
/// to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnvironmentQuery {
    /// α: what holds at first, all of it.
    pub alpha: Vec<Term>,
    /// β: what holds at the end, all of it. May speak of values at first ([`kept`]).
    pub beta: Vec<Term>,
}

/// A promise of error (definition 4.4.1): states at a place of the thread, with no thread in an atomic
/// region, from which an execution leads to a violation.
#[derive(Clone, Debug)]
pub struct Promise {
    /// The place of the thread.
    pub at: usize,
    /// ψ: the states.
    pub psi: Term,
    /// The execution.
    pub taken: Vec<Taken>,
}

/// What a step of the sequential program stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// All others do something, before the second phase, while the thread is at a place.
    Wait(usize),
    /// The second phase begins.
    Begin,
    /// The environment makes a move while the thread is at a place.
    Environment(usize),
    /// The thread was started.
    Started,
    /// A step of the thread.
    Own(usize),
}

/// What is forbidden.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bad {
    /// An error, or β of a query.
    Goal,
    /// A promise.
    Promise(usize),
}

/// A sequential program, and what its parts stand for.
pub struct Built {
    /// The position of the thread.
    pub position: usize,
    /// The program.
    pub program: Program,
    /// The variables whose values at the beginning of the second phase are kept.
    pub kept: Vec<Variable>,
    /// What each step stands for.
    pub kinds: Vec<Kind>,
    /// What each forbidden thing is.
    pub bad: Vec<Bad>,
    /// The node of each place in the first phase, before the others move. The last place is that before the
    /// thread's start.
    pub first: Vec<Option<Node>>,
    /// The node of each place in the second phase, before the environment moves.
    pub second: Vec<Option<Node>>,
}

impl Level<'_> {
    /// The number of the thread.
    pub fn thread(&self) -> ThreadNumber {
        self.order[self.position]
    }
    /// The threads of the environment.
    pub fn environment(&self) -> &[ThreadNumber] {
        &self.order[self.position + 1..]
    }

    /// A formula where the thread is at a place. Where it may have been started just now its place is not
    /// known.
    pub fn here(&self, at: usize, formula: &Term) -> Term {
        match self.place_number(at) {
            Some(number) => formula.substitute(&IndexMap::from([(place(self.thread()), Term::int(number))])),
            None => formula.clone(),
        }
    }
    fn place_number(&self, at: usize) -> Option<i128> {
        (at < self.model.threads[self.thread()].locations).then_some(at as i128)
    }

    /// The claims that speak of the variables of the program, and of some constants.
    fn usable(&self, constants: &IndexSet<Variable>) -> Vec<&QueriesClaim> {
        let known =
            |variable: &Variable| self.model.variables.contains_key(variable) || constants.contains(variable);
        self.claims.iter().filter(|claim| spoken_of(claim).iter().all(known)).collect()
    }

    /// Whether others may run while the thread is at a place.
    pub fn is_cut(&self, at: usize) -> bool {
        !self.model.threads[self.thread()].atomic.get(at).copied().unwrap_or(false)
    }

    /// That a thread that is at the place before its start was not started just now; true for the other
    /// places.
    pub fn not_started_yet(&self, at: usize) -> Term {
        match self.place_number(at) {
            Some(_) => Term::bool(true),
            None => place(self.thread()).term().equals(&Term::int(BEFORE_START)),
        }
    }

    /// The variables that matter for a program with these formulas: that the thread reads, that the formulas
    /// speak of, and that claims connect with these.
    fn relevant<'f>(&self, formulas: impl Iterator<Item = &'f Term>) -> IndexSet<Variable> {
        let mut found: IndexSet<Variable> = self.model.threads[self.thread()].reads.clone();
        found.insert(place(self.thread()));
        found.extend(formulas.flat_map(Term::free_variables));
        let claims = self.usable(&found);
        loop {
            let size = found.len();
            for claim in &claims {
                let of_claim = spoken_of(claim);
                if of_claim.iter().any(|variable| found.contains(variable)) {
                    found.extend(of_claim);
                }
            }
            if found.len() == size {
                return found;
            }
        }
    }

    /// `env_move`: a move of others while the thread is at a place: they write some variables, and these
    /// claims hold of them. Irrelevant variables get any value, in range or not.
    fn env_move(
        &self,
        at: usize,
        nodes: (Node, Node),
        (written, relevant): (&IndexSet<Variable>, &IndexSet<Variable>),
        claims: &[&QueriesClaim],
    ) -> Step {
        let thread = &self.model.threads[self.thread()];
        let mine = place(self.thread());
        let started = self.place_number(at).is_some();
        // Once it was started, only the thread itself changes what is its own.
        let written = written.iter().filter(|v| !(started && (thread.own.contains(*v) || **v == mine)));
        let inputs: IndexMap<Variable, Variable> =
            written.map(|v| (v.clone(), v.instance(Instance::New))).collect();
        let mut guard = Vec::new();
        for (variable, input) in inputs.iter().filter(|(variable, _)| relevant.contains(*variable)) {
            let range = self.model.variables.get(variable).cloned().unwrap_or_else(|| Term::bool(true));
            guard.push(range.rename(|_| Some(input.clone())));
        }
        if let Some(input) = inputs.get(&mine).filter(|_| relevant.contains(&mine)) {
            // Others can start it, and nothing else.
            let is = |place: i128| input.term().equals(&Term::int(place));
            guard.push(is(BEFORE_START).or(&is(thread.entry as i128)));
        }
        let now: IndexMap<Variable, Term> =
            IndexMap::from([(mine.clone(), Term::int(self.place_number(at).unwrap_or(BEFORE_START)))]);
        for claim in claims {
            let mut new: IndexMap<Variable, Term> =
                inputs.iter().map(|(variable, input)| (variable.clone(), input.term())).collect();
            new.extend(self.model.variables.keys().map(|variable| (old(variable), variable.term())));
            let after = claim.after.substitute(&new);
            guard.push(claim.before.and(&after).not().substitute(&now));
        }
        Step {
            source: nodes.0,
            target: nodes.1,
            guard: Term::all(guard),
            updates: inputs.iter().map(|(variable, input)| (variable.clone(), input.term())).collect(),
            inputs: inputs.values().cloned().collect(),
        }
    }

    /// The claims that count while all others move.
    fn claims_for_all(&self, constants: &IndexSet<Variable>) -> Vec<&QueriesClaim> {
        let written = self.model.written_by(&self.order[..self.position]);
        let mut touched = self.model.read_by(self.environment());
        touched.extend(self.model.written_by(self.environment()));
        if touched.iter().any(|variable| written.contains(variable)) {
            return Vec::new();
        }
        let speaks =
            |claim: &&QueriesClaim| spoken_of(claim).iter().any(|variable| written.contains(variable));
        self.usable(constants).into_iter().filter(|claim| !speaks(claim)).collect()
    }

    /// The program of the main thread, or that of a query.
    pub fn build(
        &self,
        query: Option<&EnvironmentQuery>,
        promises: &[Promise],
        errors: &[(ThreadNumber, usize)],
    ) -> Built {
        let thread = &self.model.threads[self.thread()];
        let formulas = query.iter().flat_map(|query| query.alpha.iter().chain(&query.beta));
        let error_places: Vec<Term> = errors.iter().map(|(thread, _)| place(*thread).term()).collect();
        let formulas = formulas.chain(promises.iter().map(|promise| &promise.psi)).chain(&error_places);
        let relevant = self.relevant(formulas);
        let mut variables = self.model.variables.clone();
        let before_values: Vec<Variable> = self
            .model
            .variables
            .keys()
            .filter(|v| relevant.contains(&kept(v, self.position)))
            .cloned()
            .collect();
        for variable in &before_values {
            let kept = kept(variable, self.position);
            let range = self.model.variables[variable].rename(|_| Some(kept.clone()));
            variables.insert(kept, range);
        }
        let mut relevant = relevant;
        relevant.extend(before_values.iter().cloned());
        // What is a constant here is one of a query further up.
        for variable in
            relevant.iter().filter(|variable| !variables.contains_key(*variable)).collect::<Vec<_>>()
        {
            variables.insert(variable.clone(), Term::bool(true));
        }
        let mut building = Building {
            level: self,
            relevant,
            query,
            built: Built {
                position: self.position,
                program: Program::new(variables, self.model.initial.clone()),
                kept: before_values.clone(),
                kinds: Vec::new(),
                bad: Vec::new(),
                first: Vec::new(),
                second: Vec::new(),
            },
        };
        building.nodes(query.is_some());
        building.try_start(&before_values);
        let after = building.second_phase();
        let built = &mut building.built;
        let start = if thread.at_start { thread.entry } else { thread.locations };
        let of_start = if query.is_some() { built.first[start] } else { built.second[start] };
        built.program.entry = of_start.unwrap_or_default();
        for (number, promise) in promises.iter().enumerate() {
            if let Some(node) = built.second[promise.at] {
                built.program.forbidden.push(Forbidden { node, formula: promise.psi.clone() });
                built.bad.push(Bad::Promise(number));
            }
        }
        for (at, node) in after {
            let mut goals: Vec<Term> = Vec::new();
            if let Some(query) = query {
                goals.push(Term::all(query.beta.iter().cloned()));
            }
            for (other, location) in errors {
                goals.push(place(*other).term().equals(&Term::int(*location as i128)));
            }
            for goal in goals {
                let formula = self.here(at, &goal);
                if !formula.is_false() {
                    built.program.forbidden.push(Forbidden { node, formula });
                    built.bad.push(Bad::Goal);
                }
            }
        }
        building.built
    }
}

/// The variables that a claim is about: those whose old values it speaks of, too.
pub fn spoken_of(claim: &QueriesClaim) -> IndexSet<Variable> {
    let named = claim.before.free_variables().into_iter().chain(claim.after.free_variables());
    named.map(strip_old).collect()
}

struct Building<'a, 'l> {
    level: &'a Level<'l>,
    relevant: IndexSet<Variable>,
    query: Option<&'a EnvironmentQuery>,
    built: Built,
}

impl Building<'_, '_> {
    /// The places that the thread can be at: its locations, and before its start.
    fn places(&self) -> std::ops::Range<usize> {
        let thread = &self.level.model.threads[self.level.thread()];
        0..thread.locations + usize::from(!thread.at_start)
    }
    fn nodes(&mut self, both: bool) {
        for at in self.places() {
            let kept = self.level.is_cut(at);
            let first = both.then(|| self.built.program.node(format!("first {at}"), kept));
            self.built.first.push(first);
            let second = self.built.program.node(format!("second {at}"), kept);
            self.built.second.push(Some(second));
        }
    }

    fn push(&mut self, step: Step, kind: Kind) {
        if !step.guard.is_false() {
            self.built.program.steps.push(step);
            self.built.kinds.push(kind);
        }
    }

    /// What is known to hold at a place, as far as it is about what matters.
    fn known(&self, at: usize) -> Term {
        let known = self.level.reachable[at].iter();
        let matters =
            |fact: &&Term| fact.free_variables().iter().all(|variable| self.relevant.contains(variable));
        Term::all(known.filter(matters).cloned())
    }

    /// Adds the first phase (`try_start`, figure 6.1), for queries.
    fn try_start(&mut self, before_values: &[Variable]) {
        let Some(query) = self.query else { return };
        let level = self.level;
        let others: Vec<ThreadNumber> =
            level.order.iter().copied().filter(|thread| *thread != level.thread()).collect();
        let written = level.model.written_by(&others);
        let claims = level.claims_for_all(&self.relevant);
        let mut after = Vec::new();
        for at in self.places() {
            let (Some(first), Some(second)) = (self.built.first[at], self.built.second[at]) else { continue };
            if !self.level.is_cut(at) {
                after.push(first);
                continue;
            }
            let after_move = self.built.program.node(format!("first {at} after"), false);
            after.push(after_move);
            let mut step = level.env_move(at, (first, after_move), (&written, &self.relevant), &claims);
            step.guard = step.guard.and(&self.known(at));
            self.push(step, Kind::Wait(at));
            let guard = Term::all(query.alpha.iter().cloned()).and(&level.not_started_yet(at));
            let guard = level.here(at, &guard);
            let updates =
                before_values.iter().map(|v| (kept(v, level.position), level.here(at, &v.term()))).collect();
            self.push(
                Step { source: after_move, target: second, guard, updates, inputs: vec![] },
                Kind::Begin,
            );
        }
        let into: Vec<Option<Node>> = self.built.first.clone();
        self.own_steps(&after, &into);
    }

    /// Adds the second phase. Gives the nodes after the moves of the environment, with their places.
    fn second_phase(&mut self) -> Vec<(usize, Node)> {
        let level = self.level;
        let written = level.model.written_by(level.environment());
        let claims = level.usable(&self.relevant);
        let mut after = Vec::new();
        for at in self.places() {
            let Some(second) = self.built.second[at] else { continue };
            if !self.level.is_cut(at) || level.environment().is_empty() {
                after.push(second);
                continue;
            }
            let after_move = self.built.program.node(format!("second {at} after"), false);
            after.push(after_move);
            let step = level.env_move(at, (second, after_move), (&written, &self.relevant), &claims);
            self.push(step, Kind::Environment(at));
        }
        let into: Vec<Option<Node>> = self.built.second.clone();
        self.own_steps(&after, &into);
        self.places().zip(after).filter(|(at, _)| self.level.is_cut(*at)).collect()
    }

    /// The steps of the thread, from the nodes of places after moves of others to those before.
    fn own_steps(&mut self, from: &[Node], to: &[Option<Node>]) {
        let level = self.level;
        let thread = &level.model.threads[level.thread()];
        for (number, step) in thread.steps.iter().enumerate() {
            let (source, Some(target)) = (from[step.source], to[step.target]) else { continue };
            let mine = place(level.thread());
            let updates = step.updates.iter().filter(|(variable, _)| **variable != mine);
            let own = Step {
                source,
                target,
                guard: step.guard.clone(),
                updates: updates.map(|(variable, value)| (variable.clone(), value.clone())).collect(),
                inputs: step.inputs.clone(),
            };
            self.push(own, Kind::Own(number));
        }
        if let (Some(source), Some(target)) = (from.get(thread.locations), to[thread.entry]) {
            let guard = place(level.thread()).term().equals(&Term::int(thread.entry as i128));
            let started = Step { source: *source, target, guard, updates: IndexMap::new(), inputs: vec![] };
            self.push(started, Kind::Started);
        }
    }
}
