//! What all checks of a program come to.

use crate::story::Story;
use crate::{SharedMemory, Sources};
use checker::Checked;
use ir::Program;
use verdict::{Check, Decisions, Evidence, Reason};

/// All that a report is about.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    /// The program as it was read.
    pub program: &'a Program,
    /// Its lines.
    pub sources: &'a Sources,
    /// What became of each check.
    pub outcomes: &'a [Outcome],
    /// What they come to.
    pub answer: &'a Answer,
    /// Whether to say what each engine tried, also where there is an answer.
    pub explain: bool,
    /// Why some checks hold.
    pub stories: &'a [(Check, Story)],
    /// What is known of races on each shared memory location, where that was looked at.
    pub memory: Option<&'a SharedMemory>,
}

impl<'a> Report<'a> {
    /// Why a check holds.
    pub fn story(&self, check: Check) -> Option<&'a Story> {
        self.stories.iter().find(|(known, _)| *known == check).map(|(_, story)| story)
    }
}

/// What became of one check.
#[derive(Debug)]
pub struct Outcome {
    /// Which check.
    pub check: Check,
    /// The variable that it is about, if it is about one only.
    pub variable: Option<String>,
    /// What is known.
    pub verdict: Checked,
    /// What is known of each check, where the whole is not known.
    pub decisions: Option<Decisions>,
    /// How long it took.
    pub seconds: f64,
    /// What was tried, in the order in which it ended.
    pub tries: Vec<Tried>,
}

/// What one engine came to, within its share of the time.
#[derive(Debug)]
pub struct Tried {
    /// The engine.
    pub engine: &'static str,
    /// How long after the beginning of the check it began, in seconds.
    pub started: f64,
    /// How long it searched.
    pub seconds: f64,
    /// How long its evidence was checked.
    pub checking: f64,
    /// What came of it.
    pub end: End,
    /// Evidence that was not accepted, or that other evidence contradicts.
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
    /// The answer that some outcomes come to, where parts of the question may have stayed open.
    pub fn of(outcomes: &[Outcome], open: &[String]) -> Self {
        let contradiction = outcomes.iter().find_map(|outcome| match &outcome.verdict {
            Checked::Unknown(reason @ Reason::Contradiction(_)) => Some((outcome.check, reason)),
            Checked::Unknown(_) | Checked::Proved(_) | Checked::Refuted(_) => None,
        });
        // Whoever contradicts himself once is not believed elsewhere.
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
    // What comes after the first line of a specification's story is for the report.
    let text = reason.to_string();
    let text = match reason {
        Reason::Specification(_) => text.lines().next().unwrap_or_default(),
        _ => &text,
    };
    text.replace(['\n', '\r'], " ")
}
