//! Labels: put together they say the same in fewer words.

use engine_context::labels::simplified;
use proptest::prelude::*;
use smt::{Sort, Term, Value, Variable};

fn variable(index: usize) -> Variable {
    Variable::new(format!("v{index}").as_str(), Sort::Bool)
}

/// A conjunction: of each of four variables that it holds, that it does not, or nothing.
fn cube(literals: &[Option<bool>]) -> Term {
    Term::all(literals.iter().enumerate().filter_map(|(index, holds)| {
        let term = variable(index).term();
        holds.map(|holds| if holds { term } else { term.not() })
    }))
}

fn holds(formula: &Term, bits: u8) -> bool {
    let value = |one: &Variable| {
        let index = (0..4).find(|index| variable(*index) == *one)?;
        Some(Value::Bool(bits >> index & 1 == 1))
    };
    formula.evaluate(&value).is_ok_and(|value| value.as_bool() == Some(true))
}

proptest! {
    #[test]
    fn simplified_labels_say_the_same(
        cubes in prop::collection::vec(prop::collection::vec(any::<Option<bool>>(), 4), 0..12),
    ) {
        let label = Term::any(cubes.iter().map(|literals| cube(literals)));
        let simpler = simplified(&label);
        prop_assert!(simpler.size() <= label.size(), "{label} becomes {simpler}");
        for bits in 0..16 {
            prop_assert_eq!(holds(&label, bits), holds(&simpler, bits), "{} becomes {}", label, simpler);
        }
    }
}

#[test]
fn all_values_of_a_variable_are_no_condition() {
    let (a, b) = (variable(0).term(), variable(1).term());
    let all = [a.and(&b), a.and(&b.not()), a.not().and(&b), a.not().and(&b.not())];
    assert!(simplified(&Term::any(all.clone())).is_true());
    assert_eq!(simplified(&Term::any(all[..2].to_vec())), a);
}
