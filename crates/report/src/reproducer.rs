//! Turns a refutation into a *reproducer*: the unchanged program, a schedule, and a small runtime that makes
//! the compiled program follow that schedule.
//!
//! The compiler puts a call before each access to memory that other threads could see (`-fsanitize=thread`);
//! the runtime intercepts these calls, and those to the thread library, and makes each thread wait there for
//! its turn. So a schedule may switch threads within a statement, and the source is compiled unchanged.
//!
//! A schedule orders the *events* of the replayed execution ([`events`]): accesses to bytes that two threads
//! touch and one writes, and the creation of threads. Everything else commutes, so an execution with the same
//! events in the same order has the same outcome. A thread that has no more events but has not ended stops
//! there. If something cannot be forced (values that the program never got, variables that cannot be found in
//! memory), there is no reproducer, and the reason says why. This crate does no IO.
//!
//! Nor is there one if the compiled program would behave differently from the execution ([`forced`]). Two
//! causes of divergence remain: the compiler may evaluate arguments in another order than from left to right,
//! and the data model is that of the machine. The runtime then reports that the program left the schedule; it
//! never claims a violation that did not happen.

mod bind;
mod events;
mod files;
mod forced;
mod inputs;

pub use files::{Compilation, File, make};
use std::fmt;

/// Why there is no reproducer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unforced {
    /// The execution needs a value of an uninitialised variable that the compiled program need not give it.
    Uninitialised(ir::Span),
    /// An input that no function of the runtime gives.
    Input(ir::Span),
    /// A variable that several threads use cannot be found in the memory of the compiled program.
    Variable(String),
    /// The machine's compiler or C library lacks something.
    Missing(String),
    /// The compiled program does not notice an access outside of this variable.
    Unseen(String),
    /// The compiled program does not notice an access to this variable after its lifetime.
    Dead(String),
    /// The compiler and the library decide where something is in memory.
    Address(ir::Span),
    /// The program does not start with one main thread.
    Start,
    /// The execution cannot be replayed.
    Trace,
    /// The compiler or the library makes another choice than the execution.
    Choice(ir::Span),
    /// The compiler does not check the operation that overflows, or replaces it by another one.
    Unchecked(ir::Span),
    /// Another thread runs in the middle of what is one access of the compiled program.
    Split(ir::Span),
    /// An access by inline assembly, which the compiler does not announce.
    Assembly(ir::Span),
    /// The compiler makes an access atomic although C does not require it.
    Atomic(ir::Span),
    /// The compiler drops a read whose value is not used.
    Unused(ir::Span),
    /// Memory that is lost or left: nothing happens in the program then.
    Leak,
}

impl fmt::Display for Unforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uninitialised(span) => {
                write!(f, "a variable without a value matters (line {})", span.line)
            }
            Self::Input(span) => write!(f, "an input cannot be given from outside (line {})", span.line),
            Self::Variable(name) => write!(f, "`{name}` cannot be found in the compiled program's memory"),
            Self::Missing(name) => write!(f, "the compiler and its library have no `{name}`"),
            Self::Unseen(name) => {
                write!(
                    f,
                    "an access outside of `{name}` cannot be distinguished from others in the compiled program"
                )
            }
            Self::Dead(name) => {
                write!(
                    f,
                    "an access to `{name}` after its life cannot be distinguished from others in the compiled program"
                )
            }
            Self::Address(span) => {
                write!(
                    f,
                    "where things are in memory is up to the compiler and the library (line {})",
                    span.line
                )
            }
            Self::Start => f.write_str("the program does not start with one main thread"),
            Self::Trace => f.write_str("the execution cannot be run again"),
            Self::Choice(span) => write!(
                f,
                "the compiler or the library would choose another order or result (line {})",
                span.line
            ),
            Self::Unchecked(span) => {
                write!(
                    f,
                    "the compiler does not check the operation that leaves its range (line {})",
                    span.line
                )
            }
            Self::Split(span) => {
                write!(f, "the compiler makes one access where the schedule has two (line {})", span.line)
            }
            Self::Assembly(span) => {
                write!(f, "the compiler does not announce accesses of inline assembly (line {})", span.line)
            }
            Self::Atomic(span) => {
                write!(f, "the compiler makes an initialisation atomic (line {})", span.line)
            }
            Self::Leak => f.write_str(
                "nothing happens in the compiled program where memory is lost; `-fsanitize=leak` may show it",
            ),
            Self::Unused(span) => {
                write!(f, "the compiler drops a read whose value is not used (line {})", span.line)
            }
        }
    }
}
