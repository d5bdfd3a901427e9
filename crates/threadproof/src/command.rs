//! The commands of the command line.

use crate::arguments::{
    Arguments, CheckEvidence, Command, Draft, Format, Lsp, Model, OfSpecification, Show, Verify, normalise,
};
use crate::batching;
use crate::cache::Cache;
use crate::checking::{self, Question, specification_of};
use crate::config;
use crate::evidence::{self, Missing, Run, Written};
use crate::functions;
use crate::input::{self, Input, Kind};
use crate::lsp;
use crate::manual;
use crate::presenting::{self, plain};
use crate::property_file::Asked;
use crate::terminal::Printer;
use crate::watchdog::{self, Limits, Watched};
use checker::Checked;
use clap::{CommandFactory, Parser};
use ir::Program;
use ir::diagnostic::{self, Diagnostic};
use ir::specification::Specification;
use portfolio::live::{Live, Partial};
use portfolio::pipeline;
use portfolio::specification::{self, Conforming};
use report::baseline::{Baseline, Comparison};
use report::{Answer, Outcome, Report, SharedMemory, Sources};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use verdict::{Budget, Check, Evidence, EvidenceFile, Proof, Reason, Silent, Verdict};

/// The exit statuses that other tools rely on.
pub mod status {
    #![allow(missing_docs)]
    pub const PROVED: u8 = 0;
    pub const REFUTED: u8 = 1;
    pub const UNKNOWN: u8 = 2;
    pub const BAD_INPUT: u8 = 3;
    pub const INTERNAL: u8 = 4;
}

