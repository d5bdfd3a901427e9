//! What the command line does.

use crate::arguments::{
    Arguments, CheckEvidence, Command, EngineName, Format, Model, OfSpecification, Show, Verify, normalise,
};
use crate::evidence::Run;
use crate::input::{self, Input, Kind};
use crate::nesc;
use crate::pipeline;
use crate::portfolio::{self, Portfolio};
use crate::property_file::{self, Asked};
use crate::race_names::{self, Variable};
use crate::specification::{self, Conforming};
use crate::watchdog::{self, Watched};
use checker::Checked;
use clap::Parser;
use ir::Program;
use ir::specification::Specification;
use report::{Answer, Outcome, Sources};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use verdict::{Budget, Check, Engine, Evidence, EvidenceFile, Proof, Reason, Silent, Verdict};

/// The exit statuses that other tools rely on.
mod status {
    pub const PROVED: u8 = 0;
    pub const REFUTED: u8 = 1;
    pub const UNKNOWN: u8 = 2;
    pub const BAD_INPUT: u8 = 3;
    pub const INTERNAL: u8 = 4;
}

/// Runs the command line and returns its exit status.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(normalise(words)) {
        Ok(arguments) => arguments,
        Err(error) => {
            let asked = !error.use_stderr();
            let _ = error.print();
            return ExitCode::from(if asked { status::PROVED } else { status::BAD_INPUT });
        }
    };
    let (timeout, memory, format) = match &arguments.command {
        Command::Verify(options) => (options.timeout, options.memory, options.format),
        Command::Check(options) => (options.timeout, options.memory, options.format),
        Command::Conform(options) | Command::Draft(options) => {
            (options.timeout, options.memory, Format::Human)
        }
    };
    let about_specification = matches!(arguments.command, Command::Conform(_) | Command::Draft(_));
    let deadline = Instant::now() + Duration::from_secs_f64(timeout.clamp(0.0, 1e8));
    let printer = Printer::default();
    let its_printer = printer.clone();
    let work = move || match arguments.command {
        Command::Verify(options) => verify(&options, deadline, &its_printer),
        Command::Check(options) => check(options, deadline, &its_printer),
        Command::Conform(options) => conform(options, deadline, &its_printer),
        Command::Draft(options) => draft(&options, deadline, &its_printer),
    };
    let code = match watchdog::run(work, deadline, memory << 20) {
        Ok(Watched::Done(code)) => code,
        Ok(Watched::Overrun(exhausted)) => {
            let answer = Answer::Unknown(Reason::Exhausted(exhausted).to_string());
            let (document, status) = printer.kept().unwrap_or_else(|| match about_specification {
                false => (without_program(format, &answer), status::UNKNOWN),
                true => (format!("conformance: {answer}\n"), status::UNKNOWN),
            });
            printer.print(&document);
            status
        }
        Ok(Watched::Panicked) | Err(_) => {
            printer.print("verdict: unknown(internal error)\n");
            status::INTERNAL
        }
    };
    ExitCode::from(code)
}

/// The report if there is no program to speak of.
fn without_program(format: Format, answer: &Answer) -> String {
    match format {
        Format::Human => format!("verdict: {answer}\n"),
        Format::Json => report::json::render(&Program::default(), &[], answer),
        Format::Sarif => report::sarif::render(&Program::default(), &[]),
    }
}

/// Prints one document and no more, whoever is first.
#[derive(Clone, Default)]
struct Printer {
    done: Arc<Mutex<bool>>,
    /// What is known so far, with the exit status: for the case that the work does not end.
    kept: Arc<Mutex<Option<(String, u8)>>>,
}

impl Printer {
    /// Keeps a document in place of the last one.
    fn keep(&self, document: String, status: u8) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some((document, status));
    }
    fn kept(&self) -> Option<(String, u8)> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    /// Prints a document, unless one was printed; a reader that went away is no error.
    fn print(&self, document: &str) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut *done, true) {
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(document.as_bytes()).and_then(|()| out.flush());
        }
    }
}

