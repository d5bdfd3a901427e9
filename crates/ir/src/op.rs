//! The operations on edges.

use crate::expr::{BinaryOp, Expr, Place};
use crate::float::{FloatFormat, FloatOp};
use crate::ids::{LocalId, ObjectId, TemplateId};
use crate::types::IntType;

/// An operation of an edge. [`crate::semantics`] defines its meaning.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Op {
    /// Continues only if the condition (a Boolean) holds.
    Assume(Expr),
    /// Evaluates all right-hand sides, then stores them all. Continues only if the constraint holds
    /// afterwards.
    Assign(Assignment),
    /// Acquires a lock; continues only when it is available.
    Lock(LockKind, Expr),
    /// Releases a lock ([`LockKind::Read`] and [`LockKind::Write`] both release a read-write lock).
    Unlock(LockKind, Expr),
    /// Starts a thread; the arguments become its parameters, its id goes to the left-hand side.
    Spawn(Callee, Vec<Expr>, Option<Lhs>),
    /// Waits for the thread with this id to end; its result goes to the left-hand side.
    Join(Expr, Option<Lhs>),
    /// Allocates an object of an allocation site, with the given number of bytes; its address goes to the
    /// left-hand side.
    Allocate {
        /// The allocation site.
        site: ObjectId,
        /// The number of bytes.
        size: Expr,
        /// Whether they are all zero; otherwise they are arbitrary.
        zeroed: bool,
        /// Where the address goes.
        result: Lhs,
    },
    /// Frees an allocated object, given its first address. Does nothing for 0.
    Free(Expr),
    /// Sets bytes: address, byte value, number of bytes. One step.
    Fill(Expr, Expr, Expr),
    /// Copies bytes that may overlap: to, from, number of bytes. One step.
    Copy(Expr, Expr, Expr),
    /// Runs a procedure to its end; its result goes to the left-hand side. Gone after inlining.
    Call(Callee, Vec<Expr>, Option<Lhs>),
    /// Changes the locals of all other threads that are in some procedure. Only some engines support programs
    /// with it.
    Broadcast(Broadcast),
}

/// An effect of a thread on others. In every other live thread whose innermost activation is of `to`, in the
/// order of creation, the arguments, which the thread that takes the step evaluates, are stored in its
/// locals; then it performs the assignment on its own locals. If a constraint does not hold in one of them,
/// the step cannot be taken.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Broadcast {
    /// The procedure that the others are in.
    pub to: TemplateId,
    /// The arguments that they get.
    pub arguments: Vec<(LocalId, Expr)>,
    /// Their assignment. Its left-hand sides are locals.
    pub assignment: Assignment,
}

/// A parallel assignment.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Assignment {
    /// The pairs of left-hand side and right-hand side. Left-hand sides are different cells.
    pub pairs: Vec<(Lhs, Rhs)>,
    /// A Boolean over the new values, and the old ones by [`Expr::Old`].
    pub constraint: Option<Expr>,
}

/// A left-hand side.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Lhs {
    /// A local variable.
    Local(LocalId),
    /// A memory cell.
    Memory(Place),
}

/// A right-hand side.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Rhs {
    /// The value of an expression of the left-hand side's type.
    Value(Expr),
    /// Any value of the left-hand side's type: an input of the program.
    Any,
    /// Some value of the left-hand side's type that is not modelled (an unknown function's result).
    /// Over-approximates: an execution through it is evidence for a violation only if it is the same for all
    /// values ([`Certainty`](crate::semantics::Certainty)) that the constraint allows. The constraint bounds
    /// a local by constants, or is one of two marks on a Boolean local `m`: `!m` says that memory may be
    /// changed from outside here; any other constraint (such as `m`) says that an execution through here need
    /// not exist.
    Unknown,
    /// The result of a floating-point operation on bit patterns of a format, or on an integer. Where
    /// [`FloatOp::apply`] gives `None`, the result is not modelled, as in [`Unknown`](Self::Unknown).
    /// Operands read no memory.
    Float(FloatOp, FloatFormat, Vec<Expr>),
}

/// The kinds of locks, by how they are acquired. Their memory starts with two 32-bit words: the owner's
/// thread id (0: free), and a count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum LockKind {
    /// A mutex with recursion count and, in the word at [`crate::semantics::mutex_kind_offset`], its kind.
    Mutex,
    /// A lock of one word.
    Spin,
    /// A read-write lock, for reading: the count is the number of readers.
    Read,
    /// A read-write lock, for writing.
    Write,
}

impl LockKind {
    /// The size of its two words, or of its only one.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Spin => 4,
            Self::Mutex | Self::Read | Self::Write => 8,
        }
    }
}

/// The procedure that is called or started.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Callee {
    /// This procedure.
    Procedure(TemplateId),
    /// The procedure that a pointer points to.
    Pointer(Expr),
}

