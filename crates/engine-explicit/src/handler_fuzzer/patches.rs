//! What is done where a comparison is about to fail: the last moves are made again with other inputs, such
//! that it succeeds ([`super::comparisons`]).
//!
//! First the bytes that are compared are looked for among the inputs. Where that is not enough, and the
//! branch was never taken, the inputs that the compared values come from are changed ([`super::solving`]).

use super::comparisons::{Again, Comparison};
use super::saved_state::{Move, Run, SavedState};
use super::{HandlerFuzzer, LONGEST_FIRING, MoveOutcome};
use ir::{EdgeId, Expr, LocationId, ObjectId, TemplateId};
use std::collections::BTreeSet;
use verdict::{Budget, Exhausted};

/// The part of the steps that may be spent on comparisons which do not succeed, and on one that may be of a
/// checksum. So many may be for one, then one of so many times, unless that was enough for one success.
const SHARE: u64 = 4;
const SHARE_OF_ONE: u64 = 32;
const EAGER: u64 = 100_000;
const SELDOM: usize = 16;
/// Comparisons within comparisons that are set right.
const DEEPEST: usize = 3;

/// How often inputs were changed for a comparison, and it succeeded then.
#[derive(Clone, Default)]
pub(super) struct Tried {
    times: usize,
    successes: usize,
    /// The steps that were spent in vain.
    spent: u64,
    /// The steps that were spent on changes of what the values come from.
    pub(super) solving: u64,
    /// Inputs reach the values, or bytes before them.
    pub(super) promising: bool,
    /// Static objects that the values come from.
    pub(super) objects: BTreeSet<ObjectId>,
}

/// A comparison that is about to fail.
struct Failing {
    goal: Goal,
    /// Two values that would have to be alike, if that is known.
    values: Option<(u64, u64)>,
    /// Whether the branch was never taken.
    is_new: bool,
    /// Neither value is a constant: one may be a checksum of what was received.
    is_of_two: bool,
}

/// A comparison that is to succeed.
#[derive(Clone)]
pub(super) struct Goal {
    /// Its number among those of the move; `None`: any.
    pub(super) number: Option<usize>,
    pub(super) location: (TemplateId, LocationId),
    /// Where it leads then.
    pub(super) edge: EdgeId,
    pub(super) sides: (Expr, Expr),
    /// Which one is less matters.
    pub(super) is_of_order: bool,
    /// What was compared: the values that come closest.
    pub(super) seen: Option<[ir::Value; 2]>,
    pub(super) reached: bool,
}

impl Goal {
    /// How far values are from what they have to be.
    pub(super) fn distance(&self, [left, right]: [ir::Value; 2]) -> u64 {
        match self.is_of_order {
            true => u64::try_from((left - right).abs()).unwrap_or(u64::MAX),
            false => u64::from((left ^ right).count_ones()),
        }
    }

    /// Takes note of what is compared.
    pub(super) fn see(&mut self, values: [ir::Value; 2]) {
        if self.seen.is_none_or(|before| self.distance(values) < self.distance(before)) {
            self.seen = Some(values);
        }
    }
}

