//! Hand-written programs, one for each subtle rule of a pass.

use super::explore::{Observed, observe};
use crate::check::check;
use crate::expr::{Expr, Place, Targets};
use crate::ids::{ObjectId, TemplateId};
use crate::passes::points_to::Holder;
use crate::passes::{
    Goal, InlineError, InlineLimits, Lowering, PointsTo, compress, inline, lower, points_to,
    remove_dead_code, resolve_calls, slice, split,
};
use crate::program::{Assumption, ErrorKind, Program, Span};
use crate::text::{parse, print};
use crate::types::IntType;

/// Reads a program from declarations and templates.
fn program(text: &str) -> Program {
    let program = parse(&format!("program lp64\nstart main 1\n{text}")).expect("the text is right");
    assert_eq!(check(&program), Ok(()));
    program
}

/// A program with one thread: declarations, and what its only template holds.
fn main_only(declarations: &str, code: &str) -> Program {
    program(&format!("{declarations}\ntemplate main() {{\n{code}\n}}"))
}

fn seen(program: &Program) -> Observed {
    assert_eq!(check(program), Ok(()));
    observe(program, 10_000).expect("small")
}

/// The edges of the first template, one on each line.
fn edges(program: &Program) -> Vec<String> {
    let text = print(program);
    let code = text.split("template ").nth(1).unwrap_or_default().to_owned();
    code.lines().map(str::trim).filter(|line| line.contains(" -> ")).map(str::to_owned).collect()
}

fn assert_edges(program: &Program, expected: &[&str]) {
    assert_eq!(edges(program), expected);
}

#[test]
fn an_increment_is_a_load_and_a_store() {
    let split = split(&main_only("static x: i32", "locations 2 end l1 l0 -> l1: i32[&x] := i32[&x] + 1"));
    assert_edges(&split, &["l2 -> l1: i32[&x] := %s0 + 1", "l0 -> l2: %s0 := i32[&x]"]);
}

#[test]
fn a_branch_reads_its_operands_once() {
    let split = split(&main_only(
        "static x: i32 static y: i32",
        "locations 3 end l1 .. l2
         l0 -> l1: assume i32[&x] < i32[&y]
         l0 -> l2: assume !(i32[&x] < i32[&y])",
    ));
    assert_edges(
        &split,
        &[
            "l4 -> l1: assume %s0 < %s1",
            "l4 -> l2: assume !(%s0 < %s1)",
            "l0 -> l3: %s0 := i32[&x]",
            "l3 -> l4: %s1 := i32[&y]",
        ],
    );
}

#[test]
fn two_mentions_are_two_reads() {
    let split = split(&main_only("static x: i32", "locations 2 end l1 l0 -> l1: assume i32[&x] != i32[&x]"));
    let loads = edges(&split).iter().filter(|edge| edge.contains(":= i32[&x]")).count();
    assert_eq!(loads, 2);
}

#[test]
fn only_common_loads_go_before_a_choice() {
    // The second operand must not fault when the pointer is null.
    let program = main_only(
        "static p: u64 static x: i32",
        "locations 4 end l3
         l0 -> l1: assume u64[&p] == 0u64
         l0 -> l2: assume i32[u64[&p]] == i32[&x]
         l1 -> l3: l2 -> l3:",
    );
    assert_eq!(seen(&split(&program)).finals.len(), 1);
}

#[test]
fn atomic_operations_stay_whole() {
    let kept = main_only(
        "static a: i32 static b: i32 static m: mutex size 40",
        "local t: i32 locations 5 end l4
         l0 -> l1: atomic i32[&a] := atomic i32[&a] + 1, t := atomic i32[&a]
         l1 -> l2: lock mutex &m
         l1 -> l2: assume atomic u32[&m] != 0u32
         l2 -> l3: assume atomic i32[&a] == 0; atomic i32[&b] := atomic i32[&a] + atomic i32[&b]
         l3 -> l4: assume (atomic i32[&a] == 0) & (atomic i32[&b] == 0)",
    );
    assert_eq!(split(&kept), kept);
    let mixed = main_only(
        "static a: i32 static x: i32 static y: i32",
        "locations 2 end l1 l0 -> l1: i32[&y] := atomic i32[&a], atomic i32[&a] := atomic i32[&a] + i32[&x]",
    );
    assert_edges(
        &split(&mixed),
        &[
            "l2 -> l3: %s1 := atomic i32[&a], atomic i32[&a] := atomic i32[&a] + %s0",
            "l0 -> l2: %s0 := i32[&x]",
            "l3 -> l1: i32[&y] := %s1",
        ],
    );
}

