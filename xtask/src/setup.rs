//! Installs what the tests need beyond Rust, where it is missing: Debian packages, by name, BenchExec in a
//! Python environment of its own, and what packages the extension for Visual Studio Code, if there is Node.

use std::path::Path;
use std::process::Command;

/// A package, and a file that shows that it is there.
const PACKAGES: [(&str, &[&str]); 11] = [
    ("spin", &["/usr/bin/spin"]),
    ("gcc", &["/usr/bin/gcc"]),
    ("make", &["/usr/bin/make"]),
    ("python3-venv", &["/usr/lib/python3/dist-packages", "/usr/bin/python3"]),
    ("libc6-dev", &["/usr/include/pthread.h"]),
    ("chromium", &["/usr/bin/chromium"]),
    ("csmith", &["/usr/bin/csmith"]),
    ("libcsmith-dev", &["/usr/include/csmith/csmith.h"]),
    ("slurm-wlm", &["/usr/sbin/slurmctld"]),
    ("munge", &["/usr/sbin/munged"]),
    ("debootstrap", &["/usr/sbin/debootstrap"]),
];

/// The Python package that reads our tool-info module, with its version.
const BENCHEXEC: &str = "benchexec==3.35";

/// The package of npm that makes the extension for Visual Studio Code, with its version.
const VSCE: &str = "@vscode/vsce@3.9.2";

/// Installs what is missing; does nothing where all is there.
pub fn install() -> Result<(), String> {
    let missing: Vec<&str> = PACKAGES
        .iter()
        .filter(|(_, files)| !files.iter().any(|file| Path::new(file).exists()))
        .map(|(package, _)| *package)
        .collect();
    if !missing.is_empty() {
        if !Path::new("/usr/bin/apt-get").exists() {
            return Err(format!("please install: {}", missing.join(", ")));
        }
        eprintln!("installing {}", missing.join(", "));
        apt(&["update"])?;
        apt(&[&["install", "--yes", "--no-install-recommends"], missing.as_slice()].concat())?;
    }
    install_benchexec()?;
    install_vsce();
    Ok(())
}

/// Makes a Python environment with BenchExec, where the tests look for it.
fn install_benchexec() -> Result<(), String> {
    if crate::root().join("target/benchexec/bin/benchexec").exists() {
        return Ok(());
    }
    crate::run("python3", &["-m", "venv", "target/benchexec"])?;
    crate::run("target/benchexec/bin/python", &["-m", "pip", "install", "--quiet", BENCHEXEC])
}

/// Installs what `contrib/vscode` is packaged with. Without npm, or without its registry, the extension is
/// not packaged here, which the tests say.
fn install_vsce() {
    let folder = crate::root().join("target/vsce");
    let has_npm = Command::new("npm").arg("--version").output().is_ok_and(|output| output.status.success());
    if folder.join("node_modules/@vscode/vsce/vsce").exists() || !has_npm {
        return;
    }
    eprintln!("installing {VSCE} in target/vsce");
    let mut command = Command::new("npm");
    command.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
    let status = command.arg(&folder).arg(VSCE).status();
    if !status.is_ok_and(|status| status.success()) {
        eprintln!("{VSCE} cannot be installed: the extension for Visual Studio Code is not packaged");
    }
}

fn apt(arguments: &[&str]) -> Result<(), String> {
    let status = Command::new("apt-get")
        .args(["-qq"])
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("apt-get {}: {status}", arguments.join(" "))),
        Err(error) => Err(format!("apt-get: {error}")),
    }
}