/// Runs the command line and returns its exit status.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let printer = Printer::default();
    let words = match config::complete(normalise(words), Path::new("")) {
        Ok(words) => words,
        Err(messages) => {
            messages.iter().for_each(|message| printer.say(&message.to_string()));
            return ExitCode::from(status::BAD_INPUT);
        }
    };
    let arguments = match Arguments::try_parse_from(words) {
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
        Command::Conform(options) => (options.timeout, options.memory, Format::Human),
        Command::Draft(options) => (options.of.timeout, options.of.memory, Format::Human),
        Command::Batch(options) => return batching::run(options, &printer),
        Command::Element { folder, element } => return batching::element(folder, *element, &printer),
        Command::Lsp(options) => return serve(options, &printer),
        Command::Completions { shell } => return completions(*shell, &printer),
        Command::Man => return manual(&printer),
    };
    let folders = match &arguments.command {
        Command::Verify(options) => evidence::folders_written(options),
        _ => Vec::new(),
    };
    let about_specification = matches!(arguments.command, Command::Conform(_) | Command::Draft(_));
    let cache = match &arguments.command {
        Command::Verify(options) => {
            if options.supervisor.is_some_and(|supervisor| !ends_with(supervisor)) {
                return ExitCode::from(status::UNKNOWN);
            }
            Cache::of(options)
        }
        _ => None,
    };
    if let Some((cache, Err(error))) = cache.as_ref().map(|cache| (cache, cache.prepare())) {
        let problem =
            Diagnostic::of_file(cache.folder(), diagnostic::Kind::File, evidence::why_unwritable(&error));
        return ExitCode::from(bad_input(format, &[problem], &printer));
    }
    let deadline = Instant::now() + Duration::from_secs_f64(timeout.clamp(0.0, 1e8));
    let live = Live::default();
    let (its_printer, its_live, its_cache) = (printer.clone(), live.clone(), cache.clone());
    let work = move || match arguments.command {
        Command::Verify(options) => verify(&options, deadline, &its_printer, &its_live, its_cache.as_ref()),
        Command::Check(options) => check(&options, deadline, &its_printer, &its_live),
        Command::Conform(options) => conform(options, deadline, &its_printer, &its_live),
        Command::Draft(options) => draft(&options, deadline, &its_printer, &its_live),
        // These commands are already handled.
        Command::Batch(_)
        | Command::Element { .. }
        | Command::Lsp(_)
        | Command::Completions { .. }
        | Command::Man => status::PROVED,
    };
    let limits = Limits { deadline, bytes: memory << 20, cancel: live.cancel.clone() };
    let code = match watchdog::run(work, &limits, |bytes| printer.status(|| live.status(), bytes)) {
        Ok(Watched::Done(code)) => code,
        Ok(Watched::Overrun(_)) if printer.is_stuck() => {
            evidence::remove_parts(&folders);
            // The printer does not apply here.
            eprintln!(
                "threadproof: error: standard output: nobody reads it; the report is not whole: read all of it"
            );
            return ExitCode::from(status::BAD_INPUT);
        }
        Ok(Watched::Overrun(exhausted)) if printer.has_printed() => {
            evidence::remove_parts(&folders);
            match live.status_known() {
                Some(status) if folders.is_empty() => status,
                // The verdict is printed, but not all requested files are written.
                _ => {
                    let reason = Reason::Exhausted(exhausted);
                    printer.say(&format!("threadproof: error: not all files are written: {reason}; run it again, or raise the limit"));
                    status::BAD_INPUT
                }
            }
        }
        Ok(Watched::Overrun(exhausted)) => {
            evidence::remove_parts(&folders);
            let doing = live.status();
            let Partial { input, outcomes, memory } = live.partial(exhausted);
            // Without a program, the message says so.
            let reason = Reason::Exhausted(exhausted);
            let reason = if input.is_some() { reason.to_string() } else { format!("{reason} while {doing}") };
            let (input, memory) = match (input, live.first_listing()) {
                (Some(input), _) => (input, memory),
                (None, Some((program, listed))) => (Arc::new((program, Sources::default())), Some(listed)),
                (None, None) => (Arc::default(), memory),
            };
            if let Some(cache) = &cache {
                cache.keep(&input.0, &outcomes, memory.as_ref());
            }
            // A violation counts, even if other checks are unknown.
            let answer = match Answer::of(&outcomes, &[]) {
                found @ Answer::False(_) => found,
                Answer::True | Answer::Unknown(_) => Answer::Unknown(reason),
            };
            let report = presenting::plain((&input.0, &input.1), &outcomes, &answer, memory.as_ref());
            printer.print(&match about_specification {
                false => presenting::document(format, &report),
                true => format!("conformance: {answer}\n"),
            });
            status_of(&answer)
        }
        Ok(Watched::Panicked) | Err(_) => {
            printer.print("verdict: unknown(internal error)\n");
            printer.say("threadproof: internal error: please report this program, and what is said above");
            status::INTERNAL
        }
    };
    finished(code, &printer)
}

/// The exit status, if all was written.
fn finished(code: u8, printer: &Printer) -> ExitCode {
    ExitCode::from(if printer.is_torn() { status::BAD_INPUT } else { code })
}

/// Lets this process end when the one that started it ends; `false` if that has happened already.
fn ends_with(supervisor: i32) -> bool {
    let asked = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
    asked.is_ok() && nix::unistd::getppid().as_raw() == supervisor
}

/// Serves an editor. The protocol has its own exit statuses.
fn serve(options: &Lsp, printer: &Printer) -> ExitCode {
    match lsp::serve(options.config.clone(), !options.no_cache) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            printer.say(&format!("threadproof: error: {reason}; `threadproof lsp` is for editors to start"));
            ExitCode::FAILURE
        }
    }
}

/// Prints the completions for a shell.
fn completions(shell: clap_complete::Shell, printer: &Printer) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "threadproof", &mut text);
    printer.print(&String::from_utf8_lossy(&text));
    finished(status::PROVED, printer)
}

/// Prints one manual page about all commands.
fn manual(printer: &Printer) -> ExitCode {
    printer.print(&manual::page(Arguments::command()));
    finished(status::PROVED, printer)
}

