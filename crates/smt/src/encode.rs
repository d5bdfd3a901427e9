//! From our terms to the solver's.

use crate::sort::Sort;
use crate::term::{Operation, Term};
use crate::visit::fold;
use rustc_hash::FxHashMap;
use terms::{Name, Symbol};
use z3::ast::{Array, BV, Bool, Dynamic, Int};

/// Translates terms into those of this thread's solver, each once.
#[derive(Default)]
pub(crate) struct Encoder {
    known: FxHashMap<Term, Dynamic>,
    words: Words,
}

/// What the solver calls our names: their texts, as far as these are different.
#[derive(Default)]
pub(crate) struct Words {
    /// By the solver's word; looked up and never iterated.
    names: FxHashMap<String, Name>,
}

impl Words {
    /// The solver's word for a name. No other name has it.
    fn of(&mut self, name: &Name) -> String {
        let mut word = name.text().to_owned();
        let mut count = 1;
        loop {
            // A word that begins with an exclamation mark is a stand-in of the solver's user.
            let reserved = word.starts_with('!');
            match self.names.get(&word) {
                Some(known) if known == name => return word,
                None if !reserved => {
                    self.names.insert(word.clone(), name.clone());
                    return word;
                }
                Some(_) | None => {
                    count += 1;
                    word = format!("{count} {}", name.text());
                }
            }
        }
    }
    /// The name that a word of the solver stands for.
    pub fn name(&self, word: String) -> Name {
        match self.names.get(&word) {
            Some(name) => name.clone(),
            None => Symbol::MadeBySolver(word).into(),
        }
    }
}

impl Encoder {
    /// How many terms were translated.
    pub fn size(&self) -> usize {
        self.known.len()
    }
    /// The solver's form of a term.
    pub fn term(&mut self, term: &Term) -> Dynamic {
        let Self { known, words } = self;
        fold(term, known, |term, operands| encode(term, operands, words))
    }
    /// What the solver calls the names of the terms.
    pub fn words(&self) -> &Words {
        &self.words
    }
    /// The solver's form of a formula.
    pub fn formula(&mut self, term: &Term) -> Bool {
        assert_eq!(*term.sort(), Sort::Bool, "a formula is expected here, not {term}");
        boolean(&self.term(term))
    }
}

/// The solver's form of a sort.
pub(crate) fn encode_sort(sort: &Sort) -> z3::Sort {
    match sort {
        Sort::Bool => z3::Sort::bool(),
        Sort::Int => z3::Sort::int(),
        Sort::BitVec(width) => z3::Sort::bitvector(*width),
        Sort::Array(pair) => z3::Sort::array(&encode_sort(&pair.0), &encode_sort(&pair.1)),
    }
}

fn boolean(ast: &Dynamic) -> Bool {
    ast.as_bool().expect("sorts were checked when the term was made")
}
fn integer(ast: &Dynamic) -> Int {
    ast.as_int().expect("sorts were checked when the term was made")
}
fn vector(ast: &Dynamic) -> BV {
    ast.as_bv().expect("sorts were checked when the term was made")
}
fn array(ast: &Dynamic) -> Array {
    ast.as_array().expect("sorts were checked when the term was made")
}

fn encode(term: &Term, operands: &[Dynamic], words: &mut Words) -> Dynamic {
    let booleans = || operands.iter().map(boolean).collect::<Vec<Bool>>();
    let integers = || operands.iter().map(integer).collect::<Vec<Int>>();
    let bits = |index: usize| vector(&operands[index]);
    match term.operation() {
        Operation::Variable(name) => {
            z3::FuncDecl::new(words.of(name), &[], &encode_sort(term.sort())).apply(&[])
        }
        Operation::Bool(value) => Bool::from_bool(*value).into(),
        Operation::Int(value) => match i64::try_from(*value) {
            Ok(value) => Int::from_i64(value).into(),
            Err(_) => Int::from_i128(*value).into(),
        },
        Operation::Bits(value) => match u64::try_from(*value) {
            Ok(value) => BV::from_u64(value, term.sort().width()).into(),
            Err(_) => BV::from_str(term.sort().width(), &value.to_string())
                .expect("a decimal number is a bit-vector literal")
                .into(),
        },
        Operation::Not => boolean(&operands[0]).not().into(),
        Operation::And => Bool::and(&booleans()).into(),
        Operation::Or => Bool::or(&booleans()).into(),
        Operation::Equal => operands[0].eq(operands[1].clone()).into(),
        Operation::IfThenElse => boolean(&operands[0]).ite(&operands[1], &operands[2]),
        Operation::Add => Int::add(&integers()).into(),
        Operation::Multiply => Int::mul(&integers()).into(),
        Operation::Divide => integer(&operands[0]).div(integer(&operands[1])).into(),
        Operation::Modulo => integer(&operands[0]).modulo(integer(&operands[1])).into(),
        Operation::Less => integer(&operands[0]).lt(integer(&operands[1])).into(),
        Operation::LessOrEqual => integer(&operands[0]).le(integer(&operands[1])).into(),
        Operation::BitNot => bits(0).bvnot().into(),
        Operation::BitNegate => bits(0).bvneg().into(),
        Operation::BitAdd => bits(0).bvadd(bits(1)).into(),
        Operation::BitSubtract => bits(0).bvsub(bits(1)).into(),
        Operation::BitMultiply => bits(0).bvmul(bits(1)).into(),
        Operation::UnsignedDivide => bits(0).bvudiv(bits(1)).into(),
        Operation::SignedDivide => bits(0).bvsdiv(bits(1)).into(),
        Operation::UnsignedRemainder => bits(0).bvurem(bits(1)).into(),
        Operation::SignedRemainder => bits(0).bvsrem(bits(1)).into(),
        Operation::BitAnd => bits(0).bvand(bits(1)).into(),
        Operation::BitOr => bits(0).bvor(bits(1)).into(),
        Operation::BitXor => bits(0).bvxor(bits(1)).into(),
        Operation::ShiftLeft => bits(0).bvshl(bits(1)).into(),
        Operation::LogicalShiftRight => bits(0).bvlshr(bits(1)).into(),
        Operation::ArithmeticShiftRight => bits(0).bvashr(bits(1)).into(),
        Operation::UnsignedLess => bits(0).bvult(bits(1)).into(),
        Operation::UnsignedLessOrEqual => bits(0).bvule(bits(1)).into(),
        Operation::SignedLess => bits(0).bvslt(bits(1)).into(),
        Operation::SignedLessOrEqual => bits(0).bvsle(bits(1)).into(),
        Operation::Concat => bits(0).concat(bits(1)).into(),
        Operation::Extract { high, low } => bits(0).extract(*high, *low).into(),
        Operation::ZeroExtend(extra) => bits(0).zero_ext(*extra).into(),
        Operation::SignExtend(extra) => bits(0).sign_ext(*extra).into(),
        Operation::BitsToUnsigned => bits(0).to_int(false).into(),
        Operation::BitsToSigned => bits(0).to_int(true).into(),
        Operation::IntToBits(width) => integer(&operands[0]).to_ast(*width).into(),
        Operation::Select => array(&operands[0]).select(&operands[1]),
        Operation::Store => array(&operands[0]).store(&operands[1], &operands[2]).into(),
        Operation::ConstantArray => match term.sort() {
            Sort::Array(pair) => Array::const_array(&encode_sort(&pair.0), &operands[0]).into(),
            other => unreachable!("the sort of an array was checked, and is {other}"),
        },
    }
}
