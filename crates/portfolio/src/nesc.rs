//! The listing of the shared variables of a program from nesC: for each, whether there is a race on it.
//!
//! First `flow` considers all variables at once, as threads that interleave freely, which over-approximates
//! one processor; it runs again without those that it leaves open, so that there is one proof for the others.
//! Then each remaining variable is decided alone, with the portfolio or the selected engine, on the exact
//! program ([`ir::passes::interrupts::run_to_completion`]), in a part of the time. In parallel and
//! afterwards, searches look for races on all of them ([`engine_explicit::races_by_firings`]): moves that
//! lead to one race, such as receiving a message, often lead to others, too.

use crate::pipeline::{self, Attempted, Given};
use crate::race_names::{Variable, is_variable};
use checker::Checked;
use ir::ids::Id;
use ir::passes::footprint::accesses;
use ir::passes::interrupts::run_to_completion;
use ir::passes::{Forgetting, PointsTo, concrete, footprint};
use ir::{Callee, Count, IdVec, ObjectId, Op, Program, Range, Storage, Targets, TemplateId};
use report::{Outcome, Tried};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use verdict::{
    Budget, Cancel, Check, Engine, Event, Events, Property, Reason, Silent, Task, Trace, Verdict, Views,
};

/// How often `flow` runs on all remaining variables.
const ROUNDS: usize = 4;
/// The fraction of the time that is reserved for the report.
const RESERVE: u32 = 20;
/// Deeply nested programs need a deep stack.
const STACK: usize = 512 << 20;
/// The fraction of the time that it may then take.
const SHARE: u32 = 3;

/// The question about a program.
pub struct Question<'a> {
    /// The program, as the front end made it.
    pub program: &'a Program,
    /// The variables; `None` for all shared ones.
    pub variables: Option<Vec<Variable>>,
    /// The engine for races in a program, if nothing simpler decides.
    pub answer: &'a dyn Fn(&Program, &Budget) -> Outcome,
    /// Whether `flow` comes first.
    pub flow_first: bool,
    /// Whether to search for races on all variables at once.
    pub search: bool,
    /// The total budget.
    pub budget: Budget,
    /// Receives the status of the variable with a number, at first and after each update, so that the whole
    /// listing is available at any time.
    pub keep: &'a dyn Fn(usize, Outcome),
}

/// Decides all variables, in the order of their declaration. Says how many there are.
pub fn list(question: &Question<'_>) -> usize {
    // Time for the report is reserved.
    let budget = question.budget.most_of(RESERVE - 1, RESERVE);
    let threads = concrete(question.program, pipeline::lowering(Check::Races));
    let (shared, other) = shared(&threads);
    let variables = question.variables.clone().unwrap_or(shared);
    let open = |variable: &Variable| {
        let reason = Reason::GaveUp("a limit came before it was looked at".to_owned());
        outcome(&variable.name, Checked::Unknown(reason), Instant::now(), Vec::new())
    };
    for (index, variable) in variables.iter().enumerate() {
        (question.keep)(index, open(variable));
    }
    let mut count = variables.len();
    if let (None, Some(object)) = (&question.variables, other) {
        let object = &threads.objects[object];
        let what = "memory that is no global variable is shared".to_owned();
        let verdict = Checked::Unknown(Reason::NotSupported(what, object.span));
        (question.keep)(count, outcome(&object.name, verdict, Instant::now(), Vec::new()));
        count += 1;
    }
    let mut left: Vec<usize> = (0..variables.len()).collect();
    if question.flow_first {
        left = prove_jointly(question, &threads, &variables);
    }
    let exact = run_to_completion(&threads);
    let rest = Undecided { question, variables: &variables, threads: &threads, exact: &exact, budget };
    rest.decide(left);
    count
}

/// The variables that are not decided jointly.
struct Undecided<'a> {
    question: &'a Question<'a>,
    variables: &'a [Variable],
    /// The program whose threads interleave freely, and the exact one.
    threads: &'a Program,
    exact: &'a Program,
    budget: Budget,
}

/// How often to check whether the search may begin.
const INTERVAL: Duration = Duration::from_millis(20);
/// The time that engines have before the search begins. It decides who finds a race, not whether one is
/// found.
const HEAD_START: Duration = Duration::from_secs(2);

/// The fraction of the time that engines have for single variables, and the minimum; then a second search
/// takes their place.
const PART: u32 = 4;
const LEAST: Duration = Duration::from_secs(60);

