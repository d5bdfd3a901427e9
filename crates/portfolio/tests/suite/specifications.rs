//! The engine `spec`: the examples of paper 2, safe and broken; specifications that are wrong in one way
//! each; drafts.

use checker::Checked;
use engine_spec::{Candidates, Failure, Mismatch, Problem, Spec};
use expect_test::expect;
use ir::Program;
use ir::specification::Specification;
use portfolio::Portfolio;
use portfolio::pipeline;
use verdict::{Budget, Check, Composition, Proof, Reason, Silent};

pub(crate) fn paper(name: &str) -> String {
    let file = crate::root().join("tests/programs/papers").join(name);
    std::fs::read_to_string(file).expect("the program is there")
}

pub(crate) fn figure(name: &str) -> String {
    let file = crate::root().join("tests/specifications").join(name);
    std::fs::read_to_string(file).expect("the specification is there")
}

pub(crate) fn read_c(text: &str) -> Program {
    let source = frontend_c::Source { name: "test.c".to_owned(), text: text.as_bytes().to_vec() };
    frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C")
}

pub(crate) fn read_spec(text: &str, program: &Program) -> Specification {
    let read = engine_spec::language::read("test.tspec", text.as_bytes(), program);
    read.unwrap_or_else(|problems| {
        panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

fn verdict(program: &str, specification: &str) -> Checked {
    let program = read_c(program);
    let specification = read_spec(specification, &program);
    let portfolio = Portfolio::default();
    let engine = Spec { specification: &specification, composer: &portfolio };
    pipeline::verify(&program, Check::Assertions, &engine, &Budget::steps_for(200.0), &Silent).verdict
}

fn proves(program: &str, specification: &str) -> bool {
    matches!(verdict(program, specification), Checked::Proved(Proof::Spec(_)))
}

/// What the engine says of a pair that it does not prove.
fn reason(program: &str, specification: &str) -> String {
    match verdict(program, specification) {
        Checked::Unknown(Reason::Specification(text)) => text,
        other => panic!("it is not rejected for its specification: {other:?}"),
    }
}

/// Where the first thread that does not conform parts from its specification.
fn failure(program: &str, specification: &str) -> Failure {
    let program = read_c(program);
    let specification = read_spec(specification, &program);
    let lowered = pipeline::prepare(&program, Check::Assertions);
    let found = engine_spec::conform(&specification, &lowered, &Budget::steps_for(200.0))
        .expect("it can be looked at");
    let mut problems = found.threads.into_iter().filter_map(|checked| checked.result.err());
    match problems.next() {
        Some(Problem::Fails(failure)) => *failure,
        other => panic!("it conforms, or that is not known: {other:?}"),
    }
}

/// The number of the line with some text.
fn line(program: &str, text: &str) -> u32 {
    let position = program.lines().position(|line| line.contains(text));
    position.expect("the text is there") as u32 + 1
}

#[test]
fn figures_2_and_3() {
    let (program, specification) = (paper("abstract-threads-figure2.c"), figure("figure3.tspec"));
    let Checked::Proved(Proof::Spec(proof)) = verdict(&program, &specification) else { panic!("no proof") };
    assert_eq!(proof.threads.len(), 3);
    assert!(matches!(proof.composition, Composition::Counting(_)));
}

/// The variant of section 2.1: `g` may become negative, which the abstract thread does not allow.
#[test]
fn the_variant_of_figure_2_does_not_conform() {
    let program = paper("abstract-threads-figure2.c").replace("int x = 1;", "int x = -1;");
    let found = failure(&program, &figure("figure3.tspec"));
    assert_eq!((found.function.as_str(), found.mismatch), ("A", Mismatch::Step));
    assert_eq!(found.span.line, line(&program, "g = x;"));
    // It may have set `g` to what it was, too.
    let Candidates::States(states) = &found.candidates else { panic!("it does not run alone") };
    assert!(states.contains(&"X1".to_owned()), "{states:?}");
    let after: i64 = found.values[0].2.parse().expect("g is a number");
    assert!(after <= 0, "{found:?}");
}

/// The numbers of workers that the tests try; `cargo xtask bench paper 2` tries all up to 11.
const WORKERS: [usize; 3] = [1, 2, 10];

/// A program with so many workers instead of any number.
fn with_workers(program: &str, worker: &str, count: usize) -> String {
    let start = format!("pthread_create(&t, 0, {worker}, 0);");
    let starts = vec![start.as_str(); count].join("\n  ");
    program.replace(&format!("while (__VERIFIER_nondet_bool())\n    {start}"), &starts)
}

#[test]
fn bluetooth_for_some_workers_and_any() {
    let (program, specification) = (paper("abstract-threads-figure4.c"), figure("figure5.tspec"));
    assert!(proves(&program, &specification));
    for count in WORKERS {
        let program = with_workers(&program, "PnpAdd", count);
        assert!(proves(&program, &specification.replace("times any", &format!("times {count}"))), "{count}");
    }
    // One more than that runs.
    let program = with_workers(&program, "PnpAdd", 3);
    assert!(reason(&program, &specification.replace("times any", "times 2")).contains("more than 2 threads"));
}

#[test]
fn battery_for_some_workers_and_any() {
    let (program, specification) = (paper("abstract-threads-figure6-any.c"), figure("figure7.tspec"));
    assert!(proves(&program, &specification));
    for count in WORKERS {
        let program = with_workers(&program, "worker", count);
        assert!(proves(&program, &specification.replace("times any", &format!("times {count}"))), "{count}");
    }
}

/// The drivers with the mistakes of the broken programs: the worker's check comes too late.
#[test]
fn broken_drivers_are_not_proved() {
    let program = paper("abstract-threads-figure4-broken.c");
    assert!(!proves(&program, &figure("figure5.tspec")));
    let program = paper("abstract-threads-figure6-any.c").replace("InUseCount = 2", "InUseCount = 1");
    assert!(reason(&program, &figure("figure7.tspec")).contains("start condition"));
    let specification = figure("figure7.tspec").replace("start I == 2", "start I == 1");
    assert!(reason(&program, &specification).contains("together go wrong"));
}

/// A transition is missing: the step that it stood for is named.
#[test]
fn a_missing_transition() {
    let program = paper("abstract-threads-figure4.c");
    let missing = "  Left -> Done changes sE: pIO == 0 && sE' == 1;\n";
    let specification = figure("figure5.tspec").replace(missing, "").replace("  state Done;\n", "");
    let found = failure(&program, &specification);
    assert_eq!((found.function.as_str(), found.mismatch), ("PnpAdd", Mismatch::Step));
    assert_eq!(found.span.line, line(&program, "stoppingEvent = 1;"));
    assert_eq!(found.candidates, Candidates::States(vec!["Left".to_owned()]));
    let event = found.values.iter().find(|(name, ..)| name == "stoppingEvent").expect("it is a variable");
    assert_ne!(event.1, event.2);
}

/// A variable is missing after `changes`.
#[test]
fn a_wrong_frame() {
    let program = paper("abstract-threads-figure6-any.c");
    let right = "Active -> Dropped changes I, R: I' == I - 1 && (I' == 0 ? R' : R' == R);";
    let specification = figure("figure7.tspec").replace(right, "Active -> Dropped changes I: I' == I - 1;");
    let found = failure(&program, &specification);
    assert_eq!((found.function.as_str(), found.mismatch), ("worker", Mismatch::Step));
    assert_eq!(found.span.line, line(&program, "ReadyToRemove = true;"));
}

/// The assertion of the code is in no state: the check of the code is named.
#[test]
fn a_lost_assertion() {
    let program = paper("abstract-threads-figure4.c");
    let specification = figure("figure5.tspec").replace("state Working asserts !st;", "state Working;");
    let found = failure(&program, &specification);
    assert_eq!((found.function.as_str(), found.mismatch), ("PnpAdd", Mismatch::Assertion));
    assert_eq!(found.span.line, line(&program, "assert(!s);"));
}

/// What the abstract threads may do together is wrong: the worker may begin to work after the flag is set.
#[test]
fn a_composition_that_goes_wrong() {
    let specification =
        figure("figure5.tspec").replace("Counted -> Working: !sF;", "Counted, Begin -> Working;");
    let text = reason(&paper("abstract-threads-figure4.c"), &specification);
    assert!(text.starts_with("the abstract threads together go wrong"), "{text}");
    assert!(text.contains("the assertion of the state Working of Worker does not hold"), "{text}");
}

const TURNS: &str = "#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
int g;
void *first(void *arg) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(g == 0);
  g = 1;
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_begin();
  int seen = g;
  __VERIFIER_atomic_end();
  assert(seen >= 1);
  return arg;
}
void *second(void *arg) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(g == 1);
  g = 2;
  __VERIFIER_atomic_end();
  return arg;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, first, 0);
  pthread_create(&t, 0, second, 0);
  pthread_exit(0);
}
";

