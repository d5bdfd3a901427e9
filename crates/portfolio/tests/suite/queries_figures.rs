//! The intermediate programs of paper 5: figures 4.3, 4.5, 4.6, 6.1, 7.1 and 7.2, as far as the text
//! determines them.
//!
//! The thesis counts waiting for a condition, and an addition, as one command each; so these programs have
//! them in atomic regions.

use crate::queries::{is_cell, read};
use engine_queries::build::{Built, EnvironmentQuery, Kind, Level, Promise};
use engine_queries::model::Model;
use engine_queries::query::Search;
use engine_queries::wp::wp_of_path;
use indexmap::IndexSet;
use portfolio::pipeline;
use sequential::{Outcome, check};
use smt::expressions::Mode;
use smt::{Answer, Term, Variable, can_fail};
use transitions::early_started::EarlyStarted;
use transitions::threads::{ThreadNumber, Threads};
use transitions::{System, prepare};
use verdict::queries::{Places, place};
use verdict::{Budget, Check, QueriesClaim};

const PETERSON: &str = "#include <assert.h>
    #include <pthread.h>
    extern void __VERIFIER_atomic_begin(void);
    extern void __VERIFIER_atomic_end(void);
    extern void __VERIFIER_assume(int);
    _Atomic _Bool claim0, claim1, cs0, cs1;
    _Atomic int turn;
    void *t0(void *arg) {
      while (1) {
        claim0 = 1;
        turn = 1;
        __VERIFIER_atomic_begin(); __VERIFIER_assume(!(claim1 && turn != 0)); __VERIFIER_atomic_end();
        cs0 = 1;
        assert(!cs1);
        cs0 = 0;
        claim0 = 0;
      }
      return arg;
    }
    void *t1(void *arg) {
      while (1) {
        claim1 = 1;
        turn = 0;
        __VERIFIER_atomic_begin(); __VERIFIER_assume(!(claim0 && turn != 1)); __VERIFIER_atomic_end();
        cs1 = 1;
        cs1 = 0;
        claim1 = 0;
      }
      return arg;
    }
    int main(void) { pthread_t t; pthread_create(&t, 0, t0, 0); pthread_create(&t, 0, t1, 0); return 0; }";

const RING: &str = "#include <assert.h>
    #include <pthread.h>
    extern void __VERIFIER_atomic_begin(void);
    extern void __VERIFIER_atomic_end(void);
    _Atomic int a = 1, b = 1, c = 1;
    void *t1(void *arg) {
      for (int k1 = 0; k1 < 2; k1++) { __VERIFIER_atomic_begin(); a = a + b; __VERIFIER_atomic_end(); }
      assert(a <= 15);
      return arg;
    }
    void *t2(void *arg) {
      for (int k2 = 0; k2 < 2; k2++) { __VERIFIER_atomic_begin(); b = b + c; __VERIFIER_atomic_end(); }
      return arg;
    }
    void *t3(void *arg) {
      for (int k3 = 0; k3 < 2; k3++) { __VERIFIER_atomic_begin(); c = c + a; __VERIFIER_atomic_end(); }
      return arg;
    }
    int main(void) {
      pthread_t t;
      pthread_create(&t, 0, t1, 0); pthread_create(&t, 0, t2, 0); pthread_create(&t, 0, t3, 0);
      return 0;
    }";

/// A model with the threads and variables of a program by name.
struct Named {
    model: Model,
    threads: Vec<String>,
}

