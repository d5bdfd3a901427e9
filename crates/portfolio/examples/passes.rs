//! How often each view of a program is asked for, how often it is derived, and how often each pass runs for
//! that: `cargo run --release -p threadproof-portfolio --example passes -- [SECONDS] FILE…`, or `cargo xtask
//! bench passes FILE…`.
//!
//! The portfolio answers for assertions and for races with one job, as `threadproof verify --jobs 1` does,
//! and the listing for the report is made. Before views were shared, whoever asked for one derived it; so the
//! time saved is at least what all but one of them would have taken.

use ir::passes::Counted;
use portfolio::Portfolio;
use portfolio::pipeline;
use std::collections::BTreeMap;
use verdict::{Budget, Check};

/// Seconds for each check, if no others are named.
const SECONDS: f64 = 10.0;

fn main() -> Result<(), String> {
    let mut words = std::env::args().skip(1).peekable();
    let seconds = words.peek().and_then(|word| word.parse::<f64>().ok());
    if seconds.is_some() {
        words.next();
    }
    let seconds = seconds.unwrap_or(SECONDS);
    println!("| file | view or pass | asked for | made | seconds | seconds saved, at least |");
    println!("|---|---|---|---|---|---|");
    for file in words {
        let counts = counts(&file, seconds)?;
        for (name, counted) in &counts {
            let Counted { asked, made, time } = counted;
            let each = time.as_secs_f64() / f64::from((*made).max(1));
            let saved = each * f64::from(asked.saturating_sub(*made));
            let saved = if name.starts_with("view") { format!("{saved:.3}") } else { String::new() };
            println!("| {file} | {name} | {asked} | {made} | {:.3} | {saved} |", time.as_secs_f64());
        }
    }
    Ok(())
}

/// What is asked for and made while a program is verified, for both checks together.
fn counts(file: &str, seconds: f64) -> Result<BTreeMap<&'static str, Counted>, String> {
    let text = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let source = frontend_c::Source { name: file.to_owned(), text };
    let program = frontend_c::read(&[source], &frontend_c::Options::default())
        .map_err(|problems| format!("{file}: {problems:?}"))?;
    let mut all: BTreeMap<&'static str, Counted> = BTreeMap::new();
    for check in [Check::Assertions, Check::Races] {
        let prepared = pipeline::prepare(&program, check);
        let portfolio = Portfolio { jobs: 1, ..Portfolio::default() };
        portfolio.verify_prepared(&prepared, check, &Budget::seconds(seconds));
        // What cannot be listed was asked for all the same.
        let _ = engine_flow::listing(&prepared, &Budget::seconds(seconds));
        for (name, counted) in prepared.log().counts() {
            let sum = all.entry(name).or_default();
            sum.asked += counted.asked;
            sum.made += counted.made;
            sum.time += counted.time;
        }
    }
    Ok(all)
}
