//! What is said when something is wrong with what the user gives: each message says where, what, and what to
//! do. All are in `tests/reports/messages.txt`; update it with `UPDATE_EXPECT=1`, and read it.

use assert_cmd::Command;
use std::path::{Path, PathBuf};

const GOOD: &str = "int main(void) { return 0; }\n";
const RACY: &str = "#include <pthread.h>\nint x;\nvoid *f(void *a) { x = 1; return 0; }\n\
    int main(void) { pthread_t p; pthread_create(&p, 0, f, 0); x = 2; return 0; }\n";

/// The files that the invocations are about.
const FILES: &[(&str, &str)] = &[
    ("good.c", GOOD),
    ("racy.c", RACY),
    ("syntax.c", "int main(void) { return 0\n}\n"),
    ("type.c", "int main(void) { int x = y; return x; }\n"),
    ("include.c", "#include \"gone.h\"\nint main(void) { return 0; }\n"),
    ("no-main.c", "int f(void) { return 0; }\n"),
    ("twice.c", "int f(void) { return 1; } int main(void) { return 0; }\n"),
    ("long.c", "extern long x; int f(void) { return (int)x; }\n"),
    ("int.c", "int x = 1; int main(void) { return 0; }\n"),
    ("static-a.c", "static int g(void) { return 1; } int h(void) { return g(); }\n"),
    ("static-b.c", "static int g(void) { return 2; } int main(void) { return g(); }\n"),
    (
        "unknown.c",
        "extern int f(void); int *p; int main(void) { __asm__(\"x\"); __builtin_trap_or_so(&p); return *p; }\n",
    ),
    ("threads.cpp", "#include <thread>\nint main() { std::thread t([] {}); t.join(); }\n"),
    ("cpp.c", "#include <thread>\nint main(void) { return 0; }\n"),
    ("openmp.c", "#include <omp.h>\nint main(void) { return omp_get_num_threads(); }\n"),
    ("bad.bp", "decl g;\nvoid main() begin\n  g := ;\nend\n"),
    ("good.bp", "decl g;\nvoid main() begin\n  g := 1;\nend\n"),
    ("system.tts", "2 2\n0 0 -> 1 1\n"),
    ("empty.prp", ""),
    ("strange.prp", "COVER( all )\n"),
    ("evidence.json", "{}"),
    ("model.json", r#"{"format":"threadproof evidence 1","tool":"","data_model":"P1","checks":[]}"#),
    ("narrow.json", r#"{"format":"threadproof evidence 1","tool":"","data_model":"ILP32","checks":[]}"#),
    ("bad.tspec", "thread T runs f times 1 { start state S asserts nothing > 0; }\n"),
    ("unknown-key.toml", "timeout = 5\nspeed = 3\n"),
    ("close-key.toml", "timeot = 5\n"),
    ("wrong-type.toml", "explain = 'yes'\n"),
    ("wrong-value.toml", "engine = 'magic'\n"),
    ("syntax.toml", "timeout = = 5\n"),
    ("none.json", "[]"),
    ("shape.json", "{}"),
    ("entry.json", r#"[{"directory": ".", "file": "good.c"}]"#),
    ("quote.json", r#"[{"directory": ".", "file": "good.c", "command": "cc 'good.c"}]"#),
    ("backslash.json", r#"[{"directory": ".", "file": "good.c", "command": "cc \\"}]"#),
    ("value.json", r#"[{"directory": ".", "file": "good.c", "command": "cc good.c -I"}]"#),
    ("layout.json", r#"[{"directory": ".", "file": "good.c", "command": "cc -fpack-struct good.c"}]"#),
    ("headers.json", r#"[{"directory": ".", "file": "good.c", "command": "cc -nostdinc good.c"}]"#),
    ("response.json", r#"[{"directory": ".", "file": "good.c", "command": "cc @flags good.c"}]"#),
    ("moved.json", r#"[{"directory": ".", "file": "moved.c", "command": "cc moved.c"}]"#),
    ("good.json", r#"[{"directory": ".", "file": "good.c", "command": "cc good.c"}]"#),
    (
        "notes.json",
        r#"[{"directory": ".", "file": "good.c", "command": "cc good.c"}, {"directory": ".", "file": "good.c", "command": "cc -DX good.c"}, {"directory": ".", "file": "a.cpp", "command": "c++ a.cpp"}]"#,
    ),
    (
        "widths.json",
        r#"[{"directory": ".", "file": "good.c", "command": "cc good.c"}, {"directory": ".", "file": "no-main.c", "command": "cc -m32 no-main.c"}]"#,
    ),
];

/// Invocations that something is wrong with.
const WRONG: &[&[&str]] = &[
    &["verify", "gone.c"],
    &["verify", "."],
    &["verify", "syntax.c"],
    &["verify", "type.c"],
    &["verify", "include.c"],
    &["verify", "threads.cpp", "good.c"],
    &["verify", "cpp.c"],
    &["verify", "openmp.c"],
    &["verify", "no-main.c"],
    &["verify", "no-main.c", "twice.c"],
    &["verify", "int.c", "long.c"],
    &["verify", "-std=c42", "good.c"],
    &["verify", "bad.bp"],
    &["verify", "good.bp", "good.c"],
    &["verify", "--thread", "f", "good.bp"],
    &["verify", "system.tts"],
    &["verify", "--property", "gone.prp", "good.c"],
    &["verify", "--property", "empty.prp", "good.c"],
    &["verify", "--property", "strange.prp", "good.c"],
    &["verify", "--check", "speed", "good.c"],
    &["verify", "--check", "races", "--property", "empty.prp", "good.c"],
    &["verify", "--engine", "magic", "good.c"],
    &["verify", "--format", "paper", "good.c"],
    &["verify", "--jobs", "0", "good.c"],
    &["verify", "--race", "y", "racy.c"],
    &["verify", "--race", "weather", "racy.c"],
    &["verify", "--weather", "good.c"],
    &["verify"],
    &["weather"],
    &["verify", "--entry", "g", "good.c"],
    &["verify", "--thread", "g:any", "static-a.c", "static-b.c"],
    &["verify", "--thread", "g:many", "good.c"],
    &["verify", "--thread", ":any", "good.c"],
    &["verify", "--thread", "g:65", "good.c"],
    &["verify", "--config", "gone.toml", "good.c"],
    &["verify", "--config", "unknown-key.toml", "good.c"],
    &["verify", "--config", "close-key.toml", "good.c"],
    &["verify", "--config", "wrong-type.toml", "good.c"],
    &["verify", "--config", "wrong-value.toml", "good.c"],
    &["verify", "--config", "syntax.toml", "good.c"],
    &["verify", "--compile-commands", "gone.json"],
    &["verify", "--compile-commands", "none.json"],
    &["verify", "--compile-commands", "shape.json"],
    &["verify", "--compile-commands", "entry.json"],
    &["verify", "--compile-commands", "quote.json"],
    &["verify", "--compile-commands", "backslash.json"],
    &["verify", "--compile-commands", "value.json"],
    &["verify", "--compile-commands", "layout.json"],
    &["verify", "--compile-commands", "headers.json"],
    &["verify", "--compile-commands", "response.json"],
    &["verify", "--compile-commands", "moved.json"],
    &["verify", "--compile-commands", "notes.json"],
    &["verify", "--compile-commands", "widths.json"],
    &["verify", "--compile-commands", "good.json", "racy.c"],
    &["verify", "--compile-commands", "good.json", "--nesc"],
    &["verify", "--html", "gone/page.html", "good.c"],
    &["verify", "--html", ".", "good.c"],
    &["verify", "--html", "good.c", "good.c"],
    &["verify", "--html", "out", "--proof", "out", "good.c"],
    &["verify", "--proof", "gone/proof.json", "good.c"],
    &["verify", "--witness", "gone/witness.yml", "good.c"],
    &["verify", "--witness", "witness.yml", "good.bp"],
    &["verify", "--witness", "witness.yml", "--check", "deadlock", "good.c"],
    &["verify", "--timeout", "0", "--proof", "proof.json", "--witness", "witness.yml", "good.c"],
    &["verify", "--reproducer", "good.c/x", "good.c"],
    &["verify", "--reproducer", "good.c/x", "--check", "races", "racy.c"],
    &["verify", "--reproducer", "out", "--check", "races", "--thread", "f:2", "racy.c"],
    &["verify", "--spec", "gone.tspec", "racy.c"],
    &["verify", "--spec", "bad.tspec", "racy.c"],
    &["verify", "--spec", "bad.tspec", "good.bp"],
    &["check", "gone.json", "good.c"],
    &["check", "evidence.json", "good.c"],
    &["check", "model.json", "good.c"],
    &["check", "narrow.json", "good.c"],
    &["conform", "good.c"],
    &["conform", "good.bp", "bad.tspec"],
    &["draft", "good.bp"],
    &["draft", "gone.c"],
    &["completions", "tcl"],
    &["lsp", "--config"],
];

fn recorded() -> PathBuf {
    crate::root().join("tests/reports/messages.txt")
}

#[test]
fn messages_say_what_where_and_what_to_do() {
    let folder = std::env::temp_dir().join(format!("threadproof-{}-messages", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    for (name, text) in FILES {
        std::fs::write(folder.join(name), text).expect("it can be written");
    }
    let (mut text, mut silent) = (String::new(), Vec::new());
    for words in WRONG {
        let mut command = Command::cargo_bin("threadproof").expect("the program is built");
        let output = command.args(*words).current_dir(&folder).output().expect("it runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        text.push_str(&format!("$ threadproof {}\n{error}\n", words.join(" ")));
        assert!(!error.contains("panicked"), "{error}");
        assert_ne!(output.status.code(), Some(4), "{words:?}: {error}");
        assert!(!error.trim().is_empty(), "{words:?} says something");
        let named = words.iter().skip(1).any(|word| error.contains(word.trim_start_matches('-')));
        // A file that another one names is a place, too; and some are about the whole command line.
        let place = error.split_once(": error: ").map_or("", |(place, _)| place);
        let named =
            named || words.len() == 1 || place == "threadproof" || folder.join(place).extension().is_some();
        if !named {
            silent.push(format!("where: {words:?}: {error}"));
        }
        for line in error.lines() {
            let is_place =
                |part: &str| part.split(':').filter(|number| number.parse::<u32>().is_ok()).count() >= 2;
            // A mistake at a place in a file is corrected there.
            let located = line.split_once(": error: ").is_some_and(|(place, _)| is_place(place));
            let helped = line.contains("; ") || line.contains(": name ") || error.contains("try '--help'");
            if !(line.is_empty() || located || helped) {
                silent.push(format!("what to do: {words:?}: {line}"));
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(silent.is_empty(), "these do not say all: {silent:#?}");
    expect_test::expect_file![recorded()].assert_eq(&text);
}

/// The texts of messages in the sources, as far as they are fixed: the longest part of each.
fn fixed_parts(file: &Path) -> Vec<String> {
    let source = std::fs::read_to_string(file).expect("it is there");
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let messages = lines.flat_map(|line| {
        let is_diagnostic = line.contains("Diagnostic::") || line.contains(".help(\"");
        let mut parts = line.split('"');
        parts.next();
        let says = move |text: &&str| is_diagnostic || text.contains("error: ");
        parts.step_by(2).filter(says).map(str::to_owned).collect::<Vec<_>>()
    });
    let messages = messages.filter(|text| !text.contains("internal error"));
    let longest = |text: String| {
        let message = text.split_once("error: ").map_or(text.as_str(), |(_, message)| message);
        let message = message.replace("{{", "").replace("}}", "");
        let parts = message.split(['{', '}']).enumerate().filter(|(index, _)| index % 2 == 0);
        parts
            .map(|(_, part)| part.trim().trim_end_matches('\\').to_owned())
            .max_by_key(String::len)
            .unwrap_or_default()
    };
    messages.map(longest).filter(|part| part.len() > 8).collect()
}

#[test]
fn every_message_of_the_command_line_is_recorded() {
    let recorded = std::fs::read_to_string(recorded()).expect("it is there");
    let folder = crate::root().join("crates/threadproof/src");
    let (mut found, mut missing) = (0, Vec::new());
    for file in std::fs::read_dir(folder).expect("it is there").flatten() {
        if file.path().extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        for part in fixed_parts(&file.path()) {
            // What a full disk, an interruption and an editor lead to is in other tests.
            let elsewhere = [
                "the report is not whole",
                "there is no",
                "run it again, or raise the limit",
                "is for editors to start",
            ];
            let elsewhere = elsewhere.iter().any(|known| part.contains(known));
            if !elsewhere && !recorded.contains(&part) {
                missing.push(part);
            }
            found += 1;
        }
    }
    assert!(missing.is_empty(), "no invocation leads to these: {missing:#?}");
    assert!(found > 10, "messages are found: {found}");
}
