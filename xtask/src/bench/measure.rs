//! Runs the tool and measures it.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What one run took, and what it said.
pub struct Run {
    /// Seconds on the clock.
    pub seconds: f64,
    /// Megabytes at most.
    pub megabytes: u64,
    /// What it printed.
    pub output: String,
}

impl Run {
    /// The words behind `verdict: `.
    pub fn verdict(&self) -> &str {
        self.output.lines().last().and_then(|line| line.strip_prefix("verdict: ")).unwrap_or("none")
    }
}

/// Builds the tool for measuring, and says where it is.
pub fn build() -> Result<PathBuf, String> {
    crate::run("cargo", &["build", "--release", "--package", "threadproof"])?;
    let target =
        std::env::var("CARGO_TARGET_DIR").map_or_else(|_| crate::root().join("target"), PathBuf::from);
    Ok(target.join("release/threadproof"))
}

/// Runs the tool on a file with the `flow` engine.
pub fn run(tool: &Path, words: &[&str], file: &Path) -> Result<Run, String> {
    let start = Instant::now();
    let mut command = Command::new(tool);
    command.args(["verify", "--engine", "flow"]).args(words).arg(file);
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
    let mut megabytes = 0;
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        megabytes = megabytes.max(peak(&child).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(4));
    }
    let output = reader.join().unwrap_or_default();
    Ok(Run { seconds: start.elapsed().as_secs_f64(), megabytes, output })
}

/// The most memory that a running program took so far.
fn peak(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.div_ceil(1024))
}
