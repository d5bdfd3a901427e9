//! Measures the explicit engine: stored states per second and bytes per state on two threads that each add to
//! a shared integer in a loop; stored states where the additions are made under a lock; and by how much
//! deadlines are missed on programs with large states or many threads.

use engine_explicit::Explicit;
use ir::{
    BinaryOp, Count, Expr, Initial, IntType, Layout, Lhs, LocalId, LocationKind, LockKind, Object, Op, Place,
    Program, Span, Storage, SyncKind, Template,
};
use std::time::Instant;
use verdict::{Budget, Engine, Proof, Property, Silent, Task, Verdict};

const INT: IntType = IntType::I32;

fn program(rounds: i128, threads: u32, padding: u64, locked: bool) -> Program {
    let span = Span::default();
    let mut program = Program::default();
    let mut object = |name: &str, size, layout| {
        let (storage, initial) = (Storage::Static, Initial::Values(vec![]));
        program.objects.push(Object {
            name: name.to_owned(),
            storage,
            size,
            align: 8,
            layout,
            initial,
            span,
            role: ir::ObjectRole::Program,
        })
    };
    let x = object("x", 4, Layout::Scalar(INT));
    let mutex = object("mutex", 40, Layout::Sync(SyncKind::Mutex));
    object("padding", padding, Layout::Bytes(padding));
    let mut code = Template { name: "worker".to_owned(), ..Template::default() };
    let value = LocalId(0);
    let count = LocalId(1);
    code.local("value", INT, span);
    code.local("count", INT, span);
    let [head, read, write, next] = [(); 4].map(|()| code.location(LocationKind::Normal, false));
    let [enter, leave] = [(); 2].map(|()| code.location(LocationKind::Normal, false));
    let end = code.location(LocationKind::End, false);
    let more = Expr::binary(BinaryOp::Lt, INT, Expr::Local(count), Expr::int(rounds, INT));
    code.edge(head, if locked { enter } else { read }, vec![Op::Assume(more.clone())], span);
    let lock = Expr::Address(mutex, 0);
    code.edge(enter, read, vec![Op::Lock(LockKind::Mutex, lock.clone())], span);
    code.edge(leave, next, vec![Op::Unlock(LockKind::Mutex, lock)], span);
    code.edge(head, end, vec![Op::Assume(more.not())], span);
    let cell = Place { atomic: true, ..Place::cell(x, 0, INT) };
    code.edge(read, write, vec![Op::set(Lhs::Local(value), Expr::load(cell.clone()))], span);
    let wrapped = |value| Expr::binary(BinaryOp::And, INT, value, Expr::int(7, INT));
    let one_more = |local| Expr::binary(BinaryOp::Add, INT, Expr::Local(local), Expr::int(1, INT));
    let target = if locked { leave } else { next };
    code.edge(write, target, vec![Op::set(Lhs::Memory(cell), wrapped(one_more(value)))], span);
    code.edge(next, head, vec![Op::set(Lhs::Local(count), one_more(count))], span);
    code.entry = head;
    let worker = program.templates.push(code);
    program.start = vec![(worker, Count::Exactly(threads))];
    program
}

/// The most memory that the process has had, in bytes, where the system says so.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

fn states(name: &str, program: &Program, property: &Property) -> Option<u64> {
    let program = &program.clone().into();
    let start = Instant::now();
    let verdict = Explicit::default().verify(Task { program, property }, &Budget::unlimited(), &Silent);
    let seconds = start.elapsed().as_secs_f64();
    match verdict {
        Verdict::Safe(Proof::Exhaustive { states, .. }) => {
            let rate = states as f64 / seconds;
            println!("{name}, {property:?}: {states} states in {seconds:.2} s: {rate:.0} states/s");
            Some(states)
        }
        other => {
            println!("{name}, {property:?}: {other:?}");
            None
        }
    }
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20);
    let everything = std::env::args().any(|text| text == "all");
    let integer = program(rounds, 2, 0, false);
    let before = peak();
    let count = states("integer", &integer, &Property::NoDeadlock);
    if let (Some(before), Some(after), Some(count)) = (before, peak(), count) {
        println!("{} bytes per state, all in all", (after - before) / count.max(1));
    }
    states("integer", &integer, &Property::NoRace);
    if !everything {
        return;
    }
    for threads in 2..=3 {
        let name = format!("lock, {threads} threads of {} rounds", rounds / 4);
        states(&name, &program(rounds / 4, threads, 0, true), &Property::NoRace);
    }
    for (threads, padding) in [(2, 48 << 20), (250, 0), (250, 1 << 20)] {
        for property in [Property::NoDeadlock, Property::NoRace] {
            let program = program(rounds, threads, padding, true).into();
            let start = Instant::now();
            let task = Task { program: &program, property: &property };
            let verdict = Explicit::default().verify(task, &Budget::seconds(1.0), &Silent);
            let over = start.elapsed().as_secs_f64() - 1.0;
            println!(
                "{threads} threads, {padding} bytes, {property:?}: {over:+.3} s past the deadline ({verdict:?})"
            );
        }
    }
}
