//! Runs jobs, each in a process of its own, so many at a time.
//!
//! A process answers within its limits by itself. The runner ends one that does not, and all when it is asked
//! to stop. A process ends when the runner is killed: it is told whose child it is (`--supervisor`).

use crate::job::{Limits, Verdict, Work};
use crate::results::Finished;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use serde::Deserialize;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long to wait for an answer after the limit of time: a process answers within less.
pub const GRACE: Duration = Duration::from_secs(5);
/// A process that is above its limit of memory by this factor is ended.
const MEMORY_GRACE: u64 = 2;
/// How often to look at a process, at most and at least.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));
/// The exit status for bad input, and the one for internal errors.
const BAD_INPUT: i32 = 3;
const INTERNAL: i32 = 4;
/// How the text about an internal error begins.
pub(crate) const INTERNAL_ERROR: &str = "internal error";
/// The name of the engine that stands for the cache in reports.
const CACHE: &str = "cache";

/// How jobs are run.
pub struct Settings<'a> {
    /// The program that verifies.
    pub program: &'a Path,
    /// The folder for reports.
    pub folder: &'a Path,
    /// How many processes run at once.
    pub workers: usize,
    /// The cache of verdicts, if one is used.
    pub cache: Option<&'a Path>,
    /// Whether pages are written.
    pub has_pages: bool,
    /// How long to wait for an answer after the limit of time.
    pub grace: Duration,
    /// What sets the unfinished files of this runner apart from those of others in the same folder.
    pub tag: &'a str,
    /// Asks to stop: jobs that run are ended, and have no result.
    pub stop: &'a AtomicBool,
}

/// The paths of the report and of the page of a job, relative to the folder.
pub fn outputs(id: &str) -> (PathBuf, PathBuf) {
    (Path::new("reports").join(format!("{id}.json")), Path::new("pages").join(format!("{id}.html")))
}

/// Makes the folders for reports.
pub fn prepare(folder: &Path) -> Result<(), String> {
    for name in ["reports", "pages"] {
        let folder = folder.join(name);
        let fail =
            |error: std::io::Error| format!("{}: {error}; name another folder by --output", folder.display());
        std::fs::create_dir_all(&folder).map_err(fail)?;
    }
    Ok(())
}

/// Removes remains of processes that were killed; none may run in the folder.
pub fn sweep(folder: &Path) {
    for name in ["reports", "pages"] {
        for entry in std::fs::read_dir(folder.join(name)).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|ending| ending == "part") {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// Runs the jobs. `take` gets the number of each that is finished, in the order in which they
/// end; if it fails, the others are stopped, and its error is the result.
pub fn run(
    jobs: &[Work],
    settings: &Settings<'_>,
    mut take: impl FnMut(usize, Finished) -> Result<(), String>,
) -> Result<(), String> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let is_over = || settings.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
    let (done, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..settings.workers.clamp(1, jobs.len().max(1)) {
            let (done, next, is_over) = (done.clone(), &next, &is_over);
            scope.spawn(move || {
                while !is_over() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(work) = jobs.get(number) else { return };
                    if let Some(finished) = one(work, settings, is_over) {
                        // The receiver waits until all are done.
                        let _ = done.send((number, finished));
                    }
                }
            });
        }
        drop(done);
        let mut outcome = Ok(());
        for (number, finished) in results {
            if outcome.is_ok() {
                outcome = take(number, finished);
            }
            failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
        }
        outcome
    })
}

