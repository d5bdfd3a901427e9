//! Runs programs on the concrete semantics, one thread at a time, first edge first.

use ir::semantics::{Choice, ChoiceKind, Choices, Machine, State, Stuck};
use ir::{IntType, Program, Value};

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The program, or all its threads.
    Finished,
    /// At an error location.
    Error(ir::ErrorKind),
    /// In a blocked thread.
    Stuck(Stuck, ir::Span),
    /// After too many steps.
    TooLong,
}

/// Chooses zeros, and remembers whether it had to.
pub struct Zeros {
    /// Values that are not modelled were asked for.
    pub unknown: bool,
}

impl Choices for Zeros {
    fn choose(&mut self, choice: Choice) -> Value {
        self.unknown |= choice.kind == ChoiceKind::Unknown;
        0
    }
}

/// The result of a run.
pub struct Run<'p> {
    /// The machine.
    pub machine: Machine<'p>,
    /// The last state.
    pub state: State,
    /// How it ended.
    pub ended: Ended,
    /// Whether it used values that are not modelled.
    pub unknown: bool,
    /// How many steps it took.
    pub steps: u64,
}

/// Runs a program until it ends or has taken so many steps.
pub fn run(program: &Program, most: u64) -> Run<'_> {
    let machine = Machine::new(program).expect("the program fits the machine");
    let mut state = machine.initial(&[1]).expect("one thread starts");
    let mut zeros = Zeros { unknown: false };
    let mut ended = Ended::TooLong;
    let mut steps = 0;
    'steps: while steps < most {
        if let Some((_, kind)) = machine.error(&state) {
            ended = Ended::Error(kind);
            break;
        }
        let threads = machine.schedulable(&state);
        if threads.is_empty() {
            ended = Ended::Finished;
            break;
        }
        let mut stuck = None;
        for &thread in &threads {
            let (template, _) = state.location(thread).expect("it is live");
            for &edge in machine.edges(&state, thread) {
                match machine.step(&state, thread, edge, &mut zeros).result {
                    Ok(next) => {
                        state = next;
                        steps += 1;
                        continue 'steps;
                    }
                    Err(why) => {
                        let span = program.templates[template].edges[edge].span;
                        if stuck.is_none() || matches!(why, Stuck::Fault(_) | Stuck::Limit(_)) {
                            stuck = Some((why, span));
                        }
                    }
                }
            }
        }
        let (why, span) = stuck.unwrap_or((Stuck::Blocked, ir::Span::default()));
        ended = Ended::Stuck(why, span);
        break;
    }
    Run { machine, state, ended, unknown: zeros.unknown, steps }
}

impl Run<'_> {
    /// The value of a global variable at the end.
    pub fn global(&self, name: &str, ty: IntType) -> Option<Value> {
        self.global_at(name, 0, ty)
    }
    /// A value inside a global variable at the end.
    pub fn global_at(&self, name: &str, offset: u64, ty: IntType) -> Option<Value> {
        let objects = &self.machine.program.objects;
        let (id, _) = objects.enumerate().find(|(_, object)| object.name == name)?;
        self.machine.peek_memory(&self.state, self.machine.addresses.offset[id] + offset, ty)
    }
}
