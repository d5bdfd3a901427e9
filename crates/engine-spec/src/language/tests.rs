//! The language: what is read, what is printed, and what is refused with which words.

use crate::language::{parser, printer, read};
use expect_test::{Expect, expect};
use ir::specification::Specification;
use ir::{Expr, Initial, IntType, Layout, LockKind, Object, Op, Program, Span, Storage, SyncKind, Template};

/// `int x, y; unsigned char c; _Bool b; int a[3]; pthread_mutex_t m; void f(), main()`
fn program() -> Program {
    let mut program = Program::default();
    let int = Layout::Scalar(IntType::I32);
    let array = Layout::Array { element: Box::new(int.clone()), count: 3, stride: 4 };
    let globals = [
        ("x", int.clone(), 4),
        ("y", int, 4),
        ("c", Layout::Scalar(IntType::U8), 1),
        ("b", Layout::Scalar(IntType::BOOL), 1),
        ("a", array, 12),
        ("m", Layout::Sync(SyncKind::Mutex), 40),
    ];
    for (name, layout, size) in globals {
        program.objects.push(Object {
            name: name.to_owned(),
            storage: Storage::Static,
            size,
            align: 1,
            layout,
            initial: Initial::Values(vec![]),
            span: Span::default(),
            role: ir::ObjectRole::Program,
        });
    }
    for name in ["main", "f"] {
        program.templates.push(Template { name: name.to_owned(), ..Template::default() });
    }
    let f = &mut program.templates[ir::TemplateId(1)];
    let (here, there) = (f.location(Default::default(), false), f.location(Default::default(), false));
    let lock = Op::Lock(LockKind::Mutex, Expr::Address(ir::ObjectId(5), 0));
    f.edge(here, there, vec![lock], Span::default());
    program
}

fn specification(text: &str) -> Specification {
    read("t.tspec", text.as_bytes(), &program()).expect("it is a specification")
}

fn refuses(text: &str, expected: Expect) {
    let problems = read("t.tspec", text.as_bytes(), &program()).expect_err("it is wrong");
    expected.assert_eq(&problems.iter().map(|problem| format!("{problem}\n")).collect::<String>());
}

const SMALL: &str = "let both = x + y;
always x >= 0;
start x == 1 && b;

thread T runs f times any {
  always both <= 10;
  start state One asserts x > 0 ==> y > 0;
  state Two;
  One -> Two changes x, y, a[1]: x' == x + 1 && (both' > 2 || !b);
  Two -> Two: c == 0x1f;
}
";

#[test]
fn printing_and_reading_again() {
    let file = parser::parse(SMALL).expect("it is a specification");
    let printed = printer::print(&file);
    assert_eq!(printer::print(&parser::parse(&printed).expect("what is printed can be read")), printed);
    expect![[r#"
        let both = x + y;
        always x >= 0;
        start x == 1 && b;

        thread T runs f times any {
          always both <= 10;
          start state One asserts x > 0 ==> y > 0;
          state Two;
          One -> Two changes x, y, a[1]: x' == x + 1 && (both' > 2 || !b);
          Two -> Two: c == 31;
        }
    "#]]
    .assert_eq(&printed);
}

/// What is printed of an expression with few parentheses means the same.
#[test]
fn parentheses() {
    for text in [
        "(a - b) - c",
        "a - (b - c)",
        "(p ==> q) ==> r",
        "p ==> q ==> r",
        "-(-a)",
        "!(a && b) || c",
        "(a + b)'",
        "(p ? q : r) + 1",
    ] {
        let whole = |text: &str| format!("always {text};\n");
        let parsed = parser::parse(&whole(text)).expect("it can be read");
        let printed = printer::print(&parsed);
        let again = parser::parse(&printed).expect("it can be read");
        let shape = |file: &crate::language::ast::File| {
            let text = format!("{file:?}");
            text.split("at: Span")
                .map(|part| part.split_once('}').map_or(part, |(_, rest)| rest).to_owned())
                .collect::<String>()
        };
        assert_eq!(shape(&parsed), shape(&again), "{text} became {printed}");
    }
}

#[test]
fn what_a_specification_says() {
    let found = specification(SMALL);
    let names: Vec<&str> = found.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["x", "b", "y", "a[1]", "c"]);
    assert_eq!(found.variables[3].offset, 4);
    let thread = &found.threads[0];
    assert_eq!((thread.states.len(), thread.initial.as_slice()), (2, [0].as_slice()));
    // The common assertions and its own.
    assert_eq!(thread.states[0].assertion.len(), 3);
    assert_eq!(thread.transitions[0].changes, [0, 2, 3]);
    assert_eq!(thread.transitions[0].condition.len(), 2);
    assert!(!found.names_threads());
    // The sum may overflow: the condition is wrapped.
    assert!(matches!(thread.transitions[0].condition[0], Expr::IfThenElse(_)));
}

