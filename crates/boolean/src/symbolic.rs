//! Steps on sets of thread states (paper 3, definition 8, and section 4).
//!
//! A set at a point is a function of the shared bits and of the local bits that count there. [`Relations`]
//! holds for each step what is needed to apply it: to the thread that takes it, to the threads that it
//! starts, and, by the change of shared bits alone, to all others.

use crate::bdd::{Bdd, Computed, FALSE, TRUE};
use crate::view::{Bit, PointId, Reaction, StepId, View};

/// A relation between thread states before and after a step: a function, and the variables before the step to
/// forget.
#[derive(Clone, Copy, Debug)]
pub struct Relation {
    /// Over bits before the step, and next values of those that change.
    pub function: Bdd,
    /// The variables that have other values after it.
    pub forget: Bdd,
    /// Whether there are next values in it.
    pub has_next: bool,
}

/// What a step does to sets.
#[derive(Clone, Debug)]
pub struct Relations {
    /// To the thread itself.
    pub own: Relation,
    /// To the threads that it starts.
    pub started: Vec<(PointId, Relation)>,
    /// The shared bits that it changes.
    pub changed: Vec<Bit>,
    /// How it changes them, with what it broadcasts to others; forgets all that is local but locks.
    pub shared: Relation,
}

/// How some steps change shared bits, as other threads see it: over shared bits, the next values of those
/// that change, and, primed, the locks that the thread that takes the step holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interference {
    /// The shared bits that change.
    pub changed: Vec<Bit>,
    /// The step, if it has a broadcast; then it stands for that step alone.
    pub telling: Option<StepId>,
    /// The relation.
    pub relation: Bdd,
}

