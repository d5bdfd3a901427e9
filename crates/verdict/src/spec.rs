//! Proofs by abstract threads (paper 2): each thread does what its abstract thread may do, and all abstract threads together do not go wrong.

use crate::Proof;
use ir::TemplateId;
use ir::specification::Specification;
use serde::{Deserialize, Serialize};
use terms::Term;

/// Why no error is reached: a specification, why the threads conform to it, and why it does not go wrong.
///
/// Variables and steps are those of the program as transitions, with mathematical integers, nothing left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecProof {
    /// The abstract threads.
    pub specification: Specification,
    /// For each template that threads run why they conform.
    pub threads: Vec<Conformance>,
    /// Why the abstract threads together do not go wrong.
    pub composition: Composition,
}

/// Why the threads of a template do what an abstract thread may do: what holds of a thread's own variables and of the candidates, where it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conformance {
    /// The template.
    pub template: TemplateId,
    /// While it is the only thread: over all variables, by location.
    pub alone: Vec<Option<Term>>,
    /// In an atomic region in which it has started the second thread: the same.
    pub starting: Vec<Option<Term>>,
    /// Where others run, before they do: over the thread's own variables and the candidates, by location.
    pub outside: Vec<Option<Term>>,
    /// In an atomic region: over all variables, by location. The values before the region are those of the variables called `before`.
    pub inside: Vec<Option<Term>>,
}

/// Why abstract threads together do not go wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Composition {
    /// This holds, always, of the variables of the specification and the numbers of threads in each state.
    Counting(Term),
    /// A proof about the program that they make ([`ir::composition`]).
    Program(Box<Proof>),
}