fn verify(options: &Verify, deadline: Instant, printer: &Printer, live: &Live, cache: Option<&Cache>) -> u8 {
    let baseline = match options.baseline.as_deref().map(evidence::baseline).transpose() {
        Ok(baseline) => baseline,
        Err(problem) => return bad_input(options.format, &[problem], printer),
    };
    live.doing("reading the program");
    if checking::may_ask_for_races(&options.asking) {
        live.reads(&options.reading.draft);
    }
    let question = match checking::question(&options.reading, &options.asking, &input::disk) {
        Ok(question) => question,
        Err(messages) => {
            let is_limit = messages.iter().all(|message| message.kind == diagnostic::Kind::Limit);
            let known = if is_limit { live.first_listing() } else { None };
            return refused(options.format, &messages, known, printer);
        }
    };
    let Question { input, kind, files, notes, asked, .. } = &question;
    for note in notes {
        printer.say(&format!("threadproof: {note}"));
    }
    let (program, sources) = (&input.0, &input.1);
    live.read(input);
    let budget = Budget {
        deadline: Some(deadline),
        memory: options.memory << 20,
        cancel: live.cancel.clone(),
        ..Budget::unlimited()
    };
    if let Some(what) = options.show {
        live.doing("looking at the program");
        return show(options, (program, sources), what, asked, &budget, printer);
    }
    let specification = match specification_of(options.asking.spec.as_deref(), program, *kind, &budget) {
        Ok(specification) => specification,
        Err(messages) => return bad_input(options.format, &messages, printer),
    };
    let problems = evidence::refuse_outputs(options, files);
    if !problems.is_empty() {
        return bad_input(options.format, &problems, printer);
    }
    checking::run_checks(options, &question, specification.as_ref(), deadline, live, cache);
    let (outcomes, memory) = (live.outcomes(), live.memory());
    let answer = Answer::of(&outcomes, &asked.open);
    let compared = plain((program, sources), &outcomes, &answer, memory.as_ref());
    let code = compared_status(&compared, baseline.as_ref().filter(|_| asked.open.is_empty()));
    live.answered(code);
    live.doing("writing the report");
    if let Some(cache) = cache {
        cache.keep(program, &outcomes, memory.as_ref());
    }
    let found = (outcomes.as_slice(), memory.as_ref());
    let page = presenting::present(options, &question, found, &answer, baseline.as_ref(), &budget, printer);
    let run = Run { options, question: &question, outcomes: &outcomes, deadline };
    let mut written = run.write();
    if let Err(reason) = page {
        written.miss("page", Missing::Unwritable(reason));
    }
    let Written { messages, failed } = written;
    for message in messages {
        printer.say(&format!("threadproof: {message}"));
    }
    for message in run.write_rejected() {
        printer.say(&format!("threadproof: internal error: {message}"));
    }
    let crashed = |outcome: &Outcome| {
        matches!(&outcome.verdict, Checked::Unknown(Reason::Crashed(_) | Reason::Contradiction(_)))
    };
    match answer {
        Answer::Unknown(_) if outcomes.iter().any(crashed) => status::INTERNAL,
        // A script that relies on the exit status must not assume that the file exists.
        _ if failed => status::BAD_INPUT,
        _ => code,
    }
}

/// The exit status: of what is new, if there is a baseline.
fn compared_status(report: &Report<'_>, baseline: Option<&Baseline>) -> u8 {
    let status = status_of(report.answer);
    let Some(news) = baseline.map(|baseline| baseline.news(report)) else { return status };
    let open = |outcome: &Outcome| matches!(outcome.verdict, Checked::Unknown(_));
    match (news.comparison(), report.answer) {
        (Comparison::NewViolation, Answer::False(_)) => status::REFUTED,
        // All is proved, or violations are known.
        (Comparison::NothingNew, Answer::True | Answer::False(_)) => status::PROVED,
        // It says the same as the findings.
        (Comparison::NothingNew, Answer::Unknown(_)) if report.outcomes.iter().any(open) => status::PROVED,
        (Comparison::NewViolation | Comparison::NewOpen | Comparison::NothingNew, _) => status::UNKNOWN,
    }
}

