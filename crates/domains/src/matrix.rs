//! Difference-bound matrices with two rows and columns for each variable (see [`crate::octagon`]).

use crate::bound::Bound;
use crate::interval::Interval;

/// The row and column of a variable, or of its negation.
pub(crate) fn node(variable: usize, negated: bool) -> usize {
    2 * variable + usize::from(negated)
}

/// The cell in row `i` and column `j` is an upper bound of `Vⱼ - Vᵢ`. *Coherent*: as that is `(-Vᵢ) - (-Vⱼ)`,
/// the cell in row `j ^ 1` and column `i ^ 1` is the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Matrix {
    size: usize,
    cells: Vec<Bound>,
}

impl Matrix {
    pub fn top(dimension: usize) -> Self {
        let size = 2 * dimension;
        let mut matrix = Self { size, cells: vec![Bound::PLUS_INFINITY; size * size] };
        for i in 0..size {
            matrix.cells[i * size + i] = Bound::ZERO;
        }
        matrix
    }
    pub fn get(&self, row: usize, column: usize) -> Bound {
        self.cells[row * self.size + column]
    }
    fn set(&mut self, row: usize, column: usize, bound: Bound) {
        let size = self.size;
        self.cells[row * size + column] = bound;
        self.cells[(column ^ 1) * size + (row ^ 1)] = bound;
    }
    /// Lowers a cell. (A bound of minus infinity, which no integer reaches, makes a cycle below zero.)
    pub fn restrict(&mut self, row: usize, column: usize, bound: Bound) {
        if bound < self.get(row, column) {
            self.set(row, column, bound);
        }
    }
    /// Bounds a variable.
    pub fn restrict_variable(&mut self, variable: usize, interval: Interval) {
        let (plus, minus) = (node(variable, false), node(variable, true));
        self.restrict(minus, plus, interval.upper().double());
        self.restrict(plus, minus, interval.lower().negate().double());
    }
    /// The bounds of a variable.
    pub fn variable(&self, variable: usize) -> Interval {
        let (plus, minus) = (node(variable, false), node(variable, true));
        Interval::new(self.get(plus, minus).negate().divide_up(2), self.get(minus, plus).divide_down(2))
    }
    pub fn is_top(&self) -> bool {
        let size = self.size;
        self.cells
            .iter()
            .enumerate()
            .all(|(at, bound)| at / size == at % size || *bound == Bound::PLUS_INFINITY)
    }
    pub fn less_or_equal(&self, other: &Self) -> bool {
        self.cells.iter().zip(&other.cells).all(|(a, b)| a <= b)
    }
    /// Combines cells; the first argument says whether the cell bounds the double of one variable.
    pub fn combine(&self, other: &Self, how: impl Fn(bool, Bound, Bound) -> Bound) -> Self {
        let size = self.size;
        let cells = self.cells.iter().zip(&other.cells).enumerate();
        let cells = cells.map(|(at, (a, b))| how(at / size == (at % size) ^ 1, *a, *b)).collect();
        Self { size, cells }
    }
    pub fn forget(&mut self, variable: usize) {
        for own in [node(variable, false), node(variable, true)] {
            for other in 0..self.size {
                if own != other {
                    self.set(own, other, Bound::PLUS_INFINITY);
                    self.set(other, own, Bound::PLUS_INFINITY);
                }
            }
        }
    }
    /// With one more variable, of which nothing is known.
    pub fn with_variable(&self) -> Self {
        let mut larger = Self::top(self.size / 2 + 1);
        for row in 0..self.size {
            for column in 0..self.size {
                larger.cells[row * larger.size + column] = self.get(row, column);
            }
        }
        larger
    }
    /// The last variable takes the place of this one.
    pub fn replaced_by_last(&self, variable: usize) -> Self {
        let last = self.size - 2;
        let from = |own: usize| if own / 2 == variable { last + own % 2 } else { own };
        let mut smaller = Self::top(self.size / 2 - 1);
        for row in 0..smaller.size {
            for column in 0..smaller.size {
                smaller.cells[row * smaller.size + column] = self.get(from(row), from(column));
            }
        }
        smaller
    }
    /// The least cells with the same integer points. False: there is none.
    pub fn close(&mut self) -> bool {
        let size = self.size;
        for k in 0..size {
            for i in 0..size {
                let to = self.get(i, k);
                if to == Bound::PLUS_INFINITY {
                    continue;
                }
                for j in 0..size {
                    let detour = to.add_up(self.get(k, j));
                    let cell = &mut self.cells[i * size + j];
                    if detour < *cell {
                        *cell = detour;
                    }
                }
            }
        }
        for i in 0..size {
            if self.get(i, i) < Bound::ZERO {
                return false;
            }
            // The double of an integer is even.
            let double = self.get(i, i ^ 1).divide_down(2).double();
            self.cells[i * size + (i ^ 1)] = double;
        }
        for i in 0..size {
            if self.get(i, i ^ 1).add_up(self.get(i ^ 1, i)) < Bound::ZERO {
                return false;
            }
        }
        for i in 0..size {
            for j in 0..size {
                let halves = self.get(i, i ^ 1).divide_down(2).add_up(self.get(j ^ 1, j).divide_down(2));
                let cell = &mut self.cells[i * size + j];
                if halves < *cell {
                    *cell = halves;
                }
            }
        }
        true
    }
}
