//! The conformance checker C(T, T#): a thread with the set of states that its abstract thread may be in, as a
//! sequential program (paper 2, sections 3 and 3.1).
//!
//! For several global variables. A program state is where the thread is, its own variables, one Boolean for
//! each abstract state (the *candidates*: the set F of the paper), and in the middle of a step the global
//! variables with their values before it. Exact with regard to the transitions of the thread, but for global
//! variables that the specification does not name: they may be anything at any time, unless no thread ever
//! changes them.
//!
//! Comments give the six lines of the instrumentation (section 3.1).
//!
//! Deviations from the paper:
//! 1. A step is an edge of the prepared program, or, from where a thread enters an atomic region to where it
//!    leaves it, all of them: others do not run there, and do not see what is in between.
//! 2. An assertion is an edge to an error location: it must not be possible where all candidates' assertions
//!    hold. This is the paper's check of `assert`.
//! 3. The first thread runs alone until it has started another: its steps up to there have nothing to match,
//!    and the start condition of the specification must hold after them.
//! 4. The argument of a thread may be anything, unless all starts pass the same number.

use indexmap::IndexMap;
use ir::specification::Thread;
use ir::{LocationId, LocationKind, TemplateId};
use sequential::{Forbidden, Node, Program, Step};
use smt::expressions::Untranslatable;
use smt::{Instance, Term, Variable};
use transitions::specification::{Meaning, before, candidate};
use transitions::{Kind, System};

/// What a step of the sequential program stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Move {
    /// Others run.
    Others,
    /// The second thread has started.
    Begin,
    /// A step of the thread, by its number.
    Own(usize),
}

/// What must not be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bad {
    /// The thread goes wrong, and its abstract thread does not.
    Error,
    /// F is empty: no candidate remains.
    NoCandidate,
    /// The start condition does not hold when the second thread starts.
    Start,
}

/// The sequential program of a thread.
pub(crate) struct Built {
    pub(crate) program: Program,
    pub(crate) moves: Vec<Move>,
    pub(crate) bad: Vec<Bad>,
    /// The nodes of each location: see [`verdict::Conformance`].
    pub(crate) alone: Vec<Option<Node>>,
    pub(crate) starting: Vec<Option<Node>>,
    pub(crate) outside: Vec<Option<Node>>,
    pub(crate) inside: Vec<Option<Node>>,
    /// The candidates, by state.
    pub(crate) candidates: Vec<Variable>,
}

/// A thread, what it must conform to, and what that means.
pub(crate) struct Builder<'a> {
    pub(crate) system: &'a System<'a>,
    pub(crate) template: TemplateId,
    pub(crate) thread: &'a Thread,
    pub(crate) meaning: &'a Meaning<'a>,
    /// The start condition, if this is the first thread.
    pub(crate) start: Option<Term>,
}

