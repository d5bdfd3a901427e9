//! Drops irrelevant bits: those that no condition depends on, and dead local bits.
//!
//! Exact for the reachability of points: a bit is kept if a guard depends on it, or a kept bit's new value
//! does. The bits that say who holds a lock and whether there are several threads are kept for the rules of
//! interference.

use crate::bdd::{Bdd, Level};
use crate::view::{Bit, Built, Step, View};
use std::collections::BTreeSet;

impl View<'_> {
    /// Drops all that is not needed.
    pub(crate) fn reduce(&mut self) -> Built<()> {
        self.find_relevant();
        self.drop_irrelevant();
        self.find_live();
        self.drop_dead();
        Ok(())
    }

    fn bits_of(&self, functions: &[Bdd]) -> BTreeSet<Bit> {
        self.bdds.support(functions).into_iter().map(|level: Level| Bit(level / 2)).collect()
    }

    /// Replaces the bits of broadcast arguments by the state bits that these depend on.
    fn seen_through(&self, bits: BTreeSet<Bit>, arguments: &[(Bit, Bdd)]) -> BTreeSet<Bit> {
        let mut found = BTreeSet::new();
        for bit in bits {
            if self.is_state(bit) {
                found.insert(bit);
            } else if let Some((_, value)) = arguments.iter().find(|(argument, _)| *argument == bit) {
                found.extend(self.bits_of(&[*value]).into_iter().filter(|bit| self.is_state(*bit)));
            }
        }
        found
    }

    fn find_relevant(&mut self) {
        let count = self.shared.len();
        let mut needs: Vec<BTreeSet<Bit>> = vec![BTreeSet::new(); count];
        let mut work: BTreeSet<Bit> = BTreeSet::from([self.several]);
        for step in &self.steps {
            work.extend(self.bits_of(&[step.guard]).into_iter().filter(|bit| self.is_state(*bit)));
            let started = step.started.iter().flat_map(|started| &started.bits);
            for (bit, value) in step.updates.iter().chain(started) {
                if value.0 > 1 {
                    let support = self.bits_of(&[*value]);
                    needs[bit.0 as usize].extend(support.into_iter().filter(|bit| self.is_state(*bit)));
                }
            }
            for broadcast in &step.broadcast {
                for reaction in broadcast.reactions.values() {
                    work.extend(self.seen_through(self.bits_of(&[reaction.guard]), &broadcast.arguments));
                    for (bit, value) in &reaction.updates {
                        needs[bit.0 as usize]
                            .extend(self.seen_through(self.bits_of(&[*value]), &broadcast.arguments));
                    }
                }
            }
        }
        for lock in &self.locks {
            needs[lock.taken.0 as usize].insert(lock.held);
            needs[lock.held.0 as usize].insert(lock.taken);
        }
        let mut relevant = vec![false; count];
        let mut work: Vec<Bit> = work.into_iter().collect();
        while let Some(bit) = work.pop() {
            if !std::mem::replace(&mut relevant[bit.0 as usize], true) {
                work.extend(needs[bit.0 as usize].iter().copied());
            }
        }
        self.relevant = relevant;
    }

    fn drop_irrelevant(&mut self) {
        let relevant = std::mem::take(&mut self.relevant);
        let keep = |bit: Bit| relevant[bit.0 as usize];
        for step in &mut self.steps {
            step.updates.retain(|(bit, _)| keep(*bit));
            step.started.iter_mut().for_each(|started| started.bits.retain(|(bit, _)| keep(*bit)));
            for broadcast in &mut step.broadcast {
                let mut functions: Vec<Bdd> = Vec::new();
                for reaction in broadcast.reactions.values_mut() {
                    reaction.updates.retain(|(bit, _)| keep(*bit));
                    functions.push(reaction.guard);
                    functions.extend(reaction.updates.iter().map(|(_, value)| *value));
                }
                // What nobody asks for may depend on bits that are left out.
                let read = self.bdds.support(&functions);
                broadcast.arguments.retain(|(bit, _)| read.contains(&bit.now()));
            }
        }
        self.initial.retain(|(bit, _)| keep(*bit));
        self.relevant = relevant;
    }

    /// The local bits that a step reads, given those that count after it.
    fn read_by(&self, step: &Step, live: &[BTreeSet<Bit>]) -> BTreeSet<Bit> {
        let empty = BTreeSet::new();
        let after = step.target.map_or(&empty, |target| &live[target.0 as usize]);
        let counts = |bit: &Bit| self.is_shared(*bit) || after.contains(bit);
        let mut functions = vec![step.guard];
        functions.extend(step.updates.iter().filter(|(bit, _)| counts(bit)).map(|(_, value)| *value));
        for started in &step.started {
            let entry = &live[started.entry.0 as usize];
            functions
                .extend(started.bits.iter().filter(|(bit, _)| entry.contains(bit)).map(|(_, value)| *value));
        }
        functions.extend(
            step.broadcast.iter().flat_map(|broadcast| &broadcast.arguments).map(|(_, value)| *value),
        );
        let mut found = self.bits_of(&functions);
        let is_set = |bit: &Bit| step.updates.iter().any(|(set, _)| set == bit);
        found.extend(after.iter().filter(|bit| !is_set(bit)));
        found.retain(|bit| self.is_state(*bit) && !self.is_shared(*bit));
        found
    }

    fn find_live(&mut self) {
        let count = self.points.len();
        // What others may read or what says who holds a lock is never forgotten.
        let mut kept: Vec<BTreeSet<Bit>> = vec![BTreeSet::new(); self.activations.len()];
        for step in &self.steps {
            for broadcast in &step.broadcast {
                for (activation, reaction) in &broadcast.reactions {
                    let functions: Vec<Bdd> =
                        reaction.updates.iter().map(|(_, value)| *value).chain([reaction.guard]).collect();
                    let read = self.bits_of(&functions);
                    let local = read.into_iter().filter(|bit| self.is_state(*bit) && !self.is_shared(*bit));
                    kept[*activation].extend(local);
                }
            }
        }
        for kept in &mut kept {
            kept.extend(
                self.locks.iter().map(|lock| lock.held).filter(|held| self.relevant[held.0 as usize]),
            );
        }
        let mut live: Vec<BTreeSet<Bit>> =
            self.points.iter().map(|point| kept[point.activation].clone()).collect();
        let mut incoming: Vec<Vec<u32>> = vec![Vec::new(); count];
        for step in &self.steps {
            let entries = step.started.iter().map(|started| started.entry);
            for target in step.target.into_iter().chain(entries) {
                incoming[target.0 as usize].push(step.source.0);
            }
        }
        let mut work: Vec<u32> = (0..count as u32).collect();
        let mut waiting = vec![true; count];
        while let Some(point) = work.pop() {
            waiting[point as usize] = false;
            let mut new = BTreeSet::new();
            for step in &self.outgoing[point as usize] {
                new.extend(self.read_by(self.step(*step), &live));
            }
            let before = live[point as usize].len();
            let chain = &self.activations[self.points[point as usize].activation].chain;
            live[point as usize].extend(new.into_iter().filter(|bit| chain.contains(bit)));
            if live[point as usize].len() > before {
                for source in &incoming[point as usize] {
                    if !std::mem::replace(&mut waiting[*source as usize], true) {
                        work.push(*source);
                    }
                }
            }
        }
        self.live = live.into_iter().map(|bits| bits.into_iter().collect()).collect();
    }

    fn drop_dead(&mut self) {
        let (shared, live) = (&self.shared, &self.live);
        for step in &mut self.steps {
            let after: &[Bit] = step.target.map_or(&[], |target| &live[target.0 as usize]);
            step.updates.retain(|(bit, _)| shared[bit.0 as usize] || after.binary_search(bit).is_ok());
            for started in &mut step.started {
                let entry = &live[started.entry.0 as usize];
                started.bits.retain(|(bit, _)| entry.binary_search(bit).is_ok());
            }
        }
    }
}
