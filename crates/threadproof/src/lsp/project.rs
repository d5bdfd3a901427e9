//! The program that contains a document, and the options for its verification.
//!
//! 1. The files, or the compilation database, that the workspace's `threadproof.toml` names, if the document
//!    is one of them, or a header.
//! 2. Else the files of the `compile_commands.json` in the workspace's folder, or in its folder `build`. For
//!    a build of several programs, the files without a `main`, together with one that has it: the document
//!    itself, another open one, or the first.
//! 3. Else the document alone. A header alone is no program.

use super::Shared;
use super::state::{Files, place};
use crate::arguments::{Arguments, Command, Verify};
use crate::{config, input};
use clap::Parser;
use ir::diagnostic::Diagnostic;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Possible paths of a compilation database, relative to the folder of the workspace.
const DATABASES: [&str; 2] = ["compile_commands.json", "build/compile_commands.json"];

/// A program, and how to verify it.
pub struct Project {
    /// Its files.
    pub files: Files,
    /// The options.
    pub options: Verify,
}

/// The program that contains a document. `None` for a header that belongs to no program.
pub fn find(shared: &Shared, path: &Path) -> Result<Option<Project>, Vec<Diagnostic>> {
    let folder = shared.root(path);
    let mut options = options(shared, &folder)?;
    let reading = &mut options.reading;
    let is_header = path.extension().is_some_and(|extension| extension == "h");
    let is_part = |files: &[PathBuf]| is_header || files.iter().any(|file| place(file) == place(path));
    if !reading.files.is_empty() || reading.compile_commands.is_some() {
        let files = input::files(reading)?;
        if is_part(&files) {
            return Ok(Some(Project { files: places(&files), options }));
        }
        // The workspace's entry points apply only to its own files.
        reading.entry.clear();
        reading.thread.clear();
        reading.compile_commands = None;
    } else if let Some(database) = DATABASES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
    {
        reading.compile_commands = Some(database);
        let files = input::files(reading)?;
        if is_part(&files) {
            reading.files = of_one_program(shared, path, files);
            return Ok(Some(Project { files: places(&reading.files), options }));
        }
        reading.compile_commands = None;
    }
    if is_header {
        return Ok(None);
    }
    reading.files = vec![path.to_owned()];
    Ok(Some(Project { files: places(&reading.files), options }))
}

fn places(files: &[PathBuf]) -> Files {
    files.iter().map(|file| place(file)).collect()
}

/// The options of the workspace.
fn options(shared: &Shared, folder: &Path) -> Result<Verify, Vec<Diagnostic>> {
    let mut words: Vec<OsString> = ["threadproof", "verify"].map(OsString::from).to_vec();
    if let Some(config) = &shared.config {
        words.extend(["--config".into(), config.into()]);
    }
    let words = config::complete(words, folder)?;
    let arguments = Arguments::try_parse_from(words)
        .map_err(|error| vec![Diagnostic::usage(error.to_string(), "see threadproof.toml")])?;
    match arguments.command {
        Command::Verify(options) => Ok(options),
        _ => Err(Vec::new()),
    }
}

/// The files of a build that make up one program with a document.
fn of_one_program(shared: &Shared, path: &Path, files: Vec<PathBuf>) -> Vec<PathBuf> {
    let open = shared.texts();
    let text = |file: &Path| {
        let file = place(file);
        let edited = open.iter().find(|(path, _)| *path == file).map(|(_, text)| text.clone().into_bytes());
        edited.or_else(|| std::fs::read(file).ok()).unwrap_or_default()
    };
    let starts: Vec<&PathBuf> =
        files.iter().filter(|file| defines_main(&String::from_utf8_lossy(&text(file)))).collect();
    if starts.len() < 2 {
        return files;
    }
    let is_open = |file: &&&PathBuf| open.iter().any(|(path, _)| *path == place(file));
    let chosen = starts
        .iter()
        .find(|file| place(file) == place(path))
        .or_else(|| starts.iter().find(is_open))
        .or(starts.first())
        .map(|file| (*file).clone());
    let left_out: Vec<PathBuf> =
        starts.iter().map(|file| (*file).clone()).filter(|file| Some(file) != chosen.as_ref()).collect();
    files.into_iter().filter(|file| !left_out.contains(file)).collect()
}

/// Whether a C file defines `main`, by its words: the name, parentheses, and a brace after them. A `main`
/// from a macro is not recognised; then reading the program reports the error.
fn defines_main(text: &str) -> bool {
    let text = without_comments(text);
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices("main").any(|(at, word)| {
        let rest = text[at + word.len()..].trim_start();
        if text[..at].ends_with(is_part) || !rest.starts_with('(') {
            return false;
        }
        let mut depth = 0_usize;
        let end = rest.char_indices().find(|(_, letter)| {
            depth = match letter {
                '(' => depth + 1,
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
            depth == 0
        });
        end.is_some_and(|(end, _)| rest[end + 1..].trim_start().starts_with('{'))
    })
}

/// A C text with spaces instead of comments, texts and characters.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('/', Some('/')) => {
                while letters.next_if(|letter| *letter != '\n').is_some() {}
                out.push(' ');
            }
            ('/', Some('*')) => {
                letters.next();
                let mut last = ' ';
                for letter in letters.by_ref() {
                    if last == '*' && letter == '/' {
                        break;
                    }
                    last = letter;
                }
                out.push(' ');
            }
            ('"' | '\'', _) => {
                while let Some(inside) = letters.next() {
                    match inside {
                        '\\' => drop(letters.next()),
                        _ if inside == letter || inside == '\n' => break,
                        _ => {}
                    }
                }
                out.push(' ');
            }
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_main() {
        for text in [
            "int main(void) { }",
            "main()\n{",
            "int main (int argc, char *(*argv)[]) // x\n {",
            "'\"' ; int main(){",
        ] {
            assert!(defines_main(text), "{text}");
        }
        for text in [
            "int main(void);",
            "// int main(void) {",
            "/* int main(void) { */",
            "int my_main(void) {",
            "int mains(void) {",
            "\"main() {\"",
            "x = main (",
            "",
        ] {
            assert!(!defines_main(text), "{text}");
        }
    }
}
