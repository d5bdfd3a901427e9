//! Measures stored states per second, and bytes per state, on a small program: two threads that each add to a shared
//! integer in a loop.

use engine_explicit::Explicit;
use ir::{
    BinaryOp, Count, Expr, Initial, IntType, Layout, Lhs, LocalId, LocationKind, Object, Op, Place, Program,
    Span, Storage, Template,
};
use std::time::Instant;
use verdict::{Budget, Engine, Proof, Property, Silent, Task, Verdict};

const INT: IntType = IntType::I32;

fn program(rounds: i128) -> Program {
    let span = Span::default();
    let mut program = Program::default();
    let x = program.objects.push(Object {
        name: "x".to_owned(),
        storage: Storage::Static,
        size: 4,
        align: 4,
        layout: Layout::Scalar(INT),
        initial: Initial::Values(vec![]),
        span,
    });
    let mut code = Template { name: "worker".to_owned(), ..Template::default() };
    let value = LocalId(0);
    let count = LocalId(1);
    code.local("value", INT, span);
    code.local("count", INT, span);
    let [head, read, write, next] = [(); 4].map(|()| code.location(LocationKind::Normal, false));
    let end = code.location(LocationKind::End, false);
    let more = Expr::binary(BinaryOp::Lt, INT, Expr::Local(count), Expr::int(rounds, INT));
    code.edge(head, read, vec![Op::Assume(more.clone())], span);
    code.edge(head, end, vec![Op::Assume(more.not())], span);
    let cell = Place { atomic: true, ..Place::cell(x, 0, INT) };
    code.edge(read, write, vec![Op::set(Lhs::Local(value), Expr::load(cell.clone()))], span);
    let wrapped = |value| Expr::binary(BinaryOp::And, INT, value, Expr::int(7, INT));
    let one_more = |local| Expr::binary(BinaryOp::Add, INT, Expr::Local(local), Expr::int(1, INT));
    code.edge(write, next, vec![Op::set(Lhs::Memory(cell), wrapped(one_more(value)))], span);
    code.edge(next, head, vec![Op::set(Lhs::Local(count), one_more(count))], span);
    code.entry = head;
    let worker = program.templates.push(code);
    program.start = vec![(worker, Count::Exactly(2))];
    program
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20);
    let program = program(rounds);
    for property in [Property::NoDeadlock, Property::NoRace] {
        let start = Instant::now();
        let task = Task { program: &program, property: &property };
        let verdict = Explicit::default().verify(task, &Budget::unlimited(), &Silent);
        let seconds = start.elapsed().as_secs_f64();
        match verdict {
            Verdict::Safe(Proof::Exhaustive { states, .. }) => {
                let rate = states as f64 / seconds;
                println!("{property:?}: {states} states in {seconds:.2} s: {rate:.0} states/s");
            }
            other => println!("{property:?}: {other:?}"),
        }
    }
}
