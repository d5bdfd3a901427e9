//! The language server: diagnostics when a file is opened or saved, facts at a line, and the execution of a
//! violation, in any editor that speaks the Language Server Protocol over standard input and output.
//!
//! The loop answers the editor at once; a verification runs in a separate thread, shows its progress
//! ([`progress`]), publishes its findings, and is cancelled when one of its files changes. It verifies the
//! program that contains the file ([`project`]). Options come from the `threadproof.toml` of the workspace.
//! Positions count UTF-16 units, the default of the protocol.

mod address;
mod findings;
mod progress;
mod project;
mod state;
mod verification;

use crate::cache;
use address::{path_of, uri_of};
use findings::Findings;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use state::{Document, Published, State, place};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use verdict::Cancel;

/// The command that shows the execution of a violation as text in the editor.
const SHOW_TEXT: &str = "threadproof.showTrace";
/// The command that shows it as a page, to step through.
const SHOW_PAGE: &str = "threadproof.showPage";

/// The most bytes of verdicts that are kept for the user.
const MOST_KEPT: u64 = 1 << 30;

/// State that the loop and the verifications share.
#[derive(Clone)]
struct Shared {
    state: Arc<Mutex<State>>,
    connection: Arc<Connection>,
    /// The folders of the workspace.
    roots: Vec<PathBuf>,
    /// The file with options, if one was named.
    config: Option<PathBuf>,
    /// Whether the editor opens files when it is asked to.
    shows_documents: bool,
    /// Whether the editor shows the progress of work.
    shows_progress: bool,
    /// Whether verdicts are kept, and taken from what was kept.
    caches: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// What the editor shows, by the places of files.
    fn texts(&self) -> Vec<(PathBuf, String)> {
        let state = self.state();
        state.documents.values().map(|document| (place(&document.path), document.text.clone())).collect()
    }
    /// The folder of the workspace that contains a file; if there is none, the file's own folder.
    fn root(&self, path: &Path) -> PathBuf {
        let above = self.roots.iter().filter(|root| path.starts_with(root));
        let root = above.max_by_key(|root| root.components().count()).or(self.roots.first());
        root.map(PathBuf::as_path).or(path.parent()).unwrap_or(Path::new("/")).to_owned()
    }
    /// Publishes diagnostics.
    fn publish(&self, published: Published) {
        for (uri, diagnostics) in published {
            self.notify("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": diagnostics }));
        }
    }
    /// Sends a message; the loop notices if the editor has disconnected.
    fn send(&self, message: impl Into<Message>) {
        let _ = self.connection.sender.send(message.into());
    }
    fn notify(&self, method: &str, parameters: Value) {
        self.send(Notification::new(method.to_owned(), parameters));
    }
}

