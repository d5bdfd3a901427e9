//! What came of a batch: counts, the score of the competition, and the lines on the terminal.

use crate::baseline::Baseline;
use crate::job::{Expected, Job, Verdict};
use crate::results::Finished;
use crate::runner::INTERNAL_ERROR;
use report::style::{Style, clean};
use serde::Serialize;
use std::fmt::Write;

/// How many of the longest jobs are named.
const LONGEST: usize = 5;
/// The points for right and wrong answers, for true and for false.
const RIGHT: (i64, i64) = (2, 1);
const WRONG: (i64, i64) = (-32, -16);

/// A job with its result.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Its id.
    pub id: &'a str,
    /// The job.
    pub job: &'a Job,
    /// Its result; `None` if it did not run.
    pub finished: Option<Finished>,
    /// What is compared with.
    pub baseline: Option<&'a Baseline>,
}

/// What a verdict is worth, given what is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Standing {
    /// It is what is expected.
    Right,
    /// It is not.
    Wrong,
    /// It is decided, and nothing is expected.
    Decided,
    /// It is not known.
    Unknown,
    /// There is no answer.
    Error,
    /// The job did not run.
    Open,
}

impl Standing {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Decided => "decided",
            Self::Unknown => "unknown",
            Self::Error => "error",
            Self::Open => "open",
        }
    }
}

/// The standing of a verdict. As the competition's script does, parts of properties are not compared.
pub fn standing(expected: Option<&Expected>, verdict: &Verdict) -> Standing {
    let holds = match verdict {
        Verdict::True => true,
        Verdict::False(_) => false,
        Verdict::Unknown(_) => return Standing::Unknown,
        Verdict::Error(_) => return Standing::Error,
    };
    match expected {
        None => Standing::Decided,
        Some(expected) if expected.holds == holds => Standing::Right,
        Some(_) => Standing::Wrong,
    }
}

impl Entry<'_> {
    /// Whether the baseline has the same answer; `None` where nothing is compared, or there is no answer.
    pub fn is_known(&self) -> Option<bool> {
        let finished = self.finished.as_ref()?;
        self.baseline.map(|baseline| baseline.has(self.job, &finished.verdict))
    }

    /// The standing of its verdict.
    pub fn standing(&self) -> Standing {
        let expected = self.job.expected.as_ref();
        self.finished.as_ref().map_or(Standing::Open, |finished| standing(expected, &finished.verdict))
    }

    /// The line about it: the verdict, the time, the task, and what is expected if that is something else.
    pub fn line(&self, style: Style) -> String {
        let Some(Finished { verdict, seconds, is_cached, .. }) = &self.finished else {
            return format!("{}: {}: not run", clean(&self.job.name), self.job.asked.name());
        };
        let (colour, note) = match (self.standing(), verdict, &self.job.expected) {
            (Standing::Wrong, _, Some(expected)) => ("31;1", format!("; WRONG, expected {expected}")),
            (_, Verdict::True, _) => ("32", String::new()),
            (_, Verdict::False(_), _) => ("31", String::new()),
            (_, Verdict::Unknown(why) | Verdict::Error(why), _) => ("33", format!(": {}", clean(why))),
        };
        let word = match style.colour {
            true => format!("\x1b[{colour}m{:7}\x1b[0m", verdict.word()),
            false => format!("{:7}", verdict.word()),
        };
        let is_finding = *verdict != Verdict::True || self.standing() == Standing::Wrong;
        let cached = match (is_cached, self.is_known().filter(|_| is_finding)) {
            (true, Some(true)) => " (cache, known)",
            (true, Some(false)) => " (cache, new)",
            (true, None) => " (cache)",
            (false, Some(true)) => " (known)",
            (false, Some(false)) => " (new)",
            (false, None) => "",
        };
        let (name, asked) = (clean(&self.job.name), self.job.asked.name());
        format!("{word} {seconds:7.2} s  {name}: {asked}{cached}{note}")
    }
}

/// The numbers of a batch.
#[derive(Clone, Copy, Default, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// All jobs.
    pub jobs: usize,
    /// Jobs with a result.
    pub finished: usize,
    /// By verdict.
    pub proved: usize,
    /// By verdict.
    pub refuted: usize,
    /// By verdict.
    pub unknown: usize,
    /// Jobs without an answer.
    pub errors: usize,
    /// Jobs with an expected verdict.
    pub expected: usize,
    /// Those of them that are answered as expected.
    pub right: usize,
    /// Those of them that are answered otherwise.
    pub wrong: usize,
    /// Jobs that a cache answered.
    pub cached: usize,
    /// The competition's score, and the best one.
    pub score: i64,
    /// The best score.
    pub best_score: i64,
    /// The seconds of all processes together.
    pub seconds: f64,
    /// The seconds of processor time.
    pub cpu_seconds: f64,
}

