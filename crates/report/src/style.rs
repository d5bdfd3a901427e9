//! Text on a terminal: its width, its colours, and the removal of control characters.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The capabilities of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether it may have colours.
    pub colour: bool,
    /// The number of characters on a line.
    pub width: usize,
}

/// The default width.
pub const DEFAULT_WIDTH: usize = 100;

impl Default for Style {
    fn default() -> Self {
        Self { colour: false, width: DEFAULT_WIDTH }
    }
}

/// The role of a text, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    Plain,
    /// Less important.
    Faint,
    /// A title.
    Title,
    /// Success.
    Good,
    /// An error.
    Bad,
    /// Not known.
    Open,
    /// A thread, by number.
    Thread(usize),
}

/// The colours of threads, one after the other.
const THREADS: [&str; 6] = ["36", "33", "35", "32", "34", "96"];

impl Style {
    /// A text in a colour, if there are colours.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Faint => "2",
            Tone::Title => "1",
            Tone::Good => "1;32",
            Tone::Bad => "1;31",
            Tone::Open => "1;33",
            Tone::Thread(thread) => THREADS[thread % THREADS.len()],
        };
        if self.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// An untrusted text on one line, without characters that could move the cursor or change colours.
pub fn clean(text: &str) -> String {
    let plain = |c: char| match c {
        '\t' | '\n' | '\r' => ' ',
        // Marks that change the writing direction could make a line look like another.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(plain).collect()
}

/// The width of a text.
pub fn width(text: &str) -> usize {
    text.width()
}

/// A text cut to a width.
pub fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut taken = 1;
    for c in text.chars() {
        taken += c.width().unwrap_or(0);
        if taken > most {
            break;
        }
        out.push(c);
    }
    if most > 0 {
        out.push('…');
    }
    out
}

/// A text padded to a width.
pub fn padded(text: &str, to: usize) -> String {
    format!("{text}{:1$}", "", to.saturating_sub(width(text)))
}

/// A text on lines of at most a width, broken between words where that is possible.
pub fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && width(&line) + 1 + width(word) > most {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.iter().map(|line| cut(line, most)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_their_width() {
        assert_eq!(cut("counter", 7), "counter");
        assert_eq!(cut("counter", 4), "cou…");
        assert_eq!(cut("計数器", 5), "計数…");
        assert_eq!(cut("x", 0), "");
        assert_eq!(wrapped("a bb ccc", 4), ["a bb", "ccc"]);
    }

    #[test]
    fn commands_to_the_terminal_are_taken_out() {
        assert_eq!(clean("a\x1b[31mb\tc\u{202e}d"), "a\u{fffd}[31mb c\u{fffd}d");
    }
}
