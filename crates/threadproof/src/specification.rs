//! The commands about specifications: reading them, `conform`, and `draft`.

use crate::evidence::unreadable;
use crate::pipeline;
use engine_spec::{Conformances, Problem};
use ir::Program;
use ir::specification::Specification;
use report::Sources;
use std::fmt::Write;
use std::path::Path;
use verdict::{Budget, Check, Reason};

/// Reads a specification about a program, and looks for mistakes in it.
pub fn read(path: &Path, program: &Program, budget: &Budget) -> Result<Specification, Vec<String>> {
    let name = path.to_string_lossy().into_owned();
    let bytes = std::fs::read(path).map_err(|error| vec![unreadable(path, &error)])?;
    let texts = |problems: Vec<frontend_spec::Diagnostic>| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let found = frontend_spec::read(&name, &bytes, program).map_err(texts)?;
    // What cannot be looked at is no mistake; it comes up again when threads are checked.
    let mistakes = engine_spec::mistakes(&found, &prepared(program), budget).unwrap_or_default();
    if mistakes.is_empty() {
        return Ok(found);
    }
    let text = |mistake: &engine_spec::Mistake| {
        format!("{name}:{}:{}: error: {}", mistake.span.line, mistake.span.column, mistake.message)
    };
    Err(mistakes.iter().map(text).collect())
}

/// The program whose threads must conform: lowered for assertions.
fn prepared(program: &Program) -> Program {
    pipeline::prepare(program, Check::Assertions)
}

/// What became of the question whether all threads conform.
pub enum Conforming {
    /// They do.
    Yes,
    /// Some do not.
    No,
    /// It is not known.
    Unknown,
}

/// Checks that all threads of a program conform to a specification. The report's last line is the answer.
pub fn conform(
    program: &Program,
    sources: &Sources,
    specification: &Specification,
    budget: &Budget,
) -> (Conforming, String) {
    let program = prepared(program);
    let found = match engine_spec::conform(specification, &program, budget) {
        Ok(found) => found,
        Err(reason) => return unknown(String::new(), &reason),
    };
    let mut out = text(&found, &program, sources);
    let mut proved = Vec::new();
    let mut reason = None;
    let mut failed = Vec::new();
    for checked in found.threads {
        match checked.result {
            Ok(conformance) => proved.push(conformance),
            Err(Problem::Unknown(why)) => reason = reason.or(Some(why)),
            Err(Problem::Fails(_)) => failed.push(checked.function),
        }
    }
    if !failed.is_empty() {
        let _ = writeln!(out, "\nconformance: false({})", failed.join(", "));
        return (Conforming::No, out);
    }
    if let Some(reason) = reason {
        return unknown(out, &reason);
    }
    match checker::check_conformance(&program, specification, &proved, budget) {
        Ok(()) => {
            out.push_str("\nconformance: true\n");
            (Conforming::Yes, out)
        }
        Err(error) => unknown(out, &Reason::from(error)),
    }
}

fn unknown(mut out: String, reason: &Reason) -> (Conforming, String) {
    let _ = writeln!(out, "\nconformance: unknown({})", reason.to_string().replace('\n', " "));
    (Conforming::Unknown, out)
}

/// What became of each thread.
fn text(found: &Conformances, program: &Program, sources: &Sources) -> String {
    let mut out = String::new();
    for checked in &found.threads {
        let function = &checked.function;
        let seconds = checked.seconds;
        // Writing to a string does not fail.
        let _ = match (&checked.result, &checked.thread) {
            (Ok(_), Some(thread)) => writeln!(out, "{function} conforms to {thread} ({seconds:.2} s)."),
            (Ok(_), None) => {
                writeln!(out, "{function} changes no variable of the specification ({seconds:.2} s).")
            }
            (Err(Problem::Unknown(reason)), _) => writeln!(out, "{function}: unknown: {reason}."),
            (Err(Problem::Fails(failure)), _) => {
                let line = sources.line(failure.span).map(|line| format!("      {line}\n"));
                writeln!(
                    out,
                    "{function} does not conform.\n  {}\n{}{}",
                    failure.sentence(program),
                    line.unwrap_or_default(),
                    failure.details().trim_end()
                )
            }
        };
    }
    out
}
