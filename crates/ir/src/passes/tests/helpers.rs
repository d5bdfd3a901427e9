//! Copies of functions that store pointers for their callers.

use super::assert_same;
use crate::expr::Expr;
use crate::passes::PointsTo;
use crate::passes::helpers::separate;
use crate::program::Program;
use crate::text::parse;
use crate::{LocalId, ObjectId, Targets};

/// `link` stores what it is given, `insert` calls it, and `main` calls both; `count` stores no pointer.
const LISTS: &str = r#"program lp64
start main 1
static a: u64
static b: u64
static x: u64
static y: u64
template link(at: u64, to: u64) {
  locations 2 end l1
  l0 -> l1: u64[at] := to
}
template insert(at: u64, to: u64) {
  locations 2 end l1
  l0 -> l1: call link(at, to)
}
template count(at: u64) {
  locations 2 end l1
  l0 -> l1: u64[at] := 3u64
}
template main() {
  local p: u64
  local q: u64
  locations 7 end l6
  l0 -> l1: call insert(&a, &x)
  l1 -> l2: call link(&b, &y)
  l2 -> l3: p := u64[&a]
  l3 -> l4: q := u64[&b]
  l4 -> l5: u64[q] := 1u64
  l5 -> l6: call count(&x)
}
"#;

fn targets(program: &Program, local: u32) -> Vec<ObjectId> {
    let main = program.templates.enumerate().find(|(_, code)| code.name == "main");
    let (main, _) = main.expect("there is one");
    match PointsTo::of(program).targets(main, &Expr::Local(LocalId(local))) {
        Targets::Of(targets) => targets.iter().map(|target| target.object).collect(),
        Targets::Any => panic!("the sets are known"),
    }
}

#[test]
fn each_call_has_its_own_sets() {
    let before = parse(LISTS).expect("it is a program");
    let mut after = before.clone();
    separate(&mut after, 100);
    assert!(assert_same(0, &before, &after));
    let names =
        |program: &Program, name: &str| program.templates.iter().filter(|code| code.name == name).count();
    assert_eq!([names(&after, "link"), names(&after, "insert"), names(&after, "count")], [2, 1, 1]);
    assert_eq!((targets(&before, 0).len(), targets(&before, 1).len()), (2, 2));
    assert_eq!((targets(&after, 0), targets(&after, 1)), (vec![ObjectId(2)], vec![ObjectId(3)]));
}

#[test]
fn copying_stops_at_the_limit() {
    let before = parse(LISTS).expect("it is a program");
    let mut after = before.clone();
    separate(&mut after, 0);
    assert_eq!(after.templates.len(), before.templates.len());
}
