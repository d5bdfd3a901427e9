//! `threadproof.toml`: options for a folder, with the names of the command line.
//!
//! Each key is a long option of `verify` without its dashes, `files` names the files, and the section
//! `[functions]` classifies functions that no file defines. Options on the command line override those of the
//! file, including conflicting ones. Paths are relative to the file. The definition of the command line
//! determines the keys and their values.

use crate::arguments::Arguments;
use crate::evidence;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, ValueHint};
use ir::diagnostic::{Diagnostic, Kind};
use portfolio::race_names::distance;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// The file name in the current folder.
pub const NAME: &str = "threadproof.toml";

/// The section about functions that no file defines.
const FUNCTIONS: &str = "functions";

/// Adds the options of a file to a command line: of the file that `--config` names, or of the one in the
/// folder, if it exists.
pub fn complete(words: Vec<OsString>, folder: &Path) -> Result<Vec<OsString>, Vec<Diagnostic>> {
    let mut whole = Arguments::command();
    whole.build();
    // Errors in the command line itself are reported when it is parsed for good.
    let Ok(matches) = whole.clone().try_get_matches_from(&words) else { return Ok(words) };
    let Some((name, given)) = matches.subcommand() else { return Ok(words) };
    let Some(command) = whole.find_subcommand(name) else { return Ok(words) };
    if command.get_arguments().all(|argument| argument.get_id() != "config") {
        return Ok(words);
    }
    let named: Option<&PathBuf> = given.get_one("config");
    let beside = folder.join(NAME);
    // The path as the user would write it.
    let shown =
        if folder == Path::new("") || folder == Path::new(".") { PathBuf::from(NAME) } else { beside };
    let path = match named {
        Some(path) => path.clone(),
        None if shown.is_file() => shown,
        None => return Ok(words),
    };
    let text = std::fs::read_to_string(&path).map_err(|error| vec![evidence::unreadable(&path, &error)])?;
    let verify = whole.find_subcommand("verify").unwrap_or(command);
    let added = File { path: &path, text: &text, verify, command, given }.words()?;
    // The program and the command come first.
    let Some(at) = words.iter().position(|word| word == name) else { return Ok(words) };
    let (before, after) = words.split_at(at + 1);
    Ok(before.iter().chain(&added).chain(after).cloned().collect())
}

/// The arguments for an option that a plan of a batch has as a key: as in `threadproof.toml`.
pub fn option(
    path: &Path,
    text: &str,
    key: &Spanned<DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
) -> Result<Vec<OsString>, Vec<Diagnostic>> {
    let mut whole = Arguments::command();
    whole.build();
    let (Some(verify), Ok(given)) =
        (whole.find_subcommand("verify"), whole.clone().try_get_matches_from(["", "verify"]))
    else {
        return Ok(Vec::new());
    };
    let Some((_, given)) = given.subcommand() else { return Ok(Vec::new()) };
    let file = File { path, text, verify, command: verify, given };
    if key.get_ref() == FUNCTIONS {
        let (words, problems) = file.functions(value);
        return if problems.is_empty() { Ok(words) } else { Err(problems) };
    }
    file.entry(key.get_ref(), key.span().start, value).map_err(|problem| vec![problem])
}

/// What the definition of the command line has against words, on one line.
pub fn complaint(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_owned()
}

struct File<'a> {
    path: &'a Path,
    text: &'a str,
    /// The command that knows all options.
    verify: &'a Command,
    /// The given command.
    command: &'a Command,
    /// Its arguments.
    given: &'a ArgMatches,
}

