//! Wild random C programs: anything goes that C with threads has, also what may end in undefined behaviour.
//!
//! Unlike [`Source`](super::Source), a [`Wild`] program exists as text alone: what it means is what the front
//! end makes of it. It may wait forever, overflow, leave its arrays, use what was freed; whether it does is
//! what naive exploration decides. Each program has only a few features, chosen by its seed, and a few
//! statements, so that most have less than some ten thousand states.
//!
//! A program is a tree of lines, so that [`Lines::shrunk`] can leave out what a disagreement does not need.

mod statements;

use super::Random;
use super::lines::{Lines, Node, line};
use verdict::Check;

/// A program, and what it is asked about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wild {
    /// What the program is about.
    pub check: Check,
    /// The program.
    pub lines: Lines,
}

/// A type and interesting values of it.
type Type = (&'static str, &'static [&'static str]);

const INT: Type = ("int", &["2147483647", "-2147483647 - 1", "0", "1", "2", "3"]);
const BOOL: Type = ("_Bool", &["0", "1"]);
const TYPES: [Type; 8] = [
    INT,
    INT,
    ("signed char", &["127", "-128", "1"]),
    ("unsigned char", &["255", "0", "1"]),
    ("short", &["32767", "-32768", "1"]),
    ("unsigned int", &["4294967295u", "0", "2147483648u", "1"]),
    ("long long", &["9223372036854775807ll", "0", "-1"]),
    ("unsigned long long", &["18446744073709551615ull", "0", "1"]),
];

/// Something that can be read and written.
#[derive(Clone, Debug)]
struct Cell {
    name: String,
    ty: Type,
    /// Whether its type is `_Atomic`.
    atomic: bool,
    /// Whether `&` may be written before it, to have an `int *`.
    addressable: bool,
}

/// What a program has.
#[derive(Clone, Copy, Debug)]
struct Features {
    atomics: bool,
    builtins: bool,
    regions: bool,
    trylock: bool,
    recursive: bool,
    rwlock: bool,
    conditions: bool,
    semaphores: bool,
    barrier: bool,
    pointers: bool,
    heap: bool,
    structure: bool,
    arrays: bool,
    jumps: bool,
    recursion: bool,
    local_storage: bool,
    extremes: bool,
    /// Shared variables only under the first lock, or in atomic regions.
    careful: bool,
    arguments: bool,
    results: bool,
    creation_loop: bool,
    nested_threads: bool,
    inputs: bool,
}

impl Features {
    fn choose(random: &mut Random) -> Self {
        Self {
            atomics: random.once_in(3),
            builtins: random.once_in(4),
            regions: random.once_in(4),
            trylock: random.once_in(5),
            recursive: random.once_in(10),
            rwlock: random.once_in(8),
            conditions: random.once_in(8),
            semaphores: random.once_in(10),
            barrier: random.once_in(14),
            pointers: random.once_in(3),
            heap: random.once_in(6),
            structure: random.once_in(4),
            arrays: random.once_in(3),
            jumps: random.once_in(3),
            recursion: random.once_in(6),
            local_storage: random.once_in(8),
            extremes: random.once_in(3),
            careful: random.once_in(3),
            arguments: random.once_in(4),
            results: random.once_in(6),
            creation_loop: random.once_in(5),
            nested_threads: random.once_in(8),
            inputs: random.once_in(3),
        }
    }
}

/// Chooses statements, and remembers what there is.
struct Writer {
    random: Random,
    check: Check,
    features: Features,
    cells: Vec<Cell>,
    /// Variables of the function that is written.
    locals: Vec<Cell>,
    /// The names of plain mutexes.
    mutexes: Vec<&'static str>,
    /// Makes names.
    names: usize,
    /// Whether helper functions may be called.
    helpers: bool,
}

impl Wild {
    /// The program with this number.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let check = match random.below(10) {
            0..=3 => Check::Assertions,
            4..=6 => Check::Races,
            7 => Check::Deadlock,
            8 => Check::Overflow,
            _ => Check::Bounds,
        };
        let mut features = Features::choose(&mut random);
        features.extremes |= check == Check::Overflow;
        match check {
            Check::Bounds if random.once_in(2) => features.arrays = true,
            Check::Bounds => features.pointers = true,
            Check::Assertions | Check::ReachError | Check::Races | Check::Overflow | Check::Deadlock => {}
            Check::Deref | Check::Free | Check::Memtrack | Check::Memcleanup => {}
        }
        let mutexes = if random.once_in(3) { vec!["m0", "m1"] } else { vec!["m0"] };
        let mut writer = Writer {
            random,
            check,
            features,
            cells: vec![],
            locals: vec![],
            mutexes,
            names: 0,
            helpers: false,
        };
        let lines = Lines(writer.program());
        Self { check, lines }
    }
}

impl Writer {
    /// A new number for a name.
    fn name(&mut self) -> usize {
        self.names += 1;
        self.names
    }

