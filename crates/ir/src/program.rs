//! Programs: memory objects, thread templates, and what runs at the start.

use crate::expr::Expr;
use crate::ids::{EdgeId, IdVec, LocalId, LocationId, ObjectId, TemplateId};
use crate::op::Op;
use crate::types::{DataModel, IntType, Layout};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A concurrent program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The widths that its types assume.
    pub data_model: DataModel,
    /// All memory that has a name: global variables, address-taken locals, allocation sites.
    pub objects: IdVec<ObjectId, Object>,
    /// The code of its threads (and, before inlining, its procedures).
    pub templates: IdVec<TemplateId, Template>,
    /// Which templates run at the start, and how many copies of each.
    pub start: Vec<(TemplateId, Count)>,
    /// The assumptions of a verdict about this program.
    pub assumptions: Vec<Assumption>,
    /// The source files that spans name.
    pub files: Vec<String>,
    /// Where races count; `None` when they count everywhere. Two accesses race only if they have one of these
    /// bytes in common. For an allocation site, the bytes of each allocation count; only searches support
    /// that, proofs do not.
    pub races_on: Option<Vec<Range>>,
    /// Bytes of static objects whose atomic accesses impose no order: no acquire there ever reads from a
    /// release. So values that such accesses see do not prevent other accesses from racing.
    pub unordered: Vec<Range>,
    /// Whether an allocation may reuse the address of freed memory while an old copy of that address still
    /// exists. Otherwise no two allocations have the same address: the program could not observe the
    /// difference.
    pub reuses_addresses: bool,
    /// Whether a number from outside is an address of the program only where the constraint that goes with it
    /// says so, and not because the program compares it with one; and whether parts of addresses are never
    /// joined. Points-to sets are smaller then; what that leaves out is one of the assumptions
    /// ([`foreign`](crate::passes::foreign)).
    pub foreign_numbers: bool,
    /// The types that the source uses allocation sites as, in the order of the sites. For reports, and for
    /// which bytes points-to sets tell apart: memory may be used as any type, so nothing may rely on it.
    pub site_uses: Vec<SiteUse>,
}

/// The type that the source uses the memory of an allocation site as: the first pointer type that its address
/// is converted to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteUse {
    /// The site.
    pub site: ObjectId,
    /// The variable that the address is first stored in (`pool`); empty if it has no short name.
    pub variable: String,
    /// The type of an element, as the source calls it (`struct queue`).
    pub type_name: String,
    /// What an element consists of.
    pub layout: Layout,
    /// The size of an element, at least 1.
    pub size: u64,
}

/// Some bytes of a static object, or of all objects of an allocation site.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Range {
    /// The object.
    pub object: ObjectId,
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub size: u64,
}

/// How many copies of a template run at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum Count {
    /// This many.
    Exactly(u32),
    /// Any number: zero, one, or more, without a bound.
    Any,
}

/// A simplification of the program's meaning, with the source position that made it necessary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assumption {
    /// A sentence for the user.
    pub text: String,
    /// Where.
    pub span: Span,
    /// Whether it may hide behaviour, so that nothing may be proved.
    pub limits_proof: bool,
}

/// A position in a source file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Index into [`Program::files`].
    pub file: u32,
    /// From 1; 0 if not known.
    pub line: u32,
    /// From 1; 0 if not known.
    pub column: u32,
}

/// A memory object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// Its name in the source.
    pub name: String,
    /// How long it lives and how many there are.
    pub storage: Storage,
    /// Its size; for an allocation site, the size of one element of its layout, 0 if not known.
    pub size: u64,
    /// Its alignment in bytes, a power of two.
    pub align: u64,
    /// Its layout.
    pub layout: Layout,
    /// Its initial content.
    pub initial: Initial,
    /// Where it is declared.
    pub span: Span,
    /// Its purpose.
    pub role: ObjectRole,
}