impl File<'_> {
    fn problem(&self, at: usize, text: &str) -> Diagnostic {
        Diagnostic::at(self.path, batch::plan::place(self.text, at), Kind::Text, text)
    }

    /// The effective options of the file, as command-line arguments.
    fn words(&self) -> Result<Vec<OsString>, Vec<Diagnostic>> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            vec![self.problem(at, &format!("{}; see the command line in the README", error.message()))]
        })?;
        let (mut words, mut problems) = (Vec::new(), Vec::new());
        let mut entries: Vec<_> = table.get_ref().iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            if key.get_ref() == FUNCTIONS {
                let (found, mistakes) = self.functions(value);
                words.extend(found);
                problems.extend(mistakes);
                continue;
            }
            match self.entry(key.get_ref(), key.span().start, value) {
                Ok(found) => words.extend(found),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(words) } else { Err(problems) }
    }

    /// The arguments for the section about functions, and its errors. Each line becomes an option `--function
    /// NAME=CLASS`.
    fn functions(&self, section: &Spanned<DeValue<'_>>) -> (Vec<OsString>, Vec<Diagnostic>) {
        let DeValue::Table(table) = section.get_ref() else {
            let found = section.get_ref().type_str();
            let text =
                format!("`{FUNCTIONS}` is a section and not of type {found}: begin it by [{FUNCTIONS}]");
            return (Vec::new(), vec![self.problem(section.span().start, &text)]);
        };
        let mut lines: Vec<_> = table.iter().collect();
        lines.sort_by_key(|(name, _)| name.span().start);
        let (mut words, mut problems) = (Vec::new(), Vec::new());
        for (name, class) in lines {
            match self.function(name.get_ref(), class) {
                Ok(found) => words.extend(found),
                Err(problem) => problems.push(problem),
            }
        }
        (words, problems)
    }

    /// The arguments for one line about a function.
    fn function(&self, name: &str, class: &Spanned<DeValue<'_>>) -> Result<Vec<OsString>, Diagnostic> {
        let parts: Vec<&Spanned<DeValue<'_>>> = match class.get_ref() {
            DeValue::Array(parts) => parts.iter().collect(),
            _ => vec![class],
        };
        let mut texts = Vec::new();
        for part in parts {
            let DeValue::String(text) = part.get_ref() else {
                let found = part.get_ref().type_str();
                let text =
                    format!("the class of `{name}` is a text, such as \"pure\", and not of type {found}");
                return Err(self.problem(part.span().start, &text));
            };
            texts.push(text.to_string());
        }
        let whole = texts.join(", ");
        whole
            .parse::<frontend_c::FunctionClass>()
            .map_err(|reason| self.problem(class.span().start, &reason))?;
        let is_known = self.command.get_arguments().any(|argument| argument.get_long() == Some("function"));
        let says = |given: &crate::arguments::ClassifiedFunction| given.name == name;
        let given = self.given.try_get_many::<crate::arguments::ClassifiedFunction>("functions");
        let is_given = given.ok().flatten().is_some_and(|mut given| given.any(says));
        if !is_known || is_given {
            return Ok(Vec::new());
        }
        Ok(vec![format!("--function={name}={whole}").into()])
    }

    fn entry(&self, key: &str, at: usize, value: &Spanned<DeValue<'_>>) -> Result<Vec<OsString>, Diagnostic> {
        let Some(argument) = argument(self.verify, key) else {
            return Err(self.problem(at, &self.unknown(key)));
        };
        let found = self.values(argument, key, value)?;
        // The definition of the command line validates each value.
        let tried = [OsString::from("verify")].into_iter().chain(found.clone());
        if let Err(error) = self.verify.clone().no_binary_name(false).try_get_matches_from(tried) {
            return Err(self.problem(value.span().start, &complaint(&error)));
        }
        let Some(known) = argument_of(self.command, argument) else { return Ok(Vec::new()) };
        let is_given = |id: &str| {
            self.given.try_contains_id(id).is_ok()
                && self.given.value_source(id) == Some(ValueSource::CommandLine)
        };
        let excludes = |other: &Arg| {
            self.command
                .get_arg_conflicts_with(other)
                .iter()
                .any(|excluded| excluded.get_id() == known.get_id())
                || self
                    .command
                    .get_arg_conflicts_with(known)
                    .iter()
                    .any(|excluded| excluded.get_id() == other.get_id())
        };
        let overruled = is_given(known.get_id().as_str())
            || self.command.get_arguments().any(|other| is_given(other.get_id().as_str()) && excludes(other));
        Ok(if overruled { Vec::new() } else { found })
    }

    /// The arguments for one option.
    fn values(
        &self,
        argument: &Arg,
        key: &str,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<OsString>, Diagnostic> {
        let wrong = |value: &Spanned<DeValue<'_>>, wanted: &str| {
            let found = value.get_ref().type_str();
            self.problem(value.span().start, &format!("`{key}` is {wanted} and not of type {found}"))
        };
        let is_flag = matches!(argument.get_action(), ArgAction::SetTrue);
        let many = matches!(argument.get_action(), ArgAction::Append);
        let values: Vec<&Spanned<DeValue<'_>>> = match value.get_ref() {
            DeValue::Boolean(wanted) if is_flag => {
                return Ok(wanted.then(|| format!("--{key}").into()).into_iter().collect());
            }
            _ if is_flag => return Err(wrong(value, "true or false")),
            DeValue::Array(values) if many => values.iter().collect(),
            DeValue::Array(_) => return Err(wrong(value, "one value")),
            _ => vec![value],
        };
        let mut words = Vec::new();
        for value in values {
            let text = match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
                DeValue::Float(number) => number.as_str().to_owned(),
                _ => return Err(wrong(value, "a text or a number")),
            };
            let is_path = argument.get_value_hint() == ValueHint::AnyPath;
            let text: OsString = match self.path.parent() {
                Some(folder) if is_path => folder.join(text).into(),
                _ => text.into(),
            };
            let mut word = OsString::new();
            if argument.get_long().is_some() {
                word.push(format!("--{key}="));
            }
            word.push(text);
            words.push(word);
        }
        Ok(words)
    }

    fn unknown(&self, key: &str) -> String {
        let names = self.verify.get_arguments().filter_map(name_of);
        let close = names.map(|name| (distance(key, &name), name)).min();
        match close {
            Some((distance, name)) if distance <= 1 + key.len() / 4 => {
                format!("there is no option `{key}`; did you mean `{name}`?")
            }
            _ => format!("there is no option `{key}`; `threadproof verify --help` lists them"),
        }
    }
}