    fn program(&mut self) -> Vec<Node> {
        let mut nodes = vec![line("#include <assert.h>"), line("#include <pthread.h>")];
        if self.features.atomics {
            nodes.push(line("#include <stdatomic.h>"));
        }
        if self.features.heap {
            nodes.push(line("#include <stdlib.h>"));
        }
        if self.features.semaphores {
            nodes.push(line("#include <semaphore.h>"));
        }
        nodes.push(line("extern _Bool __VERIFIER_nondet_bool(void);"));
        nodes.push(line("extern void __VERIFIER_assume(int);"));
        nodes.push(line("extern void __VERIFIER_atomic_begin(void);"));
        nodes.push(line("extern void __VERIFIER_atomic_end(void);"));
        self.globals(&mut nodes);
        if self.random.once_in(3) || self.features.recursion {
            self.helper_functions(&mut nodes);
        }
        let kinds = if self.random.once_in(3) { 2 } else { 1 };
        for number in (1..=kinds).rev() {
            let child = (number == 1 && kinds == 2 && self.features.nested_threads).then_some(2);
            let statements = if kinds == 1 { 5 } else { 3 };
            let thread = self.thread(number, child, statements);
            nodes.push(thread);
        }
        let main = self.main(kinds);
        nodes.push(main);
        nodes
    }

    fn globals(&mut self, nodes: &mut Vec<Node>) {
        let mut add = |cells: &mut Vec<Cell>, name: &str, ty: Type, atomic: bool, shown: String| {
            let addressable = ty.0 == "int" && !atomic;
            cells.push(Cell { name: name.to_owned(), ty, atomic, addressable });
            nodes.push(line(shown));
        };
        for number in 0..1 + self.random.below(2) {
            let ty = if number == 0 { INT } else { self.random.pick(&[TYPES.as_slice(), &[BOOL]].concat()) };
            let value = self.value_of(ty);
            let name = format!("g{number}");
            add(&mut self.cells, &name, ty, false, format!("{} {name} = {value};", ty.0));
        }
        if self.features.atomics {
            for number in 0..1 + self.random.below(2) {
                let ty = self.random.pick(&TYPES);
                let value = self.value_of(ty);
                let name = format!("x{number}");
                add(&mut self.cells, &name, ty, true, format!("_Atomic {} {name} = {value};", ty.0));
            }
        }
        if self.features.structure {
            let ty = self.random.pick(&TYPES);
            add(&mut self.cells, "s.f", INT, false, format!("struct S {{ {} h; int f; }};", ty.0));
            add(&mut self.cells, "s.h", ty, false, "struct S s;".to_owned());
        }
        if self.features.arrays {
            let ty = if self.random.once_in(2) { INT } else { self.random.pick(&TYPES) };
            add(&mut self.cells, "a[0]", ty, false, format!("{} a[2];", ty.0));
            add(&mut self.cells, "a[1]", ty, false, String::new());
            if self.check == Check::Bounds || self.random.once_in(6) {
                add(&mut self.cells, "a[l0]", ty, false, String::new());
            }
            add(&mut self.cells, "a[l0 & 1]", ty, false, String::new());
        }
        if self.features.pointers || self.features.heap {
            let first = if self.features.heap && self.random.once_in(2) { "0" } else { "&g0" };
            add(&mut self.cells, "*p", INT, false, format!("int *p = {first};"));
        }
        if self.features.local_storage {
            add(&mut self.cells, "t", INT, false, "_Thread_local int t;".to_owned());
        }
        for mutex in &self.mutexes {
            nodes.push(line(format!("pthread_mutex_t {mutex} = PTHREAD_MUTEX_INITIALIZER;")));
        }
        if self.features.recursive {
            nodes.push(line("pthread_mutex_t again;"));
        }
        if self.features.rwlock {
            nodes.push(line("pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;"));
        }
        if self.features.conditions {
            nodes.push(line("pthread_cond_t c = PTHREAD_COND_INITIALIZER;"));
        }
        if self.features.semaphores {
            nodes.push(line("sem_t sem;"));
        }
        if self.features.barrier {
            nodes.push(line("pthread_barrier_t barrier;"));
        }
        if self.features.nested_threads {
            nodes.push(line("pthread_t child;"));
        }
    }

    /// The locals of a function, the first of them an `int` with a value.
    fn start_function(&mut self, first: Option<&str>) -> Vec<Node> {
        let ty = self.random.pick(&TYPES);
        let cell = |name: &str, ty| Cell { name: name.to_owned(), ty, atomic: false, addressable: false };
        self.locals = vec![cell("l0", INT), cell("l1", ty)];
        let mut nodes = Vec::new();
        nodes.extend(first.map(|value| line(format!("int l0 = {value};"))));
        nodes.push(line(format!("{} l1 = 0;", ty.0)));
        nodes
    }

