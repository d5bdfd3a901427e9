//! Verifies the program of an open document, in a separate thread.
//!
//! Verdicts come from the cache if they are there. Otherwise what is open is published as soon as shared
//! memory is listed, and races when the search is over; after an edit, a short search comes first.

use super::Shared;
use super::findings::Findings;
use super::progress::{self, Progress};
use super::project::{self, Project};
use super::state::place;
use crate::cache::Cache;
use crate::checking::{self, Question};
use crate::input;
use ir::diagnostic::{self, Diagnostic};
use portfolio::earlier;
use portfolio::live::Live;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use verdict::{Budget, Cancel, Check};

/// Deeply nested programs need a deep stack.
const STACK: usize = 512 << 20;
/// The time for the facts at each line, if the timeout allows it.
const LISTING: Duration = Duration::from_secs(5);

/// Begins to verify the current program of a document; cancels a running verification.
pub fn start(shared: &Shared, uri: &str) {
    let mut state = shared.state();
    let Some(document) = state.documents.get_mut(uri) else { return };
    document.cancel.cancel();
    document.cancel = Cancel::default();
    let (path, cancel) = (document.path.clone(), document.cancel.clone());
    drop(state);
    let (shared, uri) = (shared.clone(), uri.to_owned());
    let work = move || run(&shared, &uri, &path, &cancel);
    // Without a thread there is no verification; the next one may succeed.
    let _ = std::thread::Builder::new().name("verification".to_owned()).stack_size(STACK).spawn(work);
}

/// Verifies, and publishes the findings unless it was cancelled.
fn run(shared: &Shared, uri: &str, path: &Path, cancel: &Cancel) {
    let project = project::find(shared, path);
    let files = match &project {
        Ok(Some(project)) => project.files.clone(),
        Ok(None) | Err(_) => vec![place(path)],
    };
    let mut state = shared.state();
    if cancel.is_cancelled() {
        return;
    }
    let published = state.begin(uri, &files, cancel);
    drop(state);
    shared.publish(published);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let progress = Progress::new(shared, format!("Threadproof: {name}"), cancel);
    let publish = |findings: Findings, has_ended: bool| {
        let published = shared.state().found(uri, &files, cancel, findings, has_ended);
        shared.publish(published);
    };
    // After an edit, the first search is short, and another one follows.
    for is_first in [true, false] {
        let preliminary = |findings: Findings| {
            if is_first {
                publish(findings, false);
            }
        };
        let tried = catch_unwind(AssertUnwindSafe(|| match &project {
            Ok(Some(project)) => verify(shared, path, project, cancel, progress.as_ref(), &preliminary),
            Ok(None) => Ok((Findings::default(), false)),
            Err(messages) => Err(messages.clone()),
        }));
        let (findings, was_short) = match tried {
            Ok(Ok(found)) => found,
            Ok(Err(messages)) => (Findings::unread(path, &messages), false),
            Err(_) => {
                let text = "internal error: please report this program";
                let problem = Diagnostic::of_file(path, diagnostic::Kind::Internal, text);
                (Findings::unread(path, &[problem]), false)
            }
        };
        let has_ended = !is_first || !was_short;
        publish(findings, has_ended);
        if has_ended || cancel.is_cancelled() {
            return;
        }
    }
}

/// Verifies. Returns the findings, and whether the search was short because of an earlier one.
fn verify(
    shared: &Shared,
    path: &Path,
    project: &Project,
    cancel: &Cancel,
    progress: Option<&Progress>,
    preliminary: &(dyn Fn(Findings) + Sync),
) -> Result<(Findings, bool), Vec<Diagnostic>> {
    let options = &project.options;
    let open = shared.texts();
    let overlay = |wanted: &Path| {
        let wanted = place(wanted);
        open.iter().find(|(path, _)| *path == wanted).map(|(_, text)| text.clone().into_bytes())
    };
    let deadline = Instant::now() + Duration::from_secs_f64(options.timeout.clamp(0.0, 1e8));
    let question: Question = checking::question(&options.reading, &options.asking, &overlay)?;
    let program = &question.input.0;
    let budget = Budget {
        deadline: Some(deadline),
        memory: options.memory << 20,
        cancel: cancel.clone(),
        ..Budget::unlimited()
    };
    let specification =
        checking::specification_of(options.asking.spec.as_deref(), program, question.kind, &budget)?;
    let live = Live::new(cancel.clone());
    let cache = Cache::for_editor(options).filter(|cache| shared.caches && cache.prepare().is_ok());
    std::thread::scope(|scope| {
        let (running, ended) = mpsc::channel();
        let live = &live;
        let input = &question.input;
        scope.spawn(move || {
            progress::watch(live, progress, &ended, &|memory| {
                preliminary(Findings::preliminary(path, input.clone(), memory));
            });
        });
        checking::run_checks(options, &question, specification.as_ref(), deadline, live, cache.as_ref());
        drop(running);
    });
    let first = question.asked.checks.first().copied().unwrap_or(Check::Assertions);
    let listing = match question.kind {
        input::Kind::C => {
            engine_flow::listing(question.prepared.of(first), &budget.patient_for(LISTING)).ok()
        }
        input::Kind::Boolean | input::Kind::System => None,
    };
    let (outcomes, memory) = (live.outcomes(), live.memory());
    if let Some(cache) = cache.filter(|_| !cancel.is_cancelled()) {
        cache.keep(program, &outcomes, memory.as_ref());
    }
    let was_short = outcomes.iter().any(earlier::was_short);
    Ok((Findings::new(path, question.input.clone(), outcomes, listing, memory.as_ref()), was_short))
}
