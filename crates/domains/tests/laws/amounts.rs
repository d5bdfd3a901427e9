//! Amounts of threads: their order and their sums.

use domains::Amount;

fn all() -> Vec<Amount> {
    (0..5).map(Amount::Exactly).chain([Amount::Exactly(u32::MAX), Amount::Many]).collect()
}

/// What is true of numbers is true of the amounts that stand for them.
#[test]
fn amounts_stand_for_all_numbers_up_to_them() {
    let stands = |amount: Amount, number: u64| amount.number().is_none_or(|most| number <= u64::from(most));
    for one in all() {
        for k in 0..5 {
            assert!(one <= one.limited(k) && one.limited(k + 1) <= one.limited(k));
            assert_eq!(one.limited(k).limited(k), one.limited(k));
        }
        for number in 0..7u64 {
            if stands(one, number) && number > 0 {
                assert!(one.less_one().is_some_and(|less| stands(less, number - 1)));
            }
            for two in all() {
                for other in 0..7u64 {
                    if stands(one, number) && stands(two, other) {
                        assert!(stands(one.plus(two), number + other));
                    }
                }
                assert_eq!(one.plus(two), two.plus(one));
                assert!(one > two || !stands(one, number) || stands(two, number));
            }
        }
    }
    assert_eq!(Amount::NONE.less_one(), None);
    assert_eq!(Amount::Exactly(u32::MAX).plus(Amount::ONE), Amount::Many);
}
