//! Terms: formulas and the expressions inside them, shared and immutable.
//!
//! A term is independent of the solver, may be sent to any thread, and is hash-consed: equal terms are the
//! same node, so comparison, hashing and copying take constant time. Terms may be nested as deep as memory
//! allows; nothing here recurses over them.

use crate::sort::Sort;
use crate::symbol::{Instance, Name};
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

/// A typed expression. The functions that build one check the sorts of the operands and fold constants.
#[derive(Clone)]
pub struct Term(Arc<Node>);

/// The content of a term.
struct Node {
    operation: Operation,
    sort: Sort,
    operands: Box<[Term]>,
    /// A hash of the structure, the same in every run.
    hash: u64,
}

/// The operation at the root of a term. Unless the comment says otherwise, it has the usual number of
/// operands and the meaning of the SMT-LIB function in parentheses.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Operation {
    /// A free variable; two with the same name and different sorts are different.
    Variable(Name),
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A bit-vector, of the node's sort.
    Bits(u128),
    /// Negation (`not`).
    Not,
    /// Conjunction of two or more (`and`).
    And,
    /// Disjunction of two or more (`or`).
    Or,
    /// Equality, of any sort (`=`).
    Equal,
    /// The second operand if the first holds, else the third (`ite`).
    IfThenElse,
    /// Sum of two or more integers (`+`).
    Add,
    /// Product of two or more integers (`*`).
    Multiply,
    /// Quotient that leaves a remainder of at least 0 (`div`).
    Divide,
    /// Remainder, always in `0..|divisor|` (`mod`).
    Modulo,
    /// Less than, on integers (`<`).
    Less,
    /// At most, on integers (`<=`).
    LessOrEqual,
    /// Complement (`bvnot`).
    BitNot,
    /// Two's complement (`bvneg`).
    BitNegate,
    /// Sum (`bvadd`).
    BitAdd,
    /// Difference (`bvsub`).
    BitSubtract,
    /// Product (`bvmul`).
    BitMultiply,
    /// Unsigned quotient; by zero, all ones (`bvudiv`).
    UnsignedDivide,
    /// Signed quotient, rounded towards zero (`bvsdiv`).
    SignedDivide,
    /// Unsigned remainder; by zero, the dividend (`bvurem`).
    UnsignedRemainder,
    /// Remainder with the dividend's sign; by zero, the dividend (`bvsrem`).
    SignedRemainder,
    /// Bitwise and (`bvand`).
    BitAnd,
    /// Bitwise or (`bvor`).
    BitOr,
    /// Bitwise exclusive or (`bvxor`).
    BitXor,
    /// Shift to the left; by the width or more, zero (`bvshl`).
    ShiftLeft,
    /// Shift to the right that brings in zeros (`bvlshr`).
    LogicalShiftRight,
    /// Shift to the right that brings in the sign (`bvashr`).
    ArithmeticShiftRight,
    /// Less than, unsigned (`bvult`).
    UnsignedLess,
    /// At most, unsigned (`bvule`).
    UnsignedLessOrEqual,
    /// Less than, signed (`bvslt`).
    SignedLess,
    /// At most, signed (`bvsle`).
    SignedLessOrEqual,
    /// The first operand's bits above the second's (`concat`).
    Concat,
    /// The bits from `low` to `high`, both included (`extract`).
    Extract {
        /// The highest bit.
        high: u32,
        /// The lowest bit.
        low: u32,
    },
    /// Adds this many zeros at the top (`zero_extend`).
    ZeroExtend(u32),
    /// Adds this many copies of the sign at the top (`sign_extend`).
    SignExtend(u32),
    /// The unsigned integer that the bits stand for (`ubv_to_int`).
    BitsToUnsigned,
    /// The signed integer that the bits stand for (`sbv_to_int`).
    BitsToSigned,
    /// This many of the lowest bits of an integer in two's complement (`int_to_bv`).
    IntToBits(u32),
    /// The element of an array (first) at an index (second) (`select`).
    Select,
    /// An array (first) with the element at an index (second) replaced (third) (`store`).
    Store,
    /// The array of the node's sort that has the same element everywhere (`const`).
    ConstantArray,
}