/// Runs one job; `None` if it was stopped.
fn one(work: &Work, settings: &Settings<'_>, is_over: &dyn Fn() -> bool) -> Option<Finished> {
    let begun = Instant::now();
    let failed = |why: String| Finished {
        verdict: Verdict::Error(why),
        seconds: begun.elapsed().as_secs_f64(),
        cpu_seconds: 0.0,
        bytes: 0,
        is_cached: false,
    };
    let (report, page) = outputs(&work.id);
    let (report, page) = (settings.folder.join(report), settings.folder.join(page));
    let part = |kind: &str| report.with_extension(format!("{kind}{}.part", settings.tag));
    let (answer, log) = (part("json"), part("log"));
    let start = || -> std::io::Result<Child> {
        let mut command = Command::new(settings.program);
        command.arg("verify").arg(format!("--supervisor={}", std::process::id())).arg("--format=json");
        if let Some(cache) = settings.cache.filter(|_| work.is_cacheable) {
            command.arg(crate::job::word("cache", cache));
        }
        if settings.has_pages {
            command.arg(crate::job::word("html", &page));
        }
        command.args(&work.words).stdin(Stdio::null());
        // Ctrl-C on the terminal is for the runner, which ends its processes.
        command.process_group(0).stdout(File::create(&answer)?).stderr(File::create(&log)?).spawn()
    };
    let mut child = match start() {
        Ok(child) => child,
        Err(error) => {
            let _ = std::fs::remove_file(&answer).and_then(|()| std::fs::remove_file(&log));
            return Some(failed(format!("the process cannot be started: {error}")));
        }
    };
    let watched = watch(&mut child, &work.limits, settings.grace, begun, is_over);
    let seconds = begun.elapsed().as_secs_f64();
    let said = text(&log);
    let _ = std::fs::remove_file(&log);
    let Watched { ended, cpu_seconds, bytes } = watched;
    let (verdict, is_cached) = match ended {
        Ended::Stopped => {
            let _ = std::fs::remove_file(&answer);
            return None;
        }
        Ended::Late => (Verdict::Unknown("out of time".to_owned()), false),
        Ended::Large => (Verdict::Unknown("out of memory".to_owned()), false),
        Ended::Lost(why) => (Verdict::Error(internal(&why, &said)), false),
        Ended::Exited(status) => match serde_json::from_str::<Report>(&text(&answer)) {
            // Only a whole report is kept.
            Ok(read) => match std::fs::rename(&answer, &report) {
                Ok(()) => read.verdict(status, &said),
                Err(error) => return Some(failed(format!("{}: {error}", report.display()))),
            },
            Err(_) => (Verdict::Error(internal(&format!("it ended with status {status}"), &said)), false),
        },
        Ended::Killed(signal) if signal == "SIGKILL" => {
            let why = "it was killed: the system ran out of memory, or somebody ended it";
            (Verdict::Error(why.to_owned()), false)
        }
        Ended::Killed(signal) => {
            (Verdict::Error(internal(&format!("it was ended by {signal}"), &said)), false)
        }
    };
    let _ = std::fs::remove_file(&answer);
    Some(Finished { verdict, seconds, cpu_seconds, bytes, is_cached })
}

/// The content of a file; none if it cannot be read.
fn text(path: &Path) -> String {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// What is reported of a process that gave no answer, with the first line that it said.
fn internal(how: &str, said: &str) -> String {
    match said.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => format!("{INTERNAL_ERROR}: {how}: {line}"),
        None => format!("{INTERNAL_ERROR}: {how}"),
    }
}

/// The parts of a JSON report that matter here.
#[derive(Deserialize)]
struct Report {
    verdict: String,
    checks: Vec<Check>,
}

#[derive(Deserialize)]
struct Check {
    tries: Vec<Tried>,
}

#[derive(Deserialize)]
struct Tried {
    engine: String,
}

impl Report {
    /// The verdict of a process that ended with this status, and whether it came from the cache.
    fn verdict(&self, status: i32, said: &str) -> (Verdict, bool) {
        let first = said.lines().next().unwrap_or("there is no message").to_owned();
        let (word, rest) = self.verdict.split_once('(').unwrap_or((&self.verdict, ""));
        let detail = rest.strip_suffix(')').unwrap_or(rest);
        let verdict = match status {
            // Otherwise it is only the page that is missing.
            BAD_INPUT if self.checks.is_empty() => Verdict::Error(first),
            INTERNAL => Verdict::Error(format!("{INTERNAL_ERROR}: {detail}")),
            _ => Verdict::of(word, detail).unwrap_or(Verdict::Error(self.verdict.clone())),
        };
        let from_cache = |check: &Check| check.tries.iter().any(|tried| tried.engine == CACHE);
        (verdict, !self.checks.is_empty() && self.checks.iter().all(from_cache))
    }
}

