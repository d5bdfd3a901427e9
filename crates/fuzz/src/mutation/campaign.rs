//! Many changed proofs, of many programs: what `cargo xtask mutate` does, and a test does for a short while.

use super::corpus::{self, Pair};
use super::{Fate, Figures, Json, kind_of, try_once, written};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use testkit::random::Random;

/// What to do.
pub struct Campaign {
    /// Right programs, each with a broken twin.
    pub twins: Vec<(PathBuf, PathBuf)>,
    /// The name of the engine that proves each of them; all others are proved by all engines.
    pub engines: Vec<&'static str>,
    /// Specifications, each with a program that conforms to it.
    pub specifications: Vec<(PathBuf, PathBuf)>,
    /// How many random programs to take in addition.
    pub random: u64,
    /// Of what all changes depend on, and nothing else but time.
    pub seed: u64,
    /// How many changed proofs are to be tried, at least.
    pub count: u64,
    /// How many changes of one proof are tried before the next one comes.
    pub each: u64,
    /// Seconds that an engine has to find a proof.
    pub proving: f64,
    /// Seconds that a check may take.
    pub checking: f64,
    /// How many threads to use.
    pub jobs: usize,
    /// Deals with what must not be: the name of the program, the try, and the program that was to be refused.
    pub report: fn(&str, &super::Try, &ir::Program),
    /// Is shown the figures so far after each proof.
    pub progress: fn(&BTreeMap<String, Figures>),
}

/// Files with fewer pieces are about nothing but numbers of threads.
const SMALL: usize = 30;
/// Deeply nested programs need a deep stack.
const STACK: usize = 256 << 20;

impl Campaign {
    /// How many sources of proofs there are.
    fn sources(&self) -> u64 {
        (self.twins.len() + self.specifications.len()) as u64 + self.random
    }

    /// A source's pairs with their proofs.
    fn source(&self, number: u64, random: &mut Random) -> Vec<(Pair, Vec<verdict::Proof>)> {
        let engine = self.engines.get(number as usize).copied();
        let with_proofs = |pair: Pair| {
            let proofs = corpus::proofs(&pair, engine, self.proving);
            (pair, proofs)
        };
        let number_in = number as usize;
        if let Some(twin) = self.twins.get(number_in) {
            return corpus::pairs(twin, random).into_iter().map(with_proofs).collect();
        }
        let number_in = number_in - self.twins.len();
        if let Some((program, specification)) = self.specifications.get(number_in) {
            return corpus::by_specification(program, specification, self.proving, random)
                .into_iter()
                .collect();
        }
        let seed = self.seed.wrapping_add((number_in - self.specifications.len()) as u64);
        corpus::random_pair(seed, random).into_iter().map(with_proofs).collect()
    }

    /// Runs it. The figures of each kind of proof.
    pub fn run(&self) -> BTreeMap<String, Figures> {
        let figures: Mutex<BTreeMap<String, Figures>> = Mutex::default();
        // Short runs with different seeds begin with different programs.
        let first = self.seed.wrapping_mul(31) % self.sources().max(1);
        let (next, tried) = (AtomicU64::new(first), AtomicU64::new(0));
        let work = || {
            while tried.load(Ordering::Relaxed) < self.count {
                let turn = next.fetch_add(1, Ordering::Relaxed);
                let number = turn % self.sources().max(1);
                let mut random = Random::new(self.seed.wrapping_mul(0x1_0000_0001).wrapping_add(turn));
                for (pair, proofs) in self.source(number, &mut random) {
                    for proof in proofs {
                        let Some(file) = written(pair.check, &proof) else { continue };
                        let found = self.tries(&pair, &file, &mut random);
                        tried.fetch_add(found.tried, Ordering::Relaxed);
                        let mut all = figures.lock().unwrap_or_else(PoisonError::into_inner);
                        all.entry(kind_of(&proof)).or_default().join(found);
                        (self.progress)(&all);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                // Where no more threads can start, there are fewer.
                let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
            }
        });
        figures.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn tries(&self, pair: &Pair, file: &Json, random: &mut Random) -> Figures {
        let mut found = Figures::default();
        // Proofs without formulas have little that could be changed.
        let each = if file.size() < SMALL { self.each.div_ceil(20) } else { self.each };
        for _ in 0..each {
            let one = try_once(pair, file, random, self.checking);
            found.add(&one.fate);
            if matches!(one.fate, Fate::Accepted | Fate::Outside | Fate::Crashed(_))
                && let Some(program) = pair.wrong.get(one.program)
            {
                (self.report)(&pair.name, &one, program);
            }
        }
        found
    }
}
