//! A program and a proof about it, with what the checks ask of both again and again.
//!
//! What steps touch is computed once for each step of the program, whatever the number of contexts.
//! Over-approximates, as far as the points-to sets do.

use super::cells::Scope;
use super::owned::{live_locations, reused};
use super::regions::{Meeting, Region, meeting};
use crate::ProofError;
use ir::passes::PointsTo;
use ir::{
    Callee, EdgeId, Expr, IdVec, IntType, Lhs, LocalId, LocationId, LocationKind, ObjectId, Op, Place,
    Program, Storage, Target, Targets, TemplateId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use verdict::{Budget, LockBase, ProcedureContext, SummariesProof, ThreadFacts};

/// Some bytes that an operation may touch.
#[derive(Clone, Debug)]
pub struct Touch<'p> {
    /// Which operation of its edge.
    pub op: usize,
    /// The address.
    pub address: &'p Expr,
    /// Where that may be.
    pub region: Region,
    /// How many bytes; `None` where that is not known.
    pub bytes: Option<u64>,
    /// Whether they are changed.
    pub write: bool,
    /// Whether the access is atomic by itself.
    pub atomic: bool,
    /// Whether it takes or gives back a lock.
    pub lock: bool,
}

impl Touch<'_> {
    /// The same for accesses to the same places: equal lists are one in a [`View`].
    pub fn places(&self) -> (*const Target, usize, Option<u64>) {
        (self.region.as_ptr(), self.region.len(), self.bytes)
    }
}

/// What a step of the program may touch and call.
#[derive(Default)]
pub struct Footprint<'p> {
    /// What it touches.
    pub touches: Vec<Touch<'p>>,
    /// Where locks may be whose words it changes other than by taking or giving back a lock.
    pub breaks: Vec<Target>,
    /// The procedures that it may call or start, in order.
    pub callees: Vec<TemplateId>,
    /// Whether it can never be taken.
    pub is_dead: bool,
}

/// What was computed for something in a template.
type Remembered<K, T> = RefCell<FxHashMap<(TemplateId, K), T>>;

/// A number for each list of kinds that is absent somewhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct AbsentId(pub u32);

/// Who may be somewhere, and who is not alive meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Standing {
    /// The kind of the thread.
    pub kind: TemplateId,
    /// The kinds that are absent.
    pub absent: AbsentId,
}

/// A program and a proof about it.
pub struct View<'a> {
    /// The program.
    pub program: &'a Program,
    /// The proof.
    pub proof: &'a SummariesProof,
    /// What addresses may point to.
    pub points_to: &'a PointsTo,
    /// What each step may do, for templates that have a context.
    pub steps: IdVec<TemplateId, IdVec<EdgeId, Footprint<'a>>>,
    /// Where locks are taken, by object, with the bytes that they have.
    pub lockable: IdVec<ObjectId, Vec<(Target, u64)>>,
    /// Where ids of threads are stored that were just started, by object.
    pub stored_ids: IdVec<ObjectId, Vec<Target>>,
    /// Whether a template is in `once`.
    pub once: IdVec<TemplateId, bool>,
    /// Whether there is at most one of an object in a whole run, if `once` is right.
    single: IdVec<ObjectId, bool>,
    /// Whether an object is in `private`.
    pub private: IdVec<ObjectId, bool>,
    /// The kinds of helpers of the teams that share an object.
    pub helpers: IdVec<ObjectId, Vec<TemplateId>>,
    /// Sites of which a program can notice that freed addresses are given out again.
    pub reused: IdVec<ObjectId, bool>,
    /// The lists of absent kinds, by number.
    pub absences: Vec<Vec<TemplateId>>,
    /// The number of the list of each location of each context.
    absent: Vec<Vec<AbsentId>>,
    regions: Remembered<(LockBase, u64), Region>,
    sites: Remembered<LocalId, Rc<[ObjectId]>>,
    live: Remembered<LocalId, IdVec<LocationId, bool>>,
}

