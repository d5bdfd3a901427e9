//! Terms in files: a table has each distinct term once; everything else refers to terms by number.
//!
//! Proofs share most of their terms, so writing each in full would take far more space. [`writing`] collects
//! the table while something that contains terms is serialised; [`reading`] provides it for deserialisation.
//! Without a table, terms cannot be serialised. Input is not trusted: sorts and numbers are checked, and
//! nothing panics.

use crate::construct::result_sort;
use crate::sort::Sort;
use crate::term::{Operation, Term};
use rustc_hash::FxHashMap;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::RefCell;

/// A term of the table. Its operands come before it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its operation.
    pub operation: Operation,
    /// Its sort, unless it follows from the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<Sort>,
    /// The numbers of its operands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<usize>,
}

/// The table so far, with an index of its terms.
#[derive(Default)]
struct Writer {
    entries: Vec<Entry>,
    numbers: FxHashMap<Term, usize>,
}

thread_local! {
    static WRITER: RefCell<Option<Writer>> = const { RefCell::new(None) };
    static READER: RefCell<Option<Vec<Term>>> = const { RefCell::new(None) };
}

/// Runs a function that serialises terms, and returns the table of these terms.
pub fn writing<R>(work: impl FnOnce() -> R) -> (R, Vec<Entry>) {
    WRITER.with(|writer| *writer.borrow_mut() = Some(Writer::default()));
    let result = work();
    let writer = WRITER.with(|writer| writer.borrow_mut().take());
    (result, writer.map(|writer| writer.entries).unwrap_or_default())
}

/// Runs a function that deserialises terms of a table.
pub fn reading<R>(entries: &[Entry], work: impl FnOnce() -> R) -> Result<R, String> {
    let mut terms: Vec<Term> = Vec::with_capacity(entries.len());
    for (number, entry) in entries.iter().enumerate() {
        let wrong = |what: &str| format!("term {number}: {what}");
        let operands: Option<Vec<Term>> =
            entry.operands.iter().map(|operand| terms.get(*operand).cloned()).collect();
        let operands = operands.ok_or_else(|| wrong("an operand does not come before it"))?;
        let sort = entry.sort.as_ref();
        if sort.is_some_and(|sort| !sort.is_possible()) {
            return Err(wrong("there is no such sort"));
        }
        match (&entry.operation, sort) {
            (Operation::Bits(bits), Some(Sort::BitVec(width))) if *width < 128 && bits >> width != 0 => {
                return Err(wrong("a number with more bits than its sort has"));
            }
            (Operation::Bits(_), Some(Sort::BitVec(_))) => {}
            (Operation::Bits(_), _) => return Err(wrong("bits are bit-vectors")),
            _ => {}
        }
        let literal = matches!(entry.operation, Operation::Bool(_) | Operation::Int(_) | Operation::Bits(_));
        let leaf = literal || matches!(entry.operation, Operation::Variable(_));
        if leaf != operands.is_empty() {
            return Err(wrong("too few or too many operands"));
        }
        let sort = result_sort(&entry.operation, sort, &operands)
            .map_err(|needed| wrong(&format!("`{}` needs {needed}", entry.operation.name())))?;
        terms.push(Term::intern(entry.operation.clone(), sort, operands));
    }
    READER.with(|reader| *reader.borrow_mut() = Some(terms));
    let result = work();
    READER.with(|reader| *reader.borrow_mut() = None);
    Ok(result)
}

impl Writer {
    /// The number of a term. Adds it and all its subterms to the table.
    fn number(&mut self, term: &Term) -> usize {
        let mut pending = vec![(term.clone(), false)];
        while let Some((term, ready)) = pending.pop() {
            if self.numbers.contains_key(&term) {
                continue;
            }
            if !ready {
                pending.push((term.clone(), true));
                pending.extend(term.operands().iter().rev().map(|operand| (operand.clone(), false)));
                continue;
            }
            let operation = term.operation().clone();
            let says_sort =
                matches!(operation, Operation::Variable(_) | Operation::Bits(_) | Operation::ConstantArray);
            let sort = says_sort.then(|| term.sort().clone());
            let operands = term.operands().iter().map(|operand| self.numbers[operand]).collect();
            self.numbers.insert(term.clone(), self.entries.len());
            self.entries.push(Entry { operation, sort, operands });
        }
        self.numbers[term]
    }
}

