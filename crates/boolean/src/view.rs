//! What a program is made of, as Boolean functions see it.
//!
//! A thread's control *point* is a location in an *activation*: a procedure with the calls that led to it. So
//! procedures are inlined in lockstep with the machine: every step of the view, except those of 2, is one
//! step of [`ir::semantics::Machine`]. The state of a thread is its point, its *local* bits (of all its
//! activations, and one for each lock that says whether the thread holds it), and the *shared* bits. Besides
//! the variables there are shared bits that say whether a lock is taken, whether some thread is in an atomic
//! region, and whether there ever was more than one thread (paper 3, remark 1). At most one thread holds a
//! lock, and at most one is in an atomic region.
//!
//! 1. Bits that no condition depends on are dropped, and dead local bits do not count. Neither changes an
//!    answer.
//! 2. A call of a procedure that is active already is a start of a thread and a wait for a shared bit (paper
//!    3, section 4.3): this over-approximates, see [`View::is_recursive`]. Or it is followed up to some
//!    depth: see [`Recursion`].
//! 3. Threads that have ended are not kept; the whole program's end has no successor.

use crate::bdd::{Bdd, Bdds};
use ir::{EdgeId, ErrorKind, IntType, LocalId, LocationId, ObjectId, Program, Span, TemplateId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use verdict::Exhausted;

/// A bit of a thread state, or one that stands for a choice. Its value before a step is the variable at twice
/// its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bit(pub u32);

impl Bit {
    /// The level of its value before a step.
    pub fn now(self) -> u32 {
        2 * self.0
    }
    /// The level of its value after a step.
    pub fn next(self) -> u32 {
        2 * self.0 + 1
    }
}

/// A control point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PointId(pub u32);

/// A step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StepId(pub u32);

/// Why a program has no such view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Something in it is not Boolean, or not supported.
    Unsupported(String, Span),
    /// The budget is used up.
    Exhausted(Exhausted),
}

impl From<Exhausted> for Failure {
    fn from(exhausted: Exhausted) -> Self {
        Self::Exhausted(exhausted)
    }
}

/// What becomes of a call of a procedure that is active already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recursion {
    /// It is a start of a thread and a wait for a shared bit (paper 3, section 4.3). Over-approximates.
    Approximated,
    /// It is made as it is, as long as the procedure is active no more often than this. A thread that
    /// continues reaches a point where it stays ([`Point::cut`]). Exact unless such a point is reached, else
    /// it under-approximates.
    Unfolded(u32),
}

/// Results of building a view.
pub type Built<T> = Result<T, Failure>;

/// A procedure with the calls that led to it.
#[derive(Clone, Debug)]
pub struct Activation {
    /// Which procedure.
    pub template: TemplateId,
    /// Who called it, by which edge, and where control returns to.
    pub parent: Option<(usize, EdgeId, LocationId)>,
    /// The recursive call that it was started for.
    pub site: Option<usize>,
    /// Whether it was called in an atomic region.
    pub atomic: bool,
    /// The bits of each of its locals.
    pub locals: Vec<Vec<Bit>>,
    /// All local bits of a thread that is in it.
    pub chain: Vec<Bit>,
}

/// A control point.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Which activation.
    pub activation: usize,
    /// Where in its procedure.
    pub location: LocationId,
    /// Whether no other thread runs.
    pub atomic: bool,
    /// What is wrong here.
    pub error: Option<ErrorKind>,
    /// Where a recursive call waits for its end.
    pub waits: Option<usize>,
    /// Whether a call that goes too deep leads here, where the thread stays.
    pub cut: bool,
}

/// A value that a step asks for.
#[derive(Clone, Debug)]
pub struct Input {
    /// The bits that stand for it, the least one first.
    pub bits: Vec<Bit>,
    /// Its type.
    pub ty: IntType,
}

/// A thread that a step starts.
#[derive(Clone, Debug)]
pub struct Started {
    /// Where.
    pub entry: PointId,
    /// Its local bits that may be set; all others are not.
    pub bits: Vec<(Bit, Bdd)>,
}

/// A step of a thread.
#[derive(Clone, Debug)]
pub struct Step {
    /// Where the thread is.
    pub source: PointId,
    /// Where it leads; `None` when it ends.
    pub target: Option<PointId>,
    /// The edge of the machine; `None` for the steps that model returns from recursive calls.
    pub edge: Option<(TemplateId, EdgeId)>,
    /// Where it is written.
    pub span: Span,
    /// When it can be taken: over bits before the step, and choices.
    pub guard: Bdd,
    /// New values of shared bits, and of local bits of the target.
    pub updates: Vec<(Bit, Bdd)>,
    /// What it asks for, in the machine's order.
    pub inputs: Vec<Input>,
    /// Threads that it starts.
    pub started: Vec<Started>,
    /// What it broadcasts to other threads.
    pub broadcast: Vec<BroadcastEffect>,
}

