//! The shared memory of a program, location by location, as all reports show it if one verdict does not say
//! everything.
//!
//! Derived from what the checker has accepted ([`verdict::Locations`]), with source names. Replayed races,
//! and possible races that depend on something that is not modelled, are added afterwards. Undecided
//! locations come first, the most likely races at the top (`ranking.rs`): the order is only a guess.

mod naming;
mod ranking;
pub(crate) mod table;

use ir::passes::PointsTo;
use ir::{EdgeId, ObjectId, Program, Span, Target, TemplateId};
use std::collections::{BTreeMap, BTreeSet};
use verdict::{LocationAccess, LocationStatus, Locations, Reached, SharedLocation, WhyNoRace};

/// All shared memory locations of a program, the most urgent ones first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedMemory {
    /// Races, possible races, open locations, and race-free ones.
    pub locations: Vec<Finding>,
    /// How much of the program is reached.
    pub reached: Reached,
    /// Whether an assumption could hide behaviour: then locations are race-free only under this assumption.
    pub conditional: bool,
    /// Why locations and accesses may be missing; `None` when all are listed.
    pub incomplete: Option<String>,
}

/// One location with its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its name in the source.
    pub name: String,
    /// Where it is declared, or allocated.
    pub declared: Span,
    /// Its bytes, in the program that was analysed.
    pub cell: Target,
    /// Its size in bytes.
    pub size: u64,
    /// Its status.
    pub status: Status,
    /// The accesses to it, in program order.
    pub accesses: Vec<FoundAccess>,
    /// How many more accesses there are at least.
    pub more: usize,
    /// The steps that may race, where that is open, the most promising pair first.
    pub candidates: Vec<[Candidate; 2]>,
    /// For an open location, how unlikely a race is.
    rank: u32,
    /// The steps of its accesses, each with the number of its access.
    steps: Vec<(Candidate, usize)>,
}

/// A step that may be part of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The kind of thread that takes it.
    pub kind: TemplateId,
    /// The procedure.
    pub template: TemplateId,
    /// The step.
    pub edge: EdgeId,
}

/// The status of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// A race was replayed; this describes it.
    Race(String),
    /// A race is possible, but depends on something that is not modelled.
    Possible(Possible),
    /// These pairs of accesses, by number, are undecided; the most promising come first.
    Open(Vec<(usize, usize)>),
    /// There is no race, for these reasons.
    RaceFree(Vec<String>),
}

/// A race that was replayed, but depends on something that is not modelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Possible {
    /// What it depends on.
    pub condition: String,
    /// The two accesses that meet, by number, where they are known.
    pub pair: Option<(usize, usize)>,
}

/// An access to a location.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundAccess {
    /// Where.
    pub span: Span,
    /// Whether it writes.
    pub write: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// The function that the thread runs.
    pub thread: String,
    /// The locks that it is known to hold.
    pub locks: Vec<String>,
}

impl FoundAccess {
    /// Its description, in one or two words.
    pub fn kind(&self) -> &'static str {
        match (self.atomic, self.write) {
            (false, false) => "read",
            (false, true) => "write",
            (true, false) => "atomic read",
            (true, true) => "atomic write",
        }
    }
    /// Its description, as a verb.
    pub fn verb(&self) -> &'static str {
        match (self.atomic, self.write) {
            (false, false) => "reads",
            (false, true) => "writes",
            (true, false) => "reads atomically",
            (true, true) => "writes atomically",
        }
    }
    /// The text about the locks that it is known to hold.
    pub fn held(&self) -> String {
        match self.locks.as_slice() {
            [] => "holds no known lock".to_owned(),
            locks => {
                let locks: Vec<String> = locks.iter().map(|lock| format!("`{lock}`")).collect();
                format!("holds {}", locks.join(", "))
            }
        }
    }
}

impl Status {
    /// Its name in machine-readable reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Race(_) => "race",
            Self::Possible(_) => "possible",
            Self::Open(_) => "open",
            Self::RaceFree(_) => "race-free",
        }
    }
    /// Races come first, race-free locations last.
    fn order(&self) -> u8 {
        match self {
            Self::Race(_) => 0,
            Self::Possible(_) => 1,
            Self::Open(_) => 2,
            Self::RaceFree(_) => 3,
        }
    }
}

