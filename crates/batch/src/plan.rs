//! What a batch consists of: a folder, or a plan in TOML, read into jobs. `docs/batch.md` has the format.

use crate::definitions::{self, Definition};
use crate::job::{Asked, Expected, Job, Limits, word};
use ir::diagnostic::{Diagnostic, Kind};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// The limits where none are given.
const SECONDS: f64 = 60.0;
const MEGABYTES: u64 = 4000;
/// The endings of programs, and whether they are C.
const ENDINGS: [(&str, bool); 5] = [("c", true), ("i", true), ("bp", false), ("bool", false), ("tts", false)];

/// What is said about jobs in one place: the command line, a task of a plan, or the beginning of a plan.
#[derive(Clone, Default, Debug)]
pub struct Given {
    /// Checks, by name.
    pub checks: Vec<String>,
    /// Property files; of task definitions, their names suffice.
    pub properties: Vec<PathBuf>,
    /// The data model.
    pub data_model: Option<String>,
    /// Seconds for each job.
    pub seconds: Option<f64>,
    /// Megabytes for each job.
    pub megabytes: Option<u64>,
    /// Further options of `verify`: the name of each, and its words.
    pub options: Vec<(String, Vec<OsString>)>,
}

/// What the options of `verify` are: this crate does not know.
pub trait Verifier {
    /// The words for an option that a plan, with this text, gives as a key with a value; or what is wrong.
    fn option(
        &self,
        plan: (&Path, &str),
        key: &Spanned<DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<OsString>, Vec<Diagnostic>>;

    /// Whether it understands these words after `verify`, and if so, whether a cache may answer them.
    fn accepts(&self, words: &[OsString]) -> Result<bool, String>;
}

/// The jobs of a batch, in order, each once.
#[derive(Debug)]
pub struct Plan {
    /// The file or folder that was named.
    pub path: PathBuf,
    /// The jobs.
    pub jobs: Vec<Job>,
}

/// The message about a file that cannot be read.
pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    let help = match error.kind() {
        ErrorKind::NotFound => "check the path",
        ErrorKind::PermissionDenied => "make it readable, or name another file",
        _ => "check that it is a plain file",
    };
    Diagnostic::of_file(path, Kind::File, error.to_string()).help(help)
}

/// The line and the column of a position in a text, from 1.
pub fn place(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line as u32, column as u32)
}

/// The files of a pattern, sorted. A name without wildcards is a file that must exist.
pub(crate) fn matches(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let plain = folder.join(pattern);
    if plain.is_file() {
        return Ok(vec![plain]);
    }
    if !pattern.contains(['*', '?', '[']) {
        return Err(format!("there is no file `{}`", plain.display()));
    }
    // Only the pattern has wildcards, not the folder.
    let whole = Path::new(&glob::Pattern::escape(&folder.to_string_lossy())).join(pattern);
    let found = glob::glob(&whole.to_string_lossy()).map_err(|error| format!("`{pattern}`: {error}"))?;
    let mut files: Vec<PathBuf> = found.flatten().filter(|path| path.is_file()).collect();
    files.sort();
    match files.is_empty() {
        true => Err(format!("no file matches `{}`", plain.display())),
        false => Ok(files),
    }
}

impl Given {
    /// What holds where both are said: this one counts.
    fn over(&self, other: &Self) -> Self {
        let asks = !self.checks.is_empty() || !self.properties.is_empty();
        let asked = if asks { self } else { other };
        let is_overruled = |name: &String| self.options.iter().any(|(own, _)| own == name);
        let kept = other.options.iter().filter(|(name, _)| !is_overruled(name));
        Self {
            checks: asked.checks.clone(),
            properties: asked.properties.clone(),
            data_model: self.data_model.clone().or_else(|| other.data_model.clone()),
            seconds: self.seconds.or(other.seconds),
            megabytes: self.megabytes.or(other.megabytes),
            options: kept.chain(&self.options).cloned().collect(),
        }
    }

    fn asked(&self) -> Vec<Asked> {
        let checks = self.checks.iter().cloned().map(Asked::Check);
        checks.chain(self.properties.iter().cloned().map(Asked::Property)).collect()
    }

