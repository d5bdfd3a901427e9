//! The results of an earlier batch, to compare with.
//!
//! A job is known if a job of the same name and property had the same answer: the same property is violated,
//! or both are open, or without an answer. What is proved is no finding.

use crate::job::{Job, Verdict};
use crate::json;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The answers of an earlier batch.
#[derive(Debug, Default)]
pub struct Baseline {
    /// By the name and the property of a job: the word of its verdict, and the property that is violated.
    answers: BTreeMap<(String, String), (String, String)>,
}

#[derive(Deserialize)]
struct Document {
    format: String,
    jobs: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    property: String,
    verdict: Option<String>,
}

impl Baseline {
    /// The results in `batch.json`; or why these are none.
    pub fn read(text: &str) -> Result<Self, String> {
        let document: Document = serde_json::from_str(text)
            .map_err(|error| format!("these are no results of a batch (batch.json): {error}"))?;
        if document.format != json::FORMAT {
            return Err(format!("these are results in the format `{}`", document.format));
        }
        let answer = |entry: Entry| {
            let verdict = entry.verdict?;
            let (word, rest) = verdict.split_once('(').unwrap_or((&verdict, ""));
            let part = if word == "false" { rest.strip_suffix(')').unwrap_or(rest) } else { "" };
            Some(((entry.name, entry.property), (word.to_owned(), part.to_owned())))
        };
        Ok(Self { answers: document.jobs.into_iter().filter_map(answer).collect() })
    }

    /// Whether this answer of a job is known.
    pub fn has(&self, job: &Job, verdict: &Verdict) -> bool {
        let known = self.answers.get(&(job.name.clone(), json::property(&job.asked)));
        known.is_some_and(|(word, part)| match verdict {
            Verdict::True => word == "true",
            Verdict::False(property) => word == "false" && part == property,
            Verdict::Unknown(_) | Verdict::Error(_) => word == verdict.word(),
        })
    }
}
