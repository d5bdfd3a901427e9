//! The Debian package of a release, and its trial in a clean Debian: installed, used and removed.

use super::{TAKEN, quietly};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release of Debian in which the package is tried.
const DEBIAN: &str = "bookworm";

/// Where the parts of the archive are in the package.
const PLACES: [(&str, &str); 4] = [
    ("share/man/man1", "usr/share/man/man1"),
    ("share/bash-completion/completions", "usr/share/bash-completion/completions"),
    ("share/zsh/site-functions", "usr/share/zsh/vendor-completions"),
    ("share/fish/vendor_completions.d", "usr/share/fish/vendor_completions.d"),
];

/// Makes the package of what is in the archive, and says where it is.
pub fn make(content: &Path, folder: &Path) -> Result<PathBuf, String> {
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let root = folder.join("deb");
    let _ = std::fs::remove_dir_all(&root);
    let make = |path: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display())).map(|()| path)
    };
    // The program finds the solver's library beside itself, also through the link.
    let programs = make("usr/lib/threadproof")?;
    copy_all(&content.join("bin"), &programs)?;
    let link = make("usr/bin")?.join("threadproof");
    std::os::unix::fs::symlink("../lib/threadproof/threadproof", &link)
        .map_err(|error| format!("{}: {error}", link.display()))?;
    for (from, to) in PLACES {
        copy_all(&content.join(from), &make(to)?)?;
    }
    quietly(Command::new("gzip").arg("-9n").arg(root.join("usr/share/man/man1/threadproof.1")))?;
    let documents = make("usr/share/doc/threadproof")?;
    for taken in TAKEN {
        quietly(Command::new("cp").arg("-r").arg(content.join(taken)).arg(&documents))?;
    }
    write(&documents.join("copyright"), COPYRIGHT)?;
    let version = env!("CARGO_PKG_VERSION");
    let libc = newest_libc(&programs)?;
    let size = kilobytes(&root)?;
    let control = make("DEBIAN")?.join("control");
    write(
        &control,
        &format!(
            "Package: threadproof\nVersion: {version}\nArchitecture: {machine}\nSection: devel\nPriority: optional\n\
            Maintainer: The developers of Threadproof <threadproof@localhost>\nInstalled-Size: {size}\n\
            Depends: libc6 (>= {libc}), libgcc-s1, libstdc++6\nRecommends: libc6-dev\nSuggests: slurm-client\n\
            Description: verifier of concurrent C programs\n \
            Proves or refutes assertions, data races, memory safety, overflow and deadlocks of\n \
            concurrent C programs and Boolean programs, for every schedule and any number of\n \
            threads, with evidence that a separate checker accepts.\n"
        ),
    )?;
    // Others may read everything, whatever the mask of the one who makes it.
    quietly(Command::new("chmod").args(["-R", "u+rwX,go+rX,go-w"]).arg(&root))?;
    let package = folder.join(format!("threadproof_{version}_{machine}.deb"));
    quietly(
        Command::new("dpkg-deb").args(["--root-owner-group", "-Zxz", "--build"]).arg(&root).arg(&package),
    )?;
    let removed = std::fs::remove_dir_all(&root).map_err(|error| error.to_string());
    removed.map(|()| package)
}

const COPYRIGHT: &str = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: threadproof

Files: *
Copyright: The developers of Threadproof
License: Apache-2.0 or MIT
 The texts are in /usr/share/doc/threadproof/LICENSE-APACHE and LICENSE-MIT.

Files: usr/lib/threadproof/libz3.so*
Copyright: Microsoft Corporation
License: MIT
 The text of this license is in /usr/share/doc/threadproof/LICENSE-MIT.
";

/// Copies what is in a folder.
fn copy_all(from: &Path, to: &Path) -> Result<(), String> {
    quietly(Command::new("cp").arg("-r").arg(from.join(".")).arg(to))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The space that a folder takes.
fn kilobytes(folder: &Path) -> Result<u64, String> {
    let output = Command::new("du").arg("-sk").arg(folder).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = text.split_whitespace().next().and_then(|word| word.parse().ok());
    number.ok_or_else(|| format!("du: {text}"))
}

/// The newest version of the C library that the programs in a folder need.
fn newest_libc(folder: &Path) -> Result<String, String> {
    let mut newest = (0, 0);
    for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())?.flatten() {
        let output = Command::new("readelf").arg("-V").arg(entry.path()).output();
        let output = output.map_err(|error| format!("readelf: {error}"))?;
        newest = newest.max(newest_in(&String::from_utf8_lossy(&output.stdout)));
    }
    match newest {
        (0, _) => Err("readelf named no version of the C library".to_owned()),
        (major, minor) => Ok(format!("{major}.{minor}")),
    }
}

