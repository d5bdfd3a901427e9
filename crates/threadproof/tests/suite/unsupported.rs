//! What is not supported, or not modelled, makes the verdict unknown and is named, with its line; it never
//! becomes a proof.

use assert_cmd::Command;

/// A program, as what follows the declarations on its first line; a part of the reason that names the
/// construct, and its line. In each of them the error may be reached, as far as is known without a meaning
/// for the construct.
const PROGRAMS: [(&str, &str, &str, u32); 25] = [
    (
        "a device",
        "int main(void) {\n  *(volatile unsigned *)0x40021000 = 1;\n  reach_error(); return 0; }",
        "fixed address 0x40021000",
        3,
    ),
    (
        "threads of OpenMP",
        "int main(void) {\n  int y = 0;\n  #pragma omp parallel for\n  for (int i = 0; i < 9; i++) y += i;\n  if (y != 36) reach_error(); return 0; }",
        "OpenMP is not supported",
        4,
    ),
    (
        "a variable changed and used",
        "int main(void) {\n  int i = 1;\n  i = i++ + 1;\n  if (i == 77) reach_error(); return 0; }",
        "'i' is changed and used in one expression",
        4,
    ),
    (
        "parts of operands in between",
        "int next(void) { return ++x; }\nint main(void) {\n  int y = (next(), next()) - next();\n  if (y == 77) reach_error(); return 0; }",
        "not all orders",
        4,
    ),
    (
        "a variable of another file",
        "extern int other; void strange(void);\nint main(void) {\n  other = 1; strange();\n  if (other == 77) reach_error(); return 0; }",
        "unknown function 'strange'",
        4,
    ),
    (
        "an address as a number",
        "static int y; void strange(long);\nint main(void) {\n  strange((long)&y);\n  if (y == 77) reach_error(); return 0; }",
        "unknown function 'strange'",
        4,
    ),
    (
        "a function that is chosen when the program is loaded",
        "static int found(void) { return 77; }\nstatic void *choose(void) { return found; }\nint chosen(void) __attribute__((ifunc(\"choose\")));\nint main(void) {\n  if (chosen() == 77) reach_error(); return 0; }",
        "chosen when the program is loaded",
        6,
    ),
    (
        "a null pointer on every path",
        "int main(void) {\n  int *p = 0;\n  *p = 1;\n  reach_error(); return 0; }",
        "not proved",
        5,
    ),
    (
        "a division by zero on every path",
        "int main(void) {\n  int zero = 0;\n  x = 1 / zero;\n  if (x < 2) reach_error(); return 0; }",
        "every execution ends in undefined behaviour",
        4,
    ),
    (
        "a thread that always faults",
        "#include <pthread.h>\nvoid *run(void *a) {\n  if (*(int *)a) reach_error(); return 0; }\nint main(void) {\n  pthread_t t; pthread_create(&t, 0, run, 0);\n  pthread_join(t, 0); return 0; }",
        "every execution ends in undefined behaviour",
        4,
    ),
    (
        "int128",
        "int main(void) {\n  __int128 a = 1; a = a << 70; x = (int)(a >> 64);\n  if (x == 64) reach_error(); return 0; }",
        "__int128",
        3,
    ),
    (
        "assembly to memory",
        "int main(void) {\n  __asm__ volatile (\"movl $77, %0\" : \"=m\"(x));\n  if (x == 77) reach_error(); return 0; }",
        "inline assembly",
        3,
    ),
    (
        "assembly with a memory clobber",
        "int main(void) {\n  __asm__ volatile (\"syscall\" : : \"r\"(&x) : \"memory\");\n  if (x == 77) reach_error(); return 0; }",
        "inline assembly",
        3,
    ),
    (
        "assembly to a register",
        "int main(void) {\n  int y; __asm__ (\"movl $77, %0\" : \"=r\"(y));\n  if (y == 77) reach_error(); return 0; }",
        "values are not modelled",
        3,
    ),
    (
        "an unknown function with a pointer",
        "extern void strange(int *);\nint main(void) {\n  strange(&x);\n  if (x == 77) reach_error(); return 0; }",
        "unknown function 'strange'",
        4,
    ),
    (
        "an unknown function that returns a pointer",
        "extern int *strange(void);\nint main(void) {\n  *strange() = 77;\n  if (x == 77) reach_error(); return 0; }",
        "unknown function 'strange'",
        4,
    ),
    (
        "an unknown function that is given a function",
        "void set(void) { x = 77; }\nextern void strange(void (*)(void));\nint main(void) {\n  strange(set);\n  if (x == 77) reach_error(); return 0; }",
        "unknown function 'strange'",
        5,
    ),
    (
        "an unknown function in a table",
        "extern void strange(int *);\nstruct table { void (*change)(int *); } table = { strange };\nint main(void) {\n  table.change(&x);\n  if (x == 77) reach_error(); return 0; }",
        "unknown function 'strange'",
        2,
    ),
    (
        "the result of an unknown function",
        "extern int strange(void);\nint main(void) {\n  x = strange();\n  if (x == 77) reach_error(); return 0; }",
        "unknown function 'strange'",
        4,
    ),
    (
        "setjmp",
        "#include <setjmp.h>\njmp_buf buffer;\nint main(void) {\n  if (setjmp(buffer)) reach_error();\n  longjmp(buffer, 1); }",
        "setjmp",
        5,
    ),
    (
        "a complex number",
        "int main(void) {\n  _Complex double c = 77.0; x = (int)__real__ c;\n  if (x == 77) reach_error(); return 0; }",
        "complex number",
        3,
    ),
    (
        "a vector",
        "typedef int four __attribute__((vector_size(16)));\nint main(void) {\n  four a = {1, 77, 3, 4}; x = a[1];\n  if (x == 77) reach_error(); return 0; }",
        "vector",
        4,
    ),
    (
        "a signal handler",
        "#include <signal.h>\nvoid handler(int s) { x = 77; }\nint main(void) {\n  signal(SIGINT, handler);\n  if (x == 77) reach_error(); return 0; }",
        "signal",
        5,
    ),
    (
        "pthread_cancel",
        "#include <pthread.h>\nvoid *run(void *a) { return a; }\nint main(void) {\n  pthread_t t; void *r; pthread_create(&t, 0, run, 0);\n  pthread_cancel(t);\n  pthread_join(t, &r); if (r == PTHREAD_CANCELED) reach_error(); return 0; }",
        "pthread_cancel",
        6,
    ),
    (
        "a comparison function",
        "#include <stdlib.h>\nint a[3]; int compare(const void *p, const void *q, void *r) { x = 77; return 0; }\nvoid qsort_r(void *, unsigned long, unsigned long, int (*)(const void *, const void *, void *), void *);\nint main(void) {\n  qsort_r(a, 3, 4, compare, 0);\n  if (x == 77) reach_error(); return 0; }",
        "qsort_r",
        6,
    ),
];

