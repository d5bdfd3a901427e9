//! What locals may hold, by the kind of the thread that runs the procedure.
//!
//! Points-to sets know one value of a local for all threads. Here, the values of a procedure's locals are
//! told apart by the kind of the thread: a parameter gets what calls in threads of the same kind pass, and
//! a private thread-local variable holds what steps of threads of the same kind store there. So a function
//! that several kinds of threads call, such as one that writes a log, does not mix up what they pass to it,
//! be it as arguments or in a list of these.
//!
//! The claim, for each local of a procedure, and for each *followed* variable: while a thread of the kind
//! runs the procedure, an address that the local holds is in one of the listed objects. Induction over the
//! steps of the thread: locals start as 0, or with what the call passes; a value that is computed from
//! locals holds addresses in objects of theirs; what is loaded from a followed variable is what a step of
//! this thread has stored there; whatever else a local gets (from other memory, from a thread that ended, an
//! input) is in its points-to set, which is tested elsewhere. A thread-local variable is followed if it is
//! private, starts without addresses, and each write that may touch it assigns a word at a multiple of a
//! word: so what is read there was stored as a whole, by the thread itself. Over-approximates.

use super::view::{Meter, Touch, View};
use crate::ProofError;
use indexmap::IndexSet;
use ir::ids::Id;
use ir::passes::bits::BitSet;
use ir::{
    EdgeId, Expr, IdVec, Initial, IntType, Lhs, LocalId, ObjectId, Op, Place, Rhs, Storage, TemplateId,
};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// A procedure in threads of a kind: the kind, and the procedure.
type Run = (TemplateId, TemplateId);

/// What locals hold addresses of: for each run, and each local of the procedure, objects by their number.
pub struct LocalValues<'v, 'a> {
    view: &'v View<'a>,
    /// The steps that threads of the kind take in the procedure.
    steps: BTreeMap<Run, Vec<EdgeId>>,
    /// The callers of a procedure, in threads of the same kind.
    callers: BTreeMap<Run, BTreeSet<TemplateId>>,
    locals: FxHashMap<Run, Vec<BitSet>>,
    /// Whether each object is a followed variable.
    followed: IdVec<ObjectId, bool>,
    /// What threads of a kind store in a followed variable.
    stored: FxHashMap<(TemplateId, ObjectId), BitSet>,
    /// The objects of points-to sets, for expressions by where they are.
    known: FxHashMap<(TemplateId, *const Expr), Rc<BitSet>>,
    /// Lists of objects that accesses may touch.
    lists: IndexSet<BitSet, FxBuildHasher>,
    /// What was found of addresses, for threads of each kind.
    limits: FxHashMap<(TemplateId, TemplateId, *const Expr), Option<usize>>,
}

impl<'v, 'a> LocalValues<'v, 'a> {
    /// Follows values along all steps that are taken in some context.
    pub fn of(view: &'v View<'a>, meter: &mut Meter<'_>) -> Result<Self, ProofError> {
        let mut values = Self {
            view,
            steps: BTreeMap::new(),
            callers: BTreeMap::new(),
            locals: FxHashMap::default(),
            followed: followed(view, meter)?,
            stored: FxHashMap::default(),
            known: FxHashMap::default(),
            lists: IndexSet::default(),
            limits: FxHashMap::default(),
        };
        values.collect(meter)?;
        values.start()?;
        let mut queue: VecDeque<Run> = values.steps.keys().copied().collect();
        let mut queued: BTreeSet<Run> = queue.iter().copied().collect();
        while let Some(run) = queue.pop_front() {
            queued.remove(&run);
            for next in values.visit(run, meter)? {
                if queued.insert(next) {
                    queue.push_back(next);
                }
            }
        }
        Ok(values)
    }

    /// The objects that an access at an address may touch, by a thread of a kind: the number of a list of
    /// them. `None` where its points-to set has no others.
    pub fn touched(
        &mut self,
        (template, kind): (TemplateId, TemplateId),
        touch: &Touch<'a>,
    ) -> Result<Option<usize>, ProofError> {
        if matches!(touch.address, Expr::Address(..)) {
            return Ok(None);
        }
        let at = (kind, template, std::ptr::from_ref(touch.address));
        if let Some(known) = self.limits.get(&at) {
            return Ok(*known);
        }
        let found = self.value((kind, template), touch.address)?;
        let has_all = touch.region.iter().all(|target| found.contains(target.object.index()));
        let limit = if has_all { None } else { Some(self.lists.insert_full(found).0) };
        self.limits.insert(at, limit);
        Ok(limit)
    }

    /// Whether an object is in a list.
    pub fn is_listed(&self, list: usize, object: ObjectId) -> bool {
        self.lists.get_index(list).is_some_and(|objects| objects.contains(object.index()))
    }