/// The current variable, and how to cancel its engine.
type Current = Mutex<Option<(Range, Cancel)>>;
/// A race that was found.
type Found = (Range, Trace);

/// State that searches and engines share.
struct Searches<'a> {
    program: &'a Program,
    budget: Budget,
    current: Current,
    /// The undecided variables.
    open: Mutex<Vec<Range>>,
}

impl Searches<'_> {
    /// Searches for races on all undecided variables.
    fn run(&self, seed: u64, found: &Sender<Found>) {
        let mut tell = |range, trace| {
            let _ = found.send((range, trace));
            if let Some((_, cancel)) = hold(&self.current).as_ref().filter(|(other, _)| *other == range) {
                cancel.cancel();
            }
        };
        let is_open = |range| hold(&self.open).contains(&range);
        let search =
            || engine_explicit::races_by_firings(self.program, seed, &self.budget, &is_open, &mut tell);
        // A crashed search finds nothing more.
        let _ = catch_unwind(AssertUnwindSafe(search));
    }
}

fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Undecided<'_> {
    fn decide(&self, mut left: Vec<usize>) {
        let range = |index: &usize| self.variables[*index].range;
        let ranges: Vec<Range> = left.iter().map(range).collect();
        let program = Program { races_on: Some(ranges.clone()), ..self.exact.clone() };
        let over = Cancel::default();
        let budget = Budget { cancel: over.clone(), ..self.budget.apart() };
        let (sender, found) = mpsc::channel();
        let (current, open) = (Current::default(), Mutex::new(ranges));
        let searches = Searches { program: &program, budget, current, open };
        let (started, engines_ended) = (Instant::now(), Cancel::default());
        std::thread::scope(|scope| {
            let start = |seed, sender: Sender<Found>| {
                let (searches, engines_ended) = (&searches, &engines_ended);
                let search = move || {
                    while !engines_ended.is_cancelled()
                        && started.elapsed() < HEAD_START
                        && searches.budget.look(0).is_ok()
                    {
                        std::thread::sleep(INTERVAL);
                    }
                    searches.run(seed, &sender);
                };
                let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, search);
            };
            if self.question.search && !left.is_empty() {
                // Traces that engines find at once are shorter, and always the same.
                start(0, sender.clone());
                let part = self.budget.remaining().map(|left| (left / PART).max(LEAST));
                let part = part.map_or(self.budget.clone(), |time| self.budget.within(time));
                self.one_by_one(&mut left, &found, &searches, &part);
                engines_ended.cancel();
                start(1, sender);
                // Both searches end with their budget, and then the channel does.
                while !left.is_empty() {
                    *hold(&searches.open) = left.iter().map(range).collect();
                    match found.recv() {
                        Ok(race) => self.refute(&mut left, race),
                        Err(_) => break,
                    }
                }
            }
            // There are no searches, or they have ended.
            self.one_by_one(&mut left, &found, &searches, &self.budget);
            over.cancel();
        });
    }

    /// Decides variables one after the other. Removes decided ones from the undecided.
    fn one_by_one(
        &self,
        left: &mut Vec<usize>,
        found: &Receiver<Found>,
        searches: &Searches<'_>,
        budget: &Budget,
    ) {
        if left.is_empty() || budget.look(0).is_err() {
            return;
        }
        let parts = [Forgetting::of(self.threads), Forgetting::of(self.exact)];
        let all = left.clone();
        for (done, index) in all.iter().copied().enumerate() {
            found.try_iter().for_each(|race| self.refute(left, race));
            *hold(&searches.open) = left.iter().map(|index| self.variables[*index].range).collect();
            if !left.contains(&index) {
                continue;
            }
            let open = all[done..].iter().filter(|other| left.contains(*other)).count();
            let budget = Budget { cancel: Cancel::default(), ..budget.part(open as u32) };
            let started = Instant::now();
            let (name, range) = (&self.variables[index].name, self.variables[index].range);
            let now = |what| *hold(&searches.current) = what;
            now(Some((range, budget.cancel.clone())));
            let part =
                if self.question.flow_first { prove_on_slice(&parts, name, range, &budget) } else { None };
            let outcome = part.unwrap_or_else(|| {
                let program = Program { races_on: Some(vec![range]), ..self.question.program.clone() };
                Outcome { variable: Some(name.clone()), ..(self.question.answer)(&program, &budget) }
            });
            now(None);
            found.try_iter().for_each(|race| self.refute(left, race));
            if left.contains(&index) {
                if !matches!(outcome.verdict, Checked::Unknown(_)) {
                    left.retain(|other| *other != index);
                }
                (self.question.keep)(index, Outcome { seconds: started.elapsed().as_secs_f64(), ..outcome });
            }
        }
    }

    /// Records a race, if it can be replayed.
    fn refute(&self, left: &mut Vec<usize>, (range, trace): Found) {
        let Some(at) = left.iter().position(|index| self.variables[*index].range == range) else { return };
        let started = Instant::now();
        let program = Program { races_on: Some(vec![range]), ..self.exact.clone() }.into();
        let task = Task { program: &program, property: &Property::NoRace };
        let budget = &self.budget;
        let given = Given { engine: "explicit", verdict: Verdict::Unsafe(trace) };
        let Attempted { verdict, tried, .. } = pipeline::attempt(task, &given, budget, budget, &Silent);
        if matches!(verdict, Checked::Refuted(_)) {
            let index = left.remove(at);
            let found = outcome(&self.variables[index].name, verdict, started, vec![tried]);
            (self.question.keep)(index, found);
        }
    }
}

