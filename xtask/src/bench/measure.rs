//! Runs the tool and measures it.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What one run took, and what it said.
pub struct Run {
    /// Seconds on the clock.
    pub seconds: f64,
    /// Seconds of processor time, which other processes on the machine do not stretch.
    pub processor: f64,
    /// Megabytes at most.
    pub megabytes: u64,
    /// What it printed.
    pub output: String,
}

impl Run {
    /// The words after `verdict: `.
    pub fn verdict(&self) -> &str {
        self.output.lines().last().and_then(|line| line.strip_prefix("verdict: ")).unwrap_or("none")
    }
}

/// Builds the tool for measuring, and says where it is. A tool that is built already can be named in
/// `THREADPROOF`.
pub fn build() -> Result<PathBuf, String> {
    if let Ok(path) = std::env::var("THREADPROOF") {
        return Ok(path.into());
    }
    crate::run("cargo", &["build", "--release", "--package", "threadproof"])?;
    let target =
        std::env::var("CARGO_TARGET_DIR").map_or_else(|_| crate::root().join("target"), PathBuf::from);
    Ok(target.join("release/threadproof"))
}

/// Runs the tool on a file with the `flow` engine.
pub fn run(tool: &Path, words: &[&str], file: &Path) -> Result<Run, String> {
    run_engine(tool, "flow", words, file)
}

/// Runs the tool on a file with an engine.
pub fn run_engine(tool: &Path, engine: &str, words: &[&str], file: &Path) -> Result<Run, String> {
    let start = Instant::now();
    let mut command = Command::new(tool);
    command.args(["verify", "--engine", engine]).args(words).arg(file);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{}: {error}", tool.display()))?;
    let mut printed = child.stdout.take().ok_or("the output is not at hand")?;
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was printed before an error counts.
        let _ = printed.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let (mut megabytes, mut processor) = (0, 0.0);
    // What has ended stays readable until it is waited for.
    while let Some((ended, seconds)) = state(&child) {
        processor = seconds;
        if ended {
            break;
        }
        megabytes = megabytes.max(peak(&child).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(4));
    }
    child.wait().map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let output = reader.join().unwrap_or_default();
    Ok(Run { seconds, processor, megabytes, output })
}

/// Whether a program has ended, and the seconds of processor time that it took so far.
pub fn state(child: &Child) -> Option<(bool, f64)> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // The name in parentheses may hold anything.
    let words: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = words.get(11)?.parse::<f64>().ok()? + words.get(12)?.parse::<f64>().ok()?;
    Some((words.first() == Some(&"Z"), ticks / 100.0))
}

/// The most memory that a running program took so far.
fn peak(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.div_ceil(1024))
}
