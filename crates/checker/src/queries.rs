//! Checks proofs by environment queries ([`verdict::QueriesProof`]; paper 5, chapters 5 to 7).
//!
//! The checker derives the program as transitions again, and settles its threads. A *cut-point state* is one
//! in which no thread is in an atomic region or at a quiet location ([`transitions::quiet`]), apart from
//! first locations of threads. Only in such states does another thread than the last one need to run; the
//! initial state is one of them. In each part:
//!
//! 1. Threads outside of the order write nothing that those in it read, or that the part mentions; so each
//!    execution without their steps is still an execution.
//! 2. A claim says that some threads never get from one set of states to another. The first of these threads
//!    is checked. The formulas for its places (`reachable`) hold at the start, after any move of all others,
//!    and after its steps. The formulas that hold since the first formula of the claim held (`moving`) hold
//!    where that formula does, after each move of the later threads, and after the first thread's steps; and
//!    they exclude the second formula. A move of threads changes the variables that they write, to any values
//!    that the claims about these threads allow. Those are claims about fewer threads, so the recursion ends.
//! 3. Moves of all others also preserve claims about the later threads, if the remaining ones write nothing
//!    that the later threads touch, and nothing that the claims mention: their steps can be moved to the end.
//! 4. The formulas of the main thread hold at the start, after moves of the others, and after its steps; they
//!    exclude the errors.
//!
//! By induction over the length of executions, from cut-point state to cut-point state, no error is reached.
//! Before its start, a thread that is started at most once is at a special place; its starter does not write
//! its variables later. This rule shares only the meaning of steps with the search.

use crate::ProofError;
use crate::queries_view::{Thread, View, speaks_of};
use crate::ready::{self, claim};
use indexmap::{IndexMap, IndexSet};

use ir::LocationKind;
use smt::{Answer, Instance, NoAnswer, Solver, Term, Variable};
use std::cell::RefCell;
use std::time::Duration;
use transitions::threads::{ThreadStep, Threads};
use verdict::queries::{BEFORE_START, Places, kept, old, place};
use verdict::{Budget, Property, QueriesClaim, QueriesPart, QueriesProof, Views};

/// The longest path through an atomic region without formulas.
const LONGEST: usize = 1_000;
/// How long the solver tries a query before it uses all simplifications.
const PATIENCE: Duration = Duration::from_millis(500);

/// Checks a proof about a lowered program.
pub fn check(
    program: &Views,
    property: &Property,
    proof: &QueriesProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let Property::NoError(kinds) = property else { return Err(ProofError::Violated) };
    let words = ready::words(program, false, budget)?;
    let system = ready::system(words, false);
    let threads = Threads::new(&system).map_err(|why| ProofError::Claim(format!("{why:?}")))?;
    let view = View::new(&system, threads)?;
    for (number, thread) in view.threads.iter().enumerate() {
        for (location, what) in words.templates[thread.template].locations.enumerate() {
            if matches!(what.kind, LocationKind::Error(kind) if kinds.contains(&kind)) {
                let covered = proof.parts.iter().any(|part| part.errors.contains(&(number, location)));
                claim(covered, "every error has its part")?;
            }
        }
    }
    for part in &proof.parts {
        view.check_names(part)?;
        view.check_order(part)?;
        let checker = Part { view: &view, part, budget, solver: RefCell::new(Solver::new()) };
        checker.check_main()?;
        for (position, claims) in part.claims.iter().enumerate() {
            claims.iter().try_for_each(|claim| checker.check_claim(position, claim))?;
        }
    }
    crate::executions::queries::try_claims(&system, &view, proof, budget)
}

struct Part<'a> {
    view: &'a View,
    part: &'a QueriesPart,
    budget: &'a Budget,
    /// One solver for all queries; a new one costs more than most of them.
    solver: RefCell<Solver>,
}

/// A symbolic state: terms for the variables, over initial variables and arbitrary values; and what holds of
/// these.
#[derive(Clone)]
struct State {
    values: IndexMap<Variable, Term>,
    facts: Vec<Term>,
    /// The number of moves and steps, for the names of values.
    length: usize,
}

