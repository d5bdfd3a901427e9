//! The contract of the command line: verdict lines, exit statuses, formats.

use assert_cmd::Command;
use expect_test::expect;
use std::path::PathBuf;

fn threadproof(words: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("threadproof").expect("the program is built");
    let output = command.args(words).current_dir(crate::root()).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("it exits"), text(&output.stdout), text(&output.stderr))
}

fn temporary(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("threadproof-{}-{name}", std::process::id()));
    std::fs::write(&path, text).expect("temporary files can be written");
    path
}

#[test]
fn a_race_is_refuted() {
    let (status, out, _) = threadproof(&["verify", "--check", "races", "examples/counter.c"]);
    assert_eq!(out.lines().last(), Some("verdict: false(no-data-race)"), "{out}");
    assert_eq!(status, 1);
    assert!(out.contains("data race on `counter`"), "{out}");
    assert!(out.contains("examples/counter.c:8"), "{out}");
}

#[test]
fn a_failing_assertion_is_refuted() {
    let (status, out, _) = threadproof(&["verify", "--check", "assertions", "examples/counter.c"]);
    assert_eq!(out.lines().last(), Some("verdict: false(unreach-call)"), "{out}");
    assert_eq!(status, 1);
}

#[test]
fn a_locked_counter_is_proved() {
    let (status, out, _) = threadproof(&["verify", "examples/counter-locked.c"]);
    assert_eq!(out.lines().last(), Some("verdict: true"), "{out}");
    assert_eq!(status, 0);
}

#[test]
fn races_that_are_not_asked_about_are_mentioned() {
    let said = |words: &[&str]| threadproof(words).1.contains("data races are not looked for");
    assert!(said(&["verify", "--check", "assertions", "examples/counter-locked.c"]));
    assert!(!said(&["verify", "examples/counter-locked.c"]));
}

#[test]
fn engines_say_what_they_tried() {
    let (status, out, _) =
        threadproof(&["verify", "--explain", "--check", "races", "examples/counter-locked.c"]);
    // Whoever is first.
    assert!(out.lines().any(|line| line.contains("proved, checked in")), "{out}");
    assert_eq!(status, 0);
    let (status, out, _) = threadproof(&["verify", "--jobs", "0", "examples/counter.c"]);
    assert_eq!(status, 3, "{out}");
}

#[test]
fn an_open_question_comes_with_what_was_tried_and_what_may_help() {
    let open = temporary(
        "open.c",
        "#include <assert.h>\n#include <pthread.h>\nint x, y = 1;\n\
         void *grow(void *a) { while (1) { x = x * 3 + y; y = y * x; } }\n\
         int main(void) { pthread_t p; pthread_create(&p, 0, grow, 0); while (1) { x = x + 2; assert(x * y != 1234567); } }\n",
    );
    let words = ["verify", "--check", "assertions", "--timeout", "2", open.to_str().unwrap()];
    let (status, out, _) = threadproof(&words);
    assert_eq!(status, 2, "{out}");
    for part in ["What was tried:", "    flow ", "    explicit ", "What may help:", "--timeout"] {
        assert!(out.contains(part), "{part}: {out}");
    }
}

#[test]
fn one_engine_at_a_time_is_enough() {
    for (file, verdict) in [
        ("examples/counter.c", "verdict: false(unreach-call)"),
        ("examples/counter-locked.c", "verdict: true"),
    ] {
        let (_, out, _) = threadproof(&["verify", "--jobs", "1", file]);
        assert_eq!(out.lines().last(), Some(verdict), "{out}");
    }
}

#[test]
fn evidence_is_checked_by_a_process_of_its_own() {
    let file = temporary("evidence.json", "");
    let path = file.to_str().unwrap();
    let all = [
        ("examples/counter-locked.c", 0, "verdict: true"),
        ("examples/counter.c", 1, "verdict: false(unreach-call)"),
        // Its proof has formulas.
        ("tests/programs/papers/circ-figure1.c", 0, "verdict: true"),
    ];
    for (program, wanted, verdict) in all {
        let (status, out, _) = threadproof(&["verify", "--proof", path, program]);
        assert_eq!((status, out.lines().last()), (wanted, Some(verdict)), "{out}");
        let (status, out, _) = threadproof(&["check", path, program]);
        assert_eq!((status, out.lines().last()), (wanted, Some(verdict)), "{out}");
    }
    // The last proof is about another program than this one.
    let (status, out, _) = threadproof(&["check", path, "tests/programs/papers/circ-figure1-broken.c"]);
    assert_eq!(status, 2, "{out}");
    assert!(out.contains("evidence rejected"), "{out}");
}

