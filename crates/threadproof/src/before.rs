//! What the last run found of the same files, for the run after an edit.
//!
//! It is kept in the store of verdicts ([`crate::cache`]), one entry for the files and options of a check,
//! and needs as little trust: its evidence is about another program, and counts only if the checker accepts
//! it for the current one. The rest says what was open after how long a search; a forged one can make a
//! search short, and decides nothing.

use crate::cache::Effort;
use checker::Checked;
use portfolio::earlier::{self, Search};
use report::{Outcome, SharedMemory};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;
use verdict::{Check, Evidence, EvidenceFile, Verdict};

/// The most pieces of evidence that are kept: one proof, or races on this many locations.
const MOST: usize = 16;
/// The longest piece of evidence that is kept, in bytes.
const LARGEST: usize = 16 << 20;

/// What is kept of a run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Before {
    /// The program and the check that it is about, whatever lines they are in.
    pub key: String,
    /// The same with lines.
    placed: String,
    /// Whether that was searched in full.
    whole: bool,
    /// What the last whole search might take, and how long it was in seconds; `None` when all was decided.
    search: Option<(Effort, f64)>,
    /// What was left open.
    open: BTreeSet<String>,
    /// Evidence, each piece as in a file of its own.
    evidence: Vec<String>,
}

impl Before {
    /// Reads an entry; `None` when it is none.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// What is kept after a run. After a short search, the one before it counts; after one where only lines
    /// had `moved`, it counts as a whole one.
    pub fn of(
        before: Option<Self>,
        (key, placed): (&str, &str),
        (outcomes, whole, memory): (&[Outcome], &Outcome, Option<&SharedMemory>),
        (effort, seconds, moved): (Effort, f64, bool),
        data_model: &str,
    ) -> Self {
        let check = whole.check;
        let was_short = earlier::was_short(whole) && !moved;
        let open = memory.map(earlier::open).unwrap_or_default();
        let is_open = !open.is_empty() || matches!(whole.verdict, Checked::Unknown(_));
        let search = match before.and_then(|before| before.search) {
            Some(search) if was_short || moved => Some(search),
            _ => Some((effort, seconds)),
        };
        let evidence = outcomes.iter().filter(|outcome| outcome.check == check).filter_map(|outcome| {
            let evidence = match &outcome.verdict {
                Checked::Proved(proof) => Evidence::Proof(proof.clone()),
                Checked::Refuted(refutation) => Evidence::Trace(refutation.trace.clone()),
                Checked::Unknown(_) => return None,
            };
            let file = EvidenceFile { data_model: data_model.to_owned(), checks: vec![(check, evidence)] };
            file.write().ok().filter(|text| text.len() <= LARGEST)
        });
        Self {
            key: key.to_owned(),
            placed: placed.to_owned(),
            whole: !was_short,
            search: search.filter(|_| is_open),
            open,
            evidence: evidence.take(MOST).collect(),
        }
    }

    /// The evidence about a check.
    pub fn evidence(&self, check: Check) -> Vec<Verdict> {
        let read = self.evidence.iter().take(MOST).filter_map(|text| EvidenceFile::read(text).ok());
        let of_check = read.flat_map(|file| file.checks).filter(|(known, _)| *known == check);
        of_check
            .map(|(_, evidence)| match evidence {
                Evidence::Proof(proof) => Verdict::Safe(proof),
                Evidence::Trace(trace) => Verdict::Unsafe(trace),
            })
            .collect()
    }

    /// Whether the program is the same but for its lines, and was searched in full.
    pub fn moved(&self, key: &str, placed: &str) -> bool {
        self.whole && self.key == key && self.placed != placed
    }

    /// Whether the text is another one now.
    pub fn is_edited(&self, placed: &str) -> bool {
        self.placed != placed
    }

    /// The search, if it had at least the limits of now.
    pub fn search(&self, effort: Effort, same: bool) -> Option<Search> {
        let (before, seconds) = self.search.as_ref()?;
        let took = Duration::try_from_secs_f64(*seconds).ok()?;
        effort.is_within(before).then(|| Search { took, open: self.open.clone(), same })
    }
}
