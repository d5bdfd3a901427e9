//! Functions of the Linux kernel whose meaning is fixed and small, for drivers that are checked without the
//! kernel.
//!
//! Bits of words are changed in one step, as the kernel's functions without underscores do; only bits whose
//! number is a constant are modelled. All yield to a body.

use super::emit::{answer_int, atomic_place, truth};
use super::{Answer, Call, Context, Entry, Wins};
use ir::{BinaryOp, Expr};

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["set_bit"], wins: Wins::Body, model: |c, call| bit(c, call, Change::Set) },
    Entry { names: &["clear_bit"], wins: Wins::Body, model: |c, call| bit(c, call, Change::Clear) },
    Entry { names: &["change_bit"], wins: Wins::Body, model: |c, call| bit(c, call, Change::Flip) },
    Entry { names: &["test_and_set_bit"], wins: Wins::Body, model: |c, call| bit(c, call, Change::Set) },
    Entry { names: &["test_and_clear_bit"], wins: Wins::Body, model: |c, call| bit(c, call, Change::Clear) },
    Entry { names: &["test_and_change_bit"], wins: Wins::Body, model: |c, call| bit(c, call, Change::Flip) },
    // "Illegal seek", and nothing else.
    Entry { names: &["no_llseek"], wins: Wins::Body, model: |_, _| answer_int(-29) },
];

/// What becomes of a bit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Set,
    Clear,
    Flip,
}

/// Changes a bit of an array of words; the answer is whether it was set.
fn bit(context: &mut Context<'_>, call: &Call<'_>, change: Change) -> Option<Answer> {
    // A word is an `unsigned long`, as wide as a pointer.
    let ty = context.pointer();
    let number = u64::try_from(call.argument(0)?.constant?).ok()?;
    let words = call.argument(1)?;
    if words.is_smaller_than(ty.bytes()) || number >> 32 != 0 {
        return None;
    }
    let (word, bit) = (number / u64::from(ty.bits), number % u64::from(ty.bits));
    let array = context.settle_pointer(words);
    let place = atomic_place(context.at_offset(&array, word * ty.bytes()), ty);
    let mask = 1 << bit;
    let old = Expr::Local(context.exchange(place, |old| match change {
        Change::Set => Expr::binary(BinaryOp::Or, ty, old, Expr::int(mask, ty)),
        Change::Clear => Expr::binary(BinaryOp::And, ty, old, Expr::int(ty.max() - mask, ty)),
        Change::Flip => Expr::binary(BinaryOp::Xor, ty, old, Expr::int(mask, ty)),
    }));
    Some(Answer::Value(truth(Expr::binary(BinaryOp::And, ty, old, Expr::int(mask, ty)), ty)))
}
