//! The terminal: its width and colours, the status line, and one document on standard output.

use report::style::{DEFAULT_WIDTH, Style, clean, cut};
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// How often the status line is drawn.
const REDRAW: Duration = Duration::from_millis(150);
/// A shorter run has no status line.
const PATIENCE: Duration = Duration::from_millis(300);
/// If one write takes this long, the reader does not read.
const STUCK: Duration = Duration::from_millis(200);
/// Clears the line and moves to its beginning.
const WIPE: &str = "\r\x1b[2K";

/// The capabilities of standard output: the width of `COLUMNS` or of the terminal, with colours on a terminal
/// unless `NO_COLOR` is set.
pub fn style() -> Style {
    let is_terminal = std::io::stdout().is_terminal();
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    Style { colour: is_terminal && !set("NO_COLOR") && !dumb, width: width() }
}

fn width() -> usize {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let measured = || {
        let (columns, _) = terminal_size::terminal_size()?;
        Some(usize::from(columns.0))
    };
    named.filter(|columns| *columns > 0).or_else(measured).unwrap_or(DEFAULT_WIDTH)
}

/// Prints exactly one document, from whichever thread is first; messages; and the status line, until the
/// document is printed.
#[derive(Clone)]
pub struct Printer {
    screen: Arc<Mutex<Screen>>,
    /// Whether there is a status line.
    lively: bool,
}

struct Screen {
    printed: bool,
    /// Whether it could not be written completely.
    torn: bool,
    /// Whether there is a status line on it.
    drawn: bool,
    begun: Instant,
    next: Instant,
}

impl Default for Printer {
    fn default() -> Self {
        let begun = Instant::now();
        let screen = Screen { printed: false, torn: false, drawn: false, begun, next: begun + PATIENCE };
        Self { screen: Arc::new(Mutex::new(screen)), lively: std::io::stderr().is_terminal() }
    }
}

impl Printer {
    fn screen(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Prints a document, unless one was printed; a closed pipe is no error. Returns an error if it cannot be
    /// written completely.
    pub fn print(&self, document: &str) {
        let mut screen = self.screen();
        screen.wipe();
        if std::mem::replace(&mut screen.printed, true) {
            return;
        }
        let mut out = std::io::stdout().lock();
        match out.write_all(document.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                screen.torn = true;
                let message = format!(
                    "threadproof: error: standard output: {error}; the report is not whole: free some space, or write it elsewhere"
                );
                let _ = writeln!(std::io::stderr(), "{message}");
            }
            Ok(()) | Err(_) => {}
        }
    }
    /// Whether a document is being written to a reader that does not read.
    pub fn is_stuck(&self) -> bool {
        let asked = Instant::now();
        while matches!(self.screen.try_lock(), Err(TryLockError::WouldBlock)) {
            if asked.elapsed() > STUCK {
                return true;
            }
            std::thread::sleep(STUCK / 10);
        }
        false
    }
    /// Whether a document was printed.
    pub fn has_printed(&self) -> bool {
        self.screen().printed
    }
    /// Whether a document was printed only in part.
    pub fn is_torn(&self) -> bool {
        self.screen().torn
    }
    /// Prints a message on standard error.
    pub fn say(&self, message: &str) {
        let mut screen = self.screen();
        screen.wipe();
        let _ = writeln!(std::io::stderr(), "{message}");
    }
    /// Draws the status line, if it is time.
    pub fn status(&self, what: impl FnOnce() -> String, bytes: Option<u64>) {
        if !self.lively {
            return;
        }
        let mut screen = self.screen();
        let now = Instant::now();
        if screen.printed || now < screen.next {
            return;
        }
        screen.next = now + REDRAW;
        let seconds = now.duration_since(screen.begun).as_secs();
        let memory = bytes.map(|bytes| format!(", {} MB", bytes >> 20)).unwrap_or_default();
        let text = format!("[{seconds} s{memory}] {}", clean(&what()));
        screen.drawn = true;
        let _ = write!(std::io::stderr(), "{WIPE}{}", cut(&text, width().saturating_sub(1)));
    }
}

impl Screen {
    fn wipe(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let _ = write!(std::io::stderr(), "{WIPE}");
        }
    }
}