/// Serves until the editor ends the session. Returns whether it did so as the protocol requires.
pub fn serve(config: Option<PathBuf>, caches: bool) -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let capabilities = json!({
        "textDocumentSync": { "openClose": true, "change": 1, "save": { "includeText": false } },
        "hoverProvider": true,
        "codeActionProvider": { "codeActionKinds": ["quickfix"] },
        "executeCommandProvider": { "commands": [SHOW_TEXT, SHOW_PAGE] },
    });
    let (id, parameters) = connection.initialize_start().map_err(|error| error.to_string())?;
    let answer = json!({
        "capabilities": capabilities,
        "serverInfo": { "name": "threadproof", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, answer).map_err(|error| error.to_string())?;
    let folders = parameters["workspaceFolders"].as_array().into_iter().flatten();
    let mut roots: Vec<PathBuf> = folders.filter_map(|folder| path_of(folder["uri"].as_str()?)).collect();
    if roots.is_empty() {
        roots.extend(parameters["rootUri"].as_str().and_then(path_of));
    }
    let shared = Shared {
        state: Arc::default(),
        connection: Arc::new(connection),
        roots,
        config,
        shows_documents: parameters["capabilities"]["window"]["showDocument"]["support"] == true,
        shows_progress: parameters["capabilities"]["window"]["workDoneProgress"] == true,
        caches,
    };
    if caches {
        std::thread::spawn(|| cache::prune(MOST_KEPT));
    }
    let ended = listen(&shared);
    shared.state().cancel_all();
    let _ = std::fs::remove_dir_all(reports_folder());
    // These threads write the remaining messages; unfinished verifications are abandoned.
    if let (Ok(true), Some(connection)) = (&ended, Arc::into_inner(shared.connection)) {
        drop(connection);
        threads.join().map_err(|error| error.to_string())?;
    }
    match ended? {
        true => Ok(()),
        false => Err("the editor went away without `shutdown`".to_owned()),
    }
}

/// Answers messages until the end. Returns whether the session ended as the protocol requires.
fn listen(shared: &Shared) -> Result<bool, String> {
    for message in &shared.connection.receiver {
        match message {
            Message::Request(request) => {
                if request.method == "shutdown" {
                    shared.state().cancel_all();
                }
                if shared.connection.handle_shutdown(&request).map_err(|error| error.to_string())? {
                    return Ok(true);
                }
                let response = answer(shared, request);
                shared.send(response);
            }
            Message::Notification(notification) => note(shared, &notification),
            // Whether the editor showed a document does not matter: the user sees it anyway.
            Message::Response(response) => {
                progress::agree(shared, &response.id, response.response_result.is_ok())
            }
        }
    }
    Ok(false)
}

/// Handles notifications of the editor.
fn note(shared: &Shared, notification: &Notification) {
    let parameters = &notification.params;
    if notification.method == "window/workDoneProgress/cancel" {
        progress::stop(shared, parameters["token"].as_str().unwrap_or_default());
        return;
    }
    let document = &parameters["textDocument"];
    let Some(uri) = document["uri"].as_str() else { return };
    match notification.method.as_str() {
        "textDocument/didOpen" => {
            let (Some(path), Some(text)) = (path_of(uri), document["text"].as_str()) else { return };
            let (text, cancel) = (text.to_owned(), Cancel::default());
            let opened = Document { path, text, version: 0, program: None, cancel };
            let mut state = shared.state();
            state.documents.insert(uri.to_owned(), opened);
            let joined = state.join(uri);
            drop(state);
            match joined {
                Some(published) => shared.publish(published),
                None => verification::start(shared, uri),
            }
        }
        "textDocument/didChange" => {
            let changes = parameters["contentChanges"].as_array();
            let text = changes.and_then(|changes| changes.last()).and_then(|change| change["text"].as_str());
            if let Some(text) = text {
                shared.state().change(uri, text);
            }
        }
        "textDocument/didSave" => verification::start(shared, uri),
        "textDocument/didClose" => {
            let (published, again) = shared.state().close(uri);
            shared.publish(published);
            if let Some(other) = again {
                verification::start(shared, &other);
            }
        }
        _ => {}
    }
}

/// Handles requests of the editor.
fn answer(shared: &Shared, request: Request) -> Response {
    let Request { id, method, params } = request;
    let result = match method.as_str() {
        "textDocument/hover" => hover(shared, &params),
        "textDocument/codeAction" => actions(shared, &params),
        "workspace/executeCommand" => match show(shared, &params) {
            Ok(()) => Value::Null,
            Err(reason) => return refused(id, ErrorCode::RequestFailed, reason),
        },
        _ => return refused(id, ErrorCode::MethodNotFound, format!("there is no method `{method}`")),
    };
    Response::new_ok(id, result)
}

fn refused(id: RequestId, code: ErrorCode, reason: String) -> Response {
    Response::new_err(id, code as i32, reason)
}

/// The findings about the current text.
fn current(shared: &Shared, parameters: &Value) -> Option<(PathBuf, Arc<Findings>)> {
    let uri = parameters["textDocument"]["uri"].as_str()?;
    let state = shared.state();
    let path = place(&state.documents.get(uri)?.path);
    state.current(uri).map(|findings| (path, findings))
}

fn hover(shared: &Shared, parameters: &Value) -> Value {
    let line = parameters["position"]["line"].as_u64().and_then(|line| u32::try_from(line + 1).ok());
    let Some(((path, findings), line)) = current(shared, parameters).zip(line) else { return Value::Null };
    match findings.known_at(&path, line) {
        Some(text) => json!({ "contents": { "kind": "markdown", "value": text } }),
        None => Value::Null,
    }
}

/// Two code actions for each violation in the requested range.
fn actions(shared: &Shared, parameters: &Value) -> Value {
    let Some((path, findings)) = current(shared, parameters) else { return json!([]) };
    let uri = &parameters["textDocument"]["uri"];
    let line = |end: &str| parameters["range"][end]["line"].as_u64().unwrap_or(0);
    let mut found = Vec::new();
    for (index, diagnostic) in findings.violations_at(&path, line("start"), line("end")) {
        for (title, command) in [
            ("Show how it happens", SHOW_TEXT),
            ("Show how it happens, as a page to step through", SHOW_PAGE),
        ] {
            found.push(json!({
                "title": title,
                "kind": "quickfix",
                "diagnostics": [diagnostic],
                "command": { "title": title, "command": command, "arguments": [uri, index] },
            }));
        }
    }
    Value::Array(found)
}

/// The folder for reports; it is removed when the server ends.
fn reports_folder() -> PathBuf {
    std::env::temp_dir().join(format!("threadproof-lsp-{}", std::process::id()))
}

/// Writes the report about a violation, and asks the editor to show it.
fn show(shared: &Shared, parameters: &Value) -> Result<(), String> {
    let command = parameters["command"].as_str().unwrap_or_default();
    let page = match command {
        SHOW_TEXT => false,
        SHOW_PAGE => true,
        _ => return Err(format!("there is no command `{command}`")),
    };
    let arguments = &parameters["arguments"];
    let document = json!({ "textDocument": { "uri": arguments[0] } });
    let (_, findings) = current(shared, &document)
        .ok_or("the file has changed since it was verified; save it, and try again")?;
    let index = arguments[1].as_u64().and_then(|index| usize::try_from(index).ok());
    let text = index
        .and_then(|index| if page { findings.page(index) } else { findings.text(index) })
        .ok_or("there is no such violation; save the file, and try again")?;
    let folder = reports_folder();
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let path = folder.join(if page { "threadproof.html" } else { "threadproof.md" });
    crate::evidence::write_whole(&path, &text)?;
    open(shared, &path, page);
    Ok(())
}

fn open(shared: &Shared, path: &Path, external: bool) {
    if shared.shows_documents {
        let parameters = json!({ "uri": uri_of(path), "external": external, "takeFocus": true });
        let id = RequestId::from("threadproof-show".to_owned());
        shared.send(Request::new(id, "window/showDocument".to_owned(), parameters));
    } else {
        let message = format!("How it happens is in {}", path.display());
        shared.notify("window/showMessage", json!({ "type": 3, "message": message }));
    }
}
