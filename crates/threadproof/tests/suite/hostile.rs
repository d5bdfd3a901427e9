//! Bad input gets a located error or an honest unknown, soon, and never a crash.

use assert_cmd::Command;

/// The exit status and what was printed, for a file with these bytes. Fails if it crashes, or is not refused.
fn verify(name: &str, bytes: &[u8]) -> (i32, String) {
    let (status, printed) = answer(name, bytes);
    assert!(matches!(status, 2 | 3), "{name}: status {status}: {printed}");
    assert!(
        printed.lines().last().is_some_and(|line| line.starts_with("verdict: unknown(")),
        "{name}: {printed}"
    );
    (status, printed)
}

/// Like [`verify`], for what may also be proved.
fn answer(name: &str, bytes: &[u8]) -> (i32, String) {
    let path = std::env::temp_dir().join(format!("threadproof-hostile-{}-{name}", std::process::id()));
    std::fs::write(&path, bytes).expect("temporary files can be written");
    let mut command = Command::cargo_bin("threadproof").expect("the program is built");
    let output = command.args(["verify", "--timeout", "4"]).arg(&path).output().expect("it runs");
    let _ = std::fs::remove_file(&path);
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    let status = output.status.code().unwrap_or_else(|| panic!("{name}: killed: {printed}"));
    assert!(matches!(status, 0..=3), "{name}: status {status}: {printed}");
    assert!(!printed.contains("panicked"), "{name}: {printed}");
    (status, printed)
}

#[test]
fn truncated_file() {
    let (status, printed) = verify("truncated.c", b"#include <pthread.h>\nint main(void) { if (1) {");
    assert_eq!(status, 3);
    assert!(printed.contains("truncated.c:2:"), "{printed}");
}

#[test]
fn ten_thousand_parentheses() {
    let text = format!("int main(void) {{ return {}1{}; }}", "(".repeat(10_000), ")".repeat(10_000));
    verify("parentheses.c", text.as_bytes());
}

#[test]
fn a_long_sum() {
    let text = format!("int main(void) {{ return 0{}; }}", "+1".repeat(100_000));
    let path = std::env::temp_dir().join(format!("threadproof-hostile-{}-sum.c", std::process::id()));
    std::fs::write(&path, text).expect("temporary files can be written");
    let mut command = Command::cargo_bin("threadproof").expect("the program is built");
    let output = command.args(["verify", "--timeout", "4"]).arg(&path).output().expect("it runs");
    assert!(matches!(output.status.code(), Some(0 | 2 | 3)), "{:?}", output.status);
}

#[test]
fn a_line_of_ten_megabytes() {
    let text = format!("int main(void) {{ return {} }}", "1 + ".repeat(2_500_000));
    verify("line.c", text.as_bytes());
}

#[test]
fn binary_garbage() {
    let mut random = testkit::random::Random::new(1);
    let bytes: Vec<u8> = (0..100_000).map(|_| random.bits() as u8).collect();
    assert_eq!(verify("garbage.c", &bytes).0, 3);
}

#[test]
fn empty_file() {
    assert_eq!(verify("empty.c", b"").0, 3);
}

#[test]
fn missing_include() {
    let (status, printed) =
        verify("include.c", b"#include \"no-such-header.h\"\nint main(void) { return 0; }");
    assert_eq!(status, 3);
    assert!(printed.contains("include.c:1:") && printed.contains("no-such-header.h"), "{printed}");
}

#[test]
fn unknown_type() {
    let (status, printed) = verify("type.c", b"int main(void) {\n  strange x;\n  return 0;\n}");
    assert_eq!(status, 3);
    assert!(printed.contains("type.c:2:"), "{printed}");
}

#[test]
fn duplicate_definitions() {
    let (status, printed) = verify(
        "twice.c",
        b"int f(void) { return 1; }\nint f(void) { return 2; }\nint main(void) { return f(); }",
    );
    assert_eq!(status, 3);
    assert!(printed.contains("twice.c:2:"), "{printed}");
}

#[test]
fn two_mains() {
    let folder = std::env::temp_dir();
    let files: Vec<_> = ["one", "two"]
        .map(|name| folder.join(format!("threadproof-hostile-{}-main-{name}.c", std::process::id())))
        .into_iter()
        .collect();
    for file in &files {
        std::fs::write(file, "int main(void) { return 0; }").expect("temporary files can be written");
    }
    let mut command = Command::cargo_bin("threadproof").expect("the program is built");
    let output = command.arg("verify").args(&files).output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(errors.contains("main-two.c:1:") && errors.contains("main"), "{errors}");
}

