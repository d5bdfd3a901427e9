//! Allocation, and functions on runs of bytes.
//!
//! Allocation always succeeds, also of 0 bytes. Each call is an allocation site of its own. `realloc` finds
//! out how many bytes the old object has by asking which of its addresses are valid, so it is exact; it
//! always moves.
//!
//! Deviation: objects are aligned to 16 bytes, so an execution that asks for more proves no violation.

use super::emit::{answer_cell, truth};
use super::errno::EINVAL;
use super::{Answer, Argument, Call, Context, Entry, Wins};
use ir::{
    BinaryOp, ErrorKind, Expr, Initial, IntType, Layout, Lhs, LocalId, Object, ObjectId, ObjectRole, Op,
    Place, Storage, Value,
};

/// The alignment of all allocated objects.
const ALIGNMENT: u64 = 16;

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["malloc", "valloc"], wins: Wins::Model, model: |c, call| plain(c, call, 0) },
    Entry { names: &["aligned_alloc", "memalign"], wins: Wins::Model, model: aligned },
    Entry { names: &["posix_memalign"], wins: Wins::Model, model: posix_aligned },
    Entry { names: &["calloc"], wins: Wins::Model, model: zeroed },
    Entry { names: &["realloc"], wins: Wins::Model, model: realloc },
    Entry { names: &["free", "cfree"], wins: Wins::Model, model: free },
    Entry { names: &["memset"], wins: Wins::Model, model: fill },
    Entry { names: &["bzero", "explicit_bzero"], wins: Wins::Model, model: clear },
    Entry { names: &["memcpy", "memmove"], wins: Wins::Model, model: |c, call| copy(c, call, 0, 1, false) },
    Entry { names: &["mempcpy"], wins: Wins::Model, model: |c, call| copy(c, call, 0, 1, true) },
    Entry { names: &["bcopy"], wins: Wins::Model, model: |c, call| copy(c, call, 1, 0, false) },
];

/// A new allocation site.
fn site(context: &mut Context<'_>, call: &Call<'_>, size: &Expr, role: ObjectRole) -> ObjectId {
    let size = element_size(size).unwrap_or(0);
    context.program.objects.push(Object {
        name: format!("{} in line {}", call.name, call.span.line),
        storage: Storage::Site,
        size,
        align: ALIGNMENT,
        layout: Layout::Bytes(size),
        initial: Initial::Unknown,
        span: call.span,
        role,
    })
}

/// The bytes of one element, given those of all: a constant is one element, a multiple of a constant is an
/// array.
fn element_size(size: &Expr) -> Option<u64> {
    match size {
        Expr::Const(size, _) => u64::try_from(*size).ok(),
        Expr::Binary(BinaryOp::Mul, _, pair) => element_size(&pair.0).or_else(|| element_size(&pair.1)),
        Expr::Cast(_, operand) => element_size(operand),
        _ => None,
    }
}

/// A size argument.
fn size(context: &mut Context<'_>, argument: &Argument) -> Expr {
    match argument.constant {
        Some(size) => Expr::int(size, context.pointer()),
        None => context.settle_pointer(argument),
    }
}

/// Allocates, and returns the local with the address. The role says who gives the memory back: the program
/// ([`ObjectRole::Allocated`]), the library ([`ObjectRole::Automatic`]), or either or nobody
/// ([`ObjectRole::Program`]).
pub(super) fn allocate(
    context: &mut Context<'_>,
    call: &Call<'_>,
    size: Expr,
    zeroed: bool,
    role: ObjectRole,
) -> LocalId {
    let site = site(context, call, &size, role);
    let pointer = context.pointer();
    let result = context.builder.temporary(pointer);
    context.builder.emit(Op::Allocate { site, size, zeroed, result: Lhs::Local(result) });
    result
}

fn plain(context: &mut Context<'_>, call: &Call<'_>, index: usize) -> Option<Answer> {
    let bytes = call.argument(index)?;
    let bytes = size(context, bytes);
    Some(Answer::Value(Expr::Local(allocate(context, call, bytes, false, ObjectRole::Allocated))))
}

