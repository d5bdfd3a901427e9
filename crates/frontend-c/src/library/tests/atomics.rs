//! Atomic operations.

use super::*;

fn at(object: ObjectId) -> Argument {
    cell(object, 0, IntType::I32)
}

#[test]
fn updates_give_the_old_or_the_new_value() {
    let cases = [
        ("__sync_fetch_and_add", 6, 3, 6, 9),
        ("__sync_add_and_fetch", 6, 3, 9, 9),
        ("__atomic_sub_fetch", 6, 3, 3, 3),
        ("atomic_fetch_and", 6, 3, 6, 2),
        ("atomic_fetch_or_explicit", 6, 3, 6, 7),
        ("__atomic_xor_fetch", 6, 3, 5, 5),
        ("__atomic_fetch_nand", 6, 3, 6, -3),
        ("__sync_fetch_and_add", Value::from(i32::MAX), 1, Value::from(i32::MAX), Value::from(i32::MIN)),
        ("__atomic_exchange_n", 6, 3, 6, 3),
        ("__sync_lock_test_and_set", 6, 3, 6, 3),
        ("__sync_val_compare_and_swap", 6, 3, 6, 6),
    ];
    for (name, before, operand, result, after) in cases {
        let values = compute(2, |world, out| {
            let main = world.template("main", |code| {
                code.store(out, 4, int(before));
                let value = code.call(name, vec![cell(out, 4, IntType::I32), number(operand), number(5)]);
                code.store(out, 0, value);
            });
            world.start(main, 1);
        });
        assert_eq!(values, [result, after], "{name}");
    }
}

#[test]
fn updates_are_one_step() {
    let mut world = World::default();
    let shared = world.global("shared", 4);
    let worker = world.template("worker", |code| {
        code.run("atomic_fetch_add", vec![at(shared), number(1)]);
        code.run("__sync_add_and_fetch", vec![at(shared), number(1)]);
    });
    world.start(worker, 3);
    assert_eq!(results(&world, &[(shared, 0, IntType::I32)]), BTreeSet::from([vec![6]]));
}

#[test]
fn atomic_and_plain_accesses_race() {
    let mut world = World::default();
    let shared = world.global("shared", 4);
    let atomic = world.template("atomic", |code| code.run("atomic_fetch_add", vec![at(shared), number(1)]));
    let plain = world.template("plain", |code| code.store(shared, 0, int(1)));
    world.start(atomic, 1);
    world.start(plain, 1);
    assert!(runs(&world, &[]).race);
}

#[test]
fn compare_exchange_succeeds_once() {
    for (name, may_fail) in [
        ("atomic_compare_exchange_strong", false),
        ("atomic_compare_exchange_weak", true),
        ("__atomic_compare_exchange_n", false),
    ] {
        let mut world = World::default();
        let [shared, expected, wins] = ["shared", "expected", "wins"].map(|name| world.global(name, 8));
        for at_word in [0, 4] {
            let worker = world.template("worker", |code| {
                let arguments = vec![at(shared), cell(expected, at_word, IntType::I32), number(7), number(0)];
                let won = code.call(name, arguments);
                code.when(is(won, 1), |code| code.run("__sync_fetch_and_add", vec![at(wins), number(1)]));
            });
            world.start(worker, 1);
        }
        let watch = [(shared, 0, IntType::I32), (wins, 0, IntType::I32)];
        let mut all = results(&world, &watch);
        assert!(all.remove(&vec![7, 1]), "{name}");
        assert_eq!(all, if may_fail { BTreeSet::from([vec![0, 0]]) } else { BTreeSet::new() }, "{name}");
    }
}

#[test]
fn a_failed_exchange_tells_the_value() {
    let values = compute(4, |world, out| {
        let main = world.template("main", |code| {
            code.store(out, 0, int(5));
            let won = code.call(
                "atomic_compare_exchange_strong",
                vec![cell(out, 0, IntType::I32), cell(out, 4, IntType::I32), number(7)],
            );
            code.store(out, 8, won);
            let swapped = code
                .call("__sync_bool_compare_and_swap", vec![cell(out, 0, IntType::I32), number(5), number(8)]);
            code.store(out, 12, swapped);
        });
        world.start(main, 1);
    });
    assert_eq!(values, [8, 5, 0, 1]);
}

#[test]
fn a_flag_is_a_lock() {
    let mut world = World::default();
    let (flag, shared) = (world.global("flag", 1), world.global("shared", 4));
    let to_flag = || cell(flag, 0, IntType::BOOL);
    let worker = world.template("worker", |code| {
        let (again, mine) = (code.builder.label(), code.builder.label());
        code.builder.place(again);
        let taken = code.call("atomic_flag_test_and_set", vec![to_flag()]);
        code.builder.branch(is(taken, 1), again, mine);
        code.builder.continue_at(mine);
        code.add(shared, 1);
        code.run("atomic_flag_clear", vec![to_flag()]);
    });
    world.start(worker, 2);
    assert_eq!(results(&world, &[(shared, 0, IntType::I32)]), BTreeSet::from([vec![2]]));
}

#[test]
fn generic_forms_go_through_memory() {
    let values = compute(4, |world, out| {
        let word = |index: u64| cell(out, 4 * index, IntType::I32);
        let main = world.template("main", |code| {
            code.store(out, 4, int(3));
            code.run("__atomic_store", vec![word(0), word(1), number(5)]);
            code.run("__atomic_load", vec![word(0), word(2), number(5)]);
            code.store(out, 4, int(4));
            code.run("__atomic_exchange", vec![word(0), word(1), word(3), number(5)]);
        });
        world.start(main, 1);
    });
    assert_eq!(values, [4, 4, 3, 3]);
}

#[test]
fn c11_pointer_arithmetic_is_not_guessed() {
    let mut world = World::default();
    let shared = world.global("shared", 8);
    world.template("main", |code| {
        let to_pointer = || {
            let pointee = Pointee {
                size: 8,
                scalar: Some(IntType::U64),
                type_name: "int *".into(),
                is_incomplete_record: false,
                atomic: true,
                is_pointer: true,
                has_pointer: true,
                callback: None,
            };
            Argument { pointee: Some(pointee), ..argument(Expr::Address(shared, 0), IntType::U64) }
        };
        let outcome = code.outcome("atomic_fetch_add", vec![to_pointer(), number(1)], Some(IntType::U64));
        assert_eq!(outcome, Outcome::NotKnown);
        code.run("__sync_fetch_and_add", vec![to_pointer(), number(1)]);
    });
}
