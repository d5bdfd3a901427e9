//! What verifiers and assertions call: inputs, assumptions, errors, atomic regions, the end of the program.

use super::emit::{int, nothing_happens, truth};
use super::{Answer, Call, Context, Entry, Wins};
use ir::{BinaryOp, ErrorKind, Expr, IntType, LocationKind, Op, Rhs};

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["__VERIFIER_nondet_*"], wins: Wins::Model, model: input },
    Entry { names: &["nondet_*", "__CPROVER_nondet_*"], wins: Wins::Body, model: input },
    Entry { names: &["__VERIFIER_assume", "__CPROVER_assume"], wins: Wins::Model, model: assume },
    Entry { names: &["__builtin_assume"], wins: Wins::Model, model: assume },
    Entry {
        names: &["assume_abort_if_not"],
        wins: Wins::Body,
        model: |c, call| require(c, call, LocationKind::Halt),
    },
    Entry {
        names: &["reach_error", "__VERIFIER_error"],
        wins: Wins::Model,
        model: |c, _| stop(c, LocationKind::Error(ErrorKind::ReachError)),
    },
    Entry {
        names: &["__assert_fail", "__assert_rtn", "__assert_perror_fail", "__assert", "__assert_func"],
        wins: Wins::Body,
        model: |c, _| stop(c, LocationKind::Error(ErrorKind::Assertion)),
    },
    Entry {
        names: &["assert"],
        wins: Wins::Body,
        model: |c, call| require(c, call, LocationKind::Error(ErrorKind::Assertion)),
    },
    Entry {
        names: &["__CPROVER_assert"],
        wins: Wins::Model,
        model: |c, call| require(c, call, LocationKind::Error(ErrorKind::Assertion)),
    },
    Entry {
        names: &["__VERIFIER_assert"],
        wins: Wins::Body,
        model: |c, call| require(c, call, LocationKind::Error(ErrorKind::ReachError)),
    },
    Entry {
        names: &["abort", "exit", "_exit", "_Exit", "quick_exit"],
        wins: Wins::Body,
        model: |c, _| stop(c, LocationKind::Halt),
    },
    Entry { names: &["__builtin_trap"], wins: Wins::Model, model: |c, _| stop(c, LocationKind::Halt) },
    Entry {
        names: &["__VERIFIER_atomic_begin", "__CPROVER_atomic_begin"],
        wins: Wins::Model,
        model: |context, _| {
            context.builder.atomic_begin();
            Some(Answer::Nothing)
        },
    },
    Entry {
        names: &["__VERIFIER_atomic_end", "__CPROVER_atomic_end"],
        wins: Wins::Model,
        model: |context, _| {
            context.builder.atomic_end();
            Some(Answer::Nothing)
        },
    },
    Entry {
        names: &[
            "__CPROVER_cover",
            "__CPROVER_input",
            "__CPROVER_output",
            "__CPROVER_fence",
            "__CPROVER_printf",
        ],
        wins: Wins::Model,
        model: nothing_happens,
    },
    Entry { names: &["__builtin_unreachable"], wins: Wins::Model, model: never },
    Entry {
        names: &["__builtin_expect", "__builtin_expect_with_probability", "__builtin_assume_aligned"],
        wins: Wins::Model,
        model: |context, call| {
            let value = call.argument(0)?;
            Some(Answer::Value(context.settle(value)))
        },
    },
    Entry {
        names: &["__builtin_prefetch", "__builtin___clear_cache"],
        wins: Wins::Model,
        model: nothing_happens,
    },
    Entry {
        names: &["__builtin_object_size", "__builtin_dynamic_object_size"],
        wins: Wins::Model,
        // The value for "not known": all ones, or zero for the smallest estimate.
        model: |_, call| Some(Answer::Value(int(if call.argument(1)?.constant? < 2 { -1 } else { 0 }))),
    },
];

/// An input of the program: any value of the type that the function is declared with.
fn input(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let kind = call.name.rsplit_once("nondet_").map_or("", |(_, kind)| kind).to_ascii_lowercase();
    if kind == "memory" {
        context.assume(call, "the memory keeps its content", true);
        context.lose_path();
        return Some(Answer::Nothing);
    }
    let Some(ty) = call.result else { return Some(Answer::Nothing) };
    let is = |names: &[&str]| names.iter().any(|name| kind.contains(name));
    if is(&["float", "double"]) {
        return Some(context.answer_number(call));
    }
    if is(&["pointer", "pchar", "charp", "voidp", "ptr"]) {
        context.assume(call, "where an arbitrary pointer points to is not known", true);
        return context.answer_open(call, Rhs::Unknown);
    }
    // The competition's function gives a Boolean, whatever type it is declared with.
    if call.name == "__VERIFIER_nondet_bool" && ty != IntType::BOOL {
        context.assume(call, "it gives 0 or 1", false);
        let within = |value: Expr| {
            let zero = Expr::binary(BinaryOp::Le, ty, Expr::int(0, ty), value.clone());
            Some(zero.and(Expr::binary(BinaryOp::Le, ty, value, Expr::int(1, ty))))
        };
        return Some(Answer::Value(context.open_value(ty, Rhs::Any, within)));
    }
    context.answer_open(call, Rhs::Any)
}

fn assume(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let condition = call.argument(0)?;
    let condition = truth(condition.value.clone(), condition.ty);
    context.builder.emit(Op::Assume(condition));
    Some(Answer::Nothing)
}

/// Continues where the condition holds, and ends in a location of that kind where it does not.
fn require(context: &mut Context<'_>, call: &Call<'_>, otherwise: LocationKind) -> Option<Answer> {
    let condition = call.argument(0)?;
    let (ty, condition) = (condition.ty, context.settle(condition));
    let (good, bad) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(condition, ty), good, bad);
    context.builder.continue_at(bad);
    context.builder.stop(otherwise);
    context.builder.continue_at(good);
    Some(Answer::Nothing)
}

fn stop(context: &mut Context<'_>, kind: LocationKind) -> Option<Answer> {
    context.builder.stop(kind);
    Some(Answer::Nothing)
}

fn never(context: &mut Context<'_>, _: &Call<'_>) -> Option<Answer> {
    context.builder.emit(Op::Assume(Expr::bool(false)));
    Some(Answer::Nothing)
}
