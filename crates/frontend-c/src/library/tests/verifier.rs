//! Inputs, assumptions, errors, the end of the program.

use super::*;

fn one_call(name: &str, arguments: Vec<Argument>) -> (Runs, World) {
    let mut world = World::default();
    let reached = world.global("reached", 4);
    let main = world.template("main", |code| {
        code.run(name, arguments);
        code.store(reached, 0, int(1));
    });
    world.start(main, 1);
    (runs(&world, &[(reached, 0, IntType::I32)]), world)
}

#[test]
fn errors_and_ends() {
    for (name, kind) in [
        ("reach_error", ErrorKind::ReachError),
        ("__VERIFIER_error", ErrorKind::ReachError),
        ("__assert_fail", ErrorKind::Assertion),
    ] {
        let (runs, _) = one_call(name, vec![]);
        assert_eq!((runs.errors, runs.ended.len()), (BTreeSet::from([kind]), 0), "{name}");
    }
    for name in ["abort", "exit", "_exit", "__builtin_abort", "__builtin_trap"] {
        let (runs, _) = one_call(name, vec![]);
        assert!(runs.halted && runs.ended.is_empty() && runs.errors.is_empty(), "{name}");
    }
}

#[test]
fn conditions_hold_or_end_the_run() {
    for (name, kind) in [
        ("assert", Some(ErrorKind::Assertion)),
        ("__CPROVER_assert", Some(ErrorKind::Assertion)),
        ("__VERIFIER_assert", Some(ErrorKind::ReachError)),
        ("assume_abort_if_not", None),
        ("__VERIFIER_assume", None),
    ] {
        let (good, _) = one_call(name, vec![number(2)]);
        assert_eq!((good.ended.len(), good.errors.len(), good.halted), (1, 0, false), "{name}");
        let (bad, _) = one_call(name, vec![number(0)]);
        assert_eq!((bad.ended.len(), bad.errors), (0, kind.into_iter().collect()), "{name}");
        assert_eq!(bad.halted, name == "assume_abort_if_not", "{name}");
    }
}

#[test]
fn inputs_have_the_declared_type() {
    for (name, ty, count) in [
        ("__VERIFIER_nondet_int", IntType::I32, 2),
        ("__VERIFIER_nondet_bool", IntType::BOOL, 2),
        ("__VERIFIER_nondet_bool", IntType::I32, 2),
        ("__VERIFIER_nondet_uchar", IntType::U8, 2),
        ("rand", IntType::I32, 2),
    ] {
        let mut world = World::default();
        let out = world.global("out", 4);
        let main = world.template("main", |code| {
            let value = code.call_as(name, vec![], ty);
            assert_eq!(code.program.type_in(&code.builder.template, &value), ty);
            code.store(out, 0, if ty == IntType::I32 { value } else { Expr::cast(IntType::I32, value) });
        });
        world.start(main, 1);
        assert_eq!(results(&world, &[(out, 0, IntType::I32)]).len(), count, "{name}");
        assert!(world.program.assumptions.iter().all(|assumption| !assumption.limits_proof));
    }
}

#[test]
fn pointers_from_nowhere_limit_proofs() {
    let mut world = World::default();
    world.template("main", |code| {
        code.call_as("__VERIFIER_nondet_pointer", vec![], IntType::U64);
    });
    assert!(world.program.assumptions[0].limits_proof);
}
