//! What is done where a comparison is about to fail: the last moves are made again with other inputs, such that it succeeds ([`super::comparisons`]).
//!
//! First the bytes that are compared are looked for among the inputs. Where that is not enough, inputs are changed one by one to see on which the compared values depend. These are changed by what
//! is missing, made behind another move (what an input means may depend on that, as it does behind an escape), and given all values. Where there are none, moves are made more than once: what was received may be too short.

use super::comparisons::{Again, Comparison};
use super::places::{Place, Recipe, Run, Stop};
use super::{Fired, Firings, LONGEST_FIRING, below};
use ir::{EdgeId, Expr, LocationId, TemplateId};
use verdict::{Budget, Exhausted};

/// The part of the steps that may be spent on comparisons which do not succeed. So many may be for one, then one of so many times,
/// unless that was enough for one success.
const SHARE: u64 = 4;
const EAGER: u64 = 100_000;
const SELDOM: usize = 16;
/// The part of the steps that may be spent on giving inputs all values for one comparison that leads to what races are made of, and so many inputs.
const SWEEPS: u64 = 24;
/// How many steps that takes at least and at most.
const SWEEP: u64 = 200_000;
const MOST_SWEEP: u64 = 1_500_000;
/// The part of the steps that may be spent on making moves more than once for another comparison, and how many that takes at least.
const IDLE_SWEEPS: u64 = 500;
const IDLE_SWEEP: u64 = 50_000;
const MOST_SWEPT: usize = 6;
/// How often moves are made more than once for such a comparison, up to how many times, and which: of so many of the last inputs.
const LONGER: usize = 16;
/// Comparisons within comparisons that are set right.
const DEEPEST: usize = 3;

/// How often inputs were changed for a comparison, and it succeeded then.
#[derive(Clone, Copy, Default)]
pub(super) struct Tried {
    times: usize,
    successes: usize,
    /// The steps that were spent in vain, and on giving inputs all values for it.
    spent: u64,
    swept: u64,
}

/// A comparison that is about to fail.
struct Failing {
    /// The edge that is not taken then.
    edge: EdgeId,
    /// Two values that would have to be alike.
    values: (u64, u64),
    /// Whether the edge leads to what races are made of.
    relevant: bool,
    sides: (Expr, Expr),
}

/// A comparison that is to succeed.
#[derive(Clone)]
pub(super) struct Goal {
    /// Its number among those of the move.
    pub(super) number: usize,
    pub(super) location: (TemplateId, LocationId),
    /// Where it leads then.
    pub(super) edge: EdgeId,
    pub(super) sides: (Expr, Expr),
    /// What was compared.
    pub(super) seen: Option<[ir::Value; 2]>,
    pub(super) reached: bool,
}

/// A comparison that fails with the bytes it compares, too.
struct Failed {
    /// The moves that lead there.
    again: Again,
    goal: Goal,
    /// The two values.
    now: [ir::Value; 2],
}