/// The name of an argument in the file.
fn name_of(argument: &Arg) -> Option<String> {
    match argument.get_id().as_str() {
        // Options about this run, not about the program.
        "config" | "help" | "version" | "supervisor" => None,
        "files" => Some("files".to_owned()),
        _ => argument.get_long().map(str::to_owned),
    }
}

fn argument<'a>(command: &'a Command, key: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|argument| name_of(argument).as_deref() == Some(key))
}

fn argument_of<'a>(command: &'a Command, known: &Arg) -> Option<&'a Arg> {
    command.get_arguments().find(|argument| argument.get_id() == known.get_id())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(text: &str, words: &[&str]) -> Result<Vec<String>, Vec<String>> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("threadproof-config-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        std::fs::write(folder.join(NAME), text).expect("a file can be written");
        let words = ["threadproof"].iter().chain(words).map(OsString::from).collect();
        let shown = folder.display().to_string();
        let hide = |text: &str| text.replace(&format!("{shown}/"), "@/");
        let result = complete(words, &folder);
        std::fs::remove_dir_all(&folder).expect("it is there");
        match result {
            Ok(words) => Ok(words.iter().skip(1).map(|word| hide(&word.to_string_lossy())).collect()),
            Err(problems) => Err(problems.iter().map(|problem| hide(&problem.to_string())).collect()),
        }
    }

    #[test]
    fn options_of_the_file_come_first() {
        let text = "files = ['a.c', '/b.c']\ntimeout = 10\nexplain = true\nshortest = false\ndefine = ['X', 'Y=2']\n";
        let all = ["verify", "@/a.c", "/b.c", "--timeout=10", "--explain", "--define=X", "--define=Y=2"];
        assert_eq!(completed(text, &["verify"]).unwrap(), all);
        let words = completed(text, &["verify", "--timeout", "3", "c.c"]).unwrap();
        assert_eq!(words, ["verify", "--explain", "--define=X", "--define=Y=2", "--timeout", "3", "c.c"]);
        // `check` knows only some of them.
        let words = completed(text, &["check", "e.json", "c.c"]).unwrap();
        assert_eq!(words, ["check", "--timeout=10", "--define=X", "--define=Y=2", "e.json", "c.c"]);
    }

    #[test]
    fn the_command_line_counts_where_both_cannot_be() {
        let words = completed("property = 'a.prp'\n", &["verify", "--check", "races", "c.c"]).unwrap();
        assert_eq!(words, ["verify", "--check", "races", "c.c"]);
        let words = completed("check = ['races']\n", &["verify", "--nesc", "c.c"]).unwrap();
        assert_eq!(words, ["verify", "--nesc", "c.c"]);
    }

    #[test]
    fn functions_have_a_section() {
        let text = "timeout = 10\n[functions]\nlog_msg = 'pure'\nfill = ['reads', 'writes(1)']\n";
        let words = completed(text, &["verify", "a.c"]).unwrap();
        let all =
            ["verify", "--timeout=10", "--function=log_msg=pure", "--function=fill=reads, writes(1)", "a.c"];
        assert_eq!(words, all);
        let words = completed(text, &["verify", "--function", "log_msg=ends", "a.c"]).unwrap();
        assert_eq!(words[2..], ["--function=fill=reads, writes(1)", "--function", "log_msg=ends", "a.c"]);
        for (text, message) in [
            ("[functions]\nf = 'prue'\n", "@/threadproof.toml:2:5: error: `prue` is no class"),
            ("[functions]\nf = 3\n", "@/threadproof.toml:2:5: error: the class of `f` is a text"),
            ("functions = 3\n", "@/threadproof.toml:1:13: error: `functions` is a section"),
            ("[functions]\nf = 'writes'\n", "@/threadproof.toml:2:5: error: `writes` needs the number"),
        ] {
            let problems = completed(text, &["verify", "a.c"]).unwrap_err();
            assert!(problems[0].starts_with(message), "{problems:?}");
        }
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, message) in [
            (
                "timeout = 1\ntimout = 2\n",
                "@/threadproof.toml:2:1: error: there is no option `timout`; did you mean `timeout`?",
            ),
            (
                "  weather = 1\n",
                "@/threadproof.toml:1:3: error: there is no option `weather`; `threadproof verify --help` lists them",
            ),
            (
                "config = 'x'\n",
                "@/threadproof.toml:1:1: error: there is no option `config`; `threadproof verify --help` lists them",
            ),
            (
                "explain = 1\n",
                "@/threadproof.toml:1:11: error: `explain` is true or false and not of type integer",
            ),
            (
                "timeout = [1, 2]\n",
                "@/threadproof.toml:1:11: error: `timeout` is one value and not of type array",
            ),
            (
                "jobs = 0\n",
                "@/threadproof.toml:1:8: error: invalid value '0' for '--jobs <N>': 0 is not in 1..=64",
            ),
        ] {
            assert_eq!(completed(text, &["verify", "a.c"]).unwrap_err(), [message]);
        }
        let problems = completed("timeout = \n", &["verify", "a.c"]).unwrap_err();
        assert!(problems[0].starts_with("@/threadproof.toml:1:11: error: "), "{problems:?}");
    }
}
