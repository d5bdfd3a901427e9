//! What a node does: the jobs of one element of an array, one after the other.

use super::wave;
use crate::runner::{self, Settings};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Runs the jobs of an element that are not finished. Says what cannot be done; the element has failed then.
pub fn run(
    folder: &Path,
    element: usize,
    version: &str,
    program: &Path,
    stop: &AtomicBool,
) -> Result<(), String> {
    if wave::is_abandoned(folder) {
        println!("nobody waits for this array");
        return Ok(());
    }
    let Some(task) = wave::task(folder, element) else {
        return Err(format!("{}: there is no element {element}", folder.display()));
    };
    if task.version != version {
        return Err(format!("the batch is of version {}, and this program of {version}", task.version));
    }
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let tag = format!(".{}-{}", host.trim(), std::process::id());
    let settings = Settings {
        program,
        folder: &task.output,
        workers: 1,
        cache: task.cache.as_deref(),
        has_pages: task.has_pages,
        grace: runner::GRACE,
        tag: &tag,
        stop,
    };
    for work in task.works.into_iter().map(wave::Written::work) {
        // Somebody may have queued the element again.
        if wave::is_finished(folder, &work.id) {
            continue;
        }
        if wave::is_abandoned(folder) {
            println!("nobody waits for this array any more");
            return Ok(());
        }
        wave::begin(folder, &work.id)?;
        let mut is_done = false;
        runner::run(std::slice::from_ref(&work), &settings, |_, finished| {
            is_done = true;
            wave::finish(folder, &work.id, &finished)
        })?;
        if !is_done {
            return Err("cancelled".to_owned());
        }
    }
    Ok(())
}
