//! Programs of many files: compilation databases, functions that run as threads, `threadproof.toml`, and what
//! is made from the command line's definition.

use assert_cmd::Command;
use std::path::{Path, PathBuf};

/// A folder of its own for each test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("threadproof-{}-project-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder can be made");
        Self(path.canonicalize().expect("it is there"))
    }
    fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
        self
    }
    fn run(&self, words: &[&str]) -> (i32, String, String) {
        run_in(&self.0, words)
    }
    /// Runs it, and gives the status and the last line.
    fn verdict(&self, words: &[&str]) -> (i32, String) {
        let (status, out, error) = self.run(words);
        (
            status,
            format!("{}{}", out.lines().last().unwrap_or_default(), if out.is_empty() { &error } else { "" }),
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run_in(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("threadproof").expect("the program is built");
    let output = command.args(words).current_dir(folder).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

const TRUE: (i32, &str) = (0, "verdict: true");
const RACE: (i32, &str) = (1, "verdict: false(no-data-race)");
const ERROR: (i32, &str) = (1, "verdict: false(unreach-call)");

fn assert_verdict(found: &(i32, String), wanted: (i32, &str)) {
    assert_eq!((found.0, found.1.as_str()), wanted);
}

/// Two files that are compiled in different folders with different flags; `LOCKED` decides whether there is a
/// race.
fn project(locked: bool) -> Folder {
    let folder = Folder::new(if locked { "locked" } else { "racy" });
    folder
        .write("include/shared.h", "#include <pthread.h>\nextern int total;\nextern pthread_mutex_t lock;\nvoid add(int);\n")
        .write("config/config.h", "#define STEP 2\n")
        .write(
            "src/main.c",
            "#include <shared.h>\nint total;\npthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
             static void helper(void) { add(WIDTH); }\n\
             static void *worker(void *x) { helper(); return 0; }\n\
             int main(void) { pthread_t a, b; pthread_create(&a, 0, worker, 0); pthread_create(&b, 0, worker, 0);\n\
             pthread_join(a, 0); pthread_join(b, 0); return 0; }\n",
        )
        .write(
            "src/add.c",
            "#include \"shared.h\"\n#ifdef UNUSED\n#error not defined\n#endif\n\
             static int helper(int x) { return x * STEP; }\n\
             void add(int x) {\n#ifdef LOCKED\n  pthread_mutex_lock(&lock);\n#endif\n  total = total + helper(x);\n\
             #ifdef LOCKED\n  pthread_mutex_unlock(&lock);\n#endif\n}\n",
        );
    let flag = if locked { "-DLOCKED" } else { "-DOPEN" };
    let root = folder.0.display();
    let database = format!(
        r#"[
  {{"directory": "{root}/build", "file": "../src/main.c", "command": "cc -I../include '-DWIDTH=3' -O2 -Wall -o main.o -c ../src/main.c"}},
  {{"directory": "{root}", "file": "src/add.c", "arguments": ["gcc", "-iquote", "include", "-DUNUSED", "-UUNUSED", "{flag}", "-include", "config/config.h", "-std=gnu11", "-c", "src/add.c"]}},
  {{"directory": "{root}", "file": "src/view.cpp", "command": "c++ -c src/view.cpp"}}
]"#
    );
    folder.write("build/compile_commands.json", &database);
    folder
}

#[test]
fn a_build_is_read_with_its_flags() {
    let racy = project(false);
    let (status, out, error) =
        racy.run(&["verify", "--check", "races", "--compile-commands", "build/compile_commands.json"]);
    assert_eq!((status, out.lines().last()), (RACE.0, Some(RACE.1)), "{out}{error}");
    assert!(out.contains("src/add.c:10"), "{out}");
    assert!(error.contains("one file is not C"), "{error}");
    let locked = project(true);
    let words = ["verify", "--compile-commands", "build/compile_commands.json"];
    assert_verdict(&locked.verdict(&words), TRUE);
    // From another folder, and the other way round.
    let database = locked.0.join("build/compile_commands.json");
    let (status, out, error) =
        run_in(Path::new("/"), &["verify", "--compile-commands", database.to_str().unwrap()]);
    assert_eq!((status, out.lines().last()), (TRUE.0, Some(TRUE.1)), "{out}{error}");
}

#[test]
fn files_of_a_build_can_be_chosen() {
    let folder = project(true);
    folder.write("src/other.c", "int other(void) { return 1; }\n");
    let all = ["src/add.c", "src/main.c"];
    let words = |files: &[&'static str]| -> Vec<&'static str> {
        [&["verify", "--compile-commands", "build/compile_commands.json"], files].concat()
    };
    assert_verdict(&folder.verdict(&words(&all)), TRUE);
    let (status, _, error) = folder.run(&words(&["src/other.c"]));
    assert_eq!(status, 3);
    assert!(error.contains("src/other.c: error: build/compile_commands.json does not compile it"), "{error}");
}

#[test]
fn widths_are_those_of_the_build() {
    let folder = Folder::new("widths");
    folder.write(
        "a.c",
        "#include <assert.h>\nint main(void) { assert(sizeof(long) == 4); assert((char)200 == 200); return 0; }\n",
    );
    let database = |flags: &str| {
        let root = folder.0.display();
        let text = format!(r#"[{{"directory": "{root}", "file": "a.c", "command": "cc {flags} -c a.c"}}]"#);
        folder.write("db.json", &text);
        folder.verdict(&["verify", "--check", "assertions", "--compile-commands", "db.json"])
    };
    assert_verdict(&database("-m32 -funsigned-char"), TRUE);
    assert_verdict(&database("-m32"), ERROR);
    assert_verdict(&database("-funsigned-char"), ERROR);
}

#[test]
fn what_a_build_defines_and_we_do_not_model_is_never_proved() {
    let folder = Folder::new("wrapping");
    // With -fwrapv this fails; without, the execution ends before.
    folder.write(
        "a.c",
        "#include <assert.h>\n#include <limits.h>\nint main(void) { int x = INT_MAX; x = x + 1; assert(x > 0); return 0; }\n",
    );
    let root = folder.0.display();
    folder.write(
        "db.json",
        &format!(r#"[{{"directory": "{root}", "file": "a.c", "command": "cc -fwrapv -c a.c"}}]"#),
    );
    let (status, out, _) = folder.run(&["verify", "--check", "assertions", "--compile-commands", "db.json"]);
    assert_eq!(status, 2, "{out}");
    assert!(out.contains("a.c: -fwrapv defines what happens on overflow"), "{out}");
}

#[test]
fn files_share_what_they_should() {
    let folder = Folder::new("linking");
    // Tentative definitions are one variable; static ones are two; a static function does not hide another.
    folder
        .write(
            "a.c",
            "#include <assert.h>\nint common; static int own = 1; static int get(void) { return own; } int other(void);\n\
             int main(void) { common = 5; assert(get() == 1 && other() == 7); return 0; }\n",
        )
        .write("b.c", "int common; static int own = 2; static int get(void) { return own; } int other(void) { return get() + common; }\n")
        .write("c.c", "extern long common; int other(void) { return (int)common; }\n")
        .write("d.c", "int other(void) { return 0; } int common = 1;\n")
        .write("e.c", "int other(void) { return 0; } int common = 2;\n");
    assert_verdict(&folder.verdict(&["verify", "a.c", "b.c"]), TRUE);
    assert_verdict(&folder.verdict(&["verify", "b.c", "a.c"]), TRUE);
    let (status, _, error) = folder.run(&["verify", "a.c", "c.c"]);
    assert_eq!(status, 3);
    assert!(error.contains("c.c:1:13: error: 'common' has 8 bytes here and 4 at a.c:2"), "{error}");
    let (status, _, error) = folder.run(&["verify", "d.c", "e.c", "a.c"]);
    assert_eq!(status, 3);
    assert!(error.contains("duplicate definition of 'common'"), "{error}");
}

const DRIVER: &str = "#include <pthread.h>\n#include <assert.h>\n\
    static int ready, count;\nstatic pthread_mutex_t lock;\n\
    void setup(void) { pthread_mutex_init(&lock, 0); ready = 1; }\n\
    static void inside(void) { count = count + 1; count = count - 1; }\n\
    void locked(void) { assert(ready == 1); pthread_mutex_lock(&lock); inside(); assert(count == 0); pthread_mutex_unlock(&lock); }\n\
    void racy(void) { inside(); }\n\
    int input(int x) { assert(x != 3); return x; }\n\
    int small(unsigned char x) { assert(x < 256); return x; }\n\
    void unused(void *context) { locked(); }\n\
    void store(int *place) { *place = 1; assert(*place == 1); }\n\
    struct node { struct node *next; int value; };\n\
    void follow(struct node *node) { assert(node->next->value == 0); }\n\
    struct pair { int a, b; };\n\
    struct pair swap(struct pair p) { struct pair q = { p.b, p.a }; assert(q.a == p.b); return q; }\n\
    int main(void) { assert(0); return 0; }\n";

#[test]
fn functions_run_as_threads() {
    let folder = Folder::new("threads");
    folder.write("driver.c", DRIVER);
    let verdict = |words: &[&str]| folder.verdict(&[&["verify", "driver.c"], words].concat());
    assert_verdict(&verdict(&["--entry", "setup", "--thread", "locked:any"]), TRUE);
    assert_verdict(&verdict(&["--entry", "setup", "--thread", "locked:2"]), TRUE);
    assert_verdict(&verdict(&["--thread", "locked:any", "--check", "assertions"]), ERROR);
    assert_verdict(&verdict(&["--thread", "racy:2", "--check", "races"]), RACE);
    assert_verdict(&verdict(&["--thread", "racy:any", "--check", "races"]), RACE);
    // One alone races with nobody.
    assert_verdict(&verdict(&["--thread", "racy"]), TRUE);
    assert_verdict(
        &verdict(&["--entry", "setup", "--thread", "locked:2", "--thread", "racy", "--check", "races"]),
        RACE,
    );
    // Arguments are inputs.
    assert_verdict(&verdict(&["--thread", "input", "--check", "assertions"]), ERROR);
    assert_verdict(&verdict(&["--entry", "input", "--check", "assertions"]), ERROR);
    assert_verdict(&verdict(&["--thread", "small:any", "--check", "assertions"]), TRUE);
    assert_verdict(&verdict(&["--entry", "swap", "--check", "assertions"]), TRUE);
    assert_verdict(&verdict(&["--entry", "setup", "--thread", "unused:any"]), TRUE);
    // A `main` that is not named does not run; one that is, does.
    assert_verdict(&verdict(&["--entry", "setup"]), TRUE);
    assert_verdict(&verdict(&["--entry", "main", "--check", "assertions"]), ERROR);
}

#[test]
fn what_a_pointer_argument_points_to_is_never_taken_for_granted() {
    let folder = Folder::new("pointers");
    folder.write("driver.c", DRIVER);
    // A busy machine takes longer until the reason is known.
    let says = |words: &[&str], reason: &str| {
        ["4", "40", "400"].iter().any(|seconds| {
            let (status, out, _) =
                folder.run(&[&["verify", "--timeout", *seconds, "driver.c"], words].concat());
            assert_eq!(status, 2, "{out}");
            out.contains(reason)
        })
    };
    let store = ["--thread", "store:any"];
    assert!(says(&store, "the argument 'place' of 'store' points to an object of its own"));
    // Two callers may pass the same object, but that is not looked at: no race, and no proof.
    let follow = ["--thread", "follow", "--check", "assertions,bounds"];
    assert!(says(&follow, "unsupported: what the argument 'node' of 'follow' points to"));
}

#[test]
fn evidence_about_threads_can_be_checked() {
    let folder = Folder::new("thread-evidence");
    folder.write("driver.c", DRIVER);
    let start = ["--entry", "setup", "--thread", "locked:any", "driver.c"];
    assert_verdict(&folder.verdict(&[&["verify", "--proof", "proof.json"], &start[..]].concat()), TRUE);
    assert_verdict(&folder.verdict(&[&["check", "proof.json"], &start[..]].concat()), TRUE);
    let (status, out, _) = folder.run(&["check", "proof.json", "--thread", "racy:any", "driver.c"]);
    assert_eq!(status, 2, "{out}");
}

#[test]
fn options_stand_in_a_file() {
    let folder = Folder::new("options");
    folder.write("driver.c", DRIVER);
    folder.write("threadproof.toml", "files = ['driver.c']\nthread = ['racy:2']\ncheck = ['races']\n");
    assert_verdict(&folder.verdict(&["verify"]), RACE);
    assert_verdict(&folder.verdict(&["verify", "--thread", "racy"]), TRUE);
    // Paths are relative to the file.
    let config = folder.0.join("threadproof.toml");
    let (status, out, _) = run_in(Path::new("/"), &["verify", "--config", config.to_str().unwrap()]);
    assert_eq!((status, out.lines().last()), (RACE.0, Some(RACE.1)), "{out}");
    folder.write("threadproof.toml", "files = ['driver.c']\nthreads = ['racy:2']\n");
    let (status, out, error) = folder.run(&["verify"]);
    assert_eq!((status, out.as_str()), (3, ""), "{error}");
    assert_eq!(error, "threadproof.toml:2:1: error: there is no option `threads`; did you mean `thread`?\n");
}

#[test]
fn completions_and_the_manual_know_every_option() {
    let folder = Folder::new("manual");
    for shell in ["bash", "zsh", "fish"] {
        let (status, out, _) = folder.run(&["completions", shell]);
        assert_eq!(status, 0);
        for word in ["compile-commands", "thread", "html"] {
            assert!(out.contains(word), "{shell}: {word}");
        }
        if shell == "bash" {
            folder.write("completions.bash", &out);
            let script = ". ./completions.bash; COMP_WORDS=(threadproof verify --comp); COMP_CWORD=2; \
                _threadproof threadproof --comp verify; echo ${COMPREPLY[@]}";
            let output =
                std::process::Command::new("bash").args(["-c", script]).current_dir(&folder.0).output();
            let output = output.expect("bash runs");
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "--compile-commands", "{output:?}");
        }
    }
    let (status, out, _) = folder.run(&["man"]);
    assert_eq!(status, 0);
    assert!(out.starts_with(".ie") || out.contains(".TH threadproof"), "{out}");
    let plain = out.replace('\\', "");
    let (_, help, _) = folder.run(&["verify", "--help"]);
    let options = help.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 2);
    for option in options {
        let option: String =
            option.chars().take_while(|letter| letter.is_ascii_lowercase() || *letter == '-').collect();
        assert!(plain.contains(&option), "{option}");
    }
}

#[test]
fn a_report_that_cannot_be_written_is_said() {
    let folder = Folder::new("full");
    folder.write("a.c", "int main(void) { return 0; }\n");
    let program = assert_cmd::cargo::cargo_bin("threadproof");
    for words in [&["verify", "a.c"][..], &["verify", "--format", "json", "a.c"], &["man"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let mut command = std::process::Command::new(&program);
        let output = command.args(words).current_dir(&folder.0).stdout(full).output().expect("it runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{error}");
        assert!(error.contains("standard output: No space left on device"), "{error}");
        assert!(error.contains("the report is not whole"), "{error}");
    }
}
