//! Printing and reading again gives the same program; every dialect is read.

use crate::ast::{BinaryOperator, Connective, Expr, Name, Variable};
use crate::parser::parse;
use crate::printer::{expression, print};
use crate::{Options, Position, read_program, tts};
use proptest::prelude::*;

/// A program with everything in it.
const ALL: &str = "
decl g := 0, h, {x==1} := *; decl m;
bool<2> pair(a, b) begin return !a, a & b | g; end
bool dfs one() begin decl x; enforce x | !x; L: M: x := schoose[g, F]; return x; end
void main() begin
  decl l := 1, k;
  l, k := pair(T, *);
  g := one();
  l, g := g, * constrain ('g != l) & (k' => 'l);
  {x==1} := ~{x==1} ^ (g = h) ? T : F;
  constrain('g = h);
  assume(g & h & l); assert !g;
  abortif(k);
  if g then skip; elsif h then goto A, B; else return; fi;
  while * do print(g, h); od
  A: start_thread goto B;
  start_thread one();
  ASYNC_1: one();
  lock m; unlock(m); atomic_begin; atomic_end; wait; broadcast;
  l, l$ := T, !l$;
  B: end_thread
end
";

#[test]
fn what_is_printed_reads_the_same() {
    let program = parse(ALL).expect("it is a program");
    let printed = print(&program);
    assert_eq!(parse(&printed).as_ref(), Ok(&program), "{printed}");
    assert_eq!(print(&parse(&printed).expect("just read")), printed);
}

#[test]
fn all_of_it_has_a_meaning() {
    let text = ALL.replace("  l, l$ := T, !l$;\n", "");
    let program = read_program("all.bp", text.as_bytes(), &Options::default()).expect("it is a program");
    assert_eq!(ir::check::check(&program), Ok(()));
    let text = "void main() begin decl l; l, l$ := T, !l$ constrain 'l$ | l; end";
    let program = read_program("others.bp", text.as_bytes(), &Options::default()).expect("it is a program");
    assert_eq!(ir::check::check(&program), Ok(()));
    let printed = ir::text::print(&program);
    assert_eq!(ir::text::parse(&printed).as_ref(), Ok(&program), "{printed}");
}

#[test]
fn systems_are_printed_as_they_are_read() {
    let text = "#init 1|0,0/2\n3 4\n0 1 -> 2 3 1 ~> 2 1 ~> 3\n0 0 +> 1 1\n";
    let system = tts::parse(text).expect("it is a system");
    assert_eq!(tts::print(&system), text);
    assert_eq!(
        tts::parse_initial("0/2").map(|initial| (initial.shared, initial.one, initial.any)),
        Ok((0, vec![], vec![2]))
    );
    assert!(tts::parse_target("1,2").is_err());
}

fn expressions() -> impl Strategy<Value = Expr> {
    let name = |text: &str| Name { text: text.to_owned(), at: Position::default() };
    let variable = prop_oneof![Just("a"), Just("b$"), Just("{c > 1}")];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Expr::Constant),
        Just(Expr::Choice),
        (variable, any::<bool>())
            .prop_map(move |(text, next)| Expr::Variable(Variable { name: name(text), next })),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let operator = prop_oneof![
            Just(BinaryOperator::Equal),
            Just(BinaryOperator::Different),
            Just(BinaryOperator::Xor),
            Just(BinaryOperator::Implies)
        ];
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|operand| Expr::Not(Box::new(operand))),
            (any::<bool>(), prop::collection::vec(inner.clone(), 2..4)).prop_map(|(and, operands)| {
                Expr::Many(if and { Connective::And } else { Connective::Or }, operands)
            }),
            (operator, pair.clone()).prop_map(|(operator, pair)| Expr::Binary(operator, Box::new(pair))),
            pair.clone().prop_map(|pair| Expr::Schoose(Box::new(pair))),
            (inner, pair)
                .prop_map(|(first, (second, third))| Expr::Conditional(Box::new((first, second, third)))),
        ]
    })
}

proptest! {
    #[test]
    fn expressions_are_printed_as_they_are_read(expr in expressions()) {
        let text = format!("void main() begin assume {}; end", expression(&expr));
        let program = parse(&text).expect("what is printed can be read");
        let crate::ast::StatementKind::Assume(read) = &program.procedures[0].body[0].kind else { panic!("{text}") };
        prop_assert_eq!(read, &expr);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[a-z(){};:=!&|'*$ 0-9,\\n]{0,80}") {
        let _ = parse(&text);
        let _ = read_program("x.bp", format!("decl g; void main() begin {text} end").as_bytes(), &Options::default());
        let _ = tts::parse(&text);
    }
}