fn verify(options: &Verify, deadline: Instant, printer: &Printer) -> u8 {
    let Input { mut program, sources, kind } = match input::read(&options.reading) {
        Ok(read) => read,
        Err(messages) => return bad_input(options.format, &messages, printer),
    };
    let asked = match asked(options, kind) {
        Ok(asked) => asked,
        Err(message) => return bad_input(options.format, &[message], printer),
    };
    let named = match race_names::resolve(&program, &options.race, options.reading.nesc) {
        Ok(named) => (!options.race.is_empty()).then_some(named),
        Err(messages) => return bad_input(options.format, &messages, printer),
    };
    program.races_on = named.as_ref().map(|named| named.iter().map(|variable| variable.range).collect());
    if let Some(what) = options.show {
        return show(options, &program, &sources, what, &asked, deadline, printer);
    }
    let specification =
        match specification_of(options.spec.as_deref(), &program, kind, options.memory, deadline) {
            Ok(specification) => specification,
            Err(messages) => return bad_input(options.format, &messages, printer),
        };
    let document = |outcomes: &[Outcome]| {
        let answer = Answer::of(outcomes, &asked.open);
        let text = rendered(options.format, &program, &sources, outcomes, &answer, options.explain);
        (text, status_of(&answer))
    };
    let keep = |outcomes: &[Outcome]| {
        let (text, status) = document(outcomes);
        printer.keep(text, status);
    };
    let listing = Listing { variables: named, keep: &keep };
    let outcomes = run_checks(options, &asked, &program, listing, kind, specification.as_ref(), deadline);
    let (text, status) = document(&outcomes);
    printer.print(&text);
    let run = Run { options, kind, program: &program, sources: &sources, outcomes: &outcomes, deadline };
    for message in run.write() {
        eprintln!("threadproof: {message}");
    }
    for message in run.write_rejected() {
        eprintln!("threadproof: internal error: {message}");
    }
    status
}

fn status_of(answer: &Answer) -> u8 {
    match answer {
        Answer::True => status::PROVED,
        Answer::False(_) => status::REFUTED,
        Answer::Unknown(_) => status::UNKNOWN,
    }
}

/// The report.
fn rendered(
    format: Format,
    program: &Program,
    sources: &Sources,
    outcomes: &[Outcome],
    answer: &Answer,
    explain: bool,
) -> String {
    match format {
        Format::Human => report::human::render(program, sources, outcomes, answer, explain),
        Format::Json => report::json::render(program, outcomes, answer),
        Format::Sarif => report::sarif::render(program, outcomes),
    }
}

/// Checks evidence from a file against a program that is read anew. No engine runs.
fn check(options: CheckEvidence, deadline: Instant, printer: &Printer) -> u8 {
    let CheckEvidence { evidence, mut reading, format, memory, .. } = options;
    let refuse = |error: &dyn std::fmt::Display| format!("{}: error: {error}", evidence.display());
    let file = std::fs::read_to_string(&evidence)
        .map_err(|error| refuse(&error))
        .and_then(|text| EvidenceFile::read(&text).map_err(|error| refuse(&error)));
    let file = match file {
        Ok(file) => file,
        Err(message) => return bad_input(format, &[message], printer),
    };
    match Model::from_name(&file.data_model) {
        Some(model) => reading.data_model = model,
        None => {
            let message = refuse(&format!("there is no data model `{}`", file.data_model));
            return bad_input(format, &[message], printer);
        }
    }
    let Input { program, sources, .. } = match input::read(&reading) {
        Ok(read) => read,
        Err(messages) => return bad_input(format, &messages, printer),
    };
    let budget = Budget { deadline: Some(deadline), memory: memory << 20, ..Budget::unlimited() };
    let mut outcomes = Vec::new();
    for (check, evidence) in file.checks {
        let start = Instant::now();
        let verdict = match evidence {
            Evidence::Proof(proof) => Verdict::Safe(proof),
            Evidence::Trace(trace) => Verdict::Unsafe(trace),
        };
        let prepared = pipeline::prepare(&program, check);
        let verdict = checker::examine(&prepared, &check.property(), verdict, &budget)
            .unwrap_or_else(|rejection| Checked::Unknown(Reason::Rejected(rejection.why)));
        let seconds = start.elapsed().as_secs_f64();
        outcomes.push(Outcome {
            check,
            variable: None,
            verdict,
            decisions: None,
            seconds,
            tries: Vec::new(),
        });
    }
    let open = if outcomes.is_empty() { vec!["none: there is no evidence".to_owned()] } else { Vec::new() };
    let answer = Answer::of(&outcomes, &open);
    printer.print(&rendered(format, &program, &sources, &outcomes, &answer, false));
    status_of(&answer)
}

/// What a listing of variables needs.
struct Listing<'a> {
    /// The variables that were named; nothing: all that are shared.
    variables: Option<Vec<Variable>>,
    /// Takes what is known so far.
    keep: &'a dyn Fn(&[Outcome]),
}

