//! Formulas in C: variables of transitions get their source names back.

use ir::{ObjectId, Program};
use terms::{Instance, Name, Operation, Symbol, Term, Variable};

/// Longer formulas are unreadable.
const LONGEST: usize = 110;

/// The names of a program.
pub struct Names<'a> {
    /// The program that the transitions were made of.
    pub program: &'a Program,
}

impl Names<'_> {
    /// A formula as text; `None` when it contains something without a name, is trivial, or is too long.
    pub fn text(&self, formula: &Term) -> Option<String> {
        if formula.is_literal() || formula.size() > LONGEST {
            return None;
        }
        let mut known = true;
        let named = formula.rename(|variable| match self.name(&variable.name) {
            Some(name) => Some(Variable::new(name.as_str(), variable.sort.clone())),
            None => {
                known = false;
                None
            }
        });
        let text = infix(&named);
        (known && text.chars().count() <= LONGEST).then_some(text)
    }

    /// The name in the source of a variable of the transitions.
    fn name(&self, name: &Name) -> Option<String> {
        let known = |name: String| (!name.contains('%')).then_some(name);
        match name.symbol() {
            Symbol::Instance(of, Instance::Old) => Some(format!("old {}", self.name(of)?)),
            // The first of several threads needs no number.
            Symbol::Instance(of, Instance::Thread(0)) => self.name(of),
            Symbol::Instance(of, Instance::Thread(number)) => Some(format!("{}#{number}", self.name(of)?)),
            Symbol::FrameAddress { name, .. } => Some(format!("&{name}")),
            Symbol::Map { names, .. } => match names.as_slice() {
                [name] => known(name.clone()),
                _ => None,
            },
            Symbol::Cell { object, offset, .. } => {
                let object = ObjectId(*object);
                self.program.objects.get(object)?;
                known(checker::cell_name(self.program, object, *offset))
            }
            // Temporaries have no name in the source.
            Symbol::Local { name, .. } => (!ir::names::is_made_up(name)).then(|| name.clone()),
            _ => None,
        }
    }
}

/// A formula without double negations, with normalised comparisons.
fn infix(term: &Term) -> String {
    match (term.operation(), term.operands()) {
        (Operation::Not, [inner]) => match (inner.operation(), inner.operands()) {
            (Operation::Equal, [left, right]) => format!("{left} != {right}"),
            (Operation::Less, [left, right]) => format!("{left} >= {right}"),
            (Operation::LessOrEqual, [left, right]) => format!("{left} > {right}"),
            _ => term.to_string(),
        },
        (Operation::Or, parts) if parts.len() > 1 => {
            let texts: Vec<String> = parts.iter().map(infix).collect();
            texts.join(" || ")
        }
        (Operation::And, parts) if parts.len() > 1 => {
            let each = |part: &Term| match part.operation() {
                Operation::Or => format!("({})", infix(part)),
                _ => infix(part),
            };
            parts.iter().map(each).collect::<Vec<_>>().join(" && ")
        }
        // Constants come last.
        (Operation::Equal, [left, right]) if left.is_literal() => format!("{right} == {left}"),
        (Operation::Less, [left, right]) if left.is_literal() => format!("{right} > {left}"),
        (Operation::LessOrEqual, [left, right]) if left.is_literal() => format!("{right} >= {left}"),
        _ => term.to_string(),
    }
}

/// Locations, by the position of the thread in its group.
pub type Places = Vec<(usize, u32)>;

/// The claims of a formula at locations: "the threads are here, and …; or they are there, and …", or "if they
/// are here, then …". A case without places always holds.
pub fn cases(formula: &Term) -> Vec<(Places, Term)> {
    let Operation::Or = formula.operation() else { return vec![(Vec::new(), formula.clone())] };
    let (mut places, mut rest) = (Vec::new(), Vec::new());
    for part in formula.operands() {
        match negated_places(part) {
            Some(found) => places.extend(found),
            None => rest.push(part.clone()),
        }
    }
    if !places.is_empty() {
        return vec![(places, Term::any(rest))];
    }
    let mut found: Vec<(Places, Vec<Term>)> = Vec::new();
    for part in rest {
        let conjuncts = match part.operation() {
            Operation::And => part.operands().to_vec(),
            _ => vec![part],
        };
        let (here, facts): (Vec<Term>, Vec<Term>) =
            conjuncts.into_iter().partition(|part| place(part).is_some());
        let mut here: Places = here.iter().filter_map(place).collect();
        here.sort_unstable();
        let facts = Term::all(facts);
        match found.iter_mut().find(|(known, _)| *known == here) {
            Some((_, cases)) => cases.push(facts),
            None => found.push((here, vec![facts])),
        }
    }
    if found.iter().any(|(here, _)| here.is_empty()) {
        return vec![(Vec::new(), formula.clone())];
    }
    // A condition or its negation is trivial.
    let news = |cases: &[Term]| !cases.iter().any(|one| one.is_true() || cases.contains(&one.not()));
    found.into_iter().filter(|(_, cases)| news(cases)).map(|(here, cases)| (here, Term::any(cases))).collect()
}

/// The locations of "a thread is not here", or of "not all threads are here".
fn negated_places(term: &Term) -> Option<Places> {
    let (Operation::Not, [inner]) = (term.operation(), term.operands()) else { return None };
    match inner.operation() {
        Operation::Equal => place(inner).map(|place| vec![place]),
        Operation::And => inner.operands().iter().map(place).collect(),
        _ => None,
    }
}

/// The location of "a thread is here".
fn place(term: &Term) -> Option<(usize, u32)> {
    let (Operation::Equal, [left, right]) = (term.operation(), term.operands()) else { return None };
    let number = |term: &Term| match term.operation() {
        Operation::Int(value) => u32::try_from(*value).ok(),
        _ => None,
    };
    let thread = |term: &Term| match term.operation() {
        Operation::Variable(name) => match name.symbol() {
            Symbol::Location(position) => Some(*position as usize),
            _ => None,
        },
        _ => None,
    };
    thread(left).zip(number(right)).or_else(|| thread(right).zip(number(left)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::Program;
    use terms::Sort;

    /// A local of the worker with a number.
    fn local(name: &str, thread: u32) -> Term {
        let (template, name) = ("worker".to_owned(), name.to_owned());
        let name = Name::from(Symbol::Local { template, name, local: 3 });
        Variable::new(name.instance(Instance::Thread(thread)), Sort::Int).term()
    }
    fn location(position: u32) -> Term {
        Variable::new(Symbol::Location(position), Sort::Int).term()
    }

    #[test]
    fn locals_get_their_names_and_temporaries_have_none() {
        let program = Program::default();
        let names = Names { program: &program };
        let own = local("i", 0);
        assert_eq!(names.text(&own.less_than(&local("n", 1))).as_deref(), Some("i < n#1"));
        assert_eq!(names.text(&own.less_than(&local("%t", 0))), None);
        assert_eq!(names.text(&own.less_than(&location(0))), None);
    }

    #[test]
    fn what_holds_at_locations_is_found() {
        let here = |number| location(1).equals(&Term::int(number));
        let fact = local("i", 1).less_than(&Term::int(9));
        assert_eq!(cases(&here(5).implies(&fact)), [(vec![(1, 5)], fact.clone())]);
        let formula = Term::any([here(1).and(&fact), here(2), here(3).and(&fact), here(3).and(&fact.not())]);
        assert_eq!(cases(&formula), [(vec![(1, 1)], fact.clone())]);
        assert_eq!(cases(&fact), [(vec![], fact.clone())]);
    }
}