#[test]
fn a_conditional_reads_only_its_arm() {
    // One arm would fault.
    let program = main_only(
        "static g0: i32 static p: u64 static x: i32 = 7",
        "locations 2 end l1
         l0 -> l1: i32[&g0] := if(u64[&p] == 0u64, i32[&x], i32[u64[&p]])",
    );
    let seen = seen(&split(&program));
    assert_eq!(seen.finals, [vec![7, 0, 0]].into());
    assert_eq!(seen.faults, []);
}

#[test]
fn parallel_stores_keep_their_addresses() {
    let program = main_only(
        "static g0: i32 static g1: i32 static a: [2 of i32]",
        "local i: u64 locations 4 end l3
         l0 -> l1: i := 4u64, i32[&g0] := 1, i32[&a + i] := 5
         l1 -> l2: i32[&g1] := i32[&a]
         l2 -> l3: i32[&g0] := i32[&(a + 4)]",
    );
    assert_eq!(seen(&split(&program)).finals, [vec![0, 5, 0]].into());
}

#[test]
fn private_memory_is_not_split() {
    let kept = main_only(
        "frame a of main: [4 of i32] thread_local t: i32",
        "local i: u64 locations 2 end l1 l0 -> l1: i32[&a + i] := i32[&a] + i32[&t]",
    );
    assert_eq!(split(&kept), kept);
    // An address that becomes a value is not private any more.
    let taken = main_only(
        "frame a of main: [4 of i32] static p: u64",
        "locations 3 end l2 l0 -> l1: i32[&a] := i32[&a] + 1 l1 -> l2: u64[&p] := &a",
    );
    assert_eq!(edges(&split(&taken)).len(), 3);
}

#[test]
fn unwanted_errors_end_the_program() {
    let program = main_only("", "locations 2 error assertion l1 l0 -> l1:");
    assert!(seen(&lower(&program, Lowering::default())).errors.is_empty());
    let wanted = Lowering { assertions: true, ..Lowering::default() };
    assert_eq!(seen(&lower(&program, wanted)).errors, [ErrorKind::Assertion].into());
}

#[test]
fn checks_follow_lazy_evaluation() {
    let overflow = Lowering { overflow: true, ..Lowering::default() };
    let guarded = |bound: i32| {
        main_only(
            "static x: i32 = 2147483647",
            &format!(
                "local t: i32 locations 3 end l2 l0 -> l1: t := i32[&x]
                 l1 -> l2: t := if(t < {bound}, (t + 1) * 2, -(t))"
            ),
        )
    };
    assert!(seen(&lower(&guarded(5), overflow)).errors.is_empty());
    assert_eq!(seen(&lower(&guarded(i32::MAX), overflow)).errors, [].into());
    let negated =
        main_only("static x: i32 = -2147483648", "local t: i32 locations 2 end l1 l0 -> l1: t := -(i32[&x])");
    assert_eq!(seen(&lower(&negated, overflow)).errors, [ErrorKind::Overflow].into());
}

