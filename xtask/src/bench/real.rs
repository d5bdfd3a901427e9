//! Real programs: `cargo xtask bench real SAMPLES` lists the shared memory of each and writes
//! `docs/benchmarks/real.md`.
//!
//! SAMPLES holds C programs of one file each, and `KNOWN.csv` (program, location, known, why): what people
//! found out by hand about single locations. Neither is part of the repository.

use super::measure;
use super::papers::{Page, files};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What one run may take.
const SECONDS: &str = "120";
const MEGABYTES: &str = "4096";
/// The samples are for 64 bits.
const DATA_MODEL: &str = "LP64";
/// What a location can be, as reports call it.
const STATUSES: [&str; 4] = ["race-free", "race", "possible", "open"];

/// A listed location.
struct Location {
    name: String,
    line: u64,
    status: String,
}

/// What people know of a location.
struct Known {
    program: String,
    location: String,
    known: String,
}

/// Writes the page.
pub fn real(samples: &Path) -> Result<(), String> {
    let tool = measure::build()?;
    let mut page = Page::new("real", "Real programs: every shared memory location");
    page.line(&format!(
        "`threadproof verify --check races --data-model {DATA_MODEL} --timeout {SECONDS} --memory {MEGABYTES}` on each program, one after the other. \
         Columns: lines of source, seconds on the clock, memory, functions and thread starts that are reached of how many, the \
         shared locations by status, whether the listing has all of them, the part of the seconds in which evidence was checked, and \
         what the locations that people looked at are listed as: as they found, as open, or otherwise.\n"
    ));
    page.head(&[
        "program",
        "lines",
        "seconds",
        "MB",
        "functions",
        "thread starts",
        "shared",
        "race-free",
        "race",
        "possible",
        "open",
        "complete",
        "checking",
        "as known / open / otherwise",
        "verdict",
    ]);
    let known = known(samples)?;
    let mut listed: BTreeMap<String, Vec<Location>> = BTreeMap::new();
    let mut sums = [0usize; STATUSES.len()];
    for file in files(samples, "c")? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let words = [
            "--check",
            "races",
            "--data-model",
            DATA_MODEL,
            "--timeout",
            SECONDS,
            "--memory",
            MEGABYTES,
            "--format",
            "json",
        ];
        let run = measure::run_engine(&tool, "auto", &words, &file)?;
        let report: Value = serde_json::from_str(&run.output).unwrap_or(Value::Null);
        let locations = locations(&report);
        let counts = STATUSES.map(|status| locations.iter().filter(|one| one.status == status).count());
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        let reached = |part: &str, whole: &str| match (&report["reached"][part], &report["reached"][whole]) {
            (Value::Number(part), Value::Number(whole)) => format!("{part} of {whole}"),
            _ => String::new(),
        };
        let lines = std::fs::read(&file).map_or(0, |text| text.split(|byte| *byte == b'\n').count());
        let numbers = counts.map(|count| count.to_string());
        page.row(&[
            &name,
            &lines.to_string(),
            &format!("{:.1}", run.seconds),
            &run.megabytes.to_string(),
            &reached("functions", "of_functions"),
            &reached("thread_starts", "of_thread_starts"),
            &locations.len().to_string(),
            &numbers[0],
            &numbers[1],
            &numbers[2],
            &numbers[3],
            if report["incomplete"].is_string() || report["locations"].is_null() { "no" } else { "yes" },
            &format!("{:.0}%", 100.0 * checking(&report) / run.seconds.max(0.001)),
            &agreement(&known, &name, &locations),
            report["verdict"].as_str().unwrap_or("none"),
        ]);
        listed.insert(name, locations);
    }
    let all: usize = sums.iter().sum();
    let percent = 100.0 * sums[0] as f64 / all.max(1) as f64;
    page.line(&format!("\nOf {all} shared locations {} are race-free ({percent:.0}%).\n", sums[0]));
    compare(&known, &listed, &mut page);
    page.finish()
}

