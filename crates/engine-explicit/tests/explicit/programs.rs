//! Small programs with known answers.

use crate::builder::*;
use crate::{Answer, ask, ask_with, assertions};
use engine_explicit::Options;
use engine_explicit::directed::{Directed, Site};
use ir::Storage;
use ir::{BinaryOp, Callee, Count, Expr, Initial, IntType, Layout, Lhs, LocalId, Op, Place, Program, Range};
use verdict::{Budget, Property, Reason, Verdict};

/// Two threads that each add one to a counter, with or without a lock.
fn counter(locked: bool) -> Program {
    let mut program = Program::default();
    let x = global(&mut program, "x", 0);
    let m = mutex(&mut program, "m");
    let mut body = vec![read(0, x), write(x, add(local(0), number(1)))];
    if locked {
        body.insert(0, lock(m));
        body.push(unlock(m));
    }
    let worker = template(&mut program, "worker", &[INT], 0, &body);
    let main = template(
        &mut program,
        "main",
        &[POINTER, POINTER, INT],
        0,
        &[
            spawn(worker, vec![], Some(0)),
            spawn(worker, vec![], Some(1)),
            join(0),
            join(1),
            read(2, x),
            Stmt::Assert(equal(local(2), number(2))),
        ],
    );
    start(&mut program, &[main]);
    program
}

#[test]
fn counter_without_a_lock_races_and_loses_an_update() {
    let program = counter(false);
    assert_eq!(ask(&program, &Property::NoRace), Answer::Unsafe);
    assert_eq!(ask(&program, &assertions()), Answer::Unsafe);
    assert_eq!(ask(&program, &Property::NoDeadlock), Answer::Safe);
}

#[test]
fn counter_with_a_lock_is_safe() {
    let program = counter(true);
    assert_eq!(ask(&program, &Property::NoRace), Answer::Safe);
    assert_eq!(ask(&program, &assertions()), Answer::Safe);
    assert_eq!(ask(&program, &Property::NoDeadlock), Answer::Safe);
}

/// Peterson's algorithm; the broken version looks at the other's flag before it sets its own.
fn peterson(broken: bool) -> Program {
    let mut program = Program::default();
    let flags = [global(&mut program, "flag0", 0), global(&mut program, "flag1", 0)];
    let turn = global(&mut program, "turn", 0);
    let critical = global(&mut program, "critical", 0);
    let mut threads = Vec::new();
    for me in 0..2 {
        let other = 1 - me;
        let announce = vec![write(flags[me], number(1)), write(turn, number(other as i128))];
        let wait = vec![
            read(0, flags[other]),
            read(1, turn),
            Stmt::While(
                Expr::binary(
                    BinaryOp::And,
                    IntType::BOOL,
                    equal(local(0), number(1)),
                    equal(local(1), number(other as i128)),
                ),
                vec![read(0, flags[other]), read(1, turn)],
            ),
        ];
        let inside = vec![
            write(critical, number(me as i128)),
            read(2, critical),
            Stmt::Assert(equal(local(2), number(me as i128))),
            write(flags[me], number(0)),
        ];
        let parts = if broken { [wait, announce, inside] } else { [announce, wait, inside] };
        threads.push(template(&mut program, &format!("p{me}"), &[INT, INT, INT], 0, &parts.concat()));
    }
    start(&mut program, &threads);
    program
}

#[test]
fn peterson_excludes() {
    assert_eq!(ask(&peterson(false), &assertions()), Answer::Safe);
    assert_eq!(ask(&peterson(true), &assertions()), Answer::Unsafe);
}

#[test]
fn locks_in_opposite_orders_deadlock() {
    for opposite in [false, true] {
        let mut program = Program::default();
        let (a, b) = (mutex(&mut program, "a"), mutex(&mut program, "b"));
        let first = template(&mut program, "first", &[], 0, &[lock(a), lock(b), unlock(b), unlock(a)]);
        let order = if opposite { [b, a] } else { [a, b] };
        let body = [lock(order[0]), lock(order[1]), unlock(order[1]), unlock(order[0])];
        let second = template(&mut program, "second", &[], 0, &body);
        start(&mut program, &[first, second]);
        let expected = if opposite { Answer::Unsafe } else { Answer::Safe };
        assert_eq!(ask(&program, &Property::NoDeadlock), expected);
        assert_eq!(ask(&program, &Property::NoRace), Answer::Safe);
    }
}

