//! What a person sees: reports on terminals of all kinds, in all formats, and messages; update with
//! `UPDATE_EXPECT=1`.

use assert_cmd::Command;
use checker::Checked;
use portfolio::pipeline;
use report::style::Style;
use report::{Answer, Report, Sources, human, markdown, story};
use serde_json::Value;
use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use verdict::{Budget, Check, Engine, Silent};

fn run(words: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("threadproof").expect("the program is built");
    let output = command.args(words).current_dir(crate::root()).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn temporary(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("threadproof-{}-{name}", std::process::id()));
    std::fs::write(&path, text).expect("temporary files can be written");
    path
}

/// Work without end, which no engine can do anything about.
const ENDLESS: &str = "#include <assert.h>\n#include <pthread.h>\nint x, y = 1;\n\
    void *grow(void *a) { while (1) { x = x * 3 + y; y = y * x; } }\n\
    int main(void) { pthread_t p; pthread_create(&p, 0, grow, 0); while (1) { x = x + 2; assert(x * y != 1234567); } }\n";

/// One outcome in the style of some terminals, recorded in `tests/reports`.
fn recorded(name: &str, file: &str, check: Check, engine: &dyn Engine) {
    let bytes = std::fs::read(crate::root().join(file)).expect("the program is there");
    let text = String::from_utf8(bytes.clone()).expect("it is text");
    let source = frontend_c::Source { name: file.to_owned(), text: bytes };
    let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
    let sources = Sources::new(&program.files, &[(file.to_owned(), text)], |_| None);
    let budget = Budget::steps_for(120.0);
    let outcome = pipeline::verify(&program, check, engine, &budget, &Silent);
    let lowered = pipeline::prepare(&program, check);
    let listing = engine_flow::listing(&lowered, &budget).ok();
    let stories = match &outcome.verdict {
        Checked::Proved(proof) => {
            vec![(check, story::of(&lowered, check, proof, listing.as_ref(), &Budget::unlimited()))]
        }
        Checked::Refuted(_) | Checked::Unknown(_) => Vec::new(),
    };
    let outcomes = [outcome];
    let answer = Answer::of(&outcomes, &[]);
    let report = Report {
        program: &program,
        sources: &sources,
        outcomes: &outcomes,
        answer: &answer,
        explain: false,
        stories: &stories,
        memory: None,
        baseline: None,
    };
    let folder = crate::root().join("tests/reports");
    let wide = human::render(&report, Style { colour: false, width: 110 });
    let narrow = human::render(&report, Style { colour: false, width: 44 });
    let colour = human::render(&report, Style { colour: true, width: 110 });
    for (kind, width, text) in [("wide", 110, &wide), ("narrow", 44, &narrow)] {
        assert!(!text.contains('\x1b'), "there are no colours: {text}");
        let last = text.lines().last().unwrap_or_default();
        assert!(last.starts_with("verdict: "), "{text}");
        let mut table = text.lines().filter(|line| line.contains('│'));
        let too_wide = table.find(|line| line.chars().count() > width);
        assert_eq!(too_wide, None, "the width holds");
        expect_test::expect_file![folder.join(format!("{name}-{kind}.txt"))].assert_eq(text);
    }
    let visible = colour.replace('\x1b', "␛");
    expect_test::expect_file![folder.join(format!("{name}-colour.txt"))].assert_eq(&visible);
    let mut plain = String::new();
    let mut rest = colour.as_str();
    while let Some((before, after)) = rest.split_once('\x1b') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&plain), trimmed(&wide), "colours change nothing else");
    // How long things took is left out: it is never the same.
    let page = markdown::render(&report);
    let page: Vec<&str> =
        page.lines().filter(|line| !line.starts_with("| ") || !line.contains('.')).collect();
    assert!(page.first().is_some_and(|line| line.starts_with("## threadproof: ")), "{page:?}");
}

