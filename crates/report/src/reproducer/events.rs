//! The events of an execution: what other threads can notice, in order.
//!
//! An access is an event if another thread accesses the same bytes, one of them writes, and the two are not
//! in order anyway because one thread was created (directly or through others) by the other one in between.
//! Accesses by the same thread to such bytes are events too, so that the compiled program's accesses can be
//! counted off against them. So is another thread's giving back the memory that an invalid access at
//! the end is to.

use crate::reproducer::Unforced;
use checker::{Refutation, ReplayedViolation};
use ir::semantics::{Access, Choice, ChoiceKind, Choices, Machine, State, ThreadIndex, WaitedFor};
use ir::{EdgeId, Expr, ObjectId, Op, Span, TemplateId, Value};
use std::collections::{BTreeMap, BTreeSet};

/// An object in memory while the execution lasts: which one, and its first address.
pub(crate) type Instance = (ObjectId, u64);

/// An access of the execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Touch {
    /// The step; those that a race ends with come after the last one.
    pub step: usize,
    pub thread: ThreadIndex,
    pub instance: Instance,
    pub offset: u64,
    pub size: u64,
    pub write: bool,
    /// Whether it is a lock that is never had, or another object that is waited for in vain.
    pub waits: bool,
}

impl Touch {
    /// Whether both touch a common byte.
    pub fn overlaps(&self, other: &Touch) -> bool {
        self.instance == other.instance
            && self.offset < other.offset + other.size
            && other.offset < self.offset + self.size
    }
}

/// A thread that was created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Creation {
    pub step: usize,
    pub by: ThreadIndex,
}

/// An execution, with all that the schedule is made of.
pub(crate) struct Execution<'p> {
    pub machine: Machine<'p>,
    /// The state before each step, and the last one.
    pub states: Vec<State>,
    pub touches: Vec<Touch>,
    /// By thread; nothing for the main thread.
    pub creations: Vec<Option<Creation>>,
    /// The values that were chosen: step, why, value.
    pub choices: Vec<(usize, ChoiceKind, Value)>,
    /// The edges of the steps.
    pub edges: Vec<(TemplateId, EdgeId)>,
    /// Who did each step.
    pub threads: Vec<ThreadIndex>,
    /// Where each step stands in the source.
    pub spans: Vec<Span>,
    /// The first step of the call of a library function that each step belongs to: its models take several
    /// steps.
    pub calls: Vec<usize>,
}

/// Hands out the values of the trace, and writes down why they were asked for.
struct Recorded<'a> {
    values: std::slice::Iter<'a, Value>,
    asked: Vec<(ChoiceKind, Value)>,
}

impl Choices for Recorded<'_> {
    fn choose(&mut self, choice: Choice) -> Value {
        let value = self.values.next().copied().unwrap_or(0);
        self.asked.push((choice.kind, value));
        value
    }
}

impl<'p> Execution<'p> {
    /// Runs the trace again.
    pub fn new(refutation: &'p Refutation) -> Result<Self, Unforced> {
        let Refutation { program, trace, replayed } = refutation;
        let machine = Machine::new(program).map_err(|_| Unforced::Trace)?;
        let state = machine.initial(&trace.copies).map_err(|_| Unforced::Trace)?;
        if state.threads.len() != 1 {
            return Err(Unforced::Start);
        }
        let mut execution = Self {
            machine,
            states: vec![state],
            touches: Vec::new(),
            creations: vec![None],
            choices: Vec::new(),
            edges: Vec::new(),
            threads: Vec::new(),
            spans: Vec::new(),
            calls: Vec::new(),
        };
        let mut ends_call = false;
        for (index, step) in trace.steps.iter().enumerate() {
            let before = &execution.states[index];
            let (template, _) = before.location(step.thread).ok_or(Unforced::Trace)?;
            let mut recorded = Recorded { values: step.choices.iter(), asked: Vec::new() };
            let taken = execution.machine.step(before, step.thread, step.edge, &mut recorded);
            let after = taken.result.map_err(|_| Unforced::Trace)?;
            let touches = taken.accesses.iter().filter_map(|access| {
                let machine = &execution.machine;
                touch(machine, before, index, step.thread, access)
                    .or_else(|| touch(machine, &after, index, step.thread, access))
            });
            let locks = locks(&execution.machine, before, step.thread, step.edge);
            let span = program.templates[template].edges[step.edge].span;
            // A step that takes or gives back a lock is the last one of its part of a call.
            let continues = index > 0
                && execution.threads[index - 1] == step.thread
                && !ends_call
                && (execution.spans[index - 1] == span || execution.machine.is_atomic(before, step.thread));
            execution.calls.push(if continues { execution.calls[index - 1] } else { index });
            ends_call = !locks.is_empty();
            let locks = locks
                .iter()
                .filter_map(|access| touch(&execution.machine, before, index, step.thread, access));
            let touches: Vec<Touch> = locks.chain(touches).collect();
            execution.touches.extend(touches);
            let asked = recorded.asked.into_iter().map(|(kind, value)| (index, kind, value));
            execution.choices.extend(asked);
            if after.threads.len() > before.threads.len() {
                execution.creations.push(Some(Creation { step: index, by: step.thread }));
            }
            execution.edges.push((template, step.edge));
            execution.threads.push(step.thread);
            execution.spans.push(span);
            execution.states.push(after);
        }
        execution.add_end(&replayed.violation);
        Ok(execution)
    }

