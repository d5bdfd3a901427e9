//! Finds inputs that make a comparison succeed whose branch was never taken.
//!
//! The inputs that the compared values come from ([`super::sources`]) are changed, one after the other, as
//! long as the values come closer to what they have to be. The meaning of an input may depend on the move
//! before it, as after an escape character: then another move is inserted there. If no input reaches the
//! values, but inputs reach the bytes before them, as in a message that is too short, these moves are
//! repeated more often.

use super::approach::Cause;
use super::patches::Goal;
use super::saved_state::{Move, Run, SavedState, Stop};
use super::sources::{Flow, Input, Moves};
use super::{HandlerFuzzer, MoveOutcome};
use ir::{IntType, LocationId, ObjectId, Storage, TemplateId, Value};
use std::collections::BTreeSet;
use verdict::{Budget, Exhausted};

/// The part of all steps that this may take, and that one comparison may take. One that inputs reach has so
/// many steps before, others have one try.
const SHARE: u64 = 3;
const SHARE_OF_ONE: [u64; 2] = [256, 64];
const FREE: u64 = 2_000_000;
/// How many steps one try may take, and how often all moves may be made again in these.
const MOST_STEPS: u64 = 400_000;
const MOST_TIMES: u64 = 32;
/// How many steps back inputs are looked for: mostly, and sometimes.
const NEAR: usize = 16_000;
const FAR: usize = 100_000;
/// How often all inputs are changed.
const ROUNDS: usize = 3;
/// How many of the last moves are made more often, and how much more.
const LATE: usize = 16;
const TRIES: usize = 6;
const MOST_MORE: u64 = 64;
/// How far from the last byte that an input reaches a byte may be that is missing.
const GAP: u64 = 64;

/// Changes of moves.
#[derive(Clone, Default)]
struct Changes {
    /// Inputs that get other values.
    inputs: Vec<(Input, Value)>,
    /// Moves that are made before another one.
    inserted: Option<(usize, Vec<Move>)>,
}

impl Changes {
    /// With another one.
    fn with(&self, input: Input, value: Value) -> Self {
        let mut inputs = self.inputs.clone();
        inputs.retain(|(other, _)| *other != input);
        inputs.push((input, value));
        Self { inputs, inserted: self.inserted.clone() }
    }

    /// With other moves before a move.
    fn before(&self, number: usize, moves: Vec<Move>) -> Self {
        Self { inserted: Some((number, moves)), ..self.clone() }
    }

    /// What an input is.
    fn value(&self, moves: &Moves<'_>, input: Input) -> Value {
        let changed = self.inputs.iter().find(|(other, _)| *other == input).map(|(_, value)| *value);
        changed.or_else(|| moves.to_move(input.0).inputs.get(input.1).copied()).unwrap_or(0)
    }

    /// How to go again: from where, and how.
    fn apply(&self, moves: &Moves<'_>) -> Option<(SavedState, Vec<Move>)> {
        let changed = self.inputs.iter().map(|((number, _), _)| *number);
        let inserted = self.inserted.iter().map(|(number, _)| *number);
        let first = changed.chain(inserted).min().filter(|first| *first <= moves.last())?;
        let mut plan = moves.from(first);
        for ((number, place), value) in &self.inputs {
            *plan[number - first].inputs.get_mut(*place)? = *value;
        }
        if let Some((number, inserted)) = &self.inserted {
            let at = number - first;
            plan.splice(at..at, inserted.iter().cloned());
        }
        Some((moves.origin(first), plan))
    }
}

/// What is being solved.
struct Problem<'a, 'r> {
    moves: &'a Moves<'r>,
    goal: &'a Goal,
    /// When it is given up.
    end: u64,
}

impl HandlerFuzzer<'_, '_> {
    /// Whether changes of what compared values come from may be tried.
    pub(super) fn may_solve(&self, location: (TemplateId, LocationId)) -> bool {
        let (spent, promising) =
            self.tried.get(&location).map_or((0, false), |tried| (tried.solving, tried.promising));
        let free = if promising { FREE } else { 0 };
        spent <= free
            || SHARE * self.solving <= self.steps
                && SHARE_OF_ONE[usize::from(promising)] * spent <= self.steps
    }

