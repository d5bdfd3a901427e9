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

/// Which shared memory locations are open in a program.
fn open(text: &str) -> Vec<String> {
    let source = frontend_c::Source { name: "functions.c".to_owned(), text: text.as_bytes().to_vec() };
    let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect(text);
    assert!(program.assumptions.iter().any(|assumption| assumption.limits_proof), "{text}");
    let prepared = portfolio::pipeline::prepare(&program, Check::Races);
    let task = verdict::Task { program: &prepared, property: &verdict::Property::NoRace };
    let listed = portfolio::shared_memory::by_summaries(task, &Budget::steps_for(60.0)).expect(text);
    let memory = report::SharedMemory::of(&prepared, &listed.locations, None);
    let open = memory.locations.iter().filter(|found| found.status.name() == "open");
    open.map(|found| found.name.clone()).collect()
}

/// The program: `keep` was given the address of `kept`, which one thread writes while another one reads what
/// `f` gives.
fn kept(prototype: &str, read: &str, more: &str) -> String {
    format!(
        "#include <pthread.h>
#include <stdlib.h>
#include <stdarg.h>
struct hidden; struct plain {{ int n; }};
void keep(void *); {prototype}
static int kept; static char text[9]; {more}
static void *w(void *a) {{ static int sum; sum += {read}; return 0; }}
int main(void) {{ pthread_t t; keep(&kept); pthread_create(&t, 0, w, 0); kept = 1; text[1] = 2; return 0; }}
"
    )
}

#[test]
fn texts_of_unknown_functions_are_their_own_or_were_passed() {
    for (prototype, read) in [
        ("const char *f(int);", "f(3)[0]"),
        ("char *f(int);", "f(3)[0]"),
        ("const unsigned *f(void);", "f()[0]"),
        ("const char *f(struct hidden *, long *);", "f(0, (long[1]){7})[0]"),
    ] {
        let found = open(&kept(prototype, read, ""));
        assert!(found.is_empty(), "{prototype}: {found:?}");
    }
    for (prototype, read, expected) in [
        // It was passed, and is moved.
        ("char *f(const char *);", "f(text)[0]", "text[]"),
        ("char *f(const char *);", "f(text + 5)[0]", "text[]"),
        ("char *f(char **);", "f(0)[0]", "kept"),
        ("char *f(void *);", "f(malloc(1))[0]", "kept"),
        ("char *f(struct plain *);", "f(0)[0]", "kept"),
        ("int *f(void);", "f()[0]", "kept"),
        ("unsigned char *f(void);", "f()[0]", "kept"),
        ("const void *f(void);", "*(char *)f()", "kept"),
        ("char **f(void);", "f()[0][0]", "kept"),
        ("char *const *f(void);", "f()[0][0]", "kept"),
    ] {
        let found = open(&kept(prototype, read, ""));
        assert!(found.iter().any(|name| name.starts_with(expected)), "{prototype}: {found:?}");
    }
}

#[test]
fn structures_of_unknown_functions_are_their_own_if_the_program_has_none() {
    let prototype = "struct s { int n; }; struct s *f(void);";
    for more in [
        "",
        "void g(struct s *); void use(void) { struct s *p = 0; p = f(); g(p); keep(p); }",
        "struct t { struct s *next; } t; void use(void) { t.next = f(); free(t.next); }",
    ] {
        let found = open(&kept(prototype, "f()->n", more));
        assert!(found.is_empty(), "{more}: {found:?}");
    }
    for more in [
        "struct s own;",
        "struct s own[3];",
        "struct t { int m; struct s s; }; struct s *use(struct t *t) { return &t->s; }",
        "struct t { int m; struct s s; } t = { 1, { 2 } };",
        "struct t { int m; struct { struct s s[2]; } u; }; void use(void *p) { struct t *t = p; keep(t); }",
        "struct s *use(void) { return malloc(sizeof(struct s)); }",
        "void use(struct plain *p) { struct s *s = (struct s *)p; keep(s); }",
        "struct s *p = (struct s *)&kept;",
        "struct s *p = &(struct s){ 3 };",
        "void get(void **); void use(void) { struct s *p; get((void **)&p); }",
        "struct s *use(unsigned long n) { return (struct s *)n; }",
        "void g(struct s *p) { keep(p); } void (*h)(void *) = (void (*)(void *))g;",
        "struct s *use(int n, ...) { va_list l; va_start(l, n); return va_arg(l, struct s *); }",
        "void use(struct s *p, struct s *q) { *p = *q; }",
    ] {
        let found = open(&kept(prototype, "f()->n", more));
        assert_eq!(found, ["kept"], "{more}");
    }
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
