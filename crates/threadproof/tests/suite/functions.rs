//! Functions that no file defines: what users say of them counts, and nothing else is taken for granted.

use assert_cmd::Command;
use verdict::{Budget, Check};

/// The verdict on a program whose function `f` has a class, if any.
fn verdict(class: Option<&str>, text: &str, engine: &dyn verdict::Engine) -> checker::Checked {
    let source = frontend_c::Source { name: "functions.c".to_owned(), text: text.as_bytes().to_vec() };
    let functions =
        class.map(|class| ("f".to_owned(), class.parse().expect(class))).into_iter().collect::<Vec<_>>();
    let options = frontend_c::Options { functions, ..frontend_c::Options::default() };
    let program = frontend_c::read(&[source], &options).expect(text);
    if let Some(class) = class {
        let note = format!("function 'f' is taken to be \"{class}\", as threadproof.toml says");
        assert!(program.assumptions.iter().any(|assumption| assumption.text == note), "{class}");
    }
    let budget = Budget::steps_for(60.0);
    portfolio::pipeline::verify(&program, Check::Races, engine, &budget, &verdict::Silent).verdict
}

/// A prototype of `f`, what one thread does, and what another one does meanwhile.
fn program(prototype: &str, one: &str, other: &str) -> String {
    format!(
        "#include <pthread.h>
{prototype}
int x; struct pair {{ int a, b; }} p; static char text[9];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void plain(int *n) {{ (*n)++; }}
static void locked(int *n) {{ pthread_mutex_lock(&m); (*n)++; pthread_mutex_unlock(&m); }}
static void *w(void *a) {{ {other} return 0; }}
int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); {one} return 0; }}
"
    )
}

#[test]
fn classes_carry_proofs() {
    for (class, prototype, one, other) in [
        ("pure", "int f(int);", "int r = f(3); (void)r;", "x = 1;"),
        ("reads", "int f(const char *);", "f(text);", "x = text[0];"),
        ("writes(1)", "int f(struct pair *);", "f(&p);", "x = 1;"),
        ("allocates", "char *f(int);", "char *c = f(2); if (c) c[0] = 1;", "x = 1;"),
        ("calls(1)", "void f(void (*)(int *), int *);", "f(locked, &x);", "locked(&x);"),
        ("ends", "void f(void);", "f(); x = 2;", "x = 1;"),
    ] {
        let text = program(prototype, one, other);
        let found = verdict(Some(class), &text, &engine_flow::Flow);
        assert!(matches!(found, checker::Checked::Proved(_)), "{class}: {found:?}");
        // Without it there is no proof.
        let found = verdict(None, &text, &engine_flow::Flow);
        assert!(!matches!(found, checker::Checked::Proved(_)), "{class}");
    }
}

#[test]
fn classes_hide_no_race() {
    for (class, prototype, one, other) in [
        ("pure", "int f(int);", "x = f(3);", "x = 1;"),
        ("reads", "int f(const char *);", "f(text);", "text[0] = 1;"),
        ("writes(1)", "int f(struct pair *);", "f(&p);", "x = p.b;"),
        ("calls(1)", "void f(void (*)(int *), int *);", "f(plain, &x);", "x = 1;"),
    ] {
        let text = program(prototype, one, other);
        let found = verdict(Some(class), &text, &engine_explicit::Explicit::default());
        assert!(matches!(found, checker::Checked::Refuted(_)), "{class}: {found:?}");
        let found = verdict(Some(class), &text, &engine_flow::Flow);
        assert!(!matches!(found, checker::Checked::Proved(_)), "{class}");
    }
    // What is after an object may be written as well, which is no evidence.
    let text = program("void f(void *);", "f(&p);", "x = p.b;");
    let found = verdict(Some("writes(1)"), &text, &engine_flow::Flow);
    assert!(!matches!(found, checker::Checked::Proved(_)));
}

#[test]
fn arguments_that_are_not_there_are_mistakes() {
    let source = frontend_c::Source {
        name: "functions.c".to_owned(),
        text: b"int f(int *);\nint main(void) { int x; return f(&x); }\n".to_vec(),
    };
    let functions = vec![("f".to_owned(), "writes(2)".parse().expect("a class"))];
    let options = frontend_c::Options { functions, ..frontend_c::Options::default() };
    let problems = frontend_c::read(&[source], &options).expect_err("there is no second argument");
    let message = problems[0].to_string();
    assert!(message.contains("functions.c:1:") && message.contains("names argument 2"), "{message}");
}

#[test]
fn a_draft_names_unknown_functions() {
    let folder = std::env::temp_dir().join(format!("threadproof-functions-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let file = folder.join("a.c");
    let text = "#include <stdio.h>
void log_msg(const char *, ...); char *make(int); int each(void (*)(int), int *); void die(void) __attribute__((noreturn));
static void visit(int x) { }
int main(void) { int n; printf(\"x\"); log_msg(\"x\"); make(3); each(visit, &n); if (n) die(); return 0; }
";
    std::fs::write(&file, text).expect("a file can be written");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadproof"));
        command.current_dir(&folder).args(arguments);
        String::from_utf8(command.output().expect("it runs").stdout).expect("text")
    };
    let draft = run(&["draft", "--functions", "a.c"]);
    for line in [
        "[functions]\n",
        "# die = \"ends\"",
        "# each = \"calls(1), writes(2)\"",
        "# log_msg = \"reads\"",
        "# make = \"allocates\"",
        "called in a.c:4",
    ] {
        assert!(draft.contains(line), "{draft}");
    }
    assert!(!draft.contains("printf"), "{draft}");
    // As a section without its comments, nothing is unknown any more.
    let section: String = draft
        .lines()
        .map(|line| line.strip_prefix("# ").filter(|rest| rest.contains(" = ")).unwrap_or(line))
        .fold(String::new(), |text, line| text + line + "\n");
    std::fs::write(folder.join("threadproof.toml"), section).expect("a file can be written");
    let draft = run(&["draft", "--functions", "a.c"]);
    assert!(draft.contains("has a definition or a model"), "{draft}");
    let report = run(&["verify", "--check", "races", "a.c"]);
    assert!(report.contains("as threadproof.toml says") && report.contains("verdict: true"), "{report}");
    std::fs::remove_dir_all(&folder).expect("it is there");
}
