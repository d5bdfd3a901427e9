//! Branches that are missed, and the moves that lead to them.
//!
//! Most novelties appear after many moves of which few matter. For an edge that was never taken before, and
//! for a branch that was never taken, irrelevant moves are removed one by one (delta debugging: Zeller and
//! Hildebrandt, TSE 2002). For an untaken branch, the remaining moves are then repeated from all saved states
//! with a novelty: one of them may have what the branch needs, such as a mode or a table entry.

use super::saved_state::{Move, MoveHistory, Run, SavedState, Stop};
use super::{HandlerFuzzer, LONGEST_FIRING, LONGEST_WINDOW, MoveOutcome, ROW};
use ir::semantics::{STATICS, State, ThreadIndex};
use ir::{EdgeId, LocationId, ObjectId, Op, TemplateId};
use std::collections::BTreeSet;
use std::rc::Rc;
use verdict::{Budget, Exhausted};

/// How many moves may lead to a branch that is missed.
const APPROACH: usize = 128;
/// How often they are made elsewhere, for each place with something that was never done before.
const MOST_ELSEWHERE: usize = 2;
/// How many places are looked at for one where what is compared is something else.
const SAMPLE: usize = 32;

/// What moves are to lead to.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) location: (TemplateId, LocationId),
    /// The edge to take from there; `None`: any.
    pub(super) edge: Option<EdgeId>,
    pub(super) reached: bool,
}

/// Moves that did something for the first time.
pub(super) struct Cause {
    pub(super) moves: Vec<Move>,
    /// What they changed.
    pub(super) changed: BTreeSet<ObjectId>,
}

/// A branch that is missed.
pub(super) struct Missed {
    location: (TemplateId, LocationId),
    edge: EdgeId,
    /// The moves that lead there, and from where.
    approach: Vec<Move>,
    origin: SavedState,
    /// The next place to make them from.
    next: usize,
}

impl HandlerFuzzer<'_, '_> {
    /// A place where an edge was taken, like another one, without the last moves that are not needed for
    /// that.
    pub(super) fn minimize_moves(
        &mut self,
        saved: SavedState,
        (template, edge): (TemplateId, EdgeId),
        budget: &Budget,
    ) -> Result<SavedState, Exhausted> {
        let moves = last_moves(&saved, APPROACH);
        let Some(origin) = moves.len().checked_sub(1).and_then(|last| saved.moves().nth(last)) else {
            return Ok(saved);
        };
        let origin = origin.origin();
        let source = self.model.machine.program.templates[template].edges[edge].source;
        let target = Target { location: (template, source), edge: Some(edge), reached: false };
        let moves = self.shortened(target, &origin, moves, budget)?;
        self.target = Some(target);
        // Comparisons after the edge are tried.
        let fired = self.perform(origin.clone(), &moves, 0, budget)?;
        let reached = self.target.take().is_some_and(|target| target.reached);
        match fired {
            MoveOutcome::Continue(shorter) if reached => {
                let changed = self.changed(&origin.state, &shorter.state);
                self.causes.push(Cause { moves, changed });
                Ok(shorter)
            }
            other => {
                self.found = self.found.take().or(other.race());
                Ok(saved)
            }
        }
    }

    /// The static objects that are not alike in two states.
    fn changed(&self, one: &State, other: &State) -> BTreeSet<ObjectId> {
        let mut found = BTreeSet::new();
        let mut from = 0;
        while let Some(at) = one.statics.first_difference(&other.statics, from) {
            from = at + 1;
            if let Some((object, offset)) = self.model.machine.describe(one, STATICS + at as u64) {
                found.insert(object);
                from = at + (self.model.machine.program.objects[object].size - offset) as usize;
            }
        }
        found
    }

    /// Takes note of a branch that is about to be missed and was never taken, with the moves that lead to
    /// where it is missed.
    pub(super) fn note_missed(&mut self, run: &Run, depth: usize, budget: &Budget) -> Result<(), Exhausted> {
        let Some((template, location)) = run.state.location(run.thread) else { return Ok(()) };
        let edges = self.model.machine.edges(&run.state, run.thread);
        if depth > 0
            || edges.len() < 2
            || run.steps.len() > LONGEST_FIRING
            || self.noted.contains(&(template, location))
        {
            return Ok(());
        }
        let is_missed = |edge: &&EdgeId| {
            self.novelty.times(template, **edge) == 0
                && match self.model.machine.program.templates[template].edges[**edge].ops.first() {
                    Some(Op::Assume(condition)) => {
                        self.model.machine.peek(&run.state, run.thread, condition) == Ok(0)
                    }
                    _ => false,
                }
        };
        let Some(edge) = edges.iter().find(is_missed).copied() else { return Ok(()) };
        let last = run.clone().end(Stop::Never);
        let moves = last_moves(&last, APPROACH);
        let Some(origin) = moves.len().checked_sub(1).and_then(|oldest| last.moves().nth(oldest)) else {
            return Ok(());
        };
        let origin = origin.origin();
        let target = Target { location: (template, location), edge: None, reached: false };
        let approach = self.shortened(target, &origin, moves, budget)?;
        self.noted.insert((template, location));
        self.missed.push(Missed { location: (template, location), edge, approach, origin, next: 0 });
        Ok(())
    }