#[test]
fn evidence_that_is_none_is_bad_input() {
    for (text, complaint) in [
        ("", "EOF"),
        ("{}", "missing field"),
        (r#"{"format":"x","tool":"","data_model":"LP64","checks":[]}"#, "its format is `x`"),
        (
            r#"{"format":"threadproof evidence 1","tool":"","data_model":"LP64","checks":[{"check":"rain","terms":[],"evidence":0}]}"#,
            "no check `rain`",
        ),
        (
            r#"{"format":"threadproof evidence 1","tool":"","data_model":"P1","checks":[]}"#,
            "no data model `P1`",
        ),
        (
            r#"{"format":"threadproof evidence 1","tool":"","data_model":"LP64","checks":[],"more":0}"#,
            "unknown field `more`",
        ),
        (
            r#"{"format":"threadproof evidence 1","tool":"","data_model":"LP64","checks":[
                {"check":"races","terms":[],"evidence":{"Proof":"OneThread"}},
                {"check":"races","terms":[],"evidence":{"Proof":"OneThread"}}]}"#,
            "races: there is evidence for this check twice",
        ),
        (
            r#"{"format":"threadproof evidence 1","tool":"","data_model":"LP64","checks":[{"check":"assertions",
                "terms":[{"operation":{"Int":1}}],
                "evidence":{"Proof":{"Modular":{"size":1,"invariants":[[[0],0]],"passed":[]}}}}]}"#,
            "assertions: Modular.invariants[0]: a formula of sort Int, which must be of sort Bool",
        ),
    ] {
        let file = temporary("bad-evidence.json", text);
        let (status, out, error) = threadproof(&["check", file.to_str().unwrap(), "examples/counter.c"]);
        assert_eq!(status, 3, "{out}");
        assert!(error.contains(complaint), "{complaint}: {error}");
    }
    let (status, out, _) = threadproof(&["check", "/nowhere/evidence.json", "examples/counter.c"]);
    assert_eq!(status, 3, "{out}");
}

/// What is asked, and how the program is read, is up to the user: a file that is about less, or about a
/// program that was read in another way, proves nothing.
#[test]
fn evidence_does_not_say_what_is_asked() {
    let program = temporary(
        "widths.c",
        "#include <assert.h>\nint main(void) { assert(sizeof(long) == 4); return 0; }\n",
    );
    let (program, file) = (program.to_str().unwrap().to_owned(), temporary("asked.json", ""));
    let path = file.to_str().unwrap();
    let last = |words: &[&str]| {
        let (status, out, error) = threadproof(words);
        (status, out.lines().last().unwrap_or_default().to_owned(), error)
    };
    let narrow = ["--data-model", "ILP32"];
    let (status, out, _) = last(&[&["verify", "--proof", path], &narrow[..], &[&program]].concat());
    assert_eq!((status, out.as_str()), (0, "verdict: true"));
    let (status, out, _) = last(&[&["check", path], &narrow[..], &[&program]].concat());
    assert_eq!((status, out.as_str()), (0, "verdict: true"));
    for words in [&["check", path][..], &["check", "--data-model", "LP64", path][..]] {
        let (status, out, error) = last(&[words, &[&program]].concat());
        assert_eq!(status, 3, "{out}");
        assert!(error.contains("pass `--data-model ILP32`"), "{error}");
    }
    let racy = "examples/counter-locked.c";
    let (status, out, _) = last(&["verify", "--check", "races", "--proof", path, racy]);
    assert_eq!((status, out.as_str()), (0, "verdict: true"));
    for (words, wanted) in [
        (&["check", "--check", "races"][..], "verdict: true"),
        (
            &["check", "--check", "assertions"],
            "verdict: unknown(assertions: there is no evidence for this check)",
        ),
        (
            &["check", "--check", "races,bounds"],
            "verdict: unknown(bounds: there is no evidence for this check)",
        ),
        (&["check"], "verdict: unknown(assertions: there is no evidence for this check)"),
    ] {
        let (status, out, error) = last(&[words, &[path, racy]].concat());
        assert_eq!((status, out.as_str()), (if wanted == "verdict: true" { 0 } else { 2 }, wanted));
        assert_eq!(error.contains("there is no evidence for"), status == 2, "{error}");
    }
    let (status, out, _) = last(&["verify", "--proof", path, racy]);
    assert_eq!((status, out.as_str()), (0, "verdict: true"));
    for checks in ["assertions", "races", "races,assertions"] {
        let (status, out, _) = last(&["check", "--check", checks, path, racy]);
        assert_eq!((status, out.as_str()), (0, "verdict: true"), "{checks}");
    }
}