/// The abstract thread of appendix A for a thread-modular specification: one step `from` to `to`, and an
/// environment that may only go along `others` (transitively closed pairs). Its states are pairs of a place
/// and the value of `g` that it has seen last.
fn embedding(name: &str, (from, to): (i32, i32), others: &[(i32, i32)]) -> String {
    let values = 0..=2;
    let mut out = format!("thread {name}_spec runs {name} times 1 {{\n");
    for place in 0..=1 {
        for seen in values.clone() {
            let start = if place == 0 && seen == 0 { "start " } else { "" };
            let mut allowed = vec![format!("g == {seen}")];
            allowed
                .extend(others.iter().filter(|(old, _)| *old == seen).map(|(_, new)| format!("g == {new}")));
            out += &format!("  {start}state P{place}_{seen} asserts {};\n", allowed.join(" || "));
        }
    }
    for seen in values.clone() {
        for next in values.clone() {
            if seen != next {
                out += &format!(
                    "  P0_{seen} -> P0_{next}: g == {next};\n  P1_{seen} -> P1_{next}: g == {next};\n"
                );
            }
        }
        out += &format!("  P0_{seen} -> P1_{to} changes g: g == {from} && g' == {to};\n");
    }
    out + "}\n"
}

#[test]
fn appendix_a() {
    let whole =
        |others: &[(i32, i32)]| embedding("first", (0, 1), others) + &embedding("second", (1, 2), &[(0, 1)]);
    assert!(proves(TURNS, &whole(&[(1, 2)])));
    // The environment of the first thread may not do what the second one does.
    assert!(!proves(TURNS, &whole(&[])));
    // The second thread sets the variable back, which the first one does not bear.
    assert!(!proves(&TURNS.replace("g = 2;", "g = 0;"), &whole(&[(1, 2)])));
}

