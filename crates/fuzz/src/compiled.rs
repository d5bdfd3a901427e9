//! Runs programs compiled by gcc, under many random schedules: the observed behaviour is possible.
//!
//! `compiled/runtime.c` schedules the threads and has synchronisation objects of its own, so nothing but the
//! program's text is shared with the verifier. Direction: an under-approximation of what C allows (few
//! schedules, one compiler), so it refutes and never proves. Undefined behaviour ends a run, as it does in
//! the verifier: the compiler's checks trap, the runtime looks at accesses to the heap and between variables.
//! Dangling pointers into stacks are not noticed, so programs that keep such are not compared.

use crate::case::{Case, Kind};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use verdict::Check;

const RUNTIME: &str = include_str!("compiled/runtime.c");
const NAMES: &str = include_str!("compiled/names.h");

/// Folder, compiler and runtime. The folder is removed with it.
pub struct Compiler {
    folder: PathBuf,
}

impl Compiler {
    /// Compiles the runtime; `None` when there is no gcc for this machine.
    pub fn new() -> Option<Self> {
        let folder = std::env::temp_dir().join(format!(
            "threadproof-fuzz-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        std::fs::create_dir_all(&folder).ok()?;
        let compiler = Self { folder };
        std::fs::write(compiler.folder.join("names.h"), NAMES).ok()?;
        std::fs::write(compiler.folder.join("runtime.c"), RUNTIME).ok()?;
        let made = compiler.gcc(&["-O1", "-w", "-pthread", "-c", "runtime.c", "-o", "runtime.o"]);
        (cfg!(all(target_os = "linux", target_arch = "x86_64")) && made).then_some(compiler)
    }

    fn gcc(&self, arguments: &[&str]) -> bool {
        let mut command = Command::new("gcc");
        command.current_dir(&self.folder).args(arguments).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// The folder with the runtime.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many of some schedules violate what is checked, and how many continue for too long; `None` when
    /// the program cannot be compared.
    pub fn violations(&self, case: &Case, schedules: u32) -> Option<(u32, u32)> {
        if case.kind == Kind::Boolean || case.text.contains("kept") {
            return None;
        }
        let name = match case.check {
            Check::Assertions | Check::ReachError => "assertions",
            Check::Races => "races",
            Check::Overflow => "overflow",
            Check::Bounds => "bounds",
            Check::Deadlock => "deadlock",
            // The runtime does not see these.
            Check::Deref | Check::Free | Check::Memtrack | Check::Memcleanup => return None,
        };
        std::fs::write(self.folder.join("program.c"), text_for_gcc(&case.text)).ok()?;
        let traps = match case.check {
            Check::Overflow => "-fsanitize=thread,signed-integer-overflow,shift-base",
            _ => "-fsanitize=thread,undefined",
        };
        let keeps = match case.check {
            Check::Bounds => "-fno-sanitize=alignment,vptr,bounds,null,object-size",
            _ => "-fno-sanitize=alignment,vptr",
        };
        let made = self.gcc(&[
            "-std=gnu11",
            "-O0",
            "-w",
            traps,
            keeps,
            "-fsanitize-undefined-trap-on-error",
            "-finstrument-functions",
            "-fno-builtin",
            "-fno-zero-initialized-in-bss",
            "-fno-toplevel-reorder",
            "-fno-pie",
            "-include",
            "names.h",
            "-c",
            "program.c",
            "-o",
            "program.o",
        ]);
        if !made || !self.gcc(&["program.o", "runtime.o", "-no-pie", "-pthread", "-o", "program"]) {
            return None;
        }
        let mut command = Command::new(self.folder.join("program"));
        command.args([name, "1", &schedules.to_string()]).stdin(Stdio::null()).stderr(Stdio::null());
        let output = command.output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let number = |name: &str, place: usize| {
            let line = text.lines().rev().find(|line| line.starts_with(name))?;
            line.split(' ').nth(place)?.parse().ok()
        };
        Some((number(&format!("{name} "), 1)?, number("fine ", 3)?))
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        // What stays is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The program with pads between its variables, and with lists of these and of the functions that are atomic.
fn text_for_gcc(text: &str) -> String {
    let (mut out, mut pads, mut atomic) = (String::new(), Vec::new(), Vec::new());
    for line in text.lines() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{line}");
        let is_outer = line.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if is_outer && line.ends_with(';') {
            // Variables with a value are in one section, those without in the other. A pad that is a variable
            // would be aligned, and leave a gap.
            for section in ["data", "bss"] {
                let name = format!("tp_pad_{}", pads.len());
                let pad = format!(".pushsection .{section}; {name}: .skip 64; .popsection");
                let _ = writeln!(out, "asm(\"{pad}\"); extern char {name}[];");
                pads.push(name);
            }
        }
        if is_outer && line.ends_with('{') {
            let before = line.split('(').next().unwrap_or_default();
            let name = before.rsplit([' ', '*']).next().unwrap_or_default();
            if name.starts_with("__VERIFIER_atomic_") {
                atomic.push(name);
            }
        }
    }
    let list = |names: &[&str]| names.iter().map(|name| format!("{name}, ")).collect::<String>();
    let pads: Vec<&str> = pads.iter().map(String::as_str).collect();
    let _ = writeln!(out, "char *const tp_pads[] = {{ {}0 }};", list(&pads));
    let _ = writeln!(out, "void *const tp_atomic[] = {{ {}0 }};", list(&atomic));
    out
}
