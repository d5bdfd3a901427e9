//! Which claims to hold a lock no other thread can break, and what procedures give back.
//!
//! A lock is two words (one for a spin lock). Taking one changes them only if nobody holds it, as long as
//! all operations that touch these words are of one family (mutexes, spin locks, read-write locks) and name
//! the lock by the same address. So a claim is left out unless
//!
//! * each operation on locks that may touch its words is of the same family, and meets them at their first
//!   byte only;
//! * each other step that may change its words (also the end of a frame) is not there meanwhile (rules 1
//!   and 2), touches another thread's private object (3), or one of the two addresses is that of an object
//!   which nobody else names (4);
//! * each step that may give it back is made by a thread that holds it by a claim which is not left out, or
//!   is not there meanwhile.
//!
//! Then by induction over an execution: the owner word is the thread's id, or the count is at least the
//! number of threads that claim to hold it for reading; or the lock's object was freed, and then nobody
//! takes it any more. Whoever gives a lock back loses its claim.

use super::owned::root;
use super::regions::{Meeting, Region, is_part_of, meeting};
use super::symbols::{Anchor, Values};
use super::view::{Footprint, Meter, Standing, Touch, View, claim};
use crate::ProofError;
use ir::{
    EdgeId, Expr, IdVec, LocationId, LocationKind, LockKind, ObjectId, Op, Storage, Target, TemplateId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use verdict::{LockBase, ThreadFacts};

/// The locks that work on the same words in the same way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Family {
    Mutex,
    Spin,
    ReadWrite,
}

impl Family {
    fn of(kind: LockKind) -> Self {
        match kind {
            LockKind::Mutex => Self::Mutex,
            LockKind::Spin => Self::Spin,
            LockKind::Read | LockKind::Write => Self::ReadWrite,
        }
    }
}

/// A step that may change words of locks, or give one back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Change {
    target: Target,
    bytes: Option<u64>,
    standing: Standing,
    /// For a write: whether it is to an object that its thread owns. For giving back: whether its thread
    /// holds the lock.
    is_own: bool,
}

/// What is known of the locks of a program.
pub struct Locks<'v, 'a> {
    view: &'v View<'a>,
    operations: IdVec<ObjectId, Vec<(Target, u64, Family)>>,
    writes: IdVec<ObjectId, Vec<Change>>,
    returns: IdVec<ObjectId, Vec<Change>>,
    /// Whether each claim counts, by context, location and number.
    usable: Vec<Vec<Vec<bool>>>,
    regions: RefCell<FxHashMap<Region, (u32, u64)>>,
    known: RefCell<FxHashMap<(u32, Standing, bool), bool>>,
}

impl<'v, 'a> Locks<'v, 'a> {
    /// Looks through a program, and leaves out the claims that others can break.
    pub fn new(view: &'v View<'a>, meter: &mut Meter<'_>) -> Result<Self, ProofError> {
        let program = view.program;
        let usable =
            |facts: &Option<ThreadFacts>| vec![true; facts.as_ref().map_or(0, |facts| facts.locks.len())];
        let mut locks = Self {
            view,
            operations: program.objects.iter().map(|_| Vec::new()).collect(),
            writes: program.objects.iter().map(|_| Vec::new()).collect(),
            returns: program.objects.iter().map(|_| Vec::new()).collect(),
            usable: view.contexts().map(|(_, context)| context.facts.iter().map(usable).collect()).collect(),
            regions: RefCell::default(),
            known: RefCell::default(),
        };
        locks.find_operations();
        locks.find_writes(meter)?;
        loop {
            locks.find_returns(meter)?;
            locks.known.borrow_mut().clear();
            if !locks.leave_out(meter)? {
                return Ok(locks);
            }
        }
    }

    /// Whether a claim counts.
    pub fn is_usable(&self, context: usize, location: LocationId, number: usize) -> bool {
        self.usable[context][location.0 as usize].get(number).copied().unwrap_or(false)
    }

    fn find_operations(&mut self) {
        let program = self.view.program;
        for (template, code) in program.templates.enumerate() {
            for (edge, footprint) in self.view.steps[template].enumerate() {
                for touch in footprint.touches.iter().filter(|touch| touch.lock) {
                    if let Op::Lock(kind, _) | Op::Unlock(kind, _) = &code.edges[edge].ops[touch.op] {
                        for target in touch.region.iter() {
                            self.operations[target.object].push((*target, kind.bytes(), Family::of(*kind)));
                        }
                    }
                }
            }
        }
        for known in self.operations.iter_mut() {
            known.sort_unstable();
            known.dedup();
        }
    }

