//! The round trip, messages, and hostile texts.

use super::random::program;
use super::{parse, print};
use crate::check::{MAX_DEPTH, check};
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::ids::{EdgeId, TemplateId};
use crate::op::Op;
use crate::program::{Program, Span};
use crate::types::IntType;
use testkit::random::Random;

const COUNTER: &str = r#"program lp64
file "counter.c"
assumes "floats are not modelled" limits proof @ 0:9:1
start main 1
start worker any

static x: i32 = 5 @ 0:3:5
static a: [3 of i32] = { 4 i32: -1, 8 i32: 7 }
static p: u64 = &(a + 4)
static pair: { first: i32 at 0, "odd name": [2 of u8 by 2] at 4 } size 12 align 8 = unknown
static m: mutex size 40
frame buffer of main: bytes 16
thread_local x#6 "x": u16
site block: i64

template main(argc: i32 @ 0:6:14, argv: u64) @ 0:6:5 {
  local %1: i32 @ 0:7:3
  local ok: bool
  local lock#4 "lock": u64
  result %1
  exit value lock#4
  locations 7
  end l5
  error assertion l6
  atomic l2 .. l3
  waits semaphore l1
  spurious l4
  l0 -> l1: %1 := i32[&x] @ 0:7:3
  l1 -> l2: assume (%1 + 1) < argc @ 0:8:3
  l1 -> l1: assume !((%1 + 1) < argc)
  l2 -> l3: i32[argv in {a by 4 times 3, block + 8}] := any, ok := unknown where old(ok) == ok
  l3 -> l4: lock mutex &m; atomic i32[&x] := -(3); unlock mutex &m
  l4 -> l5: lock#4 := spawn worker(3u8, u64(argc))
  l4 -> l5: argv := allocate block 8u64 zeroed
  l4 -> l6: call *argv(if(ok, 1, 2), overflows(argc + 1), valid(argv, 4), myself, procedure worker)
  l4 -> l5:
  l4 -> l5: argv := join lock#4; free argv; fill(argv, 0, 4u64); copy(argv, &buffer, 4u64)
}

template worker() {
  locations 1
}
"#;

#[test]
fn reads_and_prints_the_same() {
    let parsed = parse(COUNTER).expect("it is a program");
    assert_eq!(print(&parsed), COUNTER);
    let main = &parsed.templates[TemplateId(0)];
    assert_eq!(main.parameters, 2);
    assert_eq!(main.edges[EdgeId(0)].span, Span { file: 0, line: 7, column: 3 });
}

#[test]
fn layout_of_the_text_is_free() {
    let text = "program ilp32 // a comment\nstart t 2 template t ( ) { locations 2 end l1\n\nl0\n-> l1 : }";
    let parsed = parse(text).expect("it is a program");
    assert_eq!(check(&parsed), Ok(()));
    assert_eq!(
        print(&parsed),
        "program ilp32\nstart t 2\n\ntemplate t() {\n  locations 2\n  end l1\n  l0 -> l1:\n}\n"
    );
}

#[test]
fn round_trip_of_random_programs() {
    for seed in 0..3000 {
        let original = program(seed);
        assert_eq!(check(&original), Ok(()), "seed {seed}");
        let text = print(&original);
        let parsed = parse(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert_eq!(parsed, original, "seed {seed}\n{text}");
        assert_eq!(print(&parsed), text, "seed {seed}");
    }
}

#[test]
fn no_edit_of_a_text_makes_the_parser_panic() {
    let mut random = Random::new(7);
    for seed in 0..400 {
        let text = if seed % 8 == 0 { COUNTER.to_owned() } else { print(&program(seed)) };
        for _ in 0..20 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..1 + random.below(4) {
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes[at] = random.below(256) as u8,
                    1 => {
                        bytes.remove(at);
                    }
                    2 => bytes.insert(at, b"(){}[]#%&\"-9x\\:;"[random.below(16)]),
                    _ => {
                        let from = random.below(bytes.len());
                        let piece = bytes[from..(from + 12).min(bytes.len())].to_vec();
                        bytes.splice(at..at, piece);
                    }
                }
            }
            if let Ok(parsed) = parse(&String::from_utf8_lossy(&bytes)) {
                // A parsed program can be checked and printed, and parses to the same program again.
                let _ = check(&parsed);
                assert_eq!(parse(&print(&parsed)).as_ref(), Ok(&parsed));
            }
        }
    }
}

#[track_caller]
fn complains(text: &str, line: u32, column: u32, message: &str) {
    let error = parse(text).expect_err("it is not a program");
    assert_eq!((error.line, error.column), (line, column), "{error}");
    assert!(error.message.contains(message), "{error}");
}

