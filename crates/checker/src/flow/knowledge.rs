//! Checks that facts follow from earlier facts, step by step.
//!
//! The rule propagates knowledge through the operations of an edge, starting from the facts claimed at its
//! source. An operation removes the facts that it may invalidate and adds those that it establishes. The
//! facts claimed at the target must then be known. At an entry nothing is known, and at an end nothing is
//! claimed. [`verdict::LocationFacts`] defines the facts; the functions here say why each operation preserves
//! or establishes them.

use super::data::Data;
use super::terms::{Sum, Terms};
use super::view::{Node, View};
use crate::ProofError;
use crate::ready::claim;
use ir::passes::footprint::{Extent, Region, accesses};
use ir::{
    Assignment, BinaryOp, Callee, EdgeId, Expr, IntType, Lhs, LocalId, LockKind, Op, Rhs, TemplateId,
    UnaryOp, Value,
};

/// A lock that is held, by its address.
#[derive(Clone, PartialEq, Debug)]
pub struct Held {
    pub address: Sum,
    pub shared: bool,
}

/// What is known between two operations.
#[derive(Clone, Default, Debug)]
pub struct Knowledge {
    pub equal: Vec<(LocalId, Expr)>,
    pub locks: Vec<Held>,
    /// Values that are the id of a unique template's thread.
    pub threads: Vec<(Sum, TemplateId)>,
    pub fresh: Vec<LocalId>,
    pub unspent: Vec<LocalId>,
}

impl Knowledge {
    fn is_empty(&self) -> bool {
        self.equal.is_empty()
            && self.locks.is_empty()
            && self.threads.is_empty()
            && self.fresh.is_empty()
            && self.unspent.is_empty()
    }
}

/// The effect of an operation on the words of locks.
#[derive(Clone, Debug)]
pub enum Touch {
    Writes(Region),
    Takes(LockKind, Region),
    /// Releases a lock that the thread is known to hold.
    Returns(Region),
}

/// The effects of a step besides knowledge.
#[derive(Clone, Default, Debug)]
pub struct Outcome {
    pub touches: Vec<Touch>,
    pub joined: Vec<TemplateId>,
    pub started: Vec<TemplateId>,
    /// It is not possible: it contradicts what is known, or the data invariants.
    pub impossible: bool,
}

/// The outcomes of each node's steps.
pub type Steps = Vec<Vec<(EdgeId, Outcome)>>;

/// The words that a lock claim is about: the owner, and for a shared claim also the count.
pub fn words(terms: &Terms<'_, '_>, held: &Held) -> Region {
    region(terms, &held.address, if held.shared { 8 } else { 4 })
}

fn region(terms: &Terms<'_, '_>, address: &Sum, bytes: u64) -> Region {
    if let [(Expr::Address(object, _), false)] = address.terms.as_slice()
        && let Ok(offset) = u64::try_from(address.constant)
    {
        return Region::exact(*object, offset, bytes);
    }
    Region::at(terms.view.points_to, terms.template, &terms.rebuilt(address), Extent::Bytes(bytes))
}

/// Whether a lock claim may be false after an operation of another thread, or of the claiming thread.
///
/// A write to the words may change them. Acquiring a lock writes them only if it is free or the thread's own,
/// so at the same address this breaks no exclusive claim of another thread; a mutex or spin lock ignores
/// readers. A lock that is released under a claim was not another thread's, and of shared claims exactly one
/// ends with the count. At other overlapping addresses, anything may happen.
pub fn breaks(touch: &Touch, held: &Held, words: &Region) -> bool {
    let only_at_zero =
        |region: &Region| region.distances(words).is_some_and(|all| all.iter().all(|by| *by == 0));
    match touch {
        Touch::Writes(region) => region.overlaps(words),
        Touch::Returns(region) => !only_at_zero(region),
        Touch::Takes(LockKind::Read | LockKind::Write, region) => !only_at_zero(region),
        Touch::Takes(LockKind::Mutex | LockKind::Spin, region) => {
            !only_at_zero(region) || (held.shared && region.overlaps(words))
        }
    }
}

