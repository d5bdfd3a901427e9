//! Which claims about words in memory can be relied on: nobody else can write them meanwhile.
//!
//! What a thread writes itself is looked at along its steps; here are the steps of others, and what a call
//! may write in its callees. Over-approximates who writes.

use super::owned::root;
use super::regions::{Meeting, Region, meeting};
use super::view::{Meter, Standing, Touch, View};
use crate::ProofError;
use ir::{IdVec, LocationId, ObjectId, Op, Storage, Target, TemplateId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use verdict::{LockBase, Word};

/// What is known of writes to the words that are claimed.
pub struct Words<'v, 'a> {
    view: &'v View<'a>,
    /// Where claimed words may be, by number.
    numbers: FxHashMap<Region, usize>,
    /// The steps that may write them: where, and whether the object is owned there.
    writes: Vec<FxHashSet<(Standing, bool)>>,
    /// For each context, the claimed words that it, or what it calls, may write.
    written: Vec<FxHashSet<usize>>,
    /// Whether words are kept, as far as it was asked: where a thread stands, and whether it has the address.
    kept: RefCell<FxHashMap<(usize, Standing, bool), bool>>,
}

impl<'v, 'a> Words<'v, 'a> {
    /// Looks through all steps that contexts take.
    pub fn of(view: &'v View<'a>, meter: &mut Meter<'_>) -> Result<Self, ProofError> {
        let (numbers, kept) = (FxHashMap::default(), RefCell::default());
        let mut words = Self { view, numbers, writes: Vec::new(), written: Vec::new(), kept };
        let mut regions: Vec<Region> = Vec::new();
        let mut claimed: FxHashSet<(TemplateId, LockBase, u64)> = FxHashSet::default();
        for (_, context) in view.contexts() {
            for word in context.facts.iter().flatten().flat_map(|facts| &facts.words) {
                meter.tick()?;
                if !claimed.insert((context.template, word.base, word.offset)) {
                    continue;
                }
                let region = view.lock_region(context.template, word.base, word.offset)?;
                let next = regions.len();
                words.numbers.entry(region).or_insert_with_key(|region| {
                    regions.push(region.clone());
                    next
                });
            }
        }
        words.writes = regions.iter().map(|_| FxHashSet::default()).collect();
        words.written = view.contexts().map(|_| FxHashSet::default()).collect();
        if regions.is_empty() {
            return Ok(words);
        }
        let mut by_object: IdVec<ObjectId, Vec<(usize, Target)>> =
            view.program.objects.iter().map(|_| Vec::new()).collect();
        for (number, region) in regions.iter().enumerate() {
            region.iter().for_each(|target| by_object[target.object].push((number, *target)));
        }
        words.find_writes(&by_object, meter)?;
        words.close();
        Ok(words)
    }

    fn find_writes(
        &mut self,
        by_object: &IdVec<ObjectId, Vec<(usize, Target)>>,
        meter: &mut Meter<'_>,
    ) -> Result<(), ProofError> {
        let view = self.view;
        let width = Some(view.program.data_model.pointer().bytes());
        // The claimed words that bytes at some places may be: equal lists of places are one.
        let mut touched: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for (number, context) in view.contexts() {
            let code = &view.program.templates[context.template];
            for (edge, footprint) in view.steps[context.template].enumerate() {
                meter.tick()?;
                let source = code.edges[edge].source;
                let Some(facts) = view.facts(number, source) else { continue };
                for touch in footprint.touches.iter().filter(|touch| touch.write) {
                    let of_touch = touched.entry(touch.places()).or_insert_with(|| {
                        let meets = |target: &Target| {
                            let claimed = by_object[target.object].iter();
                            let meets = claimed.filter(|(_, word)| {
                                meeting(target, touch.bytes, word, width) != Meeting::Never
                            });
                            meets.map(|(word, _)| *word).collect::<Vec<usize>>()
                        };
                        let mut found: Vec<usize> = touch.region.iter().flat_map(meets).collect();
                        found.sort_unstable();
                        found.dedup();
                        found
                    });
                    if of_touch.is_empty() {
                        continue;
                    }
                    let is_own = touch.op == 0
                        && !facts.fresh.is_empty()
                        && root(view, context.template, touch.address)?
                            .is_some_and(|local| facts.fresh.binary_search(&local).is_ok());
                    let write = (view.standing(number, source), is_own);
                    for word in of_touch {
                        self.writes[*word].insert(write);
                        self.written[number].insert(*word);
                    }
                }
            }
        }
        Ok(())
    }

    /// What callees may write, their callers may.
    fn close(&mut self) {
        loop {
            let mut changed = false;
            for (number, context) in self.view.contexts() {
                let code = &self.view.program.templates[context.template];
                for (edge, _, callee) in &context.calls {
                    let is_call = matches!(code.edges[*edge].ops.last(), Some(Op::Call(..)));
                    let callee = *callee as usize;
                    if !is_call || callee == number {
                        continue;
                    }
                    let more: Vec<usize> = self.written[callee].iter().copied().collect();
                    let before = self.written[number].len();
                    self.written[number].extend(more);
                    changed |= self.written[number].len() != before;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Whether nobody else can write a word that is claimed in a template: while a thread stands somewhere,
    /// and what its address is counted from is live at a location.
    pub fn is_kept(
        &self,
        (template, word): (TemplateId, &Word),
        standing: Standing,
        location: LocationId,
    ) -> Result<bool, ProofError> {
        let view = self.view;
        let region = view.lock_region(template, word.base, word.offset)?;
        if region.is_empty() {
            return Ok(false);
        }
        if region.iter().all(|target| view.private[target.object]) {
            return Ok(true);
        }
        let is_lasting = |target: &Target| match view.program.objects[target.object].storage {
            Storage::Static | Storage::Site => true,
            Storage::Frame(of) => view.once[of] || view.private[target.object],
            Storage::ThreadLocal => view.private[target.object],
        };
        let Some(number) = self.numbers.get(&region).filter(|_| region.iter().all(is_lasting)) else {
            return Ok(false);
        };
        let has_address = view.program.unordered.is_empty()
            && match word.base {
                LockBase::Local(local) => view.is_live(template, local, location),
                LockBase::Object(object) => view.program.objects[object].storage == Storage::Static,
            };
        let asked = (*number, standing, has_address);
        if let Some(known) = self.kept.borrow().get(&asked) {
            return Ok(*known);
        }
        let is_kept = self.writes[*number]
            .iter()
            .all(|(write, is_own)| view.are_apart(standing, *write).is_some() || (*is_own && has_address));
        self.kept.borrow_mut().insert(asked, is_kept);
        Ok(is_kept)
    }

    /// Whether a claim at a location can be relied on.
    pub fn is_usable(&self, context: usize, location: LocationId, word: &Word) -> Result<bool, ProofError> {
        let template = self.view.proof.contexts[context].template;
        self.is_kept((template, word), self.view.standing(context, location), location)
    }

    /// Whether a context, or what it calls, may write a word.
    pub fn is_written(&self, context: usize, region: &Region) -> bool {
        self.numbers.get(region).is_none_or(|number| self.written[context].contains(number))
    }

    /// Whether a write may change a word, by where both may be.
    pub fn may_meet(&self, touch: &Touch<'_>, region: &Region) -> bool {
        let width = Some(self.view.program.data_model.pointer().bytes());
        super::regions::meet(&touch.region, touch.bytes, region, width)
    }
}
