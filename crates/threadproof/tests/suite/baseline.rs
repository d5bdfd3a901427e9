//! Reports that say what is new since an earlier one.

use crate::batch::{Folder, LOCKED, RACE};
use serde_json::Value;

/// Races on `x` and `y`, in one line.
const TWO: &str = "#include <pthread.h>\n\n\nint x, y;\nvoid *f(void *a) { x = 1; y = 1; return 0; }\n\
    int main(void) { pthread_t p; pthread_create(&p, 0, f, 0); x = 2; y = 2; pthread_join(p, 0); return 0; }\n";
/// Nothing is known of `helper`.
const OPEN: &str = "#include <assert.h>\nint helper(int *);\nint main(void) { int x = 0; helper(&x); assert(x == 0); return 0; }\n";

/// Writes the report about a program as a baseline.
fn record(folder: &Folder, format: &str, file: &str, name: &str) {
    let (_, out, error) = folder.run(&["verify", "--check", "races,assertions", "--format", format, file]);
    assert_eq!(error, "");
    folder.write(name, &out);
}

#[test]
fn races_that_are_known_are_not_told_again() {
    let folder = Folder::new("baseline");
    folder.write("a.c", RACE);
    for format in ["json", "sarif"] {
        let baseline = format!("base.{format}");
        folder.write("a.c", RACE);
        record(&folder, format, "a.c", &baseline);
        let words = ["verify", "--check", "races,assertions", "--baseline", &baseline, "a.c"];
        let compared = |text: &str, status, said: &[&str], unsaid: &[&str], verdict: &str| {
            folder.write("a.c", text);
            let (code, out, error) = folder.run(&words);
            assert_eq!((code, error.as_str()), (status, ""), "{format}: {out}");
            said.iter().for_each(|said| assert!(out.contains(said), "{format}: {said}\n{out}"));
            unsaid.iter().for_each(|unsaid| assert!(!out.contains(unsaid), "{format}: {unsaid}\n{out}"));
            assert_eq!(out.lines().last(), Some(verdict));
        };
        // The verdict stays what it is.
        let known = "known: data race on `x`";
        let false_ = "verdict: false(no-data-race)";
        let moved = format!("/* moved */\n\n{RACE}");
        for text in [RACE, &moved] {
            let counts = "compared with the baseline: 0 new, 1 known, 0 gone";
            compared(text, 0, &[known, counts], &["How it happens"], false_);
        }
        let counts = "compared with the baseline: 1 new, 1 known, 0 gone";
        compared(
            TWO,
            1,
            &[known, counts, "How it happens", "\ndata race on `y`"],
            &["\ndata race on `x`"],
            false_,
        );
        let counts = "compared with the baseline: 0 new, 0 known, 1 gone";
        compared(LOCKED, 0, &[counts], &["known:"], "verdict: true");
        // Another property is another finding.
        let wrong = LOCKED.replace("pthread_join(p, 0);", "pthread_join(p, 0); assert(!x);");
        let wrong = format!("#include <assert.h>\n{wrong}");
        compared(
            &wrong,
            1,
            &["1 new, 0 known, 1 gone", "How it happens"],
            &[],
            "verdict: false(unreach-call)",
        );
    }
    folder.write("a.c", TWO);
    let words = ["verify", "--check", "races", "--baseline", "base.sarif", "a.c", "--format"];
    let (status, out, _) = folder.run(&[&words[..], &["sarif"]].concat());
    let log: Value = serde_json::from_str(&out).expect("it is JSON");
    let results = log["runs"][0]["results"].as_array().expect("there are results");
    let mut states: Vec<(bool, &str)> = results
        .iter()
        .map(|result| {
            let text = result["message"]["text"].as_str().unwrap_or_default();
            (text.contains("`y`"), result["baselineState"].as_str().unwrap_or_default())
        })
        .collect();
    states.sort_unstable();
    assert_eq!((status, states), (1, vec![(false, "unchanged"), (true, "new")]));
    let (_, out, _) = folder.run(&[&words[..], &["json"]].concat());
    let report: Value = serde_json::from_str(&out).expect("it is JSON");
    let findings = report["findings"].as_array().expect("there are findings").iter();
    let mut known: Vec<bool> = findings.filter_map(|finding| finding["known"].as_bool()).collect();
    known.sort_unstable();
    assert_eq!(known, [false, true]);
}

#[test]
fn variables_of_one_name_in_two_files_are_two() {
    let folder = Folder::new("baseline-files");
    let file = |races: bool| {
        let write = if races { "n = 1; " } else { "" };
        format!(
            "static int n;\nvoid *NAME(void *a) {{ {write}return 0; }}\nint of_NAME(void) {{ return n; }}\n"
        )
    };
    let main = "#include <pthread.h>\nvoid *f(void *), *g(void *);\n\
        int main(void) { pthread_t p, q; pthread_create(&p, 0, f, 0); pthread_create(&p, 0, f, 0);\n\
        pthread_create(&q, 0, g, 0); pthread_create(&q, 0, g, 0); return 0; }\n";
    folder.write("main.c", main);
    let write = |one: bool, other: bool| {
        folder.write("f.c", &file(one).replace("NAME", "f"));
        folder.write("g.c", &file(other).replace("NAME", "g"));
    };
    write(true, false);
    let words = ["verify", "--check", "races", "main.c", "f.c", "g.c"];
    let (_, out, _) = folder.run(&[&words[..], &["--format", "json"]].concat());
    folder.write("base", &out);
    write(false, true);
    let (status, out, _) = folder.run(&[&words[..], &["--baseline", "base"]].concat());
    assert!(status == 1 && out.contains("compared with the baseline: 1 new, 0 known, 1 gone"), "{out}");
}

