//! The engine `spec`: abstract threads (paper 2). The user specifies what each thread may do, as an abstract
//! thread. This engine proves that the threads conform, and that the composition of the abstract threads does
//! not go wrong.
//!
//! * [`language`]: reads and prints specifications.
//! * `build`: the conformance checker of a thread as a sequential program.
//! * `conformance`: all threads of a program.
//! * `explain`: where a thread deviates from its abstract thread.
//! * `counting`, `enumerate`: the composition for any number of threads.
//! * `diagnose`: mistakes in a specification.
//! * `draft`, `acfa`: first drafts of specifications, from a program and from a context.
//!
//! Over-approximates the threads (as [`transitions`] does). So proofs are sound, but a thread that is
//! reported as not conforming may conform in fact.

mod acfa;
mod build;
mod conformance;
mod counting;
mod diagnose;
mod draft;
mod engine;
mod enumerate;
mod explain;
pub mod language;
mod sums;
mod text;

pub use conformance::{Checked, Conformances, Problem};
pub use diagnose::{Mistake, mistakes};
pub use draft::{Contexts, Drafts, draft, drafts};
pub use engine::{Composed, Spec, conform};
pub use explain::{Candidates, Failure, Mismatch};
