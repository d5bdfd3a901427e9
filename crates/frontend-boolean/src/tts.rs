//! Thread transition systems, in the format of bfc.
//!
//! A file has the numbers of shared and of local states, then transitions. `s l -> t m` moves a thread from
//! local state `l` to `m` and the shared state from `s` to `t`. `s l +> t m` starts a thread in local state
//! `m`; the one in `l` stays there. After a transition, `a ~> b` moves every other thread in `a` to `b` in
//! the same step; of several with the same `a`, each thread takes one. `#` begins a comment; one of the form
//! `#init …` gives the initial states that count where nothing else is said.
//!
//! Initial states are `s|l,…/m,…`: the shared state, one thread in each of the first local states, any number
//! in each of those after the slash. A target is `s|l,…`: the shared state, and at least these threads.

use crate::diagnostic::{Position, Problem};

/// A thread transition system.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct System {
    /// How many shared states there are.
    pub shared: u32,
    /// How many local states there are.
    pub local: u32,
    /// The transitions, in order.
    pub transitions: Vec<Transition>,
    /// What a comment gives as initial states.
    pub initial: Option<Initial>,
}

/// A transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The shared and the local state before.
    pub from: (u32, u32),
    /// The shared state and the local state after; of a start, that of the new thread.
    pub to: (u32, u32),
    /// Whether it starts a thread.
    pub starts: bool,
    /// What other threads do in the same step.
    pub others: Vec<(u32, u32)>,
    /// Where it is written.
    pub at: Position,
}

/// Initial states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initial {
    /// The shared state.
    pub shared: u32,
    /// Local states with one thread each.
    pub one: Vec<u32>,
    /// Local states with any number of threads.
    pub any: Vec<u32>,
}

impl Default for Initial {
    fn default() -> Self {
        Self { shared: 0, one: Vec::new(), any: vec![0] }
    }
}

/// What must not be reached: a shared state, with at least these threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The shared state.
    pub shared: u32,
    /// The local states.
    pub local: Vec<u32>,
}

/// The most shared or local states.
const MOST: u32 = 1 << 24;

/// The words of a text, without comments, with their places.
fn words(text: &str) -> Vec<(&str, Position)> {
    let mut found = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.split('#').next().unwrap_or_default();
        let mut rest = content;
        while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
            rest = &rest[start..];
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let column = content[..content.len() - rest.len()].chars().count() as u32 + 1;
            found.push((&rest[..end], Position { line, column }));
            rest = &rest[end..];
        }
    }
    found
}

struct Words<'a> {
    words: Vec<(&'a str, Position)>,
    next: usize,
    end: Position,
}

impl<'a> Words<'a> {
    fn at(&self) -> Position {
        self.words.get(self.next).map_or(self.end, |(_, at)| *at)
    }
    fn peek(&self, distance: usize) -> Option<&'a str> {
        self.words.get(self.next + distance).map(|(word, _)| *word)
    }
    fn number(&mut self, what: &str, below: u32) -> Result<u32, Problem> {
        let at = self.at();
        let found = self.peek(0).map_or("the end of the file".to_owned(), |word| format!("`{word}`"));
        let number: u32 = self
            .peek(0)
            .and_then(|word| word.parse().ok())
            .ok_or_else(|| Problem::new(at, format!("expected {what}, found {found}")))?;
        if number >= below {
            return Err(Problem::new(at, format!("{number} is no {what}: they are below {below}")));
        }
        self.next += 1;
        Ok(number)
    }
}

/// Reads a thread transition system.
pub fn parse(text: &str) -> Result<System, Problem> {
    let last = text.lines().count().max(1) as u32;
    let end = Position {
        line: last,
        column: text.lines().last().map_or(0, |line| line.chars().count()) as u32 + 1,
    };
    let mut words = Words { words: words(text), next: 0, end };
    let shared = words.number("number of shared states", MOST)?;
    let local = words.number("number of local states", MOST)?;
    let mut system = System { shared, local, transitions: Vec::new(), initial: initial_comment(text)? };
    while words.peek(0).is_some() {
        let at = words.at();
        let from = (words.number("shared state", shared)?, words.number("local state", local)?);
        let starts = match words.peek(0) {
            Some("->") => false,
            Some("+>") => true,
            Some(other) => {
                return Err(Problem::new(words.at(), format!("expected `->` or `+>`, found `{other}`")));
            }
            None => return Err(Problem::new(words.at(), "expected `->` or `+>`, found the end of the file")),
        };
        words.next += 1;
        let to = (words.number("shared state", shared)?, words.number("local state", local)?);
        let mut others = Vec::new();
        while words.peek(1) == Some("~>") {
            let source = words.number("local state", local)?;
            words.next += 1;
            others.push((source, words.number("local state", local)?));
        }
        system.transitions.push(Transition { from, to, starts, others, at });
    }
    Ok(system)
}

fn initial_comment(text: &str) -> Result<Option<Initial>, Problem> {
    for (line, content) in (1..).zip(text.lines()) {
        if let Some(rest) = content.trim().strip_prefix("#init")
            && rest.starts_with(char::is_whitespace)
        {
            let located = |problem: Problem| Problem { at: Position { line, column: 1 }, ..problem };
            return parse_initial(rest).map(Some).map_err(located);
        }
    }
    Ok(None)
}

fn list(text: &str) -> Option<Vec<u32>> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.split(',').map(|word| word.trim().parse().ok()).collect()
}

/// Reads initial states.
pub fn parse_initial(text: &str) -> Result<Initial, Problem> {
    let bad = || {
        let message = format!("`{}` does not have the form `shared|local,…/local,…`", text.trim());
        Problem::new(Position { line: 1, column: 1 }, message)
    };
    let (before, any) = match text.split_once('/') {
        Some((before, any)) => (before, any),
        None => (text, ""),
    };
    let (shared, one) = match before.split_once('|') {
        Some((shared, one)) => (shared, one),
        None => (before, ""),
    };
    let shared = shared.trim().parse().map_err(|_| bad())?;
    Ok(Initial { shared, one: list(one).ok_or_else(bad)?, any: list(any).ok_or_else(bad)? })
}

/// Reads a target.
pub fn parse_target(text: &str) -> Result<Target, Problem> {
    let bad = || {
        let line = text.lines().next().unwrap_or_default().trim();
        Problem::new(
            Position { line: 1, column: 1 },
            format!("`{line}` does not have the form `shared|local,…`"),
        )
    };
    let (shared, local) = text.trim().split_once('|').ok_or_else(bad)?;
    Ok(Target { shared: shared.trim().parse().map_err(|_| bad())?, local: list(local).ok_or_else(bad)? })
}

/// Prints a system so that reading it again gives the same system.
pub fn print(system: &System) -> String {
    let numbers = |numbers: &[u32]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let mut text = String::new();
    if let Some(Initial { shared, one, any }) = &system.initial {
        text += &format!("#init {shared}|{}/{}\n", numbers(one), numbers(any));
    }
    text += &format!("{} {}\n", system.shared, system.local);
    for transition in &system.transitions {
        let Transition { from, to, starts, others, .. } = transition;
        let arrow = if *starts { "+>" } else { "->" };
        text += &format!("{} {} {arrow} {} {}", from.0, from.1, to.0, to.1);
        for (a, b) in others {
            text += &format!(" {a} ~> {b}");
        }
        text.push('\n');
    }
    text
}
