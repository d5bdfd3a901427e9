//! Reads the files that are given, by the front end for their kind.

use crate::arguments::Reading;
use crate::evidence;
use ir::Program;
use report::Sources;
use std::path::Path;

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// C.
    C,
    /// A Boolean program.
    Boolean,
    /// A thread transition system.
    System,
}

impl Kind {
    /// The kind of a file, by its extension; where that says nothing, by how it begins.
    pub fn of(path: &Path, bytes: &[u8]) -> Self {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("c" | "i" | "h") => Self::C,
            Some("bp" | "bool") => Self::Boolean,
            Some("tts") => Self::System,
            _ => Self::of_text(&String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)])),
        }
    }

    fn of_text(text: &str) -> Self {
        let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
        let mut content = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let first = content.next().unwrap_or_default();
        let words: Vec<&str> = first.split_whitespace().collect();
        let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
        if words.len() >= 2 && words[..2].iter().all(is_number) {
            Self::System
        } else if words.first() == Some(&"decl") || text.split_whitespace().any(|word| word == "begin") {
            Self::Boolean
        } else {
            Self::C
        }
    }
}

/// A program with the texts that its spans point into.
pub struct Input {
    /// The program.
    pub program: Program,
    /// The texts of its files.
    pub sources: Sources,
    /// What it was read from.
    pub kind: Kind,
}

/// Reads the files and the program in them.
pub fn read(options: &Reading) -> Result<Input, Vec<String>> {
    let mut files = Vec::new();
    for path in &options.files {
        let text = std::fs::read(path).map_err(|error| vec![evidence::unreadable(path, &error)])?;
        files.push(frontend_c::Source { name: path.to_string_lossy().into_owned(), text });
    }
    let kinds: Vec<Kind> =
        options.files.iter().zip(&files).map(|(path, file)| Kind::of(path, &file.text)).collect();
    let kind = kinds.first().copied().unwrap_or(Kind::C);
    if kind != Kind::C && files.len() > 1 || kinds.iter().any(|other| *other != kind) {
        return Err(vec![format!(
            "{}: error: a Boolean program is one file; name it alone",
            files[files.len() - 1].name
        )]);
    }
    let program = match kind {
        Kind::C => read_c(options, &files),
        Kind::Boolean => read_boolean(options, &files[0]),
        Kind::System => read_system(options, &files[0]),
    }?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let given: Vec<(String, String)> =
        files.iter().map(|file| (file.name.clone(), text(&file.text))).collect();
    // Of a preprocessed file, the original may not be at hand.
    let other = |name: &str| std::fs::read(Path::new(name)).ok().map(|bytes| text(&bytes));
    let sources = Sources::new(&program.files, &given, other);
    Ok(Input { program, sources, kind })
}

type Read = Result<Program, Vec<String>>;

fn read_c(options: &Reading, files: &[frontend_c::Source]) -> Read {
    let reading = frontend_c::Options {
        // Handlers for a 64-bit machine would need other parameters.
        data_model: if options.nesc { ir::DataModel::Ilp32 } else { options.data_model.into() },
        include_dirs: options.include_dirs.clone(),
        defines: options.defines.clone(),
        includes: options.includes.clone(),
        standard: options.standard.clone(),
        nesc: options.nesc,
    };
    frontend_c::read(files, &reading)
        .map_err(|diagnostics| diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>())
}

fn read_boolean(options: &Reading, file: &frontend_c::Source) -> Read {
    let mut reading =
        frontend_boolean::Options { any_copies: options.any_copies, ..frontend_boolean::Options::default() };
    if !options.labels.is_empty() {
        reading.error_labels.clone_from(&options.labels);
    }
    frontend_boolean::read_program(&file.name, &file.text, &reading)
        .map_err(|diagnostic| vec![diagnostic.to_string()])
}

/// The target is in the file that is named, or in the one with the same name that ends in `.prop`.
fn read_system(options: &Reading, file: &frontend_c::Source) -> Read {
    let beside = Path::new(&file.name).with_extension("prop");
    let target = match &options.target {
        Some(path) => Some(path.clone()),
        None => Some(beside).filter(|path| path.is_file()),
    };
    let target = match target {
        None => None,
        Some(path) => {
            let name = path.to_string_lossy().into_owned();
            let text = std::fs::read(&path).map_err(|error| vec![evidence::unreadable(&path, &error)])?;
            Some((name, text))
        }
    };
    let Some((name, text)) = target else {
        return Err(vec![format!(
            "{}: error: there is no target: name one by --target FILE.prop",
            file.name
        )]);
    };
    let target = Some((name.as_str(), text.as_slice()));
    frontend_boolean::read_system(&file.name, &file.text, target, options.init.as_deref())
        .map_err(|diagnostic| vec![diagnostic.to_string()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        let kind = |name: &str, text: &str| Kind::of(Path::new(name), text.as_bytes());
        assert_eq!(kind("a.bp", ""), Kind::Boolean);
        assert_eq!(kind("a.tts", ""), Kind::System);
        assert_eq!(kind("a.i", "decl"), Kind::C);
        assert_eq!(kind("a.txt", "// x\ndecl g;\n"), Kind::Boolean);
        assert_eq!(kind("a", "void main() begin skip; end"), Kind::Boolean);
        assert_eq!(kind("a", "# 1\n2 3\n0 0 -> 0 1\n"), Kind::System);
        assert_eq!(kind("a", "int main(void) { return 0; }"), Kind::C);
    }
}