#[test]
fn messages_say_where_and_what() {
    complains("", 1, 1, "expected `program`, found the end of the text");
    complains("program lp65", 1, 9, "expected `ilp32` or `lp64`, found `lp65`");
    complains("program lp64\n  static x i32", 2, 12, "expected `:`, found `i32`");
    complains("program lp64\nstatic x: i32\nstatic x: i32", 3, 8, "`x` is declared twice");
    complains("program lp64\nstart main 1", 2, 7, "there is no template called `main`");
    complains("program lp64\nstatic x: \"i32\"", 2, 11, "expected a layout");
    complains("program lp64\nfile \"a", 2, 6, "does not end");
    complains("program lp64 \u{e4}", 1, 14, "has no meaning here");
    let body = |line: &str| format!("program lp64\ntemplate t(a: i32) {{\n locations 2\n {line}\n}}");
    complains(&body("l0 -> l9:"), 4, 8, "there is no location l9: the template has 2");
    complains(&body("l0 -> l1: assume b"), 4, 19, "there is no local variable called `b`");
    complains(&body("l0 -> l1: a := a + a + a"), 4, 23, "no precedence");
    complains(&body("l0 -> l1: a := 3i"), 4, 17, "`i` is no integer type");
    complains(&body("l0 -> l1: a := 99999999999999999999999999999999999999999"), 4, 17, "too large");
    complains(&body("l0 -> l1: a :="), 5, 1, "expected an expression, found `}`");
    complains(&body("error nothing l1"), 4, 8, "expected `reach_error`");
    complains("program lp64\ntemplate t() { locations 4000000000 }", 2, 26, "at most 16777216 locations");
}

fn assuming(condition: Expr) -> Program {
    let mut program =
        parse("program lp64\ntemplate t(a: bool) { locations 2 l0 -> l1: }").expect("it is a program");
    program.templates[TemplateId(0)].edges[EdgeId(0)].ops = vec![Op::Assume(condition)];
    program
}

#[test]
fn deep_nesting() {
    let unary = |inner: Expr, _: usize| Expr::unary(UnaryOp::Not, IntType::BOOL, inner);
    let left = |inner: Expr, _: usize| Expr::binary(BinaryOp::Eq, IntType::BOOL, inner, Expr::bool(true));
    let right = |inner: Expr, _: usize| Expr::binary(BinaryOp::Eq, IntType::BOOL, Expr::bool(true), inner);
    let minus = |inner: Expr, _: usize| Expr::unary(UnaryOp::Neg, IntType::BOOL, inner);
    let grow: [&dyn Fn(Expr, usize) -> Expr; 4] = [&unary, &left, &right, &minus];
    for grow in grow {
        let deepest = assuming((1..MAX_DEPTH).fold(Expr::bool(false), grow));
        assert_eq!(check(&deepest), Ok(()));
        assert_eq!(parse(&print(&deepest)), Ok(deepest));
    }
    for opening in ["(", "!", "-", "~", "if(", "i32(", "i32[", "valid(", "old(", "overflows("] {
        let text =
            format!("program lp64\ntemplate t() {{ locations 2 l0 -> l1: assume {}", opening.repeat(100_000));
        let error = parse(&text).expect_err("it is not a program");
        assert!(error.message.contains("nested too deeply"), "{error}");
    }
    for opening in ["[1 of ", "{ a: "] {
        let text = format!("program lp64\nstatic x: {}", opening.repeat(100_000));
        let error = parse(&text).expect_err("it is not a program");
        assert!(error.message.contains("nested too deeply"), "{error}");
    }
}

/// Malformed programs are printed as well, for the reader of a complaint.
#[test]
fn malformed_programs_are_printed() {
    let nonsense = Expr::binary(
        BinaryOp::Add,
        IntType { bits: 7, signed: true },
        Expr::Local(crate::LocalId(9)),
        Expr::Address(crate::ObjectId(9), 1),
    );
    let text = print(&assuming(nonsense));
    assert!(text.contains("assume ?v9 +:i7 &(?o9 + 1)"), "{text}");
    let odd =
        assuming(Expr::binary(BinaryOp::Add, IntType::U8, Expr::bool(true), Expr::int(2, IntType::I32)));
    assert_eq!(parse(&print(&odd)), Ok(odd));
}

#[test]
fn the_example_in_the_documentation_is_a_program() {
    let document = include_str!("../../../../docs/ir.md");
    let lines = document
        .lines()
        .skip_while(|line| !line.starts_with("    "))
        .take_while(|line| !line.starts_with('#'));
    let example: String =
        lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect();
    let parsed = parse(&example).expect("it is a program");
    assert_eq!(check(&parsed), Ok(()));
    assert_eq!(print(&parsed).trim(), example.trim());
}
