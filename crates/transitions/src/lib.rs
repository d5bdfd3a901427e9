//! Programs as transitions: each step of a thread as a formula over variables.
//!
//! Engines that reason by formulas work on a [`System`]. Its state has a value for each shared variable
//! (memory cells that several threads reach, and a few variables that record which threads have started and
//! ended). For each thread it has a location and a value for each variable of that thread's own (locals,
//! memory that no other thread reaches, its id). A [`Step`] is a condition and new values.
//!
//! Over-approximates the program: each step of the machine is a step of the system, on the states that they
//! stand for. So a state that no execution of the system reaches, no execution of the program reaches. An
//! operation that is not modelled gives an arbitrary value.
//!
//! Relies on the points-to sets, and so on assumption 14 of `SOUNDNESS.md`; and on assumption 4, since it
//! fixes addresses.
//!
//! * [`prepare`](mod@prepare): the passes that a program goes through first.
//! * [`system`]: the variables and the steps of a program.
//! * [`memory`](mod@memory): which variables stand for which bytes.
//! * [`follow`]: the effects of an edge's operations.
//! * [`groups`]: some threads out of any number of them.
//! * [`accesses`]: which accesses of two threads may be a race.
//! * [`threads`]: the threads of a program that starts a fixed set of them.
//! * [`quiet`]: right movers: locations at which other threads need not run, since locks exclude them.
//! * [`early_started`]: threads that may be taken to run from the beginning.
//! * [`blocks`]: fewer locations, by composing steps.
//! * [`scopes`]: the steps, with shared variables distinguished from those of a thread.
//! * [`specification`](mod@specification): abstract threads as formulas over the variables of a system.
//! * [`boolean_program`](mod@boolean_program): the abstraction of a program by predicates, as a Boolean
//!   program.

pub mod accesses;
pub mod blocks;
pub mod boolean_program;
pub mod company;
pub mod constants;
pub mod early_started;
mod expressions;
pub mod follow;
pub mod groups;
pub mod memory;
pub mod prepare;
pub mod quiet;
pub mod scopes;
pub mod specification;
pub mod system;
pub mod threads;

pub use blocks::{loop_heads, merge_steps};
pub use boolean_program::{BooleanProgram, boolean_program};
pub use prepare::{
    MOST_EDGES, NotReady, prepare, prepare_whole, require_all_behaviours, require_few_edges, unresolved,
};
pub use scopes::{Scoped, ScopedStart, ScopedStep};
pub use system::{Kind, Start, StateVariable, Step, System};