/// The purpose of an object. Passes and reports that treat some objects differently recognise them by this,
/// never by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum ObjectRole {
    /// Memory of the program, or of a model of a library function.
    #[default]
    Program,
    /// The lock whose readers are the running interruptible handlers.
    Processor,
    /// A thread's word that holds the number of handlers when its handler started, itself included.
    HandlerLevel,
    /// The addresses that code outside of the program knows.
    Given,
    /// What functions of the program hand on otherwise than in memory of the program: arguments beyond the
    /// parameters of a function, and handlers of signals.
    HandedOn,
    /// Which of two objects comes first in memory.
    AddressOrder,
    /// A string literal, or a variable that is declared constant and lives for the whole run. Assignments,
    /// fills, copies and operations on locks never reach it: a test of its address precedes each that might,
    /// from which control goes to an error location. Who makes the program sees to that.
    Constant,
    /// Bytes that are open for ever: each copy of them has any value, whatever other copies have. They are
    /// only copied, never read or written otherwise.
    Open,
    /// An allocation site of memory that the program has to give back (`malloc` and the like).
    Allocated,
    /// An allocation site of what `free` must not end: a local variable, which ends with its block, or memory
    /// of the library.
    Automatic,
}

impl ObjectRole {
    /// All roles.
    pub const ALL: [Self; 10] = [
        Self::Program,
        Self::Processor,
        Self::HandlerLevel,
        Self::Given,
        Self::HandedOn,
        Self::AddressOrder,
        Self::Constant,
        Self::Open,
        Self::Allocated,
        Self::Automatic,
    ];
    /// Its word in the text of programs; `None` where none is written.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Program => None,
            Self::Processor => Some("processor"),
            Self::HandlerLevel => Some("handler_level"),
            Self::Given => Some("given"),
            Self::HandedOn => Some("handed_on"),
            Self::AddressOrder => Some("address_order"),
            Self::Constant => Some("constant"),
            Self::Open => Some("open"),
            Self::Allocated => Some("allocated"),
            Self::Automatic => Some("automatic"),
        }
    }
}

/// The purpose of a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum TemplateRole {
    /// A function of the program, or a model of one.
    #[default]
    Function,
    /// The procedure that runs handlers and destructors when a thread ends.
    EndOfThread,
}

impl TemplateRole {
    /// All roles.
    pub const ALL: [Self; 2] = [Self::Function, Self::EndOfThread];
    /// Its word in the text of programs; `None` where none is written.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Function => None,
            Self::EndOfThread => Some("end_of_thread"),
        }
    }
}

/// The lifetime of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Storage {
    /// One, for the whole run.
    Static,
    /// One for each thread of this template (before inlining: for each activation of this procedure).
    Frame(TemplateId),
    /// One for each thread, of whatever template: a thread-local variable.
    ThreadLocal,
    /// One for each [`Op::Allocate`] that names it.
    Site,
}

/// The initial content of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Initial {
    /// Zeros, except for these: offset, type, value (a constant expression: no locals, no loads).
    Values(Vec<(u64, IntType, Expr)>),
    /// Arbitrary bytes, chosen when they are first read.
    Unknown,
    /// The same, but the bytes are not modelled: see [`Rhs::Unknown`](crate::Rhs::Unknown).
    NotModelled,
}

impl Initial {
    /// Whether the bytes are chosen when they are first read.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Values(_) => false,
            Self::Unknown | Self::NotModelled => true,
        }
    }
}

/// A control-flow automaton: the code of a thread, or of a procedure.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Template {
    /// The function's name.
    pub name: String,
    /// Its scalar local variables. The first `parameters` of them get the arguments. All others start as 0;
    /// the front end assigns [`crate::Rhs::Any`] to variables that C leaves uninitialised.
    pub locals: IdVec<LocalId, Local>,
    /// The number of parameters.
    pub parameters: usize,
    /// The local that holds the result at the end.
    pub result: Option<LocalId>,
    /// The local that holds the whole thread's result at an [`Exit`](LocationKind::Exit) location.
    pub exit_value: Option<LocalId>,
    /// Its control locations.
    pub locations: IdVec<LocationId, Location>,
    /// Its steps.
    pub edges: IdVec<EdgeId, Edge>,
    /// Its source.
    pub entry: LocationId,
    /// Where it is defined.
    pub span: Span,
    /// What it is there for.
    pub role: TemplateRole,
}

