//! Locks as words: replaces lock operations by tests of, and stores to, the lock's words in memory.
//!
//! For engines that work on transitions over variables: afterwards a lock is a variable like any other, and
//! no lock operation remains. This is the last pass: it puts several accesses on one edge, all marked as
//! atomic, so that they do not race, just as lock operations do not.
//!
//! Preserves errors, races, deadlocks and final values, with one exception, where it over-approximates: an
//! uninitialised word of a lock counts as 0 for a lock operation, and as an arbitrary value for a load.
//!
//! Acquiring a mutex has two cases: it is free, or it is recursive and the thread already holds it. The
//! second case is omitted if no lock at that address can be recursive: by the program's stores and initial
//! values, the word for the kind is 0 in all of them. Then counts are 0 or 1, and a release has one case,
//! too.

use super::footprint::{Extent, Region, accesses};
use super::points_to::PointsTo;
use crate::expr::{BinaryOp, Expr, Place};
use crate::ids::TemplateId;
use crate::op::{Assignment, Lhs, LockKind, Op, Rhs};
use crate::program::{Edge, Initial, Program};
use crate::semantics::mutex_kind_offset;
use crate::types::{IntType, Value};

/// The kind of a recursive mutex.
const RECURSIVE: Value = 1;
/// The offset of the count in a lock.
const COUNT: u64 = 4;

/// Replaces all lock operations.
pub fn lock_words(program: &Program) -> Program {
    lock_words_with(program, &PointsTo::of(program))
}

/// Like [`lock_words`], given the points-to sets of the program.
pub fn lock_words_with(program: &Program, points_to: &PointsTo) -> Program {
    let mut result = program.clone();
    let recursion = Recursion::of(program, points_to);
    for (template, code) in program.templates.enumerate() {
        let edges = &mut result.templates[template].edges;
        *edges = crate::ids::IdVec::new();
        for edge in code.edges.iter() {
            let mut cases: Vec<Vec<Op>> = vec![Vec::new()];
            for op in &edge.ops {
                let next = match op {
                    Op::Lock(kind, address) => {
                        let recursive = *kind == LockKind::Mutex && recursion.may_be(template, address);
                        take(program, *kind, address, recursive)
                    }
                    Op::Unlock(kind, address) => {
                        let recursive = *kind == LockKind::Mutex && recursion.may_be(template, address);
                        release(program, *kind, address, recursive)
                    }
                    Op::Assume(_)
                    | Op::Assign(_)
                    | Op::Spawn(..)
                    | Op::Join(..)
                    | Op::Allocate { .. }
                    | Op::Free(_)
                    | Op::Fill(..)
                    | Op::Copy(..)
                    | Op::Call(..)
                    | Op::Broadcast(_) => vec![vec![op.clone()]],
                };
                cases = cases
                    .iter()
                    .flat_map(|case| next.iter().map(move |more| [case.as_slice(), more].concat()))
                    .collect();
            }
            for ops in cases {
                edges.push(Edge { ops, ..edge.clone() });
            }
        }
    }
    result
}

fn word(program: &Program, address: &Expr, offset: u64) -> Place {
    let pointer = program.data_model.pointer();
    let address = match address {
        // If the object is too small for its lock, the word is outside, at a computed address.
        Expr::Address(object, at) if at + offset <= program.objects[*object].size => {
            Expr::Address(*object, at + offset)
        }
        _ if offset == 0 => address.clone(),
        _ => Expr::binary(BinaryOp::Add, pointer, address.clone(), Expr::Const(Value::from(offset), pointer)),
    };
    Place { atomic: true, ..Place::pointee(address, IntType::U32) }
}

fn number(value: Value) -> Expr {
    Expr::Const(value, IntType::U32)
}

fn me() -> Expr {
    Expr::cast(IntType::U32, Expr::Myself)
}

fn is(place: &Place, value: Expr) -> Expr {
    Expr::binary(BinaryOp::Eq, IntType::U32, Expr::load(place.clone()), value)
}

fn plus_one(place: &Place) -> Expr {
    Expr::binary(BinaryOp::Add, IntType::U32, Expr::load(place.clone()), number(1))
}

fn minus_one(place: &Place) -> Expr {
    Expr::binary(BinaryOp::Sub, IntType::U32, Expr::load(place.clone()), number(1))
}

fn set(stores: Vec<(Place, Expr)>) -> Op {
    let pairs = stores.into_iter().map(|(place, value)| (Lhs::Memory(place), Rhs::Value(value))).collect();
    Op::Assign(Assignment { pairs, constraint: None })
}

/// The cases of acquiring a lock.
fn take(program: &Program, kind: LockKind, address: &Expr, recursive: bool) -> Vec<Vec<Op>> {
    let owner = word(program, address, 0);
    let count = word(program, address, COUNT);
    let free = Op::Assume(is(&owner, number(0)));
    match kind {
        LockKind::Mutex => {
            let mut cases = vec![vec![free, set(vec![(owner.clone(), me()), (count.clone(), number(1))])]];
            if recursive {
                let what = word(program, address, mutex_kind_offset(program.data_model));
                cases.push(vec![
                    Op::Assume(is(&owner, me())),
                    Op::Assume(is(&what, number(RECURSIVE))),
                    set(vec![(count.clone(), plus_one(&count))]),
                ]);
            }
            cases
        }
        LockKind::Spin => vec![vec![free, set(vec![(owner, me())])]],
        LockKind::Read => vec![vec![free, set(vec![(count.clone(), plus_one(&count))])]],
        LockKind::Write => {
            vec![vec![free, Op::Assume(is(&count, number(0))), set(vec![(owner, me())])]]
        }
    }
}

