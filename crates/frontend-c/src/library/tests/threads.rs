//! Starting, joining and ending threads; thread-specific values.

use super::*;

#[test]
fn join_gives_the_result_and_comes_after_the_end() {
    let mut world = World::default();
    let (handle, out, shared) =
        (world.global("handle", 8), world.global("out", 8), world.global("shared", 4));
    let child = world.template_with("child", 1, |code| {
        code.store(shared, 0, int(5));
        let passed = code.parameter(0);
        code.result(Expr::binary(BinaryOp::Add, IntType::U64, passed, Expr::int(1, IntType::U64)));
    });
    let main = world.template("main", |code| {
        code.run("pthread_create", vec![cell(handle, 0, IntType::U64), null(), function(child), size(41)]);
        let thread = Expr::load(Place::cell(handle, 0, IntType::U64));
        code.run("pthread_join", vec![argument(thread, IntType::U64), cell(out, 0, IntType::U64)]);
        code.add(shared, 1);
    });
    world.start(main, 1);
    let watch = [(out, 0, IntType::U64), (shared, 0, IntType::I32)];
    assert_eq!(results(&world, &watch), BTreeSet::from([vec![42, 6]]));
}

#[test]
fn a_thread_is_started_through_a_pointer_and_without_a_handle() {
    let mut world = World::default();
    let (routine, shared) = (world.global("routine", 8), world.global("shared", 4));
    let child = world.template_with("child", 1, |code| code.store(shared, 0, int(5)));
    world.program.objects[routine].initial = Initial::Values(vec![(0, IntType::U64, Expr::Procedure(child))]);
    let main = world.template("main", |code| {
        let start = argument(Expr::load(Place::cell(routine, 0, IntType::U64)), IntType::U64);
        code.run("pthread_create", vec![null(), null(), start, null()]);
    });
    world.start(main, 1);
    assert_eq!(results(&world, &[(shared, 0, IntType::I32)]), BTreeSet::from([vec![5]]));
}

#[test]
fn the_new_thread_finds_its_handle() {
    let mut world = World::default();
    let (handle, out) = (world.global("handle", 8), world.global("out", 4));
    let child = world.template_with("child", 1, |code| {
        let me = code.call_as("pthread_self", vec![], IntType::U64);
        let stored = Expr::load(Place::cell(handle, 0, IntType::U64));
        let same =
            code.call("pthread_equal", vec![argument(me, IntType::U64), argument(stored, IntType::U64)]);
        code.store(out, 0, same);
    });
    let main = world.template("main", |code| {
        code.run("pthread_create", vec![cell(handle, 0, IntType::U64), null(), function(child), null()]);
    });
    world.start(main, 1);
    assert_eq!(results(&world, &[(out, 0, IntType::I32)]), BTreeSet::from([vec![1]]));
}

#[test]
fn exit_ends_the_thread_in_whatever_function() {
    for (create, join, exit, ty) in [
        ("pthread_create", "pthread_join", "pthread_exit", IntType::U64),
        ("thrd_create", "thrd_join", "thrd_exit", IntType::I32),
    ] {
        let mut world = World::default();
        let (handle, out, shared) =
            (world.global("handle", 8), world.global("out", 8), world.global("shared", 4));
        let inner = world.template("inner", |code| {
            code.run(exit, vec![number(3)]);
            code.store(shared, 0, int(1));
        });
        let child = world.template_with("child", 1, |code| {
            code.builder.emit(Op::Call(ir::Callee::Procedure(inner), vec![], None));
            code.store(shared, 0, int(2));
        });
        let main = world.template("main", |code| {
            let mut arguments = vec![cell(handle, 0, IntType::U64), function(child), null()];
            if create == "pthread_create" {
                arguments.insert(1, null());
            }
            code.run(create, arguments);
            let thread = argument(Expr::load(Place::cell(handle, 0, IntType::U64)), IntType::U64);
            code.run(join, vec![thread, cell(out, 0, ty)]);
        });
        world.start(main, 1);
        let watch = [(out, 0, ty), (shared, 0, IntType::I32)];
        assert_eq!(results(&world, &watch), BTreeSet::from([vec![3, 0]]), "{exit}");
    }
}

#[test]
fn cancelling_limits_proofs() {
    let mut world = World::default();
    world.template("main", |code| {
        assert_eq!(code.call("pthread_cancel", vec![size(1)]), int(0));
    });
    assert!(world.program.assumptions[0].limits_proof);
}

#[test]
fn thread_specific_values_are_each_threads_own() {
    let mut world = World::default();
    let (keys, out) = (world.global("keys", 8), world.global("out", 16));
    let key = |index: u64| argument(Expr::load(Place::cell(keys, 4 * index, IntType::U32)), IntType::U32);
    let child = world.template_with("child", 1, |code| {
        let before = code.call_as("pthread_getspecific", vec![key(0)], IntType::I32);
        code.store(out, 0, before);
        code.run("pthread_setspecific", vec![key(0), size(9)]);
    });
    let main = world.template("main", |code| {
        code.run("pthread_key_create", vec![cell(keys, 0, IntType::U32), null()]);
        code.run("tss_create", vec![cell(keys, 4, IntType::U32), null()]);
        code.run("pthread_setspecific", vec![key(0), size(5)]);
        code.run("tss_set", vec![key(1), size(6)]);
        code.run("pthread_create", vec![null(), null(), function(child), null()]);
        for index in [0, 1] {
            let value = code.call_as("pthread_getspecific", vec![key(index)], IntType::I32);
            code.store(out, 4 + 4 * index, value);
        }
    });
    world.start(main, 1);
    let watch = [(out, 0, IntType::I32), (out, 4, IntType::I32), (out, 8, IntType::I32)];
    assert_eq!(results(&world, &watch), BTreeSet::from([vec![0, 5, 6]]));
    assert!(world.program.assumptions.iter().all(|assumption| !assumption.limits_proof));
}