/// The seconds in which evidence was checked.
fn checking(report: &Value) -> f64 {
    let checks = report["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let tries =
        checks.iter().flat_map(|check| check["tries"].as_array().map(Vec::as_slice).unwrap_or_default());
    tries.filter_map(|tried| tried["checking_seconds"].as_f64()).sum()
}

/// How many locations that people looked at are listed as they found, as open, and otherwise.
fn agreement(known: &[Known], program: &str, locations: &[Location]) -> String {
    let mut counts = [0; 3];
    for row in known.iter().filter(|row| row.program == program) {
        for location in locations.iter().filter(|location| is_meant(&row.location, location)) {
            let place = match (location.status.as_str(), row.known.as_str()) {
                ("open", _) => 1,
                ("race" | "possible", "race") => 0,
                (status, known) if status == known => 0,
                (_, _) => 2,
            };
            counts[place] += 1;
        }
    }
    match counts {
        [0, 0, 0] => String::new(),
        [right, open, otherwise] => format!("{right} / {open} / {otherwise}"),
    }
}

/// The locations of a report.
fn locations(report: &Value) -> Vec<Location> {
    let entries = report["locations"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let location = |entry: &Value| {
        let declared = &entry["declared"];
        let line = declared["line"].as_u64().or_else(|| {
            // As text: file:line:column.
            declared.as_str()?.rsplit(':').nth(1)?.parse().ok()
        });
        Location { name: text(&entry["name"]), line: line.unwrap_or(0), status: text(&entry["status"]) }
    };
    entries.iter().map(location).collect()
}

/// What people know.
fn known(samples: &Path) -> Result<Vec<Known>, String> {
    let path = samples.join("KNOWN.csv");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let row = |line: &str| {
        let mut cells = line.splitn(4, ',');
        let mut next = || cells.next().unwrap_or_default().trim().to_owned();
        Known { program: next(), location: next(), known: next() }
    };
    Ok(text.lines().skip(1).filter(|line| !line.trim().is_empty()).map(row).collect())
}

/// Compares what is listed with what is known.
fn compare(known: &[Known], listed: &BTreeMap<String, Vec<Location>>, page: &mut Page) {
    page.line("## What people found out by hand\n\nLocations are matched by name and by the line of the declaration or allocation.\n");
    page.head(&["program", "location", "known", "listed as"]);
    for row in known {
        let locations = listed.get(&row.program).map(Vec::as_slice).unwrap_or_default();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for location in locations.iter().filter(|location| is_meant(&row.location, location)) {
            *counts.entry(&location.status).or_default() += 1;
        }
        let found: Vec<String> = counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
        let found = if found.is_empty() { "not listed".to_owned() } else { found.join(", ") };
        page.row(&[&row.program, &row.location, &row.known, &found]);
    }
}

/// Whether words about a location, such as `jobqueue fields rear/front/len (allocated line 310)`, are about a
/// listed one.
fn is_meant(words: &str, location: &Location) -> bool {
    let (names, place) = match words.split_once("allocated line") {
        Some((names, place)) => (names, Some(place)),
        None => (words, None),
    };
    let at_line = place.is_none_or(|place| {
        let numbers = place.split(|letter: char| !letter.is_ascii_digit());
        // Where the address is stored, which is the line after the call in programs that were put together by
        // a tool.
        let is_there = |line: u64| line == location.line || line == location.line + 1;
        numbers.filter_map(|number| number.parse::<u64>().ok()).any(is_there)
    });
    let identifiers = |text: &str| -> Vec<String> {
        let parts = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    // The last part of each path is the member or variable that is meant; plain words describe it.
    let described = ["fields", "structures", "and", "jobs", "thread"];
    let paths = names.split(|letter: char| letter.is_whitespace() || letter == '/' || letter == '(');
    let meant: Vec<String> =
        paths.filter(|path| !described.contains(path)).filter_map(|path| identifiers(path).pop()).collect();
    let of_location = identifiers(&location.name);
    at_line && (meant.is_empty() || meant.iter().any(|name| of_location.contains(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(name: &str, line: u64) -> Location {
        Location { name: name.to_owned(), line, status: "open".to_owned() }
    }

    #[test]
    fn words_about_locations_are_understood() {
        let jobs = "jobqueue fields rear/front/len (allocated line 310)";
        assert!(is_meant(jobs, &location("thpool_->jobqueue.front", 310)));
        assert!(is_meant(jobs, &location("thpool_->jobqueue.front", 309)));
        assert!(!is_meant(jobs, &location("thpool_->jobqueue.front", 311)));
        assert!(!is_meant(jobs, &location("thpool_->num_threads_alive", 310)));
        assert!(is_meant("allocated lines 3126 and 3364", &location("anything", 3364)));
        assert!(is_meant("threads_on_hold", &location("threads_on_hold", 1)));
        assert!(!is_meant("threads_on_hold", &location("threads_keepalive", 1)));
        assert!(is_meant("t.func and t.data", &location("t.data", 5)));
    }
}