/// The result for races on one variable.
pub(crate) fn outcome(variable: &str, verdict: Checked, started: Instant, tries: Vec<Tried>) -> Outcome {
    let (check, variable) = (Check::Races, Some(variable.to_owned()));
    let seconds = started.elapsed().as_secs_f64();
    Outcome { check, variable, verdict, decisions: None, seconds, tries }
}

/// A proof about a variable in the program without most other variables.
fn prove_on_slice(parts: &[Forgetting], name: &str, range: Range, budget: &Budget) -> Option<Outcome> {
    let engines: [(&dyn Engine, u32); 2] = [(&engine_flow::Flow, 16), (&engine_horn::Horn, 12)];
    let started = Instant::now();
    for (engine, part) in engines {
        for forgetting in parts {
            for kept in forgetting.candidates(range.object) {
                let Some(program) = forgetting.keep(&kept, range) else { continue };
                let (share, program) = (budget.part(part), program.into());
                let task = Task { program: &program, property: &Property::NoRace };
                let Attempted { verdict, tried, .. } =
                    pipeline::attempt(task, engine, &share, budget, &Silent);
                if matches!(verdict, Checked::Proved(_)) {
                    return Some(outcome(name, verdict, started, vec![tried]));
                }
            }
        }
    }
    None
}

/// Decides variables jointly with `flow`. Returns the remaining ones.
fn prove_jointly(question: &Question<'_>, program: &Program, variables: &[Variable]) -> Vec<usize> {
    let all: Vec<usize> = (0..variables.len()).collect();
    let started = Instant::now();
    let budget = question.budget.part(SHARE);
    let mut hopeful = all.clone();
    for _ in 0..ROUNDS {
        if hopeful.is_empty() {
            break;
        }
        let ranges = hopeful.iter().map(|index| variables[*index].range).collect();
        let program = Views::from(Program { races_on: Some(ranges), ..program.clone() });
        let conflicts = Conflicts::default();
        let task = Task { program: &program, property: &Property::NoRace };
        let verdict = engine_flow::Flow.verify(task, &budget, &conflicts);
        if let Ok(Checked::Proved(proof)) = checker::examine(&program, &Property::NoRace, verdict, &budget) {
            for index in &hopeful {
                let verdict = Checked::Proved(proof.clone());
                (question.keep)(*index, outcome(&variables[*index].name, verdict, started, Vec::new()));
            }
            return all.into_iter().filter(|index| !hopeful.contains(index)).collect();
        }
        let before = hopeful.len();
        let open = conflicts.0.into_inner();
        hopeful.retain(|index| !open.contains(&program.objects[variables[*index].range.object].name));
        if hopeful.len() == before {
            break;
        }
    }
    all
}

/// The names of the objects on which an engine could not exclude races.
#[derive(Default)]
struct Conflicts(RefCell<Vec<String>>);

impl Events for Conflicts {
    fn event(&self, event: Event) {
        if let Event::Attempt(attempt) = event {
            *self.0.borrow_mut() = attempt.open.into_iter().flat_map(|open| open.objects).collect();
        }
    }
}

/// Who accesses an object.
#[derive(Clone, Default)]
struct Use {
    /// The start templates that do.
    threads: Vec<TemplateId>,
    written: bool,
}

