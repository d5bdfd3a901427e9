//! Programs as transitions: each step of a thread as a formula over variables.
//!
//! A [`System`] is what engines see that reason by formulas. Its state is a value for each shared variable
//! (cells of memory that several threads reach, and a few that say how threads were started and have ended),
//! and for each thread a location and a value for each variable of its own (locals, memory that no other
//! thread reaches, its id). A [`Step`] is a condition and new values.
//!
//! Over-approximates the program: each step of the machine is one of the system, on the states that they
//! stand for. So what no execution of the system reaches, no execution of the program does. What is not
//! modelled becomes a value that may be anything.
//!
//! Rests on the points-to sets, and so on assumption 14 of `SOUNDNESS.md`; and on assumption 4, since it
//! fixes addresses.
//!
//! * [`prepare`](mod@prepare): the passes that a program goes through first.
//! * [`system`]: the variables and the steps of a program.
//! * [`memory`](mod@memory): which variables stand for which bytes.
//! * [`follow`]: what the operations of an edge do.
//! * [`groups`]: some threads out of any number of them.
//! * [`accesses`]: which accesses of two threads may be a race.
//! * [`threads`]: the threads of a program that starts a fixed set of them.
//! * [`quiet`]: where others need not run, since locks keep them apart.
//! * [`settled`]: threads that are there from the beginning.
//! * [`blocks`]: fewer locations, by putting steps together.
//! * [`scopes`]: the steps with variables sorted into shared ones and those of a thread.
//! * [`specification`](mod@specification): abstract threads as formulas over the variables of a system.
//! * [`boolean_program`](mod@boolean_program): the Boolean program that predicates make of a program.

pub mod accesses;
pub mod blocks;
pub mod boolean_program;
pub mod constants;
mod expressions;
pub mod follow;
pub mod groups;
pub mod memory;
pub mod prepare;
pub mod quiet;
pub mod scopes;
pub mod settled;
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
