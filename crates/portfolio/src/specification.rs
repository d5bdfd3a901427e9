//! Specifications of a program's threads: reading them, conformance, and drafts.

use crate::pipeline;
use checker::Checked;
use engine_context::ContextInference;
use engine_spec::{Conformances, Contexts, Problem};
use ir::Program;
use ir::diagnostic::{self, Diagnostic};
use ir::specification::Specification;
use report::Sources;
use std::fmt::Write;
use verdict::{Budget, Check, ContextProof, Proof, Reason, Silent, Views};

/// Reads a specification of a program, and diagnoses mistakes in it.
pub fn read(
    name: &str,
    bytes: &[u8],
    program: &Program,
    budget: &Budget,
) -> Result<Specification, Vec<Diagnostic>> {
    let found = engine_spec::language::read(name, bytes, program)?;
    // A part that cannot be examined is no mistake; the conformance check will report it.
    let mistakes = engine_spec::mistakes(&found, &prepared(program), budget).unwrap_or_default();
    if mistakes.is_empty() {
        return Ok(found);
    }
    let text = |mistake: &engine_spec::Mistake| {
        let at = (mistake.span.line, mistake.span.column);
        Diagnostic::at(name, at, diagnostic::Kind::Text, &mistake.message)
    };
    Err(mistakes.iter().map(text).collect())
}

/// The program whose threads must conform: lowered for assertions.
fn prepared(program: &Program) -> Views {
    pipeline::prepare(program, Check::Assertions)
}

/// The result of the conformance check.
pub enum Conforming {
    /// All threads conform.
    Yes,
    /// Some threads do not conform.
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
        failed.sort_by_key(|function| place(&program, function));
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

/// The fraction of the time for contexts for a draft.
const CONTEXTS: u32 = 3;

/// A draft of a specification: from the automata of the engine `context`, if there are any and the threads
/// conform to them; else from the program alone.
pub fn draft(program: &Program, budget: &Budget) -> Result<String, Reason> {
    let lowered = prepared(program);
    let share = budget.part(CONTEXTS);
    match from_contexts(program, &lowered, &share, budget) {
        Some(text) => Ok(text),
        None => engine_spec::draft(&lowered, budget),
    }
}

/// A specification from contexts that prove the program: its assertions, or, if it has none, that it has no
/// races.
fn from_contexts(program: &Program, lowered: &Views, share: &Budget, budget: &Budget) -> Option<String> {
    for check in [Check::Assertions, Check::Races] {
        let outcome = pipeline::verify(program, check, &ContextInference::OmegaCirc, share, &Silent);
        let proof = match outcome.verdict {
            Checked::Proved(Proof::Context(proof)) => proof,
            Checked::Proved(_) if check == Check::Assertions => continue,
            _ => return None,
        };
        let drafts = drafts(program, lowered, check, &proof, share).ok()?;
        let spoken = drafts.functions.iter().any(|(_, texts)| texts.len() > 1);
        match spoken.then(|| conforming(program, lowered, &drafts, budget))? {
            // There are no assertions.
            Some((_, specification)) if specification.variables.is_empty() && check == Check::Assertions => {}
            found => return found.map(|(text, _)| text),
        }
    }
    None
}

/// The contexts that prove a check, as a specification. Does not check whether the threads conform.
pub fn of_contexts(
    program: &Program,
    check: Check,
    proof: &ContextProof,
    budget: &Budget,
) -> Result<String, Reason> {
    let drafts = drafts(program, &prepared(program), check, proof, budget)?;
    Ok(drafts.under("// What threads do, as contexts have it.\n", &vec![0; drafts.functions.len()]))
}

fn drafts(
    program: &Program,
    lowered: &Views,
    check: Check,
    proof: &ContextProof,
    budget: &Budget,
) -> Result<engine_spec::Drafts, Reason> {
    let races = check == Check::Races;
    let asked = pipeline::prepare(program, check);
    let contexts = Contexts { program: &asked, races, acfas: &proof.acfas };
    engine_spec::drafts(lowered, &contexts, budget)
}

/// The best drafts to which all threads conform.
fn conforming(
    program: &Program,
    lowered: &Views,
    drafts: &engine_spec::Drafts,
    budget: &Budget,
) -> Option<(String, Specification)> {
    let mut chosen = vec![0; drafts.functions.len()];
    loop {
        let text = drafts.text(&chosen);
        let specification = engine_spec::language::read("draft.tspec", text.as_bytes(), program).ok()?;
        if !engine_spec::mistakes(&specification, lowered, budget).ok()?.is_empty() {
            return None;
        }
        let found = engine_spec::conform(&specification, lowered, budget).ok()?;
        let failed: Vec<&String> =
            found.threads.iter().filter(|one| one.result.is_err()).map(|one| &one.function).collect();
        for (number, (function, texts)) in drafts.functions.iter().enumerate() {
            if failed.contains(&function) {
                chosen[number] += 1;
                if chosen[number] == texts.len() {
                    return None;
                }
            }
        }
        if failed.is_empty() {
            let proved: Vec<_> = found.threads.into_iter().filter_map(|one| one.result.ok()).collect();
            checker::check_conformance(lowered, &specification, &proved, budget).ok()?;
            return Some((text, specification));
        }
    }
}

fn unknown(mut out: String, reason: &Reason) -> (Conforming, String) {
    let _ = writeln!(out, "\nconformance: unknown({})", reason.to_string().replace('\n', " "));
    (Conforming::Unknown, out)
}

/// The position of a function in a program.
fn place(program: &Program, function: &str) -> Option<usize> {
    program.templates.iter().position(|template| template.name == function)
}

/// The result for each thread, in the order of the program's functions.
fn text(found: &Conformances, program: &Program, sources: &Sources) -> String {
    let mut out = String::new();
    let mut threads: Vec<&engine_spec::Checked> = found.threads.iter().collect();
    threads.sort_by_key(|checked| place(program, &checked.function));
    for checked in threads {
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
