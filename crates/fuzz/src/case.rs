//! Programs to compare on.

use ir::Program;
use testkit::oracle::Bounds;
use testkit::random::boolean::Features;
use testkit::random::wild::Wild;
use testkit::random::{Random, boolean, random_c};
use verdict::Check;

/// Where programs come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// C in which anything goes.
    Wild,
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
    wild: Option<Wild>,
}

impl Case {
    /// The case with this number.
    pub fn new(kind: Kind, seed: u64) -> Self {
        match kind {
            Kind::Wild => Self::of_wild(Wild::new(seed)),
            Kind::Tame => {
                let checks = [Check::Assertions, Check::Races, Check::Deadlock];
                let check = Random::new(seed).pick(&checks);
                Self { kind, check, text: random_c(seed), wild: None }
            }
            Kind::Boolean => {
                let mut random = Random::new(seed);
                let features = features(&mut random);
                let text = boolean::program(&mut random, features);
                Self { kind, check: Check::Assertions, text, wild: None }
            }
        }
    }

    fn of_wild(wild: Wild) -> Self {
        Self { kind: Kind::Wild, check: wild.check, text: wild.c_text(), wild: Some(wild) }
    }

    /// The ending of its file's name.
    pub fn extension(&self) -> &'static str {
        match self.kind {
            Kind::Wild | Kind::Tame => "c",
            Kind::Boolean => "bp",
        }
    }

    /// How far the oracle looks.
    pub fn bounds(&self) -> Bounds {
        match self.kind {
            Kind::Wild | Kind::Tame => Bounds::states(50_000),
            Kind::Boolean => Bounds { states: 4_000, threads: Some(4), copies: 2 },
        }
    }

    /// The program in the common representation.
    pub fn read(&self) -> Result<Program, String> {
        match self.kind {
            Kind::Wild | Kind::Tame => {
                let source =
                    frontend_c::Source { name: "random.c".to_owned(), text: self.text.clone().into_bytes() };
                let read = frontend_c::read(&[source], &frontend_c::Options::default());
                read.map_err(|error| format!("it is not C: {error:?}"))
            }
            Kind::Boolean => {
                let options = frontend_boolean::Options::default();
                let read = frontend_boolean::read_program("random.bp", self.text.as_bytes(), &options);
                read.map_err(|error| error.to_string())
            }
        }
    }

    /// A smaller case that is still interesting: statements are left out one by one, for wild programs.
    pub fn shrunk(&self, mut interesting: impl FnMut(&Self) -> bool) -> Self {
        match &self.wild {
            Some(wild) => Self::of_wild(wild.shrunk(|smaller| interesting(&Self::of_wild(smaller.clone())))),
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
