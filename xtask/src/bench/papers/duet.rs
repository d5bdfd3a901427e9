//! Paper 4 (DUET), tables 1 and 2: device drivers, and Boolean programs, for any number of threads.

use super::files;
use super::page::Page;
use crate::bench::measure;
use crate::bench::samples::decided;
use std::path::Path;

/// Table 1: the driver, its assertions, those proved with intervals and the time, those proved with octagons
/// and the time.
const TABLE_1: [(&str, &str, &str, &str); 16] = [
    ("i8xx_tco", "90", "75, 1m51s", "71, 1m25s"),
    ("ib700wdt", "75", "64, 30s", "64, 20s"),
    ("machzwd", "87", "73, 39s", "67, 14m44s"),
    ("mixcomwd", "91", "72, 22s", "74, 25s"),
    ("pcwd", "240", "147, 2m43s", "145, 23m48s"),
    ("pcwd_pci", "204", "187, 2m18s", "188, 2m59s"),
    ("sbc60xxwdt", "91", "77, 28s", "69, 11m27s"),
    ("sc520_wdt", "85", "71, 28s", "65, 13m20s"),
    ("sc1200wdt", "77", "66, 34s", "66, 33s"),
    ("smsc37b787_wdt", "93", "80, 47s", "80, 47s"),
    ("w83877f_wdt", "92", "78, 29s", "72, 13m24s"),
    ("w83977f_wdt", "101", "90, 34s", "82, 34s"),
    ("wdt", "99", "88, 25s", "86, 25s"),
    ("wdt977", "88", "77, 27s", "75, 28s"),
    ("wdt_pci", "84", "67, 33s", "66, 5m33s"),
    ("total", "1597", "1312, 13m9s", "1277, 90m21s"),
];

/// The last row of table 2: who, and how many programs are proved, refuted (by LI) or not proved (by DUET),
/// unknown, and out of time.
const TABLE_2: [(&str, &str, &str, &str, &str); 3] = [
    ("paper: LI (Getafix)", "1382", "248", "292", "1494"),
    ("paper: DUET, octagons", "2503", "870 not proved", "", "43"),
    ("paper: DUET, intervals", "1647", "1735 not proved", "", "34"),
];

/// Seconds for a Boolean program.
const BOOLEAN: &str = "10";

/// Writes the page.
pub fn duet(samples: &Path) -> Result<(), String> {
    let tool = measure::build()?;
    let mut page = Page::new("paper-4", "Paper 4: device drivers for any number of threads (tables 1 and 2)");
    drivers(&tool, samples, &mut page)?;
    booleans(&tool, samples, &mut page)?;
    page.finish()
}

fn drivers(tool: &Path, samples: &Path, page: &mut Page) -> Result<(), String> {
    page.line(
        "## Table 1\n\n`--engine flow` on the drivers that are at hand (merged by DDVerify, as the paper's were), for any number of threads. The paper's assertions are checks of array bounds and overflow that `goto-cc` puts into the \
         program; that is not at hand, so the two counts are not of the same checks. *Assertions* are those that DDVerify puts in, once for each chain of calls, as the paper counts. Bounds and overflow are our own checks (`--check`): every access and \
         every signed operation. The drivers call functions of the kernel that are not modelled, so what is proved holds if these leave the driver's memory alone; the verdict is `unknown` and says so. Proved, of how many, and seconds:\n",
    );
    page.head(&[
        "driver",
        "paper: assertions",
        "paper: proved, intervals",
        "paper: proved, octagons",
        "here: assertions",
        "here: bounds",
        "here: overflow",
    ]);
    let at_hand = files(&samples.join("drivers"), "c")?;
    let name_of = |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut rows: Vec<(String, [&str; 3])> =
        TABLE_1.iter().map(|row| (row.0.to_owned(), [row.1, row.2, row.3])).collect();
    for file in &at_hand {
        let name = name_of(file);
        if rows.iter().all(|row| row.0 != name) {
            rows.push((name, ["not in the table", "", ""]));
        }
    }
    for (name, [assertions, intervals, octagons]) in rows {
        let mut ours = Vec::new();
        if let Some(file) = at_hand.iter().find(|file| name_of(file) == name) {
            for check in ["assertions", "bounds", "overflow"] {
                let words = ["--check", check, "--timeout", "20", "--memory", "4096"];
                let run = measure::run(tool, &words, file)?;
                ours.push(match decided(&run.output) {
                    Some((proved, checks)) => format!("{proved} of {checks}, {:.1} s", run.seconds),
                    None if run.verdict() == "true" => format!("all, {:.1} s", run.seconds),
                    None => format!("open, {:.1} s", run.seconds),
                });
            }
        }
        let ours = |at: usize| ours.get(at).map_or("", String::as_str);
        let first = match (name.as_str(), ours(0)) {
            ("total", _) => "",
            (_, "") => "not at hand",
            (_, answer) => answer,
        };
        page.row(&[&name, assertions, intervals, octagons, first, ours(1), ours(2)]);
    }
    Ok(())
}

fn booleans(tool: &Path, samples: &Path, page: &mut Page) -> Result<(), String> {
    page.line(&format!(
        "\n## Table 2\n\nThe paper's 3,416 Boolean programs, which SatAbs made of 14 drivers, are not at hand; here are programs in the dialects of the same tools (Boom, SatAbs, Getafix), {BOOLEAN} s each (the paper: 5 minutes). \
         A program that the paper's analysis does not prove may be right or wrong; here *refuted* comes with an execution.\n"
    ));
    page.head(&["programs", "number", "proved", "refuted", "unknown", "out of time", "seconds in all"]);
    for (who, proved, refuted, unknown, late) in TABLE_2 {
        page.row(&[who, "3416", proved, refuted, unknown, late, ""]);
    }
    for kind in ["boom", "boom-reduced", "getafix"] {
        let (mut number, mut proved, mut refuted, mut late, mut seconds) = (0, 0, 0, 0, 0.0);
        for file in files(&samples.join("boolean").join(kind), "bp")? {
            let words = ["--check", "assertions", "--timeout", BOOLEAN];
            let run = measure::run_engine(tool, "auto", &words, &file)?;
            number += 1;
            proved += u32::from(run.verdict() == "true");
            refuted += u32::from(run.verdict().starts_with("false"));
            late += u32::from(run.verdict().contains("out of time"));
            seconds += run.seconds;
        }
        let unknown = number - proved - refuted - late;
        let counts = [number, proved, refuted, unknown, late].map(|count: u32| count.to_string());
        let [number, proved, refuted, unknown, late] = counts.each_ref().map(String::as_str);
        let who = format!("here: {kind}");
        page.row(&[&who, number, proved, refuted, unknown, late, &format!("{seconds:.1}")]);
    }
    Ok(())
}
