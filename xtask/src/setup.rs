//! Installs what the tests need beyond Rust, where it is missing: Debian packages, by name.

use std::path::Path;
use std::process::Command;

/// A package, and a file that shows that it is there.
const PACKAGES: [(&str, &[&str]); 4] = [
    ("gcc", &["/usr/bin/gcc"]),
    ("libc6-dev", &["/usr/include/pthread.h"]),
    ("csmith", &["/usr/bin/csmith"]),
    ("libcsmith-dev", &["/usr/include/csmith/csmith.h"]),
];

/// Installs the missing packages; does nothing where all are there.
pub fn install() -> Result<(), String> {
    let missing: Vec<&str> = PACKAGES
        .iter()
        .filter(|(_, files)| !files.iter().any(|file| Path::new(file).exists()))
        .map(|(package, _)| *package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !Path::new("/usr/bin/apt-get").exists() {
        return Err(format!("please install: {}", missing.join(", ")));
    }
    eprintln!("installing {}", missing.join(", "));
    apt(&["update"])?;
    apt(&[&["install", "--yes", "--no-install-recommends"], missing.as_slice()].concat())
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
