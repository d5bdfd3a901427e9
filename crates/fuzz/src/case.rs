//! Programs to compare on.

use crate::headers;
use ir::Program;
use std::path::Path;
use testkit::oracle::Bounds;
use testkit::random::boolean::Features;
use testkit::random::lines::Lines;
use testkit::random::wide::Wide;
use testkit::random::wild::Wild;
use testkit::random::{Random, boolean, random_c};
use verdict::Check;

/// Where programs come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// C in which anything goes.
    Wild,
    /// C about many topics: types, objects, pointers, heap, all of synchronisation.
    Wide,
    /// C without undefined behaviour but races.
    Tame,
    /// Boolean programs, with any number of threads.
    Boolean,
}

/// A program and what it is asked about.
#[derive(Clone, Debug)]
pub struct Case {
    /// Where it comes from.
    pub kind: Kind,
    /// What is asked.
    pub check: Check,
    /// Its text.
    pub text: String,
    /// As a tree that can shrink.
    lines: Option<Lines>,
    /// How many states of a wide program the oracle looks at.
    wide_states: usize,
    /// Whether it is read with the system's headers instead of the short ones.
    pub system_headers: bool,
}

/// How many states of most wide programs the oracle looks at: time for a larger one is time for several small
/// ones.
const FEW_STATES: usize = 1_200;
/// How many states of every sixteenth.
const MANY_STATES: usize = 8_000;

impl Case {
    /// The case with this number.
    pub fn new(kind: Kind, seed: u64) -> Self {
        match kind {
            Kind::Wild => {
                let Wild { check, lines } = Wild::new(seed);
                Self::of_lines(kind, check, lines)
            }
            Kind::Wide => {
                let Wide { check, lines } = Wide::new(seed);
                let wide_states = if seed.is_multiple_of(16) { MANY_STATES } else { FEW_STATES };
                let system_headers = seed % 16 == 1;
                Self { wide_states, system_headers, ..Self::of_lines(kind, check, lines) }
            }
            Kind::Tame => {
                let checks = [Check::Assertions, Check::Races, Check::Deadlock];
                let check = Random::new(seed).pick(&checks);
                Self {
                    kind,
                    check,
                    text: random_c(seed),
                    lines: None,
                    wide_states: MANY_STATES,
                    system_headers: true,
                }
            }
            Kind::Boolean => {
                let mut random = Random::new(seed);
                let features = features(&mut random);
                let text = boolean::program(&mut random, features);
                Self {
                    kind,
                    check: Check::Assertions,
                    text,
                    lines: None,
                    wide_states: MANY_STATES,
                    system_headers: true,
                }
            }
        }
    }

    fn of_lines(kind: Kind, check: Check, lines: Lines) -> Self {
        Self {
            kind,
            check,
            text: lines.text(),
            lines: Some(lines),
            wide_states: MANY_STATES,
            system_headers: true,
        }
    }

    /// The ending of its file's name.
    pub fn extension(&self) -> &'static str {
        match self.kind {
            Kind::Wild | Kind::Wide | Kind::Tame => "c",
            Kind::Boolean => "bp",
        }
    }

    /// How far the oracle looks.
    pub fn bounds(&self) -> Bounds {
        match self.kind {
            Kind::Wild | Kind::Tame => Bounds::states(50_000),
            Kind::Wide => {
                let private_first = self.wide_states == FEW_STATES;
                Bounds { private_first, ..Bounds::states(self.wide_states) }
            }
            Kind::Boolean => Bounds { threads: Some(4), ..Bounds::states(4_000) },
        }
    }

    /// The program in the common representation.
    pub fn read(&self) -> Result<Program, String> {
        match self.kind {
            Kind::Wild | Kind::Wide | Kind::Tame => {
                let source =
                    frontend_c::Source { name: "random.c".to_owned(), text: self.text.clone().into_bytes() };
                let short = headers::folder().filter(|_| !self.system_headers);
                let system_dirs = short.map(Path::to_owned).into_iter().collect();
                let options = frontend_c::Options { system_dirs, ..frontend_c::Options::default() };
                let read = frontend_c::read(&[source], &options);
                read.map_err(|error| format!("it is not C: {error:?}"))
            }
            Kind::Boolean => {
                let options = frontend_boolean::Options::default();
                let read = frontend_boolean::read_program("random.bp", self.text.as_bytes(), &options);
                read.map_err(|error| error.to_string())
            }
        }
    }

    /// A smaller case that is still interesting: statements are left out one by one, where programs are trees
    /// of lines.
    pub fn shrunk(&self, mut interesting: impl FnMut(&Self) -> bool) -> Self {
        let system_headers = self.system_headers;
        let of =
            |lines: &Lines| Self { system_headers, ..Self::of_lines(self.kind, self.check, lines.clone()) };
        match &self.lines {
            Some(lines) => of(&lines.shrunk(|smaller| interesting(&of(smaller)))),
            None => self.clone(),
        }
    }
}

/// A few features of Boolean programs. Variables of other threads do not go with waits and calls.
fn features(random: &mut Random) -> Features {
    let mut features = Features {
        locks: random.once_in(2),
        atomic: random.once_in(2),
        calls: random.once_in(3),
        recursion: random.once_in(8),
        waits: random.once_in(3),
        others: random.once_in(5),
        dialects: random.once_in(2),
    };
    if features.others {
        features = Features { calls: false, recursion: false, waits: false, ..features };
    }
    features
}
