//! The tables of the five papers again, with our figures beside theirs: `cargo xtask bench paper N [SAMPLES]` writes `docs/benchmarks/paper-N.md` and its plots.
//!
//! SAMPLES is the folder of real inputs (drivers, TinyOS applications, Boolean programs), which is not part of the repository; papers 1 and 4 need it. A page says
//! where and when it was measured, and lists what is not at hand. `cargo xtask bench summary` writes the page that leads to all of them.

use super::families;
use super::measure::{self, Run};
use super::plot::{Series, plot};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the pages are.
fn folder() -> PathBuf {
    crate::root().join("docs/benchmarks")
}

/// A page as it grows.
struct Page {
    name: String,
    text: String,
}

impl Page {
    fn new(number: u32, title: &str) -> Self {
        let text = format!("# {title}\n\nMeasured {}.\n\n", circumstances());
        Self { name: format!("paper-{number}"), text }
    }

    fn line(&mut self, line: &str) {
        println!("{line}");
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds a plot in a file of its own.
    fn plot(&mut self, name: &str, title: &str, size: &str, series: &[Series]) -> Result<(), String> {
        let file = format!("{}-{name}.svg", self.name);
        write(&folder().join(&file), &plot(title, size, series))?;
        self.line(&format!("\n![{title}]({file})\n"));
        Ok(())
    }

    fn finish(self) -> Result<(), String> {
        write(&folder().join(format!("{}.md", self.name)), &self.text)?;
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

/// When, and on what machine.
fn circumstances() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field =
        |name: &str| info.lines().find(|line| line.starts_with(name)).and_then(|line| line.split_once(": "));
    let model = field("model name").map_or("an unknown processor", |(_, model)| model).to_owned();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("?").to_owned();
    format!(
        "on {} at commit {}, {cores} cores of {model}, where {load} others were waiting for a processor on average",
        said("date", &["-u", "+%Y-%m-%d"]),
        said("git", &["rev-parse", "--short", "HEAD"])
    )
}

/// Seconds if the verdict is what it should be; else the verdict.
fn cell(run: &Run, expected: &str) -> String {
    let verdict = run.verdict();
    if verdict.starts_with(expected) { format!("{:.2}", run.seconds) } else { verdict.to_owned() }
}

/// Writes the page of a paper.
pub fn paper(number: &str, samples: Option<&Path>) -> Result<(), String> {
    let sampled = || samples.ok_or(format!("usage: cargo xtask bench paper {number} SAMPLES"));
    match number {
        "1" => circ(sampled()?),
        "2" => abstract_threads(),
        "3" => boppo(),
        "4" => duet(sampled()?),
        "5" => comus(),
        _ => Err("usage: cargo xtask bench paper 1|2|3|4|5 [SAMPLES]".to_owned()),
    }
}

/// The page that leads to all others.
pub fn summary() -> Result<(), String> {
    let mut text = String::from(
        "# What was measured\n\nThe tables of the five papers again, with our figures beside theirs. Their machines were ten to twenty years older: compare what can be done, and how cost grows, more than seconds.\n\n\
         | page | measured |\n|---|---|\n",
    );
    for number in 1..=5 {
        let name = format!("paper-{number}.md");
        let Ok(page) = std::fs::read_to_string(folder().join(&name)) else { continue };
        let title = page.lines().next().unwrap_or_default().trim_start_matches("# ");
        let when = page.lines().find_map(|line| line.strip_prefix("Measured ")).unwrap_or("");
        let _ = writeln!(text, "| [{title}]({name}) | {} |", when.trim_end_matches('.'));
    }
    text.push_str("\nHow to measure again: `bench/README.md` in the repository.\n");
    write(&folder().join("README.md"), &text)
}

/// The variables of table 1 of paper 1: the application, the end of the variable's name, predicates, states of the context, and time.
const TABLE_1: [(&str, &str, &str, &str, &str); 11] = [
    ("secureTosBase", "gTxState", "11", "23", "7m38s"),
    ("secureTosBase", "gTxByteCnt", "4", "13", "1m41s"),
    ("secureTosBase", "gTxRunningCRC", "4", "13", "1m50s"),
    ("secureTosBase", "gTxProto", "0", "9", "12s"),
    ("secureTosBase", "gRxHeadIndex", "8", "64", "20m50s"),
    ("secureTosBase", "gRxTailIndex", "0", "5", "2s"),
    ("Surge", "rec_ptr", "4", "23", "1m18s"),
    ("Surge", "gTxByteCnt", "4", "15", "1m34s"),
    ("Surge", "gTxRunningCRC", "4", "15", "1m45s"),
    ("Surge", "gTxState", "11", "35", "9m54s"),
    ("Sense", "tosPort", "6", "26", "16m25s"),
];

/// Seconds for one application.
const APPLICATION: &str = "450";

fn circ(samples: &Path) -> Result<(), String> {
    let tool = measure::build()?;
    let mut page = Page::new(1, "Paper 1: races in TinyOS applications (table 1)");
    page.line("What `threadproof verify --nesc` says of each variable of the paper's table that the application here has (all versions of TinyOS differ), and of the variables that nesC's own check warns about.\n");
    page.line("| application | variable | paper: predicates, states, time | here |\n|---|---|---|---|");
    let folder = samples.join("tinyos");
    let mut files: Vec<PathBuf> = files(&folder)?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    let mut totals = String::new();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let application = name.split('-').next().unwrap_or_default().to_owned();
        let run = measure::run_engine(
            &tool,
            "auto",
            &["--nesc", "--timeout", APPLICATION, "--memory", "4096"],
            &file,
        )?;
        let listed: Vec<(&str, &str)> = run.output.lines().filter_map(variable).collect();
        for (_, variable, predicates, states, time) in
            TABLE_1.iter().filter(|row| row.0.eq_ignore_ascii_case(&application))
        {
            let ours = listed.iter().find(|(name, _)| name.ends_with(variable));
            let ours = ours.map_or("not in this version, or not shared", |(_, answer)| answer);
            page.line(&format!("| {name} | {variable} | {predicates}, {states}, {time} | {ours} |"));
        }
        let warned = std::fs::read_to_string(folder.join(format!("{name}.nesc-race-warnings.txt")))
            .unwrap_or_default();
        let warned: Vec<&(&str, &str)> =
            listed.iter().filter(|(variable, _)| mentions(&warned, variable)).collect();
        let definite = warned.iter().filter(|(_, answer)| !answer.starts_with("unknown")).count();
        let _ = writeln!(
            totals,
            "| {name} | {} | {definite} of {} | {:.0} s |",
            listed.len(),
            warned.len(),
            run.seconds
        );
    }
    page.line("\nAll variables that the task loop and handlers share, or several handlers; of those that nesC warns about, how many are proved or refuted:\n");
    page.line("| application | shared variables | warned and decided | time |\n|---|---|---|---|");
    page.line(totals.trim_end());
    page.finish()
}

/// A variable of a listing, and what is said of it.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (name, answer) = line.strip_prefix('`')?.split_once("`: ")?;
    Some((name, answer.trim_end_matches('.')))
}