/// A scalar local variable. Its address is never taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    /// As the user knows it.
    pub name: String,
    /// Its type.
    pub ty: IntType,
    /// Where it is declared.
    pub span: Span,
}

/// A control location.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Location {
    /// Whether control stays here, and why.
    pub kind: LocationKind,
    /// Inside an atomic region: see [`Location::runs_alone`].
    pub atomic: bool,
    /// Its role in the deadlock and race checks.
    pub waiting: Waiting,
}

/// The role of a location in the deadlock, race and leak checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Waiting {
    /// No special role. A thread that is blocked here belongs to no execution, unless its only edge acquires
    /// a lock or joins a thread.
    #[default]
    Nothing,
    /// A thread that is blocked here waits for a synchronisation object.
    For(SharedObject),
    /// Reached by a spurious wake-up: that may happen, but no thread may rely on it.
    Spurious,
    /// Code for the deadlock check only: lowering for other checks removes it ([`crate::passes::lower`]).
    Tracked,
    /// Code for the race check only: lowering for other checks removes it ([`crate::passes::lower`]).
    Racing,
    /// A [`Halt`](LocationKind::Halt) where `main` has returned.
    Returned,
    /// A [`Halt`](LocationKind::Halt) where `exit` has ended the program.
    Exited,
}

/// A synchronisation object that no thread owns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SharedObject {
    /// A semaphore.
    Semaphore,
    /// A condition variable.
    Condition,
    /// A barrier.
    Barrier,
    /// A once flag: another thread is running the initialisation.
    Once,
}

impl Location {
    /// Whether no other thread runs while one is here. A thread that has ended stops no other, whatever
    /// region its last location is in; an error is visible to all threads.
    pub fn runs_alone(&self) -> bool {
        self.atomic && self.kind == LocationKind::Normal
    }
}

/// The kind of a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LocationKind {
    /// One of the edges is taken next.
    #[default]
    Normal,
    /// The procedure returns; at the top level, the thread ends. No edges.
    End,
    /// The thread ends, whatever procedure it is in. No edges.
    Exit,
    /// The whole program ends. No edges.
    Halt,
    /// Something went wrong. No edges.
    Error(ErrorKind),
}

/// What can go wrong at an error location.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ErrorKind {
    /// `reach_error` or `__VERIFIER_error` was called.
    ReachError,
    /// An assertion failed.
    Assertion,
    /// An access outside of any live object, or through a null pointer.
    InvalidAccess,
    /// A signed operation left its type's range.
    Overflow,
    /// Memory was given back that was not allocated, or was given back already.
    InvalidFree,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::ReachError, Self::Assertion, Self::InvalidAccess, Self::Overflow, Self::InvalidFree];
}

/// A step of a template: from one location to another by operations that happen at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Where it starts.
    pub source: LocationId,
    /// Its target.
    pub target: LocationId,
    /// Its operations, in order; without any, it is a plain jump. Front ends put at most one operation on an
    /// edge; compression puts several. If one of them blocks, the edge cannot be taken.
    pub ops: Vec<Op>,
    /// The source line that it comes from.
    pub span: Span,
}

impl Edge {
    /// Whether the edge itself reads the value that the operation with this number assigns to a local: in its
    /// constraint, or in a later operation.
    pub fn reads_later(&self, operation: usize, local: LocalId) -> bool {
        let constraint = match self.ops.get(operation) {
            Some(Op::Assign(assignment)) => assignment.constraint.as_ref(),
            _ => None,
        };
        let after = self.ops.iter().skip(operation + 1).flat_map(Op::expressions);
        constraint.into_iter().chain(after).any(|expr| expr.mentions(local))
    }
}

