//! Where a pointer may lead that comes from outside of the program: each rule of points-to sets in a program
//! where it reaches a variable, and in one where it does not.

use crate::analysis::Analysis;
use crate::model::Model;
use crate::races::locations;
use frontend_c::{Options, Source, read};
use ir::passes::{self, Lowering, PointsTo};
use verdict::Budget;

const START: &str = "#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <math.h>
#include <unistd.h>
extern int *last(void);
extern void keep(void *);
extern uintptr_t number(void) __attribute__((const));
extern unsigned long __VERIFIER_nondet_ulong(void);
static struct box { int *p; } box;
static uintptr_t pick(int n, ...) {
  va_list list; va_start(list, n); uintptr_t value = va_arg(list, uintptr_t); va_end(list); return value;
}
static uintptr_t scanned(void) { unsigned long n = 0; sscanf(\"1\", \"%lu\", &n); return n; }
";

/// Whether the thread, which writes to where `pointer` says, may race with `main`, which writes to `x`.
fn reaches(variable: &str, pointer: &str, before: &str) -> bool {
    let text = format!(
        "{START} {variable};
        static void *t(void *a) {{ char b[9]; int *p = {pointer}; if (p) *p = 1; return 0; }}
        int main(void) {{ pthread_t i; int *q = &x; {before} pthread_create(&i, 0, t, 0); *q = 2; return 0; }}"
    );
    let source = Source { name: "test.c".to_owned(), text: text.into_bytes() };
    let program = read(&[source], &Options::default()).expect("a C program");
    let program = passes::concrete(&program, Lowering { races: true, ..Lowering::default() });
    let points_to = PointsTo::of(&program);
    let model = Model::new(&program, &points_to);
    let budget = Budget::unlimited();
    let analysis = Analysis::run(&model, &budget).expect("no limit");
    let found = locations(&analysis, &budget).expect("no limit");
    let mut open = found.iter().filter(|location| !location.open.is_empty());
    open.any(|location| program.objects[location.cell.object].name == "x")
}

fn reaches_static(pointer: &str, before: &str) -> bool {
    reaches("static int x", pointer, before)
}

#[test]
fn an_unknown_function_gives_what_it_was_handed() {
    assert!(reaches_static("last()", "keep(q);"));
    assert!(reaches_static("last()", "keep((char *)q - 0);"));
    assert!(!reaches_static("last()", ""));
    // Through memory that it was handed, and through a parameter.
    assert!(reaches_static("last()", "box.p = q; keep(&box);"));
    assert!(!reaches_static("last()", "box.p = q;"));
    assert!(reaches_static("({ extern int *same(int *); same(a); })", "pthread_create(&i, 0, t, q);"));
}

#[test]
fn a_number_may_be_the_address_of_what_has_external_linkage() {
    let number = "(int *)number()";
    assert!(reaches("int x", number, ""));
    assert!(reaches("static int x; int *global = &x", number, "(void)global;"));
    assert!(!reaches("static int x; static int *hidden = &x", number, "(void)hidden;"));
    // Of a pointer the report says that it is taken to be none.
    assert!(!reaches("int x", "last()", ""));
}

#[test]
fn a_list_of_arguments_gives_what_was_passed() {
    assert!(reaches_static("(int *)pick(1, a)", "pthread_create(&i, 0, t, q);"));
    assert!(reaches_static("(int *)pick(1, (uintptr_t)a)", "pthread_create(&i, 0, t, q);"));
    assert!(!reaches_static("(int *)pick(1, 5UL)", ""));
}

#[test]
fn numbers_from_text_and_of_the_world_are_no_addresses() {
    assert!(!reaches_static("(int *)scanned()", ""));
    assert!(!reaches_static("({ struct tm tm = {0}; (int *)(long)mktime(&tm); })", ""));
    assert!(!reaches_static("(int *)(uintptr_t)sin(0.5)", ""));
    // A function that rounds may give back what it was passed.
    assert!(reaches_static("(int *)(uintptr_t)floor((double)(uintptr_t)a)", "pthread_create(&i, 0, t, q);"));
}

#[test]
fn assembly_gives_no_address_that_it_was_not_given() {
    assert!(!reaches_static("({ unsigned long n; __asm__ volatile(\"rdtsc\" : \"=r\"(n)); (int *)n; })", ""));
    assert!(reaches_static(
        "({ unsigned long n; __asm__(\"mov %1, %0\" : \"=r\"(n) : \"r\"(a)); (int *)n; })",
        "pthread_create(&i, 0, t, q);"
    ));
    assert!(reaches_static(
        "({ unsigned long n = (unsigned long)a; __asm__(\"inc %0\" : \"+r\"(n)); (int *)n; })",
        "pthread_create(&i, 0, t, q);"
    ));
}

#[test]
fn an_input_is_an_address_that_it_is_compared_with() {
    let inputs = "unsigned long m = __VERIFIER_nondet_ulong(), n = __VERIFIER_nondet_ulong();";
    let chosen = |condition: &str, used: &str| format!("({{ {inputs} ({condition}) ? (int *){used} : 0; }})");
    assert!(reaches_static(&chosen("m == (uintptr_t)&x", "m"), ""));
    assert!(reaches_static(&chosen("m == (uintptr_t)&x && n == m", "n"), ""));
    assert!(reaches_static(&chosen("n == m && m - 1 == (uintptr_t)&x - 1", "n"), ""));
    assert!(reaches_static(&chosen("n <= (uintptr_t)&x && n >= (uintptr_t)&x", "n"), ""));
    assert!(!reaches_static(&chosen("m == (uintptr_t)&x", "n"), ""));
    // A bound in the model of a function is a comparison.
    let counted =
        |size: &str| format!("({{ unsigned long n = read(0, b, {size}); n == 7 ? (int *)n : 0; }})");
    assert!(reaches_static(&counted("(size_t)&x"), ""));
    assert!(!reaches_static(&counted("9"), ""));
    assert!(!reaches_static(&counted("(size_t)a & 7"), ""));
}
