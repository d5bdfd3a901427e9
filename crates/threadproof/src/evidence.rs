//! Writes evidence beside the report: reproducers.

use crate::arguments::Verify;
use crate::input::Kind;
use checker::{Checked, Refutation};
use report::{Outcome, Sources};
use reproducer::Compilation;
use std::path::{Path, PathBuf};

/// The first refutation among the outcomes.
fn refutation(outcomes: &[Outcome]) -> Option<&Refutation> {
    outcomes.iter().find_map(|outcome| match &outcome.verdict {
        Checked::Refuted(refutation) => Some(&**refutation),
        Checked::Proved(_) | Checked::Unknown(_) => None,
    })
}

/// Writes the reproducer that was asked for. What it says is for people.
pub fn write_reproducer(
    options: &Verify,
    kind: Kind,
    sources: &Sources,
    outcomes: &[Outcome],
) -> Option<String> {
    let folder = options.reproducer.as_ref()?;
    let Some(refutation) = refutation(outcomes) else {
        return Some("there is no reproducer: nothing was refuted".to_owned());
    };
    if kind != Kind::C {
        return Some("there is no reproducer: it is not a C program".to_owned());
    }
    let written = compilation(options).and_then(|compilation| {
        let line = |span| sources.line(span);
        reproducer::make(refutation, &compilation, line).map_err(|reason| reason.to_string()).and_then(
            |files| {
                let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
                std::fs::create_dir_all(folder).map_err(failed)?;
                for file in files {
                    std::fs::write(folder.join(&file.name), file.text).map_err(failed)?;
                }
                Ok(())
            },
        )
    });
    let shown = folder.display();
    Some(match written {
        Ok(()) => format!("a reproducer is in {shown}: make -C {shown} && {shown}/repro"),
        Err(reason) => format!("there is no reproducer: {reason}"),
    })
}

/// How the program that was read is compiled.
pub fn compilation(options: &Verify) -> Result<Compilation, String> {
    let mut compilation = Compilation::default();
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in &options.files {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        compilation.sources.push((path.to_string_lossy().into_owned(), text));
        folders.extend(path.parent().map(Path::to_owned));
    }
    folders.extend(options.include_dirs.iter().cloned());
    folders.dedup();
    let arguments = &mut compilation.arguments;
    let absolute = |path: &Path| -> Result<String, String> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let full = std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(full.to_string_lossy().into_owned())
    };
    arguments.extend(options.standard.iter().map(|standard| format!("-std={standard}")));
    for folder in &folders {
        arguments.push(format!("-I{}", absolute(folder)?));
    }
    arguments.extend(options.defines.iter().map(|define| format!("-D{define}")));
    for include in &options.includes {
        arguments.extend(["-include".to_owned(), absolute(include)?]);
    }
    Ok(compilation)
}