    /// The steps in which threads other than this one give memory back.
    pub fn frees_by_others(&self, thread: ThreadIndex) -> impl Iterator<Item = usize> {
        (0..self.edges.len()).filter(move |step| self.threads[*step] != thread && self.frees(*step))
    }

    /// The accesses that a race consists of, or to what threads wait for in vain, come last.
    fn add_end(&mut self, violation: &ReplayedViolation) {
        let steps = self.threads.len();
        let last = self.states.last().expect("there is a first state");
        let mut end = Vec::new();
        let mut looked: BTreeSet<usize> = BTreeSet::new();
        match violation {
            ReplayedViolation::Error { .. } | ReplayedViolation::Leak(_) => {}
            ReplayedViolation::Race { accesses, .. } => {
                for (index, access) in accesses.iter().enumerate() {
                    let step = steps + index;
                    end.extend(
                        touch(&self.machine, last, step, access.thread, &access.access)
                            .map(|touch| (touch, access.span)),
                    );
                }
            }
            ReplayedViolation::Deadlock(waits) => {
                for (index, wait) in waits.iter().enumerate() {
                    let address = match self.machine.waits(last, wait.thread).map(|wait| wait.what) {
                        Some(WaitedFor::Lock { address, .. } | WaitedFor::Shared(_, Some(address))) => {
                            address
                        }
                        Some(WaitedFor::Thread(_) | WaitedFor::Shared(_, None)) | None => continue,
                    };
                    // What the call that waits has looked at before is a part of the wait.
                    let is_before = |step: usize| {
                        let mut rest = (step..steps).filter(|step| self.threads[*step] == wait.thread);
                        rest.all(|step| self.spans[step] == wait.span)
                    };
                    looked.extend(self.touches.iter().enumerate().filter_map(|(index, touch)| {
                        let is_part = touch.thread == wait.thread && !touch.write && is_before(touch.step);
                        is_part.then_some(index)
                    }));
                    let access = Access { address, size: 4, write: true, atomic: true };
                    let touched = touch(&self.machine, last, steps + index, wait.thread, &access);
                    end.extend(touched.map(|touch| (Touch { waits: true, ..touch }, wait.span)));
                }
            }
        }
        let mut index = 0..;
        self.touches.retain(|_| index.next().is_some_and(|index| !looked.contains(&index)));
        for (touch, span) in end {
            self.threads.resize(touch.step, touch.thread);
            self.spans.resize(touch.step, span);
            self.calls.resize(touch.step, touch.step);
            self.threads.push(touch.thread);
            self.calls.push(touch.step);
            self.spans.push(span);
            self.touches.push(touch);
        }
    }

    /// The state before the invalid access at the end, and its address.
    fn invalid(&self, thread: ThreadIndex, edge: EdgeId) -> Option<(&State, u64)> {
        let state = &self.states[self.states.len().checked_sub(2)?];
        let (template, _) = state.location(thread)?;
        let ops = self.machine.program.templates[template].edges[edge].ops.iter();
        let address = ops.flat_map(Op::expressions).find_map(validated)?;
        let address = self.machine.peek(state, thread, address).ok()? as u64;
        Some((state, address))
    }

    /// The object whose life was over before an invalid access to it; `None` when it never was there.
    pub fn dead(&self, thread: ThreadIndex, edge: EdgeId) -> Option<ObjectId> {
        self.dead_instance(thread, edge).map(|(object, _)| object)
    }

    fn dead_instance(&self, thread: ThreadIndex, edge: EdgeId) -> Option<Instance> {
        let (_, address) = self.invalid(thread, edge)?;
        let mut earlier = self.states.iter().rev();
        let (object, offset) = earlier.find_map(|state| self.machine.describe(state, address))?;
        Some((object, address - offset))
    }

    /// Whether a step gives memory back.
    pub fn frees(&self, step: usize) -> bool {
        let Some((template, edge)) = self.edges.get(step) else { return false };
        let ops = &self.machine.program.templates[*template].edges[*edge].ops;
        ops.iter().any(|op| matches!(op, Op::Free(_)))
    }

    /// Whether memory of an allocation site is there at the end.
    pub fn is_there(&self, site: ObjectId) -> bool {
        self.states.last().is_some_and(|state| state.heap.iter().any(|block| block.site == site))
    }

