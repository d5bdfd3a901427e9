//! Simple facts about the parameters of relations: comparisons with constants and with each other.

use indexmap::IndexMap;
use ir::IdVec;
use smt::horn::{HornSystem, RelationId};
use smt::{Operation, Sort, Term, Value, Variable};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// No more constants than this are compared with a parameter.
const MOST_CONSTANTS: usize = 24;

/// How two numbers compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// They are the same.
    Equal,
    /// They are not.
    Different,
    /// The first is at most the second.
    AtMost,
    /// The first is at least the second.
    AtLeast,
}

const ALL: [Comparison; 4] =
    [Comparison::Equal, Comparison::Different, Comparison::AtMost, Comparison::AtLeast];

impl Comparison {
    fn holds(self, one: i128, other: i128) -> bool {
        match self {
            Self::Equal => one == other,
            Self::Different => one != other,
            Self::AtMost => one <= other,
            Self::AtLeast => one >= other,
        }
    }
    fn term(self, one: &Term, other: &Term) -> Term {
        match self {
            Self::Equal => one.equals(other),
            Self::Different => one.differs(other),
            Self::AtMost => one.at_most(other),
            Self::AtLeast => one.at_least(other),
        }
    }
}

/// A fact about parameters, by their positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact {
    /// A number compares with a constant.
    Constant(usize, Comparison, i128),
    /// Two numbers compare.
    Numbers(usize, Comparison, usize),
    /// A truth value is this one.
    Truth(usize, bool),
    /// Two truth values are the same, or not.
    Truths(usize, usize, bool),
}

impl Fact {
    /// Whether it is so for some values of the parameters.
    pub fn holds(self, values: &[Option<Value>]) -> bool {
        let number = |position: usize| values[position].as_ref().and_then(Value::as_int);
        let truth = |position: usize| values[position].as_ref().and_then(Value::as_bool);
        match self {
            Self::Constant(one, comparison, value) => {
                number(one).is_some_and(|one| comparison.holds(one, value))
            }
            Self::Numbers(one, comparison, other) => {
                matches!((number(one), number(other)), (Some(one), Some(other)) if comparison.holds(one, other))
            }
            Self::Truth(one, value) => truth(one) == Some(value),
            Self::Truths(one, other, same) => {
                matches!((truth(one), truth(other)), (Some(one), Some(other)) if (one == other) == same)
            }
        }
    }
    /// The fact as a formula.
    fn term(self, arguments: &[Term]) -> Term {
        match self {
            Self::Constant(one, comparison, value) => comparison.term(&arguments[one], &Term::int(value)),
            Self::Numbers(one, comparison, other) => comparison.term(&arguments[one], &arguments[other]),
            Self::Truth(one, true) => arguments[one].clone(),
            Self::Truth(one, false) => arguments[one].not(),
            Self::Truths(one, other, true) => arguments[one].equals(&arguments[other]),
            Self::Truths(one, other, false) => arguments[one].differs(&arguments[other]),
        }
    }
}

/// All facts together, about some arguments; those that follow from others are left out.
pub fn formula(facts: &[Fact], arguments: &[Term]) -> Term {
    let exact = |position: usize| {
        facts.iter().any(|fact| {
            matches!(fact, Fact::Constant(one, Comparison::Equal, _) | Fact::Truth(one, _) if *one == position)
        })
    };
    let kept = facts.iter().filter(|fact| match **fact {
        Fact::Constant(_, Comparison::Equal, _) | Fact::Truth(..) => true,
        Fact::Constant(one, comparison, value) => {
            let tighter = facts.iter().any(|other| {
                matches!((comparison, *other),
                    (Comparison::AtMost, Fact::Constant(same, Comparison::AtMost, least)) if same == one && least < value)
                    || matches!((comparison, *other),
                    (Comparison::AtLeast, Fact::Constant(same, Comparison::AtLeast, most)) if same == one && most > value)
                    || matches!((comparison, *other),
                    (Comparison::Different, Fact::Constant(same, Comparison::AtMost, least)) if same == one && least < value)
                    || matches!((comparison, *other),
                    (Comparison::Different, Fact::Constant(same, Comparison::AtLeast, most)) if same == one && most > value)
            });
            !exact(one) && !tighter
        }
        Fact::Numbers(one, comparison, other) => {
            let equal = comparison != Comparison::Equal && facts.contains(&Fact::Numbers(one, Comparison::Equal, other));
            let both_exact = exact(one) && exact(other);
            !(equal || both_exact)
        }
        Fact::Truths(one, other, _) => !(exact(one) && exact(other)),
    });
    Term::all(kept.map(|fact| fact.term(arguments)))
}

/// Which parameters are compared with each other, and with which constants.
pub struct Vocabulary {
    /// For each relation and parameter its class.
    class: IndexMap<(RelationId, usize), usize>,
    constants: IndexMap<usize, BTreeSet<i128>>,
}

