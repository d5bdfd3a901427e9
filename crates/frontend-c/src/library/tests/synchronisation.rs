//! Semaphores, barriers, once.

use super::*;

#[test]
fn semaphores_count() {
    let values = compute(7, |world, out| {
        let semaphore = world.global("semaphore", 32);
        let main = world.template("main", |code| {
            code.run("sem_init", vec![large(semaphore), number(0), number(1)]);
            for (at, name) in [
                (0, "sem_trywait"),
                (4, "sem_trywait"),
                (8, "sem_timedwait"),
                (12, "sem_post"),
                (16, "sem_post"),
            ] {
                let value = code.call(name, vec![large(semaphore), null()]);
                code.store(out, at, value);
            }
            code.run("sem_wait", vec![large(semaphore)]);
            code.run("sem_getvalue", vec![large(semaphore), cell(out, 20, IntType::I32)]);
            let errno = code.call_as("__errno_location", vec![], IntType::U64);
            let value = code.builder.save(Expr::load(Place::pointee(errno, IntType::I32)), IntType::I32);
            code.store(out, 24, Expr::Local(value));
        });
        world.start(main, 1);
    });
    assert_eq!(values, [0, -1, -1, 0, 0, 1, 110]);
}

#[test]
fn a_semaphore_of_zero_is_waited_for() {
    let mut world = World::default();
    let (semaphore, shared, out) =
        (world.global("semaphore", 32), world.global("shared", 4), world.global("out", 4));
    let poster = world.template("poster", |code| {
        code.store(shared, 0, int(7));
        code.run("sem_post", vec![large(semaphore)]);
    });
    let waiter = world.template("waiter", |code| {
        code.run("sem_wait", vec![large(semaphore)]);
        code.store(out, 0, read(shared));
    });
    world.start(poster, 1);
    world.start(waiter, 1);
    assert_eq!(results(&world, &[(out, 0, IntType::I32)]), BTreeSet::from([vec![7]]));
}

#[test]
fn a_semaphore_lets_as_many_in_as_it_says() {
    let mut world = World::default();
    let semaphore = world.global("semaphore", 32);
    world.program.objects[semaphore].initial =
        Initial::Values(vec![(0, IntType::U32, Expr::int(2, IntType::U32))]);
    let worker = world.template("worker", |code| code.run("sem_wait", vec![large(semaphore)]));
    world.start(worker, 3);
    let runs = runs(&world, &[(semaphore, 0, IntType::I32)]);
    assert!(runs.ended.is_empty());
    assert_eq!(runs.blocked, BTreeSet::from([vec![0]]));
}

/// Threads that meet at a barrier some times; how many have arrived is counted before, and looked at after.
fn meet(threads: u32, needed: Value, rounds: Value) -> (Runs, [ObjectId; 3]) {
    let mut world = World::default();
    let barrier = world.global("barrier", 32);
    let [arrived, early, serial] = ["arrived", "early", "serial"].map(|name| world.global(name, 4));
    let words = [(0, IntType::U32, Expr::int(needed, IntType::U32))];
    world.program.objects[barrier].initial = Initial::Values(words.to_vec());
    let worker = world.template("worker", |code| {
        for round in 1..=rounds {
            code.run("__sync_fetch_and_add", vec![cell(arrived, 0, IntType::I32), number(1)]);
            let value = code.call("pthread_barrier_wait", vec![large(barrier)]);
            let seen = code.call("__atomic_load_n", vec![cell(arrived, 0, IntType::I32), number(5)]);
            let is_early = Expr::binary(BinaryOp::Lt, IntType::I32, seen, int(round * needed));
            code.when(is_early, |code| {
                code.run("__atomic_store_n", vec![cell(early, 0, IntType::I32), number(1), number(5)]);
            });
            code.when(is(value, -1), |code| {
                code.run("__sync_fetch_and_add", vec![cell(serial, 0, IntType::I32), number(1)]);
            });
        }
    });
    world.start(worker, threads);
    let watch = [arrived, early, serial].map(|object| (object, 0, IntType::I32));
    (runs(&world, &watch), [arrived, early, serial])
}

#[test]
fn a_barrier_lets_all_go_together_again_and_again() {
    for (threads, needed, rounds) in [(2, 2, 2), (3, 3, 1), (2, 1, 2)] {
        let (runs, _) = meet(threads, needed, rounds);
        let all = Value::from(threads) * rounds;
        assert!(runs.blocked.is_empty() && !runs.race, "{runs:?}");
        assert_eq!(runs.ended, BTreeSet::from([vec![all, 0, all / needed]]));
    }
}

#[test]
fn a_barrier_keeps_those_who_are_too_few() {
    let (runs, _) = meet(2, 3, 1);
    assert!(runs.ended.is_empty());
    assert_eq!(runs.blocked, BTreeSet::from([vec![2, 0, 0]]));
    // One of three is left over.
    let (runs, _) = meet(3, 2, 1);
    assert!(runs.ended.is_empty());
    assert_eq!(runs.blocked, BTreeSet::from([vec![3, 0, 1]]));
}

#[test]
fn a_barrier_for_nobody_is_refused() {
    let values = compute(3, |world, out| {
        let barrier = world.global("barrier", 32);
        let main = world.template("main", |code| {
            for (at, count) in [(0, 0), (4, 1)] {
                let value = code.call("pthread_barrier_init", vec![large(barrier), null(), number(count)]);
                code.store(out, at, value);
            }
            let value = code.call("pthread_barrier_wait", vec![large(barrier)]);
            code.store(out, 8, value);
            code.run("pthread_barrier_destroy", vec![large(barrier)]);
        });
        world.start(main, 1);
    });
    assert_eq!(values, [22, 0, -1]);
}

#[test]
fn once_is_once_and_the_others_wait() {
    for name in ["pthread_once", "call_once"] {
        let mut world = World::default();
        let (control, count, late) =
            (world.global("control", 4), world.global("count", 4), world.global("late", 4));
        let routine = world.template("routine", |code| code.add(count, 1));
        let worker = world.template("worker", |code| {
            code.run(name, vec![small(control), function(routine)]);
            code.when(is(read(count), 0), |code| code.store(late, 0, int(1)));
        });
        world.start(worker, 3);
        let watch = [count, late].map(|object| (object, 0, IntType::I32));
        assert_eq!(results(&world, &watch), BTreeSet::from([vec![1, 0]]), "{name}");
    }
}
