//! Which programs are ordered by their locks, and which orders are accepted.

use crate::ids::ObjectId;
use crate::passes::LockOrder;
use crate::text::parse;

fn order(first: &str) -> Option<LockOrder> {
    let text = format!(
        r#"program lp64
start main 1

static a: mutex size 40
static b: mutex size 40
static x: i32

template main() {{
  local t: u64
  locations 3
  end l2
  l0 -> l0: t := spawn worker()
  l0 -> l1: t := join t
  l1 -> l2:
}}

template worker() {{
  locations 8
  end l7
{first}
}}
"#
    );
    LockOrder::of(&parse(&text).expect("it is a program"))
}

const ORDERED: &str = "  l0 -> l1: lock mutex &a
  l1 -> l2: lock mutex &b
  l2 -> l3: i32[&x] := 1
  l3 -> l4: unlock mutex &b
  l4 -> l7: unlock mutex &a";

#[test]
fn locks_in_one_order_are_sorted() {
    let found = order(ORDERED).expect("locks are all that it waits for");
    let (a, b) = ((ObjectId(0), 0), (ObjectId(1), 0));
    assert_eq!(found.sorted(), Some(vec![a, b]));
    assert!(found.is_sorted(&[a, b]));
    for wrong in [&[b, a][..], &[a], &[b], &[], &[a, a], &[a, b, a]] {
        assert!(!found.is_sorted(wrong), "{wrong:?}");
    }
}

#[test]
fn opposite_orders_are_not_sorted() {
    let more = "\n  l0 -> l5: lock mutex &b\n  l5 -> l6: lock mutex &a\n  l6 -> l3:";
    // At a location with two edges nobody waits: here all locks but the first ones count.
    let found = order(&format!("{ORDERED}{more}")).expect("locks are all that it waits for");
    assert_eq!(found.sorted(), None);
}

#[test]
fn what_is_more_than_an_order_is_refused() {
    for (from, to) in [
        ("unlock mutex &a", "i32[&x] := 2"),
        ("lock mutex &b", "lock mutex &a"),
        ("l2 -> l3: i32[&x] := 1", "l2 -> l2: i32[&x] := 1\n  l2 -> l3:"),
        ("lock mutex &b", "lock read &b"),
        ("i32[&x] := 1", "u32[&a] := 3u32"),
        ("i32[&x] := 1", "fill(&b, 1, 8u64)"),
        ("  l0 -> l1: lock", "  waits semaphore l5\n  l5 -> l7: assume i32[&x] == 1\n  l0 -> l1: lock"),
        ("  l0 -> l1: lock", "  atomic l0\n  l0 -> l1: lock"),
    ] {
        assert!(ORDERED.contains(from), "{from}");
        assert_eq!(order(&ORDERED.replacen(from, to, 1)), None, "{to}");
    }
}
