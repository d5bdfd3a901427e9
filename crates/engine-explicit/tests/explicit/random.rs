//! Random programs: the reduced search agrees with one without reductions.

use crate::builder::*;
use crate::{Answer, ask_with, assertions};
use checker::{ProofError, check_all_executions};
use engine_explicit::Options;
use ir::semantics::wait_in_atomic_region;
use ir::{
    BinaryOp, Callee, Expr, Initial, IntType, Layout, Lhs, LocalId, LockKind, ObjectId, Op, Place, Program,
    SharedObject, Storage, SyncKind, TemplateId, Waiting,
};
use testkit::random::Random;
use verdict::{Budget, Exhausted, Property};

struct Generator {
    random: Random,
    globals: Vec<ObjectId>,
    mutexes: Vec<ObjectId>,
    frames: Vec<ObjectId>,
    helper: Option<TemplateId>,
    site: ObjectId,
    /// Data that locks mostly guard: object, lock, and whether it is a read-write lock. None: no such
    /// statements.
    guarded: Vec<(ObjectId, ObjectId, bool)>,
    /// Whether threads wait for globals to be set.
    waits: bool,
}

/// Locals 0 and 1 are integers, 2 is a pointer, 3 a Boolean.
const LOCALS: [IntType; 4] = [INT, INT, POINTER, IntType::BOOL];

impl Generator {
    fn global(&mut self) -> ObjectId {
        self.globals[self.random.below(self.globals.len())]
    }
    fn mutex(&mut self) -> ObjectId {
        self.mutexes[self.random.below(self.mutexes.len())]
    }
    fn value(&mut self) -> Expr {
        match self.random.below(3) {
            0 => number(i128::from(self.random.below(3))),
            1 => local(0),
            _ => local(1),
        }
    }
    fn condition(&mut self) -> Expr {
        let op = [BinaryOp::Eq, BinaryOp::Lt, BinaryOp::Ne][self.random.below(3) as usize];
        let left = local(self.random.below(2) as u32);
        let right = number(i128::from(self.random.below(3)));
        binary(op, left, right)
    }
    fn address(&mut self) -> Expr {
        match (self.random.below(3), self.frames.first()) {
            (0, Some(frame)) => Expr::Address(*frame, 0),
            _ => Expr::Address(self.global(), 0),
        }
    }
    /// Something about guarded data: mostly under its lock, sometimes not, sometimes with a broken lock.
    fn guarded_statement(&mut self, depth: u32) -> Vec<Stmt> {
        let (data, lock, shared) = self.guarded[self.random.below(self.guarded.len())];
        let register = self.random.below(2) as u32;
        let place = Expr::Address(lock, 0);
        let word = Place { atomic: true, ..Place::cell(lock, 0, IntType::U32) };
        match self.random.below(40) {
            0 => return vec![Stmt::Op(Op::Unlock(LockKind::Mutex, place))],
            1 => return vec![Stmt::Op(Op::set(Lhs::Memory(word), Expr::int(0, IntType::U32)))],
            2 => {
                return vec![Stmt::Op(Op::set(
                    Lhs::Local(LocalId(3)),
                    Expr::cast(IntType::BOOL, Expr::load(word)),
                ))];
            }
            3 => return vec![read(register, data)],
            4 => return vec![write(data, number(1))],
            5 => return vec![Stmt::Op(Op::Lock(LockKind::Mutex, place))],
            _ => {}
        }
        let reads_only = shared && self.random.below(2) == 0;
        let kind = match (shared, reads_only) {
            (true, true) => LockKind::Read,
            (true, false) => LockKind::Write,
            (false, _) => LockKind::Mutex,
        };
        let mut body = vec![Stmt::Op(Op::Lock(kind, place.clone()))];
        for _ in 0..1 + self.random.below(3) {
            match self.random.below(8) {
                0..=2 => body.push(read(register, data)),
                3 | 4 if !reads_only => {
                    let value = self.value();
                    body.push(write(data, value));
                }
                3..=5 => body.push(Stmt::Assert(self.condition())),
                6 => {
                    let condition = self.condition();
                    // One branch gives the lock back and takes it again, as a wait does.
                    let way = vec![
                        Stmt::Op(Op::Unlock(kind, place.clone())),
                        Stmt::Op(Op::Lock(kind, place.clone())),
                    ];
                    body.push(Stmt::If(condition, way, vec![]));
                }
                _ => match self.helper {
                    Some(helper) if depth > 0 => body.push(call(helper, vec![local(0)], Some(register))),
                    Some(_) | None => body.push(set(2, Expr::Address(data, 0))),
                },
            }
        }
        body.push(Stmt::Op(Op::Unlock(kind, place)));
        body
    }
    fn statement(&mut self, depth: u32, atomic: bool) -> Vec<Stmt> {
        if self.waits && !atomic && self.random.below(3) == 0 {
            let place = Place { atomic: true, ..Place::cell(self.global(), 0, INT) };
            let set = |value| Stmt::Op(Op::set(Lhs::Memory(place.clone()), number(value)));
            let is_set = binary(BinaryOp::Ne, Expr::load(place.clone()), number(0));
            return match self.random.below(5) {
                0 | 1 => vec![set(1)],
                2 => vec![Stmt::Op(Op::Assume(is_set))],
                _ => vec![Stmt::Op(Op::Assume(is_set)), set(0)],
            };
        }
        if !self.guarded.is_empty() && self.random.below(5) < 3 {
            return self.guarded_statement(depth);
        }
        let register = self.random.below(2) as u32;
        let pick = self.random.below(if depth == 0 { 14 } else { 20 });
        vec![match pick {
            0..=2 => read(register, self.global()),
            3..=5 => {
                let value = self.value();
                write(self.global(), value)
            }
            6 => set(register, add(number(1), number(i128::from(self.random.below(2))))),
            7 => return vec![input(3), Stmt::If(local(3), vec![set(0, number(1))], vec![set(0, number(0))])],
            8 => set(2, self.address()),
            9 => read_at(register, local(2)),
            10 => {
                let value = self.value();
                write_at(local(2), value)
            }
            11 => Stmt::Assert(self.condition()),
            12 => {
                let place = Place { atomic: true, ..Place::cell(self.global(), 0, INT) };
                Stmt::Op(Op::set(Lhs::Memory(place), number(2)))
            }
            13 => match self.helper {
                Some(helper) if depth < 2 => call(helper, vec![local(0)], Some(register)),
                None if depth < 2 => set(2, self.address()),
                Some(_) | None => Stmt::Op(Op::Allocate {
                    site: self.site,
                    size: Expr::int(4, POINTER),
                    zeroed: true,
                    result: Lhs::Local(LocalId(2)),
                }),
            },
            14 | 15 => {
                let condition = self.condition();
                Stmt::If(condition, self.body(depth - 1, 2, atomic), self.body(depth - 1, 1, atomic))
            }
            16 => {
                let condition = self.condition();
                Stmt::While(condition, self.body(depth - 1, 2, atomic))
            }
            17 if !atomic => Stmt::Atomic(self.body(depth - 1, 2, true)),
            _ => {
                let (first, second) = (self.mutex(), self.mutex());
                let mut body = vec![lock(first)];
                if self.random.below(3) == 0 {
                    body.push(lock(second));
                    body.push(unlock(second));
                }
                body.extend(self.body(depth - 1, 2, atomic));
                body.push(unlock(first));
                return body;
            }
        }]
    }
    fn body(&mut self, depth: u32, length: u64, atomic: bool) -> Vec<Stmt> {
        let count = 1 + self.random.below(length);
        (0..count).flat_map(|_| self.statement(depth, atomic)).collect()
    }
}