/// Checks all facts; returns the effects of each step. Data invariants may exclude a step.
pub fn check_facts(view: &View<'_>, data: Option<&Data<'_, '_>>) -> Result<Steps, ProofError> {
    let mut steps = Vec::new();
    for template in view.program.templates.ids() {
        let entry = claimed(view, view.entry(template))?;
        claim(entry.is_empty(), "something is claimed where a thread starts")?;
    }
    for node in 0..view.nodes.len() {
        let before = claimed(view, node)?;
        if view.has_ended(node) {
            claim(before.is_empty(), "something is claimed of a thread that has ended")?;
        }
        let mut here = Vec::new();
        for edge in &view.leaving[node] {
            let template = view.nodes[node].0;
            let (after, mut outcome) = follow(view, template, *edge, before.clone(), &mut |_, _| {});
            outcome.impossible |= data.is_some_and(|data| !data.may_take(node, *edge, None));
            if view.proof.reachable[node] && !outcome.impossible {
                let target = view.node(template, view.program.templates[template].edges[*edge].target);
                implies(&after, &claimed(view, target)?)?;
            }
            here.push((*edge, outcome));
        }
        steps.push(here);
    }
    Ok(steps)
}

/// The facts that the proof claims at a node.
pub fn claimed(view: &View<'_>, node: Node) -> Result<Knowledge, ProofError> {
    let facts = view.facts(node);
    let terms = Terms { view, template: view.nodes[node].0 };
    let (fresh, unspent) = (facts.fresh.clone(), facts.unspent.clone());
    let mut known = Knowledge { fresh, unspent, ..Knowledge::default() };
    let meaningless = || ProofError::Claim("a fact is about memory that others change".to_owned());
    for (local, value) in &facts.equal {
        let value = terms.sum(value, &[]).ok_or_else(meaningless)?;
        known.equal.push((*local, terms.rebuilt(&value)));
    }
    for lock in &facts.locks {
        let mut address = terms.sum(&lock.base, &[]).ok_or_else(meaningless)?;
        address.constant = terms.pointer().wrap(address.constant + Value::from(lock.offset));
        known.locks.push(Held { address, shared: lock.shared });
    }
    for (value, thread) in &facts.threads {
        claim(view.is_unique(*thread), "a thread that is not unique is named")?;
        known.threads.push((terms.sum(value, &[]).ok_or_else(meaningless)?, *thread));
    }
    Ok(known)
}

fn implies(known: &Knowledge, wanted: &Knowledge) -> Result<(), ProofError> {
    let follows = |holds: bool, fact: String| {
        if holds { Ok(()) } else { Err(ProofError::Claim(format!("it does not follow that {fact}"))) }
    };
    for fact in &wanted.equal {
        follows(known.equal.contains(fact), format!("{} is {:?}", fact.0, fact.1))?;
    }
    for lock in &wanted.locks {
        // A thread that holds a lock exclusively also holds it for reading.
        let exclusive = Held { shared: false, ..lock.clone() };
        let held = known.locks.contains(lock) || known.locks.contains(&exclusive);
        follows(held, format!("a lock is held: {:?}", lock.address))?;
    }
    for fact in &wanted.threads {
        follows(known.threads.contains(fact), format!("{:?} is a thread of {}", fact.0, fact.1))?;
    }
    for local in &wanted.fresh {
        follows(known.fresh.contains(local), format!("{local} points to a fresh object"))?;
    }
    for local in &wanted.unspent {
        follows(known.unspent.contains(local), format!("{local} points to an unspent object"))?;
    }
    Ok(())
}

