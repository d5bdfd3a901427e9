//! Files that the tool writes: a path that cannot be written is known before the search, a file is whole or
//! not there, and who goes by the exit status never believes in a file that is not there. Ctrl-C ends all of
//! it soon.

use crate::reports::{await_interrupts, signal};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A folder that is gone in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("threadproof-{}-writing-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder can be made");
        for example in ["counter.c", "counter-locked.c"] {
            std::fs::copy(crate::root().join("examples").join(example), path.join(example))
                .expect("a file can be copied");
        }
        Self(path)
    }
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("threadproof"));
        command.args(words).current_dir(&self.0);
        command
    }
    /// The exit status, and what it says on both streams.
    fn run(&self, words: &[&str]) -> (Option<i32>, String, String) {
        let output = self.command(words).output().expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("it is there").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_path_that_cannot_be_written_is_known_before_the_search() {
    let folder = Folder::new("early");
    let before = folder.names();
    for (option, path, complaint) in [
        (
            "--html",
            "gone/page.html",
            "gone/page.html: error: No such file or directory (os error 2); make the folder first",
        ),
        ("--proof", "gone/proof.json", "make the folder first"),
        ("--witness", "counter.c/witness.yml", "a part of it is a file"),
        ("--reproducer", "counter.c/out", "a part of it is a file"),
        ("--html", ".", "name a file in it"),
        // It is nothing but mischief.
        ("--proof", "counter.c", "counter.c: error: it is read as well; name another path"),
        ("--html", "./counter.c", "it is read as well"),
    ] {
        let (status, out, error) = folder.run(&["verify", option, path, "counter.c"]);
        assert_eq!(status, Some(3), "{option} {path}: {error}");
        assert!(error.contains(complaint), "{option} {path}: {error}");
        assert!(out.starts_with("verdict: unknown("), "nothing was searched: {out}");
    }
    let (status, _, error) = folder.run(&["verify", "--html", "x", "--proof", "./x", "counter.c"]);
    assert_eq!(status, Some(3));
    assert!(error.contains("./x: error: two files are to be written there; name another path"), "{error}");
    assert_eq!(folder.names(), before, "nothing is left of all this");
}

#[test]
fn what_must_not_be_written_is_not_replaced() {
    let folder = Folder::new("read-only");
    // Who may do anything is not kept from it by a mode; a file system that is read-only keeps everyone.
    let script = format!(
        "mkdir disk && mount -t tmpfs none disk && echo old > disk/page.html && mount -o remount,ro disk && \
         {{ {} verify --html disk/page.html counter-locked.c; echo status $?; cat disk/page.html; }}",
        assert_cmd::cargo::cargo_bin("threadproof").display()
    );
    let Some(text) = in_a_name_space(&folder, &script) else { return };
    assert!(text.contains("status 3\nold\n"), "{text}");
    assert!(
        text.contains("disk/page.html: error: ") && text.contains("name a path that you may write to"),
        "{text}"
    );
}

#[test]
fn a_file_is_whole_or_not_there() {
    let folder = Folder::new("whole");
    let (status, _, error) = folder.run(&["verify", "--html", "page.html", "counter-locked.c"]);
    assert_eq!((status, error.as_str()), (Some(0), ""));
    assert_eq!(folder.names(), ["counter-locked.c", "counter.c", "page.html"]);
    assert!(
        std::fs::read_to_string(folder.0.join("page.html")).is_ok_and(|text| text.ends_with("</html>\n"))
    );
    // A device that is always full: the verdict is there, and the status says that the file is not.
    if Path::new("/dev/full").exists() {
        for (option, what) in [("--html", "page"), ("--proof", "proof"), ("--witness", "witness")] {
            let (status, out, error) = folder.run(&["verify", option, "/dev/full", "counter-locked.c"]);
            assert_eq!(status, Some(3), "{option}: {error}");
            assert_eq!(out.lines().last(), Some("verdict: true"), "{option}");
            let complaint =
                format!("threadproof: error: there is no {what}: /dev/full: No space left on device");
            assert!(error.contains(&complaint) && error.contains("free some space"), "{option}: {error}");
        }
    }
    // That there is nothing to write is no failure to write.
    let (status, _, error) = folder.run(&["verify", "--reproducer", "out", "counter-locked.c"]);
    assert_eq!(status, Some(0), "{error}");
    assert!(error.contains("there is no reproducer: nothing was refuted"), "{error}");
}

/// What a script prints in a name space of its own; nothing where the system does not allow one.
fn in_a_name_space(folder: &Folder, script: &str) -> Option<String> {
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script]).current_dir(&folder.0);
    let output = command.output().ok()?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (!text.contains("unshare: ") && !text.contains("mount: ")).then_some(text)
}

