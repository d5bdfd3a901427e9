//! Linear equations between numbers, and what numbers leave over when they are divided: all that hold of some points.
//!
//! Reps, Sagiv, Yorsh: Symbolic implementation of the best transformer (VMCAI 2004), for the domain of Karr (Affine relationships among variables of a program, Acta Informatica 1976): the
//! points are models that a solver gives, one after the other; each takes one equation away at least. Under-approximates what holds of all points where numbers grow too large: an
//! equation is then forgotten. Divisions are those of Granger (Static analysis of arithmetical congruences, 1989).

use smt::{Operation, Term, Value};

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
        // The least number of all has no positive twin, and is left out.
        let one = |mine: i128, its: i128| {
            let found = mine.checked_mul(factor)?.checked_sub(its.checked_mul(other_factor)?)?;
            found.checked_neg().map(|_| found)
        };
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

/// That a number is another one plus a multiple of a divisor.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Rest {
    position: usize,
    /// Zero: no other number was seen.
    divisor: i128,
    value: i128,
}

impl Rest {
    fn term(&self, arguments: &[Term]) -> Term {
        let (argument, divisor) = (&arguments[self.position], Term::int(self.divisor));
        match self.divisor {
            0 => argument.equals(&Term::int(self.value)),
            _ => {
                let rest = Term::int(self.value.rem_euclid(self.divisor));
                Term::binary(Operation::Modulo, argument, &divisor).equals(&rest)
            }
        }
    }
}

/// Equations between parameters, and their rests.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Equations {
    rows: Vec<Equation>,
    rests: Vec<Rest>,
}

impl Equations {
    /// All equations that hold of one point: each number is what it is. Parameters without a number as their value are left out.
    pub fn of_point(values: &[Option<Value>]) -> Self {
        let number = |value: &Option<Value>| value.as_ref().and_then(Value::as_int);
        let rows = values.iter().enumerate().filter_map(|(position, value)| {
            let mut factors = vec![0; values.len()];
            factors[position] = 1;
            Some(Equation { factors, constant: number(value)?.checked_neg()? })
        });
        let rests = values
            .iter()
            .enumerate()
            .filter_map(|(position, value)| Some(Rest { position, divisor: 0, value: number(value)? }));
        Self { rows: rows.collect(), rests: rests.collect() }
    }

    /// Keeps what holds of one more point; says whether that is less.
    pub fn add_point(&mut self, values: &[Option<Value>]) -> bool {
        let numbers: Vec<Option<i128>> =
            values.iter().map(|value| value.as_ref().and_then(Value::as_int)).collect();
        let before = self.rows.len();
        let mut fewer = false;
        self.rests.retain_mut(|rest| {
            let distance = numbers[rest.position].and_then(|number| number.checked_sub(rest.value));
            let divisor = distance.map_or(1, |distance| common(rest.divisor, distance));
            fewer |= divisor != rest.divisor;
            rest.divisor = divisor;
            divisor != 1
        });
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
            kept.extend(off.iter().filter_map(|(other, row)| row.combined(distance, &pivot, *other)));
        }
        self.rows = kept;
        fewer || self.rows.len() < before
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.rests.clear();
    }

    /// Whether they say nothing.
    pub fn is_nothing(&self) -> bool {
        self.rows.is_empty() && self.rests.is_empty()
    }

    /// The equations about some arguments.
    pub fn terms<'a>(&'a self, arguments: &'a [Term]) -> impl Iterator<Item = Term> + 'a {
        // Each says less when a point is added, never more: what was kept once stays so.
        let rows = self.rows.iter().map(move |row| row.term(arguments));
        let rests = self.rests.iter().map(move |rest| rest.term(arguments));
        rows.chain(rests)
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
    fn what_is_left_over_stays() {
        let mut equations = Equations::of_point(&point(&[4]));
        for (value, said) in [(10, "(= (mod x 6) 4)"), (1, "(= (mod x 3) 1)"), (-2, "(= (mod x 3) 1)")] {
            equations.add_point(&point(&[value]));
            let terms: Vec<String> =
                equations.terms(&[Term::int_variable("x")]).map(|term| term.to_smt_lib()).collect();
            assert_eq!(terms, [said], "with {value}");
        }
        assert!(equations.add_point(&point(&[0])) && equations.is_nothing());
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
        assert!(equations.is_nothing());
    }
}
