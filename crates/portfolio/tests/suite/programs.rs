//! Every annotated program under `tests/programs` gets the verdict that its comments say, with checked
//! evidence that names the marked lines.

use checker::{Checked, Refutation, ReplayedViolation};
use portfolio::pipeline;
use portfolio::race_names::Variable;
use report::Outcome;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use testkit::annotation::{Annotations, Answer, Mismatch, annotations};
use verdict::{Budget, Check, Evidence, EvidenceFile, Property, Silent};

/// Seconds for one check of one program, counted in steps.
const SECONDS: f64 = 60.0;

#[test]
fn annotated_programs() {
    let files = programs(&crate::root().join("tests/programs"));
    assert!(files.len() >= 120, "the test programs are missing");
    let only = std::env::var("THREADPROOF_ONLY").unwrap_or_default();
    let files: Vec<PathBuf> =
        files.into_iter().filter(|file| file.to_string_lossy().contains(&only)).collect();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let times = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let work = || {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let found = check_program(file);
                    times.lock().expect("no test thread panics").push((start.elapsed(), file));
                    failures.lock().expect("no test thread panics").extend(found);
                }
            };
            std::thread::Builder::new()
                .stack_size(256 << 20)
                .spawn_scoped(scope, work)
                .expect("threads can start");
        }
    });
    let mut times = times.into_inner().expect("no test thread panics");
    times.sort_unstable_by(|one, other| other.cmp(one));
    for (time, file) in times.iter().take(20) {
        println!("{:6.1} s  {}", time.as_secs_f64(), file.display());
    }
    let mut failures = failures.into_inner().expect("no test thread panics");
    failures.sort();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// All C files below a folder, in order.
pub(crate) fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(programs(&path));
        } else if path.extension().is_some_and(|extension| extension == "c") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// How a program is read, by the arguments that its comments give.
pub(crate) fn options(arguments: &[String]) -> frontend_c::Options {
    frontend_c::Options {
        nesc: arguments.iter().any(|word| word == "--nesc"),
        data_model: if arguments.iter().any(|word| word == "ILP32" || word == "--nesc") {
            ir::DataModel::Ilp32
        } else {
            ir::DataModel::Lp64
        },
        memory_model: if arguments.windows(2).any(|words| words == ["--memory-model", "sc"]) {
            frontend_c::MemoryModel::SequentiallyConsistent
        } else {
            frontend_c::MemoryModel::C11
        },
        failures: arguments.iter().any(|word| word == "--failures"),
        ..frontend_c::Options::default()
    }
}

