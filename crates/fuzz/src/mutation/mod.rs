//! Proofs with random changes: none may be accepted for a broken program, and none may crash the checker.
//!
//! Proofs of safe programs are mutated as JSON, in one to three places, and checked against similar programs
//! in which the property is violated ([`corpus`]). An accepted proof is a hole in the checker; so is a panic.

pub mod campaign;
mod change;
pub mod corpus;
mod json;
pub mod universal;

pub use change::change;
use checker::{ProofError, check_proof};
use corpus::Pair;
pub use json::Json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::random::Random;
use verdict::{Budget, Check, Evidence, EvidenceFile, Proof};

/// What became of changed evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It has not the form of evidence.
    Malformed,
    /// It was not accepted.
    Refused,
    /// The check took too long.
    OutOfTime,
    /// It was accepted.
    Accepted,
    /// Its rules have accepted it, or the invariants that it rests on, and an execution has shown that these
    /// do not hold: the net below the rules was needed.
    Outside,
    /// The checker crashed.
    Crashed(String),
}

/// How many there were of each fate.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Figures {
    /// All.
    pub tried: u64,
    /// Those without the form of evidence.
    pub malformed: u64,
    /// Those that were not accepted.
    pub refused: u64,
    /// Those that took too long.
    pub out_of_time: u64,
    /// Those that were accepted, if only by the rules.
    pub accepted: u64,
    /// Those that crashed the checker.
    pub crashed: u64,
}

impl Figures {
    /// Counts more.
    pub fn join(&mut self, more: Self) {
        self.tried += more.tried;
        self.malformed += more.malformed;
        self.refused += more.refused;
        self.out_of_time += more.out_of_time;
        self.accepted += more.accepted;
        self.crashed += more.crashed;
    }

    /// Counts one more.
    pub fn add(&mut self, fate: &Fate) {
        self.tried += 1;
        *match fate {
            Fate::Malformed => &mut self.malformed,
            Fate::Refused => &mut self.refused,
            Fate::OutOfTime => &mut self.out_of_time,
            Fate::Accepted | Fate::Outside => &mut self.accepted,
            Fate::Crashed(_) => &mut self.crashed,
        } += 1;
    }
}

/// The name of a kind of proof.
pub fn kind_of(proof: &Proof) -> String {
    match proof {
        Proof::Exhaustive { .. } => "Exhaustive".to_owned(),
        Proof::NoErrorLocation => "NoErrorLocation".to_owned(),
        Proof::OneThread => "OneThread".to_owned(),
        Proof::Flow(_) => "Flow".to_owned(),
        Proof::States(_) => "States".to_owned(),
        Proof::Abstraction(_) => "Abstraction".to_owned(),
        Proof::Product(_) => "Product".to_owned(),
        Proof::Summaries(_) => "Summaries".to_owned(),
        Proof::Owned(_) => "Owned".to_owned(),
        Proof::Modular(_) => "Modular".to_owned(),
        Proof::Queries(_) => "Queries".to_owned(),
        Proof::Context(_) => "Context".to_owned(),
        Proof::Runs(proof) => format!("Runs of {}", kind_of(&proof.errors)),
        Proof::Spec(_) => "Spec".to_owned(),
        Proof::LockOrder(_) => "LockOrder".to_owned(),
    }
}

/// A proof as the text of a file.
pub fn written(check: Check, proof: &Proof) -> Option<Json> {
    let checks = vec![(check, Evidence::Proof(proof.clone()))];
    let text = EvidenceFile { data_model: "LP64".to_owned(), checks }.write().ok()?;
    Json::read(&text)
}

/// Evidence of the first check of a file, with random changes.
pub fn changed(file: &Json, random: &mut Random) -> Json {
    let mut whole = file.clone();
    let Json::Object(fields) = &mut whole else { return whole };
    let sections = fields.iter_mut().find(|(name, _)| name == "checks").map(|(_, sections)| sections);
    if let Some(Json::List(sections)) = sections
        && let Some(Json::Object(section)) = sections.first_mut()
    {
        // Terms are half of what is changed, whatever their number.
        let parts: Vec<usize> = (0..section.len())
            .filter(|part| section[*part].0 != "check" && section[*part].1.size() > 1)
            .collect();
        if !parts.is_empty() {
            let part = random.pick(&parts);
            section[part].1 = change(&section[part].1, random);
        }
    }
    whole
}

/// How many times longer than its steps stand for a check may take.
const MOST_TIMES: f64 = 10.0;

/// Checks evidence in a text for a program.
pub fn check_text(text: &str, program: &verdict::Views, check: Check, seconds: f64) -> Fate {
    let work = || {
        let Ok(file) = EvidenceFile::read(text) else { return Fate::Malformed };
        let Some((_, evidence)) = file.checks.into_iter().find(|(known, _)| *known == check) else {
            return Fate::Malformed;
        };
        let Evidence::Proof(proof) = evidence else { return Fate::Refused };
        // Some rules ask rarely whether their steps are used up: the clock ends what takes far too long.
        let deadline = Budget::seconds(MOST_TIMES * seconds).deadline;
        let budget = Budget { deadline, ..Budget::steps_for(seconds) };
        match check_proof(program, &check.property(), &proof, &budget) {
            Ok(()) => Fate::Accepted,
            Err(ProofError::Execution(_)) => Fate::Outside,
            Err(ProofError::TooExpensive(_)) => Fate::OutOfTime,
            Err(_) => Fate::Refused,
        }
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Fate::Crashed(text.unwrap_or("no reason is known").to_owned())
    })
}

/// One try: changed evidence, and what became of it.
pub struct Try {
    /// The evidence.
    pub text: String,
    /// Which of the broken programs it was checked against.
    pub program: usize,
    /// What became of it.
    pub fate: Fate,
}

/// How often a proof is changed until it still has the form of one. What has not says little: it is refused
/// before any rule is asked.
const TRIES_FOR_FORM: usize = 12;

/// Changes a proof of a pair once, and checks that against one of its broken programs.
pub fn try_once(pair: &Pair, file: &Json, random: &mut Random, seconds: f64) -> Try {
    let mut text = String::new();
    for _ in 0..TRIES_FOR_FORM {
        text = changed(file, random).to_string();
        let read = catch_unwind(AssertUnwindSafe(|| EvidenceFile::read(&text).is_ok()));
        if read.unwrap_or(true) {
            break;
        }
    }
    let program = random.below(pair.wrong.len().max(1));
    let Some(wrong) = pair.wrong.get(program) else {
        return Try { text, program, fate: Fate::Refused };
    };
    let fate = check_text(&text, wrong, pair.check, seconds);
    Try { text, program, fate }
}