/// Whether a text has a word, also written with the `$` of nesC.
fn mentions(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.split(|c: char| !is_part(c)).any(|found| found.replace('$', "__") == *word)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}

fn abstract_threads() -> Result<(), String> {
    let mut page = Page::new(2, "Paper 2: drivers with abstract threads, beside SPIN");
    page.line("The paper: conformance of the Bluetooth driver's threads takes 33 s with invariants by hand for two workers, SPIN needs 190 s for 11 abstract workers and runs out of memory on the concrete program with 9.\n");
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program).args(["bench", "spec"]).current_dir(crate::root()).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    page.line(text.trim());
    for (driver, table) in ["bluetooth", "battery"].iter().zip(text.split("\nbattery:")) {
        let column = |index: usize| -> Vec<(f64, f64)> {
            let rows = table.lines().filter_map(|line| {
                let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
                Some((cells.first()?.parse().ok()?, cells.get(index)?.parse().ok()?))
            });
            rows.collect()
        };
        let series = [("SPIN, concrete", 1), ("SPIN, abstract", 2), ("Threadproof", 3)]
            .map(|(name, index)| Series { name: name.to_owned(), points: column(index) });
        page.plot(driver, &format!("{driver}: seconds for n workers"), "workers", &series)?;
    }
    page.finish()
}

