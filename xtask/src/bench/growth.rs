//! How time grows with the size of a program: a family of programs with `n` thread templates of `m` blocks
//! each.

use super::measure;
use super::papers::Page;
use super::plot::{Plot, Series};
use std::fmt::Write;
use std::path::Path;

/// Locks and counters that all threads share.
const COUNTERS: usize = 4;
/// Thread templates.
const TEMPLATES: [usize; 3] = [1, 2, 4];
/// Blocks in each.
const BLOCKS: [usize; 4] = [10, 20, 40, 80];
/// Each point is the least of so many runs.
const REPEATS: usize = 3;

/// A program of the family. Each block takes a lock, counts up or down between two limits, asserts these, and
/// has a loop over a local.
fn program(templates: usize, blocks: usize) -> String {
    let mut text =
        String::from("#include <assert.h>\n#include <pthread.h>\nextern int __VERIFIER_nondet_int(void);\n");
    for counter in 0..COUNTERS {
        let _ =
            writeln!(text, "pthread_mutex_t lock{counter} = PTHREAD_MUTEX_INITIALIZER;\nint count{counter};");
    }
    for template in 0..templates {
        let _ = writeln!(text, "void *worker{template}(void *arg) {{\n  int i;");
        for block in 0..blocks {
            let counter = (template + block) % COUNTERS;
            let (guard, step) = match block % 2 {
                0 => ("< 100", "+ 1"),
                _ => ("> 0", "- 1"),
            };
            let _ = writeln!(
                text,
                "  pthread_mutex_lock(&lock{counter});\n  \
                 if (count{counter} {guard}) count{counter} = count{counter} {step};\n  \
                 assert(count{counter} >= 0 && count{counter} <= 100);\n  \
                 pthread_mutex_unlock(&lock{counter});\n  \
                 for (i = 0; i < {}; i++) if (__VERIFIER_nondet_int()) break;\n  assert(i <= 50);",
                10 + block % 40
            );
        }
        let _ = writeln!(text, "  return arg;\n}}");
    }
    let _ = writeln!(text, "int main(void) {{\n  pthread_t t;\n  while (__VERIFIER_nondet_int()) {{");
    for template in 0..templates {
        let _ = writeln!(text, "    pthread_create(&t, 0, worker{template}, 0);");
    }
    text.push_str("  }\n  return 0;\n}\n");
    text
}

/// The slope of the line through the logarithms of points: the exponent of growth.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0);
    for (size, seconds) in points {
        let (a, b) = (size.ln(), seconds.ln());
        (x, y, xx, xy) = (x + a, y + b, xx + a * a, xy + a * b);
    }
    (count * xy - x * y) / (count * xx - x * x)
}

/// Writes the page with the tables of times, the exponents, and plots.
pub fn growth() -> Result<(), String> {
    let tool = measure::build()?;
    let file = std::env::temp_dir().join(format!("threadproof-growth-{}.c", std::process::id()));
    let mut page = Page::new("growth", "How the cost of proofs grows with the size of a program");
    page.line(
        "n thread templates of m blocks each, any number of threads of each template. A block takes one of four locks, counts a shared counter up or down between two limits, asserts these, and has a loop over a local with an assertion after \
         it. `--engine flow`, with the check of the proof; seconds of processor time. `cargo xtask bench growth`.",
    );
    for check in ["assertions", "races"] {
        let heads: Vec<String> = BLOCKS.iter().map(|blocks| format!("m = {blocks}")).collect();
        page.line(&format!("\n## {check}\n"));
        let heads: Vec<&str> = ["n"].into_iter().chain(heads.iter().map(String::as_str)).collect();
        page.head(&[&heads[..], &["exponent in m"]].concat());
        let (mut all, mut series) = (Vec::new(), Vec::new());
        for (colour, n) in TEMPLATES.into_iter().enumerate() {
            let (mut points, mut cells) = (Vec::new(), vec![n.to_string()]);
            for m in BLOCKS {
                std::fs::write(&file, program(n, m)).map_err(|error| error.to_string())?;
                let (seconds, verdict) = best(&tool, check, &file)?;
                let mark = if verdict == "true" { "" } else { " (not proved)" };
                cells.push(format!("{seconds:.2}{mark}"));
                points.push(((n * m) as f64, seconds));
            }
            cells.push(format!("{:.2}", exponent(&points)));
            page.row(&cells.iter().map(String::as_str).collect::<Vec<_>>());
            all.extend(points.iter().copied());
            series.push(Series { points, ..Series::ours(format!("n = {n}"), colour) });
        }
        page.line(&format!("\nOver all points, in n times m: {:.2}.", exponent(&all)));
        let title = format!("{check}: processor time for n times m blocks");
        page.plot(check, &Plot { title: &title, along: "n times m" }, &series)?;
    }
    let _ = std::fs::remove_file(&file);
    page.finish()
}

/// The least processor time of some runs, and the verdict.
fn best(tool: &Path, check: &str, file: &Path) -> Result<(f64, String), String> {
    let mut best = f64::INFINITY;
    let mut verdict = String::new();
    for _ in 0..REPEATS {
        let run = measure::run(tool, &["--check", check, "--timeout", "120"], file)?;
        best = best.min(run.processor.max(0.01));
        verdict = run.verdict().to_owned();
        if best > 2.0 {
            break;
        }
    }
    Ok((best, verdict))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_of_powers() {
        let squares: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0].map(|x| (x, 3.0 * x * x)).to_vec();
        assert!((exponent(&squares) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn programs_grow() {
        assert!(program(2, 3).contains("worker1"));
        assert!(program(2, 30).len() > 5 * program(2, 3).len());
    }
}
