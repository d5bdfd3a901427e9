//! Batches: results that survive a kill, reports that others read, and a cache that needs no trust.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A race on `x`.
pub const RACE: &str = "#include <pthread.h>\nint x;\nvoid *f(void *a) { x = 1; return 0; }\n\
    int main(void) { pthread_t p; pthread_create(&p, 0, f, 0); x = 2; pthread_join(p, 0); return 0; }\n";
/// No race, by a lock.
pub const LOCKED: &str = "#include <pthread.h>\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nint x;\n\
    void *f(void *a) { pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); return 0; }\n\
    int main(void) { pthread_t p; pthread_create(&p, 0, f, 0); pthread_mutex_lock(&m); x = 2;\n\
    pthread_mutex_unlock(&m); pthread_join(p, 0); return 0; }\n";
/// Nothing is known of `helper`.
const OPEN: &str = "#include <assert.h>\nint helper(int *);\nint main(void) { int x = 0; helper(&x); assert(x == 0); return 0; }\n";

/// A folder of its own for each test.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty folder.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("threadproof-{}-batch-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder can be made");
        Self(path.canonicalize().expect("it is there"))
    }
    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
        self
    }
    /// The program with these words, in the folder.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadproof"));
        command.args(words).current_dir(&self.0);
        command
    }
    /// The status and what is printed.
    pub fn run(&self, words: &[&str]) -> (i32, String, String) {
        let output = self.command(words).output().expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
    }
    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
    /// The report about a batch.
    pub fn results(&self, output: &str) -> Value {
        serde_json::from_str(&self.read(&format!("{output}/batch.json"))).expect("it is JSON")
    }
    /// The verdict of each job, by its name and property.
    pub fn verdicts(&self, output: &str) -> BTreeMap<String, String> {
        let results = self.results(output);
        let jobs = results["jobs"].as_array().expect("there are jobs").iter();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        jobs.map(|job| (format!("{} {}", text(&job["name"]), text(&job["property"])), text(&job["verdict"])))
            .collect()
    }
    /// The entries of a cache.
    pub fn entries(&self, cache: &str) -> Vec<PathBuf> {
        let below = |path: &Path| -> Vec<PathBuf> {
            std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
        };
        let mut found: Vec<PathBuf> =
            below(&self.path(cache)).iter().flat_map(|folder| below(folder)).collect();
        found.sort();
        found
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A folder with a finished batch of three programs, in `out`.
pub fn finished(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("src/race.c", RACE).write("src/locked.c", LOCKED).write("src/a <b> & 'c'.c", OPEN);
    let (status, out, error) =
        folder.run(&["batch", "src", "--output", "out", "--check", "races,assertions"]);
    assert_eq!((status, error.as_str()), (1, ""), "{out}");
    folder
}

#[test]
fn programs_of_a_folder() {
    let folder = finished("folder");
    let verdicts = folder.verdicts("out");
    let expected = [
        ("a <b> & 'c'.c assertions", "unknown("),
        ("a <b> & 'c'.c races", "unknown("),
        ("locked.c assertions", "true"),
        ("locked.c races", "true"),
        ("race.c assertions", "true"),
        ("race.c races", "false(no-data-race)"),
    ];
    assert_eq!(verdicts.len(), expected.len(), "{verdicts:?}");
    for ((name, verdict), (known, beginning)) in verdicts.iter().zip(expected) {
        assert!(name == known && verdict.starts_with(beginning), "{name}: {verdict}");
    }
    let results = folder.results("out");
    let schema: Value = serde_json::from_str(
        &std::fs::read_to_string(crate::root().join("docs/batch.schema.json")).expect("there is a schema"),
    )
    .expect("it is JSON");
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource("batch.json", schema).expect("it is a schema");
    let index = compiler.compile("batch.json", &mut schemas).expect("it is a schema");
    schemas.validate(&results, index).unwrap_or_else(|error| panic!("{error}\n{results}"));
    assert_eq!(results["summary"]["proved"], 3);
    for job in results["jobs"].as_array().expect("there are jobs") {
        let report = folder.read(&format!("out/{}", job["report"].as_str().expect("there is a report")));
        let report: Value = serde_json::from_str(&report).expect("it is JSON");
        assert_eq!(report["verdict"], job["verdict"]);
        let page = folder.read(&format!("out/{}", job["page"].as_str().expect("there is a page")));
        assert!(page.starts_with("<!doctype html>"));
    }
    // Nothing runs again.
    let words = ["batch", "src", "--output", "out", "--check", "races,assertions"];
    let (status, out, _) = folder.run(&words);
    assert!(status == 1 && out.starts_with("6 of 6 checks are finished already"), "{out}");
    assert!(!out.contains("[6/6]"), "{out}");
    assert_eq!(folder.results("out"), results);
    // A program that changed does.
    folder.write("src/race.c", LOCKED);
    let (status, out, _) = folder.run(&words);
    assert!(status == 2 && out.starts_with("4 of 6 checks are finished already"), "{out}");
    assert_eq!(folder.verdicts("out")["race.c races"], "true");
}

#[test]
fn expected_verdicts_are_scored() {
    let folder = Folder::new("expected");
    folder.write("race.c", RACE).write("locked.c", LOCKED).write("open.c", OPEN);
    folder.write("race.prp", "CHECK( init(main()), LTL(G ! data-race) )\n");
    let task = |name: &str, expected: bool| {
        format!(
            "format_version: '2.0'\ninput_files: '{name}.c'\nproperties:\n  - property_file: race.prp\n    expected_verdict: {expected}\n"
        )
    };
    folder.write("race.yml", &task("race", false)).write("locked.yml", &task("locked", true));
    let (status, out, _) = folder.run(&["batch", ".", "--output", "out", "--property", "race"]);
    assert!(status == 0 && out.contains("expected verdicts: 2 of 2 right, 0 wrong; score 3 of 3"), "{out}");
    // The same verdicts, and other expectations: nothing runs.
    folder.write("race.yml", &task("race", true));
    let (status, out, _) = folder.run(&["batch", ".", "--output", "out", "--property", "race"]);
    assert!(out.starts_with("2 of 2 checks are finished already"), "{out}");
    assert!(status == 1 && out.contains("1 of 2 right, 1 wrong; score -14 of 4"), "{out}");
    assert!(out.contains("race.yml: race; WRONG, expected true"), "{out}");
    folder.write("plan.toml", "[[task]]\nfiles = ['open.c', 'missing.c']\n");
    let (status, _, error) = folder.run(&["batch", "plan.toml"]);
    assert_eq!((status, error.lines().count()), (3, 1), "{error}");
    folder.write("plan.toml", "[[task]]\nfiles = 'open.c'\ncheck = 'assertions'\nexpected = true\n");
    let (status, out, _) = folder.run(&["batch", "plan.toml", "--output", "out"]);
    assert!(status == 2 && out.contains("0 of 1 right, 0 wrong; score 0 of 2"), "{out}");
    // Without an answer, it is tried again.
    folder.write("bad.c", "int main(void) { return y; }\n");
    for _ in 0..2 {
        let (status, out, _) = folder.run(&["batch", "bad.c", "--check", "races", "--output", "out"]);
        assert!(status == 3 && out.starts_with("[1/1] error"), "{out}");
        assert!(out.contains("bad.c: races: bad.c:1:25: error: "), "{out}");
    }
}

/// Makes a pipe that is read like a file: who includes it waits.
pub fn gate(path: &Path) {
    let status = Command::new("mkfifo").arg(path).status().expect("there is mkfifo");
    assert!(status.success());
}

/// Starts a batch, and reads its results until so many are there.
fn until(folder: &Folder, words: &[&str], results: usize) -> (Child, Vec<String>) {
    let mut child = folder.command(words).stdout(Stdio::piped()).spawn().expect("it runs");
    let lines = BufReader::new(child.stdout.take().expect("it is a pipe")).lines();
    let lines = lines.map(|line| line.expect("it is text")).filter(|line| line.starts_with('['));
    let lines = lines.take(results).collect();
    (child, lines)
}

/// Six programs, of which the third and the fifth wait at gates; the words that run them one by one.
fn gated(folder: &Folder) -> [&'static str; 9] {
    for number in 1..=6 {
        let text = if number % 2 == 0 { RACE } else { LOCKED };
        let text = match number {
            3 | 5 => format!("#include \"gate{number}.h\"\n{text}"),
            _ => format!("int n = {number};\n{text}"),
        };
        folder.write(&format!("src/{number}.c"), &text);
    }
    gate(&folder.path("src/gate3.h"));
    gate(&folder.path("src/gate5.h"));
    ["batch", "src", "--check", "races", "--jobs", "1", "--no-cache", "--output", "out"]
}

fn open_gate(folder: &Folder, name: &str) {
    std::fs::remove_file(folder.path(name)).expect("it is there");
    folder.write(name, "");
}

/// The processes that have a file of this folder among their words.
pub fn processes(folder: &Path) -> usize {
    let name = folder.display().to_string();
    let entries = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let words = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    words.filter(|words| String::from_utf8_lossy(words).contains(&name)).count()
}

fn wait_for_no_process(folder: &Folder) {
    while processes(&folder.path("out")) > 0 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn a_batch_that_is_killed_twice_loses_nothing_and_repeats_nothing() {
    let folder = Folder::new("killed");
    let words = gated(&folder);
    let (mut child, first) = until(&folder, &words, 2);
    child.kill().expect("it runs");
    child.wait().expect("it ended");
    // Its process waits at the gate, and ends with it.
    wait_for_no_process(&folder);
    open_gate(&folder, "src/gate3.h");
    let (mut child, second) = until(&folder, &words, 2);
    child.kill().expect("it runs");
    child.wait().expect("it ended");
    wait_for_no_process(&folder);
    open_gate(&folder, "src/gate5.h");
    let (status, out, _) = folder.run(&words);
    let third: Vec<String> = out.lines().filter(|line| line.starts_with('[')).map(str::to_owned).collect();
    assert!(status == 1 && out.starts_with("4 of 6 checks are finished already"), "{out}");
    let names = |lines: &[String]| -> Vec<String> {
        lines.iter().map(|line| line.split("  ").last().unwrap_or_default().to_owned()).collect()
    };
    let all = [names(&first), names(&second), names(&third)];
    let numbers: [[usize; 2]; 3] = [[1, 2], [3, 4], [5, 6]];
    let wanted = numbers.map(|part| part.map(|number| format!("{number}.c: races")).to_vec());
    assert_eq!(all, wanted);
    // The same as without a kill.
    folder.run(&["batch", "src", "--check", "races", "--output", "other"]);
    assert_eq!(folder.verdicts("out"), folder.verdicts("other"));
    assert_eq!(folder.verdicts("out").len(), 6);
}

#[test]
fn an_interrupted_batch_says_how_to_continue() {
    use nix::sys::signal::{Signal, kill};
    let folder = Folder::new("interrupted");
    let words = gated(&folder);
    let mut child = folder.command(&words).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(child.stdout.take().expect("it is a pipe")).lines();
    let mut next = || lines.next().expect("it continues").expect("it is text");
    assert!(next().starts_with("[1/6] true"));
    assert!(next().starts_with("[2/6] false"));
    kill(nix::unistd::Pid::from_raw(child.id() as i32), Signal::SIGINT).expect("it runs");
    let rest: Vec<String> = lines.map(|line| line.expect("it is text")).collect();
    assert_eq!(child.wait().expect("it ended").code(), Some(130));
    let said = "interrupted; 4 checks are open: run the same command again to continue";
    assert_eq!(rest.last().map(String::as_str), Some(said));
    assert_eq!(processes(&folder.path("out")), 0);
    assert_eq!(folder.results("out")["complete"], false);
    open_gate(&folder, "src/gate3.h");
    open_gate(&folder, "src/gate5.h");
    let (status, out, _) = folder.run(&words);
    assert!(status == 1 && out.starts_with("2 of 6 checks are finished already"), "{out}");
    assert_eq!(folder.results("out")["complete"], true);
}

#[test]
fn what_cannot_be_done_is_said_at_once() {
    let folder = Folder::new("wrong");
    folder.write("a.c", LOCKED).write("empty/readme", "").write("file", "x");
    folder.write("foreign/results.sqlite", "this is no database at all, but some text");
    folder.write("plan.toml", "[[task]]\nfiles = 'a.c'\ntimout = 3\n");
    folder.write("limits.toml", "[[task]]\nfiles = 'a.c'\nengine = 'magic'\n");
    for (words, message) in [
        (&["none.toml"][..], "none.toml: error: No such file or directory (os error 2); check the path"),
        (&["plan.toml"], "plan.toml:3:1: error: there is no option `timout`; did you mean `timeout`?"),
        (&["limits.toml"], "limits.toml:3:10: error: invalid value 'magic' for '--engine <ENGINE>'"),
        (&["empty"], "empty: error: there is nothing to verify in it; name a folder with C files"),
        (&["a.c", "--output", "file/x"], "file/x: error: Not a directory"),
        (
            &["a.c", "--output", "foreign"],
            "results.sqlite: it is no database; name another folder by --output",
        ),
        (&["a.c", "--", "--html", "x"], "a.c: error: a.c: a batch writes its own reports"),
        (&["a.c", "--", "--magic"], "a.c: error: a.c: unexpected argument '--magic' found"),
        (&["a.c", "--check", "magic"], "the checks are assertions, races, bounds, memory (deref"),
    ] {
        let (status, out, error) = folder.run(&[&["batch"], words].concat());
        assert!(status == 3 && error.contains(message), "{words:?}: {status}\n{out}{error}");
    }
}

#[test]
fn a_cache_answers_with_checked_evidence() {
    let folder = Folder::new("cache");
    folder.write("src/race.c", RACE).write("src/locked.c", LOCKED).write("src/open.c", OPEN);
    let run = |output: &str, more: &[&str]| {
        let words = [&["batch", "src", "--cache", "store", "--output", output][..], more].concat();
        let (_, out, error) = folder.run(&words);
        assert_eq!(error, "", "{out}");
        folder.results(output)["summary"]["cached"].as_u64().expect("it is a number")
    };
    assert_eq!(run("first", &[]), 0);
    assert_eq!(folder.entries("store").len(), 6);
    assert_eq!(run("second", &[]), 6);
    assert_eq!(folder.verdicts("first"), folder.verdicts("second"));
    assert_eq!(run("none", &["--fresh", "--timeout", "61"]), 4, "open checks may take longer now");
    assert_eq!(run("less", &["--timeout", "30"]), 6);
    // Other folders share it, and `verify` does.
    let text = folder.read("src/race.c");
    folder.write("elsewhere/other name.c", &text);
    let words = ["verify", "--cache", "store", "--check", "races", "--explain", "elsewhere/other name.c"];
    let (status, out, _) = folder.run(&words);
    assert!(status == 1 && out.contains("cache") && out.contains("elsewhere/other name.c:3"), "{out}");
}

#[test]
fn a_cache_needs_no_trust() {
    let folder = Folder::new("trust");
    folder.write("race.c", RACE).write("locked.c", LOCKED);
    let verify = |file: &str| {
        let words = ["verify", "--cache", "store", "--check", "races", "--format", "json", file];
        let (_, out, error) = folder.run(&words);
        assert_eq!(error, "");
        let report: Value = serde_json::from_str(&out).expect("it is JSON");
        let mut tries = report["checks"][0]["tries"].as_array().expect("it is a list").iter();
        let is_cached = tries.any(|tried| tried["engine"] == json!("cache"));
        (report["verdict"].as_str().expect("it is text").to_owned(), is_cached)
    };
    let is_of_edits = |entry: &Path| entry.to_string_lossy().ends_with(".before.json");
    let verdicts = [("race.c", "false(no-data-race)"), ("locked.c", "true")];
    let entries: Vec<PathBuf> = verdicts
        .iter()
        .map(|(file, verdict)| {
            let before = folder.entries("store");
            assert_eq!(verify(file), ((*verdict).to_owned(), false));
            let made = folder
                .entries("store")
                .into_iter()
                .find(|entry| !before.contains(entry) && !is_of_edits(entry));
            made.expect("there is an entry")
        })
        .collect();
    let whole: Vec<String> =
        entries.iter().map(|entry| std::fs::read_to_string(entry).expect("it is there")).collect();
    for (number, (file, verdict)) in verdicts.iter().enumerate() {
        let own = &whole[number];
        let lies = [
            String::new(),
            own[..own.len() / 2].to_owned(),
            "\u{0}\u{1}".to_owned(),
            "{}".to_owned(),
            "[".repeat(100_000),
            own.replace("races", "bounds"),
            // The evidence of the other program, for the other verdict.
            whole[1 - number].clone(),
        ];
        for lie in lies {
            std::fs::write(&entries[number], &lie).expect("it can be written");
            let (said, is_cached) = verify(file);
            assert_eq!((said.as_str(), is_cached), (*verdict, false), "{file}: {lie}");
            assert_eq!(verify(file), ((*verdict).to_owned(), true), "it is replaced");
        }
        // A folder where an entry belongs is no entry either.
        std::fs::remove_file(&entries[number]).expect("it is there");
        std::fs::create_dir(&entries[number]).expect("it can be made");
        assert_eq!(verify(file), ((*verdict).to_owned(), false));
    }
}

#[test]
fn a_table_generator_reads_the_results() {
    let folder = finished("benchexec");
    let output = Command::new(crate::root().join("target/benchexec/bin/table-generator"))
        .args(["--format", "csv", "--outputpath", "tables", "out/batch.results.xml"])
        .current_dir(&folder.0)
        .output()
        .expect("BenchExec is installed: cargo xtask setup");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = folder.read("tables/batch.results.csv");
    let rows: Vec<&str> = table.lines().skip(3).collect();
    assert_eq!(rows.len(), 6, "{table}");
    let row = rows.iter().find(|row| row.contains("race.c") && row.contains("false(no-data-race)"));
    assert!(row.is_some(), "{table}");
}