#[test]
fn what_is_not_supported_is_named() {
    let mut failures = Vec::new();
    for (name, text, construct, line) in PROGRAMS {
        let file = std::env::temp_dir().join(format!(
            "threadproof-unsupported-{}-{}.c",
            std::process::id(),
            name.replace(' ', "-")
        ));
        let text = format!("extern void reach_error(void); int x;\n{text}\n");
        std::fs::write(&file, text).expect("temporary files can be written");
        let mut command = Command::cargo_bin("threadproof").expect("the program is built");
        command.args(["verify", "--engine", "flow", "--check", "assertions"]).arg(&file);
        let output = command.output().expect("it runs");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let verdict = printed.lines().last().unwrap_or_default();
        let at = [format!("line {line}:"), format!(".c:{line}")];
        let is_named = verdict.starts_with("verdict: unknown(")
            && verdict.contains(construct)
            && at.iter().any(|at| verdict.contains(at));
        if output.status.code() != Some(2) || !is_named {
            failures.push(format!("{name}, line {line}: {printed}"));
        }
        let mut command = Command::cargo_bin("threadproof").expect("the program is built");
        command.args(["verify", "--check", "assertions", "--timeout", "20"]).arg(&file);
        let output = command.output().expect("it runs");
        if output.status.code() == Some(0) {
            failures.push(format!("{name}: {}", String::from_utf8_lossy(&output.stdout)));
        }
        let _ = std::fs::remove_file(&file);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
