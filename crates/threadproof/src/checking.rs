//! The checks of a run, and their execution.

use crate::arguments::{Asking, EngineName, Reading, Verify};
use crate::cache::{Cache, Known};
use crate::evidence;
use crate::input::{self, Input, Kind, Overlay};
use crate::property_file::{self, Asked};
use checker::Checked;
use ir::Program;
use ir::diagnostic::{self, Diagnostic};
use ir::specification::Specification;
use portfolio::Portfolio;
use portfolio::earlier::{self, Earlier};
use portfolio::live::Live;
use portfolio::nesc;
use portfolio::pipeline::{self, Prepared};
use portfolio::race_names::{self, Variable};
use portfolio::shared_memory::{self, Races};
use portfolio::specification;
use report::{End, Outcome, Sources};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use verdict::{Budget, Check, Engine, Exhausted, Reason, Task, Views};

/// A program, and the requested checks.
pub struct Question {
    /// The program, and its lines. Shared with the report, in case the work is abandoned.
    pub input: Arc<(Program, Sources)>,
    /// What it was read from.
    pub kind: Kind,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// What the user should know about how they were read.
    pub notes: Vec<String>,
    /// The lowered program, for each check.
    pub prepared: Prepared,
    /// The checks.
    pub asked: Asked,
    /// The variables on which races count; `None` for all.
    pub named: Option<Vec<Variable>>,
}

/// Reads the program and the requested checks.
pub fn question(
    reading: &Reading,
    asking: &Asking,
    overlay: &Overlay<'_>,
) -> Result<Question, Vec<Diagnostic>> {
    let competition = asking.property.is_some();
    let Input { mut program, sources, kind, files, notes } = input::read(reading, competition, overlay)?;
    let asked = asked(asking, reading.nesc, kind).map_err(|message| vec![message])?;
    let named = race_names::resolve(&program, &asking.race, reading.nesc)?;
    let named = (!asking.race.is_empty()).then_some(named);
    program.races_on = named.as_ref().map(|named| named.iter().map(|variable| variable.range).collect());
    if kind == Kind::C && !asked.checks.contains(&Check::Races) {
        program.assumptions.extend(unchecked_races(&program));
    }
    let input = Arc::new((program, sources));
    Ok(Question { prepared: Prepared::new(input.clone()), input, kind, files, notes, asked, named })
}

/// What every other check rests on: a compiler may read a variable again, or not at all, where no other
/// thread may write it. So the steps of a program with a data race need not be those of its text.
fn unchecked_races(program: &Program) -> Option<ir::Assumption> {
    let mut edges = program.templates.iter().flat_map(|template| &template.edges);
    let edge = edges.find(|edge| edge.ops.iter().any(|op| matches!(op, ir::Op::Spawn(..))))?;
    let text =
        "data races are not looked for (`--check races` does): accesses of threads interleave as written";
    Some(ir::Assumption { text: text.to_owned(), span: edge.span, limits_proof: false })
}

/// Whether races may be among the requested checks of a C program.
pub fn may_ask_for_races(asking: &Asking) -> bool {
    let mut checks = asking.check.iter().flat_map(|named| named.0.iter().copied());
    asking.property.is_none() && (asking.check.is_empty() || checks.any(|check| check == Check::Races))
}

fn asked(asking: &Asking, nesc: bool, kind: Kind) -> Result<Asked, Diagnostic> {
    let Some(path) = &asking.property else {
        let mut checks = distinct(asking.check.iter().flat_map(|named| named.0.iter().copied()));
        if checks.is_empty() {
            if nesc || !asking.race.is_empty() {
                return Ok(Asked { checks: vec![Check::Races], open: Vec::new() });
            }
            checks.push(Check::Assertions);
            checks.extend((kind == Kind::C && asking.spec.is_none()).then_some(Check::Races));
        }
        return Ok(Asked { checks, open: Vec::new() });
    };
    let bytes = std::fs::read(path).map_err(|error| evidence::unreadable(path, &error))?;
    property_file::parse(&String::from_utf8_lossy(&bytes))
        .map_err(|error| Diagnostic::of_file(path, diagnostic::Kind::Text, error.to_string()))
}

/// The checks, each once.
fn distinct(named: impl Iterator<Item = Check>) -> Vec<Check> {
    let mut checks = Vec::new();
    for check in named {
        if !checks.contains(&check) {
            checks.push(check);
        }
    }
    checks
}