impl Builder<'_> {
    fn kind(&self, location: LocationId) -> LocationKind {
        self.system.program.templates[self.template].locations[location].kind
    }
    fn is_error(&self, location: LocationId) -> bool {
        matches!(self.kind(location), LocationKind::Error(_))
    }
    /// Whether only the thread runs while it is at a location.
    fn is_atomic(&self, location: LocationId) -> bool {
        self.system.program.templates[self.template].locations[location].runs_alone()
    }

    /// The variables that others may change, each with what always holds of it.
    fn global(&self) -> IndexMap<Variable, Term> {
        let mut found: IndexMap<Variable, Term> =
            self.meaning.ranges().map(|(variable, range)| (variable.clone(), range)).collect();
        for shared in &self.system.shared {
            if !found.contains_key(&shared.variable) && constant(self.system, &shared.variable).is_none() {
                found.insert(shared.variable.clone(), self.system.ranges([shared]));
            }
        }
        found
    }

    /// Makes the program.
    pub(crate) fn build(&self) -> Result<Built, Untranslatable> {
        let global = self.global();
        let candidates: Vec<Variable> = self
            .thread
            .states
            .iter()
            .enumerate()
            .map(|(number, state)| candidate(number, &state.name))
            .collect();
        let mut variables = global.clone();
        for variable in self.meaning.variables() {
            variables.insert(before(variable), Term::bool(true));
        }
        for shared in &self.system.shared {
            if let Some(value) =
                constant(self.system, &shared.variable).filter(|_| !global.contains_key(&shared.variable))
            {
                variables.insert(shared.variable.clone(), shared.variable.term().equals(&value));
            }
        }
        for own in &self.system.own[self.template] {
            if !variables.contains_key(&own.variable) {
                let range = match own.kind {
                    Kind::Myself => self.system.is_thread_id(&own.variable.term()),
                    _ => self.system.ranges([own]),
                };
                variables.insert(own.variable.clone(), range);
            }
        }
        for candidate in &candidates {
            variables.insert(candidate.clone(), Term::bool(true));
        }
        let mut built = Built {
            program: Program::new(variables, self.initial(&candidates)),
            moves: Vec::new(),
            bad: Vec::new(),
            alone: Vec::new(),
            starting: Vec::new(),
            outside: Vec::new(),
            inside: Vec::new(),
            candidates,
        };
        let nodes = self.nodes(&mut built);
        self.others_move(&mut built, &nodes, &global)?;
        self.own_steps(&mut built, &nodes)?;
        self.begin(&mut built, &nodes);
        Ok(built)
    }

    /// Start = Init × {Init#}: `F := λy ∈ N. y ∈ I`.
    fn initial(&self, candidates: &[Variable]) -> Term {
        let me = self.system.own_of(self.template, &Kind::Myself).map(Variable::term);
        if self.start.is_some() {
            let one = self.system.number(1, self.system.program.data_model.pointer());
            return self.system.initial().and(&self.system.entry(self.template, &[], &one));
        }
        let me = me.unwrap_or_else(|| Term::int(0));
        let chosen = candidates.iter().enumerate().map(|(number, candidate)| {
            candidate.term().equals(&Term::bool(self.thread.initial.contains(&number)))
        });
        Term::all([self.system.entry(self.template, &[], &me), known_arguments(self.system, self.template)])
            .and(&Term::all(chosen))
    }

    fn nodes(&self, built: &mut Built) -> Nodes {
        let code = &self.system.program.templates[self.template];
        let mut nodes = Nodes { open: Vec::new(), begin: Vec::new(), error: 0 };
        for location in code.locations.ids() {
            let number = location.0;
            let (error, atomic) = (self.is_error(location), self.is_atomic(location));
            let first = self.start.is_some() && !error;
            let program = &mut built.program;
            let mut node = |wanted: bool, name: &str, kept: bool| {
                wanted.then(|| program.node(format!("{name} {number}"), kept))
            };
            built.alone.push(node(first, "alone", false));
            built.starting.push(node(first && atomic, "starting", false));
            nodes.begin.push(node(first && !atomic, "begin", false));
            let enters = !error && (!atomic || location == code.entry);
            built.outside.push(node(enters, "outside", true));
            nodes.open.push(node(!error && !atomic, "open", false));
            built.inside.push(node(!error && atomic, "inside", false));
        }
        nodes.error = built.program.node("error", false);
        built.program.forbidden.push(Forbidden { node: nodes.error, formula: Term::bool(true) });
        built.bad.push(Bad::Error);
        let entry = code.entry.0 as usize;
        let of_entry = if self.start.is_some() { built.alone[entry] } else { built.outside[entry] };
        built.program.entry = of_entry.unwrap_or(nodes.error);
        // (1) assert ⋁ F[x].
        let none = Term::all(built.candidates.iter().map(|candidate| candidate.term().not()));
        for node in built.outside.iter().flatten() {
            built.program.forbidden.push(Forbidden { node: *node, formula: none.clone() });
            built.bad.push(Bad::NoCandidate);
        }
        nodes
    }

    /// Others run: global variables become anything that the assertions of all candidates allow. Lines (5)
    /// and (6) of the step before are one step with line (2) of the next one.
    fn others_move(
        &self,
        built: &mut Built,
        nodes: &Nodes,
        global: &IndexMap<Variable, Term>,
    ) -> Result<(), Untranslatable> {
        let new: IndexMap<Variable, Variable> =
            global.keys().map(|v| (v.clone(), v.instance(Instance::New))).collect();
        // (5) havoc v.
        let mut guard: Vec<Term> =
            global.iter().map(|(v, range)| range.rename(|_| Some(new[v].clone()))).collect();
        // (2) assume ⋀ F[x] ⇒ A(x).
        for (state, candidate) in self.thread.states.iter().zip(&built.candidates) {
            let holds = self.meaning.condition(&state.assertion)?;
            guard.push(candidate.term().implies(&holds.rename(|variable| new.get(variable).cloned())));
        }
        let guard = Term::all(guard);
        let mut updates: IndexMap<Variable, Term> =
            new.iter().map(|(variable, input)| (variable.clone(), input.term())).collect();
        // (6) u := v.
        updates.extend(self.meaning.variables().map(|variable| (before(variable), new[variable].term())));
        for location in 0..built.outside.len() {
            let (Some(source), Some(target)) =
                (built.outside[location], nodes.open[location].or(built.inside[location]))
            else {
                continue;
            };
            let inputs = new.values().cloned().collect();
            let step = Step { source, target, guard: guard.clone(), updates: updates.clone(), inputs };
            built.push(step, Move::Others);
        }
        Ok(())
    }

    /// The steps of the thread. One to an error is the paper's check of `assert`: it must not be possible
    /// where (2) holds.
    fn own_steps(&self, built: &mut Built, nodes: &Nodes) -> Result<(), Untranslatable> {
        // T(x, y) for all pairs of abstract states.
        let count = self.thread.states.len();
        let mut relations: Vec<(usize, usize, Term)> = Vec::new();
        for source in 0..count {
            for target in 0..count {
                relations.push((source, target, self.meaning.relation(self.thread, source, target)?));
            }
        }
        let steps = self.system.steps.iter().enumerate();
        for (number, step) in steps.filter(|(_, step)| step.template == self.template) {
            let (from, to) = (step.source.0 as usize, step.target.0 as usize);
            let (error, atomic) = (self.is_error(step.target), self.is_atomic(step.target));
            let or_error = |node: Option<Node>| if error { Some(nodes.error) } else { node };
            // (3) st.
            let plain = |source: Node, target: Node| Step {
                source,
                target,
                guard: step.guard.clone(),
                updates: step.updates.clone(),
                inputs: step.inputs.clone(),
            };
            let begun = if atomic { built.starting[to] } else { nodes.begin[to] };
            let after_alone = if step.starts.is_empty() { built.alone[to] } else { begun };
            let edges = [(built.alone[from], or_error(after_alone)), (built.starting[from], or_error(begun))];
            for (source, target) in edges {
                if let (Some(source), Some(target)) = (source, target) {
                    built.push(plain(source, target), Move::Own(number));
                }
            }
            for source in [nodes.open[from], built.inside[from]].into_iter().flatten() {
                if error || atomic {
                    if let Some(target) = or_error(built.inside[to]) {
                        built.push(plain(source, target), Move::Own(number));
                    }
                    continue;
                }
                let Some(target) = built.outside[to] else { continue };
                let mut own = plain(source, target);
                // (4) F := λy. ⋁ F[x] ∧ T(x, y)[u/v, v/v'].
                for (state, candidate) in built.candidates.iter().enumerate() {
                    let into = relations.iter().filter(|(_, target, _)| *target == state);
                    let sources = into.map(|(source, _, relation)| {
                        built.candidates[*source].term().and(&relation.substitute(&step.updates))
                    });
                    own.updates.insert(candidate.clone(), Term::any(sources.collect::<Vec<_>>()));
                }
                built.push(own, Move::Own(number));
            }
        }
        Ok(())
    }

    /// The first thread is not alone any more.
    fn begin(&self, built: &mut Built, nodes: &Nodes) {
        let Some(start) = &self.start else { return };
        for location in 0..nodes.begin.len() {
            let (Some(source), Some(target)) = (nodes.begin[location], built.outside[location]) else {
                continue;
            };
            built.program.forbidden.push(Forbidden { node: source, formula: start.not() });
            built.bad.push(Bad::Start);
            let chosen = built.candidates.iter().enumerate().map(|(number, candidate)| {
                (candidate.clone(), Term::bool(self.thread.initial.contains(&number)))
            });
            let updates = chosen.collect();
            let step = Step { source, target, guard: Term::bool(true), updates, inputs: vec![] };
            built.push(step, Move::Begin);
        }
    }
}

