//! The state of the server: open documents, the programs that contain them, and the findings about these.
//!
//! A verification is about a program, which may contain several documents. Each change of one of them cancels
//! it, and findings are valid only as long as all of them are unchanged.

use super::address::uri_of;
use super::findings::Findings;
use super::progress::Shown;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use verdict::Cancel;

/// The files of a program, in order: its identity.
pub type Files = Vec<PathBuf>;

/// A file that is open in the editor.
pub struct Document {
    /// Its path.
    pub path: PathBuf,
    /// Its text in the editor.
    pub text: String,
    /// Counts the changes.
    pub version: u64,
    /// The program with which it was last verified.
    pub program: Option<Files>,
    /// Cancels the verification that it began.
    pub cancel: Cancel,
}

/// A program that contains an open document.
#[derive(Default)]
struct Program {
    /// Cancels the running verification.
    cancel: Cancel,
    /// Whether a verification runs.
    running: bool,
    /// The findings of the last verification, and the versions of its documents.
    findings: Option<(BTreeMap<String, u64>, Arc<Findings>)>,
}

/// All documents, by URI, and all programs.
#[derive(Default)]
pub struct State {
    /// The documents.
    pub documents: BTreeMap<String, Document>,
    programs: BTreeMap<Files, Program>,
    /// The progress that is shown.
    pub shown: Shown,
}

/// The diagnostics of some files, by URI, to be published.
pub type Published = BTreeMap<String, Vec<Value>>;

/// A path in canonical form.
pub fn place(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

impl State {
    /// The versions of the documents of a program.
    fn versions(&self, files: &Files) -> BTreeMap<String, u64> {
        let parts = self.documents.iter().filter(|(_, document)| document.program.as_ref() == Some(files));
        parts.map(|(uri, document)| (uri.clone(), document.version)).collect()
    }

    /// The findings about the program of a document, if they are about the current texts.
    pub fn current(&self, uri: &str) -> Option<Arc<Findings>> {
        let files = self.documents.get(uri)?.program.as_ref()?;
        let (versions, findings) = self.programs.get(files)?.findings.as_ref()?;
        let unchanged = |(uri, version): (&String, &u64)| versions.get(uri).is_none_or(|old| old == version);
        self.versions(files).iter().all(unchanged).then(|| findings.clone())
    }

    /// A document has another text.
    pub fn change(&mut self, uri: &str, text: &str) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        document.text = text.to_owned();
        document.version += 1;
        document.cancel.cancel();
        if let Some(program) = document.program.as_ref().and_then(|files| self.programs.get_mut(files)) {
            program.cancel.cancel();
            program.running = false;
        }
    }

    /// Verifications were cancelled, and no change begins another one.
    pub fn stopped(&mut self) {
        let stopped = self.programs.values_mut().filter(|program| program.cancel.is_cancelled());
        stopped.for_each(|program| program.running = false);
    }

    /// A document was opened without changes, and is part of a known program, whose verification is running
    /// or finished. Returns the diagnostics to publish again.
    pub fn join(&mut self, uri: &str) -> Option<Published> {
        let document = self.documents.get(uri)?;
        let path = place(&document.path);
        let files = self.programs.keys().find(|files| files.contains(&path))?.clone();
        let on_disk = std::fs::read(&document.path).is_ok_and(|bytes| bytes == document.text.as_bytes());
        let program = &self.programs[&files];
        let is_current = || {
            let known = program.findings.as_ref().map(|(versions, _)| versions);
            known.is_some_and(|versions| *versions == self.versions(&files))
        };
        if !on_disk || !(program.running || is_current()) {
            return None;
        }
        let published = (!program.running).then(|| self.published([path]));
        if let Some((versions, _)) = &mut self.programs.get_mut(&files)?.findings {
            versions.insert(uri.to_owned(), 0);
        }
        self.documents.get_mut(uri)?.program = Some(files);
        Some(published.unwrap_or_default())
    }

    /// A verification of a program begins, because of a document; a running one is cancelled. Returns the
    /// diagnostics to publish, if the document was part of another program before.
    pub fn begin(&mut self, uri: &str, files: &Files, cancel: &Cancel) -> Published {
        let before = self.documents.get_mut(uri).and_then(|document| document.program.replace(files.clone()));
        let program = self.programs.entry(files.clone()).or_default();
        program.cancel.cancel();
        program.cancel = cancel.clone();
        program.running = true;
        before.filter(|before| before != files).map(|before| self.leave(&before)).unwrap_or_default()
    }

    /// A verification has found something, and may have ended with that. Returns the diagnostics to publish;
    /// none when it was cancelled.
    pub fn found(
        &mut self,
        uri: &str,
        files: &Files,
        cancel: &Cancel,
        findings: Findings,
        has_ended: bool,
    ) -> Published {
        let versions = self.versions(files);
        let Some(program) = self.programs.get_mut(files).filter(|_| !cancel.is_cancelled()) else {
            return Published::new();
        };
        let mut paths: Vec<PathBuf> = findings.paths();
        if let Some((_, old)) = program.findings.replace((versions, Arc::new(findings))) {
            // Diagnostics of other files are published again.
            paths.extend(old.paths());
        }
        program.running &= !has_ended;
        paths.extend(self.documents.get(uri).map(|document| place(&document.path)));
        self.published(paths)
    }

    /// A document was closed. Returns the diagnostics to publish, and the URI of a document whose program has
    /// changed by that.
    pub fn close(&mut self, uri: &str) -> (Published, Option<String>) {
        let Some(document) = self.documents.remove(uri) else { return (Published::new(), None) };
        document.cancel.cancel();
        let mut published = Published::from([(uri.to_owned(), Vec::new())]);
        let Some(files) = document.program else { return (published, None) };
        published.extend(self.leave(&files));
        let other = self.documents.iter().find(|(_, other)| other.program.as_ref() == Some(&files));
        let on_disk = std::fs::read(&document.path).is_ok_and(|bytes| bytes == document.text.as_bytes());
        let again = other.filter(|_| !on_disk).map(|(uri, _)| uri.clone());
        if self.programs.contains_key(&files) {
            published.extend(self.published([place(&document.path)]));
        }
        (published, again)
    }

    /// A document is no longer part of a program; a program without documents is removed.
    fn leave(&mut self, files: &Files) -> Published {
        if self.documents.values().any(|document| document.program.as_ref() == Some(files)) {
            return Published::new();
        }
        let Some(program) = self.programs.remove(files) else { return Published::new() };
        program.cancel.cancel();
        let paths = program.findings.map(|(_, findings)| findings.paths()).unwrap_or_default();
        self.published(paths)
    }

    /// All diagnostics of some files, from all programs.
    fn published(&self, paths: impl IntoIterator<Item = PathBuf>) -> Published {
        let mut published = Published::new();
        for path in paths {
            let open = self.documents.iter().find(|(_, document)| place(&document.path) == path);
            let uri = open.map_or_else(|| uri_of(&path), |(uri, _)| uri.clone());
            let found = self.programs.values().filter_map(|program| program.findings.as_ref());
            let mut all: Vec<Value> = Vec::new();
            for diagnostic in found.flat_map(|(_, findings)| findings.diagnostics(&path)) {
                if !all.contains(&diagnostic) {
                    all.push(diagnostic);
                }
            }
            published.insert(uri, all);
        }
        published
    }

    /// Cancels everything.
    pub fn cancel_all(&self) {
        self.documents.values().for_each(|document| document.cancel.cancel());
        self.programs.values().for_each(|program| program.cancel.cancel());
    }
}
