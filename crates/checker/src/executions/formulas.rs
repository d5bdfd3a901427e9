//! The variables of a program as transitions, in a state of the machine.

use super::memory::{address_of, value_at};
use ir::semantics::{Machine, STATICS, State, ThreadIndex};
use ir::{IntType, LocationId, TemplateId, Value};
use smt::expressions::Mode;
use smt::{Sort, Term, Value as TermValue};
use transitions::{Kind, StateVariable, System};

/// The value of a variable: a shared one, or a thread's own. `None` when it is not known, or has another
/// number in proofs.
pub fn value(
    system: &System<'_>,
    machine: &Machine<'_>,
    state: &State,
    thread: Option<ThreadIndex>,
    variable: &StateVariable,
) -> Option<TermValue> {
    let the_one = |template: TemplateId| state.threads.iter().position(|thread| thread.template == template);
    let ty = variable.ty?;
    let found = match &variable.kind {
        Kind::Cell(object, offset) => {
            let address = address_of(machine, state, thread, *object)?;
            value_at(machine, state, address + offset, ty)?
        }
        Kind::Local(local) => {
            let top = state.threads[thread?].activations.last()?;
            ty.wrap(Value::from(*top.locals.get(local.0 as usize)?))
        }
        Kind::Myself => thread? as Value + 1,
        Kind::Threads => state.threads.len() as Value,
        Kind::ThreadId(template) => the_one(*template).map_or(0, |thread| thread as Value + 1),
        Kind::Ended(template) => {
            the_one(*template).map_or(0, |thread| Value::from(state.threads[thread].activations.is_empty()))
        }
        Kind::ThreadResult(_) | Kind::Map | Kind::FrameAddress | Kind::HeapEnd => return None,
        Kind::SiteStart(..) | Kind::SiteEnd(..) => return None,
    };
    let moved = is_moved(machine, found, ty, system.program.data_model.pointer());
    (!moved).then(|| of_type(system.mode, found, ty)).flatten()
}

/// Whether a number may be an address with another number in proofs: one in a stack or in the heap.
fn is_moved(machine: &Machine<'_>, value: Value, ty: IntType, pointer: IntType) -> bool {
    let end = Value::from(STATICS) + Value::from(machine.addresses.static_size);
    ty.bits >= pointer.bits && u64::try_from(value).is_ok_and(|_| value > end)
}

/// A number as a value of the sort that a type has.
fn of_type(mode: Mode, value: Value, ty: IntType) -> Option<TermValue> {
    mode.constant(ty.wrap(value), ty).as_literal()
}

/// The number of a location.
pub fn location(location: LocationId) -> TermValue {
    TermValue::Int(i128::from(location.0))
}

/// Whether a formula is false for all values of the variables that have no value.
pub fn is_false(formula: &Term, value_of: &dyn Fn(&smt::Variable) -> Option<TermValue>) -> bool {
    *formula.sort() == Sort::Bool && formula.evaluate(value_of) == Ok(TermValue::Bool(false))
}
