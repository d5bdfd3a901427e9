//! Words in memory whose value a local has: `p->lock` names the same lock twice if nobody writes the word
//! meanwhile.
//!
//! Only words count whose value may be the address of an object that some step takes a lock in. Addresses and
//! values are given by leaders of classes. Under-approximates what is known.

use crate::analysis::Analysis;
use crate::calls::{Call, in_both};
use crate::equalities::{leader, resolve};
use crate::facts::insert;
use crate::model::{Access, Model};
use crate::ownership::base;
use ir::ids::Id;
use ir::passes::bits::BitSet;
use ir::passes::footprint::Region;
use ir::{
    BinaryOp, EdgeId, Expr, IdVec, Lhs, LocalId, LocationId, ObjectId, Op, Program, Rhs, Storage, Target,
    Targets, TemplateId,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use verdict::{LockBase, ThreadFacts, Word};

/// The locals of a procedure whose value may be an address in an object that has a lock.
pub fn named(
    model: (&Program, &ir::passes::PointsTo),
    template: TemplateId,
    locks: &BTreeSet<ObjectId>,
) -> BitSet {
    let (program, points_to) = model;
    let pointer = program.data_model.pointer();
    let code = &program.templates[template];
    let mut found = BitSet::new(code.locals.len());
    for (local, described) in code.locals.enumerate().filter(|(_, local)| local.ty.bits == pointer.bits) {
        debug_assert_eq!(described.ty.bits, pointer.bits, "others were left out");
        if let Targets::Of(targets) = points_to.targets(template, &Expr::Local(local))
            && targets.iter().any(|target| locks.contains(&target.object))
        {
            found.insert(local.index());
        }
    }
    found
}

/// What a step loads or stores as a whole, if it is a word and nothing else happens: its address, and the
/// local that gets the value, or the value that is stored.
pub fn moved<'o>(program: &Program, op: &'o Op) -> Option<(&'o Expr, Moved<'o>)> {
    let Op::Assign(assignment) = op else { return None };
    let pointer = program.data_model.pointer();
    match assignment.pairs.as_slice() {
        [(Lhs::Local(local), Rhs::Value(value))] => {
            let (address, plus) = loaded(program, value)?;
            Some((address, Moved::To(*local, plus)))
        }
        [(Lhs::Memory(place), Rhs::Value(value))] if place.ty.bits == pointer.bits => {
            Some((&place.address, Moved::From(value)))
        }
        _ => None,
    }
}

/// The address of a word whose value an expression is, but for a constant.
fn loaded<'o>(program: &Program, value: &'o Expr) -> Option<(&'o Expr, i128)> {
    let pointer = program.data_model.pointer();
    match value {
        Expr::Load(place) => (place.ty.bits == pointer.bits).then_some((&place.address, 0)),
        Expr::Binary(BinaryOp::Add, ty, pair) if ty.bits == pointer.bits => match &**pair {
            (Expr::Const(plus, _), sum) | (sum, Expr::Const(plus, _)) => {
                let (address, more) = loaded(program, sum)?;
                Some((address, more + plus))
            }
            _ => None,
        },
        Expr::Binary(BinaryOp::Sub, ty, pair) if ty.bits == pointer.bits => match &**pair {
            (sum, Expr::Const(less, _)) => {
                let (address, more) = loaded(program, sum)?;
                Some((address, more - less))
            }
            _ => None,
        },
        Expr::Local(_) | Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => None,
        Expr::Unary(..) | Expr::Binary(..) | Expr::Cast(..) | Expr::IfThenElse(_) => None,
        Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => None,
    }
}

/// Where a word goes, or comes from.
pub enum Moved<'o> {
    /// To a local, plus a constant.
    To(LocalId, i128),
    /// From an expression.
    From(&'o Expr),
}

/// Where words are that are followed: those that locals of [`named`] are loaded from, or stored to.
pub fn targets(
    (program, points_to): (&Program, &ir::passes::PointsTo),
    named: &IdVec<TemplateId, BitSet>,
) -> Vec<Target> {
    let mut found = BTreeSet::new();
    for (template, code) in program.templates.enumerate() {
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            let Some((address, Moved::To(local, _))) = moved(program, op) else { continue };
            if named[template].contains(local.index())
                && let Targets::Of(targets) = points_to.targets(template, address)
            {
                found.extend(targets.iter().copied());
            }
        }
    }
    found.into_iter().collect()
}

