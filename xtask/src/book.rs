//! The book: `cargo xtask book` makes `target/book` of `docs/` with mdBook, and checks that every link and
//! picture in it leads somewhere.
//!
//! mdBook is built from its package the first time, which takes some minutes; so this is no part of the
//! tests, which check the documents' own links.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The version of mdBook.
const MDBOOK: &str = "0.5.4";

/// Makes the book, and checks it.
pub fn book() -> Result<(), String> {
    let program = crate::root().join("target/mdbook").join(MDBOOK);
    if !program.join("bin/mdbook").exists() {
        let folder = program.to_string_lossy().into_owned();
        let features = ["--no-default-features", "--features", "search"];
        let words = ["install", "mdbook", "--locked", "--version", MDBOOK, "--root", &folder];
        crate::run("cargo", &[&words[..], &features].concat())?;
    }
    let made = crate::root().join("target/book");
    let _ = std::fs::remove_dir_all(&made);
    let (tool, target) = (program.join("bin/mdbook"), made.to_string_lossy().into_owned());
    crate::run(&tool.to_string_lossy(), &["build", "docs", "--dest-dir", &target])?;
    let pages = pages(&made)?;
    let broken = broken(&pages, &|path| made.join(path).is_file());
    for link in &broken {
        eprintln!("book: {link}");
    }
    println!("{}: {} pages", made.join("index.html").display(), pages.len());
    if broken.is_empty() { Ok(()) } else { Err(format!("{} links lead nowhere", broken.len())) }
}

/// The pages of a book, by their paths in it.
fn pages(book: &Path) -> Result<BTreeMap<PathBuf, String>, String> {
    let mut pages = BTreeMap::new();
    let mut folders = vec![book.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
                pages.insert(path.strip_prefix(book).unwrap_or(&path).to_owned(), text);
            }
        }
    }
    Ok(pages)
}

/// The values of an attribute in a page.
fn values<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    page.split(start.as_str())
        .skip(1)
        .filter_map(|rest| rest.split_once('"'))
        .map(|(value, _)| value)
        .collect()
}

/// A path without `.` and `..`.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(tidy.pop()),
            Component::Normal(name) => tidy.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    tidy
}

/// The links that lead nowhere.
fn broken(pages: &BTreeMap<PathBuf, String>, is_file: &dyn Fn(&Path) -> bool) -> BTreeSet<String> {
    let mut broken = BTreeSet::new();
    for (path, text) in pages {
        let folder = path.parent().unwrap_or(Path::new(""));
        // The page for addresses that lead nowhere names all others from the root.
        let folder = if path == Path::new("404.html") { Path::new("") } else { folder };
        for link in values(text, "href").into_iter().chain(values(text, "src")) {
            if link.contains("://") || link.starts_with("data:") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { tidy(&folder.join(file)) };
            let target = if file.ends_with('/') || target.as_os_str().is_empty() {
                target.join("index.html")
            } else {
                target
            };
            let has_anchor = |page: &String| values(page, "id").contains(&anchor);
            let leads = match pages.get(&target) {
                Some(page) => anchor.is_empty() || has_anchor(page),
                None => is_file(&target),
            };
            if !leads {
                broken.insert(format!("{}: {link} leads nowhere", path.display()));
            }
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let page = |path: &str, text: &str| (PathBuf::from(path), text.to_owned());
        let pages = BTreeMap::from([
            page(
                "index.html",
                r#"<a href="a/b.html#x">, <a href="a/b.html#y">, <img src="p.svg">, <a href="https://x.y">"#,
            ),
            page(
                "a/b.html",
                r##"<h1 id="x"> <a href="../index.html"> <a href="../gone.html"> <a href="#x"> <a href="../">"##,
            ),
        ]);
        let found: Vec<String> = broken(&pages, &|path| path == Path::new("p.svg")).into_iter().collect();
        let expected = ["a/b.html: ../gone.html leads nowhere", "index.html: a/b.html#y leads nowhere"];
        assert_eq!(found, expected);
    }
}
