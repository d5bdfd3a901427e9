//! A store of verdicts with their evidence, which needs no trust.
//!
//! An entry is found by the hash of what is asked: the program after preprocessing and lowering, the check,
//! the options that choose among engines, and the version of the rules. It holds the evidence as `verify
//! --proof` writes it, which is checked again before it counts: an entry that is refused, cut short or of
//! something else is as good as none, and is replaced. `Unknown` has no evidence. It is kept with the budget
//! that it was found within, and counts where no more is asked for; a forged one makes a check stay open, and
//! decides nothing.
//!
//! Beside that, the store keeps what the last run found of the same files ([`crate::before`]): after an edit,
//! its evidence is tried first, and its searches are not all repeated in full.

use crate::arguments::{Model, Verify};
use crate::before::Before;
use crate::checking::Question;
use crate::evidence::write_whole;
use checker::Checked;
use ir::Program;
use portfolio::earlier::{self, Earlier};
use portfolio::pipeline::{self, Given};
use report::{Outcome, SharedMemory};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use verdict::{Budget, Check, Evidence, EvidenceFile, Exhausted, Reason, Silent, Verdict, Views};

/// The engine that an answer from the store is reported of.
pub const NAME: &str = "cache";
/// To be raised with each change after which an old `unknown` says little, or old evidence is refused.
const RULES: u32 = 1;
/// The part of the time that checking an entry may take.
const CHECKING: u32 = 2;
/// The largest entry that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// The store as one run sees it.
#[derive(Clone)]
pub struct Cache {
    folder: PathBuf,
    effort: Effort,
    /// Whether a person waits: then shared memory is listed also where the verdict is known, and searches
    /// after an edit are short.
    interactive: bool,
    /// The checks that are not answered from the store.
    missed: Arc<Mutex<Vec<Missed>>>,
}

/// What the store says of a check.
#[derive(Default)]
pub struct Known {
    /// The answer, and what it takes to reach it again.
    pub answer: Option<Outcome>,
    /// What was found before an edit.
    pub earlier: Earlier,
}

/// A check that is not answered from the store.
struct Missed {
    check: Check,
    key: String,
    placed: String,
    /// What its search may take.
    effort: Effort,
    /// Whether only lines have moved since a full search.
    moved: bool,
    /// What was found before an edit, and where that is kept.
    before: Option<(PathBuf, Option<Before>)>,
    begun: Instant,
    /// How long the search was, once it has ended.
    seconds: Option<f64>,
}

/// What a search may take, for one check.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effort {
    seconds: f64,
    megabytes: u64,
    jobs: usize,
}

impl Effort {
    /// Whether it is not more in any respect.
    pub fn is_within(&self, other: &Self) -> bool {
        self.seconds <= other.seconds && self.megabytes <= other.megabytes && self.jobs <= other.jobs
    }
}

/// An `unknown` in the store.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Open {
    effort: Effort,
    reason: String,
    /// The limit that was hit, if it was one.
    limit: Option<Limit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Limit {
    Time,
    Memory,
}

impl Open {
    /// What is kept of a reason; `None` where it says nothing about the next run.
    fn of(reason: &Reason, effort: Effort) -> Option<Self> {
        let limit = match reason {
            Reason::Exhausted(Exhausted::Time) => Some(Limit::Time),
            Reason::Exhausted(Exhausted::Memory) => Some(Limit::Memory),
            Reason::Exhausted(Exhausted::Cancelled)
            | Reason::NoEvidence
            | Reason::Rejected(_)
            | Reason::Crashed(_)
            | Reason::Contradiction(_) => return None,
            Reason::NotSupported(..)
            | Reason::TooLarge(_)
            | Reason::GaveUp(_)
            | Reason::Bounded(_)
            | Reason::Approximate(_)
            | Reason::Specification(_)
            | Reason::Undefined(..) => None,
        };
        Some(Self { effort, reason: reason.to_string(), limit })
    }

    fn reason(self) -> Reason {
        match self.limit {
            Some(Limit::Time) => Reason::Exhausted(Exhausted::Time),
            Some(Limit::Memory) => Reason::Exhausted(Exhausted::Memory),
            None => Reason::GaveUp(self.reason),
        }
    }
}

impl Cache {
    /// The store that a run is asked to use.
    pub fn of(options: &Verify) -> Option<Self> {
        Some(Self::within(options.cache.clone()?, options))
    }

    fn within(folder: PathBuf, options: &Verify) -> Self {
        let jobs = options.jobs.map_or_else(portfolio::default_jobs, usize::from);
        let effort = Effort { seconds: options.timeout, megabytes: options.memory, jobs };
        let interactive = options.supervisor.is_none();
        Self { folder, effort, interactive, missed: Arc::default() }
    }

    /// The store of an editor: the one that the options name, or the user's. `None` where nothing is kept.
    pub fn for_editor(options: &Verify) -> Option<Self> {
        let asking = &options.asking;
        if options.reading.nesc || !asking.race.is_empty() || asking.spec.is_some() {
            return None;
        }
        Self::of(options).or_else(|| Some(Self::within(users()?.join("verdicts"), options)))
    }