/// For each procedure, the words that it, or what it calls, may write.
pub fn overwritten(model: &Model<'_>) -> IdVec<TemplateId, BitSet> {
    let program = model.program;
    let mut found: IdVec<TemplateId, BitSet> =
        program.templates.iter().map(|_| BitSet::new(model.word_targets.len())).collect();
    for (template, procedure) in model.procedures.enumerate() {
        for access in procedure.accesses.iter().flatten().filter(|access| access.write) {
            access.words.iter().for_each(|word| {
                found[template].insert(*word as usize);
            });
        }
    }
    loop {
        let mut changed = false;
        for (template, code) in program.templates.enumerate() {
            for (edge, step) in code.edges.enumerate() {
                if !matches!(step.ops.last(), Some(Op::Call(..))) {
                    continue;
                }
                for callee in &model.procedures[template].callees[edge] {
                    let more: Vec<usize> = found[*callee].iter().collect();
                    for word in more {
                        changed |= found[template].insert(word);
                    }
                }
            }
        }
        if !changed {
            return found;
        }
    }
}

/// The value of the word at an address that is given by leaders.
pub fn value_at(facts: &ThreadFacts, (base, offset): (LockBase, u64)) -> Option<(LocalId, u64)> {
    let found = facts.words.iter().find(|word| word.base == base && word.offset == offset)?;
    Some((found.local, found.plus))
}

/// Takes note of the value of a word, both given by leaders.
pub fn add(facts: &mut ThreadFacts, (base, offset): (LockBase, u64), (local, plus): (LocalId, u64)) {
    if value_at(facts, (base, offset)).is_none() {
        insert(&mut facts.words, Word { base, offset, local, plus });
    }
}

/// The leader of a class is forgotten: words are given by its heir, which is that local plus a constant, or
/// are forgotten, too.
pub fn rename(
    facts: &mut ThreadFacts,
    local: LocalId,
    heir: Option<(LocalId, u64)>,
    wrap: &dyn Fn(u64) -> u64,
) {
    let Some((heir, distance)) = heir else {
        facts.words.retain(|word| word.base != LockBase::Local(local) && word.local != local);
        return;
    };
    for word in &mut facts.words {
        if word.base == LockBase::Local(local) {
            word.base = LockBase::Local(heir);
            word.offset = wrap(word.offset.wrapping_sub(distance));
        }
        if word.local == local {
            word.local = heir;
            word.plus = wrap(word.plus.wrapping_sub(distance));
        }
    }
    facts.words.sort_unstable();
}