#[test]
fn bounds_are_those_of_the_named_object() {
    let bounds = Lowering { bounds: true, ..Lowering::default() };
    let index = |index: u64| {
        // `b` is far after `a`.
        main_only(
            "static a: [4 of i32] static b: [4 of i32]",
            &format!(
                "local i: u64 locations 3 end l2 l0 -> l1: i := {index}u64 l1 -> l2: i32[&a + (i * 4u64)] := 1"
            ),
        )
    };
    assert!(seen(&lower(&index(3), bounds)).errors.is_empty());
    for outside in [4, 8, u64::MAX / 8] {
        assert_eq!(seen(&lower(&index(outside), bounds)).errors, [ErrorKind::InvalidAccess].into());
    }
    let filled = |size: &str| {
        main_only(
            "static a: [4 of i32]",
            &format!("local n: u64 locations 3 end l2 l0 -> l1: n := {size} l1 -> l2: fill(&(a + 8), 0, n)"),
        )
    };
    for (size, wrong) in [("0u64", false), ("8u64", false), ("9u64", true), ("18446744073709551615u64", true)]
    {
        assert_eq!(!seen(&lower(&filled(size), bounds)).errors.is_empty(), wrong, "{size}");
    }
    let null = main_only("static p: u64", "locations 2 end l1 l0 -> l1: i32[u64[&p]] := 1");
    assert_eq!(seen(&lower(&null, bounds)).errors, [ErrorKind::InvalidAccess].into());
}

const TWO_THREADS: &str = "static x: i32 static g0: i32
    template worker() { locations 3 end l1 error assertion l2
      l0 -> l1: assume i32[&x] != 1 l0 -> l2: assume i32[&x] == 1 }";

#[test]
fn a_store_before_a_failing_step_is_seen() {
    // What follows the store blocks, faults, or ends the program; the other thread sees it nevertheless.
    for (after, kind) in [("assume t == 1", "end"), ("t := 1 / t", "end"), ("", "halt")] {
        let program = program(&format!(
            "{TWO_THREADS} template main() {{ local t: i32 locations 4 {kind} l3
               l0 -> l1: spawn worker() l1 -> l2: i32[&x] := 1 l2 -> l3: {after} }}"
        ));
        let compressed = compress(&program);
        assert_eq!(seen(&compressed).errors, [ErrorKind::Assertion].into(), "{after} {kind}");
        assert_eq!(seen(&program), seen(&compressed));
    }
}

#[test]
fn a_region_becomes_one_step_with_atomic_accesses() {
    let program = program(&format!(
        "{TWO_THREADS} template main() {{ locations 6 end l5 atomic l2 .. l4
           l0 -> l1: spawn worker() l1 -> l2: l2 -> l3: i32[&x] := 1 l3 -> l4: i32[&x] := 0 l4 -> l5: }}"
    ));
    let compressed = compress(&program);
    assert!(print(&compressed).contains("atomic i32[&x] := 1; atomic i32[&x] := 0"));
    let seen = seen(&compressed);
    assert!(seen.errors.is_empty());
    assert_eq!(seen.races, [("x".to_owned(), 0)].into(), "a region races with a plain access");
}

#[test]
fn a_lock_stays_first() {
    let compressed = compress(&main_only(
        "static m: mutex size 40",
        "local t: i32 locations 4 end l3
         l0 -> l1: t := any l1 -> l2: lock mutex &m l2 -> l3: lock mutex &m",
    ));
    assert!(edges(&compressed).iter().all(|edge| !edge.contains("; lock")));
    assert!(seen(&compressed).deadlock);
}

#[test]
fn a_choice_hides_no_race() {
    let program = program(
        "static x: i32 template worker() { locations 2 end l1 l0 -> l1: i32[&x] := 1 }
         template main() { local t: i32 locations 5 end l4
           l0 -> l1: spawn worker() l1 -> l2: t := any l2 -> l3: assume t == 1 l3 -> l4: i32[&x] := t }",
    );
    assert_eq!(seen(&compress(&program)).races, [("x".to_owned(), 0)].into());
}

