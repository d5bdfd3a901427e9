//! A page about one measurement, as it grows, and the page that leads to all of them.

use crate::bench::plot::{Plot, Series, plot};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The pages that there are, in their order.
const PAGES: [&str; 8] = ["paper-1", "paper-2", "paper-3", "paper-4", "paper-5", "real", "growth", "size"];

/// What a page says before it says when, where, and how long.
const MEASURED: &str = "Measured ";

/// Where the pages are.
fn folder() -> PathBuf {
    crate::root().join("docs/benchmarks")
}

/// A page as it grows.
pub struct Page {
    name: &'static str,
    title: String,
    circumstances: String,
    begun: Instant,
    text: String,
}

impl Page {
    /// A page with a title.
    pub fn new(name: &'static str, title: &str) -> Self {
        println!("# {title}\n");
        let (circumstances, begun) = (circumstances(), Instant::now());
        Self { name, title: title.to_owned(), circumstances, begun, text: String::new() }
    }

    /// Adds a line, and prints it.
    pub fn line(&mut self, line: &str) {
        println!("{line}");
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds the head of a table.
    pub fn head(&mut self, cells: &[&str]) {
        self.line(&format!("| {} |\n|{}", cells.join(" | "), "---|".repeat(cells.len())));
    }

    /// Adds a row of a table.
    pub fn row(&mut self, cells: &[&str]) {
        self.line(&format!("| {} |", cells.join(" | ")));
    }

    /// Adds a plot in a file of its own.
    pub fn plot(&mut self, name: &str, labels: &Plot<'_>, series: &[Series]) -> Result<(), String> {
        let file = format!("{}-{name}.svg", self.name);
        write(&folder().join(&file), &plot(labels, series))?;
        self.line(&format!("\n![{}]({file})\n", labels.title));
        Ok(())
    }

    /// Writes the page, and the one that leads to all.
    pub fn finish(self) -> Result<(), String> {
        let Self { name, title, circumstances, begun, text } = self;
        let seconds = begun.elapsed().as_secs();
        let text = format!(
            "# {title}\n\n{MEASURED}{circumstances}; all of it took {} min {:02} s.\n\n{}\n",
            seconds / 60,
            seconds % 60,
            text.trim_end()
        );
        write(&folder().join(format!("{name}.md")), &text)?;
        summary()
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::create_dir_all(folder()).map_err(|error| error.to_string())?;
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// What a command prints, without the end of its line.
fn said(command: &str, words: &[&str]) -> String {
    let output = Command::new(command).args(words).current_dir(crate::root()).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// When, what, and on what machine.
fn circumstances() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let (info, memory, load) = (read("/proc/cpuinfo"), read("/proc/meminfo"), read("/proc/loadavg"));
    let field =
        |name: &str| info.lines().find(|line| line.starts_with(name)).and_then(|line| line.split_once(": "));
    let model = field("model name").map_or("an unknown processor", |(_, model)| model).to_owned();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kilobytes = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = kilobytes.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    let gigabytes = kilobytes.map_or("?".to_owned(), |kilobytes| ((kilobytes + (1 << 19)) >> 20).to_string());
    let load = load.split_whitespace().next().unwrap_or("?").to_owned();
    format!(
        "on {} at commit {}: {cores} cores of {model}, {gigabytes} GB; on average {load} other programs were running when it began",
        said("date", &["-u", "+%Y-%m-%d"]),
        said("git", &["rev-parse", "--short", "HEAD"])
    )
}

/// Writes the page that leads to all others, and puts them into the book.
pub fn summary() -> Result<(), String> {
    let mut text = String::from(
        "# What was measured\n\nThe tables of the five papers again, with our figures beside theirs. Their machines were ten to twenty years older: compare what can be done, and how cost grows, more than seconds. \
         Each page says what of a paper's inputs is not at hand, and what stands in for it.\n\n\
         | page | measured |\n|---|---|\n",
    );
    let mut chapters = String::new();
    for name in PAGES {
        let Ok(page) = std::fs::read_to_string(folder().join(format!("{name}.md"))) else { continue };
        let title = page.lines().next().unwrap_or_default().trim_start_matches("# ");
        let when = page.lines().find_map(|line| line.strip_prefix(MEASURED)).unwrap_or("");
        let _ = writeln!(text, "| [{title}]({name}.md) | {} |", when.trim_end_matches('.'));
        let _ = writeln!(chapters, "  - [{title}](benchmarks/{name}.md)");
    }
    text.push_str("\nHow to measure again: `bench/README.md` in the repository.\n");
    write(&folder().join("README.md"), &text)?;
    let book = crate::root().join("docs/SUMMARY.md");
    let old = std::fs::read_to_string(&book).map_err(|error| format!("{}: {error}", book.display()))?;
    write(&book, &with_chapters(&old, &chapters))
}

/// The contents of the book with these pages below the one that leads to them.
fn with_chapters(contents: &str, chapters: &str) -> String {
    let mut text = String::new();
    for line in contents.lines().filter(|line| !is_page(line)) {
        text.push_str(line);
        text.push('\n');
        if line.ends_with("(benchmarks/README.md)") {
            text.push_str(chapters);
        }
    }
    text
}

fn is_page(line: &str) -> bool {
    PAGES.iter().any(|name| line.ends_with(&format!("(benchmarks/{name}.md)")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_chapters_of_the_book() {
        let before =
            "# Summary\n- [All](benchmarks/README.md)\n  - [Old](benchmarks/paper-1.md)\n- [More](x.md)\n";
        let after =
            "# Summary\n- [All](benchmarks/README.md)\n  - [New](benchmarks/paper-1.md)\n- [More](x.md)\n";
        let chapters = "  - [New](benchmarks/paper-1.md)\n";
        assert_eq!(with_chapters(before, chapters), after);
        assert_eq!(with_chapters(after, chapters), after);
    }
}