    /// Some of the moves that lead from a place to a target: without those that are not needed.
    fn shortened(
        &mut self,
        target: Target,
        origin: &SavedState,
        mut moves: Vec<Move>,
        budget: &Budget,
    ) -> Result<Vec<Move>, Exhausted> {
        let threads: BTreeSet<ThreadIndex> = moves.iter().map(|planned| planned.thread).collect();
        for thread in threads {
            let fewer: Vec<Move> = moves.iter().filter(|planned| planned.thread != thread).cloned().collect();
            if self.leads_to(target, origin, &fewer, budget)? {
                moves = fewer;
            }
        }
        let mut size = moves.len() / 2;
        while size > 0 {
            let mut start = 0;
            while start < moves.len() {
                let end = (start + size).min(moves.len());
                let fewer = [&moves[..start], &moves[end..]].concat();
                if self.leads_to(target, origin, &fewer, budget)? {
                    moves = fewer;
                } else {
                    start = end;
                }
            }
            size /= 2;
        }
        Ok(moves)
    }

    /// Whether moves lead from a place to a target.
    fn leads_to(
        &mut self,
        target: Target,
        origin: &SavedState,
        moves: &[Move],
        budget: &Budget,
    ) -> Result<bool, Exhausted> {
        self.target = Some(target);
        let fired = self.perform(origin.clone(), moves, 1, budget)?;
        self.found = self.found.take().or(fired.race());
        Ok(self.target.take().is_some_and(|target| target.reached))
    }

    /// Repeats the moves that lead to a missed branch from another saved state, which may have what the
    /// branch needs, such as a mode or a table entry.
    pub(super) fn elsewhere(&mut self, budget: &Budget) -> Result<MoveOutcome, Exhausted> {
        // There may be better moves after some time.
        let most = MOST_ELSEWHERE * self.first.len();
        let is_open = |missed: &Missed| self.novelty.times(missed.location.0, missed.edge) == 0;
        self.missed.retain(|missed| {
            let stays = is_open(missed) && missed.next < most;
            stays || !self.noted.remove(&missed.location)
        });
        // Half of the time one that leads to what races are made of.
        let any = self.random.below(2) == 0;
        let counts = |missed: &Missed| self.relevance.counts(missed.location.0, missed.edge);
        let count = self.missed.iter().filter(|missed| any || counts(missed)).count();
        let number = self.random.below(count);
        let other = self.pick();
        let counts = |missed: &Missed| self.relevance.counts(missed.location.0, missed.edge);
        let Some(missed) = self.missed.iter_mut().filter(|missed| any || counts(missed)).nth(number) else {
            return Ok(MoveOutcome::DeadEnd);
        };
        missed.next += 1;
        let approach = missed.approach.clone();
        // Where it came from, too: without moves that are not needed it is easier to see on which inputs it
        // depends.
        if missed.next.is_power_of_two() {
            let origin = missed.origin.clone();
            return self.perform(origin, &approach, 0, budget);
        }
        let saved = self.first.get(missed.next).cloned().unwrap_or(other);
        let (origin, location) = (missed.origin.state.clone(), missed.location);
        if self.random.below(2) == 0
            && let Some(saved) = self.differing(location, &origin)
        {
            return self.later(saved, approach, budget);
        }
        self.perform(saved, &approach, 0, budget)
    }

    /// A place where what a comparison rests on is not as it is in a state.
    fn differing(&mut self, location: (TemplateId, LocationId), state: &State) -> Option<SavedState> {
        let objects = self.tried.get(&location).map(|tried| tried.objects.clone()).unwrap_or_default();
        let sampled: Vec<usize> = (0..SAMPLE).map(|_| self.random.below(self.kept.len())).collect();
        let saved_states = self.first.iter().rev().chain(sampled.iter().map(|at| &self.kept[*at]));
        let differs = |saved: &&SavedState| {
            objects.iter().any(|object| {
                let start = (self.model.machine.addresses.offset[*object] - STATICS) as usize;
                let end = start + self.model.machine.program.objects[*object].size as usize;
                saved.state.statics.first_difference(&state.statics, start).is_some_and(|at| at < end)
            })
        };
        let found: Vec<SavedState> = saved_states.filter(differs).take(SAMPLE / 2).cloned().collect();
        let number = self.random.below(found.len());
        found.into_iter().nth(number)
    }

    /// Makes moves from another place, after one of the handlers among them fired some more times, and the
    /// first thread ran each time: a timer may stand elsewhere there.
    fn later(
        &mut self,
        saved: SavedState,
        approach: Vec<Move>,
        budget: &Budget,
    ) -> Result<MoveOutcome, Exhausted> {
        let number = self.random.below(approach.len());
        let Some(handler) = approach.get(number) else { return Ok(MoveOutcome::DeadEnd) };
        let handler = Move { stop: Stop::Never, times: 1, ..handler.clone() };
        let first = Move { thread: 0, begins: false, inputs: Vec::new(), ..handler.clone() };
        let mut moves: Vec<Move> = Vec::new();
        for _ in 1..1_usize << self.random.below(ROW) {
            moves.extend([handler.clone(), first.clone()]);
        }
        moves.extend(approach);
        self.perform(saved, &moves, 0, budget)
    }
}

/// The last moves of a place, at most so many, the newest last.
pub(super) fn last_moves(saved: &SavedState, count: usize) -> Vec<Move> {
    let mut steps = 0;
    let short = |history: &&Rc<MoveHistory>| {
        steps += history.length();
        steps < LONGEST_WINDOW
    };
    let mut plan: Vec<Move> =
        saved.moves().take(count).take_while(short).map(|history| history.to_move()).collect();
    plan.reverse();
    plan
}
