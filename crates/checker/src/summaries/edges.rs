//! Whether all claims are kept: at the program's start, by every edge of every context, and by the steps of
//! others.

use super::calls::{Broken, Call, absent_during};
use super::cells::CellWrites;
use super::ids::IdWrites;
use super::locks::Locks;
use super::started::is_none;
use super::state::{Stepper, Unfounded};
use super::symbols::Values;
use super::view::{Meter, Standing, Touch, View, claim};
use super::words::Words;
use crate::ProofError;
use ir::{Count, IdVec, LocationId, LocationKind, ObjectId, Op, TemplateId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use verdict::ThreadFacts;

/// A claim of the proof that does not follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flaw {
    /// The context.
    pub context: usize,
    /// The location.
    pub location: LocationId,
    /// What is claimed there.
    pub what: Unfounded,
}

impl Flaw {
    /// The refusal.
    pub fn refusal(&self, view: &View<'_>) -> ProofError {
        let place = view.at(self.context, self.location);
        let what = match self.what {
            Unfounded::Unreached => "no thread is there".to_owned(),
            Unfounded::Equal(number) => format!("equality {number}"),
            Unfounded::Id(local, _) => format!("{local} is the id of a thread"),
            Unfounded::Set(handle) => format!("handle {handle} is set"),
            Unfounded::Lock(lock) => format!("the lock {:?} + {} is held", lock.base, lock.offset),
            Unfounded::Absent(kind) => {
                format!("no other thread of {} is alive", view.program.templates[kind].name)
            }
            Unfounded::Fresh(local) => format!("{local} is fresh"),
            Unfounded::Argument(local) => format!("{local} is the thread's argument and a constant"),
            Unfounded::Number(local) => format!("the value of {local} is known"),
            Unfounded::Order(number) => format!("inequality {number}"),
            Unfounded::Placed(local) => format!("{local} is in a row"),
            Unfounded::Word(number) => format!("the value of word {number}"),
            Unfounded::Started((kind, own)) => {
                let own = if own { "its own" } else { "all" };
                format!("{own} threads of {} are among those listed", view.program.templates[kind].name)
            }
        };
        ProofError::Claim(format!("{place}: {what}"))
    }
}

/// Who starts what, and what is absent where threads end.
struct Lives {
    /// The kinds that start each kind.
    starters: IdVec<TemplateId, BTreeSet<TemplateId>>,
    /// Where each kind is started.
    starts: IdVec<TemplateId, BTreeSet<Standing>>,
    /// What is absent wherever each kind may end.
    ends: IdVec<TemplateId, Option<Vec<TemplateId>>>,
}

impl Lives {
    fn of(view: &View<'_>, meter: &mut Meter<'_>) -> Result<Self, ProofError> {
        let program = view.program;
        let mut lives = Self {
            starters: program.templates.iter().map(|_| BTreeSet::new()).collect(),
            starts: program.templates.iter().map(|_| BTreeSet::new()).collect(),
            ends: program.templates.iter().map(|_| None).collect(),
        };
        for (number, context) in view.contexts() {
            let code = &program.templates[context.template];
            for (edge, footprint) in view.steps[context.template].enumerate() {
                meter.tick()?;
                let step = &code.edges[edge];
                let is_start = step.ops.iter().any(|op| matches!(op, Op::Spawn(..)));
                if !is_start || view.facts(number, step.source).is_none() {
                    continue;
                }
                for callee in &footprint.callees {
                    lives.starters[*callee].insert(context.kind);
                    lives.starts[*callee].insert(view.standing(number, step.source));
                }
            }
            let mut ends = view.ends(number, LocationKind::Exit);
            if context.template == context.kind {
                ends.extend(view.ends(number, LocationKind::End));
            }
            for (_, facts) in ends {
                match &mut lives.ends[context.kind] {
                    known @ None => *known = Some(facts.absent.clone()),
                    Some(known) => known.retain(|kind| facts.absent.binary_search(kind).is_ok()),
                }
            }
        }
        Ok(lives)
    }

    /// A kind of which there is a list that another thread may start one of, where a thread stands.
    fn unstable_list(&self, view: &View<'_>, standing: Standing, facts: &ThreadFacts) -> Option<TemplateId> {
        let is_started = |kind: &TemplateId| {
            self.starts[*kind].iter().any(|start| view.are_apart(standing, *start).is_none())
        };
        // Nobody else starts a thread's own.
        facts.started.iter().filter(|started| !started.own).map(|started| started.kind).find(is_started)
    }