impl HandlerFuzzer<'_, '_> {
    /// What a move results in with other inputs, such that a comparison which is about to fail succeeds;
    /// `None` when none are found.
    pub(super) fn patched(
        &mut self,
        run: &mut Run,
        depth: usize,
        budget: &Budget,
    ) -> Result<Option<MoveOutcome>, Exhausted> {
        let Some((template, location)) = run.state.location(run.thread) else { return Ok(None) };
        let count = self.comparisons.at(template, location).len();
        run.comparisons += usize::from(count > 0);
        if depth >= DEEPEST || count == 0 || run.steps.len() > LONGEST_FIRING {
            return Ok(None);
        }
        let Some(Failing { goal, values, is_new, is_of_two }) = self.failing(run, template, location) else {
            return Ok(None);
        };
        if is_new && depth == 0 && self.may_solve((template, location)) {
            let before = (self.steps, self.solving);
            let any_time = Goal { number: None, ..goal.clone() };
            let found = self.solve(run, &any_time, budget)?;
            let spent = self.steps - before.0;
            self.solving = before.1 + spent;
            self.tried.entry((template, location)).or_default().solving += spent;
            if found.is_some() {
                return Ok(found);
            }
        }
        let Some((old, new)) = values else { return Ok(None) };
        // Most comparisons have nothing to do with inputs.
        let &mut Tried { times, successes, spent, .. } = self.tried.entry((template, location)).or_default();
        // Where moves are made again with a change, a checksum of them must be set right.
        let is_checksum = is_of_two && successes > 0 && SHARE_OF_ONE * spent <= self.steps;
        if SELDOM * successes <= times && !(is_checksum && depth > 0) {
            if depth > 0 {
                return Ok(None);
            }
            if spent > EAGER && (SHARE * self.spent > self.steps || self.random.below(SELDOM) > 0) {
                return Ok(None);
            }
        }
        let before = self.steps;
        let again = Again::of(run);
        for (old, new) in [(old, new), (new, old)] {
            let changes = again.bytes(old, new, &mut |bound| self.random.below(bound));
            let (found, _) = self.again(&again, &changes, &goal, depth, budget)?;
            let tried = self.tried.entry((template, location)).or_default();
            tried.times += 1;
            tried.successes += usize::from(found.is_some());
            if found.is_some() {
                return Ok(found);
            }
        }
        self.spent += self.steps - before;
        self.tried.entry((template, location)).or_default().spent += self.steps - before;
        Ok(None)
    }

    /// Makes moves again with changed inputs. Gives their outcome if a goal is reached, and what was compared
    /// there.
    fn again(
        &mut self,
        again: &Again,
        changes: &[(usize, ir::Value)],
        goal: &Goal,
        depth: usize,
        budget: &Budget,
    ) -> Result<(Option<MoveOutcome>, Option<[ir::Value; 2]>), Exhausted> {
        match again.with(changes) {
            Some(from) => self.towards(from, goal, depth, budget),
            None => Ok((None, None)),
        }
    }

    /// Makes moves from a place on. Gives their outcome if a goal is reached, and what was compared there.
    pub(super) fn towards(
        &mut self,
        (origin, plan): (SavedState, Vec<Move>),
        goal: &Goal,
        depth: usize,
        budget: &Budget,
    ) -> Result<(Option<MoveOutcome>, Option<[ir::Value; 2]>), Exhausted> {
        let outer = self.goal.replace(goal.clone());
        let found = self.perform(origin, &plan, depth + 1, budget)?;
        let goal = std::mem::replace(&mut self.goal, outer);
        let better = matches!(found, MoveOutcome::Race(..)) || goal.as_ref().is_some_and(|goal| goal.reached);
        Ok((better.then_some(found), goal.and_then(|goal| goal.seen)))
    }

    /// A comparison that is about to fail and is worth a try.
    fn failing(&mut self, run: &Run, template: TemplateId, location: LocationId) -> Option<Failing> {
        let value = |side: &Expr| self.model.machine.peek(&run.state, run.thread, side).ok();
        let fails = |comparison: &&Comparison| {
            let is_new = self.novelty.times(template, comparison.edge) == 0;
            (is_new || comparison.is_of_two && !comparison.is_of_order)
                && value(&comparison.condition) == Some(0)
        };
        let failing: Vec<&Comparison> =
            self.comparisons.at(template, location).iter().filter(fails).collect();
        let comparison = *failing.get(self.random.below(failing.len()))?;
        let small = |side: &Expr| u64::try_from(value(side)?).ok().filter(|value| *value < 1 << 16);
        // Where the order matters, what is a little more or less may do.
        let nearby = if comparison.is_of_order { self.random.below(3) as u64 } else { 1 };
        let values = small(&comparison.sides.0).zip(small(&comparison.sides.1));
        let values = values.map(|(left, right)| (left, (right + nearby).saturating_sub(1)));
        let goal = Goal {
            number: Some(run.comparisons),
            location: (template, location),
            edge: comparison.edge,
            sides: comparison.sides.clone(),
            is_of_order: comparison.is_of_order,
            seen: None,
            reached: false,
        };
        let is_new = self.novelty.times(template, comparison.edge) == 0;
        let is_of_two = comparison.is_of_two && !comparison.is_of_order;
        Some(Failing { goal, values: values.filter(|(left, right)| left != right), is_new, is_of_two })
    }
}