impl Serialize for Term {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = WRITER.with(|writer| writer.borrow_mut().as_mut().map(|writer| writer.number(self)));
        match number {
            Some(number) => serializer.serialize_u64(number as u64),
            None => Err(S::Error::custom("there is no table for terms")),
        }
    }
}

impl<'de> Deserialize<'de> for Term {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = usize::deserialize(deserializer)?;
        let found =
            READER.with(|reader| reader.borrow().as_ref().and_then(|terms| terms.get(number).cloned()));
        found.ok_or_else(|| D::Error::custom(format!("there is no term {number}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Variable;

    fn sample() -> Vec<Term> {
        let (x, y) = (Term::int_variable("x"), Term::int_variable("y"));
        let array = Sort::array(Sort::Int, Sort::bit_vector(8));
        let bits = Term::variable("a", array.clone()).store(&x, &Term::bits(8, 200)).select(&y);
        let large = Term::int(i128::MIN).less_than(&x.times(&y).plus(&Term::int(3)));
        let wide = Term::bits(128, u128::MAX).equals(&Term::variable("w", Sort::bit_vector(128)));
        let constant = Term::constant_array(array, &Term::bits(8, 1)).select(&x);
        vec![large.and(&wide), bits.equals(&constant).or(&large), large.not(), Term::bool(true)]
    }

    #[test]
    fn what_was_written_is_read() {
        let terms = sample();
        let (text, table) = writing(|| serde_json::to_string(&terms).expect("there is a table"));
        let table_text = serde_json::to_string(&table).expect("entries are plain");
        let table: Vec<Entry> = serde_json::from_str(&table_text).expect("they are read back");
        let back: Vec<Term> =
            reading(&table, || serde_json::from_str(&text)).expect("a good table").expect("good numbers");
        assert_eq!(back, terms);
    }

    #[test]
    fn shared_terms_are_written_once() {
        let mut term = Term::int_variable("x");
        for _ in 0..10_000 {
            term = Term::binary(Operation::Multiply, &term, &Term::int_variable("y").plus(&term));
        }
        let (_, table) = writing(|| serde_json::to_string(&term).expect("there is a table"));
        assert!(table.len() < 30_010, "{}", table.len());
    }

    #[test]
    fn bad_tables_are_refused() {
        let (_, good) = writing(|| serde_json::to_string(&sample()).expect("there is a table"));
        let variable = Variable::new("x", Sort::Int);
        let leaf = |operation, sort| Entry { operation, sort, operands: vec![] };
        let over =
            |operation, operands: &[usize]| Entry { operation, sort: None, operands: operands.to_vec() };
        let integer = leaf(Operation::Variable(variable.name), Some(Sort::Int));
        let bad = [
            vec![over(Operation::Not, &[0])],
            vec![integer.clone(), over(Operation::Not, &[0])],
            vec![integer.clone(), over(Operation::Not, &[])],
            vec![integer.clone(), over(Operation::IntToBits(1000), &[0])],
            vec![integer.clone(), over(Operation::IntToBits(100), &[0]), over(Operation::Concat, &[1, 1])],
            vec![
                integer.clone(),
                over(Operation::IntToBits(9), &[0]),
                over(Operation::ZeroExtend(u32::MAX), &[1]),
            ],
            vec![leaf(Operation::Bits(256), Some(Sort::BitVec(8)))],
            vec![leaf(Operation::Bits(1), Some(Sort::Int))],
            vec![leaf(Operation::Variable("b".into()), Some(Sort::BitVec(0)))],
            vec![Entry { operands: vec![0], ..integer.clone() }],
        ];
        for table in bad {
            assert!(reading(&table, || ()).is_err(), "{table:?}");
        }
        assert!(reading(&good, || ()).is_ok());
        let none: Result<Term, _> = reading(&[], || serde_json::from_str("0")).expect("an empty table");
        assert!(none.is_err());
        assert!(serde_json::to_string(&Term::bool(true)).is_err(), "there is no table");
    }
}
