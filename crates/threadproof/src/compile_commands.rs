//! Compilation databases (`compile_commands.json`): which files a build compiles, where, and how.
//!
//! From each command, the flags that affect preprocessing and the widths of types are used. Flags that change
//! the meaning of a program in an unmodelled way are errors, or forbid proofs; all others (warnings,
//! optimisation, output) are ignored. Files in other languages are ignored, too.

use frontend_c::Options;
use ir::DataModel;
use ir::diagnostic::{Diagnostic, Kind};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A file of a build, and how to read it.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Its absolute path.
    pub path: PathBuf,
    /// Its flags.
    pub options: Options,
    /// The data model that its flags select.
    pub data_model: Option<DataModel>,
    /// Deviations from the build that forbid proofs.
    pub limits: Vec<String>,
}

/// A compilation database.
#[derive(Clone, Debug, Default)]
pub struct Database {
    /// The C files, in order.
    pub units: Vec<Unit>,
    /// Messages for the user.
    pub notes: Vec<String>,
}

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    arguments: Option<Vec<String>>,
    command: Option<String>,
}

/// Reads a database. Its name is for messages; relative folders in it are below its own.
pub fn read(name: &Path, text: &str) -> Result<Database, Vec<Diagnostic>> {
    let shown = name.display();
    let wrong = |error: serde_json::Error| {
        let (line, column) = (error.line() as u32, error.column() as u32);
        let problem = Diagnostic::at(name, (line, column), Kind::Text, error.to_string());
        vec![problem.help(
            "a compilation database is a list of {\"directory\", \"file\", \"arguments\" or \"command\"}",
        )]
    };
    let entries: Vec<Entry> = serde_json::from_str(text).map_err(wrong)?;
    let base = std::path::absolute(name).unwrap_or_else(|_| name.to_owned());
    let base = base.parent().unwrap_or(Path::new("/"));
    let mut database = Database::default();
    let mut problems = Vec::new();
    let mut skipped = 0_usize;
    for (index, entry) in entries.iter().enumerate() {
        let path = tidy(&base.join(&entry.directory).join(&entry.file));
        let refuse = |problem: String| {
            let number = index + 1;
            let text = format!("entry {number} ({}): {problem}", entry.file.display());
            Diagnostic::of_file(name, Kind::Text, text)
        };
        let words = match (&entry.arguments, &entry.command) {
            (Some(arguments), _) => Ok(arguments.clone()),
            (None, Some(command)) => split(command),
            (None, None) => Err("there is neither \"arguments\" nor \"command\"; build again".to_owned()),
        };
        let words = match words {
            Ok(words) => words,
            Err(problem) => {
                problems.push(refuse(problem));
                continue;
            }
        };
        if !is_c(&path, &words) {
            skipped += 1;
            continue;
        }
        match unit(path, &base.join(&entry.directory), &words) {
            Ok(unit) => match database.units.iter().find(|other| other.path == unit.path) {
                None => database.units.push(unit),
                Some(other) if same(other, &unit) => {}
                Some(_) => database.notes.push(format!(
                    "{shown}: entry {} compiles {} in another way than an entry before; it is read as there",
                    index + 1,
                    entry.file.display()
                )),
            },
            Err(problem) => problems.push(refuse(problem)),
        }
    }
    if skipped > 0 {
        let files = if skipped == 1 { "one file is".to_owned() } else { format!("{skipped} files are") };
        database.notes.push(format!("{shown}: {files} not C; what is defined there is not known"));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    if database.units.is_empty() {
        let problem = Diagnostic::of_file(name, Kind::Usage, "there is no C file in it");
        return Err(vec![problem.help("check that the build is for C")]);
    }
    Ok(database)
}

fn same(one: &Unit, other: &Unit) -> bool {
    let settings = |unit: &Unit| format!("{:?} {:?} {:?}", unit.options, unit.data_model, unit.limits);
    settings(one) == settings(other)
}

/// A path without `.` and, where that is safe, without `..`.
pub fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            // A link in the path would lead elsewhere.
            std::path::Component::ParentDir if out.file_name().is_some() && !out.is_symlink() => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

fn is_c(path: &Path, words: &[String]) -> bool {
    let language = words
        .iter()
        .enumerate()
        .filter_map(|(at, word)| match word.strip_prefix("-x") {
            Some("") => words.get(at + 1).map(String::as_str),
            other => other,
        })
        .next_back();
    let extension = path.extension().and_then(|extension| extension.to_str());
    match language {
        Some(language) => matches!(language, "c" | "cpp-output"),
        None => matches!(extension, Some("c" | "i")),
    }
}

/// Flags with a value in the next word that do not affect the meaning.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xlinker",
    "-Xassembler",
    "-L",
    "-l",
    "-u",
    "-T",
    "-z",
    "-arch",
    "-x",
    "-aux-info",
    "--param",
    "-dumpbase",
    "-dumpdir",
    "-G",
    "-Xclang",
    "-mllvm",
];
/// Flags that change the layout of data, or how characters are read.
const LAYOUT: &[&str] = &[
    "-fpack-struct",
    "-fshort-enums",
    "-fshort-wchar",
    "-fms-extensions",
    "-mms-bitfields",
    "-malign-double",
    "-m16",
    "-mx32",
    "-finput-charset",
    "-fexec-charset",
    "-fwide-exec-charset",
    "-finstrument-functions",
    "-fno-signed-bitfields",
    "-funsigned-bitfields",
    "-freg-struct-return",
    "-fplan9-extensions",
    "-mlong-double-64",
    "-mabi",
];
/// Flags that define behaviour which is undefined here.
const DEFINED: &[&str] =
    &["-fwrapv", "-ftrapv", "-fno-strict-overflow", "-fwrapv-pointer", "-fno-delete-null-pointer-checks"];

