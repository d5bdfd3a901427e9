//! Writes evidence to files: reproducers, witnesses and proofs. Each file is written completely or not at
//! all.

use crate::arguments::{Model, Reading, Verify};
use crate::checking::Question;
use crate::input::Kind;
use checker::{Checked, Refutation};
use ir::Program;
use ir::diagnostic::{self, Diagnostic};
use report::baseline::Baseline;
use report::reproducer::Compilation;
use report::witness::{self, Task};
use report::{End, Outcome};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use verdict::{Budget, Check, Evidence, EvidenceFile, Reason};

/// A run of the tool whose verdict is known.
pub struct Run<'a> {
    /// The options.
    pub options: &'a Verify,
    /// The input.
    pub question: &'a Question,
    /// The verdicts.
    pub outcomes: &'a [Outcome],
    /// When the run must end.
    pub deadline: Instant,
}

/// Why there is no evidence in a file.
pub enum Missing {
    /// There is none, or the format cannot express it. The verdict stands.
    Nothing(String),
    /// The file cannot be written.
    Unwritable(String),
}

impl From<&str> for Missing {
    fn from(reason: &str) -> Self {
        Self::Nothing(reason.to_owned())
    }
}

impl From<String> for Missing {
    fn from(reason: String) -> Self {
        Self::Nothing(reason)
    }
}

/// The result of writing evidence.
#[derive(Default)]
pub struct Written {
    /// Messages for the user.
    pub messages: Vec<String>,
    /// Whether a file could not be written.
    pub failed: bool,
}

impl Written {
    /// Records why a file is missing.
    pub fn miss(&mut self, what: &str, missing: Missing) {
        self.messages.push(match missing {
            Missing::Nothing(reason) => format!("there is no {what}: {reason}"),
            Missing::Unwritable(reason) => {
                self.failed = true;
                format!("error: there is no {what}: {reason}")
            }
        });
    }
}

