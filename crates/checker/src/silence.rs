//! Detects vacuous proofs: if all executions of a program end in undefined behaviour, a proof about it is
//! useless.
//!
//! Some random executions are run on the step semantics. If each of them ends in a fault, that is reported in
//! place of the proof. One execution that ends in another way, or runs for long, suffices to accept the
//! proof.
//!
//! Direction: neither. It only ever turns a proof into `unknown`.

use crate::executions::random::Random;
use ir::semantics::{Choice, Choices, Fault, Machine, State, Stuck};
use ir::{Count, Program, Span, Value};

/// The most executions that are tried.
const EXECUTIONS: u64 = 24;
/// The most steps of one execution.
const STEPS: usize = 5_000;
/// The most threads with which an execution continues: a step copies all.
const MOST_THREADS: usize = 50;
/// The most bytes of static objects: a step that writes one object copies all.
const MOST_BYTES: usize = 256 << 20;

/// Inputs: small numbers, and any others.
impl Choices for Random {
    fn choose(&mut self, choice: Choice) -> Value {
        let small = [0, 1, 2, 3, 5, 10, 100];
        match self.below(3) {
            0 => choice.ty.wrap(Value::from(self.draw())),
            _ => choice.ty.wrap(small[self.below(small.len())]),
        }
    }
}

/// Where and how an execution ends, if all that were tried end in undefined behaviour.
pub fn always_undefined(program: &Program) -> Option<(&'static str, Span)> {
    if program.has_broadcasts() {
        return None;
    }
    let machine = Machine::new(program).ok()?;
    let copies: Vec<u32> = program
        .start
        .iter()
        .map(|(_, count)| match count {
            Count::Exactly(copies) => *copies,
            Count::Any => 1,
        })
        .collect();
    let initial = machine.initial(&copies).ok()?;
    let mut found = None;
    for seed in 1..=EXECUTIONS {
        let mut random = Random::new(seed);
        let fault = run(&machine, initial.clone(), &mut random)?;
        found = found.or(Some(fault));
    }
    found.map(|(fault, span)| (describe(fault), span))
}

fn describe(fault: Fault) -> &'static str {
    match fault {
        Fault::DivisionByZero => "a division by zero",
        Fault::Overflow => "a signed overflow",
        Fault::Shift => "a shift by too many bits",
        Fault::InvalidAccess => "an access outside of any object",
        Fault::InvalidCallee => "a call through a pointer to no function",
        Fault::InvalidThread => "a join of no thread",
        Fault::InvalidFree => "memory is freed that was not allocated",
        Fault::InvalidBool => "a truth value is read that is neither 0 nor 1",
    }
}

/// Runs one execution; returns the fault in which it ends.
fn run(machine: &Machine<'_>, mut state: State, random: &mut Random) -> Option<(Fault, Span)> {
    let mut steps = STEPS.min(MOST_BYTES / (state.statics.held() + 1));
    while state.threads.len() <= MOST_THREADS {
        let mut threads = machine.schedulable(&state);
        let mut next = None;
        'threads: while !threads.is_empty() {
            let thread = threads.swap_remove(random.below(threads.len()));
            let mut edges = machine.edges(&state, thread).to_vec();
            while !edges.is_empty() {
                let edge = edges.swap_remove(random.below(edges.len()));
                steps = steps.checked_sub(1)?;
                match machine.step(&state, thread, edge, random).result {
                    Ok(reached) => {
                        next = Some(reached);
                        break 'threads;
                    }
                    Err(Stuck::Blocked) => {}
                    Err(Stuck::Limit(_)) => return None,
                    Err(Stuck::Fault(fault)) => {
                        let (template, _) = state.location(thread)?;
                        return Some((fault, machine.program.templates[template].edges[edge].span));
                    }
                }
            }
        }
        state = next?;
    }
    None
}
