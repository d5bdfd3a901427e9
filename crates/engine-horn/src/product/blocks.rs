//! Large blocks: keeps only the start and enough relations to cut every cycle; all paths between two of them
//! become one clause.
//!
//! Beyer, Cimatti, Griggio, Keremoglu, Sebastiani: Software model checking via large-block encoding (FMCAD
//! 2009), with a formula that grows with the number of clauses, not of paths. Exact: the remaining relations
//! have the same derivations. Each removed relation gets a Boolean that says whether it is derived, and a
//! copy of those of its parameters that do not have the same value after all clauses that lead to it. If it
//! is derived, one of its clauses derives it, from a derived relation, with matching values.
//!
//! Clauses without cycles become one clause from the start to `false`.

use indexmap::{IndexMap, IndexSet};
use ir::{IdVec, LocationId};
use smt::horn::{Application, Clause, ClauseId, HornSystem, RelationId};
use smt::{Instance, Symbol, Term, Variable};
use transitions::loop_heads;
use verdict::Budget;

/// The most clauses that are inlined in total.
const MOST_PARTS: usize = 60_000;

/// Clauses with fewer relations.
pub struct Blocks {
    /// The clauses.
    pub system: HornSystem,
    /// The relation of the old clauses that each relation stands for.
    pub kept: IdVec<RelationId, RelationId>,
}

/// Removes relations. `None` when clauses have several premises, or the result would be too large or take too
/// long.
pub fn blocks(system: &HornSystem, budget: &Budget) -> Option<Blocks> {
    if system.clauses.iter().any(|clause| clause.body.len() > 1) {
        return None;
    }
    let paths = Paths::new(system);
    let mut result = Blocks { system: HornSystem::default(), kept: IdVec::new() };
    let mut numbers: IndexMap<RelationId, RelationId> = IndexMap::new();
    for relation in &paths.cuts {
        let what = &system.relations[*relation];
        numbers.insert(*relation, result.system.relation(what.name.clone(), what.parameters.clone()));
        result.kept.push(*relation);
    }
    let renumbered = |application: &Application| Application {
        relation: numbers[&application.relation],
        arguments: application.arguments.clone(),
    };
    let mut parts = 0;
    for clause in system.clauses.iter().filter(|clause| clause.body.is_empty()) {
        let head = clause.head.as_ref().map(&renumbered);
        result.system.clause(Clause { head, ..clause.clone() });
    }
    for source in &paths.cuts {
        let inner = paths.inner(*source);
        let ends: IndexSet<Option<RelationId>> = inner
            .iter()
            .chain([source])
            .flat_map(|relation| &paths.leaving[*relation])
            .map(|clause| system.clauses[*clause].head.as_ref().map(|head| head.relation))
            .filter(|end| end.is_none_or(|end| paths.cuts.contains(&end)))
            .collect();
        for end in ends {
            let between = paths.between(*source, &inner, end);
            let block = paths.block(*source, &between, end, &mut parts);
            if parts > MOST_PARTS || budget.check(0).is_err() {
                return None;
            }
            let parameters = system.relations[*source].parameters.iter().map(Variable::term).collect();
            let body = Application { relation: numbers[source], arguments: parameters };
            let head = end.map(|end| {
                let parameters = &system.relations[end].parameters;
                Application { relation: numbers[&end], arguments: parameters.iter().map(after).collect() }
            });
            result.system.clause(Clause { body: vec![body], constraint: block, head });
        }
    }
    Some(result)
}

/// A parameter of the relation that a block leads to.
fn after(parameter: &Variable) -> Term {
    parameter.instance(Instance::Primed).term()
}

/// The value that a parameter has after all clauses that lead to its relation, if it is a name or literal.
fn shared(arguments: &[Vec<Term>], position: usize) -> Option<Term> {
    let (first, others) = arguments.split_first()?;
    let value = &first[position];
    let is_simple = value.as_variable().is_some() || value.is_literal();
    (is_simple && others.iter().all(|other| other[position] == *value)).then(|| value.clone())
}

