//! Searches for races on single memory locations of a large program, in turns: each open location gets a
//! share of the time, the most promising first, and the next turn continues where the last one stopped.
//!
//! Traces are checked like any other evidence. If the checker rejects an execution only because of values
//! that are not modelled, the location is *possible*, with these values as its condition.

use checker::ReplayError;
use engine_explicit::directed::{Condition, Directed, FoundRace, LocationSearch, Site, Unmodelled};
use ir::semantics::LimitKind;
use ir::{Program, Range, Target};
use report::Sources;
use report::shared_memory::{Candidate, Finding};
use std::time::{Duration, Instant};
use verdict::{Budget, Property, Trace};

/// Its name in reports.
pub const NAME: &str = "directed";
/// The least time of a location in one turn.
const LEAST: Duration = Duration::from_millis(250);
/// How often a location is found to be possible before its search ends.
const MOST_POSSIBLE: u32 = 3;
/// The most conditions that are named.
const MOST_NAMED: usize = 3;

/// All searches of a program.
pub struct Refuter<'p> {
    directed: Directed<'p>,
    program: &'p Program,
    open: Vec<Open>,
}

/// A location that is searched.
struct Open {
    name: String,
    cell: Target,
    search: LocationSearch,
    /// How often it was found to be possible.
    possible: u32,
}

/// The result of one turn on one location.
pub enum Turn {
    /// An execution that is to be checked.
    Race {
        /// The location's name.
        name: String,
        /// Its bytes.
        range: Range,
        /// The execution.
        trace: Trace,
        /// How long the search took in this turn.
        seconds: f64,
    },
    /// An execution that the checker rejected only because of these values, and the steps that meet in it.
    Possible(Target, Vec<Unmodelled>, Option<[Candidate; 2]>),
}

impl<'p> Refuter<'p> {
    /// Prepares a lowered program; all of these locations are searched.
    pub fn new(program: &'p Program, findings: &[(Finding, Range)]) -> Result<Self, LimitKind> {
        let mut directed = Directed::new(program)?;
        let site = |candidate: &Candidate| Site {
            kind: candidate.kind,
            template: candidate.template,
            edge: candidate.edge,
        };
        let mut open = Vec::new();
        for (finding, range) in findings {
            let pairs: Vec<[Site; 2]> =
                finding.candidates.iter().map(|[one, other]| [site(one), site(other)]).collect();
            if let Some(search) = directed.search(*range, &pairs) {
                open.push(Open { name: finding.name.clone(), cell: finding.cell, search, possible: 0 });
            }
        }
        Ok(Self { directed, program, open })
    }

    /// Whether nothing is left to search.
    pub fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Lets it make executions that it finds shorter within this budget: turns may be too short for that.
    pub fn shorten_within(&mut self, budget: &Budget) {
        self.directed.shorten_within(budget);
    }

    /// Gives each location its share of the time. Reports the results.
    pub fn turn(&mut self, budget: &Budget, doing: &dyn Fn(&str), found: &mut dyn FnMut(Turn)) {
        let mut number = 0;
        while number < self.open.len() {
            if budget.look(0).is_err() {
                return;
            }
            let left = budget.remaining().unwrap_or(Duration::MAX);
            let share = (left / (self.open.len() - number) as u32).max(LEAST.min(left));
            let open = &mut self.open[number];
            doing(&open.name);
            let begun = Instant::now();
            let turn = budget.within(share);
            open.search.run(&mut self.directed, &turn);
            let seconds = begun.elapsed().as_secs_f64();
            let all = self.directed.take_found();
            // Results on other locations did not use up the share.
            number += usize::from(all.is_empty() || turn.look(0).is_err());
            for (index, one) in all {
                number -= usize::from(self.take(index, one, seconds, found).is_some_and(|at| at < number));
            }
        }
    }

    /// Reports the result for a location. Returns its index among the open ones if its search ends.
    fn take(
        &mut self,
        index: usize,
        one: FoundRace,
        seconds: f64,
        found: &mut dyn FnMut(Turn),
    ) -> Option<usize> {
        let at = self.open.iter().position(|open| open.search.index() == index)?;
        let Open { cell, name, search, .. } = &self.open[at];
        let (cell, range, name) = (*cell, search.range(), name.clone());
        match one {
            FoundRace::Race(trace) => {
                found(Turn::Race { name, range, trace, seconds });
            }
            FoundRace::Possible(trace, conditions, sites) => {
                let one = Program { races_on: Some(vec![range]), ..self.program.clone() };
                match checker::replay(&one, &Property::NoRace, &trace) {
                    Err(ReplayError::Approximate(_)) => {
                        let step = |Site { kind, template, edge }| Candidate { kind, template, edge };
                        found(Turn::Possible(cell, conditions, sites.map(|sites| sites.map(step))));
                        // It may be a real race, so the search continues for a while.
                        self.open[at].possible += 1;
                        if self.open[at].possible < MOST_POSSIBLE {
                            return None;
                        }
                    }
                    Ok(_) => found(Turn::Race { name, range, trace, seconds }),
                    Err(_) => return None,
                }
            }
        }
        self.open.remove(at);
        self.directed.forget(index);
        Some(at)
    }
}

/// Conditions in words.
pub fn condition(program: &Program, sources: Option<&Sources>, unmodelled: &[Unmodelled]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for one in unmodelled {
        let text = words(program, sources, one);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let more = texts.len().saturating_sub(MOST_NAMED);
    texts.truncate(MOST_NAMED);
    match (texts.is_empty(), more) {
        (true, _) => "if values that are not modelled are as they were chosen".to_owned(),
        (false, 0) => format!("if {}", texts.join(", and ")),
        (false, more) => format!("if {}, and {more} more", texts.join(", ")),
    }
}

fn words(program: &Program, sources: Option<&Sources>, one: &Unmodelled) -> String {
    let file = program.files.get(one.span.file as usize).map_or("?", String::as_str);
    let file = file.rsplit('/').next().unwrap_or(file);
    let place = format!("{file}:{}", one.span.line);
    let line = sources.and_then(|sources| sources.whole_line(one.span));
    let called = line.and_then(|line| function_at(line, one.span.column));
    let called = called.map(|name| format!("`{name}`"));
    match one.what {
        Condition::Value(value) => {
            format!("{} in {place} gives {value}", called.as_deref().unwrap_or("what is not modelled"))
        }
        Condition::Effects => format!(
            "{} in {place} returns, and changes nothing that this rests on",
            called.as_deref().unwrap_or("what is not known")
        ),
        Condition::Branch => match called {
            Some(called) => {
                format!("what {called} in {place} is given, and is not modelled, leads it the same way")
            }
            None => format!("what is not modelled leads the same way in {place}"),
        },
        Condition::Signal => {
            format!("a signal arrives in another thread whose handler is set in {place}")
        }
    }
}

/// The function that is called at a column of a line, or after it.
fn function_at(line: &str, column: u32) -> Option<&str> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let start = line.char_indices().nth((column as usize).saturating_sub(1)).map_or(0, |(at, _)| at);
    let mut rest = &line[start..];
    loop {
        let begin = rest.find(is_word)?;
        rest = &rest[begin..];
        let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if after.trim_start().starts_with('(') && !["if", "while", "for", "switch", "return"].contains(&word)
        {
            return Some(word);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_that_is_called() {
        assert_eq!(function_at("  n = sysconf(84);", 7), Some("sysconf"));
        assert_eq!(function_at("  if (check (1)) {", 3), Some("check"));
        assert_eq!(function_at("  n = m;", 3), None);
    }
}
