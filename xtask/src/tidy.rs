//! Checks that keep the documents and the architecture true.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A crate, and the only crates of this workspace that it may depend on.
/// A family stands for all its members: `engine-` is every engine. Test-only dependencies are free.
const ALLOWED: [(&str, &[&str]); 19] = [
    ("ir", &[]),
    ("terms", &[]),
    ("verdict", &["ir", "terms"]),
    ("frontend-", &["ir"]),
    ("domains", &["ir"]),
    ("boolean", &["ir", "verdict"]),
    ("smt", &["ir", "terms", "verdict"]),
    ("transitions", &["ir", "verdict", "domains", "smt"]),
    ("sequential", &["ir", "verdict", "smt", "transitions"]),
    ("executions", &["ir", "verdict"]),
    ("engine-", &["ir", "verdict", "domains", "smt", "transitions", "sequential", "boolean", "executions"]),
    ("checker", &["ir", "verdict", "domains", "smt", "transitions", "boolean"]),
    ("report", &["ir", "terms", "verdict", "checker"]),
    ("testkit", &["ir", "verdict"]),
    ("portfolio", &["ir", "verdict", "engine-", "checker", "report"]),
    ("batch", &["ir", "report"]),
    ("threadproof", &["ir", "verdict", "frontend-", "engine-", "checker", "report", "portfolio", "batch"]),
    (
        "fuzz",
        &[
            "ir",
            "terms",
            "verdict",
            "boolean",
            "smt",
            "transitions",
            "frontend-",
            "engine-",
            "checker",
            "report",
            "testkit",
            "portfolio",
        ],
    ),
    ("xtask", &[]),
];

/// Libraries by the beginning of their names, and the only crate that may see them.
const FENCED: [(&str, &str); 3] = [("rucc-", "frontend-c"), ("z3", "smt"), ("rusqlite", "batch")];

/// The longest that a source file may be.
const LONGEST_FILE: usize = 800;

/// The longest that a comment line may be.
const LONGEST_COMMENT: usize = 110;

/// All that is wrong with the repository at `root`.
pub fn complaints(root: &Path) -> Vec<String> {
    let mut complaints = Vec::new();
    let architecture = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    for document in [
        "README.md",
        "ARCHITECTURE.md",
        "SOUNDNESS.md",
        "GLOSSARY.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
    ] {
        if !root.join(document).is_file() {
            complaints.push(format!("{document} is missing"));
        }
    }
    for (name, manifest) in manifests(root) {
        if !architecture.contains(&format!("`{name}`")) {
            complaints.push(format!("ARCHITECTURE.md does not list the crate `{name}`"));
        }
        dependencies(&name, &manifest, &architecture, &mut complaints);
    }
    let manifests = manifests(root);
    for file in sources(root) {
        source(root, &file, &mut complaints);
        let text = fs::read_to_string(&file).unwrap_or_default();
        let shown = file.strip_prefix(root).unwrap_or(&file);
        let manifest = crate_of(shown).and_then(|name| manifests.get(name));
        complaints.extend(manifest.and_then(|manifest| hidden_test(shown, &text, manifest)));
    }
    let glossary = fs::read_to_string(root.join("GLOSSARY.md")).unwrap_or_default();
    complaints.extend(unsorted_words(&glossary));
    let papers = fs::read_to_string(root.join("docs/papers.md")).unwrap_or_default();
    let read = |file: &str| fs::read_to_string(root.join("crates").join(file)).ok();
    complaints.extend(papers.lines().flat_map(|line| missing_names(line, &read)));
    complaints
}

/// The words of the glossary that come too late.
fn unsorted_words(glossary: &str) -> Vec<String> {
    let cells = glossary.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let words: Vec<String> = cells.skip(1).map(str::to_lowercase).collect();
    let late = words.windows(2).filter(|pair| pair[0] >= pair[1]);
    late.map(|pair| format!("GLOSSARY.md has `{}` after `{}`", pair[1], pair[0])).collect()
}

