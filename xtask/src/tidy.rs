//! Checks that keep the documents and the architecture true.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A crate, and the only crates of this workspace that it may depend on.
/// A family stands for all its members: `engine-` is every engine. Test-only dependencies are free.
const ALLOWED: [(&str, &[&str]); 18] = [
    ("ir", &[]),
    ("terms", &[]),
    ("verdict", &["ir", "terms"]),
    ("frontend-", &["ir"]),
    ("domains", &["ir"]),
    ("boolean", &["ir", "verdict"]),
    ("smt", &["ir", "terms", "verdict"]),
    ("transitions", &["ir", "verdict", "domains", "smt"]),
    ("predicates", &["ir", "verdict", "smt", "transitions"]),
    ("sequential", &["ir", "verdict", "smt", "transitions"]),
    (
        "engine-",
        &[
            "ir",
            "verdict",
            "domains",
            "smt",
            "transitions",
            "predicates",
            "sequential",
            "boolean",
            "engine-explicit",
        ],
    ),
    ("checker", &["ir", "verdict", "domains", "smt", "transitions", "boolean"]),
    ("report", &["ir", "terms", "verdict", "checker"]),
    ("reproducer", &["ir", "verdict", "checker"]),
    ("testkit", &["ir", "verdict"]),
    ("threadproof", &["ir", "verdict", "frontend-", "engine-", "checker", "report", "reproducer"]),
    ("fuzz", &["ir", "verdict", "frontend-", "engine-", "checker", "report", "testkit", "threadproof"]),
    ("xtask", &[]),
];

/// Libraries by the beginning of their names, and the only crate that may see them.
const FENCED: [(&str, &str); 2] = [("rucc-", "frontend-c"), ("z3", "smt")];

/// The longest that a source file may be.
const LONGEST_FILE: usize = 800;

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
    for file in sources(root) {
        source(root, &file, &mut complaints);
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
    fn a_fenced_library_is_found() {
        let mut found = Vec::new();
        dependencies("checker", "[dependencies]\nz3 = \"0.22\"\n", "`z3`", &mut found);
        assert_eq!(found, ["only `smt` may depend on `z3`"]);
    }

    #[test]
    fn a_library_without_a_reason_is_found() {
        let mut found = Vec::new();
        dependencies("ir", "[dependencies]\nindexmap = \"2\"\n", "nothing", &mut found);
        assert_eq!(found, ["ARCHITECTURE.md does not say why `ir` depends on `indexmap`"]);
    }
}