    /// Makes the folder of the store; says why that is not possible.
    pub fn prepare(&self) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether shared memory is listed even where the verdict is in the store.
    pub fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// The answer from the store, if its evidence is accepted now; otherwise what was found before an edit.
    /// Where a baseline is compared with, only a proof is an answer: others tell one violation, or that a
    /// check is open, but not all that is found.
    pub fn answer(&self, options: &Verify, question: &Question, check: Check, budget: &Budget) -> Known {
        let program = question.prepared.of(check);
        let (key, placed) = keys(options, program, check);
        // Checks share the time.
        let seconds = self.effort.seconds / question.asked.checks.len().max(1) as f64;
        let effort = Effort { seconds, ..self.effort };
        let found = self.decided(&key, program, check, budget).or_else(|| self.open(&placed, check, effort));
        let says_all = |outcome: &Outcome| matches!(outcome.verdict, Checked::Proved(_));
        let found = found.filter(|outcome| options.baseline.is_none() || says_all(outcome));
        let place = self.interactive.then(|| self.path(&place_of(options, question, check), BEFORE));
        let before = place.as_deref().and_then(|place| Before::read(&read(place)?));
        let is_same = before.as_ref().is_some_and(|before| before.key == key);
        let (mut earlier, mut moved) = (Earlier::default(), false);
        if let Some(before) = before.as_ref().filter(|_| found.is_none() || is_same) {
            earlier.evidence = before.evidence(check);
            moved = before.moved(&key, &placed);
            // The same text again: now the search is whole.
            let is_edited = before.is_edited(&placed) && !self.path(&placed, OPEN).exists();
            let is_edited = is_edited && options.baseline.is_none();
            earlier.search = is_edited.then(|| before.search(effort, moved)).flatten();
            moved &= earlier.search.is_some();
        }
        if found.is_none() {
            let before = place.map(|place| (place, before));
            let missed =
                Missed { check, key, placed, effort, before, moved, begun: Instant::now(), seconds: None };
            self.missed().push(missed);
        }
        Known { answer: found, earlier }
    }

    /// The search for a check has ended.
    pub fn ended(&self, check: Check) {
        for missed in self.missed().iter_mut().filter(|missed| missed.check == check) {
            missed.seconds = Some(missed.begun.elapsed().as_secs_f64());
        }
    }

    fn missed(&self) -> MutexGuard<'_, Vec<Missed>> {
        self.missed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A verdict whose evidence is in the store and is accepted.
    fn decided(&self, key: &str, program: &Views, check: Check, budget: &Budget) -> Option<Outcome> {
        let mut file = EvidenceFile::read(&read(&self.path(key, EVIDENCE))?).ok()?;
        let position = file.checks.iter().position(|(known, _)| *known == check)?;
        let verdict = match file.checks.swap_remove(position).1 {
            Evidence::Proof(proof) => Verdict::Safe(proof),
            Evidence::Trace(trace) => Verdict::Unsafe(trace),
        };
        let given = Given { engine: NAME, verdict };
        let outcome = pipeline::verify_prepared(program, check, &given, &budget.part(CHECKING), &Silent);
        match outcome.verdict {
            Checked::Proved(_) | Checked::Refuted(_) => Some(outcome),
            Checked::Unknown(_) => None,
        }
    }

    /// An `unknown` that was found with at least the effort that is asked for now.
    fn open(&self, key: &str, check: Check, effort: Effort) -> Option<Outcome> {
        let open: Open = serde_json::from_str(&read(&self.path(key, OPEN))?).ok()?;
        if !effort.is_within(&open.effort) {
            return None;
        }
        let reason = open.reason();
        let end = report::End::Unknown(reason.clone());
        let tried = report::Tried {
            engine: NAME,
            started: 0.0,
            seconds: 0.0,
            checking: 0.0,
            end,
            rejected: Vec::new(),
        };
        let verdict = Checked::Unknown(reason);
        Some(Outcome { check, variable: None, verdict, decisions: None, seconds: 0.0, tries: vec![tried] })
    }

    /// Keeps what was found for the checks that the store had no answer to. A store that cannot be written
    /// costs time later, and is no error.
    pub fn keep(&self, program: &Program, outcomes: &[Outcome], memory: Option<&SharedMemory>) {
        let missed = std::mem::take(&mut *self.missed());
        let data_model = Model::from(program.data_model).name();
        for Missed { check, key, placed, mut effort, moved, before, begun, seconds } in missed {
            let is_it = |outcome: &&Outcome| outcome.check == check && outcome.variable.is_none();
            let Some(outcome) = outcomes.iter().find(is_it) else { continue };
            let seconds = seconds.unwrap_or_else(|| begun.elapsed().as_secs_f64());
            if let Some((place, before)) = before {
                let memory = memory.filter(|_| check == Check::Races);
                let found = (outcomes, outcome, memory);
                let now = Before::of(before, (&key, &placed), found, (effort, seconds, moved), data_model);
                if let Ok(text) = serde_json::to_string(&now) {
                    self.write(&place, &text);
                }
            }
            if earlier::was_short(outcome) && !moved {
                effort.seconds = effort.seconds.min(seconds);
            }
            let evidence = match &outcome.verdict {
                Checked::Proved(proof) => Evidence::Proof(proof.clone()),
                Checked::Refuted(refutation) => Evidence::Trace(refutation.trace.clone()),
                Checked::Unknown(reason) => {
                    let open = Open::of(reason, effort);
                    if let Some(Ok(text)) = open.map(|open| serde_json::to_string(&open)) {
                        self.write(&self.path(&placed, OPEN), &text);
                    }
                    continue;
                }
            };
            let data_model = data_model.to_owned();
            if let Ok(text) = (EvidenceFile { data_model, checks: vec![(check, evidence)] }).write() {
                self.write(&self.path(&key, EVIDENCE), &text);
                let _ = std::fs::remove_file(self.path(&placed, OPEN));
            }
        }
    }