    /// The steps that each context takes: those from locations that threads reach.
    fn steps(
        &self,
        context: usize,
    ) -> impl Iterator<Item = (EdgeId, &'v Footprint<'a>, LocationId, &'a ThreadFacts)> + use<'v, 'a> {
        let view = self.view;
        let template = view.proof.contexts[context].template;
        let code = &view.program.templates[template];
        view.steps[template].enumerate().filter_map(move |(edge, footprint)| {
            let source = code.edges[edge].source;
            Some((edge, footprint, source, view.facts(context, source)?))
        })
    }

    fn find_writes(&mut self, meter: &mut Meter<'_>) -> Result<(), ProofError> {
        let view = self.view;
        let mut known = FxHashSet::default();
        for (number, context) in view.contexts() {
            for (edge, footprint, source, facts) in self.steps(number) {
                meter.tick()?;
                if footprint.breaks.is_empty() {
                    continue;
                }
                for touch in footprint.touches.iter().filter(|touch| touch.write && !touch.lock) {
                    let op = &view.program.templates[context.template].edges[edge].ops[touch.op];
                    // Nobody takes a lock in an object that is gone.
                    if matches!(op, Op::Free(_)) && !view.program.reuses_addresses {
                        continue;
                    }
                    let is_own = touch.op == 0
                        && !facts.fresh.is_empty()
                        && root(view, context.template, touch.address)?
                            .is_some_and(|local| facts.fresh.binary_search(&local).is_ok());
                    let standing = view.standing(number, source);
                    if !known.insert((touch.places(), standing, is_own)) {
                        continue;
                    }
                    for target in touch.region.iter().filter(|at| !view.lockable[at.object].is_empty()) {
                        let change = Change { target: *target, bytes: touch.bytes, standing, is_own };
                        self.writes[target.object].push(change);
                    }
                }
            }
        }
        for (object, described) in view.program.objects.enumerate() {
            if view.lockable[object].is_empty() {
                continue;
            }
            let standings = match described.storage {
                Storage::Frame(template) => self.ends_of_frames(Some(template)),
                Storage::ThreadLocal => self.ends_of_frames(None),
                Storage::Static | Storage::Site => Vec::new(),
            };
            let target = Target { object, first: 0, stride: 0, count: 1 };
            let changes =
                standings.into_iter().map(|standing| Change { target, bytes: None, standing, is_own: false });
            self.writes[object].extend(changes);
        }
        for known in self.writes.iter_mut() {
            known.sort_unstable();
            known.dedup();
        }
        Ok(())
    }

    /// Where frames of a template end, or whole threads.
    fn ends_of_frames(&self, template: Option<TemplateId>) -> Vec<Standing> {
        let view = self.view;
        let mut found = Vec::new();
        let owns = |context: &verdict::ProcedureContext| match template {
            Some(template) => context.template == template,
            None => context.template == context.kind,
        };
        let kinds: Vec<TemplateId> =
            view.contexts().filter(|(_, context)| owns(context)).map(|(_, context)| context.kind).collect();
        for (number, context) in view.contexts() {
            let mut ends = Vec::new();
            if owns(context) {
                ends.extend(view.ends(number, LocationKind::End));
            }
            if kinds.contains(&context.kind) {
                ends.extend(view.ends(number, LocationKind::Exit));
            }
            found.extend(ends.into_iter().map(|(location, _)| view.standing(number, location)));
        }
        found
    }