    /// An absent kind that another thread may start where a thread stands.
    fn unstable(&self, view: &View<'_>, standing: Standing) -> Option<TemplateId> {
        let absent = &view.absences[standing.absent.0 as usize];
        let is_started = |kind: &&TemplateId| {
            self.starts[**kind].iter().any(|start| view.are_apart(standing, *start).is_none())
        };
        absent.iter().find(is_started).copied()
    }
}

/// What is known of the whole program.
pub struct Common<'v, 'a> {
    /// Of locks.
    pub locks: &'v Locks<'v, 'a>,
    /// The sites whose addresses are guessed.
    pub guessed: &'v IdVec<ObjectId, bool>,
    /// The steps that may write where handles are.
    pub id_writes: &'v IdWrites,
    /// The steps that may write cells.
    pub cell_writes: &'v CellWrites,
    /// Of words.
    pub words: &'v Words<'v, 'a>,
}

/// Finds the claims that do not follow: all of them, or the first.
pub fn flaws<'v, 'a>(
    view: &'v View<'a>,
    common: &Common<'v, 'a>,
    during: &[Standing],
    all: bool,
    meter: &mut Meter<'_>,
) -> Result<Vec<Flaw>, ProofError> {
    let lives = Lives::of(view, meter)?;
    check_alone_at_start(view)?;
    let Common { locks, guessed, id_writes, cell_writes, words } = *common;
    let mut found = at_start(view, common)?;
    let mut stable: FxHashMap<Standing, Option<TemplateId>> = FxHashMap::default();
    for (number, context) in view.contexts() {
        let code = &view.program.templates[context.template];
        let stepper = Stepper {
            view,
            context: number,
            template: context.template,
            kind: context.kind,
            locks,
            guessed,
            ends: &lives.ends,
            starters: &lives.starters,
            starts: &lives.starts,
            id_writes,
            cell_writes,
            words,
        };
        for location in code.locations.ids().filter(|location| view.facts(number, *location).is_some()) {
            meter.tick()?;
            let standing = view.standing(number, location);
            let kind = *stable.entry(standing).or_insert_with(|| lives.unstable(view, standing));
            let what = kind.map(Unfounded::Absent);
            found.extend(what.map(|what| Flaw { context: number, location, what }));
            if let Some(facts) = view.facts(number, location) {
                let kind = lives.unstable_list(view, standing, facts);
                let what = kind.map(|kind| Unfounded::Started((kind, false)));
                found.extend(what.map(|what| Flaw { context: number, location, what }));
            }
        }
        for (edge, step) in code.edges.enumerate() {
            meter.tick()?;
            if !found.is_empty() && !all {
                return Ok(found);
            }
            found.extend(stepper.edge(edge, step, during)?);
        }
    }
    Ok(found)
}

impl<'a> Stepper<'_, 'a> {
    /// The claims that an edge does not keep.
    fn edge(&self, id: ir::EdgeId, step: &'a ir::Edge, during: &[Standing]) -> Result<Vec<Flaw>, ProofError> {
        let view = self.view;
        let Some(facts) = view.facts(self.context, step.source) else { return Ok(Vec::new()) };
        let footprint = &view.steps[self.template][id];
        if footprint.is_dead {
            return Ok(Vec::new());
        }
        let mut known = self.start(step.source, facts)?;
        if known.values.is_contradiction {
            // No step leads there, as none establishes both of two claims that cannot hold together.
            return Ok(Vec::new());
        }
        let mut broken: Vec<Broken> = Vec::new();
        for (number, op) in step.ops.iter().enumerate() {
            let touches: Vec<&Touch<'_>> =
                footprint.touches.iter().filter(|touch| touch.op == number).collect();
            let is_last = number + 1 == step.ops.len();
            match op {
                Op::Spawn(_, arguments, lhs) => {
                    let call = Call { edge: id, is_last, arguments, lhs };
                    self.check_distinct(&known, &call)?;
                    self.check_alone(&known, &call)?;
                    let new = self.new_thread(&known, &call);
                    broken.extend(self.spawn(&mut known, &call)?);
                    self.step(&mut known, op, &touches, id)?;
                    self.add_thread(&mut known, new);
                }
                Op::Call(_, arguments, lhs) => {
                    self.step(&mut known, op, &touches, id)?;
                    let call = Call { edge: id, is_last, arguments, lhs };
                    let (returned, wrong) = self.call(known, &call, during)?;
                    broken.extend(wrong);
                    match returned {
                        Some(returned) => known = returned,
                        None => return Ok(self.entry_flaws(broken)),
                    }
                }
                Op::Assume(condition) if self.is_excluded(&known, condition) => {
                    return Ok(self.entry_flaws(broken));
                }
                Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Unlock(..) | Op::Join(..) => {
                    self.step(&mut known, op, &touches, id)?;
                }
                Op::Allocate { .. } | Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Broadcast(_) => {
                    self.step(&mut known, op, &touches, id)?;
                }
            }
        }
        let mut found = self.entry_flaws(broken);
        let flaw = |what| Flaw { context: self.context, location: step.target, what };
        found.extend(self.unfounded(&known, step.target)?.into_iter().map(flaw));
        Ok(found)
    }

    fn entry_flaws(&self, broken: Vec<Broken>) -> Vec<Flaw> {
        let flaw = |broken: Broken| {
            let template = self.view.proof.contexts[broken.context].template;
            let location = self.view.program.templates[template].entry;
            Flaw { context: broken.context, location, what: broken.what }
        };
        broken.into_iter().map(flaw).collect()
    }
}

