//! What a running verification shows: its progress in the editor, and what is open as soon as that is known.
//!
//! The editor is asked for a place to show progress in, as the protocol wants; until it agrees, and in
//! editors that cannot show any, there is none. A user may stop a verification there.

use super::Shared;
use lsp_server::{Request, RequestId};
use portfolio::live::Live;
use report::SharedMemory;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use verdict::Cancel;

/// How often progress is looked at.
const PAUSE: Duration = Duration::from_millis(250);

/// The progress of all verifications, by token.
#[derive(Default)]
pub struct Shown {
    next: u64,
    running: BTreeMap<String, Place>,
}

/// Where the progress of one verification is shown.
struct Place {
    cancel: Cancel,
    /// Whether the editor has agreed.
    agreed: bool,
    begun: bool,
}

/// The progress of one verification; it ends when this is dropped.
pub struct Progress {
    shared: Shared,
    token: String,
    title: String,
}

impl Progress {
    /// Asks for a place to show progress in; `None` when the editor shows none.
    pub fn new(shared: &Shared, title: String, cancel: &Cancel) -> Option<Self> {
        if !shared.shows_progress {
            return None;
        }
        let mut state = shared.state();
        let shown = &mut state.shown;
        shown.next += 1;
        let token = format!("threadproof-progress-{}", shown.next);
        shown.running.insert(token.clone(), Place { cancel: cancel.clone(), agreed: false, begun: false });
        drop(state);
        let id = RequestId::from(token.clone());
        let parameters = json!({ "token": token });
        shared.send(Request::new(id, "window/workDoneProgress/create".to_owned(), parameters));
        Some(Self { shared: shared.clone(), token, title })
    }

    fn show(&self, doing: &str) {
        let mut state = self.shared.state();
        let Some(place) = state.shown.running.get_mut(&self.token).filter(|place| place.agreed) else {
            return;
        };
        let is_first = !std::mem::replace(&mut place.begun, true);
        drop(state);
        self.tell(match is_first {
            true => json!({ "kind": "begin", "title": self.title, "message": doing, "cancellable": true }),
            false => json!({ "kind": "report", "message": doing }),
        });
    }

    fn tell(&self, value: Value) {
        self.shared.notify("$/progress", json!({ "token": self.token, "value": value }));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let place = self.shared.state().shown.running.remove(&self.token);
        if place.is_some_and(|place| place.begun) {
            self.tell(json!({ "kind": "end" }));
        }
    }
}

/// The editor has answered a request: whether it agrees to show progress.
pub fn agree(shared: &Shared, id: &RequestId, agrees: bool) {
    if let Some(place) = shared.state().shown.running.get_mut(id.to_string().trim_matches('"')) {
        place.agreed = agrees;
    }
}

/// The user stops a verification.
pub fn stop(shared: &Shared, token: &str) {
    let mut state = shared.state();
    if let Some(place) = state.shown.running.get(token) {
        place.cancel.cancel();
        state.stopped();
    }
}

/// Watches a run until the sender of `ended` is dropped. `list` gets each listing of shared memory that says
/// more than the names of variables.
pub fn watch(live: &Live, progress: Option<&Progress>, ended: &Receiver<()>, list: &dyn Fn(&SharedMemory)) {
    let (mut shown, mut seen) = (String::new(), 0);
    while matches!(ended.recv_timeout(PAUSE), Err(RecvTimeoutError::Timeout)) {
        let doing = live.status();
        if let Some(progress) = progress
            && (shown.is_empty() || doing != shown)
        {
            progress.show(&doing);
            shown = doing;
        }
        if let Some((number, memory)) = live.listed_since(seen) {
            seen = number;
            if memory.incomplete.is_none() {
                list(&memory);
            }
        }
    }
}