#[test]
fn atomic_regions_exclude_and_race_with_plain_accesses_only() {
    for plain in [false, true] {
        let mut program = Program::default();
        let x = global(&mut program, "x", 0);
        let add_one = vec![read(0, x), write(x, add(local(0), number(1)))];
        let atomic = template(&mut program, "atomic", &[INT], 0, &[Stmt::Atomic(add_one.clone())]);
        let other = if plain { add_one } else { vec![Stmt::Atomic(add_one)] };
        let other = template(&mut program, "other", &[INT], 0, &other);
        start(&mut program, &[atomic, other]);
        let expected = if plain { Answer::Unsafe } else { Answer::Safe };
        assert_eq!(ask(&program, &Property::NoRace), expected);
    }
}

#[test]
fn a_procedure_called_in_an_atomic_region_is_atomic() {
    let mut program = Program::default();
    let x = global(&mut program, "x", 0);
    let add_one =
        template(&mut program, "add_one", &[INT], 0, &[read(0, x), write(x, add(local(0), number(1)))]);
    let worker =
        template(&mut program, "worker", &[INT], 0, &[Stmt::Atomic(vec![call(add_one, vec![], None)])]);
    let main = template(
        &mut program,
        "main",
        &[POINTER, POINTER, INT],
        0,
        &[
            spawn(worker, vec![], Some(0)),
            spawn(worker, vec![], Some(1)),
            join(0),
            join(1),
            read(2, x),
            Stmt::Assert(equal(local(2), number(2))),
        ],
    );
    start(&mut program, &[main]);
    assert_eq!(ask(&program, &assertions()), Answer::Safe);
    assert_eq!(ask(&program, &Property::NoRace), Answer::Safe);
}

#[test]
fn inputs_that_are_compared_are_exact() {
    for constant in [77, 78] {
        let mut program = Program::default();
        let x = global(&mut program, "x", 0);
        let writer = template(
            &mut program,
            "writer",
            &[INT],
            0,
            &[input(0), Stmt::If(equal(local(0), number(12345)), vec![write(x, number(77))], vec![])],
        );
        let reader = template(
            &mut program,
            "reader",
            &[INT],
            0,
            &[read(0, x), Stmt::Assert(equal(local(0), number(constant)).not())],
        );
        start(&mut program, &[writer, reader]);
        let expected = if constant == 77 { Answer::Unsafe } else { Answer::Safe };
        assert_eq!(ask(&program, &assertions()), expected);
    }
}

#[test]
fn inputs_that_are_computed_with_prove_nothing() {
    let mut program = Program::default();
    let x = global(&mut program, "x", 0);
    let square = binary(BinaryOp::Mul, local(0), local(0));
    let main = template(
        &mut program,
        "main",
        &[INT],
        0,
        &[input(0), write(x, square), read(0, x), Stmt::Assert(equal(local(0), number(7)).not())],
    );
    start(&mut program, &[main]);
    assert_eq!(ask(&program, &assertions()), Answer::Unknown);
}

#[test]
fn a_value_that_is_not_modelled_refutes_nothing() {
    let mut program = Program::default();
    let main =
        template(&mut program, "main", &[INT], 0, &[unknown(0), Stmt::Assert(equal(local(0), number(0)))]);
    start(&mut program, &[main]);
    let (answer, verdict) = ask_with(Options::default(), &program, &assertions());
    assert_eq!(answer, Answer::Unknown);
    assert!(matches!(verdict, Verdict::Unknown(Reason::Approximate(_))), "{verdict:?}");
}