/// The specification that the program is proved by, if there is one.
pub fn specification_of(
    path: Option<&Path>,
    program: &Program,
    kind: Kind,
    budget: &Budget,
) -> Result<Option<Specification>, Vec<Diagnostic>> {
    let Some(path) = path else { return Ok(None) };
    if kind != Kind::C {
        let problem =
            Diagnostic::of_file(path, diagnostic::Kind::Usage, "specifications are about C programs");
        return Err(vec![problem.help("leave it out")]);
    }
    let bytes = std::fs::read(path).map_err(|error| vec![evidence::unreadable(path, &error)])?;
    specification::read(&path.to_string_lossy(), &bytes, program, budget).map(Some)
}

/// The fraction of the remaining time for the first turn of a check, while others wait.
const FIRST_TURN: u32 = 8;

/// Whether an engine lists shared memory. `by_default`: whether several engines together do.
fn lists_memory(engine: EngineName, by_default: bool) -> bool {
    match engine {
        EngineName::Auto => by_default,
        EngineName::Summaries => true,
        EngineName::Explicit
        | EngineName::Flow
        | EngineName::Owned
        | EngineName::States
        | EngineName::Counters
        | EngineName::Horn
        | EngineName::Queries
        | EngineName::Context
        | EngineName::Symbolic => false,
    }
}