/// The files and names in the second column of a row of `docs/papers.md` that do not exist. A file has a `/`;
/// a name must be a word of one of the files of its row.
fn missing_names(row: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let Some(cell) = row.strip_prefix('|').and_then(|row| row.split('|').nth(1)) else { return Vec::new() };
    let spans: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
    let (files, names): (Vec<&str>, Vec<&str>) = spans.into_iter().partition(|span| span.contains('/'));
    let texts: Vec<Option<String>> = files.iter().map(|file| read(file)).collect();
    let missing = files.iter().zip(&texts).filter(|(_, text)| text.is_none());
    let mut complaints: Vec<String> = missing
        .map(|(file, _)| format!("docs/papers.md names crates/{file}, which does not exist"))
        .collect();
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    for name in names {
        let has_it = |text: &String| text.split(|letter: char| !is_word(letter)).any(|word| word == name);
        if !texts.iter().flatten().any(has_it) {
            complaints.push(format!("docs/papers.md names `{name}`, which is not in {}", files.join(", ")));
        }
    }
    complaints
}

/// Every crate's folder name with the text of its manifest.
fn manifests(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let folders = fs::read_dir(root.join("crates")).into_iter().flatten().flatten().map(|entry| entry.path());
    for folder in folders.chain([root.join("xtask")]) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Ok(text) = fs::read_to_string(folder.join("Cargo.toml")) {
            found.insert(name, text);
        }
    }
    found
}

/// Complains about forbidden edges between crates, and about libraries without a stated reason.
fn dependencies(name: &str, manifest: &str, architecture: &str, complaints: &mut Vec<String>) {
    let rule = ALLOWED.iter().find(|(family, _)| matches(family, name));
    let Some((_, allowed)) = rule else {
        complaints.push(format!("xtask/src/tidy.rs does not say what the crate `{name}` may depend on"));
        return;
    };
    let mut section = "";
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
            continue;
        }
        let first = line.split(['=', '.', ' ']).next();
        let Some(dependency) = first.filter(|word| !word.is_empty() && !word.starts_with('#')) else {
            continue;
        };
        if !section.contains("dependencies]") {
            continue;
        }
        if dependency == "threadproof" || dependency.starts_with("threadproof-") {
            let other = dependency.strip_prefix("threadproof-").unwrap_or(dependency);
            if section == "[dependencies]" && !allowed.iter().any(|family| matches(family, other)) {
                complaints.push(format!("the crate `{name}` must not depend on `{other}`"));
            }
        } else if !architecture.contains(&format!("`{dependency}`")) && !dependency.starts_with("rucc-") {
            complaints.push(format!("ARCHITECTURE.md does not say why `{name}` depends on `{dependency}`"));
        }
        for (family, owner) in FENCED {
            if dependency.starts_with(family) && name != owner {
                complaints.push(format!("only `{owner}` may depend on `{dependency}`"));
            }
        }
    }
}

fn matches(family: &str, name: &str) -> bool {
    family == name || (family.ends_with('-') && name.starts_with(family))
}

/// Every Rust file of the workspace.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut folders = vec![root.join("crates"), root.join("xtask")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The crate that a file below `src` belongs to.
fn crate_of(file: &Path) -> Option<&str> {
    let mut parts = file.iter().map(|part| part.to_str().unwrap_or_default());
    let name = parts.find(|part| *part != "crates")?;
    (parts.next() == Some("src")).then_some(name)
}

/// A test that never runs: one of a library whose manifest builds none, or one in documentation.
fn hidden_test(file: &Path, text: &str, manifest: &str) -> Option<String> {
    let library = manifest.split("[lib]").nth(1)?.split("\n[").next()?;
    let has = |setting: &str| library.lines().any(|line| line == setting);
    let is_example =
        |line: &str| line.trim_start().strip_prefix("//").is_some_and(|line| line.contains("```"));
    let hidden = has("test = false") && text.contains(concat!("#[te", "st]")) || text.lines().any(is_example);
    hidden.then(|| format!("{} has a test that never runs", file.display()))
}