#[test]
fn a_full_disk_leaves_no_part_of_a_file() {
    let folder = Folder::new("disk");
    let program = assert_cmd::cargo::cargo_bin("threadproof");
    std::fs::create_dir_all(folder.0.join("disk")).expect("a folder can be made");
    for (option, complaint) in [
        ("--html disk/page.html", "error: there is no page: disk/page.html: "),
        ("--proof disk/proof.json", "error: there is no proof: disk/proof.json: "),
        ("--witness disk/witness.yml", "error: there is no witness: disk/witness.yml: "),
        ("--reproducer disk", "error: there is no reproducer: disk/"),
    ] {
        // Room for a few kilobytes.
        let script = format!(
            "mount -t tmpfs -o size=8k none disk && head -c 7000 /dev/zero > disk/rest && \
             {{ {} verify --check races {option} counter.c >/dev/null; echo status $?; ls -A disk; }}",
            program.display()
        );
        let Some(text) = in_a_name_space(&folder, &script) else { return };
        assert!(text.contains(complaint) && text.contains("free some space"), "{option}: {text}");
        let left: Vec<&str> = text.lines().filter(|line| !line.starts_with("threadproof: ")).collect();
        assert_eq!(left, ["status 3", "rest"], "{option}: {text}");
    }
}

/// Asks a program to end, and waits for that. What it printed, and its status.
fn interrupt(mut child: Child, after: Duration) -> (Option<i32>, String, String) {
    await_interrupts(child.id());
    std::thread::sleep(after);
    // It may be done already.
    let _ = Command::new("kill").args([signal(), &child.id().to_string()]).stderr(Stdio::null()).status();
    let mut texts = [String::new(), String::new()];
    child.stdout.take().expect("it is a pipe").read_to_string(&mut texts[0]).expect("it is text");
    child.stderr.take().expect("it is a pipe").read_to_string(&mut texts[1]).expect("it is text");
    let status = child.wait().expect("it ends");
    let [out, error] = texts;
    (status.code(), out, error)
}

fn piped(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs")
}