/// How a process ended, and what it took.
struct Watched {
    ended: Ended,
    cpu_seconds: f64,
    bytes: u64,
}

enum Ended {
    /// With a status.
    Exited(i32),
    /// By a signal.
    Killed(String),
    /// It did not answer in time.
    Late,
    /// It took too much memory.
    Large,
    /// The runner was asked to stop.
    Stopped,
    /// Nothing is known of it.
    Lost(String),
}

/// Waits for a process; ends it where it exceeds its limits. It is not there afterwards.
fn watch(
    child: &mut Child,
    limits: &Limits,
    grace: Duration,
    begun: Instant,
    is_over: &dyn Fn() -> bool,
) -> Watched {
    let id = Pid::from_raw(child.id() as i32);
    let deadline = Duration::from_secs_f64(limits.seconds.clamp(0.0, 1e8)) + grace;
    let most = (limits.megabytes << 20).saturating_mul(MEMORY_GRACE);
    let mut bytes = 0;
    let ended = loop {
        // It stays there as a zombie, so that its use of time can be read.
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(id), flags) {
            Ok(WaitStatus::Exited(_, status)) => break Ended::Exited(status),
            Ok(WaitStatus::Signaled(_, signal, _)) => break Ended::Killed(signal.as_str().to_owned()),
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => break Ended::Lost(format!("the process is lost: {error}")),
        }
        let (largest, resident) = memory(id);
        bytes = bytes.max(largest);
        if is_over() {
            break Ended::Stopped;
        } else if begun.elapsed() > deadline {
            break Ended::Late;
        } else if resident > most {
            break Ended::Large;
        }
        std::thread::sleep((begun.elapsed() / 20).clamp(PAUSES.0, PAUSES.1));
    };
    let cpu_seconds = processor_time(id);
    // It may have ended already.
    let _ = child.kill();
    let _ = child.wait();
    Watched { ended, cpu_seconds, bytes }
}

/// The most memory that a process had, and what it has, in bytes, if the system reports it.
fn memory(id: Pid) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let kilobytes = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    };
    (kilobytes("VmHWM:") << 10, kilobytes("VmRSS:") << 10)
}

