//! Boolean programs and thread transition systems: our own, those of the sample where that is at hand, and
//! bad input.

use assert_cmd::Command;
use checker::{Checked, ReplayedViolation};
use ir::Program;
use portfolio::Portfolio;
use portfolio::pipeline;
use std::path::{Path, PathBuf};
use testkit::annotation::annotations;
use verdict::{Budget, Check, Engine, Reason, Silent};

/// Reads a program or a system with the file of its target beside it.
fn read(path: &Path, text: &str, initial: Option<&str>) -> Program {
    let name = path.to_string_lossy();
    let read = if name.ends_with(".tts") {
        let target = std::fs::read(path.with_extension("prop")).expect("a system has a target");
        frontend_boolean::read_system(&name, text.as_bytes(), Some(("target", &target)), initial)
    } else {
        frontend_boolean::read_program(&name, text.as_bytes(), &frontend_boolean::Options::default())
    };
    let program = read.unwrap_or_else(|diagnostic| panic!("{diagnostic}"));
    ir::check::check(&program).unwrap_or_else(|malformed| panic!("{name}: {malformed:?}"));
    program
}

fn answer(program: &Program, engine: &dyn Engine, seconds: f64) -> Checked {
    pipeline::verify(program, Check::Assertions, engine, &Budget::steps_for(seconds), &Silent).verdict
}

/// Runs work on a deep stack, as the command line does.
fn deep(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(work)
        .expect("threads can start")
        .join()
        .expect("it passes");
}

#[test]
fn annotated_programs() {
    deep(|| {
        let folder = crate::root().join("tests/programs/boolean");
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
            .expect("the folder is there")
            .flatten()
            .map(|entry| entry.path())
            .collect();
        files
            .retain(|path| path.extension().is_some_and(|extension| extension == "bp" || extension == "tts"));
        files.sort();
        assert!(files.len() >= 25, "the test programs are missing");
        for path in files {
            let text = std::fs::read_to_string(&path).expect("test programs are text");
            let wanted = annotations(&text.replace("# expect", "// expect")).expect("annotated");
            let holds = wanted.expectations[&Check::Assertions].holds;
            let program = read(&path, &text, None);
            let portfolio = Portfolio { boolean: true, ..Portfolio::default() };
            match portfolio.verify(&program, Check::Assertions, &Budget::steps_for(60.0)).verdict {
                Checked::Proved(_) => assert!(holds, "{}: SOUNDNESS: proved", path.display()),
                Checked::Refuted(refutation) => {
                    assert!(!holds, "{}: SOUNDNESS: refuted", path.display());
                    if let ReplayedViolation::Error { span, .. } = refutation.replayed.violation
                        && !wanted.error_lines.is_empty()
                    {
                        assert!(
                            wanted.error_lines.contains(&span.line),
                            "{}: line {}",
                            path.display(),
                            span.line
                        );
                    }
                }
                Checked::Unknown(reason) => panic!("{}: {reason}", path.display()),
            }
            // The others, where they have an answer, have the same one.
            for other in [&engine_explicit::Explicit::default() as &dyn Engine, &engine_states::Counting] {
                let name = other.name();
                match answer(&program, other, 2.0) {
                    Checked::Proved(_) => assert!(holds, "{}: SOUNDNESS: {name} proved", path.display()),
                    Checked::Refuted(_) => assert!(!holds, "{}: SOUNDNESS: {name} refuted", path.display()),
                    Checked::Unknown(Reason::Rejected(why)) => panic!("{}: {name}: {why}", path.display()),
                    Checked::Unknown(reason) => {
                        assert_ne!(name, "counters", "{}: {reason}", path.display());
                    }
                }
            }
        }
    });
}

/// The sample of real programs, where it is at hand: its folder is named by `THREADPROOF_BENCH`, or is
/// `shared/bench` beside the repository.
fn sample() -> Option<PathBuf> {
    let named = std::env::var_os("THREADPROOF_BENCH").map(PathBuf::from);
    let beside = ["../shared/bench", "../../shared/bench"].map(|path| crate::root().join(path));
    named.into_iter().chain(beside).find(|folder| folder.join("boolean/boppo").is_dir())
}

