//! All executions of a few threads, one by one, on the machine.

use ir::Program;
use ir::Value;
use ir::semantics::{Choice, Choices, Machine, State, Stuck};
use std::collections::{HashSet, VecDeque};

/// What there is to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// An error.
    Error,
    /// No error, and nothing was left out.
    Nothing,
    /// No error so far.
    Bounded,
}

/// Counts through all values.
#[derive(Default)]
struct Counter {
    digits: Vec<Value>,
    most: Vec<Value>,
    next: usize,
}

impl Choices for Counter {
    fn choose(&mut self, choice: Choice) -> Value {
        if self.next == self.digits.len() {
            self.digits.push(0);
            self.most.push(choice.ty.max());
        }
        self.next += 1;
        self.digits[self.next - 1]
    }
}

impl Counter {
    fn turn(&mut self) -> bool {
        self.digits.truncate(self.next);
        self.most.truncate(self.next);
        self.next = 0;
        while let (Some(digit), Some(most)) = (self.digits.pop(), self.most.pop()) {
            if digit < most {
                self.digits.push(digit + 1);
                self.most.push(most);
                return true;
            }
        }
        false
    }
}

/// Looks at all states with at most so many threads, two of each kind of which there may be any number.
pub fn look(program: &Program, threads: usize, states: usize) -> Seen {
    look_with(program, 2, threads, states)
}

/// Looks at all states with at most so many threads, as many copies as given of those of which there may be any number.
pub fn look_with(program: &Program, copies: u32, threads: usize, states: usize) -> Seen {
    let mut machine = Machine::new(program).expect("the program is small");
    machine.max_threads = threads;
    let copies: Vec<u32> = program
        .start
        .iter()
        .map(|(_, count)| match count {
            ir::Count::Exactly(copies) => *copies,
            ir::Count::Any => copies,
        })
        .collect();
    let initial = machine.initial(&copies).expect("the start is small");
    let mut bounded = program.start.iter().any(|(_, count)| *count == ir::Count::Any);
    let mut seen: HashSet<State> = HashSet::from([initial.clone()]);
    let mut work = VecDeque::from([initial]);
    while let Some(state) = work.pop_front() {
        if machine.error(&state).is_some() {
            return Seen::Error;
        }
        for thread in machine.schedulable(&state) {
            for &edge in machine.edges(&state, thread) {
                let mut counter = Counter::default();
                loop {
                    match machine.step(&state, thread, edge, &mut counter).result {
                        Ok(next) => {
                            if seen.insert(next.clone()) {
                                work.push_back(next);
                            }
                        }
                        Err(Stuck::Limit(_)) => bounded = true,
                        Err(Stuck::Blocked | Stuck::Fault(_)) => {}
                    }
                    if !counter.turn() {
                        break;
                    }
                }
            }
        }
        if seen.len() > states {
            return Seen::Bounded;
        }
    }
    if bounded { Seen::Bounded } else { Seen::Nothing }
}
