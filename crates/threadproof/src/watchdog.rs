//! Enforces the limits on time and memory whatever the work does, and ends it soon when the user asks for
//! that.
//!
//! The work itself checks whether to stop, and usually answers in time. Work that does not check often enough
//! (a pass over a huge program, the front end, freeing memory) is abandoned: the program then answers without
//! it and ends.

use nix::sys::signal::{SigSet, Signal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use verdict::{Cancel, Exhausted};

/// How long to wait for the work after its deadline.
const GRACE: Duration = Duration::from_millis(700);
/// How long to wait after the user asked to stop. Including the report, this takes less than a second.
const INTERRUPT_GRACE: Duration = Duration::from_millis(500);
/// Deeply nested programs need a deep stack.
const STACK: usize = 512 << 20;
/// How often to check the work.
const PAUSE: Duration = Duration::from_millis(20);
/// The exit status of an interrupted run without a report.
pub const INTERRUPTED: i32 = 130;

/// The result of the work.
pub enum Watched<T> {
    /// It ended.
    Done(T),
    /// It panicked.
    Panicked,
    /// It exceeded a limit, or did not end when it was asked to.
    Overrun(Exhausted),
}

/// The limits of the work.
pub struct Limits {
    /// Its deadline.
    pub deadline: Instant,
    /// The memory limit of the process, in bytes.
    pub bytes: u64,
    /// Asks it to stop.
    pub cancel: Cancel,
}

/// A flag that Ctrl-C and the signal TERM set. The second time, the process ends at once.
///
/// The signals are blocked in this thread and all that it starts, and one thread waits for them: the solver
/// installs its own handler for Ctrl-C with each query, so a handler of ours would not be called.
pub fn interrupts() -> std::io::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
    signals.thread_block()?;
    let flag = asked.clone();
    std::thread::Builder::new().spawn(move || {
        if signals.wait().is_ok() {
            flag.store(true, Ordering::Relaxed);
            if signals.wait().is_ok() {
                std::process::exit(INTERRUPTED);
            }
        }
    })?;
    Ok(asked)
}

/// Runs work in a separate thread with a deep stack. Waits until shortly after its deadline or after a
/// request to stop, or until the process takes too much memory. Calls back regularly with the memory use of
/// the process.
pub fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    limits: &Limits,
    mut look_up: impl FnMut(Option<u64>),
) -> std::io::Result<Watched<T>> {
    let interrupted = interrupts()?;
    let mut asked: Option<Instant> = None;
    let (done, result) = mpsc::channel();
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(move || {
        // The waiting thread may have given up.
        let _ = done.send(work());
    })?;
    loop {
        match result.recv_timeout(PAUSE) {
            Ok(result) => return Ok(Watched::Done(result)),
            Err(RecvTimeoutError::Disconnected) => return Ok(Watched::Panicked),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if interrupted.load(Ordering::Relaxed) {
            limits.cancel.cancel();
            if asked.get_or_insert_with(Instant::now).elapsed() > INTERRUPT_GRACE {
                return Ok(Watched::Overrun(Exhausted::Cancelled));
            }
        }
        if Instant::now() > limits.deadline + GRACE {
            return Ok(Watched::Overrun(Exhausted::Time));
        }
        let taken = resident_bytes();
        if taken.is_some_and(|taken| taken > limits.bytes) {
            return Ok(Watched::Overrun(Exhausted::Memory));
        }
        look_up(taken);
    }
}

/// The memory use of the process, if the system reports it.
fn resident_bytes() -> Option<u64> {
    let pages: u64 =
        std::fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().nth(1)?.parse().ok()?;
    // Almost all machines have pages of 4 KiB; with larger pages, the limit takes effect late.
    Some(pages * 4096)
}