#[test]
fn answers_of_a_store_hide_no_race() {
    let folder = Folder::new("baseline-store");
    folder.write("a.c", RACE);
    record(&folder, "json", "a.c", "base");
    folder.write("a.c", TWO);
    let words = ["verify", "--check", "races", "--cache", "store", "--baseline", "base", "a.c"];
    for _ in 0..2 {
        let (status, out, _) = folder.run(&words);
        assert!(status == 1 && out.contains("compared with the baseline: 1 new, 1 known, 0 gone"), "{out}");
    }
    folder.write("a.c", LOCKED);
    let answers = [0; 2].map(|_| folder.run(&[&words[..], &["--explain"]].concat()).1);
    assert!(!answers[0].contains("cache") && answers[1].contains("cache"), "{answers:?}");
}

#[test]
fn what_was_open_stays_open_without_a_complaint() {
    let folder = Folder::new("baseline-open");
    let more = OPEN.replace("int helper(int *);", "int helper(int *), other(int *);");
    let more = more.replace("return 0;", "other(&x); return 0;");
    for format in ["json", "sarif"] {
        folder.write("a.c", OPEN);
        record(&folder, format, "a.c", "base");
        let words = ["verify", "--check", "races,assertions", "--baseline", "base", "a.c"];
        let (status, out, _) = folder.run(&words);
        assert!(status == 0 && out.contains("assertions: unknown, as before; nothing more is open"), "{out}");
        assert!(out.lines().last().is_some_and(|last| last.starts_with("verdict: unknown(")), "{out}");
        folder.write("a.c", &more);
        let (status, out, _) = folder.run(&words);
        assert!(status == 2 && out.contains("compared with the baseline: 1 new, 3 known, 0 gone"), "{out}");
        // What was proved is not open without a complaint.
        folder.write("a.c", LOCKED);
        record(&folder, format, "a.c", "base");
        folder.write("a.c", OPEN);
        assert_eq!(folder.run(&words).0, 2);
    }
    // Lines, where some checks are proved and some are not.
    let grow = "#include <assert.h>\n#include <pthread.h>\nunsigned x, y = 1;\n\
        void *grow(void *a) { while (1) { x = x * 3 + y; y = y * x; } }\n\
        int main(void) { pthread_t p; pthread_create(&p, 0, grow, 0); while (1) { x = x + 2;\n\
        assert(x * y != 1234567);\n} }\n";
    let more = grow.replace("\n} }", "\nassert(y != 1234567);\n} }");
    for format in ["json", "sarif"] {
        folder.write("a.c", grow);
        let words = ["verify", "--check", "assertions", "--engine", "flow", "a.c"];
        let (status, out, _) = folder.run(&[&words[..], &["--format", format]].concat());
        assert_eq!(status, 2, "{out}");
        folder.write("base", &out);
        let words = [&words[..], &["--baseline", "base"]].concat();
        let (status, out, _) = folder.run(&words);
        assert!(status == 0 && out.contains("assertions: unknown, as before; nothing more is open"), "{out}");
        folder.write("a.c", &format!("int n;\n{more}"));
        let (status, out, _) = folder.run(&words);
        assert!(status == 2 && out.contains("assertions: unknown, as before; more is open"), "{out}");
        assert!(out.contains("assert(y != 1234567)") && !out.contains("assert(x * y"), "{out}");
    }
    // An empty one is no reason to be silent, nor is one of something else.
    for (text, why) in [
        ("", "it is no report"),
        ("{\"format\": \"threadproof batch 1\", \"jobs\": []}", "neither a JSON report"),
    ] {
        folder.write("base", text);
        let (status, _, error) = folder.run(&["verify", "--baseline", "base", "a.c"]);
        assert!(status == 3 && error.contains("base: error: ") && error.contains(why), "{error}");
    }
    let (status, _, error) = folder.run(&["verify", "--baseline", "none", "a.c"]);
    assert!(status == 3 && error.contains("none: error: No such file"), "{error}");
}

#[test]
fn batches_are_compared() {
    let folder = Folder::new("baseline-batch");
    folder.write("src/race.c", RACE).write("src/locked.c", LOCKED).write("src/open.c", OPEN);
    let words = ["batch", "src", "--output", "out"];
    assert_eq!(folder.run(&words).0, 1);
    std::fs::copy(folder.path("out/batch.json"), folder.path("base.json")).expect("it is there");
    let words = [&words[..], &["--baseline", "base.json"]].concat();
    let (status, out, error) = folder.run(&words);
    assert_eq!((status, error.as_str()), (0, ""), "{out}");
    // The verdicts stay what they are.
    assert_eq!(folder.verdicts("out")["race.c races"], "false(no-data-race)");
    let jobs = folder.results("out")["jobs"].clone();
    assert!(jobs.as_array().expect("there are jobs").iter().all(|job| job["known"] == true), "{jobs}");
    folder.write("src/locked.c", &format!("int n;\n{RACE}"));
    let (status, out, _) = folder.run(&words);
    assert_eq!(status, 1, "{out}");
    // The cache knows the race from the other file.
    assert!(out.contains("locked.c: races (cache, new)"), "{out}");
    // Results of one check are none of a batch.
    folder.write("base.json", "{\"format\": \"threadproof report 1\"}");
    let (status, _, error) = folder.run(&words);
    assert!(status == 3 && error.contains("base.json: error: these are no results of a batch"), "{error}");
}
