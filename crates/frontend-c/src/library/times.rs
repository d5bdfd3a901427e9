//! Times to wait for: their nanoseconds have a range (POSIX `pthread_cond_timedwait`, `nanosleep` and their
//! like fail with `EINVAL` where they are out of it; a lock that can be had at once need not look).
//!
//! Deviation: the parts of a time whose seconds are not as wide as a pointer are not known; it counts as
//! valid.

use super::emit::int;
use super::errno::{EINVAL, ETIMEDOUT};
use super::input::any_between;
use super::mutex::THRD_TIMEDOUT;
use super::outside::unknown_between;
use super::printing::read_pointee;
use super::{Argument, Call, Context};
use ir::{BinaryOp, Expr, IntType, Lhs, LocalId, Place, Value};

/// What C11's functions give for any other failure.
const THRD_ERROR: Value = 2;
/// The most nanoseconds.
pub(super) const MOST_NANOSECONDS: Value = 999_999_999;
/// The most microseconds.
pub(super) const MOST_MICROSECONDS: Value = 999_999;

/// The time that a function waits for at most.
pub(super) struct Timeout {
    /// Whether its nanoseconds are out of their range.
    pub(super) is_invalid: Expr,
    /// What the function gives when they are.
    pub(super) invalid: Value,
    /// What it gives when the time is over.
    pub(super) over: Value,
}

/// Reads the time that a function waits for at most: its last argument.
pub(super) fn timeout(context: &mut Context<'_>, call: &Call<'_>) -> Option<Timeout> {
    call.argument(1)?;
    let is_invalid = read(context, call.arguments.last()?);
    let is_c11 = call.name.starts_with("mtx_") || call.name.starts_with("cnd_");
    let (invalid, over) = if is_c11 { (THRD_ERROR, THRD_TIMEDOUT) } else { (EINVAL, ETIMEDOUT) };
    Some(Timeout { is_invalid, invalid, over })
}

/// Reads a time; says whether it is invalid.
pub(super) fn read(context: &mut Context<'_>, time: &Argument) -> Expr {
    read_pointee(context, time);
    let Some(place) = small_part(context, time) else { return Expr::bool(false) };
    let ty = place.ty;
    let part = Expr::Local(context.builder.save(Expr::load(place), ty));
    Expr::binary(BinaryOp::Lt, ty, Expr::int(MOST_NANOSECONDS, ty), part)
}

/// The nanoseconds or microseconds of a time, as an unsigned number.
fn small_part(context: &mut Context<'_>, time: &Argument) -> Option<Place> {
    let ty = context.pointer();
    if time.is_always_null() || time.pointee_size() != Some(2 * ty.bytes()) {
        return None;
    }
    let address = context.settle_pointer(time);
    Some(Place::pointee(context.at_offset(&address, ty.bytes()), ty))
}

/// Stores nanoseconds or microseconds in their range: any, or such that are not modelled.
pub(super) fn store_small_part(context: &mut Context<'_>, time: &Argument, most: Value, is_input: bool) {
    let Some(place) = small_part(context, time) else { return };
    let pointer = context.settle_pointer(time);
    context.unless_null(time, pointer, |context| {
        let part = match is_input {
            true => any_between(context, place.ty, 0, most),
            false => unknown_between(context, place.ty, 0, most),
        };
        context.builder.set(Lhs::Memory(place), part);
    });
}

impl Context<'_> {
    /// Sets the result of a wait that got nothing.
    pub(super) fn put_timeout(&mut self, cell: Option<LocalId>, timeout: &Timeout) {
        let Some(cell) = cell else { return };
        let value = timeout.result();
        self.builder.set(Lhs::Local(cell), value);
    }
}

impl Timeout {
    /// What a wait gives that got nothing.
    pub(super) fn result(&self) -> Expr {
        match &self.is_invalid {
            Expr::Const(0, IntType::BOOL) => int(self.over),
            is_invalid => Expr::IfThenElse(Box::new((is_invalid.clone(), int(self.invalid), int(self.over)))),
        }
    }
}