#[test]
fn recursion_without_end() {
    let text = "extern void reach_error(void); int f(unsigned x) { return f(x + 1) + 1; }\nint main(void) { if (f(0)) reach_error(); return 0; }";
    answer("recursion.c", text.as_bytes());
}

#[test]
fn an_array_of_two_gigabytes() {
    let body = "a[1] = 1; if (a[0]) reach_error(); return 0; }";
    answer(
        "array.c",
        format!("extern void reach_error(void); char a[2000000000];\nint main(void) {{ {body}").as_bytes(),
    );
    answer(
        "stack.c",
        format!("extern void reach_error(void); int main(void) {{ char a[2000000000]; {body}").as_bytes(),
    );
}

/// Runs a large program that cannot be decided in the time; says what was printed.
fn large(name: &str, text: &str, more: &[&str]) -> String {
    let path = std::env::temp_dir().join(format!("threadproof-hostile-{}-{name}.c", std::process::id()));
    std::fs::write(&path, text).expect("temporary files can be written");
    let mut command = Command::cargo_bin("threadproof").expect("the program is built");
    command.args(["verify", "--engine", "flow", "--check", "races"]).args(more).arg(&path);
    let output = command.output().expect("it runs");
    let _ = std::fs::remove_file(&path);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(2), "{name}: {printed}");
    printed
}

/// A thread that is started and also called, after some declarations.
fn with_thread(declarations: &str, body: &str) -> String {
    format!(
        "#include <pthread.h>\n{declarations}\nvoid *run(void *a) {{ {body} return 0; }}\n\
         int main(void) {{ pthread_t t; pthread_create(&t, 0, run, 0); run(0); return 0; }}\n"
    )
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn large_programs_end_in_time() {
    const N: usize = 600;
    let node = "struct node { struct node *next, *prev; int *data; };";
    let nodes = lines(N, |i| format!("struct node n{i}; int d{i};"));
    let link = lines(N, |i| {
        let other = i * 7 % N;
        format!(
            "struct node *f{i}(struct node *p, struct node **q) {{ p->next = &n{i}; n{i}.prev = p; p->data = &d{i}; \
             *q = p->next->prev; p->next->next = &n{other}; *p->data = {i}; return p->next->prev->next; }}"
        )
    });
    let walk = lines(N, |i| format!("p = f{i}(p, &q); q = f{}(q, &p);", i * 13 % N));
    let pointers =
        with_thread(&format!("{node}\n{nodes}\n{link}"), &format!("struct node *p = &n0, *q = &n1; {walk}"));
    let twice = lines(40, |i| match i {
        0 => "int g; void f0(void) { g++; }".to_owned(),
        _ => format!("void f{i}(void) {{ f{0}(); if (g > {i}) f{0}(); }}", i - 1),
    });
    let calls = with_thread(&twice, "f39();");
    let functions =
        lines(N, |i| format!("void f{i}(int *p) {{ g[{i}] = *p; if (g[{}] > 5) *p = g[{i}]; }}", i * 3 % N));
    let names: Vec<String> = (0..N).map(|i| format!("f{i}")).collect();
    let table = with_thread(
        &format!("int g[{N}];\n{functions}\nvoid (*table[])(int *) = {{ {} }};", names.join(", ")),
        &format!("for (int i = 0; i < {N}; i++) for (int j = 0; j < {N}; j++) table[i ^ j](&g[j]);"),
    );
    let steps = lines(10_000, |i| format!("if (x[{}] > {i}) x[{}] = x[{}];", i % 50, i * 7 % 50, i * 3 % 50));
    let long = with_thread("int x[50];", &steps);
    for (name, text) in [("pointers", &pointers), ("calls", &calls), ("table", &table), ("long", &long)] {
        let printed = large(name, text, &["--timeout", "1"]);
        assert!(printed.contains("verdict: unknown("), "{name}: {printed}");
    }
    let printed = large("memory", &long, &["--timeout", "1000", "--memory", "30"]);
    assert!(printed.contains("verdict: unknown(out of memory"), "{printed}");
}
