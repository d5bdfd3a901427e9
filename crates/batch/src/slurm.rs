//! Batches on a cluster that Slurm manages: jobs are submitted in arrays, and their results come back as
//! files in a folder that all nodes see.
//!
//! What is known of the batch is in files at any moment ([`wave`]): a batch that was killed continues with
//! the arrays that are there. A job is submitted again when the element of an array that should have run it
//! has ended without its result: with its node, by a limit, or because somebody cancelled it. A result
//! counts once, also where a node that was given up for lost delivers later.
//!
//! 1. An array has a name that is like no other, and its files are there before it is submitted. So a batch
//!    that is killed in between finds out by the name whether Slurm has it.
//! 2. An element is looked for in the queue first, and its results are looked for after that: an element that
//!    has ended has written all that it ever will.
//! 3. File systems of clusters show files late. So an element that says that it completed is believed for a
//!    while before its jobs are submitted again.
//! 4. A job that is lost several times is an error: it may be what takes nodes down. Jobs of the same element
//!    that had not begun are not blamed for that.

mod commands;
mod wave;
mod worker;

use crate::job::{Verdict, Work};
use crate::results::Finished;
use commands::{State, States};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wave::{Task, Wave, Written};

pub use worker::run as work;

/// As many elements are in an array, if nothing else is said: clusters accept 1001.
const ELEMENTS: usize = 1000;
/// So many elements of arrays may be lost with a job.
const LOSSES: u32 = 3;
/// How long the results of an element that completed, or of which Slurm knows nothing, may be on their way.
const ON_THE_WAY: Duration = Duration::from_secs(90);
/// How long to wait for the end of elements that were cancelled.
const CANCELLING: Duration = Duration::from_secs(60);
/// How often to look, at most and at least.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));
/// How much time and memory an element has in addition to what its jobs may take.
const MORE_SECONDS: f64 = 30.0;
const MORE_MEGABYTES: u64 = 512;

/// How jobs are run on a cluster.
pub struct Settings<'a> {
    /// The program that verifies; all nodes see it under this path.
    pub program: &'a Path,
    /// Its version.
    pub version: &'a str,
    /// The folder for reports; all nodes see it.
    pub folder: &'a Path,
    /// How many elements run at once, if there is a limit.
    pub elements: Option<usize>,
    /// How many jobs an element has, if that is said.
    pub chunk: Option<usize>,
    /// How many processors an element asks for.
    pub processors: usize,
    /// Further options of `sbatch`.
    pub options: &'a [OsString],
    /// The cache of verdicts, if one is used.
    pub cache: Option<&'a Path>,
    /// Whether pages are written.
    pub has_pages: bool,
    /// How long a process may take to answer after its limit of time.
    pub grace: Duration,
    /// Asks to stop: what is submitted is cancelled.
    pub stop: &'a AtomicBool,
}

/// What a batch tells while it runs.
pub enum News {
    /// The jobs with these numbers are finished.
    Finished(Vec<(usize, Finished)>),
    /// Something else that users want to know.
    Note(String),
}

/// Whether a batch in this folder has arrays that were submitted and not collected.
pub fn has_waves(folder: &Path) -> bool {
    wave::folders(folder).iter().any(|folder| !wave::is_abandoned(folder))
}

/// Cancels all arrays of a folder, whose results do not count any more.
pub fn discard(folder: &Path) -> Result<(), String> {
    for path in wave::folders(folder) {
        if let Some(wave) = Wave::read(&path) {
            wave.abandon()?;
            commands::cancel(wave.name())?;
        }
        wave::remove(&path);
    }
    wave::remove_empty(folder);
    Ok(())
}

/// Runs the jobs. `take` gets what happens; if it fails, that is the result. Arrays stay in the hands of
/// Slurm then, and the next run collects them.
pub fn run(
    jobs: &[Work],
    settings: &Settings<'_>,
    take: &mut dyn FnMut(News) -> Result<(), String>,
) -> Result<(), String> {
    let numbers = jobs.iter().enumerate().map(|(number, job)| (job.id.as_str(), number)).collect();
    let open = jobs.iter().map(|job| job.id.as_str()).collect();
    let (waves, newest) = (Vec::new(), BTreeMap::new());
    let mut batch = Batch { jobs, settings, take, numbers, open, waves, newest };
    batch.adopt()?;
    batch.run()?;
    batch.waves.into_iter().for_each(Wave::remove);
    wave::remove_empty(settings.folder);
    Ok(())
}

/// A batch that runs.
struct Batch<'a> {
    jobs: &'a [Work],
    settings: &'a Settings<'a>,
    take: &'a mut dyn FnMut(News) -> Result<(), String>,
    /// The number of each job.
    numbers: BTreeMap<&'a str, usize>,
    /// The jobs without a result.
    open: BTreeSet<&'a str>,
    /// The arrays that are waited for, the oldest first.
    waves: Vec<Wave>,
    /// The name of the newest array that has a job. The older ones have lost it.
    newest: BTreeMap<&'a str, String>,
}

