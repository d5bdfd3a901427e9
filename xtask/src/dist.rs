//! A release: `cargo xtask dist` makes `target/dist/threadproof-VERSION-linux-MACHINE.tar.gz` and tries it in
//! a clean folder.
//!
//! The archive holds the program with the solver's library beside it, documents, examples, and what shells
//! and `man` need. It runs on Linux with the C and C++ libraries that every distribution has.

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

/// What the tool prints, and where it is in the archive.
const PRINTED: [(&[&str], &str); 4] = [
    (&["man"], "share/man/man1/threadproof.1"),
    (&["completions", "bash"], "share/bash-completion/completions/threadproof"),
    (&["completions", "zsh"], "share/zsh/site-functions/_threadproof"),
    (&["completions", "fish"], "share/fish/vendor_completions.d/threadproof.fish"),
];

/// What the tool must say in a clean folder: words, the exit status, and how its last line begins.
const TRIED: [(&[&str], i32, &str); 9] = [
    (&["verify", "examples/counter.c"], 1, "verdict: false("),
    (
        &["verify", "--check", "races", "--html", "page.html", "examples/counter.c"],
        1,
        "verdict: false(no-data-race)",
    ),
    (&["verify", "--proof", "proof.json", "examples/counter-locked.c"], 0, "verdict: true"),
    (&["check", "proof.json", "examples/counter-locked.c"], 0, "verdict: true"),
    // A proof of one program is none of another.
    (&["check", "proof.json", "examples/counter-any.c"], 2, "verdict: unknown("),
    (&["verify", "examples/counter-any.c"], 0, "verdict: true"),
    // Formulas, so that the solver's library is asked.
    (&["verify", "--check", "races", "--engine", "horn", "examples/handoff.c"], 0, "verdict: true"),
    (&["verify", "examples/unsupported.c"], 2, "verdict: unknown("),
    (&["verify", "gone.c"], 3, "verdict: unknown("),
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
    for (words, file) in PRINTED {
        let output = Command::new(&tool).args(words).output().map_err(|error| error.to_string())?;
        let file = content.join(file);
        let beside = file.parent().unwrap_or(&content);
        std::fs::create_dir_all(beside).map_err(|error| format!("{}: {error}", beside.display()))?;
        std::fs::write(&file, output.stdout).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let archive = folder.join(format!("{name}.tar.gz"));
    quietly(Command::new("tar").arg("-C").arg(&folder).arg("-czf").arg(&archive).arg(&name))?;
    smoke(&archive, &name)?;
    let bytes = std::fs::metadata(&archive).map_or(0, |data| data.len());
    println!("{}: {} MB", archive.display(), bytes >> 20);
    Ok(())
}

/// Unpacks the archive where nothing else is, and lets the tool work with an empty environment.
fn smoke(archive: &Path, name: &str) -> Result<(), String> {
    let clean = std::env::temp_dir().join(format!("threadproof-smoke-{}", std::process::id()));
    std::fs::create_dir_all(&clean).map_err(|error| error.to_string())?;
    quietly(Command::new("tar").arg("-C").arg(&clean).arg("-xzf").arg(archive))?;
    let tried = try_all(&clean.join(name));
    let removed = std::fs::remove_dir_all(&clean).map_err(|error| error.to_string());
    tried.and(removed)
}

fn try_all(content: &Path) -> Result<(), String> {
    let run = |words: &[&str]| {
        let mut command = Command::new(content.join("bin/threadproof"));
        command.args(words).current_dir(content).env_clear().output().map_err(|error| error.to_string())
    };
    for (words, status, line) in TRIED {
        let output = run(words)?;
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.code() != Some(status)
            || !out.lines().last().is_some_and(|last| last.starts_with(line))
        {
            let error = String::from_utf8_lossy(&output.stderr);
            let words = words.join(" ");
            return Err(format!(
                "threadproof {words}: {} instead of {status}, `{line}…`\n{out}{error}",
                output.status
            ));
        }
        println!("tried: threadproof {}", words.join(" "));
    }
    let page = std::fs::read_to_string(content.join("page.html")).unwrap_or_default();
    if !page.ends_with("</html>\n") {
        return Err("the page is not whole".to_owned());
    }
    // What shells and `man` need is what the tool itself prints.
    for (words, file) in PRINTED {
        let printed = run(words)?.stdout;
        if printed.is_empty() || std::fs::read(content.join(file)).ok() != Some(printed) {
            return Err(format!("{file} is not what the tool prints"));
        }
    }
    Ok(())
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