    /// Which steps are taken in which runs, and who calls whom.
    fn collect(&mut self, meter: &mut Meter<'_>) -> Result<(), ProofError> {
        let view = self.view;
        let mut taken: BTreeMap<Run, BTreeSet<EdgeId>> = BTreeMap::new();
        for (number, context) in view.contexts() {
            let run = (context.kind, context.template);
            let code = &view.program.templates[context.template];
            for (edge, step) in code.edges.enumerate() {
                meter.tick()?;
                if view.facts(number, step.source).is_none() {
                    continue;
                }
                taken.entry(run).or_default().insert(edge);
                if step.ops.iter().any(|op| matches!(op, Op::Call(..))) {
                    for callee in &view.steps[context.template][edge].callees {
                        self.callers.entry((context.kind, *callee)).or_default().insert(context.template);
                    }
                }
            }
        }
        self.steps = taken.into_iter().map(|(run, edges)| (run, edges.into_iter().collect())).collect();
        Ok(())
    }

    /// Locals start without addresses, but for the parameters of what threads start in.
    fn start(&mut self) -> Result<(), ProofError> {
        let view = self.view;
        let objects = view.program.objects.len();
        let runs: Vec<Run> = self.steps.keys().copied().collect();
        for (kind, template) in runs {
            let code = &view.program.templates[template];
            let mut locals: Vec<BitSet> = code.locals.iter().map(|_| BitSet::new(objects)).collect();
            if kind == template {
                for local in code.locals.ids().take(code.parameters) {
                    for object in view.objects(template, &Expr::Local(local))?.iter() {
                        locals[local.index()].insert(object.index());
                    }
                }
            }
            self.locals.insert((kind, template), locals);
        }
        Ok(())
    }

    /// Follows all steps of a run until nothing changes; gives the runs that have to be visited again.
    fn visit(&mut self, run: Run, meter: &mut Meter<'_>) -> Result<BTreeSet<Run>, ProofError> {
        let (view, (kind, template)) = (self.view, run);
        let code = &view.program.templates[template];
        let edges = self.steps.get(&run).cloned().unwrap_or_default();
        let mut again = BTreeSet::new();
        let given = |values: &Self| code.result.map(|result| values.local(run, result));
        let before = given(self);
        let mut changed = true;
        while changed {
            changed = false;
            for edge in &edges {
                for op in &code.edges[*edge].ops {
                    meter.tick()?;
                    changed |= match op {
                        Op::Assign(assignment) => {
                            let mut changed = false;
                            for (lhs, rhs) in &assignment.pairs {
                                changed |= match rhs {
                                    Rhs::Value(value) => self.assign(run, lhs, value, &mut again)?,
                                    Rhs::Any | Rhs::Unknown | Rhs::Float(..) => self.set(run, lhs)?,
                                };
                            }
                            changed
                        }
                        Op::Call(_, arguments, lhs) => {
                            let mut changed = false;
                            for callee in view.steps[template][*edge].callees.clone() {
                                let to = (kind, callee);
                                let parameters = view.program.templates[callee].parameters;
                                for (index, argument) in arguments.iter().enumerate().take(parameters) {
                                    let value = self.value(run, argument)?;
                                    if self.grow(to, index, &value) {
                                        again.insert(to);
                                        changed |= to == run;
                                    }
                                }
                                let result = view.program.templates[callee].result;
                                if let (Some(Lhs::Local(local)), Some(result)) = (lhs, result) {
                                    let value = self.local(to, result);
                                    changed |= self.grow(run, local.index(), &value);
                                }
                            }
                            changed
                        }
                        Op::Spawn(..) | Op::Join(..) | Op::Allocate { .. } => {
                            let mut changed = false;
                            for lhs in op.targets() {
                                changed |= self.set(run, lhs)?;
                            }
                            changed
                        }
                        Op::Assume(_) | Op::Free(_) | Op::Fill(..) | Op::Copy(..) => false,
                        Op::Lock(..) | Op::Unlock(..) | Op::Broadcast(_) => false,
                    };
                }
            }
        }
        if given(self) != before {
            again.extend(self.callers.get(&run).into_iter().flatten().map(|caller| (kind, *caller)));
        }
        again.remove(&run);
        Ok(again)
    }

    /// A value is assigned to a local, or stored in memory.
    fn assign(
        &mut self,
        run: Run,
        lhs: &Lhs,
        value: &'a Expr,
        again: &mut BTreeSet<Run>,
    ) -> Result<bool, ProofError> {
        let (kind, template) = run;
        match lhs {
            Lhs::Local(local) => {
                let value = self.value(run, value)?;
                Ok(self.grow(run, local.index(), &value))
            }
            Lhs::Memory(place) => {
                let region = self.view.region(template, &place.address)?;
                let into: BTreeSet<ObjectId> =
                    region.iter().map(|target| target.object).filter(|id| self.followed[*id]).collect();
                if into.is_empty() {
                    return Ok(false);
                }
                let value = self.value(run, value)?;
                let mut grows = false;
                for variable in into {
                    let objects = self.view.program.objects.len();
                    let known = self.stored.entry((kind, variable)).or_insert_with(|| BitSet::new(objects));
                    grows |= known.union_with(&value);
                }
                if grows {
                    again.extend(self.steps.keys().filter(|(of, _)| *of == kind));
                }
                Ok(grows)
            }
        }
    }