impl<'a> Batch<'a> {
    fn note(&mut self, text: String) -> Result<(), String> {
        (self.take)(News::Note(text))
    }

    /// Continues with the arrays of a batch that was killed.
    fn adopt(&mut self) -> Result<(), String> {
        for path in wave::folders(self.settings.folder) {
            match Wave::read(&path) {
                Some(wave) => self.waves.push(wave),
                // It was never submitted, or its results are collected.
                None => wave::remove(&path),
            }
        }
        self.collect()?;
        let names: Vec<&str> = self.waves.iter().map(Wave::name).collect();
        let states = commands::states(&names)?;
        for wave in std::mem::take(&mut self.waves) {
            let is_there = states.keys().any(|(name, _)| name == wave.name());
            let is_wanted = |id: &str| self.open.contains(id);
            let is_useful = wave.elements().iter().flatten().any(|submitted| is_wanted(&submitted.id));
            if is_there && !wave.is_submitted() {
                wave.set_submitted("")?;
            }
            if is_useful && (is_there || wave.is_submitted()) {
                self.waves.push(wave);
                continue;
            }
            // It never came to Slurm, or the programs have changed since. What comes to it now ends at once.
            wave.abandon()?;
            if is_there {
                commands::cancel(wave.name())?;
            }
            wave.remove();
        }
        for wave in &self.waves {
            for job in wave.elements().iter().flatten() {
                if let Some(id) = self.open.get(job.id.as_str()) {
                    self.newest.insert(id, wave.name().to_owned());
                }
            }
        }
        let is_known = |id: &str| self.newest.contains_key(id);
        let count = self.open.iter().filter(|id| is_known(id)).count();
        let rest: Vec<(usize, u32)> =
            self.open.iter().filter(|id| !is_known(id)).map(|id| (self.numbers[id], 0)).collect();
        if count > 0 {
            self.note(format!("{count} checks are in the hands of Slurm already"))?;
        }
        self.submit(rest)
    }

    /// Submits jobs, each with its losses, in arrays.
    fn submit(&mut self, mut jobs: Vec<(usize, u32)>) -> Result<(), String> {
        if jobs.is_empty() || self.settings.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        jobs.sort_unstable();
        let chunk = self.settings.chunk.unwrap_or_else(|| jobs.len().div_ceil(ELEMENTS)).max(1);
        for part in jobs.chunks(chunk * ELEMENTS) {
            self.submit_array(part, chunk)?;
        }
        Ok(())
    }

    /// Submits one array.
    fn submit_array(&mut self, jobs: &[(usize, u32)], chunk: usize) -> Result<(), String> {
        let settings = self.settings;
        let all = self.jobs;
        let mut tasks = Vec::new();
        let (mut seconds, mut megabytes) = (0.0_f64, 0);
        for part in jobs.chunks(chunk) {
            let works = part.iter().map(|(number, _)| &all[*number]);
            let long = |work: &Work| work.limits.seconds + settings.grace.as_secs_f64() + MORE_SECONDS;
            seconds = seconds.max(works.clone().map(long).sum());
            megabytes = works.clone().map(|work| work.limits.megabytes).fold(megabytes, u64::max);
            tasks.push(Task {
                version: settings.version.to_owned(),
                output: settings.folder.to_owned(),
                cache: settings.cache.map(Path::to_owned),
                has_pages: settings.has_pages,
                works: works.map(Written::of).collect::<Result<_, _>>()?,
            });
        }
        let losses: BTreeMap<&str, u32> =
            jobs.iter().map(|(number, losses)| (all[*number].id.as_str(), *losses)).collect();
        let number = next_number(&wave::folders(settings.folder));
        let wave = Wave::write(settings.folder, number, &tasks, |id| losses[id], settings.program)?;
        let (script, log) = wave.script();
        let most = settings.elements.map_or_else(String::new, |most| format!("%{most}"));
        let mut options: Vec<OsString> = vec![
            format!("--job-name={}", wave.name()).into(),
            format!("--array=0-{}{most}", tasks.len() - 1).into(),
            format!("--time={}", (seconds / 60.0).ceil().max(1.0)).into(),
            format!("--mem={}M", megabytes + MORE_MEGABYTES).into(),
            format!("--cpus-per-task={}", settings.processors).into(),
            // It is for the batch to submit what is lost: it knows what is finished.
            "--no-requeue".into(),
            crate::job::word("output", log),
        ];
        options.extend(settings.options.iter().cloned());
        match commands::submit(&options, script.as_os_str()) {
            Ok(number) => wave.set_submitted(&number)?,
            Err(error) => {
                // It may have come to Slurm all the same.
                let is_there = commands::states(&[wave.name()]).is_ok_and(|states| !states.is_empty());
                if !is_there {
                    wave.abandon()?;
                    wave.remove();
                    return Err(error);
                }
                wave.set_submitted("")?;
            }
        }
        for (number, _) in jobs {
            self.newest.insert(&all[*number].id, wave.name().to_owned());
        }
        let note = format!("{} checks are submitted to Slurm, in {} jobs", jobs.len(), tasks.len());
        self.waves.push(wave);
        self.note(note)
    }

