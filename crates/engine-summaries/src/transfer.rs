//! What operations other than calls and starts do to facts.
//!
//! Under-approximates what is known after a step.

use crate::equalities::{self, resolve};
use crate::facts::{disown, insert, own};
use crate::indices;
use crate::members;
use crate::model::{Access, Family, Model, WORDS, is_open};
use crate::numbers::{Linear, Numbers};
use crate::ownership::{is_owned, leaked};
use crate::words;
use ir::ids::Id;
use ir::passes::bits::BitSet;
use ir::passes::footprint::Region;
use ir::{Assignment, EdgeId, Expr, IdVec, Lhs, LocalId, LocationId, LockKind, Op, Rhs, Targets, TemplateId};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;
use verdict::{LockBase, LockFact, Row, ThreadFacts, ThreadHandle};

/// What a claim to a lock is about: where its words may be.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// The bytes.
    pub region: Arc<Region>,
    /// The lock targets that these may be, by number.
    pub locks: Arc<[u32]>,
    /// Whether all operations on locks there are of one family, and at the same address if they have bytes
    /// in common.
    pub is_regular: bool,
}

/// The meaning of operations.
pub struct Transfer<'a, 'p> {
    /// The program.
    pub model: &'a Model<'p>,
    /// The cells that hold ids of threads.
    pub handles: Vec<ThreadHandle>,
    claims: RefCell<FxHashMap<(TemplateId, LockBase, u64), Claimed>>,
    /// For each procedure, the locals that can be in the list of fresh ones.
    ownable: IdVec<TemplateId, BitSet>,
    /// For each procedure, those of them that are null at its entry, and read after it.
    nulls: IdVec<TemplateId, Vec<LocalId>>,
}

impl<'a, 'p> Transfer<'a, 'p> {
    /// For a program.
    pub fn new(model: &'a Model<'p>) -> Self {
        let ownable: IdVec<TemplateId, BitSet> =
            model.program.templates.ids().map(|template| ownable(model, template)).collect();
        let nulls = model.program.templates.enumerate().map(|(template, code)| {
            // Locals that are no parameters are null at the entry. Those that are assigned before they are
            // read do not count.
            let live = &model.procedures[template].live[code.entry];
            let is_null =
                |local: &LocalId| live.contains(local.index()) && ownable[template].contains(local.index());
            code.locals.ids().skip(code.parameters).filter(is_null).collect()
        });
        let nulls = nulls.collect();
        Self { model, handles: handles(model), claims: RefCell::default(), ownable, nulls }
    }

    /// What a claim to a lock is about. The base is as good as any other of its class.
    pub fn claimed(&self, template: TemplateId, base: LockBase, offset: u64) -> Claimed {
        if let Some(known) = self.claims.borrow().get(&(template, base, offset)) {
            return known.clone();
        }
        let model = self.model;
        let region = model.lock_region(template, base, offset);
        let at = |target: ir::Target| Region {
            targets: Targets::Of(Arc::from([target])),
            extent: ir::passes::footprint::Extent::Bytes(WORDS),
        };
        let touches = |target: &ir::Target| at(*target).overlaps(&region);
        let locks = model.lock_targets.iter().enumerate().filter(|(_, target)| touches(target));
        let locks = locks.map(|(index, _)| index as u32).collect();
        let mut family: Option<Family> = None;
        let mut is_regular = true;
        for (other, target) in &model.families {
            let distances = at(*target).distances(&region).unwrap_or(vec![1]);
            if distances.is_empty() {
                continue;
            }
            is_regular &= distances == [0] && family.is_none_or(|family| family == *other);
            family = Some(*other);
        }
        let claimed = Claimed { region: Arc::new(region), locks, is_regular };
        self.claims.borrow_mut().insert((template, base, offset), claimed.clone());
        claimed
    }

    /// Whether a local can be in the list of fresh ones.
    pub fn can_own(&self, template: TemplateId, local: LocalId) -> bool {
        self.ownable[template].contains(local.index())
    }

    /// The locals that are fresh at the entry of a procedure since they are null there.
    pub fn own_nulls(&self, template: TemplateId, entry: &mut ThreadFacts) {
        self.nulls[template].iter().for_each(|local| own(entry, *local));
    }

    /// An address as the leader of a class and a constant.
    pub fn key(&self, template: TemplateId, facts: &ThreadFacts, address: &Expr) -> Option<(LockBase, u64)> {
        Some(resolve(self.model.program, facts, self.model.linear(template, address, &facts.numbers)?))
    }