impl Summary {
    /// Counts.
    pub fn of(entries: &[Entry<'_>]) -> Self {
        let mut sum = Self { jobs: entries.len(), ..Self::default() };
        for entry in entries {
            let of = |points: (i64, i64), holds: bool| if holds { points.0 } else { points.1 };
            if let Some(expected) = &entry.job.expected {
                sum.expected += 1;
                sum.best_score += of(RIGHT, expected.holds);
            }
            let Some(finished) = &entry.finished else { continue };
            sum.finished += 1;
            sum.cached += usize::from(finished.is_cached);
            sum.seconds += finished.seconds;
            sum.cpu_seconds += finished.cpu_seconds;
            match finished.verdict {
                Verdict::True => sum.proved += 1,
                Verdict::False(_) => sum.refuted += 1,
                Verdict::Unknown(_) => sum.unknown += 1,
                Verdict::Error(_) => sum.errors += 1,
            }
            let said = finished.verdict == Verdict::True;
            match entry.standing() {
                Standing::Right => (sum.right, sum.score) = (sum.right + 1, sum.score + of(RIGHT, said)),
                Standing::Wrong => (sum.wrong, sum.score) = (sum.wrong + 1, sum.score + of(WRONG, said)),
                Standing::Decided | Standing::Unknown | Standing::Error | Standing::Open => {}
            }
        }
        sum
    }

    /// The text at the end of a batch.
    pub fn text(&self, entries: &[Entry<'_>], style: Style) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{} of {} checks: {} proved, {} refuted, {} unknown, {} errors; {} from the cache; {:.1} s of processor time",
            self.finished,
            self.jobs,
            self.proved,
            self.refuted,
            self.unknown,
            self.errors,
            self.cached,
            self.cpu_seconds
        );
        if self.expected > 0 {
            let _ = writeln!(
                out,
                "expected verdicts: {} of {} right, {} wrong; score {} of {}",
                self.right, self.expected, self.wrong, self.score, self.best_score
            );
        }
        let seconds = |entry: &&Entry<'_>| entry.finished.as_ref().map_or(0.0, |finished| finished.seconds);
        let mut longest: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.finished.is_some()).collect();
        longest.sort_by(|a, b| seconds(b).total_cmp(&seconds(a)));
        longest.truncate(LONGEST);
        let with = |standing| entries.iter().filter(move |entry: &&Entry<'_>| entry.standing() == standing);
        let parts: [(&str, Vec<&Entry<'_>>); 3] = [
            ("wrong", with(Standing::Wrong).collect()),
            ("errors", with(Standing::Error).collect()),
            ("longest", if entries.len() > LONGEST { longest } else { Vec::new() }),
        ];
        for (title, entries) in parts.iter().filter(|(_, entries)| !entries.is_empty()) {
            let _ = writeln!(out, "{title}:");
            for entry in entries {
                let _ = writeln!(out, "  {}", entry.line(style));
            }
        }
        out
    }

    /// The exit status, by what matters most: 4 for an internal error, 1 for a wrong answer or a violation
    /// that was not expected, 3 for a program that cannot be read, 2 for an unknown answer, and otherwise 0.
    /// What a baseline has does not count.
    pub fn status(entries: &[Entry<'_>]) -> u8 {
        let rank = |entry: &Entry<'_>| match entry.finished.as_ref().map(|finished| &finished.verdict) {
            Some(Verdict::Error(why)) if why.starts_with(INTERNAL_ERROR) => 4,
            Some(_) if entry.is_known() == Some(true) => 0,
            Some(Verdict::Error(_)) => 2,
            Some(Verdict::Unknown(_)) | None => 1,
            Some(Verdict::True | Verdict::False(_)) => match (entry.standing(), &entry.finished) {
                (Standing::Wrong, _) => 3,
                (Standing::Decided, Some(Finished { verdict: Verdict::False(_), .. })) => 3,
                (_, _) => 0,
            },
        };
        [0, 2, 3, 1, 4][entries.iter().map(rank).max().unwrap_or(0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Asked, Limits};

    #[test]
    fn scores_and_statuses() {
        let jobs: Vec<Job> = [Some(true), Some(false), None]
            .into_iter()
            .map(|expected| Job {
                name: "a.c".to_owned(),
                files: Vec::new(),
                asked: Asked::Check("races".to_owned()),
                options: Vec::new(),
                limits: Limits { seconds: 1.0, megabytes: 1 },
                expected: expected.map(|holds| Expected { holds, part: None }),
                is_cacheable: true,
            })
            .collect();
        let race = || Verdict::False("no-data-race".to_owned());
        let unknown = || Verdict::Unknown("out of time".to_owned());
        let bad = || Verdict::Error("a.c:1:1: error: no".to_owned());
        let crash = || Verdict::Error("internal error: x".to_owned());
        for (verdicts, score, right, wrong, status) in [
            ([Verdict::True, race(), Verdict::True], 3, 2, 0, 0),
            // A violation that was not expected.
            ([Verdict::True, race(), race()], 3, 2, 0, 1),
            ([race(), race(), Verdict::True], -15, 1, 1, 1),
            ([Verdict::True, Verdict::True, Verdict::True], -30, 1, 1, 1),
            ([unknown(), race(), Verdict::True], 1, 1, 0, 2),
            ([unknown(), bad(), Verdict::True], 0, 0, 0, 3),
            ([unknown(), bad(), race()], 0, 0, 0, 1),
            ([race(), crash(), Verdict::True], -16, 0, 1, 4),
        ] {
            let entries: Vec<Entry<'_>> = jobs
                .iter()
                .zip(&verdicts)
                .map(|(job, verdict)| {
                    let verdict = verdict.clone();
                    let (seconds, cpu_seconds) = (1.0, 0.5);
                    let finished = Finished { verdict, seconds, cpu_seconds, bytes: 1, is_cached: false };
                    Entry { id: "1", job, finished: Some(finished), baseline: None }
                })
                .collect();
            let sum = Summary::of(&entries);
            assert_eq!((sum.score, sum.right, sum.wrong), (score, right, wrong), "{verdicts:?}");
            assert_eq!((sum.best_score, sum.expected, sum.cpu_seconds), (3, 2, 1.5));
            assert_eq!(Summary::status(&entries), status, "{verdicts:?}");
        }
        let open = [Entry { id: "1", job: &jobs[0], finished: None, baseline: None }];
        assert_eq!((Summary::of(&open).finished, Summary::status(&open)), (0, 2));
    }
}