/// Runs every check within its share of the time. One that needs less leaves more to the next.
fn run_checks(
    options: &Verify,
    asked: &Asked,
    program: &Program,
    listing: Listing<'_>,
    kind: Kind,
    specification: Option<&Specification>,
    deadline: Instant,
) -> Vec<Outcome> {
    let settings =
        engine_explicit::Options { shortest: options.shortest, ..engine_explicit::Options::default() };
    let explicit = engine_explicit::Explicit { options: settings };
    let queries = engine_queries::Queries { main_thread: options.main_thread.clone() };
    let engine: Option<&dyn Engine> = match options.engine {
        EngineName::Auto => None,
        EngineName::Flow => Some(&engine_flow::Flow),
        EngineName::States => Some(&engine_states::States),
        EngineName::Counters => Some(&engine_states::Counting),
        EngineName::Horn => Some(&engine_horn::Horn),
        EngineName::Queries => Some(&queries),
        EngineName::Context => Some(&engine_context::ContextInference),
        EngineName::Symbolic => Some(&engine_symbolic::Symbolic),
        EngineName::Explicit => Some(&explicit),
    };
    let jobs = options.jobs.map_or_else(portfolio::default_jobs, usize::from);
    let portfolio = Portfolio { explicit: explicit.clone(), boolean: kind != Kind::C, jobs };
    let spec = specification.map(|specification| engine_spec::Spec { specification, composer: &portfolio });
    let engine = spec.as_ref().map(|spec| spec as &dyn Engine).or(engine);
    let answer = |program: &Program, check: Check, budget: &Budget| match engine {
        Some(engine) => pipeline::verify(program, check, engine, budget, &Silent),
        None => portfolio.verify(program, check, budget),
    };
    let mut outcomes = Vec::new();
    if options.reading.nesc {
        let answer = |program: &Program, budget: &Budget| answer(program, Check::Races, budget);
        let flow_first = matches!(options.engine, EngineName::Auto | EngineName::Flow);
        let memory = options.memory << 20;
        let Listing { variables, keep } = listing;
        let question =
            nesc::Question { program, variables, answer: &answer, flow_first, deadline, memory, keep };
        outcomes = nesc::list(&question);
        if !outcomes.is_empty() {
            return outcomes;
        }
    }
    for (index, check) in asked.checks.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / (asked.checks.len() - index) as u32;
        let budget = Budget { memory: options.memory << 20, ..Budget::seconds(share.as_secs_f64()) };
        outcomes.push(answer(program, *check, &budget));
    }
    outcomes
}

/// The specification that the program is proved by, if there is one.
fn specification_of(
    path: Option<&Path>,
    program: &Program,
    kind: Kind,
    memory: u64,
    deadline: Instant,
) -> Result<Option<Specification>, Vec<String>> {
    let Some(path) = path else { return Ok(None) };
    if kind != Kind::C {
        return Err(vec![format!("{}: error: specifications are about C programs", path.display())]);
    }
    let budget = Budget { deadline: Some(deadline), memory: memory << 20, ..Budget::unlimited() };
    specification::read(path, program, &budget).map(Some)
}

/// Checks that a program conforms. One of its files is the specification.
fn conform(mut options: OfSpecification, deadline: Instant, printer: &Printer) -> u8 {
    let is_spec = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "tspec");
    let (specs, files): (Vec<PathBuf>, Vec<PathBuf>) = options.reading.files.drain(..).partition(is_spec);
    options.reading.files = files;
    let bad = |messages: &[String]| {
        messages.iter().for_each(|message| eprintln!("{message}"));
        let first = messages.first().map_or("bad input", String::as_str);
        printer.print(&format!("conformance: unknown({})\n", first.replace(['\n', '\r'], " ")));
        status::BAD_INPUT
    };
    let ([spec], false) = (specs.as_slice(), options.reading.files.is_empty()) else {
        return bad(&[
            "threadproof: error: there must be a C program and one specification (.tspec)".to_owned()
        ]);
    };
    let Input { program, sources, kind } = match input::read(&options.reading) {
        Ok(read) => read,
        Err(messages) => return bad(&messages),
    };
    let specification = match specification_of(Some(spec), &program, kind, options.memory, deadline) {
        Ok(Some(specification)) => specification,
        Ok(None) => return status::BAD_INPUT,
        Err(messages) => return bad(&messages),
    };
    let budget = Budget { deadline: Some(deadline), memory: options.memory << 20, ..Budget::unlimited() };
    let (answer, text) = specification::conform(&program, &sources, &specification, &budget);
    printer.print(&text);
    match answer {
        Conforming::Yes => status::PROVED,
        Conforming::No => status::REFUTED,
        Conforming::Unknown => status::UNKNOWN,
    }
}