#[test]
fn a_procedure_starts_afresh_each_time() {
    let program = program(
        "static g0: i32 frame buffer of f: [2 of i32]
         template main() { local i: i32 local r: i32 locations 5 end l4
           l0 -> l1: assume i < 3 l0 -> l3: assume !(i < 3)
           l1 -> l2: r := call f(i) l2 -> l0: i := i + 1
           l3 -> l4: i32[&g0] := r }
         template f(n: i32) { local t: i32 result t locations 4 end l3
           l0 -> l1: i32[&buffer] := i32[&buffer] + 1 l1 -> l2: t := t + i32[&buffer] l2 -> l3: t := t + n }",
    );
    let inlined = inline(&program, InlineLimits::default()).expect("small");
    assert!(!inlined.frames_outlive_calls);
    assert_eq!(inlined.program.templates.len(), 1);
    assert_eq!(seen(&inlined.program).finals, [vec![3, 0, 0]].into());
    assert_eq!(seen(&program).finals, seen(&inlined.program).finals);
}

#[test]
fn recursion_is_cut_and_said_so() {
    let program = program(
        "static g0: i32
         template main() { locations 3 end l2 l0 -> l1: call f(2) l1 -> l2: }
         template f(n: i32) { locations 5 end l3
           l0 -> l1: i32[&g0] := i32[&g0] + 1
           l1 -> l2: assume 0 < n l1 -> l3: assume !(0 < n) l2 -> l4: call f(n - 1) l4 -> l3: }",
    );
    let limits = |recursion| InlineLimits { recursion, ..InlineLimits::default() };
    let deep = inline(&program, limits(5)).expect("small").program;
    assert_eq!(seen(&deep).finals, [vec![3, 0, 0]].into());
    assert!(deep.assumptions.iter().any(|assumption| assumption.limits_proof));
    let shallow = inline(&program, limits(2)).expect("small").program;
    assert!(seen(&shallow).finals.is_empty());
    let small = InlineLimits { edges: 10, ..limits(5) };
    assert_eq!(inline(&program, small).err(), Some(InlineError::TooLarge { edges: 10 }));
}

#[test]
fn an_exit_in_a_procedure_ends_the_thread() {
    let program = program(
        "static g0: i32 static handle: u64
         template main() { local r: i32 locations 4 end l3
           l0 -> l1: u64[&handle] := spawn worker() l1 -> l2: r := join u64[&handle] l2 -> l3: i32[&g0] := r }
         template worker() { locations 3 end l2 l0 -> l1: call f() l1 -> l2: i32[&g0] := 9 }
         template f() { local v: i16 exit value v locations 3 exit l2 l0 -> l1: v := 5i16 l1 -> l2: }",
    );
    let inlined = inline(&program, InlineLimits::default()).expect("small").program;
    assert_eq!(seen(&program).finals, [vec![5, 0, 0]].into());
    assert_eq!(seen(&inlined).finals, [vec![5, 0, 0]].into());
}

#[test]
fn calls_through_tables_become_branches() {
    let program = program(
        "static g0: i32 static table: [2 of u64] = { 0 u64: procedure f, 8 u64: procedure g } static i: u64
         template main() { locations 3 end l2
           l0 -> l1: u64[&i] := 8u64 l1 -> l2: call *u64[&table + u64[&i]]() }
         template f() { locations 2 end l1 l0 -> l1: i32[&g0] := 1 }
         template g() { locations 2 end l1 l0 -> l1: i32[&g0] := 2 }
         template other() { locations 2 end l1 l0 -> l1: i32[&g0] := 3 }",
    );
    let resolved = resolve_calls(&program);
    assert!(print(&resolved).contains("call f()") && print(&resolved).contains("call g()"));
    assert!(!print(&resolved).contains("call other()"));
    assert_eq!(seen(&resolved).finals, [vec![2, 0, 0]].into());
    let inlined = inline(&resolved, InlineLimits::default()).expect("small").program;
    assert_eq!(seen(&inlined).finals, [vec![2, 0, 0]].into());
}