    /// The job that asks this of a program.
    fn job(&self, name: &str, files: &[PathBuf], asked: Asked, expected: Option<Expected>) -> Job {
        let model = self.data_model.iter().map(|model| word("data-model", model));
        Job {
            name: name.to_owned(),
            files: files.to_vec(),
            asked,
            options: model.chain(self.options.iter().flat_map(|(_, words)| words.iter().cloned())).collect(),
            limits: Limits {
                seconds: self.seconds.unwrap_or(SECONDS),
                megabytes: self.megabytes.unwrap_or(MEGABYTES),
            },
            expected,
            is_cacheable: true,
        }
    }

    /// The jobs about a program.
    fn of_program(&self, name: &str, files: &[PathBuf], expected: &Expectations) -> Vec<Job> {
        let mut asked = self.asked();
        if asked.is_empty() {
            let is_c = files.iter().all(|file| ends(file) != Some(false));
            let checks: &[&str] = if is_c { &["assertions", "races"] } else { &["assertions"] };
            asked = checks.iter().map(|name| Asked::Check((*name).to_owned())).collect();
        }
        let job = |asked: Asked| {
            let expected = expected.of(&asked.name());
            self.job(name, files, asked, expected)
        };
        asked.into_iter().map(job).collect()
    }

    /// The jobs of a task definition.
    fn of_definition(&self, name: &str, definition: &Definition) -> Vec<Job> {
        let data_model = self.data_model.clone().or_else(|| definition.data_model.clone());
        let with = Self { data_model, ..self.clone() };
        let files = &definition.files;
        let checks = self.checks.iter().cloned().map(Asked::Check);
        let mut jobs: Vec<Job> = checks.map(|check| with.job(name, files, check, None)).collect();
        if self.checks.is_empty() || !self.properties.is_empty() {
            let properties = definition.asked(&self.properties).into_iter();
            jobs.extend(properties.map(|(property, expected)| {
                with.job(name, files, Asked::Property(property), Some(expected))
            }));
        }
        jobs
    }

    /// The jobs about a file: a task definition or a program.
    fn of_file(&self, name: &str, file: &Path, expected: &Expectations) -> Result<Vec<Job>, Diagnostic> {
        if definitions::is_definition(file) {
            Ok(self.of_definition(name, &definitions::read(file)?))
        } else {
            Ok(self.of_program(name, &[file.to_owned()], expected))
        }
    }
}

/// Whether the ending of a file is that of a C program or of another program.
fn ends(path: &Path) -> Option<bool> {
    let ending = path.extension()?.to_str()?;
    ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, is_c)| *is_c)
}

/// The expected verdicts of a task.
#[derive(Default)]
struct Expectations {
    all: Option<Expected>,
    each: Vec<(String, Expected)>,
}

impl Expectations {
    fn of(&self, name: &str) -> Option<Expected> {
        let own = self.each.iter().find(|(known, _)| known == name).map(|(_, expected)| expected);
        own.or(self.all.as_ref()).cloned()
    }
}

/// Reads a folder, a plan, or a single program or task definition. `given` is what the command line says.
pub fn read(path: &Path, given: &Given, verifier: &dyn Verifier) -> Result<Plan, Vec<Diagnostic>> {
    let is_folder = std::fs::metadata(path).map_err(|error| vec![unreadable(path, &error)])?.is_dir();
    let is_plan = path.extension().is_some_and(|ending| ending == "toml");
    let mut jobs = if is_folder {
        of_folder(path, given)?
    } else if !is_plan {
        let name = path.display().to_string();
        given.of_file(&name, path, &Expectations::default()).map_err(|problem| vec![problem])?
    } else {
        let text = std::fs::read_to_string(path).map_err(|error| vec![unreadable(path, &error)])?;
        Text { path, text: &text, verifier }.jobs(given)?
    };
    for job in &mut jobs {
        if job.limits.seconds.is_nan() {
            let problem = Diagnostic::of_file(path, Kind::Usage, "the limit of time is no number");
            return Err(vec![problem.help("give seconds, such as 60")]);
        }
        // The words of a plan were accepted one by one; together they may not fit.
        job.is_cacheable = verifier
            .accepts(&job.words())
            .map_err(|why| vec![Diagnostic::of_file(path, Kind::Usage, format!("{}: {why}", job.name))])?;
    }
    let mut seen = BTreeSet::new();
    jobs.retain(|job| seen.insert(job.words()));
    if jobs.is_empty() {
        let help = if is_folder {
            "name a folder with C files or task definitions that have the property"
        } else {
            "write `[[task]]` with `files`"
        };
        return Err(vec![
            Diagnostic::of_file(path, Kind::Usage, "there is nothing to verify in it").help(help),
        ]);
    }
    Ok(Plan { path: path.to_owned(), jobs })
}