impl Template {
    /// Adds a location.
    pub fn location(&mut self, kind: LocationKind, atomic: bool) -> LocationId {
        self.locations.push(Location { kind, atomic, waiting: Waiting::Nothing })
    }
    /// Adds a local variable.
    pub fn local(&mut self, name: impl Into<String>, ty: IntType, span: Span) -> LocalId {
        self.locals.push(Local { name: name.into(), ty, span })
    }
    /// Adds an edge.
    pub fn edge(&mut self, source: LocationId, target: LocationId, ops: Vec<Op>, span: Span) -> EdgeId {
        self.edges.push(Edge { source, target, ops, span })
    }
    /// The edges that start at each location.
    pub fn outgoing(&self) -> IdVec<LocationId, Vec<EdgeId>> {
        let mut outgoing: IdVec<LocationId, Vec<EdgeId>> =
            self.locations.iter().map(|_| Vec::new()).collect();
        for (id, edge) in self.edges.enumerate() {
            outgoing[edge.source].push(id);
        }
        outgoing
    }
    /// Whether its threads end only where the whole program does.
    pub fn ends_with_program(&self) -> bool {
        let outgoing = self.outgoing();
        let mut seen: IdVec<LocationId, bool> = self.locations.iter().map(|_| false).collect();
        let mut open = vec![self.entry];
        while let Some(location) = open.pop() {
            match self.locations[location].kind {
                LocationKind::End | LocationKind::Exit => return false,
                LocationKind::Normal | LocationKind::Halt | LocationKind::Error(_) => {}
            }
            if !std::mem::replace(&mut seen[location], true) {
                open.extend(outgoing[location].iter().map(|edge| self.edges[*edge].target));
            }
        }
        true
    }
}

impl Program {
    /// The first assumption that may hide behaviour, if there is one: then nothing may be proved.
    pub fn limiting_assumption(&self) -> Option<&Assumption> {
        self.assumptions.iter().find(|assumption| assumption.limits_proof)
    }

    /// Whether some step changes the locals of other threads.
    pub fn has_broadcasts(&self) -> bool {
        let mut ops = self.templates.iter().flat_map(|template| &template.edges).flat_map(|edge| &edge.ops);
        ops.any(|op| matches!(op, Op::Broadcast(_)))
    }
    /// The procedures whose address is taken: calls and starts through pointers reach no others.
    pub fn addressed_procedures(&self) -> BTreeSet<TemplateId> {
        let mut found = BTreeSet::new();
        let mut look = |expr: &Expr| {
            expr.walk(&mut |inner| {
                if let Expr::Procedure(template) = inner {
                    found.insert(*template);
                }
            });
        };
        for object in &self.objects {
            if let Initial::Values(values) = &object.initial {
                values.iter().for_each(|(_, _, value)| look(value));
            }
        }
        let ops = self.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
        ops.flat_map(Op::expressions).for_each(look);
        found
    }
    /// How many functions of the source some templates are: copies count once.
    pub fn functions(&self, templates: impl IntoIterator<Item = TemplateId>) -> usize {
        let templates = templates.into_iter().map(|id| &self.templates[id]);
        templates.map(|code| (&code.name, code.span)).collect::<BTreeSet<_>>().len()
    }
    /// The type that an allocation site is used as, if known.
    pub fn site_use(&self, site: ObjectId) -> Option<&SiteUse> {
        self.site_uses.iter().find(|used| used.site == site)
    }
    /// Whether races on an object count.
    pub fn counts_races_on(&self, object: ObjectId) -> bool {
        self.races_on.as_ref().is_none_or(|ranges| ranges.iter().any(|range| range.object == object))
    }
    /// The type of an expression in a template.
    pub fn type_of(&self, template: TemplateId, expr: &Expr) -> IntType {
        self.type_in(&self.templates[template], expr)
    }
    /// The type of an expression in a template that need not be part of the program (yet).
    pub fn type_in(&self, template: &Template, expr: &Expr) -> IntType {
        match expr {
            Expr::Const(_, ty) | Expr::Unary(_, ty, _) | Expr::Cast(ty, _) => *ty,
            Expr::Local(local) => template.locals[*local].ty,
            Expr::Load(place) => place.ty,
            Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => self.data_model.pointer(),
            Expr::Binary(op, ty, _) => {
                if op.is_comparison() {
                    IntType::BOOL
                } else {
                    *ty
                }
            }
            Expr::IfThenElse(three) => self.type_in(template, &three.1),
            Expr::Overflows(..) | Expr::Valid(..) => IntType::BOOL,
            Expr::Old(operand) => self.type_in(template, operand),
        }
    }
}