impl Finding {
    /// The reason for the status, in one sentence.
    pub fn because(&self) -> String {
        match &self.status {
            Status::Race(what) => what.clone(),
            Status::Possible(Possible { condition, .. }) => {
                format!("an execution was replayed, but for this: {condition}")
            }
            Status::RaceFree(reasons) => reasons.join("; "),
            Status::Open(pairs) => match pairs.first().and_then(|pair| self.pair(*pair)) {
                None => "its accesses were not compared in time".to_owned(),
                Some([one, other]) => {
                    let said = |access: &FoundAccess| {
                        format!("{} {} and {}", access.thread, access.verb(), access.held())
                    };
                    let more = match pairs.len() {
                        1 => String::new(),
                        many => format!("; and {}", table::more_pairs(many - 1)),
                    };
                    format!("{}, {}: nothing is known that keeps them apart{more}", said(one), said(other))
                }
            },
        }
    }
    /// Both accesses of a pair.
    pub fn pair(&self, (one, other): (usize, usize)) -> Option<[&FoundAccess; 2]> {
        Some([self.accesses.get(one)?, self.accesses.get(other)?])
    }
    /// The accesses of two steps that meet, by number: those of a step that reads and writes are two.
    fn meeting(&self, [one, other]: [Candidate; 2]) -> Option<(usize, usize)> {
        let of = |step: Candidate| {
            self.steps.iter().filter(move |(known, _)| *known == step).map(|(_, number)| *number)
        };
        let conflict = |(one, other): &(usize, usize)| {
            self.pair((*one, *other)).is_some_and(|pair| {
                pair.iter().any(|access| access.write) && !pair.iter().all(|access| access.atomic)
            })
        };
        of(one).flat_map(|one| of(other).map(move |other| (one, other))).find(conflict)
    }
    /// Adds the accesses of another one that is no worse, and its reasons.
    fn merge(&mut self, other: &Self) {
        let known: BTreeSet<FoundAccess> = self.accesses.iter().cloned().collect();
        self.accesses.extend(other.accesses.iter().filter(|access| !known.contains(access)).cloned());
        self.more = self.more.max(other.more);
        if let (Status::RaceFree(reasons), Status::RaceFree(more)) = (&mut self.status, &other.status) {
            let all = reasons.iter().chain(more).cloned().collect();
            *reasons = without_repetitions(all);
        }
    }
    /// Whether a byte of an object belongs to it.
    fn holds(&self, object: ObjectId, offset: u64) -> bool {
        let Target { first, stride, count, .. } = self.cell;
        let Some(distance) = offset.checked_sub(first).filter(|_| self.cell.object == object) else {
            return false;
        };
        match distance.checked_div(stride) {
            None => distance < self.size,
            Some(index) => index < count && distance % stride < self.size,
        }
    }
}

impl SharedMemory {
    /// The listing of a program, with points-to sets, which give locks better names.
    pub fn of(program: &Program, found: &Locations, points_to: Option<&PointsTo>) -> Self {
        let is_asked = |location: &&SharedLocation| program.counts_races_on(location.cell.object);
        let asked = found.locations.iter().filter(is_asked);
        let reach = ranking::Reach::of(found);
        let locations = asked.map(|location| finding(program, location, points_to, &reach));
        let conditional = program.assumptions.iter().any(|assumption| assumption.limits_proof);
        let is_late = |location: &SharedLocation| match &location.status {
            LocationStatus::Open(pairs) => pairs.is_empty(),
            LocationStatus::RaceFree(_) => false,
        };
        let late = found.locations.iter().filter(|location| is_late(location)).count();
        let incomplete = (late > 0).then(|| {
            format!(
                "the accesses of {late} locations were not compared in time, and not all of them are listed"
            )
        });
        let reached = found.reached;
        let mut all = Self { locations: locations.collect(), reached, conditional, incomplete };
        all.sort();
        all
    }
    /// Records a replayed race on a byte of an object. Says whether there is such a location.
    pub fn race(&mut self, object: ObjectId, offset: u64, what: &str) -> bool {
        let found = self.locations.iter_mut().find(|location| location.holds(object, offset));
        let is_known = found.is_some();
        if let Some(location) = found {
            location.status = Status::Race(what.to_owned());
            self.sort();
        }
        is_known
    }
    /// Records a possible race on a location, with what it depends on, and the steps that meet where these
    /// are known. The last call counts.
    pub fn possible(&mut self, cell: Target, condition: &str, steps: Option<[Candidate; 2]>) {
        let is_undecided = |finding: &&mut Finding| {
            finding.cell == cell && matches!(finding.status, Status::Open(_) | Status::Possible(_))
        };
        if let Some(location) = self.locations.iter_mut().find(is_undecided) {
            let pair = steps.and_then(|steps| location.meeting(steps));
            location.status = Status::Possible(Possible { condition: condition.to_owned(), pair });
            self.sort();
        }
    }
    /// Records a proof that there is no race at all.
    pub fn proved(&mut self, how: &str) {
        self.incomplete = None;
        for location in &mut self.locations {
            if matches!(location.status, Status::Open(_) | Status::Possible(_)) {
                location.status = Status::RaceFree(vec![format!("the whole program is proved: {how}")]);
            }
        }
        self.sort();
    }
    /// The same for people: what has the same name, and is declared or allocated in the same place, is one
    /// location. It is as bad as the worst of these.
    pub fn merged(&self) -> Self {
        let mut numbers: BTreeMap<(&str, Span), usize> = BTreeMap::new();
        let mut locations: Vec<Finding> = Vec::new();
        // The worst come first.
        for finding in &self.locations {
            let next = locations.len();
            let number = *numbers.entry((&finding.name, finding.declared)).or_insert(next);
            match locations.get_mut(number) {
                Some(known) => known.merge(finding),
                None => locations.push(finding.clone()),
            }
        }
        Self { locations, incomplete: self.incomplete.clone(), ..*self }
    }
    /// The number of races, possible races, open locations, and race-free ones.
    pub fn counts(&self) -> [usize; 4] {
        let mut counts = [0; 4];
        for location in &self.locations {
            counts[usize::from(location.status.order())] += 1;
        }
        counts
    }
    /// Whether a location is neither proved nor refuted.
    pub fn has_open(&self) -> bool {
        let [_, possible, open, _] = self.counts();
        possible + open > 0
    }
    /// Whether no start of a thread is reached although the program has some: then the listing says nothing
    /// about threads.
    pub fn is_empty_claim(&self) -> bool {
        let (reached, all) = self.reached.thread_starts;
        reached == 0 && all > 0
    }
    fn sort(&mut self) {
        self.locations.sort_by_key(|location| (location.status.order(), location.rank));
    }
}