impl Named {
    fn new(text: &str) -> Self {
        let lowered = pipeline::prepare(&read(text), Check::Assertions);
        let words = prepare(&lowered, false, &Budget::unlimited()).expect("it is small");
        let system = System::new(words, Mode::Integers);
        let settled = EarlyStarted::new(Threads::new(&system).expect("threads are known"), &system);
        let threads = settled.threads.threads.iter().map(|t| words.templates[t.template].name.clone());
        Self { threads: threads.collect(), model: Model::new(&system, &settled) }
    }
    fn thread(&self, name: &str) -> ThreadNumber {
        self.threads.iter().position(|other| other == name).expect("there is such a thread")
    }
    fn variable(&self, name: &str) -> Variable {
        let found = self.model.variables.keys().find(|variable| is_cell(variable, name));
        found.expect("there is such a variable").clone()
    }
    fn term(&self, name: &str) -> Term {
        self.variable(name).term()
    }
    /// Where a thread is before it sets a variable to a value, and after that.
    fn steps(&self, thread: &str, name: &str, value: &Term) -> (IndexSet<usize>, IndexSet<usize>) {
        let variable = self.variable(name);
        let steps = self.model.threads[self.thread(thread)].steps.iter();
        let found = steps.filter(|step| step.updates.get(&variable) == Some(value));
        found.map(|step| (step.source, step.target)).unzip()
    }
    /// The program of the main thread.
    fn main_program(&self, order: &[ThreadNumber], claims: &[QueriesClaim], promises: &[Promise]) -> Built {
        let thread = &self.model.threads[order[0]];
        let reachable = vec![IndexSet::new(); thread.locations + 1];
        let level = Level { model: &self.model, order, position: 0, claims, reachable: &reachable };
        let errors: Vec<_> = thread.errors.iter().map(|error| (order[0], *error)).collect();
        level.build(None, promises, if promises.is_empty() { &errors } else { &[] })
    }
    fn same(&self, one: &Term, other: &Term) -> bool {
        let ranges = Term::all(self.model.variables.values().cloned());
        let same = one.implies(other).and(&other.implies(one));
        can_fail(&ranges.implies(&same), &Budget::steps_for(60.0)) == Answer::Unsat
    }
}

fn budget() -> Budget {
    Budget::steps_for(200.0)
}

/// Figure 4.3: the environment moves wherever the main thread can be interrupted, and its first move changes
/// what `t1` writes to anything. There is a spurious violation.
#[test]
fn figure_4_3() {
    let named = Named::new(PETERSON);
    let order = [named.thread("t0"), named.thread("t1")];
    let built = named.main_program(&order, &[], &[]);
    let thread = &named.model.threads[order[0]];
    let mut moves = 0;
    for (step, kind) in built.program.steps.iter().zip(&built.kinds) {
        if let Kind::Environment(at) = kind {
            moves += 1;
            assert!(!thread.atomic[*at]);
            for name in ["claim1", "turn", "cs1"] {
                assert!(
                    step.inputs
                        .iter()
                        .any(|input| Some(&input.term()) == step.updates.get(&named.variable(name)))
                );
            }
            for name in ["claim0", "cs0"] {
                assert!(
                    !named.model.variables.keys().any(|v| is_cell(v, name) && step.updates.contains_key(v))
                );
            }
        }
    }
    assert_eq!(moves, thread.atomic.iter().filter(|atomic| !**atomic).count());
    assert!(matches!(check(&built.program, &budget()), Outcome::Unsafe(_)));
}

