//! Limits end every query in time, without leaks.

use smt::eliminate::eliminate;
use smt::horn::{Application, Clause, HornSystem, Solution, solve};
use smt::limits::resident_memory;
use smt::{Answer, NoAnswer, Operation, Solver, Sort, Term, Variable};
use std::time::Duration;
use verdict::{Budget, Exhausted};

/// A formula that no solver decides quickly: a product of two primes, bit by bit.
fn hard(width: u32) -> Term {
    let x = Term::variable("x", Sort::bit_vector(width));
    let y = Term::variable("y", Sort::bit_vector(width));
    let product = Term::bits(width, 0x1_0000_0f00_0000_3fed);
    let one = Term::bits(width, 1);
    Term::all([
        Term::binary(Operation::BitMultiply, &x, &y).equals(&product),
        Term::binary(Operation::UnsignedLess, &one, &x),
        Term::binary(Operation::UnsignedLess, &one, &y),
        Term::binary(Operation::UnsignedLess, &x, &Term::bits(width, 1 << 50)),
        Term::binary(Operation::UnsignedLess, &y, &Term::bits(width, 1 << 50)),
    ])
}

/// `x³ + y³ + z³ = 114` over the integers: no solution is known.
fn cubes() -> Term {
    let cube = |name: &str| {
        Term::int_variable(name).times(&Term::int_variable(name)).times(&Term::int_variable(name))
    };
    Term::sum([cube("x"), cube("y"), cube("z")]).equals(&Term::int(114))
}

#[test]
fn limits_on_time_and_steps_end_a_question() {
    let out_of_time = Answer::Unknown(NoAnswer::Exhausted(Exhausted::Time));
    for formula in [hard(128), cubes()] {
        let mut solver = Solver::new();
        solver.assert(&formula);
        assert_eq!(solver.check(&Budget::seconds(0.2)), out_of_time);
        let (one, other) = (Budget::steps_for(0.2), Budget::steps_for(0.4));
        assert_eq!(solver.check(&one), out_of_time);
        assert_eq!(smt::satisfiable(&formula, &other), out_of_time);
        assert_eq!((one.steps_left(), other.steps_left()), (Some(0), Some(0)));
        // The solver is still of use.
        let mut other = Solver::new();
        other.assert(&Term::int_variable("x").equals(&Term::int(4)));
        assert_eq!(other.check(&Budget::unlimited()), Answer::Sat);
        assert_eq!(other.int_value(&Term::int_variable("x")), Ok(4));
    }
}

#[test]
fn a_flag_ends_a_question() {
    let budget = Budget::unlimited();
    let cancel = budget.cancel.clone();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            cancel.cancel();
        });
        let answer = smt::satisfiable(&cubes(), &budget);
        assert_eq!(answer, Answer::Unknown(NoAnswer::Exhausted(Exhausted::Cancelled)));
    });
}

#[test]
fn memory_ends_a_question() {
    let budget = Budget { memory: resident_memory() / 2, ..Budget::unlimited() };
    let answer = smt::satisfiable(&cubes(), &budget);
    assert_eq!(answer, Answer::Unknown(NoAnswer::Exhausted(Exhausted::Memory)));
}

/// Horn clauses whose invariant has products: the search does not end.
#[test]
fn a_deadline_ends_a_search_for_invariants_and_an_elimination() {
    let [x, y, n] = ["x", "y", "n"].map(|name| Variable::new(name, Sort::Int));
    let mut system = HornSystem::default();
    let invariant = system.relation("invariant", vec![x.clone(), y.clone(), n.clone()]);
    let state = |x: Term, y: Term, n: Term| Application { relation: invariant, arguments: vec![x, y, n] };
    let (x, y, n) = (x.term(), y.term(), n.term());
    system.clause(Clause {
        body: vec![],
        constraint: x.equals(&Term::int(0)).and(&y.equals(&Term::int(0))),
        head: Some(state(x.clone(), y.clone(), n.clone())),
    });
    system.clause(Clause {
        body: vec![state(x.clone(), y.clone(), n.clone())],
        constraint: Term::bool(true),
        head: Some(state(x.plus(&Term::int(1)), y.plus(&x).plus(&n), n.clone())),
    });
    system.clause(Clause {
        body: vec![state(x.clone(), y.clone(), n.clone())],
        constraint: y
            .times(&Term::int(2))
            .differs(&x.times(&x.minus(&Term::int(1))).plus(&x.times(&n).times(&Term::int(2)))),
        head: None,
    });
    for budget in [Budget::seconds(0.3), Budget::steps_for(0.3)] {
        assert_eq!(solve(&system, &budget), Solution::Unknown(NoAnswer::Exhausted(Exhausted::Time)));
    }
    let variables = ["x", "y"].map(|name| Variable::new(name, Sort::Int));
    assert!(eliminate(&cubes(), &variables, &Budget::seconds(0.3)).is_err());
}

