//! Section 5.1: groups of variables whose values flow together.

use super::examples::{TWO_COUNTERS, figure_1_with_a_global_batch, parse, proof, with_group};
use domains::Interval;

#[test]
fn what_a_group_is_between_two_writes_does_not_flow_past_the_lock() {
    with_group(TWO_COUNTERS, &["x", "y"], |found| {
        let (free, locked) = (found.node("V", 0), found.node("V", 1));
        let (first, second) = ((1, 2), (2, 3));
        assert!(found.group_flows("T", first, free) && found.group_flows("T", second, free));
        assert!(found.group_flows("T", second, locked));
        assert!(!found.group_flows("T", first, locked), "the second write hides the first one");
        // Of each cell alone, it does.
        assert!(found.flows("x", "T", first, locked));
        assert_eq!(found.difference("V", 0), Interval::between(0, 1));
        assert_eq!(found.difference("V", 1), Interval::constant(0));
        assert_eq!(found.difference("T", 2), Interval::constant(1));
    });
}

#[test]
fn two_counters_are_proved_equal_and_broken_variants_are_not() {
    assert!(proof(&parse(TWO_COUNTERS)).is_some());
    let changes = [
        // The reader does not wait.
        (
            "template V() {\n  locations 4\n  end l2\n  error assertion l3\n  l0 -> l1: lock mutex &m",
            "template V() {\n  locations 4\n  end l2\n  error assertion l3\n  l0 -> l1:",
        ),
        // The writer does not wait.
        (
            "template T() {\n  locations 5\n  end l4\n  l0 -> l1: lock mutex &m",
            "template T() {\n  locations 5\n  end l4\n  l0 -> l1:",
        ),
        // The second counter is changed by two.
        ("i32[&y] := i32[&y] + 1", "i32[&y] := i32[&y] + 2"),
        // Or not always.
        ("l2 -> l3: i32[&y]", "l2 -> l3:\n  l2 -> l3: i32[&y]"),
        // They are different at first.
        ("static y: i32", "static y: i32 = 1"),
    ];
    for (from, to) in changes {
        let text = TWO_COUNTERS.replace(from, to);
        assert_ne!(text, TWO_COUNTERS, "{from}");
        assert!(proof(&parse(&text)).is_none(), "{to}");
    }
}

/// The example of section 5.1: with the counter and the batch in one group, what is written to one flows
/// where only the other one was meant. The paper's analysis of the group then loses the bound of the counter;
/// here the counter alone is followed, too.
#[test]
fn grouping_the_batch_with_the_counter_adds_data_flow_and_loses_nothing() {
    let text = figure_1_with_a_global_batch();
    with_group(&text, &["batch", "counter"], |found| {
        let (v5, u13) = (found.node("Consumer", 3), found.node("Producer", 11));
        let (write_v5, write_u10, write_u13) = ((3, 4), (8, 9), (11, 9));
        assert!(found.group_flows("Producer", write_u13, v5), "u13 -> v5");
        assert!(found.group_flows("Consumer", write_v5, u13), "v5 -> u13");
        assert!(!found.flows("counter", "Producer", write_u10, v5), "u10 -> v5");
        let counter = found.known("counter", "Consumer", 3).expect("something is known");
        assert_eq!(counter.interval().lower(), domains::Bound::finite(1), "v5");
    });
    assert!(proof(&parse(&text)).is_some());
    let broken = text.replace("l8 -> l9: atomic i32[&counter] := 0", "l8 -> l9: atomic i32[&counter] := -1");
    assert_ne!(text, broken);
    assert!(proof(&parse(&broken)).is_none());
}