    fn helper_functions(&mut self, nodes: &mut Vec<Node>) {
        if self.features.recursion {
            let mut body = self.start_function(None);
            body.push(line("if (l0 <= 0) return 0;"));
            body.extend(self.statements(1, 0));
            body.push(line(self.random.pick(&[
                "return f(l0 - 1) + 1;",
                "l1 = f(l0 - 1);\n  return l1;",
                "return f(l0 - 2);",
            ])));
            nodes.push(Node::Block("static int f(int l0) {".to_owned(), body, "}".to_owned()));
        } else {
            let mut body = self.start_function(None);
            body.extend(self.statements(1, 1));
            let result = self.expression(1);
            body.push(line(format!("return {result};")));
            nodes.push(Node::Block("static int f(int l0) {".to_owned(), body, "}".to_owned()));
        }
        self.helpers = true;
    }

    fn thread(&mut self, number: usize, child: Option<usize>, statements: usize) -> Node {
        let pointer = self.features.arguments && self.features.pointers && number == 1;
        let first = if self.features.arguments && !pointer { "(int)(long)argument" } else { "0" };
        let mut body = self.start_function(Some(first));
        if pointer {
            body.push(line("int *q = argument;"));
            self.locals.push(Cell { name: "*q".to_owned(), ty: INT, atomic: false, addressable: false });
        }
        if let Some(child) = child {
            body.push(line(format!("pthread_create(&child, 0, thread{child}, (void *)1);")));
        }
        body.extend(self.statements(statements, 2));
        if child.is_some() && self.random.once_in(2) {
            body.push(line("pthread_join(child, 0);"));
            body.extend(self.statements(1, 1));
        }
        body.push(line(if self.features.results { "return (void *)(long)l0;" } else { "return 0;" }));
        Node::Block(format!("void *thread{number}(void *argument) {{"), body, "}".to_owned())
    }

    /// What is set up before threads are started.
    fn set_up(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        if self.features.recursive {
            nodes.push(line("pthread_mutexattr_t kind;"));
            nodes.push(line("pthread_mutexattr_init(&kind);"));
            let kind = self.random.pick(&["RECURSIVE", "RECURSIVE", "ERRORCHECK"]);
            nodes.push(line(format!("pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_{kind});")));
            nodes.push(line("pthread_mutex_init(&again, &kind);"));
        }
        if self.features.semaphores {
            nodes.push(line(format!("sem_init(&sem, 0, {});", self.random.below(2))));
        }
        if self.features.barrier {
            nodes.push(line("pthread_barrier_init(&barrier, 0, 2);"));
        }
        nodes
    }

    fn main(&mut self, kinds: usize) -> Node {
        let mut body = self.start_function(Some("0"));
        body.extend(self.set_up());
        let argument = |writer: &mut Self| match writer.features {
            Features { arguments: true, pointers: true, .. } => {
                writer.random.pick(&["&g0", "&g0", "(void *)p"])
            }
            Features { arguments: true, .. } => writer.random.pick(&["(void *)1", "(void *)2", "(void *)0"]),
            _ => "0",
        };
        if self.features.creation_loop && kinds == 1 {
            body.push(line("pthread_t ids[2];"));
            let argument = if self.features.arguments && !self.features.pointers {
                "(void *)(long)i"
            } else {
                argument(self)
            };
            body.push(line(format!(
                "for (int i = 0; i < 2; i++) pthread_create(&ids[i], 0, thread1, {argument});"
            )));
            body.extend(self.statements(1, 1));
            match self.random.below(4) {
                0 => body.push(line("pthread_join(ids[1], 0);")),
                1 => {}
                _ => body.push(line("for (int i = 0; i < 2; i++) pthread_join(ids[i], 0);")),
            }
        } else {
            let started = if kinds == 2 && self.features.nested_threads { 1 } else { kinds };
            for number in 1..=started {
                body.push(line(format!("pthread_t id{number};")));
                let argument = if number == 1 { argument(self) } else { "0" };
                body.push(line(format!("pthread_create(&id{number}, 0, thread{number}, {argument});")));
            }
            body.extend(self.statements(if kinds == 1 { 3 } else { 2 }, 2));
            let mut order: Vec<usize> = (1..=started).collect();
            if self.random.once_in(2) {
                order.reverse();
            }
            for number in order {
                if self.random.once_in(5) {
                    continue;
                }
                if self.features.results {
                    body.push(line(format!("void *r{number};")));
                    body.push(line(format!("pthread_join(id{number}, &r{number});")));
                    body.push(line(format!("l0 = (int)(long)r{number};")));
                } else {
                    body.push(line(format!("pthread_join(id{number}, 0);")));
                }
            }
        }
        if self.random.once_in(2) {
            let condition = self.condition();
            body.push(line(format!("assert({condition});")));
        }
        body.push(line("return 0;"));
        Node::Block("int main(void) {".to_owned(), body, "}".to_owned())
    }
}
