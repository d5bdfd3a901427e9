//! Plans, folders and task definitions, and what is wrong with them.

use super::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// Knows the options `failures` and `engine`.
struct Few;

impl Verifier for Few {
    fn option(
        &self,
        (path, text): (&Path, &str),
        key: &Spanned<DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<OsString>, Vec<Diagnostic>> {
        let problem = |at, message: &str| vec![Diagnostic::at(path, place(text, at), Kind::Text, message)];
        match (&**key.get_ref(), value.get_ref()) {
            ("failures", DeValue::Boolean(_)) => Ok(vec!["--failures".into()]),
            ("engine", DeValue::String(name)) => Ok(vec![word("engine", &**name)]),
            ("engine", _) => Err(problem(value.span().start, "no engine")),
            _ => Err(problem(key.span().start, "no option")),
        }
    }

    fn accepts(&self, words: &[OsString]) -> Result<bool, String> {
        let has = |text: &str| words.iter().any(|word| word == text);
        if has("--engine=none") {
            Err("there is no such engine".to_owned())
        } else {
            Ok(!has("--engine=odd"))
        }
    }
}

/// A folder of files, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("threadproof-plan-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder can be made");
            std::fs::write(path, text).expect("a file can be written");
        }
        Self(folder)
    }

    /// The jobs, a line for each, or the problems.
    fn read(&self, name: &str, given: &Given) -> Result<Vec<String>, Vec<String>> {
        let hide = |text: String| text.replace(&format!("{}/", self.0.display()), "@/");
        let line = |job: &Job| {
            let words: Vec<String> =
                job.words().iter().map(|word| word.to_string_lossy().into_owned()).collect();
            let expected = job.expected.as_ref().map_or(String::new(), |expected| format!(" = {expected}"));
            let cache = if job.is_cacheable { "" } else { " (no cache)" };
            hide(format!("{}: {}{expected}{cache}", job.name, words.join(" ")))
        };
        match read(&self.0.join(name), given, &Few) {
            Ok(plan) => Ok(plan.jobs.iter().map(line).collect()),
            Err(problems) => Err(problems.iter().map(|problem| hide(problem.to_string())).collect()),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_folder_of_programs() {
    let folder =
        Folder::new(&[("b.c", ""), ("a.c", ""), ("sub/p.bp", ""), ("sub/notes.txt", ""), ("x.yml", "a: 1")]);
    assert_eq!(
        folder.read("", &Given::default()).unwrap(),
        [
            "a.c: --check=assertions --timeout=60 --memory=4000 -- @/a.c",
            "a.c: --check=races --timeout=60 --memory=4000 -- @/a.c",
            "b.c: --check=assertions --timeout=60 --memory=4000 -- @/b.c",
            "b.c: --check=races --timeout=60 --memory=4000 -- @/b.c",
            "sub/p.bp: --check=assertions --timeout=60 --memory=4000 -- @/sub/p.bp",
        ]
    );
    let given = Given { checks: vec!["bounds".to_owned()], seconds: Some(2.0), ..Given::default() };
    assert_eq!(folder.read("", &given).unwrap()[0], "a.c: --check=bounds --timeout=2 --memory=4000 -- @/a.c");
}

const DEFINITION: &str = "format_version: '2.0'
input_files: 'a.i'
properties:
  - property_file: ../p/no-data-race.prp
    expected_verdict: true
  - property_file: ../p/valid-memsafety.prp
    expected_verdict: false
    subproperty: valid-deref
  - property_file: ../p/coverage-branches.prp
options:
  language: C
  data_model: ILP32
";

#[test]
fn task_definitions() {
    let folder = Folder::new(&[("t/a.yml", DEFINITION), ("t/a.i", ""), ("t/alone.c", "")]);
    let rest = "--timeout=60 --memory=4000 --data-model=ILP32 -- @/t/a.i";
    let race = format!("a.yml: --property=@/t/../p/no-data-race.prp {rest} = true");
    let memory = format!("a.yml: --property=@/t/../p/valid-memsafety.prp {rest} = false(valid-deref)");
    assert_eq!(folder.read("t", &Given::default()).unwrap(), [race.clone(), memory]);
    let of = |given: Given| folder.read("t", &given).unwrap();
    assert_eq!(of(Given { properties: vec!["no-data-race".into()], ..Given::default() }), [race]);
    assert_eq!(
        of(Given {
            checks: vec!["races".to_owned()],
            data_model: Some("LP64".to_owned()),
            ..Given::default()
        }),
        ["a.yml: --check=races --timeout=60 --memory=4000 --data-model=LP64 -- @/t/a.i"]
    );
    let none = folder.read("t", &Given { properties: vec!["termination".into()], ..Given::default() });
    assert!(none.unwrap_err()[0].contains("there is nothing to verify in it"));
}

#[test]
fn plans() {
    let plan = "timeout = 5\nengine = 'flow'\n\n[[task]]\nfiles = ['src/*.c', 't/a.yml']\nproperty = 'no-data-race.prp'\n\
        \n[[task]]\nname = 'both'\nprogram = 'src/*.c'\ncheck = ['races', 'bounds']\nexpected = { races = false }\n\
        engine = 'odd'\nfailures = true\ntimeout = 2.5\n";
    let files =
        [("plan.toml", plan), ("src/a.c", ""), ("src/b.c", ""), ("t/a.yml", DEFINITION), ("t/a.i", "")];
    let folder = Folder::new(&files);
    let common = "--property=@/no-data-race.prp --timeout=5 --memory=4000 --engine=flow";
    let own = "--timeout=2.5 --memory=4000 --engine=odd --failures -- @/src/a.c @/src/b.c";
    let of_definition = "--timeout=5 --memory=4000 --data-model=ILP32 --engine=flow -- @/t/a.i";
    assert_eq!(
        folder.read("plan.toml", &Given::default()).unwrap(),
        [
            format!("src/a.c: {common} -- @/src/a.c"),
            format!("src/b.c: {common} -- @/src/b.c"),
            format!("t/a.yml: --property=@/t/../p/no-data-race.prp {of_definition} = true"),
            format!("both: --check=races {own} = false (no cache)"),
            format!("both: --check=bounds {own} (no cache)"),
        ]
    );
    // The command line counts.
    let given = Given {
        checks: vec!["races".to_owned()],
        seconds: Some(1.0),
        options: vec![("engine".to_owned(), vec!["--engine=horn".into()])],
        ..Given::default()
    };
    assert_eq!(
        folder.read("plan.toml", &given).unwrap()[0],
        "src/a.c: --check=races --timeout=1 --memory=4000 --engine=horn -- @/src/a.c"
    );
}

#[test]
fn the_same_job_is_done_once() {
    let plan = "[[task]]\nfiles = ['a.c', '*.c']\n[[task]]\nfiles = 'a.c'\ncheck = 'races'\n";
    let folder = Folder::new(&[("plan.toml", plan), ("a.c", "")]);
    assert_eq!(folder.read("plan.toml", &Given::default()).unwrap().len(), 2);
}

#[test]
fn mistakes_have_a_place() {
    for (text, message) in [
        ("[[task]]\nfiles = 'no.c'\n", "@/plan.toml:2:9: error: there is no file `@/no.c`"),
        ("[[task]]\nfiles = '*.h'\n", "@/plan.toml:2:9: error: no file matches `@/*.h`"),
        ("[[task]]\nname = 'x'\n", "@/plan.toml:1:1: error: this task has neither `files` nor `program`"),
        ("task = 3\n", "@/plan.toml:1:8: error: begin each task by `[[task]]`"),
        ("files = 'a.c'\n", "@/plan.toml:1:1: error: `files` belongs into a task: write `[[task]]` above it"),
        ("timeout = 'x'\n", "@/plan.toml:1:11: error: `timeout` is a number, such as 60"),
        (
            "timeout = nan\n[[task]]\nfiles = 'a.c'\n",
            "@/plan.toml: error: the limit of time is no number; give seconds, such as 60",
        ),
        ("weather = 1\n", "@/plan.toml:1:1: error: no option"),
        ("[[task]]\nfiles = 'a.c'\nengine = 1\n", "@/plan.toml:3:10: error: no engine"),
        ("[[task]]\nfiles = 3\n", "@/plan.toml:2:9: error: `files` is a text and not of type integer"),
        (
            "[[task]]\nfiles = 'a.c'\nexpected = 'yes'\n",
            "@/plan.toml:3:12: error: an expected verdict is true, false or \"false(PROPERTY)\"",
        ),
        ("[[task]]\nfiles = 'a.c'\nengine = 'none'\n", "@/plan.toml: error: a.c: there is no such engine"),
        ("", "@/plan.toml: error: there is nothing to verify in it; write `[[task]]` with `files`"),
    ] {
        let folder = Folder::new(&[("plan.toml", text), ("a.c", "")]);
        assert_eq!(folder.read("plan.toml", &Given::default()).unwrap_err(), [message], "{text}");
    }
    let folder = Folder::new(&[("plan.toml", "[[task]\n"), ("t/a.yml", "input_files: [\n"), ("u/a.c", "")]);
    let problems = folder.read("plan.toml", &Given::default()).unwrap_err();
    assert!(problems[0].starts_with("@/plan.toml:1:"), "{problems:?}");
    let problems = folder.read("t", &Given::default()).unwrap_err();
    assert!(problems[0].starts_with("@/t/a.yml:"), "{problems:?}");
    let problems = folder.read("none", &Given::default()).unwrap_err();
    assert!(problems[0].contains("check the path"), "{problems:?}");
}