struct Paths<'a> {
    system: &'a HornSystem,
    leaving: IdVec<RelationId, Vec<ClauseId>>,
    /// The relations that stay.
    cuts: IndexSet<RelationId>,
}

impl<'a> Paths<'a> {
    fn new(system: &'a HornSystem) -> Self {
        let mut leaving: IdVec<RelationId, Vec<ClauseId>> =
            system.relations.iter().map(|_| Vec::new()).collect();
        for (id, clause) in system.clauses.enumerate() {
            if let Some(body) = clause.body.first() {
                leaving[body.relation].push(id);
            }
        }
        let first = system.clauses.iter().filter(|clause| clause.body.is_empty());
        let mut cuts: IndexSet<RelationId> =
            first.filter_map(|clause| Some(clause.head.as_ref()?.relation)).collect();
        let targets = |at: LocationId| -> Vec<LocationId> {
            let clauses = leaving[RelationId(at.0)].iter();
            clauses
                .filter_map(|clause| Some(LocationId(system.clauses[*clause].head.as_ref()?.relation.0)))
                .collect()
        };
        for start in cuts.clone() {
            cuts.extend(loop_heads(LocationId(start.0), targets).into_iter().map(|head| RelationId(head.0)));
        }
        cuts.sort_unstable();
        Self { system, leaving, cuts }
    }

