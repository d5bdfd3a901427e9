//! Verifies the program of an open document, in a separate thread.

use super::Shared;
use super::findings::Findings;
use super::project::{self, Project};
use super::state::place;
use crate::checking::{self, Question};
use crate::input;
use ir::diagnostic::{self, Diagnostic};
use portfolio::live::Live;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
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
    let told = state.begin(uri, &files, cancel);
    drop(state);
    shared.tell(told);
    let tried = catch_unwind(AssertUnwindSafe(|| match project {
        Ok(Some(project)) => verify(shared, path, &project, cancel),
        Ok(None) => Ok(Findings::default()),
        Err(messages) => Err(messages),
    }));
    let findings = match tried {
        Ok(Ok(findings)) => findings,
        Ok(Err(messages)) => Findings::unread(path, &messages),
        Err(_) => {
            let kind = diagnostic::Kind::Internal;
            Findings::unread(
                path,
                &[Diagnostic::of_file(path, kind, "internal error: please report this program")],
            )
        }
    };
    let told = shared.state().end(uri, &files, cancel, findings);
    shared.tell(told);
}

fn verify(
    shared: &Shared,
    path: &Path,
    project: &Project,
    cancel: &Cancel,
) -> Result<Findings, Vec<Diagnostic>> {
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
    checking::run_checks(options, &question, specification.as_ref(), deadline, &live, None);
    let first = question.asked.checks.first().copied().unwrap_or(Check::Assertions);
    let listing = match question.kind {
        input::Kind::C => {
            engine_flow::listing(question.prepared.of(first), &budget.patient_for(LISTING)).ok()
        }
        input::Kind::Boolean | input::Kind::System => None,
    };
    let memory = live.memory();
    Ok(Findings::new(path, question.input.clone(), live.outcomes(), listing, memory.as_ref()))
}