    /// Waits until all is finished, or it is asked to stop.
    fn run(&mut self) -> Result<(), String> {
        let mut pause = PAUSES.0;
        let mut is_silent = false;
        while !self.open.is_empty() {
            if self.settings.stop.load(Ordering::Relaxed) {
                return self.cancel();
            }
            let before = self.open.len();
            match self.look() {
                Ok(states) => {
                    is_silent = false;
                    self.collect()?;
                    self.submit_lost(&states)?;
                }
                // Slurm may be out of reach for a while; results come without it.
                Err(error) => {
                    if !is_silent {
                        self.note(format!("{error}; waiting"))?;
                    }
                    is_silent = true;
                    self.collect()?;
                }
            }
            pause = if self.open.len() < before { PAUSES.0 } else { (pause * 3 / 2).min(PAUSES.1) };
            let begun = Instant::now();
            while begun.elapsed() < pause
                && !self.open.is_empty()
                && !self.settings.stop.load(Ordering::Relaxed)
            {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        Ok(())
    }

    /// What Slurm says of the arrays.
    fn look(&self) -> Result<States, String> {
        let names: Vec<&str> = self.waves.iter().filter(|wave| !wave.is_over()).map(Wave::name).collect();
        commands::states(&names)
    }

    /// Takes the results that are there.
    fn collect(&mut self) -> Result<(), String> {
        for wave in self.waves.iter_mut().filter(|wave| !wave.is_over()) {
            let mut found = Vec::new();
            for (id, finished) in wave.results() {
                // It may be of a program that has changed, or come twice.
                if let Some(number) =
                    self.numbers.get(id.as_str()).filter(|_| self.open.contains(id.as_str()))
                {
                    found.push((*number, finished));
                }
            }
            let ids: Vec<&str> = found.iter().map(|(number, _)| self.jobs[*number].id.as_str()).collect();
            if !found.is_empty() {
                (self.take)(News::Finished(found))?;
            }
            for id in ids {
                self.open.remove(id);
            }
        }
        Ok(())
    }

    /// Submits the jobs again whose elements have ended without their results.
    fn submit_lost(&mut self, states: &States) -> Result<(), String> {
        let mut again: Vec<(usize, u32)> = Vec::new();
        let mut gone: Vec<(usize, String)> = Vec::new();
        for wave in &mut self.waves {
            for element in 0..wave.elements().len() {
                if wave.is_settled[element] {
                    continue;
                }
                let name = wave.name().to_owned();
                let is_missing = |id: &str| self.open.contains(id) && self.newest.get(id) == Some(&name);
                let jobs = &wave.elements()[element];
                let missing: Vec<_> = jobs.iter().filter(|job| is_missing(&job.id)).cloned().collect();
                if missing.is_empty() {
                    wave.is_settled[element] = true;
                    continue;
                }
                let state = states.get(&(name, element)).copied();
                if state == Some(State::Active) {
                    continue;
                }
                let since = *wave.ended[element].get_or_insert_with(Instant::now);
                if state != Some(State::Ended) && since.elapsed() < ON_THE_WAY {
                    continue;
                }
                wave.is_settled[element] = true;
                // If the element has done nothing at all, it is not a job that failed.
                let has_begun = wave.elements()[element].iter().any(|job| wave.has_begun(&job.id));
                for job in missing {
                    let losses = job.losses + u32::from(!has_begun || wave.has_begun(&job.id));
                    let number = self.numbers[job.id.as_str()];
                    if losses < LOSSES {
                        again.push((number, losses));
                        continue;
                    }
                    let said = wave.last_words(element).map_or_else(String::new, |said| format!(": {said}"));
                    gone.push((number, format!("its jobs on the cluster were lost {losses} times{said}")));
                }
            }
        }
        for (number, why) in gone {
            let finished = Finished {
                verdict: Verdict::Error(why),
                seconds: 0.0,
                cpu_seconds: 0.0,
                bytes: 0,
                is_cached: false,
            };
            (self.take)(News::Finished(vec![(number, finished)]))?;
            self.open.remove(self.jobs[number].id.as_str());
        }
        if !again.is_empty() {
            self.note(format!("{} checks were lost on the cluster", again.len()))?;
        }
        self.submit(again)
    }

    /// Cancels what is submitted, and takes what is finished.
    fn cancel(&mut self) -> Result<(), String> {
        for wave in &self.waves {
            wave.abandon()?;
            commands::cancel(wave.name())?;
        }
        let begun = Instant::now();
        let is_active = |states: States| states.values().any(|state| *state == State::Active);
        while begun.elapsed() < CANCELLING && self.look().map_or(true, is_active) {
            std::thread::sleep(PAUSES.0);
        }
        self.collect()
    }
}

/// The number of the next wave.
fn next_number(folders: &[PathBuf]) -> usize {
    let number =
        |path: &PathBuf| -> Option<usize> { path.file_name()?.to_str()?.split('-').next()?.parse().ok() };
    folders.iter().filter_map(number).max().map_or(0, |number| number + 1)
}
