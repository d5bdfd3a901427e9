//! Input and output.

use super::*;

#[test]
fn read_fills_as_many_bytes_as_it_says() {
    let mut world = World::default();
    let (buffer, out) = (world.string("zz", 3), world.global("out", 4));
    let main = world.template("main", |code| {
        let count = code.call_as(
            "read",
            vec![number(0), pointer(Expr::Address(buffer, 0), 1), size(2)],
            IntType::I32,
        );
        code.store(out, 0, count);
    });
    world.start(main, 1);
    // Bytes that were read are open: they show as 0 until the program looks at them.
    let watch = [(out, 0, IntType::I32), (buffer, 0, IntType::U8), (buffer, 1, IntType::U8)];
    let z = Value::from(b'z');
    assert_eq!(results(&world, &watch), BTreeSet::from([vec![0, z, z], vec![1, 0, z]]));
}

#[test]
fn scanf_sets_numbers_or_leaves_them() {
    let mut world = World::default();
    let (target, format) = (world.global("target", 4), world.string("%d", 3));
    let main = world.template("main", |code| {
        code.store(target, 0, int(5));
        let format = Argument { text: Some(b"%d".to_vec()), ..cell(format, 0, IntType::I8) };
        code.run("__isoc99_scanf", vec![format, cell(target, 0, IntType::I32)]);
    });
    world.start(main, 1);
    let all = results(&world, &[(target, 0, IntType::I32)]);
    assert_eq!(all, BTreeSet::from([vec![0], vec![1], vec![5]]));
    assert!(world.program.assumptions.is_empty());
}

#[test]
fn printing_a_string_reads_it() {
    for (text, race) in [("%s", true), ("%p", false)] {
        let mut world = World::default();
        let (string, format) = (world.string("ab", 3), world.string(text, 3));
        let printer = world.template("printer", |code| {
            let format = Argument { text: Some(text.into()), ..cell(format, 0, IntType::I8) };
            code.run("printf", vec![format, cell(string, 0, IntType::I8)]);
        });
        let writer = world.template("writer", |code| {
            code.builder.set(Lhs::Memory(Place::cell(string, 1, IntType::U8)), Expr::int(99, IntType::U8));
        });
        world.start(printer, 1);
        world.start(writer, 1);
        let runs = runs(&world, &[]);
        assert_eq!((runs.race, runs.blocked.len(), runs.faults.len()), (race, 0, 0), "{text}");
    }
}

#[test]
fn unread_results_leave_no_unknown_choice() {
    let mut world = World::default();
    let format = world.string("hello", 6);
    world.template("main", |code| {
        let format = Argument { text: Some(b"hello".to_vec()), ..cell(format, 0, IntType::I8) };
        code.call("printf", vec![format]);
    });
    let unknown = |program: &Program| {
        let is_unknown = |op: &&Op| matches!(op, Op::Assign(assignment) if assignment.pairs.iter().any(|(_, rhs)| *rhs == ir::Rhs::Unknown));
        let edges = program.templates[TemplateId(0)].edges.iter();
        edges.flat_map(|edge| &edge.ops).filter(is_unknown).count()
    };
    // The thread's errno.
    assert_eq!(unknown(&world.program), 1);
    super::super::simplify(&mut world.program);
    assert_eq!(unknown(&world.program), 0);
}

#[test]
fn what_is_printed_into_memory_is_not_modelled() {
    let mut world = World::default();
    let buffer = world.global("buffer", 8);
    world.template("main", |code| code.run("sprintf", vec![cell(buffer, 0, IntType::I8), null()]));
    // Where it is, is known: proofs need no assumption.
    assert!(world.program.assumptions.iter().all(|assumption| !assumption.limits_proof));
    let edges = &world.program.templates[TemplateId(0)].edges;
    assert!(edges.iter().flat_map(|edge| &edge.ops).any(|op| {
        matches!(op, Op::Assign(assignment) if assignment.pairs.iter().any(|(_, rhs)| *rhs == ir::Rhs::Unknown))
    }));
}
