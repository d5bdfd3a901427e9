//! From text to words.
//!
//! Names are letters, digits, `_`, `$` and `.`, or any text in braces on one line without `;` and `:`
//! (Bebop's `{x==1}`); other braces are symbols. A quote before a name, or right after it, is a prime.
//! Comments are `// …` and `/* … */`.

use crate::diagnostic::{Position, Problem};

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name or a keyword; those in braces keep them.
    Word(String),
    /// Digits.
    Number(String),
    /// Punctuation.
    Symbol(&'static str),
    /// The end of the text.
    End,
}

/// Punctuation, longest first.
const SYMBOLS: [&str; 29] = [
    ":=", "!=", "==", "=>", "&&", "||", ";", ":", ",", "(", ")", "[", "]", "{", "}", "<", ">", "=", "&", "|",
    "^", "!", "~", "?", "*", "'", "+", "-", "/",
];

/// All words of a text, with their places. The last one is [`Token::End`].
pub fn tokens(text: &str) -> Result<Vec<(Token, Position)>, Problem> {
    let mut lexer = Lexer { rest: text, at: Position { line: 1, column: 1 }, found: Vec::new() };
    lexer.run()?;
    Ok(lexer.found)
}

struct Lexer<'a> {
    rest: &'a str,
    at: Position,
    found: Vec<(Token, Position)>,
}

impl<'a> Lexer<'a> {
    /// Takes this many bytes.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        match taken.rfind('\n') {
            Some(last) => {
                self.at.line += taken.matches('\n').count() as u32;
                self.at.column = taken[last + 1..].chars().count() as u32 + 1;
            }
            None => self.at.column += taken.chars().count() as u32,
        }
        self.rest = rest;
        taken
    }

    fn run(&mut self) -> Result<(), Problem> {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            self.take(blanks);
            let at = self.at;
            let Some(first) = self.rest.chars().next() else {
                self.found.push((Token::End, at));
                return Ok(());
            };
            let length_while = |wanted: &dyn Fn(char) -> bool| {
                self.rest.find(|c: char| !wanted(c)).unwrap_or(self.rest.len())
            };
            if self.rest.starts_with("//") {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.take(end);
            } else if self.rest.starts_with("/*") {
                let Some(end) = self.rest.find("*/") else {
                    return Err(Problem::new(at, "this comment has no end"));
                };
                self.take(end + 2);
            } else if first.is_ascii_alphabetic() || first == '_' {
                let length = length_while(&|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.'));
                let word = self.take(length).to_owned();
                self.found.push((Token::Word(word), at));
            } else if first.is_ascii_digit() {
                let length = length_while(&|c| c.is_ascii_digit());
                let digits = self.take(length).to_owned();
                self.found.push((Token::Number(digits), at));
            } else if let Some(length) = braced(self.rest) {
                let word = self.take(length).to_owned();
                self.found.push((Token::Word(word), at));
            } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| self.rest.starts_with(**symbol)) {
                self.take(symbol.len());
                self.found.push((Token::Symbol(symbol), at));
            } else {
                return Err(Problem::new(at, format!("unexpected character {first:?}")));
            }
        }
    }
}

/// How long a name in braces is that begins here.
fn braced(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('{')?;
    let end = inside.find(['}', ';', '\n', '{', ':'])?;
    (inside[end..].starts_with('}') && !inside[..end].trim().is_empty()).then_some(end + 2)
}
