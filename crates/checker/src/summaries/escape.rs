//! What only one thread touches: objects in `private`.
//!
//! An address passes from one thread to another only through memory that both reach, through the arguments
//! of a start, or through a thread's result. So an object of a thread whose address cannot be reached from
//! static objects, such arguments and results is touched by its thread alone. What is stored where is
//! looked up step by step, by points-to sets; `values.rs` follows values from variable to variable instead,
//! and an object is private by either rule. Where a value is guessed (an input or a value that is not
//! modelled, as wide as a pointer), it may be any address that its points-to set has, whoever owns the
//! object; but for guesses that memory is never accessed at. Of an input, that is what inputs are compared
//! with, and not what else is kept where the input is. What floating-point operations give is no guess: it
//! is computed from their operands, which are followed. Over-approximates what escapes.
//!
//! The same for teams: objects that only a thread touches and the helpers that it started. By induction over
//! the steps of an execution, each address into an object that does not escape from teams, and that belongs
//! to a thread of a team, is in locals of threads of that team, and in objects that do not escape and belong
//! to it. A step reads an address from an object that escapes, and then it is not one of these; or from one
//! that does not, at an address that its thread has: so that object is of its thread's team, and so is what
//! it holds. It stores in objects that do not escape, which are of its team by the same argument, or in one
//! that does: then what is stored escapes, too. It passes the address to a helper, which is of the team;
//! other threads that are started, and those that join, get only addresses of what escapes.

use super::values::{ValueFlow, called};
use super::view::{Meter, View, claim};
use crate::ProofError;
use ir::{Expr, IdVec, Initial, Lhs, LocationKind, ObjectId, Op, Rhs, Storage, TemplateId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The objects whose addresses are guessed somewhere. A value that is not modelled may be any address that
/// was ever taken, and so may all that is computed from it; it counts only if some step may touch all of
/// these objects.
pub fn guessed<'a>(
    view: &View<'a>,
    values: &ValueFlow<'_, 'a>,
    meter: &mut Meter<'_>,
) -> Result<IdVec<ObjectId, bool>, ProofError> {
    let program = view.program;
    let mut found: IdVec<ObjectId, bool> = program.objects.iter().map(|_| false).collect();
    let width = program.data_model.pointer().bits;
    let accessed = values.accessed(meter)?;
    let guessable = view.points_to.guessable();
    let mut touched: FxHashMap<Rc<[ObjectId]>, bool> = FxHashMap::default();
    for (template, code) in program.templates.enumerate() {
        let numbered =
            |edge: &'a ir::Edge| edge.ops.iter().enumerate().map(move |(number, op)| (edge, number, op));
        for (edge, number, op) in code.edges.iter().flat_map(numbered) {
            meter.tick()?;
            let Op::Assign(assignment) = op else { continue };
            for (lhs, rhs) in &assignment.pairs {
                let (value, ty) = match lhs {
                    Lhs::Local(local) => (Expr::Local(*local), code.locals[*local].ty),
                    Lhs::Memory(place) => (Expr::load(place.clone()), place.ty),
                };
                let is_anything = match rhs {
                    Rhs::Value(_) | Rhs::Float(..) => continue,
                    // What an input is compared with, as its set says.
                    Rhs::Any => false,
                    Rhs::Unknown => view.points_to.is_unknown(template, &value),
                };
                // What is never read is never an address.
                let is_dead = match lhs {
                    Lhs::Local(local) => {
                        !edge.reads_later(number, *local) && !view.is_live(template, *local, edge.target)
                    }
                    Lhs::Memory(_) => false,
                };
                if ty.bits < width || is_dead || !values.is_accessed(&accessed, template, lhs)? {
                    continue;
                }
                let objects = view.objects(template, &value)?;
                let counts = !is_anything
                    || match touched.get(&objects) {
                        Some(known) => *known,
                        None => {
                            let is_touched = is_touched(view, &objects);
                            touched.insert(objects.clone(), is_touched);
                            is_touched
                        }
                    };
                // If something is known of the set, the value is an input in it.
                let is_guess = |object: &&ObjectId| counts && (is_anything || guessable[**object]);
                objects.iter().filter(is_guess).for_each(|object| found[*object] = true);
            }
        }
    }
    Ok(found)
}

/// Whether some step may touch each of some objects, by one access.
fn is_touched(view: &View<'_>, objects: &[ObjectId]) -> bool {
    let mut touches = view.steps.iter().flat_map(|steps| steps.iter()).flat_map(|step| &step.touches);
    touches.any(|touch| {
        let has = |object: &ObjectId| touch.region.iter().any(|target| target.object == *object);
        touch.region.len() >= objects.len() && objects.iter().all(has)
    })
}

