//! How the cost of a listing grows with the size of a whole program, from 1,000 to 100,000 lines: `cargo
//! xtask bench size`.
//!
//! A program consists of modules, each with a list, a lock and counters of its own. Modules call one another
//! directly and through tables of functions, and a few kinds of threads run all of them.

use super::growth::exponent;
use super::measure;
use super::papers::Page;
use super::plot::{Plot, Series};
use serde_json::Value;
use std::fmt::Write;

/// The lines of the programs, about.
const LINES: [usize; 5] = [1_000, 3_000, 10_000, 30_000, 100_000];
/// The kinds of threads.
const WORKERS: usize = 4;
/// The modules that one table of functions is for.
const GROUP: usize = 8;
/// What one run may take.
const SECONDS: &str = "120";
const MEGABYTES: &str = "4096";

/// The lines of one module.
const MODULE: &str = "\
struct item@ {
  int key;
  int value;
  struct item@ *next;
};
static struct item@ *head@;
static pthread_mutex_t lock@ = PTHREAD_MUTEX_INITIALIZER;
static int count@;
static int total@;
static struct item@ *make@(int key) {
  struct item@ *item = malloc(sizeof *item);
  if (!item)
    exit(1);
  item->key = key;
  item->value = key / 2;
  item->next = 0;
  return item;
}
static void insert@(struct item@ *item) {
  pthread_mutex_lock(&lock@);
  item->next = head@;
  head@ = item;
  count@++;
  pthread_mutex_unlock(&lock@);
}
static int find@(int key) {
  int found = 0;
  pthread_mutex_lock(&lock@);
  for (struct item@ *item = head@; item; item = item->next)
    if (item->key == key) {
      found = item->value;
      break;
    }
  pthread_mutex_unlock(&lock@);
  return found;
}
static int step@(int n) {
  int sum = 0;
  for (int key = 0; key < n; key++) {
    insert@(make@(key));
    sum += find@(key);
  }
  if (sum > 100)
    sum = step%(sum % 7);
  pthread_mutex_lock(&lock@);
  total@ += sum % 3;
  pthread_mutex_unlock(&lock@);
  return sum;
}
";

/// A program of so many modules.
fn program(modules: usize) -> String {
    let mut text =
        String::from("#include <pthread.h>\n#include <stdlib.h>\nstatic int step(int n) {\n  return n;\n}\n");
    for module in 0..modules {
        // The modules are a tree, so that calls are not deeply nested.
        let parent = if module == 0 { String::new() } else { (module / 2).min(module - 1).to_string() };
        text.push_str(&MODULE.replace('@', &module.to_string()).replace("step%", &format!("step{parent}")));
        if module % GROUP == GROUP - 1 {
            let group = module / GROUP;
            let _ = writeln!(text, "static int (*const table{group}[{GROUP}])(int) = {{");
            for member in module + 1 - GROUP..=module {
                let _ = writeln!(text, "  step{member},");
            }
            let _ = writeln!(
                text,
                "}};\nstatic int any{group}(int n) {{\n  return table{group}[n % {GROUP}u](n);\n}}"
            );
        }
    }
    for worker in 0..WORKERS {
        let _ = writeln!(text, "static void *worker{worker}(void *argument) {{\n  int sum = 1;");
        for module in (worker..modules).step_by(WORKERS) {
            let _ = writeln!(text, "  sum += step{module}(sum % 5);");
        }
        for group in (worker..modules / GROUP).step_by(WORKERS) {
            let _ = writeln!(text, "  sum += any{group}(sum);");
        }
        let _ = writeln!(text, "  return argument;\n}}");
    }
    let _ = writeln!(text, "int main(void) {{\n  pthread_t thread;\n  for (int i = 0; i < 2; i++) {{");
    for worker in 0..WORKERS {
        let _ = writeln!(text, "    pthread_create(&thread, 0, worker{worker}, 0);");
    }
    text.push_str("  }\n  return 0;\n}\n");
    text
}

/// Writes the page.
pub fn size() -> Result<(), String> {
    let tool = measure::build()?;
    let file = std::env::temp_dir().join(format!("threadproof-size-{}.c", std::process::id()));
    let mut page = Page::new("size", "How the cost of a listing grows with the size of a program");
    page.line(&format!(
        "Programs of modules that call one another, directly and through tables of functions. Each has a list, a lock and \
         counters; {WORKERS} kinds of threads run all of them. `--engine summaries --check races --timeout {SECONDS} \
         --memory {MEGABYTES}`, with the check of what is proved; seconds of processor time. `cargo xtask bench size`.\n"
    ));
    page.head(&["lines", "seconds", "MB", "shared", "race-free", "complete"]);
    let mut points = Vec::new();
    for lines in LINES {
        let text = program(lines / MODULE.lines().count());
        std::fs::write(&file, &text).map_err(|error| error.to_string())?;
        let words = ["--check", "races", "--timeout", SECONDS, "--memory", MEGABYTES, "--format", "json"];
        let run = measure::run_engine(&tool, "summaries", &words, &file)?;
        let report: Value = serde_json::from_str(&run.output).unwrap_or(Value::Null);
        let locations = report["locations"].as_array().map(Vec::as_slice).unwrap_or_default();
        let free = locations.iter().filter(|location| location["status"] == "race-free").count();
        let is_whole = report["incomplete"].is_null() && report["locations"].is_array();
        let lines = text.lines().count();
        page.row(&[
            &lines.to_string(),
            &format!("{:.2}", run.processor),
            &run.megabytes.to_string(),
            &locations.len().to_string(),
            &free.to_string(),
            if is_whole { "yes" } else { "no" },
        ]);
        points.push((lines as f64, run.processor.max(0.01)));
    }
    let _ = std::fs::remove_file(&file);
    page.line(&format!("\nExponent of growth: {:.2}.", exponent(&points)));
    let plot = Plot { title: "Processor time by lines", along: "lines" };
    page.plot("time", &plot, &[Series { points, ..Series::ours("listing".to_owned(), 0) }])?;
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_the_size_that_is_asked_for() {
        let modules = 10_000 / MODULE.lines().count();
        let lines = program(modules).lines().count();
        assert!((9_500..11_500).contains(&lines), "{lines}");
    }
}