/// What is wrong with the verdicts about one program.
fn check_program(file: &Path) -> Vec<String> {
    let shown = file.strip_prefix(crate::root()).unwrap_or(file).display().to_string();
    let text = std::fs::read_to_string(file).expect("test programs are text");
    let wanted = match annotations(&text) {
        Ok(wanted) => wanted,
        Err(message) => return vec![format!("{shown}: {message}")],
    };
    let options = options(&wanted.arguments);
    let source = frontend_c::Source { name: shown.clone(), text: text.into_bytes() };
    let mut program = match frontend_c::read(&[source], &options) {
        Ok(program) => program,
        Err(diagnostics) => {
            return diagnostics.iter().map(|diagnostic| format!("{shown}: {diagnostic}")).collect();
        }
    };
    let named =
        wanted.arguments.windows(2).filter(|words| words[0] == "--race").map(|words| words[1].clone());
    let named: Vec<String> = named.collect();
    match portfolio::race_names::resolve(&program, &named, options.nesc) {
        Ok(variables) if !named.is_empty() => {
            program.races_on = Some(variables.iter().map(|variable| variable.range).collect());
        }
        Ok(_) => {}
        Err(messages) => return messages.iter().map(ToString::to_string).collect(),
    }
    if let Err(malformed) = ir::check::check(&program) {
        return vec![format!("{shown}: malformed: {malformed:?}")];
    }
    let mut failures = Vec::new();
    for (&check, expectation) in &wanted.expectations {
        // All engines share the views of the program.
        let views = pipeline::prepare(&program, check);
        let ask = |engine: &dyn verdict::Engine, seconds: f64| {
            pipeline::verify_prepared(&views, check, engine, &Budget::steps_for(seconds), &Silent)
        };
        // Of what does not hold, or what another engine decides, it is enough that flow says nothing wrong.
        let for_horn = wanted.arguments.iter().any(|word| word == "horn");
        let other = decider(&wanted).is_some() || (for_horn && check != Check::Races);
        let by_flow = expectation.holds && !other;
        let proof = ask(&engine_flow::Flow, if by_flow { SECONDS } else { 0.5 });
        let proved = answer_of(&proof.verdict) == Answer::True;
        if proved != (answer_of(&proof.verdict) != Answer::Unknown) || (proved && !expectation.holds) {
            failures.push(format!("{shown}: {}: SOUNDNESS: flow said the opposite", check.name()));
        }
        if let Checked::Unknown(reason @ verdict::Reason::Rejected(_)) = &proof.verdict {
            failures.push(format!("{shown}: {}: flow: {reason}", check.name()));
        }
        if check == Check::Races {
            let proof = ask(&engine_summaries::Summaries, 2.0);
            if answer_of(&proof.verdict) == Answer::True && !expectation.holds {
                failures.push(format!("{shown}: races: SOUNDNESS: summaries said the opposite"));
            }
            if let Checked::Unknown(reason @ verdict::Reason::Rejected(_)) = &proof.verdict {
                failures.push(format!("{shown}: races: summaries: {reason}"));
            }
        }
        let engine = engine_explicit::Explicit::default();
        // What is proved already, or known to be out of reach, is not searched for long.
        let by_horn = for_horn && expectation.holds;
        // Of races, some engines know nothing.
        let knows = |engine: &&dyn verdict::Engine| match check.property() {
            Property::NoError(_) => true,
            Property::NoLeak(_) => engine.name() == "owned",
            Property::NoRace | Property::NoDeadlock => ["context", "summaries"].contains(&engine.name()),
        };
        let decider = decider(&wanted).filter(knows);
        // What a listing says of a program from nesC is judged below.
        let long = expectation.required && !proved && !by_horn && decider.is_none() && !options.nesc;
        let decided_otherwise = proved || by_horn || decider.is_some();
        let seconds = match (long, expectation.required && decided_otherwise) {
            (true, _) => SECONDS,
            (false, true) => 0.1,
            (false, false) => 1.0,
        };
        let outcome = ask(&engine, seconds);
        if let (Checked::Refuted(refutation), Some(decisions)) = (&outcome.verdict, &proof.decisions) {
            let is_open = |line: &u32| {
                let mut open = decisions.lines.iter().filter(|found| found.proved < found.checks);
                open.any(|found| found.span.line == *line)
            };
            // What rests on assumptions that could hide behaviour may be wrong without them.
            let missed = lines(refutation).into_iter().find(|line| !is_open(line));
            if let Some(line) = missed.filter(|_| decisions.given.is_empty()) {
                failures.push(format!("{shown}: {}: SOUNDNESS: flow excluded line {line}", check.name()));
            }
        }
        let lost = [&proof, &outcome].into_iter().filter_map(lost_in_a_file);
        failures.extend(lost.map(|lost| format!("{shown}: {}: {lost}", check.name())));
        let found = answer_of(&outcome.verdict);
        let mut answer = if found == Answer::Unknown && proved { Answer::True } else { found };
        if for_horn && (answer == Answer::Unknown || !by_horn) {
            let proof = ask(&engine_horn::Horn, if expectation.required && by_horn { SECONDS } else { 0.5 });
            if answer_of(&proof.verdict) != Answer::Unknown {
                answer = answer_of(&proof.verdict);
            }
            let lost = lost_in_a_file(&proof);
            failures.extend(lost.map(|lost| format!("{shown}: {}: horn: {lost}", check.name())));
            if let Checked::Unknown(reason @ verdict::Reason::Rejected(_)) = &proof.verdict {
                failures.push(format!("{shown}: {}: horn: {reason}", check.name()));
            }
        }
        if let Some(decider) = decider {
            let decided = ask(decider, SECONDS);
            let complaint = match (expectation.judge(answer_of(&decided.verdict)), &decided.verdict) {
                (Ok(()), _) => wrong_line(&wanted, &program, &decided),
                (Err(Mismatch::Wrong), _) => Some("SOUNDNESS: said the opposite".to_owned()),
                (Err(_), Checked::Unknown(reason)) => Some(format!("unknown: {reason}")),
                (Err(mismatch), _) => Some(format!("{mismatch:?}")),
            };
            let name = decider.name();
            let complaint = complaint.or_else(|| lost_in_a_file(&decided));
            failures
                .extend(complaint.map(|complaint| format!("{shown}: {}: {name}: {complaint}", check.name())));
            continue;
        }
        let detail = match &outcome.verdict {
            Checked::Unknown(reason) => reason.to_string(),
            Checked::Proved(_) | Checked::Refuted(_) => String::new(),
        };
        let complaint = match expectation.judge(answer) {
            Ok(()) => wrong_line(&wanted, &program, &outcome),
            Err(Mismatch::Wrong) => Some(format!("SOUNDNESS: said {answer:?}")),
            Err(Mismatch::Imprecise) if options.nesc => None,
            Err(Mismatch::Imprecise) => {
                Some(format!("expected {}, said unknown: {detail}", expectation.holds))
            }
            Err(Mismatch::Better) => Some(format!("the todo is done: {answer:?} is found now")),
        };
        failures.extend(complaint.map(|complaint| format!("{shown}: {}: {complaint}", check.name())));
    }
    if options.nesc {
        failures.extend(listed(&shown, &wanted, &program));
    }
    failures
}