/// Rows of table 4 of paper 3, and beyond: the family, n, and the paper's seconds and symbolic thread states.
const TABLE_4: [(&str, u32, Option<f64>, &str); 11] = [
    ("pc", 10, Some(0.1), "21"),
    ("pc", 20, Some(0.1), "31"),
    ("pc", 100, Some(0.2), "111"),
    ("pc", 1000, Some(8.3), "1011"),
    ("pc", 10_000, None, ""),
    ("pc", 100_000, None, ""),
    ("v", 10, Some(0.1), "29"),
    ("v", 20, Some(0.3), "49"),
    ("v", 100, Some(5.3), "209"),
    ("v", 1000, Some(3508.1), "2009"),
    ("v", 5000, None, ""),
];

fn boppo() -> Result<(), String> {
    let tool = measure::build()?;
    let mut page = Page::new(3, "Paper 3: Boolean programs with any number of threads (table 4)");
    page.line("The artificial families, made from the paper's text by `bench/art.sh`; `--engine states`, with the check of the proof. The programs AP1 to AP5 (abstractions of Apache) are not at hand.\n");
    page.line("| program | paper: seconds | paper: thread states | here: seconds | here: MB |\n|---|---|---|---|---|");
    let file = std::env::temp_dir().join(format!("threadproof-art-{}.bp", std::process::id()));
    let mut series: Vec<Series> = Vec::new();
    for (family, size, paper, states) in TABLE_4 {
        let script = crate::root().join("bench/art.sh");
        let output = Command::new("sh").arg(script).args([family, &size.to_string()]).output();
        let output = output.map_err(|error| format!("bench/art.sh: {error}"))?;
        std::fs::write(&file, output.stdout).map_err(|error| error.to_string())?;
        let run = measure::run_engine(&tool, "states", &["--timeout", "120"], &file)?;
        let name = format!("ART-{}", family.to_uppercase());
        let seconds = paper.map_or(String::new(), |seconds| format!("{seconds}"));
        page.line(&format!(
            "| {name}-{size} | {seconds} | {states} | {} | {} |",
            cell(&run, "true"),
            run.megabytes
        ));
        let mut add = |who: &str, seconds: f64| {
            let name = format!("{name}, {who}");
            let at = series.iter().position(|series| series.name == name);
            let at = at.unwrap_or_else(|| {
                series.push(Series { name, points: Vec::new() });
                series.len() - 1
            });
            series[at].points.push((f64::from(size), seconds));
        };
        if let Some(seconds) = paper {
            add("paper", seconds);
        }
        if run.verdict() == "true" {
            add("here", run.seconds);
        }
    }
    let _ = std::fs::remove_file(&file);
    page.plot("art", "Boolean programs: seconds for n assignments (PC), n variables (V)", "n", &series)?;
    page.finish()
}

/// Table 1 of paper 4 for the drivers: assertions, proved with intervals and the time, proved with octagons and the time.
const DRIVERS: [(&str, &str); 15] = [
    ("i8xx_tco", "90: 75 in 1m51s, 71 in 1m25s"),
    ("ib700wdt", "75: 64 in 30s, 64 in 20s"),
    ("machzwd", "87: 73 in 39s, 67 in 14m44s"),
    ("mixcomwd", "91: 72 in 22s, 74 in 25s"),
    ("pcwd", "240: 147 in 2m43s, 145 in 23m48s"),
    ("pcwd_pci", "204: 187 in 2m18s, 188 in 2m59s"),
    ("sbc60xxwdt", "91: 77 in 28s, 69 in 11m27s"),
    ("sc520_wdt", "85: 71 in 28s, 65 in 13m20s"),
    ("sc1200wdt", "77: 66 in 34s, 66 in 33s"),
    ("smsc37b787_wdt", "93: 80 in 47s, 80 in 47s"),
    ("w83877f_wdt", "92: 78 in 29s, 72 in 13m24s"),
    ("w83977f_wdt", "101: 90 in 34s, 82 in 34s"),
    ("wdt", "99: 88 in 25s, 86 in 25s"),
    ("wdt977", "88: 77 in 27s, 75 in 28s"),
    ("wdt_pci", "84: 67 in 33s, 66 in 5m33s"),
];