/// What other threads in a procedure do in the same step.
#[derive(Clone, Debug)]
pub struct BroadcastEffect {
    /// The procedure.
    pub to: TemplateId,
    /// The bits of the broadcast arguments, with their values: over bits before the step, and choices.
    pub arguments: Vec<(Bit, Bdd)>,
    /// For each activation of the procedure, what a thread in it does.
    pub reactions: BTreeMap<usize, Reaction>,
}

/// What another thread does.
#[derive(Clone, Debug)]
pub struct Reaction {
    /// When it can: over its local bits, what is broadcast to it, choices, and shared bits (those that the
    /// step changes: after it).
    pub guard: Bdd,
    /// New values of its local bits.
    pub updates: Vec<(Bit, Bdd)>,
    /// What it asks for.
    pub inputs: Vec<Input>,
    /// For each broadcast of the machine that it receives, how many of its inputs belong to that.
    pub asked: Vec<usize>,
}

/// A recursive call.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The procedure that makes it.
    pub template: TemplateId,
    /// The edge.
    pub edge: EdgeId,
    /// The shared bit that says that it has ended.
    pub done: Bit,
}

/// A lock.
#[derive(Clone, Copy, Debug)]
pub struct Lock {
    /// The object that it is.
    pub object: ObjectId,
    /// Whether someone holds it.
    pub taken: Bit,
    /// Whether the thread holds it.
    pub held: Bit,
}

/// A program as Boolean functions.
pub struct View<'p> {
    /// The program.
    pub program: &'p Program,
    /// The functions.
    pub bdds: Bdds,
    /// The names of state bits, for people.
    pub names: Vec<String>,
    /// Whether a state bit is shared.
    pub shared: Vec<bool>,
    /// Whether there ever was more than one thread.
    pub several: Bit,
    /// Whether some thread is in an atomic region.
    pub atomic: Bit,
    /// The locks.
    pub locks: Vec<Lock>,
    /// The recursive calls.
    pub sites: Vec<Site>,
    /// The activations.
    pub activations: Vec<Activation>,
    /// The control points.
    pub points: Vec<Point>,
    /// The steps.
    pub steps: Vec<Step>,
    /// The steps that leave each point.
    pub outgoing: Vec<Vec<StepId>>,
    /// The local bits that count at each point, in order.
    pub live: Vec<Vec<Bit>>,
    /// The bits of each memory cell, and of each result of a recursive call.
    pub cells: FxHashMap<ObjectId, Vec<Bit>>,
    /// The entries of the templates that run at the start.
    pub entries: Vec<PointId>,
    /// The values of shared bits at the start; those that are not here may be anything.
    pub initial: Vec<(Bit, bool)>,
    /// Whether some bit is relevant: by number.
    pub relevant: Vec<bool>,
}

impl View<'_> {
    /// Whether calls were approximated: then an error need not be real.
    pub fn is_recursive(&self) -> bool {
        !self.sites.is_empty()
    }
    /// Points where threads stay whose calls go too deep.
    pub fn cuts(&self) -> impl Iterator<Item = PointId> + '_ {
        (0..self.points.len() as u32).map(PointId).filter(|id| self.point(*id).cut)
    }
    /// A point's step list.
    pub fn steps_at(&self, point: PointId) -> &[StepId] {
        &self.outgoing[point.0 as usize]
    }
    /// A point.
    pub fn point(&self, point: PointId) -> &Point {
        &self.points[point.0 as usize]
    }
    /// A step.
    pub fn step(&self, step: StepId) -> &Step {
        &self.steps[step.0 as usize]
    }
    /// The procedure that a thread at a point is in.
    pub fn template_at(&self, point: PointId) -> TemplateId {
        self.activations[self.point(point).activation].template
    }
    /// The procedure that a thread at a point was started with.
    pub fn root_of(&self, point: PointId) -> (TemplateId, Option<usize>) {
        let mut at = self.point(point).activation;
        while let Some((parent, _, _)) = self.activations[at].parent {
            at = parent;
        }
        (self.activations[at].template, self.activations[at].site)
    }
    /// Whether a bit is a state bit.
    pub fn is_state(&self, bit: Bit) -> bool {
        (bit.0 as usize) < self.shared.len()
    }
    /// Whether a bit is shared.
    pub fn is_shared(&self, bit: Bit) -> bool {
        self.shared.get(bit.0 as usize).copied().unwrap_or(false)
    }
    /// The bits of a local.
    pub fn local_bits(&self, activation: usize, local: LocalId) -> &[Bit] {
        &self.activations[activation].locals[local.0 as usize]
    }
}