    /// The kind of the thread whose id a value is.
    pub fn thread_of(&self, template: TemplateId, facts: &ThreadFacts, value: &Expr) -> Option<TemplateId> {
        let pointer = self.model.program.data_model.pointer();
        match value {
            Expr::Local(local) => facts.ids.iter().find(|(known, _)| known == local).map(|(_, kind)| *kind),
            Expr::Load(place) if place.ty.bits == pointer.bits => {
                let handle = self.handle_at(template, &place.address)?;
                facts.set.binary_search(&handle).is_ok().then(|| self.handles[handle as usize].kind)
            }
            Expr::Cast(ty, operand) if ty.bits == pointer.bits => self.thread_of(template, facts, operand),
            Expr::Const(..) | Expr::Load(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => None,
            Expr::Unary(..) | Expr::Binary(..) | Expr::Cast(..) | Expr::IfThenElse(_) => None,
            Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => None,
        }
    }

    /// The handle that is the cell at an address.
    pub fn handle_at(&self, template: TemplateId, address: &Expr) -> Option<u32> {
        let (object, offset) = exact_cell(self.model, template, address)?;
        let at = self.handles.iter().position(|handle| (handle.object, handle.offset) == (object, offset))?;
        u32::try_from(at).ok()
    }

    /// The local gets a value that nothing is known of.
    pub fn forget_local(&self, facts: &mut ThreadFacts, local: LocalId) {
        members::forget(facts, local);
        self.forget_value(facts, local);
    }

    /// The same, but for what it is as an integer.
    fn forget_value(&self, facts: &mut ThreadFacts, local: LocalId) {
        members::forget_id(facts, local);
        equalities::forget(self.model.program, facts, local);
        facts.ids.retain(|(known, _)| *known != local);
        facts.numbers.retain(|(known, _)| *known != local);
        facts.fresh.retain(|known| *known != local);
    }

    /// Values of listed locals in an expression go to where others may find them.
    pub fn publish(&self, template: TemplateId, facts: &mut ThreadFacts, value: &Expr) {
        if facts.fresh.is_empty() {
            return;
        }
        let mut lost = Vec::new();
        leaked(value, &facts.fresh, &mut lost);
        facts.fresh.retain(|local| !lost.contains(local));
        disown(self.model, template, facts, lost);
    }

    /// Memory is written by this thread: claims to locks there are lost.
    pub fn written(&self, template: TemplateId, facts: &mut ThreadFacts, access: &Access) {
        self.written_but(template, facts, access, None);
    }

    /// The same, but for a cell that gets a value which is known.
    fn written_but(
        &self,
        template: TemplateId,
        facts: &mut ThreadFacts,
        access: &Access,
        kept: Option<LocalId>,
    ) {
        Numbers { model: self.model, template }.written(facts, access, kept);
        // A lock that is only ever given back here is no target, but a claim may be to it by its region.
        if facts.locks.is_empty() || (access.locks.is_empty() && !access.is_lock) {
            return;
        }
        let key = self.key(template, facts, &access.address);
        let region = access.region();
        let locks = std::mem::take(&mut facts.locks);
        facts.locks = locks
            .into_iter()
            .filter(|lock| {
                if let (Some((base, offset)), Some(bytes)) = (key, access.bytes)
                    && base == lock.base
                {
                    let distance = self.signed(offset.wrapping_sub(lock.offset));
                    return distance >= i128::from(WORDS) || distance + i128::from(bytes) <= 0;
                }
                !self.claimed(template, lock.base, lock.offset).region.overlaps(&region)
            })
            .collect();
    }

    /// What is known after a word was moved: the address and the value as they were named before. What a
    /// local is loaded from is as it was.
    fn move_word(
        &self,
        facts: &mut ThreadFacts,
        (address, lhs): ((LockBase, u64), &Lhs),
        word: Word,
        known: Option<(LocalId, u64)>,
    ) {
        match (lhs, word) {
            (Lhs::Memory(_), Word::From(local, plus)) => words::add(facts, address, (local, plus)),
            (Lhs::Memory(_), Word::To(_)) | (Lhs::Local(_), Word::From(..)) => {}
            // The local may have been a name of the address, or of the value.
            (Lhs::Local(local), Word::To(_)) if address.0 == LockBase::Local(*local) => {}
            (Lhs::Local(local), Word::To(more)) => match known {
                Some((leader, plus)) if leader != *local => {
                    let sum = plus.wrapping_add(more);
                    equalities::set(self.model.program, facts, *local, leader, sum);
                }
                Some(_) | None => {
                    let less = self.model.wrap(-i128::from(more));
                    words::add(facts, address, (*local, less));
                }
            },
        }
    }

    fn signed(&self, value: u64) -> i128 {
        let pointer = self.model.program.data_model.pointer();
        ir::IntType { signed: true, ..pointer }.wrap(i128::from(value))
    }

    /// Memory is written by this thread: words there are not known any more.
    fn change_words(&self, template: TemplateId, edge: EdgeId, index: usize, facts: &mut ThreadFacts) {
        if facts.words.is_empty() {
            return;
        }
        for access in self.accesses(template, edge, index).filter(|access| access.write) {
            if access.words.is_empty() {
                continue;
            }
            let key = self.key(template, facts, &access.address);
            facts.words.retain(|word| {
                let apart = key.filter(|(base, _)| *base == word.base);
                let apart = apart.map(|(_, offset)| self.signed(offset.wrapping_sub(word.offset)));
                !self.model.may_change(template, word, access, apart)
            });
        }
    }

    /// The address of a word that an assignment moves, with its value where it is stored.
    fn moved_word(&self, template: TemplateId, facts: &ThreadFacts, op: &Op) -> Option<MovedWord> {
        let (address, moved) = words::moved(self.model.program, op)?;
        let address = self.key(template, facts, address)?;
        let named = &self.model.procedures[template].named;
        match moved {
            words::Moved::To(local, plus) => {
                let plus = self.model.wrap(plus);
                named.contains(local.index()).then_some((address, Word::To(plus)))
            }
            words::Moved::From(value) => match self.key(template, facts, value)? {
                (LockBase::Local(local), plus) if named.contains(local.index()) => {
                    Some((address, Word::From(local, plus)))
                }
                _ => None,
            },
        }
    }

    /// The accesses that an operation makes.
    fn accesses(&self, template: TemplateId, edge: EdgeId, op: usize) -> impl Iterator<Item = &'a Access> {
        self.model.procedures[template].accesses[edge].iter().filter(move |access| access.op == op)
    }