impl State {
    fn new(facts: Vec<Term>) -> Self {
        Self { values: IndexMap::new(), facts, length: 0 }
    }
    fn value(&self, term: &Term) -> Term {
        term.substitute(&self.values)
    }
    fn fresh(&self, variable: &Variable) -> Variable {
        variable.instance(Instance::Moment(self.length as u32))
    }

    fn step(&mut self, step: &ThreadStep) {
        let mut replace = self.values.clone();
        replace.extend(step.inputs.iter().map(|input| (input.clone(), self.fresh(input).term())));
        self.facts.push(step.guard.substitute(&replace));
        let new: Vec<(Variable, Term)> = step
            .updates
            .iter()
            .map(|(variable, value)| (variable.clone(), value.substitute(&replace)))
            .collect();
        self.values.extend(new);
        self.length += 1;
    }
}

/// Where a thread is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Location(usize),
    BeforeStart,
}

impl At {
    fn number(self) -> i128 {
        match self {
            Self::Location(location) => location as i128,
            Self::BeforeStart => BEFORE_START,
        }
    }
    fn of(self, places: &Places) -> Option<&Term> {
        match self {
            Self::Location(location) => places.at.get(location).and_then(Option::as_ref),
            Self::BeforeStart => places.before_start.as_ref(),
        }
    }
}

/// The threads that move between steps of a thread, and the claims about these moves.
struct Moves<'a> {
    written: IndexSet<Variable>,
    claims: Vec<&'a QueriesClaim>,
}

