//! A wave: jobs that were submitted together as one array, as a folder that nodes and the batch share.
//!
//!     wave.json          what was submitted, for a batch that continues
//!     tasks/K.json       the jobs of element K, for the node that runs it
//!     script.sh          what the elements run
//!     submitted          the array is in the hands of Slurm
//!     abandoned          nobody waits for the array: its elements end at once
//!     results/ID.begun   a node has begun with a job
//!     results/ID.json    a job is finished
//!     logs/K             what element K said
//!
//! Each file is written beside its place and renamed, so that it is whole where it is seen.

use crate::job::{Limits, Verdict, Work};
use crate::results::Finished;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The folder of all waves, in the folder of a batch.
const FOLDER: &str = "slurm";

/// A job in a wave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submitted {
    /// The identity of the job.
    pub id: String,
    /// How many elements that tried it were lost before.
    pub losses: u32,
}

/// What was submitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    name: String,
    elements: Vec<Vec<Submitted>>,
}

/// The jobs of an element, and how they are run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The version of the program.
    pub version: String,
    /// The folder of the batch.
    pub output: PathBuf,
    /// The cache of verdicts, if one is used.
    pub cache: Option<PathBuf>,
    /// Whether pages are written.
    pub has_pages: bool,
    /// The jobs.
    pub works: Vec<Written>,
}

/// [`Work`] in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    id: String,
    words: Vec<String>,
    limits: Limits,
    is_cacheable: bool,
}

impl Written {
    /// What is written of a job; says which word is no text.
    pub fn of(work: &Work) -> Result<Self, String> {
        let text = |word: &std::ffi::OsString| {
            let text = word.to_str().map(str::to_owned);
            text.ok_or_else(|| format!("{}: a name that is no UTF-8 cannot be sent to Slurm", word.display()))
        };
        let words = work.words.iter().map(text).collect::<Result<_, _>>()?;
        Ok(Self { id: work.id.clone(), words, limits: work.limits, is_cacheable: work.is_cacheable })
    }

    /// The job.
    pub fn work(self) -> Work {
        let words = self.words.into_iter().map(Into::into).collect();
        Work { id: self.id, words, limits: self.limits, is_cacheable: self.is_cacheable }
    }
}

/// [`Finished`] in a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    verdict: String,
    detail: String,
    seconds: f64,
    cpu_seconds: f64,
    bytes: u64,
    is_cached: bool,
}

/// A wave that is waited for.
#[derive(Debug)]
pub struct Wave {
    folder: PathBuf,
    content: Content,
    /// The names of result files that were looked at.
    seen: BTreeSet<String>,
    /// Since when each element is known to have ended.
    pub ended: Vec<Option<Instant>>,
    /// The elements of which nothing more is expected.
    pub is_settled: Vec<bool>,
}

/// The folders of the waves of a batch, in the order in which they were made.
pub fn folders(output: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(output.join(FOLDER)).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_none()).collect();
    folders.sort();
    folders
}

/// Removes the folder of all waves if nothing is in it.
pub fn remove_empty(output: &Path) {
    let _ = std::fs::remove_dir(output.join(FOLDER));
}

