//! The engine: which searches to run, and what their results mean.

use crate::compact::Compact;
use crate::crowd::Crowd;
use crate::handler_fuzzer::{HandlerFuzzer, MOST_WATCHED};
use crate::search::{Outcome, Search};
use crate::walk::Walker;
use executions::model::{Facts, Model};
use executions::shorten::shorten;
use ir::semantics::{Fate as ThreadFate, Leak, LimitKind, Machine, wait_in_atomic_region};
use ir::{Count, Program, Range, Storage};
use std::sync::Arc;
use std::time::Duration;
use verdict::{
    Budget, Engine, Event, Events, Exhausted, Proof, Property, Reason, Task, Trace, Verdict, Violation,
};

/// Settings of the engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Search for a shortest execution: breadth first.
    pub shortest: bool,
    /// Use the partial-order reduction. Only tests disable it.
    pub reduce: bool,
    /// Run the searches that can prove. Only tests disable it.
    pub full: bool,
    /// Limits on the number of threads, tried in this order if a program starts more.
    pub threads: &'static [usize],
}

impl Default for Options {
    fn default() -> Self {
        Explicit::DEFAULT.options
    }
}

/// The engine.
#[derive(Clone, Default, Debug)]
pub struct Explicit {
    /// Its settings.
    pub options: Options,
}

impl Explicit {
    /// The engine with its usual settings.
    pub const DEFAULT: Self =
        Self { options: Options { shortest: false, reduce: true, full: true, threads: &[3, 5, 12, 256] } };
}

/// Steps that a search is granted the first time; each round doubles them.
const FIRST_SLICE: u64 = 20_000;
/// Steps without novelty before the handler fuzzer restarts from scratch: the first time, for each edge of
/// the program.
const PATIENCE: u64 = 20_000;
/// It is as many times longer where threads give way at a few ranges in turn, but not more.
const MOST_TURNS: u64 = 4;

/// How long rebuilding a trace may take after the time is over.
const TRACE_TIME: Duration = Duration::from_millis(100);

/// From slices of this length on, there are searches that only find violations, and walks, beside the full
/// ones.
const FIRST_WALKS: u64 = 320_000;
/// Walks of a crowd in each round.
const CROWD_WALKS: usize = 8;
/// In programs with handlers, the handler fuzzer gets this many times a search's steps.
const FUZZER_SHARE: u64 = 4;
/// A walk gets this part of a search's steps, and so does a search that only finds violations.
const WALK_SHARE: u64 = 4;

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        "explicit"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        let hides = task.program.assumptions.iter().any(|assumption| assumption.limits_proof);
        if let Some(proof) = crate::trivial::trivial(task.program, task.property).filter(|_| !hides) {
            return Verdict::Safe(proof);
        }
        if task.program.has_broadcasts() {
            let what = "steps that change local variables of other threads".to_owned();
            return Verdict::Unknown(Reason::NotSupported(what, ir::Span::default()));
        }
        if *task.property == Property::NoDeadlock
            && let Some(span) = wait_in_atomic_region(task.program)
        {
            let what = "a thread that may wait in an atomic region".to_owned();
            return Verdict::Unknown(Reason::NotSupported(what, span));
        }
        self.run(task.program, task.property, budget, events).unwrap_or_else(|limit| {
            Verdict::Unknown(Reason::TooLarge(format!("the program does not fit: {}", limit_text(limit))))
        })
    }
}

impl Explicit {
    fn run(
        &self,
        program: &Program,
        property: &Property,
        budget: &Budget,
        events: &dyn Events,
    ) -> Result<Verdict, LimitKind> {
        let facts = Arc::new(Facts::new(program));
        let verdict = self.search(program, property, budget, events, &facts)?;
        // A violation that depends on an unmodelled value is more informative than a timeout.
        Ok(match (verdict, facts.doubt.get()) {
            (Verdict::Unknown(Reason::Exhausted(Exhausted::Time | Exhausted::Memory)), Some(doubt)) => {
                let text = format!("a violation rests on a value that is not modelled{doubt}");
                Verdict::Unknown(Reason::Approximate(text))
            }
            (verdict, _) => verdict,
        })
    }

