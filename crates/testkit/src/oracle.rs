//! The oracle of differential tests: all executions, one step after the other, on the machine.
//!
//! It is naive on purpose: every state is kept whole, and all interleavings are followed. With
//! [`Bounds::private_first`], a private step of a thread is taken at once, before those of others
//! ([`private_step`]), so that more programs are small enough. Tests compare both modes.

use indexmap::IndexSet;
use ir::semantics::{Choice, ChoiceKind, Choices, Fate, Machine, Move, State, StateGraph, Stuck, Trail};
use ir::{Assignment, Count, Expr, Lhs, LocationKind, Op, Program, Rhs, Value};
use rustc_hash::FxBuildHasher;
use verdict::Property;

/// What there is to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observed {
    /// A violation.
    Violation,
    /// No violation, and nothing was left out.
    Nothing,
    /// No violation, but values of inputs were left out, or what is not modelled.
    Partial,
    /// No violation so far: there is more than was looked at.
    Bounded,
}

/// How far to look.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How many states.
    pub states: usize,
    /// How many threads, if fewer than the machine allows.
    pub threads: Option<usize>,
    /// How many threads of each kind of which any number may run from the start.
    pub copies: u32,
    /// Whether steps that nobody else can notice are taken before all others.
    pub private_first: bool,
}

impl Bounds {
    /// So many states, and as many threads as there are.
    pub fn states(states: usize) -> Self {
        Self { states, threads: None, copies: 2, private_first: false }
    }
}

/// The widest type all of whose values are tried.
const WIDEST: u8 = 8;

/// Enumerates all open values. For wide types, only 0 and 1 are tried.
#[derive(Default)]
struct Counter {
    digits: Vec<Value>,
    most: Vec<Value>,
    next: usize,
    /// Whether some values were left out.
    partial: bool,
    /// Whether a value is not modelled.
    unknown: bool,
}