#[test]
fn a_race_on_a_terminal() {
    recorded("race", "examples/counter.c", Check::Races, &engine_explicit::Explicit::default());
}

#[test]
fn a_failed_assertion_on_a_terminal() {
    recorded("assertion", "examples/counter.c", Check::Assertions, &engine_explicit::Explicit::default());
}

#[test]
fn a_deadlock_on_a_terminal() {
    let file = "tests/programs/locks/lock-order-broken.c";
    recorded("deadlock", file, Check::Deadlock, &engine_explicit::Explicit::default());
}

#[test]
fn a_long_way_alone_is_folded() {
    let file = "tests/reports/folded.c";
    recorded("folded", file, Check::Assertions, &engine_explicit::Explicit::default());
}

#[test]
fn a_proof_on_a_terminal() {
    recorded("proof", "examples/counter-locked.c", Check::Races, &engine_flow::Flow);
}

#[test]
fn a_proof_by_invariants_on_a_terminal() {
    let file = "tests/programs/papers/circ-figure1.c";
    recorded("invariants", file, Check::Assertions, &engine_horn::Horn);
}

#[test]
fn an_open_question_on_a_terminal() {
    recorded("unknown", "tests/listings/buffer-broken.c", Check::Assertions, &engine_flow::Flow);
}

#[test]
fn every_report_has_the_shape_of_the_schema() {
    let schema = std::fs::read_to_string(crate::root().join("docs/report.schema.json")).expect("it is there");
    let schema: Value = serde_json::from_str(&schema).expect("it is JSON");
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource("report.schema.json", schema).expect("it can be read");
    let index = compiler.compile("report.schema.json", &mut schemas).expect("it is a schema");
    let endless = temporary("endless.c", ENDLESS);
    let boolean = "decl g;\nvoid main() begin\n  g := 1;\n  assert(g);\nend\n";
    let boolean = temporary("one.bp", boolean);
    let runs: Vec<(Vec<&str>, i32)> = vec![
        (vec!["examples/counter.c"], 1),
        (vec!["--explain", "examples/counter-locked.c"], 0),
        (vec!["--explain", "tests/programs/papers/circ-figure1.c"], 0),
        (vec!["--check", "deadlock", "tests/programs/locks/lock-order-broken.c"], 1),
        (vec!["--engine", "flow", "--check", "assertions", "tests/listings/buffer-broken.c"], 2),
        (vec!["--timeout", "2", "--check", "assertions", endless.to_str().unwrap()], 2),
        (vec![boolean.to_str().unwrap()], 0),
        (vec!["no-such-file.c"], 3),
    ];
    let mut wrong: Value = Value::Null;
    for (words, wanted) in runs {
        let (status, out, error) = run(&[&["verify", "--format", "json"], words.as_slice()].concat());
        assert_eq!(status, wanted, "{words:?}: {out}{error}");
        let value: Value = serde_json::from_str(&out).expect("it is JSON");
        if let Err(error) = schemas.validate(&value, index) {
            panic!("{words:?}: {error:#}\n{out}");
        }
        wrong = value;
    }
    // A schema that allows anything would be none.
    wrong["checks"] = serde_json::json!([{ "check": "rain" }]);
    assert!(schemas.validate(&wrong, index).is_err());
}

