//! Reads the input files, by the front end for their kind.

use crate::arguments::{Memory, Reading};
use crate::compile_commands::{self, Database, Unit};
use crate::evidence;
use ir::Program;
use ir::diagnostic::{self, Diagnostic};
use report::Sources;
use std::path::{Path, PathBuf};

/// The kind of a file.
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
    /// The kind of a file, by its extension or, if that is not known, by its first words.
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
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// What the user should know about how they were read.
    pub notes: Vec<String>,
}

/// Texts that override files on the disk: those open in an editor.
pub type Overlay<'a> = dyn Fn(&Path) -> Option<Vec<u8>> + 'a;

/// No overrides.
pub fn disk(_: &Path) -> Option<Vec<u8>> {
    None
}

/// The files that are read.
pub fn files(options: &Reading) -> Result<Vec<PathBuf>, Vec<Diagnostic>> {
    match options.compile_commands.as_deref() {
        None => Ok(options.files.clone()),
        Some(path) => {
            let database = database(path)?;
            let units = chosen(options, &database)?;
            Ok(units.iter().map(|unit| shown(&unit.path)).collect())
        }
    }
}

/// The unknown functions that a C program calls.
pub fn unknown_functions(options: &Reading) -> Result<Vec<frontend_c::UnknownFunction>, Vec<Diagnostic>> {
    let database = options.compile_commands.as_deref().map(database).transpose()?;
    let units = database.as_ref().map(|database| chosen(options, database)).transpose()?;
    let files = texts(&paths(options, units.as_deref())?, &disk)?;
    let (whole, each) = options_c(options, false, &files, units.as_deref())?;
    frontend_c::unknown_functions(&each, &whole)
}

/// The files that are named, or those of a build; at least one.
fn paths(options: &Reading, units: Option<&[&Unit]>) -> Result<Vec<PathBuf>, Vec<Diagnostic>> {
    let paths: Vec<PathBuf> = match units {
        None => options.files.clone(),
        Some(units) => units.iter().map(|unit| shown(&unit.path)).collect(),
    };
    if paths.is_empty() {
        return Err(vec![Diagnostic::usage(
            "no file is given",
            "name the files of the program, or the compilation database of its build by --compile-commands",
        )]);
    }
    Ok(paths)
}

/// The texts of files.
fn texts(paths: &[PathBuf], overlay: &Overlay<'_>) -> Result<Vec<frontend_c::Source>, Vec<Diagnostic>> {
    let mut files = Vec::new();
    for path in paths {
        let text = match overlay(path) {
            Some(text) => text,
            None => std::fs::read(path).map_err(|error| vec![evidence::unreadable(path, &error)])?,
        };
        files.push(frontend_c::Source { name: path.to_string_lossy().into_owned(), text });
    }
    Ok(files)
}

/// Reads the files and the program in them; optionally with the competition's rules about memory orders and
/// unknown functions.
pub fn read(options: &Reading, competition: bool, overlay: &Overlay<'_>) -> Result<Input, Vec<Diagnostic>> {
    let database = options.compile_commands.as_deref().map(database).transpose()?;
    let units = database.as_ref().map(|database| chosen(options, database)).transpose()?;
    let paths = paths(options, units.as_deref())?;
    let cpp = paths.iter().filter(|path| is_cpp(path)).map(|path| {
        let problem = Diagnostic::of_file(path, diagnostic::Kind::Usage, "this is C++: only C is supported");
        problem.help("name C files; a file of C with this name can be renamed, or preprocessed (.i)")
    });
    let cpp: Vec<Diagnostic> = cpp.collect();
    if !cpp.is_empty() {
        return Err(cpp);
    }
    let files = texts(&paths, overlay)?;
    let kinds: Vec<Kind> = paths.iter().zip(&files).map(|(path, file)| Kind::of(path, &file.text)).collect();
    let kind = kinds.first().copied().unwrap_or(Kind::C);
    if kind != Kind::C && files.len() > 1 || kinds.iter().any(|other| *other != kind) {
        let last = &files[files.len() - 1].name;
        let problem = Diagnostic::of_file(last, diagnostic::Kind::Usage, "a Boolean program is one file");
        return Err(vec![problem.help("name it alone")]);
    }
    if kind != Kind::C && !(options.entry.is_empty() && options.thread.is_empty()) {
        let name = &files[0].name;
        let text = "--entry and --thread are for C programs";
        let problem = Diagnostic::of_file(name, diagnostic::Kind::Usage, text);
        return Err(vec![problem.help("leave them out")]);
    }
    let program = match kind {
        Kind::C => read_c(options, competition, &files, units.as_deref()),
        Kind::Boolean => read_boolean(options, &files[0]),
        Kind::System => read_system(options, &files[0]),
    }?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let given: Vec<(String, String)> =
        files.iter().map(|file| (file.name.clone(), text(&file.text))).collect();
    // The original of a preprocessed file may be missing.
    let other = |name: &str| std::fs::read(Path::new(name)).ok().map(|bytes| text(&bytes));
    let sources = Sources::new(&program.files, &given, other);
    let notes = database.map(|database| database.notes).unwrap_or_default();
    Ok(Input { program, sources, kind, files: paths, notes })
}

/// Whether a file is C++, by its name as compilers understand it.
fn is_cpp(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    ["C", "cc", "cp", "cpp", "cxx", "c++", "CPP", "ii", "hh", "hpp", "hxx", "tcc"].contains(&&*extension)
}

