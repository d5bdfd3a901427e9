//! Data flow graphs, annotations and verdicts.

use super::examples::{FIGURE_1, FIGURE_2, parse, proof, property, with_analysis};
use domains::Number;
use ir::IntType;
use ir::ids::Id;
use verdict::{Budget, Proof};

fn at_least(least: i128) -> Number {
    Number::between(least, IntType::I32.max())
}

#[test]
fn figure_1_is_proved_and_the_proof_is_accepted() {
    let program = parse(FIGURE_1);
    let proof = proof(&program).expect("it is proved");
    let answer =
        checker::check_proof(&program, &property(), &Proof::Flow(Box::new(proof)), &Budget::unlimited());
    assert_eq!(answer, Ok(()));
}

#[test]
fn figure_1_has_the_data_flow_of_figure_4() {
    with_analysis(FIGURE_1, |found| {
        let (u1, u3) = (found.node("Producer", 1), found.node("Producer", 3));
        let (v4, v5) = (found.node("Consumer", 1), found.node("Consumer", 3));
        let (u4, u10, u12) = ((4, 5), (8, 9), (10, 11));
        assert!(!found.flows("counter", "Producer", u10, v5), "u10 -> v5");
        assert!(found.flows("counter", "Producer", u12, v4));
        assert!(found.flows("counter", "Producer", u12, u3));
        assert!(found.flows("counter", "Producer", u4, u1));
        assert!(found.flows("counter", "Producer", u10, v4));
        // The assertion tests the counter, so it defines it.
        assert!(found.flows("counter", "Consumer", (4, 6), u3));
        assert!(!found.flows("counter", "Consumer", (3, 4), u3));
        assert!(found.flows("counter", "Consumer", (1, 3), v5));
    });
}

#[test]
fn figure_1_has_the_annotation_of_figure_4() {
    with_analysis(FIGURE_1, |found| {
        let known = |name, location| found.known("counter", name, location).expect("something is known");
        assert_eq!(known("Producer", 3), at_least(0), "u3");
        assert_eq!(known("Producer", 4), at_least(1), "u4");
        assert_eq!(known("Producer", 8), Number::constant(0), "u10");
        assert_eq!(known("Consumer", 1), at_least(0), "v4");
        assert_eq!(known("Consumer", 3), at_least(1), "v5");
        assert_eq!(known("Consumer", 4).interval().lower(), domains::Bound::ZERO, "v6");
        assert_eq!(found.known("counter", "Consumer", 5), None, "nobody is at the error");
    });
}

#[test]
fn broken_variants_of_figure_1_are_not_proved() {
    let changes = [
        // The consumer does not test the counter.
        ("l1 -> l3: assume 0 < atomic i32[&counter]", "l1 -> l3:"),
        // The consumer tests the counter without the lock.
        ("l2 -> l1: lock mutex &lock1", "l2 -> l1:"),
        // The producer resets the counter whatever it is.
        ("l3 -> l7: assume !(0 < atomic i32[&counter])", "l3 -> l7:"),
        // The producer sets the counter to something negative.
        ("l8 -> l9: atomic i32[&counter] := 0", "l8 -> l9: atomic i32[&counter] := -1"),
        // Two batches at once.
        ("l1 -> l2: lock mutex &lock2", "l1 -> l2:"),
    ];
    for (from, to) in changes {
        let text = FIGURE_1.replace(from, to);
        assert_ne!(text, FIGURE_1);
        assert!(proof(&parse(&text)).is_none(), "{to}");
    }
}

/// Example 4.2: a producer after `u2` holds both locks, so no consumer takes `v1`.
#[test]
fn a_trace_that_the_annotation_excludes_makes_no_pair() {
    let program = verdict::Analysed::from(parse(FIGURE_1).program().clone());
    let model = engine_flow::model::Model::of(&program, &Budget::unlimited()).expect("there is no limit");
    let (_, reached, _) =
        engine_flow::engine::analyse(&model, &Budget::unlimited()).expect("there is no limit");
    let node = |template: usize, location: usize| {
        model.node(ir::TemplateId::new(template), ir::LocationId::new(location)).index()
    };
    assert!(reached.pairs.contains(node(0, 2), node(1, 1)), "u2 and v4");
    assert!(!reached.pairs.contains(node(0, 3), node(1, 1)), "u3 and v4");
    assert!(!reached.pairs.contains(node(0, 3), node(0, 8)), "u3 and u10");
}

#[test]
fn figure_2_has_the_data_flow_that_is_described() {
    with_analysis(FIGURE_2, |found| {
        for (name, location) in [("U", 0), ("U", 1), ("U", 2), ("V", 0), ("V", 1), ("V", 2)] {
            assert!(found.flows("c", "U", (1, 2), found.node(name, location)), "u2 -> {name}{location}");
            let least = if (name, location) == ("U", 2) { 1 } else { 0 };
            assert_eq!(found.known("c", name, location), Some(at_least(least)));
        }
        // The first value is gone where a thread has added to it, and may be everywhere else.
        for (name, location) in [("U", 0), ("U", 1), ("U", 2), ("V", 0), ("V", 1), ("V", 2)] {
            let gone = (name, location) == ("U", 2);
            assert_eq!(found.is_first("c", found.node(name, location)), !gone, "{name}{location}");
        }
        assert_eq!(found.local(0, "U", 1), Some(Number::constant(1)), "incr does not flow between threads");
        assert_eq!(found.local(0, "V", 1), None, "nobody reads it");
    });
    assert!(proof(&parse(FIGURE_2)).is_some());
    let broken = FIGURE_2.replace("incr := 1", "incr := -1");
    assert!(proof(&parse(&broken)).is_none());
}

#[test]
fn what_a_joined_thread_has_written_is_known() {
    let text = "program lp64
start main 1
static x: i32
template main() {
  local child: u64
  local seen: i32
  locations 6
  end l5
  error assertion l4
  l0 -> l1: child := spawn worker()
  l1 -> l2: join child
  l2 -> l3: seen := i32[&x]
  l3 -> l4: assume seen != 7
  l3 -> l5: assume !(seen != 7)
}
template worker() {
  locations 3
  end l2
  l0 -> l1: i32[&x] := 3
  l1 -> l2: i32[&x] := 7
}
";
    assert!(proof(&parse(text)).is_some());
    let sometimes = text.replace("locations 3\n  end l2", "locations 3\n  end l2\n  l0 -> l2:");
    assert!(proof(&parse(&sometimes)).is_none());
    let too_early = text.replace("l1 -> l2: join child", "l1 -> l2:");
    assert!(proof(&parse(&too_early)).is_none());
}

#[test]
fn a_value_that_is_broken_for_a_while_under_a_lock_is_not_seen() {
    let text = "program lp64
start T any
static m: mutex size 40
static x: i32
template T() {
  local seen: i32
  locations 8
  end l6
  error assertion l7
  l0 -> l1: lock mutex &m
  l1 -> l2: i32[&x] := 1
  l2 -> l3: i32[&x] := 0
  l3 -> l4: unlock mutex &m
  l4 -> l5: lock mutex &m; seen := i32[&x]
  l5 -> l7: assume seen != 0
  l5 -> l6: assume !(seen != 0); unlock mutex &m
}
";
    assert!(proof(&parse(text)).is_some());
    let without = text.replace("l4 -> l5: lock mutex &m; seen", "l4 -> l5: seen");
    assert!(proof(&parse(&without)).is_none());
}