impl Wave {
    /// Writes a wave, of elements with their jobs and the losses of these. It has the number `number`.
    pub fn write(
        output: &Path,
        number: usize,
        tasks: &[Task],
        losses: impl Fn(&str) -> u32,
        program: &Path,
    ) -> Result<Self, String> {
        let name = format!("threadproof-{}", unique());
        let folder = output.join(FOLDER).join(format!("{number:06}-{name}"));
        for part in ["tasks", "results", "logs"] {
            let path = folder.join(part);
            std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        for (element, task) in tasks.iter().enumerate() {
            write(&folder.join(task_name(element)), &json(task))?;
        }
        let [program, shown] = [program, &folder].map(|path| path.to_str().map(quoted));
        let (Some(program), Some(shown)) = (program, shown) else {
            return Err(format!("{}: a name that is no UTF-8 cannot be sent to Slurm", folder.display()));
        };
        let script = format!("#!/bin/sh\nexec {program} element {shown} \"$SLURM_ARRAY_TASK_ID\"\n");
        write(&folder.join("script.sh"), &script)?;
        let submitted = |written: &Written| Submitted { id: written.id.clone(), losses: losses(&written.id) };
        let elements = tasks.iter().map(|task| task.works.iter().map(submitted).collect()).collect();
        let wave = Self::new(folder, Content { name, elements });
        // With this file, it is a wave.
        write(&wave.folder.join("wave.json"), &json(&wave.content))?;
        Ok(wave)
    }

    /// The wave in a folder; `None` if it was not made to the end, or nobody waits for it.
    pub fn read(folder: &Path) -> Option<Self> {
        let content = read(&folder.join("wave.json"))?;
        (!is_abandoned(folder)).then(|| Self::new(folder.to_owned(), content))
    }

    fn new(folder: PathBuf, content: Content) -> Self {
        let count = content.elements.len();
        Self {
            folder,
            content,
            seen: BTreeSet::new(),
            ended: vec![None; count],
            is_settled: vec![false; count],
        }
    }

    /// The name of its array.
    pub fn name(&self) -> &str {
        &self.content.name
    }

    /// The jobs of each element.
    pub fn elements(&self) -> &[Vec<Submitted>] {
        &self.content.elements
    }

    /// The script that its elements run, and where they write what they say.
    pub fn script(&self) -> (PathBuf, PathBuf) {
        (self.folder.join("script.sh"), self.folder.join("logs/%a"))
    }

    /// Whether its array is in the hands of Slurm.
    pub fn is_submitted(&self) -> bool {
        self.folder.join("submitted").exists()
    }

    /// Records that its array is in the hands of Slurm.
    pub fn set_submitted(&self, number: &str) -> Result<(), String> {
        write(&self.folder.join("submitted"), number)
    }

    /// Whether nothing more is expected of it.
    pub fn is_over(&self) -> bool {
        self.is_settled.iter().all(|settled| *settled)
    }

    /// The results that were not returned before, by the identities of jobs.
    pub fn results(&mut self) -> Vec<(String, Finished)> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(self.folder.join("results")).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(id) = name.strip_suffix(".json").filter(|_| !self.seen.contains(&name)) else {
                continue;
            };
            let Some(answer) = read::<Answer>(&entry.path()) else { continue };
            let Answer { verdict, detail, seconds, cpu_seconds, bytes, is_cached } = answer;
            let Some(verdict) = Verdict::of(&verdict, &detail) else { continue };
            found.push((id.to_owned(), Finished { verdict, seconds, cpu_seconds, bytes, is_cached }));
            self.seen.insert(name);
        }
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found
    }

    /// Whether a node has begun with a job.
    pub fn has_begun(&self, id: &str) -> bool {
        self.folder.join(begun_name(id)).exists()
    }

    /// The last line that an element said, if it said something.
    pub fn last_words(&self, element: usize) -> Option<String> {
        let bytes = std::fs::read(self.folder.join("logs").join(element.to_string())).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
    }

    /// Nobody waits for it from now on.
    pub fn abandon(&self) -> Result<(), String> {
        write(&self.folder.join("abandoned"), "")
    }

    /// Removes its folder.
    pub fn remove(self) {
        remove(&self.folder);
    }
}

/// Removes the folder of a wave. What is left of it, if a node still writes, is no wave.
pub fn remove(folder: &Path) {
    let _ = std::fs::remove_file(folder.join("wave.json"));
    let _ = std::fs::remove_dir_all(folder);
}

/// Whether nobody waits for the wave in a folder.
pub fn is_abandoned(folder: &Path) -> bool {
    !folder.join("wave.json").exists() || folder.join("abandoned").exists()
}

/// The jobs of an element.
pub fn task(folder: &Path, element: usize) -> Option<Task> {
    read(&folder.join(task_name(element)))
}

/// Whether a job is finished.
pub fn is_finished(folder: &Path, id: &str) -> bool {
    folder.join(result_name(id)).exists()
}

/// Records that a node begins with a job.
pub fn begin(folder: &Path, id: &str) -> Result<(), String> {
    write(&folder.join(begun_name(id)), "")
}

/// Records the result of a job.
pub fn finish(folder: &Path, id: &str, finished: &Finished) -> Result<(), String> {
    let Finished { verdict, seconds, cpu_seconds, bytes, is_cached } = finished;
    let (seconds, cpu_seconds, bytes, is_cached) = (*seconds, *cpu_seconds, *bytes, *is_cached);
    let (verdict, detail) = (verdict.word().to_owned(), verdict.detail().to_owned());
    let answer = Answer { verdict, detail, seconds, cpu_seconds, bytes, is_cached };
    write(&folder.join(result_name(id)), &json(&answer))
}

fn task_name(element: usize) -> String {
    format!("tasks/{element}.json")
}

fn result_name(id: &str) -> String {
    format!("results/{id}.json")
}

fn begun_name(id: &str) -> String {
    format!("results/{id}.begun")
}

/// A word that is like no other: of this machine, this process and this moment.
fn unique() -> String {
    use sha2::{Digest, Sha256};
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/uuid").unwrap_or_default();
    let text = format!("{host} {boot} {} {}", std::process::id(), now.as_nanos());
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// A word as a shell reads it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("text, numbers and lists are JSON")
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Writes a file as a whole: beside its place, under a name that no other process has, and renamed.
fn write(path: &Path, text: &str) -> Result<(), String> {
    let part = path.with_extension(format!("{}.part", unique()));
    let written = || {
        let mut file = std::fs::File::create(&part)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&part, path)
    };
    written().map_err(|error: std::io::Error| {
        let _ = std::fs::remove_file(&part);
        match error.kind() {
            ErrorKind::StorageFull => format!("{}: the disk is full", path.display()),
            _ => format!("{}: {error}", path.display()),
        }
    })
}
