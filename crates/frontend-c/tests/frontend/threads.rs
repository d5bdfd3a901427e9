//! Atomicity: `_Atomic`, atomic builtins, atomic regions, and threads that are started.

use crate::{check, interleavings, program};
use ir::{IntType, Op, Program};
use std::collections::BTreeSet;

fn outcomes(program: &Program) -> BTreeSet<i128> {
    interleavings::outcomes(program, "result", IntType::I32)
}

/// Two threads that run `body`, then `main` continues when both have set their flag.
fn two_threads(globals: &str, body: &str) -> Program {
    program(&format!(
        "int result; _Atomic int done; {globals}
        void worker(void) {{ {body} done++; }}
        int main(void) {{ __CPROVER_ASYNC_1: worker(); __CPROVER_ASYNC_2: worker(); while (done != 2) ; return 0; }}"
    ))
}

#[test]
fn atomic_operations_compute_what_they_should() {
    check(
        "#include <stdatomic.h>
        int main(void) {
            _Atomic int a = 2147483647; expect(atomic_fetch_add(&a, 1) == 2147483647); expect(a == -2147483647 - 1); expect((a += 5) == -2147483643);
            a = 3; expect(a * a == 9); expect(atomic_fetch_add(&a, 4) == 3); expect(atomic_load(&a) == 7);
            int e = 9; expect(!atomic_compare_exchange_strong(&a, &e, 1)); expect(e == 7); expect(atomic_compare_exchange_strong(&a, &e, 1)); expect(a == 1);
            expect(atomic_exchange(&a, 77) == 1); int x = 6;
            expect(__sync_fetch_and_or(&x, 8) == 6); expect(__sync_add_and_fetch(&x, 1) == 15); expect(__atomic_nand_fetch(&x, 3, 5) == ~3);
            expect(__sync_val_compare_and_swap(&x, x, 12) == ~3); expect(!__sync_bool_compare_and_swap(&x, 13, 12)); expect(__sync_val_compare_and_swap(&x, 12, 1) == 12);
            x = 0; expect(x == 0); atomic_flag f = ATOMIC_FLAG_INIT; expect(!atomic_flag_test_and_set(&f)); expect(atomic_flag_test_and_set(&f));
            atomic_flag_clear(&f); expect(!atomic_flag_test_and_set(&f)); _Atomic unsigned char c = 255; expect(++c == 0);
            int arr[4]; int *_Atomic p = arr; p++; expect(p - arr == 1); p += 2; expect(p - arr == 3); _Atomic short s = 32767; s += 1; expect(s == -32768);
        }",
    );
}

#[test]
fn atomic_updates_are_one_step() {
    for update in [
        "result++;",
        "result += 1;",
        "__sync_fetch_and_add(&result, 1);",
        "__atomic_add_fetch(&result, 1, 5);",
    ] {
        let program = two_threads("", update);
        let plain = outcomes(&program);
        // A plain update is one edge here too; only the splitting pass takes it apart. An atomic one must
        // stay whole.
        assert_eq!(plain, BTreeSet::from([2]), "{update}");
    }
    let program = two_threads(
        "",
        "int old, new; do { old = __atomic_load_n(&result, 5); new = old + 1; } while (!__atomic_compare_exchange_n(&result, &old, new, 0, 5, 5));",
    );
    assert_eq!(outcomes(&program), BTreeSet::from([2]));
}

#[test]
fn an_atomic_load_and_an_atomic_store_are_two_steps() {
    let program = program(
        "_Atomic int result, done; void worker(void) { result = result + 1; done++; }
        int main(void) { __CPROVER_ASYNC_1: worker(); __CPROVER_ASYNC_2: worker(); while (done != 2) ; return 0; }",
    );
    assert_eq!(outcomes(&program), BTreeSet::from([1, 2]));
}