/// Figures 4.5 and 4.6: with its first move the environment keeps some promises of error; with what example
/// 4.5.2 learns it keeps none of those of the figure.
#[test]
fn figures_4_5_and_4_6() {
    let named = Named::new(PETERSON);
    let order = [named.thread("t0"), named.thread("t1")];
    let (cs1, claim1) = (named.term("cs1"), named.term("claim1"));
    // The loop has one way in from outside and one from its end.
    let (first, second) = named.steps("t0", "claim0", &Term::bool(true));
    let (again, third) = named.steps("t0", "turn", &Term::int(1));
    assert_eq!((first.len(), third.len()), (2, 1));
    assert_eq!(second, again);
    let unclaimed = cs1.and(&claim1.not());
    let promise = |at: usize, formula: &Term| Promise { at, psi: formula.clone(), taken: Vec::new() };
    let late = cs1.and(&claim1.not().or(&named.term("turn").equals(&Term::int(0))));
    let early = first.iter().chain(&second).map(|at| promise(*at, &unclaimed));
    let promises: Vec<Promise> = early.chain(third.iter().map(|at| promise(*at, &late))).collect();
    let built = named.main_program(&order, &[], &promises);
    assert!(matches!(check(&built.program, &budget()), Outcome::Unsafe(_)));
    // Example 4.5.1: the question, with what holds after the path to line 7 and what leads to the violation
    // in line 9.
    let budget = budget();
    let mut search = Search::new(&named.model, order.to_vec(), &budget);
    search.claims[0].clear();
    let alpha = vec![named.term("claim0"), cs1.not().or(&claim1)];
    let query = EnvironmentQuery { alpha, beta: vec![cs1.clone(), claim1.not()] };
    assert_eq!(search.reach(1, query), Ok(None));
    let claims = search.claims[0].clone();
    assert_eq!(claims.len(), 1);
    assert!(claims[0].before.is_true(), "{}", claims[0].before);
    assert!(named.same(&claims[0].after, &unclaimed), "{}", claims[0].after);
    let built = named.main_program(&order, &claims, &promises);
    assert!(matches!(check(&built.program, &budget), Outcome::Safe(_)));
    // A claim that says less excludes less.
    let everywhere = Places { at: Vec::new(), before_start: None };
    let weaker = QueriesClaim {
        before: Term::bool(true),
        after: unclaimed.and(&named.term("claim0").not()),
        reachable: everywhere.clone(),
        moving: everywhere,
    };
    let built = named.main_program(&order, &[weaker], &promises);
    assert!(matches!(check(&built.program, &budget), Outcome::Unsafe(_)));
}

/// Figure 6.1: from `!cs1 && claim0 && (!claim1 || turn == 0)` to `cs1` there is one way: `t1` is in front of
/// its critical section (line 24).
#[test]
fn figure_6_1() {
    let named = Named::new(PETERSON);
    let order = vec![named.thread("t0"), named.thread("t1")];
    let cs1 = named.term("cs1");
    let alpha = vec![
        cs1.not(),
        named.term("claim0"),
        named.term("claim1").not().or(&named.term("turn").equals(&Term::int(0))),
    ];
    let budget = budget();
    let mut search = Search::new(&named.model, order.clone(), &budget);
    let query = EnvironmentQuery { alpha: alpha.clone(), beta: vec![cs1.clone()] };
    let taken = search.reach(1, query).expect("there is time").expect("there is a way");
    assert_eq!(taken.len(), 1);
    let leads = wp_of_path(&named.model, &taken, &cs1, &budget);
    let (line_24, _) = named.steps("t1", "cs1", &Term::bool(true));
    assert_eq!(line_24.len(), 1);
    let there = place(order[1]).term().equals(&Term::int(line_24[0] as i128));
    assert!(named.same(&leads, &there), "{leads}");
    // Without that one there is none.
    let alpha = alpha.into_iter().chain([there.not()]).collect();
    assert_eq!(search.reach(1, EnvironmentQuery { alpha, beta: vec![cs1] }), Ok(None));
}

/// Figure 7.2: two threads cannot go from `a == 1 && b == 1 && c == 1` to `a + 2 b > 15`, but to 15 they can.
/// What `t2` needs of `t3` for that is asked of it.
#[test]
fn figure_7_2() {
    let named = Named::new(RING);
    let order = vec![named.thread("t1"), named.thread("t2"), named.thread("t3")];
    let one = |name: &str| named.term(name).equals(&Term::int(1));
    let sum = Term::sum([named.term("a"), named.term("b"), named.term("b")]);
    let budget = budget();
    let ask = |limit: i128| {
        let mut search = Search::new(&named.model, order.clone(), &budget);
        let alpha = vec![one("a"), one("b"), one("c")];
        let answer =
            search.reach(1, EnvironmentQuery { alpha, beta: vec![sum.greater_than(&Term::int(limit))] });
        (answer.expect("there is time"), search.claims)
    };
    let (answer, claims) = ask(15);
    assert_eq!(answer, None);
    assert!(!claims[0].is_empty() && !claims[1].is_empty(), "{claims:?}");
    let (answer, _) = ask(14);
    let taken = answer.expect("there is a way");
    assert!(
        taken.iter().any(|step| step.thread == order[1]) && taken.iter().any(|step| step.thread == order[2])
    );
}