/// The global variables that two threads access and one writes; and an object of another kind for which that
/// may hold.
fn shared(program: &Program) -> (Vec<Variable>, Option<ObjectId>) {
    let points_to = PointsTo::of(program);
    let escapes = points_to.escaping(program);
    let mut uses: IdVec<ObjectId, Use> = program.objects.iter().map(|_| Use::default()).collect();
    for (root, _) in &program.start {
        let mut seen: IdVec<TemplateId, bool> = program.templates.iter().map(|_| false).collect();
        let mut queue = vec![*root];
        while let Some(id) = queue.pop() {
            if std::mem::replace(&mut seen[id], true) {
                continue;
            }
            for op in program.templates[id].edges.iter().flat_map(|edge| &edge.ops) {
                if let Op::Call(Callee::Procedure(callee), ..) = op {
                    queue.push(*callee);
                }
                for access in accesses(&points_to, id, op) {
                    for object in objects(program, &access.region) {
                        let uses = &mut uses[object];
                        uses.written |= access.write;
                        if !uses.threads.contains(root) {
                            uses.threads.push(*root);
                        }
                    }
                }
            }
        }
    }
    let several = |uses: &Use| {
        let again = |root: &TemplateId| program.start.contains(&(*root, Count::Any));
        uses.written && (uses.threads.len() > 1 || uses.threads.iter().any(again))
    };
    let found = uses.enumerate().filter(|(_, uses)| several(uses)).map(|(id, _)| id);
    let (variables, other): (Vec<ObjectId>, Vec<ObjectId>) =
        found.partition(|id| is_variable(&program.objects[*id]));
    let other = other
        .into_iter()
        .find(|id| matches!(program.objects[*id].storage, Storage::Frame(_) | Storage::Site) && escapes[*id]);
    let variable = |id: ObjectId| Variable {
        name: program.objects[id].name.clone(),
        range: Range { object: id, offset: 0, size: program.objects[id].size },
    };
    let mut variables: Vec<Variable> = variables.into_iter().map(variable).collect();
    variables
        .sort_by_key(|variable| (program.objects[variable.range.object].span, variable.range.object.index()));
    (variables, other)
}

fn objects(program: &Program, region: &footprint::Region) -> Vec<ObjectId> {
    match &region.targets {
        Targets::Of(targets) => targets.iter().map(|target| target.object).collect(),
        Targets::Any => program.objects.ids().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results so far are available at any time, so an interrupted listing can be reported.
    #[test]
    fn the_listing_is_kept_as_it_grows() {
        let text = "int safe, open;
            void __vector_1(void) __attribute((signal));
            void __vector_1(void) { safe = 1; open = open + 1; }
            extern volatile unsigned char SREG;
            typedef unsigned char __nesc_atomic_t;
            __nesc_atomic_t __nesc_atomic_start(void);
            void __nesc_atomic_end(__nesc_atomic_t);
            void __nesc_enable_interrupt(void);
            int main(void) {
              __nesc_enable_interrupt();
              while (1) {
                __nesc_atomic_t saved = __nesc_atomic_start();
                safe = 2;
                __nesc_atomic_end(saved);
                open = 0;
              }
            }";
        let source = frontend_c::Source { name: "listing.c".to_owned(), text: text.into() };
        let options = frontend_c::Options { nesc: true, ..frontend_c::Options::default() };
        let program = frontend_c::read(&[source], &options).expect("it is C");
        let kept: RefCell<Vec<(usize, String, bool)>> = RefCell::default();
        let undecided = |_: &Program, _: &Budget| {
            outcome("", Checked::Unknown(Reason::GaveUp("not asked".to_owned())), Instant::now(), Vec::new())
        };
        let question = Question {
            program: &program,
            variables: None,
            answer: &undecided,
            flow_first: true,
            search: true,
            budget: Budget::steps_for(60.0),
            keep: &|index, outcome| {
                let proved = matches!(outcome.verdict, Checked::Proved(_));
                kept.borrow_mut().push((index, outcome.variable.unwrap_or_default(), proved));
            },
        };
        assert_eq!(list(&question), 2);
        let said = |index: usize, name: &str, proved: bool| (index, name.to_owned(), proved);
        // `safe` is decided at once, before `open` is looked at.
        let expected = [said(0, "safe", false), said(1, "open", false), said(0, "safe", true)];
        let kept = kept.into_inner();
        assert_eq!(kept[..3], expected);
        assert!(kept[3..].iter().all(|(index, _, proved)| *index == 1 && !proved));
    }
}