    /// What moves result in with inputs such that a comparison succeeds; `None` when none are found.
    pub(super) fn solve(
        &mut self,
        run: &Run,
        goal: &Goal,
        budget: &Budget,
    ) -> Result<Option<MoveOutcome>, Exhausted> {
        let moves = Moves::of(run, if self.random.below(2) == 0 { NEAR } else { FAR });
        self.steps += moves.steps() as u64;
        let Some(flow) = moves.sources(self.model, [&goal.sides.0, &goal.sides.1]) else { return Ok(None) };
        let value = |side| self.model.machine.peek(&run.state, run.thread, side).unwrap_or(0);
        let now = [value(&goal.sides.0), value(&goal.sides.1)];
        let mut inputs: Vec<Input> = flow.sides.iter().flat_map(|side| &side.inputs).copied().collect();
        inputs.sort_unstable();
        inputs.dedup();
        inputs.reverse();
        let problem =
            Problem { moves: &moves, goal, end: self.steps + MOST_STEPS + MOST_TIMES * moves.steps() as u64 };
        let tried = self.tried.entry(goal.location).or_default();
        tried.promising |= !inputs.is_empty();
        if let Some(found) = self.longer(&problem, run, &flow, now, budget)? {
            return Ok(Some(found));
        }
        if inputs.is_empty() && goal.is_of_order {
            let found = self.more(&problem, goal.distance(now), budget)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        if inputs.is_empty() {
            return self.prepare(&problem, run, &flow, budget);
        }
        let mut best = (Changes::default(), now);
        if !goal.is_of_order && now[0] != now[1] {
            for input in &inputs {
                if let Some(found) = self.set_right(&problem, &mut best, *input, budget)? {
                    return Ok(Some(found));
                }
            }
        }
        for _ in 0..ROUNDS {
            let before = goal.distance(best.1);
            for input in &inputs {
                let ty = flow.types.get(input).copied().unwrap_or(IntType::U8);
                if let Some(found) = self.come_closer(&problem, &mut best, (*input, ty), budget)? {
                    return Ok(Some(found));
                }
            }
            if goal.distance(best.1) >= before {
                break;
            }
        }
        Ok(None)
    }

    /// Gives an input the value that it needs, after another move if it means something else then. `best`:
    /// the changes so far, and what is compared with them.
    fn set_right(
        &mut self,
        problem: &Problem<'_, '_>,
        best: &mut (Changes, [Value; 2]),
        input: Input,
        budget: &Budget,
    ) -> Result<Option<MoveOutcome>, Exhausted> {
        let Some(value) = self.needed(problem, best, input, budget)? else { return Ok(None) };
        let changes = best.0.with(input, value);
        let (found, seen) = self.change(problem, &changes, budget)?;
        if found.is_some() {
            return Ok(found);
        }
        match seen.filter(|seen| problem.goal.distance(*seen) < problem.goal.distance(best.1)) {
            Some(seen) => {
                *best = (changes, seen);
                Ok(None)
            }
            None => self.escape(problem, best, input, budget),
        }
    }

    /// Gives an input the first likely value with which what is compared comes closer to what it has to be.
    fn come_closer(
        &mut self,
        problem: &Problem<'_, '_>,
        best: &mut (Changes, [Value; 2]),
        (input, ty): (Input, IntType),
        budget: &Budget,
    ) -> Result<Option<MoveOutcome>, Exhausted> {
        let goal = problem.goal;
        let values = candidates(best.0.value(problem.moves, input), best.1, goal.is_of_order);
        for value in values.into_iter().filter(|value| ty.contains(*value)) {
            let changes = best.0.with(input, value);
            let (found, seen) = self.change(problem, &changes, budget)?;
            if found.is_some() {
                return Ok(found);
            }
            if let Some(seen) = seen.filter(|seen| goal.distance(*seen) < goal.distance(best.1)) {
                *best = (changes, seen);
                break;
            }
        }
        Ok(None)
    }

    /// What an input has to be for a byte of two values to be alike, as far as one byte of a value rests on
    /// it; `None` when they are already.
    fn needed(
        &mut self,
        problem: &Problem<'_, '_>,
        (best, now): &(Changes, [Value; 2]),
        input: Input,
        budget: &Budget,
    ) -> Result<Option<Value>, Exhausted> {
        let value = best.value(problem.moves, input);
        for bit in 0..3 {
            let (found, seen) = self.change(problem, &best.with(input, value ^ (1 << bit)), budget)?;
            self.found = self.found.take().or(found.and_then(MoveOutcome::race));
            let Some(seen) = seen.filter(|seen| seen != now) else { continue };
            let rests = (seen[0] ^ now[0]) | (seen[1] ^ now[1]);
            let at = rests.trailing_zeros() / 8 * 8;
            let differs = (now[0] ^ now[1]) >> at & 0xff;
            return Ok((differs != 0).then_some(value ^ differs));
        }
        Ok(None)
    }

    /// Makes moves again with changes. Gives their outcome if the goal is reached, and what was compared
    /// there.
    fn change(
        &mut self,
        problem: &Problem<'_, '_>,
        changes: &Changes,
        budget: &Budget,
    ) -> Result<(Option<MoveOutcome>, Option<[Value; 2]>), Exhausted> {
        match changes.apply(problem.moves).filter(|_| self.steps < problem.end) {
            Some(from) => self.towards(from, problem.goal, 0, budget),
            None => Ok((None, None)),
        }
    }

    /// Makes another move of the same handler before the one that an input is of. Moves are tried that once
    /// did something new.
    fn escape(
        &mut self,
        problem: &Problem<'_, '_>,
        (best, now): &(Changes, [Value; 2]),
        input: Input,
        budget: &Budget,
    ) -> Result<Option<MoveOutcome>, Exhausted> {
        let thread = problem.moves.to_move(input.0).thread;
        let newest =
            self.first.iter().filter_map(|saved| saved.moves().next()).map(|history| history.to_move());
        let mut inserted: Vec<Move> =
            newest.filter(|planned| planned.thread == thread && planned.begins).collect();
        inserted.sort_by(|one, other| one.inputs.cmp(&other.inputs));
        inserted.dedup_by(|one, other| one.inputs == other.inputs);
        for planned in inserted {
            let planned = Move { stop: Stop::Never, times: 1, ..planned };
            let mut value = best.value(problem.moves, input);
            // What it makes of the input shows how it must be changed.
            for _ in 0..2 {
                let changes = best.with(input, value).before(input.0, vec![planned.clone()]);
                let (found, seen) = self.change(problem, &changes, budget)?;
                if found.is_some() {
                    return Ok(found);
                }
                match seen.filter(|seen| seen != now) {
                    Some([left, right]) => value ^= missing(left, right),
                    None => break,
                }
            }
        }
        Ok(None)
    }

    /// First makes moves that once changed what is compared.
    fn prepare(
        &mut self,
        problem: &Problem<'_, '_>,
        run: &Run,
        flow: &Flow,
        budget: &Budget,
    ) -> Result<Option<MoveOutcome>, Exhausted> {
        let object = |address| self.model.machine.describe(&run.state, address).map(|(object, _)| object);
        let objects: BTreeSet<ObjectId> = flow
            .sides
            .iter()
            .filter_map(|side| object(side.byte?))
            .filter(|object| self.model.machine.program.objects[*object].storage == Storage::Static)
            .collect();
        let changes = |cause: &&Cause| !cause.changed.is_disjoint(&objects);
        let causes: Vec<Vec<Move>> =
            self.causes.iter().filter(changes).map(|cause| cause.moves.clone()).collect();
        self.tried.entry(problem.goal.location).or_default().objects.extend(objects);
        for _ in 0..TRIES.min(causes.len()) {
            if self.steps > problem.end {
                break;
            }
            let mut moves = causes[self.random.below(causes.len())].clone();
            moves.push(run.to_move());
            // What is compared then may come from inputs.
            self.nested += 1;
            let depth = usize::from(self.nested > 1);
            let fired = self.perform(run.origin().clone(), &moves, depth, budget)?;
            self.nested -= 1;
            if self.novelty.times(problem.goal.location.0, problem.goal.edge) > 0 {
                return Ok(Some(fired));
            }
            self.found = self.found.take().or(fired.race());
        }
        Ok(None)
    }

    /// Makes a move more often: what is compared may be how often it was made.
    fn more(
        &mut self,
        problem: &Problem<'_, '_>,
        missing: u64,
        budget: &Budget,
    ) -> Result<Option<MoveOutcome>, Exhausted> {
        let last = problem.moves.last();
        for _ in 0..TRIES {
            let number = last - self.random.below(LATE).min(last);
            let planned = problem.moves.to_move(number);
            if planned.inputs.is_empty() || missing > MOST_MORE {
                continue;
            }
            let more = vec![planned; missing as usize + self.random.below(2)];
            let (found, _) = self.change(problem, &Changes::default().before(number, more), budget)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Makes moves more often, with what is missing as their inputs: what is compared may come from beyond
    /// the end of what was received.
    fn longer(
        &mut self,
        problem: &Problem<'_, '_>,
        run: &Run,
        flow: &Flow,
        now: [Value; 2],
        budget: &Budget,
    ) -> Result<Option<MoveOutcome>, Exhausted> {
        let object = |address| self.model.machine.describe(&run.state, address).map(|(object, _)| object);
        let mut ends: Vec<(u64, u64)> = Vec::new();
        for byte in flow.sides.iter().filter_map(|side| side.byte) {
            let mut before = (byte.saturating_sub(GAP)..byte).rev();
            let last = before.find(|at| !flow.at(*at).is_empty() && object(*at) == object(byte));
            ends.extend(last.map(|last| (last, byte - last)));
        }
        self.tried.entry(problem.goal.location).or_default().promising |= !ends.is_empty();
        let mut wanted: Vec<(Value, usize)> =
            now.iter().flat_map(|value| [1, 2, 4].map(|size| (*value, size))).collect();
        if problem.goal.is_of_order {
            wanted.extend(now.iter().map(|value| (value + 1, 1)));
            wanted.extend([(0x80, 1), (0xff, 1)]);
        }
        for (last, gap) in ends {
            // The last ones may be a checksum, and stay the last.
            for kept in 0..3 {
                let Some(input) = flow.at(last - kept).first() else { break };
                let like = problem.moves.to_move(input.0);
                for (value, size) in &wanted {
                    // Its bytes end where what is compared does.
                    let count = (gap + kept) as usize;
                    let made = (0..count).rev().map(|back| {
                        let mut planned = like.clone();
                        let byte = value >> (8 * (size - 1 - back % size)) & 0xff;
                        planned.inputs.get_mut(input.1).into_iter().for_each(|its| *its = byte);
                        planned
                    });
                    let moves = made.collect();
                    let changes = Changes::default().before(input.0 + 1, moves);
                    let (found, _) = self.change(problem, &changes, budget)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
            }
        }
        Ok(None)
    }
}

/// The bits of a byte in which two values differ: of the first such byte.
fn missing(left: Value, right: Value) -> Value {
    let differs = left ^ right;
    (0..8).map(|byte| differs >> (8 * byte) & 0xff).find(|byte| *byte != 0).unwrap_or(0)
}

/// Values that an input may have to be, the likely ones first.
fn candidates(value: Value, [left, right]: [Value; 2], is_of_order: bool) -> Vec<Value> {
    let mut found = Vec::new();
    if left == right {
        found.extend((0..8).map(|bit| value ^ (1 << bit)));
        found.push(value ^ 0xff);
    } else {
        let differs = left ^ right;
        found.extend([value ^ differs, value + right - left, value + left - right]);
        found.extend((0..4).map(|byte| value ^ (differs >> (8 * byte) & 0xff)));
        for side in [left, right] {
            found.push(side);
            found.extend((0..4).map(|byte| side >> (8 * byte) & 0xff));
        }
    }
    if is_of_order {
        found.extend([left, right].iter().flat_map(|side| [side - 1, side + 1]));
        found.extend([0, 0x7f, 0x80, 0xff]);
    }
    let mut seen = vec![value];
    found.retain(|candidate| {
        let new = !seen.contains(candidate);
        seen.push(*candidate);
        new
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_make_values_alike() {
        // A byte of a wider value, whichever it is, and one that was changed by a constant.
        for shift in [0, 8, 16, 24] {
            let (value, other) = (0x35, 0x7e);
            let sides = [0x0102_0304 ^ (value << shift), 0x0102_0304 ^ (other << shift)];
            assert!(candidates(value, sides, false).contains(&other));
        }
        // A sum of it, and an order.
        assert!(candidates(10, [10 + 7, 30], false).contains(&23));
        assert!(candidates(0, [0, 25], true).iter().any(|value| *value > 25));
        // What is alike and must not be is changed in each of its bits.
        assert!((0..8).all(|bit| candidates(0, [0, 0], false).contains(&(1 << bit))));
        assert!(!candidates(9, [9, 4], true).contains(&9), "it is that already");
    }
}