fn database(path: &Path) -> Result<Database, Vec<Diagnostic>> {
    let text = std::fs::read_to_string(path).map_err(|error| vec![evidence::unreadable(path, &error)])?;
    compile_commands::read(path, &text)
}

/// The files of a build that are named, or all.
fn chosen<'a>(options: &Reading, database: &'a Database) -> Result<Vec<&'a Unit>, Vec<Diagnostic>> {
    if options.files.is_empty() {
        return Ok(database.units.iter().collect());
    }
    let place = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let find = |path: &PathBuf| {
        let found = database.units.iter().find(|unit| place(&unit.path) == place(path));
        found.ok_or_else(|| {
            let database = options.compile_commands.as_deref().unwrap_or(Path::new("")).display();
            Diagnostic::of_file(path, diagnostic::Kind::Usage, format!("{database} does not compile it"))
                .help("name another file, or build again")
        })
    };
    let (found, missing): (Vec<_>, Vec<_>) = options.files.iter().map(find).partition(Result::is_ok);
    let missing: Vec<Diagnostic> = missing.into_iter().filter_map(Result::err).collect();
    if missing.is_empty() { Ok(found.into_iter().flatten().collect()) } else { Err(missing) }
}

/// A path as the user would name it from here.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).map_or_else(|_| path.to_owned(), Path::to_owned)
}

type Read = Result<Program, Vec<Diagnostic>>;

/// A file with the options that it is read with.
type File = (frontend_c::Source, frontend_c::Options);

/// The options of a whole program, and each of its files with its own.
fn options_c(
    options: &Reading,
    competition: bool,
    files: &[frontend_c::Source],
    units: Option<&[&Unit]>,
) -> Result<(frontend_c::Options, Vec<File>), Vec<Diagnostic>> {
    let memory = if competition { Memory::Sc } else { Memory::C11 };
    let whole = frontend_c::Options {
        // Handlers for a 64-bit machine would need other parameters.
        data_model: if options.nesc { ir::DataModel::Ilp32 } else { data_model(options, units)? },
        include_dirs: options.include_dirs.clone(),
        defines: options.defines.clone(),
        includes: options.includes.clone(),
        standard: options.standard.clone(),
        nesc: options.nesc,
        outside_is_pure: competition,
        failures: options.failures,
        functions: options
            .functions
            .iter()
            .map(|function| (function.name.clone(), function.class.clone()))
            .collect(),
        memory_model: options.memory_model.unwrap_or(memory).into(),
        draft: options.draft.clone(),
        start: frontend_c::Start {
            entries: options.entry.clone(),
            threads: options.thread.iter().map(|thread| (thread.function.clone(), thread.count)).collect(),
        },
        ..frontend_c::Options::default()
    };
    let of_file = |index: usize| match units.and_then(|units| units.get(index)) {
        None => whole.clone(),
        // Options given here are added to those of the build.
        Some(unit) => {
            let mut own = unit.options.clone();
            own.data_model = whole.data_model;
            own.include_dirs.extend(options.include_dirs.iter().cloned());
            own.defines.extend(options.defines.iter().cloned());
            own.includes.extend(options.includes.iter().cloned());
            own.standard = options.standard.clone().or(own.standard);
            own
        }
    };
    let each = files.iter().enumerate().map(|(index, file)| (file.clone(), of_file(index))).collect();
    Ok((whole, each))
}

fn read_c(
    options: &Reading,
    competition: bool,
    files: &[frontend_c::Source],
    units: Option<&[&Unit]>,
) -> Read {
    let (whole, each) = options_c(options, competition, files, units)?;
    let mut program = frontend_c::read_each(&each, &whole)?;
    for (file, unit) in files.iter().zip(units.into_iter().flatten()) {
        for limit in &unit.limits {
            let text = format!("{}: {limit}", file.name);
            program.assumptions.push(ir::Assumption { text, span: ir::Span::default(), limits_proof: true });
        }
    }
    Ok(program)
}

/// The data model that the user names, or the one that the build was for.
fn data_model(options: &Reading, units: Option<&[&Unit]>) -> Result<ir::DataModel, Vec<Diagnostic>> {
    let asked: ir::DataModel = options.data_model.into();
    let Some(units) = units else { return Ok(asked) };
    let of = |unit: &&&Unit| unit.data_model.unwrap_or_default();
    let Some(first) = units.iter().find(|unit| unit.data_model.is_some()) else { return Ok(asked) };
    match units.iter().find(|unit| of(unit) != of(&first)) {
        None => Ok(of(&first)),
        Some(other) => {
            let first = shown(&first.path);
            let text = format!("it is compiled for other widths of types than {}", first.display());
            let problem = Diagnostic::of_file(shown(&other.path), diagnostic::Kind::Link, text);
            Err(vec![problem.help("name the files of one program")])
        }
    }
}

fn read_boolean(options: &Reading, file: &frontend_c::Source) -> Read {
    let mut reading =
        frontend_boolean::Options { any_copies: options.any_copies, ..frontend_boolean::Options::default() };
    if !options.labels.is_empty() {
        reading.error_labels.clone_from(&options.labels);
    }
    frontend_boolean::read_program(&file.name, &file.text, &reading).map_err(|problem| vec![problem])
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
        let text = "there is no target: name one by --target FILE.prop";
        return Err(vec![Diagnostic::of_file(&file.name, diagnostic::Kind::Usage, text)]);
    };
    let target = Some((name.as_str(), text.as_slice()));
    frontend_boolean::read_system(&file.name, &file.text, target, options.init.as_deref())
        .map_err(|problem| vec![problem])
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