    /// A local gets a value of which only its points-to set is known.
    fn set(&mut self, run: Run, lhs: &Lhs) -> Result<bool, ProofError> {
        let Lhs::Local(local) = lhs else { return Ok(false) };
        let mut value = BitSet::new(self.view.program.objects.len());
        for object in self.view.objects(run.1, &Expr::Local(*local))?.iter() {
            value.insert(object.index());
        }
        Ok(self.grow(run, local.index(), &value))
    }

    fn local(&self, run: Run, local: LocalId) -> BitSet {
        let known = self.locals.get(&run).and_then(|locals| locals.get(local.index()));
        known.cloned().unwrap_or_else(|| BitSet::new(self.view.program.objects.len()))
    }

    fn grow(&mut self, run: Run, local: usize, by: &BitSet) -> bool {
        let known = self.locals.get_mut(&run).and_then(|locals| locals.get_mut(local));
        known.is_some_and(|known| known.union_with(by))
    }

    /// The objects that the value of an expression may be an address of.
    fn value(&mut self, run: Run, expr: &'a Expr) -> Result<BitSet, ProofError> {
        let none = || BitSet::new(self.view.program.objects.len());
        match expr {
            Expr::Const(..) | Expr::Procedure(_) | Expr::Myself => Ok(none()),
            Expr::Overflows(..) | Expr::Valid(..) => Ok(none()),
            Expr::Cast(IntType::BOOL, _) | Expr::Unary(_, IntType::BOOL, _) => Ok(none()),
            Expr::Binary(op, ty, _) if op.is_comparison() || *ty == IntType::BOOL => Ok(none()),
            Expr::Local(local) => Ok(self.local(run, *local)),
            Expr::Address(object, _) => {
                let mut found = none();
                found.insert(object.index());
                Ok(found)
            }
            Expr::Load(place) => self.load(run, place, expr),
            Expr::Cast(_, operand) | Expr::Unary(_, _, operand) | Expr::Old(operand) => {
                self.value(run, operand)
            }
            Expr::Binary(_, _, pair) => {
                let mut found = self.value(run, &pair.0)?;
                found.union_with(&self.value(run, &pair.1)?);
                Ok(found)
            }
            Expr::IfThenElse(three) => {
                let mut found = self.value(run, &three.1)?;
                found.union_with(&self.value(run, &three.2)?);
                Ok(found)
            }
        }
    }

    /// What is loaded from memory.
    fn load(
        &mut self,
        (kind, template): Run,
        place: &'a Place,
        expr: &'a Expr,
    ) -> Result<BitSet, ProofError> {
        let objects = self.view.program.objects.len();
        let word = self.view.program.data_model.pointer().bytes();
        let region = self.view.region(template, &place.address)?;
        let is_word = |target: &ir::Target| {
            self.followed[target.object]
                && target.first.is_multiple_of(word)
                && target.stride.is_multiple_of(word)
        };
        if place.ty.bytes() == word && region.iter().all(is_word) {
            let mut found = BitSet::new(objects);
            for target in region.iter() {
                if let Some(stored) = self.stored.get(&(kind, target.object)) {
                    found.union_with(stored);
                }
            }
            return Ok(found);
        }
        let at = (template, std::ptr::from_ref(expr));
        if let Some(known) = self.known.get(&at) {
            return Ok(known.as_ref().clone());
        }
        let mut found = BitSet::new(objects);
        for object in self.view.objects(template, expr)?.iter() {
            found.insert(object.index());
        }
        self.known.insert(at, Rc::new(found.clone()));
        Ok(found)
    }
}

/// The thread-local variables that are followed.
fn followed(view: &View<'_>, meter: &mut Meter<'_>) -> Result<IdVec<ObjectId, bool>, ProofError> {
    let word = view.program.data_model.pointer().bytes();
    let holds_address = |value: &Expr| {
        let mut found = false;
        value.walk(&mut |inner| found |= matches!(inner, Expr::Address(..) | Expr::Procedure(_)));
        found
    };
    let is_own = |(id, object): (ObjectId, &ir::Object)| {
        let starts_empty = match &object.initial {
            Initial::Values(values) => !values.iter().any(|(_, _, value)| holds_address(value)),
            Initial::Unknown | Initial::NotModelled => false,
        };
        object.storage == Storage::ThreadLocal && view.private[id] && starts_empty
    };
    let mut found: IdVec<ObjectId, bool> = view.program.objects.enumerate().map(is_own).collect();
    for (template, steps) in view.steps.enumerate() {
        for (edge, footprint) in steps.enumerate() {
            meter.tick()?;
            for touch in footprint.touches.iter().filter(|touch| touch.write) {
                let op = &view.program.templates[template].edges[edge].ops[touch.op];
                let is_plain = touch.bytes == Some(word)
                    && matches!(op, Op::Assign(assignment)
                        if matches!(assignment.pairs.as_slice(), [(_, Rhs::Value(_))]));
                for target in touch.region.iter() {
                    let is_even = target.first.is_multiple_of(word) && target.stride.is_multiple_of(word);
                    found[target.object] &= is_plain && is_even;
                }
            }
        }
    }
    Ok(found)
}