const LOCKED: &str = "#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int inside;
void *work(void *arg) {
  pthread_mutex_lock(&m);
  inside = 1;
  assert(inside == 1);
  inside = 0;
  pthread_mutex_unlock(&m);
  return arg;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_create(&t, 0, work, 0);
  pthread_exit(0);
}
";

const LOCKED_SPEC: &str = "thread Work runs work times 2 {
  start state Outside asserts m != me;
  state Has asserts m == me && inside == 0;
  state In asserts m == me && inside == 1;
  state Done;
  Outside -> Has changes m: m == 0 && m' == me;
  Has -> In changes inside: inside' == 1;
  In -> Has changes inside: inside' == 0;
  Has -> Done changes m: m' == 0;
}
";

/// Locks are variables too: their names stand for their owners. Such compositions go through the portfolio.
#[test]
fn owners_of_locks() {
    let Checked::Proved(Proof::Spec(proof)) = verdict(LOCKED, LOCKED_SPEC) else { panic!("no proof") };
    assert!(matches!(proof.composition, Composition::Program(_)));
    let broken = LOCKED.replace("  pthread_mutex_lock(&m);\n", "");
    assert!(!proves(&broken, LOCKED_SPEC));
    let careless = LOCKED_SPEC.replace("m == 0 && m' == me", "m' == me");
    assert!(!proves(LOCKED, &careless));
}