impl Op {
    /// The assignment of one value.
    pub fn set(lhs: Lhs, value: Expr) -> Self {
        Self::Assign(Assignment { pairs: vec![(lhs, Rhs::Value(value))], constraint: None })
    }
    /// The assignment of an arbitrary value.
    pub fn any(lhs: Lhs) -> Self {
        Self::Assign(Assignment { pairs: vec![(lhs, Rhs::Any)], constraint: None })
    }
    /// The assignment of a value that is not modelled.
    pub fn unknown(lhs: Lhs) -> Self {
        Self::Assign(Assignment { pairs: vec![(lhs, Rhs::Unknown)], constraint: None })
    }
    /// The assignment of a value that is not modelled and that was not computed from an address: its
    /// constraint only says that it has a bound.
    pub fn unknown_number(local: LocalId, ty: IntType) -> Self {
        let most = Expr::int(ty.max(), ty);
        let constraint = Some(Expr::binary(BinaryOp::Le, ty, Expr::Local(local), most));
        Self::Assign(Assignment { pairs: vec![(Lhs::Local(local), Rhs::Unknown)], constraint })
    }
    /// The local that [`Self::unknown_number`] sets.
    pub fn as_unknown_number(&self) -> Option<LocalId> {
        let Self::Assign(Assignment { pairs, constraint: Some(constraint) }) = self else { return None };
        let [(Lhs::Local(local), Rhs::Unknown)] = pairs.as_slice() else { return None };
        let Expr::Binary(BinaryOp::Le, ty, pair) = constraint else { return None };
        let is_mark = pair.0 == Expr::Local(*local) && pair.1 == Expr::int(IntType::max(*ty), *ty);
        is_mark.then_some(*local)
    }
    /// The left-hand sides, without those of a [`Broadcast`], which are not the thread's own.
    pub fn targets(&self) -> Vec<&Lhs> {
        match self {
            Self::Assign(assignment) => assignment.pairs.iter().map(|(lhs, _)| lhs).collect(),
            Self::Spawn(_, _, lhs) | Self::Join(_, lhs) | Self::Call(_, _, lhs) => lhs.iter().collect(),
            Self::Allocate { result, .. } => vec![result],
            Self::Assume(_)
            | Self::Lock(..)
            | Self::Unlock(..)
            | Self::Free(_)
            | Self::Fill(..)
            | Self::Copy(..)
            | Self::Broadcast(_) => vec![],
        }
    }
    /// The expressions that are evaluated: operands, constraint, and addresses of left-hand sides. In order,
    /// without those that other threads evaluate in a [`Broadcast`].
    pub fn expressions(&self) -> Vec<&Expr> {
        let mut found: Vec<&Expr> = match self {
            Self::Assume(e) | Self::Lock(_, e) | Self::Unlock(_, e) | Self::Join(e, _) | Self::Free(e) => {
                vec![e]
            }
            Self::Assign(assignment) => {
                let values = assignment.pairs.iter().filter_map(|(_, rhs)| match rhs {
                    Rhs::Value(value) => Some(value),
                    Rhs::Any | Rhs::Unknown | Rhs::Float(..) => None,
                });
                let operands = assignment.pairs.iter().flat_map(|(_, rhs)| match rhs {
                    Rhs::Float(_, _, operands) => operands.as_slice(),
                    Rhs::Value(_) | Rhs::Any | Rhs::Unknown => &[],
                });
                values.chain(operands).chain(&assignment.constraint).collect()
            }
            Self::Spawn(callee, arguments, _) | Self::Call(callee, arguments, _) => {
                let pointer = match callee {
                    Callee::Pointer(pointer) => Some(pointer),
                    Callee::Procedure(_) => None,
                };
                pointer.into_iter().chain(arguments).collect()
            }
            Self::Allocate { size, .. } => vec![size],
            Self::Fill(a, b, c) | Self::Copy(a, b, c) => vec![a, b, c],
            Self::Broadcast(broadcast) => broadcast.arguments.iter().map(|(_, argument)| argument).collect(),
        };
        found.extend(self.targets().into_iter().filter_map(|lhs| match lhs {
            Lhs::Memory(place) => Some(&place.address),
            Lhs::Local(_) => None,
        }));
        found
    }
    /// The expressions that are evaluated, mutably, in no particular order.
    pub fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        fn address(lhs: &mut Lhs) -> Option<&mut Expr> {
            match lhs {
                Lhs::Memory(place) => Some(&mut place.address),
                Lhs::Local(_) => None,
            }
        }
        match self {
            Self::Assume(e) | Self::Lock(_, e) | Self::Unlock(_, e) | Self::Free(e) => vec![e],
            Self::Join(e, lhs) => std::iter::once(e).chain(lhs.as_mut().and_then(address)).collect(),
            Self::Assign(assignment) => {
                let mut found: Vec<&mut Expr> = Vec::new();
                for (lhs, rhs) in &mut assignment.pairs {
                    found.extend(address(lhs));
                    match rhs {
                        Rhs::Value(value) => found.push(value),
                        Rhs::Float(_, _, operands) => found.extend(operands),
                        Rhs::Any | Rhs::Unknown => {}
                    }
                }
                found.extend(&mut assignment.constraint);
                found
            }
            Self::Spawn(callee, arguments, lhs) | Self::Call(callee, arguments, lhs) => {
                let mut found: Vec<&mut Expr> = arguments.iter_mut().collect();
                if let Callee::Pointer(pointer) = callee {
                    found.push(pointer);
                }
                found.extend(lhs.as_mut().and_then(address));
                found
            }
            Self::Allocate { size, result, .. } => std::iter::once(size).chain(address(result)).collect(),
            Self::Fill(a, b, c) | Self::Copy(a, b, c) => vec![a, b, c],
            Self::Broadcast(broadcast) => {
                broadcast.arguments.iter_mut().map(|(_, argument)| argument).collect()
            }
        }
    }
    /// The left-hand sides, mutably.
    pub fn targets_mut(&mut self) -> Vec<&mut Lhs> {
        match self {
            Self::Assign(assignment) => assignment.pairs.iter_mut().map(|(lhs, _)| lhs).collect(),
            Self::Spawn(_, _, lhs) | Self::Join(_, lhs) | Self::Call(_, _, lhs) => lhs.iter_mut().collect(),
            Self::Allocate { result, .. } => vec![result],
            Self::Assume(_)
            | Self::Lock(..)
            | Self::Unlock(..)
            | Self::Free(_)
            | Self::Fill(..)
            | Self::Copy(..)
            | Self::Broadcast(_) => vec![],
        }
    }
}