/// Asks the budget once in a while.
pub struct Meter<'b> {
    budget: &'b Budget,
    count: u32,
}

impl<'b> Meter<'b> {
    /// For this budget.
    pub fn new(budget: &'b Budget) -> Self {
        Self { budget, count: 0 }
    }
    /// Something was done.
    pub fn tick(&mut self) -> Result<(), ProofError> {
        self.count += 1;
        if self.count.is_multiple_of(256) {
            self.budget.check(0).map_err(ProofError::TooExpensive)?;
        }
        Ok(())
    }
}

/// A refusal.
pub fn claim<T>(text: impl Into<String>) -> Result<T, ProofError> {
    Err(ProofError::Claim(text.into()))
}

/// The targets of an address.
fn region_of(points_to: &PointsTo, template: TemplateId, address: &Expr) -> Result<Region, ProofError> {
    match address {
        Expr::Address(object, offset) => {
            Ok(Arc::from([Target { object: *object, first: *offset, stride: 0, count: 1 }]))
        }
        _ => match points_to.targets(template, address) {
            Targets::Of(targets) => Ok(targets),
            Targets::Any => claim("an address may point anywhere"),
        },
    }
}

fn touches<'p>(
    points_to: &PointsTo,
    template: TemplateId,
    number: usize,
    op: &'p Op,
) -> Result<Vec<Touch<'p>>, ProofError> {
    let mut found = Vec::new();
    let mut add = |address: &'p Expr, bytes: Option<u64>, write: bool, atomic: bool, lock: bool| {
        let region = region_of(points_to, template, address)?;
        found.push(Touch { op: number, address, region, bytes, write, atomic, lock });
        Ok::<(), ProofError>(())
    };
    let mut loads: Vec<&'p Place> = Vec::new();
    for expr in op.expressions() {
        expr.walk(&mut |inner| {
            if let Expr::Load(place) = inner {
                loads.push(place);
            }
        });
    }
    for place in loads {
        add(&place.address, Some(place.ty.bytes()), false, place.atomic, false)?;
    }
    for lhs in op.targets() {
        if let Lhs::Memory(place) = lhs {
            add(&place.address, Some(place.ty.bytes()), true, place.atomic, false)?;
        }
    }
    let constant = |size: &Expr| match size {
        Expr::Const(size, _) => u64::try_from(*size).ok(),
        _ => None,
    };
    match op {
        Op::Free(address) => add(address, None, true, false, false)?,
        Op::Fill(to, _, size) => add(to, constant(size), true, false, false)?,
        Op::Copy(to, from, size) => {
            add(from, constant(size), false, false, false)?;
            add(to, constant(size), true, false, false)?;
        }
        Op::Lock(kind, address) | Op::Unlock(kind, address) => {
            add(address, Some(kind.bytes()), true, true, true)?;
        }
        Op::Assume(_) | Op::Assign(_) | Op::Spawn(..) | Op::Join(..) => {}
        Op::Allocate { .. } | Op::Call(..) => {}
        Op::Broadcast(_) => return claim("a step changes locals of other threads"),
    }
    Ok(found)
}

