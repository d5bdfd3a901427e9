//! What the exploration needs to know of a thread: abstract states, finitely many, and what steps do to them.

use smt::{NoAnswer, Term, Variable};
use std::collections::BTreeSet;
use verdict::{Action, Budget};

/// A thread of one template under some abstraction of data.
///
/// A state knows something of shared variables and of the thread's own. All answers over-approximate: what a thread can do from a state that an abstract
/// one stands for, the abstract one says.
pub trait Thread {
    /// An abstract state of the thread: where it is, and what is known.
    type State: Ord + Clone;

    /// States before the thread is there, at the start of the program: what is known of shared variables then. They have no steps.
    fn unborn(&self) -> Vec<Self::State>;
    /// The states in which the thread begins if it is started in an unborn state.
    fn born(&self, unborn: &Self::State) -> Vec<Self::State>;
    /// Whether no other thread moves while it is in a state.
    fn is_atomic(&self, state: &Self::State) -> bool;
    /// What a state says of shared variables.
    fn label(&self, state: &Self::State) -> Term;
    /// The steps of the thread itself.
    fn steps(&self, state: &Self::State, budget: &Budget) -> Result<Vec<(Action, Self::State)>, NoAnswer>;
    /// The states that it may be in after another thread gave some variables other values, such that a formula holds.
    fn disturbed(
        &self,
        state: &Self::State,
        havoc: &BTreeSet<Variable>,
        behind: &Term,
        budget: &Budget,
    ) -> Result<Vec<Self::State>, NoAnswer>;
    /// Whether a state is an error by itself.
    fn is_error(&self, state: &Self::State) -> bool;
    /// Whether it is an error if another thread can do this next: a race.
    fn conflicts(&self, state: &Self::State, other: &Action) -> bool;
}
