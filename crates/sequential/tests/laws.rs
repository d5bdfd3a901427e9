//! The law of predicate abstraction: the abstraction of a step allows what the step does. Steps are those of
//! the annotated programs, predicates and states are random; evaluation, not the solver, gives the truth.

use indexmap::IndexMap;
use ir::passes::{Lowering, concrete};
use sequential::predicates::atoms::{atoms, with_equations};
use sequential::predicates::{Abstractor, Vocabulary};
use smt::expressions::Mode;
use smt::{Sort, Term, Value, Variable};
use std::path::{Path, PathBuf};
use testkit::random::Random;
use transitions::scopes::other;
use transitions::{Scoped, ScopedStep, System, prepare};
use verdict::{Budget, Fact, Literal, Moment, Predicate, PredicateRelation};

/// How many states are tried for each step.
const STATES: usize = 150;
/// How many predicates are made for each program.
const PREDICATES: usize = 10;

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/predicates");
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the folder is there").flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn read(file: &Path) -> verdict::Views {
    let text = std::fs::read(file).expect("it can be read");
    let source = frontend_c::Source { name: "test.c".to_owned(), text };
    let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
    let lowering = Lowering { assertions: true, reach_error: true, ..Lowering::default() };
    concrete(&program, lowering).into()
}

fn number(random: &mut Random) -> i128 {
    [0, 1, 2, 3, 10, 100, -1, 4_294_967_295][random.below(8)]
}

/// A predicate over shared variables, or over those and the own ones of a template.
fn random_predicate(scoped: &Scoped<'_>, random: &mut Random) -> Option<Predicate> {
    let templates: Vec<_> =
        scoped.own.enumerate().filter(|(_, own)| !own.is_empty()).map(|(id, _)| id).collect();
    let scope =
        (!templates.is_empty() && random.below(2) == 0).then(|| templates[random.below(templates.len())]);
    let own = scope.into_iter().flat_map(|template| scoped.own[template].keys());
    let mut all: Vec<&Variable> = own.filter(|variable| variable.sort == Sort::Int).collect();
    let first = (!all.is_empty()).then(|| all[random.below(all.len())]);
    all.extend(scoped.shared.keys().filter(|variable| variable.sort == Sort::Int));
    if all.is_empty() {
        return None;
    }
    // A predicate of a template speaks of its own variables.
    let left = first.unwrap_or_else(|| all[random.below(all.len())]).term();
    let right =
        if random.below(2) == 0 { all[random.below(all.len())].term() } else { Term::int(number(random)) };
    let formula = if random.below(2) == 0 { left.equals(&right) } else { left.at_most(&right) };
    Some(Predicate { scope, formula })
}

type State = IndexMap<Variable, Value>;

/// Random values for all variables of a step, those of another thread, and inputs.
fn random_state(scoped: &Scoped<'_>, step: &ScopedStep, random: &mut Random) -> State {
    let own = scoped.own.iter().flat_map(IndexMap::keys);
    let all: Vec<Variable> = scoped
        .shared
        .keys()
        .cloned()
        .chain(own.clone().cloned())
        .chain(own.map(other))
        .chain(step.inputs.iter().cloned())
        .collect();
    let values = all.into_iter().filter_map(|variable| {
        let value = match variable.sort {
            Sort::Int => Value::Int(number(random)),
            Sort::Bool => Value::Bool(random.below(2) == 0),
            Sort::BitVec(_) | Sort::Array(_) => return None,
        };
        Some((variable, value))
    });
    values.collect()
}

fn holds(formula: &Term, state: &State) -> Option<bool> {
    formula.evaluate(&|variable| state.get(variable).cloned()).ok()?.as_bool()
}

/// Whether a state and what a step makes of it are as a relation says; `None` when some value is missing.
fn allows(
    relation: &PredicateRelation,
    scoped: &Scoped<'_>,
    step: &ScopedStep,
    predicates: &[Predicate],
    state: &State,
) -> Option<bool> {
    let fact = |fact: Fact| holds(&scoped.fact(step, predicates, fact), state);
    let literal = |one: &Literal| Some(fact(one.fact)? == one.holds);
    for (new, cubes) in &relation.functions {
        let mut value = false;
        for cube in cubes {
            value |= cube.iter().map(literal).collect::<Option<Vec<bool>>>()?.iter().all(|one| *one);
        }
        if fact(*new)? != value {
            return Some(false);
        }
    }
    for clause in &relation.clauses {
        if !clause.iter().map(literal).collect::<Option<Vec<bool>>>()?.contains(&true) {
            return Some(false);
        }
    }
    Some(true)
}

