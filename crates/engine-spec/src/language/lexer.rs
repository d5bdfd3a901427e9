//! Splits a specification into words and signs.

use crate::language::diagnostic::Problem;
use ir::Span;

/// A word, a number or a sign.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// A name or a word of the language.
    Word(String),
    /// A number, whether it is unsigned, and how many `l` it has.
    Number(i128, bool, u8),
    /// A sign.
    Sign(&'static str),
    /// The end of the file.
    End,
}

/// Signs; where one begins another, the longer one comes first.
const SIGNS: [&str; 35] = [
    "==>", "->", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "{", "}", "(", ")", "[", "]", ";", ",", ":",
    "?", "'", ".", "=", "<", ">", "+", "-", "*", "/", "%", "!", "~", "&", "|", "^",
];

/// All words of a text, each with its place.
pub fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Problem> {
    let mut found = Vec::new();
    let mut lexer = Lexer { rest: text, line: 1, column: 1 };
    while lexer.skip_blanks()? {
        let at = lexer.at();
        let first = lexer.rest.chars().next().unwrap_or(' ');
        let token = if first.is_ascii_alphabetic() || first == '_' {
            Token::Word(lexer.take(|c| c.is_ascii_alphanumeric() || c == '_').to_owned())
        } else if first.is_ascii_digit() {
            number(lexer.take(|c| c.is_ascii_alphanumeric())).map_err(|message| Problem::new(at, message))?
        } else if let Some(sign) = SIGNS.iter().find(|sign| lexer.rest.starts_with(**sign)) {
            lexer.advance(sign.len());
            Token::Sign(sign)
        } else {
            return Err(Problem::new(at, format!("`{first}` has no meaning here")));
        };
        found.push((token, at));
    }
    found.push((Token::End, lexer.at()));
    Ok(found)
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
}

impl<'a> Lexer<'a> {
    fn at(&self) -> Span {
        Span { file: 0, line: self.line, column: self.column }
    }

    fn advance(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        for c in taken.chars() {
            if c == '\n' {
                (self.line, self.column) = (self.line + 1, 1);
            } else {
                self.column += 1;
            }
        }
        self.rest = rest;
        taken
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        self.advance(end)
    }

    /// Skips blanks and comments; says whether something is left.
    fn skip_blanks(&mut self) -> Result<bool, Problem> {
        loop {
            self.take(char::is_whitespace);
            if self.rest.starts_with("//") {
                self.take(|c| c != '\n');
            } else if self.rest.starts_with("/*") {
                let at = self.at();
                let Some(end) = self.rest.find("*/") else {
                    return Err(Problem::new(at, "this comment does not end"));
                };
                self.advance(end + 2);
            } else {
                return Ok(!self.rest.is_empty());
            }
        }
    }
}

fn number(text: &str) -> Result<Token, String> {
    let lower = text.to_ascii_lowercase();
    let hexadecimal = lower.strip_prefix("0x");
    let digits = hexadecimal.unwrap_or(&lower);
    let suffix = digits.trim_start_matches(|c: char| {
        if hexadecimal.is_some() { c.is_ascii_hexdigit() } else { c.is_ascii_digit() }
    });
    let digits = &digits[..digits.len() - suffix.len()];
    let longs = suffix.matches('l').count();
    let unsigned = suffix.matches('u').count();
    let bad = || format!("`{text}` is not a number");
    if longs + unsigned != suffix.len() || longs > 2 || unsigned > 1 || digits.is_empty() {
        return Err(bad());
    }
    let radix = match hexadecimal {
        Some(_) => 16,
        None if digits.len() > 1 && digits.starts_with('0') => 8,
        None => 10,
    };
    let value = u64::from_str_radix(digits, radix).map_err(|_| bad())?;
    Ok(Token::Number(value.into(), unsigned == 1, longs as u8))
}
