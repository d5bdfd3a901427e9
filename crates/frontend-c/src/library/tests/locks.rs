//! Mutexes of all kinds, spin locks, read-write locks, condition variables.

use super::*;

const EBUSY: Value = 16;
const EDEADLK: Value = 35;
const EPERM: Value = 1;
const ETIMEDOUT: Value = 110;

type ToLock = fn(ObjectId) -> Argument;

/// Two threads that add 1 to a variable between two calls.
fn two_critical_sections(
    lock: &str,
    unlock: &str,
    argument: fn(ObjectId) -> Argument,
    initial: Value,
) -> Runs {
    let mut world = World::default();
    let (mutex, shared) = (world.global("lock", LARGE), world.global("shared", 4));
    world.program.objects[mutex].initial =
        Initial::Values(vec![(0, IntType::U32, Expr::int(initial, IntType::U32))]);
    let worker = world.template("worker", |code| {
        code.run(lock, vec![argument(mutex)]);
        code.add(shared, 1);
        code.run(unlock, vec![argument(mutex)]);
    });
    world.start(worker, 2);
    let before = runs(&world, &[(shared, 0, IntType::I32)]);
    super::super::simplify(&mut world.program);
    let after = runs(&world, &[(shared, 0, IntType::I32)]);
    assert_eq!(
        (&before.ended, before.race, &before.blocked),
        (&after.ended, after.race, &after.blocked),
        "{lock}"
    );
    before
}

#[test]
fn locks_exclude() {
    let locks: [(&str, &str, ToLock, Value); 7] = [
        ("pthread_mutex_lock", "pthread_mutex_unlock", large, 0),
        ("pthread_mutex_lock", "pthread_mutex_unlock", small, 0),
        ("mtx_lock", "mtx_unlock", large, 0),
        ("pthread_spin_lock", "pthread_spin_unlock", small, 0),
        ("pthread_rwlock_wrlock", "pthread_rwlock_unlock", large, 0),
        ("sem_wait", "sem_post", large, 1),
        ("__VERIFIER_atomic_begin", "__VERIFIER_atomic_end", large, 0),
    ];
    for (lock, unlock, argument, initial) in locks {
        let runs = two_critical_sections(lock, unlock, argument, initial);
        assert!(!runs.race && runs.blocked.is_empty() && runs.faults.is_empty(), "{lock}: {runs:?}");
        assert_eq!(runs.ended, BTreeSet::from([vec![2]]), "{lock}");
    }
}

#[test]
fn what_is_no_lock_does_not_exclude() {
    for name in ["sched_yield", "pthread_rwlock_rdlock"] {
        let runs = two_critical_sections(name, "pthread_rwlock_unlock", large, 0);
        assert!(runs.race, "{name}");
        assert_eq!(runs.ended, BTreeSet::from([vec![1], vec![2]]), "{name}");
    }
}

/// The results of calls on one mutex of a kind by one thread.
fn results_of_kind(kind: Value, calls: &[&str]) -> Vec<Value> {
    let [one, other] =
        [ir::DataModel::Lp64, ir::DataModel::Ilp32].map(|model| results_in(model, kind, calls));
    assert_eq!(one, other);
    one
}

fn results_in(model: ir::DataModel, kind: Value, calls: &[&str]) -> Vec<Value> {
    compute(calls.len(), |world, out| {
        world.program.data_model = model;
        let (mutex, attribute) = (world.global("mutex", LARGE), world.global("attribute", 4));
        let main = world.template("main", |code| {
            code.run("pthread_mutexattr_init", vec![small(attribute)]);
            code.run("pthread_mutexattr_settype", vec![small(attribute), number(kind)]);
            code.run("pthread_mutex_init", vec![large(mutex), small(attribute)]);
            for (index, name) in calls.iter().enumerate() {
                let value = code.call(name, vec![large(mutex), null()]);
                code.store(out, 4 * index as u64, value);
            }
        });
        world.start(main, 1);
        super::super::simplify(&mut world.program);
    })
}