/// Propagates knowledge through an edge. `visit` sees it before each operation.
pub fn follow(
    view: &View<'_>,
    template: TemplateId,
    edge: EdgeId,
    mut known: Knowledge,
    visit: &mut dyn FnMut(&Op, &Knowledge),
) -> (Knowledge, Outcome) {
    let mut walker = Walker { terms: Terms { view, template }, outcome: Outcome::default() };
    for op in &view.program.templates[template].edges[edge].ops {
        visit(op, &known);
        walker.op(op, &mut known);
    }
    (known, walker.outcome)
}

struct Walker<'v, 'a> {
    terms: Terms<'v, 'a>,
    outcome: Outcome,
}

impl Walker<'_, '_> {
    fn op(&mut self, op: &Op, known: &mut Knowledge) {
        let (view, template) = (self.terms.view, self.terms.template);
        // An object is no longer fresh after this operation if its address leaves the locals.
        match op {
            Op::Assign(Assignment { constraint: Some(_), .. }) => known.fresh.clear(),
            Op::Assign(Assignment { pairs, constraint: None }) => {
                for pair in pairs {
                    if let (Lhs::Memory(_), Rhs::Value(value)) = pair {
                        self.leaves(value, known);
                    }
                }
            }
            Op::Spawn(_, arguments, _) => {
                for argument in arguments {
                    self.leaves(argument, known);
                    let sum = self.terms.sum(argument, &known.equal);
                    let is_spent = |local: &LocalId| {
                        sum.as_ref()
                            .is_some_and(|sum| sum.terms.iter().any(|(term, _)| reads_local(term, *local)))
                    };
                    known.unspent.retain(|local| !is_spent(local));
                }
            }
            Op::Free(address) => self.leaves(address, known),
            Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Join(..) | Op::Allocate { .. } => {}
            Op::Fill(..) | Op::Copy(..) | Op::Call(..) | Op::Broadcast(_) => {}
        }
        let gained = self.gained(op, known);
        let joined = match op {
            Op::Join(thread, _) => self.terms.sum(thread, &known.equal),
            _ => None,
        };
        if let Some(thread) = joined {
            let found = known.threads.iter().filter(|(value, _)| *value == thread);
            self.outcome.joined.extend(found.map(|(_, template)| *template));
        }
        if let Op::Assume(condition) = op {
            self.assumed(condition, true, known);
        }
        if let Op::Lock(kind, address) | Op::Unlock(kind, address) = op {
            self.lock_words(op, *kind, address, known);
        }
        // Freeing an object leaves its bytes as they were.
        if !matches!(op, Op::Free(_)) {
            for access in accesses(view.points_to, template, op) {
                if access.write {
                    self.write(access.address, access.region, known);
                }
            }
        }
        for lhs in op.targets() {
            if let Lhs::Local(local) = lhs {
                change_local(*local, known);
            }
        }
        if let Op::Spawn(Callee::Procedure(child), ..) = op {
            self.outcome.started.push(*child);
        }
        self.learn(op, gained, known);
    }

    /// The sum of a single assignment's value, and the thread whose id it is.
    fn gained(&self, op: &Op, known: &Knowledge) -> (Option<Sum>, Option<TemplateId>) {
        let Op::Assign(Assignment { pairs, .. }) = op else { return (None, None) };
        let [(_, Rhs::Value(value))] = pairs.as_slice() else { return (None, None) };
        let sum = self.terms.sum(value, &known.equal);
        let thread = known.threads.iter().find(|(value, _)| Some(value) == sum.as_ref());
        (sum, thread.map(|(_, thread)| *thread))
    }