#[test]
fn a_property_file_is_obeyed() {
    let property = temporary("race.prp", "CHECK( init(main()), LTL(G ! data-race) )\n");
    let words =
        ["verify", "--property", property.to_str().unwrap(), "--data-model", "ILP32", "examples/counter.c"];
    let (status, out, _) = threadproof(&words);
    assert_eq!((status, out.lines().last()), (1, Some("verdict: false(no-data-race)")), "{out}");
}

#[test]
fn an_unsupported_property_is_unknown() {
    let property = temporary("end.prp", "CHECK( init(main()), LTL(F end) )\n");
    let (status, out, _) =
        threadproof(&["verify", "--property", property.to_str().unwrap(), "examples/counter-locked.c"]);
    assert_eq!(status, 2);
    assert!(out.lines().last().unwrap().starts_with("verdict: unknown("), "{out}");
}

#[test]
fn json_is_one_object() {
    let (status, out, _) = threadproof(&["verify", "--format", "json", "examples/counter.c"]);
    assert_eq!(status, 1);
    let value: serde_json::Value = serde_json::from_str(&out).expect("it is JSON");
    assert_eq!(value["verdict"], "false(unreach-call)");
    assert_eq!(value["checks"][1]["violation"]["kind"], "race");
    assert_eq!(value["checks"][1]["violation"]["variable"], "counter");
}

