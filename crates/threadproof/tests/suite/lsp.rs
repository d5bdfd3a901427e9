//! The language server, driven as an editor does: frames over standard input and output of the built program.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// No answer takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(1000);

/// An editor, with a workspace of its own.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    folder: PathBuf,
    next: u64,
}

impl Editor {
    fn start(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("threadproof-{}-lsp-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let folder = folder.canonicalize().expect("it is there");
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("threadproof"))
            .args(["lsp", "--stdio"])
            .current_dir("/")
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self { child, input, messages, folder, next: 1 }
    }
    /// Starts one, and says hello.
    fn ready(name: &str) -> Self {
        Self::that_shows(name, json!({ "showDocument": { "support": true } }))
    }
    /// The same with these capabilities.
    fn that_shows(name: &str, window: Value) -> Self {
        let mut editor = Self::start(name);
        let root = editor.uri("");
        let capabilities = json!({ "window": window });
        let answer = editor.ask("initialize", json!({ "rootUri": root, "capabilities": capabilities }));
        assert_eq!(answer["result"]["capabilities"]["hoverProvider"], true, "{answer}");
        editor.tell("initialized", json!({}));
        editor
    }
    fn uri(&self, name: &str) -> String {
        format!("file://{}", self.folder.join(name).display())
    }
    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().expect("it is open");
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server listens");
        input.flush().expect("the server listens");
    }
    fn tell(&mut self, method: &str, parameters: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }));
    }
    /// Asks, and waits for the answer; what else comes meanwhile is dropped.
    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        self.wait(|message| message["id"] == id && message["method"].is_null())
    }
    fn wait(&self, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).expect("the server says something");
            if wanted(&message) {
                return message;
            }
        }
    }
    /// The next diagnostics of a file that are not preliminary.
    fn diagnostics(&self, uri: &str) -> Vec<Value> {
        self.diagnostics_until(uri, |found| found.first().is_none_or(|first| !is_preliminary(first)))
    }
    /// The next diagnostics of a file like these.
    fn diagnostics_until(&self, uri: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let of = |message: &Value| message["params"]["diagnostics"].as_array().cloned().unwrap_or_default();
        let message = self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && wanted(&of(message))
        });
        of(&message)
    }
    fn open(&mut self, name: &str, text: &str) -> String {
        let uri = self.uri(name);
        let document = json!({ "uri": uri, "languageId": "c", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        uri
    }
    fn change(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "version": 2 });
        let changes = json!([{ "text": text }]);
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }
    fn save(&mut self, uri: &str) {
        self.tell("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    }
    fn hover(&mut self, uri: &str, line: u32) -> Value {
        let position = json!({ "line": line, "character": 4 });
        let answer =
            self.ask("textDocument/hover", json!({ "textDocument": { "uri": uri }, "position": position }));
        answer["result"].clone()
    }
    /// Ends it in due form.
    fn end(mut self) {
        let answer = self.ask("shutdown", Value::Null);
        assert_eq!(answer["result"], Value::Null);
        self.tell("exit", Value::Null);
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}");
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// One frame.
/// Whether a diagnostic may change before the search is over.
fn is_preliminary(diagnostic: &Value) -> bool {
    diagnostic["data"]["preliminary"] == true
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            line => {
                if let Some(number) = line.strip_prefix("Content-Length: ") {
                    length = number.parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// The `é` takes two bytes, and one unit on the wire.
const RACY: &str = "#include <pthread.h>\nint x;\nvoid *f(void *a) {\n  /* é */ x = 1;\n  return 0;\n}\n\
    int main(void) {\n  pthread_t p;\n  pthread_create(&p, 0, f, 0);\n  x = 2;\n  return 0;\n}\n";
const LOCKED: &str = "#include <pthread.h>\n#include <assert.h>\nint x;\npthread_mutex_t m;\n\
    void *f(void *a) {\n  pthread_mutex_lock(&m);\n  x = 1;\n  x = 0;\n  pthread_mutex_unlock(&m);\n  return 0;\n}\n\
    int main(void) {\n  pthread_t p;\n  pthread_create(&p, 0, f, 0);\n  pthread_mutex_lock(&m);\n  assert(x == 0);\n\
    pthread_mutex_unlock(&m);\n  return 0;\n}\n";

#[test]
fn an_editing_session() {
    let mut editor = Editor::ready("session");
    let uri = editor.open("race.c", RACY);
    let found = editor.diagnostics(&uri);
    let races: Vec<&Value> = found.iter().filter(|found| found["code"] == "no-data-race").collect();
    assert_eq!(races.len(), 2, "both accesses are marked: {found:?}");
    let mut lines: Vec<u64> =
        races.iter().map(|race| race["range"]["start"]["line"].as_u64().unwrap()).collect();
    lines.sort_unstable();
    assert_eq!(lines, [3, 9], "{races:?}");
    for race in &races {
        assert_eq!((&race["severity"], &race["source"]), (&1.into(), &"threadproof".into()));
        assert!(race["message"].as_str().is_some_and(|text| text.contains("data race on `x`")), "{race}");
        let related = race["relatedInformation"].as_array().expect("both are reported");
        assert!(related.iter().all(|related| related["location"]["uri"] == uri), "{race}");
        let line = RACY.lines().nth(race["range"]["start"]["line"].as_u64().unwrap() as usize).unwrap();
        let end = race["range"]["end"]["character"].as_u64().unwrap();
        assert_eq!(end, line.encode_utf16().count() as u64, "{race}");
    }
    let known = editor.hover(&uri, 9);
    let text = known["contents"]["value"].as_str().expect("something is known");
    assert!(text.contains("others may write x: f (line 4)"), "{text}");
    // The code action opens the execution, as text and as a page.
    let range = json!({ "start": { "line": 3, "character": 0 }, "end": { "line": 3, "character": 5 } });
    let asked = json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } });
    let actions = editor.ask("textDocument/codeAction", asked)["result"].clone();
    let actions = actions.as_array().expect("there are some");
    assert_eq!(actions.len(), 2, "{actions:?}");
    for (action, external, part) in [
        (&actions[0], false, "| line | thread 0: <code>main</code> | thread 1: <code>f</code> |"),
        (&actions[1], true, "</html>"),
    ] {
        let command = &action["command"];
        let id = editor.next;
        editor.next += 1;
        let parameters = json!({ "command": command["command"], "arguments": command["arguments"] });
        editor.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "workspace/executeCommand", "params": parameters }));
        let shown = editor.wait(|message| message["method"] == "window/showDocument");
        assert_eq!(shown["params"]["external"], external);
        let path = shown["params"]["uri"]
            .as_str()
            .and_then(|uri| uri.strip_prefix("file://"))
            .expect("it is a file");
        let text = std::fs::read_to_string(path).expect("it is there");
        assert!(text.contains(part), "{text}");
        editor.send(&json!({ "jsonrpc": "2.0", "id": shown["id"], "result": { "success": true } }));
    }
    // Elsewhere there is nothing to show.
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } });
    let asked = json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } });
    assert_eq!(editor.ask("textDocument/codeAction", asked)["result"], json!([]));
    // A change alone says nothing; when it is saved, what was wrong is gone.
    editor.change(&uri, LOCKED);
    assert_eq!(editor.hover(&uri, 6), Value::Null, "nothing is known of this text");
    editor.save(&uri);
    assert_eq!(editor.diagnostics(&uri), [] as [Value; 0]);
    let known = editor.hover(&uri, 6);
    let text = known["contents"]["value"].as_str().expect("something is known");
    assert!(text.contains("`holds m`"), "{text}");
    assert_eq!(editor.hover(&uri, 0), Value::Null);
    // Mistakes have their place, too.
    editor.change(&uri, "int main(void) {\n  return y;\n}\n");
    editor.save(&uri);
    let found = editor.diagnostics(&uri);
    assert_eq!(found[0]["range"]["start"], json!({ "line": 1, "character": 9 }), "{found:?}");
    // Who closes a file has no more complaints.
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(editor.diagnostics(&uri), [] as [Value; 0]);
    let answer = editor.ask("textDocument/rename", json!({}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    editor.end();
}

/// Work without end, which no engine can do anything about.
const ENDLESS: &str = "#include <assert.h>\n#include <pthread.h>\nint x, y = 1;\n\
    void *grow(void *a) { while (1) { x = x * 3 + y; y = y * x; } }\n\
    int main(void) { pthread_t p; pthread_create(&p, 0, grow, 0); while (1) { x = x + 2; assert(x * y != 1234567); } }\n";

#[test]
fn a_change_cancels_what_runs() {
    let mut editor = Editor::ready("cancel");
    std::fs::write(editor.folder.join("threadproof.toml"), "timeout = 1000\ncheck = ['assertions']\n")
        .unwrap();
    let uri = editor.open("endless.c", ENDLESS);
    std::thread::sleep(Duration::from_secs(1));
    editor.change(&uri, "int main(void) { return 0; }\n");
    editor.save(&uri);
    // Only findings about the new text are reported.
    assert_eq!(editor.diagnostics(&uri), [] as [Value; 0]);
    // The other one gives its processor back.
    let ticks = |editor: &Editor| -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", editor.child.id())).expect("it runs");
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let deadline = Instant::now() + PATIENCE;
    loop {
        let before = ticks(&editor);
        std::thread::sleep(Duration::from_secs(1));
        // A hundred of them are a second.
        if ticks(&editor) - before < 5 {
            break;
        }
        assert!(Instant::now() < deadline, "it works without end");
    }
    // The end does not wait for one that runs.
    editor.change(&uri, ENDLESS);
    editor.save(&uri);
    std::thread::sleep(Duration::from_millis(500));
    editor.end();
}

/// Nobody knows soon whether the thread writes `x`.
const HARD: &str = "#include <pthread.h>\nunsigned nondet_number(void);\nint x;\nvoid *f(void *a) {\n  unsigned h = 1, n = nondet_number();\n\
      for (int i = 0; i < 100000000; i++) h = h * 31 + (n ^ h >> 7);\n  if (h == 77) x = 1;\n  return 0;\n}\n\
    int main(void) {\n  pthread_t p;\n  pthread_create(&p, 0, f, 0);\n  x = 2;\n  pthread_join(p, 0);\n  return 0;\n}\n";

#[test]
fn progress_is_shown_and_what_is_open_meanwhile() {
    let mut editor = Editor::that_shows("progress", json!({ "workDoneProgress": true }));
    let options = "timeout = 1000\ncheck = ['races']\njobs = 1\n";
    std::fs::write(editor.folder.join("threadproof.toml"), options).unwrap();
    editor.open("hard.c", HARD);
    let asked = editor.wait(|message| message["method"] == "window/workDoneProgress/create");
    let token = asked["params"]["token"].clone();
    editor.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": null }));
    let progress = |editor: &Editor| {
        let message = editor.wait(|message| {
            message["method"] == "$/progress" || message["method"] == "textDocument/publishDiagnostics"
        });
        message["params"].clone()
    };
    let (mut begun, mut hinted) = (false, false);
    while !begun || !hinted {
        let message = progress(&editor);
        begun |= message["value"]["kind"] == "begin"
            && message["value"]["title"] == "Threadproof: hard.c"
            && message["token"] == token;
        // The location is open, and the search is not over.
        hinted |= message["diagnostics"].as_array().is_some_and(|found| {
            let is_hint = |found: &Value| {
                found["severity"] == 4
                    && is_preliminary(found)
                    && found["message"].as_str().is_some_and(|text| text.starts_with("open data race on `x`"))
            };
            !found.is_empty() && found.iter().all(is_hint)
        });
    }
    // The user stops it: the progress ends, and the hints stay.
    editor.tell("window/workDoneProgress/cancel", json!({ "token": token }));
    loop {
        let message = progress(&editor);
        assert!(message["diagnostics"].is_null(), "{message}");
        if message["value"]["kind"] == "end" {
            break;
        }
    }
    editor.end();
}

#[test]
fn answers_come_from_the_cache() {
    let mut editor = Editor::ready("cached");
    std::fs::write(editor.folder.join("threadproof.toml"), "timeout = 2\ncheck = ['races']\njobs = 1\n")
        .unwrap();
    let uri = editor.open("hard.c", HARD);
    let first = editor.diagnostics(&uri);
    assert!(first.iter().any(|found| found["severity"] == 4), "{first:?}");
    let files = |path: &std::path::Path| -> Vec<PathBuf> {
        std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let store = editor.folder.join("cache/threadproof/verdicts");
    let kept: Vec<PathBuf> = files(&store).iter().flat_map(|folder| files(folder)).collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    // The answer comes at once, although a search might take a thousand seconds: one that took two is enough.
    let open = |found: &[Value]| -> Vec<Value> {
        let is_open =
            |found: &&Value| found["message"].as_str().is_some_and(|text| text.starts_with("open "));
        found.iter().filter(is_open).cloned().collect()
    };
    assert_eq!(open(&first).len(), 2, "{first:?}");
    let entry =
        kept.iter().find(|path| path.to_string_lossy().ends_with(".unknown.json")).expect("it is there");
    let text = std::fs::read_to_string(entry).expect("it is there");
    std::fs::write(entry, text.replace("\"seconds\":2.0", "\"seconds\":1000.0")).expect("it can be written");
    std::fs::write(editor.folder.join("threadproof.toml"), "timeout = 1000\ncheck = ['races']\njobs = 1\n")
        .unwrap();
    editor.save(&uri);
    assert_eq!(open(&editor.diagnostics(&uri)), open(&first));
    editor.end();
}

#[test]
fn options_of_the_workspace_count() {
    let mut editor = Editor::ready("workspace");
    let library = "int x;\nvoid put(void) {\n  x = 1;\n}\n";
    std::fs::write(editor.folder.join("library.c"), library).unwrap();
    std::fs::write(editor.folder.join("threadproof.toml"), "files = ['library.c']\nthread = ['put:any']\n")
        .unwrap();
    let uri = editor.open("library.c", library);
    let found = editor.diagnostics(&uri);
    assert!(found.iter().any(|found| found["code"] == "no-data-race"), "{found:?}");
    // Another file is a program of its own.
    let other =
        editor.open("other.c", "#include <assert.h>\nint main(void) {\n  assert(0);\n  return 0;\n}\n");
    let found = editor.diagnostics(&other);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["code"], &found[0]["range"]["start"]["line"]), (&"unreach-call".into(), &2.into()));
    // A header is no program, and a part of one is no mistake.
    let header = editor.open("header.h", "void put(void);\n");
    let found = editor.diagnostics(&header);
    assert_eq!(found, [] as [Value; 0]);
    let part = editor.open("part.c", "void put(void);\nvoid take(void) { put(); }\n");
    let found = editor.diagnostics(&part);
    assert_eq!((found.len(), &found[0]["severity"]), (1, &3.into()), "{found:?}");
    // An error in the options is reported at its position.
    std::fs::write(editor.folder.join("threadproof.toml"), "\nthreads = 1\n").unwrap();
    editor.save(&other);
    let config = editor.uri("threadproof.toml");
    let found = editor.diagnostics(&config);
    assert_eq!(found[0]["range"]["start"], json!({ "line": 1, "character": 0 }), "{found:?}");
    editor.end();
}

