//! A release: `cargo xtask dist` makes `target/dist/threadproof-VERSION-linux-MACHINE.tar.gz` and tries it in a clean folder.
//!
//! The archive holds the program with the solver's library beside it, documents, examples, and what shells and `man` need. It runs on Linux with the C and C++ libraries that every distribution has.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Files and folders of the repository that go into the archive.
const TAKEN: [&str; 9] = [
    "README.md",
    "CHANGELOG.md",
    "SOUNDNESS.md",
    "GLOSSARY.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs",
    "examples",
    "contrib",
];

/// What the tool must say of the examples in a clean folder: the file, and the exit status.
const TRIED: [(&str, i32); 4] = [
    ("examples/counter.c", 1),
    ("examples/counter-locked.c", 0),
    ("examples/counter-any.c", 0),
    ("examples/unsupported.c", 2),
];

/// Makes and tries the archive.
pub fn dist() -> Result<(), String> {
    crate::run("cargo", &["build", "--release", "--package", "threadproof"])?;
    let target =
        std::env::var("CARGO_TARGET_DIR").map_or_else(|_| crate::root().join("target"), PathBuf::from);
    let name = format!("threadproof-{}-linux-{}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let folder = target.join("dist");
    let content = folder.join(&name);
    let _ = std::fs::remove_dir_all(&content);
    let programs = content.join("bin");
    std::fs::create_dir_all(&programs).map_err(|error| format!("{}: {error}", programs.display()))?;
    let built = target.join("release");
    for entry in std::fs::read_dir(&built).map_err(|error| error.to_string())?.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if file == "threadproof" || file.starts_with("libz3.so.") {
            copy(&entry.path(), &programs.join(file))?;
        }
    }
    let tool = programs.join("threadproof");
    quietly(Command::new("strip").arg("--strip-debug").arg(&tool))?;
    for taken in TAKEN {
        quietly(Command::new("cp").arg("-r").arg(crate::root().join(taken)).arg(&content))?;
    }
    let archive = folder.join(format!("{name}.tar.gz"));
    quietly(Command::new("tar").arg("-C").arg(&folder).arg("-czf").arg(&archive).arg(&name))?;
    smoke(&archive, &name)?;
    println!("{}", archive.display());
    Ok(())
}

/// Unpacks the archive where nothing else is, and lets the tool verify examples with an empty environment.
fn smoke(archive: &Path, name: &str) -> Result<(), String> {
    let clean = std::env::temp_dir().join(format!("threadproof-smoke-{}", std::process::id()));
    std::fs::create_dir_all(&clean).map_err(|error| error.to_string())?;
    quietly(Command::new("tar").arg("-C").arg(&clean).arg("-xzf").arg(archive))?;
    let content = clean.join(name);
    let tool = content.join("bin/threadproof");
    for (file, status) in TRIED {
        let run = Command::new(&tool)
            .args(["verify", "--timeout", "60", file])
            .current_dir(&content)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .output()
            .map_err(|error| error.to_string())?;
        if run.status.code() != Some(status) {
            let said = String::from_utf8_lossy(&run.stderr).into_owned();
            return Err(format!("{file}: {} instead of {status}\n{said}", run.status));
        }
    }
    std::fs::remove_dir_all(&clean).map_err(|error| error.to_string())
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    std::fs::copy(from, to).map(|_| ()).map_err(|error| format!("{}: {error}", from.display()))
}

/// Runs a command, whose failure is an error.
fn quietly(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))
}