    fn find_returns(&mut self, meter: &mut Meter<'_>) -> Result<(), ProofError> {
        let view = self.view;
        let mut returns: IdVec<ObjectId, Vec<Change>> =
            view.program.objects.iter().map(|_| Vec::new()).collect();
        let mut known = FxHashSet::default();
        for (number, context) in view.contexts() {
            let code = &view.program.templates[context.template];
            for (edge, footprint, source, facts) in self.steps(number) {
                meter.tick()?;
                for touch in footprint.touches.iter().filter(|touch| touch.lock) {
                    let Op::Unlock(_, address) = &code.edges[edge].ops[touch.op] else { continue };
                    let is_own = touch.op == 0 && self.is_held((number, source), facts, address);
                    let standing = view.standing(number, source);
                    let only = only_lock(view, context.template, facts, touch);
                    if only.is_none() && !known.insert((touch.places(), standing, is_own)) {
                        continue;
                    }
                    let targets = only.as_ref().map_or(&touch.region[..], std::slice::from_ref);
                    for target in targets {
                        let change = Change { target: *target, bytes: touch.bytes, standing, is_own };
                        returns[target.object].push(change);
                    }
                }
            }
        }
        for known in returns.iter_mut() {
            known.sort_unstable();
            known.dedup();
        }
        self.returns = returns;
        Ok(())
    }

    /// Whether a thread holds the lock at an address, by a claim that counts.
    fn is_held(&self, (context, source): (usize, LocationId), facts: &ThreadFacts, address: &Expr) -> bool {
        let view = self.view;
        if facts.locks.is_empty() {
            return false;
        }
        let values = Values::of(view.program, view.proof.contexts[context].template, facts);
        let Some(address) = values.eval(address) else { return false };
        facts.locks.iter().enumerate().any(|(number, lock)| {
            values.lock(lock.base, lock.offset) == address && self.is_usable(context, source, number)
        })
    }

    /// Leaves out claims that others can break; says whether there were any.
    fn leave_out(&mut self, meter: &mut Meter<'_>) -> Result<bool, ProofError> {
        let view = self.view;
        let mut changed = false;
        for (number, context) in view.contexts() {
            for location in view.program.templates[context.template].locations.ids() {
                let Some(facts) = view.facts(number, location) else { continue };
                let standing = view.standing(number, location);
                for (claim, lock) in facts.locks.iter().enumerate() {
                    meter.tick()?;
                    if !self.is_usable(number, location, claim) {
                        continue;
                    }
                    let is_own = match lock.base {
                        LockBase::Local(local) => facts.fresh.binary_search(&local).is_ok(),
                        LockBase::Object(_) => false,
                    };
                    let region = view.lock_region(context.template, lock.base, lock.offset)?;
                    if !self.is_reliable(&region, standing, is_own) {
                        self.usable[number][location.0 as usize][claim] = false;
                        changed = true;
                    }
                }
            }
        }
        Ok(changed)
    }

    /// A number for a region, and how many bytes the words of locks there have.
    fn numbered(&self, region: &Region) -> (u32, u64) {
        if let Some(known) = self.regions.borrow().get(region) {
            return *known;
        }
        let is_large = |target: &Target| {
            let mut touching = self.operations[target.object]
                .iter()
                .filter(|(other, bytes, _)| meeting(target, Some(4), other, Some(*bytes)) != Meeting::Never);
            touching.clone().next().is_none() || touching.any(|(_, _, family)| *family != Family::Spin)
        };
        let bytes = if region.iter().any(is_large) { 8 } else { 4 };
        let mut regions = self.regions.borrow_mut();
        let number = regions.len() as u32;
        regions.insert(region.clone(), (number, bytes));
        (number, bytes)
    }

    /// How many bytes the words of a lock have that may be in a region.
    pub fn bytes(&self, region: &Region) -> u64 {
        self.numbered(region).1
    }

    /// Whether no other thread breaks a claim to hold a lock in a region, made by a thread that stands
    /// somewhere. `is_own`: the address is that of an object which the thread owns.
    pub fn is_reliable(&self, region: &Region, standing: Standing, is_own: bool) -> bool {
        let (number, bytes) = self.numbered(region);
        if let Some(known) = self.known.borrow().get(&(number, standing, is_own)) {
            return *known;
        }
        let found = !region.is_empty()
            && self.is_sane(region, bytes)
            && region.iter().all(|target| self.is_left_alone(target, bytes, standing, is_own));
        self.known.borrow_mut().insert((number, standing, is_own), found);
        found
    }

    /// Whether all operations on locks that may touch the words of a lock take it for the same lock.
    fn is_sane(&self, region: &Region, bytes: u64) -> bool {
        let mut families: Vec<Family> = Vec::new();
        for target in region.iter() {
            for (other, size, family) in &self.operations[target.object] {
                match meeting(target, Some(bytes), other, Some(*size)) {
                    Meeting::Never => {}
                    Meeting::SameStart => families.push(*family),
                    Meeting::Otherwise => return false,
                }
            }
        }
        families.windows(2).all(|pair| pair[0] == pair[1])
    }

