//! Paper 2 (abstract threads): the two tables of SPIN, and Threadproof with the specification beside them.

use super::page::Page;
use crate::bench::measure;
use crate::bench::plot::{Plot, Series};
use crate::bench::spec::{self, DRIVERS, Searched};

/// The paper's seconds for 1, 2, … threads, as it writes them: the concrete program, and the abstract one.
const PAPER: [(&str, [&str; 11], [&str; 11]); 2] = [
    (
        "bluetooth",
        ["0", "0", "0", "0.0225", "0.1833", "1.56", "19.26", "158.66", "n/a", "n/a", "n/a"],
        ["0", "0", "0", "0", "0.018", "0.12", "0.314", "1.246", "5.812", "39.04", "190.6"],
    ),
    (
        "battery",
        ["0", "0", "0.08", "1.042", "7.564", "54.28", "242.4", "929", "t/o", "t/o", ""],
        ["0", "0", "0", "0", "0.11", "0.51", "1.3", "3.29", "7.49", "19.2", ""],
    ),
];

/// Writes the page.
pub fn abstract_threads() -> Result<(), String> {
    let tool = measure::build()?;
    let mut page = Page::new("paper-2", "Paper 2: drivers with abstract threads, beside SPIN");
    page.line(&format!(
        "SPIN on the Promela models in `bench/promela`, written from the paper's figures (its own are not at hand), and `verify --spec` on the C program with its specification. Seconds of processor time: of SPIN's \
         search alone; of Threadproof for everything: reading, conformance of all threads with invariants that it finds itself, composition, and the check of the proof. Each run here has {} s of processor time and SPIN \
         {} MB; after a search that was cut off, larger ones are not run. In the paper `n/a` is more than 2 GB, `t/o` more than 20 minutes.\n\n\
         The paper's conformance checks took 33 s (Bluetooth, with a composition for two workers) and about two minutes (battery, with loop invariants by hand); SPIN can say nothing of any number of workers.",
        spec::SECONDS,
        spec::MEGABYTES
    ));
    for driver in DRIVERS {
        let paper = PAPER.iter().find(|(name, ..)| *name == driver.name).ok_or("a driver of no table")?;
        page.line(&format!("\n## {}\n", driver.title));
        if !driver.remark.is_empty() {
            page.line(&format!("{}\n", driver.remark));
        }
        page.head(&[
            "workers",
            "paper: SPIN, concrete",
            "here: SPIN, concrete",
            "paper: SPIN, abstract",
            "here: SPIN, abstract",
            "here: Threadproof",
            "on the clock",
        ]);
        let mut series = [
            Series::theirs("SPIN, concrete (paper)", 0),
            Series::ours("SPIN, concrete", 0),
            Series::theirs("SPIN, abstract (paper)", 1),
            Series::ours("SPIN, abstract", 1),
            Series::ours("Threadproof", 2),
        ];
        spec::measure_driver(&tool, &driver, |row| {
            let theirs = |column: &[&'static str; 11]| {
                row.workers
                    .map_or("not possible", |workers| column.get(workers - 1).copied().unwrap_or_default())
            };
            let workers = row.workers.map_or("any".to_owned(), |workers| workers.to_string());
            let [concrete, abstract_] = &row.spin;
            page.row(&[
                &workers,
                theirs(&paper.1),
                &concrete.to_string(),
                theirs(&paper.2),
                &abstract_.to_string(),
                &row.ours.to_string(),
                &format!("{:.2}", row.clock),
            ]);
            let Some(workers) = row.workers else { return };
            let number = |text: &str| text.parse::<f64>().ok();
            let done = |searched: &Searched| match searched {
                Searched::Done(seconds) => Some(*seconds),
                Searched::Cut(_) => None,
            };
            let points = [
                number(theirs(&paper.1)),
                done(concrete),
                number(theirs(&paper.2)),
                done(abstract_),
                done(&row.ours),
            ];
            for (series, seconds) in series.iter_mut().zip(points) {
                series.points.extend(seconds.map(|seconds| (workers as f64, seconds)));
            }
        })?;
        let title = format!("{}: processor time for n workers", driver.title);
        page.plot(driver.name, &Plot { title: &title, along: "workers" }, &series)?;
    }
    page.finish()
}
