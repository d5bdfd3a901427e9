//! A job: one check of one program, for one process.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// One check of one program.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The name of the task in reports.
    pub name: String,
    /// The files of the program.
    pub files: Vec<PathBuf>,
    /// What is asked of it.
    pub asked: Asked,
    /// Further options of `verify`.
    pub options: Vec<OsString>,
    /// What the process may take.
    pub limits: Limits,
    /// What the answer should be, where that is known.
    pub expected: Option<Expected>,
    /// Whether the answer may come from a cache.
    pub is_cacheable: bool,
}

/// What is asked of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A check, by its name.
    Check(String),
    /// A property file of the Competition on Software Verification.
    Property(PathBuf),
}

/// The limits of a process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Seconds by the clock.
    pub seconds: f64,
    /// Megabytes of memory.
    pub megabytes: u64,
}

/// What a process needs to know of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// The identity of the job.
    pub id: String,
    /// The words after `verify`.
    pub words: Vec<OsString>,
    /// What the process may take.
    pub limits: Limits,
    /// Whether the answer may come from a cache.
    pub is_cacheable: bool,
}

/// An expected verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Whether the property holds.
    pub holds: bool,
    /// Which part of it is violated.
    pub part: Option<String>,
}

/// What a process answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The property holds.
    True,
    /// It does not: the property that is violated.
    False(String),
    /// It is not known, for this reason.
    Unknown(String),
    /// There is no answer: the input is bad, or the process crashed.
    Error(String),
}

impl Verdict {
    /// Its first word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False(_) => "false",
            Self::Unknown(_) => "unknown",
            Self::Error(_) => "error",
        }
    }

    /// The violated property, the reason, or the error.
    pub fn detail(&self) -> &str {
        match self {
            Self::True => "",
            Self::False(text) | Self::Unknown(text) | Self::Error(text) => text,
        }
    }

    /// The verdict of these words.
    pub fn of(word: &str, detail: &str) -> Option<Self> {
        let detail = detail.to_owned();
        match word {
            "true" => Some(Self::True),
            "false" => Some(Self::False(detail)),
            "unknown" => Some(Self::Unknown(detail)),
            "error" => Some(Self::Error(detail)),
            _ => None,
        }
    }
}

/// As verdict lines have it: `false(no-data-race)`.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::True => f.write_str(self.word()),
            Self::False(_) | Self::Unknown(_) | Self::Error(_) => {
                write!(f, "{}({})", self.word(), self.detail())
            }
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.holds, &self.part) {
            (false, Some(part)) => write!(f, "false({part})"),
            (holds, _) => write!(f, "{holds}"),
        }
    }
}

impl Asked {
    /// The name of the check, or of the property file without its folder and ending.
    pub fn name(&self) -> String {
        match self {
            Self::Check(name) => name.clone(),
            Self::Property(path) => stem(path),
        }
    }
}

/// The name of a file without its folder and ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The file of options in the current folder that each process reads.
const OPTIONS: &str = "threadproof.toml";

/// The file that a word of the command line names, alone or after `=`.
fn named_file(word: &OsStr) -> Option<PathBuf> {
    let text = word.to_string_lossy();
    let value = text.split_once('=').map(|(_, value)| value);
    [Some(&*text), value].into_iter().flatten().map(PathBuf::from).find(|path| path.is_file())
}

/// An option with its value, as one word.
pub(crate) fn word(name: &str, value: impl Into<OsString>) -> OsString {
    let mut word = OsString::from(format!("--{name}="));
    word.push(value.into());
    word
}

impl Job {
    /// The words after `verify` that say what is verified, and within which limits.
    pub fn words(&self) -> Vec<OsString> {
        let asked = match &self.asked {
            Asked::Check(name) => word("check", name),
            Asked::Property(path) => word("property", path),
        };
        let mut words = vec![
            asked,
            word("timeout", self.limits.seconds.to_string()),
            word("memory", self.limits.megabytes.to_string()),
        ];
        words.extend(self.options.iter().cloned());
        // A file's name may begin like an option.
        words.push("--".into());
        words.extend(self.files.iter().map(|file| file.clone().into_os_string()));
        words
    }