fn finding(
    program: &Program,
    location: &SharedLocation,
    points_to: Option<&PointsTo>,
    reach: &ranking::Reach,
) -> Finding {
    let object = program.objects.get(location.cell.object);
    let access = |access: &LocationAccess| FoundAccess {
        span: program
            .templates
            .get(access.template)
            .and_then(|code| code.edges.get(access.edge))
            .map(|edge| edge.span)
            .unwrap_or_default(),
        write: access.write,
        atomic: access.atomic,
        thread: program.templates.get(access.kind).map_or_else(|| "?".to_owned(), |code| code.name.clone()),
        locks: naming::locks(program, points_to, access.template, &access.locks),
    };
    let name = ir::names::location(program, location.cell);
    // Steps of one line are one access, unless something else distinguishes them.
    let mut accesses: Vec<FoundAccess> = Vec::new();
    let mut numbers: Vec<usize> = Vec::new();
    let mut known: BTreeMap<FoundAccess, usize> = BTreeMap::new();
    for found in location.accesses.iter().map(access) {
        let next = accesses.len();
        let number = *known.entry(found.clone()).or_insert(next);
        if number == next {
            accesses.push(found);
        }
        numbers.push(number);
    }
    let candidate = |access: &LocationAccess| Candidate {
        kind: access.kind,
        template: access.template,
        edge: access.edge,
    };
    let steps = location.accesses.iter().map(candidate).zip(numbers.iter().copied()).collect();
    let mut candidates = Vec::new();
    let (status, rank) = match &location.status {
        LocationStatus::RaceFree(reasons) => {
            let mut reasons: Vec<String> =
                reasons.iter().map(|why| reason(program, location, points_to, why)).collect();
            if reasons.is_empty() {
                reasons.push("no two of its accesses that conflict are made by different threads".to_owned());
            }
            (Status::RaceFree(without_repetitions(reasons)), 0)
        }
        LocationStatus::Open(pairs) => {
            let (pairs, rank) = ranking::rank(program, location, pairs, reach);
            let step = |index: usize| location.accesses.get(index).map(candidate);
            candidates = pairs.iter().filter_map(|(one, other)| Some([step(*one)?, step(*other)?])).collect();
            let number = |index: usize| numbers.get(index).copied().unwrap_or(index);
            let mut shown: Vec<(usize, usize)> = Vec::new();
            let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
            for (one, other) in pairs {
                let (one, other) = (number(one), number(other));
                if seen.insert((one.min(other), one.max(other))) {
                    shown.push((one, other));
                }
            }
            (Status::Open(shown), rank)
        }
    };
    Finding {
        name,
        declared: object.map(|object| object.span).unwrap_or_default(),
        cell: location.cell,
        size: location.size,
        status,
        accesses,
        more: location.more,
        candidates,
        rank,
        steps,
    }
}

/// Why two accesses do not race, in words.
fn reason(
    program: &Program,
    location: &SharedLocation,
    points_to: Option<&PointsTo>,
    why: &WhyNoRace,
) -> String {
    match why {
        WhyNoRace::Atomic => "accesses are atomic".to_owned(),
        WhyNoRace::Lock(lock) => {
            let holder = location.accesses.iter().find(|access| access.locks.contains(lock));
            match holder.map(|holder| naming::lock(program, points_to, holder.template, lock)) {
                Some(name) => format!("lock `{name}` is held"),
                None => "a common lock is held".to_owned(),
            }
        }
        WhyNoRace::OneThread => "one thread only makes these accesses".to_owned(),
        WhyNoRace::Order => "one is before the other's thread starts, or after it has ended".to_owned(),
        WhyNoRace::Private => "the memory belongs to one thread".to_owned(),
        WhyNoRace::NotPublished => "no other thread has a pointer to the memory yet".to_owned(),
    }
}

fn without_repetitions(texts: Vec<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in texts {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

#[cfg(test)]
mod tests;
