//! The tables of paper 2: SPIN on the concrete and on the abstract program, and Threadproof on the program with its specification, side by side for 1 to 11 workers and for any number.
//!
//! Seconds are of processor time, as other programs may use the machine at the same time. The searches of SPIN grow with each worker: after one that was cut, larger ones are not run. So all takes some minutes.

use super::measure;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Each run may take so much processor time.
const SECONDS: u32 = 30;
/// How many times as much it may take on the clock, as other programs may use the machine.
const LOAD: u32 = 10;
/// The most megabytes that SPIN may take, as in the paper.
const MEGABYTES: u32 = 2048;
/// The most workers.
const WORKERS: usize = 11;

/// A driver: its name, program, worker function, and specification.
const DRIVERS: [(&str, &str, &str, &str); 2] = [
    ("bluetooth", "abstract-threads-figure4.c", "PnpAdd", "figure5.tspec"),
    ("battery", "abstract-threads-figure6-any.c", "worker", "figure7.tspec"),
];

/// Prints the tables.
pub fn spec() -> Result<(), String> {
    let tool = measure::build()?;
    let folder = std::env::temp_dir().join(format!("threadproof-bench-spec-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    for (driver, program, worker, specification) in DRIVERS {
        println!(
            "\n{driver}: seconds of processor time (SPIN: of `pan` alone; Threadproof: conformance of all threads, composition, and the check of the proof)\n"
        );
        println!(
            "| workers | SPIN, concrete | SPIN, abstract | Threadproof | on the clock |\n|---|---|---|---|---|"
        );
        let mut cut = [false; 2];
        for count in (1..=WORKERS).map(Some).chain([None]) {
            let mut cells = Vec::new();
            for (version, cut) in ["concrete", "abstract"].into_iter().zip(&mut cut) {
                cells.push(match (count, *cut) {
                    (None, _) => "not possible".to_owned(),
                    (Some(_), true) => "not run".to_owned(),
                    (Some(count), false) => match run_spin(&format!("{driver}-{version}"), count, &folder)? {
                        Searched::Done(seconds) => format!("{seconds:.2}"),
                        Searched::Cut(why) => {
                            *cut = true;
                            why
                        }
                    },
                });
            }
            let ours = run_ours(&tool, program, worker, specification, count, &folder)?;
            let workers = count.map_or("any".to_owned(), |count| count.to_string());
            println!("| {workers} | {} | {ours} |", cells.join(" | "));
        }
    }
    std::fs::remove_dir_all(&folder).map_err(|error| error.to_string())
}

/// What became of a search.
enum Searched {
    /// It took so many seconds, and found no error.
    Done(f64),
    /// It was too large.
    Cut(String),
}

fn text(path: PathBuf) -> Result<String, String> {
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Threadproof on a driver with so many workers.
fn run_ours(
    tool: &Path,
    program: &str,
    worker: &str,
    specification: &str,
    count: Option<usize>,
    folder: &Path,
) -> Result<String, String> {
    let tests = crate::root().join("tests");
    let mut program = text(tests.join("programs/papers").join(program))?;
    let mut specification = text(tests.join("specifications").join(specification))?;
    if let Some(count) = count {
        let start = format!("pthread_create(&t, 0, {worker}, 0);");
        let all = vec![start.as_str(); count].join("\n  ");
        program = program.replace(&format!("while (__VERIFIER_nondet_bool())\n    {start}"), &all);
        specification = specification.replace("times any", &format!("times {count}"));
    }
    let (c, spec) = (folder.join("driver.c"), folder.join("driver.tspec"));
    std::fs::write(&c, program).map_err(|error| error.to_string())?;
    std::fs::write(&spec, specification).map_err(|error| error.to_string())?;
    let limit = (LOAD * SECONDS).to_string();
    let words = ["--timeout", &limit, "--spec", &spec.to_string_lossy()].map(str::to_owned);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let run = measure::run_engine(tool, "auto", &words, &c)?;
    match run.verdict() {
        "true" => Ok(format!("{:.2} | {:.2}", run.processor, run.seconds)),
        other => Ok(format!("{other} | {:.2}", run.seconds)),
    }
}

/// SPIN on a model with so many workers.
fn run_spin(model: &str, count: usize, folder: &Path) -> Result<Searched, String> {
    let file = crate::root().join("bench/promela").join(format!("{model}.pml"));
    run_quietly(Command::new("spin").arg(format!("-DN={count}")).arg("-a").arg(&file), folder)?;
    let memory = format!("-DMEMLIM={MEGABYTES}");
    run_quietly(Command::new("gcc").args(["-O2", "-DSAFETY", &memory, "-o", "pan", "pan.c"]), folder)?;
    let start = Instant::now();
    // Threads that wait for ever are no errors.
    let mut child = Command::new(folder.join("pan"))
        .args(["-E", "-m1000000"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("pan: {error}"))?;
    let mut processor = 0.0;
    // What has ended stays readable until it is waited for. Its report is short, so the pipe holds it.
    while let Some((ended, seconds)) = measure::state(&child) {
        processor = seconds;
        if ended {
            break;
        }
        if seconds > f64::from(SECONDS) || start.elapsed() > Duration::from_secs(u64::from(LOAD * SECONDS)) {
            child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
            return Ok(Searched::Cut(format!("> {SECONDS}")));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.contains("out of memory") || output.contains("reached -DMEMLIM") {
        Ok(Searched::Cut("out of memory".to_owned()))
    } else if output.contains("errors: 0") {
        Ok(Searched::Done(processor))
    } else {
        Err(format!("{model} with {count} workers is not proved by SPIN:\n{output}"))
    }
}

fn run_quietly(command: &mut Command, folder: &Path) -> Result<(), String> {
    let output = command.current_dir(folder).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))
}