/// The start condition is what holds when the first thread starts another.
#[test]
fn what_main_does_first() {
    let program = "#include <assert.h>
        #include <pthread.h>
        _Atomic int limit, used;
        void *f(void *arg) { assert(limit == 3); return arg; }
        int main(void) { pthread_t t; limit = FIRST; pthread_create(&t, 0, f, 0); LATER; return 0; }";
    let program = |first: &str, later: &str| program.replace("FIRST", first).replace("LATER", later);
    let specification = "start limit == 3; thread F runs f times 1 { start state A asserts limit == 3; }";
    assert!(proves(&program("3", "used = 1"), specification));
    assert!(reason(&program("4", "used = 1"), specification).contains("start condition"));
    assert!(reason(&program("3", "limit = 4"), specification).contains("has no abstract thread"));
    let without = specification.replace("start limit == 3; ", "");
    assert!(reason(&program("3", "used = 1"), &without).contains("start condition"));
}

/// Without a thread beside it, an error of the first thread is one.
#[test]
fn errors_before_the_second_thread() {
    let program = "#include <assert.h>
        #include <pthread.h>
        _Atomic int x;
        void *f(void *arg) { x = 1; return arg; }
        int main(void) { pthread_t t; assert(x == LIMIT); pthread_create(&t, 0, f, 0); return 0; }";
    let specification = "thread F runs f times 1 { start state A; state B; A -> B changes x: x' == 1; }";
    assert!(proves(&program.replace("LIMIT", "0"), specification));
    assert!(!proves(&program.replace("LIMIT", "1"), specification));
}

/// Every program conforms to its draft; and what is broken is not proved by it.
#[test]
fn drafts() {
    let names = [
        "abstract-threads-figure2",
        "abstract-threads-figure4",
        "circ-figure1",
        "boppo-figure4",
        "duet-figure1",
    ];
    for name in names {
        for (suffix, broken) in [(".c", false), ("-broken.c", true)] {
            let text = paper(&format!("{name}{suffix}"));
            let program = read_c(&text);
            let lowered = pipeline::prepare(&program, Check::Assertions);
            let budget = Budget::steps_for(60.0);
            let draft = engine_spec::draft(&lowered, &budget).expect("there is a draft");
            let specification = read_spec(&draft, &program);
            assert_eq!(
                engine_spec::mistakes(&specification, &lowered, &budget),
                Ok(vec![]),
                "{name}: {draft}"
            );
            let found = engine_spec::conform(&specification, &lowered, &budget).expect("it can be looked at");
            for checked in &found.threads {
                assert!(checked.result.is_ok(), "{name}{suffix}: {checked:?}\n{draft}");
            }
            let threads: Vec<_> =
                found.threads.into_iter().filter_map(|checked| checked.result.ok()).collect();
            let accepted = checker::check_conformance(&lowered, &specification, &threads, &budget);
            assert_eq!(accepted, Ok(()), "{name}{suffix}");
            if broken {
                assert!(!proves(&text, &draft), "{name}{suffix}");
            }
        }
    }
}

/// A thread that has taken the state alone is in its critical section.
const STATE: &str = "#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int state;
void *work(void *arg) {
  while (1) {
    int old;
    __VERIFIER_atomic_begin();
    old = state;
    if (state == 0)
      state = 1;
    __VERIFIER_atomic_end();
    if (old == 0) {
      assert(state == 1);
      __VERIFIER_atomic_begin();
      state = 0;
      __VERIFIER_atomic_end();
    }
  }
  return arg;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, work, 0);
  pthread_exit(0);
}
";

/// The draft of a program, which can be read, has no mistakes, and to which all threads conform.
fn checked_draft(text: &str) -> String {
    let program = read_c(text);
    let budget = Budget::steps_for(120.0);
    let draft = portfolio::specification::draft(&program, &budget).expect("there is a draft");
    let specification = read_spec(&draft, &program);
    let lowered = pipeline::prepare(&program, Check::Assertions);
    assert_eq!(engine_spec::mistakes(&specification, &lowered, &budget), Ok(vec![]), "{draft}");
    let found = engine_spec::conform(&specification, &lowered, &budget).expect("it can be looked at");
    let threads: Vec<_> = found
        .threads
        .into_iter()
        .map(|checked| checked.result.unwrap_or_else(|problem| panic!("{problem:?}\n{draft}")))
        .collect();
    assert_eq!(checker::check_conformance(&lowered, &specification, &threads, &budget), Ok(()), "{draft}");
    draft
}