/// What objects hold the addresses of, and what is passed between threads.
struct Holding {
    /// Sets of objects, each once: pointers of which little is known have the same large ones.
    sets: Vec<Rc<[ObjectId]>>,
    numbers: FxHashMap<Rc<[ObjectId]>, usize>,
    /// What was put where already, as sets; and whether that was a copy.
    put: FxHashSet<(usize, usize, bool)>,
    /// The sets of objects whose addresses each object may hold.
    held: IdVec<ObjectId, Vec<usize>>,
    /// The sets of objects whose bytes are copied into each object.
    copied: IdVec<ObjectId, Vec<usize>>,
    /// Objects that other threads are given.
    open: Vec<ObjectId>,
    /// Objects that are passed to new threads, by their kind.
    passed: BTreeSet<(TemplateId, ObjectId)>,
}

impl Holding {
    fn of(view: &View<'_>, meter: &mut Meter<'_>) -> Result<Self, ProofError> {
        let program = view.program;
        let mut holding = Self {
            sets: Vec::new(),
            numbers: FxHashMap::default(),
            put: FxHashSet::default(),
            held: program.objects.iter().map(|_| Vec::new()).collect(),
            copied: program.objects.iter().map(|_| Vec::new()).collect(),
            open: Vec::new(),
            passed: BTreeSet::new(),
        };
        for (id, object) in program.objects.enumerate() {
            if object.storage == Storage::Static {
                holding.open.push(id);
            }
            if let Initial::Values(values) = &object.initial {
                let mut named: BTreeSet<ObjectId> = BTreeSet::new();
                for (_, _, value) in values {
                    value.walk(&mut |inner| {
                        if let Expr::Address(object, _) = inner {
                            named.insert(*object);
                        }
                    });
                }
                holding.hold(&Rc::from([id]), &named.into_iter().collect());
            }
        }
        for (template, code) in program.templates.enumerate() {
            let exits = code.locations.iter().any(|location| location.kind == LocationKind::Exit);
            let results = code.result.into_iter().chain(code.exit_value.filter(|_| exits));
            if is_kind(view, template) || exits {
                for local in results {
                    holding.open.extend(view.objects(template, &Expr::Local(local))?.iter());
                }
            }
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                meter.tick()?;
                holding.step(view, template, op)?;
            }
        }
        Ok(holding)
    }

    /// The number of a set of objects, in order.
    fn number(&mut self, set: &Rc<[ObjectId]>) -> usize {
        if let Some(known) = self.numbers.get(set) {
            return *known;
        }
        self.sets.push(set.clone());
        self.numbers.insert(set.clone(), self.sets.len() - 1);
        self.sets.len() - 1
    }

    /// Some objects may hold the addresses of others.
    fn hold(&mut self, to: &Rc<[ObjectId]>, values: &Rc<[ObjectId]>) {
        let (to_number, number) = (self.number(to), self.number(values));
        if self.put.insert((to_number, number, false)) {
            to.iter().for_each(|object| self.held[*object].push(number));
        }
    }

    /// The bytes of some objects are copied into others.
    fn copy(&mut self, to: &Rc<[ObjectId]>, from: &Rc<[ObjectId]>) {
        let (to_number, number) = (self.number(to), self.number(from));
        if self.put.insert((to_number, number, true)) {
            to.iter().for_each(|object| self.copied[*object].push(number));
        }
    }

    /// What a step stores.
    fn step(&mut self, view: &View<'_>, template: TemplateId, op: &Op) -> Result<(), ProofError> {
        let mut stores: Vec<(&Expr, Rc<[ObjectId]>)> = Vec::new();
        match op {
            Op::Assign(assignment) => {
                for (lhs, rhs) in &assignment.pairs {
                    let Lhs::Memory(place) = lhs else { continue };
                    match rhs {
                        Rhs::Value(value) => stores.push((&place.address, view.objects(template, value)?)),
                        Rhs::Any | Rhs::Unknown => {}
                        Rhs::Float(_, _, operands) => {
                            for operand in operands {
                                stores.push((&place.address, view.objects(template, operand)?));
                            }
                        }
                    }
                }
            }
            Op::Spawn(callee, arguments, _) => {
                let kinds = called(view, template, callee);
                for argument in arguments {
                    let objects = view.objects(template, argument)?;
                    let passed = kinds.iter().flat_map(|kind| objects.iter().map(|object| (*kind, *object)));
                    self.passed.extend(passed);
                    if kinds.is_empty() {
                        self.open.extend(objects.iter());
                    }
                }
            }
            Op::Allocate { site, result: Lhs::Memory(place), .. } => {
                stores.push((&place.address, Rc::from([*site])));
            }
            // What a thread's result names is open already.
            Op::Join(..) | Op::Allocate { result: Lhs::Local(_), .. } => {}
            Op::Copy(to, from, _) => {
                let from = view.objects(template, from)?;
                self.copy(&view.objects(template, to)?, &from);
            }
            Op::Fill(to, byte, _) => stores.push((to, view.objects(template, byte)?)),
            Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Free(_) => {}
            Op::Call(..) | Op::Broadcast(_) => {}
        }
        for (address, values) in stores.into_iter().filter(|(_, values)| !values.is_empty()) {
            self.hold(&view.objects(template, address)?, &values);
        }
        Ok(())
    }
}