/// Runs every check. A check that has others after it has a short first turn; those that ran out of time
/// share the remaining time when all had theirs.
pub fn run_checks(
    options: &Verify,
    question: &Question,
    specification: Option<&Specification>,
    deadline: Instant,
    live: &Live,
    cache: Option<&Cache>,
) {
    let (program, asked) = (&question.input.0, &question.asked);
    let settings =
        engine_explicit::Options { shortest: options.shortest, ..engine_explicit::Options::default() };
    let explicit = engine_explicit::Explicit { options: settings };
    let queries = engine_queries::Queries { main_thread: options.main_thread.clone() };
    let engine: Option<&dyn Engine> = match options.engine {
        EngineName::Auto => None,
        EngineName::Flow => Some(&engine_flow::Flow),
        EngineName::States => Some(&portfolio::STATES),
        EngineName::Counters => Some(&engine_states::Counting),
        EngineName::Horn => Some(&engine_horn::Horn),
        EngineName::Queries => Some(&queries),
        EngineName::Context => Some(&engine_context::ContextInference::OmegaCirc),
        EngineName::Symbolic => Some(&engine_horn::symbolic::Symbolic),
        EngineName::Explicit => Some(&explicit),
        EngineName::Summaries => Some(&engine_summaries::Summaries),
        EngineName::Owned => Some(&portfolio::owned::Owned(&engine_flow::Flow)),
    };
    let jobs = options.jobs.map_or_else(portfolio::default_jobs, usize::from);
    let boolean = question.kind != Kind::C;
    let portfolio =
        Portfolio { explicit: explicit.clone(), boolean, jobs, live: live.clone(), to_the_end: false };
    let spec = specification.map(|specification| engine_spec::Spec { specification, composer: &portfolio });
    let engine = spec.as_ref().map(|spec| spec as &dyn Engine).or(engine);
    let answer = |program: &Views, check: Check, budget: &Budget| {
        let budget = Budget { cancel: live.cancel.clone(), ..budget.clone() };
        let mut outcome = if let Err(exhausted) = budget.check(0) {
            let verdict = Checked::Unknown(Reason::Exhausted(exhausted));
            Outcome { check, variable: None, verdict, decisions: None, seconds: 0.0, tries: Vec::new() }
        } else if let Some(engine) = engine {
            let (_, listener) = live.start(engine.name());
            let outcome = pipeline::verify_prepared(program, check, engine, &budget, &listener);
            if let Some(tried) = outcome.tries.last() {
                listener.end(tried);
            }
            outcome
        } else {
            portfolio.verify_prepared(program, check, &budget)
        };
        if live.cancel.is_cancelled() {
            interrupted(&mut outcome);
        }
        outcome
    };
    if options.reading.nesc {
        live.begin(Check::Races);
        let answer = |program: &Program, budget: &Budget| {
            answer(&pipeline::prepare(program, Check::Races), Check::Races, budget)
        };
        let flow_first = matches!(options.engine, EngineName::Auto | EngineName::Flow);
        let memory = options.memory << 20;
        let keep = |index: usize, outcome: Outcome| live.put(index, outcome);
        let question = nesc::Question {
            program,
            variables: question.named.clone(),
            answer: &answer,
            flow_first,
            search: matches!(options.engine, EngineName::Auto),
            budget: Budget { deadline: Some(deadline), memory, ..Budget::unlimited() },
            keep: &keep,
        };
        if nesc::list(&question) > 0 {
            live.done();
            return;
        }
    }
    let whole = Budget { deadline: Some(deadline), memory: options.memory << 20, ..Budget::unlimited() };
    let mut open: Vec<(usize, Check)> = Vec::new();
    for (index, check) in asked.checks.iter().enumerate() {
        let waiting = (asked.checks.len() - 1 - index + open.len()) as u32;
        let budget = whole.part(1 + waiting);
        live.begin(*check);
        let checking = Budget { cancel: live.cancel.clone(), ..budget.clone() };
        let known = cache.map(|cache| cache.answer(options, question, *check, &checking));
        let Known { answer: found, mut earlier } = known.unwrap_or_default();
        let alone = matches!(options.engine, EngineName::Summaries);
        let races = |program: &Views, budget: &Budget| answer(program, Check::Races, budget);
        // With a property file, one answer is wanted, as soon as possible.
        let single = !alone && options.asking.property.is_none();
        let may_list = specification.is_none() && question.kind == Kind::C;
        let lists = *check == Check::Races && lists_memory(options.engine, may_list);
        if let Some(mut found) = found {
            let is_listed = lists && single && cache.is_some_and(Cache::is_interactive);
            match found.tries.pop() {
                Some(tried) if is_listed => earlier.answer = Some((found.verdict, tried)),
                tried => {
                    found.tries.extend(tried);
                    live.finish(found);
                    continue;
                }
            }
        }
        if !lists {
            let turn = if waiting == 0 { budget } else { whole.part(FIRST_TURN) };
            let outcome = unlisted(question.prepared.of(*check), *check, &turn, earlier, &answer);
            cache.inspect(|cache| cache.ended(*check));
            let is_open = waiting > 0 && ran_out_of_time(&outcome) && !earlier::was_short(&outcome);
            let number = live.finish(outcome);
            open.extend(is_open.then_some((number, *check)));
            continue;
        }
        Races {
            prepared: question.prepared.of(Check::Races),
            lister: &shared_memory::by_summaries,
            answer: (!alone).then_some(&races),
            explorer: single.then_some(&explicit),
            sources: Some(&question.input.1),
            live,
            budget: Budget { cancel: live.cancel.clone(), ..budget },
        }
        .decide(earlier);
        cache.inspect(|cache| cache.ended(*check));
    }
    let again = |check: Check, budget: &Budget| answer(question.prepared.of(check), check, budget);
    take_second_turns(&open, &whole, live, cache, &again);
}

/// The second turns of checks that ran out of time in their first one: they share the remaining time.
fn take_second_turns(
    open: &[(usize, Check)],
    whole: &Budget,
    live: &Live,
    cache: Option<&Cache>,
    answer: &dyn Fn(Check, &Budget) -> Outcome,
) {
    for (index, (number, check)) in open.iter().enumerate() {
        let budget = whole.part((open.len() - index) as u32);
        if live.cancel.is_cancelled() || budget.check(0).is_err() {
            break;
        }
        live.begin(*check);
        let again = answer(*check, &budget);
        live.amend(*number, |known| after_another_turn(known, again));
        live.done();
        cache.inspect(|cache| cache.ended(*check));
    }
}

/// Whether more time may help. It does not resolve a contradiction, which says that the program is wrong
/// somewhere: a proof that is found later must not cover that up.
fn ran_out_of_time(outcome: &Outcome) -> bool {
    let end = End::Unknown(Reason::Exhausted(Exhausted::Time));
    let may_help = match &outcome.verdict {
        Checked::Proved(_) | Checked::Refuted(_) | Checked::Unknown(Reason::Contradiction(_)) => false,
        Checked::Unknown(_) => true,
    };
    may_help && outcome.tries.iter().any(|tried| tried.end == end)
}