impl<'a> Part<'a> {
    fn thread(&self, position: usize) -> &'a Thread {
        &self.view.threads[self.part.order[position]]
    }

    /// Checks that a formula follows from what holds in a state.
    fn follows(&self, state: &State, formula: &Term, text: &str) -> Result<(), ProofError> {
        let violated = Term::all(state.facts.iter().cloned().chain([formula.not()]));
        let ranges = violated.free_variables().into_iter().filter_map(|v| self.view.range(&v));
        let violated = Term::all(ranges).and(&violated);
        let mut solver = self.solver.borrow_mut();
        solver.push();
        solver.assert(&violated);
        let mut answer = solver.check(&self.budget.patient_for(PATIENCE));
        solver.pop();
        if matches!(answer, Answer::Unknown(_)) {
            answer = smt::satisfiable(&violated, self.budget);
        }
        match answer {
            Answer::Unsat => Ok(()),
            Answer::Unknown(NoAnswer::Exhausted(limit)) => Err(ProofError::TooExpensive(limit)),
            Answer::Sat | Answer::Unknown(NoAnswer::GaveUp(_)) => Err(ProofError::Claim(text.to_owned())),
        }
    }

    /// The moves of the threads after a position.
    fn moves_after(&self, position: usize) -> Moves<'a> {
        let later = &self.part.order[position + 1..];
        let claims = self.part.claims.get(position).into_iter().flatten();
        Moves { written: self.view.written_by(later), claims: claims.collect() }
    }

    /// The moves of all threads except the one at a position.
    fn moves_of_all(&self, position: usize) -> Moves<'a> {
        let (front, later) = (&self.part.order[..position], &self.part.order[position + 1..]);
        let by_front = self.view.written_by(front);
        let mut written = self.view.written_by(later);
        let mut touched = self.view.read_by(later);
        touched.extend(written.iter().cloned());
        let mut claims: Vec<&QueriesClaim> = Vec::new();
        if touched.is_disjoint(&by_front) {
            let all = self.part.claims.get(position).into_iter().flatten();
            claims.extend(all.filter(|claim| speaks_of(claim).is_disjoint(&by_front)));
        }
        written.extend(by_front);
        Moves { written, claims }
    }

    /// Others move while the thread at a position is at a place.
    fn others_move(&self, position: usize, at: At, moves: &Moves<'_>, state: &mut State) {
        let number = self.part.order[position];
        let thread = self.thread(position);
        let before = state.clone();
        for variable in &moves.written {
            let started = at != At::BeforeStart;
            if started && (thread.own.contains(variable) || *variable == place(number)) {
                continue;
            }
            let fresh = state.fresh(variable);
            let range = self.view.range(variable).unwrap_or_else(|| Term::bool(true));
            state.facts.push(range.rename(|_| Some(fresh.clone())));
            state.values.insert(variable.clone(), fresh.term());
        }
        if at == At::BeforeStart && moves.written.contains(&place(number)) {
            // Others can start it, and do nothing else to it.
            let now = state.value(&place(number).term());
            let is = |place: i128| now.equals(&Term::int(place));
            state.facts.push(is(BEFORE_START).or(&is(thread.entry as i128)));
        }
        for claim in &moves.claims {
            let mut after = state.values.clone();
            for variable in self.view.variables.keys() {
                after.insert(old(variable), before.value(&variable.term()));
                // The query to the threads from here on began with the old values.
                after.insert(kept(variable, position), old(variable).term());
            }
            let mut first = before.values.clone();
            first.extend(self.view.variables.keys().map(|v| (kept(v, position), old(v).term())));
            state.facts.push(claim.before.substitute(&first).and(&claim.after.substitute(&after)).not());
        }
        state.length += 1;
    }

    /// A state in which the thread at a position is at a place, and a formula holds.
    fn state(&self, position: usize, at: At, formula: &Term) -> State {
        let mut state = State::new(vec![formula.clone()]);
        state.values.insert(place(self.part.order[position]), Term::int(at.number()));
        state.facts = vec![state.value(formula)];
        state
    }

    /// The places of a thread, and whether others run there.
    fn places(&self, position: usize) -> Vec<(At, bool)> {
        let thread = self.thread(position);
        let mut found: Vec<(At, bool)> =
            (0..thread.steps.len()).map(|at| (At::Location(at), !thread.atomic[at])).collect();
        if !thread.at_start {
            found.push((At::BeforeStart, true));
        }
        found
    }

    fn check_start(&self, position: usize, places: &Places) -> Result<(), ProofError> {
        let thread = self.thread(position);
        let at = if thread.at_start { At::Location(thread.entry) } else { At::BeforeStart };
        let formula =
            at.of(places).ok_or_else(|| ProofError::Claim("something holds at the start".to_owned()))?;
        self.follows(&State::new(vec![self.view.initial.clone()]), formula, "what is said holds at the start")
    }

    /// Checks that steps preserve the formulas of places, when the thread at a position continues from a
    /// place after others moved. `forbidden` are locations that it must not reach.
    fn check_steps(
        &self,
        position: usize,
        at: At,
        places: &Places,
        moved: &State,
        forbidden: &[usize],
    ) -> Result<(), ProofError> {
        let thread = self.thread(position);
        let text = "what is said of a place stays true";
        let location = match at {
            At::Location(location) => location,
            At::BeforeStart => {
                // It may have been started.
                let mine = place(self.part.order[position]);
                let mut started = moved.clone();
                started.facts.push(moved.value(&mine.term()).equals(&Term::int(thread.entry as i128)));
                started.values.insert(mine, Term::int(thread.entry as i128));
                let said = self.arrive(position, thread.entry, places, &started, forbidden, text)?;
                return claim(said, "something is said of where a thread starts");
            }
        };
        let mut open = vec![(location, moved.clone())];
        let mut length = 0;
        while let Some((from, state)) = open.pop() {
            length += 1;
            claim(length <= LONGEST, "runs of which nothing is written down are short")?;
            for step in &thread.steps[from] {
                let mut next = state.clone();
                next.step(step);
                let target = step.target.0 as usize;
                next.values.insert(place(self.part.order[position]), Term::int(target as i128));
                for child in &step.starts {
                    let entry = self.view.threads[*child].entry;
                    next.values.insert(place(*child), Term::int(entry as i128));
                }
                if !self.arrive(position, target, places, &next, forbidden, text)? {
                    open.push((target, next));
                }
            }
        }
        Ok(())
    }

    /// Checks the formula of the place where the thread at a position arrives. Returns `false` when there is
    /// none.
    fn arrive(
        &self,
        position: usize,
        target: usize,
        places: &Places,
        state: &State,
        forbidden: &[usize],
        text: &str,
    ) -> Result<bool, ProofError> {
        if forbidden.contains(&target) {
            return self.follows(state, &Term::bool(false), "an error is not reached").map(|()| true);
        }
        match At::Location(target).of(places) {
            Some(formula) => self.follows(state, &state.value(formula), text).map(|()| true),
            None => {
                claim(
                    self.thread(position).atomic[target],
                    "something is said of each place where others run",
                )?;
                Ok(false)
            }
        }
    }

    fn check_main(&self) -> Result<(), ProofError> {
        let main = self.part.order[0];
        let errors = &self.part.errors;
        let of_main: Vec<usize> =
            errors.iter().filter(|(thread, _)| *thread == main).map(|(_, at)| at.0 as usize).collect();
        claim(!of_main.contains(&self.thread(0).entry), "the main thread does not start at an error")?;
        self.check_start(0, &self.part.main)?;
        let moves = self.moves_after(0);
        for (at, cut) in self.places(0) {
            let Some(formula) = at.of(&self.part.main) else { continue };
            if matches!(at, At::Location(location) if of_main.contains(&location)) {
                continue;
            }
            let mut state = self.state(0, at, formula);
            if cut {
                self.others_move(0, at, &moves, &mut state);
                for (thread, location) in errors.iter().filter(|(thread, _)| *thread != main) {
                    let there = place(*thread).term().equals(&Term::int(i128::from(location.0)));
                    self.follows(&state, &state.value(&there.not()), "an error is not reached")?;
                }
            }
            self.check_steps(0, at, &self.part.main, &state, &of_main)?;
        }
        Ok(())
    }

    /// Checks a claim about the threads after a position.
    fn check_claim(&self, position: usize, said: &QueriesClaim) -> Result<(), ProofError> {
        let position = position + 1;
        claim(position < self.part.order.len(), "a claim is about some threads")?;
        self.check_start(position, &said.reachable)?;
        let all = self.moves_of_all(position);
        let moves = self.moves_after(position);
        for (at, cut) in self.places(position) {
            if let Some(formula) = at.of(&said.reachable) {
                let mut state = self.state(position, at, formula);
                if cut {
                    self.others_move(position, at, &all, &mut state);
                    self.check_begin(position, at, said, &state)?;
                }
                self.check_steps(position, at, &said.reachable, &state, &[])?;
            }
            if let Some(formula) = at.of(&said.moving) {
                let mut state = self.state(position, at, formula);
                if cut {
                    if !self.part.order[position + 1..].is_empty() {
                        self.others_move(position, at, &moves, &mut state);
                    }
                    let excluded = state.value(&said.after).not();
                    self.follows(&state, &excluded, "what is claimed not to be reached is not")?;
                }
                self.check_steps(position, at, &said.moving, &state, &[])?;
            }
        }
        Ok(())
    }

    /// Checks that the `moving` formulas of a claim hold when its first formula does.
    fn check_begin(
        &self,
        position: usize,
        at: At,
        said: &QueriesClaim,
        state: &State,
    ) -> Result<(), ProofError> {
        let mut state = state.clone();
        if at == At::BeforeStart {
            let mine = place(self.part.order[position]);
            state.facts.push(state.value(&mine.term()).equals(&Term::int(BEFORE_START)));
            state.values.insert(mine, Term::int(BEFORE_START));
        }
        let holds = state.value(&said.before);
        state.facts.push(holds);
        let now: Vec<(Variable, Term)> =
            self.view.variables.keys().map(|v| (old(v), state.value(&v.term()))).collect();
        state.values.extend(now);
        let missing = || ProofError::Claim("something is said of each place where others run".to_owned());
        let formula = at.of(&said.moving).ok_or_else(missing)?;
        self.follows(&state, &state.value(formula), "what is said since a formula held is true when it does")
    }
}