#[test]
fn the_abstraction_of_a_step_allows_what_the_step_does() {
    let budget = Budget::steps_for(300.0);
    let (mut tried, mut of_others, mut made_up) = (0, 0, 0);
    for (seed, file) in programs().iter().enumerate() {
        let views = read(file);
        let program = prepare(&views, false, &budget).expect("it is small");
        let system = System::new(program, Mode::Integers);
        let scoped = Scoped::new(&system, &|| false).expect("there is one main");
        let mut random = Random::new(seed as u64);
        let mut vocabulary = Vocabulary::default();
        for _ in 0..PREDICATES {
            if let Some(predicate) = random_predicate(&scoped, &mut random) {
                vocabulary.add(&scoped, predicate, &budget).expect("there is time");
            }
        }
        let predicates = &vocabulary.predicates;
        let mut abstractor = Abstractor::new(&scoped);
        for (number, step) in scoped.steps.iter().enumerate() {
            let abstraction = abstractor.step(number, predicates, &budget).expect("there is time");
            for _ in 0..STATES {
                let state = random_state(&scoped, step, &mut random);
                let relations =
                    std::iter::once(&abstraction.own).chain(abstraction.others.iter().map(|(_, one)| one));
                let facts: Vec<Term> = (0..predicates.len())
                    .flat_map(|predicate| {
                        [Moment::Before, Moment::OtherBefore].map(|moment| Fact { predicate, moment })
                    })
                    .map(|fact| scoped.fact(step, predicates, fact))
                    .collect();
                if holds(&scoped.premise(step, &facts), &state) != Some(true) {
                    continue;
                }
                for (which, relation) in relations.enumerate() {
                    let Some(allowed) = allows(relation, &scoped, step, predicates, &state) else { continue };
                    assert!(allowed, "{}: step {number} of {predicates:?}: {relation:?}", file.display());
                    tried += 1;
                    of_others += usize::from(which > 0);
                    // The same with a function turned around is seen to be wrong.
                    let mut wrong = relation.clone();
                    if let Some((_, cubes)) = wrong.functions.first_mut() {
                        *cubes = if cubes.is_empty() { vec![vec![]] } else { vec![] };
                        made_up +=
                            usize::from(allows(&wrong, &scoped, step, predicates, &state) == Some(false));
                    }
                }
            }
        }
    }
    assert!(
        tried > 2_000 && of_others > 100 && made_up > 100,
        "{tried} tried, {of_others} of others, {made_up} made up"
    );
}

#[test]
fn what_a_step_cannot_do_is_learnt_once() {
    let budget = Budget::steps_for(60.0);
    let file = programs().into_iter().find(|file| file.ends_with("one-of-three.c")).expect("it is there");
    let views = read(&file);
    let program = prepare(&views, false, &budget).expect("it is small");
    let system = System::new(program, Mode::Integers);
    let scoped = Scoped::new(&system, &|| false).expect("there is one main");
    let x =
        scoped.shared.keys().find(|variable| variable.name.text().starts_with("x+0")).expect("there is an x");
    let predicates: Vec<Predicate> =
        [0, 1].map(|number| Predicate { scope: None, formula: x.term().equals(&Term::int(number)) }).to_vec();
    let mut abstractor = Abstractor::new(&scoped);
    let number = (0..scoped.steps.len())
        .find(|number| scoped.steps[*number].updates.contains_key(x))
        .expect("something sets x");
    let both =
        [0, 1].map(|predicate| Literal { fact: Fact { predicate, moment: Moment::After }, holds: true });
    assert!(abstractor.strengthen(number, None, &both, &predicates, &budget).expect("there is time"));
    assert!(!abstractor.strengthen(number, None, &both, &predicates, &budget).expect("there is time"));
    let one = &both[..1];
    assert!(!abstractor.strengthen(number, None, one, &predicates, &budget).expect("there is time"));
    let learnt = abstractor.step(number, &predicates, &budget).expect("there is time").own.clauses;
    assert!(learnt.contains(&both.map(|one| Literal { holds: false, ..one }).to_vec()), "{learnt:?}");
}

#[test]
fn atoms_have_one_form() {
    let [x, y] = ["x", "y"].map(Term::int_variable);
    let three = Term::int(3);
    // x < 3, x >= 3 and not x <= 2 are one atom, as are x = 3 and 3 = x.
    let forms = [x.less_than(&three), x.at_least(&three), x.at_most(&Term::int(2)).not()];
    for form in &forms {
        assert_eq!(atoms(form), [x.at_most(&Term::int(2))], "{form}");
    }
    assert_eq!(atoms(&x.equals(&three)), atoms(&three.equals(&x)));
    let equation = x.minus(&y).at_most(&Term::int(0)).and(&x.minus(&y).at_most(&Term::int(-1)).not());
    let found = with_equations(&atoms(&equation).into_iter().collect());
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [x.equals(&y)]);
}