/// Checks that the program starts with at most one thread of each kind of which one is alive at a time.
fn check_alone_at_start(view: &View<'_>) -> Result<(), ProofError> {
    for kind in &view.proof.alone {
        let copies = view.program.start.iter().filter(|(template, _)| template == kind);
        let copies = copies.map(|(_, count)| match count {
            Count::Exactly(copies) => u64::from(*copies),
            Count::Any => 2,
        });
        if copies.sum::<u64>() > 1 {
            let name = &view.program.templates[*kind].name;
            return claim(format!("the program starts with several threads of {name}"));
        }
    }
    Ok(())
}

/// The claims that do not hold at the program's start.
fn at_start(view: &View<'_>, common: &Common<'_, '_>) -> Result<Vec<Flaw>, ProofError> {
    let (program, locks) = (view.program, common.locks);
    let mut running: BTreeMap<TemplateId, u64> = BTreeMap::new();
    for (template, count) in &program.start {
        *running.entry(*template).or_default() += match count {
            Count::Exactly(copies) => u64::from(*copies),
            Count::Any => 2,
        };
    }
    let mut found = Vec::new();
    let mask = super::symbols::mask(program);
    for (context, (template, count)) in program.start.iter().enumerate() {
        if *count == Count::Exactly(0) {
            continue;
        }
        let location = program.templates[*template].entry;
        let mut add = |what| found.push(Flaw { context, location, what });
        let Some(facts) = view.facts(context, location) else {
            add(Unfounded::Unreached);
            continue;
        };
        // All locals are 0.
        let values = Values::entered(program, *template, Vec::new());
        for (number, (local, other, constant)) in facts.equal.iter().enumerate() {
            if values.local(*local) != values.local(*other).plus(*constant, mask) {
                add(Unfounded::Equal(number));
            }
        }
        facts.ids.iter().for_each(|(local, kind)| add(Unfounded::Id(*local, *kind)));
        facts.set.iter().for_each(|handle| add(Unfounded::Set(*handle)));
        facts.argument.iter().for_each(|(local, _)| add(Unfounded::Argument(*local)));
        facts.numbers.iter().for_each(|(local, _)| add(Unfounded::Number(*local)));
        (0..facts.order.len()).for_each(|number| add(Unfounded::Order(number)));
        facts.placed.iter().for_each(|(local, _, _)| add(Unfounded::Placed(*local)));
        let unknown = facts.started.iter().filter(|started| !is_none(started));
        unknown.for_each(|started| add(Unfounded::Started((started.kind, started.own))));
        for (number, lock) in facts.locks.iter().enumerate() {
            if locks.is_usable(context, location, number) {
                add(Unfounded::Lock(*lock));
            }
        }
        for (number, word) in facts.words.iter().enumerate() {
            if common.words.is_usable(context, location, word)? {
                add(Unfounded::Word(number));
            }
        }
        // All locals are null, but parameters are not counted on.
        let parameters = program.templates[*template].parameters;
        let given = facts.fresh.iter().filter(|local| (local.0 as usize) < parameters);
        given.for_each(|local| add(Unfounded::Fresh(*local)));
        for kind in &facts.absent {
            let others = running.get(kind).copied().unwrap_or(0) - u64::from(kind == template);
            if others > 0 {
                add(Unfounded::Absent(*kind));
            }
        }
    }
    Ok(found)
}

/// Who stands at all locations of each context and of all that it calls.
pub fn standing_during(view: &mut View<'_>) -> Vec<Standing> {
    let absent = absent_during(view);
    let mut found = Vec::new();
    for (number, absent) in absent.into_iter().enumerate() {
        let absent = view.absence(absent);
        found.push(Standing { kind: view.proof.contexts[number].kind, absent });
    }
    found
}