fn is_from_contexts(draft: &str) -> bool {
    draft.starts_with("// A first specification, from what threads were found to do.")
}

/// A draft from contexts says enough to prove the program; without contexts it does not.
#[test]
fn drafts_from_contexts() {
    let draft = checked_draft(STATE);
    expect![[r#"
        // A first specification, from what threads were found to do. Every thread conforms to it.
        // Say more in assertions and transitions (see docs/specifications.md).

        // `main` needs no abstract thread: it changes no variable here, and its checks do not fail.

        thread Work_spec runs work times any {
          start state S0;
          state S1 asserts (state == 1);
          S0 -> S1 changes state: (state != 1) && (state' == 1);
          S1 -> S0 changes state: (state' != 1);
        }
    "#]]
    .assert_eq(&draft);
    assert!(proves(STATE, &draft), "{draft}");
    let broken = STATE.replace(
        "    if (state == 0)\n      state = 1;\n    __VERIFIER_atomic_end();",
        "    __VERIFIER_atomic_end();\n    if (old == 0)\n      state = 1;",
    );
    assert_ne!(broken, STATE);
    let plain = checked_draft(&broken);
    assert!(!is_from_contexts(&plain), "{plain}");
    assert!(!proves(&broken, &plain) && !proves(&broken, &draft));
    // A program without assertions: what it does to be without races.
    let draft = checked_draft(&paper("circ-figure1.c"));
    assert!(is_from_contexts(&draft) && draft.contains("state"), "{draft}");
}

/// Threads conform to the drafts of programs that contexts prove.
#[test]
fn drafts_of_race_free_programs() {
    let mut from_contexts = 0;
    for name in ["flag-stops-workers", "lock-by-choice", "state-of-three", "turn-of-two", "split-enable"] {
        let file = crate::root().join(format!("tests/programs/context-pairs/{name}.c"));
        let draft = checked_draft(&std::fs::read_to_string(file).expect("the program is there"));
        from_contexts += usize::from(is_from_contexts(&draft));
    }
    assert!(from_contexts >= 3, "{from_contexts}");
}

/// Mistakes that the language does not see.
#[test]
fn mistakes() {
    let program = read_c(&paper("abstract-threads-figure2.c"));
    let lowered = pipeline::prepare(&program, Check::Assertions);
    let found = |text: &str| -> Vec<String> {
        let specification = read_spec(text, &program);
        let mistakes = engine_spec::mistakes(&specification, &lowered, &Budget::steps_for(60.0))
            .expect("it can be looked at");
        mistakes.iter().map(|mistake| format!("{}: {}", mistake.span.line, mistake.message)).collect()
    };
    assert_eq!(found(&figure("figure3.tspec")), Vec::<String>::new());
    assert_eq!(
        found(
            "thread A_spec runs A times 1 {\nstart state X asserts g > 5;\nstate Y;\nX -> Y changes g: g' > 3 && g' < 4;\nX -> Y: g < 2; }"
        ),
        [
            "2: the assertion of the start state `X` does not hold at the start, whatever the variables are then",
            "4: no step from `X` to `Y` can be so",
            "5: no step from `X` to `Y` can be so where the assertion of `X` holds",
        ]
    );
    assert_eq!(found("start g != g;"), ["1: the start condition never holds"]);
    let nobody = "thread M runs helper times 1 { start state S; }";
    let text = paper("abstract-threads-figure2.c")
        .replace("int main(void) {", "void helper(void) {}\nint main(void) {\n  helper();");
    let program = read_c(&text);
    if let Ok(specification) = engine_spec::language::read("t.tspec", nobody.as_bytes(), &program) {
        let lowered = pipeline::prepare(&program, Check::Assertions);
        let mistakes = engine_spec::mistakes(&specification, &lowered, &Budget::steps_for(60.0))
            .expect("it can be looked at");
        assert_eq!(mistakes[0].message, "no thread runs `helper`");
    }
}