/// The jobs of a folder: its task definitions, or if there are none, its programs.
fn of_folder(folder: &Path, given: &Given) -> Result<Vec<Job>, Vec<Diagnostic>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| vec![unreadable(&folder, &error)])?;
        for entry in entries.flatten() {
            // Links to folders may lead back.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) | Err(_) => files.push(entry.path()),
            }
        }
    }
    files.sort();
    let definitions: Vec<&PathBuf> = files.iter().filter(|file| definitions::is_definition(file)).collect();
    let chosen = match definitions.is_empty() {
        true => files.iter().filter(|file| ends(file).is_some()).collect(),
        false => definitions,
    };
    collect(chosen.into_iter().map(|file| {
        let name = file.strip_prefix(folder).unwrap_or(file).display().to_string();
        given.of_file(&name, file, &Expectations::default()).map_err(|problem| vec![problem])
    }))
}

/// All jobs, or all problems.
fn collect(
    parts: impl Iterator<Item = Result<Vec<Job>, Vec<Diagnostic>>>,
) -> Result<Vec<Job>, Vec<Diagnostic>> {
    let (mut jobs, mut problems) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Ok(found) => jobs.extend(found),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(jobs) } else { Err(problems) }
}

/// The text of a plan.
struct Text<'a> {
    path: &'a Path,
    text: &'a str,
    verifier: &'a dyn Verifier,
}

/// A task of a plan.
#[derive(Default)]
struct Task {
    name: Option<String>,
    files: Vec<(usize, String)>,
    program: Vec<(usize, String)>,
    expected: Expectations,
    given: Given,
}

type Table<'a> = DeTable<'a>;
type Value<'a> = Spanned<DeValue<'a>>;