    /// The facts that an operation establishes.
    fn learn(&self, op: &Op, (value, thread): (Option<Sum>, Option<TemplateId>), known: &mut Knowledge) {
        match op {
            Op::Assign(Assignment { pairs, .. }) => {
                let [(lhs, _)] = pairs.as_slice() else { return };
                if let Some(thread) = thread {
                    self.holds_thread(lhs, thread, known);
                }
                if let (Lhs::Local(local), Some(value)) = (lhs, value) {
                    let value = self.terms.rebuilt(&value);
                    if !reads_local(&value, *local) {
                        known.equal.push((*local, value));
                    }
                }
            }
            Op::Spawn(Callee::Procedure(child), _, Some(lhs)) if self.terms.view.is_unique(*child) => {
                self.holds_thread(lhs, *child, known);
            }
            Op::Allocate { result: Lhs::Local(local), .. } => {
                known.fresh.push(*local);
                known.unspent.push(*local);
            }
            Op::Spawn(..) | Op::Allocate { .. } | Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) => {}
            Op::Join(..) | Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Call(..) | Op::Broadcast(_) => {}
        }
    }

    /// A thread's id was stored. Ids fit into 32 bits.
    fn holds_thread(&self, lhs: &Lhs, thread: TemplateId, known: &mut Knowledge) {
        let holder = match lhs {
            Lhs::Local(local) => {
                let ty = self.terms.view.program.templates[self.terms.template].locals[*local].ty;
                (ty.bits >= 32).then_some(Expr::Local(*local))
            }
            Lhs::Memory(place) if place.ty.bits >= 32 => self.terms.own_cell(place, &known.equal),
            Lhs::Memory(_) => None,
        };
        if let Some(holder) = holder {
            known.threads.push((Sum { terms: vec![(holder, false)], constant: 0 }, thread));
        }
    }

    /// Learns that a condition holds, or does not. A lock claim means that the owner word of the lock is the
    /// thread's id.
    fn assumed(&mut self, condition: &Expr, holds: bool, known: &mut Knowledge) {
        match condition {
            Expr::Unary(UnaryOp::Not, IntType::BOOL, inner) => self.assumed(inner, !holds, known),
            Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), IntType::U32, pair) => {
                let me = Expr::cast(IntType::U32, Expr::Myself);
                let word = match (&pair.0, &pair.1) {
                    (Expr::Load(place), other) | (other, Expr::Load(place))
                        if *other == me && place.ty == IntType::U32 =>
                    {
                        place
                    }
                    _ => return,
                };
                let Some(address) = self.terms.key(&word.address, &known.equal) else { return };
                let held = Held { address, shared: false };
                let is_held = known.locks.contains(&held);
                if holds != (*op == BinaryOp::Eq) {
                    self.outcome.impossible |= is_held;
                } else if !is_held {
                    known.locks.push(held);
                }
            }
            _ => {}
        }
    }

    fn lock_words(&mut self, op: &Op, kind: LockKind, address: &Expr, known: &mut Knowledge) {
        let (view, template) = (self.terms.view, self.terms.template);
        let bytes = if kind == LockKind::Spin { 4 } else { 8 };
        let region = Region::at(view.points_to, template, address, Extent::Bytes(bytes));
        let key = self.terms.key(address, &known.equal);
        let is_key = |held: &Held| Some(&held.address) == key.as_ref();
        let takes = matches!(op, Op::Lock(..));
        let touch = if takes {
            Touch::Takes(kind, region.clone())
        } else if known.locks.iter().any(is_key) {
            Touch::Returns(region.clone())
        } else {
            Touch::Writes(region.clone())
        };
        self.forget_content(&region, known);
        // The thread may release any of its locks that could be the same.
        let own_touch = if takes { touch.clone() } else { Touch::Writes(region) };
        known.locks.retain(|held| {
            if is_key(held) {
                return takes && (!held.shared || !matches!(kind, LockKind::Mutex | LockKind::Spin));
            }
            self.is_apart(held, key.as_ref(), bytes) || !breaks(&own_touch, held, &words(&self.terms, held))
        });
        if let (true, Some(address)) = (takes, key) {
            let held = Held { address, shared: kind == LockKind::Read };
            if !known.locks.contains(&held) {
                known.locks.push(held);
            }
        }
        self.outcome.touches.push(touch);
    }

    /// The thread writes memory.
    fn write(&mut self, address: &Expr, region: Region, known: &mut Knowledge) {
        let key = self.terms.key(address, &known.equal);
        // No other thread can have a claim in an object that it cannot reach.
        let fresh = key.as_ref().is_some_and(|key| is_fresh(key, known));
        self.forget_content(&region, known);
        let bytes = match region.extent {
            Extent::Bytes(bytes) => bytes,
            Extent::Object => u64::MAX,
        };
        let touch = Touch::Writes(region);
        known.locks.retain(|held| {
            self.is_apart(held, key.as_ref(), bytes) || !breaks(&touch, held, &words(&self.terms, held))
        });
        if !fresh {
            self.outcome.touches.push(touch);
        }
    }

    /// Whether bytes at a key are surely not the words of a lock: same terms, other offsets.
    fn is_apart(&self, held: &Held, key: Option<&Sum>, bytes: u64) -> bool {
        let Some(key) = key.filter(|key| key.terms == held.address.terms) else { return false };
        let signed = ir::IntType { signed: true, ..self.terms.pointer() };
        let from = signed.wrap(key.constant - held.address.constant);
        from >= 8 || from + Value::from(bytes) <= 0
    }

    fn forget_content(&self, region: &Region, known: &mut Knowledge) {
        let view = self.terms.view;
        let reads = |expr: &Expr| {
            let mut found = false;
            expr.walk(&mut |inner| {
                if let Expr::Load(place) = inner {
                    let extent = Extent::Bytes(place.ty.bytes());
                    found |= Region::at(view.points_to, self.terms.template, &place.address, extent)
                        .overlaps(region);
                }
            });
            found
        };
        let sum_reads = |sum: &Sum| sum.terms.iter().any(|(term, _)| reads(term));
        known.equal.retain(|(_, value)| !reads(value));
        known.locks.retain(|held| !sum_reads(&held.address));
        known.threads.retain(|(value, _)| !sum_reads(value));
    }

    /// A value leaves the locals. It points to a fresh object only if local steps compute it from the
    /// object's local: memory holds no pointers to fresh objects.
    fn leaves(&self, value: &Expr, known: &mut Knowledge) {
        let code = &self.terms.view.program.templates[self.terms.template];
        let mut sources = vec![false; code.locals.len()];
        mark(value, &mut sources);
        loop {
            let mut grew = false;
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                let Op::Assign(assignment) = op else { continue };
                for pair in &assignment.pairs {
                    let (Lhs::Local(local), Rhs::Value(value)) = pair else { continue };
                    if sources[local.0 as usize] {
                        grew |= mark(value, &mut sources);
                    }
                }
            }
            if !grew {
                break;
            }
        }
        known.fresh.retain(|local| !sources[local.0 as usize]);
    }
}