impl View<'_> {
    fn levels(bits: impl IntoIterator<Item = Bit>) -> Vec<u32> {
        bits.into_iter().map(Bit::now).collect()
    }

    /// The conjunction of `bit' = value` for all pairs, `bit = value` for all extra ones, and a guard,
    /// without the inputs.
    ///
    /// Where a new value is just an input, the bit's next value takes the place of that input: an equality of
    /// two variables that are far from each other in the order, and of many such pairs, would be large.
    fn relate(
        &mut self,
        guard: Bdd,
        pairs: &[(Bit, Bdd)],
        inputs: &[Bit],
        extra: &[(Bit, Bdd)],
    ) -> Computed<Bdd> {
        let is_input = |bdds: &crate::bdd::Bdds, value: Bdd| {
            let node = bdds.node(value);
            let is_variable = node.low == FALSE && node.high == TRUE;
            is_variable.then(|| inputs.iter().copied().find(|input| input.now() == node.level)).flatten()
        };
        let mut function = guard;
        let mut chosen: Vec<(Bit, Bit)> = Vec::new();
        for (bit, value) in pairs.iter().rev() {
            match is_input(&self.bdds, *value) {
                Some(input) => chosen.push((*bit, input)),
                None => {
                    let next = self.bdds.variable(bit.next())?;
                    let same = self.bdds.equal(next, *value)?;
                    function = self.bdds.and(function, same)?;
                }
            }
        }
        for (bit, value) in extra {
            let now = self.bdds.variable(bit.now())?;
            let same = self.bdds.equal(now, *value)?;
            function = self.bdds.and(function, same)?;
        }
        let used = self.bdds.support(&[function]);
        let mut taken: Vec<(Bit, Bit)> = Vec::new();
        for (bit, input) in chosen {
            let next = self.bdds.variable(bit.next())?;
            if let Some((_, first)) = taken.iter().find(|(known, _)| *known == input) {
                let first = self.bdds.variable(first.next())?;
                let same = self.bdds.equal(next, first)?;
                function = self.bdds.and(function, same)?;
                continue;
            }
            taken.push((input, bit));
            if used.contains(&input.now()) {
                let value = self.bdds.variable(input.now())?;
                let same = self.bdds.equal(next, value)?;
                let cube = self.bdds.cube(&[input.now()])?;
                function = self.bdds.and_exists(function, same, cube)?;
            }
        }
        let cube = self.bdds.cube(&Self::levels(inputs.iter().copied()))?;
        self.bdds.exists(function, cube)
    }

    /// A relation that forgets some levels.
    pub fn relation(&mut self, function: Bdd, forget: &[u32]) -> Computed<Relation> {
        let has_next = self.bdds.has_odd(function);
        Ok(Relation { function, forget: self.bdds.cube(forget)?, has_next })
    }

    /// What a step does to sets.
    pub fn relations(&mut self, id: StepId) -> Computed<Relations> {
        let step = self.step(id).clone();
        let inputs: Vec<Bit> = step.inputs.iter().flat_map(|input| input.bits.iter().copied()).collect();
        let here = self.live[step.source.0 as usize].clone();
        let there: Vec<Bit> = step.target.map_or(Vec::new(), |target| self.live[target.0 as usize].clone());
        let set: Vec<Bit> = step.updates.iter().map(|(bit, _)| *bit).collect();
        let gone = here.iter().copied().filter(|bit| !there.contains(bit));
        let forget = Self::levels(set.iter().copied().chain(gone));
        let function = self.relate(step.guard, &step.updates, &inputs, &[])?;
        let own = self.relation(function, &forget)?;
        let shared_updates: Vec<(Bit, Bdd)> =
            step.updates.iter().copied().filter(|(bit, _)| self.is_shared(*bit)).collect();
        let changed: Vec<Bit> = shared_updates.iter().map(|(bit, _)| *bit).collect();
        let mut started = Vec::new();
        for new in &step.started {
            let mut pairs = shared_updates.clone();
            for bit in self.live[new.entry.0 as usize].clone() {
                let value = new.bits.iter().find(|(set, _)| *set == bit).map_or(FALSE, |(_, value)| *value);
                pairs.push((bit, value));
            }
            let mut forget = Self::levels(pairs.iter().map(|(bit, _)| *bit));
            forget.extend(Self::levels(here.iter().copied()));
            let function = self.relate(step.guard, &pairs, &inputs, &[])?;
            started.push((new.entry, self.relation(function, &forget)?));
        }
        let arguments: Vec<(Bit, Bdd)> =
            step.broadcast.iter().flat_map(|broadcast| broadcast.arguments.iter().copied()).collect();
        let function = self.relate(step.guard, &shared_updates, &inputs, &arguments)?;
        let is_held = |bit: &Bit| self.locks.iter().any(|lock| lock.held == *bit);
        let forget = Self::levels(here.iter().copied().filter(|bit| !is_held(bit)));
        let shared = self.relation(function, &forget)?;
        Ok(Relations { own, started, changed, shared })
    }

    /// The states after a step.
    pub fn image(&mut self, set: Bdd, relation: Relation) -> Computed<Bdd> {
        let next = self.bdds.and_exists(set, relation.function, relation.forget)?;
        if relation.has_next { self.bdds.unprime(next) } else { Ok(next) }
    }

    /// How a step, taken from a set, changes shared bits.
    pub fn interference(&mut self, set: Bdd, relations: &Relations) -> Computed<Bdd> {
        let several = self.bdds.variable(self.several.now())?;
        let set = self.bdds.and(set, several)?;
        let found = self.bdds.and_exists(set, relations.shared.function, relations.shared.forget)?;
        let held = Self::levels(self.locks.iter().map(|lock| lock.held));
        let held = self.bdds.cube(&held)?;
        self.bdds.prime(found, held)
    }

    /// No lock is held by the thread and, primed, by the other one.
    pub fn disjoint_locks(&mut self) -> Computed<Bdd> {
        let mut all = TRUE;
        for lock in self.locks.clone() {
            let (mine, theirs) =
                (self.bdds.variable(lock.held.now())?, self.bdds.variable(lock.held.next())?);
            let both = self.bdds.and(mine, theirs)?;
            let not_both = self.bdds.not(both)?;
            all = self.bdds.and(all, not_both)?;
        }
        Ok(all)
    }

    /// The states of threads at a point after another thread changes shared bits. `disjoint`: the condition
    /// that no lock is held by both, or true to ignore it.
    pub fn after_interference(
        &mut self,
        point: PointId,
        set: Bdd,
        interference: &Interference,
        disjoint: Bdd,
    ) -> Computed<Bdd> {
        if self.point(point).atomic {
            return Ok(FALSE);
        }
        let several = self.bdds.variable(self.several.now())?;
        let mut set = self.bdds.and(set, several)?;
        set = self.bdds.and(set, disjoint)?;
        let mut forget = Self::levels(interference.changed.iter().copied());
        forget.extend(self.locks.iter().map(|lock| lock.held.next()));
        let mut relation = interference.relation;
        if let Some(step) = interference.telling {
            let step = self.step(step).clone();
            forget.extend(
                step.broadcast.iter().flat_map(|broadcast| &broadcast.arguments).map(|(bit, _)| bit.now()),
            );
            let activation = self.point(point).activation;
            let reaction = step.broadcast.iter().find_map(|broadcast| broadcast.reactions.get(&activation));
            if let Some(Reaction { guard, updates, inputs, .. }) = reaction {
                let live = &self.live[point.0 as usize];
                let pairs: Vec<(Bit, Bdd)> =
                    updates.iter().copied().filter(|(bit, _)| live.binary_search(bit).is_ok()).collect();
                let inputs: Vec<Bit> = inputs.iter().flat_map(|input| input.bits.iter().copied()).collect();
                forget.extend(Self::levels(pairs.iter().map(|(bit, _)| *bit)));
                let reacts = self.relate(*guard, &pairs, &inputs, &[])?;
                relation = self.bdds.and(relation, reacts)?;
            }
        }
        let relation = self.relation(relation, &forget)?;
        self.image(set, relation)
    }

    /// The sets of thread states at the start.
    pub fn initial_sets(&mut self) -> Computed<Vec<(PointId, Bdd)>> {
        let mut shared = TRUE;
        for (bit, value) in self.initial.clone().into_iter().rev() {
            let literal = self.bdds.literal(bit.now(), value)?;
            shared = self.bdds.and(literal, shared)?;
        }
        let mut found = Vec::new();
        for entry in self.entries.clone() {
            let mut set = shared;
            for bit in self.live[entry.0 as usize].clone().into_iter().rev() {
                let literal = self.bdds.literal(bit.now(), false)?;
                set = self.bdds.and(literal, set)?;
            }
            found.push((entry, set));
        }
        Ok(found)
    }

    /// Whether a point's steps neither read nor write shared bits, broadcast nothing and start no threads:
    /// then interference can be postponed.
    pub fn is_silent(&self, point: PointId) -> bool {
        let reads_shared = |functions: &[Bdd]| {
            let support = self.bdds.support(functions);
            support.into_iter().any(|level| self.is_shared(Bit(level / 2)))
        };
        self.steps_at(point).iter().all(|step| {
            let step = self.step(*step);
            let mut functions: Vec<Bdd> = step.updates.iter().map(|(_, value)| *value).collect();
            functions.push(step.guard);
            step.started.is_empty()
                && step.broadcast.is_empty()
                && step.updates.iter().all(|(bit, _)| !self.is_shared(*bit))
                && !reads_shared(&functions)
        })
    }
}