/// Whether threads of a template may be started.
pub fn is_kind(view: &View<'_>, template: TemplateId) -> bool {
    let starts = view.program.start.iter().any(|(start, _)| *start == template);
    starts || view.proof.contexts.iter().any(|context| context.kind == template)
}

/// What escapes from threads, and from teams.
pub struct Escapes<'e, 'v, 'a> {
    view: &'v View<'a>,
    values: &'e ValueFlow<'v, 'a>,
    guessed: &'e IdVec<ObjectId, bool>,
    holding: Holding,
}

impl<'e, 'v, 'a> Escapes<'e, 'v, 'a> {
    /// Looks through all steps.
    pub fn of(
        view: &'v View<'a>,
        values: &'e ValueFlow<'v, 'a>,
        guessed: &'e IdVec<ObjectId, bool>,
        meter: &mut Meter<'_>,
    ) -> Result<Self, ProofError> {
        Ok(Self { view, values, guessed, holding: Holding::of(view, meter)? })
    }

    /// The objects that other threads than their own may touch; but for helpers of a kind, if they are passed
    /// to these by the thread that starts them.
    pub fn escaping(
        &self,
        helper: Option<TemplateId>,
        meter: &mut Meter<'_>,
    ) -> Result<IdVec<ObjectId, bool>, ProofError> {
        let (view, guessed) = (self.view, self.guessed);
        let Holding { sets, held, copied, passed, .. } = &self.holding;
        let mut opened = vec![false; sets.len()];
        let mut reached = vec![false; sets.len()];
        let mut open = self.holding.open.clone();
        open.extend(passed.iter().filter(|(kind, _)| Some(*kind) != helper).map(|(_, object)| *object));
        open.extend(guessed.enumerate().filter(|(_, is_guessed)| **is_guessed).map(|(object, _)| object));
        let mut escapes: IdVec<ObjectId, bool> = view.program.objects.iter().map(|_| false).collect();
        // Objects whose contents can be reached: those that escape, and those that are copied into such.
        let mut read: IdVec<ObjectId, bool> = view.program.objects.iter().map(|_| false).collect();
        let mut contents: Vec<ObjectId> = Vec::new();
        loop {
            meter.tick()?;
            if let Some(object) = open.pop() {
                if !std::mem::replace(&mut escapes[object], true) {
                    contents.push(object);
                }
            } else if let Some(object) = contents.pop() {
                if !std::mem::replace(&mut read[object], true) {
                    for set in &held[object] {
                        if !std::mem::replace(&mut opened[*set], true) {
                            open.extend(sets[*set].iter());
                        }
                    }
                    for set in &copied[object] {
                        if !std::mem::replace(&mut reached[*set], true) {
                            contents.extend(sets[*set].iter());
                        }
                    }
                }
            } else {
                break;
            }
        }
        let seen = self.values.seen(guessed, helper, meter)?;
        view.program.objects.ids().for_each(|object| escapes[object] &= seen[object]);
        Ok(escapes)
    }

    /// Checks that the objects in `private` do not escape from their threads, and those of teams from these.
    pub fn check(&self, meter: &mut Meter<'_>) -> Result<(), ProofError> {
        let proof = self.view.proof;
        let name = |object: &ObjectId| &self.view.program.objects[*object].name;
        if !proof.private.is_empty() {
            let escapes = self.escaping(None, meter)?;
            if let Some(object) = proof.private.iter().find(|object| escapes[**object]) {
                return claim(format!("{} may be touched by other threads", name(object)));
            }
        }
        for team in &proof.teams {
            let mut of_helpers = proof.contexts.iter().filter(|context| context.kind == team.helper);
            if of_helpers.any(|context| context.starts.binary_search(&team.helper).is_ok()) {
                let kind = &self.view.program.templates[team.helper].name;
                return claim(format!("threads of {kind} start others of their kind"));
            }
            let escapes = self.escaping(Some(team.helper), meter)?;
            if let Some(object) = team.objects.iter().find(|object| escapes[**object]) {
                return claim(format!("{} may be touched by other teams", name(object)));
            }
        }
        Ok(())
    }
}
