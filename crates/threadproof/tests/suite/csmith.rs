//! Trust in the front end: random C programs print the same checksum in our interpreter as compiled by gcc.
//!
//! The programs come from Debian's `csmith`. `THREADPROOF_CSMITH=300` runs that many.

use ir::semantics::{Choice, Choices, Machine, State, Stuck};
use ir::{IntType, Value};
use std::path::Path;
use std::process::Command;

/// What is not supported is switched off: floats, and programs that read their arguments.
const OPTIONS: [&str; 4] = ["--no-float", "--no-argc", "--max-funcs", "6"];
/// How many programs are run by default.
const PROGRAMS: u64 = 16;
/// Steps after which a program is given up.
const MOST_STEPS: u64 = 10_000_000;

#[test]
fn same_checksums_as_gcc() {
    let wanted =
        std::env::var("THREADPROOF_CSMITH").ok().and_then(|text| text.parse().ok()).unwrap_or(PROGRAMS);
    let folder = std::env::temp_dir().join(format!("threadproof-csmith-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let (mut compared, mut seed, mut failures) = (0, 0, Vec::new());
    while compared < wanted {
        seed += 1;
        assert!(seed < 20 * wanted + 100, "too few of csmith's programs end in time");
        let Some(text) = generate(&folder, seed) else { continue };
        let Some(expected) = compiled(&folder, &text) else { continue };
        match interpreted(&text) {
            Ok(found) if found == expected => compared += 1,
            Ok(found) => failures.push(format!("seed {seed}: gcc {expected:X}, here {found:X}")),
            Err(Skip::TooLong) => {}
            Err(Skip::Failure(message)) => failures.push(format!("seed {seed}: {message}")),
        }
        assert!(failures.len() < 5, "{}", failures.join("\n"));
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    println!("{compared} programs with the same checksum");
}

/// A program that leaves its checksum in the variable `checksum_result`. csmith leaves a file where it runs.
fn generate(folder: &Path, seed: u64) -> Option<String> {
    let output = Command::new("csmith")
        .current_dir(folder)
        .args(["--seed", &seed.to_string()])
        .args(OPTIONS)
        .output()
        .expect("csmith is installed");
    let text = String::from_utf8(output.stdout).ok()?;
    let end = "platform_main_end(crc32_context ^ 0xFFFFFFFFUL, print_hash_value);";
    let store = format!("checksum_result = crc32_context ^ 0xFFFFFFFFUL; {end}");
    text.contains(end).then(|| format!("unsigned int checksum_result;\n{}", text.replace(end, &store)))
}

/// The checksum that the compiled program prints; `None` when it does not end soon.
fn compiled(folder: &Path, text: &str) -> Option<u32> {
    let (source, binary) = (folder.join("program.c"), folder.join("program"));
    std::fs::write(&source, text).ok()?;
    let status = Command::new("gcc")
        .args(["-w", "-O1", "-fwrapv", "-fno-strict-aliasing", "-I/usr/include/csmith", "-o"])
        .args([&binary, &source])
        .status()
        .expect("gcc is installed");
    assert!(status.success(), "gcc compiles what csmith makes");
    // Two seconds of a processor's time, however long that is.
    let limited = ["-c", "ulimit -t 2; exec \"$0\""];
    let output = Command::new("sh").args(limited).arg(&binary).output().expect("there is a shell");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, hex) = printed.trim().rsplit_once("checksum = ")?;
    u32::from_str_radix(hex.trim(), 16).ok()
}

enum Skip {
    TooLong,
    Failure(String),
}

/// csmith's programs leave nothing open that matters.
struct Zero;

impl Choices for Zero {
    fn choose(&mut self, _: Choice) -> Value {
        0
    }
}

/// The checksum that the step semantics computes.
fn interpreted(text: &str) -> Result<u32, Skip> {
    let source = frontend_c::Source { name: "program.c".to_owned(), text: text.as_bytes().to_vec() };
    let options = frontend_c::Options {
        include_dirs: vec!["/usr/include/csmith".into()],
        ..frontend_c::Options::default()
    };
    let program = frontend_c::read(&[source], &options)
        .map_err(|diagnostics| Skip::Failure(diagnostics.iter().map(|d| format!("{d}\n")).collect()))?;
    let machine = Machine::new(&program).map_err(|limit| Skip::Failure(format!("{limit:?}")))?;
    let mut state = machine.initial(&[1]).map_err(|limit| Skip::Failure(format!("{limit:?}")))?;
    for _ in 0..MOST_STEPS {
        if state.halted {
            return checksum(&machine, &state).ok_or_else(|| Skip::Failure("no checksum".to_owned()));
        }
        state = next(&machine, state).map_err(Skip::Failure)?;
    }
    Err(Skip::TooLong)
}

/// The only next state of a sequential program.
fn next(machine: &Machine<'_>, state: State) -> Result<State, String> {
    let mut stuck = Vec::new();
    for &edge in machine.edges(&state, 0) {
        let mut successor = state.clone();
        match machine.advance(&mut successor, 0, edge, &mut Zero, &mut Vec::new()) {
            Ok(()) => return Ok(successor),
            Err(Stuck::Blocked) => {}
            Err(other) => stuck.push(other),
        }
    }
    let at = state.location(0).map(|(template, _)| machine.program.templates[template].name.clone());
    let line = machine.edges(&state, 0).first().and_then(|edge| {
        let (template, _) = state.location(0)?;
        Some(machine.program.templates[template].edges[*edge].span.line)
    });
    Err(format!("stuck in {at:?} at line {line:?}: {stuck:?}"))
}

fn checksum(machine: &Machine<'_>, state: &State) -> Option<u32> {
    let (object, _) =
        machine.program.objects.enumerate().find(|(_, object)| object.name == "checksum_result")?;
    let address = machine.addresses.offset[object];
    machine.peek_memory(state, address, IntType::U32).map(|value| value as u32)
}