#[test]
fn an_editor_that_goes_away_is_no_reason_to_stay() {
    let mut editor = Editor::ready("gone");
    editor.open("endless.c", ENDLESS);
    editor.input = None;
    let status = editor.child.wait().expect("it ends");
    assert_eq!(status.code(), Some(1));
    // Nor is one that says nothing at all.
    let mut editor = Editor::start("silent");
    editor.input = None;
    assert_eq!(editor.child.wait().expect("it ends").code(), Some(1));
}

const SHARED_H: &str =
    "#include <pthread.h>\nextern int total;\nextern pthread_mutex_t lock;\nvoid *add(void *a);\n";
const MAIN_C: &str = "#include \"shared.h\"\nint total;\npthread_mutex_t lock;\nint main(void) {\n  pthread_t p;\n  pthread_create(&p, 0, add, 0);\n\
    #ifdef LOCKED\n  pthread_mutex_lock(&lock);\n#endif\n  total = 2;\n  return 0;\n}\n";
const ADD_LOCKED_C: &str = "#include \"shared.h\"\nvoid *add(void *a) {\n  pthread_mutex_lock(&lock);\n  total = total + 1;\n  pthread_mutex_unlock(&lock);\n  return 0;\n}\n";
const ADD_C: &str = "#include \"shared.h\"\nvoid *add(void *a) {\n  total = total + 1;\n  return 0;\n}\n";