/// Nodes by hash; never iterated.
type Table = FxHashMap<u64, Vec<Weak<Node>>>;

/// All live nodes. Sharded, so that threads seldom wait for one another.
static LIVE: LazyLock<[Mutex<Table>; PARTS]> = LazyLock::new(|| std::array::from_fn(|_| Mutex::default()));
const PARTS: usize = 64;

fn live(hash: u64) -> MutexGuard<'static, Table> {
    // A panic cannot leave a shard half-updated, so poisoning does not matter.
    LIVE[(hash >> 32) as usize % PARTS].lock().unwrap_or_else(PoisonError::into_inner)
}

impl Term {
    /// The unique node with this content. Does not check sorts; the constructors do.
    pub(crate) fn intern(operation: Operation, sort: Sort, operands: Vec<Term>) -> Self {
        let mut hasher = FxHasher::default();
        operation.hash(&mut hasher);
        sort.hash(&mut hasher);
        for operand in &operands {
            hasher.write_u64(operand.0.hash);
        }
        let hash = hasher.finish();
        // Nodes that were found are dropped after the lock is released, since dropping a node takes the lock.
        let mut seen = Vec::new();
        let mut table = live(hash);
        let bucket = table.entry(hash).or_default();
        for node in bucket.iter().filter_map(Weak::upgrade) {
            let term = Self(node);
            if term.0.operation == operation && term.0.sort == sort && *term.0.operands == *operands {
                drop(table);
                return term;
            }
            seen.push(term);
        }
        let node = Arc::new(Node { operation, sort, operands: operands.into(), hash });
        bucket.push(Arc::downgrade(&node));
        drop(table);
        Self(node)
    }
    /// The operation at the root.
    pub fn operation(&self) -> &Operation {
        &self.0.operation
    }
    /// The sort of the term.
    pub fn sort(&self) -> &Sort {
        &self.0.sort
    }
    /// The direct operands.
    pub fn operands(&self) -> &[Term] {
        &self.0.operands
    }
    /// Whether the term is a literal Boolean, integer or bit-vector.
    pub fn is_literal(&self) -> bool {
        matches!(self.0.operation, Operation::Bool(_) | Operation::Int(_) | Operation::Bits(_))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Drops operands that die with this node iteratively: recursion would overflow the stack.
        let mut dying: Vec<Term> = std::mem::take(&mut self.operands).into_vec();
        while let Some(term) = dying.pop() {
            if let Some(mut node) = Arc::into_inner(term.0) {
                dying.append(&mut std::mem::take(&mut node.operands).into_vec());
            }
        }
        let mut table = live(self.hash);
        if let Some(bucket) = table.get_mut(&self.hash) {
            bucket.retain(|node| node.strong_count() > 0);
            if bucket.is_empty() {
                table.remove(&self.hash);
            }
        }
    }
}

impl PartialEq for Term {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for Term {}
impl Hash for Term {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}
impl Ord for Term {
    /// An arbitrary order that is the same in every run.
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        // Different terms nearly always differ in the hash, so this does not go deep.
        let shallow = |term: &Self| (term.0.hash, term.0.operation.clone(), term.0.sort.clone());
        shallow(self).cmp(&shallow(other)).then_with(|| self.0.operands.cmp(&other.0.operands))
    }
}
impl PartialOrd for Term {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A free variable of terms.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// What it stands for.
    pub name: Name,
    /// Its sort.
    pub sort: Sort,
}

impl Variable {
    /// The variable of this name and sort.
    pub fn new(name: impl Into<Name>, sort: Sort) -> Self {
        Self { name: name.into(), sort }
    }
    /// An instance of it.
    pub fn instance(&self, instance: Instance) -> Self {
        Self { name: self.name.instance(instance), sort: self.sort.clone() }
    }
    /// The variable of which this is the given instance.
    pub fn without(&self, instance: Instance) -> Option<Self> {
        Some(Self { name: self.name.without(instance)?.clone(), sort: self.sort.clone() })
    }
    /// The term that is this variable.
    pub fn term(&self) -> Term {
        Term::intern(Operation::Variable(self.name.clone()), self.sort.clone(), vec![])
    }
}

impl From<&Variable> for Term {
    fn from(variable: &Variable) -> Self {
        variable.term()
    }
}
