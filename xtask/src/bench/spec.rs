//! The searches of paper 2: SPIN on the concrete and on the abstract program, and Threadproof on the program
//! with its specification, side by side for 1 to 11 workers and for any number.
//!
//! Seconds are of processor time, as other programs may use the machine at the same time. The searches of
//! SPIN grow with each worker: after one that was cut, larger ones are not run. So all takes some minutes.

use super::measure;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Each run may take so much processor time.
pub const SECONDS: u32 = 30;
/// How many times as much it may take on the clock, as other programs may use the machine.
const LOAD: u32 = 10;
/// The most megabytes that SPIN may take, as in the paper.
pub const MEGABYTES: u32 = 2048;
/// The most workers.
const WORKERS: usize = 11;

/// A driver of the paper.
pub struct Driver {
    /// The beginning of its models' names.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// How the models differ from what the paper measured.
    pub remark: &'static str,
    program: &'static str,
    worker: &'static str,
    specification: &'static str,
}

/// Both drivers.
pub const DRIVERS: [Driver; 2] = [
    Driver {
        name: "bluetooth",
        title: "Bluetooth driver",
        remark: "",
        program: "abstract-threads-figure4.c",
        worker: "PnpAdd",
        specification: "figure5.tspec",
    },
    Driver {
        name: "battery",
        title: "Battery driver",
        remark: "The paper does not show the routine that dispatches workers. Here one worker may have been dispatched at first, and `unload` may dispatch another; the rest wait, so that the concrete program hardly grows with \
                 the number of workers. The paper's evidently did. The specification allows more than the program does, so the abstract program does grow.",
        program: "abstract-threads-figure6-any.c",
        worker: "worker",
        specification: "figure7.tspec",
    },
];

/// The searches for one number of workers.
pub struct Row {
    /// How many; `None`: any number.
    pub workers: Option<usize>,
    /// SPIN on the concrete and on the abstract program.
    pub spin: [Searched; 2],
    /// Threadproof.
    pub ours: Searched,
    /// Its seconds on the clock.
    pub clock: f64,
}

/// What became of a search.
pub enum Searched {
    /// It took so many seconds of processor time, and found no error.
    Done(f64),
    /// It has no answer, for a reason.
    Cut(String),
}

impl fmt::Display for Searched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done(seconds) => write!(f, "{seconds:.2}"),
            Self::Cut(why) => f.write_str(why),
        }
    }
}

/// Runs all searches for a driver, and reports each row when it is there.
pub fn measure_driver(tool: &Path, driver: &Driver, mut tell: impl FnMut(&Row)) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("threadproof-bench-spec-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut cut = [false; 2];
    for workers in (1..=WORKERS).map(Some).chain([None]) {
        let mut search = |version: usize| -> Result<Searched, String> {
            let model = format!("{}-{}", driver.name, ["concrete", "abstract"][version]);
            let searched = match workers {
                None => Searched::Cut("not possible".to_owned()),
                Some(_) if cut[version] => Searched::Cut("not run".to_owned()),
                Some(workers) => run_spin(&model, workers, &folder)?,
            };
            cut[version] |= matches!(searched, Searched::Cut(_));
            Ok(searched)
        };
        let spin = [search(0)?, search(1)?];
        let (ours, clock) = run_ours(tool, driver, workers, &folder)?;
        tell(&Row { workers, spin, ours, clock });
    }
    std::fs::remove_dir_all(&folder).map_err(|error| error.to_string())
}

fn text(path: PathBuf) -> Result<String, String> {
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Threadproof on a driver with so many workers.
fn run_ours(
    tool: &Path,
    driver: &Driver,
    count: Option<usize>,
    folder: &Path,
) -> Result<(Searched, f64), String> {
    let tests = crate::root().join("tests");
    let mut program = text(tests.join("programs/papers").join(driver.program))?;
    let mut specification = text(tests.join("specifications").join(driver.specification))?;
    if let Some(count) = count {
        let start = format!("pthread_create(&t, 0, {}, 0);", driver.worker);
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
    let searched = match run.verdict() {
        "true" => Searched::Done(run.processor),
        other => Searched::Cut(other.to_owned()),
    };
    Ok((searched, run.seconds))
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
