//! What the command line does.

use crate::arguments::{Arguments, Command, EngineName, Format, Show, Verify, normalise};
use crate::input::{self, Input, Kind};
use crate::pipeline;
use crate::property_file::{self, Asked};
use checker::Checked;
use clap::Parser;
use ir::Program;
use report::{Answer, Outcome};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
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
    // Deeply nested programs need a deep stack.
    let worker = std::thread::Builder::new().stack_size(512 << 20).spawn(move || match arguments.command {
        Command::Verify(options) => verify(&options),
    });
    let code = match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) | Err(_) => {
            println!("verdict: unknown(internal error)");
            status::INTERNAL
        }
    };
    ExitCode::from(code)
}

fn verify(options: &Verify) -> u8 {
    let deadline = Instant::now() + Duration::from_secs_f64(options.timeout.clamp(0.0, 1e8));
    let Input { program, sources, kind } = match input::read(options) {
        Ok(read) => read,
        Err(messages) => return bad_input(options.format, &messages),
    };
    let asked = match asked(options, kind) {
        Ok(asked) => asked,
        Err(message) => return bad_input(options.format, &[message]),
    };
    if let Some(what) = options.show {
        return show(&program, what, &asked);
    }
    let outcomes = run_checks(options, &asked, &program, kind, deadline);
    let answer = Answer::of(&outcomes, &asked.open);
    let document = match options.format {
        Format::Human => report::human::render(&program, &sources, &outcomes, &answer),
        Format::Json => report::json::render(&program, &outcomes, &answer),
        Format::Sarif => report::sarif::render(&outcomes),
    };
    print(&document);
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

fn bad_input(format: Format, messages: &[String]) -> u8 {
    for message in messages {
        eprintln!("{message}");
    }
    let first = messages.first().map_or("bad input", String::as_str);
    let answer = Answer::Unknown(first.replace(['\n', '\r'], " "));
    print(&match format {
        Format::Human => format!("verdict: {answer}\n"),
        Format::Json => report::json::render(&Program::default(), &[], &answer),
        Format::Sarif => report::sarif::render(&[]),
    });
    status::BAD_INPUT
}

/// Prints a document; a reader that went away is no error.
fn print(document: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(document.as_bytes()).and_then(|()| out.flush());
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

fn show(program: &Program, what: Show, asked: &Asked) -> u8 {
    let check = asked.checks.first().copied().unwrap_or(Check::Assertions);
    let program = pipeline::prepare(program, check);
    print(&match what {
        Show::Ir => ir::text::print(&program),
        Show::Flow => engine_flow::describe(&program, &check.property()),
        Show::Cfa => report::graph::dot(&program),
        Show::CfaSvg => report::graph::svg_program(&program),
    });
    status::PROVED
}