impl Run<'_> {
    fn program(&self) -> &Program {
        &self.question.input.0
    }

    /// Writes the requested evidence.
    pub fn write(&self) -> Written {
        let mut written = Written::default();
        if let Some(folder) = &self.options.reproducer {
            let shown = folder.display();
            match self.write_reproducer(folder) {
                Ok(()) => written
                    .messages
                    .push(format!("a reproducer is in {shown}: make -C {shown} && {shown}/repro")),
                Err(missing) => written.miss("reproducer", missing),
            }
        }
        if let Some(path) = &self.options.witness
            && let Err(missing) = self.write_witness(path)
        {
            written.miss("witness", missing);
        }
        if let Some(path) = &self.options.proof
            && let Err(missing) = self.write_proof(path)
        {
            written.miss("proof", missing);
        }
        written
    }

    /// Writes rejected or contradicted evidence to files, for bug reports. Returns messages with the paths.
    pub fn write_rejected(&self) -> Vec<String> {
        let mut messages = Vec::new();
        for outcome in self.outcomes {
            for tried in &outcome.tries {
                let engine = tried.engine;
                let (name, what) = match &tried.end {
                    End::Unknown(Reason::Rejected(why)) => {
                        (format!("rejected-{engine}"), format!("was not accepted ({why})"))
                    }
                    // One engine may have had several turns.
                    End::Proved if !tried.rejected.is_empty() => {
                        (format!("contradicted-{engine}-proof"), "is accepted, and contradicted".to_owned())
                    }
                    End::Refuted if !tried.rejected.is_empty() => {
                        (format!("contradicted-{engine}-trace"), "is accepted, and contradicted".to_owned())
                    }
                    End::Proved | End::Refuted | End::Stopped | End::Unknown(_) => continue,
                };
                let write = || -> Result<PathBuf, String> {
                    if tried.rejected.is_empty() {
                        return Err("there is nothing to keep".to_owned());
                    }
                    let name = format!("threadproof-{name}-{}.json", outcome.check.name());
                    let path = std::env::temp_dir().join(name);
                    let data_model = Model::from(self.program().data_model).name().to_owned();
                    let checks = tried.rejected.iter().map(|evidence| (outcome.check, evidence.clone()));
                    let file = EvidenceFile { data_model, checks: checks.collect() };
                    write_whole(&path, &file.write()?)?;
                    Ok(path)
                };
                let attach = match write() {
                    Ok(path) => format!(" and {}", path.display()),
                    Err(_) => String::new(),
                };
                messages.push(format!("the evidence of {engine} {what}; please report this program{attach}"));
            }
        }
        messages
    }

    fn write_proof(&self, path: &Path) -> Result<(), Missing> {
        let checks: Vec<(Check, Evidence)> = self
            .outcomes
            .iter()
            // Further races are in the report; evidence for one suffices.
            .filter(|outcome| outcome.variable.is_none())
            .filter_map(|outcome| match &outcome.verdict {
                Checked::Proved(proof) => Some((outcome.check, Evidence::Proof(proof.clone()))),
                Checked::Refuted(refutation) => {
                    Some((outcome.check, Evidence::Trace(refutation.trace.clone())))
                }
                Checked::Unknown(_) => None,
            })
            .collect();
        if checks.is_empty() {
            return Err("the verdict is unknown; raise --timeout, or see the report".into());
        }
        let data_model = Model::from(self.program().data_model).name().to_owned();
        write_whole(path, &EvidenceFile { data_model, checks }.write()?).map_err(Missing::Unwritable)
    }

    /// The first refutation.
    fn refutation(&self) -> Option<(Check, &Refutation)> {
        self.outcomes.iter().find_map(|outcome| match &outcome.verdict {
            Checked::Refuted(refutation) => Some((outcome.check, &**refutation)),
            Checked::Proved(_) | Checked::Unknown(_) => None,
        })
    }

    fn require_c(&self) -> Result<(), String> {
        if self.question.kind == Kind::C {
            Ok(())
        } else {
            Err("it is not a C program; leave the option out".to_owned())
        }
    }

    fn write_reproducer(&self, folder: &Path) -> Result<(), Missing> {
        let (_, refutation) = self.refutation().ok_or("nothing was refuted; it is for violations")?;
        self.require_c()?;
        let reading = &self.options.reading;
        if !(reading.entry.is_empty() && reading.thread.is_empty()) {
            return Err(
                "the program has no `main`; write one that calls the functions, and verify that".into()
            );
        }
        if reading.compile_commands.is_some() {
            return Err("the files have flags of their own; preprocess them, and verify the results".into());
        }
        let compilation = compilation(&self.options.reading)?;
        let line = |span| self.question.input.1.line(span);
        let files =
            report::reproducer::make(refutation, &compilation, line).map_err(|reason| reason.to_string())?;
        let failed = |error: std::io::Error| Missing::Unwritable(unwritable(folder, &error));
        std::fs::create_dir_all(folder).map_err(failed)?;
        let write = |file: &report::reproducer::File| write_whole(&folder.join(&file.name), &file.text);
        files.iter().try_for_each(write).map_err(Missing::Unwritable)
    }

    fn write_witness(&self, path: &Path) -> Result<(), Missing> {
        self.require_c()?;
        let all_proved = self.outcomes.iter().all(|outcome| matches!(outcome.verdict, Checked::Proved(_)));
        let first = self.outcomes.first().filter(|_| all_proved).map(|outcome| outcome.check);
        let check = self
            .refutation()
            .map(|(check, _)| check)
            .or(first)
            .ok_or("the verdict is unknown; raise --timeout, or see the report")?;
        let specification = match &self.options.asking.property {
            Some(file) => std::fs::read_to_string(file)
                .map_err(|error| unreadable(file, &error).to_string())?
                .trim()
                .to_owned(),
            None => witness::specification(check)
                .ok_or("the format has no such property; leave the option out")?
                .to_owned(),
        };
        let mut files = Vec::new();
        for file in &self.question.files {
            let bytes = std::fs::read(file).map_err(|error| unreadable(file, &error).to_string())?;
            files.push((file.to_string_lossy().into_owned(), bytes));
        }
        let data_model = self.options.reading.data_model.into();
        let task = Task { files, specification, data_model, creation_time: time_of(SystemTime::now()) };
        let text = match self.refutation() {
            Some((_, refutation)) => witness::violation(refutation, &self.question.input.1, &task)
                .ok_or("the violation is not in an input file; name the file that it is in")?,
            None => {
                let budget = Budget {
                    deadline: Some(self.deadline),
                    memory: self.options.memory << 20,
                    ..Budget::unlimited()
                };
                let listing = engine_flow::listing(self.question.prepared.of(check), &budget).ok();
                witness::correctness(self.program(), listing.as_ref(), &task)
            }
        };
        write_whole(path, &text).map_err(Missing::Unwritable)
    }
}