/// What GitHub asks of a log, see "SARIF support for code scanning" in its documentation.
#[test]
fn logs_keep_the_rules_of_github() {
    for words in [
        vec!["--check", "races,assertions", "examples/counter.c"],
        vec!["--check", "deadlock", "tests/programs/locks/lock-order-broken.c"],
        vec!["examples/counter-locked.c"],
        vec!["--engine", "flow", "--check", "assertions", "tests/listings/buffer-broken.c"],
    ] {
        let (_, out, _) = run(&[&["verify", "--format", "sarif"], words.as_slice()].concat());
        let log: Value = serde_json::from_str(&out).expect("it is JSON");
        assert!(log["$schema"].as_str().is_some_and(|schema| schema.contains("sarif")), "{out}");
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let driver = &run["tool"]["driver"];
        assert_eq!(driver["name"], "threadproof");
        assert!(driver["semanticVersion"].is_string());
        let rules = driver["rules"].as_array().expect("there are rules");
        let ids: std::collections::BTreeSet<&str> =
            rules.iter().map(|rule| rule["id"].as_str().expect("it has an id")).collect();
        assert_eq!(ids.len(), rules.len(), "ids are different: {ids:?}");
        for rule in rules {
            for text in ["shortDescription", "fullDescription", "help"] {
                let text = rule[text]["text"].as_str().expect("it has a text");
                assert!((1..=1024).contains(&text.len()), "{text}");
            }
            assert!(rule["properties"]["tags"].is_array() && rule["properties"]["precision"].is_string());
        }
        for result in run["results"].as_array().expect("there are results") {
            let index = result["ruleIndex"].as_u64().expect("there is an index") as usize;
            assert_eq!(rules[index]["id"], result["ruleId"], "{result}");
            assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
            let locations = result["locations"].as_array().expect("there are locations");
            assert_eq!(locations.len(), 1, "only the first would be shown");
            let related = result["relatedLocations"].as_array().into_iter().flatten();
            let flows = result["codeFlows"][0]["threadFlows"].as_array();
            let steps: Vec<&Value> =
                flows.into_iter().flatten().flat_map(|flow| flow["locations"].as_array().unwrap()).collect();
            let in_steps = steps.iter().map(|step| &step["location"]);
            for at in locations.iter().chain(related).chain(in_steps) {
                let place = &at["physicalLocation"];
                let uri = place["artifactLocation"]["uri"].as_str().expect("there is a file");
                assert!(!uri.contains(' ') && !uri.starts_with('/'), "{uri}");
                assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 0), "{at}");
            }
            if result["kind"] == "open" {
                assert_eq!(result["level"], "none");
                continue;
            }
            assert_eq!(result["level"], "error");
            assert!(result["partialFingerprints"]["threadproof/v1"].is_string());
            assert!(flows.is_some_and(|flows| flows.len() > 1), "each thread has its flow: {result}");
            let mut orders: Vec<u64> = steps
                .iter()
                .map(|step| step["executionOrder"].as_u64().expect("there is an order"))
                .collect();
            orders.sort_unstable();
            let all: Vec<u64> = (1..=orders.len() as u64).collect();
            assert_eq!(orders, all, "the order of execution is whole");
        }
    }
}

#[test]
fn markdown_is_a_table_without_commands_from_the_program() {
    let text = "#include <pthread.h>\nint x; /* | <script>alert(1)</script> ` */\n\
        void *f(void *a) { x = 1; /* | <b> ` [a](b) */ return 0; }\n\
        int main(void) { pthread_t p; pthread_create(&p, 0, f, 0); x = 2; /* | <b> ` */ return 0; }\n";
    let file = temporary("hostile.c", text);
    let (status, out, _) =
        run(&["verify", "--format", "markdown", "--check", "races", file.to_str().unwrap()]);
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("| line | thread 0: <code>main</code> | thread 1: <code>f</code> |"), "{out}");
    assert!(!out.contains("<script>") && !out.contains("<b>") && !out.contains("[a](b)"), "{out}");
    let (execution, listing) = out.split_once("### shared memory").expect("shared memory is listed");
    for (table, columns) in [(execution, 3), (listing, 4)] {
        for row in table.lines().filter(|line| line.starts_with("| ") && line.contains("<code>")) {
            assert_eq!(row.matches('|').count(), columns + 1, "every row has its columns: {row}");
        }
    }
    assert!(out.contains("**✗ writes x**"), "{out}");
    assert_eq!(out.lines().last(), Some("verdict: false(no-data-race)"));
}