/// What is wrong with the listing of a program from nesC.
fn listed(shown: &str, wanted: &Annotations, program: &ir::Program) -> Option<String> {
    let expectation = wanted.expectations.get(&Check::Races)?;
    let ranges = program.races_on.iter().flatten();
    let variables: Vec<Variable> =
        ranges.map(|range| Variable { name: "named".to_owned(), range: *range }).collect();
    let outcomes: std::cell::RefCell<std::collections::BTreeMap<usize, Outcome>> = Default::default();
    portfolio::nesc::list(&portfolio::nesc::Question {
        program,
        variables: program.races_on.as_ref().map(|_| variables),
        answer: &|program, budget| portfolio::Portfolio::default().verify(program, Check::Races, budget),
        flow_first: true,
        search: true,
        budget: Budget::steps_for(if expectation.required { SECONDS } else { 5.0 }),
        keep: &|index, outcome| {
            outcomes.borrow_mut().insert(index, outcome);
        },
    });
    let outcomes = outcomes.into_inner();
    let answers: Vec<Answer> = outcomes.values().map(|outcome| answer_of(&outcome.verdict)).collect();
    let answer = if answers.contains(&Answer::False) {
        Answer::False
    } else if answers.contains(&Answer::Unknown) {
        Answer::Unknown
    } else {
        Answer::True
    };
    let complaint = match expectation.judge(answer) {
        Ok(()) => outcomes.values().find_map(|outcome| wrong_line(wanted, program, outcome)),
        Err(mismatch) => Some(format!("{mismatch:?}: {answers:?}")),
    };
    complaint.map(|complaint| format!("{shown}: listing: {complaint}"))
}

/// Summaries as users get them: where the engine alone finds something open, the checker may know more.
struct Listing;

impl verdict::Engine for Listing {
    fn name(&self) -> &'static str {
        engine_summaries::Summaries.name()
    }
    fn verify(
        &self,
        task: verdict::Task<'_>,
        budget: &Budget,
        events: &dyn verdict::Events,
    ) -> verdict::Verdict {
        let verdict = engine_summaries::Summaries.verify(task, budget, events);
        if !matches!(verdict, verdict::Verdict::Unknown(verdict::Reason::GaveUp(_))) {
            return verdict;
        }
        let is_open =
            |location: &verdict::SharedLocation| matches!(location.status, verdict::LocationStatus::Open(_));
        match portfolio::shared_memory::by_summaries(task, budget) {
            Ok(listed) if !listed.locations.locations.iter().any(is_open) => {
                verdict::Verdict::Safe(verdict::Proof::Summaries(Box::new(listed.proof)))
            }
            Ok(_) | Err(_) => verdict,
        }
    }
}

/// The engine that alone must decide a program, in both directions, if one is named.
fn decider(wanted: &Annotations) -> Option<&'static dyn verdict::Engine> {
    let named = |name: &str| wanted.arguments.iter().any(|word| word == name);
    let engines: [&'static dyn verdict::Engine; 6] = [
        &portfolio::owned::Owned(&engine_flow::Flow),
        &portfolio::STATES,
        &engine_horn::symbolic::Symbolic,
        &engine_queries::Queries { main_thread: None },
        &engine_context::ContextInference::OmegaCirc,
        &Listing,
    ];
    engines.into_iter().find(|engine| named(engine.name()))
}

/// What is wrong with evidence once it was written to a file and read back.
fn lost_in_a_file(outcome: &Outcome) -> Option<String> {
    let evidence = match &outcome.verdict {
        Checked::Proved(proof) => Evidence::Proof(proof.clone()),
        Checked::Refuted(refutation) => Evidence::Trace(refutation.trace.clone()),
        Checked::Unknown(_) => return None,
    };
    let file = EvidenceFile { data_model: "LP64".to_owned(), checks: vec![(outcome.check, evidence)] };
    match file.write().and_then(|text| EvidenceFile::read(&text)) {
        Ok(back) if back == file => None,
        Ok(_) => Some("the evidence is another one after it was written and read".to_owned()),
        Err(error) => Some(format!("the evidence cannot be written and read: {error}")),
    }
}

fn answer_of(verdict: &Checked) -> Answer {
    match verdict {
        Checked::Proved(_) => Answer::True,
        Checked::Refuted(_) => Answer::False,
        Checked::Unknown(_) => Answer::Unknown,
    }
}

/// A violation must be reported at marked lines, where a program marks any.
fn wrong_line(wanted: &Annotations, program: &ir::Program, outcome: &Outcome) -> Option<String> {
    let Checked::Refuted(refutation) = &outcome.verdict else { return None };
    let marked = if outcome.check == Check::Races { &wanted.race_lines } else { &wanted.error_lines };
    let lines = lines(refutation);
    let strange: Vec<u32> = lines.difference(marked).copied().collect();
    (!strange.is_empty()).then(|| {
        format!("reported at lines {strange:?}, marked are {marked:?} ({} files)", program.files.len())
    })
}

fn lines(refutation: &Refutation) -> BTreeSet<u32> {
    match &refutation.replayed.violation {
        ReplayedViolation::Error { span, .. } => BTreeSet::from([span.line]),
        ReplayedViolation::Race { accesses, .. } => accesses.iter().map(|access| access.span.line).collect(),
        // A cycle is complete at any of its locks: the last one to be marked is enough.
        ReplayedViolation::Deadlock(_) => BTreeSet::new(),
        ReplayedViolation::Leak(leak) => BTreeSet::from([leak.allocated.line]),
    }
}