/// More pigeons than holes.
fn pigeons(holes: i128) -> Vec<Term> {
    let pigeons: Vec<Term> =
        (0..=holes).map(|number| Term::int_variable(format!("pigeon{number}").as_str())).collect();
    let mut rules = Vec::new();
    for (position, pigeon) in pigeons.iter().enumerate() {
        rules.push(Term::int(0).at_most(pigeon));
        rules.push(pigeon.less_than(&Term::int(holes)));
        rules.extend(pigeons[..position].iter().map(|other| pigeon.differs(other)));
    }
    rules
}

/// The library forgets assertions when it is interrupted; we must not. Each solver is stopped at another
/// moment, and then asked again.
#[test]
fn a_stopped_solver_forgets_nothing() {
    let (x, long) = (Term::int_variable("x"), Budget::unlimited());
    for moment in 0..150 {
        let mut bystander = Solver::new();
        bystander.assert(&x.at_least(&Term::int(0)));
        let mut solver = Solver::new();
        for rule in &pigeons(5)[..12] {
            solver.assert(rule);
        }
        solver.push();
        for rule in &pigeons(5)[12..] {
            solver.assert(rule);
        }
        let assumptions = [x.at_least(&Term::int(7)), x.at_most(&Term::int(9))];
        let budget = Budget::seconds(0.4);
        let cancel = budget.cancel.clone();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_micros(moment * 60));
                cancel.cancel();
            });
            assert_ne!(solver.check_assuming(&assumptions, &budget), Answer::Sat);
        });
        bystander.assert(&x.less_than(&Term::int(0)));
        assert_eq!(bystander.check(&long), Answer::Unsat);
        assert_eq!(solver.check_assuming(&assumptions, &long), Answer::Unsat);
        solver.pop();
        assert_eq!(solver.check_assuming(&assumptions, &long), Answer::Sat);
        assert!((7..=9).contains(&solver.int_value(&x).unwrap()));
        solver.assert(&x.less_than(&Term::int(7)));
        assert_eq!(solver.check_assuming(&assumptions, &long), Answer::Unsat);
        assert_eq!(solver.core(), [0]);
    }
}

/// What a few steps do not decide is decided by more, with all assertions.
#[test]
fn a_question_that_is_not_small_is_asked_again() {
    for holes in 2..7 {
        let mut solver = Solver::new();
        for rule in pigeons(holes) {
            solver.assert(&rule);
        }
        assert_eq!(solver.check(&Budget::unlimited()), Answer::Unsat, "{holes}");
        assert_eq!(
            smt::satisfiable(&Term::all(pigeons(holes)), &Budget::unlimited()),
            Answer::Unsat,
            "{holes}"
        );
    }
}

/// The example `killed_queries` does this ten thousand times.
#[test]
fn killed_questions_leak_no_memory() {
    let kill = |count: u32| {
        for round in 0..count {
            let mut solver = Solver::new();
            solver.assert(&if round % 2 == 0 { cubes() } else { hard(128) });
            let answer = solver.check(&Budget::seconds(0.004));
            assert_eq!(answer, Answer::Unknown(NoAnswer::Exhausted(Exhausted::Time)));
        }
    };
    std::thread::scope(|scope| {
        let growth = scope.spawn(|| {
            kill(20);
            let before = resident_memory();
            kill(100);
            resident_memory().saturating_sub(before)
        });
        let growth = growth.join().unwrap();
        // Other tests run beside this one.
        assert!(growth < 300 << 20, "{} MiB", growth >> 20);
    });
}