impl Text<'_> {
    fn problem(&self, at: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(self.path, place(self.text, at), Kind::Text, message)
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    fn jobs(&self, given: &Given) -> Result<Vec<Job>, Vec<Diagnostic>> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            vec![self.problem(at, error.message()).help("docs/batch.md has the format of plans")]
        })?;
        let table = table.get_ref();
        let common = self.task(table, true)?.given;
        let tasks = match table.get("task").map(|tasks| (tasks.span().start, tasks.get_ref())) {
            Some((_, DeValue::Array(tasks))) => tasks,
            None => return Ok(Vec::new()),
            Some((at, _)) => return Err(vec![self.problem(at, "begin each task by `[[task]]`")]),
        };
        collect(tasks.iter().map(|task| {
            let at = task.span().start;
            let DeValue::Table(table) = task.get_ref() else {
                return Err(vec![self.problem(at, "begin each task by `[[task]]`")]);
            };
            let task = self.task(table, false)?;
            let given = given.over(&task.given.over(&common));
            self.of_task(at, &task, &given)
        }))
    }

    /// The jobs of a task.
    fn of_task(&self, at: usize, task: &Task, given: &Given) -> Result<Vec<Job>, Vec<Diagnostic>> {
        if task.files.is_empty() && task.program.is_empty() {
            return Err(vec![self.problem(at, "this task has neither `files` nor `program`")]);
        }
        let found = |(at, pattern): &(usize, String)| {
            matches(self.folder(), pattern).map_err(|why| vec![self.problem(*at, why)])
        };
        let named = |file: &Path| {
            let file = file.strip_prefix(self.folder()).unwrap_or(file).display();
            task.name.as_ref().map_or_else(|| file.to_string(), |name| format!("{name}: {file}"))
        };
        let mut jobs = collect(task.files.iter().map(|pattern| {
            collect(found(pattern)?.iter().map(|file| {
                given.of_file(&named(file), file, &task.expected).map_err(|problem| vec![problem])
            }))
        }))?;
        let mut program = Vec::new();
        for pattern in &task.program {
            program.extend(found(pattern)?);
        }
        if let Some(first) = program.first() {
            let name = task.name.clone().unwrap_or_else(|| named(first));
            jobs.extend(given.of_program(&name, &program, &task.expected));
        }
        Ok(jobs)
    }

    /// Reads a task, or what is said for all tasks.
    fn task(&self, table: &Table<'_>, is_common: bool) -> Result<Task, Vec<Diagnostic>> {
        let (mut task, mut problems) = (Task::default(), Vec::new());
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            if let Err(found) = self.entry(&mut task, key, value, is_common) {
                problems.extend(found);
            }
        }
        if problems.is_empty() { Ok(task) } else { Err(problems) }
    }

    fn entry(
        &self,
        task: &mut Task,
        key: &Spanned<DeString<'_>>,
        value: &Value<'_>,
        is_common: bool,
    ) -> Result<(), Vec<Diagnostic>> {
        let (name, at) = (&**key.get_ref(), key.span().start);
        let texts = || self.texts(name, value);
        let plain = || -> Result<Vec<String>, Vec<Diagnostic>> {
            Ok(texts()?.into_iter().map(|(_, text)| text).collect())
        };
        match name {
            "task" if is_common => {}
            "files" | "program" | "name" | "expected" if is_common => {
                let text = format!("`{name}` belongs into a task: write `[[task]]` above it");
                return Err(vec![self.problem(at, text)]);
            }
            "files" => task.files = texts()?,
            "program" => task.program = texts()?,
            "name" => task.name = Some(self.text(name, value)?),
            "expected" => task.expected = self.expected(value)?,
            "check" => task.given.checks = plain()?,
            "property" => {
                let paths = plain()?.into_iter().map(|path| self.folder().join(path));
                task.given.properties = paths.collect();
            }
            "data-model" => task.given.data_model = Some(self.text(name, value)?),
            "timeout" => task.given.seconds = Some(self.number(name, value)?),
            "memory" => task.given.megabytes = Some(self.number(name, value)?),
            _ => {
                let words = self.verifier.option((self.path, self.text), key, value)?;
                task.given.options.push((name.to_owned(), words));
            }
        }
        Ok(())
    }

    fn text(&self, name: &str, value: &Value<'_>) -> Result<String, Vec<Diagnostic>> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            other => {
                let text = format!("`{name}` is a text and not of type {}", other.type_str());
                Err(vec![self.problem(value.span().start, text)])
            }
        }
    }

    /// A text, or several, with their positions.
    fn texts(&self, name: &str, value: &Value<'_>) -> Result<Vec<(usize, String)>, Vec<Diagnostic>> {
        let one = |value: &Value<'_>| Ok((value.span().start, self.text(name, value)?));
        match value.get_ref() {
            DeValue::Array(values) => values.iter().map(one).collect(),
            _ => Ok(vec![one(value)?]),
        }
    }

    fn number<T: std::str::FromStr>(&self, name: &str, value: &Value<'_>) -> Result<T, Vec<Diagnostic>> {
        let text = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            _ => "",
        };
        let wrong = || vec![self.problem(value.span().start, format!("`{name}` is a number, such as 60"))];
        text.parse().map_err(|_| wrong())
    }

    fn expected(&self, value: &Value<'_>) -> Result<Expectations, Vec<Diagnostic>> {
        let verdict = |value: &Value<'_>| match value.get_ref() {
            DeValue::Boolean(holds) => Ok(Expected { holds: *holds, part: None }),
            DeValue::String(text) if *text == "true" => Ok(Expected { holds: true, part: None }),
            DeValue::String(text) if *text == "false" => Ok(Expected { holds: false, part: None }),
            DeValue::String(text) if text.starts_with("false(") && text.ends_with(')') => {
                Ok(Expected { holds: false, part: Some(text["false(".len()..text.len() - 1].to_owned()) })
            }
            _ => {
                let text = "an expected verdict is true, false or \"false(PROPERTY)\"";
                Err(vec![self.problem(value.span().start, text)])
            }
        };
        if let DeValue::Table(table) = value.get_ref() {
            let mut each = Vec::new();
            for (name, value) in table {
                each.push((name.get_ref().to_string(), verdict(value)?));
            }
            return Ok(Expectations { all: None, each });
        }
        Ok(Expectations { all: Some(verdict(value)?), each: Vec::new() })
    }
}

#[cfg(test)]
mod tests;
