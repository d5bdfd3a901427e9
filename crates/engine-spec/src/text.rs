//! Formulas over the variables of a program as C expressions, for specifications that people read.
//!
//! Exact where it gives a text, as long as no operation leaves the range of its type; numbers are written as
//! they are.

use smt::{Operation, Sort, Term, Variable};

/// The text of a formula, if it is made of comparisons, sums and truth values of variables that have names.
pub(crate) fn c_text(term: &Term, name: &dyn Fn(&Variable) -> Option<String>) -> Option<String> {
    let operands =
        || term.operands().iter().map(|operand| c_text(operand, name)).collect::<Option<Vec<String>>>();
    let joined = |sign: &str| operands().map(|texts| format!("({})", texts.join(sign)));
    match term.operation() {
        Operation::Variable(_) => name(&term.as_variable()?),
        Operation::Bool(value) => Some(u8::from(*value).to_string()),
        Operation::Int(value) if *value < 0 => Some(format!("({value})")),
        Operation::Int(value) => Some(value.to_string()),
        Operation::Not => negated(&term.operands()[0], name),
        Operation::And => joined(" && "),
        Operation::Or => joined(" || "),
        Operation::Equal if term.operands()[0].sort() == &Sort::Bool => {
            // Truth values of C are numbers; only 0 and 1 are equal if both are.
            operands().map(|texts| format!("(!{} == !{})", texts[0], texts[1]))
        }
        Operation::Equal => joined(" == "),
        Operation::Less => joined(" < "),
        Operation::LessOrEqual => joined(" <= "),
        Operation::Add => joined(" + "),
        Operation::Multiply => joined(" * "),
        Operation::IfThenElse => {
            operands().map(|texts| format!("({} ? {} : {})", texts[0], texts[1], texts[2]))
        }
        _ => None,
    }
}

/// The text of what is not so.
fn negated(term: &Term, name: &dyn Fn(&Variable) -> Option<String>) -> Option<String> {
    let compared = |sign: &str| {
        let texts: Option<Vec<String>> =
            term.operands().iter().map(|operand| c_text(operand, name)).collect();
        texts.map(|texts| format!("({})", texts.join(sign)))
    };
    match term.operation() {
        Operation::Not => c_text(&term.operands()[0], name),
        Operation::Equal if term.operands()[0].sort() != &Sort::Bool && term.operands().len() == 2 => {
            compared(" != ")
        }
        Operation::Less if term.operands().len() == 2 => compared(" >= "),
        Operation::LessOrEqual if term.operands().len() == 2 => compared(" > "),
        _ => c_text(term, name).map(|text| format!("!{text}")),
    }
}

/// The text of a formula without the conjuncts that have no text. `None` when nothing remains.
pub(crate) fn weaker_text(term: &Term, name: &dyn Fn(&Variable) -> Option<String>) -> Option<String> {
    match term.operation() {
        Operation::Bool(true) => None,
        Operation::And => {
            let texts: Vec<String> =
                term.operands().iter().filter_map(|part| weaker_text(part, name)).collect();
            match texts.as_slice() {
                [] => None,
                [one] => Some(one.clone()),
                _ => Some(format!("({})", texts.join(" && "))),
            }
        }
        Operation::Or => {
            let texts: Option<Vec<String>> =
                term.operands().iter().map(|part| weaker_text(part, name)).collect();
            texts.map(|texts| format!("({})", texts.join(" || ")))
        }
        _ => c_text(term, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_in_c() {
        let x = Variable::new("x", Sort::Int);
        let name = |variable: &Variable| (variable.name == "x".into()).then(|| "count".to_owned());
        let low = x.term().less_than(&Term::int(-1));
        assert_eq!(c_text(&low, &name).as_deref(), Some("(count < (-1))"));
        let either = low.or(&x.term().equals(&Term::int(3)));
        let text = c_text(&either, &name).expect("it has a text");
        assert!(text.contains("||") && text.contains("=="), "{text}");
        let not = |term: &Term| c_text(&term.not(), &name).expect("it has a text");
        assert_eq!(not(&low), "(count >= (-1))");
        assert_eq!(not(&x.term().equals(&Term::int(3))), "(count != 3)");
        let other = Variable::new("y", Sort::Int).term().equals(&x.term());
        assert_eq!(c_text(&other, &name), None);
        // A part without a text is dropped from a conjunction; a disjunction with such a part has no text.
        assert_eq!(weaker_text(&low.and(&other), &name).as_deref(), Some("(count < (-1))"));
        assert_eq!(weaker_text(&low.or(&other), &name), None);
    }
}