/// A check had another turn: what that found counts, but rejected evidence of the first one is not lost.
fn after_another_turn(known: &mut Outcome, again: Outcome) {
    let decisions = again.decisions.or(known.decisions.take());
    let decisions = decisions.filter(|_| matches!(again.verdict, Checked::Unknown(_)));
    let mut tries = std::mem::take(&mut known.tries);
    tries.retain(|tried| !tried.rejected.is_empty());
    tries.extend(again.tries);
    *known = Outcome { decisions, seconds: known.seconds + again.seconds, tries, ..again };
}

/// Decides a check as a whole, after what is known from before an edit.
fn unlisted(
    program: &Views,
    check: Check,
    budget: &Budget,
    earlier: Earlier,
    answer: &dyn Fn(&Views, Check, &Budget) -> Outcome,
) -> Outcome {
    let begun = Instant::now();
    let property = check.property();
    let task = Task { program, property: &property };
    for verdict in earlier.evidence {
        if let Some((verdict, tried)) = earlier::test(task, verdict, budget) {
            let (seconds, tries) = (begun.elapsed().as_secs_f64(), vec![tried]);
            return Outcome { check, variable: None, verdict, decisions: None, seconds, tries };
        }
    }
    let short = earlier.search.and_then(|search| Some((search.limit(None, begun.elapsed())?, search)));
    let Some((limit, search)) = short else { return answer(program, check, budget) };
    let mut outcome = answer(program, check, &budget.within(limit));
    if matches!(outcome.verdict, Checked::Unknown(_)) {
        outcome.tries.insert(0, search.note(limit));
    }
    outcome
}

/// No other engine was first: the user asked to stop.
fn interrupted(outcome: &mut Outcome) {
    let contradicts = matches!(outcome.verdict, Checked::Unknown(Reason::Contradiction(_)));
    if matches!(outcome.verdict, Checked::Unknown(_)) && !contradicts {
        for tried in outcome.tries.iter_mut().filter(|tried| tried.end == End::Stopped) {
            tried.end = End::Unknown(Reason::Exhausted(Exhausted::Cancelled));
        }
        outcome.verdict = Checked::Unknown(Reason::Exhausted(Exhausted::Cancelled));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::Tried;
    use verdict::{Evidence, Proof};

    fn open(reason: Reason, tries: Vec<Tried>) -> Outcome {
        let verdict = Checked::Unknown(reason);
        Outcome { check: Check::Assertions, variable: None, verdict, decisions: None, seconds: 1.0, tries }
    }

    fn out_of_time(engine: &'static str, rejected: Vec<Evidence>) -> Tried {
        let end = End::Unknown(Reason::Exhausted(Exhausted::Time));
        Tried { engine, started: 0.0, seconds: 1.0, checking: 0.0, end, rejected }
    }

    #[test]
    fn more_time_does_not_cover_up_a_contradiction() {
        let tries = || vec![out_of_time("flow", Vec::new())];
        assert!(ran_out_of_time(&open(Reason::Exhausted(Exhausted::Time), tries())));
        assert!(ran_out_of_time(&open(Reason::NoEvidence, tries())));
        assert!(!ran_out_of_time(&open(Reason::Contradiction("of two engines".to_owned()), tries())));
        assert!(!ran_out_of_time(&open(Reason::Exhausted(Exhausted::Memory), Vec::new())));
    }

    #[test]
    fn what_was_rejected_in_a_first_turn_is_kept() {
        let rejected = vec![Evidence::Proof(Proof::OneThread)];
        let first = vec![out_of_time("explicit", rejected), out_of_time("flow", Vec::new())];
        let mut known = open(Reason::Exhausted(Exhausted::Time), first);
        after_another_turn(&mut known, open(Reason::NoEvidence, vec![out_of_time("flow", Vec::new())]));
        let engines: Vec<_> = known.tries.iter().map(|tried| (tried.engine, tried.rejected.len())).collect();
        assert_eq!(engines, [("explicit", 1), ("flow", 0)]);
        assert!(matches!(known.verdict, Checked::Unknown(Reason::NoEvidence)));
    }

    #[test]
    fn a_check_that_is_named_twice_is_one() {
        let named = [Check::Deadlock, Check::Races, Check::Deadlock];
        assert_eq!(distinct(named.into_iter()), [Check::Deadlock, Check::Races]);
    }
}
