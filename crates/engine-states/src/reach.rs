//! All thread states that the program may have (paper 3, definitions 7 and 8, and figure 3).
//! Over-approximates.
//!
//! The sets of all points grow until no step leads out of them. Own steps are followed to the end first; then
//! what the steps taken so far do to shared bits (case 2 of definition 8) is applied to all points, and so
//! on. Steps that change the same shared bits are joined into one relation; sets that are the same at many
//! points are subject to interference once.
//!
//! Deviations:
//! 1. Partial order reduction (section 4.2) skips only points whose steps involve no shared bits: the paper's
//!    rule, to propagate only changes of variables that the next instruction reads, misses a change of `x`
//!    that another thread makes after it saw a change of `y`. At the end the skipped points get the missed
//!    changes, so that the result is closed under definition 8.
//! 2. The locks of definition 8 (2d) are those held before the step. Those after it differ only by a lock
//!    that nobody held.

use boolean::symbolic::{Interference, Relations};
use boolean::view::StepId;
use boolean::{Bdd, FALSE, PointId, TRUE, View};
use rustc_hash::FxHashMap;
use verdict::Exhausted;

/// Whether two threads may hold the same lock. Only the paper's example needs the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Locks {
    /// No: condition (2d) of definition 8.
    #[default]
    Exclusive,
    /// As if that were not known.
    Ignored,
}

/// Why a set grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Threads start here.
    Initial,
    /// A step of a thread.
    Own(StepId),
    /// A step that starts a thread; the number says which of its threads.
    Started(StepId, usize),
    /// Steps of another thread that change the shared bits of this group.
    Interference(usize),
}

/// The thread states found.
pub struct Reached {
    /// The set of each point.
    pub sets: Vec<Bdd>,
    /// How the sets grew, in order: point, what was new, and why.
    pub growth: Vec<(PointId, Bdd, Cause)>,
    /// How others change shared bits.
    pub groups: Vec<Interference>,
    /// What each step that was needed does.
    pub relations: Vec<Option<Relations>>,
    disjoint: Bdd,
}

struct Search<'v, 'p> {
    view: &'v mut View<'p>,
    reached: Reached,
    group_of: FxHashMap<(Vec<boolean::Bit>, Option<StepId>), usize>,
    silent: Vec<bool>,
    work: Vec<PointId>,
    waiting: Vec<bool>,
    /// Points whose steps were not yet added to the groups since their sets grew.
    grown: Vec<PointId>,
    has_grown: Vec<bool>,
}

/// Computes them.
pub fn reach(view: &mut View<'_>, locks: Locks) -> Result<Reached, Exhausted> {
    let count = view.points.len();
    let disjoint = match locks {
        Locks::Exclusive => view.disjoint_locks()?,
        Locks::Ignored => TRUE,
    };
    let silent = (0..count as u32).map(|point| view.is_silent(PointId(point))).collect();
    let reached = Reached {
        sets: vec![FALSE; count],
        growth: Vec::new(),
        groups: Vec::new(),
        relations: vec![None; view.steps.len()],
        disjoint,
    };
    let mut search = Search {
        view,
        reached,
        group_of: FxHashMap::default(),
        silent,
        work: Vec::new(),
        waiting: vec![false; count],
        grown: Vec::new(),
        has_grown: vec![false; count],
    };
    for (point, set) in search.view.initial_sets()? {
        search.add(point, set, Cause::Initial)?;
    }
    loop {
        search.follow()?;
        if !search.collect()? && !search.fill()? {
            return Ok(search.reached);
        }
    }
}

impl Search<'_, '_> {
    /// Adds states to a point.
    fn add(&mut self, point: PointId, set: Bdd, cause: Cause) -> Result<bool, Exhausted> {
        let index = point.0 as usize;
        let old = self.reached.sets[index];
        let union = self.view.bdds.or(old, set)?;
        if union == old {
            return Ok(false);
        }
        self.reached.sets[index] = union;
        self.reached.growth.push((point, set, cause));
        if !std::mem::replace(&mut self.waiting[index], true) {
            self.work.push(point);
        }
        if !std::mem::replace(&mut self.has_grown[index], true) {
            self.grown.push(point);
        }
        Ok(true)
    }

    fn relations(&mut self, step: StepId) -> Result<Relations, Exhausted> {
        let index = step.0 as usize;
        if let Some(known) = &self.reached.relations[index] {
            return Ok(known.clone());
        }
        let made = self.view.relations(step)?;
        self.reached.relations[index] = Some(made.clone());
        Ok(made)
    }

