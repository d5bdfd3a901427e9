//! Verifies a document that is being edited, in a thread of its own.

use super::Shared;
use super::findings::Findings;
use crate::arguments::{Arguments, Command, Verify};
use crate::checking::{self, Question};
use crate::live::Live;
use crate::{config, input, pipeline};
use clap::Parser;
use serde_json::json;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use verdict::{Budget, Cancel, Check};

/// Deeply nested programs need a deep stack.
const STACK: usize = 512 << 20;
/// What is known at each line is looked for so long, if the timeout leaves that.
const LISTING: Duration = Duration::from_secs(5);

/// Begins to verify a document as it is now; what runs about it already is cancelled.
pub fn start(shared: &Shared, uri: &str) {
    let mut documents = shared.documents();
    let Some(document) = documents.get_mut(uri) else { return };
    document.cancel.cancel();
    document.cancel = Cancel::default();
    let (version, path, cancel) = (document.version, document.path.clone(), document.cancel.clone());
    drop(documents);
    let (shared, uri) = (shared.clone(), uri.to_owned());
    let work = move || {
        let tried = catch_unwind(AssertUnwindSafe(|| verify(&shared, &path, &cancel)));
        let findings = tried.unwrap_or_else(|_| {
            let message = "threadproof: internal error: please report this program".to_owned();
            Findings::unread(&path, &[message])
        });
        publish(&shared, &uri, version, &cancel, findings);
    };
    // Without a thread nothing is found out now; the next time it may be better.
    let _ = std::thread::Builder::new().name("verification".to_owned()).stack_size(STACK).spawn(work);
}

/// Tells the editor, unless nobody wants to know any more.
fn publish(shared: &Shared, uri: &str, version: u64, cancel: &Cancel, findings: Findings) {
    let mut documents = shared.documents();
    if cancel.is_cancelled() {
        return;
    }
    let Some(document) = documents.get_mut(uri) else { return };
    let mut told = findings.diagnostics();
    // What was told of other files before, and of this one, is told anew.
    for old in super::findings::published(document).into_iter().chain([uri.to_owned()]) {
        told.entry(old).or_default();
    }
    document.findings = Some((version, Arc::new(findings)));
    for (uri, diagnostics) in told {
        shared.notify("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": diagnostics }));
    }
}

fn verify(shared: &Shared, path: &Path, cancel: &Cancel) -> Findings {
    match find(shared, path, cancel) {
        Ok(findings) => findings,
        Err(messages) => Findings::unread(path, &messages),
    }
}

fn find(shared: &Shared, path: &Path, cancel: &Cancel) -> Result<Findings, Vec<String>> {
    let Some(options) = options(shared, path)? else { return Ok(Findings::default()) };
    let place = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let open: Vec<(PathBuf, String)> =
        shared.documents().values().map(|document| (place(&document.path), document.text.clone())).collect();
    let overlay = |wanted: &Path| {
        let wanted = place(wanted);
        open.iter().find(|(path, _)| *path == wanted).map(|(_, text)| text.clone().into_bytes())
    };
    let deadline = Instant::now() + Duration::from_secs_f64(options.timeout.clamp(0.0, 1e8));
    let question: Question = checking::question(&options, &overlay)?;
    let program = &question.input.0;
    let budget = Budget { deadline: Some(deadline), memory: options.memory << 20, cancel: cancel.clone() };
    let specification = checking::specification_of(options.spec.as_deref(), program, question.kind, &budget)?;
    let live = Live::new(cancel.clone());
    checking::run_checks(&options, &question, specification.as_ref(), deadline, &live);
    let first = question.asked.checks.first().copied().unwrap_or(Check::Assertions);
    let listing = match question.kind {
        input::Kind::C => {
            engine_flow::listing(&pipeline::prepare(program, first), &budget.within(LISTING)).ok()
        }
        input::Kind::Boolean | input::Kind::System => None,
    };
    Ok(Findings::new(path, question.input.clone(), live.outcomes(), listing))
}

/// The options of the workspace, about the program that the document is a part of; or about the document alone. Nothing for a header that is a part of no program.
fn options(shared: &Shared, path: &Path) -> Result<Option<Verify>, Vec<String>> {
    let mut words: Vec<OsString> = ["threadproof", "verify"].map(OsString::from).to_vec();
    if let Some(config) = &shared.config {
        words.extend(["--config".into(), config.into()]);
    }
    let folder = shared.root.as_deref().or(path.parent()).unwrap_or(Path::new("/"));
    let words = config::complete(words, folder)?;
    let arguments = Arguments::try_parse_from(words).map_err(|error| vec![error.to_string()])?;
    let Command::Verify(mut options) = arguments.command else { return Err(Vec::new()) };
    let place = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_part = |files: Vec<PathBuf>| -> bool { files.iter().any(|file| place(file) == place(path)) };
    let reading = &mut options.reading;
    let has_program = !reading.files.is_empty() || reading.compile_commands.is_some();
    if path.extension().is_some_and(|extension| extension == "h") {
        // It is read as it is on the disk, where files include it.
        return Ok(has_program.then_some(options));
    }
    if !(has_program && is_part(input::files(reading)?)) {
        reading.files = vec![path.to_owned()];
        reading.compile_commands = None;
        // With files of its own, the workspace says how they start; else it says it for each.
        if has_program {
            reading.entry.clear();
            reading.thread.clear();
        }
    }
    Ok(Some(options))
}