fn program(seed: u64, with_guards: bool) -> Program {
    program_with(seed, with_guards, false)
}

fn program_with(seed: u64, with_guards: bool, waits: bool) -> Program {
    let mut program = Program::default();
    let globals =
        vec![global(&mut program, "x", 0), global(&mut program, "y", 0), global(&mut program, "z", 1)];
    let mutexes = vec![mutex(&mut program, "m"), mutex(&mut program, "n")];
    let site = object(&mut program, "site", Storage::Site, 4, Layout::Scalar(INT), Initial::Values(vec![]));
    let guarded = if with_guards {
        let (data, more) = (global(&mut program, "guarded", 0), global(&mut program, "more", 0));
        let lock = Layout::Sync(SyncKind::Mutex);
        let shared = object(&mut program, "rw", Storage::Static, 40, lock, Initial::Values(vec![]));
        vec![(data, mutexes[0], false), (more, shared, true), (data, mutexes[0], false)]
    } else {
        vec![]
    };
    let (random, frames) = (Random::new(seed), vec![]);
    let mut generator = Generator { random, globals, mutexes, frames, helper: None, site, guarded, waits };
    let body = generator.body(1, 2, false);
    generator.helper = Some(procedure(&mut program, "helper", &LOCALS, 1, &body));
    let mut workers = Vec::new();
    for index in 0..2 {
        // The frame object belongs to the template that is added next.
        let id = TemplateId(program.templates.len() as u32);
        let frame =
            object(&mut program, "f", Storage::Frame(id), 4, Layout::Scalar(INT), Initial::Values(vec![]));
        generator.frames = vec![frame];
        let body = generator.body(2, 4, false);
        workers.push(template(&mut program, &format!("worker{index}"), &LOCALS, 1, &body));
    }
    generator.frames.clear();
    if generator.random.below(2) == 0 {
        let mut body = generator.body(1, 2, false);
        for worker in &workers {
            body.push(Stmt::Op(Op::Spawn(
                Callee::Procedure(*worker),
                vec![local(0)],
                Some(Lhs::Local(LocalId(2))),
            )));
            body.extend(generator.body(1, 1, false));
        }
        if generator.random.below(2) == 0 {
            body.push(join(2));
            body.extend(generator.body(1, 1, false));
        }
        workers = vec![template(&mut program, "main", &LOCALS, 0, &body)];
    }
    start(&mut program, &workers);
    if waits {
        mark_waits(&mut program);
    }
    program
}