/// Marks the locals that a value is computed from without loads; says whether one is new.
fn mark(value: &Expr, marked: &mut [bool]) -> bool {
    match value {
        Expr::Local(local) => !std::mem::replace(&mut marked[local.0 as usize], true),
        Expr::Load(_) => false,
        other => other.operands().into_iter().fold(false, |grew, operand| mark(operand, marked) | grew),
    }
}

/// Whether an address is in a fresh object.
pub fn is_fresh(key: &Sum, known: &Knowledge) -> bool {
    matches!(key.terms.as_slice(), [(Expr::Local(local), false)] if known.fresh.contains(local))
}

fn reads_local(value: &Expr, local: LocalId) -> bool {
    let mut found = false;
    value.walk(&mut |inner| found |= *inner == Expr::Local(local));
    found
}

fn change_local(local: LocalId, known: &mut Knowledge) {
    let sum_reads = |sum: &Sum| sum.terms.iter().any(|(term, _)| reads_local(term, local));
    known.equal.retain(|(changed, value)| *changed != local && !reads_local(value, local));
    known.locks.retain(|held| !sum_reads(&held.address));
    known.threads.retain(|(value, _)| !sum_reads(value));
    known.fresh.retain(|fresh| *fresh != local);
    known.unspent.retain(|unspent| *unspent != local);
}