    /// Stores a result: what is known of the place is lost.
    fn store(&self, facts: &mut ThreadFacts, lhs: Option<&Lhs>) {
        if let Some(Lhs::Local(local)) = lhs {
            self.forget_local(facts, *local);
        }
    }

    /// Changes facts as an operation does. `None` when the step cannot be taken. Calls are not for here;
    /// what a start does to the number of threads neither.
    pub fn apply(
        &self,
        template: TemplateId,
        edge: EdgeId,
        (index, op): (usize, &Op),
        facts: &mut ThreadFacts,
    ) -> Option<()> {
        self.change_words(template, edge, index, facts);
        match op {
            Op::Assume(condition) => {
                if *condition == Expr::bool(false) {
                    return None;
                }
                return self.assume(template, condition, facts);
            }
            Op::Assign(assignment) => {
                let moved = self.moved_word(template, facts, op);
                let known = moved.and_then(|(address, _)| words::value_at(facts, address));
                self.assign(template, edge, index, assignment, facts);
                if let (Some((address, word)), [(lhs, _)]) = (moved, assignment.pairs.as_slice()) {
                    self.move_word(facts, (address, lhs), word, known);
                }
            }
            Op::Lock(kind, address) => self.lock(template, *kind, address, facts),
            Op::Unlock(..) => {
                self.accesses(template, edge, index)
                    .filter(|access| access.write)
                    .for_each(|access| self.written(template, facts, access));
            }
            Op::Spawn(..) => {}
            Op::Join(_, lhs) => {
                self.writes(template, edge, index, facts);
                self.store(facts, lhs.as_ref());
            }
            Op::Allocate { site, result, .. } => {
                self.writes(template, edge, index, facts);
                self.store(facts, Some(result));
                if let Lhs::Local(local) = result
                    && self.model.ownable[*site]
                    && self.can_own(template, *local)
                {
                    own(facts, *local);
                }
            }
            Op::Free(address) => {
                self.writes(template, edge, index, facts);
                self.publish(template, facts, address);
            }
            Op::Fill(..) | Op::Copy(..) => self.writes(template, edge, index, facts),
            Op::Call(..) | Op::Broadcast(_) => {}
        }
        Some(())
    }