#[test]
fn unbounded_creation_is_refuted_but_not_proved() {
    for limit in [3, 99] {
        let mut program = Program::default();
        let x = global(&mut program, "x", 0);
        let m = mutex(&mut program, "m");
        let body = [
            lock(m),
            read(0, x),
            Stmt::If(
                binary(BinaryOp::Lt, local(0), number(6)),
                vec![write(x, add(local(0), number(1)))],
                vec![],
            ),
            unlock(m),
            Stmt::Assert(binary(BinaryOp::Lt, local(0), number(limit))),
        ];
        let worker = template(&mut program, "worker", &[INT], 0, &body);
        let main = template(
            &mut program,
            "main",
            &[INT],
            0,
            &[Stmt::While(equal(local(0), number(0)), vec![spawn(worker, vec![], None)])],
        );
        start(&mut program, &[main]);
        let options = Options { threads: &[3, 5], ..Options::default() };
        let expected = if limit == 3 { Answer::Unsafe } else { Answer::Unknown };
        assert_eq!(ask_with(options, &program, &assertions()).0, expected);
    }
}

#[test]
fn any_number_of_copies_is_refuted_but_not_proved() {
    let mut program = Program::default();
    let x = global(&mut program, "x", 0);
    let worker = template(&mut program, "worker", &[INT], 0, &[write(x, number(1))]);
    program.start = vec![(worker, Count::Any)];
    assert_eq!(ask(&program, &Property::NoRace), Answer::Unsafe);
    let options = Options { threads: &[3, 4], ..Options::default() };
    assert_eq!(ask_with(options, &program, &Property::NoDeadlock).0, Answer::Unknown);
}

/// A thread that gets a pointer to allocated memory, which main continues to use with or without waiting.
fn allocated(wait: bool) -> Program {
    let mut program = Program::default();
    let site = object(&mut program, "block", Storage::Site, 4, Layout::Scalar(INT), Initial::Unknown);
    let worker = template(&mut program, "worker", &[POINTER], 1, &[write_at(local(0), number(5))]);
    let mut body = vec![
        Stmt::Op(Op::Allocate {
            site,
            size: Expr::int(4, POINTER),
            zeroed: true,
            result: Lhs::Local(LocalId(0)),
        }),
        spawn(worker, vec![local(0)], Some(1)),
        join(1),
        read_at(2, local(0)),
        Stmt::Assert(equal(local(2), number(5))),
        Stmt::Op(Op::Free(local(0))),
    ];
    if !wait {
        body.remove(2);
    }
    let main = template(&mut program, "main", &[POINTER, POINTER, INT], 0, &body);
    start(&mut program, &[main]);
    program
}

#[test]
fn allocated_memory_is_shared_through_pointers() {
    assert_eq!(ask(&allocated(true), &Property::NoRace), Answer::Safe);
    assert_eq!(ask(&allocated(true), &assertions()), Answer::Safe);
    assert_eq!(ask(&allocated(false), &Property::NoRace), Answer::Unsafe);
    assert_eq!(ask(&allocated(false), &assertions()), Answer::Unsafe);
}

#[test]
fn frame_objects_are_shared_through_pointers() {
    let mut program = Program::default();
    let worker = template(&mut program, "worker", &[POINTER], 1, &[write_at(local(0), number(5))]);
    let main = template(&mut program, "main", &[POINTER, INT], 0, &[]);
    let frame =
        object(&mut program, "f", Storage::Frame(main), 4, Layout::Scalar(INT), Initial::Values(vec![]));
    let body = [spawn(worker, vec![Expr::Address(frame, 0)], Some(0)), read(1, frame), join(0)];
    let code = template(&mut program, "main", &[POINTER, INT], 0, &body);
    program.templates[main] = program.templates[code].clone();
    start(&mut program, &[main]);
    assert_eq!(ask(&program, &Property::NoRace), Answer::Unsafe);
}