/// The words that both know, given by the leaders of `result`.
pub fn meet(program: &Program, one: &ThreadFacts, other: &ThreadFacts, result: &ThreadFacts) -> Vec<Word> {
    let wrap = |value: u64| program.data_model.pointer().wrap(i128::from(value)) as u64;
    let mut locals: Vec<LocalId> =
        one.equal.iter().flat_map(|(local, leader, _)| [*local, *leader]).collect();
    for word in &one.words {
        locals.push(word.local);
        if let LockBase::Local(local) = word.base {
            locals.push(local);
        }
    }
    locals.sort_unstable();
    locals.dedup();
    // The same address or value by each local of its class.
    let names = |base: LockBase, offset: u64| -> Vec<(LockBase, u64)> {
        let LockBase::Local(class) = base else { return vec![(base, offset)] };
        let of_class = locals.iter().filter_map(|local| {
            let (mine, here) = leader(one, *local);
            (mine == class).then(|| (LockBase::Local(*local), wrap(offset.wrapping_sub(here))))
        });
        of_class.collect()
    };
    let mut found = Vec::new();
    for word in &one.words {
        let common = names(word.base, word.offset).into_iter().find_map(|address| {
            let (local, plus) = value_at(other, resolve(program, other, address))?;
            let is_it =
                |value: &(LockBase, u64)| resolve(program, other, *value) == (LockBase::Local(local), plus);
            let value = names(LockBase::Local(word.local), word.plus).into_iter().find(is_it)?;
            let (base, offset) = resolve(program, result, address);
            let (LockBase::Local(local), plus) = resolve(program, result, value) else { return None };
            Some(Word { base, offset, local, plus })
        });
        found.extend(common);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Forgets words of which nobody asks any more: whose address is not read again, or whose value is neither
/// read again nor that which a lock is counted from.
pub fn prune(facts: &mut ThreadFacts, is_live: &dyn Fn(LocalId) -> bool) {
    let locks = std::mem::take(&mut facts.locks);
    facts.words.retain(|word| {
        let has_address = match word.base {
            LockBase::Local(local) => is_live(local),
            LockBase::Object(_) => true,
        };
        let is_lock = || locks.iter().any(|lock| lock.base == LockBase::Local(word.local));
        has_address && (is_live(word.local) || is_lock())
    });
    facts.locks = locks;
}

/// Where a word is.
pub fn region(model: &Model<'_>, template: TemplateId, word: &Word) -> Region {
    model.lock_region(template, word.base, word.offset)
}

/// Whether the words of an object can be relied on at all: its memory is never that of another one.
fn is_lasting(model: &Model<'_>, object: ObjectId) -> bool {
    match model.program.objects[object].storage {
        Storage::Static | Storage::Site => true,
        Storage::Frame(template) => model.once[template] || model.private[object],
        Storage::ThreadLocal => model.private[object],
    }
}

/// A step that may write a word that is followed.
struct Write {
    by: TemplateId,
    absent: Vec<TemplateId>,
    region: Region,
    is_fresh: bool,
}

/// Where a claim is made, as far as it counts.
struct Claim<'c> {
    template: TemplateId,
    kind: TemplateId,
    absent: &'c [TemplateId],
    /// A location where the address is still read.
    live: LocationId,
}

impl Analysis<'_, '_> {
    /// Takes out what others may write, at locations and during calls; says whether there was any.
    pub(crate) fn remove_broken_words(&mut self, reached: &[u32]) -> bool {
        let has_words = |number: &u32| {
            self.contexts[*number as usize].facts.iter().flatten().any(|facts| !facts.words.is_empty())
        };
        if !reached.iter().any(has_words) {
            return false;
        }
        let writes = self.writes_of_words(reached);
        let throughout = self.throughout(reached);
        let mut broken: Vec<(u32, LocationId, Vec<Word>)> = Vec::new();
        let mut calls: Vec<(u32, EdgeId, LockBase, u64)> = Vec::new();
        for number in reached {
            let context = &self.contexts[*number as usize];
            let (template, kind) = (context.template, context.kind);
            for (location, facts) in context.facts.enumerate() {
                let Some(facts) = facts.as_ref().filter(|facts| !facts.words.is_empty()) else { continue };
                let claim = Claim { template, kind, absent: &facts.absent, live: location };
                let is_broken = |word: &&Word| !self.is_word_kept(&claim, word, &writes);
                let gone: Vec<Word> = facts.words.iter().filter(is_broken).copied().collect();
                if !gone.is_empty() {
                    broken.push((*number, location, gone));
                }
            }
            for Call { edge, callee, facts, target } in self.calls_of(*number) {
                let absent = in_both(&throughout[callee as usize], &facts.absent);
                let claim = Claim { template, kind, absent: &absent, live: target };
                for word in &facts.words {
                    let lost = (edge, word.base, word.offset);
                    if !context.lost_words.contains(&lost) && !self.is_word_kept(&claim, word, &writes) {
                        calls.push((*number, edge, word.base, word.offset));
                    }
                }
            }
        }
        let changed = !broken.is_empty() || !calls.is_empty();
        for (number, location, gone) in broken {
            if let Some(facts) = &mut self.contexts[number as usize].facts[location] {
                facts.words.retain(|word| !gone.contains(word));
            }
            self.reopen(number, location);
        }
        for (number, edge, base, offset) in calls {
            self.contexts[number as usize].lost_words.insert((edge, base, offset));
            self.call_from_scratch(number, edge);
        }
        changed
    }

    /// By the words that they may write, by number.
    fn writes_of_words(&self, reached: &[u32]) -> Vec<Vec<std::rc::Rc<Write>>> {
        let mut found: Vec<Vec<std::rc::Rc<Write>>> =
            self.model.word_targets.iter().map(|_| Vec::new()).collect();
        let mut known = BTreeSet::new();
        for number in reached {
            let context = &self.contexts[*number as usize];
            let code = &self.model.program.templates[context.template];
            for (id, edge) in code.edges.enumerate() {
                let Some(facts) = &context.facts[edge.source] else { continue };
                let accesses = &self.model.procedures[context.template].accesses[id];
                for access in accesses.iter().filter(|access| access.write && !access.words.is_empty()) {
                    let is_fresh = access.op == 0
                        && self.model.program.unordered.is_empty()
                        && base(self.model, context.template, &access.address, &facts.fresh).is_some();
                    let (places, bytes) = (access.places.number, access.bytes);
                    if known.insert((context.kind, facts.absent.clone(), places, bytes, is_fresh)) {
                        let (by, absent, region) = (context.kind, facts.absent.clone(), access.region());
                        let write = std::rc::Rc::new(Write { by, absent, region, is_fresh });
                        access.words.iter().for_each(|word| found[*word as usize].push(write.clone()));
                    }
                }
            }
        }
        found
    }

    fn is_word_kept(&self, claim: &Claim<'_>, word: &Word, writes: &[Vec<std::rc::Rc<Write>>]) -> bool {
        let model = self.model;
        let region = region(model, claim.template, word);
        let Some(mut objects) = region.objects() else { return false };
        let is_private = |object: ObjectId| model.private[object];
        if objects.all(is_private) {
            return true;
        }
        let Some(mut objects) = region.objects() else { return false };
        let has_address = match word.base {
            LockBase::Local(local) => {
                model.procedures[claim.template].live[claim.live].contains(local.index())
            }
            LockBase::Object(object) => model.program.objects[object].storage == Storage::Static,
        };
        objects.all(|object| is_lasting(model, object))
            && model.words_in(claim.template, word).iter().all(|number| {
                writes[*number as usize].iter().all(|write| {
                    (write.by == claim.kind && model.once[claim.kind])
                        || claim.absent.binary_search(&write.by).is_ok()
                        || write.absent.binary_search(&claim.kind).is_ok()
                        || (write.is_fresh && has_address)
                        || !write.region.overlaps(&region)
                })
            })
    }
}

impl Model<'_> {
    /// The words that a claim may be about, by number.
    pub fn words_in(&self, template: TemplateId, word: &Word) -> Arc<[u32]> {
        let asked = (template, word.base, word.offset);
        if let Some(known) = self.known_words.borrow().get(&asked) {
            return known.clone();
        }
        let region = region(self, template, word);
        let width = self.program.data_model.pointer().bytes();
        let touches = |target: &Target| {
            let extent = ir::passes::footprint::Extent::Bytes(width);
            Region { targets: Targets::Of(Arc::from([*target])), extent }.overlaps(&region)
        };
        let numbered = self.word_targets.iter().enumerate();
        let found: Arc<[u32]> =
            numbered.filter(|(_, target)| touches(target)).map(|(number, _)| number as u32).collect();
        self.known_words.borrow_mut().insert(asked, found.clone());
        found
    }

    /// Whether a call may change a word.
    pub fn is_overwritten(&self, callee: TemplateId, template: TemplateId, word: &Word) -> bool {
        let words = self.words_in(template, word);
        words.iter().any(|number| self.overwrites[callee].contains(*number as usize))
    }

    /// Whether a write may change a word; `apart`: how far it is from the word, if that is known.
    pub fn may_change(
        &self,
        template: TemplateId,
        word: &Word,
        access: &Access,
        apart: Option<i128>,
    ) -> bool {
        if let (Some(apart), Some(bytes)) = (apart, access.bytes) {
            let width = i128::from(self.program.data_model.pointer().bytes());
            return apart < width && apart + i128::from(bytes) > 0;
        }
        region(self, template, word).overlaps(&access.region())
    }
}
