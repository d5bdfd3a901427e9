//! A program, prepared for the search: the machine, and static facts about the program.

use crate::doubts::doubt;
use crate::footprint::{Footprints, View};
use crate::inputs::Inputs;
use crate::liveness::Liveness;
use crate::shorten::Given;
use crate::touches::{Hidden, Next};
use ir::semantics::{Access, LimitKind, Machine, State, ThreadIndex};
use ir::{EdgeId, LocationKind, Program};
use std::cell::Cell;
use std::sync::{Arc, OnceLock};
use verdict::{Property, Trace, Violation};

/// A program with all that the search asks about it.
pub struct Model<'p> {
    /// Its meaning.
    pub machine: Machine<'p>,
    /// What is known about its code.
    pub facts: Arc<Facts>,
    /// What must not happen.
    pub property: Property,
    /// Whether to make use of private steps.
    pub reduce: bool,
}

/// What is known about a program's code.
pub struct Facts {
    /// Candidates for open values.
    pub inputs: Inputs,
    /// What threads may touch.
    pub footprints: Footprints,
    /// What locals are still needed.
    pub liveness: Liveness,
    /// Whether there are values that are not modelled.
    pub is_approximate: bool,
    /// Where the first violation that was found and is no evidence chooses such a value.
    pub doubt: OnceLock<String>,
}

/// Why a trace that seems to lose memory is no evidence.
const LATE_LOCALS: &str = ": only variables that are not used again point to memory when the program ends";

impl Facts {
    /// Looks at a program.
    pub fn new(program: &Program) -> Self {
        let liveness = Liveness::new(program);
        Self {
            inputs: Inputs::new(program, &liveness),
            footprints: Footprints::new(program),
            liveness,
            is_approximate: verdict::has_unmodelled_values(program),
            doubt: OnceLock::new(),
        }
    }
}

/// Whether the next steps of a thread are private.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Privacy {
    /// They are not.
    No,
    /// They are.
    Yes,
    /// It depends on the addresses that they compute.
    IfApart,
}

impl<'p> Model<'p> {
    /// Makes a program ready, to run at most so many threads.
    pub fn new(
        program: &'p Program,
        facts: Arc<Facts>,
        property: Property,
        max_threads: usize,
        reduce: bool,
    ) -> Result<Self, LimitKind> {
        let mut machine = Machine::new(program)?;
        machine.max_threads = machine.max_threads.min(max_threads);
        Ok(Self { machine, facts, property, reduce })
    }

    /// What a thread's next edges touch; `None` when it has ended.
    #[inline]
    pub fn next(&self, state: &State, thread: ThreadIndex) -> Option<&Next> {
        let (template, location) = state.location(thread)?;
        Some(self.facts.footprints.next(template, location))
    }

