//! The documents tell the truth: every command that they show is run, and prints what they say.
//!
//! A command is a line of an indented block that begins with `$ threadproof`; what follows it, up to the next
//! command or the end of the block, is what it prints. A line that is `…` alone stands for any lines, `…` in
//! a line for any text. `UPDATE_EXPECT=1` writes what is printed into the documents, where it is not what
//! they say.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A command in a document, and what it prints as the document has it.
struct Shown {
    /// The line of the command, from 0.
    line: usize,
    command: String,
    output: Vec<String>,
}

/// The indented blocks' commands.
fn commands(text: &str) -> Vec<Shown> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found: Vec<Shown> = Vec::new();
    let mut open = false;
    for (number, line) in lines.iter().enumerate() {
        // A block continues after an empty line if what follows is indented.
        let continues = |line: &str| line.starts_with("    ");
        let next = lines[number..].iter().find(|line| !line.trim().is_empty());
        let inside = continues(line) || (line.is_empty() && next.is_some_and(|next| continues(next)));
        let content = line.strip_prefix("    ").unwrap_or("");
        if let Some(command) = content.strip_prefix("$ ").filter(|command| command.starts_with("threadproof"))
        {
            found.push(Shown { line: number, command: command.to_owned(), output: Vec::new() });
            open = true;
        } else if !inside || content.starts_with("make ") || content.starts_with("$ ") {
            open = false;
        } else if let Some(shown) = found.last_mut().filter(|_| open) {
            shown.output.push(content.to_owned());
        }
    }
    for shown in &mut found {
        while shown.output.last().is_some_and(String::is_empty) {
            shown.output.pop();
        }
    }
    found
}

/// Whether a text is what a pattern says.
fn line_matches(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('…') else {
        return pattern.trim_end() == text.trim_end();
    };
    let Some(rest) = text.strip_prefix(before) else { return false };
    rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| line_matches(after, &rest[at..]))
}

/// Whether lines are what patterns say.
fn matches(patterns: &[String], lines: &[&str]) -> bool {
    match patterns.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=lines.len()).any(|from| matches(rest, &lines[from..]))
        }
        Some((first, rest)) => match lines.split_first() {
            Some((line, lines)) => line_matches(first, line) && matches(rest, lines),
            None => false,
        },
    }
}

fn documents() -> Vec<PathBuf> {
    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                below(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let mut found = vec![crate::root().join("README.md")];
    below(&crate::root().join("docs"), &mut found);
    found.sort();
    found
}

/// What a command prints on its standard output.
fn run(command: &str) -> String {
    let program = assert_cmd::cargo::cargo_bin("threadproof");
    let folder = program.parent().expect("it is in a folder").to_owned();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", command])
        .env("PATH", format!("{}:{path}", folder.display()))
        .env("COLUMNS", "100")
        .current_dir(crate::root())
        .output()
        .expect("there is a shell");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

#[test]
fn commands_print_what_the_documents_say() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let (mut tried, mut failures) = (0, Vec::new());
    for file in documents() {
        let text = std::fs::read_to_string(&file).expect("documents are text");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        // One may need what another has written, so they run in order; the text is changed from its end, so
        // that numbers of lines stay right.
        let ran: Vec<(Shown, String)> = commands(&text)
            .into_iter()
            .map(|shown| {
                let printed = run(&shown.command);
                (shown, printed)
            })
            .collect();
        for (shown, printed) in ran.into_iter().rev() {
            tried += 1;
            let printed: Vec<&str> = printed.lines().collect();
            if matches(&shown.output, &printed) {
                continue;
            }
            let (start, end) = (shown.line + 1, shown.line + 1 + shown.output.len());
            let indented = |line: &&str| if line.is_empty() { String::new() } else { format!("    {line}") };
            if update {
                lines.splice(start..end, printed.iter().map(indented));
            } else {
                let name = file.strip_prefix(crate::root()).unwrap_or(&file).display();
                failures.push(format!("{name}:{}: {}\n{}", start, shown.command, printed.join("\n")));
            }
        }
        if update {
            std::fs::write(&file, lines.join("\n") + "\n").expect("documents can be written");
        }
    }
    assert!(tried >= 15, "only {tried} commands were found");
    assert!(
        failures.is_empty(),
        "{} commands print something else:\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}

/// The name of a heading in the address of a page.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// Every document is in the book, and every chapter and link of it is there.
#[test]
fn the_book_is_whole() {
    let docs = crate::root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("the book has a summary");
    let chapters: Vec<&str> =
        summary.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(path, _)| path).collect();
    for chapter in &chapters {
        assert!(docs.join(chapter).is_file(), "{chapter} is not there");
    }
    for file in documents() {
        let text = std::fs::read_to_string(&file).expect("documents are text");
        let shown = file.strip_prefix(&docs).unwrap_or(&file).display().to_string();
        let folder = file.parent().expect("it is in a folder");
        for (link, _) in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            if path.contains("://") || path.contains(' ') {
                continue;
            }
            let target = if path.is_empty() { file.clone() } else { folder.join(path) };
            assert!(target.exists(), "{shown}: the link {link} leads nowhere");
            // What lies outside of the book cannot be reached from its pages.
            let target = target.canonicalize().expect("it is there");
            assert!(!file.starts_with(&docs) || target.starts_with(&docs), "{shown}: {link} leaves the book");
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&target).expect("documents are text");
                let has = text.lines().filter(|line| line.starts_with('#')).any(|line| slug(line) == anchor);
                assert!(has, "{shown}: there is no heading for {link}");
            }
        }
        let is_page = file.starts_with(&docs) && shown != "SUMMARY.md";
        assert!(!is_page || chapters.contains(&shown.as_str()), "{shown} is in no chapter of the book");
    }
}

#[test]
fn patterns() {
    assert!(line_matches("a …: b", "a 17 s: b"));
    assert!(!line_matches("a …: b", "a 17 s: bc"));
    let patterns = ["…", "verdict: true"].map(str::to_owned);
    assert!(matches(&patterns, &["x", "", "verdict: true"]));
    assert!(matches(&patterns, &["verdict: true"]));
    assert!(!matches(&patterns, &["verdict: true", "more"]));
    let found =
        commands("text\n\n    $ threadproof a\n    one\n\n    two\n    $ threadproof b\n\nend\n    $ ls\n");
    let found: Vec<(&str, usize)> =
        found.iter().map(|shown| (shown.command.as_str(), shown.output.len())).collect();
    assert_eq!(found, [("threadproof a", 3), ("threadproof b", 0)]);
}
