//! What the command line does.

use crate::arguments::{Arguments, Command, EngineName, Format, Show, Verify, normalise};
use crate::evidence::Run;
use crate::input::{self, Input, Kind};
use crate::pipeline;
use crate::property_file::{self, Asked};
use crate::watchdog::{self, Watched};
use checker::Checked;
use clap::Parser;
use ir::Program;
use report::{Answer, Outcome, Sources};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use verdict::{Budget, Check, Engine, Reason, Silent};

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
    let Command::Verify(options) = arguments.command;
    let (timeout, memory, format) = (options.timeout, options.memory, options.format);
    let deadline = Instant::now() + Duration::from_secs_f64(timeout.clamp(0.0, 1e8));
    let printer = Printer::default();
    let its_printer = printer.clone();
    let work = move || verify(&options, deadline, &its_printer);
    let code = match watchdog::run(work, deadline, memory << 20) {
        Ok(Watched::Done(code)) => code,
        Ok(Watched::Overrun(exhausted)) => {
            let answer = Answer::Unknown(Reason::Exhausted(exhausted).to_string());
            printer.print(&without_program(format, &answer));
            status::UNKNOWN
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
struct Printer(Arc<Mutex<bool>>);

impl Printer {
    /// Prints a document, unless one was printed; a reader that went away is no error.
    fn print(&self, document: &str) {
        let mut done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut *done, true) {
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(document.as_bytes()).and_then(|()| out.flush());
        }
    }
}

fn verify(options: &Verify, deadline: Instant, printer: &Printer) -> u8 {
    let Input { program, sources, kind } = match input::read(options) {
        Ok(read) => read,
        Err(messages) => return bad_input(options.format, &messages, printer),
    };
    let asked = match asked(options, kind) {
        Ok(asked) => asked,
        Err(message) => return bad_input(options.format, &[message], printer),
    };
    if let Some(what) = options.show {
        return show(options, &program, &sources, what, &asked, deadline, printer);
    }
    let outcomes = run_checks(options, &asked, &program, kind, deadline);
    let answer = Answer::of(&outcomes, &asked.open);
    let document = match options.format {
        Format::Human => report::human::render(&program, &sources, &outcomes, &answer),
        Format::Json => report::json::render(&program, &outcomes, &answer),
        Format::Sarif => report::sarif::render(&program, &outcomes),
    };
    printer.print(&document);
    let run = Run { options, kind, program: &program, sources: &sources, outcomes: &outcomes, deadline };
    for message in run.write() {
        eprintln!("threadproof: {message}");
    }
    if outcomes.iter().any(|outcome| matches!(&outcome.verdict, Checked::Unknown(Reason::Rejected(_)))) {
        eprintln!(
            "threadproof: internal error: the evidence for a verdict was not accepted; please report this program"
        );
    }
    match answer {
        Answer::True => status::PROVED,
        Answer::False(_) => status::REFUTED,
        Answer::Unknown(_) => status::UNKNOWN,
    }
}

/// Runs every check within its share of the time. One that needs less leaves more to the next.
fn run_checks(
    options: &Verify,
    asked: &Asked,
    program: &Program,
    kind: Kind,
    deadline: Instant,
) -> Vec<Outcome> {
    let settings =
        engine_explicit::Options { shortest: options.shortest, ..engine_explicit::Options::default() };
    let explicit = engine_explicit::Explicit { options: settings };
    let engine: &dyn Engine = match options.engine {
        EngineName::Auto => &crate::portfolio::Auto { explicit, boolean: kind != Kind::C },
        EngineName::Flow => &engine_flow::Flow,
        EngineName::States => &engine_states::States,
        EngineName::Counters => &engine_states::Counting,
        EngineName::Horn => &engine_horn::Horn,
        EngineName::Queries => &engine_queries::Queries {
            main_thread: options.main_thread.clone(),
            ..engine_queries::Queries::default()
        },
        EngineName::Symbolic => &engine_symbolic::Symbolic,
        EngineName::Explicit => &explicit,
    };
    let mut outcomes = Vec::new();
    for (index, check) in asked.checks.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / (asked.checks.len() - index) as u32;
        let budget = Budget { memory: options.memory << 20, ..Budget::seconds(share.as_secs_f64()) };
        outcomes.push(pipeline::verify(program, *check, engine, &budget, &Silent));
    }
    outcomes
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
            checks.push(Check::Assertions);
            checks.extend((kind == Kind::C).then_some(Check::Races));
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
    });
    status::PROVED
}
