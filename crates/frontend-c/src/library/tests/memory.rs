//! Allocation, runs of bytes, strings.

use super::*;

/// A pointer to a byte of the heap or of an object, without a known type.
fn raw(value: Expr) -> Argument {
    pointer(value, 0)
}
fn load_int(code: &mut Code<'_>, address: Expr, offset: u64) -> Expr {
    let address =
        Expr::binary(BinaryOp::Add, IntType::U64, address, Expr::int(Value::from(offset), IntType::U64));
    Expr::Local(code.builder.save(Expr::load(Place::pointee(address, IntType::I32)), IntType::I32))
}

#[test]
fn calloc_is_zero_and_malloc_is_open() {
    for (name, arguments, all) in [
        ("calloc", vec![size(2), size(4)], BTreeSet::from([vec![0]])),
        ("malloc", vec![size(8)], BTreeSet::from([vec![0], vec![1]])),
    ] {
        let mut world = World::default();
        let out = world.global("out", 4);
        let main = world.template("main", |code| {
            let block = code.call_as(name, arguments, IntType::U64);
            let value = load_int(code, block.clone(), 4);
            code.store(out, 0, value);
            code.run("free", vec![raw(block)]);
        });
        world.start(main, 1);
        assert_eq!(results(&world, &[(out, 0, IntType::I32)]), all, "{name}");
    }
}

#[test]
fn calloc_refuses_a_product_that_is_too_large() {
    for constant in [true, false] {
        let values = compute(1, |world, out| {
            let main = world.template("main", |code| {
                let huge = Expr::int(1 << 63, IntType::U64);
                let huge = if constant { huge } else { Expr::Local(code.builder.save(huge, IntType::U64)) };
                let block = code.call_as("calloc", vec![argument(huge, IntType::U64), size(4)], IntType::U64);
                let null = Expr::binary(BinaryOp::Eq, IntType::U64, block, Expr::int(0, IntType::U64));
                code.store(out, 0, Expr::cast(IntType::I32, null));
            });
            world.start(main, 1);
        });
        assert_eq!(values, [1]);
    }
}

#[test]
fn freed_memory_is_gone() {
    let mut world = World::default();
    let main = world.template("main", |code| {
        let block = code.call_as("malloc", vec![size(8)], IntType::U64);
        code.run("free", vec![raw(block.clone())]);
        code.run("free", vec![null()]);
        load_int(code, block, 0);
    });
    world.start(main, 1);
    assert_eq!(runs(&world, &[]).faults, BTreeSet::from(["InvalidAccess".into()]));
}

#[test]
fn realloc_keeps_what_fits() {
    for (old, new, kept) in [(8, 4, 1), (8, 100, 2), (300, 200, 50), (4, 4, 1), (5000, 8000, 1250)] {
        let values = compute(2, |world, out| {
            let main = world.template("main", |code| {
                let block = code.call_as("malloc", vec![size(old)], IntType::U64);
                code.run("memset", vec![raw(block.clone()), number(1), size(old)]);
                let moved = code.call_as("realloc", vec![raw(block), size(new)], IntType::U64);
                let first = load_int(code, moved.clone(), 0);
                code.store(out, 0, first);
                let last = load_int(code, moved.clone(), 4 * (kept - 1));
                code.store(out, 4, last);
                code.run("free", vec![raw(moved)]);
            });
            world.start(main, 1);
        });
        assert_eq!(values, [0x0101_0101; 2], "{old} to {new}");
    }
}

#[test]
fn realloc_of_nothing_and_to_nothing() {
    let values = compute(2, |world, out| {
        let main = world.template("main", |code| {
            let none = Expr::Local(code.builder.save(Expr::int(0, IntType::U64), IntType::U64));
            let block = code.call_as("realloc", vec![raw(none), size(4)], IntType::U64);
            code.run("memset", vec![raw(block.clone()), number(2), size(4)]);
            let value = load_int(code, block.clone(), 0);
            code.store(out, 0, value);
            let gone = code.call_as("realloc", vec![raw(block), size(0)], IntType::U64);
            code.store(out, 4, Expr::cast(IntType::I32, gone));
        });
        world.start(main, 1);
    });
    assert_eq!(values, [0x0202_0202, 0]);
}

#[test]
fn posix_memalign_checks_the_alignment() {
    let values = compute(3, |world, out| {
        let target = world.global("target", 8);
        let main = world.template("main", |code| {
            for (at, alignment) in [(0, 3), (4, 0), (8, 16)] {
                let arguments = vec![cell(target, 0, IntType::U64), size(alignment), size(8)];
                let value = code.call("posix_memalign", arguments);
                code.store(out, at, value);
            }
            code.run("free", vec![raw(Expr::load(Place::cell(target, 0, IntType::U64)))]);
        });
        world.start(main, 1);
    });
    assert_eq!(values, [22, 22, 0]);
}

