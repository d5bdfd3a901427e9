//! What is not supported ends the execution there and forbids proofs; the rest of the program is lowered.

use crate::{program, runner};
use ir::semantics::Stuck;

fn reported(text: &str) -> Vec<String> {
    let program = program(text);
    program.assumptions.iter().filter(|a| a.limits_proof).map(|a| a.text.clone()).collect()
}

#[test]
fn constructs_are_named() {
    let cases = [
        ("int main(void) { __int128 x = 1; return (int)x; }", "__int128"),
        ("int main(void) { _Complex double c = 1; return 0; }", "complex"),
        (
            "typedef int v4 __attribute__((vector_size(16))); int main(void) { v4 v = {1}; return v[0]; }",
            "vector",
        ),
        ("int main(void) { asm volatile(\"syscall\" ::: \"memory\"); }", "inline assembly \"syscall\""),
        (
            "void stop(int *p) {} int main(void) { { int x __attribute__((cleanup(stop))) = 1; goto out; } out: return 0; }",
            "cleanup",
        ),
        ("int main(void) { static int n; if (n) main(); }", "a call of 'main'"),
        ("int f(int *); int main(void) { int x; return f(&x); }", "unknown function 'f'"),
    ];
    for (text, expected) in cases {
        let reported = reported(text);
        assert!(reported.iter().any(|text| text.contains(expected)), "{expected}: {reported:?}");
    }
}

#[test]
fn the_execution_ends_there() {
    let text = "int result; int main(void) { result = 1; asm(\"hcf\" ::: \"memory\"); result = 2; }";
    let program = program(text);
    let run = runner::run(&program, 100);
    assert!(matches!(run.ended, runner::Ended::Stuck(Stuck::Blocked, _)));
    assert_eq!(run.global("result", ir::IntType::I32), Some(1));
}

#[test]
fn harmless_assembly_is_known() {
    assert!(reported("int main(void) { asm volatile(\"\" ::: \"memory\"); asm volatile(\"pause\"); asm(\"mfence\" ::: \"memory\"); int x = 1, y; asm(\"\" : \"=r\"(y) : \"0\"(x)); return y; }").is_empty());
}

#[test]
fn what_is_passed_is_read() {
    for call in
        ["f(g)", "printf(\"%d\", g)", "v(1, g)", "({ asm volatile(\"\" : : \"r\"(g)); })", "(void)g", "g"]
    {
        let program = program(&format!(
            "int printf(const char *, ...); int f(int); int g; int v(int n, ...) {{ return n; }} int main(void) {{ {call}; return 0; }}"
        ));
        let edges = program.templates.iter().flat_map(|template| &template.edges);
        let mut loads = 0;
        for expr in edges.flat_map(|edge| &edge.ops).flat_map(|op| op.expressions()) {
            expr.walk(&mut |inner| loads += usize::from(matches!(inner, ir::Expr::Load(_))));
        }
        assert_eq!(loads, 1, "{call}");
    }
}

#[test]
fn assembly_that_names_its_results_is_not_exact() {
    // A counter of time is an input.
    for (instruction, is_unknown) in [("rdpmc", true), ("rdtsc", false)] {
        let text = "int main(void) { int x; asm(\"rdpmc\" : \"=a\"(x) : : \"edx\"); return x; }";
        let program = program(&text.replace("rdpmc", instruction));
        let is_harmless = program.assumptions.iter().all(|assumption| !assumption.limits_proof);
        assert!(is_harmless, "{:?}", program.assumptions);
        assert_eq!(runner::run(&program, 100).unknown, is_unknown, "{instruction}");
    }
}

#[test]
fn arbitrary_pointers_limit_proofs() {
    for text in [
        "int *get(void); int main(void) { return *get(); }",
        "extern int *p; int main(void) { return *p; }",
        "int main(int argc, char **argv, char **environment) { return environment[0][0]; }",
    ] {
        assert!(!reported(text).is_empty(), "{text}");
    }
    assert!(reported("int main(int argc, char **argv) { return argc; }").is_empty());
}

#[test]
fn unknown_functions_without_pointers_change_nothing() {
    let program = program("int f(int); int main(void) { return f(2); }");
    assert_eq!(program.assumptions.len(), 1);
    assert!(!program.assumptions[0].limits_proof);
    assert!(runner::run(&program, 100).unknown);
}

#[test]
fn what_is_not_reached_does_no_harm() {
    assert!(reported("void lost(void) { asm(\"hcf\"); } int main(void) { return 0; }").is_empty());
}

#[test]
fn signed_overflow_and_bad_accesses_end_the_execution() {
    for text in [
        "int main(void) { int x = 2147483647; x++; }",
        "int main(void) { int z = 0; return 1 / z; }",
        "int main(void) { int *p = 0; *p = 1; }",
        "int a[3]; int main(void) { int i = 3; a[i] = 1; }",
        "int main(void) { unsigned n = 32; return 1u << n; }",
    ] {
        let program = program(text);
        let run = runner::run(&program, 100);
        assert!(matches!(run.ended, runner::Ended::Stuck(Stuck::Fault(_), _)), "{text}: {:?}", run.ended);
    }
}