    fn others<'a>(
        &self,
        state: &'a State,
        thread: ThreadIndex,
    ) -> impl Iterator<Item = ThreadIndex> + use<'a> {
        (0..state.threads.len())
            .filter(move |other| *other != thread && !state.threads[*other].activations.is_empty())
    }

    /// Whether the next steps of a thread are private, as far as can be seen without taking them.
    #[inline]
    pub fn privacy(&self, state: &State, thread: ThreadIndex) -> Privacy {
        let Some((template, location)) = state.location(thread) else { return Privacy::No };
        let next = self.facts.footprints.next(template, location);
        if !self.reduce {
            return Privacy::No;
        }
        if next.local {
            return Privacy::Yes;
        }
        let asked = Cell::new(None);
        let view = View { machine: &self.machine, state, me: thread, asked: &asked };
        let mut privacy = Privacy::Yes;
        for other in self.others(state, thread) {
            if next.never || self.facts.footprints.fixed_collides(view, next, template, other) {
                return Privacy::No;
            }
            if privacy == Privacy::Yes && self.facts.footprints.computed_collides(view, next, other) {
                privacy = Privacy::IfApart;
            }
        }
        privacy
    }

    /// Whether steps that made these accesses are private. `opened`: reading has chosen values of memory, so
    /// that reads count as writes.
    pub fn is_apart(&self, state: &State, thread: ThreadIndex, accesses: &[Access], opened: bool) -> bool {
        let Some(next) = self.next(state, thread) else { return false };
        let footprints = &self.facts.footprints;
        let asked = Cell::new(None);
        let view = View { machine: &self.machine, state, me: thread, asked: &asked };
        self.others(state, thread).all(|other| {
            let collides = |address, write| footprints.address_collides(view, address, write, other);
            let hidden = |hidden: &Hidden| match hidden {
                Hidden::Lock(address) => match self.machine.peek(state, thread, address) {
                    Ok(address) => collides(address as u64, true),
                    Err(_) => true,
                },
                Hidden::Valid(address) => match self.machine.peek(state, thread, address) {
                    Ok(address) => {
                        !self.is_fixed(address as u64) && footprints.may_change_liveness(state, other)
                    }
                    Err(_) => true,
                },
            };
            !accesses.iter().any(|access| collides(access.address, access.write || opened))
                && !next.hidden.iter().any(hidden)
        })
    }

    /// Whether what is at an address lives as long as the program.
    fn is_fixed(&self, address: u64) -> bool {
        !self.machine.addresses.is_heap(address) && self.machine.addresses.stack_at(address).is_none()
    }

    /// Whether an address is in the stack or the heap of a thread.
    fn is_own_window(&self, address: u64, thread: ThreadIndex) -> bool {
        let addresses = &self.machine.addresses;
        let heap = addresses.heap(thread);
        addresses.stack_at(address).is_some_and(|(owner, _)| owner == thread)
            || (heap..heap + addresses.heap_limit(thread)).contains(&address)
    }

    /// Whether all these accesses, and the locks that the thread's edges take, are among what was foreseen.
    pub fn is_foreseen(&self, state: &State, thread: ThreadIndex, accesses: &[Access]) -> bool {
        let Some(next) = self.next(state, thread) else { return true };
        if next.computed.is_empty() {
            return true;
        }
        let foreseen = |address: u64, write| match self.machine.describe(state, address) {
            Some((object, _)) => self.facts.footprints.foresees(next, object, write),
            // What is not there may come to life in the window of another thread only.
            None => self.is_fixed(address) || self.is_own_window(address, thread),
        };
        accesses.iter().all(|access| foreseen(access.address, access.write))
            && next.hidden.iter().all(|hidden| match hidden {
                Hidden::Lock(address) => self
                    .machine
                    .peek(state, thread, address)
                    .map_or(true, |address| foreseen(address as u64, true)),
                Hidden::Valid(_) => true,
            })
    }

    /// Whether a thread is at an error location that the property forbids.
    #[inline]
    pub fn is_wanted_error(&self, state: &State, thread: ThreadIndex) -> bool {
        let Property::NoError(kinds) = &self.property else { return false };
        let Some((template, location)) = state.location(thread) else { return false };
        match self.machine.program.templates[template].locations[location].kind {
            LocationKind::Error(kind) => kinds.contains(&kind),
            LocationKind::Normal | LocationKind::End | LocationKind::Exit | LocationKind::Halt => false,
        }
    }

    /// Whether a trace to a violation does not depend on values that are not modelled.
    pub fn is_evidence(&self, trace: &Trace) -> bool {
        if trace.violation == Violation::Leak && !self.has_leaked(trace) {
            self.facts.doubt.get_or_init(|| LATE_LOCALS.to_owned());
            return false;
        }
        let is_evidence = !self.facts.is_approximate || trace.is_certain(&self.machine);
        if !is_evidence {
            self.facts.doubt.get_or_init(|| doubt(&self.machine, trace));
        }
        is_evidence
    }

    /// Whether memory is lost or left at the end of a trace, also if locals that are not read again count as
    /// pointers.
    fn has_leaked(&self, trace: &Trace) -> bool {
        let Property::NoLeak(leak) = self.property else { return false };
        let Ok(mut state) = self.machine.initial(&trace.copies) else { return false };
        for step in &trace.steps {
            let mut values = Given::new(&step.choices);
            match self.machine.step(&state, step.thread, step.edge, &mut values).result {
                Ok(next) => state = next,
                Err(_) => return false,
            }
        }
        self.machine.leak(&state, leak).is_some()
    }

    /// Whether allocated memory may be lost or left in a state. What is lost unless who joins a thread gets
    /// it is for the checker to decide.
    pub fn may_leak(&self, state: &State) -> bool {
        match &self.property {
            Property::NoLeak(leak) => {
                self.machine.may_leak(state, *leak) && !self.machine.awaits_join(state, *leak)
            }
            Property::NoError(_) | Property::NoRace | Property::NoDeadlock => false,
        }
    }

    /// The violation in a state.
    #[inline]
    pub fn violation(&self, state: &State) -> Option<Violation> {
        match &self.property {
            Property::NoError(_) => {
                let thread = (0..state.threads.len()).find(|thread| self.is_wanted_error(state, *thread))?;
                let (template, location) = state.location(thread)?;
                match self.machine.program.templates[template].locations[location].kind {
                    LocationKind::Error(kind) => Some(Violation::Error { thread, kind }),
                    LocationKind::Normal | LocationKind::End | LocationKind::Exit | LocationKind::Halt => {
                        None
                    }
                }
            }
            Property::NoLeak(leak) => self.machine.leak(state, *leak).map(|_| Violation::Leak),
            Property::NoRace => self.race(state).map(Violation::Race),
            Property::NoDeadlock => {
                let cycle = self.machine.deadlock(state)?;
                Some(Violation::Deadlock(cycle.into_iter().map(|(thread, _)| thread).collect()))
            }
        }
    }

    /// A race in a state.
    #[inline]
    pub fn race(&self, state: &State) -> Option<[(ThreadIndex, EdgeId); 2]> {
        if state.halted || !self.may_race(state) {
            return None;
        }
        let [(first, first_edge, _), (second, second_edge, _)] = self.machine.race(state)?;
        Some([(first, first_edge), (second, second_edge)])
    }

    /// Whether two threads are about to touch the same object, as far as can be seen without running them.
    /// Threads that are about to do the same are looked at once: there may be very many.
    fn may_race(&self, state: &State) -> bool {
        let mut kinds: Vec<Kind<'_>> = Vec::new();
        for thread in 0..state.threads.len() {
            let Some(next) = self.next(state, thread).filter(|next| !next.local) else { continue };
            let atomic = self.machine.is_atomic(state, thread);
            match kinds.iter_mut().find(|kind| std::ptr::eq(kind.next, next) && kind.atomic == atomic) {
                Some(kind) => kind.several = true,
                None => kinds.push(Kind { next, atomic, several: false }),
            }
        }
        kinds.iter().enumerate().any(|(index, kind)| {
            (kind.several && kind.may_race(kind)) || kinds[..index].iter().any(|other| kind.may_race(other))
        })
    }
}

/// Threads that are about to do the same.
struct Kind<'a> {
    next: &'a Next,
    /// Whether they are in an atomic region.
    atomic: bool,
    /// Whether there are two or more.
    several: bool,
}

impl Kind<'_> {
    fn may_race(&self, other: &Self) -> bool {
        let touches = |kind: &Self| kind.next.fixed.iter().chain(&kind.next.computed);
        touches(self).any(|one| {
            touches(other).any(|two| {
                one.object == two.object
                    && (one.write || two.write)
                    && (one.data && two.data)
                    && !(one.own && two.own)
                    && ((one.plain && !self.atomic) || (two.plain && !other.atomic))
            })
        })
    }
}
