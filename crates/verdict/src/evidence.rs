//! Evidence in files: what `verify --proof` writes and `check` reads. The format is in `docs/proofs.md`.

use crate::{Check, Proof, Trace};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use terms::table::{self, Entry};

/// The format's identification in the file.
const FORMAT: &str = "threadproof evidence 1";

/// Why a property holds, or how it is violated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Evidence {
    /// It holds.
    Proof(Proof),
    /// It is violated.
    Trace(Trace),
}

/// The evidence for the verdicts of some checks of one program.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceFile {
    /// The data model of the program: `ILP32` or `LP64`.
    pub data_model: String,
    /// The evidence of each check.
    pub checks: Vec<(Check, Evidence)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    tool: String,
    data_model: String,
    checks: Vec<Section>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    check: String,
    /// The terms of the evidence.
    terms: Vec<Entry>,
    /// Deserialised after the terms.
    evidence: Box<RawValue>,
}

impl EvidenceFile {
    /// The text of the file.
    pub fn write(&self) -> Result<String, String> {
        let mut checks = Vec::new();
        for (check, evidence) in &self.checks {
            let (written, terms) = table::writing(|| serde_json::value::to_raw_value(evidence));
            let evidence = written.map_err(|error| error.to_string())?;
            checks.push(Section { check: check.name().to_owned(), terms, evidence });
        }
        let tool = format!("threadproof {}", env!("CARGO_PKG_VERSION"));
        let document =
            Document { format: FORMAT.to_owned(), tool, data_model: self.data_model.clone(), checks };
        serde_json::to_string(&document).map(|text| text + "\n").map_err(|error| error.to_string())
    }

    /// Reads a file. Its content is not trusted: only its form is checked ([`crate::form`]).
    pub fn read(text: &str) -> Result<Self, String> {
        let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if document.format != FORMAT {
            return Err(format!("this is no evidence: its format is `{}`, not `{FORMAT}`", document.format));
        }
        let mut checks: Vec<(Check, Evidence)> = Vec::new();
        for Section { check, terms, evidence } in document.checks {
            let known = Check::from_name(&check).ok_or_else(|| format!("there is no check `{check}`"))?;
            if checks.iter().any(|(other, _)| *other == known) {
                return Err(format!("{check}: there is evidence for this check twice"));
            }
            let read = table::reading(&terms, || serde_json::from_str(evidence.get()))
                .map_err(|error| format!("{check}: {error}"))?;
            let read: Evidence = read.map_err(|error| format!("{check}: {error}"))?;
            read.check_form().map_err(|wrong| format!("{check}: {wrong}"))?;
            checks.push((known, read));
        }
        Ok(Self { data_model: document.data_model, checks })
    }
}