    /// What a process needs to know of it, under this identity.
    pub fn work(&self, id: &str) -> Work {
        let is_cacheable = self.is_cacheable;
        Work { id: id.to_owned(), words: self.words(), limits: self.limits, is_cacheable }
    }

    /// Identifies what is done: the words, the contents of the files that they name, those of the options in
    /// the current folder, and `context`, what else matters (the version of the program). The expected
    /// verdict does not. Headers that programs include are not looked at.
    pub fn id(&self, context: &str) -> String {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(context.as_bytes());
        self.words().iter().for_each(|word| add(word.as_encoded_bytes()));
        let property = match &self.asked {
            Asked::Property(path) => Some(path),
            Asked::Check(_) => None,
        };
        for file in self.files.iter().chain(property) {
            // A missing file is an error of its process.
            add(&std::fs::read(file).unwrap_or_default());
        }
        for file in self.options.iter().filter_map(|word| named_file(word)) {
            add(&std::fs::read(file).unwrap_or_default());
        }
        add(&std::fs::read(OPTIONS).unwrap_or_default());
        hash.finalize().iter().take(10).map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_depends_on_all_that_is_done() {
        let folder = std::env::temp_dir().join(format!("threadproof-batch-id-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let file = folder.join("a.c");
        std::fs::write(&file, "1").expect("a file can be written");
        let job = Job {
            name: "a".to_owned(),
            files: vec![file.clone()],
            asked: Asked::Check("races".to_owned()),
            options: vec!["--failures".into()],
            limits: Limits { seconds: 1.5, megabytes: 100 },
            expected: None,
            is_cacheable: true,
        };
        let words: Vec<String> = job.words().iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let shown = file.display().to_string();
        assert_eq!(words, ["--check=races", "--timeout=1.5", "--memory=100", "--failures", "--", &shown]);
        let id = job.id("v1");
        assert_eq!(id.len(), 20);
        let expected = Some(Expected { holds: true, part: None });
        assert_eq!(Job { expected, name: "b".to_owned(), ..job.clone() }.id("v1"), id);
        let others = [
            job.id("v2"),
            Job { options: Vec::new(), ..job.clone() }.id("v1"),
            Job { limits: Limits { seconds: 2.0, ..job.limits }, ..job.clone() }.id("v1"),
            Job { asked: Asked::Check("bounds".to_owned()), ..job.clone() }.id("v1"),
        ];
        let header = folder.join("b.h");
        let with = |content: &str, options: Vec<OsString>| {
            std::fs::write(&header, content).expect("a file can be written");
            Job { options, ..job.clone() }.id("v1")
        };
        let joined = || vec![word("config", header.as_os_str())];
        let apart = || vec!["-include".into(), header.clone().into_os_string()];
        assert_eq!(with("1", joined()), with("1", joined()));
        assert_ne!(with("1", joined()), with("2", joined()));
        assert_ne!(with("1", apart()), with("2", apart()));
        std::fs::write(&file, "2").expect("a file can be written");
        let changed = job.id("v1");
        std::fs::remove_dir_all(&folder).expect("it is there");
        assert!(others.iter().chain([&changed]).all(|other| *other != id), "{others:?}");
    }

    #[test]
    fn verdicts_are_read_back() {
        let all = [
            Verdict::True,
            Verdict::False("a".into()),
            Verdict::Unknown("b".into()),
            Verdict::Error("c".into()),
        ];
        for verdict in all {
            assert_eq!(Verdict::of(verdict.word(), verdict.detail()), Some(verdict));
        }
        assert_eq!(Verdict::of("maybe", ""), None);
        assert_eq!(Verdict::False("no-data-race".into()).to_string(), "false(no-data-race)");
    }
}
