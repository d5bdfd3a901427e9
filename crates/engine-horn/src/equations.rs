//! Linear equations: all that some given points satisfy.
//!
//! Reps, Sagiv, Yorsh: Symbolic implementation of the best transformer (VMCAI 2004), for the domain of Karr
//! (Affine relationships among variables of a program, Acta Informatica 1976): the points are models of a
//! solver, one after the other; each removes at least one equation. Incomplete if numbers grow too large:
//! then an equation is dropped.

use smt::{Term, Value};

/// Equations with larger factors than this are not useful.
const LARGEST_FACTOR: i128 = 1 << 34;

/// A sum of numbers with factors, and a constant: it is zero.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Equation {
    /// A factor for each number.
    factors: Vec<i128>,
    constant: i128,
}

impl Equation {
    fn at(&self, point: &[i128]) -> Option<i128> {
        let mut sum = self.constant;
        for (factor, value) in self.factors.iter().zip(point) {
            sum = sum.checked_add(factor.checked_mul(*value)?)?;
        }
        Some(sum)
    }

    /// One factor of this minus another factor of another one, with the smallest factors that say the same.
    fn combined(&self, factor: i128, other: &Self, other_factor: i128) -> Option<Self> {
        let one =
            |mine: i128, its: i128| mine.checked_mul(factor)?.checked_sub(its.checked_mul(other_factor)?);
        let factors = self.factors.iter().zip(&other.factors).map(|(mine, its)| one(*mine, *its));
        let mut result =
            Self { factors: factors.collect::<Option<_>>()?, constant: one(self.constant, other.constant)? };
        let divisor = result.factors.iter().fold(result.constant, |divisor, factor| common(divisor, *factor));
        if divisor > 1 {
            result.factors.iter_mut().for_each(|factor| *factor /= divisor);
            result.constant /= divisor;
        }
        Some(result)
    }

    fn is_simple(&self) -> bool {
        self.factors.iter().all(|factor| factor.abs() <= LARGEST_FACTOR)
    }

    fn term(&self, arguments: &[Term]) -> Term {
        let side = |sign: i128| {
            let with = self.factors.iter().zip(arguments).filter(|(factor, _)| **factor * sign > 0);
            let numbers = with.map(|(factor, argument)| match *factor * sign {
                1 => argument.clone(),
                factor => Term::int(factor).times(argument),
            });
            let constant = (self.constant * sign > 0).then(|| Term::int(self.constant * sign));
            let all: Vec<Term> = numbers.chain(constant).collect();
            if all.is_empty() { Term::int(0) } else { Term::sum(all) }
        };
        side(1).equals(&side(-1))
    }
}

/// The greatest number that divides both.
fn common(one: i128, other: i128) -> i128 {
    let (mut one, mut other) = (one.unsigned_abs(), other.unsigned_abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    // The least number of all has no positive twin; nothing is divided then.
    i128::try_from(one).unwrap_or(1)
}

/// Equations between parameters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Equations {
    rows: Vec<Equation>,
}

impl Equations {
    /// All equations that hold of one point: each number is what it is. Parameters without a number as their
    /// value are left out.
    pub fn of_point(values: &[Option<Value>]) -> Self {
        let number = |value: &Option<Value>| value.as_ref().and_then(Value::as_int);
        let rows = values.iter().enumerate().filter_map(|(position, value)| {
            let mut factors = vec![0; values.len()];
            factors[position] = 1;
            Some(Equation { factors, constant: number(value)?.checked_neg()? })
        });
        Self { rows: rows.collect() }
    }

    /// Keeps the equations that hold for one more point; says whether any was lost.
    pub fn add_point(&mut self, values: &[Option<Value>]) -> bool {
        let numbers: Vec<Option<i128>> =
            values.iter().map(|value| value.as_ref().and_then(Value::as_int)).collect();
        let before = self.rows.len();
        // Nothing can be said of a number without a value.
        self.rows.retain(|row| {
            row.factors.iter().zip(&numbers).all(|(factor, number)| *factor == 0 || number.is_some())
        });
        let point: Vec<i128> = numbers.into_iter().map(Option::unwrap_or_default).collect();
        let mut off: Vec<(i128, Equation)> = Vec::new();
        let mut kept = Vec::new();
        for row in std::mem::take(&mut self.rows) {
            match row.at(&point) {
                Some(0) => kept.push(row),
                Some(distance) => off.push((distance, row)),
                None => {}
            }
        }
        // One of those that do not hold goes; what it says of the others stays.
        let pivot = (0..off.len()).min_by_key(|number| off[*number].0.unsigned_abs());
        if let Some(pivot) = pivot {
            let (distance, pivot) = off.swap_remove(pivot);
            let combined = off.iter().filter_map(|(other, row)| row.combined(distance, &pivot, *other));
            // Dropped for good: the set only shrinks.
            kept.extend(combined.filter(Equation::is_simple));
        }
        self.rows = kept;
        self.rows.len() < before
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.rows.clear();
    }

    /// The equations about some arguments.
    pub fn terms<'a>(&'a self, arguments: &'a [Term]) -> impl Iterator<Item = Term> + 'a {
        self.rows.iter().filter(|row| row.is_simple()).map(move |row| row.term(arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(values: &[i128]) -> Vec<Option<Value>> {
        values.iter().map(|value| Some(Value::Int(*value))).collect()
    }

    #[test]
    fn what_holds_of_all_points_stays() {
        // On the plane x + y = z.
        let mut equations = Equations::of_point(&point(&[1, 2, 3]));
        assert!(equations.add_point(&point(&[1_000_003, -77, 999_926])));
        assert!(equations.add_point(&point(&[0, 0, 0])));
        assert_eq!(equations.rows.len(), 1);
        assert!(!equations.add_point(&point(&[5, 6, 11])), "it is on the plane");
        let row = &equations.rows[0];
        assert_eq!(row.constant, 0);
        assert!(row.factors == [1, 1, -1] || row.factors == [-1, -1, 1], "{row:?}");
        assert!(equations.add_point(&point(&[5, 6, 12])), "it is not");
        assert!(equations.rows.is_empty());
    }

    #[test]
    fn a_number_that_is_not_known_takes_its_equations_with_it() {
        let mut equations = Equations::of_point(&point(&[1, 2]));
        assert!(equations.add_point(&[None, Some(Value::Int(2))]));
        assert_eq!(equations.rows.len(), 1);
    }

    #[test]
    fn numbers_too_large_to_multiply_are_forgotten() {
        let mut equations = Equations::of_point(&point(&[i128::MAX, i128::MIN + 1]));
        assert!(equations.add_point(&point(&[i128::MIN + 1, i128::MAX])));
        assert!(equations.rows.is_empty());
    }
}
