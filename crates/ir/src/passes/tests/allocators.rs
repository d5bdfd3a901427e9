//! Copies of functions that allocate memory.

use super::assert_same;
use crate::expr::Expr;
use crate::ids::Id;
use crate::passes::PointsTo;
use crate::passes::allocators::{CallUses, separate};
use crate::program::{Program, SiteUse, Span};
use crate::text::parse;
use crate::types::{IntType, Layout};
use crate::{LocalId, ObjectId, Target, Targets, TemplateId};

/// `outer` allocates through `inner`, for three calls in `main`.
const WRAPPERS: &str = r#"program lp64
start main 1
site m: bytes 0 align 16 = unknown
site kept: u64
static x: u64
template inner(size: u64) {
  local r: u64
  local k: u64
  result r
  locations 4 end l2
  l0 -> l3: k := allocate kept 8u64
  l3 -> l1: r := allocate m size
  l1 -> l2: assume r != 0u64
}
template outer(size: u64) {
  local r: u64
  result r
  locations 2 end l1
  l0 -> l1: r := call inner(size)
}
template main() {
  local p: u64
  local q: u64
  local s: u64
  locations 6 end l5
  l0 -> l1: p := call outer(8u64) @ 0:10:1
  l1 -> l2: q := call outer(8u64) @ 0:11:1
  l2 -> l3: s := call inner(16u64) @ 0:12:1
  l3 -> l4: u64[p] := 1u64
  l4 -> l5: u64[&x] := u64[p]
}
"#;

fn program() -> Program {
    let program = parse(WRAPPERS).expect("it is a program");
    Program { files: vec!["a.c".to_owned()], ..program }
}

fn targets(program: &Program, local: u32) -> Vec<Target> {
    let main = program.templates.enumerate().find(|(_, code)| code.name == "main");
    let (main, _) = main.expect("there is one");
    match PointsTo::of(program).targets(main, &Expr::Local(LocalId(local))) {
        Targets::Of(targets) => targets.to_vec(),
        Targets::Any => panic!("the sets are known"),
    }
}

#[test]
fn each_call_has_its_own_memory() {
    let before = program();
    let used = |name: &str| SiteUse {
        site: ObjectId::new(0),
        variable: name.to_owned(),
        type_name: "long".to_owned(),
        layout: Layout::Scalar(IntType::I64),
        size: 8,
    };
    let call = Span { line: 11, column: 1, ..Span::default() };
    let uses: CallUses = [(call, used("q"))].into_iter().collect();
    let mut after = before.clone();
    separate(&mut after, &uses, 100);
    assert!(assert_same(0, &before, &after));
    let sites: Vec<ObjectId> = (0..3).flat_map(|local| targets(&after, local)).map(|to| to.object).collect();
    let names: Vec<&str> = sites.iter().map(|site| after.objects[*site].name.as_str()).collect();
    assert_eq!(names, ["outer in line 10", "outer in line 11", "inner in line 12"]);
    let kept = after.objects.iter().filter(|object| object.name == "kept").count();
    assert_eq!(kept, 3, "what is not given back keeps its name");
    let typed: Vec<ObjectId> = after.site_uses.iter().map(|used| used.site).collect();
    assert_eq!(typed, [sites[1]], "the second call says what its memory is used as");
    assert_eq!(before.functions(before.templates.ids()), after.functions(after.templates.ids()));
}

#[test]
fn copies_stop_at_their_limit() {
    let mut after = program();
    separate(&mut after, &CallUses::default(), 0);
    assert_eq!(after.templates.len(), 3);
    assert_eq!(targets(&after, 0), targets(&after, 1), "all memory is of one site");
}

#[test]
fn a_function_that_calls_itself_is_not_copied() {
    let text = WRAPPERS.replace("l1 -> l2: assume r != 0u64", "l1 -> l2: r := call outer(size)");
    let mut after = parse(&text).expect("it is a program");
    separate(&mut after, &CallUses::default(), 100);
    assert_eq!(after.templates.len(), 3);
}

#[test]
fn a_function_that_knows_the_type_is_not_copied() {
    let text = WRAPPERS.replace("r := call inner(size)", "r := call inner(size) @ 0:5:1");
    let mut after = parse(&text).expect("it is a program");
    let call = Span { line: 5, column: 1, ..Span::default() };
    let layout = Layout::Scalar(IntType::I64);
    let (variable, type_name) = (String::new(), "long".to_owned());
    let used = SiteUse { site: ObjectId::new(0), variable, type_name, layout, size: 8 };
    separate(&mut after, &[(call, used)].into_iter().collect(), 100);
    let outer = after.templates.iter().filter(|code| code.name == "outer").count();
    assert_eq!(outer, 1, "its memory is of one type for all callers");
    assert_ne!(targets(&after, 0), targets(&after, 2), "what it calls is copied");
    assert_eq!(after.templates.ids().next(), Some(TemplateId::new(0)));
}