/// The newest version of the C library in what `readelf` prints.
fn newest_in(text: &str) -> (u32, u32) {
    let words = text.split_whitespace().filter_map(|word| word.strip_prefix("GLIBC_"));
    let numbers = words.filter_map(|word| {
        let mut parts = word.split('.').map(|part| part.parse().ok());
        Some((parts.next()??, parts.next()??))
    });
    numbers.max().unwrap_or((0, 0))
}

/// Installs the package in a clean Debian, verifies examples there as a user, and removes it. Needs `root`.
pub fn check(package: &Path, folder: &Path) -> Result<(), String> {
    let system = folder.join("debian");
    let base = folder.join(format!("{DEBIAN}.tar"));
    if !base.is_file() {
        println!("fetching Debian {DEBIAN}");
        let _ = std::fs::remove_dir_all(&system);
        quietly(Command::new("debootstrap").args(["--variant=minbase", DEBIAN]).arg(&system))?;
        quietly(Command::new("tar").arg("-C").arg(&system).arg("-cf").arg(&base).arg("."))?;
    }
    let _ = std::fs::remove_dir_all(&system);
    std::fs::create_dir_all(&system).map_err(|error| error.to_string())?;
    quietly(Command::new("tar").arg("-C").arg(&system).arg("-xf").arg(&base))?;
    let there = system.join("root/threadproof.deb");
    std::fs::copy(package, &there).map_err(|error| format!("{}: {error}", there.display()))?;
    // Names of hosts are looked up as here.
    let _ = std::fs::copy("/etc/resolv.conf", system.join("etc/resolv.conf"));
    // The program reads what it takes from there.
    let processes = system.join("proc");
    quietly(Command::new("mount").args(["-t", "proc", "proc"]).arg(&processes))?;
    let tried = try_all(&system);
    quietly(Command::new("umount").arg("--lazy").arg(&processes))?;
    let removed = std::fs::remove_dir_all(&system).map_err(|error| error.to_string());
    tried.and(removed)
}

/// What must hold in the clean Debian, one after the other: what is run there, the exit status, and the last
/// line, of which only the beginning is compared.
const STEPS: [(&str, i32, &str); 8] = [
    ("if command -v cargo; then exit 1; fi", 0, ""),
    ("apt-get -qq update", 0, ""),
    ("apt-get -qq install --yes /root/threadproof.deb >/dev/null", 0, ""),
    (
        "su nobody -s /bin/sh -c 'cd /usr/share/doc/threadproof && threadproof verify examples/counter-locked.c'",
        0,
        "verdict: true",
    ),
    (
        "su nobody -s /bin/sh -c 'cd /usr/share/doc/threadproof && threadproof verify examples/counter.c'",
        1,
        "verdict: false(",
    ),
    (
        "cd /usr/share/doc/threadproof && threadproof verify --check races --engine horn examples/handoff.c",
        0,
        "verdict: true",
    ),
    ("apt-get -qq purge --yes threadproof >/dev/null", 0, ""),
    ("find / -xdev -path /proc -prune -o -path /root -prune -o -name '*threadproof*' -print | grep .", 1, ""),
];

fn try_all(system: &Path) -> Result<(), String> {
    for (words, status, line) in STEPS {
        let output = Command::new("chroot")
            .arg(system)
            .args(["/bin/sh", "-c", words])
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .output()
            .map_err(|error| format!("chroot: {error}"))?;
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.code() != Some(status) || !out.lines().last().unwrap_or_default().starts_with(line) {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{words}: {} instead of {status}, `{line}…`\n{out}{error}", output.status));
        }
        println!("tried: {words}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_newest_version_counts() {
        let text =
            "  0x0010:   Name: GLIBC_2.4  Flags: none\n GLIBC_2.34 GLIBCXX_3.9 GLIBC_PRIVATE GLIBC_2.5";
        assert_eq!(super::newest_in(text), (2, 34));
        assert_eq!(super::newest_in(""), (0, 0));
    }
}
