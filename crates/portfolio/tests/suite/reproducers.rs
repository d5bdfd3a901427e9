//! Refuted programs under `tests/programs` have a reproducer that, compiled with the machine's own compiler,
//! shows the violation. One in nine is tried; `THREADPROOF_ONLY=` with a part of their paths tries all of
//! those.

use checker::Checked;
use portfolio::pipeline;
use report::reproducer::Compilation;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::annotation::annotations;
use verdict::{Budget, Check, Engine, Property, Silent};

/// What a reproducer says that finds out, when it runs, that the compiled program cannot follow the schedule.
const SPLIT: &str = "the compiler makes one access where the schedule has two";

/// Where a program under test says why its violation does not happen in the compiled program.
const NOT_REPRODUCED: &str = "// not reproduced: ";

/// Of how many programs at most one may have none. They are listed with the reasons: the compiler's order of
/// evaluation and placement of objects, values without an initialiser, accesses that the compiler makes at
/// once, lives that end where no sanitiser looks, overflow that the compiler does not check, and functions
/// that the machine's library does not have.
const ONE_REFUSED_OF: usize = 4;

/// Compiling with sanitisers takes long: one program of so many is tried.
const ONE_TRIED_OF: usize = 9;

#[test]
fn refuted_programs_are_reproduced() {
    let only = std::env::var("THREADPROOF_ONLY").unwrap_or_default();
    let mut files = crate::programs::programs(&crate::root().join("tests/programs"));
    files.retain(|file| file.to_string_lossy().contains(&only));
    if only.is_empty() {
        files = files.into_iter().step_by(ONE_TRIED_OF).collect();
    }
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let work = || {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = reproduce_all(file);
                    results.lock().expect("no test thread panics").extend(found);
                }
            };
            let builder = std::thread::Builder::new().stack_size(256 << 20);
            builder.spawn_scoped(scope, work).expect("threads can start");
        }
    });
    let results = results.into_inner().expect("no test thread panics");
    let mut failed: Vec<&str> = Vec::new();
    let mut refused: Vec<&str> = Vec::new();
    for result in &results {
        match result {
            Tried::Reproduced => {}
            Tried::Refused(text) => refused.push(text),
            Tried::Failed(text) => failed.push(text),
        }
    }
    failed.sort_unstable();
    refused.sort_unstable();
    let reproduced = results.len() - failed.len() - refused.len();
    println!("{reproduced} reproduced; {} refused:\n{}", refused.len(), refused.join("\n"));
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
    if only.is_empty() {
        assert!(reproduced >= 40, "only {reproduced} programs were tried");
        assert!(refused.len() * ONE_REFUSED_OF <= results.len(), "{}", refused.join("\n"));
    }
}

enum Tried {
    Reproduced,
    /// None can be made, and why.
    Refused(String),
    /// It does not show the violation.
    Failed(String),
}

fn reproduce_all(file: &Path) -> Vec<Tried> {
    let text = std::fs::read_to_string(file).expect("test programs are text");
    let wanted = annotations(&text).expect("test programs are annotated");
    let shown = file.strip_prefix(crate::root()).unwrap_or(file).display().to_string();
    let mut tried = Vec::new();
    for (&check, expectation) in &wanted.expectations {
        if expectation.holds || !expectation.required {
            continue;
        }
        let has = |word: &str| wanted.arguments.iter().any(|argument| argument == word);
        // There are no interrupts in a compiled program, and nothing happens in it where memory is lost.
        if has("--nesc") || matches!(check.property(), Property::NoLeak(_)) {
            continue;
        }
        let options = crate::programs::options(&wanted.arguments);
        let source = frontend_c::Source { name: shown.clone(), text: text.clone().into_bytes() };
        let program = frontend_c::read(&[source], &options).expect("test programs can be read");
        let explicit = engine_explicit::Explicit::default();
        let engine: &dyn Engine = if has("symbolic") { &engine_horn::symbolic::Symbolic } else { &explicit };
        let outcome = pipeline::verify(&program, check, engine, &Budget::steps_for(60.0), &Silent);
        let Checked::Refuted(refutation) = &outcome.verdict else {
            tried.push(Tried::Failed(format!("{shown}: {}: not refuted", check.name())));
            continue;
        };
        let lines: Vec<&str> = text.lines().collect();
        let line = |span: ir::Span| lines.get((span.line as usize).checked_sub(1)?).map(|line| line.trim());
        let compilation = Compilation {
            sources: vec![(shown.clone(), text.clone())],
            arguments: vec![format!("-I{}", file.parent().expect("it is in a folder").display())],
        };
        tried.push(match report::reproducer::make(refutation, &compilation, line) {
            Err(reason) => Tried::Refused(format!("{shown}: {}: {reason}", check.name())),
            Ok(files) => match run(&folder(&shown, check), &files) {
                Ok(()) => Tried::Reproduced,
                Err(output) if output.contains(SPLIT) => {
                    Tried::Refused(format!("{shown}: {}: {output}", check.name()))
                }
                Err(output) => match text.lines().find_map(|line| line.strip_prefix(NOT_REPRODUCED)) {
                    Some(reason) => Tried::Refused(format!("{shown}: {}: {reason}", check.name())),
                    None => Tried::Failed(format!("{shown}: {}: {output}", check.name())),
                },
            },
        });
    }
    tried
}

fn folder(shown: &str, check: Check) -> PathBuf {
    let name = format!("{}-{}", shown.replace(['/', '.'], "_"), check.name());
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("reproducers").join(name)
}

/// Makes and runs a reproducer; what it said if it shows nothing.
fn run(folder: &Path, files: &[report::reproducer::File]) -> Result<(), String> {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    for file in files {
        std::fs::write(folder.join(&file.name), &file.text).map_err(|error| error.to_string())?;
    }
    let made = Command::new("make").arg("-s").arg("-C").arg(folder).output();
    let made = made.map_err(|error| error.to_string())?;
    if !made.status.success() {
        return Err(last_lines(&made.stderr));
    }
    let ran = Command::new(folder.join("repro")).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&ran.stderr);
    let reproduced = said.contains("threadproof: reproduced: ") && !ran.status.success();
    // Giving memory back while it is used is a race with a name of its own.
    let warned = ["data race", "heap-use-after-free"]
        .iter()
        .any(|what| said.contains(&format!("WARNING: ThreadSanitizer: {what}")));
    let reports = !said.contains("ThreadSanitizer reports") || warned;
    if !(reproduced && reports) {
        return Err(last_lines(&ran.stderr));
    }
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}

fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(4)..].join(" | ")
}