    /// What the writes of an operation do to locks.
    pub fn writes(&self, template: TemplateId, edge: EdgeId, op: usize, facts: &mut ThreadFacts) {
        for access in self.accesses(template, edge, op).filter(|access| access.write) {
            self.written(template, facts, access);
        }
    }

    /// That an owner word is the thread's id is the claim to hold that lock; the opposite contradicts the
    /// claim.
    fn assume(&self, template: TemplateId, condition: &Expr, facts: &mut ThreadFacts) -> Option<()> {
        if self.model.procedures[template].has_threads {
            Numbers { model: self.model, template }.assume(facts, condition, true);
        }
        let Some((address, is_mine)) = condition.asks_for_owner() else { return Some(()) };
        let Some((base, offset)) = self.key(template, facts, address) else { return Some(()) };
        let is_held = equalities::lock_at(facts, base, offset).is_some_and(|lock| !lock.shared);
        if !is_mine {
            return (!is_held).then_some(());
        }
        if self.claimed(template, base, offset).is_regular {
            equalities::add_lock(facts, LockFact { base, offset, shared: false });
        }
        Some(())
    }

    fn lock(&self, template: TemplateId, kind: LockKind, address: &Expr, facts: &mut ThreadFacts) {
        let Some((base, offset)) = self.key(template, facts, address) else { return };
        if self.claimed(template, base, offset).is_regular {
            equalities::add_lock(facts, LockFact { base, offset, shared: kind == LockKind::Read });
        }
    }

    fn assign(
        &self,
        template: TemplateId,
        edge: EdgeId,
        index: usize,
        assignment: &Assignment,
        facts: &mut ThreadFacts,
    ) {
        let program = self.model.program;
        let code = &program.templates[template];
        let pointer = program.data_model.pointer();
        let pairs = &assignment.pairs;
        let assigned = |local: LocalId| pairs.iter().any(|(lhs, _)| *lhs == Lhs::Local(local));
        // An input may be found to be the address of what is owned only by a comparison with it.
        let is_compared = || {
            let mut found = false;
            if let Some(constraint) = &assignment.constraint {
                constraint.walk(&mut |inner| {
                    found |= matches!(inner, Expr::Local(local) if facts.fresh.binary_search(local).is_ok());
                });
            }
            found && pairs.iter().any(|(_, rhs)| is_open(rhs))
        };
        // Several at once, as an atomic update of a counter is, move nothing that is owned, or all is lost.
        let is_moved = || {
            let mut found = Vec::new();
            for (_, rhs) in pairs {
                match rhs {
                    Rhs::Value(value) => leaked(value, &facts.fresh, &mut found),
                    Rhs::Float(_, _, operands) => {
                        operands.iter().for_each(|operand| leaked(operand, &facts.fresh, &mut found));
                    }
                    Rhs::Any | Rhs::Unknown => {}
                }
            }
            !found.is_empty()
        };
        if (pairs.len() > 1 && is_moved()) || is_compared() {
            facts.fresh.clear();
        }
        // All values are those before the assignment.
        let mut news = Vec::new();
        let mut lost = Vec::new();
        let numbers = Numbers { model: self.model, template };
        let changes = self.changes(template, pairs, facts);
        for (lhs, rhs) in pairs {
            let Rhs::Value(value) = rhs else { continue };
            let Lhs::Local(local) = lhs else {
                leaked(value, &facts.fresh, &mut lost);
                continue;
            };
            let is_wide = code.locals[*local].ty.bits == pointer.bits;
            let equal = match self.key(template, facts, value) {
                Some((LockBase::Local(leader), offset)) if is_wide && !assigned(leader) => {
                    Some((leader, offset))
                }
                _ => None,
            };
            let thread = self.thread_of(template, facts, value).filter(|_| is_wide);
            let owned = is_wide
                && self.can_own(template, *local)
                && is_owned(self.model, template, value, &facts.fresh);
            if !owned {
                leaked(value, &facts.fresh, &mut lost);
            }
            let from = (template, facts.numbers.as_slice());
            let number = indices::assigned(self.model, from, value, (template, *local));
            news.push((*local, equal, thread, number, owned));
        }
        facts.fresh.retain(|local| !lost.contains(local));
        disown(self.model, template, facts, lost.clone());
        let stored = |change: &Change| match change {
            Change::Integer(local, _) => self.model.cell_number(template, *local).map(|_| *local),
            Change::Load(..) | Change::Store(..) | Change::Place(..) => None,
        };
        let kept = changes.iter().find_map(stored);
        for access in self.accesses(template, edge, index).filter(|access| access.write) {
            self.written_but(template, facts, access, kept);
        }
        for (lhs, rhs) in pairs {
            if let (Lhs::Memory(place), Rhs::Value(value)) = (lhs, rhs)
                && self.thread_of(template, facts, value).is_some()
                && let Some(handle) = self.handle_at(template, &place.address)
            {
                insert(&mut facts.set, handle);
            }
            if let Lhs::Local(local) = lhs {
                self.forget_value(facts, *local);
            }
        }
        for change in changes {
            match change {
                Change::Integer(local, value) => {
                    if self.model.cell_number(template, local).is_some() {
                        members::rebase(facts, local, self.model.wrap(-1));
                    }
                    numbers.assign(facts, local, value);
                }
                Change::Load(local, address) => numbers.load(facts, local, address),
                Change::Store(local, address) => numbers.store(facts, local, address),
                Change::Place(local, row, index) => numbers.place(facts, local, row, index),
            }
        }
        for (local, equal, thread, number, owned) in news {
            if let Some(number) = number {
                indices::set(facts, local, number);
            }
            if let Some((leader, offset)) = equal {
                equalities::set(program, facts, local, leader, offset);
            }
            if let Some(kind) = thread {
                insert(&mut facts.ids, (local, kind));
            }
            let is_lost = lost.iter().any(|lost| self.model.may_share(template, *lost, local));
            if owned && !is_lost {
                own(facts, local);
            }
        }
    }
}

