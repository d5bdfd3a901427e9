//! The engine: CIRC and ω-CIRC (paper 1, algorithm 5 and section 5) over programs as transitions, with
//! predicates.
//!
//! Starts without predicates and with k = 1, as in section 2.4. A spurious abstract trace gives a larger k or
//! new predicates; a feasible one gives a schedule, and the engine searches for an execution of the program
//! itself along it.

use crate::collapse::Watched;
use crate::infer::{Inferred, infer};
use crate::omega::omega_infer;
use crate::predicate_thread::{MOST_PREDICATES, PredicateThread};
use crate::prove::proof;
use crate::reach::AbstractTrace;
use crate::refine::{Automata, Interleaving, interleaving};
use executions::guided::follow;
use ir::{Count, ErrorKind, IdVec, Span, TemplateId};
use sequential::predicates::{End, Feasibility, Path, PathEnd, PathStep, Vocabulary, mine, schedule};
use smt::expressions::Mode;
use std::collections::BTreeSet;
use transitions::{Scoped, System, prepare, require_all_behaviours, require_few_edges};
use verdict::{
    Analysed, Budget, Engine, Event, Events, Exhausted, Predicate, Proof, Property, Reason, Schedule, Task,
    Trace, Turn, Verdict, Views, with_source_names,
};

/// The greatest k.
const LARGEST_K: u32 = 6;

/// The engine, by how contexts are inferred.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ContextInference {
    /// CIRC: for any number of threads from the start.
    Circ,
    /// ω-CIRC: for few threads at first, and CIRC if that does not suffice.
    #[default]
    OmegaCirc,
}

impl Engine for ContextInference {
    fn name(&self) -> &'static str {
        "context"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        let none = BTreeSet::new();
        let (races, kinds) = match task.property {
            Property::NoError(kinds) => (false, kinds),
            Property::NoRace => (true, &none),
            Property::NoDeadlock => {
                return Verdict::Unknown(not_supported("deadlocks are not looked for"));
            }
            Property::NoLeak(_) => {
                return Verdict::Unknown(not_supported("allocated memory is not followed"));
            }
        };
        let found = match search(*self, task, races, kinds, budget, events) {
            // Few threads may reach errors by traces that do not reveal the reason.
            Err(Reason::GaveUp(_)) if *self == Self::OmegaCirc => {
                search(Self::Circ, task, races, kinds, budget, events)
            }
            found => found,
        };
        found.unwrap_or_else(Verdict::Unknown)
    }
}

fn not_supported(what: &str) -> Reason {
    Reason::NotSupported(format!("context: {what}"), Span::default())
}

/// The program that proofs by contexts are about: steps are composed, and it starts as one thread.
pub fn analysed_program<'v>(
    program: &'v Views,
    property: &Property,
    budget: &Budget,
) -> Result<&'v Analysed, Reason> {
    prepared(program, *property == Property::NoRace, budget)
}

fn prepared<'v>(program: &'v Views, races: bool, budget: &Budget) -> Result<&'v Analysed, Reason> {
    let prepared = prepare(program, races, budget).map_err(|why| why.reason("context"))?;
    let code = |template: TemplateId| &prepared.templates[template];
    let begins_atomic = |template: TemplateId| code(template).locations[code(template).entry].runs_alone();
    match prepared.start.as_slice() {
        // There is at most one thread that starts in an atomic location: no other thread could run when a
        // second one starts.
        [(first, Count::Exactly(1))]
            if !prepared.templates.ids().any(|template| template != *first && begins_atomic(template)) =>
        {
            Ok(prepared)
        }
        [(_, Count::Exactly(1))] => Err(not_supported("a thread begins in an atomic region")),
        _ => Err(not_supported("the program does not start as one thread")),
    }
}

fn search(
    method: ContextInference,
    task: Task<'_>,
    races: bool,
    kinds: &BTreeSet<ErrorKind>,
    budget: &Budget,
    events: &dyn Events,
) -> Result<Verdict, Reason> {
    let program = prepared(task.program, races, budget)?;
    require_few_edges(program, "context")?;
    let system = if races {
        System::with_accesses(program, Mode::Integers)
    } else {
        System::new(program, Mode::Integers)
    };
    let scoped = Scoped::new(&system, &|| budget.check(0).is_err())
        .ok_or_else(|| not_supported("other threads run the function of the first one, too"))?;
    let mut vocabulary = Vocabulary::default();
    // Algorithm 5, lines 1 and 2.
    let mut k = 1;
    for round in 1.. {
        budget.check(0).map_err(Reason::Exhausted)?;
        let predicates = vocabulary.predicates.clone();
        if predicates.len() > MOST_PREDICATES {
            return Err(Reason::GaveUp(format!("context: more than {MOST_PREDICATES} predicates")));
        }
        let names: Vec<String> =
            predicates.iter().map(|predicate| with_source_names(&predicate.formula).to_string()).collect();
        events.event(Event::Phase(format!("context: round {round}, k = {k}: {}", names.join(", "))));
        let threads: IdVec<TemplateId, PredicateThread<'_, '_>> = program
            .templates
            .ids()
            .map(|template| PredicateThread::new(&scoped, template, &predicates, kinds))
            .collect();
        // Lines 4 to 9.
        let inferred = match method {
            ContextInference::Circ => infer(&threads, &program.start, k, &Watched::All, budget),
            ContextInference::OmegaCirc => omega_infer(&threads, &program.start, k, &Watched::All, budget),
        };
        match inferred.map_err(|why| why.reason("context"))? {
            Inferred::Safe(acfas, proved) => {
                require_all_behaviours(program)?;
                let lines = scoped
                    .accesses
                    .iter()
                    .map(|access| program.templates[access.template].edges[access.edge].span.line);
                let proof = proof(&threads, &predicates, &acfas, &proved, lines.collect());
                return Ok(Verdict::Safe(Proof::Context(Box::new(proof))));
            }
            Inferred::Error(_, trace, assumed) => {
                let mut refinement =
                    Refinement { task, budget, scoped: &scoped, vocabulary: &mut vocabulary, events };
                // Lines 10 to 16.
                match refinement.refine(&trace, &assumed)? {
                    Refined::Verdict(verdict) => return Ok(verdict),
                    Refined::Predicates => {}
                    Refined::Counters if k < LARGEST_K => k += 1,
                    Refined::Counters => {
                        return Err(Reason::GaveUp(format!("context: counting up to {k} is not enough")));
                    }
                }
            }
        }
    }
    Err(Reason::GaveUp("context: no more rounds".to_owned()))
}