    fn search(
        &self,
        program: &Program,
        property: &Property,
        budget: &Budget,
        events: &dyn Events,
        facts: &Arc<Facts>,
    ) -> Result<Verdict, LimitKind> {
        let most = Machine::new(program)?.max_threads;
        // What is freed later is left if the program ends before, so no step may be taken at once.
        let reduce = self.options.reduce && *property != Property::NoLeak(Leak::Left);
        let mut models = Vec::new();
        for &threads in self.options.threads {
            models.push(Model::new(program, facts.clone(), property.clone(), threads.min(most), reduce)?);
        }
        let mut searches: Vec<Search<'_, '_>> = Vec::new();
        for (round, model) in models.iter().enumerate() {
            let copies = program.start.iter().map(|(_, count)| match count {
                Count::Exactly(copies) => *copies,
                Count::Any => round as u32 + 2,
            });
            searches.push(Search::new(model, copies.collect(), budget, self.options.shortest));
        }
        let any = program.start.iter().any(|(_, count)| *count == Count::Any);
        let (mut active, mut slice) = (1, FIRST_SLICE);
        let mut fate = vec![Fate::Running; searches.len()];
        if !self.options.full {
            (active, slice) = (searches.len(), FIRST_WALKS);
            fate.fill(Fate::TooLarge);
        }
        let mut walker = Walker::new();
        // For programs that start more threads than any of the searches allows.
        let mut crowd = Crowd::new();
        let mut line = Crowd::new();
        let many = Model::new(program, facts.clone(), property.clone(), most, false)?;
        if *property == Property::NoRace && !program.unordered.is_empty() {
            match crate::unordered::search(&many, &copies_of(program), budget) {
                Ok(Some(trace)) if many.is_evidence(&trace) => return Ok(Verdict::Unsafe(trace)),
                Ok(_) => {}
                Err(exhausted) => return Ok(Verdict::Unknown(Reason::Exhausted(exhausted))),
            }
        }
        let mut fuzzer = HandlerFuzzer::new(&many, copies_of(program), asked_about(program), 0)
            .filter(|_| !self.options.shortest);
        let mut compact: Vec<Option<Compact<'_, '_>>> = searches.iter().map(|_| None).collect();
        loop {
            let mut grown = false;
            for index in 0..active {
                if fate[index] != Fate::Running {
                    continue;
                }
                let tables = compact.iter().flatten().map(Compact::bytes).sum::<u64>();
                let elsewhere =
                    tables + searches.iter().map(Search::bytes).sum::<u64>() - searches[index].bytes();
                let search = &mut searches[index];
                let outcome = look_for_stuck_threads(search, slice, elsewhere);
                events.event(Event::Progress { states: search.store.len() as u64 });
                match outcome {
                    Outcome::Found(id, violation) => {
                        // A violation that was found in time justifies a little more time.
                        let more = budget.longer_by(TRACE_TIME);
                        return Ok(match search.trace(id, violation, &more) {
                            Some(trace) if self.options.shortest => Verdict::Unsafe(trace),
                            Some(trace) => Verdict::Unsafe(shorten(&models[index], trace, budget)),
                            None => Verdict::Unknown(no_trace(&more)),
                        });
                    }
                    Outcome::Done => fate[index] = Fate::Done,
                    Outcome::Paused => {}
                    Outcome::Stopped(Exhausted::Memory) => {
                        // The table is dropped; from here on, only searches for violations continue at this
                        // size.
                        fate[index] = Fate::TooLarge;
                        search.clear();
                    }
                    Outcome::Stopped(exhausted @ (Exhausted::Time | Exhausted::Cancelled)) => {
                        return Ok(Verdict::Unknown(Reason::Exhausted(exhausted)));
                    }
                }
                let bounded = any || search.notes().limits.contains(&LimitKind::Threads);
                if fate[index] == Fate::Done && !bounded {
                    return Ok(conclude(program, search, any));
                }
                grown |= bounded && index + 1 == active;
            }
            let more = grown && active < searches.len();
            if more {
                active += 1;
            } else if fate[..active].iter().all(|fate| *fate == Fate::Done) {
                return Ok(conclude(program, &searches[active - 1], any));
            }
            let only_walks = !more && fate[..active].iter().all(|fate| *fate != Fate::Running);
            if only_walks && budget.remaining().is_none() {
                return Ok(Verdict::Unknown(Reason::Exhausted(Exhausted::Memory)));
            }
            if matches!(property, Property::NoError(_)) && !self.options.shortest {
                let copies = copies_of(program);
                for _ in 0..CROWD_WALKS {
                    match line.walk_one_after_another(&many, &copies, budget) {
                        Ok(Some(trace)) if many.is_evidence(&trace) => {
                            return Ok(Verdict::Unsafe(shorten(&many, trace, budget)));
                        }
                        Ok(_) => {}
                        Err(exhausted) => return Ok(Verdict::Unknown(Reason::Exhausted(exhausted))),
                    }
                }
            }
            if let Some(fuzzer) = &mut fuzzer {
                match fuzzer.run(FUZZER_SHARE * slice, budget) {
                    Ok(Some((_, trace))) if many.is_evidence(&trace) => {
                        return Ok(Verdict::Unsafe(shorten(&many, trace, budget)));
                    }
                    Ok(_) => {}
                    Err(exhausted) => return Ok(Verdict::Unknown(Reason::Exhausted(exhausted))),
                }
            }
            let crowded =
                active == searches.len() && searches[active - 1].notes().limits.contains(&LimitKind::Threads);
            if crowded {
                match crowded_walks(&mut crowd, &many, property, &searches[active - 1].copies, budget) {
                    Ok(Some(trace)) => return Ok(Verdict::Unsafe(shorten(&many, trace, budget))),
                    Ok(None) => {}
                    Err(exhausted) => return Ok(Verdict::Unknown(Reason::Exhausted(exhausted))),
                }
            }
            if slice >= FIRST_WALKS && !self.options.shortest {
                // Searches that are done have nothing left to find.
                let open = (0..active).filter(|index| fate[*index] != Fate::Done);
                for index in open.collect::<Vec<_>>() {
                    let (model, copies) = (&models[index], &searches[index].copies);
                    let steps = slice / WALK_SHARE;
                    let compact =
                        compact[index].get_or_insert_with(|| Compact::new(model, copies.clone(), budget));
                    let found = compact.run(steps).and_then(|found| match found {
                        Some(trace) => Ok(Some(trace)),
                        None => walker.run(model, copies, steps, budget),
                    });
                    match found {
                        Ok(Some(trace))
                            if trace.violation != Violation::Leak || model.is_evidence(&trace) =>
                        {
                            return Ok(Verdict::Unsafe(shorten(model, trace, budget)));
                        }
                        Ok(_) => {}
                        Err(exhausted) => {
                            let memory = fate[..active].contains(&Fate::TooLarge);
                            let exhausted = if memory { Exhausted::Memory } else { exhausted };
                            return Ok(Verdict::Unknown(Reason::Exhausted(exhausted)));
                        }
                    }
                }
            }
            if let Err(exhausted) = budget.check(0) {
                return Ok(Verdict::Unknown(Reason::Exhausted(exhausted)));
            }
            slice = slice.saturating_mul(2);
        }
    }
}