#[test]
fn kinds_of_mutexes_answer_as_posix_says() {
    let (lock, unlock) = ("pthread_mutex_lock", "pthread_mutex_unlock");
    let (trylock, timedlock) = ("pthread_mutex_trylock", "pthread_mutex_timedlock");
    assert_eq!(results_of_kind(0, &[lock, trylock, unlock, trylock]), [0, EBUSY, 0, 0]);
    assert_eq!(results_of_kind(0, &[lock, timedlock, unlock]), [0, ETIMEDOUT, 0]);
    assert_eq!(results_of_kind(1, &[unlock, lock, trylock, timedlock, lock]), [EPERM, 0, 0, 0, 0]);
    assert_eq!(results_of_kind(1, &[lock, lock, unlock, unlock, unlock]), [0, 0, 0, 0, EPERM]);
    assert_eq!(
        results_of_kind(2, &[unlock, lock, lock, trylock, timedlock]),
        [EPERM, 0, EDEADLK, EBUSY, EDEADLK]
    );
    assert_eq!(results_of_kind(2, &[lock, unlock, unlock, lock]), [0, 0, EPERM, 0]);
}

#[test]
fn kinds_are_read_back_and_checked() {
    let values = compute(3, |world, out| {
        let attribute = world.global("attribute", 4);
        let main = world.template("main", |code| {
            let good = code.call("pthread_mutexattr_settype", vec![small(attribute), number(2)]);
            code.store(out, 0, good);
            let bad = code.call("pthread_mutexattr_settype", vec![small(attribute), number(9)]);
            code.store(out, 4, bad);
            code.run("pthread_mutexattr_gettype", vec![small(attribute), cell(out, 8, IntType::I32)]);
        });
        world.start(main, 1);
    });
    assert_eq!(values, [0, 22, 2]);
}

#[test]
fn a_normal_mutex_taken_twice_is_a_deadlock() {
    let mut world = World::default();
    let mutex = world.global("mutex", LARGE);
    let main = world.template("main", |code| {
        code.run("pthread_mutex_lock", vec![large(mutex)]);
        code.run("pthread_mutex_lock", vec![large(mutex)]);
    });
    world.start(main, 1);
    let runs = runs(&world, &[]);
    assert!(runs.deadlock && runs.ended.is_empty());
}

#[test]
fn static_initialisers_keep_their_kind_when_simplified() {
    for (kind, second) in [(1, 0), (2, EDEADLK)] {
        let values = compute(2, |world, out| {
            let mutex = world.global("mutex", LARGE);
            world.program.objects[mutex].initial = Initial::Values(vec![(16, IntType::I32, int(kind))]);
            let main = world.template("main", |code| {
                for at in [0, 4] {
                    let value = code.call("pthread_mutex_lock", vec![large(mutex)]);
                    code.store(out, at, value);
                }
            });
            world.start(main, 1);
            super::super::simplify(&mut world.program);
        });
        assert_eq!(values, [0, second]);
    }
}

#[test]
fn kinds_that_are_stored_by_the_program_are_kept_when_simplified() {
    let values = compute(2, |world, out| {
        let mutex = world.global("mutex", LARGE);
        let main = world.template("main", |code| {
            code.store(mutex, 16, int(2));
            for at in [0, 4] {
                let value = code.call("pthread_mutex_lock", vec![large(mutex)]);
                code.store(out, at, value);
            }
        });
        world.start(main, 1);
        super::super::simplify(&mut world.program);
    });
    assert_eq!(values, [0, EDEADLK]);
}

