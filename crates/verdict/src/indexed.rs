//! Locks that the index of an access determines: `x[i]` under `lock[i]`, or under `lock[i % 4]`.

use crate::family::{assumed_spread, does_not_wrap};
use ir::passes::Affine;
use ir::{Expr, IntType, ObjectId, Program, TemplateId, Value};

/// An access and a lock that its thread holds, as functions of one *index*, a value of the thread: the access
/// is at a constant address plus a factor times the index, and the lock's address depends on the index alone.
#[derive(Clone, PartialEq, Debug)]
pub struct IndexedLock {
    /// The address of the access where the index is 0.
    start: Affine,
    factor: Value,
    index: IntType,
    /// The lock's address; [`Expr::Myself`] stands for the index.
    lock: Expr,
    shared: bool,
}

impl IndexedLock {
    /// The index is the only part of the access's address that is not constant. Only addresses of objects
    /// that there is one of are constants: others differ from thread to thread.
    pub fn of(
        program: &Program,
        template: TemplateId,
        access: &Expr,
        (lock, shared): (&Expr, bool),
        is_single: &dyn Fn(ObjectId) -> bool,
    ) -> Option<Self> {
        let code = &program.templates[template];
        let sum = Affine::of(program, code, access);
        let is_constant =
            |(atom, _): &&(Expr, Value)| matches!(atom, Expr::Address(object, _) if is_single(*object));
        let mut atoms = sum.terms.iter().filter(|term| !is_constant(term));
        let (Some((index, _)), None) = (atoms.next(), atoms.next()) else { return None };
        if matches!(index, Expr::Address(..) | Expr::Myself) {
            return None;
        }
        let (factor, start) = sum.split(index)?;
        let mut is_function = true;
        let mut lock = lock.clone();
        lock.walk(&mut |inner| is_function &= *inner != Expr::Myself);
        lock.rewrite(&mut |inner| {
            if inner == index {
                *inner = Expr::Myself;
            }
        });
        lock.walk(&mut |inner| {
            is_function &= match inner {
                Expr::Address(object, _) => is_single(*object),
                Expr::Const(..) | Expr::Procedure(_) | Expr::Myself | Expr::Unary(..) => true,
                Expr::Binary(..) | Expr::Cast(..) | Expr::IfThenElse(_) => true,
                Expr::Local(_) | Expr::Load(_) | Expr::Valid(..) | Expr::Overflows(..) | Expr::Old(_) => {
                    false
                }
            };
        });
        let index = program.type_in(code, index);
        is_function.then_some(Self { start, factor, index, lock, shared })
    }

    /// Whether two threads with these locks never access a byte in common: if they did, their indices would
    /// be equal, hence the locks would be one, and one of the threads holds it exclusively. The bytes are
    /// those of the accesses. That different indices are at different addresses is assumption 14 where an
    /// index is as wide as a pointer.
    pub fn excludes(&self, bytes: u64, other: &Self, other_bytes: u64, program: &Program) -> bool {
        let pointer = program.data_model.pointer();
        let spread = if self.index.bits < pointer.bits {
            self.index.max() - self.index.min()
        } else {
            assumed_spread(program)
        };
        let apart = self.start.clone().plus(&other.start, -1, pointer);
        self.factor == other.factor
            && self.index == other.index
            && self.lock == other.lock
            && !(self.shared && other.shared)
            && does_not_wrap(program, self.factor, spread)
            && apart.terms.is_empty()
            && are_apart((self.factor, apart.constant), bytes, other_bytes)
    }
}

/// Whether accesses with different indices have no byte in common.
fn are_apart((factor, apart): (Value, Value), bytes: u64, other_bytes: u64) -> bool {
    factor > 0 && apart + factor >= Value::from(other_bytes) && apart - factor + Value::from(bytes) <= 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{BinaryOp, LocalId};

    #[test]
    fn equal_indices_mean_one_lock() {
        let program = ir::text::parse(
            "program lp64\nstart main 2\nstatic locks: bytes 400 static x: bytes 64 static other: bytes 64\n\
            template main(i: i32, j: i32, k: i64) { locations 2 end l1\nl0 -> l1: assume 1 }",
        )
        .expect("it is a program");
        let pointer = program.data_model.pointer();
        let element = |object: u32, index: &Expr, size: Value| {
            let factor = Expr::Const(size, pointer);
            let distance = Expr::binary(BinaryOp::Mul, pointer, Expr::cast(pointer, index.clone()), factor);
            Expr::binary(BinaryOp::Add, pointer, Expr::Address(ObjectId(object), 0), distance)
        };
        let of = |access: &Expr, lock: &Expr, shared: bool, single: bool| {
            IndexedLock::of(&program, TemplateId(0), access, (lock, shared), &|_| single)
        };
        let [i, j, k] = [0, 1, 2].map(|local| Expr::Local(LocalId(local)));
        let rest =
            |of: &Expr| Expr::binary(BinaryOp::Rem, IntType::I32, of.clone(), Expr::Const(4, IntType::I32));
        let known =
            |access: &Expr, lock: &Expr, shared: bool| of(access, lock, shared, true).expect("a function");
        let excludes = |a: &IndexedLock, b: &IndexedLock, bytes: u64| a.excludes(bytes, b, bytes, &program);
        let mine = known(&element(1, &i, 4), &element(0, &rest(&i), 40), false);
        let theirs = known(&element(1, &j, 4), &element(0, &rest(&j), 40), false);
        assert!(excludes(&mine, &theirs, 4));
        // Longer accesses, another array, another size, another type of index, another lock, two readers.
        assert!(!excludes(&mine, &theirs, 5));
        assert!(!excludes(&mine, &known(&element(2, &j, 4), &element(0, &rest(&j), 40), false), 4));
        assert!(!excludes(&mine, &known(&element(1, &j, 8), &element(0, &rest(&j), 40), false), 4));
        assert!(!excludes(&mine, &known(&element(1, &k, 4), &element(0, &k, 40), false), 4));
        assert!(!excludes(&mine, &known(&element(1, &j, 4), &element(0, &j, 40), false), 4));
        let reader = known(&element(1, &j, 4), &element(0, &rest(&j), 40), true);
        assert!(excludes(&mine, &reader, 4) && !excludes(&reader, &reader, 4));
        // The lock depends on something else, or the objects are not the same for all threads.
        assert_eq!(of(&element(1, &i, 4), &element(0, &j, 40), false, true), None);
        assert_eq!(of(&element(1, &i, 4), &element(0, &i, 40), false, false), None);
        assert_eq!(of(&element(1, &i, 4), &Expr::Myself, false, true), None);
        // A great factor: different indices may be at one address.
        let far = known(&element(1, &i, 1 << 40), &element(0, &i, 40), false);
        assert!(!excludes(&far, &far, 4));
    }
}