/// The flags of one command that are used.
fn unit(path: PathBuf, folder: &Path, words: &[String]) -> Result<Unit, String> {
    let mut unit = Unit { path, options: Options::default(), data_model: None, limits: Vec::new() };
    let below = |name: &str| tidy(&folder.join(name));
    // Flags that are passed on to the preprocessor count like direct ones.
    let expand = |word: &'_ String| -> Vec<String> {
        match word.strip_prefix("-Wp,") {
            Some(flags) => flags.split(',').map(str::to_owned).collect(),
            None => vec![word.clone()],
        }
    };
    let expanded: Vec<String> = words.iter().skip(1).flat_map(expand).collect();
    let mut rest = expanded.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        // The value of a flag: attached to it, or the next word.
        let mut value = |flag: &str| -> Option<Result<String, String>> {
            let glued = word.strip_prefix(flag)?;
            Some(match glued {
                "" => rest.next().map(str::to_owned).ok_or(format!("nothing follows {flag}; build again")),
                glued => Ok(glued.to_owned()),
            })
        };
        let options = &mut unit.options;
        // Longer names first: `-include` begins as `-I` does not, but `-isystem` as `-i…` do.
        if let Some(found) = value("-iquote") {
            options.quote_dirs.push(below(&found?));
        } else if let Some(found) = value("-isystem") {
            options.system_dirs.push(below(&found?));
        } else if let Some(found) = value("-idirafter") {
            options.after_dirs.push(below(&found?));
        } else if let Some(found) = value("-imacros") {
            options.macros.push(below(&found?));
        } else if let Some(found) = value("-include") {
            options.includes.push(below(&found?));
        } else if let Some(found) = value("-I") {
            options.include_dirs.push(below(&found?));
        } else if let Some(found) = value("-D") {
            let define = found?;
            let name = macro_name(&define).to_owned();
            options.undefines.retain(|other| *other != name);
            options.defines.push(define);
        } else if let Some(found) = value("-U") {
            let name = found?;
            options.defines.retain(|other| macro_name(other) != name);
            options.undefines.push(name);
        } else if let Some(standard) = word.strip_prefix("-std=").or(word.strip_prefix("--std=")) {
            options.standard = Some(standard.to_owned());
        } else if word == "-ansi" {
            options.standard = Some("c90".to_owned());
        } else if word == "-m32" {
            unit.data_model = Some(DataModel::Ilp32);
        } else if word == "-m64" {
            unit.data_model = Some(DataModel::Lp64);
        } else if matches!(word, "-funsigned-char" | "-fno-signed-char") {
            options.char_signed = Some(false);
        } else if matches!(word, "-fsigned-char" | "-fno-unsigned-char") {
            options.char_signed = Some(true);
        } else if word == "-pthread" {
            options.defines.push("_REENTRANT=1".to_owned());
        } else if matches!(word, "-fopenmp" | "-fopenacc" | "-fcilkplus") {
            unit.limits.push(format!("{word}: its threads are not modelled"));
        } else if DEFINED.contains(&word) {
            unit.limits.push(format!("{word} defines what happens on overflow, here the execution ends"));
        } else if matches!(word, "-nostdinc")
            || word.starts_with("--sysroot")
            || word.starts_with("-isysroot")
        {
            return Err(format!("{word}: only this system's own headers can be read; leave the file out"));
        } else if word.starts_with('@') {
            return Err(format!("{word}: flags in a file are not read; have the build write them out"));
        } else if LAYOUT.iter().any(|flag| word == *flag || word.starts_with(&format!("{flag}="))) {
            return Err(format!(
                "{word} changes the layout of data, which is not supported; leave the file out"
            ));
        } else if WITH_VALUE.contains(&word) {
            rest.next();
        }
    }
    let compiler = words.first().map(String::as_str).unwrap_or_default();
    let compiler = Path::new(compiler).file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(target) = foreign(&compiler, words) {
        unit.limits.push(format!("it is compiled for {target}, and read for x86"));
    }
    Ok(unit)
}

