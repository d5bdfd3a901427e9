//! Abstract counterexamples (paper 3, definition 9): how the over-approximation reached an error, in the
//! program's own lines.
//!
//! The sets grew one after the other. From the error backwards, an earlier thread state explains each one: by
//! the thread's own step, the step that started it, or a step of another thread that changed shared bits.

use crate::reach::{Cause, Reached};
use boolean::symbolic::Relation;
use boolean::view::StepId;
use boolean::{Bdd, FALSE, PointId, TRUE, View};
use verdict::Exhausted;

/// A sentence with the lines, first to last.
pub fn describe(view: &mut View<'_>, reached: &Reached, error: PointId) -> Result<String, Exhausted> {
    let steps = explain(view, reached, error)?;
    let mut lines: Vec<String> = Vec::new();
    for Explained { line, by_other } in steps {
        let text = if by_other { format!("{line} by another thread") } else { line.to_string() };
        if lines.last() != Some(&text) {
            lines.push(text);
        }
    }
    Ok(format!("an error may be reached by lines {}", lines.join(", ")))
}

/// A step of an abstract counterexample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The line.
    pub line: u32,
    /// Whether another thread takes it.
    pub by_other: bool,
}

/// The steps to an error, first to last.
pub fn explain(view: &mut View<'_>, reached: &Reached, error: PointId) -> Result<Vec<Explained>, Exhausted> {
    let mut found = Vec::new();
    let mut point = error;
    let mut rank = reached.growth.len();
    let mut state = TRUE;
    loop {
        // The first time that this point got one of these states.
        let mut first = None;
        for index in 0..rank {
            let (at, set, cause) = reached.growth[index];
            if at == point {
                let common = view.bdds.and(set, state)?;
                if common != FALSE {
                    first = Some((index, common, cause));
                    break;
                }
            }
        }
        let Some((index, common, cause)) = first else { return Ok(found.into_iter().rev().collect()) };
        rank = index;
        let one = pick(view, common)?;
        match cause {
            Cause::Initial => return Ok(found.into_iter().rev().collect()),
            Cause::Own(step) | Cause::Started(step, _) => {
                found.push(Explained { line: view.step(step).span.line, by_other: false });
                let Some(relations) = &reached.relations[step.0 as usize] else { return Ok(found) };
                let relation = match cause {
                    Cause::Started(_, which) => relations.started[which].1,
                    _ => relations.own,
                };
                (point, state) = (view.step(step).source, before(view, one, relation)?);
            }
            Cause::Interference(_) => {
                // Some other state of the same point was changed: by which step is found by trying.
                let Some((step, earlier)) = interfering_step(view, reached, point, one, rank)? else {
                    return Ok(found.into_iter().rev().collect());
                };
                found.push(Explained { line: view.step(step).span.line, by_other: true });
                state = earlier;
            }
        }
    }
}

/// One state of a set.
fn pick(view: &mut View<'_>, set: Bdd) -> Result<Bdd, Exhausted> {
    let mut literals = Vec::new();
    let mut at = set;
    while at != TRUE && at != FALSE {
        let node = view.bdds.node(at);
        let high = node.low == FALSE;
        literals.push((node.level, high));
        at = if high { node.high } else { node.low };
    }
    literals.into_iter().rev().try_fold(TRUE, |cube, (level, value)| {
        let literal = view.bdds.literal(level, value)?;
        view.bdds.and(literal, cube)
    })
}

/// The states from which a relation leads to some states.
fn before(view: &mut View<'_>, states: Bdd, relation: Relation) -> Result<Bdd, Exhausted> {
    let primed = view.bdds.prime(states, relation.forget)?;
    let both = view.bdds.and(primed, relation.function)?;
    let next: Vec<u32> = view.bdds.support(&[both]).into_iter().filter(|level| level % 2 == 1).collect();
    let cube = view.bdds.cube(&next)?;
    view.bdds.exists(both, cube)
}

fn interfering_step(
    view: &mut View<'_>,
    reached: &Reached,
    point: PointId,
    state: Bdd,
    rank: usize,
) -> Result<Option<(StepId, Bdd)>, Exhausted> {
    for index in 0..rank {
        let (source, set, _) = reached.growth[index];
        for step in view.steps_at(source).to_vec() {
            let Some(relations) = reached.relations[step.0 as usize].clone() else { continue };
            if relations.changed.is_empty() {
                continue;
            }
            let changes = view.interference(set, &relations)?;
            let forget: Vec<u32> = relations.changed.iter().map(|bit| bit.now()).collect();
            let relation = view.relation(changes, &forget)?;
            let candidates = before(view, state, relation)?;
            for earlier in 0..rank {
                let (at, set, _) = reached.growth[earlier];
                if at == point {
                    let common = view.bdds.and(set, candidates)?;
                    if common != FALSE {
                        return Ok(Some((step, common)));
                    }
                }
            }
        }
    }
    Ok(None)
}
