//! The C front end, from text to behaviour: what is lowered runs on the concrete semantics.

mod hostile;
mod interleavings;
mod linking;
mod memory;
mod runner;
mod statements;
mod threads;
mod unsupported;
mod values;

use frontend_c::{Options, Source, read};
use ir::{DataModel, Diagnostic, IntType, Program};

/// Reads files, in order.
pub fn read_files(files: &[&str], data_model: DataModel) -> Result<Program, Vec<Diagnostic>> {
    let sources: Vec<Source> = files
        .iter()
        .enumerate()
        .map(|(index, text)| Source { name: format!("file{}.c", index + 1), text: text.as_bytes().to_vec() })
        .collect();
    read(&sources, &Options { data_model, ..Options::default() })
}

/// Reads one file that has no errors.
pub fn program(text: &str) -> Program {
    read_files(&[text], DataModel::Lp64).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

const EXPECT: &str =
    "int failed;\n#define expect(e) do { if (!(e) && !failed) failed = __LINE__; } while (0)\n#line 1\n";

/// Runs a program whose `expect(...)`s must all hold, in both data models.
pub fn check(text: &str) {
    for data_model in [DataModel::Ilp32, DataModel::Lp64] {
        check_in(text, data_model);
    }
}

/// Runs a program whose `expect(...)`s must all hold.
pub fn check_in(text: &str, data_model: DataModel) {
    let text = format!("{EXPECT}{text}");
    let program = read_files(&[&text], data_model).unwrap_or_else(|problems| panic!("{}", problems[0]));
    let limits: Vec<&str> = program
        .assumptions
        .iter()
        .filter(|assumption| assumption.limits_proof)
        .map(|assumption| assumption.text.as_str())
        .collect();
    assert!(limits.is_empty(), "{limits:?}");
    let run = runner::run(&program, 1_000_000);
    assert_eq!(run.ended, runner::Ended::Finished, "{data_model:?} after {} steps", run.steps);
    if let Some(line @ 1..) = run.global("failed", IntType::I32) {
        let shown = text.lines().nth(line as usize + EXPECT.lines().count() - 1).unwrap_or_default();
        panic!("{data_model:?}: line {line} does not hold: {}", shown.trim());
    }
}