#[test]
fn locks_have_owners() {
    let text = "thread T runs f times 2 { start state A asserts m != me; state B asserts m == me;
        A -> B changes m: m == 0 && m' == me; B -> A changes m: m' == 0; }";
    assert!(specification(text).names_threads());
    refuses(
        "thread T runs f times 2 { start state A asserts m > 0; state B asserts m == 1; A -> B: m; }",
        expect![[r#"
            t.tspec:1:51: error: the owners of locks can be compared by `==` and `!=` only
            t.tspec:1:74: error: the owner of a lock can be compared with 0, `me`, and other owners only
            t.tspec:1:88: error: the owner of a lock is no condition: compare it with 0 or `me`
        "#]],
    );
}

#[test]
fn wrong_names() {
    refuses(
        "let k = xx;\nalways k > 0;\nthread T runs g times 1 {\n  start state A;\n  A -> B changes zz: z' == 1;\n  A -> A: a[3] == 1;\n}\nthread T runs f times 1 { state Q; }",
        expect![[r#"
            t.tspec:1:9: error: the program has no global variable `xx`; did you mean `x`?
            t.tspec:3:15: error: the program has no function `g` that is called
            t.tspec:5:8: error: this thread has no state `B`
            t.tspec:5:18: error: the program has no global variable `zz`; did you mean `a`?
            t.tspec:5:22: error: the program has no global variable `z`; did you mean `a`?
            t.tspec:6:13: error: `a` has 3 elements
            t.tspec:8:8: error: there is a thread `T` already
            t.tspec:8:8: error: the thread `T` has no `start state`
        "#]],
    );
}

#[test]
fn steps_and_states() {
    refuses(
        "thread T runs f times 1 {\n  start state A asserts x' > 0;\n  state B;\n  state C;\n  A -> B: x' > 0;\n  C -> A changes x: x'' == 1;\n}",
        expect![[r#"
            t.tspec:2:25: error: a state has no values after a step (`'`)
            t.tspec:5:14: error: `x'` is mentioned, but `x` is not listed after `changes`
            t.tspec:6:21: error: this is after the step already (`'`)
            t.tspec:4:9: error: no transition leads to the state `C`
        "#]],
    );
}

#[test]
fn grammar() {
    refuses(
        "thread T runs f times 0 { }",
        expect![[r#"
        t.tspec:1:23: error: a number of threads is from 1 to 1000, or `any`
    "#]],
    );
    refuses(
        "thread T runs f { }",
        expect![[r#"
        t.tspec:1:17: error: `times` is expected here, not `{`
    "#]],
    );
    refuses(
        "always x @ 1;",
        expect![[r#"
        t.tspec:1:10: error: `@` has no meaning here
    "#]],
    );
    refuses(
        "always 99999999999999999999;",
        expect![[r#"
        t.tspec:1:8: error: `99999999999999999999` is not a number
    "#]],
    );
    refuses(
        "/* no end",
        expect![[r#"
        t.tspec:1:1: error: this comment does not end
    "#]],
    );
    refuses(
        &format!("always {}x;", "!".repeat(10_000)),
        expect![[r#"
        t.tspec:1:207: error: this expression is nested too deeply
    "#]],
    );
}
