//! The table itself: names are unique, and both questions about a name get the same answer.

use super::super::{FAMILIES, Wins, is_modelled};
use super::*;

fn generous(object: ObjectId) -> Argument {
    let pointee = Pointee {
        size: 64,
        scalar: Some(IntType::I32),
        type_name: "int".into(),
        is_incomplete_record: false,
        atomic: false,
        is_pointer: false,
        has_pointer: false,
        callback: None,
    };
    Argument { pointee: Some(pointee), constant: Some(1), ..argument(Expr::Address(object, 0), IntType::U64) }
}

#[test]
fn each_name_stands_once() {
    let mut seen = BTreeSet::new();
    for name in FAMILIES.iter().copied().flatten().flat_map(|entry| entry.names) {
        assert!(seen.insert(*name), "{name} stands twice");
    }
}

#[test]
fn the_two_questions_agree() {
    for entry in FAMILIES.iter().copied().flatten() {
        for pattern in entry.names {
            let name = pattern.replace('*', "something");
            assert_eq!(is_modelled(&name), entry.wins == Wins::Model, "{name}");
            for result in [None, Some(IntType::I32), Some(IntType::U64)] {
                let mut world = World::default();
                let object = world.global("object", 64);
                world.template("main", |code| {
                    let arguments = (0..6).map(|_| generous(object)).collect();
                    let outcome = code.outcome(&name, arguments, result);
                    assert_ne!(outcome, Outcome::NotKnown, "{name}");
                    if let Outcome::Value(value) = &outcome {
                        assert_eq!(
                            Some(code.program.type_in(&code.builder.template, value)),
                            result,
                            "{name}"
                        );
                    }
                    assert_eq!(outcome == Outcome::Void, result.is_none(), "{name}");
                    // Only the functions that say so leave an atomic region open.
                    assert_eq!(code.builder.is_atomic(), name.ends_with("atomic_begin"), "{name}");
                });
                check_shape(&world.program);
            }
        }
    }
}

#[test]
fn what_is_not_known_emits_nothing() {
    for name in FAMILIES.iter().copied().flatten().flat_map(|entry| entry.names) {
        let name = name.replace('*', "something");
        for count in 0..6 {
            let mut world = World::default();
            let object = world.global("object", 64);
            world.template("main", |code| {
                // Loads, so that settling an argument leaves a trace.
                let load = || Expr::load(Place::cell(object, 0, IntType::U64));
                let arguments = (0..count).map(|_| argument(load(), IntType::U64)).collect();
                if code.outcome(&name, arguments, Some(IntType::I32)) == Outcome::NotKnown {
                    assert!(code.builder.template.edges.is_empty(), "{name} with {count} arguments");
                    assert!(code.program.assumptions.is_empty(), "{name} with {count} arguments");
                    assert_eq!(code.program.objects.len(), 1, "{name} with {count} arguments");
                    assert!(!code.builder.is_atomic(), "{name} with {count} arguments");
                }
            });
        }
    }
}

#[test]
fn names_that_must_win_over_a_body() {
    for name in [
        "reach_error",
        "__VERIFIER_error",
        "__VERIFIER_assume",
        "__VERIFIER_nondet_int",
        "__VERIFIER_nondet_unsigned_charp",
        "__VERIFIER_atomic_begin",
        "__VERIFIER_atomic_end",
        "pthread_create",
        "pthread_attr_setdetachstate",
        "pthread_mutex_lock",
        "malloc",
        "__builtin_memcpy",
        "__builtin___strcpy_chk",
        "printf",
    ] {
        assert!(is_modelled(name), "{name}");
    }
    for name in [
        "assume_abort_if_not",
        "assert",
        "exit",
        "kmalloc",
        "kzalloc",
        "main",
        "atomic_fetch_add",
        "read",
        "",
    ] {
        assert!(!is_modelled(name), "{name}");
    }
}

#[test]
fn other_names_are_not_known() {
    let mut world = World::default();
    world.template("main", |code| {
        for name in ["kmalloc", "__builtin_", "__chk", "pthread_", "__VERIFIER_", "foo"] {
            assert_eq!(code.outcome(name, vec![], None), Outcome::NotKnown, "{name}");
        }
    });
}