    /// The object that an invalid access missed, and how far from its start; `None` when it is near none.
    pub fn missed(&self, thread: ThreadIndex, edge: EdgeId) -> Option<(Instance, u64)> {
        let (state, address) = self.invalid(thread, edge)?;
        // Objects are at least 16 bytes apart.
        let near = (1..=16).filter_map(|by| {
            let (object, offset) = self.machine.describe(state, address.checked_sub(by)?)?;
            Some(((object, address - by - offset), offset + by))
        });
        near.into_iter().next()
    }

    /// Whether the thread of `later` was created, directly or through others, by that of `earlier` after its
    /// step.
    fn in_order(&self, earlier: &Touch, later: &Touch) -> bool {
        let mut thread = later.thread;
        while let Some(Creation { step, by }) = self.creations[thread] {
            if by == earlier.thread {
                return step > earlier.step;
            }
            thread = by;
        }
        false
    }

    /// The touches that are events. Those of objects that are found only when a thread is created count from
    /// there on. `last`: the invalid access at the end.
    pub fn events(
        &self,
        last: Option<(ThreadIndex, EdgeId)>,
        found_at: impl Fn(Instance) -> usize,
    ) -> Vec<Touch> {
        let dead = last.and_then(|(thread, edge)| Some((thread, self.dead_instance(thread, edge)?)));
        let ends_life = |touch: &Touch| {
            dead.is_some_and(|(thread, instance)| {
                touch.instance == instance && touch.thread != thread && self.frees(touch.step)
            })
        };
        let mut by_instance: BTreeMap<Instance, Vec<usize>> = BTreeMap::new();
        for (index, touch) in self.touches.iter().enumerate() {
            by_instance.entry(touch.instance).or_default().push(index);
        }
        let mut conflicting = vec![false; self.touches.len()];
        for group in by_instance.values() {
            for &one in group {
                let a = &self.touches[one];
                conflicting[one] = a.waits
                    || ends_life(a)
                    || group.iter().any(|&other| {
                        let b = &self.touches[other];
                        a.thread != b.thread
                            && (a.write || b.write)
                            && a.overlaps(b)
                            && !self.in_order(a, b)
                            && !self.in_order(b, a)
                    });
            }
        }
        let mut events = Vec::new();
        for (index, touch) in self.touches.iter().enumerate() {
            let group = &by_instance[&touch.instance];
            let counts = conflicting[index]
                || group.iter().any(|&other| {
                    let other_touch = &self.touches[other];
                    conflicting[other] && other_touch.thread == touch.thread && other_touch.overlaps(touch)
                });
            if counts && touch.step >= found_at(touch.instance) {
                events.push(*touch);
            }
        }
        events
    }
}

/// The address whose validity a condition asks for.
fn validated(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Valid(address, _) => Some(address),
        Expr::Unary(_, _, operand) | Expr::Cast(_, operand) | Expr::Old(operand) => validated(operand),
        Expr::Binary(_, _, pair) => validated(&pair.0).or_else(|| validated(&pair.1)),
        Expr::IfThenElse(three) => [&three.0, &three.1, &three.2].into_iter().find_map(validated),
        Expr::Const(..)
        | Expr::Local(_)
        | Expr::Load(_)
        | Expr::Address(..)
        | Expr::Procedure(_)
        | Expr::Myself
        | Expr::Overflows(..) => None,
    }
}

/// What taking and giving back locks does to their words: no access that could race, but one that other
/// threads notice.
fn locks(machine: &Machine<'_>, state: &State, thread: ThreadIndex, edge: EdgeId) -> Vec<Access> {
    let Some((template, _)) = state.location(thread) else { return Vec::new() };
    let ops = machine.program.templates[template].edges[edge].ops.iter();
    let addresses = ops.filter_map(|op| match op {
        Op::Lock(_, address) | Op::Unlock(_, address) => machine.peek(state, thread, address).ok(),
        Op::Assume(_)
        | Op::Assign(_)
        | Op::Spawn(..)
        | Op::Join(..)
        | Op::Allocate { .. }
        | Op::Free(_)
        | Op::Fill(..)
        | Op::Copy(..)
        | Op::Call(..)
        | Op::Broadcast(_) => None,
    });
    let word = |address| Access { address: address as u64, size: 4, write: true, atomic: true };
    addresses.map(word).collect()
}

/// An access as a part of an object; `None` when it is in none.
fn touch(
    machine: &Machine<'_>,
    state: &State,
    step: usize,
    thread: ThreadIndex,
    access: &Access,
) -> Option<Touch> {
    let (object, offset) = machine.describe(state, access.address)?;
    Some(Touch {
        step,
        thread,
        instance: (object, access.address - offset),
        offset,
        size: access.size,
        write: access.write,
        waits: false,
    })
}