#[test]
fn only_the_owner_gives_back_what_asks_for_it() {
    for (kind, answers) in [(0, &[0][..]), (1, &[EPERM]), (2, &[EPERM])] {
        let mut world = World::default();
        let (mutex, out, taken) =
            (world.global("mutex", LARGE), world.global("out", 4), world.global("taken", 32));
        world.program.objects[mutex].initial = Initial::Values(vec![(16, IntType::I32, int(kind))]);
        let owner = world.template("owner", |code| {
            code.run("pthread_mutex_lock", vec![large(mutex)]);
            code.run("sem_post", vec![large(taken)]);
        });
        let other = world.template("other", |code| {
            code.run("sem_wait", vec![large(taken)]);
            let value = code.call("pthread_mutex_unlock", vec![large(mutex)]);
            code.store(out, 0, value);
        });
        world.start(owner, 1);
        world.start(other, 1);
        let expected: BTreeSet<Vec<Value>> = answers.iter().map(|answer| vec![*answer]).collect();
        assert_eq!(results(&world, &[(out, 0, IntType::I32)]), expected, "kind {kind}");
    }
}

#[test]
fn simplifying_leaves_a_plain_lock_operation() {
    let mut world = World::default();
    let mutex = world.global("mutex", LARGE);
    world.template("main", |code| {
        code.call("pthread_mutex_lock", vec![large(mutex)]);
        code.call("pthread_mutex_unlock", vec![large(mutex)]);
    });
    super::super::simplify(&mut world.program);
    let template = &world.program.templates[TemplateId(0)];
    let outgoing = template.outgoing();
    let mut location = template.entry;
    let mut ops = Vec::new();
    while let [edge] = outgoing[location].as_slice() {
        ops.extend(&template.edges[*edge].ops);
        location = template.edges[*edge].target;
    }
    assert!(matches!(ops.as_slice(), [Op::Lock(..), Op::Unlock(..)]), "{ops:?}");
}

#[test]
fn trylock_fails_exactly_while_another_has_it() {
    let mut world = World::default();
    let (mutex, out, ready) =
        (world.global("mutex", LARGE), world.global("out", 4), world.global("ready", 4));
    let holder = world.template("holder", |code| {
        code.run("pthread_mutex_lock", vec![large(mutex)]);
        code.run("__atomic_store_n", vec![cell(ready, 0, IntType::I32), number(1), number(5)]);
    });
    let trier = world.template("trier", |code| {
        let ready = code.call("__atomic_load_n", vec![cell(ready, 0, IntType::I32), number(5)]);
        let busy = code.call("pthread_mutex_trylock", vec![large(mutex)]);
        code.when(is(ready, 1), |code| code.store(out, 0, busy));
    });
    world.start(holder, 1);
    world.start(trier, 1);
    let runs = runs(&world, &[(out, 0, IntType::I32)]);
    // Where the trier has it, the holder waits for ever.
    assert_eq!(
        (runs.ended, runs.blocked),
        (BTreeSet::from([vec![0], vec![EBUSY]]), BTreeSet::from([vec![0]]))
    );
}

#[test]
fn c11_names_have_their_own_results() {
    let values = compute(4, |world, out| {
        let (plain, recursive) = (world.global("plain", LARGE), world.global("recursive", LARGE));
        let main = world.template("main", |code| {
            code.run("mtx_init", vec![large(plain), number(0)]);
            code.run("mtx_init", vec![large(recursive), number(1 | 2)]);
            code.run("mtx_lock", vec![large(plain)]);
            code.run("mtx_lock", vec![large(recursive)]);
            for (at, name, mutex) in [
                (0, "mtx_trylock", plain),
                (4, "mtx_lock", recursive),
                (8, "mtx_timedlock", plain),
                (12, "mtx_unlock", plain),
            ] {
                let value = code.call(name, vec![large(mutex), null()]);
                code.store(out, at, value);
            }
        });
        world.start(main, 1);
    });
    assert_eq!(values, [1, 0, 4, 0]);
}