#[test]
fn sarif_names_the_rule_and_the_lines() {
    let (_, out, _) = threadproof(&["verify", "--format", "sarif", "--check", "races", "examples/counter.c"]);
    let value: serde_json::Value = serde_json::from_str(&out).expect("it is JSON");
    let result = &value["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "no-data-race");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 8);
}

#[test]
fn open_checks_are_in_all_formats() {
    let words = ["verify", "--engine", "flow", "--check", "assertions", "tests/listings/buffer-broken.c"];
    let (status, out, _) = threadproof(&words);
    assert_eq!(status, 2);
    assert!(out.contains("  2 of 3 checks are proved.\n"), "{out}");
    assert!(
        out.contains("not proved: tests/listings/buffer-broken.c:16: all that is known: count <= 9"),
        "{out}"
    );
    let (_, out, _) = threadproof(&[&words[..], &["--format", "json"]].concat());
    let value: serde_json::Value = serde_json::from_str(&out).expect("it is JSON");
    let decisions = &value["checks"][0]["decisions"];
    assert_eq!((&decisions["proved"], &decisions["checks"]), (&2.into(), &3.into()), "{out}");
    assert_eq!(decisions["lines"][0]["position"], "tests/listings/buffer-broken.c:16");
    let (_, out, _) = threadproof(&[&words[..], &["--format", "sarif"]].concat());
    let value: serde_json::Value = serde_json::from_str(&out).expect("it is JSON");
    let results = value["runs"][0]["results"].as_array().expect("there are results");
    assert_eq!(results.len(), 1, "{out}");
    assert_eq!(results[0]["kind"], "open");
    assert_eq!(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 16);
}

#[test]
fn several_files_are_one_program() {
    let first = temporary("a.c", "extern int g(void); int x; int main(void) { return g(); }\n");
    let second =
        temporary("b.c", "#include <assert.h>\nextern int x; int g(void) { assert(x == 1); return 0; }\n");
    let (status, out, _) = threadproof(&["verify", first.to_str().unwrap(), second.to_str().unwrap()]);
    assert_eq!((status, out.lines().last()), (1, Some("verdict: false(unreach-call)")), "{out}");
}

#[test]
fn options_of_the_compiler_are_passed_on() {
    let file = temporary("d.c", "#include <assert.h>\nint main(void) { assert(LIMIT == 3); return 0; }\n");
    let (status, out, _) = threadproof(&["verify", "-DLIMIT=3", "-std=gnu11", file.to_str().unwrap()]);
    assert_eq!((status, out.lines().last()), (0, Some("verdict: true")), "{out}");
}

#[test]
fn the_program_can_be_shown() {
    let (status, out, _) = threadproof(&["verify", "--show", "ir", "examples/counter.c"]);
    assert_eq!(status, 0);
    assert!(ir::text::parse(&out).is_ok(), "what is shown can be read again:\n{out}");
    let (_, dot, _) = threadproof(&["verify", "--show", "cfa", "examples/counter.c"]);
    assert!(dot.starts_with("digraph"), "{dot}");
    let (_, svg, _) = threadproof(&["verify", "--show", "cfa-svg", "examples/counter.c"]);
    assert!(svg.contains("<svg"), "{svg}");
}

#[test]
fn bad_usage_is_status_3() {
    assert_eq!(threadproof(&["verify"]).0, 3);
    assert_eq!(threadproof(&["verify", "--check", "speed", "examples/counter.c"]).0, 3);
    assert_eq!(threadproof(&["verify", "no-such-file.c"]).0, 3);
    assert_eq!(threadproof(&["verify", "--property", "no-such-file.prp", "examples/counter.c"]).0, 3);
    assert_eq!(threadproof(&["--help"]).0, 0);
}

#[test]
fn bad_input_is_json_where_json_is_asked_for() {
    let (status, out, _) = threadproof(&["verify", "--format", "json", "no-such-file.c"]);
    assert_eq!(status, 3);
    let value: serde_json::Value = serde_json::from_str(&out).expect("it is JSON");
    assert!(
        value["verdict"].as_str().is_some_and(|verdict| verdict.starts_with("unknown(no-such-file.c")),
        "{out}"
    );
}

#[test]
fn a_shortest_execution_is_no_longer() {
    let steps = |words: &[&str]| {
        let (_, out, _) =
            threadproof(&[&["verify", "--format", "json", "--check", "assertions"], words].concat());
        let value: serde_json::Value = serde_json::from_str(&out).expect("it is JSON");
        value["checks"][0]["violation"]["steps"].as_array().expect("there is a violation").len()
    };
    assert!(steps(&["--shortest", "examples/counter.c"]) <= steps(&["examples/counter.c"]));
}

#[test]
fn the_timeout_holds() {
    let text = "extern void reach_error(void); int x; int main(void) { unsigned long i = 0; while (i < 100000000000ul) { i = i + 1; x = x ^ 1; } if (x) reach_error(); return 0; }";
    let file = temporary("long.c", text);
    let (status, out, _) = threadproof(&[
        "verify",
        "--engine",
        "explicit",
        "--timeout",
        "2",
        "--check",
        "assertions",
        file.to_str().unwrap(),
    ]);
    assert_eq!(status, 2, "{out}");
    assert!(out.contains("out of time"), "{out}");
}

#[test]
fn races_on_named_variables_only() {
    let file = "tests/programs/nesc/named.c";
    let (status, out, _) = threadproof(&["verify", "--nesc", "--race", "s.a", "--race", "table", file]);
    assert_eq!((status, out.lines().last()), (0, Some("verdict: true")), "{out}");
    let (status, out, _) = threadproof(&["verify", "--nesc", "--race", "s.a", "--race", "s", file]);
    assert_eq!((status, out.lines().last()), (1, Some("verdict: false(no-data-race)")), "{out}");
    let (status, out, _) = threadproof(&["verify", "--race", "counter", "examples/counter.c"]);
    assert_eq!((status, out.lines().last()), (1, Some("verdict: false(no-data-race)")), "{out}");
}

#[test]
fn an_unknown_variable_is_bad_usage() {
    let (status, out, err) = threadproof(&["verify", "--race", "countre", "examples/counter.c"]);
    assert_eq!(status, 3, "{out}");
    assert!(
        err.starts_with("threadproof: error: --race: the program accesses no variable 'countre'"),
        "{err}"
    );
    assert!(err.contains("did you mean 'counter'?"), "{err}");
    let (status, _, err) = threadproof(&["verify", "--nesc", "--race", "s.c", "tests/programs/nesc/named.c"]);
    assert_eq!(status, 3, "{err}");
}

#[test]
fn programs_from_nesc_are_listed() {
    let (status, out, _) = threadproof(&["verify", "--nesc", "tests/programs/nesc/named.c"]);
    assert_eq!(status, 1, "{out}");
    let variables: Vec<&str> = out.lines().filter(|line| line.starts_with('`')).collect();
    assert_eq!(variables.len(), 2, "{out}");
    assert!(variables[0].starts_with("`s`: race, "), "{out}");
    assert!(variables[1].starts_with("`other`: race, "), "{out}");
    assert_eq!(out.lines().last(), Some("verdict: false(no-data-race)"), "{out}");
    let file = "tests/programs/nesc/nested-sections.c";
    let (status, out, _) = threadproof(&["verify", "--nesc", "--format", "json", file]);
    assert_eq!(status, 0, "{out}");
    let value: serde_json::Value = serde_json::from_str(&out).expect("it is JSON");
    assert_eq!(value["verdict"], "true");
    assert_eq!(value["checks"][0]["variable"], "x");
    assert_eq!(value["checks"][0]["verdict"], "true");
    assert_eq!(value["checks"][1]["variable"], "y");
}

/// A report with all seconds replaced.
fn without_seconds(report: &str) -> String {
    let words = report.split(' ').map(|word| {
        let is_number = word.contains('.') && word.parse::<f64>().is_ok();
        if is_number { "N" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_listing_of_a_program_from_nesc() {
    let (status, out, _) = threadproof(&["verify", "--nesc", "tests/programs/nesc/named.c"]);
    assert_eq!(status, 1, "{out}");
    expect![[r#"
        `s`: race, N s:
        data race on `s.b`, declared at tests/programs/nesc/named.c:8:26
          tests/programs/nesc/named.c:16:9: thread 0 (main) writes it
              s.b = 2;
          tests/programs/nesc/named.c:11:47: thread 1 (__vector_3) writes it atomically
              __attribute((signal)) void __vector_3(void) { s.b = 1; other = 1; }

        How it happens, with 2 threads:

        line  │ thread 0: main                               │ thread 1: __vector_3
        ──────┼──────────────────────────────────────────────┼─────────────────────────────────────────────
          13  │ __nesc_enable_interrupt();                   │
          14  │ while (1) {                                  │
          15  │ s.a = 2;                                     │
              │ ▸ s.a = 2                                    │
          11  │                                              │ __attribute((signal)) void
              │                                              │   __vector_3(void) { s.b = 1; other = 1; }
          16  │ s.b = 2;                                     │
              │ ✗ writes s.b                                 │
              │ ▪ holds no lock                              │
          11  │                                              │ __attribute((signal)) void
              │                                              │   __vector_3(void) { s.b = 1; other = 1; }
              │                                              │ ✗ writes s.b, atomically
              │                                              │ ▪ holds no lock
        `other`: race, N s:
        data race on `other`, declared at tests/programs/nesc/named.c:10:5
          tests/programs/nesc/named.c:18:9: thread 0 (main) writes it
              other = 2;
          tests/programs/nesc/named.c:11:56: thread 1 (__vector_3) writes it atomically
              __attribute((signal)) void __vector_3(void) { s.b = 1; other = 1; }

        How it happens, with 2 threads:

        line  │ thread 0: main                               │ thread 1: __vector_3
        ──────┼──────────────────────────────────────────────┼─────────────────────────────────────────────
          13  │ __nesc_enable_interrupt();                   │
          14  │ while (1) {                                  │
          15  │ s.a = 2;                                     │
              │ ▸ s.a = 2                                    │
          16  │ s.b = 2;                                     │
              │ ▸ s.b = 2                                    │
          17  │ table[1] = 1;                                │
              │ ▸ table[1] = 1                               │
          11  │                                              │ __attribute((signal)) void
              │                                              │   __vector_3(void) { s.b = 1; other = 1; }
              │                                              │ ▸ s.b = 1
          18  │ other = 2;                                   │
              │ ✗ writes other                               │
              │ ▪ holds no lock                              │
          11  │                                              │ __attribute((signal)) void
              │                                              │   __vector_3(void) { s.b = 1; other = 1; }
              │                                              │ ✗ writes other, atomically
              │                                              │ ▪ holds no lock

        This takes for granted:
          tests/programs/nesc/named.c: integers have the widths of the data model (32 bits for a pointer), not those of the processor

        in words: there are data races on 2 variables (no-data-race)
        verdict: false(no-data-race)
    "#]].assert_eq(&without_seconds(&out));
}

/// Each mistake in a specification has its place, and is bad input.
#[test]
fn mistakes_in_specifications_are_located() {
    let cases = [
        ("{ start state S asserts h > 0; }", "1:49: error: the program has no global variable `h`"),
        ("{ start state S;\nstate T; }", "2:7: error: no transition leads to the state `T`"),
        (
            "{ start state S;\nS -> S changes g: g' > 3 && g' < 4; }",
            "2:1: error: no step from `S` to `S` can be so",
        ),
        (
            "{\nstart state S asserts g < 0; }",
            "2:13: error: the assertion of the start state `S` does not hold at the start",
        ),
    ];
    for (number, (body, message)) in cases.into_iter().enumerate() {
        let name = format!("mistake{number}.tspec");
        let file = temporary(&name, &format!("thread T runs A times 1 {body}"));
        for words in [["conform", FIGURE2].as_slice(), &["verify", FIGURE2, "--spec"]] {
            let path = file.to_string_lossy();
            let words: Vec<&str> = words.iter().copied().chain([&*path]).collect();
            let (status, out, err) = threadproof(&words);
            assert_eq!(status, 3, "{out}{err}");
            assert!(err.contains(&format!("{name}:{message}")), "{err}");
        }
    }
}

const FIGURE2: &str = "tests/programs/papers/abstract-threads-figure2.c";
const FIGURE3: &str = "tests/specifications/figure3.tspec";

#[test]
fn conformance_has_its_own_last_line() {
    let (status, out, _) = threadproof(&["conform", FIGURE2, FIGURE3]);
    assert_eq!((status, out.lines().last()), (0, Some("conformance: true")), "{out}");
    let strict = temporary("strict.tspec", "thread T runs A times 1 { start state S asserts g == g; }");
    let (status, out, _) = threadproof(&["conform", FIGURE2, &strict.to_string_lossy()]);
    assert_eq!(status, 1, "{out}");
    assert_eq!(out.lines().last(), Some("conformance: false(A, B)"), "{out}");
    assert!(out.contains(&format!("{FIGURE2}:17: this step of `A` is none that `T` may take in S")), "{out}");
    assert!(out.contains("      g = x;"), "{out}");
    let wrong = temporary("wrong.tspec", "thread T runs A times 1 {\n  start state S asserts h > 0;\n}");
    let (status, out, err) = threadproof(&["conform", FIGURE2, &wrong.to_string_lossy()]);
    assert_eq!(status, 3, "{out}");
    assert!(err.contains("wrong.tspec:2:25: error: the program has no global variable `h`"), "{err}");
    let (status, _, _) = threadproof(&["conform", FIGURE2]);
    assert_eq!(status, 3);
}

#[test]
fn a_specification_proves_a_program() {
    let (status, out, _) = threadproof(&["verify", FIGURE2, "--spec", FIGURE3]);
    assert_eq!((status, out.lines().last()), (0, Some("verdict: true")), "{out}");
    // Of races a specification says nothing.
    let (status, out, _) = threadproof(&["verify", FIGURE2, "--check", "races", "--spec", FIGURE3]);
    assert_eq!(status, 2, "{out}");
    let loose = temporary(
        "loose.tspec",
        "thread A_spec runs A times 1 { start state X; X -> X changes g; }\n\
         thread B_spec runs B times 1 { start state Y; state Z asserts g > 0; Y -> Z changes g: g' > 0; }",
    );
    let (status, out, _) = threadproof(&["verify", FIGURE2, "--spec", &loose.to_string_lossy()]);
    assert_eq!(status, 2, "{out}");
    let last = out.lines().last().unwrap_or_default();
    assert!(last.contains("together go wrong") && last.len() < 400, "{last}");
    assert!(out.contains("A_spec: X -> X"), "{out}");
}

#[test]
fn a_draft_can_be_read_again() {
    let (status, out, _) = threadproof(&["draft", FIGURE2]);
    assert_eq!(status, 0, "{out}");
    let draft = temporary("draft.tspec", &out);
    let (status, out, _) = threadproof(&["conform", FIGURE2, &draft.to_string_lossy()]);
    assert_eq!((status, out.lines().last()), (0, Some("conformance: true")), "{out}");
}