impl Choices for Counter {
    fn choose(&mut self, choice: Choice) -> Value {
        let is_reuse = matches!(choice.kind, ChoiceKind::Reuse(_));
        let narrow = is_reuse || (choice.ty.bits <= WIDEST && !choice.ty.signed);
        self.partial |= !narrow;
        self.unknown |= choice.kind == ChoiceKind::Unknown;
        if self.next == self.digits.len() {
            self.digits.push(0);
            self.most.push(match choice.kind {
                ChoiceKind::Reuse(count) => Value::from(count),
                ChoiceKind::Any | ChoiceKind::Open | ChoiceKind::Unknown if narrow => choice.ty.max(),
                ChoiceKind::Any | ChoiceKind::Open | ChoiceKind::Unknown => 1,
            });
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

/// Looks at all states of a program that was lowered for the property.
pub fn explore(program: &Program, property: &Property, bounds: Bounds) -> Observed {
    let Ok(mut machine) = Machine::new(program) else { return Observed::Bounded };
    if let Some(threads) = bounds.threads {
        machine.max_threads = threads;
    }
    let copies = |count: &Count| match count {
        Count::Exactly(copies) => *copies,
        Count::Any => bounds.copies,
    };
    let copies: Vec<u32> = program.start.iter().map(|(_, count)| copies(count)).collect();
    let Ok(initial) = machine.initial(&copies) else { return Observed::Bounded };
    let mut bounded = program.start.iter().any(|(_, count)| *count == Count::Any);
    let mut partial = program.assumptions.iter().any(|assumption| assumption.limits_proof);
    let mut seen: IndexSet<State, FxBuildHasher> = IndexSet::from_iter([initial]);
    let with_moves = *property == Property::NoDeadlock;
    let (mut moves, mut open): (Vec<Move>, Vec<u32>) = Default::default();
    let mut number = 0;
    // Which freed addresses are given out again depends on locals, too. What waits is seen in all states.
    let private_first = bounds.private_first && !with_moves && !gives_memory_back(program);
    while let Some(state) = seen.get_index(number as usize).cloned() {
        if is_bad(&machine, property, &state) {
            return Observed::Violation;
        }
        let threads = machine.schedulable(&state);
        if private_first && threads.len() > 1 {
            let mut steps = threads.iter().filter_map(|thread| private_step(&machine, &state, *thread));
            // One that leads to a state that is known could be postponed for ever.
            if steps.any(|next| seen.insert(next)) {
                number += 1;
                continue;
            }
        }
        for thread in threads {
            for &edge in machine.edges(&state, thread) {
                let mut counter = Counter::default();
                loop {
                    match machine.step(&state, thread, edge, &mut counter).result {
                        // An execution with a value that is not modelled may not exist.
                        Ok(_) if counter.unknown => {
                            partial = true;
                            open.push(number);
                        }
                        Ok(next) => {
                            let trail =
                                with_moves.then(|| Trail::default().then(&machine, &next, thread, false));
                            let (to, _) = seen.insert_full(next);
                            moves.extend(trail.map(|trail| Move {
                                from: number,
                                to: to as u32,
                                by: thread as u16,
                                trail,
                            }));
                        }
                        Err(Stuck::Limit(_)) => {
                            bounded = true;
                            open.push(number);
                        }
                        Err(Stuck::Blocked | Stuck::Fault(_)) => {}
                    }
                    if !counter.turn() {
                        break;
                    }
                }
                partial |= counter.partial;
                if counter.partial {
                    open.push(number);
                }
            }
        }
        if seen.len() > bounds.states {
            return Observed::Bounded;
        }
        number += 1;
    }
    if with_moves {
        open.dedup();
        let graph = StateGraph { states: seen.len() as u32, moves: &moves, open: &open };
        match graph.fate(&machine, &mut |number| (seen[number as usize].clone(), false)) {
            Fate::Stuck(..) => return Observed::Violation,
            Fate::Undecided(_) => partial = true,
            Fate::Free => {}
        }
    }
    match (bounded, partial) {
        (true, _) => Observed::Bounded,
        (false, true) => Observed::Partial,
        (false, false) => Observed::Nothing,
    }
}

fn gives_memory_back(program: &Program) -> bool {
    let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    ops.any(|op| matches!(op, Op::Free(_) | Op::Broadcast(_)))
}

/// What comes of the only step that a thread can take, if that is its own affair: it reads and writes its
/// locals and nothing else, nothing is left open, it does not fault, it leads into no atomic region, and the
/// thread does not end.
///
/// Such a step commutes with those of all other threads, now and later, and neither enables nor disables one:
/// nobody else sees locals. So whatever the others do next can be done after it as well, with the same
/// errors and races: a bad state in which the thread has not moved is bad also when it has, as it was neither
/// at an error nor about to make an access.
fn private_step(machine: &Machine<'_>, state: &State, thread: usize) -> Option<State> {
    let (template, location) = state.location(thread)?;
    let code = &machine.program.templates[template];
    if code.locations[location].kind != LocationKind::Normal || code.locations[location].atomic {
        return None;
    }
    let mut found = None;
    for &edge in machine.edges(state, thread) {
        let what = &code.edges[edge];
        let target = &code.locations[what.target];
        let stays = matches!(target.kind, LocationKind::Normal | LocationKind::Error(_)) && !target.atomic;
        if !stays || !what.ops.iter().all(is_private) {
            return None;
        }
        let mut counter = Counter::default();
        match machine.step(state, thread, edge, &mut counter).result {
            Ok(next) if counter.next == 0 && found.is_none() => found = Some(next),
            Err(Stuck::Blocked) => {}
            Ok(_) | Err(Stuck::Fault(_) | Stuck::Limit(_)) => return None,
        }
    }
    found
}

/// Whether an operation reads and writes locals only.
fn is_private(op: &Op) -> bool {
    let is_local = |expression: &Expr| {
        let mut local = true;
        expression.walk(&mut |part| match part {
            Expr::Load(_) | Expr::Valid(..) => local = false,
            Expr::Const(..)
            | Expr::Local(_)
            | Expr::Address(..)
            | Expr::Procedure(_)
            | Expr::Myself
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Cast(..)
            | Expr::IfThenElse(_)
            | Expr::Overflows(..)
            | Expr::Old(_) => {}
        });
        local
    };
    match op {
        Op::Assume(condition) => is_local(condition),
        Op::Assign(Assignment { pairs, constraint }) => {
            constraint.iter().all(is_local)
                && pairs.iter().all(|(to, from)| match (to, from) {
                    (Lhs::Local(_), Rhs::Value(value)) => is_local(value),
                    (Lhs::Local(_), Rhs::Float(_, _, values)) => values.iter().all(is_local),
                    (Lhs::Local(_), Rhs::Any | Rhs::Unknown) | (Lhs::Memory(_), _) => false,
                })
        }
        Op::Lock(..)
        | Op::Unlock(..)
        | Op::Spawn(..)
        | Op::Join(..)
        | Op::Allocate { .. }
        | Op::Free(_)
        | Op::Fill(..)
        | Op::Copy(..)
        | Op::Call(..)
        | Op::Broadcast(_) => false,
    }
}

fn is_bad(machine: &Machine<'_>, property: &Property, state: &State) -> bool {
    match property {
        Property::NoError(kinds) => machine.error(state).is_some_and(|(_, kind)| kinds.contains(&kind)),
        Property::NoRace => machine.race(state).is_some(),
        Property::NoDeadlock => machine.deadlock(state).is_some(),
        Property::NoLeak(leak) => machine.leak(state, *leak).is_some(),
    }
}