/// The locals of a procedure that can be in the list of fresh ones.
fn ownable(model: &Model<'_>, template: TemplateId) -> BitSet {
    let pointer = model.program.data_model.pointer();
    let code = &model.program.templates[template];
    let mut found = BitSet::new(code.locals.len());
    for (local, described) in code.locals.enumerate() {
        let sites = &model.procedures[template].sites[local];
        if described.ty.bits == pointer.bits && sites.iter().any(|site| model.ownable[*site]) {
            found.insert(local.index());
        }
    }
    found
}

/// What an assignment does to what is known of numbers and ids.
enum Change {
    /// A local is an integer, or one that is not known.
    Integer(LocalId, Option<verdict::Index>),
    /// A local gets the word at an address.
    Load(LocalId, Option<Linear>),
    /// The word at an address gets the value of a local.
    Store(LocalId, Option<Linear>),
    /// A local gets the value of a row for an integer.
    Place(LocalId, Row, verdict::Index),
}

impl Transfer<'_, '_> {
    /// Whether an address says more of a local that gets it than that it is another one and a constant.
    fn is_place(&self, template: TemplateId, linear: &Linear, local: LocalId) -> bool {
        let is_cell = match linear.base {
            LockBase::Local(base) => self.model.cell_number(template, base).is_some(),
            LockBase::Object(_) => false,
        };
        match linear.index {
            Some((_, index)) => index.local.is_some_and(|number| number != local),
            None => is_cell,
        }
    }

    /// What an assignment does to what is known of numbers and ids, with values from before.
    fn changes(&self, template: TemplateId, pairs: &[(Lhs, Rhs)], facts: &ThreadFacts) -> Vec<Change> {
        let procedure = &self.model.procedures[template];
        if !procedure.has_threads {
            return Vec::new();
        }
        let numbers = Numbers { model: self.model, template };
        let pointer = self.model.program.data_model.pointer();
        let mut found = Vec::new();
        for (lhs, rhs) in pairs {
            match (lhs, rhs) {
                (Lhs::Local(local), Rhs::Value(value)) => {
                    found.push(Change::Integer(
                        *local,
                        numbers.value(facts, value).filter(|_| pairs.len() == 1),
                    ));
                    let is_wide = self.model.ty(template, *local).bits == pointer.bits;
                    if let Some(linear) = numbers.linear(facts, value).filter(|_| is_wide && pairs.len() == 1)
                        && linear.base != LockBase::Local(*local)
                        && self.is_place(template, &linear, *local)
                    {
                        let (stride, index) = linear.index.unwrap_or((0, crate::numbers::constant(0)));
                        let row = Row { base: linear.base, offset: linear.offset, stride };
                        found.push(Change::Place(*local, row, index));
                    }
                    if let Expr::Load(place) = value
                        && place.ty.bits == pointer.bits
                        && procedure.joined.contains(local.index())
                        && pairs.len() == 1
                    {
                        let address = numbers.linear(facts, &place.address);
                        found.push(Change::Load(
                            *local,
                            address.filter(|address| address.base != LockBase::Local(*local)),
                        ));
                    }
                }
                (Lhs::Local(local), _) => found.push(Change::Integer(*local, None)),
                (Lhs::Memory(place), Rhs::Value(value)) if pairs.len() == 1 => {
                    let is_same = self.model.program.type_of(template, value) == place.ty;
                    if let Some(cell) = self.model.read(template, place) {
                        let value = numbers.value(facts, value).filter(|_| is_same);
                        found.push(Change::Integer(cell, value));
                    } else if let Expr::Local(local) = value
                        && place.ty.bits == pointer.bits
                    {
                        found.push(Change::Store(*local, numbers.linear(facts, &place.address)));
                    }
                }
                (Lhs::Memory(_), _) => {}
            }
        }
        found
    }
}

