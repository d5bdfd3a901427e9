//! Keeps the limits on time and memory whatever the work does, and ends it soon when the user asks for that.
//!
//! The work asks for itself whether to stop, and answers in good time as a rule. What does not ask often enough (a pass over a huge program, the front end, giving
//! memory back) is left behind: the program then answers without it and ends.

use nix::sys::signal::{SigSet, Signal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use verdict::{Cancel, Exhausted};

/// How long after its deadline the work is waited for.
const GRACE: Duration = Duration::from_millis(700);
/// How long after the user asked to stop. Together with the report it takes less than a second.
const INTERRUPT_GRACE: Duration = Duration::from_millis(500);
/// Deeply nested programs need a deep stack.
const STACK: usize = 512 << 20;
/// How often the work is looked at.
const PAUSE: Duration = Duration::from_millis(20);
/// The exit status of a program that was interrupted, where there is no time for a report.
const INTERRUPTED: i32 = 130;

/// What came of the work.
pub enum Watched<T> {
    /// It ended.
    Done(T),
    /// It panicked.
    Panicked,
    /// It did not keep a limit, or did not end when it was asked to.
    Overrun(Exhausted),
}

/// What the work has to keep.
pub struct Limits {
    /// When it should have ended.
    pub deadline: Instant,
    /// The bytes that the process may take.
    pub bytes: u64,
    /// Asks it to stop.
    pub cancel: Cancel,
}

/// A flag that is set by Ctrl-C, and by the signal that asks a process to end. The second time, the process ends at once.
///
/// The signals are blocked in this thread and all that it starts, and one thread waits for them: the solver sets a handler of its own for Ctrl-C whenever it is asked something, so that
/// a handler of ours would not be called.
fn interrupts() -> std::io::Result<Arc<AtomicBool>> {
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

/// Runs work in a thread of its own, with a deep stack, and waits until well past its deadline, until the process takes too much memory, or until shortly after
/// it was asked to end. Looks up every so often, and tells how many bytes the process takes.
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
        // Who waits may have given up.
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

/// The memory that the process takes, where the system says so.
fn resident_bytes() -> Option<u64> {
    let pages: u64 =
        std::fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().nth(1)?.parse().ok()?;
    // The kernel counts in pages of 4 KiB on all machines that this runs on but few; where pages are larger, the limit holds late.
    Some(pages * 4096)
}
