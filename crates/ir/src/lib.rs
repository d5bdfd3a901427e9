//! The intermediate representation: one form for all programs, with one meaning.
//!
//! A [`Program`] is a set of memory objects and of thread templates, each a control-flow automaton (CFA)
//! whose edges carry operations. Front ends produce it, engines consume it. [`semantics`] defines what a
//! program does; everything else (passes, engines, checkers) is tested against that definition.
//!
//! This crate does no IO, knows nothing of C, and nothing of any engine.

pub mod check;
pub mod components;
pub mod composition;
pub mod diagnostic;
mod draft;
pub mod expr;
pub mod float;
pub mod ids;
pub mod names;
pub mod op;
pub mod passes;
pub mod program;
pub mod semantics;
pub mod specification;
pub mod text;
pub mod types;

pub use diagnostic::Diagnostic;
pub use draft::Draft;
pub use expr::{BinaryOp, Expr, Place, PointerArithmetic, Target, Targets, UnaryOp};
pub use float::{FloatFormat, FloatOp};
pub use ids::{EdgeId, IdVec, LocalId, LocationId, ObjectId, TemplateId};
pub use op::{Assignment, Broadcast, Callee, Lhs, LockKind, Op, Rhs};
pub use program::{
    Assumption, Count, Edge, ErrorKind, Initial, Local, Location, LocationKind, Object, ObjectRole, Program,
    Range, SharedObject, SiteUse, Span, Storage, Template, TemplateRole, Waiting,
};
pub use types::{DataModel, Field, IntType, Layout, SyncKind, Value, gcd};
