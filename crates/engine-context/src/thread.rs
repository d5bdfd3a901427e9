//! The interface of a thread for the exploration: finitely many abstract states, and the effects of steps on
//! them.

use ir::TemplateId;
use smt::{NoAnswer, Term};
use std::collections::BTreeSet;
use verdict::{AbstractState, Action, Budget};

/// A step of a thread: what others see of it, which of its steps it is, and the state after it.
pub type Stepped<T> = (Action, <T as Thread>::Step, <T as Thread>::State);

/// A thread of one template under some abstraction of data.
///
/// A state has facts about shared variables and the thread's own. All answers over-approximate: they include
/// everything that the thread can do from a concrete state that the abstract one stands for.
pub trait Thread {
    /// An abstract state of the thread: where it is, and what is known.
    type State: Ord + Clone;
    /// What a step is called.
    type Step: Ord + Clone;

    /// States before the thread exists, at the start of the program: facts about shared variables. They have
    /// no steps.
    fn before_start(&self, budget: &Budget) -> Result<Vec<Self::State>, NoAnswer>;
    /// The states in which the thread begins if it is started in a state before its start. `by`: that state
    /// before the step, and the template of the thread that starts it, unless it is there at the start.
    fn start_states(
        &self,
        by: Option<(&Self::State, TemplateId)>,
        before_start: &Self::State,
        budget: &Budget,
    ) -> Result<Vec<Self::State>, NoAnswer>;
    /// What another thread, which is not there yet, knows where this one is in a state: a state before the
    /// start of any template.
    fn outside(&self, state: &Self::State) -> Self::State;
    /// Whether no other thread moves while it is in a state.
    fn is_atomic(&self, state: &Self::State) -> bool;
    /// The label of a state: what it says of shared variables.
    fn label(&self, state: &Self::State) -> Term;
    /// The accesses that it may make next, by number.
    fn accesses(&self, state: &Self::State, budget: &Budget) -> Result<BTreeSet<u32>, NoAnswer>;
    /// The steps of the thread itself.
    fn steps(&self, state: &Self::State, budget: &Budget) -> Result<Vec<Stepped<Self>>, NoAnswer>
    where
        Self: Sized;
    /// The states that it may be in after a step of another thread, such that a formula holds.
    fn after_environment_step(
        &self,
        state: &Self::State,
        action: &Action,
        after: &Term,
        budget: &Budget,
    ) -> Result<Vec<Self::State>, NoAnswer>;
    /// Whether a state is an error by itself.
    fn is_error(&self, state: &Self::State) -> bool;
    /// Pairs of accesses that may race if a thread of a template is in a state of its automaton at the same
    /// time: an own access, and one of the other.
    fn conflict(
        &self,
        state: &Self::State,
        template: TemplateId,
        other: &AbstractState,
        budget: &Budget,
    ) -> Result<Option<(u32, u32)>, NoAnswer>;
}

/// What others see of a state.
pub(crate) fn seen<T: Thread>(
    thread: &T,
    state: &T::State,
    budget: &Budget,
) -> Result<AbstractState, NoAnswer> {
    Ok(AbstractState {
        label: thread.label(state),
        atomic: thread.is_atomic(state),
        accesses: thread.accesses(state, budget)?,
    })
}
