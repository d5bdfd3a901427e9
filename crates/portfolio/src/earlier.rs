//! What earlier runs know of a check: the answer for the very same program, or what was found before an edit.
//!
//! Nothing here is believed. An answer was checked again by whoever hands it over; evidence of the program
//! before the edit is checked against the program after it, like any other. What was searched for in vain
//! decides nothing: it only says how long another search is worth the user's time.

use crate::pipeline::{self, Attempted, Given};
use checker::Checked;
use report::{End, Outcome, SharedMemory, Tried, shared_memory::Status};
use std::collections::BTreeSet;
use std::time::Duration;
use verdict::{Budget, Reason, Silent, Task, Verdict};

/// The engine that evidence from before an edit is reported of.
pub const NAME: &str = "earlier";
/// The part of the time of the search before the edit that the next one takes with the listing, if nothing
/// new is open. The rest of a tenth is for reading the program and for the report.
const PART: u32 = 20;
/// The part that it takes at least.
const LEAST: u32 = 40;
/// Searches that took less are repeated as they were.
const WORTHWHILE: Duration = Duration::from_secs(5);
/// The part of the time that testing evidence may take.
const TESTING: u32 = 4;

/// What earlier runs know.
#[derive(Default)]
pub struct Earlier {
    /// The answer for this program; its evidence is checked.
    pub answer: Option<(Checked, Tried)>,
    /// Answers of before the edit; their evidence may not hold any more.
    pub evidence: Vec<Verdict>,
    /// The search of before the edit, which left something open.
    pub search: Option<Search>,
}

/// A search that did not decide everything.
pub struct Search {
    /// How long it was.
    pub took: Duration,
    /// What it left open: names as [`open`] gives them.
    pub open: BTreeSet<String>,
    /// Whether the program is the same, but for the lines that its parts are in.
    pub same: bool,
}

impl Search {
    /// How long a search is now, if nothing is open that was not open then; `None` for no limit.
    /// Some time has passed since the check began.
    pub fn limit(&self, memory: Option<&SharedMemory>, passed: Duration) -> Option<Duration> {
        let is_known = |memory: &SharedMemory| open(memory).is_subset(&self.open);
        if self.same {
            return (self.took >= WORTHWHILE).then(|| self.took / LEAST);
        }
        let rest = (self.took / PART).saturating_sub(passed).max(self.took / LEAST);
        (self.took >= WORTHWHILE && memory.is_none_or(is_known)).then_some(rest)
    }

    /// Says in a report that the search was short.
    pub fn note(&self, limit: Duration) -> Tried {
        let (before, now) = (self.took.as_secs_f64(), limit.as_secs_f64());
        let text = match self.same {
            true => format!("{before:.0} s left this open before lines moved: now only {now:.1} s"),
            false => format!(
                "before the last edit, {before:.0} s left the same open: now only {now:.1} s; run again for more"
            ),
        };
        let end = End::Unknown(Reason::GaveUp(text));
        Tried { engine: NAME, started: 0.0, seconds: 0.0, checking: 0.0, end, rejected: Vec::new() }
    }
}

/// Whether the search that led to an outcome was short because of an earlier one.
pub fn was_short(outcome: &Outcome) -> bool {
    outcome.tries.iter().any(|tried| tried.engine == NAME && matches!(tried.end, End::Unknown(_)))
}

/// The names of what is not decided. Numbers of lines are left out, because edits move lines.
pub fn open(memory: &SharedMemory) -> BTreeSet<String> {
    let is_open = |status: &Status| match status {
        Status::Open(_) | Status::Possible(_) => true,
        Status::Race(_) | Status::RaceFree(_) => false,
    };
    let open = memory.locations.iter().filter(|finding| is_open(&finding.status));
    open.map(|finding| without_lines(&finding.name)).collect()
}

fn without_lines(name: &str) -> String {
    let mut parts = name.split(':');
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push(':');
        kept.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    }
    kept
}

/// Checks evidence of before the edit. One that is not accepted is no error, and is not reported.
pub fn test(task: Task<'_>, verdict: Verdict, budget: &Budget) -> Option<(Checked, Tried)> {
    let given = Given { engine: NAME, verdict };
    let share = budget.part(TESTING);
    let Attempted { verdict, tried, .. } = pipeline::attempt(task, &given, &share, &share, &Silent);
    (!matches!(verdict, Checked::Unknown(_))).then_some((verdict, tried))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_do_not_count_in_names() {
        assert_eq!(without_lines("the memory allocated in a/b.c:923"), "the memory allocated in a/b.c:");
        assert_eq!(without_lines("x[].next of the struct a allocated in b.c:3:1"), {
            "x[].next of the struct a allocated in b.c::"
        });
        assert_eq!(without_lines("count2"), "count2");
    }

    #[test]
    fn a_search_is_short_only_where_it_was_long() {
        let same = Search { took: Duration::from_secs(80), open: BTreeSet::new(), same: true };
        assert_eq!(same.limit(None, Duration::from_secs(9)), Some(Duration::from_secs(2)));
        let limit = |took: u64, passed: u64, memory: Option<&SharedMemory>| {
            let search = Search { took: Duration::from_secs(took), open: BTreeSet::new(), same: false };
            search.limit(memory, Duration::from_secs(passed)).map(|limit| limit.as_secs())
        };
        assert_eq!(limit(4, 0, None), None);
        assert_eq!(limit(80, 0, None), Some(4));
        assert_eq!(limit(80, 1, Some(&SharedMemory::default())), Some(3));
        assert_eq!(limit(80, 20, None), Some(2));
    }
}