    fn write(&self, path: &Path, text: &str) {
        let made = path.parent().map(std::fs::create_dir_all);
        if made.is_some_and(|made| made.is_ok()) {
            let _ = write_whole(path, text);
        }
    }

    /// Where an entry is. Folders stay small.
    fn path(&self, key: &str, ending: &str) -> PathBuf {
        self.folder.join(&key[..2]).join(format!("{}.{ending}", &key[2..]))
    }
}

/// The endings of the two kinds of answers.
const EVIDENCE: &str = "evidence.json";
const OPEN: &str = "unknown.json";
/// The ending of what was found before an edit.
const BEFORE: &str = "before.json";

/// Removes the oldest entries of the user's own store beyond this many bytes.
pub fn prune(most: u64) {
    let Some(folder) = users().map(|folder| folder.join("verdicts")) else { return };
    let below = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries = Vec::new();
    for entry in below(&folder).flat_map(|folder| below(&folder.path())) {
        if let Ok(data) = entry.metadata()
            && data.is_file()
        {
            entries.push((data.modified().ok(), data.len(), entry.path()));
        }
    }
    entries.sort();
    let mut kept = 0;
    for (_, bytes, path) in entries.into_iter().rev() {
        kept += bytes;
        if kept > most {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The folder for what the user's programs keep.
fn users() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")))?;
    Some(folder.join("threadproof"))
}

/// The text of an entry, if there is one that is not too large.
fn read(path: &Path) -> Option<String> {
    let is_small = std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() <= LARGEST);
    is_small.then(|| std::fs::read_to_string(path).ok()).flatten()
}

/// The hashes of what is asked: without lines, for evidence, which is checked in any case; and with them, for
/// reasons that may name some. The names of files do not count, so that folders can share a store.
fn keys(options: &Verify, program: &Views, check: Check) -> (String, String) {
    let mut named: Program = Program::clone(program);
    named.files = (0..named.files.len()).map(|number| number.to_string()).collect();
    let (how, text) = (how(options, &named, check), ir::text::print(&named));
    (hash(&[&how, "whatever lines", &without_lines(&text)]), hash(&[&how, &text]))
}

/// A printed program without the positions in it.
fn without_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut words = text.split([' ', '\n']);
    while let Some(word) = words.next() {
        if word == "@" {
            words.next();
            continue;
        }
        out.push_str(word);
        out.push(' ');
        // Allocations are named by their lines.
        if word == "line" {
            let number = words.next().unwrap_or_default();
            out.push_str(number.trim_start_matches(|letter: char| letter.is_ascii_digit()));
            out.push(' ');
        }
    }
    out
}

/// The hash of the files and of how they are checked, whatever is in them.
fn place_of(options: &Verify, question: &Question, check: Check) -> String {
    let program = &question.input.0;
    let mut parts = vec![how(options, program, check)];
    let files = question.files.iter().map(|file| std::path::absolute(file).unwrap_or_else(|_| file.clone()));
    parts.extend(files.map(|file| file.to_string_lossy().into_owned()));
    parts.push(format!("{:?} {:?}", options.reading.entry, options.reading.thread));
    hash(&parts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn how(options: &Verify, program: &Program, check: Check) -> String {
    format!(
        "{RULES} {} {} {} {:?} {} {:?} {:?} {}",
        env!("CARGO_PKG_VERSION"),
        check.name(),
        Model::from(program.data_model).name(),
        options.engine,
        options.shortest,
        options.main_thread,
        options.reading.memory_model,
        options.reading.failures,
    )
}

fn hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for (number, part) in parts.iter().enumerate() {
        hash = if number == 0 { hash } else { hash.chain_update([0]) };
        hash = hash.chain_update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_left_out() {
        let text = "static x: i32 @ 0:3:1\nl0 -> l1: i32[&x] := 1 @ 1:22:333\n";
        assert_eq!(without_lines(text), "static x: i32 l0 -> l1: i32[&x] := 1  ");
        assert_eq!(
            without_lines("site o#1 \"calloc in line 12\": i32"),
            "site o#1 \"calloc in line \": i32 "
        );
        assert_ne!(without_lines(text), without_lines(&text.replace(":= 1", ":= 2")));
    }
}
