//! The commands of Slurm: submit, look, cancel.
//!
//! Only `sbatch`, `squeue` and `scancel` are used, so that no accounting is needed. Arrays are found by their
//! names, which are unique: asking for a name that the controller has forgotten is no error.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::Command;

/// What Slurm says of an element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits, runs, or is about to end.
    Active,
    /// Its work ended by itself, with status 0.
    Completed,
    /// It ended in another way: with its node, by a limit, or because somebody cancelled it.
    Ended,
}

/// The states after which nothing of an element runs, except `COMPLETED`. What is not known to be an end is
/// none: an element is also at its end when the controller has forgotten it.
const ENDS: [&str; 9] = [
    "BOOT_FAIL",
    "CANCELLED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "REVOKED",
    "TIMEOUT",
];

/// The states of elements, by the name of the array and the number of the element.
pub type States = BTreeMap<(String, usize), State>;

/// Submits a script with these options; the number of its job.
pub fn submit(options: &[impl AsRef<OsStr>], script: &OsStr) -> Result<String, String> {
    let mut command = Command::new("sbatch");
    command.arg("--parsable").args(options).arg(script);
    let said = run(&mut command)?;
    // `NUMBER`, or `NUMBER;CLUSTER`.
    let number = said.lines().last().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    match !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Ok(number.to_owned()),
        false => Err(format!("sbatch: it named no job, but said `{}`", said.trim())),
    }
}

/// The states of all elements of the arrays with these names that Slurm knows of.
pub fn states(names: &[&str]) -> Result<States, String> {
    if names.is_empty() {
        return Ok(States::new());
    }
    let mut command = Command::new("squeue");
    command.args(["--noheader", "--array", "--states=all", "--format=%j|%K|%T"]);
    command.arg(format!("--name={}", names.join(",")));
    Ok(read(&run(&mut command)?))
}

/// The lines of `squeue`.
fn read(text: &str) -> States {
    let mut states = States::new();
    for line in text.lines() {
        let mut fields = line.trim().split('|');
        let (Some(name), Some(element), Some(state)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let Ok(element) = element.parse() else { continue };
        let state = match state {
            "COMPLETED" => State::Completed,
            end if ENDS.contains(&end) => State::Ended,
            _ => State::Active,
        };
        // One that was queued again may be listed with its past.
        let known = states.entry((name.to_owned(), element)).or_insert(state);
        if state == State::Active {
            *known = state;
        }
    }
    states
}

/// Cancels what is active of the array with this name.
pub fn cancel(name: &str) -> Result<(), String> {
    run(Command::new("scancel").arg(format!("--name={name}"))).map(drop)
}

/// What a command prints; why it failed.
fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    // Ctrl-C on the terminal is for the batch.
    let command = std::os::unix::process::CommandExt::process_group(command, 0);
    let output = command.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("{name}: there is no such command; is this a machine from which jobs are submitted?")
        }
        _ => format!("{name}: {error}"),
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => {
            let said = text(&output.stderr);
            let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            Err(format!("{name}: {}", lines.join("; ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read() {
        let text = "a-0|3|RUNNING\na-0|4|PENDING\na-1|3|NODE_FAIL\na-1|4|COMPLETED\na-1|N/A|FAILED\n\
            a-1|5|NEW_IN_2030\na-1|6|CANCELLED\na-1|6|PENDING\n";
        let states = read(text);
        let of = |name: &str, element| states.get(&(name.to_owned(), element)).copied();
        assert_eq!(of("a-0", 3), Some(State::Active));
        assert_eq!(of("a-0", 4), Some(State::Active));
        assert_eq!(of("a-1", 3), Some(State::Ended));
        assert_eq!(of("a-1", 4), Some(State::Completed));
        assert_eq!(of("a-1", 5), Some(State::Active));
        assert_eq!(of("a-1", 6), Some(State::Active));
        assert_eq!((states.len(), read("").len()), (6, 0));
    }
}
