//! Control flow.

use crate::{check, program, runner};
use ir::{IntType, LocationKind};

#[test]
fn switches() {
    check(
        "int nested(int x) { switch (x) { int y; case 1: y = 3; switch (y) { case 3: x += 100; default: x++; } break; default: y = 7; x += y; case 5 ... 8: x *= 2; } return x; }
        int duff(int n) { int c = 0; switch (n % 4) { case 0: do { c += 1; case 3: c += 10; case 2: c += 100; case 1: c += 1000; } while ((n -= 4) > 0); } return c; }
        int main(void) {
            expect(nested(1) == 102); expect(nested(0) == 14); expect(nested(5) == 10); expect(nested(8) == 16); expect(nested(9) == 32);
            expect(duff(1) == 1000); expect(duff(3) == 1110); expect(duff(4) == 1111); expect(duff(6) == 2211);
            switch (3) { case 1: expect(0); } switch (2) { default: ; } long long big = 1LL << 33; switch (big) { case 0: expect(0); }
        }",
    );
}

#[test]
fn a_switch_with_many_cases() {
    let cases: String = (0..200).map(|i| format!("case {i}: return {i} * 3;\n")).collect();
    check(&format!(
        "int f(int x) {{ switch (x) {{ {cases} }} return -1; }}
        int main(void) {{ expect(f(0) == 0); expect(f(199) == 597); expect(f(200) == -1); }}"
    ));
}

#[test]
fn loops_and_jumps() {
    check(
        "int loops(void) { int s = 0; goto in; while (s < 100) { s += 7; in: s += 1; if (s % 5 == 0) continue; if (s > 60) break; } do { s++; } while (s % 11); for (;;) { if (s++ > 90) break; } return s; }
        int back(void) { int n = 0; again: if (n++ < 3) goto again; return n; }
        int dead(void) { return 1; while (1) { later: return 2; } }
        int skip(int x) { if (x) goto over; { int y = 5; over: y = 6; return y; } }
        int main(void) { expect(loops() == 92); expect(back() == 4); expect(dead() == 1); expect(skip(0) == 6 && skip(1) == 6); }",
    );
}

#[test]
fn function_pointers_and_recursion() {
    check(
        "typedef int (*fn)(int, int); int add(int a, int b) { return a + b; } int sub(int a, int b) { return a - b; }
        fn table[] = { add, sub, &add }; int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
        int knr(a, b) char a; short b; { return a * 1000 + b; }
        int main(void) {
            expect(table[1](40, 2) == 38); expect((*table[0])(1, 2) == 3); expect((**table[2])(5, 6) == 11);
            fn f = 0; expect(!f); f = add; expect(f == add && f != sub); expect((f ? f : sub)(3, 4) == 7);
            expect(fact(10) == 3628800); expect(knr(300, 70000) == 44 * 1000 + 4464);
        }",
    );
}

#[test]
fn computed_gotos() {
    check(
        "int run(int n) {
            static void *table[] = { &&add, &&twice, &&done };
            const char program[] = { 0, 1, 0, 1, 1, 2 }; int at = 0, x = n;
            goto *table[program[at++]];
            add: x++; goto *table[program[at++]];
            twice: x *= 2; goto *table[program[at++]];
            done: return x;
        }
        int main(void) { expect(run(1) == 20); void *p = &&l; goto *p; expect(0); l: return 0; }",
    );
}

#[test]
fn returning_from_main_ends_the_program() {
    let program = program("int main(void) { return 3; }");
    let main = &program.templates[program.start[0].0];
    assert!(main.locations.iter().any(|location| location.kind == LocationKind::Halt));
    assert!(runner::run(&program, 10).state.halted);
}

#[test]
fn what_main_cannot_reach_is_left_out() {
    let program = program("int unused; void lost(void) { unused = 1; } int main(void) { return 0; }");
    assert_eq!(program.templates.len(), 1);
    assert!(program.objects.is_empty());
}

#[test]
fn constructors_run_first() {
    let program = program(
        "int result; __attribute__((constructor)) void set(void) { result = 4; } int main(void) { result *= 2; }",
    );
    assert_eq!(runner::run(&program, 100).global("result", IntType::I32), Some(8));
}

#[test]
fn deep_expressions_are_cut() {
    let sum = vec!["x"; 3000].join(" + ");
    let nots = "!".repeat(1001);
    let program = program(&format!(
        "unsigned result; int main(void) {{ unsigned x = 2; result = {sum}; x = {nots}x; result += x; }}"
    ));
    let mut deepest = 0;
    for edge in program.templates.iter().flat_map(|template| &template.edges) {
        for expr in edge.ops.iter().flat_map(|op| op.expressions()) {
            deepest = deepest.max(depth(expr));
        }
    }
    assert!(deepest < 200, "{deepest}");
    assert_eq!(runner::run(&program, 10_000).global("result", IntType::U32), Some(6000));
}

fn depth(expr: &ir::Expr) -> usize {
    1 + expr.operands().into_iter().map(depth).max().unwrap_or(0)
}

#[test]
fn spans_follow_line_markers() {
    let program = program("# 40 \"other.h\"\nint g;\n# 7 \"mine.c\"\nint main(void) {\n g = 1; }\n");
    let main = &program.templates[program.start[0].0];
    let edge = main.edges.iter().find(|edge| !edge.ops.is_empty()).unwrap();
    assert_eq!((program.files[edge.span.file as usize].as_str(), edge.span.line), ("mine.c", 8));
    let object = program.objects.iter().next().unwrap();
    assert_eq!((program.files[object.span.file as usize].as_str(), object.span.line), ("other.h", 40));
}