fn duet(samples: &Path) -> Result<(), String> {
    let tool = measure::build()?;
    let mut page = Page::new(4, "Paper 4: device drivers for any number of threads (tables 1 and 2)");
    page.line("Table 1: `--engine flow` on those of the drivers that are at hand, for any number of threads. The paper's assertions check array bounds and overflows, too; here only those in the program are counted, once for each call chain.\n");
    page.line("| driver | paper: assertions; proved with intervals; with octagons | here: proved | seconds | MB |\n|---|---|---|---|---|");
    let words = ["--check", "assertions", "--timeout", "60", "--memory", "4096"];
    for file in files(&samples.join("drivers"))? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if file.extension().is_none_or(|extension| extension != "c") {
            continue;
        }
        let run = measure::run(&tool, &words, &file)?;
        let paper = DRIVERS.iter().find(|row| row.0 == name).map_or("not in the table", |row| row.1);
        let ours = super::samples::decided(&run.output);
        let ours = ours.map_or("not decided".to_owned(), |(proved, checks)| format!("{proved} of {checks}"));
        page.line(&format!("| {name} | {paper} | {ours} | {:.2} | {} |", run.seconds, run.megabytes));
    }
    page.line("\nTable 2: the paper's 3,416 Boolean programs are not at hand; these are programs of the same kinds, 10 s each. The paper (octagons): 2,503 proved, 870 not, 43 out of time; LI: 1,382 proved, 248 refuted.\n");
    page.line(
        "| programs | number | proved | refuted | unknown | seconds in all |\n|---|---|---|---|---|---|",
    );
    for kind in ["boom", "boom-reduced", "getafix"] {
        let (mut number, mut proved, mut refuted, mut seconds) = (0, 0, 0, 0.0);
        for file in files(&samples.join("boolean").join(kind))? {
            if file.extension().is_none_or(|extension| extension != "bp") {
                continue;
            }
            let run =
                measure::run_engine(&tool, "auto", &["--check", "assertions", "--timeout", "10"], &file)?;
            number += 1;
            proved += u32::from(run.verdict() == "true");
            refuted += u32::from(run.verdict().starts_with("false"));
            seconds += run.seconds;
        }
        let unknown = number - proved - refuted;
        page.line(&format!("| {kind} | {number} | {proved} | {refuted} | {unknown} | {seconds:.1} |"));
    }
    page.finish()
}

/// Figures 9.1 and 9.2 of paper 5: the family, its name there, n, and CoMuS's seconds for the safe and the broken version; nothing if it ran out of time.
type Row = (&'static str, &'static str, usize, Option<f64>, Option<f64>);
const FIGURES_9: [Row; 29] = [
    ("matrix", "mat", 2, Some(2.83), Some(1.25)),
    ("matrix", "mat", 3, Some(13.18), Some(2.92)),
    ("matrix", "mat", 4, Some(36.33), Some(4.94)),
    ("matrix", "mat", 5, Some(70.75), Some(15.26)),
    ("matrix", "mat", 6, Some(215.04), Some(17.64)),
    ("matrix", "mat", 7, Some(578.25), Some(23.52)),
    ("pascal", "pas", 2, Some(0.72), Some(1.27)),
    ("pascal", "pas", 3, Some(13.93), Some(8.45)),
    ("pascal", "pas", 4, Some(131.65), Some(18.04)),
    ("pascal", "pas", 5, None, Some(50.48)),
    ("longest", "long", 2, Some(0.53), Some(0.43)),
    ("longest", "long", 3, Some(6.98), Some(8.95)),
    ("longest", "long", 4, Some(42.39), Some(54.03)),
    ("longest", "long", 5, Some(197.49), Some(414.33)),
    ("longest", "long", 6, Some(3077.29), Some(2389.44)),
    ("ring", "ring", 2, Some(6.23), None),
    ("ring", "ring", 3, Some(111.32), None),
    ("ring", "ring", 4, None, None),
    ("ring", "ring", 5, None, None),
    ("ring", "ring", 6, None, None),
    ("chain", "chain", 2, Some(1.98), None),
    ("chain", "chain", 3, Some(7.31), None),
    ("chain", "chain", 4, Some(20.21), None),
    ("chain", "chain", 5, Some(53.71), None),
    ("chain", "chain", 6, Some(123.53), None),
    ("chain", "chain", 7, Some(307.3), None),
    ("chain", "chain", 8, Some(680.99), None),
    ("chain", "chain", 10, None, None),
    ("chain", "chain", 12, None, None),
];