/// The results of calls on strings, each given as name and arguments.
fn on_strings(calls: Vec<(&str, Vec<&str>, Option<Value>)>) -> Vec<Value> {
    compute(calls.len(), |world, out| {
        let calls: Vec<_> = calls
            .into_iter()
            .map(|(name, strings, number)| {
                let strings: Vec<ObjectId> =
                    strings.into_iter().map(|text| world.string(text, text.len() as u64 + 1)).collect();
                (name, strings, number)
            })
            .collect();
        let main = world.template("main", |code| {
            for (index, (name, strings, last)) in calls.into_iter().enumerate() {
                let mut arguments: Vec<Argument> =
                    strings.into_iter().map(|object| raw(Expr::Address(object, 0))).collect();
                arguments.extend(last.map(number));
                let value = code.call(name, arguments);
                code.store(out, 4 * index as u64, value);
            }
        });
        world.start(main, 1);
    })
}

#[test]
fn lengths_and_comparisons() {
    let values = on_strings(vec![
        ("strlen", vec!["three"], None),
        ("strlen", vec![""], None),
        ("strnlen", vec!["three"], Some(3)),
        ("strcmp", vec!["abc", "abc"], None),
        ("strncmp", vec!["abx", "aby"], Some(2)),
        ("memcmp", vec!["a\0b", "a\0b"], Some(3)),
        ("__builtin_strcmp", vec!["z", "z"], None),
    ]);
    // Of unequal ones only the sign is known.
    assert_eq!(values, [5, 0, 3, 0, 0, 0, 0]);
}

#[test]
fn a_literal_has_a_length_without_a_loop() {
    let mut world = World::default();
    let text = world.string("four", 5);
    world.template("main", |code| {
        let literal = Argument { text: Some(b"four\0".to_vec()), ..raw(Expr::Address(text, 0)) };
        assert_eq!(code.call("strlen", vec![literal]), int(4));
        assert!(code.builder.template.edges.is_empty());
    });
}

#[test]
fn copies_and_searches() {
    let values = compute(8, |world, out| {
        let (text, buffer) = (world.string("abca", 5), world.string("xxxxxxxxxxx", 12));
        let main = world.template("main", |code| {
            let to = |offset: u64| raw(Expr::Address(buffer, offset));
            let from = || raw(Expr::Address(text, 0));
            code.run("strcpy", vec![to(0), from()]);
            let length = code.call("strlen", vec![to(0)]);
            code.store(out, 0, length);
            code.run("strcat", vec![to(0), from()]);
            let length = code.call("strlen", vec![to(0)]);
            code.store(out, 4, length);
            code.run("strncat", vec![to(0), from(), size(2)]);
            let length = code.call("strlen", vec![to(0)]);
            code.store(out, 8, length);
            code.run("strncpy", vec![to(0), from(), size(7)]);
            let same = code.call("memcmp", vec![to(4), raw(Expr::Address(out, 32)), size(3)]);
            code.store(out, 12, same);
            let base = Expr::Address(text, 0);
            let distance = |address| {
                Expr::cast(IntType::I32, Expr::binary(BinaryOp::Sub, IntType::U64, address, base.clone()))
            };
            for (at, name, wanted) in [(16, "strchr", 'c'), (20, "strrchr", 'a'), (24, "strchr", '\0')] {
                let found = code.call_as(name, vec![from(), number(wanted as Value)], IntType::U64);
                code.store(out, at, distance(found));
            }
            let copy = code.call_as("strdup", vec![from()], IntType::U64);
            let same = code.call("strcmp", vec![raw(copy.clone()), from()]);
            code.store(out, 28, same);
            code.run("free", vec![raw(copy)]);
        });
        world.start(main, 1);
    });
    assert_eq!(values, [4, 8, 10, 0, 2, 3, 4, 0]);
}

#[test]
fn memory_is_copied_and_filled() {
    let values = compute(3, |world, out| {
        let main = world.template("main", |code| {
            let at = |offset: u64| raw(Expr::Address(out, offset));
            code.run("__builtin___memset_chk", vec![at(0), number(0x103), size(4), size(64)]);
            code.run("memcpy", vec![at(4), at(0), size(2)]);
            code.run("bcopy", vec![at(0), at(8), size(4)]);
            code.run("bzero", vec![at(9), size(1)]);
        });
        world.start(main, 1);
    });
    assert_eq!(values, [0x0303_0303, 0x0303, 0x0303_0003]);
}