/// Why there is no trace of a violation that a search has found.
fn no_trace(budget: &Budget) -> Reason {
    match budget.check(0) {
        Err(_) => Reason::Exhausted(Exhausted::Time),
        Ok(()) => Reason::Rejected("a trace could not be rebuilt".to_owned()),
    }
}

/// Walks with all threads that a program starts.
fn crowded_walks(
    crowd: &mut Crowd,
    model: &Model<'_>,
    property: &Property,
    copies: &[u32],
    budget: &Budget,
) -> Result<Option<Trace>, Exhausted> {
    for walk in 0..CROWD_WALKS {
        let found = match property {
            Property::NoError(_) if walk == 0 => crowd.walk_from_last_start(model, copies, budget)?,
            Property::NoError(_) => crowd.walk(model, copies, budget)?,
            Property::NoRace => crowd.gather(model, copies, budget)?,
            Property::NoDeadlock | Property::NoLeak(_) => return Ok(None),
        };
        if let Some(trace) = found.filter(|trace| model.is_evidence(trace)) {
            return Ok(Some(trace));
        }
    }
    Ok(None)
}

/// Searches for races on each of the ranges of [`Program::races_on`] by firings of handlers. Reports each
/// race as soon as it is found, once for each range. The program is lowered.
///
/// The seed determines the random choices: searches with different seeds take different paths. Decided ranges
/// are skipped.
pub fn races_by_firings(
    program: &Program,
    seed: u64,
    budget: &Budget,
    is_open: &dyn Fn(Range) -> bool,
    found: &mut dyn FnMut(Range, Trace),
) {
    let Ok(machine) = Machine::new(program) else { return };
    let facts = Arc::new(Facts::new(program));
    let Ok(model) = Model::new(program, facts, Property::NoRace, machine.max_threads, false) else { return };
    let mut open = asked_about(program);
    let turns = (open.len() as u64).div_ceil(MOST_WATCHED as u64).min(MOST_TURNS);
    let edges = program.templates.iter().map(|code| code.edges.len() as u64).sum::<u64>();
    // Random choices may lead a search astray: without novelty it restarts from scratch, with more patience
    // each time.
    for turn in 0.. {
        let patience = (turns * edges * PATIENCE).saturating_mul(1 << turn.min(32));
        let seed = (seed << 32) + turn;
        let Some(mut fuzzer) = HandlerFuzzer::new(&model, copies_of(program), open.clone(), seed) else {
            return;
        };
        while fuzzer.idle() < patience && !open.is_empty() {
            for range in open.extract_if(.., |range| !is_open(*range)) {
                fuzzer.close(range);
            }
            let Ok(result) = fuzzer.run(FIRST_SLICE, budget) else { return };
            let Some((range, trace)) = result else { continue };
            let one = Program { races_on: Some(vec![range]), ..program.clone() };
            let model = Model::new(&one, model.facts.clone(), Property::NoRace, machine.max_threads, false);
            found(range, model.map_or(trace.clone(), |model| shorten(&model, trace, budget)));
            fuzzer.close(range);
            open.retain(|other| *other != range);
        }
        if open.is_empty() {
            return;
        }
    }
}