#[test]
fn calls_that_fit_no_parameters_stay_well_formed() {
    let program = program(
        "static g0: i32 static table: [2 of u64] = { 0 u64: procedure f, 8 u64: procedure g }
         template main() { local r: i32 locations 4 end l3
           l0 -> l1: r := call *u64[&table + 8u64](7) l1 -> l2: r := call *u64[&table](7) l2 -> l3: i32[&g0] := r + 1 }
         template f(a: i32, b: i32) { result a locations 2 end l1 l0 -> l1: a := a + b }
         template g(a: i32, b: i32) { locations 2 end l1 l0 -> l1: i32[&g0] := b + 3 }",
    );
    let resolved = resolve_calls(&program);
    crate::check::check(&resolved).expect("it is well-formed");
    assert_eq!(seen(&resolved).finals, seen(&program).finals);
    let inlined = inline(&resolved, InlineLimits::default()).expect("small").program;
    assert_eq!(seen(&inlined).finals, seen(&program).finals);
}

/// The targets of the only computed place in a template's first edge that has one, as text.
fn targets(program: &Program) -> String {
    let text = print(&points_to::annotate(program));
    let from = text.find("in {").expect("a computed place");
    text[from..].chars().skip(3).take_while(|c| *c != ']').collect()
}

#[test]
fn pointers_are_told_apart_by_field() {
    let record = "static x: i32 static y: i32 static s: {first: u64 at 0, second: u64 at 8}";
    let stores = "l0 -> l1: u64[&s] := &x l1 -> l2: u64[&(s + 8)] := &y";
    let through = |pointer: &str| {
        main_only(record, &format!("locations 4 end l3 {stores} l2 -> l3: i32[{pointer}] := 1"))
    };
    assert_eq!(targets(&through("u64[&s]")), "{x}");
    assert_eq!(targets(&through("u64[&(s + 8)]")), "{y}");
}

#[test]
fn arrays_are_one_cell_and_unknown_moves_go_anywhere() {
    let moved = |amount: &str| {
        main_only(
            "static a: [4 of {n: i32 at 0, m: i32 at 4} by 8]",
            &format!(
                "local i: u64 local p: u64 locations 3 end l2 l0 -> l1: p := &(a + 4) + {amount} l1 -> l2: i32[p] := 1"
            ),
        )
    };
    assert_eq!(targets(&moved("(i * 8u64)")), "{a + 4 by 8 times 4}");
    assert_eq!(targets(&moved("8u64")), "{a + 4 by 8 times 4}");
    assert_eq!(targets(&moved("18446744073709551612u64")), "{a}");
    assert_eq!(targets(&moved("i")), "{a by 1 times 32}");
}

#[test]
fn an_unknown_pointer_points_to_all_that_escaped() {
    let program = main_only(
        "static x: i32 static y: i32 static z: i32 static p: u64",
        "local q: u64 locations 5 end l4
         l0 -> l1: u64[&p] := &x l1 -> l2: i32[&z] := 1 l2 -> l3: q := unknown l3 -> l4: i32[q] := 1",
    );
    assert_eq!(targets(&program), "{x by 1 times 4}");
    let input = main_only(
        "static x: i32",
        "local q: u64 locations 3 end l2 l0 -> l1: q := any l1 -> l2: i32[q] := 1",
    );
    let points_to = PointsTo::of(&input);
    assert!(points_to.callees(crate::TemplateId(0), &crate::Expr::Local(crate::LocalId(0))).is_empty());
}