/// The cases of releasing a lock.
fn release(program: &Program, kind: LockKind, address: &Expr, recursive: bool) -> Vec<Vec<Op>> {
    let owner = word(program, address, 0);
    let count = word(program, address, COUNT);
    match kind {
        LockKind::Mutex => {
            let free = set(vec![(owner, number(0)), (count.clone(), number(0))]);
            if !recursive {
                return vec![vec![free]];
            }
            let again = Expr::binary(BinaryOp::Lt, IntType::U32, number(1), Expr::load(count.clone()));
            vec![
                vec![Op::Assume(again.clone().not()), free],
                vec![Op::Assume(again), set(vec![(count.clone(), minus_one(&count))])],
            ]
        }
        LockKind::Spin => vec![vec![set(vec![(owner, number(0))])]],
        LockKind::Read | LockKind::Write => {
            let written = is(&owner, number(0)).not();
            let read = is(&count, number(0)).not();
            vec![
                vec![Op::Assume(written.clone()), set(vec![(owner, number(0))])],
                vec![
                    Op::Assume(written.clone().not()),
                    Op::Assume(read.clone()),
                    set(vec![(count.clone(), minus_one(&count))]),
                ],
                vec![Op::Assume(written.not()), Op::Assume(read.not())],
            ]
        }
    }
}

/// Where memory may be non-zero.
struct Recursion<'p> {
    program: &'p Program,
    points_to: &'p PointsTo,
    /// Bytes to which a non-zero value may be stored.
    set: Vec<Region>,
    /// The words of operations on locks.
    locks: Vec<Region>,
}

impl<'p> Recursion<'p> {
    fn of(program: &'p Program, points_to: &'p PointsTo) -> Self {
        let (mut set, mut locks) = (Vec::new(), Vec::new());
        for (template, code) in program.templates.enumerate() {
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                if let Op::Lock(_, address) | Op::Unlock(_, address) = op {
                    locks.push(Region::at(points_to, template, address, Extent::Bytes(8)));
                }
                let zeros: Vec<&Expr> = stored_zeros(op);
                for access in accesses(points_to, template, op) {
                    if access.write && !zeros.contains(&access.address) {
                        set.push(access.region);
                    }
                }
            }
        }
        Self { program, points_to, set, locks }
    }

    /// Whether a mutex at an address may be recursive, or its count may exceed 1 for another reason.
    fn may_be(&self, template: TemplateId, address: &Expr) -> bool {
        let part = |offset: u64| {
            let place = word(self.program, address, offset);
            Region::at(self.points_to, template, &place.address, Extent::Bytes(4))
        };
        let words = [part(COUNT), part(mutex_kind_offset(self.program.data_model))];
        // Two locks that overlap partially.
        let whole = Region::at(self.points_to, template, address, Extent::Bytes(8));
        let crossed = |lock: &Region| match whole.distances(lock) {
            Some(apart) => apart.iter().any(|distance| *distance != 0) || lock.overlaps(&words[1]),
            None => true,
        };
        words.iter().any(|word| self.may_be_set(word)) || self.locks.iter().any(crossed)
    }

    /// Whether some bytes may be non-zero, by the program's stores or initial values. Uninitialised memory
    /// counts as 0 for lock operations, so it does not matter here.
    fn may_be_set(&self, word: &Region) -> bool {
        let Some(mut objects) = word.objects() else { return true };
        let at_first = objects.any(|object| match &self.program.objects[object].initial {
            Initial::Unknown | Initial::NotModelled => false,
            Initial::Values(values) => values.iter().any(|(at, ty, value)| {
                !matches!(value, Expr::Const(0, _)) && word.overlaps(&Region::exact(object, *at, ty.bytes()))
            }),
        });
        at_first || self.set.iter().any(|set| set.overlaps(word))
    }
}

/// The addresses that an operation stores a zero to.
fn stored_zeros(op: &Op) -> Vec<&Expr> {
    match op {
        Op::Assign(assignment) => assignment
            .pairs
            .iter()
            .filter_map(|pair| match pair {
                (Lhs::Memory(place), Rhs::Value(Expr::Const(0, _))) => Some(&place.address),
                (
                    Lhs::Memory(_) | Lhs::Local(_),
                    Rhs::Value(_) | Rhs::Any | Rhs::Unknown | Rhs::Float(..),
                ) => None,
            })
            .collect(),
        Op::Fill(to, Expr::Const(0, _), _) => vec![to],
        Op::Assume(_)
        | Op::Lock(..)
        | Op::Unlock(..)
        | Op::Spawn(..)
        | Op::Join(..)
        | Op::Allocate { .. }
        | Op::Free(_)
        | Op::Fill(..)
        | Op::Copy(..)
        | Op::Call(..)
        | Op::Broadcast(_) => vec![],
    }
}
