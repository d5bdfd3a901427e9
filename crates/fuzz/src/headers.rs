//! Short headers for random programs, with the declarations that they use and the system's types.
//!
//! To preprocess and check the system's headers takes several times as long as all that is done with a small
//! program afterwards, and it is the same work for each. So most random programs are read with these; that
//! they make the same program of a text is tested, and every sixteenth program is read with the system's own.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The headers by name.
const HEADERS: [(&str, &str); 8] = [
    ("assert.h", include_str!("headers/assert.h")),
    ("pthread.h", include_str!("headers/pthread.h")),
    ("semaphore.h", include_str!("headers/semaphore.h")),
    ("stdint.h", include_str!("headers/stdint.h")),
    ("stdio.h", include_str!("headers/stdio.h")),
    ("stdlib.h", include_str!("headers/stdlib.h")),
    ("string.h", include_str!("headers/string.h")),
    ("time.h", include_str!("headers/time.h")),
];

static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();

/// Removes the folder, if there is one. Nothing is read afterwards.
pub fn remove() {
    if let Some(Some(folder)) = FOLDER.get() {
        // What stays is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// The folder that they are in, written when it is first asked for; `None` when it cannot be.
pub fn folder() -> Option<&'static Path> {
    let write = || {
        let folder = std::env::temp_dir().join(format!("threadproof-fuzz-headers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).ok()?;
        let written = HEADERS.iter().all(|(name, text)| std::fs::write(folder.join(name), text).is_ok());
        written.then_some(folder)
    };
    FOLDER.get_or_init(write).as_deref()
}
