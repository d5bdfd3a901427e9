//! Symbolic execution: finds violations that need inputs which nobody would guess.
//!
//! The engine follows many executions at once, step by step ([`layers`]). It merges executions that are at
//! the same places with the same known values; formulas hold the differences between them. Threads are
//! scheduled as in "Delay-bounded scheduling" (Emmi, Qadeer, Rakamarić, POPL 2011): they take turns, and each
//! runs until it waits or reaches the head of a loop. A few times, a thread is delayed where it could run. A
//! model from the solver becomes a schedule with inputs, and a search along that schedule finds the trace.
//!
//! Under-approximates the transitions of [`transitions`], which over-approximate the program. The trace is an
//! execution of the program. The engine proves nothing.

mod engine;
mod layers;
mod state;

pub use engine::Symbolic;
