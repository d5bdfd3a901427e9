//! Reads the annotations of a test program.

use std::collections::{BTreeMap, BTreeSet};
use verdict::Check;

/// What a test program says about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotations {
    /// The truth about each check.
    pub expectations: BTreeMap<Check, Expectation>,
    /// Lines with `//~ RACE`.
    pub race_lines: BTreeSet<u32>,
    /// Lines with `//~ ERROR`.
    pub error_lines: BTreeSet<u32>,
    /// More words for the command line, from `// args:`.
    pub arguments: Vec<String>,
}

/// The truth about one check of one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Whether the property holds.
    pub holds: bool,
    /// Whether the tool must find that out (`expect`), or is known not to yet (`todo`).
    pub required: bool,
}

/// What the tool said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The property holds.
    True,
    /// It does not.
    False,
    /// Not known.
    Unknown,
}

/// How an answer differs from what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The opposite of the truth.
    Wrong,
    /// No answer where one is required.
    Imprecise,
    /// An answer where none was known to be found: `todo` should become `expect`.
    Better,
}

impl Expectation {
    /// Compares an answer with the truth.
    pub fn judge(self, answer: Answer) -> Result<(), Mismatch> {
        let right = if self.holds { Answer::True } else { Answer::False };
        match (answer, self.required) {
            (Answer::Unknown, true) => Err(Mismatch::Imprecise),
            (Answer::Unknown, false) => Ok(()),
            (answer, _) if answer != right => Err(Mismatch::Wrong),
            (_, true) => Ok(()),
            (_, false) => Err(Mismatch::Better),
        }
    }
}

/// The annotations in a program's text.
pub fn annotations(text: &str) -> Result<Annotations, String> {
    let mut found = Annotations { arguments: arguments(text), ..Annotations::default() };
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim();
        if let Some(rest) = trimmed.strip_prefix("// expect:") {
            expectations(rest, true, &mut found)
                .map_err(|word| format!("line {number}: what is `{word}`?"))?;
        } else if let Some(rest) = trimmed.strip_prefix("// todo:") {
            expectations(rest, false, &mut found)
                .map_err(|word| format!("line {number}: what is `{word}`?"))?;
        }
        if trimmed.ends_with("//~ RACE") {
            found.race_lines.insert(number);
        } else if trimmed.ends_with("//~ ERROR") {
            found.error_lines.insert(number);
        }
    }
    if found.expectations.is_empty() {
        return Err("no expectation".to_owned());
    }
    Ok(found)
}

/// More words for the command line, from the lines that start with `// args:`.
pub fn arguments(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("// args:"));
    lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
}

fn expectations(text: &str, required: bool, found: &mut Annotations) -> Result<(), String> {
    for word in text.split_whitespace() {
        let parts = word.split_once('=').and_then(|(check, value)| Some((Check::from_name(check)?, value)));
        let holds = match parts {
            Some((_, "true")) => true,
            Some((_, "false")) => false,
            _ => return Err(word.to_owned()),
        };
        let (check, _) = parts.expect("matched above");
        if found.expectations.insert(check, Expectation { holds, required }).is_some() {
            return Err(word.to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_all_annotations() {
        let text = "// expect: assertions=true races=false\n// todo: overflow=true\n// args: -DX=1\nx = 1; //~ RACE\n";
        let found = annotations(text).unwrap();
        assert_eq!(found.expectations[&Check::Races], Expectation { holds: false, required: true });
        assert_eq!(found.expectations[&Check::Overflow], Expectation { holds: true, required: false });
        assert_eq!(found.race_lines, BTreeSet::from([4]));
        assert_eq!(found.arguments, ["-DX=1"]);
    }

    #[test]
    fn rejects_what_it_does_not_know() {
        assert!(annotations("// expect: speed=true").is_err());
        assert!(annotations("// expect: races=maybe").is_err());
        assert!(annotations("int x;").is_err());
    }

    #[test]
    fn judges() {
        let truth = Expectation { holds: true, required: false };
        assert_eq!(truth.judge(Answer::False), Err(Mismatch::Wrong));
        assert_eq!(truth.judge(Answer::Unknown), Ok(()));
        assert_eq!(truth.judge(Answer::True), Err(Mismatch::Better));
        let required = Expectation { required: true, ..truth };
        assert_eq!(required.judge(Answer::Unknown), Err(Mismatch::Imprecise));
        assert_eq!(required.judge(Answer::True), Ok(()));
    }
}