    fn heads(&self, relation: RelationId) -> impl Iterator<Item = RelationId> + '_ {
        let clauses = self.leaving[relation].iter();
        clauses.filter_map(|clause| Some(self.system.clauses[*clause].head.as_ref()?.relation))
    }

    /// The relations that are left out, and can be reached from one that stays without another such.
    fn inner(&self, source: RelationId) -> IndexSet<RelationId> {
        let mut found: IndexSet<RelationId> = IndexSet::new();
        let mut open = vec![source];
        while let Some(relation) = open.pop() {
            for next in self.heads(relation).filter(|next| !self.cuts.contains(next)) {
                if found.insert(next) {
                    open.push(next);
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Those of them from which an end can be reached.
    fn between(
        &self,
        source: RelationId,
        inner: &IndexSet<RelationId>,
        end: Option<RelationId>,
    ) -> IndexSet<RelationId> {
        let mut entering: IndexMap<RelationId, Vec<RelationId>> = IndexMap::new();
        let mut found: IndexSet<RelationId> = IndexSet::new();
        for relation in inner {
            for clause in &self.leaving[*relation] {
                let head = self.system.clauses[*clause].head.as_ref().map(|head| head.relation);
                if head == end {
                    found.insert(*relation);
                }
                if let Some(head) = head.filter(|head| inner.contains(head)) {
                    entering.entry(head).or_default().push(*relation);
                }
            }
        }
        let mut at = 0;
        while at < found.len() {
            let relation = found[at];
            found.extend(entering.get(&relation).into_iter().flatten().copied());
            at += 1;
        }
        found.swap_remove(&source);
        found.sort_unstable();
        found
    }

    /// A relation and the ones after it, each after all from which clauses lead to it.
    fn in_order(&self, source: RelationId, between: &IndexSet<RelationId>) -> Vec<RelationId> {
        let mut found: IndexSet<RelationId> = IndexSet::new();
        let mut order = Vec::new();
        // With each relation, how many of its heads were looked at.
        let mut open = vec![(source, 0)];
        found.insert(source);
        while let Some((relation, looked_at)) = open.pop() {
            match self.heads(relation).nth(looked_at) {
                Some(next) => {
                    open.push((relation, looked_at + 1));
                    if between.contains(&next) && found.insert(next) {
                        open.push((next, 0));
                    }
                }
                None => order.push(relation),
            }
        }
        order.reverse();
        order
    }

    /// What the variables of a clause are called where the parameters of its premise have names, and what
    /// the arguments of the premise say of these.
    fn instance(&self, number: ClauseId, named: &[Term]) -> (IndexMap<Variable, Term>, Vec<Term>) {
        let clause = &self.system.clauses[number];
        let mut names: IndexMap<Variable, Term> = IndexMap::new();
        let mut compared = Vec::new();
        for (name, argument) in named.iter().zip(clause.body.iter().flat_map(|body| &body.arguments)) {
            match argument.as_variable() {
                Some(variable) if !names.contains_key(&variable) => {
                    names.insert(variable, name.clone());
                }
                Some(_) | None => compared.push((name, argument)),
            }
        }
        for variable in clause.variables() {
            let fresh = || variable.instance(Instance::Use(number.0)).term();
            names.entry(variable.clone()).or_insert_with(fresh);
        }
        let known = compared.into_iter().map(|(name, argument)| name.equals(&argument.substitute(&names)));
        let known = known.collect();
        (names, known)
    }

    /// All paths from a relation through others to an end.
    fn block(
        &self,
        source: RelationId,
        between: &IndexSet<RelationId>,
        end: Option<RelationId>,
        parts: &mut usize,
    ) -> Term {
        let derived = |relation: RelationId| Term::bool_variable(Symbol::Derived(relation.0));
        let mut cases: IndexMap<Option<RelationId>, Vec<Term>> = IndexMap::new();
        cases.insert(end, Vec::new());
        cases.extend(between.iter().map(|relation| (Some(*relation), Vec::new())));
        let parameters = |relation: RelationId| &self.system.relations[relation].parameters;
        // What the parameters of relations are called, and what clauses to them make of each.
        let mut names: IndexMap<RelationId, Vec<Term>> = IndexMap::new();
        let mut arriving: IndexMap<RelationId, Vec<Vec<Term>>> = IndexMap::new();
        names.insert(source, parameters(source).iter().map(Variable::term).collect());
        for relation in self.in_order(source, between) {
            if relation != source {
                let arguments = arriving.get(&relation).map_or(&[][..], Vec::as_slice);
                let copies = parameters(relation).iter().enumerate().map(|(position, parameter)| {
                    shared(arguments, position)
                        .unwrap_or_else(|| parameter.instance(Instance::At(relation.0)).term())
                });
                names.insert(relation, copies.collect());
            }
            for number in &self.leaving[relation] {
                let clause = &self.system.clauses[*number];
                let head = clause.head.as_ref().map(|head| head.relation);
                if head != end && head.is_none_or(|head| !between.contains(&head)) {
                    continue;
                }
                *parts += 1;
                let (here, known) = self.instance(*number, &names[&relation]);
                let mut all = known;
                if relation != source {
                    all.push(derived(relation));
                }
                all.push(clause.constraint.substitute(&here));
                if let Some(application) = &clause.head {
                    let values = application.arguments.iter().map(|argument| argument.substitute(&here));
                    if head == end {
                        let there = parameters(application.relation).iter().map(after);
                        all.extend(there.zip(values).map(|(there, value)| there.equals(&value)));
                    } else {
                        arriving.entry(application.relation).or_default().push(values.collect());
                    }
                }
                cases.entry(head).or_default().push(Term::all(all));
            }
        }
        // Where clauses arrive with different arguments, the copies are one of them.
        for (relation, arguments) in &arriving {
            let arrivals = cases.get_mut(&Some(*relation)).into_iter().flatten();
            for (case, values) in arrivals.zip(arguments) {
                let same = names[relation].iter().zip(values).map(|(name, value)| name.equals(value));
                *case = Term::all(same.chain([case.clone()]));
            }
        }
        Term::all(cases.into_iter().map(|(head, cases)| match head {
            _ if head == end => Term::any(cases),
            Some(relation) => derived(relation).implies(&Term::any(cases)),
            None => Term::any(cases),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modular::weaken::is_safe;
    use smt::Sort;
    use smt::horn::{Interpretation, Solution, solve};

    /// `x` is any number; it becomes `x + 1` or `x + 2`, and then its double. `false` if that is `bad`, or
    /// back to the beginning.
    fn doubled(bad: i128, circle: bool) -> HornSystem {
        let x = Variable::new("x", Sort::Int);
        let mut system = HornSystem::default();
        let [first, second, third] =
            ["first", "second", "third"].map(|name| system.relation(name, vec![x.clone()]));
        let here = |relation, argument: Term| Application { relation, arguments: vec![argument] };
        let mut add = |body: Vec<Application>, constraint: Term, head: Option<Application>| {
            system.clause(Clause { body, constraint, head });
        };
        let always = || Term::bool(true);
        add(vec![], x.term().at_least(&Term::int(0)), Some(here(first, x.term())));
        for more in [1, 2] {
            let next = x.term().plus(&Term::int(more));
            add(vec![here(first, x.term())], always(), Some(here(second, next)));
        }
        let twice = Term::int(2).times(&x.term());
        add(vec![here(second, x.term())], always(), Some(here(third, twice)));
        add(vec![here(third, x.term())], x.term().equals(&Term::int(bad)), None);
        if circle {
            add(vec![here(third, x.term())], always(), Some(here(first, x.term())));
        }
        system
    }

    #[test]
    fn without_circles_the_start_decides() {
        let budget = Budget::steps_for(60.0);
        for (bad, safe) in [(0, true), (2, false), (3, true), (4, false), (-2, true)] {
            let blocks = blocks(&doubled(bad, false), &budget).expect("one premise each");
            assert_eq!((blocks.system.relations.len(), blocks.system.clauses.len()), (1, 2));
            let start = Variable::new("x", Sort::Int).term().at_least(&Term::int(0));
            let known = Interpretation { formulas: [start].into_iter().collect() };
            assert_eq!(is_safe(&blocks.system, &known, &budget), safe, "{bad}");
        }
    }

    #[test]
    fn what_is_left_has_a_solution_if_all_have() {
        let budget = Budget::steps_for(60.0);
        for (bad, safe) in [(0, true), (1, true), (2, false), (6, false), (-1, true)] {
            let blocks = blocks(&doubled(bad, true), &budget).expect("one premise each");
            assert_eq!(blocks.system.relations.len(), 1);
            match solve(&blocks.system, &budget) {
                Solution::Solved(_) => assert!(safe, "{bad}"),
                Solution::Refuted(_) => assert!(!safe, "{bad}"),
                Solution::Unknown(why) => panic!("{bad}: {why}"),
            }
        }
    }

    /// `y` stays the same while `x` becomes one of two values, and is compared with it at the end.
    #[test]
    fn what_stays_the_same_has_one_name() {
        let [x, y] = ["x", "y"].map(|name| Variable::new(name, Sort::Int));
        let mut system = HornSystem::default();
        let [first, second] =
            ["first", "second"].map(|name| system.relation(name, vec![x.clone(), y.clone()]));
        let here = |relation, x: Term| Application { relation, arguments: vec![x, y.term()] };
        let mut add = |body: Vec<Application>, constraint: Term, head: Option<Application>| {
            system.clause(Clause { body, constraint, head });
        };
        add(vec![], x.term().equals(&Term::int(0)), Some(here(first, x.term())));
        for more in [1, 2] {
            let next = x.term().plus(&Term::int(more));
            add(vec![here(first, x.term())], y.term().at_least(&Term::int(3)), Some(here(second, next)));
        }
        add(vec![here(second, x.term())], x.term().equals(&y.term()), None);
        let budget = Budget::steps_for(60.0);
        let blocks = blocks(&system, &budget).expect("one premise each");
        let end = blocks.system.clauses.iter().find(|clause| clause.head.is_none()).expect("there is one");
        let named = end.constraint.free_variables();
        assert!(named.contains(&x.instance(Instance::At(second.0))), "it depends on the path: {named:?}");
        assert!(!named.contains(&y.instance(Instance::At(second.0))), "it does not: {named:?}");
        for (start, safe) in [(0, true), (1, false), (2, false)] {
            let start = x.term().equals(&Term::int(start));
            let known = Interpretation { formulas: [start].into_iter().collect() };
            assert_eq!(is_safe(&blocks.system, &known, &budget), safe);
        }
    }
}