/// In a large program without a proof, parts of addresses are taken to be joined nowhere; the report says so
/// wherever a part may be followed, and nowhere else.
#[test]
fn a_report_says_where_parts_of_addresses_may_be_followed() {
    let program = |read: &str| {
        let mut text = String::from(
            "#include <pthread.h>\n#include <stdlib.h>\nextern char *other(void);\n\
             static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic char *kept, *seen;\nstatic long far;\n\
             static void *run(void *a) {\n  char *own = malloc(8), *end = own + 3;\n  pthread_mutex_lock(&lock);\n\
             far += end - own;\n  pthread_mutex_unlock(&lock);\n  own[1] = 1;\n  return 0;\n}\n\
             static void steps(int n) {\n",
        );
        (0..1100).for_each(|_| text.push_str("  n = n * 3 + 1;\n"));
        text.push_str(
            "}\nint main(void) {\n  pthread_t p, q;\n  other();\n  steps(1);\n  kept = malloc(1);\n",
        );
        text.push_str(read);
        text.push_str(
            "  pthread_create(&p, 0, run, 0);\n  pthread_create(&q, 0, run, 0);\n  return *seen;\n}\n",
        );
        text
    };
    let bytes = "  for (int i = 0; i < 8; i++)\n    ((char *)&seen)[i] = ((char *)&kept)[i];\n";
    for (name, read, joins) in [("whole.c", "  seen = kept;\n", false), ("bytes.c", bytes, true)] {
        let file = temporary(name, &program(read));
        let file = file.to_str().expect("the name is text");
        let words = ["verify", "--check", "races", "--engine", "summaries", "--data-model", "LP64"];
        let (status, out, _) = run(&[words.as_slice(), &[file]].concat());
        assert_eq!(status, 2, "{out}");
        assert_eq!(out.contains("put together from parts of addresses"), joins, "{out}");
        let (_, out, _) = run(&[words.as_slice(), &["--format", "json", file]].concat());
        let report: Value = serde_json::from_str(&out).expect("it is JSON");
        let notes = report["assumptions"].as_array().expect("there are assumptions");
        let is_joined = |note: &&Value| note["text"].as_str().is_some_and(|it| it.contains("from parts of"));
        assert_eq!(notes.iter().filter(is_joined).count(), usize::from(joins), "{out}");
        // Either way, what a thread has allocated is its own.
        assert!(!out.contains("\"name\":\"own[]"), "{out}");
    }
}

/// Locks and variables in memory that was allocated are called what the source calls them.
#[test]
fn locks_in_allocated_memory_are_held() {
    let text = "#include <pthread.h>\n#include <stdlib.h>\nstruct queue { int head, tail; pthread_mutex_t lock; };\n\
        void *f(void *a) {\n  struct queue *p = a;\n  pthread_mutex_lock(&p->lock);\n  p->tail = 1;\n  pthread_mutex_unlock(&p->lock);\n  return 0;\n}\n\
        int main(void) {\n  pthread_t t;\n  struct queue *q = calloc(1, sizeof *q);\n  pthread_mutex_init(&q->lock, 0);\n\
        pthread_create(&t, 0, f, q);\n  q->tail = 3;\n  return 0;\n}\n";
    let file = temporary("heap-lock.c", text);
    let (status, out, _) =
        run(&["verify", "--check", "races", "--engine", "explicit", file.to_str().unwrap()]);
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("data race on `q->tail`, allocated at "), "{out}");
    assert!(out.contains("locks q->lock"), "{out}");
    assert!(out.contains("holds q->lock"), "{out}");
    assert_eq!(out.matches("holds no lock").count(), 1, "only main holds none: {out}");
}

#[test]
fn nothing_but_text_where_there_is_no_terminal() {
    let (_, out, error) = run(&["verify", "examples/counter.c"]);
    assert!(!out.contains('\x1b') && !error.contains('\x1b'), "{out}{error}");
    assert_eq!(error, "", "there is no status line");
}