/// Makes assumptions that stand alone ones where threads wait.
fn mark_waits(program: &mut Program) {
    for code in program.templates.iter_mut() {
        for edges in code.outgoing().iter() {
            if let [edge] = edges.as_slice()
                && let edge = &code.edges[*edge]
                && matches!(edge.ops.first(), Some(Op::Assume(_)))
            {
                code.locations[edge.source].waiting = Waiting::For(SharedObject::Semaphore);
            }
        }
    }
}

#[test]
fn reduction_keeps_all_violations() {
    compare(0..1000, false);
}

#[test]
fn reduction_by_locks_keeps_all_violations() {
    compare(0..1200, true);
}

#[test]
fn reduction_keeps_threads_that_wait_for_ever() {
    let mut counts = [0; 3];
    for seed in 0..800 {
        let program = program_with(seed, seed % 2 == 0, true);
        compare_one(seed, &program, &Property::NoDeadlock, &mut counts);
    }
    assert!(counts[Answer::Safe as usize] > 50 && counts[Answer::Unsafe as usize] > 150, "{counts:?}");
}

#[test]
fn what_only_finds_violations_finds_most() {
    let (mut missed, mut found) = (Vec::new(), 0);
    for seed in 0..200 {
        let program = program(seed, seed % 2 == 0);
        for property in [assertions(), Property::NoRace, Property::NoDeadlock] {
            if ask_with(Options::default(), &program, &property).0 == Answer::Unsafe {
                let options = Options { full: false, ..Options::default() };
                match ask_with(options, &program, &property).0 {
                    Answer::Unsafe => found += 1,
                    Answer::Safe => panic!("seed {seed}, {property:?}: nothing may be proved"),
                    Answer::Unknown => missed.push((seed, property.clone())),
                }
            }
        }
    }
    assert!(found > 20 * missed.len(), "{found} found, missed: {missed:?}");
}

fn compare(seeds: std::ops::Range<u64>, with_guards: bool) {
    let mut counts = [0; 3];
    for seed in seeds {
        let program = program(seed, with_guards);
        for property in [assertions(), Property::NoRace, Property::NoDeadlock] {
            compare_one(seed, &program, &property, &mut counts);
        }
    }
    // The test is worth something only if there is some of each.
    assert!(counts[Answer::Safe as usize] > 300 && counts[Answer::Unsafe as usize] > 300, "{counts:?}");
}

/// All searches and both methods of the checker say the same.
fn compare_one(seed: u64, program: &Program, property: &Property, counts: &mut [usize; 3]) {
    if *property == Property::NoDeadlock && wait_in_atomic_region(program).is_some() {
        return;
    }
    let reduced = ask_with(Options::default(), program, property);
    let full = ask_with(Options { reduce: false, ..Options::default() }, program, property).0;
    assert_eq!(reduced.0, full, "seed {seed}, {property:?}: {:?}\n{program:#?}", reduced.1);
    counts[full as usize] += 1;
    let copies = vec![1; program.start.len()];
    let budget = Budget::steps_for(20.0);
    let plain = check_all_executions(program, property, &copies, Some(200_000), &budget);
    let reduced = check_all_executions(program, property, &copies, None, &budget);
    if plain != Err(ProofError::TooExpensive(Exhausted::Memory)) {
        assert_eq!(plain, reduced, "seed {seed}, {property:?}: the checker's own reduction\n{program:#?}");
        assert_eq!(plain.is_ok(), full == Answer::Safe, "seed {seed}, {property:?}: {plain:?}\n{program:#?}");
    }
}
