//! Fills templates.
//!
//! `«a¦b¦c»` is one of several texts, which may hold choices and holes themselves; `«1:a¦b»` also remembers
//! what was chosen, and `«1»` is the same text again, in all templates of a topic. Holes: `$c` a cell, `$l` a
//! local variable, `$e` an expression, `$o` an operand, `$n` a small number, `$q` a condition, `$t` an
//! integer type, `$i` the index of the thread, `$k` a number that names what this text declares. A line `$b`
//! is some statements. `{` at the end of a line and `}` at the start of a later one make a block; so do lines
//! that start with `>` and `<`, for calls that belong together.

use super::super::lines::{Node, line};
use super::Writer;
use super::statements::Place;

impl Writer {
    /// A template of one line or several, filled.
    pub(super) fn expand(&mut self, template: &str) -> String {
        self.names += 1;
        let number = self.names;
        self.fill(template, number)
    }

    fn fill(&mut self, template: &str, number: usize) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some(at) = rest.find(['«', '$']) {
            out += &rest[..at];
            rest = &rest[at..];
            if let Some(inside) = rest.strip_prefix('«') {
                let length = closing(inside);
                out += &self.choose(&inside[..length], number);
                rest = &inside[(length + '»'.len_utf8()).min(inside.len())..];
            } else {
                let hole = rest[1..].chars().next();
                out += &self.hole(hole, number);
                rest = &rest[1 + hole.map_or(0, char::len_utf8)..];
            }
        }
        out + rest
    }

    fn hole(&mut self, hole: Option<char>, number: usize) -> String {
        match hole {
            Some('c') => self.any_cell().name,
            Some('l') => self.any_local().name,
            Some('e') => self.expression(2),
            Some('o') => self.operand(),
            Some('n') => self.random.pick(&["0", "1", "2", "3", "1"]).to_owned(),
            Some('q') => self.condition(),
            Some('t') => self.any_type().to_owned(),
            Some('i') => "i".to_owned(),
            Some('k') => number.to_string(),
            // A line of its own, see `tree`.
            Some('b') => "$b".to_owned(),
            other => unreachable!("no template has {other:?} after a dollar sign"),
        }
    }

    /// One of the texts between bars, or what was chosen before.
    fn choose(&mut self, choice: &str, number: usize) -> String {
        let mut letters = choice.chars();
        let (first, second) = (letters.next(), letters.next());
        let name = first.filter(char::is_ascii_digit).filter(|_| matches!(second, None | Some(':')));
        if let (Some(name), None) = (name, second) {
            let known = self.bound.iter().find(|(other, _)| *other == name);
            return known.map_or_else(String::new, |(_, text)| text.clone());
        }
        let texts = alternatives(if name.is_some() { &choice[2..] } else { choice });
        let text = self.random.pick(&texts);
        let text = self.fill(text, number);
        if let Some(name) = name {
            self.bound.retain(|(other, _)| *other != name);
            self.bound.push((name, text.clone()));
        }
        text
    }

    /// A template as lines. What is inside is as protected as the place.
    pub(super) fn lines_at(&mut self, template: &str, place: Place) -> Vec<Node> {
        let text = self.expand(template);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mut at = 0;
        self.tree(&lines, &mut at, place)
    }

    /// A template outside of threads as lines.
    pub(super) fn lines(&mut self, template: &str) -> Vec<Node> {
        self.lines_at(template, Place { depth: 1, protected: true, may_wait: false })
    }

    fn tree(&mut self, lines: &[&str], at: &mut usize, place: Place) -> Vec<Node> {
        let mut nodes = Vec::new();
        while *at < lines.len() {
            let text = lines[*at];
            if text.starts_with('}') || text.starts_with('<') {
                break;
            }
            *at += 1;
            if text == "$b" {
                nodes.extend(self.block(2, Place { depth: place.depth.saturating_sub(1), ..place }));
            } else if text.ends_with('{') || text.starts_with('>') {
                let body = self.tree(lines, at, place);
                let close = lines.get(*at).copied().unwrap_or("}");
                *at += 1;
                let bare = |text: &str| text.trim_start_matches(['<', '>']).to_owned();
                nodes.push(Node::Block(bare(text), body, bare(close)));
            } else {
                nodes.push(line(text));
            }
        }
        nodes
    }
}

/// Where the choice ends that was opened before this text.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '«' => depth += 1,
            '»' if depth == 0 => return at,
            '»' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// The texts of a choice.
fn alternatives(choice: &str) -> Vec<&str> {
    let mut texts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in choice.char_indices() {
        match letter {
            '«' => depth += 1,
            '»' => depth -= 1,
            '¦' if depth == 0 => {
                texts.push(&choice[start..at]);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    texts.push(&choice[start..]);
    texts
}