impl<'a> View<'a> {
    /// Looks through a proof whose form fits the program.
    pub fn new(
        program: &'a Program,
        proof: &'a SummariesProof,
        points_to: &'a PointsTo,
        meter: &mut Meter<'_>,
    ) -> Result<Self, ProofError> {
        let mut used: IdVec<TemplateId, bool> = program.templates.iter().map(|_| false).collect();
        proof.contexts.iter().for_each(|context| used[context.template] = true);
        let mut once: IdVec<TemplateId, bool> = program.templates.iter().map(|_| false).collect();
        proof.once.iter().for_each(|template| once[*template] = true);
        let mut private: IdVec<ObjectId, bool> = program.objects.iter().map(|_| false).collect();
        proof.private.iter().for_each(|object| private[*object] = true);
        let mut helpers: IdVec<ObjectId, Vec<TemplateId>> =
            program.objects.iter().map(|_| Vec::new()).collect();
        for team in &proof.teams {
            team.objects.iter().for_each(|object| helpers[*object].push(team.helper));
        }
        let mut view = Self {
            program,
            proof,
            points_to,
            steps: IdVec::new(),
            lockable: program.objects.iter().map(|_| Vec::new()).collect(),
            stored_ids: program.objects.iter().map(|_| Vec::new()).collect(),
            once,
            single: super::once::single(program, proof),
            private,
            helpers,
            reused: IdVec::new(),
            absences: Vec::new(),
            absent: Vec::new(),
            regions: RefCell::default(),
            sites: RefCell::default(),
            live: RefCell::default(),
        };
        let mut lists: FxHashSet<Region> = FxHashSet::default();
        for (id, template) in program.templates.enumerate() {
            let mut steps = IdVec::new();
            for edge in template.edges.iter().filter(|_| used[id]) {
                meter.tick()?;
                let mut footprint = Footprint::default();
                for (number, op) in edge.ops.iter().enumerate() {
                    footprint.touches.extend(touches(points_to, id, number, op)?);
                    footprint.is_dead |= matches!(op, Op::Assume(Expr::Const(0, IntType::BOOL)));
                    match op {
                        Op::Call(callee, ..) | Op::Spawn(callee, ..) => match callee {
                            Callee::Procedure(callee) => footprint.callees.push(*callee),
                            Callee::Pointer(pointer) => {
                                footprint.callees.extend(points_to.callees(id, pointer))
                            }
                        },
                        _ => {}
                    }
                }
                footprint.callees.sort_unstable();
                footprint.callees.dedup();
                // Equal lists are one: what looks through each of them does so once.
                for touch in &mut footprint.touches {
                    match lists.get(&touch.region) {
                        Some(known) => touch.region = known.clone(),
                        None => {
                            lists.insert(touch.region.clone());
                        }
                    }
                }
                steps.push(footprint);
            }
            view.steps.push(steps);
        }
        view.find_locks(meter)?;
        for id in super::ids::stored_ids(&view) {
            view.stored_ids[id.object].push(id);
        }
        view.number_absences();
        view.reused = reused(&view, meter)?;
        Ok(view)
    }

    /// Notes where locks are taken, and which steps change such bytes otherwise.
    fn find_locks(&mut self, meter: &mut Meter<'_>) -> Result<(), ProofError> {
        let program = self.program;
        for (id, template) in program.templates.enumerate() {
            for (edge, footprint) in self.steps[id].enumerate() {
                for touch in footprint.touches.iter().filter(|touch| touch.lock) {
                    if let Op::Lock(kind, _) = &template.edges[edge].ops[touch.op] {
                        for target in touch.region.iter() {
                            self.lockable[target.object].push((*target, kind.bytes()));
                        }
                    }
                }
            }
        }
        for known in self.lockable.iter_mut() {
            known.sort_unstable();
            known.dedup();
        }
        for footprint in self.steps.iter_mut().flat_map(|steps| steps.iter_mut()) {
            meter.tick()?;
            let mut broken = Vec::new();
            for touch in footprint.touches.iter().filter(|touch| touch.write && !touch.lock) {
                for target in touch.region.iter() {
                    for (lock, bytes) in &self.lockable[target.object] {
                        if meeting(target, touch.bytes, lock, Some(*bytes)) != Meeting::Never {
                            broken.push(*lock);
                        }
                    }
                }
            }
            broken.sort_unstable();
            broken.dedup();
            footprint.breaks = broken;
        }
        Ok(())
    }