    fn is_left_alone(&self, target: &Target, bytes: u64, standing: Standing, is_own: bool) -> bool {
        let view = self.view;
        let meets =
            |change: &&Change| meeting(target, Some(bytes), &change.target, change.bytes) != Meeting::Never;
        let is_apart = |change: &Change| view.are_apart(standing, change.standing).is_some();
        let owned_count = view.program.unordered.is_empty();
        let mut writes = self.writes[target.object].iter().filter(meets);
        let mut returns = self.returns[target.object].iter().filter(meets);
        writes.all(|write| {
            is_apart(write) || view.private[target.object] || (owned_count && (is_own || write.is_own))
        }) && returns.all(|given| given.is_own || is_apart(given))
    }
}

/// The only place of a lock that a step names by numbers that are known where it starts.
fn only_lock(
    view: &View<'_>,
    template: TemplateId,
    facts: &ThreadFacts,
    touch: &Touch<'_>,
) -> Option<Target> {
    // What stands after other operations of the edge may be computed from locals that they change.
    if touch.op > 0 || facts.numbers.is_empty() {
        return None;
    }
    let address = Values::of(view.program, template, facts).eval(touch.address)?;
    let Anchor::Object(object) = address.anchor else { return None };
    let only = Target { object, first: address.offset, stride: 0, count: 1 };
    touch.region.iter().any(|target| is_part_of(&only, target)).then_some(only)
}

/// Checks that each context lists where locks may be that it gives back.
pub fn check_releases(view: &View<'_>, meter: &mut Meter<'_>) -> Result<(), ProofError> {
    for (number, context) in view.contexts() {
        let code = &view.program.templates[context.template];
        // The list is in the order of objects.
        let covers = |target: &Target| {
            let from = context.releases.partition_point(|listed| listed.object < target.object);
            let of_object =
                context.releases[from..].iter().take_while(|listed| listed.object == target.object);
            let mut of_object = of_object.filter(|listed| is_part_of(target, listed));
            of_object.next().is_some()
        };
        let mut looked_at: FxHashSet<usize> = FxHashSet::default();
        let missing = |edge: EdgeId, target: &Target| {
            let (name, object) = (&code.name, &view.program.objects[target.object].name);
            let line = code.edges[edge].span.line;
            let what = format!("{name} gives back a lock in {object} (line {line})");
            claim(format!("{what} that context {number} does not list"))
        };
        for (edge, footprint) in view.steps[context.template].enumerate() {
            meter.tick()?;
            let source = code.edges[edge].source;
            let Some(facts) = view.facts(number, source) else { continue };
            if let Some(target) = footprint.breaks.iter().find(|target| !covers(target)) {
                return missing(edge, target);
            }
            for touch in footprint.touches.iter().filter(|touch| touch.lock) {
                if !matches!(&code.edges[edge].ops[touch.op], Op::Unlock(..)) {
                    continue;
                }
                let only = only_lock(view, context.template, facts, touch);
                for target in only.as_ref().map_or(&touch.region[..], std::slice::from_ref) {
                    // Only bytes count at which some step takes a lock.
                    let taken = view.lockable[target.object].iter().filter(|(lock, bytes)| {
                        meeting(target, touch.bytes, lock, Some(*bytes)) != Meeting::Never
                    });
                    if !covers(target) && !taken.clone().all(|(lock, _)| covers(lock)) {
                        return missing(edge, target);
                    }
                }
            }
            let is_call = matches!(code.edges[edge].ops.last(), Some(Op::Call(..)));
            for callee in footprint.callees.iter().filter(|_| is_call) {
                let Some(called) = view.callee_context(number, edge, *callee) else {
                    return claim(format!("{} leaves out a callee", view.at(number, source)));
                };
                if !looked_at.insert(called) {
                    continue;
                }
                let releases = &view.proof.contexts[called].releases;
                if let Some(target) = releases.iter().find(|target| !covers(target)) {
                    return missing(edge, target);
                }
            }
        }
    }
    Ok(())
}