/// The ranges of a program's race check: all static objects by default.
fn asked_about(program: &Program) -> Vec<Range> {
    let all = || {
        let objects = program.objects.enumerate().filter(|(_, object)| object.storage == Storage::Static);
        objects.map(|(id, object)| Range { object: id, offset: 0, size: object.size }).collect()
    };
    let mut asked = program.races_on.clone().unwrap_or_else(all);
    asked.retain(|range| program.objects[range.object].storage == Storage::Static);
    asked
}

/// Interruptible handlers have three copies: this many may have interrupted each other.
fn copies_of(program: &Program) -> Vec<u32> {
    let copies = program.start.iter().map(|(_, count)| match count {
        Count::Exactly(copies) => *copies,
        Count::Any => 3,
    });
    copies.collect()
}

/// Lets a search continue, and looks at whether threads are stuck in the states that it knows.
fn look_for_stuck_threads(search: &mut Search<'_, '_>, steps: u64, elsewhere: u64) -> Outcome {
    let outcome = search.run(steps, elsewhere);
    let is_done = match outcome {
        Outcome::Done => true,
        Outcome::Paused => false,
        Outcome::Found(..) | Outcome::Stopped(_) => return outcome,
    };
    match search.fate(is_done) {
        ThreadFate::Stuck(id, threads) => Outcome::Found(id, Violation::Deadlock(threads)),
        ThreadFate::Undecided(text) if is_done => {
            search.undecided = Some(text);
            outcome
        }
        ThreadFate::Undecided(_) | ThreadFate::Free => outcome,
    }
}

/// The state of a search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Running,
    Done,
    TooLarge,
}

/// The verdict of a search that has reached its end without a violation.
fn conclude(program: &Program, search: &Search<'_, '_>, any: bool) -> Verdict {
    let notes = search.notes();
    if search.approximate {
        let line_of = |start: &str| {
            let found = program.assumptions.iter().find(|assumption| assumption.text.starts_with(start));
            found.map(|assumption| assumption.span.line)
        };
        let place = match (line_of("memory order"), line_of(ir::passes::addresses::NUMBERS)) {
            (Some(line), _) => format!(" (memory order at line {line})"),
            (None, Some(line)) => format!(" (order, distance or digits of addresses at line {line})"),
            (None, None) => search.doubt(),
        };
        let text = format!("a violation rests on a value that is not modelled{place}");
        return Verdict::Unknown(Reason::Approximate(text));
    }
    if let Some(text) = &search.undecided {
        return Verdict::Unknown(Reason::Approximate(text.clone()));
    }
    if any {
        let text = format!(
            "at most {} copies of each thread that may run any number of times",
            search.copies.iter().max().unwrap_or(&0)
        );
        return Verdict::Unknown(Reason::Bounded(text));
    }
    if let Some(limit) = notes.limits.first() {
        return Verdict::Unknown(Reason::Bounded(limit_text(*limit)));
    }
    if notes.inexact {
        return Verdict::Unknown(Reason::Bounded("inputs were tried with some values only".to_owned()));
    }
    if notes.unforeseen {
        let text = "a pointer left the objects that it was thought to point to";
        return Verdict::Unknown(Reason::GaveUp(text.to_owned()));
    }
    if let Some(assumption) = program.limiting_assumption() {
        return Verdict::Unknown(Reason::NotSupported(assumption.text.clone(), assumption.span));
    }
    let (copies, states) = (search.copies.clone(), search.store.len() as u64);
    Verdict::Safe(Proof::Exhaustive { copies, states })
}

fn limit_text(limit: LimitKind) -> String {
    match limit {
        LimitKind::Threads => "more threads are started than are followed".to_owned(),
        LimitKind::Stack => "calls nest too deeply".to_owned(),
        LimitKind::Heap => "more memory is allocated than is followed".to_owned(),
        LimitKind::Statics => "too many bytes of static objects".to_owned(),
    }
}
