//! JSON as text that can be changed anywhere: numbers keep all their digits, and objects the order of their
//! fields.

use std::fmt;

/// A piece of JSON.
#[derive(Clone, PartialEq, Debug)]
pub enum Json {
    /// `null`, `true`, `false`, or a number: as it stands.
    Word(String),
    /// A text, as it stands between its quotes.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a text; `None` when it is no JSON.
    pub fn read(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let found = Self::value(&mut rest)?;
        rest.trim().is_empty().then_some(found)
    }

    fn value(rest: &mut &str) -> Option<Self> {
        *rest = rest.trim_start();
        match rest.chars().next()? {
            '"' => Self::text(rest).map(Self::Text),
            '[' => {
                let mut list = Vec::new();
                Self::items(rest, ']', |rest| {
                    list.push(Self::value(rest)?);
                    Some(())
                })?;
                Some(Self::List(list))
            }
            '{' => {
                let mut fields = Vec::new();
                Self::items(rest, '}', |rest| {
                    *rest = rest.trim_start();
                    let name = Self::text(rest)?;
                    *rest = rest.trim_start().strip_prefix(':')?;
                    fields.push((name, Self::value(rest)?));
                    Some(())
                })?;
                Some(Self::Object(fields))
            }
            _ => {
                let end = rest.find([',', ']', '}', ' ', '\n', '\t', '\r']).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                *rest = after;
                (!word.is_empty()).then(|| Self::Word(word.to_owned()))
            }
        }
    }

    fn text(rest: &mut &str) -> Option<String> {
        let inside = rest.strip_prefix('"')?;
        let mut escaped = false;
        let end = inside.find(|letter| {
            let ends = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            ends
        })?;
        *rest = &inside[end + 1..];
        Some(inside[..end].to_owned())
    }

    fn items(rest: &mut &str, close: char, mut item: impl FnMut(&mut &str) -> Option<()>) -> Option<()> {
        *rest = rest[1..].trim_start();
        if let Some(after) = rest.strip_prefix(close) {
            *rest = after;
            return Some(());
        }
        loop {
            item(rest)?;
            *rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix(close) {
                *rest = after;
                return Some(());
            }
            *rest = rest.strip_prefix(',')?;
        }
    }

    /// How many pieces it has, itself among them.
    pub fn size(&self) -> usize {
        1 + match self {
            Self::Word(_) | Self::Text(_) => 0,
            Self::List(list) => list.iter().map(Self::size).sum(),
            Self::Object(fields) => fields.iter().map(|(_, value)| value.size()).sum(),
        }
    }

    /// The piece with a number, itself being the first.
    pub fn piece(&mut self, number: usize) -> Option<&mut Self> {
        if number == 0 {
            return Some(self);
        }
        let inner: Vec<&mut Self> = match self {
            Self::Word(_) | Self::Text(_) => Vec::new(),
            Self::List(list) => list.iter_mut().collect(),
            Self::Object(fields) => fields.iter_mut().map(|(_, value)| value).collect(),
        };
        let mut left = number - 1;
        for one in inner {
            let size = one.size();
            if left < size {
                return one.piece(left);
            }
            left -= size;
        }
        None
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::List(list) => {
                f.write_str("[")?;
                for (number, one) in list.iter().enumerate() {
                    write!(f, "{}{one}", if number == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Self::Object(fields) => {
                f.write_str("{")?;
                for (number, (name, value)) in fields.iter().enumerate() {
                    write!(f, "{}\"{name}\":{value}", if number == 0 { "" } else { "," })?;
                }
                f.write_str("}")
            }
        }
    }
}

#[test]
fn what_is_read_is_written() {
    let text = r#"{"a":[1,-170141183460469231731687303715884105728,null,{"b \"c\"":"d\\"}],"e":{},"f":[]}"#;
    let mut read = Json::read(text).expect("it is JSON");
    assert_eq!(read.to_string(), text);
    assert_eq!(read.size(), 9);
    assert_eq!(read.piece(6), Some(&mut Json::Text(r"d\\".to_owned())));
    assert_eq!(read.piece(9), None);
    assert_eq!(Json::read("[1,"), None);
}
