//! Runs after an edit: what was found before is tried first, and never believed.

use crate::batch::{Folder, LOCKED, RACE};
use serde_json::Value;
use std::path::PathBuf;

/// Nobody knows soon whether the thread writes `x`.
const HARD: &str = "#include <pthread.h>\nunsigned nondet_number(void);\nint x, y;\nvoid *f(void *a) {\n  unsigned h = 1, n = nondet_number();\n\
      for (int i = 0; i < 100000000; i++) h = h * 31 + (n ^ h >> 7);\n  if (h == 77) x = 1;\n  return 0;\n}\n\
    int main(void) { pthread_t p; pthread_create(&p, 0, f, 0); x = 2; pthread_join(p, 0); return 0; }\n";

impl Folder {
    /// The verdict, and the engines that were tried, with what they ended with.
    fn verify(&self, words: &[&str]) -> (String, Vec<(String, String)>) {
        let all = [&["verify", "--cache", "store", "--format", "json", "a.c"], words].concat();
        let (_, out, error) = self.run(&all);
        assert_eq!(error, "");
        let report: Value = serde_json::from_str(&out).expect("it is JSON");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let tries = report["checks"][0]["tries"].as_array().expect("it is a list").iter();
        let tries =
            tries.map(|tried| (text(&tried["engine"]), tried["end"].to_string() + &text(&tried["reason"])));
        (text(&report["verdict"]), tries.collect())
    }
    /// What is kept of the last run.
    fn before(&self) -> PathBuf {
        let is_it = |path: &PathBuf| path.to_string_lossy().ends_with(".before.json");
        let mut found: Vec<PathBuf> = self.entries("store").into_iter().filter(is_it).collect();
        assert_eq!(found.len(), 1);
        found.remove(0)
    }
}

#[test]
fn evidence_of_before_an_edit_counts_if_it_holds() {
    let folder = Folder::new("edited");
    let checked =
        LOCKED.replace("int main(void) {", "#include <assert.h>\nint z;\nint main(void) { z = 5;").replace(
            "pthread_join(p, 0);",
            "pthread_mutex_lock(&m); assert(x == 1 || x == 2); pthread_mutex_unlock(&m);",
        );
    let words = ["--check", "assertions"];
    folder.write("a.c", &checked);
    let (verdict, tries) = folder.verify(&words);
    assert_eq!(verdict, "true");
    assert!(tries.iter().all(|(engine, _)| engine != "earlier"), "{tries:?}");
    // Where only lines move, and where code is added that does not run, it is the same program.
    folder.write("a.c", &format!("int unused(void) {{ return 3; }}\n\n{checked}"));
    let (verdict, tries) = folder.verify(&words);
    assert_eq!((verdict.as_str(), tries[0].0.as_str(), tries.len()), ("true", "cache", 1), "{tries:?}");
    // Here it is another one, and the proof still holds.
    folder.write("a.c", &checked.replace("z = 5", "z = 6"));
    let (verdict, tries) = folder.verify(&words);
    assert_eq!((verdict.as_str(), tries[0].0.as_str(), tries.len()), ("true", "earlier", 1), "{tries:?}");
    // The same proof does not hold of another program.
    folder.write("a.c", &checked.replace("x = 2", "x = 3"));
    let (verdict, tries) = folder.verify(&words);
    assert_eq!(verdict, "false(unreach-call)");
    assert!(tries.iter().all(|(engine, _)| engine != "earlier"), "{tries:?}");
    // Nor does the trace.
    folder.write("a.c", &checked);
    assert_eq!(folder.verify(&words).0, "true");
}

#[test]
fn what_is_kept_of_before_needs_no_trust() {
    let folder = Folder::new("forged");
    let (locked, race) = (LOCKED.to_owned(), RACE.to_owned());
    for (text, verdict, other) in [(&locked, "true", &race), (&race, "false(no-data-race)", &locked)] {
        let _ = std::fs::remove_dir_all(folder.path("store"));
        folder.write("a.c", other);
        folder.verify(&["--check", "races"]);
        let before = std::fs::read_to_string(folder.before()).expect("it is there");
        for lie in [before.clone(), before.replace("races", "bounds"), before[..50].to_owned(), String::new()]
        {
            let _ = std::fs::remove_dir_all(folder.path("store"));
            folder.write("a.c", text);
            assert_eq!(folder.verify(&["--check", "races"]).0, verdict);
            std::fs::write(folder.before(), &lie).expect("it can be written");
            folder.write("a.c", &format!("\n{text}"));
            let (said, tries) = folder.verify(&["--check", "races"]);
            assert_eq!(said, verdict);
            assert!(tries.iter().all(|(engine, _)| engine != "earlier"), "{tries:?}");
        }
    }
}

#[test]
fn after_an_edit_what_stays_open_is_searched_for_less() {
    let folder = Folder::new("short");
    let words = ["--check", "races", "--timeout", "2", "--jobs", "1"];
    let is_short = |tries: &[(String, String)]| {
        let of_it: Vec<_> = tries.iter().filter(|(engine, _)| engine == "earlier").collect();
        assert!(of_it.iter().all(|(_, said)| said.contains("run again for more")), "{of_it:?}");
        !of_it.is_empty()
    };
    folder.write("a.c", HARD);
    let (verdict, tries) = folder.verify(&words);
    assert!(verdict.starts_with("unknown(") && !is_short(&tries), "{verdict} {tries:?}");
    // As if that had been a long search.
    let mut before: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.before()).expect("it is there")).expect("JSON");
    before["search"][1] = 6.into();
    std::fs::write(folder.before(), before.to_string()).expect("it can be written");
    folder.write("a.c", &HARD.replace("h == 77", "h == 78"));
    let (verdict, tries) = folder.verify(&words);
    assert!(verdict.starts_with("unknown(") && is_short(&tries), "{verdict} {tries:?}");
    // The same again is no edit, and neither is more time.
    assert!(!is_short(&folder.verify(&words).1));
    // What the edit makes open is searched for as always.
    std::fs::write(folder.before(), before.to_string()).expect("it can be written");
    folder.write("a.c", &HARD.replace("x = 1;", "x = 1, y = 1;").replace("x = 2;", "x = 2; y = 2;"));
    assert!(!is_short(&folder.verify(&words).1));
}