/// The message about a file that cannot be read.
pub fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    let help = match error.kind() {
        ErrorKind::NotFound => "check the path",
        ErrorKind::PermissionDenied => "make it readable, or name another file",
        ErrorKind::IsADirectory => "name a file in it",
        _ => "check that it is a plain file",
    };
    Diagnostic::of_file(path, diagnostic::Kind::File, error.to_string()).help(help)
}

/// The message about a file that cannot be written.
fn unwritable(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {}", path.display(), why_unwritable(error))
}

/// Why a path cannot be written, and what to do.
pub fn why_unwritable(error: &std::io::Error) -> String {
    let help = match error.kind() {
        ErrorKind::NotFound => "make the folder first",
        ErrorKind::NotADirectory => "a part of it is a file: name another path",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "name a path that you may write to",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space; nothing is left of it",
        ErrorKind::IsADirectory => "name a file in it",
        _ => "name another path",
    };
    format!("{error}; {help}")
}

/// The temporary name of a file, unique to this process.
fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(part_ending());
    path.with_file_name(name)
}

fn part_ending() -> String {
    format!(".{}.part", std::process::id())
}

/// Whether a file cannot be replaced: a terminal, a pipe.
fn is_device(path: &Path) -> bool {
    path.exists() && !path.is_file()
}

/// Writes a file completely or not at all: a full disk leaves nothing under its name.
pub fn write_whole(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| unwritable(path, &error);
    if is_device(path) {
        return std::fs::write(path, text).map_err(failed);
    }
    // A symbolic link stays a link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let part = part_of(&target);
    let write = || {
        let mut file = std::fs::File::create(&part)?;
        file.write_all(text.as_bytes())?;
        // Some file systems report only now that they are full.
        file.sync_all()?;
        std::fs::rename(&part, &target)
    };
    let written = write();
    written.map_err(|error| {
        let _ = std::fs::remove_file(&part);
        failed(error)
    })
}

/// The findings of an earlier report.
pub fn baseline(path: &Path) -> Result<Baseline, Diagnostic> {
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    Baseline::read(&text).map_err(|why| {
        let help = "`threadproof verify --format json`, or `--format sarif`, prints one";
        Diagnostic::of_file(path, diagnostic::Kind::Text, why).help(help)
    })
}

/// The files that a run is asked to write, and the folder of a reproducer.
fn outputs(options: &Verify) -> Vec<&Path> {
    [&options.html, &options.proof, &options.witness, &options.reproducer]
        .into_iter()
        .filter_map(|path| path.as_deref())
        .collect()
}

/// Checks the output paths before the search, so that errors are reported early.
pub fn refuse_outputs(options: &Verify, read: &[PathBuf]) -> Vec<Diagnostic> {
    let place = |path: &Path| std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).ok();
    let outputs = outputs(options);
    let mut problems = Vec::new();
    for (index, path) in outputs.iter().enumerate() {
        let same = |other: &&Path| place(other) == place(path);
        let is_folder = options.reproducer.as_deref() == Some(*path);
        let also_read = read.iter().map(PathBuf::as_path).chain(options.asking.property.as_deref());
        let refused = |why: &str| Diagnostic::of_file(path, diagnostic::Kind::File, why);
        if also_read.chain(options.asking.spec.as_deref()).any(|other| same(&other)) {
            problems.push(refused("it is read as well").help("name another path"));
        } else if !is_device(path) && outputs[..index].iter().any(same) {
            problems.push(refused("two files are to be written there").help("name another path"));
        } else if let Err(error) = if is_folder { try_folder(path) } else { try_file(path) } {
            problems.push(refused(&why_unwritable(&error)));
        }
    }
    problems
}