/// Writes a first specification.
fn draft(options: &OfSpecification, deadline: Instant, printer: &Printer) -> u8 {
    let fails = |messages: &[String], status: u8| {
        messages.iter().for_each(|message| eprintln!("{message}"));
        status
    };
    let program = match input::read(&options.reading) {
        Ok(Input { kind, .. }) if kind != Kind::C => {
            let message = "threadproof: error: specifications are about C programs".to_owned();
            return fails(&[message], status::BAD_INPUT);
        }
        Ok(Input { program, .. }) => program,
        Err(messages) => return fails(&messages, status::BAD_INPUT),
    };
    let budget = Budget { deadline: Some(deadline), memory: options.memory << 20, ..Budget::unlimited() };
    match specification::draft(&program, &budget) {
        Ok(text) => {
            printer.print(&text);
            status::PROVED
        }
        Err(reason) => fails(&[format!("threadproof: there is no draft: {reason}")], status::UNKNOWN),
    }
}

fn bad_input(format: Format, messages: &[String], printer: &Printer) -> u8 {
    for message in messages {
        eprintln!("{message}");
    }
    let first = messages.first().map_or("bad input", String::as_str);
    let answer = Answer::Unknown(first.replace(['\n', '\r'], " "));
    printer.print(&without_program(format, &answer));
    status::BAD_INPUT
}

fn asked(options: &Verify, kind: Kind) -> Result<Asked, String> {
    let Some(path) = &options.property else {
        let mut checks: Vec<Check> = options.check.iter().map(|check| check.0).collect();
        if checks.is_empty() {
            if options.reading.nesc || !options.race.is_empty() {
                return Ok(Asked { checks: vec![Check::Races], open: Vec::new() });
            }
            checks.push(Check::Assertions);
            checks.extend((kind == Kind::C && options.spec.is_none()).then_some(Check::Races));
        }
        return Ok(Asked { checks, open: Vec::new() });
    };
    let bytes = std::fs::read(path).map_err(|error| format!("{}: error: {error}", path.display()))?;
    property_file::parse(&String::from_utf8_lossy(&bytes))
        .map_err(|error| format!("{}: error: {error}", path.display()))
}

fn show(
    options: &Verify,
    program: &Program,
    sources: &Sources,
    what: Show,
    asked: &Asked,
    deadline: Instant,
    printer: &Printer,
) -> u8 {
    let check = asked.checks.first().copied().unwrap_or(Check::Assertions);
    let prepared = pipeline::prepare(program, check);
    printer.print(&match what {
        Show::Ir => ir::text::print(&prepared),
        Show::Flow => engine_flow::describe(&prepared, &check.property()),
        Show::Invariants => {
            let budget =
                Budget { deadline: Some(deadline), memory: options.memory << 20, ..Budget::unlimited() };
            let outcome = pipeline::verify(program, check, &engine_flow::Flow, &budget, &Silent);
            match engine_flow::listing(&prepared, &budget) {
                Ok(listing) => report::listing::render(program, sources, &listing, &outcome),
                Err(reason) => {
                    eprintln!("threadproof: there is nothing to show: {reason}");
                    return status::UNKNOWN;
                }
            }
        }
        Show::Cfa => report::graph::dot(&prepared),
        Show::CfaSvg => report::graph::svg_program(&prepared),
        Show::Context => {
            let asked_for = !options.check.is_empty() || options.property.is_some();
            let check = if asked_for { check } else { Check::Races };
            let budget =
                Budget { deadline: Some(deadline), memory: options.memory << 20, ..Budget::unlimited() };
            let outcome =
                pipeline::verify(program, check, &engine_context::ContextInference, &budget, &Silent);
            match outcome.verdict {
                Checked::Proved(Proof::Context(proof)) => {
                    report::graph::contexts(&pipeline::prepare(program, check), &proof)
                }
                Checked::Proved(_) => String::new(),
                Checked::Refuted(_) => {
                    eprintln!("threadproof: there is no context to show: there is a violation");
                    return status::REFUTED;
                }
                Checked::Unknown(reason) => {
                    eprintln!("threadproof: there is no context to show: {reason}");
                    return status::UNKNOWN;
                }
            }
        }
    });
    status::PROVED
}