/// Lines with races, from 0.
fn races(found: &[Value]) -> Vec<u64> {
    let races = found.iter().filter(|found| found["code"] == "no-data-race");
    let mut lines: Vec<u64> = races.map(|race| race["range"]["start"]["line"].as_u64().unwrap()).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

impl Editor {
    fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }
    fn close(&mut self, uri: &str) {
        self.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
    /// A build of these files.
    fn build(&self, name: &str, files: &[&str]) {
        let root = self.folder.display().to_string();
        let entry = |file: &&str| json!({ "directory": root, "file": file, "command": format!("cc -DLOCKED -c {file}") });
        self.write(name, &Value::Array(files.iter().map(entry).collect()).to_string());
    }
}

#[test]
fn the_files_of_a_project_are_one_program() {
    let mut editor = Editor::ready("project");
    editor.write("threadproof.toml", "files = ['src/../main.c', 'add.c']\n");
    editor.write("src/notes.txt", "");
    for (name, text) in [("shared.h", SHARED_H), ("main.c", MAIN_C), ("add.c", ADD_C)] {
        editor.write(name, text);
    }
    let main = editor.open("main.c", MAIN_C);
    // Findings in files that are not open are reported, too.
    let add = editor.uri("add.c");
    assert_eq!(races(&editor.diagnostics(&add)), [2]);
    assert_eq!(races(&editor.diagnostics(&main)), [9]);
    // To open it, as it is, changes nothing.
    editor.open("add.c", ADD_C);
    assert_eq!(races(&editor.diagnostics(&add)), [2]);
    let known = editor.hover(&add, 2);
    let text = known["contents"]["value"].as_str().expect("something is known");
    assert!(text.contains("others may write total: main (") && text.contains("main.c:10)"), "{text}");
    // The code action is there in both files.
    for (uri, line) in [(&main, 9), (&add, 2)] {
        let range =
            json!({ "start": { "line": line, "character": 0 }, "end": { "line": line, "character": 1 } });
        let asked =
            json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } });
        let actions = editor.ask("textDocument/codeAction", asked)["result"].clone();
        assert_eq!(actions.as_array().map(Vec::len), Some(2), "{actions}");
    }
    // What is edited in one file counts for the other, saved or not; what was known before does not.
    editor.change(&add, ADD_LOCKED_C);
    assert_eq!(editor.hover(&main, 9), Value::Null, "nothing is known of this program");
    let locked = MAIN_C.replace("#ifdef LOCKED", "#ifndef OPEN");
    editor.change(&main, &locked);
    editor.save(&main);
    assert_eq!(races(&editor.diagnostics(&add)), [] as [u64; 0]);
    assert_eq!(races(&editor.diagnostics(&main)), [] as [u64; 0]);
    assert!(
        editor.hover(&add, 3)["contents"]["value"].as_str().is_some_and(|text| text.contains("holds lock"))
    );
    // Who closes a file without saving it has the race back, in the file that stays open.
    editor.close(&add);
    let mut found = editor.diagnostics(&main);
    while races(&found).is_empty() {
        found = editor.diagnostics(&main);
    }
    assert_eq!(races(&found), [9]);
    // With the last file all is gone.
    editor.close(&main);
    assert_eq!(editor.diagnostics(&add), [] as [Value; 0]);
    assert_eq!(editor.diagnostics(&main), [] as [Value; 0]);
    editor.end();
}

