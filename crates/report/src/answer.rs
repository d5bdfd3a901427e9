//! The outcomes of all checks of a program.

use crate::baseline::{Baseline, News};
use crate::story::Story;
use crate::{SharedMemory, Sources};
use checker::Checked;
use ir::Program;
use verdict::{Check, Decisions, Evidence, Reason};

/// The input of a report.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    /// The program as it was read.
    pub program: &'a Program,
    /// Its lines.
    pub sources: &'a Sources,
    /// The outcome of each check.
    pub outcomes: &'a [Outcome],
    /// The overall answer.
    pub answer: &'a Answer,
    /// Whether to report what each engine tried, even if there is an answer.
    pub explain: bool,
    /// Why some checks hold.
    pub stories: &'a [(Check, Story)],
    /// The status of each shared memory location, if that was analysed.
    pub memory: Option<&'a SharedMemory>,
    /// What is compared with, if a report is to say what is new.
    pub baseline: Option<&'a Baseline>,
}

impl<'a> Report<'a> {
    /// Why a check holds.
    pub fn story(&self, check: Check) -> Option<&'a Story> {
        self.stories.iter().find(|(known, _)| *known == check).map(|(_, story)| story)
    }

    /// What is new, where that is asked.
    pub fn news(&self) -> Option<News> {
        self.baseline.map(|baseline| baseline.news(self))
    }
}

/// The outcome of one check.
#[derive(Debug)]
pub struct Outcome {
    /// The check.
    pub check: Check,
    /// The variable that it is about, if it is about a single one.
    pub variable: Option<String>,
    /// The result.
    pub verdict: Checked,
    /// The status of each single check, if the whole is not known.
    pub decisions: Option<Decisions>,
    /// How long it took.
    pub seconds: f64,
    /// What was tried, in the order in which it ended.
    pub tries: Vec<Tried>,
}

/// The result of one engine, within its share of the time.
#[derive(Debug)]
pub struct Tried {
    /// The engine.
    pub engine: &'static str,
    /// When it began, in seconds after the beginning of the check.
    pub started: f64,
    /// How long it searched.
    pub seconds: f64,
    /// How long its evidence was checked.
    pub checking: f64,
    /// Its result.
    pub end: End,
    /// Evidence that was rejected, or that other evidence contradicts.
    pub rejected: Vec<Evidence>,
}

/// How a search ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// With a proof that was accepted.
    Proved,
    /// With a violation that was replayed.
    Refuted,
    /// Another engine was first.
    Stopped,
    /// Without an answer.
    Unknown(Reason),
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Proved => f.write_str("proved"),
            Self::Refuted => f.write_str("refuted"),
            Self::Stopped => f.write_str("stopped, another engine was first"),
            Self::Unknown(reason) => f.write_str(&one_line(reason)),
        }
    }
}

/// The answer to all checks together.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// All properties hold.
    True,
    /// One does not.
    False(Check),
    /// None is known to be violated, and not all are known to hold.
    Unknown(String),
}

impl Answer {
    /// The answer for some outcomes; parts of the question may have stayed open.
    pub fn of(outcomes: &[Outcome], open: &[String]) -> Self {
        let contradiction = outcomes.iter().find_map(|outcome| match &outcome.verdict {
            Checked::Unknown(reason @ Reason::Contradiction(_)) => Some((outcome.check, reason)),
            Checked::Unknown(_) | Checked::Proved(_) | Checked::Refuted(_) => None,
        });
        // After one contradiction, no other outcome of the run is trusted.
        if let Some((check, reason)) = contradiction {
            return Self::Unknown(format!("{}: {}", check.name(), one_line(reason)));
        }
        let refuted = outcomes.iter().find(|outcome| matches!(outcome.verdict, Checked::Refuted(_)));
        if let Some(outcome) = refuted {
            return Self::False(outcome.check);
        }
        let unknown = outcomes.iter().find_map(|outcome| match &outcome.verdict {
            Checked::Unknown(reason) => Some((outcome.check, reason)),
            Checked::Proved(_) | Checked::Refuted(_) => None,
        });
        match (unknown, open.first()) {
            (Some((check, reason)), _) => Self::Unknown(format!("{}: {}", check.name(), one_line(reason))),
            (None, Some(open)) => Self::Unknown(format!("unsupported property {open}")),
            (None, None) => Self::True,
        }
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::True => f.write_str("true"),
            Self::False(check) => write!(f, "false({})", check.property_name()),
            Self::Unknown(reason) => write!(f, "unknown({reason})"),
        }
    }
}

/// A reason on one line.
fn one_line(reason: &Reason) -> String {
    // For a specification, only the first line; the rest is for the report.
    let text = reason.to_string();
    let text = match reason {
        Reason::Specification(_) => text.lines().next().unwrap_or_default(),
        _ => &text,
    };
    text.replace(['\n', '\r'], " ")
}
