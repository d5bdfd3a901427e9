//! What becomes of handlers, the flag, and locals that hold it.

use super::{Handler, Interrupts, run_to_completion, threads};
use crate::ids::{ObjectId, TemplateId};
use crate::op::{LockKind, Op, Rhs};
use crate::program::{Count, Program};
use crate::{check, text};

/// A program whose main procedure saves the flag, clears it, writes `x`, and restores it; and a handler that
/// writes `x`.
const SECTION: &str = "program ilp32
    start main 1
    static flag: u8
    static x: i32
    template main() {
      local saved: u8
      locations 6
      l0 -> l1: atomic u8[&flag] := 128u8
      l1 -> l2: saved := atomic u8[&flag], atomic u8[&flag] := 0u8
      l2 -> l3: i32[&x] := 1
      l3 -> l4: atomic u8[&flag] := saved
      l4 -> l1:
    }
    template handler() {
      locations 2
      end l1
      l0 -> l1: i32[&x] := 2
    }";

fn program(source: &str, enables: bool) -> Program {
    let program = text::parse(source).expect("it can be read");
    check::check(&program).expect("it is well formed");
    let handler = program.templates.enumerate().find(|(_, template)| template.name == "handler");
    let handlers = handler.map(|(template, _)| Handler { template, enables }).into_iter().collect();
    let result = threads(&program, &Interrupts { flag: ObjectId(0), enabled: 128, handlers });
    check::check(&result).expect("the result is well formed");
    assert!(result.objects.iter().all(|object| object.name != "flag"), "the flag is gone");
    result
}

fn edges(program: &Program) -> Vec<(TemplateId, bool, &[Op])> {
    let mut found = Vec::new();
    for (id, template) in program.templates.enumerate() {
        for edge in &template.edges {
            found.push((id, template.locations[edge.source].atomic, edge.ops.as_slice()));
        }
    }
    found
}

fn writes(ops: &[Op]) -> bool {
    ops.iter().any(|op| !op.targets().is_empty())
}

#[test]
fn a_handler_without_interrupts_is_atomic() {
    let program = program(SECTION, false);
    assert_eq!(program.start.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [Count::Exactly(1); 2]);
    // Both accesses are where only their thread runs.
    assert!(edges(&program).iter().filter(|(_, _, ops)| writes(ops)).all(|(_, atomic, _)| *atomic));
    assert!(edges(&program).iter().all(|(_, _, ops)| ops.iter().all(|op| !matches!(op, Op::Lock(..)))));
    assert_eq!(run_to_completion(&program), program);
}

#[test]
fn a_handler_with_interrupts_holds_the_processor() {
    let program = program(SECTION, true);
    assert_eq!(program.start[1].1, Count::Any);
    let edges = edges(&program);
    let takes = |kind: LockKind| move |op: &Op| matches!(op, Op::Lock(taken, _) if *taken == kind);
    assert_eq!(edges.iter().filter(|(_, _, ops)| ops.iter().any(takes(LockKind::Read))).count(), 1);
    // At the start of the program, and of the section.
    assert_eq!(edges.iter().filter(|(_, _, ops)| ops.iter().any(takes(LockKind::Write))).count(), 2);
    let exact = run_to_completion(&program);
    check::check(&exact).expect("the result is well formed");
    let guarded = |ops: &[Op]| matches!(ops.last(), Some(Op::Assume(_))) && ops.len() > 1;
    let open = exact.templates.iter().flat_map(|template| {
        template.edges.iter().filter(|edge| !template.locations[edge.source].atomic && guarded(&edge.ops))
    });
    // The handler's access; what the main procedure does is in its atomic section.
    assert_eq!(open.filter(|edge| writes(&edge.ops)).count(), 1);
    assert_eq!(run_to_completion(&exact), exact);
}

#[test]
fn what_is_not_known_is_a_guess() {
    let source = SECTION.replace(":= saved", ":= u8[&y]").replace("static x", "static y: u8\n static x");
    let program = program(&source, false);
    let guesses = edges(&program).into_iter().filter(|(_, _, ops)| {
        ops.iter().any(|op| matches!(op, Op::Assign(assignment) if assignment.pairs.iter().any(|(_, rhs)| *rhs == Rhs::Unknown)))
    });
    assert_eq!(guesses.count(), 2, "{}", text::print(&program));
}

#[test]
fn procedures_are_copied_for_each_state() {
    let source = "program ilp32
        start main 1
        static flag: u8
        static x: i32
        template main() {
          locations 6
          l0 -> l1: call use()
          l1 -> l2: call enable()
          l2 -> l3: call use()
          l3 -> l3:
        }
        template use() {
          locations 2
          end l1
          l0 -> l1: i32[&x] := 1
        }
        template enable() {
          locations 2
          end l1
          l0 -> l1: atomic u8[&flag] := 128u8
        }
        template handler() {
          locations 2
          end l1
          l0 -> l1: call use()
        }";
    let program = program(source, false);
    let uses: Vec<bool> =
        edges(&program).into_iter().filter(|(_, _, ops)| writes(ops)).map(|(_, atomic, _)| atomic).collect();
    assert_eq!(uses.iter().filter(|atomic| !**atomic).count(), 1, "{}", text::print(&program));
    assert_eq!(uses.iter().filter(|atomic| **atomic).count(), 1, "{}", text::print(&program));
}

#[test]
fn a_call_that_never_returns_is_still_made() {
    let source = "program ilp32
        start main 1
        static flag: u8
        static x: i32
        template main() {
          locations 3
          l0 -> l1: atomic u8[&flag] := 128u8
          l1 -> l2: call forever()
          l2 -> l2:
        }
        template forever() {
          locations 2
          l0 -> l0: i32[&x] := 1
        }
        template handler() {
          locations 2
          end l1
          l0 -> l1: i32[&x] := 2
        }";
    let program = program(source, false);
    let plain = edges(&program).into_iter().filter(|(_, atomic, ops)| writes(ops) && !atomic);
    assert_eq!(plain.count(), 1, "{}", text::print(&program));
}
