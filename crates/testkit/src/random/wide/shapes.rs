//! How many threads a wide program has, and how they are started and joined.

use super::super::lines::{Node, line};
use super::statements::Place;
use super::{Cell, Manners, Writer, drop_unused};

/// Who starts whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// `main` and one more.
    Pair,
    /// `main` and two others.
    Three,
    /// Several of one function, started in a loop.
    Family { size: usize, slots: bool },
    /// `main` starts one that starts another.
    Nested,
}

impl Writer {
    /// The whole program.
    pub(super) fn program(&mut self) -> Vec<Node> {
        let shape = match self.random.below(10) {
            0..=3 => Shape::Pair,
            4 | 5 => Shape::Three,
            6..=8 => Shape::Family { size: self.random.pick(&[2, 2, 3]), slots: self.random.once_in(2) },
            _ => Shape::Nested,
        };
        if let Shape::Family { size, slots: true } = shape {
            self.globals.push(line(format!("struct Slot {{ int id; int v; }} slots[{size}];")));
        }
        if shape == Shape::Nested {
            // Nobody waits in an atomic function.
            self.prefix = "";
        }
        let threads = self.threads(shape);
        let main = self.main(shape);
        let mut nodes: Vec<Node> =
            self.headers.iter().map(|header| line(format!("#include <{header}>"))).collect();
        nodes.push(line("extern _Bool __VERIFIER_nondet_bool(void);"));
        nodes.push(line("extern int __VERIFIER_nondet_int(void);"));
        nodes.push(line("extern void __VERIFIER_assume(int);"));
        nodes.push(line("extern void __VERIFIER_atomic_begin(void);"));
        nodes.push(line("extern void __VERIFIER_atomic_end(void);"));
        nodes.push(line("pthread_mutex_t m0 = PTHREAD_MUTEX_INITIALIZER, m1 = PTHREAD_MUTEX_INITIALIZER;"));
        nodes.append(&mut self.globals);
        nodes.append(&mut self.functions);
        nodes.extend(threads);
        nodes.push(main);
        nodes
    }

    /// The locals of a function, with the index of its thread.
    fn start_function(&mut self, index: &str) -> Vec<Node> {
        let ty = self.expand("$t");
        self.locals = vec![
            Cell { name: "l0".to_owned(), ty: "int".to_owned() },
            Cell { name: "l1".to_owned(), ty: ty.clone() },
        ];
        vec![line(format!("int i = {index};")), line("int l0 = 0;"), line(format!("{ty} l1 = 0;"))]
    }

    fn threads(&mut self, shape: Shape) -> Vec<Node> {
        let (kinds, statements) = match shape {
            Shape::Pair => (1, 4),
            Shape::Three | Shape::Nested => (2, 2),
            Shape::Family { size: 2, .. } => (1, 3),
            Shape::Family { .. } => (1, 2),
        };
        let mut nodes = Vec::new();
        for number in (1..=kinds).rev() {
            let index = match shape {
                Shape::Family { slots: false, .. } => "(int)(long)argument",
                Shape::Family { slots: true, .. } => "((struct Slot *)argument)->id",
                Shape::Pair | Shape::Three | Shape::Nested => "(int)(long)argument",
            };
            let mut body = self.start_function(index);
            if let Shape::Family { slots: true, .. } = shape {
                let name = "((struct Slot *)argument)->v".to_owned();
                self.locals.push(Cell { name, ty: "int".to_owned() });
            }
            let child = shape == Shape::Nested && number == 1;
            if child {
                body.push(line("pthread_t child;"));
                body.push(line("pthread_create(&child, 0, thread2, (void *)2);"));
            }
            let atomic = !self.prefix.is_empty();
            body.extend(self.block(statements, Place { depth: 2, protected: atomic, may_wait: !atomic }));
            if child && !self.random.once_in(3) {
                body.push(line("pthread_join(child, 0);"));
                body.extend(self.block(1, Place { depth: 1, protected: false, may_wait: true }));
            }
            let end = self.expand("«return 0;¦return 0;¦return (void *)(long)l0;¦pthread_exit(0);»");
            body.push(line(end));
            drop_unused(&mut body);
            nodes.push(Node::Block(
                format!("void *{}thread{number}(void *argument) {{", self.prefix),
                body,
                "}".to_owned(),
            ));
        }
        nodes
    }

    fn main(&mut self, shape: Shape) -> Node {
        let mut body = self.start_function("0");
        body.append(&mut self.set_up);
        if self.random.once_in(4) {
            // Alone, so that manners do not matter.
            body.extend(self.block(1, Place { depth: 0, protected: true, may_wait: false }));
        }
        let free = Place { depth: 1, protected: false, may_wait: true };
        match shape {
            Shape::Family { size, slots } => {
                body.push(line(format!("pthread_t ids[{size}];")));
                let argument = if slots { "&slots[j]" } else { "(void *)(long)j" };
                let mut starts = Vec::new();
                if slots {
                    starts.push(line("slots[j].id = j;"));
                }
                starts.push(line(format!("pthread_create(&ids[j], 0, {}thread1, {argument});", self.prefix)));
                body.push(Node::Block(
                    format!("for (int j = 0; j < {size}; j++) {{"),
                    starts,
                    "}".to_owned(),
                ));
                if size == 2 && self.random.once_in(2) {
                    body.extend(self.block(1, free));
                }
                match self.random.below(6) {
                    0 => body.push(line("pthread_join(ids[0], 0);")),
                    1 => {}
                    2 => {
                        body.push(line(format!("for (int j = {size}; j-- > 0;) pthread_join(ids[j], 0);")));
                    }
                    _ => {
                        body.push(line(format!("for (int j = 0; j < {size}; j++) pthread_join(ids[j], 0);")))
                    }
                }
            }
            Shape::Pair | Shape::Three | Shape::Nested => {
                let started = if shape == Shape::Three { 2 } else { 1 };
                for number in 1..=started {
                    body.push(line(format!("pthread_t id{number};")));
                    body.push(line(format!(
                        "pthread_create(&id{number}, 0, {}thread{number}, (void *){number});",
                        self.prefix
                    )));
                }
                body.extend(self.block(if shape == Shape::Pair { 3 } else { 1 }, free));
                for number in 1..=started {
                    if !self.random.once_in(6) {
                        body.push(line(format!("pthread_join(id{number}, 0);")));
                    }
                }
            }
        }
        // Under the lock, if all is: a thread may not have been joined.
        if self.random.once_in(2) {
            let condition = self.condition();
            let assertion = line(format!("assert({condition});"));
            body.push(match self.manners {
                Manners::Rude => assertion,
                Manners::Locked => Node::Block(
                    "pthread_mutex_lock(&m0);".to_owned(),
                    vec![assertion],
                    "pthread_mutex_unlock(&m0);".to_owned(),
                ),
                Manners::Atomic => Node::Block(
                    "__VERIFIER_atomic_begin();".to_owned(),
                    vec![assertion],
                    "__VERIFIER_atomic_end();".to_owned(),
                ),
            });
        }
        body.append(&mut self.finally);
        body.push(line("return 0;"));
        drop_unused(&mut body);
        Node::Block("int main(void) {".to_owned(), body, "}".to_owned())
    }
}
