//! Random small concurrent programs, the same for the same seed on every machine.
//!
//! A [`Source`] is a program with two or three threads, a few shared variables of several integer types, an
//! array, pointers, locks, atomic regions, loops, assertions, inputs and helper functions. It is written as C
//! text by [`Source::c_text`] and built in the common representation by [`Source::program`]; both mean the
//! same:
//!
//! * Loops are bounded and calls do not recurse, so every execution ends (or waits for a lock forever).
//! * No expression leaves the range of `int`, no index leaves its array, no pointer is invalid: there is no
//!   undefined behaviour but data races.
//! * Where C leaves the order of evaluation open, at most one of the operands is shared. Two shared operands
//!   stand only in one binary operation, and are read from left to right.
//!
//! [`wild`] and [`wide`] programs have no such rules; [`boolean`] ones are Boolean programs.
//!
//! The number of interleavings is bounded when a program is made, so that naive exploration stays below some
//! 50,000 states.

pub mod boolean;
mod c;
mod generate;
pub mod lines;
mod lower;
#[cfg(test)]
mod tests;
pub mod wide;
pub mod wild;

use ir::IntType;

/// The C text of the random program with this number.
pub fn random_c(seed: u64) -> String {
    Source::new(seed).c_text()
}

/// The random program with this number in the common representation, one shared access on each edge.
pub fn random_program(seed: u64) -> ir::Program {
    Source::new(seed).program()
}

/// The random numbers of all tests: xorshift with 64 bits of state, the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence of numbers that depends on the seed alone.
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03);
        if random.0 == 0 {
            random.0 = 1;
        }
        // The first numbers of neighbouring seeds are alike.
        for _ in 0..4 {
            random.bits();
        }
        random
    }
    /// Any number.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// A number below `limit`, which is at least 1.
    pub fn below<N: TryInto<u64> + TryFrom<u64>>(&mut self, limit: N) -> N {
        let limit: u64 = limit.try_into().ok().expect("a limit is at least 1");
        N::try_from((self.bits() >> 20) % limit).ok().expect("it is below the limit")
    }
    /// True in so many of 100 cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
    /// One of some items.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// A program. Variables are named by their place in its lists.
#[derive(Clone, Debug)]
pub struct Source {
    /// Shared integers with their first values; the first one is an `int`.
    globals: Vec<(IntType, i128)>,
    /// The element types of shared arrays of [`ARRAY`] elements.
    arrays: Vec<IntType>,
    /// Shared pointers to `int`: which global each points to at first.
    pointers: Vec<usize>,
    /// How many mutexes there are.
    locks: usize,
    /// Functions of one `int`, with an `int` as result.
    helpers: Vec<Function>,
    /// What the threads run; the first is `main`, which starts the others first and joins them last.
    threads: Vec<Function>,
    /// What `main` asserts when all others have ended.
    finally: Option<Expression>,
}

/// The elements of an array.
const ARRAY: usize = 3;

/// A function. Its locals are all `int`s that start as 0; a helper's first one is its parameter.
#[derive(Clone, Debug, Default)]
struct Function {
    locals: usize,
    body: Vec<Statement>,
    /// What a helper returns.
    result: Option<Expression>,
}

/// A place in shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cell {
    Global(usize),
    Element(usize, Index),
    /// What a pointer points to.
    Pointee(usize),
}

/// The index of an array element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Index {
    Fixed(usize),
    /// A local, modulo the array's size as an unsigned number.
    Local(usize),
}

/// An expression of type `int`.
#[derive(Clone, Debug)]
enum Expression {
    Number(i128),
    Local(usize),
    /// Wide types are read modulo 16, so that no arithmetic overflows.
    Shared(Cell),
    Binary(Operator, Box<(Expression, Expression)>),
    Not(Box<Expression>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Equal,
    Different,
    Less,
    LessOrEqual,
}

#[derive(Clone, Debug)]
enum Statement {
    /// A local gets a value modulo 8.
    Set(usize, Expression),
    /// A cell gets a value; modulo 8 if its type is wide.
    Store(Cell, Expression),
    /// A pointer gets the address of a global.
    Point(usize, usize),
    /// A local gets an input, 0 or 1.
    Input(usize),
    Assume(Expression),
    Assert(Expression),
    If(Expression, Vec<Statement>, Vec<Statement>),
    /// A number of times, counted by a local.
    Repeat(usize, usize, Vec<Statement>),
    /// While a condition holds, but at most a number of times, counted by a local.
    While(Expression, usize, usize, Vec<Statement>),
    Locked(usize, Vec<Statement>),
    Atomic(Vec<Statement>),
    /// A local gets a helper's result.
    Call(usize, usize, Expression),
}

/// Whether values of a type are kept small when they are stored and read.
fn is_wide(ty: IntType) -> bool {
    ty.bits >= 32
}