#[test]
fn a_build_is_a_program() {
    let mut editor = Editor::ready("build");
    editor.build("build/compile_commands.json", &["main.c", "add.c"]);
    for (name, text) in [("shared.h", SHARED_H), ("main.c", MAIN_C), ("add.c", ADD_LOCKED_C)] {
        editor.write(name, text);
    }
    // With the flags of the build, there is no race; alone, either file would be unknown.
    let add = editor.open("add.c", ADD_LOCKED_C);
    assert_eq!(editor.diagnostics(&add), [] as [Value; 0]);
    assert!(
        editor.hover(&add, 3)["contents"]["value"].as_str().is_some_and(|text| text.contains("holds lock"))
    );
    // A header belongs to it.
    let header = editor.open("shared.h", SHARED_H);
    assert_eq!(editor.diagnostics(&header), [] as [Value; 0]);
    // A mistake in one file.
    editor.change(&add, ADD_C);
    editor.save(&add);
    assert_eq!(races(&editor.diagnostics(&add)), [2]);
    // The build of two programs: each is the files without `main` and one with it.
    editor.write("other.c", "#include \"shared.h\"\nint total;\npthread_mutex_t lock;\nint main(void) {\n  add(0);\n  return 0;\n}\n");
    editor.build("compile_commands.json", &["main.c", "other.c", "add.c"]);
    let text = std::fs::read_to_string(editor.folder.join("other.c")).expect("it is there");
    let other = editor.open("other.c", &text);
    assert_eq!(editor.diagnostics(&other), [] as [Value; 0]);
    // A file outside of it is a program of its own.
    let alone =
        editor.open("alone.c", "#include <assert.h>\nint main(void) {\n  assert(0);\n  return 0;\n}\n");
    let found = editor.diagnostics(&alone);
    assert_eq!((&found[0]["code"], &found[0]["range"]["start"]["line"]), (&"unreach-call".into(), &2.into()));
    // An invalid database is reported at its position.
    editor.write("compile_commands.json", "{}");
    editor.save(&alone);
    let database = editor.uri("compile_commands.json");
    assert_eq!(editor.diagnostics(&database).len(), 1);
    editor.end();
}