/// The cell at an address, if it is known exactly and there is one of it.
pub fn exact_cell(model: &Model<'_>, template: TemplateId, address: &Expr) -> Option<(ir::ObjectId, u64)> {
    let (object, offset) = match address {
        Expr::Address(object, offset) => (*object, *offset),
        _ => {
            let Targets::Of(targets) = model.points_to.targets(template, address) else { return None };
            match &*targets {
                [target] if target.count == 1 => (target.object, target.first),
                _ => return None,
            }
        }
    };
    model.single[object].then_some((object, offset))
}

/// A word that is moved: its address, and where to or from where.
type MovedWord = ((LockBase, u64), Word);

/// Where a word goes, or comes from.
#[derive(Clone, Copy)]
enum Word {
    /// To a local, with this added.
    To(u64),
    /// It is the value of a local, and this.
    From(LocalId, u64),
}

/// Whether an edge's only operation starts a thread, and its id goes to a local.
fn stores_id(ops: &[Op], id: LocalId) -> bool {
    matches!(ops, [Op::Spawn(_, _, Some(Lhs::Local(local)))] if *local == id)
}

/// The cells in which nothing but ids of the only thread of a kind are ever stored.
fn handles(model: &Model<'_>) -> Vec<ThreadHandle> {
    let program = model.program;
    let bytes = program.data_model.pointer().bytes();
    let mut found: Vec<ThreadHandle> = Vec::new();
    // The edges that store the id of a thread that was just started, with the cell.
    let mut starts = Vec::new();
    for (template, code) in program.templates.enumerate() {
        let mut entering: IdVec<LocationId, Vec<EdgeId>> =
            code.locations.iter().map(|_| Vec::new()).collect();
        code.edges.enumerate().for_each(|(id, edge)| entering[edge.target].push(id));
        for (edge, step) in code.edges.enumerate() {
            let [op] = step.ops.as_slice() else { continue };
            let (start, place) = match op {
                Op::Spawn(_, _, Some(Lhs::Memory(place))) => (edge, place),
                // The edge before starts the thread, and nothing else leads here.
                Op::Assign(Assignment { pairs, constraint: None }) => {
                    match (pairs.as_slice(), entering[step.source].as_slice()) {
                        ([(Lhs::Memory(place), Rhs::Value(Expr::Local(id)))], [before])
                            if step.source != code.entry && stores_id(&code.edges[*before].ops, *id) =>
                        {
                            (*before, place)
                        }
                        _ => continue,
                    }
                }
                _ => continue,
            };
            let [kind] = model.procedures[template].callees[start].as_slice() else { continue };
            let Some((object, offset)) = exact_cell(model, template, &place.address) else { continue };
            let is_named = match program.objects[object].storage {
                ir::Storage::Static | ir::Storage::Frame(_) => true,
                ir::Storage::ThreadLocal | ir::Storage::Site => false,
            };
            if model.once[*kind] && is_named && place.ty.bytes() == bytes {
                let handle = ThreadHandle { object, offset, kind: *kind };
                starts.push((template, edge, handle));
                insert(&mut found, handle);
            }
        }
    }
    found.retain(|handle| {
        let cell = Region::exact(handle.object, handle.offset, bytes);
        model.procedures.enumerate().all(|(template, procedure)| {
            procedure.accesses.enumerate().all(|(edge, accesses)| {
                let is_start = || starts.contains(&(template, edge, *handle));
                accesses.iter().all(|access| !access.write || !access.region().overlaps(&cell) || is_start())
            })
        })
    });
    found
}
