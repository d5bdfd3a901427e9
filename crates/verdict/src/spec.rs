//! Proofs by abstract threads (paper 2): each thread conforms to its abstract thread, and the composition of
//! all abstract threads does not go wrong.

use crate::Proof;
use ir::TemplateId;
use ir::specification::Specification;
use serde::{Deserialize, Serialize};
use terms::Term;

/// Why no error is reached: a specification, why the threads conform to it, and why it does not go wrong.
///
/// Variables and steps are those of the program as transitions, with mathematical integers and without
/// slicing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecProof {
    /// The abstract threads.
    pub specification: Specification,
    /// For each template that threads run, why they conform.
    pub threads: Vec<Conformance>,
    /// Why the composition does not go wrong.
    pub composition: Composition,
}

/// Why the threads of a template conform to an abstract thread: at each location, what holds of a thread's
/// own variables and of the candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conformance {
    /// The template.
    pub template: TemplateId,
    /// While it is the only thread: over all variables, by location.
    pub alone: Vec<Option<Term>>,
    /// In an atomic region in which it has started the second thread: the same.
    pub starting: Vec<Option<Term>>,
    /// Where others may run, before they do: over the thread's own variables and the candidates, by location.
    pub outside: Vec<Option<Term>>,
    /// In an atomic region: over all variables, by location. The values before the region are those of the
    /// variables called `before`.
    pub inside: Vec<Option<Term>>,
}

/// Why a composition of abstract threads does not go wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Composition {
    /// An invariant over the variables of the specification and the number of threads in each state.
    Counting(Term),
    /// A proof about the composition as a program ([`ir::composition`]).
    Program(Box<Proof>),
}
