//! Paper 1 (CIRC), table 1: races in TinyOS applications.
//!
//! Each application is listed as a whole; then each variable of the paper's table, and each that nesC's own
//! check warns about, is asked about alone, for a time of its own.

use super::files;
use super::page::Page;
use crate::bench::measure::{self, Run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The variables of the table: the application, its lines, the variable, predicates, states of the context,
/// and time.
const TABLE_1: [(&str, &str, &str, &str, &str, &str); 11] = [
    ("secureTosBase", "9539", "gTxState", "11", "23", "7m38s"),
    ("secureTosBase", "9539", "gTxByteCnt", "4", "13", "1m41s"),
    ("secureTosBase", "9539", "gTxRunningCRC", "4", "13", "1m50s"),
    ("secureTosBase", "9539", "gTxProto", "0", "9", "12s"),
    ("secureTosBase", "9539", "gRxHeadIndex", "8", "64", "20m50s"),
    ("secureTosBase", "9539", "gRxTailIndex", "0", "5", "2s"),
    ("Surge", "9697", "rec_ptr", "4", "23", "1m18s"),
    ("Surge", "9697", "gTxByteCnt", "4", "15", "1m34s"),
    ("Surge", "9697", "gTxRunningCRC", "4", "15", "1m45s"),
    ("Surge", "9697", "gTxState", "11", "35", "9m54s"),
    ("Sense", "3019", "tosPort", "6", "26", "16m25s"),
];

/// Seconds for the listing of one application.
const APPLICATION: &str = "30";
/// Seconds for one variable alone.
const VARIABLE: &str = "15";
const MEMORY: [&str; 2] = ["--memory", "4096"];

/// An application that is at hand.
struct Application {
    /// With the platform.
    name: String,
    file: PathBuf,
    lines: usize,
    listing: Run,
    /// The variables that nesC warns about.
    warned: Vec<String>,
    /// What is said of variables alone.
    answers: BTreeMap<String, String>,
}

impl Application {
    fn read(tool: &Path, file: PathBuf) -> Result<Self, String> {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let lines = text.split(|byte| *byte == b'\n').count();
        let warnings = file.with_file_name(format!("{name}.nesc-race-warnings.txt"));
        let warned = warned(&std::fs::read_to_string(warnings).unwrap_or_default());
        let words = [&["--nesc", "--timeout", APPLICATION], &MEMORY[..]].concat();
        let listing = measure::run_engine(tool, "auto", &words, &file)?;
        if listing.output.lines().all(|line| variable(line).is_none()) {
            return Err(format!("{name}: nothing is listed:\n{}", listing.output));
        }
        Ok(Self { name, file, lines, listing, warned, answers: BTreeMap::new() })
    }

    /// What is said of each variable that is shared.
    fn listed(&self) -> Vec<(&str, &str)> {
        self.listing.output.lines().filter_map(variable).collect()
    }

    /// The whole name of a shared variable.
    fn whole_name(&self, name: &str) -> Option<&str> {
        let ends = |whole: &str| whole == name || whole.ends_with(&format!("__{name}"));
        self.listed().into_iter().map(|(whole, _)| whole).find(|whole| ends(whole))
    }

    /// What is said of one variable alone, and the seconds that it took. It is asked once.
    fn ask(&mut self, tool: &Path, name: &str) -> Result<String, String> {
        let Some(whole) = self.whole_name(name).map(str::to_owned) else {
            return Ok("no shared variable of this version".to_owned());
        };
        if let Some(answer) = self.answers.get(&whole) {
            return Ok(answer.clone());
        }
        let words = [&["--nesc", "--race", &whole, "--timeout", VARIABLE], &MEMORY[..]].concat();
        let run = measure::run_engine(tool, "auto", &words, &self.file)?;
        let answer = match run.verdict() {
            "true" => format!("race-free, {:.1} s", run.seconds),
            verdict if verdict.starts_with("false") => format!("a race, {:.1} s", run.seconds),
            _ => format!("open after {:.0} s", run.seconds),
        };
        self.answers.insert(whole, answer.clone());
        Ok(answer)
    }
}

/// Writes the page.
pub fn circ(samples: &Path) -> Result<(), String> {
    let tool = measure::build()?;
    let mut page = Page::new("paper-1", "Paper 1: races in TinyOS applications (table 1)");
    page.line(&format!(
        "`threadproof verify --nesc --race VARIABLE`, {VARIABLE} s for each variable. A proof is for any number of interrupts, at any time that they are enabled, and was checked. Of the paper's applications, \
         `Surge` and `Sense` are at hand, from another version of TinyOS (their lines are counted below), each compiled for two platforms; `secureTosBase` is not. CIRC is given one variable and a model of the \
         hardware's interrupts by hand, here the program says when handlers may run. The paper's machine: 2 GHz, 512 MB.\n"
    ));
    let folder = samples.join("tinyos");
    let mut applications = Vec::new();
    for file in files(&folder, "c")? {
        applications.push(Application::read(&tool, file)?);
    }
    page.head(&["paper: application, lines", "variable", "predicates", "states", "time", "here"]);
    for (application, lines, name, predicates, states, time) in TABLE_1 {
        let at_hand = |found: &&mut Application| found.name.split('-').next() == Some(application);
        let mut ours = Vec::new();
        for found in applications.iter_mut().filter(at_hand) {
            let answer = found.ask(&tool, name)?;
            ours.push(format!("{}: {answer}", found.name));
        }
        let ours = if ours.is_empty() { "not at hand".to_owned() } else { ours.join("; ") };
        page.row(&[&format!("{application}, {lines}"), name, predicates, states, time, &ours]);
    }
    page.line("\nThe variables that nesC's own check warns about, in the applications that are at hand:\n");
    page.head(&["application", "variable", "here"]);
    for application in &mut applications {
        for name in application.warned.clone() {
            let answer = application.ask(&tool, &name)?;
            page.row(&[&application.name, &name, &answer]);
        }
    }
    page.line(&format!(
        "\nAll variables that the task loop and a handler share, or two handlers, at once (`--nesc` alone, {APPLICATION} s for an application):\n"
    ));
    page.head(&["application", "lines", "shared variables", "race-free", "races", "open", "seconds"]);
    for application in &applications {
        let listed = application.listed();
        let count =
            |start: &str| listed.iter().filter(|(_, answer)| answer.starts_with(start)).count().to_string();
        let lines = application.lines.to_string();
        let (all, seconds) = (listed.len().to_string(), format!("{:.1}", application.listing.seconds));
        page.row(&[
            &application.name,
            &lines,
            &all,
            &count("race-free"),
            &count("race,"),
            &count("unknown"),
            &seconds,
        ]);
    }
    page.finish()
}

/// A variable of a listing, and what is said of it.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (name, answer) = line.strip_prefix('`')?.split_once("`: ")?;
    Some((name, answer.trim_end_matches('.')))
}

/// The variables that nesC warns about. It names them without the component, which the name of the file is.
fn warned(warnings: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let (place, rest) = line.split_once(": warning: non-atomic accesses to shared variable `")?;
        let file = place.split(':').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        let component = file.strip_suffix(".nc")?;
        let (name, _) = rest.split_once('\'')?;
        Some(format!("{component}__{}", name.replace('$', "__")))
    };
    let mut found: Vec<String> = warnings.lines().filter_map(of_line).collect();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_listing_and_of_warnings() {
        let line = "`HPLClock__mscale`: race-free (by locks), 1.1 s.";
        assert_eq!(variable(line), Some(("HPLClock__mscale", "race-free (by locks), 1.1 s")));
        let warnings = "SurgeM.nc:66: warning: non-atomic accesses to shared variable `gData':\nSurgeM.nc:92: warning:   non-atomic read\n\
            tos/system/FramerM.nc:136: warning: non-atomic accesses to shared variable `gTxState':\n";
        assert_eq!(warned(warnings), ["SurgeM__gData", "FramerM__gTxState"]);
    }
}