/// The result of refining an abstract trace.
enum Refined {
    Verdict(Verdict),
    Predicates,
    Counters,
}

struct Refinement<'a, 'p> {
    task: Task<'a>,
    budget: &'a Budget,
    scoped: &'a Scoped<'p>,
    vocabulary: &'a mut Vocabulary,
    events: &'a dyn Events,
}

impl Refinement<'_, '_> {
    fn refine(&mut self, trace: &AbstractTrace<usize>, assumed: &Automata) -> Result<Refined, Reason> {
        let found = match interleaving(self.scoped, assumed, trace) {
            Interleaving::Steps(found) => found,
            Interleaving::TooFew => return Ok(Refined::Counters),
            Interleaving::NoPath => {
                return Err(Reason::GaveUp("context: a counterexample cannot be followed".to_owned()));
            }
        };
        let mut paths = Vec::new();
        let mut not_found = None;
        for steps in found.orders() {
            let path = Path::with_end(self.scoped, &steps, found.end.as_ref())
                .ok_or_else(|| Reason::GaveUp("context: a counterexample cannot be followed".to_owned()))?;
            match path.check(self.budget) {
                Feasibility::Infeasible(core) => paths.push((steps, path, core)),
                Feasibility::Unknown(why) => return Err(why.reason("context")),
                Feasibility::Feasible(inputs) => {
                    let schedule = schedule(self.scoped, &steps, &inputs);
                    match self.execution(&schedule, found.end.as_ref()) {
                        Some(trace) => return Ok(Refined::Verdict(Verdict::Unsafe(trace))),
                        None => {
                            let text = "no execution was found along a violation of the formulas";
                            not_found = Some(Reason::Approximate(text.to_owned()));
                        }
                    }
                }
            }
        }
        if let Some(reason) = not_found {
            return Err(reason);
        }
        let line = |taken: &PathStep| self.scoped.span(&self.scoped.steps[taken.step]).line.to_string();
        let lines: Vec<String> = paths.iter().take(1).flat_map(|(steps, _, _)| steps).map(line).collect();
        let lines = lines.join(", ");
        self.events.event(Event::Phase(format!("context: no execution takes lines {lines}")));
        for (_, path, core) in &paths {
            // Predicates that do not depend on the initial state exclude more.
            if self.mine(path, core)? {
                return Ok(Refined::Predicates);
            }
            match path.check_from(End::First, self.budget) {
                Feasibility::Infeasible(core) if self.mine(path, &core)? => return Ok(Refined::Predicates),
                Feasibility::Infeasible(_) | Feasibility::Feasible(_) => {}
                Feasibility::Unknown(why) => return Err(why.reason("context")),
            }
        }
        Err(Reason::GaveUp(format!(
            "context: no predicates of one thread exclude an execution that does not exist (lines {lines})"
        )))
    }

    /// An execution of the program along a schedule. For a race one of the two threads may have to take
    /// another step, into an atomic block, for its access.
    fn execution(&self, schedule: &Schedule, end: Option<&PathEnd>) -> Option<Trace> {
        let along =
            |schedule: &Schedule| follow(self.task.program, self.task.property, schedule, self.budget);
        along(schedule).or_else(|| {
            let last = end.iter().flat_map(|end| end.threads).collect::<Vec<usize>>();
            last.into_iter().find_map(|thread| {
                let mut longer = schedule.clone();
                longer.turns.push(Turn { thread, spans: Vec::new(), inputs: Vec::new() });
                along(&longer)
            })
        })
    }

    /// Adds the predicates that a clash gives; says whether any is new.
    fn mine(&mut self, path: &Path, core: &[(usize, usize)]) -> Result<bool, Reason> {
        let mined = mine(path, core, self.budget).map_err(Reason::Exhausted)?;
        let new = self.add(mined.equations)? || self.add(mined.atoms)? || self.add(mined.conditions)?;
        if !new && mined.out_of_time {
            return Err(Reason::Exhausted(Exhausted::Time));
        }
        Ok(new)
    }

    /// Adds predicates; says whether any is new.
    fn add(&mut self, predicates: Vec<Predicate>) -> Result<bool, Reason> {
        let mut new = false;
        for predicate in predicates {
            new |= self.vocabulary.add(self.scoped, predicate, self.budget).map_err(Reason::Exhausted)?;
        }
        Ok(new)
    }
}
