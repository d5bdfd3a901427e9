//! Contexts of a thread (paper 1): what all other threads may do to shared variables.
//!
//! A context consists of one abstract control flow automaton ([`verdict::Acfa`]) for each template, and of
//! counters for the threads in each of their states. [`graph`] builds the graph of what a thread does in a
//! context (`Connect`, `Find`, `Union`), [`collapse()`] computes its quotient, a smaller automaton
//! (`Collapse`), [`check_sim()`] tests that an automaton simulates a graph (`CheckSim`), [`counts`] are the
//! moves of contexts with any number of threads. [`labels`] asks the solver about labels.
//!
//! [`reach_and_build()`] explores a thread in a context (`ReachAndBuild`), and [`infer()`] finds a sound
//! context (the inner loop of CIRC). Both work for any [`Thread`], whatever its abstraction of data.
//! [`omega_infer()`] is the inner loop of ω-CIRC: it finds a context of few threads, and shows that this
//! context is sound for any number, by what all threads can reach together ([`environment()`]).
//! [`predicate_thread`] is a thread of a program under predicates. [`refine`] is `Refine`: it decides what an
//! abstract trace to an error stands for. [`prove`] builds the proof, and [`engine`] is the outer loop
//! (CIRC).

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