impl Firings<'_, '_> {
    /// What a move comes to with other inputs, such that a comparison which is about to fail succeeds; nothing if none are found.
    pub(super) fn patched(
        &mut self,
        run: &mut Run,
        depth: usize,
        budget: &Budget,
    ) -> Result<Option<Fired>, Exhausted> {
        let Some((template, location)) = run.state.location(run.thread) else { return Ok(None) };
        let count = self.comparisons.at(template, location).len();
        run.comparisons += usize::from(count > 0);
        if depth >= DEEPEST || count == 0 || run.steps.len() > LONGEST_FIRING {
            return Ok(None);
        }
        let Some(Failing { edge, values: (old, new), relevant, sides }) =
            self.failing(run, template, location)
        else {
            return Ok(None);
        };
        let number = run.comparisons;
        let goal = Goal { number, location: (template, location), edge, sides, seen: None, reached: false };
        // Most comparisons have nothing to do with inputs.
        let Tried { times, successes, spent, swept } = *self.tried.entry((template, location)).or_default();
        if SELDOM * successes <= times {
            if depth > 0 {
                return Ok(None);
            }
            let (share, least) = if relevant { (SWEEPS, SWEEP) } else { (IDLE_SWEEPS, IDLE_SWEEP) };
            if times > SELDOM && share * (swept + least) <= self.steps {
                let before = self.steps;
                let value = |side: &Expr| self.model.machine.peek(&run.state, run.thread, side).unwrap_or(0);
                let now = [value(&goal.sides.0), value(&goal.sides.1)];
                let failed = Failed { again: Again::of(run), goal, now };
                let found = match relevant {
                    true => self.sweep(&failed, budget)?,
                    false => self.longer(&failed, budget)?,
                };
                self.tried.entry((template, location)).or_default().swept += self.steps - before;
                return Ok(found);
            }
            if spent > EAGER && (SHARE * self.spent > self.steps || self.below(SELDOM) > 0) {
                return Ok(None);
            }
        }
        let before = self.steps;
        let again = Again::of(run);
        for (old, new) in [(old, new), (new, old)] {
            let changes = again.bytes(old, new, &mut |bound| below(&mut self.random, bound));
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

    /// Makes moves again with changed inputs. Gives what they come to if a goal is reached, and what was compared there.
    fn again(
        &mut self,
        again: &Again,
        changes: &[(usize, ir::Value)],
        goal: &Goal,
        depth: usize,
        budget: &Budget,
    ) -> Result<(Option<Fired>, Option<[ir::Value; 2]>), Exhausted> {
        match again.with(changes) {
            Some(from) => self.towards(from, goal, depth, budget),
            None => Ok((None, None)),
        }
    }

    /// Makes moves from a place on. Gives what they come to if a goal is reached, and what was compared there.
    fn towards(
        &mut self,
        (origin, recipes): (Place, Vec<Recipe>),
        goal: &Goal,
        depth: usize,
        budget: &Budget,
    ) -> Result<(Option<Fired>, Option<[ir::Value; 2]>), Exhausted> {
        let outer = self.goal.replace(goal.clone());
        let found = self.perform(origin, &recipes, depth + 1, budget)?;
        let goal = std::mem::replace(&mut self.goal, outer);
        let better = matches!(found, Fired::Race(..)) || goal.as_ref().is_some_and(|goal| goal.reached);
        Ok((better.then_some(found), goal.and_then(|goal| goal.seen)))
    }

    /// Changes inputs that the sides of a comparison depend on: by what is missing, to anything, and behind other moves.
    fn sweep(&mut self, failed: &Failed, budget: &Budget) -> Result<Option<Fired>, Exhausted> {
        let Failed { again, goal, now } = failed;
        let mut matter = Vec::new();
        let end = self.steps + MOST_SWEEP;
        for at in 0..again.inputs() {
            if self.steps > end {
                break;
            }
            let other = (again.input(at) ^ (1 + below(&mut self.random, 255) as ir::Value)) & 0xff;
            let (found, seen) = self.again(again, &[(at, other)], goal, 0, budget)?;
            if found.is_some() {
                return Ok(found);
            }
            // Without a change nothing is changed; otherwise chance decides.
            if seen.is_some_and(|seen| seen != *now)
                && self.again(again, &[(at, again.input(at))], goal, 0, budget)?.1 == Some(*now)
            {
                matter.push(at);
                if matter.len() == MOST_SWEPT {
                    break;
                }
            }
        }
        if matter.is_empty() {
            return self.longer(failed, budget);
        }
        let missing = (now[0] ^ now[1]) & 0xff;
        for at in &matter {
            let likely = again.input(*at) ^ missing;
            let (found, _) = self.again(again, &[(*at, likely)], goal, 0, budget)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        for at in &matter {
            if self.steps > end {
                return Ok(None);
            }
            if let Some(found) = self.escape(failed, *at, budget)? {
                return Ok(Some(found));
            }
        }
        for at in matter {
            for value in 0..256 {
                if self.steps > end {
                    return Ok(None);
                }
                let (found, _) = self.again(again, &[(at, value)], goal, 0, budget)?;
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// Makes moves more than once, with what is missing as their input: what is compared may come from beyond the end of what was received.
    fn longer(&mut self, failed: &Failed, budget: &Budget) -> Result<Option<Fired>, Exhausted> {
        let Failed { again, goal, now } = failed;
        for _ in 0..2 * LONGER {
            let at = self.below(again.inputs().min(LONGER));
            let count = 1 + self.below(LONGER);
            let wide = self.below(2) == 0;
            if at >= again.inputs() {
                break;
            }
            // Of two bytes either may come first.
            let turned = self.below(2);
            for wanted in *now {
                let bytes = [wanted & 0xff, wanted >> 8 & 0xff];
                let byte = |number: usize| if wide { bytes[(number + turned) % 2] } else { bytes[0] };
                let moves: Vec<Recipe> = (0..count).map(|number| again.like(at, byte(number))).collect();
                let Some(from) = again.with_before(&moves, at, again.input(at)) else { break };
                let (found, _) = self.towards(from, goal, 0, budget)?;
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// Makes another move of the same handler before the one that an input is of: what the input means may depend on that, as it does behind an escape. Moves are tried that once did something new.
    fn escape(&mut self, failed: &Failed, at: usize, budget: &Budget) -> Result<Option<Fired>, Exhausted> {
        let Failed { again, goal, now } = failed;
        let thread = again.thread(at);
        let newest = self.first.iter().filter_map(|place| place.moves().next()).map(|past| past.recipe());
        let mut inserted: Vec<Recipe> =
            newest.filter(|recipe| recipe.thread == thread && recipe.begins).collect();
        inserted.sort_by(|one, other| one.inputs.cmp(&other.inputs));
        inserted.dedup_by(|one, other| one.inputs == other.inputs);
        for recipe in inserted {
            let recipe = Recipe { stop: Stop::Never, times: 1, ..recipe };
            let mut value = again.input(at);
            // What it makes of the input shows how it must be changed.
            for _ in 0..2 {
                let Some(from) = again.with_before(std::slice::from_ref(&recipe), at, value) else { break };
                let (found, seen) = self.towards(from, goal, 0, budget)?;
                if found.is_some() {
                    return Ok(found);
                }
                match seen.filter(|seen| seen != now) {
                    Some([left, right]) => value ^= (left ^ right) & 0xff,
                    None => break,
                }
            }
        }
        Ok(None)
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
        let comparison = *failing.get(below(&mut self.random, failing.len()))?;
        let small = |side: &Expr| u64::try_from(value(side)?).ok().filter(|value| *value < 1 << 16);
        let (left, right) = (small(&comparison.sides.0)?, small(&comparison.sides.1)?);
        // Where the order matters, what is a little more or less may do.
        let nearby = if comparison.is_of_order { below(&mut self.random, 3) as u64 } else { 1 };
        let right = (right + nearby).saturating_sub(1);
        let relevant = self.relevance.counts(template, comparison.edge);
        let (edge, sides) = (comparison.edge, comparison.sides.clone());
        (left != right).then_some(Failing { edge, values: (left, right), relevant, sides })
    }
}