/// The processor time that a process took, also if it ended, in seconds, if the system reports it.
fn processor_time(id: Pid) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The name of the program comes second, in parentheses, and may have spaces in it.
    let after = text.rsplit(')').next().unwrap_or_default();
    let mut fields = after.split_whitespace().skip(11).map(|field| field.parse::<u64>().unwrap_or(0));
    let ticks = fields.next().unwrap_or(0) + fields.next().unwrap_or(0);
    // Linux reports hundredths of a second to programs, whatever it counts in itself.
    ticks as f64 / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::os::unix::fs::PermissionsExt;

    /// A program that does what a script says, in a folder that is removed at the end.
    struct Fake(PathBuf);

    impl Fake {
        fn new(name: &str, script: &str) -> Self {
            let folder =
                std::env::temp_dir().join(format!("threadproof-runner-{}-{name}", std::process::id()));
            let _ = std::fs::remove_dir_all(&folder);
            prepare(&folder).expect("folders can be made");
            let path = folder.join("program");
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file can be written");
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&path, executable).expect("it is ours");
            Self(folder)
        }

        /// The verdicts of jobs that it runs, one at a time.
        fn run(&self, jobs: usize, limits: Limits, stop: &AtomicBool) -> Vec<Verdict> {
            let work = |number: usize| Work {
                id: number.to_string(),
                words: vec!["--check=races".to_owned().into()],
                limits,
                is_cacheable: true,
            };
            let jobs: Vec<Work> = (0..jobs).map(work).collect();
            let program = self.0.join("program");
            let settings = Settings {
                program: &program,
                folder: &self.0,
                workers: 1,
                cache: None,
                has_pages: false,
                grace: Duration::ZERO,
                tag: "",
                stop,
            };
            let mut verdicts = Vec::new();
            let ran = run(&jobs, &settings, |_, finished| {
                verdicts.push(finished.verdict);
                if verdicts.len() > 2 { Err("that is enough".to_owned()) } else { Ok(()) }
            });
            assert_eq!(ran.is_err(), verdicts.len() > 2);
            verdicts
        }

        /// What is in the folder for reports.
        fn reports(&self) -> usize {
            std::fs::read_dir(self.0.join("reports")).expect("it is there").count()
        }
    }

    impl Drop for Fake {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// Limits that no test reaches.
    const AMPLE: Limits = Limits { seconds: 1e6, megabytes: 1 << 20 };
    const GOOD: &str = r#"echo '{"verdict": "true", "checks": []}'"#;

    #[test]
    fn each_end_of_a_process_has_a_verdict() {
        let killed = "it was killed: the system ran out of memory, or somebody ended it";
        let error = |text: &str| Verdict::Error(text.to_owned());
        for (name, script, limits, verdict) in [
            ("good", GOOD, AMPLE, Verdict::True),
            ("junk", "echo no; exit 7", AMPLE, error("internal error: it ended with status 7")),
            (
                "said",
                "echo; echo why >&2; exit 4",
                AMPLE,
                error("internal error: it ended with status 4: why"),
            ),
            ("killed", "kill -KILL $$", AMPLE, error(killed)),
            ("fault", "kill -SEGV $$", AMPLE, error("internal error: it was ended by SIGSEGV")),
            (
                "late",
                "exec sleep 1000000",
                Limits { seconds: 0.0, ..AMPLE },
                Verdict::Unknown("out of time".to_owned()),
            ),
            (
                "large",
                "exec sleep 1000000",
                Limits { megabytes: 0, ..AMPLE },
                Verdict::Unknown("out of memory".to_owned()),
            ),
        ] {
            let fake = Fake::new(name, script);
            let verdicts = fake.run(1, limits, &AtomicBool::new(false));
            assert_eq!(verdicts, [verdict], "{name}");
            // Only a whole report stays.
            assert_eq!(fake.reports(), usize::from(name == "good"), "{name}");
        }
        let fake = Fake::new("none", GOOD);
        std::fs::remove_file(fake.0.join("program")).expect("it is there");
        let verdicts = fake.run(1, AMPLE, &AtomicBool::new(false));
        assert!(
            matches!(&verdicts[..], [Verdict::Error(why)] if why.starts_with("the process cannot be started"))
        );
    }

    #[test]
    fn a_batch_stops_where_it_is_told_to() {
        let fake = Fake::new("stop", GOOD);
        assert_eq!(fake.run(5, AMPLE, &AtomicBool::new(true)), []);
        // Results that cannot be kept are no results: the third one cannot, and no other one is taken.
        assert_eq!(fake.run(5, AMPLE, &AtomicBool::new(false)).len(), 3);
    }

    #[test]
    fn reports_are_read() {
        let read = |text: &str, status, said: &str| {
            serde_json::from_str::<Report>(text).expect("it is a report").verdict(status, said)
        };
        let of = |verdict: &str, engine: &str| {
            format!(r#"{{"verdict": "{verdict}", "checks": [{{"tries": [{{"engine": "{engine}"}}]}}]}}"#)
        };
        assert_eq!(read(&of("true", "flow"), 0, ""), (Verdict::True, false));
        let race = Verdict::False("no-data-race".to_owned());
        assert_eq!(read(&of("false(no-data-race)", "cache"), 1, ""), (race, true));
        let reason = "races: out of (all) time";
        assert_eq!(
            read(&of(&format!("unknown({reason})"), "flow"), 2, ""),
            (Verdict::Unknown(reason.to_owned()), false)
        );
        let bad = Verdict::Error("a.c:1:1: error: no".to_owned());
        let none = r#"{"verdict": "unknown(x)", "checks": []}"#;
        assert_eq!(read(none, 3, "a.c:1:1: error: no\nmore"), (bad, false));
        assert_eq!(read(&of("true", "flow"), 3, "error: there is no page"), (Verdict::True, false));
        assert_eq!(read(none, 4, ""), (Verdict::Error("internal error: x".to_owned()), false));
    }
}