fn comus() -> Result<(), String> {
    let tool = measure::build()?;
    let mut page = Page::new(5, "Paper 5: families of programs with n threads (figures 9.1 and 9.2)");
    page.line("Seconds on the clock. The programs are made from the text of the thesis (`cargo xtask bench family`); its own are not at hand. CoMuS had 3,600 s for figure 9.1 and 1,200 s for figure 9.2 (ring and chain, which have safe versions only); here 120 s.\n");
    page.line("| class | threads | CoMuS, safe | here, safe | here, `queries` alone, safe | CoMuS, unsafe | here, unsafe |\n|---|---|---|---|---|---|---|");
    let file = std::env::temp_dir().join(format!("threadproof-comus-{}.c", std::process::id()));
    let mut series: Vec<Series> = Vec::new();
    let mut wrong = Vec::new();
    for (family, class, threads, safe, unsafe_) in FIGURES_9 {
        let mut ours = |engine: &str, safe: bool| -> Result<Option<f64>, String> {
            let text = families::program(family, threads, safe).ok_or("a family that is not there")?;
            std::fs::write(&file, text).map_err(|error| error.to_string())?;
            let run =
                measure::run_engine(&tool, engine, &["--check", "assertions", "--timeout", "120"], &file)?;
            let (expected, opposite) = if safe { ("true", "false") } else { ("false", "true") };
            if run.verdict().starts_with(opposite) {
                wrong.push(format!("{family} {threads} {}", run.verdict()));
            }
            Ok(run.verdict().starts_with(expected).then_some(run.seconds))
        };
        let figures = [ours("auto", true)?, ours("queries", true)?, ours("auto", false)?];
        let show =
            |seconds: Option<f64>| seconds.map_or("none".to_owned(), |seconds| format!("{seconds:.2}"));
        let asked = matches!(family, "matrix" | "pascal" | "longest");
        let theirs = if asked { show(unsafe_) } else { String::new() };
        let [all, queries, refuted] = figures.map(show);
        page.line(&format!(
            "| {class} | {threads} | {} | {all} | {queries} | {theirs} | {refuted} |",
            show(safe)
        ));
        for (who, seconds) in [("CoMuS", safe), ("here", figures[0])] {
            let name = format!("{class}, {who}");
            let Some(seconds) = seconds else { continue };
            match series.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push((threads as f64, seconds)),
                None => series.push(Series { name, points: vec![(threads as f64, seconds)] }),
            }
        }
    }
    let _ = std::fs::remove_file(&file);
    let split = |classes: &[&str], series: &mut Vec<Series>| -> Vec<Series> {
        let (taken, rest) = series
            .drain(..)
            .partition(|series| classes.iter().any(|class| series.name.starts_with(&format!("{class},"))));
        *series = rest;
        taken
    };
    let first = split(&["mat", "pas", "long"], &mut series);
    page.plot("figure-9-1", "Figure 9.1, safe versions", "threads", &first)?;
    page.plot("figure-9-2", "Figure 9.2, ring and chain", "threads", &series)?;
    page.finish()?;
    if wrong.is_empty() { Ok(()) } else { Err(format!("wrong verdicts: {}", wrong.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_listing() {
        let line = "`HPLClock__mscale`: race-free (by locks), 1.1 s.";
        assert_eq!(variable(line), Some(("HPLClock__mscale", "race-free (by locks), 1.1 s")));
        assert!(mentions("warning: `HPLClock$mscale' may race", "HPLClock__mscale"));
        assert!(!mentions("HPLClock$mscale2", "HPLClock__mscale"));
    }
}
