//! Gets the solver's library and tells the linker where it is.
//!
//! The library is taken from `THREADPROOF_Z3_DIR` (a folder with `lib/libz3.so`) where that is set. Else it
//! comes from the Python package that `solver-package.txt` pins by version and hash, is unpacked once into
//! `third_party/z3`, and stays there. In both cases it is linked beside the built programs, where their run
//! path finds it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=THREADPROOF_Z3_DIR");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=solver-package.txt");
    if let Err(message) = provide() {
        panic!("the solver's library cannot be provided: {message}");
    }
}

fn provide() -> Result<(), String> {
    let libraries = match std::env::var_os("THREADPROOF_Z3_DIR") {
        Some(folder) => PathBuf::from(folder).join("lib"),
        None => unpacked()?,
    };
    let beside = programs_folder()?;
    let mut found = false;
    for entry in fs::read_dir(&libraries).map_err(|error| format!("{}: {error}", libraries.display()))? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("libz3.so") {
            found = true;
            put_beside(&path, &beside.join(name))?;
        }
    }
    if !found {
        return Err(format!("there is no libz3.so in {}", libraries.display()));
    }
    println!("cargo:rustc-link-search=native={}", beside.display());
    Ok(())
}

/// The folder of the built programs: `target/<profile>`, three above the folder that is this script's own.
fn programs_folder() -> Result<PathBuf, String> {
    let own = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    own.ancestors().nth(3).map(Path::to_owned).ok_or_else(|| format!("{} is not deep enough", own.display()))
}

/// Makes `to` the same file as `from`, or a copy where the file system has no links.
fn put_beside(from: &Path, to: &Path) -> Result<(), String> {
    let complain = |error: std::io::Error| format!("{}: {error}", to.display());
    // Another build may use the old file: it is replaced in one step, never written over.
    let fresh = to.with_extension(format!("new-{}", std::process::id()));
    if fs::hard_link(from, &fresh).is_err() {
        fs::copy(from, &fresh).map_err(complain)?;
    }
    fs::rename(&fresh, to).map_err(complain)?;
    // Renaming a link onto another link to the same file does nothing and leaves both.
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(complain(error)),
        _ => Ok(()),
    }
}

/// The folder with the libraries of the unpacked package, which is fetched on the first build.
fn unpacked() -> Result<PathBuf, String> {
    let package =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?);
    let root = package.ancestors().nth(2).ok_or("the crate is not in the repository")?;
    let third_party = root.join("third_party");
    let pinned = package.join("solver-package.txt");
    let pin = fs::read_to_string(&pinned).map_err(|error| format!("{}: {error}", pinned.display()))?;
    let home = third_party.join("z3");
    let libraries = home.join("lib");
    // The pin lies beside the library: when it changes, the library is fetched again.
    if is_pinned(&home, &pin) {
        return Ok(libraries);
    }
    let scratch = third_party.join(format!("z3-{}", std::process::id()));
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let outcome = fetch(&pinned, &scratch).and_then(|()| {
        let fresh = scratch.join("z3");
        fs::write(fresh.join("pin.txt"), &pin).map_err(|error| error.to_string())?;
        move_into_place(&fresh, &home, &scratch.join("old"), &pin)
    });
    let _ = fs::remove_dir_all(&scratch);
    outcome.map(|()| libraries)
}

/// Renames a folder in one step, so that no build sees half of it.
fn move_into_place(fresh: &Path, home: &Path, old: &Path, pin: &str) -> Result<(), String> {
    // Another build may have been faster; what it put there may be in use.
    if is_pinned(home, pin) {
        return Ok(());
    }
    let _ = fs::rename(home, old);
    match fs::rename(fresh, home) {
        Ok(()) => Ok(()),
        Err(_) if is_pinned(home, pin) => Ok(()),
        Err(error) => Err(format!("{}: {error}", home.display())),
    }
}

/// Whether the folder holds the library that is wanted.
fn is_pinned(home: &Path, pin: &str) -> bool {
    fs::read_to_string(home.join("pin.txt")).is_ok_and(|known| known == pin)
}

/// Downloads the pinned package with the package client and unpacks it into `scratch`.
fn fetch(pinned: &Path, scratch: &Path) -> Result<(), String> {
    let downloads = scratch.join("downloads");
    let download = || {
        run(Command::new("python3")
            .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"])
            .args(["--only-binary=:all:", "--require-hashes", "--requirement"])
            .arg(pinned)
            .arg("--dest")
            .arg(&downloads))
    };
    if run(Command::new("python3").args(["-m", "pip", "--version"])).is_err() {
        install_package_client()?;
    }
    download()?;
    let wheel = fs::read_dir(&downloads)
        .map_err(|error| error.to_string())?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or("the package client brought no package")?;
    run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(scratch))
}

/// Installs Python's package client on Debian.
fn install_package_client() -> Result<(), String> {
    let advice = "please install Python 3 with pip (Debian: python3-pip), or set THREADPROOF_Z3_DIR to a folder with lib/libz3.so";
    if !Path::new("/usr/bin/apt-get").exists() {
        return Err(advice.to_owned());
    }
    let apt = |arguments: &[&str]| {
        run(Command::new("apt-get").arg("-qq").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update"])
        .and_then(|()| apt(&["install", "--yes", "--no-install-recommends", "python3-pip"]))
        .map_err(|error| format!("{advice} ({error})"))
}

/// Runs a command; its failure is an error with what it printed.
fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{shown}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("{shown}: {error}")),
    }
}
