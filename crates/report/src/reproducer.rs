//! Makes a *reproducer* of a refutation: the user's program as it is, a schedule, and a small runtime that
//! makes the compiled program follow it.
//!
//! The compiler puts a call before each access to memory that other threads could see (`-fsanitize=thread`);
//! the runtime gets these calls, and those of the thread library, and lets each thread wait at them for its
//! turn. So a schedule may switch threads inside of a statement, and the source is compiled unchanged.
//!
//! What is scheduled are the *events* of the replayed execution ([`events`]): accesses to bytes that two
//! threads touch and one writes, and the creation of threads. Everything else commutes, so an execution with
//! the same events in the same order has the same outcome. A thread that reaches the end of its part without
//! having ended stops there. What cannot be forced (values that the program never got, variables that cannot
//! be found in memory) is refused, with the reason. Does no IO.
//!
//! What the compiled program would do otherwise than the execution ([`forced`]) is refused, too. What remains
//! and may keep it from following the schedule: the compiler may evaluate arguments in another order than
//! from left to right; the data model is that of the machine. The runtime then says that it left the
//! schedule; it never claims a violation that did not happen.

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
    /// A variable that was never set has a value that the compiled program need not give it.
    Uninitialised(ir::Span),
    /// An input that no function of the runtime gives.
    Input(ir::Span),
    /// A variable that several threads use cannot be found in the memory of the compiled program.
    Variable(String),
    /// Something that the compiler or the C library of the machine does not have.
    Missing(String),
    /// An access outside of this variable is like any other one in the compiled program.
    Unseen(String),
    /// An access to this variable after its life is like any other one in the compiled program.
    Dead(String),
    /// Where something is in memory is up to the compiler and the library.
    Address(ir::Span),
    /// The program does not start with one main thread.
    Start,
    /// The execution cannot be run again.
    Trace,
    /// The compiler or the library decides otherwise than the execution.
    Choice(ir::Span),
    /// The compiler does not check the operation that leaves its range, or does another one.
    Unchecked(ir::Span),
    /// Another thread runs within what is one access of the compiled program.
    Split(ir::Span),
    /// The compiler makes an access atomic that need not be.
    Atomic(ir::Span),
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
            Self::Atomic(span) => {
                write!(f, "the compiler makes an initialisation atomic (line {})", span.line)
            }
        }
    }
}