    /// The targets of a touch where the id of a thread may be that was stored when the thread was started.
    pub fn id_targets<'t>(&'t self, touch: &'t Touch<'_>) -> impl Iterator<Item = &'t Target> {
        let width = Some(self.program.data_model.pointer().bytes());
        let holds_id = move |target: &&Target| {
            let mut ids = self.stored_ids[target.object].iter();
            ids.any(|id| meeting(target, touch.bytes, id, width) != Meeting::Never)
        };
        touch.region.iter().filter(holds_id)
    }

    fn number_absences(&mut self) {
        let mut numbers: FxHashMap<Vec<TemplateId>, AbsentId> = FxHashMap::default();
        let proof = self.proof;
        for context in &proof.contexts {
            let mut row = Vec::new();
            for facts in &context.facts {
                let absent = facts.as_ref().map_or(&[][..], |facts| &facts.absent);
                let number = match numbers.get(absent) {
                    Some(number) => *number,
                    None => self.new_absence(absent.to_vec(), &mut numbers),
                };
                row.push(number);
            }
            self.absent.push(row);
        }
    }

    fn new_absence(
        &mut self,
        absent: Vec<TemplateId>,
        numbers: &mut FxHashMap<Vec<TemplateId>, AbsentId>,
    ) -> AbsentId {
        let number = AbsentId(self.absences.len() as u32);
        numbers.insert(absent.clone(), number);
        self.absences.push(absent);
        number
    }

    /// A number for a list of absent kinds that stands at no location.
    pub fn absence(&mut self, absent: Vec<TemplateId>) -> AbsentId {
        match self.absences.iter().position(|known| *known == absent) {
            Some(known) => AbsentId(known as u32),
            None => {
                self.absences.push(absent);
                AbsentId(self.absences.len() as u32 - 1)
            }
        }
    }

    /// The contexts with their numbers.
    pub fn contexts(&self) -> impl Iterator<Item = (usize, &'a ProcedureContext)> + use<'a> {
        self.proof.contexts.iter().enumerate()
    }

    /// What holds at a location; `None` when no thread is ever there.
    pub fn facts(&self, context: usize, location: LocationId) -> Option<&'a ThreadFacts> {
        self.proof.contexts[context].facts.get(location.0 as usize)?.as_ref()
    }

    /// Who is at a location.
    pub fn standing(&self, context: usize, location: LocationId) -> Standing {
        let kind = self.proof.contexts[context].kind;
        Standing { kind, absent: self.absent[context][location.0 as usize] }
    }

    /// The context that a step of a context leads to with a callee.
    pub fn callee_context(&self, context: usize, edge: EdgeId, callee: TemplateId) -> Option<usize> {
        let calls = &self.proof.contexts[context].calls;
        let at = calls.binary_search_by_key(&(edge, callee), |(edge, callee, _)| (*edge, *callee)).ok()?;
        Some(calls[at].2 as usize)
    }

    /// Whether two threads cannot be at two places at once, by rules 1 and 2.
    pub fn are_apart(&self, one: Standing, other: Standing) -> Option<verdict::WhyNoRace> {
        let absent = |at: Standing, kind| self.absences[at.absent.0 as usize].binary_search(&kind).is_ok();
        if one.kind == other.kind && self.once[one.kind] {
            Some(verdict::WhyNoRace::OneThread)
        } else if absent(one, other.kind) || absent(other, one.kind) {
            Some(verdict::WhyNoRace::Order)
        } else {
            None
        }
    }

    /// Whether two threads of these kinds never touch the same one of an object, since they are of different
    /// teams.
    pub fn are_of_two_teams(&self, object: ObjectId, one: TemplateId, other: TemplateId) -> bool {
        self.program.unordered.is_empty()
            && self.helpers[object].iter().any(|helper| *helper != one && *helper != other)
    }

    /// Whether no two threads of a kind are alive at the same time that may touch the same one of an object:
    /// there is one at a time, or one of each team that shares it.
    pub fn is_alone(&self, kind: TemplateId, object: ObjectId) -> bool {
        let is_of_team = self.helpers[object].binary_search(&kind).is_ok();
        let of_team = || self.proof.teams.iter().any(|team| team.helper == kind && team.alone);
        self.proof.alone.binary_search(&kind).is_ok() || (is_of_team && of_team())
    }

    /// The locals of a procedure, with cells.
    pub fn scope(&self, template: TemplateId) -> Scope<'a> {
        Scope { program: self.program, template, cells: &self.proof.cells }
    }

    /// Whether there is at most one of an object in a whole run.
    pub fn is_single(&self, object: ObjectId) -> bool {
        self.single[object]
    }

    /// Where a lock may be that a local, or an object, and a constant name.
    pub fn lock_region(
        &self,
        template: TemplateId,
        base: LockBase,
        offset: u64,
    ) -> Result<Region, ProofError> {
        if let Some(known) = self.regions.borrow().get(&(template, (base, offset))) {
            return Ok(known.clone());
        }
        let region = match base {
            LockBase::Object(object) => Arc::from([Target { object, first: offset, stride: 0, count: 1 }]),
            LockBase::Local(local) => {
                let ty = self.program.data_model.pointer();
                let by = Expr::int(i128::from(offset), ty);
                let scope = self.scope(template);
                let value = match scope.number(local).and_then(|cell| scope.cells.get(cell)) {
                    Some(cell) => {
                        let address = Expr::Address(cell.object, cell.offset);
                        Expr::load(Place { address, ty: cell.ty, atomic: false, targets: Targets::Any })
                    }
                    None => Expr::Local(local),
                };
                let sum = Expr::binary(ir::BinaryOp::Add, ty, value.clone(), by);
                let address = if offset == 0 { value } else { sum };
                region_of(self.points_to, template, &address)?
            }
        };
        self.regions.borrow_mut().insert((template, (base, offset)), region.clone());
        Ok(region)
    }

    /// The targets of an address.
    pub fn region(&self, template: TemplateId, address: &Expr) -> Result<Region, ProofError> {
        region_of(self.points_to, template, address)
    }

    /// The objects that the value of an expression may be an address of.
    pub fn objects(&self, template: TemplateId, expr: &Expr) -> Result<Rc<[ObjectId]>, ProofError> {
        let mut found: Vec<ObjectId> =
            region_of(self.points_to, template, expr)?.iter().map(|target| target.object).collect();
        found.sort_unstable();
        found.dedup();
        Ok(found.into())
    }

    /// The allocated objects that a local may hold the address of, in order.
    pub fn sites(&self, template: TemplateId, local: LocalId) -> Result<Rc<[ObjectId]>, ProofError> {
        if let Some(known) = self.sites.borrow().get(&(template, local)) {
            return Ok(known.clone());
        }
        let is_site = |object: &&ObjectId| self.program.objects[**object].storage == Storage::Site;
        let found: Rc<[ObjectId]> =
            self.objects(template, &Expr::Local(local))?.iter().filter(is_site).copied().collect();
        self.sites.borrow_mut().insert((template, local), found.clone());
        Ok(found)
    }

    /// Whether a local may be read before it is assigned, from a location on.
    pub fn is_live(&self, template: TemplateId, local: LocalId, location: LocationId) -> bool {
        let code = &self.program.templates[template];
        let mut live = self.live.borrow_mut();
        live.entry((template, local)).or_insert_with(|| live_locations(code, local))[location]
    }

    /// Whether two locals of two templates may hold the address of a common allocated object.
    pub fn share(
        &self,
        (template, local): (TemplateId, LocalId),
        (other_template, other): (TemplateId, LocalId),
    ) -> Result<bool, ProofError> {
        let (one, two) = (self.sites(template, local)?, self.sites(other_template, other)?);
        Ok(one.iter().any(|object| two.binary_search(object).is_ok()))
    }

    /// The locations of a context at which it returns and that some thread reaches.
    pub fn ends(&self, context: usize, kind: LocationKind) -> Vec<(LocationId, &'a ThreadFacts)> {
        let code = &self.program.templates[self.proof.contexts[context].template];
        let of_kind = code.locations.enumerate().filter(|(_, location)| location.kind == kind);
        of_kind.filter_map(|(id, _)| Some((id, self.facts(context, id)?))).collect()
    }

    /// A step for people.
    pub fn at(&self, context: usize, location: LocationId) -> String {
        let template = self.proof.contexts[context].template;
        format!("{}:{location} in context {context}", self.program.templates[template].name)
    }
}
