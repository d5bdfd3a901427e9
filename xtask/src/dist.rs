//! A release: `cargo xtask dist` makes `target/dist/threadproof-VERSION-linux-MACHINE.tar.gz` and tries it in
//! a clean folder, and makes a Debian package where there is `dpkg-deb`. With `--check`, the package is
//! installed, used and removed in a clean Debian; with `--from DIR`, the program that was built there is
//! taken.
//!
//! The archive holds the program with the solver's library beside it, documents, examples, and what shells
//! and `man` need. It runs on Linux with the C and C++ libraries that every distribution has.

mod deb;

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

/// Makes and tries the archive and the package.
pub fn dist(words: &[&str]) -> Result<(), String> {
    let (from, is_checked) = match words {
        [] => (None, false),
        ["--check"] => (None, true),
        ["--from", folder] => (Some(*folder), false),
        ["--from", folder, "--check"] | ["--check", "--from", folder] => (Some(*folder), true),
        _ => return Err("usage: cargo xtask dist [--from DIR] [--check]".to_owned()),
    };
    if from.is_none() {
        // No folder of this machine belongs in it.
        let build = ["build", "--release", "--package", "threadproof"];
        crate::run_with("cargo", &build, &[("THREADPROOF_RELOCATABLE", "1")])?;
    }
    let target =
        std::env::var("CARGO_TARGET_DIR").map_or_else(|_| crate::root().join("target"), PathBuf::from);
    let name = format!("threadproof-{}-linux-{}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let folder = target.join("dist");
    let content = folder.join(&name);
    let _ = std::fs::remove_dir_all(&content);
    let programs = content.join("bin");
    std::fs::create_dir_all(&programs).map_err(|error| format!("{}: {error}", programs.display()))?;
    let built = from.map_or_else(|| target.join("release"), PathBuf::from);
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
    let show = |file: &Path| {
        let bytes = std::fs::metadata(file).map_or(0, |data| data.len());
        println!("{}: {} MB", file.display(), bytes >> 20);
    };
    show(&archive);
    if Path::new("/usr/bin/dpkg-deb").exists() {
        let package = deb::make(&content, &folder)?;
        show(&package);
        if is_checked {
            deb::check(&package, &folder)?;
        }
    } else if is_checked {
        return Err("there is no dpkg-deb here, so that there is no package to check".to_owned());
    }
    Ok(())
}

/// Unpacks the archive where nothing else is, and lets the tool work with an empty environment. Where the
/// system allows that, the repository is out of its sight.
fn smoke(archive: &Path, name: &str) -> Result<(), String> {
    let clean = std::env::temp_dir().join(format!("threadproof-smoke-{}", std::process::id()));
    std::fs::create_dir_all(&clean).map_err(|error| error.to_string())?;
    quietly(Command::new("tar").arg("-C").arg(&clean).arg("-xzf").arg(archive))?;
    let tried = try_all(&clean.join(name));
    let removed = std::fs::remove_dir_all(&clean).map_err(|error| error.to_string());
    tried.and(removed)
}

fn try_all(content: &Path) -> Result<(), String> {
    let is_hidden = can_hide();
    println!("the repository is {} sight", if is_hidden { "out of" } else { "in" });
    let run = |words: &[&str]| {
        let tool = content.join("bin/threadproof");
        let mut command = match is_hidden {
            // In name spaces of its own, an empty folder lies over the repository.
            true => {
                let mut command = Command::new("/usr/bin/unshare");
                let script = "/bin/mount -t tmpfs none \"$1\" && shift && exec \"$@\"";
                command.args(["--user", "--map-root-user", "--mount", "/bin/sh", "-c", script, "sh"]);
                command.arg(crate::root()).arg(tool);
                command
            }
            false => Command::new(tool),
        };
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

/// Whether a process may see other folders than we do.
fn can_hide() -> bool {
    let script = "/bin/mount -t tmpfs none \"$1\" && ! test -e \"$1/Cargo.toml\"";
    let mut command = Command::new("/usr/bin/unshare");
    command.args(["--user", "--map-root-user", "--mount", "/bin/sh", "-c", script, "sh"]).arg(crate::root());
    command.output().is_ok_and(|output| output.status.success())
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