#[test]
fn readers_share_and_writers_do_not() {
    for (first, second, together) in [
        ("rdlock", "rdlock", true),
        ("rdlock", "wrlock", false),
        ("wrlock", "rdlock", false),
        ("wrlock", "wrlock", false),
    ] {
        let mut world = World::default();
        let (lock, inside, met) =
            (world.global("lock", LARGE), world.global("inside", 4), world.global("met", 4));
        for name in [first, second] {
            let worker = world.template(name, |code| {
                code.run(&format!("pthread_rwlock_{name}"), vec![large(lock)]);
                let others =
                    code.call("__sync_fetch_and_add", vec![cell(inside, 0, IntType::I32), number(1)]);
                code.when(is(others, 1), |code| {
                    code.run("__atomic_store_n", vec![cell(met, 0, IntType::I32), number(1), number(5)]);
                });
                code.run("__sync_fetch_and_sub", vec![cell(inside, 0, IntType::I32), number(1)]);
                code.run("pthread_rwlock_unlock", vec![large(lock)]);
            });
            world.start(worker, 1);
        }
        let met = results(&world, &[(met, 0, IntType::I32)]);
        assert_eq!(met.contains(&vec![1]), together, "{first} {second}");
    }
}

#[test]
fn read_write_locks_answer_as_glibc_does() {
    let answers = |calls: &[&str]| {
        compute(calls.len(), |world, out| {
            let lock = world.global("lock", LARGE);
            let main = world.template("main", |code| {
                code.run("pthread_rwlock_init", vec![large(lock), null()]);
                for (index, name) in calls.iter().enumerate() {
                    let value = code.call(&format!("pthread_rwlock_{name}"), vec![large(lock), null()]);
                    code.store(out, 4 * index as u64, value);
                }
            });
            world.start(main, 1);
        })
    };
    assert_eq!(answers(&["rdlock", "tryrdlock", "trywrlock", "timedwrlock"]), [0, 0, EBUSY, ETIMEDOUT]);
    assert_eq!(answers(&["rdlock", "unlock", "trywrlock", "tryrdlock"]), [0, 0, 0, EBUSY]);
    assert_eq!(answers(&["wrlock", "rdlock", "wrlock", "timedrdlock"]), [0, EDEADLK, EDEADLK, EDEADLK]);
    assert_eq!(
        answers(&["rdlock", "rdlock", "unlock", "trywrlock", "unlock", "trywrlock"]),
        [0, 0, 0, EBUSY, 0, 0]
    );
}

#[test]
fn a_wait_gives_the_mutex_to_others() {
    for (name, results) in [("pthread_cond_wait", &[0][..]), ("pthread_cond_timedwait", &[0, ETIMEDOUT])] {
        let mut world = World::default();
        let (mutex, condition) = (world.global("mutex", LARGE), world.global("condition", 48));
        let (flag, out) = (world.global("flag", 4), world.global("out", 4));
        let waiter = world.template("waiter", |code| {
            code.run("pthread_mutex_lock", vec![large(mutex)]);
            let again = code.builder.label();
            code.builder.place(again);
            let (wait, go) = (code.builder.label(), code.builder.label());
            let unset = code.builder.save(read(flag), IntType::I32);
            code.builder.branch(is(Expr::Local(unset), 0), wait, go);
            code.builder.continue_at(wait);
            let value = code.call(name, vec![pointer(Expr::Address(condition, 0), 48), large(mutex), null()]);
            code.store(out, 0, value);
            code.builder.jump(again);
            code.builder.continue_at(go);
            code.run("pthread_mutex_unlock", vec![large(mutex)]);
        });
        let setter = world.template("setter", |code| {
            code.run("pthread_mutex_lock", vec![large(mutex)]);
            code.store(flag, 0, int(1));
            code.run("pthread_cond_signal", vec![pointer(Expr::Address(condition, 0), 48)]);
            code.run("pthread_mutex_unlock", vec![large(mutex)]);
        });
        world.start(waiter, 1);
        world.start(setter, 1);
        let expected: BTreeSet<Vec<Value>> = results.iter().map(|result| vec![*result]).collect();
        assert_eq!(super::results(&world, &[(out, 0, IntType::I32)]), expected, "{name}");
    }
}
