//! The verdict in plain words: everything that is wrong, what is known to be right, and what is open.

use crate::Outcome;
use checker::Checked;
use std::collections::BTreeMap;
use verdict::Check;

/// What was found of one check.
#[derive(Default)]
struct Tally {
    wrong: usize,
    open: bool,
}

/// All outcomes in one line; `None` when nothing was checked.
pub(crate) fn in_words(outcomes: &[Outcome]) -> Option<String> {
    let mut found: BTreeMap<usize, (Check, Tally)> = BTreeMap::new();
    for outcome in outcomes {
        let order = outcomes.iter().position(|other| other.check == outcome.check).unwrap_or_default();
        let (_, found) = found.entry(order).or_insert_with(|| (outcome.check, Tally::default()));
        match &outcome.verdict {
            Checked::Refuted(_) => found.wrong += 1,
            Checked::Unknown(_) => found.open = true,
            Checked::Proved(_) => {}
        }
    }
    let of = |wanted: &dyn Fn(&Tally) -> bool, text: &dyn Fn(Check, &Tally) -> String| -> Vec<String> {
        let chosen = found.values().filter(|(_, found)| wanted(found));
        chosen.map(|(check, found)| text(*check, found)).collect()
    };
    let violated = of(&|found| found.wrong > 0, &|check, found| {
        let text = match (check, found.wrong) {
            (Check::Races, 2..) => format!("there are data races on {} variables", found.wrong),
            _ => wrong(check).to_owned(),
        };
        format!("{text} ({})", check.property_name())
    });
    let proved = of(&|found| found.wrong == 0 && !found.open, &|check, _| right(check).to_owned());
    let open = of(&|found| found.wrong == 0 && found.open, &|check, _| format!("whether {}", wrong(check)));
    let mut parts = Vec::new();
    if !violated.is_empty() {
        parts.push(violated.join(", and "));
    }
    if !proved.is_empty() {
        parts.push(proved.join(", and "));
    }
    if !open.is_empty() {
        parts.push(format!("it is open {}", open.join(", and ")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn wrong(check: Check) -> &'static str {
    match check {
        Check::Assertions => "an assertion can fail",
        Check::ReachError => "the error function can be called",
        Check::Races => "there is a data race",
        Check::Bounds => "memory can be accessed or freed in an invalid way",
        Check::Deref => "memory can be accessed in an invalid way",
        Check::Free => "memory can be freed in an invalid way",
        Check::Memtrack => "memory can be lost",
        Check::Memcleanup => "memory can be left at the end",
        Check::Overflow => "signed arithmetic can overflow",
        Check::Deadlock => "threads can wait for ever",
    }
}

fn right(check: Check) -> &'static str {
    match check {
        Check::Assertions => "no assertion can fail",
        Check::ReachError => "the error function is never called",
        Check::Races => "there is no data race",
        Check::Bounds => "all memory is accessed and freed as it may be",
        Check::Deref => "all memory is accessed as it may be",
        Check::Free => "all memory is freed as it may be",
        Check::Memtrack => "no memory is lost",
        Check::Memcleanup => "no memory is left at the end",
        Check::Overflow => "no signed arithmetic overflows",
        Check::Deadlock => "no thread waits for ever",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use verdict::{Exhausted, Proof, Reason};

    #[test]
    fn each_check_is_named_once() {
        let outcome = |check: Check, verdict: Checked| Outcome {
            check,
            variable: None,
            verdict,
            decisions: None,
            seconds: 0.0,
            tries: Vec::new(),
        };
        let open = || Checked::Unknown(Reason::Exhausted(Exhausted::Time));
        let outcomes = [
            outcome(Check::Races, open()),
            outcome(Check::Assertions, Checked::Proved(Proof::OneThread)),
            outcome(Check::Deadlock, open()),
            outcome(Check::Races, Checked::Proved(Proof::OneThread)),
        ];
        let expected = "no assertion can fail; it is open whether there is a data race, and whether threads can wait for ever";
        assert_eq!(in_words(&outcomes).as_deref(), Some(expected));
        assert_eq!(in_words(&[]), None);
    }
}