/// What the tool writes to a terminal.
fn on_a_terminal(words: &str, no_colour: bool) -> String {
    let program = assert_cmd::cargo::cargo_bin("threadproof");
    let mut command = std::process::Command::new("script");
    let line = format!("stty cols 90 rows 30; {} {words}", program.display());
    command.args(["-qec", &line, "/dev/null"]).current_dir(crate::root());
    command.env("TERM", "xterm").env_remove("COLUMNS").env_remove("NO_COLOR");
    if no_colour {
        command.env("NO_COLOR", "1");
    }
    let output = command.stdin(Stdio::null()).output().expect("`script` makes a terminal");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_terminal_has_a_status_line_and_colours() {
    let file = temporary("status.c", ENDLESS);
    let has_status = |text: &String| {
        let mut drawn = text.split("\r\x1b[2K");
        drawn.any(|line| line.contains(" MB] assertions: ") && line.contains("explicit "))
    };
    // A busy machine takes longer until there is something to show.
    let words = |seconds| format!("verify --timeout {seconds} --check assertions {}", file.display());
    let mut texts = [3, 30, 300].into_iter().map(|seconds| on_a_terminal(&words(seconds), false));
    let text = texts.find(has_status).expect("there is a status line");
    let drawn: Vec<&str> = text.split("\r\x1b[2K").collect();
    let report = drawn.last().expect("there is something");
    assert!(
        report.starts_with("assertions: \x1b[1;33munknown"),
        "the line is wiped before the report: {text:?}"
    );
    for line in &drawn[1..drawn.len() - 1] {
        assert!(line.chars().count() < 90, "the status is one line: {line}");
    }
    let race = on_a_terminal("verify --check races examples/counter.c", false);
    assert!(race.contains("\x1b[1;31mverdict: false(no-data-race)\x1b[0m"), "{race}");
    let plain = on_a_terminal("verify --check races examples/counter.c", true);
    assert!(!plain.contains("\x1b[1;31m"), "{plain}");
    let rows: Vec<&str> = plain.lines().filter(|line| line.contains('│')).collect();
    assert!(rows.iter().all(|row| row.trim_end().chars().count() <= 90), "{plain}");
    assert!(rows.iter().any(|row| row.chars().count() > 60), "the columns are used: {plain}");
}

#[test]
fn an_interrupted_run_says_what_was_tried() {
    let file = temporary("interrupted.c", ENDLESS);
    let program = assert_cmd::cargo::cargo_bin("threadproof");
    let run = |signal: &str, format: &str, seconds: u64| {
        let mut child = std::process::Command::new(&program)
            .args(["verify", "--timeout", "1000", "--check", "assertions", "--format", format])
            .arg(&file)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        await_interrupts(child.id());
        std::thread::sleep(Duration::from_secs(seconds));
        let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.is_ok_and(|status| status.success()));
        let status = child.wait().expect("it ends");
        let mut out = String::new();
        child.stdout.take().expect("it is a pipe").read_to_string(&mut out).expect("it is text");
        assert_eq!(status.code(), Some(2), "{out}");
        assert!(out.contains("interrupted"), "{out}");
        out
    };
    // A busy machine takes longer until something is tried.
    let mut texts = [3, 30, 300].into_iter().map(|seconds| run(signal(), "human", seconds));
    let out = texts.find(|out| out.contains("What was tried:")).expect("something is tried");
    assert!(out.lines().last().is_some_and(|line| line.starts_with("verdict: unknown(")), "{out}");
    let mut texts = [3, 30, 300].into_iter().map(|seconds| run("-TERM", "json", seconds));
    let tried = |out: &String| {
        let value: Value = serde_json::from_str(out).expect("it is JSON");
        value["checks"][0]["tries"].as_array().is_some_and(|tries| !tries.is_empty())
    };
    assert!(texts.any(|out| tried(&out)), "something is tried");
}

