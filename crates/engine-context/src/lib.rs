//! Contexts of a thread (paper 1): what all other threads may do to shared variables.
//!
//! A context is made of abstract control flow automata ([`verdict::Acfa`]), one for each template, and of
//! counters that say how many threads are in each of their states. [`graph`] builds the graph of what a
//! thread does in a context (`Connect`, `Find`, `Union`), [`collapse()`] makes a smaller automaton of it
//! (`Collapse`), [`check_sim()`] tests that an automaton may do all that a graph does (`CheckSim`),
//! [`counts`] is what contexts of any number of threads do. [`labels`] asks the solver about labels.
//!
//! [`reach_and_build()`] explores a thread in a context (`ReachAndBuild`), and [`infer()`] finds a context
//! that is right (the inner loop of CIRC), both for any [`Thread`]: whatever the abstraction of data is.
//! [`omega_infer()`] is the inner loop of ω-CIRC: it finds one of few threads, and shows by what all threads
//! can reach together ([`environment()`]) that it is right for any number. [`predicate_thread`] is a thread
//! of a program under predicates, [`refine`] `Refine`: what an abstract trace to an error stands for,
//! [`prove`] makes the proof, and [`engine`] is the outer loop (CIRC).

pub mod check_sim;
pub mod collapse;
pub mod counts;
pub mod engine;
pub mod environment;
pub mod graph;
pub mod infer;
pub mod labels;
pub mod omega;
pub mod predicate_thread;
pub mod prove;
pub mod reach;
pub mod refine;
pub mod thread;

pub use check_sim::{Simulated, check_sim};
pub use collapse::{Collapsed, Watched, collapse};
pub use counts::{Context, Counts};
pub use engine::{ContextInference, analysed_program};
pub use environment::environment;
pub use graph::{Built, Graph};
pub use infer::{Inferred, infer};
pub use labels::Labels;
pub use omega::omega_infer;
pub use predicate_thread::PredicateThread;
pub use reach::{AbstractStep, AbstractTrace, Explored, reach_and_build};
pub use thread::Thread;
