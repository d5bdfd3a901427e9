//! What is said of each check where the whole property is not proved.

use portfolio::pipeline;
use std::cell::RefCell;
use verdict::{Attempt, Budget, Check, Decisions, Engine, Event, Events, Task};

const PROGRAM: &str = "#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int count;
void *run(void *a) {
  pthread_mutex_lock(&m);
  if (count < 9) count++;
  assert(count <= 9);
  pthread_mutex_unlock(&m);
  assert(count == 0);
  return a;
}
int main(void) {
  pthread_t t;
  while (1) pthread_create(&t, 0, run, 0);
}
";

/// Keeps the last attempt.
#[derive(Default)]
struct Keeper(RefCell<Option<Attempt>>);

impl Events for Keeper {
    fn event(&self, event: Event) {
        if let Event::Attempt(attempt) = event {
            *self.0.borrow_mut() = Some(*attempt);
        }
    }
}

fn read(text: &str) -> ir::Program {
    let source = frontend_c::Source { name: "decisions.c".to_owned(), text: text.as_bytes().to_vec() };
    frontend_c::read(&[source], &frontend_c::Options::default()).expect("this is C")
}

fn decisions(text: &str) -> Decisions {
    let program = read(text);
    let budget = Budget::steps_for(60.0);
    let outcome =
        pipeline::verify(&program, Check::Assertions, &engine_flow::Flow, &budget, &verdict::Silent);
    outcome.decisions.expect("the checks are decided")
}

/// Line, checks, proved.
fn lines(decisions: &Decisions) -> Vec<(u32, usize, usize)> {
    decisions.lines.iter().map(|line| (line.span.line, line.checks, line.proved)).collect()
}

#[test]
fn each_check_is_decided() {
    let found = decisions(PROGRAM);
    assert_eq!(lines(&found), [(8, 1, 1), (10, 1, 0)]);
    assert!(found.given.is_empty());
    assert_eq!(found.lines[1].why, ["all that is known: count: 1..9"]);
}

#[test]
fn what_is_proved_may_take_something_for_granted() {
    let text = PROGRAM.replace("count == 0", "count <= 9").replace("  return a;", "  strange(a); return a;");
    let found = decisions(&format!("extern void strange(void *);\n{text}"));
    assert_eq!(lines(&found), [(9, 1, 1), (11, 1, 1)]);
    let given: Vec<&str> = found.given.iter().map(|given| given.text.as_str()).collect();
    assert!(given.len() == 1 && given[0].contains("'strange'"), "{given:?}");
}

#[test]
fn nothing_is_excluded_that_the_invariant_does_not_exclude() {
    let program = pipeline::prepare(&read(PROGRAM), Check::Assertions);
    let property = Check::Assertions.property();
    let (budget, keeper) = (Budget::unlimited(), Keeper::default());
    engine_flow::Flow.verify(Task { program: &program, property: &property }, &budget, &keeper);
    let attempt = keeper.0.into_inner().expect("there is an attempt");
    let decide = |attempt: &Attempt| checker::decide(&program, &property, attempt, &budget);
    assert!(decide(&attempt).is_ok());
    let proof = attempt.proof.clone().expect("some checks are excluded");
    let data = proof.data.as_ref().expect("data excludes them");
    let mut tried = 0;
    for node in (0..proof.reachable.len()).filter(|node| data.invariants[*node].is_some()) {
        let mut without = attempt.clone();
        if let Some(data) = without.proof.as_mut().and_then(|proof| proof.data.as_mut()) {
            data.invariants[node] = None;
        }
        assert!(decide(&without).is_err(), "location {node} is excluded without a reason");
        tried += 1;
    }
    assert!(tried > 5, "{tried}");
}