fn status_of(answer: &Answer) -> u8 {
    match answer {
        Answer::True => status::PROVED,
        Answer::False(_) => status::REFUTED,
        Answer::Unknown(_) => status::UNKNOWN,
    }
}

/// Checks evidence from a file against a program that is read again. No engine runs. The user, never the
/// file, decides which checks are made and how the program is read.
fn check(options: &CheckEvidence, deadline: Instant, printer: &Printer, live: &Live) -> u8 {
    live.doing("checking evidence");
    let CheckEvidence { evidence: path, reading, asking, format, memory, .. } = options;
    let bad = |messages: &[Diagnostic]| bad_input(*format, messages, printer);
    let refuse = |error: &dyn std::fmt::Display| {
        let problem = Diagnostic::of_file(path, diagnostic::Kind::Text, error.to_string());
        vec![problem.help("`threadproof verify --proof` writes evidence")]
    };
    let file = match std::fs::read_to_string(path) {
        Ok(text) => EvidenceFile::read(&text),
        Err(error) => return bad(&[evidence::unreadable(path, &error)]),
    };
    let mut file = match file {
        Ok(file) => file,
        Err(error) => return bad(&refuse(&error)),
    };
    let Some(model) = Model::from_name(&file.data_model) else {
        return bad(&refuse(&format!("there is no data model `{}`", file.data_model)));
    };
    let question = match checking::question(reading, asking, &input::disk) {
        Ok(question) => question,
        Err(messages) => return bad(&messages),
    };
    let Question { input, kind, notes, asked, .. } = &question;
    for note in notes {
        printer.say(&format!("threadproof: {note}"));
    }
    let (program, sources) = (&input.0, &input.1);
    let read = Model::from(program.data_model);
    if model != read {
        let (theirs, ours) = (model.name(), read.name());
        let text = format!("it is evidence for {theirs}, and the program is read with {ours}");
        let help = format!("pass `--data-model {theirs}` if that is what you mean");
        return bad(&[Diagnostic::of_file(path, diagnostic::Kind::Usage, text).help(help)]);
    }
    let budget = Budget {
        deadline: Some(deadline),
        memory: memory << 20,
        cancel: live.cancel.clone(),
        ..Budget::unlimited()
    };
    let specification = match specification_of(asking.spec.as_deref(), program, *kind, &budget) {
        Ok(specification) => specification,
        Err(messages) => return bad(&messages),
    };
    let mut outcomes = Vec::new();
    for check in asked.checks.iter().copied() {
        let start = Instant::now();
        let found = file.checks.iter().position(|(known, _)| *known == check);
        let verdict = match found.map(|position| file.checks.remove(position).1) {
            None => Checked::Unknown(Reason::NoEvidence),
            Some(evidence) => {
                // The same text may be known by another path.
                let unnamed = |one: &Specification| Specification { file: String::new(), ..one.clone() };
                let is_by_specification = |wanted: &Specification| match &evidence {
                    Evidence::Proof(Proof::Spec(proof)) => unnamed(&proof.specification) == unnamed(wanted),
                    Evidence::Proof(_) => false,
                    Evidence::Trace(_) => true,
                };
                if specification.as_ref().is_none_or(is_by_specification) {
                    examined(program, check, evidence, &budget)
                } else {
                    Checked::Unknown(Reason::Rejected("it is not by the specification".to_owned()))
                }
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        let (decisions, tries) = (None, Vec::new());
        outcomes.push(Outcome { check, variable: None, verdict, decisions, seconds, tries });
    }
    let answer = Answer::of(&outcomes, &asked.open);
    let report = presenting::plain((program, sources), &outcomes, &answer, None);
    let status = live.answered(status_of(&answer));
    printer.print(&presenting::document(*format, &report));
    let without = |outcome: &Outcome| matches!(outcome.verdict, Checked::Unknown(Reason::NoEvidence));
    let missing = outcomes.iter().filter(|outcome| without(outcome)).map(|outcome| outcome.check.name());
    let missing: Vec<&str> = missing.collect();
    if !missing.is_empty() {
        printer.say(&format!(
            "threadproof: {}: there is no evidence for {} in it; `--check` says what must be there",
            path.display(),
            missing.join(", ")
        ));
    }
    status
}

/// The outcome of a check whose evidence comes from a file.
fn examined(program: &Program, check: Check, evidence: Evidence, budget: &Budget) -> Checked {
    let verdict = match evidence {
        Evidence::Proof(proof) => Verdict::Safe(proof),
        Evidence::Trace(trace) => Verdict::Unsafe(trace),
    };
    let prepared = pipeline::prepare(program, check);
    checker::examine(&prepared, &check.property(), verdict, budget)
        .unwrap_or_else(|rejection| Checked::Unknown(Reason::Rejected(rejection.why)))
}

/// Checks that a program conforms. One of its files is the specification.
fn conform(mut options: OfSpecification, deadline: Instant, printer: &Printer, live: &Live) -> u8 {
    live.doing("checking that the program conforms");
    let is_spec = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "tspec");
    let (specs, files): (Vec<PathBuf>, Vec<PathBuf>) = options.reading.files.drain(..).partition(is_spec);
    options.reading.files = files;
    let bad = |messages: &[Diagnostic]| {
        messages.iter().for_each(|message| printer.say(&message.to_string()));
        let first = messages.first().map_or("bad input".to_owned(), ToString::to_string);
        printer.print(&format!("conformance: unknown({})\n", first.replace(['\n', '\r'], " ")));
        status::BAD_INPUT
    };
    let ([spec], false) = (specs.as_slice(), options.reading.files.is_empty()) else {
        let text = "there must be a C program and one specification (.tspec)";
        return bad(&[Diagnostic::usage(text, "name both")]);
    };
    let Input { program, sources, kind, .. } = match input::read(&options.reading, false, &input::disk) {
        Ok(read) => read,
        Err(messages) => return bad(&messages),
    };
    let cancel = live.cancel.clone();
    let budget =
        Budget { deadline: Some(deadline), memory: options.memory << 20, cancel, ..Budget::unlimited() };
    let specification = match specification_of(Some(spec), &program, kind, &budget) {
        Ok(Some(specification)) => specification,
        Ok(None) => return status::BAD_INPUT,
        Err(messages) => return bad(&messages),
    };
    let (answer, text) = specification::conform(&program, &sources, &specification, &budget);
    let status = live.answered(match answer {
        Conforming::Yes => status::PROVED,
        Conforming::No => status::REFUTED,
        Conforming::Unknown => status::UNKNOWN,
    });
    printer.print(&text);
    status
}

/// Writes a first specification.
fn draft(options: &Draft, deadline: Instant, printer: &Printer, live: &Live) -> u8 {
    let fails = |messages: &[Diagnostic], status: u8| {
        messages.iter().for_each(|message| printer.say(&message.to_string()));
        status
    };
    if options.lists_functions {
        live.doing("looking for unknown functions");
        return match input::unknown_functions(&options.of.reading) {
            Ok(functions) => {
                let status = live.answered(status::PROVED);
                printer.print(&functions::section(&functions));
                status
            }
            Err(messages) => fails(&messages, status::BAD_INPUT),
        };
    }
    live.doing("drafting a specification");
    let options = &options.of;
    let program = match input::read(&options.reading, false, &input::disk) {
        Ok(Input { kind, .. }) if kind != Kind::C => {
            let problem = Diagnostic::usage("specifications are about C programs", "name C files");
            return fails(&[problem], status::BAD_INPUT);
        }
        Ok(Input { program, .. }) => program,
        Err(messages) => return fails(&messages, status::BAD_INPUT),
    };
    let cancel = live.cancel.clone();
    let budget =
        Budget { deadline: Some(deadline), memory: options.memory << 20, cancel, ..Budget::unlimited() };
    match specification::draft(&program, &budget) {
        Ok(text) => {
            let status = live.answered(status::PROVED);
            printer.print(&text);
            status
        }
        Err(reason) => {
            printer.say(&format!("threadproof: there is no draft: {reason}"));
            status::UNKNOWN
        }
    }
}

fn bad_input(format: Format, messages: &[Diagnostic], printer: &Printer) -> u8 {
    refused(format, messages, None, printer)
}

/// Says why there is no answer, with what is known of the shared memory of a program.
fn refused(
    format: Format,
    messages: &[Diagnostic],
    known: Option<(Program, SharedMemory)>,
    printer: &Printer,
) -> u8 {
    messages.iter().for_each(|message| printer.say(&message.to_string()));
    let first = messages.first().map_or("bad input".to_owned(), ToString::to_string);
    let answer = Answer::Unknown(first.replace(['\n', '\r'], " "));
    let (program, memory) = known.unzip();
    let (program, sources) = (program.unwrap_or_default(), Sources::default());
    let report = presenting::plain((&program, &sources), &[], &answer, memory.as_ref());
    printer.print(&presenting::document(format, &report));
    status::BAD_INPUT
}

fn show(
    options: &Verify,
    (program, sources): (&Program, &Sources),
    what: Show,
    asked: &Asked,
    budget: &Budget,
    printer: &Printer,
) -> u8 {
    let check = asked.checks.first().copied().unwrap_or(Check::Assertions);
    let prepared = pipeline::prepare(program, check);
    printer.print(&match what {
        Show::Ir => ir::text::print(&prepared),
        Show::Flow => engine_flow::describe(&prepared, &check.property()),
        Show::Invariants => {
            let outcome = pipeline::verify(program, check, &engine_flow::Flow, budget, &Silent);
            match engine_flow::listing(&prepared, budget) {
                Ok(listing) => report::listing::render(program, sources, &listing, &outcome),
                Err(reason) => {
                    printer.say(&format!("threadproof: there is nothing to show: {reason}"));
                    return status::UNKNOWN;
                }
            }
        }
        Show::Cfa => report::graph::dot(&prepared),
        Show::CfaSvg => report::graph::svg_program(&prepared),
        Show::Context | Show::ContextSvg | Show::ContextSpec => {
            let asked_for = !options.asking.check.is_empty() || options.asking.property.is_some();
            let check = if asked_for { check } else { Check::Races };
            let engine = &engine_context::ContextInference::OmegaCirc;
            let outcome = pipeline::verify(program, check, engine, budget, &Silent);
            match outcome.verdict {
                Checked::Proved(Proof::Context(proof)) => {
                    let lowered = pipeline::prepare(program, check);
                    let seen = engine_context::analysed_program(&lowered, &check.property(), budget);
                    let Ok(prepared) = seen else {
                        printer.say("threadproof: there is no context to show: out of time; raise --timeout");
                        return status::UNKNOWN;
                    };
                    let written = || specification::of_contexts(program, check, &proof, budget);
                    match what {
                        Show::ContextSvg => report::graph::contexts_svg(prepared, &proof),
                        Show::ContextSpec => match written() {
                            Ok(text) => text,
                            Err(reason) => {
                                printer.say(&format!("threadproof: there is no context to show: {reason}"));
                                return status::UNKNOWN;
                            }
                        },
                        _ => report::graph::contexts(prepared, &proof),
                    }
                }
                Checked::Proved(_) => String::new(),
                Checked::Refuted(_) => {
                    printer.say("threadproof: there is no context to show: there is a violation");
                    return status::REFUTED;
                }
                Checked::Unknown(reason) => {
                    printer.say(&format!("threadproof: there is no context to show: {reason}"));
                    return status::UNKNOWN;
                }
            }
        }
    });
    status::PROVED
}