/// Notes that an object may not be as aligned as was asked for.
fn check_alignment(context: &mut Context<'_>, alignment: &Argument) {
    if !alignment.constant.is_some_and(|alignment| (0..=Value::from(ALIGNMENT)).contains(&alignment)) {
        context.lose_path();
    }
}

fn aligned(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    call.argument(1)?;
    check_alignment(context, call.argument(0)?);
    plain(context, call, 1)
}

fn posix_aligned(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (target, alignment, bytes) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    let ty = context.pointer();
    let target = context.settle_pointer(target);
    let settled = size(context, alignment);
    let bytes = size(context, bytes);
    let cell = context.result_cell(call);
    let (good, bad, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    // A power of two (zero is none) that pointers are aligned to.
    let less = Expr::binary(BinaryOp::Sub, ty, settled.clone(), Expr::int(1, ty));
    let several = truth(Expr::binary(BinaryOp::And, ty, settled.clone(), less), ty);
    let width = Expr::int(Value::from(ty.bytes()), ty);
    let odd = truth(Expr::binary(BinaryOp::Rem, ty, settled.clone(), width), ty);
    let none = truth(settled, ty).not();
    context.builder.branch(several.not().and(odd.not()).and(none.not()), good, bad);
    context.builder.continue_at(bad);
    context.put(cell, EINVAL);
    context.builder.jump(done);
    context.builder.continue_at(good);
    check_alignment(context, alignment);
    let address = allocate(context, call, bytes, false, ObjectRole::Allocated);
    context.builder.set(Lhs::Memory(Place::pointee(target, ty)), Expr::Local(address));
    context.put(cell, 0);
    context.builder.place(done);
    answer_cell(cell)
}

fn zeroed(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (count, width) = (call.argument(0)?, call.argument(1)?);
    let ty = context.pointer();
    let (count, width) = (size(context, count), size(context, width));
    if let (Expr::Const(count, _), Expr::Const(width, _)) = (&count, &width) {
        let bytes = count.checked_mul(*width).filter(|bytes| ty.contains(*bytes));
        return Some(Answer::Value(match bytes {
            Some(bytes) => {
                Expr::Local(allocate(context, call, Expr::int(bytes, ty), true, ObjectRole::Allocated))
            }
            None => Expr::int(0, ty),
        }));
    }
    // A product that is too large gives null.
    let most = Expr::binary(BinaryOp::Div, ty, Expr::int(ty.max(), ty), width.clone());
    let fits = Expr::binary(BinaryOp::Le, ty, count.clone(), most);
    let fits = Expr::IfThenElse(Box::new((truth(width.clone(), ty), fits, Expr::bool(true))));
    let result = context.builder.temporary(ty);
    let (good, bad, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.branch(fits, good, bad);
    context.builder.continue_at(bad);
    context.builder.set(Lhs::Local(result), Expr::int(0, ty));
    context.builder.jump(done);
    context.builder.continue_at(good);
    let address =
        allocate(context, call, Expr::binary(BinaryOp::Mul, ty, count, width), true, ObjectRole::Allocated);
    context.builder.set(Lhs::Local(result), Expr::Local(address));
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

fn realloc(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (old, bytes) = (call.argument(0)?, call.argument(1)?);
    if old.is_always_null() {
        return plain(context, call, 1);
    }
    let ty = context.pointer();
    let (old, bytes) = (context.settle_pointer(old), size(context, bytes));
    let result = context.builder.temporary(ty);
    let kept = context.builder.save(Expr::int(0, ty), ty);
    let (again, move_it, make, done) =
        (context.builder.label(), context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.branch(truth(old.clone(), ty), again, make);
    // As in glibc, nothing is left of an object of 0 bytes.
    let drop_it = context.builder.label();
    context.builder.continue_at(again);
    needs_allocation(context, &old);
    context.builder.branch(truth(bytes.clone(), ty), move_it, drop_it);
    context.builder.continue_at(drop_it);
    context.builder.emit(Op::Free(old.clone()));
    context.builder.set(Lhs::Local(result), Expr::int(0, ty));
    context.builder.jump(done);
    context.builder.continue_at(move_it);
    count_kept_bytes(context, kept, &old, &bytes);
    // There is one allocation, whether or not there was memory before: it has one type, and its members are
    // told apart in both cases.
    context.builder.place(make);
    let address = allocate(context, call, bytes, false, ObjectRole::Allocated);
    context.builder.set(Lhs::Local(result), Expr::Local(address));
    let copy_it = context.builder.label();
    context.builder.branch(truth(old.clone(), ty), copy_it, done);
    context.builder.continue_at(copy_it);
    context.builder.emit(Op::Copy(Expr::Local(address), old.clone(), Expr::Local(kept)));
    context.builder.emit(Op::Free(old));
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// Counts the smaller one of `most` and the number of valid bytes from an address on, in a local that is 0.
/// Long strides first, to be quick.
fn count_kept_bytes(context: &mut Context<'_>, kept: LocalId, old: &Expr, most: &Expr) {
    let ty = context.pointer();
    for stride in [4096, 64, 1] {
        let (head, next, done) = (context.builder.label(), context.builder.label(), context.builder.label());
        context.builder.place(head);
        let left = Expr::binary(BinaryOp::Sub, ty, most.clone(), Expr::Local(kept));
        let wanted = Expr::binary(BinaryOp::Le, ty, Expr::int(Value::from(stride), ty), left);
        let valid = Expr::Valid(Box::new(context.sum(old.clone(), Expr::Local(kept))), stride);
        context.builder.branch(wanted.and(valid), next, done);
        context.builder.continue_at(next);
        let more = Expr::binary(BinaryOp::Add, ty, Expr::Local(kept), Expr::int(Value::from(stride), ty));
        context.builder.set(Lhs::Local(kept), more);
        context.builder.jump(head);
        context.builder.continue_at(done);
    }
}

fn free(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let argument = call.argument(0)?;
    let pointer = context.settle_pointer(argument);
    if !argument.is_always_null() {
        needs_allocation(context, &pointer);
    }
    context.builder.emit(Op::Free(pointer));
    Some(Answer::Nothing)
}

/// Makes it an invalid free to give back what is not the first address of allocated memory (C11 7.22.3.3p2).
fn needs_allocation(context: &mut Context<'_>, pointer: &Expr) {
    let is_allocated = Expr::Valid(Box::new(pointer.clone()), 0);
    let is_wrong = truth(pointer.clone(), context.pointer()).and(is_allocated.not());
    context.error_by(ErrorKind::InvalidFree, Op::Assume(is_wrong));
}

fn fill(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (to, byte, bytes) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    let (to, byte) = (context.settle_pointer(to), context.settle_as(byte, IntType::U8));
    let bytes = size(context, bytes);
    context.builder.emit(Op::Fill(to.clone(), byte, bytes));
    Some(Answer::Value(to))
}

fn clear(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (to, bytes) = (call.argument(0)?, call.argument(1)?);
    let (to, bytes) = (context.settle_pointer(to), size(context, bytes));
    context.builder.emit(Op::Fill(to, Expr::int(0, IntType::U8), bytes));
    Some(Answer::Nothing)
}

fn copy(
    context: &mut Context<'_>,
    call: &Call<'_>,
    to: usize,
    from: usize,
    gives_end: bool,
) -> Option<Answer> {
    let (first, second, bytes) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    let pointers = [context.settle_pointer(first), context.settle_pointer(second)];
    let bytes = size(context, bytes);
    context.builder.emit(Op::Copy(pointers[to].clone(), pointers[from].clone(), bytes.clone()));
    let to = pointers[to].clone();
    Some(Answer::Value(if gives_end { context.sum(to, bytes) } else { to }))
}
