//! The engine `spec`: abstract threads (paper 2). The user says what each thread may do, as another thread;
//! here it is proved that the threads do that, and that all abstract threads together do not go wrong.
//!
//! * [`language`]: reads and prints specifications.
//! * `build`: the conformance checker of a thread as a sequential program.
//! * `conformance`: all threads of a program.
//! * `explain`: where a thread and its abstract thread part.
//! * `counting`, `enumerate`: the composition for any number of threads.
//! * `diagnose`: mistakes in a specification.
//! * `draft`, `acfa`: first specifications, of a program and from a context.
//!
//! Over-approximates the threads (as [`transitions`] does); so a thread that is said not to conform may do so
//! in fact, and a proof holds.

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