#[test]
fn a_foreign_input_is_an_address_only_where_that_is_assumed() {
    let limit = "signals";
    let statics = "static x: i32 static y: i32";
    let branch = "local q: u64 locations 4 end l3
         l0 -> l1: q := any l1 -> l2: assume q == &x l1 -> l3: assume q != &x l2 -> l3: i32[q] := 1";
    let assumed = "local q: u64 locations 4 end l3
         l0 -> l1: q := any where q == &x l1 -> l3: i32[q] := 1";
    let moved = "local q: u64 local i: u64 locations 4 end l3
         l0 -> l1: q := any l0 -> l1: q := &y l1 -> l2: q := q + (i * 4u64) l2 -> l3: i32[q] := 1";
    let unused = "local q: u64 local p: u64 locations 5 end l3
         l0 -> l1: q := any l1 -> l2: assume q == &x l1 -> l3: assume q != &x
         l2 -> l4: p := &x l4 -> l3: i32[p] := 1";
    let known = |body: &str| {
        let mut program = main_only(statics, body);
        let text = limit.to_owned();
        program.assumptions.push(Assumption { text, span: Span::default(), limits_proof: true });
        program
    };
    // What is small stays as it is.
    let mut program = known(branch);
    crate::passes::foreign::note(&mut program);
    assert!(!program.foreign_numbers && program.assumptions.len() == 1);
    assert_eq!(targets(&program), "{x}");
    // So does what may be proved; other large programs do not.
    let code = program.templates.ids().next().expect("main");
    let edge = program.templates[code].edges.iter().next().expect("an edge").clone();
    (0..1000).for_each(|_| {
        program.templates[code].edges.push(edge.clone());
    });
    let mut proved = program.clone();
    proved.assumptions.clear();
    crate::passes::foreign::note(&mut proved);
    crate::passes::foreign::note(&mut program);
    assert_eq!((proved.foreign_numbers, program.foreign_numbers), (false, true));
    let notes = |program: &Program| program.assumptions.iter().filter(|note| note.text != limit).count();
    for (body, expected, count) in
        [(branch, "{}", 1), (assumed, "{x}", 1), (moved, "{y, y by 4 times 1}", 1), (unused, "{x}", 0)]
    {
        let mut program = known(body);
        crate::passes::foreign::let_be_foreign(&mut program);
        assert_eq!(targets(&program), expected, "{body}");
        assert_eq!(notes(&program), count, "{body}");
        let printed = crate::text::print(&program);
        assert_eq!(crate::text::parse(&printed).as_ref(), Ok(&program));
    }
}

/// A part of an address points to nothing, as long as none is followed.
#[test]
fn parts_of_addresses_are_told_from_addresses() {
    let statics = "static x: i32 static y: i32 static part: u32 static wide: u64 static p: u64";
    // What is left of the address of x in memory, and where an address that is read from memory points to.
    let sets = |body: &str, end: &str| {
        let body = format!(
            "local n: u32 local w: u64 local q: u64 locations 9 end l8 l0 -> l1: u64[&p] := &y {body} {end}"
        );
        let mut program = main_only(statics, &body);
        let held = |program: &Program, name: &str| {
            let points_to = PointsTo::of(program);
            let (object, _) =
                program.objects.enumerate().find(|(_, object)| object.name == name).expect("it is there");
            let ty = if name == "part" { IntType::U32 } else { IntType::U64 };
            let value = Expr::load(Place::cell(object, 0, ty));
            let main = crate::TemplateId(0);
            match points_to.targets(main, &value) {
                Targets::Of(targets) => (targets.len(), points_to.may_be_part(main, &value)),
                Targets::Any => panic!("all sets are known"),
            }
        };
        let exact = (held(&program, "part"), held(&program, "wide"), targets(&program));
        let limit = Assumption { text: "signals".to_owned(), span: Span::default(), limits_proof: true };
        program.assumptions.push(limit);
        crate::passes::foreign::let_be_foreign(&mut program);
        let joined =
            program.assumptions.iter().any(|note| note.text.contains(crate::passes::foreign::JOINED));
        (exact, (targets(&program), joined))
    };
    let followed = "l6 -> l7: q := u64[&p] l7 -> l8: i32[q] := 1";
    for body in [
        "l1 -> l2: u32[&part] := u32(&x) l2 -> l6: u64[&wide] := u64(u32[&part])",
        "l1 -> l2: u64[&wide] := &x >> 3u64 l2 -> l6: u32[&part] := u32(u64[&wide])",
        "l1 -> l2: u64[&wide] := &x * 3u64 l2 -> l6: u32[&part] := u32(u64[&wide])",
        "l1 -> l2: u64[&wide] := i64(&x) -:u64 i64(&y) l2 -> l6: u32[&part] := u32(&x)",
    ] {
        let (exact, foreign) = sets(body, followed);
        assert_eq!(exact, ((0, true), (0, true), "{y}".to_owned()), "{body}");
        assert_eq!(foreign, ("{y}".to_owned(), false), "{body}");
        // If the number is followed, it may be any address that it was computed from.
        let (exact, foreign) = sets(body, "l6 -> l7: q := u64[&wide] l7 -> l8: i32[q] := 1");
        assert!(exact.2.contains('x') && !exact.1.1, "{body}: {exact:?}");
        assert_eq!(foreign, ("{}".to_owned(), true), "{body}");
        // So it is if it is called, asked about, or joined in memory.
        let (exact, foreign) =
            sets(body, "l6 -> l7: assume valid(u64[&wide], 4) l7 -> l8: i32[u64[&p]] := 1");
        assert!(!exact.1.1 && foreign.1, "{body}: {exact:?}");
        let (exact, foreign) =
            sets(body, "l6 -> l7: u32[&p] := u32[&part] l7 -> l8: q := u64[&p] l7 -> l8: i32[u64[&p]] := 1");
        assert!(exact.2.contains('x') && !exact.0.1, "{body}: {exact:?}");
        assert_eq!(foreign, ("{y}".to_owned(), true), "{body}");
    }
}

