//! Laws of decision diagrams: every operation agrees with truth tables.

use crate::bdd::{Bdd, Bdds, FALSE, TRUE};
use proptest::prelude::*;
use verdict::Budget;

/// The function of four variables (levels 0 to 3) with this truth table.
fn function(bdds: &mut Bdds, table: u16) -> Bdd {
    fn part(bdds: &mut Bdds, table: u16, level: u32, fixed: u16) -> Bdd {
        if level == 4 {
            return if table >> fixed & 1 == 1 { TRUE } else { FALSE };
        }
        let low = part(bdds, table, level + 1, fixed);
        let high = part(bdds, table, level + 1, fixed | 1 << level);
        bdds.make(level, low, high).expect("small")
    }
    part(bdds, table, 0, 0)
}

fn table(bdds: &Bdds, f: Bdd) -> u16 {
    (0..16u16).filter(|row| bdds.value(f, &|level| row >> level & 1 == 1)).fold(0, |all, row| all | 1 << row)
}

proptest! {
    #[test]
    fn operations_agree_with_truth_tables(a: u16, b: u16, levels in 0u16..16) {
        let mut bdds = Bdds::new(&Budget::unlimited());
        let (f, g) = (function(&mut bdds, a), function(&mut bdds, b));
        prop_assert_eq!(table(&bdds, f), a);
        let and = bdds.and(f, g).expect("small");
        prop_assert_eq!(table(&bdds, and), a & b);
        let or = bdds.or(f, g).expect("small");
        prop_assert_eq!(table(&bdds, or), a | b);
        let not = bdds.not(f).expect("small");
        prop_assert_eq!(table(&bdds, not), !a);
        let same = bdds.equal(f, g).expect("small");
        prop_assert_eq!(table(&bdds, same), !(a ^ b));
        prop_assert_eq!(bdds.implies(f, g).expect("small"), a & !b == 0);
        // Equal functions have equal names.
        prop_assert_eq!(a == b, f == g);
        let list: Vec<u32> = (0..4).filter(|level| levels >> level & 1 == 1).collect();
        let cube = bdds.cube(&list).expect("small");
        let exists = bdds.exists(f, cube).expect("small");
        let closed = |table: u16| (0..16u16).filter(|row| {
            (0..16u16).any(|other| table >> other & 1 == 1 && (row ^ other) & !levels == 0)
        }).fold(0, |all: u16, row| all | 1 << row);
        prop_assert_eq!(table(&bdds, exists), closed(a));
        let both = bdds.and_exists(f, g, cube).expect("small");
        prop_assert_eq!(table(&bdds, both), closed(a & b));
        let odd = bdds.support(&[f]).into_iter().any(|level| level % 2 == 1);
        prop_assert_eq!(bdds.has_odd(f), odd);
    }

    #[test]
    fn priming_and_back_changes_nothing(a: u16) {
        let mut bdds = Bdds::new(&Budget::unlimited());
        let f = function(&mut bdds, a);
        let even = {
            let odd = bdds.cube(&[1, 3]).expect("small");
            bdds.exists(f, odd).expect("small")
        };
        let cube = bdds.cube(&[0, 2]).expect("small");
        let primed = bdds.prime(even, cube).expect("small");
        prop_assert_eq!(bdds.unprime(primed).expect("small"), even);
    }
}