#[test]
fn atomic_accesses_are_marked() {
    let program = program("_Atomic int a; int b; int main(void) { a = b; a += 2; b = a; return 0; }");
    for template in &program.templates {
        for edge in &template.edges {
            for op in &edge.ops {
                let mut cells = Vec::new();
                for expr in op.expressions() {
                    expr.walk(&mut |inner| {
                        if let ir::Expr::Load(place) = inner {
                            cells.push((**place).clone());
                        }
                    });
                }
                cells.extend(op.targets().into_iter().filter_map(|lhs| match lhs {
                    ir::Lhs::Memory(place) => Some(place.clone()),
                    ir::Lhs::Local(_) => None,
                }));
                for cell in cells {
                    let (object, _) = cell.as_cell().expect("both are named");
                    assert_eq!(cell.atomic, program.objects[object].name == "a", "{op:?}");
                }
            }
        }
    }
}

#[test]
fn atomic_regions_are_not_interrupted() {
    let racy = two_threads("", "int t = result; t++; result = t;");
    assert_eq!(outcomes(&racy), BTreeSet::from([1, 2]));
    let region = "void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);";
    let safe = two_threads(
        region,
        "__VERIFIER_atomic_begin(); int t = result; t++; result = t; __VERIFIER_atomic_end();",
    );
    assert_eq!(outcomes(&safe), BTreeSet::from([2]));
}

#[test]
fn functions_called_in_atomic_regions_are_atomic() {
    let globals = "void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); int get(void) { int t = result; return t; }
        void set(int v) { int w = v; result = w; } int next(int v) { return v + 1; }";
    let called =
        two_threads(globals, "__VERIFIER_atomic_begin(); set(next(get())); __VERIFIER_atomic_end();");
    assert_eq!(outcomes(&called), BTreeSet::from([2]));
    let named = two_threads(
        "int get(void) { int t = result; return t; } void __VERIFIER_atomic_inc(int by) { int t = get(); result = t + by; }",
        "__VERIFIER_atomic_inc(1);",
    );
    assert_eq!(outcomes(&named), BTreeSet::from([2]));
    assert!(named.assumptions.is_empty(), "{:?}", named.assumptions);
    // The same function outside of a region is the ordinary one.
    let both = two_threads(
        "int get(void) { int t = result; return t; } void __VERIFIER_atomic_inc(void) { int t = get(); result = t + 1; }",
        "int t = get(); result = t + 1;",
    );
    assert_eq!(outcomes(&both), BTreeSet::from([1, 2]));
}

#[test]
fn regions_may_end_on_every_path() {
    let region = "void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);";
    let program = two_threads(
        region,
        "__VERIFIER_atomic_begin(); if (result == 7) { __VERIFIER_atomic_end(); done++; return; } int t = result; result = t + 1; __VERIFIER_atomic_end();",
    );
    assert_eq!(outcomes(&program), BTreeSet::from([2]));
    assert!(program.assumptions.is_empty(), "{:?}", program.assumptions);
}

#[test]
fn regions_across_functions_are_not_supported() {
    for body in [
        "void lock(void) { __VERIFIER_atomic_begin(); } int main(void) { lock(); }",
        "void unlock(void) { __VERIFIER_atomic_end(); } int main(void) { __VERIFIER_atomic_begin(); unlock(); __VERIFIER_atomic_end(); }",
        "int main(int argc, char **argv) { if (argc) __VERIFIER_atomic_begin(); argc++; if (argc) __VERIFIER_atomic_end(); }",
        "void f(void) {} void (*p)(void) = f; int main(void) { __VERIFIER_atomic_begin(); p(); __VERIFIER_atomic_end(); }",
    ] {
        let text = format!("void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); {body}");
        let program = program(&text);
        assert!(program.assumptions.iter().any(|assumption| assumption.limits_proof), "{body}");
    }
}

#[test]
fn threads_get_their_arguments() {
    let program = program(
        "int result; void worker(int a, short b) { result = a * 10 + b; }
        int main(void) { int x = 4; __CPROVER_ASYNC_7: worker(x, 3); x = 9; while (!result) ; return 0; }",
    );
    assert!(
        program.templates.iter().flat_map(|t| &t.edges).any(|e| matches!(e.ops.as_slice(), [Op::Spawn(..)]))
    );
    assert_eq!(outcomes(&program), BTreeSet::from([43]));
}