#[test]
fn recursion_and_results_run() {
    let mut program = Program::default();
    let sum = ir::TemplateId(0);
    let below = add(local(0), number(-1));
    let body = [Stmt::If(
        equal(local(0), number(0)),
        vec![set(1, number(0))],
        vec![call(sum, vec![below], Some(1)), set(1, add(local(1), local(0)))],
    )];
    assert_eq!(procedure(&mut program, "sum", &[INT, INT], 1, &body), sum);
    let main = template(
        &mut program,
        "main",
        &[INT],
        0,
        &[call(sum, vec![number(10)], Some(0)), Stmt::Assert(equal(local(0), number(55)))],
    );
    start(&mut program, &[main]);
    assert_eq!(ask(&program, &assertions()), Answer::Safe);
}

#[test]
fn endless_recursion_is_unknown() {
    let mut program = Program::default();
    let forever = ir::TemplateId(0);
    template(
        &mut program,
        "forever",
        &[],
        0,
        &[Stmt::Op(Op::Call(Callee::Procedure(forever), vec![], None))],
    );
    start(&mut program, &[forever]);
    assert_eq!(ask(&program, &Property::NoDeadlock), Answer::Unknown);
}

#[test]
fn an_endless_private_loop_does_not_hide_other_threads() {
    let mut program = Program::default();
    let x = global(&mut program, "x", 0);
    let spin = template(
        &mut program,
        "spin",
        &[INT],
        0,
        &[Stmt::While(equal(local(0), number(0)), vec![set(0, local(0))])],
    );
    let other =
        template(&mut program, "other", &[INT], 0, &[read(0, x), Stmt::Assert(equal(local(0), number(1)))]);
    start(&mut program, &[spin, other]);
    assert_eq!(ask(&program, &assertions()), Answer::Unsafe);
    assert_eq!(ask(&program, &Property::NoRace), Answer::Safe);
}

#[test]
fn shortest_traces_are_no_longer() {
    let shortest = Options { shortest: true, ..Options::default() };
    let program = counter(false);
    let length = |options| match ask_with(options, &program, &assertions()).1 {
        Verdict::Unsafe(trace) => trace.steps.len(),
        Verdict::Safe(_) | Verdict::Unknown(_) => panic!("a violation is there"),
    };
    assert!(length(shortest) <= length(Options::default()));
}

#[test]
fn halting_ends_all_threads() {
    let mut program = Program::default();
    let x = global(&mut program, "x", 0);
    let halts = template(&mut program, "halts", &[], 0, &[Stmt::Halt]);
    let other =
        template(&mut program, "other", &[INT], 0, &[read(0, x), Stmt::Assert(equal(local(0), number(1)))]);
    start(&mut program, &[halts, other]);
    assert_eq!(ask(&program, &assertions()), Answer::Unsafe);
}

/// The place for the id of a new thread is no memory: the step fails, and there is no new thread.
#[test]
fn a_failed_start_leaves_no_thread() {
    let mut program = Program::default();
    let x = global(&mut program, "x", 0);
    let worker = template(&mut program, "worker", &[INT], 0, &[read(0, x), write(x, number(1))]);
    let nowhere = Lhs::Memory(Place::pointee(Expr::int(8, POINTER), POINTER));
    let failing = Stmt::Op(Op::Spawn(Callee::Procedure(worker), vec![], Some(nowhere)));
    let main = template(&mut program, "main", &[POINTER], 0, &[spawn(worker, vec![], Some(0)), failing]);
    start(&mut program, &[main]);
    let sites =
        program.templates[worker].edges.ids().map(|edge| Site { kind: worker, template: worker, edge });
    let pairs: Vec<[Site; 2]> = sites.map(|site| [site, site]).collect();
    let range = Range { object: x, offset: 0, size: program.objects[x].size };
    let mut directed = Directed::new(&program).expect("it is small");
    let mut search = directed.search(range, &pairs).expect("there are accesses");
    for _ in 0..100 {
        search.run(&mut directed, &Budget::seconds(0.001));
    }
    assert!(search.progress().0 > 0, "nothing was executed");
    assert!(directed.take_found().is_empty(), "one thread does not race with itself");
}