/// Whether a file can be written, as far as that is known in advance. The test leaves no traces.
fn try_file(path: &Path) -> std::io::Result<()> {
    if path.is_dir() || path.file_name().is_none() {
        return Err(ErrorKind::IsADirectory.into());
    }
    // Opening a pipe would let its reader see an early end.
    if is_device(path) {
        return Ok(());
    }
    let target = match std::fs::canonicalize(path) {
        Ok(target) => {
            // A read-only file must not be replaced.
            std::fs::OpenOptions::new().write(true).open(&target)?;
            target
        }
        Err(_) => path.to_owned(),
    };
    let part = part_of(&target);
    std::fs::File::create(&part)?;
    std::fs::remove_file(&part)
}

/// Whether files can be created in a folder, which need not exist yet.
fn try_folder(folder: &Path) -> std::io::Result<()> {
    let folder = std::path::absolute(folder)?;
    // The existing part of the path.
    let Some(there) = folder.ancestors().find(|folder| folder.exists()) else { return Ok(()) };
    match there.is_dir() {
        true => try_file(&there.join("threadproof")),
        false => Err(ErrorKind::NotADirectory.into()),
    }
}

/// The folders that files are written to.
pub fn folders_written(options: &Verify) -> Vec<PathBuf> {
    let beside = |path: &Path| {
        let path = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).ok()?;
        path.parent().map(Path::to_owned)
    };
    let mut folders: Vec<PathBuf> = outputs(options).into_iter().filter_map(beside).collect();
    folders.extend(options.reproducer.clone());
    folders
}

/// Removes remains of files that were not written completely.
pub fn remove_parts(folders: &[PathBuf]) {
    let ending = part_ending();
    for folder in folders {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().ends_with(&ending) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// A time in ISO 8601, in UTC.
fn time_of(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that leap days come last.
    let era_day = days + 719_468;
    let (era, day_of_era) = (era_day / 146_097, era_day % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// How to compile the program.
fn compilation(options: &Reading) -> Result<Compilation, String> {
    let mut compilation = Compilation::default();
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in &options.files {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        compilation.sources.push((path.to_string_lossy().into_owned(), text));
        folders.extend(path.parent().map(Path::to_owned));
    }
    folders.extend(options.include_dirs.iter().cloned());
    folders.dedup();
    let arguments = &mut compilation.arguments;
    let absolute = |path: &Path| -> Result<String, String> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let full = std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(full.to_string_lossy().into_owned())
    };
    arguments.extend(options.standard.iter().map(|standard| format!("-std={standard}")));
    for folder in &folders {
        arguments.push(format!("-I{}", absolute(folder)?));
    }
    arguments.extend(options.defines.iter().map(|define| format!("-D{define}")));
    for include in &options.includes {
        arguments.extend(["-include".to_owned(), absolute(include)?]);
    }
    Ok(compilation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_link_stays_a_link_and_parts_are_removed() {
        let folder = std::env::temp_dir().join(format!("threadproof-evidence-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let (file, link) = (folder.join("file"), folder.join("link"));
        std::fs::write(&file, "old").expect("a file can be written");
        std::os::unix::fs::symlink(&file, &link).expect("a link can be made");
        write_whole(&link, "new").expect("it can be written");
        assert!(std::fs::symlink_metadata(&link).is_ok_and(|data| data.is_symlink()));
        assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), Some("new"));
        std::fs::write(part_of(&file), "half").expect("a file can be written");
        remove_parts(std::slice::from_ref(&folder));
        let names = std::fs::read_dir(&folder).expect("it is there").count();
        std::fs::remove_dir_all(&folder).expect("it is there");
        assert_eq!(names, 2, "the file and the link");
    }

    #[test]
    fn times() {
        let after = |seconds| time_of(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(after(0), "1970-01-01T00:00:00Z");
        assert_eq!(after(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(after(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(after(1_735_689_599), "2024-12-31T23:59:59Z");
    }
}
