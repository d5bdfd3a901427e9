//! Real programs, which stay where they are: tasks of the Competition on Software Verification, and device
//! drivers.

use super::measure::{self, Run};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A task of the competition.
struct Task {
    name: String,
    race_free: bool,
    unbounded: bool,
}

/// The tasks that a folder's `TASKS.csv` lists with a verdict on data races.
fn tasks(folder: &Path) -> Result<Vec<Task>, String> {
    let path = folder.join("TASKS.csv");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap_or_default();
    let column = |name: &str| {
        header.iter().position(|word| *word == name).ok_or(format!("{}: no column {name}", path.display()))
    };
    let (name, race, unbounded) =
        (column("task")?, column("no-data-race")?, column("unbounded_thread_creation")?);
    let tasks = lines.filter_map(|words| {
        let race_free = match *words.get(race)? {
            "true" => true,
            "false" => false,
            _ => return None,
        };
        let unbounded = words.get(unbounded) == Some(&"yes");
        Some(Task { name: (*words.get(name)?).to_owned(), race_free, unbounded })
    });
    Ok(tasks.collect())
}

/// How many of a folder's race-free tasks are proved, each within 10 s and 2 GiB. None of the others may be.
pub fn races(folder: &Path) -> Result<(), String> {
    let tool = measure::build()?;
    let tasks = tasks(folder)?;
    let words = ["--check", "races", "--data-model", "ILP32", "--timeout", "10", "--memory", "2048"];
    let next = AtomicUsize::new(0);
    let runs: Mutex<Vec<(usize, Result<Run, String>)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(index) else { break };
                    let named = |ending: &str| folder.join("tasks").join(format!("{}.{ending}", task.name));
                    let file = if named("i").exists() { named("i") } else { named("c") };
                    let run = measure::run(&tool, &words, &file);
                    runs.lock().expect("no measuring thread panics").push((index, run));
                }
            });
        }
    });
    let mut runs = runs.into_inner().expect("no measuring thread panics");
    runs.sort_by_key(|(index, _)| *index);
    let (mut free, mut proved, mut unbounded, mut proved_unbounded) = (0, 0, 0, 0);
    let (mut wrong, mut longest, mut largest) = (0, 0f64, 0);
    for (index, run) in runs {
        let (task, run) = (&tasks[index], run?);
        let verdict = run.verdict();
        longest = longest.max(run.seconds);
        largest = largest.max(run.megabytes);
        if !task.race_free {
            wrong += usize::from(verdict == "true");
            continue;
        }
        wrong += usize::from(verdict.starts_with("false"));
        free += 1;
        proved += usize::from(verdict == "true");
        unbounded += usize::from(task.unbounded);
        proved_unbounded += usize::from(task.unbounded && verdict == "true");
        if verdict != "true" {
            println!("{:6.2} s {:5} MB  {}: {verdict}", run.seconds, run.megabytes, task.name);
        }
    }
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    println!("race-free: {proved} of {free} proved ({:.1}%)", percent(proved, free));
    println!(
        "of these with unbounded creation of threads: {proved_unbounded} of {unbounded} ({:.1}%)",
        percent(proved_unbounded, unbounded)
    );
    println!("wrong verdicts: {wrong}; at most {longest:.1} s and {largest} MB");
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} wrong verdicts")) }
}

/// Time, memory and proved assertions of all C files in a folder, each within 60 s and 4 GiB.
pub fn drivers(folder: &Path) -> Result<(), String> {
    let tool = measure::build()?;
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    let words = ["--check", "assertions", "--timeout", "60", "--memory", "4096"];
    println!(
        "| driver | lines | time | processor time | memory | assertions proved |\n|---|---|---|---|---|---|"
    );
    let (mut all_proved, mut all_checks) = (0, 0);
    for file in files {
        let run = measure::run(&tool, &words, &file)?;
        let lines = std::fs::read(&file).map_or(0, |text| text.split(|byte| *byte == b'\n').count());
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let decided = decided(&run.output);
        if let Some((proved, checks)) = decided {
            all_proved += proved;
            all_checks += checks;
        }
        let decided =
            decided.map_or("not decided".to_owned(), |(proved, checks)| format!("{proved} of {checks}"));
        println!(
            "| {name} | {lines} | {:.2} s | {:.2} s | {} MB | {decided} |",
            run.seconds, run.processor, run.megabytes
        );
    }
    let percent = 100.0 * f64::from(all_proved) / f64::from(all_checks.max(1));
    println!("| all | | | | | {all_proved} of {all_checks} ({percent:.0}%) |");
    Ok(())
}

/// How many checks a report says are proved, of how many.
pub fn decided(report: &str) -> Option<(u32, u32)> {
    if report.contains("There is nothing to check") {
        return Some((0, 0));
    }
    report.lines().find_map(|line| {
        let (numbers, _) = line.trim().split_once(" checks are proved")?;
        let (proved, checks) = numbers.split_once(" of ")?;
        Some((proved.parse().ok()?, checks.parse().ok()?))
    })
}