#[test]
fn writing_can_be_interrupted() {
    let folder = Folder::new("pipe");
    let made = Command::new("mkfifo").arg(folder.0.join("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    // Nobody reads what is written, so writing does not end.
    let words = ["verify", "--timeout", "1000", "--html", "pipe", "counter-locked.c"];
    // A busy machine takes longer until it writes.
    let writes = |(_, out, _): &(Option<i32>, String, String)| out.lines().last() == Some("verdict: true");
    let interrupted = |seconds| interrupt(piped(&mut folder.command(&words)), Duration::from_secs(seconds));
    let (status, _, error) = [5, 50, 500].into_iter().map(interrupted).find(writes).expect("it writes");
    assert_eq!(status, Some(3), "{error}");
    assert!(error.contains("threadproof: error: not all files are written: interrupted; "), "{error}");
    // Nor does it go past the time.
    let late = |time| folder.run(&["verify", "--timeout", time, "--html", "pipe", "counter-locked.c"]);
    let (status, _, error) = ["4", "40", "400"].into_iter().map(late).find(writes).expect("it writes");
    assert_eq!(status, Some(3), "{error}");
    assert!(error.contains("not all files are written: out of time; "), "{error}");
}

#[test]
fn a_report_that_nobody_reads_can_be_interrupted() {
    let folder = Folder::new("unread");
    std::fs::write(folder.0.join("large.c"), large(300)).expect("a file can be written");
    let interrupted = |seconds| {
        let words = ["verify", "--show", "ir", "--timeout", "1000", "large.c"];
        let mut child = piped(&mut folder.command(&words));
        await_interrupts(child.id());
        // More than a pipe holds: it waits for someone to read it.
        std::thread::sleep(Duration::from_secs(seconds));
        let _ = Command::new("kill").args([signal(), &child.id().to_string()]).status();
        let status = child.wait().expect("it ends");
        let mut error = String::new();
        child.stderr.take().expect("it is a pipe").read_to_string(&mut error).expect("it is text");
        (status.code(), error)
    };
    // A busy machine takes longer until there is a report.
    let is_cut = |(_, error): &(Option<i32>, String)| error.contains("the report is not whole");
    let (status, error) = [5, 50, 500].into_iter().map(interrupted).find(is_cut).expect("it is cut off");
    assert_eq!(status, Some(3), "{error}");
}

/// A program that takes a while to read, to prove and to check: many blocks with locks and assertions.
fn large(blocks: usize) -> String {
    let mut text = String::from(
        "#include <assert.h>\n#include <pthread.h>\nextern int __VERIFIER_nondet_int(void);\npthread_mutex_t lock;\nint count;\nvoid *worker(void *arg) {\n  int i;\n",
    );
    for block in 0..blocks {
        let step = if block % 2 == 0 {
            "if (count < 100) count = count + 1;"
        } else {
            "if (count > 0) count = count - 1;"
        };
        text.push_str(&format!(
            "  pthread_mutex_lock(&lock);\n  {step}\n  assert(count >= 0 && count <= 100);\n  pthread_mutex_unlock(&lock);\n  \
             for (i = 0; i < {}; i++) if (__VERIFIER_nondet_int()) break;\n  assert(i <= 50);\n",
            10 + block % 40
        ));
    }
    text.push_str("  return arg;\n}\nint main(void) {\n  pthread_t t;\n  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, worker, 0);\n  return 0;\n}\n");
    text
}

#[test]
fn checking_can_be_interrupted() {
    let folder = Folder::new("checking");
    std::fs::write(folder.0.join("large.c"), large(120)).expect("a file can be written");
    let by_flow = ["verify", "--timeout", "1000", "--engine", "flow", "--check", "assertions"];
    let words = [&by_flow[..], &["--proof", "proof.json", "large.c"]].concat();
    let (status, out, error) = folder.run(&words);
    assert_eq!(status, Some(0), "{out}{error}");
    for after in [0, 50, 200, 600] {
        let child = piped(&mut folder.command(&["check", "--check", "assertions", "proof.json", "large.c"]));
        let (status, out, error) = interrupt(child, Duration::from_millis(after));
        assert!(matches!(status, Some(0 | 2)), "{status:?}: {error}");
        let verdict = if status == Some(0) { "verdict: true" } else { "verdict: unknown(" };
        let last = out.lines().last().unwrap_or_default();
        assert!(
            last.starts_with(verdict) && (status == Some(0) || last.contains("interrupted")),
            "{out}{error}"
        );
    }
}

/// Handlers that do arithmetic that no engine gets through.
const ENDLESS_HANDLERS: &str = "typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
unsigned a, b, c, guarded;
__attribute((signal)) void __vector_1(void) { a = a * 3 + b; b = b * a + 1; if (a * b == 77777) guarded = 1; }
__attribute((signal)) void __vector_2(void) { c = c * a + b; if (c * c == 12345) guarded = 2; }
int main(void) {
    __nesc_enable_interrupt();
    while (1) { a = a + 2; if (a * c == 1234567) guarded = guarded + 1; }
}
";

#[test]
fn listings_can_be_interrupted() {
    let folder = Folder::new("listing");
    std::fs::write(folder.0.join("handlers.c"), ENDLESS_HANDLERS).expect("a file can be written");
    for after in [0, 300, 1500] {
        for words in [
            &["verify", "--nesc", "--timeout", "1000", "handlers.c"][..],
            &["verify", "--show", "invariants", "--nesc", "--timeout", "1000", "handlers.c"],
        ] {
            let child = piped(&mut folder.command(words));
            let (status, out, error) = interrupt(child, Duration::from_millis(after));
            assert!(matches!(status, Some(0..=2)), "{words:?} after {after} ms: {status:?}: {out}{error}");
        }
    }
}
