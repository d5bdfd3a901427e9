//! Keeps the limits on time and memory whatever the work does.
//!
//! The work asks for itself whether to stop, and answers in good time as a rule. What does not ask often enough (a pass over a huge program, the front end, giving
//! memory back) is left behind: the program then answers without it and ends.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use verdict::Exhausted;

/// How long after its deadline the work is waited for.
const GRACE: Duration = Duration::from_millis(700);
/// Deeply nested programs need a deep stack.
const STACK: usize = 512 << 20;
/// How often the work is looked at.
const PAUSE: Duration = Duration::from_millis(20);

/// What came of the work.
pub enum Watched<T> {
    /// It ended.
    Done(T),
    /// It panicked.
    Panicked,
    /// It did not keep a limit.
    Overrun(Exhausted),
}

/// Runs work in a thread of its own, with a deep stack, and waits until well past its deadline, or until the process takes more than so many bytes.
pub fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    deadline: Instant,
    bytes: u64,
) -> std::io::Result<Watched<T>> {
    let (done, result) = mpsc::channel();
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(move || {
        // Who waits may have given up.
        let _ = done.send(work());
    })?;
    loop {
        match result.recv_timeout(PAUSE) {
            Ok(result) => return Ok(Watched::Done(result)),
            Err(RecvTimeoutError::Disconnected) => return Ok(Watched::Panicked),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if Instant::now() > deadline + GRACE {
            return Ok(Watched::Overrun(Exhausted::Time));
        }
        if resident_bytes().is_some_and(|taken| taken > bytes) {
            return Ok(Watched::Overrun(Exhausted::Memory));
        }
    }
}

/// The memory that the process takes, where the system says so.
fn resident_bytes() -> Option<u64> {
    let pages: u64 =
        std::fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().nth(1)?.parse().ok()?;
    // The kernel counts in pages of 4 KiB on all machines that this runs on but few; where pages are larger, the limit holds late.
    Some(pages * 4096)
}