fn expected(description: &str) -> Option<bool> {
    if description.contains("VERIFICATION SUCCESSFUL") {
        Some(true)
    } else {
        description.contains("VERIFICATION FAILED").then_some(false)
    }
}

fn judge(path: &Path, program: &Program, expected: Option<bool>) {
    let mut answers = Vec::new();
    // Counting takes long where many threads are needed.
    for (engine, seconds) in [(&portfolio::STATES as &dyn Engine, 60.0), (&engine_states::Counting, 3.0)] {
        let name = engine.name();
        let found = match answer(program, engine, seconds) {
            Checked::Proved(_) => true,
            Checked::Refuted(_) => false,
            Checked::Unknown(Reason::Exhausted(_)) if name == "counters" => continue,
            Checked::Unknown(reason) => panic!("{}: {name}: {reason}", path.display()),
        };
        assert!(
            expected.is_none_or(|holds| holds == found),
            "{}: SOUNDNESS: {name}: {found}",
            path.display()
        );
        answers.push(found);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{}: SOUNDNESS: the engines differ", path.display());
}

#[test]
fn regressions_of_boppo() {
    let Some(folder) = sample() else { return };
    deep(move || {
        let mut count = 0;
        for entry in std::fs::read_dir(folder.join("boolean/boppo")).expect("it is there").flatten() {
            let description = std::fs::read_to_string(entry.path().join("test.desc")).expect("described");
            for file in std::fs::read_dir(entry.path()).expect("a folder").flatten().map(|file| file.path()) {
                if file.extension().is_some_and(|extension| extension == "bp") {
                    let text = std::fs::read_to_string(&file).expect("text");
                    let expected = expected(&description);
                    assert!(expected.is_some(), "{description}");
                    judge(&file, &read(&file, &text, None), expected);
                    count += 1;
                }
            }
        }
        assert!(count >= 17, "{count}");
    });
}

#[test]
fn programs_of_boom_and_getafix() {
    let Some(folder) = sample() else { return };
    deep(move || {
        let mut count = 0;
        for part in ["boom", "boom-reduced", "getafix"] {
            let entries = std::fs::read_dir(folder.join("boolean").join(part)).expect("it is there");
            for file in entries.flatten().map(|entry| entry.path()) {
                if file.extension().is_some_and(|extension| extension == "bp") {
                    let text = std::fs::read_to_string(&file).expect("text");
                    judge(&file, &read(&file, &text, None), None);
                    count += 1;
                }
            }
        }
        assert!(count >= 14, "{count}");
    });
}

#[test]
fn thread_transition_systems() {
    let Some(folder) = sample() else { return };
    deep(move || {
        let mut count = 0;
        for file in
            std::fs::read_dir(folder.join("tts")).expect("it is there").flatten().map(|entry| entry.path())
        {
            if file.extension().is_some_and(|extension| extension == "tts") {
                let text = std::fs::read_to_string(&file).expect("text");
                let description =
                    std::fs::read_to_string(format!("{}.test.desc", file.display())).expect("described");
                let initial = description.split("--init \"").nth(1).and_then(|rest| rest.split('"').next());
                let target = std::fs::read(file.with_extension("prop")).expect("a system has a target");
                let program = frontend_boolean::read_system(
                    "system",
                    text.as_bytes(),
                    Some(("target", &target)),
                    initial,
                )
                .expect("a system");
                judge(&file, &program, expected(&description));
                count += 1;
            }
        }
        assert!(count >= 12, "{count}");
    });
}

/// The exit status and what was printed.
fn run(name: &str, bytes: &[u8], more: &[&str]) -> (i32, String) {
    let path = std::env::temp_dir().join(format!("threadproof-boolean-{}-{name}", std::process::id()));
    std::fs::write(&path, bytes).expect("temporary files can be written");
    let mut command = Command::cargo_bin("threadproof").expect("the program is built");
    let output = command.args(["verify", "--timeout", "4"]).args(more).arg(&path).output().expect("it runs");
    let _ = std::fs::remove_file(&path);
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(!printed.contains("panicked"), "{name}: {printed}");
    (output.status.code().unwrap_or_else(|| panic!("{name}: killed: {printed}")), printed)
}

/// The input is refused with an error at this place.
fn refused(name: &str, bytes: &[u8], place: &str) {
    let (status, printed) = run(name, bytes, &[]);
    assert_eq!(status, 3, "{name}: {printed}");
    assert!(
        printed.contains(&format!("{name}:{place}")) && printed.contains(": error: "),
        "{name}: {printed}"
    );
}

#[test]
fn bad_input_is_refused_where_it_is_bad() {
    refused("truncated.bp", b"decl g;\nvoid main() begin\n  if g then skip;", "3:18");
    refused("label.bp", b"void main() begin\n  goto nowhere;\nend", "2:8");
    refused("variable.bp", b"void main() begin\n  x := T;\nend", "2:3");
    refused("arity.bp", b"void f(a) begin skip; end\nvoid main() begin\n  f(T, F);\nend", "3:3");
    refused("values.bp", b"decl a, b;\nvoid main() begin\n  a, b := T;\nend", "3:11");
    refused("twice.bp", b"void main() begin\n  l: skip;\n  l: skip;\nend", "3:3");
    refused("start.bp", b"void f() begin skip; end", "1:6");
    refused("callee.bp", b"void main() begin\n  g();\nend", "2:3");
    refused("comment.bp", b"void main() begin\n  /* skip;\nend", "2:3");
    refused("bytes.bp", b"decl g;\n\xff\xfe", "2:1");
    refused("prime.bp", b"decl g;\nvoid main() begin assert('g); end", "2:27");
    refused("empty.bp", b"", "1:1");
    refused("sync.bp", b"void main() begin\n  sync;\nend", "2:3");
    refused("lock.bp", b"decl m;\nvoid main() begin\n  lock m; m := T;\nend", "3:");
    refused("result.bp", b"bool<2> f() begin\n  return T;\nend\nvoid main() begin skip; end", "2:");
    let deep =
        format!("decl g;\nvoid main() begin assume({}g{}); end", "(".repeat(1 << 20), ")".repeat(1 << 20));
    refused("deep.bp", deep.as_bytes(), "2:");
    let negated = format!("decl g;\nvoid main() begin assume({}g); end", "!".repeat(1 << 20));
    refused("negated.bp", negated.as_bytes(), "2:");
    let nested = format!("decl g;\nvoid main() begin {}", "if g then ".repeat(100_000));
    refused("nested.bp", nested.as_bytes(), "2:");
}

#[test]
fn bad_systems_are_refused() {
    let target = std::env::temp_dir().join(format!("threadproof-boolean-{}.prop", std::process::id()));
    std::fs::write(&target, "0|1").expect("temporary files can be written");
    let more = ["--target", target.to_str().expect("a path that is text")];
    for (name, text, place) in [
        ("a.tts", "2 2\n0 0 -> 0", "2:9"),
        ("b.tts", "2 2\n0 0 => 0 1", "2:5"),
        ("c.tts", "2 2\n0 5 -> 0 1", "2:3"),
        ("d.tts", "2", "1:2"),
        ("e.tts", "2 2\n0 0 -> 0 1 1 ~>", "2:16"),
    ] {
        let (status, printed) = run(name, text.as_bytes(), &more);
        assert_eq!(status, 3, "{name}: {printed}");
        assert!(printed.contains(&format!("{name}:{place}: error: ")), "{name}: {printed}");
    }
    let (status, printed) = run("f.tts", b"2 2\n0 0 -> 0 1", &[more[0], more[1], "--init", "zero"]);
    assert_eq!(status, 3, "{printed}");
    let (status, printed) = run("g.tts", b"2 2\n0 0 -> 0 1", &[]);
    assert_eq!(status, 3, "{printed}");
    let (status, printed) = run("h.tts", b"2 2\n0 0 -> 0 1", &more);
    assert_eq!(status, 1, "{printed}");
    let _ = std::fs::remove_file(target);
}

#[test]
fn long_conjunctions_are_fine() {
    let text = format!("decl g := 1;\nvoid main() begin assert(g{}); end", " & g".repeat(20_000));
    let (status, printed) = run("long.bp", text.as_bytes(), &[]);
    assert_eq!(status, 0, "{printed}");
}

/// Procedures that all call each other: following calls takes too many points at once.
#[test]
fn much_recursion_ends_in_time() {
    let count = 40;
    let mut text = "decl g := 0, m;\n".to_owned();
    for one in 0..count {
        let calls: String = (0..count).map(|other| format!("  if * then f{other}(x); fi\n")).collect();
        text += &format!("void f{one}(x) begin\n{calls}  lock m; g := !g; unlock m;\nend\n");
    }
    text += "void main() begin\n  start_thread f0(T);\n  f1(F);\n  assert(g);\nend";
    let (status, printed) = run("recursion.bp", text.as_bytes(), &["--engine", "states"]);
    assert_eq!(status, 2, "{printed}");
    let (status, printed) = run(
        "recursion-without-lock.bp",
        text.replace("lock m;", "skip;").replace("unskip;", "skip;").as_bytes(),
        &["--engine", "counters"],
    );
    assert!(status == 1 || status == 2, "{printed}");
}

#[test]
fn labels_and_copies_are_chosen_on_the_command_line() {
    let text = b"decl g := 0;\nvoid main() begin\n  g := !g;\n  if !g then bad: skip; fi\nend";
    let (status, printed) = run("label-none.bp", text, &[]);
    assert_eq!(status, 0, "{printed}");
    let (status, printed) = run("label-once.bp", text, &["-l", "bad"]);
    assert_eq!(status, 0, "{printed}");
    let text = b"decl g := 0;\nvoid thread0() begin\n  g := !g;\n  if !g then ERROR: skip; fi\nend";
    let (status, printed) = run("copies-one.bp", text, &[]);
    assert_eq!(status, 0, "{printed}");
    let (status, printed) = run("copies-any.bp", text, &["--any-copies"]);
    assert_eq!(status, 1, "{printed}");
    let text = b"decl g;\nvoid main() begin\n  if g then bad: skip; fi\nend";
    let (status, printed) = run("label-bad.bp", text, &["-l", "bad"]);
    assert_eq!(status, 1, "{printed}");
}

/// Counting gives the same answers on the command line, and says what its proof is.
#[test]
fn counters_on_the_command_line() {
    let folder = crate::root().join("tests/programs/boolean");
    let read = |name: &str| std::fs::read(folder.join(name)).expect("the test programs are there");
    let (status, printed) = run("counted.bp", &read("counted.bp"), &["--engine", "counters"]);
    assert_eq!(status, 0, "{printed}");
    assert!(printed.contains("populations of threads"), "{printed}");
    let (status, printed) = run("counted-broken.bp", &read("counted_broken.bp"), &["--engine", "counters"]);
    assert_eq!(status, 1, "{printed}");
    // An answer that cannot be known names the lines by which the error may be reached.
    let text = b"decl g := 0;\nvoid f() begin\n  if * then f(); fi\n  g := !g;\n  g := !g;\nend\nvoid main() begin\n  f();\n  assert(!g);\nend";
    let (status, printed) = run("open.bp", text, &["--engine", "states"]);
    assert_eq!(status, 2, "{printed}");
    assert!(
        printed.contains("an error may be reached by lines") && printed.contains("by another thread"),
        "{printed}"
    );
}