impl Vocabulary {
    /// Looks through the clauses: what occurs in one condition, or becomes an argument, belongs together.
    pub fn new(system: &HornSystem) -> Self {
        let mut sets = Sets::default();
        let mut position: IndexMap<(RelationId, usize), usize> = IndexMap::new();
        for (relation, what) in system.relations.enumerate() {
            for number in 0..what.parameters.len() {
                position.insert((relation, number), sets.add());
            }
        }
        let mut constants: Vec<(usize, i128)> = Vec::new();
        for clause in system.clauses.iter() {
            let mut variables: IndexMap<Variable, usize> = IndexMap::new();
            for application in clause.body.iter().chain(&clause.head) {
                for (number, argument) in application.arguments.iter().enumerate() {
                    if *argument.sort() == Sort::Int {
                        let here = position[&(application.relation, number)];
                        join(&mut sets, &mut variables, &mut constants, argument, Some(here));
                    }
                }
            }
            for part in smt::visit::conjuncts(&clause.constraint) {
                join(&mut sets, &mut variables, &mut constants, &part, None);
            }
        }
        let class = position.into_iter().map(|(key, set)| (key, sets.find(set))).collect();
        let mut found: IndexMap<usize, BTreeSet<i128>> = IndexMap::new();
        for (set, value) in constants {
            found.entry(sets.find(set)).or_default().insert(value);
        }
        for values in found.values_mut() {
            let mut sorted: Vec<i128> = values.iter().copied().collect();
            sorted.sort_by_key(|value| value.unsigned_abs());
            sorted.truncate(MOST_CONSTANTS);
            *values = sorted.into_iter().collect();
        }
        Self { class, constants: found }
    }

    /// The same, for some of the relations in another order.
    pub fn of_some(&self, kept: &IdVec<RelationId, RelationId>) -> Self {
        let class = kept.enumerate().flat_map(|(relation, old)| {
            let parameters = self.class.iter().filter(move |((of, _), _)| of == old);
            parameters.map(move |((_, number), class)| ((relation, *number), *class))
        });
        Self { class: class.collect(), constants: self.constants.clone() }
    }

    /// All facts about a relation that are so for some values.
    pub fn facts(&self, system: &HornSystem, relation: RelationId, values: &[Option<Value>]) -> Vec<Fact> {
        let parameters = &system.relations[relation].parameters;
        let mut found = Vec::new();
        for (one, parameter) in parameters.iter().enumerate() {
            let class = self.class[&(relation, one)];
            match parameter.sort {
                Sort::Int => {
                    for value in self.constants.get(&class).into_iter().flatten() {
                        found.extend(ALL.map(|comparison| Fact::Constant(one, comparison, *value)));
                    }
                    for (other, second) in parameters.iter().enumerate().skip(one + 1) {
                        if second.sort == Sort::Int && self.class[&(relation, other)] == class {
                            found.extend(ALL.map(|comparison| Fact::Numbers(one, comparison, other)));
                        }
                    }
                }
                Sort::Bool => {
                    found.extend([true, false].map(|value| Fact::Truth(one, value)));
                    for other in
                        (one + 1..parameters.len()).filter(|other| parameters[*other].sort == Sort::Bool)
                    {
                        found.extend([true, false].map(|same| Fact::Truths(one, other, same)));
                    }
                }
                Sort::BitVec(_) | Sort::Array(_) => {}
            }
        }
        found.retain(|fact| fact.holds(values));
        found
    }
}

/// Puts the numbers of a term into one set.
fn join(
    sets: &mut Sets,
    variables: &mut IndexMap<Variable, usize>,
    constants: &mut Vec<(usize, i128)>,
    term: &Term,
    set: Option<usize>,
) {
    let mut set = set;
    for variable in term.free_variables().into_iter().filter(|variable| variable.sort == Sort::Int) {
        let here = *variables.entry(variable).or_insert_with(|| sets.add());
        match set {
            Some(set) => sets.join(set, here),
            None => set = Some(here),
        }
    }
    let Some(set) = set else { return };
    term.walk(|inner| {
        // Where a number is a bound, the other side of the bound is worth a try as well.
        let bound = match (inner.operation(), inner.operands()) {
            (Operation::Int(value), _) => Some(*value),
            (Operation::Less, [low, high]) => match (low.as_literal(), high.as_literal()) {
                (Some(low), _) => low.as_int().and_then(|low| low.checked_add(1)),
                (_, Some(high)) => high.as_int().and_then(|high| high.checked_sub(1)),
                _ => None,
            },
            (Operation::LessOrEqual, [low, high]) => match (low.as_literal(), high.as_literal()) {
                (Some(low), _) => low.as_int().and_then(|low| low.checked_sub(1)),
                (_, Some(high)) => high.as_int().and_then(|high| high.checked_add(1)),
                _ => None,
            },
            _ => None,
        };
        constants.extend(bound.map(|value| (set, value)));
        ControlFlow::<()>::Continue(())
    });
}

/// Disjoint sets.
#[derive(Default)]
struct Sets {
    parent: Vec<usize>,
}

impl Sets {
    fn add(&mut self) -> usize {
        self.parent.push(self.parent.len());
        self.parent.len() - 1
    }
    fn find(&mut self, mut set: usize) -> usize {
        while self.parent[set] != set {
            self.parent[set] = self.parent[self.parent[set]];
            set = self.parent[set];
        }
        set
    }
    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        self.parent[one.max(other)] = one.min(other);
    }
}
