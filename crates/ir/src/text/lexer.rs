//! The lexer.

use super::{ParseError, continues_word, starts_word};

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A keyword or a name.
    Word(String),
    /// A number without sign, and the letters right after it.
    Number(u128, String),
    /// A text in quotes.
    Text(String),
    /// Punctuation.
    Sign(&'static str),
    /// The end of the text.
    End,
}

impl Token {
    /// Its text, for messages.
    pub fn describe(&self) -> String {
        match self {
            Self::Word(word) => format!("`{word}`"),
            Self::Number(value, suffix) => format!("`{value}{suffix}`"),
            Self::Text(_) => "a text in quotes".to_owned(),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end of the text".to_owned(),
        }
    }
}

/// A token and where it starts.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub token: Token,
    pub line: u32,
    pub column: u32,
}

/// Longer ones first, so that the first match is the right one.
const SIGNS: [&str; 33] = [
    "->", ":=", "..", "==", "!=", "<<", ">>", "<=", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "=",
    "!", "~", "(", ")", "[", "]", "{", "}", ",", ";", ":", "@", "?", "#",
];

struct Lexer<'t> {
    rest: &'t str,
    line: u32,
    column: u32,
}

/// The tokens of a text; the last one is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Located>, ParseError> {
    let mut lexer = Lexer { rest: text, line: 1, column: 1 };
    let mut found = Vec::new();
    loop {
        lexer.skip_blanks();
        let (line, column) = (lexer.line, lexer.column);
        let token = lexer.token()?;
        let end = token == Token::End;
        found.push(Located { token, line, column });
        if end {
            return Ok(found);
        }
    }
}

impl<'t> Lexer<'t> {
    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError { line: self.line, column: self.column, message: message.into() }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            (self.line, self.column) = (self.line.saturating_add(1), 1);
        } else {
            self.column = self.column.saturating_add(1);
        }
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let start = self.rest;
        while self.peek().is_some_and(&wanted) {
            self.next();
        }
        &start[..start.len() - self.rest.len()]
    }

    fn skip_blanks(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if !self.rest.starts_with("//") {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn token(&mut self) -> Result<Token, ParseError> {
        let Some(first) = self.peek() else { return Ok(Token::End) };
        let after_percent = self.rest.strip_prefix('%').and_then(|rest| rest.chars().next());
        if starts_word(first) || after_percent.is_some_and(|c| starts_word(c) || c.is_ascii_digit()) {
            return Ok(Token::Word(self.word()));
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        if first == '"' {
            return self.text();
        }
        match SIGNS.into_iter().find(|sign| self.rest.starts_with(sign)) {
            Some(sign) => {
                for _ in 0..sign.len() {
                    self.next();
                }
                Ok(Token::Sign(sign))
            }
            None => Err(self.error(format!("the character {first:?} has no meaning here"))),
        }
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        word.extend(self.next());
        word.push_str(self.take_while(continues_word));
        let after_number_sign = self.rest.strip_prefix('#').and_then(|rest| rest.chars().next());
        if after_number_sign.is_some_and(|c| c.is_ascii_digit()) {
            word.extend(self.next());
            word.push_str(self.take_while(|c| c.is_ascii_digit()));
        }
        word
    }

    fn number(&mut self) -> Result<Token, ParseError> {
        let start = self.error("the number is too large");
        let digits = self.take_while(|c| c.is_ascii_digit());
        let value = digits.parse().map_err(|_| start)?;
        Ok(Token::Number(value, self.take_while(|c| c.is_ascii_alphanumeric()).to_owned()))
    }

    fn text(&mut self) -> Result<Token, ParseError> {
        let start = self.error("the text in quotes does not end");
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                None | Some('\n') => return Err(start),
                Some('"') => return Ok(Token::Text(text)),
                Some('\\') => text.push(self.escape()?),
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        let unknown = self.error("an escape is one of \\\" \\\\ \\n \\t \\r \\u{…}");
        match self.next() {
            Some('"') => Ok('"'),
            Some('\\') => Ok('\\'),
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some('r') => Ok('\r'),
            Some('u') => {
                let open = self.next();
                let digits = self.take_while(|c| c.is_ascii_hexdigit());
                let close = self.next();
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                code.filter(|_| open == Some('{') && close == Some('}')).ok_or(unknown)
            }
            _ => Err(unknown),
        }
    }
}
