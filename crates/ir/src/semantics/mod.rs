//! The semantics: the only definition of what a program does.
//!
//! A [`State`] is the memory, the heap and the threads. One step is one edge of one thread, taken at once
//! ([`Machine::step`]); steps of different threads interleave in any order (sequential consistency). While a
//! thread is at an atomic location, only it runs ([`Machine::schedulable`]). An edge whose operations block
//! (an assumption fails, a lock is held, an operation is undefined) cannot be taken: [`Stuck`] says why.
//!
//! Memory is bytes, little endian. Each object has a fixed address (see [`address`]), so pointers are plain
//! integers. Values that the program leaves open come from [`Choices`], in the order of the requests. A freed
//! address may be reused where the program could notice ([`reuse`]).
//!
//! A *deadlock* is a state from which waiting threads never take a step again, although the program does not
//! end ([`waiting`](self::Wait) has the definition).
//!
//! Memory *leaks* if no pointer leads to it, or if it is still allocated where the program ends ([`Leak`]).
//!
//! A *data race* is a state in which two threads each have an edge whose operations lead to an access of the
//! same byte, one of them a write, not both atomic ([`Machine::race`]). Where atomic accesses impose no order
//! ([`Program::unordered`](crate::Program)), two accesses of one execution also race if neither happens
//! before the other ([`HappensBefore`]).

pub mod address;
mod certainty;
mod eval;
mod leaks;
mod machine;
mod memory;
mod order;
mod own_id;
mod reuse;
mod step;
mod waiting;

pub use address::{AddressMap, STATICS};
pub use certainty::{Certainty, Uncertain};
pub use eval::{Fault, apply, overflows};
pub use leaks::Leak;
pub use machine::{Activation, Block, LimitKind, Machine, State, Thread, ThreadIndex};
pub use memory::{Bytes, Page, Run};
pub use order::{HappensBefore, PastAccess};
pub use own_id::may_ask_for_own_id;
pub use step::{Access, Choice, ChoiceKind, Choices, Stuck, Taken, mutex_kind_offset};
pub use waiting::{Fate, Move, StateGraph, Sureness, Trail, Wait, WaitedFor, wait_in_atomic_region};