#[test]
fn dead_inputs_and_unused_things_go() {
    let program = program(
        "static g0: i32 static unused: i32
         template main() { local t: i32 local u: i32 locations 6 end l5
           l0 -> l1: t := any l1 -> l2: t := 1 l2 -> l3: u := t
           l3 -> l4: assume 1 < 2 l3 -> l5: assume !(1 < 2) l4 -> l5: i32[&g0] := t }
         template nobody() { locations 2 end l1 l0 -> l1: }",
    );
    let after = remove_dead_code(&program);
    assert_eq!((after.templates.len(), after.objects.len()), (1, 1));
    assert!(!print(&after).contains("any") && !print(&after).contains("local u"));
    assert_eq!(seen(&after).finals, [vec![1, 0, 0]].into());
}

#[test]
fn a_slice_leaves_out_what_no_condition_reads() {
    let program = main_only(
        "static x: i32 static y: i32",
        "local t: i32 local u: u32 locations 6 end l4 error assertion l5
         l0 -> l1: i32[&x] := 1 l1 -> l2: i32[&y] := 2 l2 -> l3: u := u + 1u32
         l3 -> l4: assume i32[&x] == 1 l3 -> l5: assume !(i32[&x] == 1)",
    );
    let text = print(&slice(&program, Goal { races: false, faults: true }));
    assert!(text.contains("i32[&x] := 1") && !text.contains("i32[&y]") && !text.contains("u +"));
    let text = print(&slice(&program, Goal { races: true, faults: true }));
    assert!(text.contains("i32[&y] := 0"), "the access stays, its value does not matter");
}

/// Two threads pass locals to one procedure: other threads know one only where it is stored or passed on.
#[test]
fn a_local_that_ends_with_its_thread() {
    let outlives = |step: &str| {
        let text = format!(
            "static g0: u64 frame x of w: i32 frame y of main: i32
             template main() {{ locations 4 end l3
               l0 -> l1: spawn w() l1 -> l2: i32[&y] := 1 l2 -> l3: call h(&y) }}
             template w() {{ locations 4 end l3
               l0 -> l1: i32[&x] := 1 l1 -> l2: call h(&x) l2 -> l3: {step} }}
             template h(p: u64) {{ locations 2 end l1 l0 -> l1: i32[p] := 2 }}
             template v(p: u64) {{ locations 2 end l1 l0 -> l1: i32[p] := 3 }}"
        );
        let program = program(&text);
        let template =
            program.templates.enumerate().find(|(_, code)| code.name == "w").expect("it is there").0;
        let object =
            program.objects.enumerate().find(|(_, object)| object.name == "x").expect("it is there").0;
        let all_end = |_: TemplateId, _: ObjectId, _: Holder| true;
        !PointsTo::of(&program).outliving(&program, &[(object, template)], &all_end).is_empty()
    };
    assert!(!outlives("i32[&x] := 3"));
    assert!(outlives("u64[&g0] := &x"));
    assert!(outlives("spawn v(&x)"));
    assert!(outlives("spawn h(&x)"));
}