impl Built {
    fn push(&mut self, step: Step, what: Move) {
        if !step.guard.is_false() {
            self.program.steps.push(step);
            self.moves.push(what);
        }
    }
}

/// Nodes without an invariant.
struct Nodes {
    /// After what others do.
    open: Vec<Option<Node>>,
    /// Where the first thread has started the second one.
    begin: Vec<Option<Node>>,
    error: Node,
}

/// The value of a shared variable that no step changes.
pub(crate) fn constant(system: &System<'_>, variable: &Variable) -> Option<Term> {
    if system.steps.iter().any(|step| step.updates.contains_key(variable)) {
        return None;
    }
    let first = system.shared.iter().find(|shared| shared.variable == *variable)?.first.clone()?;
    first.is_literal().then_some(first)
}

/// What holds of the parameters of a thread when it starts, where all who start it give the same numbers.
fn known_arguments(system: &System<'_>, template: TemplateId) -> Term {
    let starts: Vec<&transitions::Start> = system
        .steps
        .iter()
        .flat_map(|step| &step.starts)
        .filter(|start| start.template == template)
        .collect();
    let facts = system.own[template].iter().filter_map(|own| {
        let Kind::Local(local) = own.kind else { return None };
        let mut given = starts.iter().map(|start| start.parameters.get(local.0 as usize));
        let value = given.next()??;
        (value.is_literal() && given.all(|other| other == Some(value)))
            .then(|| own.variable.term().equals(value))
    });
    Term::all(facts)
}
