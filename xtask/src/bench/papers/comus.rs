//! Paper 5 (CoMuS), figures 9.1 and 9.2: families of programs with n threads.

use super::page::Page;
use crate::bench::families;
use crate::bench::measure;
use crate::bench::plot::{Plot, Series};
use std::path::{Path, PathBuf};

/// A row of a figure: the family, its name there, n, and the paper's seconds, as it writes them: CoMuS and
/// the best of the other tools for the safe version, and for the broken one. Empty: not in the paper.
type Row = (&'static str, &'static str, usize, [&'static str; 4]);

/// Figure 9.1; the others are Threader, VVT and UL-CSeq.
const FIGURE_9_1: [Row; 16] = [
    ("matrix", "mat", 2, ["2.83", "0.39", "1.25", "0.28"]),
    ("matrix", "mat", 3, ["13.18", "1.82", "2.92", "0.39"]),
    ("matrix", "mat", 4, ["36.33", "32.84", "4.94", "1.01"]),
    ("matrix", "mat", 5, ["70.75", "193.64", "15.26", "2.52"]),
    ("matrix", "mat", 6, ["215.04", "346.2", "17.64", "5.72"]),
    ("matrix", "mat", 7, ["578.25", "T/O", "23.52", "13.21"]),
    ("pascal", "pas", 2, ["0.72", "0.41", "1.27", "0.17"]),
    ("pascal", "pas", 3, ["13.93", "6.13", "8.45", "0.59"]),
    ("pascal", "pas", 4, ["131.65", "359.48", "18.04", "3.63"]),
    ("pascal", "pas", 5, ["T/O", "T/O", "50.48", "19.21"]),
    ("longest", "long", 2, ["0.53", "0.12", "0.43", "0.1"]),
    ("longest", "long", 3, ["6.98", "0.96", "8.95", "0.21"]),
    ("longest", "long", 4, ["42.39", "108.17", "54.03", "1.16"]),
    ("longest", "long", 5, ["197.49", "1520.05", "414.33", "67.1"]),
    ("longest", "long", 6, ["3077.29", "T/O", "2389.44", "395.91"]),
    (PETERSON, "Pet", 2, ["17.95", "0.32", "-", "-"]),
];

/// Figure 9.2; the others are Threader and VVT. It has no broken versions.
const FIGURE_9_2: [Row; 16] = [
    ("ring", "ring", 2, ["6.23", "4.03", "", ""]),
    ("ring", "ring", 3, ["111.32", "681.57", "", ""]),
    ("ring", "ring", 4, ["T/O", "T/O", "", ""]),
    ("ring", "ring", 5, ["T/O", "T/O", "", ""]),
    ("ring", "ring", 6, ["T/O", "T/O", "", ""]),
    ("ring", "ring", 7, ["T/O", "T/O", "", ""]),
    ("ring", "ring", 8, ["T/O", "T/O", "", ""]),
    ("chain", "chain", 2, ["1.98", "2.84", "", ""]),
    ("chain", "chain", 3, ["7.31", "387.11", "", ""]),
    ("chain", "chain", 4, ["20.21", "T/O", "", ""]),
    ("chain", "chain", 5, ["53.71", "T/O", "", ""]),
    ("chain", "chain", 6, ["123.53", "T/O", "", ""]),
    ("chain", "chain", 7, ["307.3", "T/O", "", ""]),
    ("chain", "chain", 8, ["680.99", "T/O", "", ""]),
    ("chain", "chain", 10, ["", "", "", ""]),
    ("chain", "chain", 12, ["", "", "", ""]),
];

/// The running example of the thesis, which is a test program.
const PETERSON: &str = "peterson";

/// Seconds for a proof by any engine, for one by `queries` alone, and for a refutation.
const SECONDS: [u32; 3] = [60, 20, 20];

/// Runs programs; after one that is not decided, larger ones of its family are not run.
struct Runner {
    tool: PathBuf,
    file: PathBuf,
    /// The family of the last program that was not decided, for each kind of run.
    cut: [Option<&'static str>; 3],
    wrong: Vec<String>,
}

impl Runner {
    /// Seconds; or why there are none.
    fn run(
        &mut self,
        kind: usize,
        family: &'static str,
        threads: usize,
    ) -> Result<Result<f64, String>, String> {
        if self.cut[kind] == Some(family) {
            return Ok(Err("not run".to_owned()));
        }
        let safe = kind < 2;
        let text = match family {
            PETERSON => {
                std::fs::read_to_string(crate::root().join("tests/programs/papers/comus-figure4-2.c"))
                    .map_err(|error| error.to_string())?
            }
            _ => families::program(family, threads, safe).ok_or("a family that is not there")?,
        };
        std::fs::write(&self.file, text).map_err(|error| error.to_string())?;
        let engine = if kind == 1 { "queries" } else { "auto" };
        let limit = SECONDS[kind].to_string();
        let words = ["--check", "assertions", "--timeout", &limit];
        let run = measure::run_engine(&self.tool, engine, &words, &self.file)?;
        let (expected, opposite) = if safe { ("true", "false") } else { ("false", "true") };
        if run.verdict().starts_with(opposite) {
            self.wrong.push(format!("{family} {threads} {}", run.verdict()));
        }
        if run.verdict().starts_with(expected) {
            return Ok(Ok(run.seconds));
        }
        self.cut[kind] = Some(family);
        Ok(Err(format!("none, {:.0} s", run.seconds)))
    }
}

/// Writes the page.
pub fn comus() -> Result<(), String> {
    let file = std::env::temp_dir().join(format!("threadproof-comus-{}.c", std::process::id()));
    let tool = measure::build()?;
    let mut page = Page::new("paper-5", "Paper 5: families of programs with n threads (figures 9.1 and 9.2)");
    let [all, queries, broken] = SECONDS;
    page.line(&format!(
        "Seconds on the clock. The programs are made from the text of the thesis (`cargo xtask bench family NAME N safe|unsafe` prints them); its own are not at hand. The thesis gave 3,600 s for figure 9.1 and 1,200 s for figure 9.2 (`T/O`); here \
         proofs have {all} s, `queries` alone (CoMuS's method) {queries} s, refutations {broken} s. Behind a program that is not decided, larger ones of its family are not run. *Others* is the best of Threader, VVT and UL-CSeq (figure 9.2: of the first \
         two). The thesis has broken versions in figure 9.1 only. Empty: not in the thesis."
    ));
    let mut runner = Runner { tool, file, cut: [None; 3], wrong: Vec::new() };
    figure(&mut page, &mut runner, "9.1", "dynamic programming", &FIGURE_9_1)?;
    figure(&mut page, &mut runner, "9.2", "ring and chain", &FIGURE_9_2)?;
    let Runner { file, wrong, .. } = runner;
    let _ = std::fs::remove_file(Path::new(&file));
    page.finish()?;
    if wrong.is_empty() { Ok(()) } else { Err(format!("wrong verdicts: {}", wrong.join(", "))) }
}

fn figure(
    page: &mut Page,
    runner: &mut Runner,
    number: &str,
    what: &str,
    rows: &[Row],
) -> Result<(), String> {
    page.line(&format!("\n## Figure {number}: {what}\n"));
    page.head(&[
        "class",
        "threads",
        "CoMuS, safe",
        "others, safe",
        "here, safe",
        "here, safe, `queries`",
        "CoMuS, unsafe",
        "others, unsafe",
        "here, unsafe",
    ]);
    let mut series: Vec<Series> = Vec::new();
    for (family, class, threads, [safe, others, broken, broken_others]) in rows {
        let proved = runner.run(0, family, *threads)?;
        let by_queries = runner.run(1, family, *threads)?;
        // The thesis has no broken version of its running example.
        let refuted =
            if *family == PETERSON { Err(String::new()) } else { runner.run(2, family, *threads)? };
        let show = |seconds: &Result<f64, String>| match seconds {
            Ok(seconds) => format!("{seconds:.2}"),
            Err(why) => why.clone(),
        };
        page.row(&[
            class,
            &threads.to_string(),
            safe,
            others,
            &show(&proved),
            &show(&by_queries),
            broken,
            broken_others,
            &show(&refuted),
        ]);
        if *family == PETERSON {
            continue;
        }
        if series.last().is_none_or(|series| series.name != *class) {
            let colour = series.len() / 2;
            series.extend([Series::theirs(format!("{class} (CoMuS)"), colour), Series::ours(*class, colour)]);
        }
        let pair = series.len() - 2;
        for (series, seconds) in series[pair..].iter_mut().zip([safe.parse().ok(), proved.ok()]) {
            series.points.extend(seconds.map(|seconds: f64| (*threads as f64, seconds)));
        }
    }
    let title = format!("Figure {number}, safe versions: seconds for n threads");
    let name = format!("figure-{}", number.replace('.', "-"));
    page.plot(&name, &Plot { title: &title, along: "threads" }, &series)
}
