//! Executions with inputs as formulas: finds violations that need inputs which nobody would guess.
//!
//! Many executions are followed at once, step by step ([`layers`]): what differs between those that are at
//! the same places with the same known values is in formulas. Threads are scheduled as in "Delay-bounded
//! scheduling" (Emmi, Qadeer, Rakamarić, POPL 2011): they take turns, each runs until it waits or reaches the
//! head of a loop, and may be made to give way a few times besides. What a solver finds becomes a schedule
//! with inputs, and that, by a search along it, a trace.
//!
//! Under-approximates the transitions of [`transitions`], which over-approximate the program; the trace is an
//! execution of the program. Proves nothing.

mod engine;
mod layers;
mod state;

pub use engine::Symbolic;