    /// Follows own steps until nothing is new.
    fn follow(&mut self) -> Result<(), Exhausted> {
        let mut rounds = 0u32;
        while let Some(point) = self.work.pop() {
            rounds += 1;
            if rounds.is_multiple_of(256) {
                self.view.bdds.check()?;
            }
            self.waiting[point.0 as usize] = false;
            let set = self.reached.sets[point.0 as usize];
            for index in 0..self.view.steps_at(point).len() {
                let step = self.view.steps_at(point)[index];
                let relations = self.relations(step)?;
                if let Some(target) = self.view.step(step).target {
                    let image = self.view.image(set, relations.own)?;
                    self.add(target, image, Cause::Own(step))?;
                }
                for (which, (entry, relation)) in relations.started.iter().enumerate() {
                    let image = self.view.image(set, *relation)?;
                    self.add(*entry, image, Cause::Started(step, which))?;
                }
            }
        }
        Ok(())
    }

    /// Updates the groups and applies interference to all points; says whether anything is new.
    fn collect(&mut self) -> Result<bool, Exhausted> {
        let grown = std::mem::take(&mut self.grown);
        for point in &grown {
            self.has_grown[point.0 as usize] = false;
            let set = self.reached.sets[point.0 as usize];
            for index in 0..self.view.steps_at(*point).len() {
                let step = self.view.steps_at(*point)[index];
                let relations = self.relations(step)?;
                let telling = (!self.view.step(step).broadcast.is_empty()).then_some(step);
                if relations.changed.is_empty() && telling.is_none() {
                    continue;
                }
                let found = self.view.interference(set, &relations)?;
                if found == FALSE {
                    continue;
                }
                let groups = &mut self.reached.groups;
                let group = *self.group_of.entry((relations.changed.clone(), telling)).or_insert_with(|| {
                    groups.push(Interference {
                        changed: relations.changed.clone(),
                        telling,
                        relation: FALSE,
                    });
                    groups.len() - 1
                });
                let joined = self.view.bdds.or(self.reached.groups[group].relation, found)?;
                self.reached.groups[group].relation = joined;
            }
        }
        let mut any = false;
        let mut closed: FxHashMap<Bdd, Bdd> = FxHashMap::default();
        for index in 0..self.reached.sets.len() {
            let point = PointId(index as u32);
            if self.reached.sets[index] != FALSE {
                any |= self.interfere(point, self.silent[index], &mut closed)?;
            }
        }
        Ok(any)
    }

    /// Applies all groups to a point until nothing is new.
    fn interfere(
        &mut self,
        point: PointId,
        told_only: bool,
        closed: &mut FxHashMap<Bdd, Bdd>,
    ) -> Result<bool, Exhausted> {
        let listens = self.reached.groups.iter().any(|group| group.telling.is_some());
        let index = point.0 as usize;
        let before = self.reached.sets[index];
        if self.view.point(point).atomic || (told_only && !listens) {
            return Ok(false);
        }
        if !listens && let Some(known) = closed.get(&before) {
            return if *known == before {
                Ok(false)
            } else {
                self.add(point, *known, Cause::Interference(0))
            };
        }
        let mut passed = vec![before];
        loop {
            let start = self.reached.sets[index];
            for group in 0..self.reached.groups.len() {
                let interference = self.reached.groups[group].clone();
                if told_only && interference.telling.is_none() {
                    continue;
                }
                let set = self.reached.sets[index];
                let found = self.view.after_interference(point, set, &interference, self.reached.disjoint)?;
                if self.add(point, found, Cause::Interference(group))? {
                    passed.push(self.reached.sets[index]);
                }
            }
            let end = self.reached.sets[index];
            if end == start {
                if !listens {
                    closed.extend(passed.into_iter().map(|set| (set, end)));
                }
                return Ok(end != before);
            }
        }
    }

    /// Gives the skipped points what they missed.
    fn fill(&mut self) -> Result<bool, Exhausted> {
        let mut any = false;
        let mut closed = FxHashMap::default();
        for index in 0..self.reached.sets.len() {
            if self.silent[index] && self.reached.sets[index] != FALSE {
                any |= self.interfere(PointId(index as u32), false, &mut closed)?;
            }
        }
        Ok(any)
    }
}