/// The target of a compiler for another kind of machine.
fn foreign(compiler: &str, words: &[String]) -> Option<String> {
    let of_flag = words.iter().enumerate().find_map(|(at, word)| match word.as_str() {
        "-target" | "--target" => words.get(at + 1).cloned(),
        word => word.strip_prefix("--target=").map(str::to_owned),
    });
    let of_name = compiler.rsplit_once('-').map(|(target, _)| target.to_owned());
    // `x86_64-linux-gnu-gcc-12`: a version comes last.
    let is_target = |target: &String| target.matches('-').count() >= 1 && !target.ends_with("clang");
    let target = of_flag.or(of_name.filter(is_target))?;
    let machine = target.split('-').next().unwrap_or_default();
    let is_known = matches!(machine, "x86_64" | "amd64" | "i386" | "i486" | "i586" | "i686");
    (!is_known).then_some(target)
}

fn macro_name(define: &str) -> &str {
    define.split(['=', '(']).next().unwrap_or(define)
}

/// Splits a command as a shell does. Variables and sequences of commands are not supported.
fn split(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some('\'') => break,
                        Some(letter) => word.push(letter),
                        None => return Err("a quotation in the command does not end; build again".to_owned()),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some('"') => break,
                        Some('\\') => match letters.next() {
                            Some(letter @ ('"' | '\\' | '$' | '`')) => word.push(letter),
                            Some('\n') => {}
                            Some(letter) => word.extend(['\\', letter]),
                            None => return Err("the command ends in a backslash; build again".to_owned()),
                        },
                        Some(letter) => word.push(letter),
                        None => return Err("a quotation in the command does not end; build again".to_owned()),
                    }
                }
            }
            '\\' => match letters.next() {
                Some('\n') => {}
                Some(letter) => word.get_or_insert_default().push(letter),
                None => return Err("the command ends in a backslash; build again".to_owned()),
            },
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_a_shell_does() {
        let words = |text: &str| split(text).unwrap();
        assert_eq!(words("cc  -c a.c"), ["cc", "-c", "a.c"]);
        assert_eq!(words(r#"cc -DNAME=\"x\ y\" 'a b.c'"#), ["cc", "-DNAME=\"x y\"", "a b.c"]);
        assert_eq!(words(r#"cc "-DA=\"b\"" "-D\x" """#), ["cc", "-DA=\"b\"", r"-D\x", ""]);
        assert!(split("cc 'a").is_err() && split("cc \"a").is_err() && split("cc \\").is_err());
    }

    fn one(words: &[&str]) -> Result<Unit, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        unit(PathBuf::from("/p/a.c"), Path::new("/p/build"), &words)
    }

    #[test]
    fn flags_are_taken_over_in_order() {
        let found = one(&[
            "gcc",
            "-I../include",
            "-I",
            "/usr/x",
            "-isystem",
            "sys",
            "-DA=1",
            "-UA",
            "-DB",
            "-UC",
            "-DC=2",
            "-include",
            "config.h",
            "-std=gnu11",
            "-m32",
            "-funsigned-char",
            "-Wall",
            "-O2",
            "-o",
            "-Ignored",
            "-c",
            "a.c",
        ])
        .unwrap();
        let options = found.options;
        assert_eq!(options.include_dirs, [PathBuf::from("/p/include"), PathBuf::from("/usr/x")]);
        assert_eq!(options.system_dirs, [PathBuf::from("/p/build/sys")]);
        assert_eq!(options.defines, ["B", "C=2"]);
        assert_eq!(options.undefines, ["A"]);
        assert_eq!(options.includes, [PathBuf::from("/p/build/config.h")]);
        assert_eq!(options.standard.as_deref(), Some("gnu11"));
        assert_eq!(options.char_signed, Some(false));
        assert_eq!(found.data_model, Some(DataModel::Ilp32));
        assert!(found.limits.is_empty());
        let options =
            one(&["cc", "-Wp,-MMD,x.d,-DA,-UB", "-pthread", "-Xpreprocessor", "-DC"]).unwrap().options;
        assert_eq!(
            (options.defines.join(" "), options.undefines.join(" ")),
            ("A _REENTRANT=1 C".to_owned(), "B".to_owned())
        );
    }

    #[test]
    fn what_changes_the_meaning_is_not_left_out() {
        for flag in ["-fpack-struct=1", "-fshort-enums", "-nostdinc", "@flags", "-D"] {
            assert!(one(&["cc", flag]).is_err(), "{flag}");
        }
        for words in [
            &["cc", "-fwrapv"][..],
            &["arm-none-eabi-gcc"],
            &["clang", "--target=riscv32-elf"],
            &["cc", "-fopenmp"],
        ] {
            assert_eq!(one(words).unwrap().limits.len(), 1, "{words:?}");
        }
        for compiler in ["gcc-12", "clang", "x86_64-linux-gnu-gcc-12", "/usr/bin/i686-linux-gnu-gcc", "c99"] {
            assert!(one(&[compiler]).unwrap().limits.is_empty(), "{compiler}");
        }
    }

    #[test]
    fn a_database_names_its_files() {
        let text = r#"[
            {"directory": "/p/build", "file": "../a.c", "command": "cc -DX -c ../a.c"},
            {"directory": "/p/build", "file": "/p/b.cpp", "arguments": ["c++", "-c", "b.cpp"]},
            {"directory": "/p/build", "file": "/p/a.c", "arguments": ["cc", "-DX", "-c", "/p/a.c"]},
            {"directory": "/p/build", "file": "/p/a.c", "arguments": ["cc", "-DY", "-c", "/p/a.c"]}
        ]"#;
        let database = read(Path::new("/p/build/compile_commands.json"), text).unwrap();
        let paths: Vec<&Path> = database.units.iter().map(|unit| unit.path.as_path()).collect();
        assert_eq!(paths, [Path::new("/p/a.c")]);
        assert_eq!(database.notes.len(), 2, "{:?}", database.notes);
        for bad in ["", "{}", "[{}]", "[]", r#"[{"directory": "/", "file": "a.c"}]"#] {
            assert!(read(Path::new("x.json"), bad).is_err(), "{bad}");
        }
    }
}