/// Complains about one source file.
fn source(root: &Path, file: &Path, complaints: &mut Vec<String>) {
    let shown = file.strip_prefix(root).unwrap_or(file).display();
    let Ok(text) = fs::read_to_string(file) else {
        complaints.push(format!("{shown} cannot be read"));
        return;
    };
    if !text.starts_with("//! ") {
        complaints.push(format!("{shown} does not start by saying what it is"));
    }
    let lines = text.lines().count();
    if lines > LONGEST_FILE {
        complaints.push(format!("{shown} has {lines} lines; {LONGEST_FILE} is the limit"));
    }
    for (number, line) in text.lines().enumerate() {
        let width = line.chars().count();
        if line.trim_start().starts_with("//") && width > LONGEST_COMMENT {
            let line = number + 1;
            complaints.push(format!(
                "{shown}:{line}: a comment of {width} columns; {LONGEST_COMMENT} is the limit"
            ));
        }
    }
    for word in [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[ign", "ore")] {
        if text.contains(word) {
            complaints.push(format!("{shown} contains {word}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        assert_eq!(complaints(&crate::root()), Vec::<String>::new());
    }

    #[test]
    fn a_forbidden_edge_is_found() {
        let mut found = Vec::new();
        dependencies(
            "checker",
            "[dependencies]\nthreadproof-engine-explicit.workspace = true\n",
            "",
            &mut found,
        );
        assert_eq!(found, ["the crate `checker` must not depend on `engine-explicit`"]);
    }

    #[test]
    fn names_that_the_page_of_papers_has_wrong_are_found() {
        let read = |file: &str| (file == "a/b.rs").then(|| "fn find_me() {}".to_owned());
        assert_eq!(missing_names("| `x` | `a/b.rs`: `find_me` | |", &read), Vec::<String>::new());
        assert_eq!(
            missing_names("| x | `a/b.rs`: `find` | |", &read),
            ["docs/papers.md names `find`, which is not in a/b.rs"]
        );
        assert_eq!(
            missing_names("| x | `a/c.rs` | |", &read),
            ["docs/papers.md names crates/a/c.rs, which does not exist"]
        );
    }

    #[test]
    fn a_word_of_the_glossary_that_comes_too_late_is_found() {
        let text = "| word | meaning |\n|---|---|\n| cut | … |\n| CFA | … |\n| edge | … |\n";
        assert_eq!(unsorted_words(text), ["GLOSSARY.md has `cfa` after `cut`"]);
    }

    #[test]
    fn a_fenced_library_is_found() {
        let mut found = Vec::new();
        dependencies("checker", "[dependencies]\nz3 = \"0.22\"\n", "`z3`", &mut found);
        assert_eq!(found, ["only `smt` may depend on `z3`"]);
    }

    #[test]
    fn a_test_that_never_runs_is_found() {
        let file = Path::new("crates/a/src/b.rs");
        assert_eq!(crate_of(file), Some("a"));
        assert_eq!(crate_of(Path::new("crates/a/tests/b.rs")), None);
        let manifest =
            |settings: &str| format!("[package]\n\n[lib]\nname = \"a\"\n{settings}\n[dependencies]\n");
        let test = concat!("#[te", "st]\nfn a() {}");
        assert!(hidden_test(file, test, &manifest("test = false\n")).is_some());
        assert!(hidden_test(file, test, &manifest("doctest = false\n")).is_none());
        assert!(hidden_test(file, "/// ```\n", &manifest("")).is_some());
        assert!(hidden_test(file, "fn a() {}", &manifest("test = false\ndoctest = false\n")).is_none());
    }

    #[test]
    fn a_library_without_a_reason_is_found() {
        let mut found = Vec::new();
        dependencies("ir", "[dependencies]\nindexmap = \"2\"\n", "nothing", &mut found);
        assert_eq!(found, ["ARCHITECTURE.md does not say why `ir` depends on `indexmap`"]);
    }
}
