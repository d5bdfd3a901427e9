//! Chooses statements and expressions of wild programs.

use super::super::lines::{Node, line};
use super::{Cell, Type, Writer};
use verdict::Check;

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Place {
    /// How many blocks may still be nested.
    depth: usize,
    /// Whether other threads are kept out.
    protected: bool,
    /// Whether the statement may wait.
    free: bool,
}

/// Memory order of the builtins: sequentially consistent.
const ORDER: &str = "__ATOMIC_SEQ_CST";

impl Writer {
    /// One to as many statements.
    pub(super) fn statements(&mut self, most: usize, depth: usize) -> Vec<Node> {
        self.block(most, Place { depth, protected: false, free: true })
    }

    fn block(&mut self, most: usize, place: Place) -> Vec<Node> {
        let mut nodes = Vec::new();
        for _ in 0..1 + self.random.below(most) {
            self.statement(place, &mut nodes);
        }
        nodes
    }

    /// A value of a type, mostly small.
    pub(super) fn value_of(&mut self, ty: Type) -> &'static str {
        if self.features.extremes && self.random.once_in(2) {
            self.random.pick(ty.1)
        } else {
            self.random.pick(&["0", "0", "1"])
        }
    }

    fn cell(&mut self) -> Cell {
        let index = self.random.below(self.cells.len());
        self.cells[index].clone()
    }

    fn local(&mut self) -> Cell {
        let index = self.random.below(self.locals.len());
        self.locals[index].clone()
    }

    fn operand(&mut self) -> String {
        match self.random.below(7) {
            0 | 1 => self.random.pick(&["0", "1", "2", "3", "1"]).to_owned(),
            2 if self.features.extremes => {
                let ty = self.local().ty;
                format!("({})", self.random.pick(ty.1))
            }
            2..=4 => self.local().name,
            _ => self.cell().name,
        }
    }

    pub(super) fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.once_in(3) {
            return self.operand();
        }
        let (left, right) = (self.expression(depth - 1), self.operand());
        match self.random.below(if self.features.extremes { 13 } else { 7 }) {
            0..=2 => format!("({left} + {right})"),
            3 => format!("({left} - {right})"),
            4 => format!("({left} {} {right})", self.random.pick(&["&", "|", "^"])),
            5 => format!("({left} {} {right})", self.random.pick(&["==", "<", "!=", ">="])),
            6 => format!("({left} {} {right})", self.random.pick(&["&&", "||"])),
            7 => format!("({left} * {right})"),
            8 => format!("({left} {} {right})", self.random.pick(&["/", "%"])),
            9 => format!("({left} {} ({right} & 7))", self.random.pick(&["<<", ">>"])),
            10 => {
                let ty = self.random.pick(&super::TYPES);
                format!("(({}){left})", ty.0)
            }
            11 => format!("(-{left})"),
            _ => format!("({left} ? {right} : ~{right})"),
        }
    }

    pub(super) fn condition(&mut self) -> String {
        let left = if self.random.once_in(3) { self.local().name } else { self.cell().name };
        let sign = self.random.pick(&["==", "!=", "<", "<=", ">=", "!="]);
        let right = if self.random.once_in(4) { self.expression(1) } else { self.operand() };
        format!("{left} {sign} {right}")
    }

    /// What is stored, or computed with.
    fn amount(&mut self) -> String {
        if self.random.once_in(2) {
            self.random.pick(&["1", "2", "1"]).to_owned()
        } else {
            self.expression(1)
        }
    }

    fn push(&mut self, nodes: &mut Vec<Node>, place: Place, made: Vec<Node>) {
        if !self.features.careful || place.protected || !place.free {
            nodes.extend(made);
        } else if self.features.regions {
            nodes.push(region(made));
        } else {
            nodes.push(locked("m0", made));
        }
    }

    fn statement(&mut self, place: Place, nodes: &mut Vec<Node>) {
        let inner = Place { depth: place.depth.saturating_sub(1), ..place };
        let compound = place.depth > 0;
        match self.random.below(26) {
            0..=4 => {
                let made = self.assignment();
                self.push(nodes, place, vec![line(made)]);
            }
            5 | 6 => {
                let (local, value) = (self.local().name, self.expression(2));
                self.push(nodes, place, vec![line(format!("{local} = {value};"))]);
            }
            7 | 8 => {
                let condition = self.condition();
                self.push(nodes, place, vec![line(format!("assert({condition});"))]);
            }
            9 | 10 if compound => {
                let condition = self.condition();
                let made = self.choice(condition, inner);
                if place.free && self.features.careful && !place.protected {
                    let inside = Place { protected: true, free: false, ..inner };
                    let condition = self.condition();
                    let made = self.choice(condition, inside);
                    self.push(nodes, place, made);
                } else {
                    nodes.extend(made);
                }
            }
            11 if compound => self.repeated(inner, nodes),
            12 | 13 if place.free && compound => self.with_lock(inner, nodes),
            14 if self.features.regions && place.free => {
                let inside = Place { protected: true, free: false, ..inner };
                let made = self.block(2, inside);
                nodes.push(region(made));
            }
            15 | 16 if self.features.atomics => {
                let made = self.atomic_statement();
                nodes.extend(made);
            }
            17 if self.features.builtins => {
                let made = self.builtin();
                nodes.extend(made);
            }
            18 if self.features.pointers || self.features.heap => {
                let made = self.pointer_statement();
                self.push(nodes, place, made);
            }
            19 if self.features.inputs => {
                let local = self.local().name;
                nodes.push(line(format!("{local} = __VERIFIER_nondet_bool();")));
            }
            20 if self.random.once_in(3) => {
                let condition = self.condition();
                self.push(nodes, place, vec![line(format!("__VERIFIER_assume({condition});"))]);
            }
            21 if self.helpers && place.free => {
                let local = self.local().name;
                let argument = self.random.pick(&["1", "l0 & 1", "2", "0"]);
                nodes.push(line(format!("{local} = f({argument});")));
            }
            22 if self.features.jumps && compound => self.jump(inner, nodes),
            23 if place.free => self.waiting(inner, nodes),
            24 if self.features.local_storage => {
                nodes.push(line(self.random.pick(&["t++;", "l0 = t;", "assert(t <= 1);"])))
            }
            25 if place.free && self.random.once_in(4) => {
                let condition = self.condition();
                let end = self.random.pick(&["pthread_exit(0);", "pthread_exit(0);", "__builtin_trap();"]);
                self.push(nodes, place, vec![line(format!("l0 = {condition};"))]);
                nodes.push(line(format!("if (l0) {end}")));
            }
            _ => {
                let made = self.assignment();
                self.push(nodes, place, vec![line(made)]);
            }
        }
    }

    fn assignment(&mut self) -> String {
        let cell = self.cell().name;
        match self.random.below(6) {
            0 | 1 => format!("{cell} = {};", self.amount()),
            2 => format!("{cell} {} {};", self.random.pick(&["+=", "-=", "|=", "^="]), self.amount()),
            3 => format!("({cell})++;"),
            4 if self.features.extremes => {
                let (sign, amount) = (self.random.pick(&["*=", "<<=", "-="]), self.amount());
                format!("{cell} {sign} ({amount} & 3);")
            }
            4 => format!("--({cell});"),
            _ => format!("{cell} = {};", self.expression(2)),
        }
    }

    fn choice(&mut self, condition: String, inner: Place) -> Vec<Node> {
        let yes = self.block(2, inner);
        let mut made = vec![Node::Block(format!("if ({condition}) {{"), yes, "}".to_owned())];
        if self.random.once_in(3) {
            let no = self.block(1, inner);
            made.push(Node::Block("else {".to_owned(), no, "}".to_owned()));
        }
        made
    }

    fn repeated(&mut self, inner: Place, nodes: &mut Vec<Node>) {
        let number = self.name();
        let inner = Place { depth: 0, ..inner };
        let mut body = self.block(1, inner);
        if self.features.jumps && self.random.once_in(2) && !self.features.careful {
            let condition = self.condition();
            let jump = self.random.pick(&["break", "continue"]);
            body.push(line(format!("if ({condition}) {jump};")));
        }
        let (open, close) = match self.random.below(3) {
            0 => {
                nodes.push(line(format!("int k{number} = 0;")));
                ("do {".to_owned(), format!("}} while (++k{number} < 2);"))
            }
            1 if !self.features.careful => {
                let condition = self.condition();
                (
                    format!("for (int k{number} = 0; k{number} < 2 && {condition}; k{number}++) {{"),
                    "}".to_owned(),
                )
            }
            _ => (format!("for (int k{number} = 0; k{number} < 2; k{number}++) {{"), "}".to_owned()),
        };
        nodes.push(Node::Block(open, body, close));
    }

    fn with_lock(&mut self, inner: Place, nodes: &mut Vec<Node>) {
        // A second lock may be taken while one is held.
        let again = !self.features.careful && self.random.once_in(4);
        let inside = Place { protected: true, free: again, depth: inner.depth.min(1) };
        let body = self.block(2, inside);
        let plain = if self.features.careful { "m0" } else { self.random.pick(&self.mutexes.clone()) };
        let block = |open: &str, close: &str| Node::Block(open.to_owned(), body.clone(), close.to_owned());
        let features = self.features;
        let made = match self.random.below(6) {
            0 if features.trylock => {
                let open = format!("if (!pthread_mutex_trylock(&{plain})) {{");
                block(&open, &format!("pthread_mutex_unlock(&{plain}); }}"))
            }
            1 if features.recursive => {
                let twice = self.random.once_in(2);
                let lock = "pthread_mutex_lock(&again);";
                let unlock = "pthread_mutex_unlock(&again);";
                if twice {
                    block(&format!("{lock} {lock}"), &format!("{unlock} {unlock}"))
                } else {
                    block(lock, unlock)
                }
            }
            2 if features.rwlock => {
                let kind = self.random.pick(&["wr", "rd", "wr"]);
                block(&format!("pthread_rwlock_{kind}lock(&rw);"), "pthread_rwlock_unlock(&rw);")
            }
            3 if features.semaphores => block("sem_wait(&sem);", "sem_post(&sem);"),
            _ => locked(plain, body),
        };
        nodes.push(made);
    }

    fn waiting(&mut self, inner: Place, nodes: &mut Vec<Node>) {
        let features = self.features;
        match self.random.below(4) {
            0 | 1 if features.conditions => {
                if self.random.once_in(2) {
                    let condition = self.condition();
                    let mut body = vec![line(format!("while ({condition}) pthread_cond_wait(&c, &m0);"))];
                    body.extend(self.block(1, Place { depth: 0, protected: true, free: false }));
                    nodes.push(locked("m0", body));
                } else {
                    let mut body = self.block(1, Place { depth: 0, protected: true, free: false });
                    body.push(line("pthread_cond_signal(&c);"));
                    nodes.push(locked("m0", body));
                }
            }
            2 if features.semaphores => nodes.push(line(self.random.pick(&[
                "sem_post(&sem);",
                "sem_wait(&sem);",
                "l0 = sem_trywait(&sem);",
            ]))),
            2 | 3 if features.barrier => nodes.push(line("pthread_barrier_wait(&barrier);")),
            _ if features.atomics => {
                let atomics: Vec<Cell> = self.cells.iter().filter(|cell| cell.atomic).cloned().collect();
                let cell = &atomics[self.random.below(atomics.len())].name;
                let value = self.random.pick(&["0", "1"]);
                nodes.push(line(format!("while ({cell} == {value}) ;")));
            }
            _ => self.statement(Place { depth: 0, ..inner }, nodes),
        }
    }

    /// C11's operations.
    fn atomic_statement(&mut self) -> Vec<Node> {
        let atomics: Vec<Cell> = self.cells.iter().filter(|cell| cell.atomic).cloned().collect();
        let Cell { name: cell, ty, .. } = atomics[self.random.below(atomics.len())].clone();
        let (local, amount) = (self.local().name, self.amount());
        match self.random.below(8) {
            0 | 1 => {
                let operation = self.random.pick(&["add", "sub", "or", "xor", "and", "add"]);
                vec![line(format!("{local} = atomic_fetch_{operation}(&{cell}, {amount});"))]
            }
            2 => vec![line(format!("{local} = atomic_exchange(&{cell}, {amount});"))],
            3 | 4 => {
                let number = self.name();
                let (expected, strength) = (self.value_of(ty), self.random.pick(&["strong", "weak"]));
                vec![
                    line(format!("{} e{number} = {expected};", ty.0)),
                    line(format!(
                        "{local} = atomic_compare_exchange_{strength}(&{cell}, &e{number}, {amount});"
                    )),
                ]
            }
            5 => vec![line(format!("{local} = atomic_load_explicit(&{cell}, memory_order_acquire);"))],
            6 => vec![line(format!("atomic_store(&{cell}, {amount});"))],
            _ => vec![line(format!("{cell} {} {amount};", self.random.pick(&["+=", "-=", "|="])))],
        }
    }

    /// The compiler's operations on plain variables.
    fn builtin(&mut self) -> Vec<Node> {
        let plain: Vec<Cell> =
            self.cells.iter().filter(|cell| !cell.atomic && cell.ty.0 != "_Bool").cloned().collect();
        let Cell { name: cell, ty, .. } = plain[self.random.below(plain.len())].clone();
        let (local, amount) = (self.local().name, self.amount());
        let made = match self.random.below(7) {
            0 => format!("{local} = __atomic_fetch_add(&{cell}, {amount}, {ORDER});"),
            1 => format!("{local} = __atomic_sub_fetch(&{cell}, {amount}, {ORDER});"),
            2 => format!("{local} = __atomic_load_n(&{cell}, {ORDER});"),
            3 => format!("__atomic_store_n(&{cell}, {amount}, {ORDER});"),
            4 => {
                let expected = self.value_of(ty);
                format!("{local} = __sync_bool_compare_and_swap(&{cell}, {expected}, {amount});")
            }
            5 => format!("{local} = __sync_fetch_and_add(&{cell}, {amount});"),
            _ => format!("{local} = __atomic_exchange_n(&{cell}, {amount}, {ORDER});"),
        };
        vec![line(made)]
    }

    fn pointer_statement(&mut self) -> Vec<Node> {
        if self.features.heap && self.random.once_in(2) {
            let value = self.operand();
            return match self.random.below(4) {
                0 | 1 => vec![line("p = malloc(sizeof(int));"), line(format!("*p = {value};"))],
                2 => vec![line("p = calloc(1, sizeof(int));")],
                _ => vec![line("free(p);"), line(self.random.pick(&["p = 0;", "p = &g0;", ""]))],
            };
        }
        if self.random.once_in(if self.check == Check::Bounds { 4 } else { 12 }) {
            return vec![line(self.random.pick(&["p = 0;", "p++;", "p = p + 1;"]))];
        }
        let targets: Vec<Cell> = self.cells.iter().filter(|cell| cell.addressable).cloned().collect();
        let target = &targets[self.random.below(targets.len())].name;
        let made = vec![line(format!("p = &{target};"))];
        match self.random.below(3) {
            0 => vec![line(format!("l0 = p == &{target};"))],
            1 => vec![line("if (p) (*p)++;")],
            _ => made,
        }
    }

    fn jump(&mut self, inner: Place, nodes: &mut Vec<Node>) {
        let number = self.name();
        let flat = Place { depth: 0, ..inner };
        let condition = if self.features.careful { "l0 == 1".to_owned() } else { self.condition() };
        match self.random.below(3) {
            0 => {
                nodes.push(line(format!("if ({condition}) goto out{number};")));
                nodes.extend(self.block(2, flat));
                nodes.push(line(format!("out{number}: ;")));
            }
            1 => {
                nodes.push(line(format!("int k{number} = 0;")));
                nodes.push(line(format!("again{number}: ;")));
                nodes.extend(self.block(1, flat));
                nodes.push(line(format!("if (k{number}++ < 1 && {condition}) goto again{number};")));
            }
            _ => {
                let value = if self.features.careful { "l0".to_owned() } else { self.expression(1) };
                let mut body = vec![line("case 0: ;")];
                body.extend(self.block(1, flat));
                body.push(line(self.random.pick(&["break;", ""])));
                body.push(line("case 1: ;"));
                body.extend(self.block(1, flat));
                body.push(line(self.random.pick(&["default: l0++;", "case 2: return 0;", ""])));
                nodes.push(Node::Block(format!("switch ({value}) {{"), body, "}".to_owned()));
            }
        }
    }
}

fn locked(mutex: &str, body: Vec<Node>) -> Node {
    Node::Block(format!("pthread_mutex_lock(&{mutex});"), body, format!("pthread_mutex_unlock(&{mutex});"))
}

fn region(body: Vec<Node>) -> Node {
    Node::Block("__VERIFIER_atomic_begin();".to_owned(), body, "__VERIFIER_atomic_end();".to_owned())
}