#[test]
fn an_interrupted_reader_ends_too() {
    // So many lines that reading them takes a while.
    let mut text = String::from("int main(void) { int x = 0;\n");
    for line in 0..60_000 {
        text.push_str(&format!("if (x == {line}) {{ x = x * {line} + 1; }}\n"));
    }
    text.push_str("return x; }\n");
    let file = temporary("large.c", &text);
    let program = assert_cmd::cargo::cargo_bin("threadproof");
    let mut child = std::process::Command::new(program)
        .args(["verify", "--timeout", "1000"])
        .arg(&file)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    await_interrupts(child.id());
    std::thread::sleep(Duration::from_millis(600));
    let kill = std::process::Command::new("kill").args([signal(), &child.id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()));
    child.wait().expect("it ends");
    let mut out = String::new();
    child.stdout.take().expect("it is a pipe").read_to_string(&mut out).expect("it is text");
    assert!(out.lines().last().is_some_and(|line| line.starts_with("verdict: ")), "{out}");
}

/// The signal of Ctrl-C, or the one that asks a process to end where this process ignores the first, as jobs
/// in the background do. Its children would ignore it, too, and the solver, which sets a handler from time to
/// time and takes it back, would drop it.
pub fn signal() -> &'static str {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    let ignored = u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 2 != 0);
    if ignored { "-TERM" } else { "-INT" }
}

/// Waits until a process looks after Ctrl-C: one that is not there yet cannot answer.
pub fn await_interrupts(process: u32) {
    while !awaits_interrupts(process) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether a process has blocked Ctrl-C, to wait for it; also if it is gone.
fn awaits_interrupts(process: u32) -> bool {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{process}/status")) else { return true };
    let mask = text.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    mask.is_none_or(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 2 != 0))
        || text.contains("State:\tZ")
}

#[test]
fn it_can_be_interrupted_at_any_time() {
    let file = temporary("any-time.c", ENDLESS);
    let program = assert_cmd::cargo::cargo_bin("threadproof");
    for engine in ["auto", "flow", "horn", "queries", "context", "symbolic", "states", "explicit"] {
        for delay in [0, 100, 600] {
            let mut child = std::process::Command::new(&program)
                .args(["verify", "--timeout", "1000", "--engine", engine])
                .arg(&file)
                .stdout(Stdio::piped())
                .spawn()
                .expect("it runs");
            await_interrupts(child.id());
            std::thread::sleep(Duration::from_millis(delay));
            // An engine that gave up meanwhile cannot be asked.
            let _ = std::process::Command::new("kill")
                .args([signal(), &child.id().to_string()])
                .stderr(Stdio::null())
                .status();
            let mut out = String::new();
            child.stdout.take().expect("it is a pipe").read_to_string(&mut out).expect("it is text");
            child.wait().expect("it ends");
            assert!(!out.contains("out of time"), "{engine} after {delay} ms: {out}");
            let last = out.lines().last().unwrap_or_default();
            assert!(last.starts_with("verdict: unknown("), "{engine} after {delay} ms: {out}");
        }
    }
}

#[test]
fn a_proof_by_contexts_says_what_other_threads_may_do() {
    let page = temporary("context.html", "");
    let words = ["verify", "--check", "races", "--engine", "context", "--explain", "--html"];
    let (status, out, error) = run(&[&words[..], &[page.to_str().unwrap(), "examples/handoff.c"]].concat());
    assert_eq!(status, 0, "{out}{error}");
    assert!(out.contains("what every thread that runs worker may do to shared variables, at most:"), "{out}");
    assert!(out.contains("changes state, then "), "{out}");
    let page = std::fs::read_to_string(page).expect("it is there");
    let (_, section) = page.split_once("<section id=\"context\">").expect("there is a picture of it");
    let (section, _) = section.split_once("</section>").expect("it ends");
    assert!(section.contains("<svg") && section.contains("changes state"), "{section}");
    // No other part of the page has a mark of the same name.
    assert_eq!(page.matches("id=\"arrow-context-0\"").count(), 1);
}
