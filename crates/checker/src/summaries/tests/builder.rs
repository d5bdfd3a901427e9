//! The strongest annotation of a program that the checker accepts.

use crate::ProofError;
use crate::summaries::edges::{Common, Flaw, flaws, standing_during};
use crate::summaries::escape::Escapes;
use crate::summaries::locks::{self, Locks};
use crate::summaries::regions::{Meeting, is_part_of, meeting};
use crate::summaries::state::{Unfounded, owner_test};
use crate::summaries::symbols::{Anchor, Symbol, Values, is_wide};
use crate::summaries::values::ValueFlow;
use crate::summaries::view::{Meter, View};
use crate::summaries::words::Words;
use crate::summaries::{cells, check, escape, ids, once};
use ir::passes::{Lowering, PointsTo};
use ir::{
    Assignment, Callee, EdgeId, Expr, Lhs, LocalId, LocationId, ObjectId, Op, Place, Program, Rhs, Storage,
    Target, TemplateId,
};
use std::collections::BTreeSet;
use verdict::{
    Budget, LockBase, LockFact, ProcedureContext, Property, Started, SummariesProof, Team, ThreadFacts,
    ThreadHandle, Word,
};

/// That a thread has started none of a kind.
pub fn none_started(kind: TemplateId) -> Started {
    Started { kind, own: true, members: Vec::new() }
}

/// A C program as the race check sees it.
pub fn read(text: &str) -> Program {
    let source = frontend_c::Source { name: "test.c".to_owned(), text: text.as_bytes().to_vec() };
    let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
    let lowering = Lowering { races: true, ..Lowering::default() };
    ir::passes::concrete(&program, lowering)
}

/// The template of a function.
pub fn template(program: &Program, name: &str) -> TemplateId {
    let found = program.templates.enumerate().find(|(_, code)| code.name == name);
    found.unwrap_or_else(|| panic!("{name} exists")).0
}

/// The object with a name.
pub fn object(program: &Program, name: &str) -> ObjectId {
    let found = program.objects.enumerate().find(|(_, object)| object.name == name);
    found.unwrap_or_else(|| panic!("{name} exists")).0
}

/// A local of a function.
pub fn local(program: &Program, function: &str, name: &str) -> LocalId {
    let code = &program.templates[template(program, function)];
    let found = code.locals.enumerate().find(|(_, local)| local.name == name);
    found.unwrap_or_else(|| panic!("{name} exists")).0
}

/// Whether the checker accepts a proof.
pub fn verdict(program: &Program, proof: &SummariesProof) -> Result<(), ProofError> {
    check(&program.clone().into(), &Property::NoRace, proof, &Budget::unlimited())
}

/// Makes the strongest annotation.
pub struct Builder<'p> {
    program: &'p Program,
    points_to: PointsTo,
    proof: SummariesProof,
}

impl<'p> Builder<'p> {
    /// The strongest annotation of a program, with a context for each procedure and kind of thread.
    pub fn strongest(program: &'p Program) -> SummariesProof {
        let mut builder =
            Self { program, points_to: PointsTo::of(program), proof: SummariesProof::default() };
        builder.make_contexts();
        builder.settle_once();
        builder.settle_private();
        builder.make_releases();
        builder.make_starts();
        builder.settle_teams();
        builder.make_handles();
        builder.make_facts();
        builder.weaken();
        builder.proof
    }

    fn callees(&self, template: TemplateId, op: &Op) -> Vec<TemplateId> {
        match op {
            Op::Call(callee, ..) | Op::Spawn(callee, ..) => match callee {
                Callee::Procedure(procedure) => vec![*procedure],
                Callee::Pointer(pointer) => self.points_to.callees(template, pointer),
            },
            _ => Vec::new(),
        }
    }

    fn make_contexts(&mut self) {
        let program = self.program;
        let mut known: Vec<(TemplateId, TemplateId)> =
            program.start.iter().map(|(template, _)| (*template, *template)).collect();
        let mut next = 0;
        while let Some((template, kind)) = known.get(next).copied() {
            next += 1;
            let code = &program.templates[template];
            let mut calls: Vec<(EdgeId, TemplateId, u32)> = Vec::new();
            let outgoing = code.outgoing();
            let mut reached: BTreeSet<LocationId> = BTreeSet::new();
            let mut open = vec![code.entry];
            while let Some(location) = open.pop() {
                if reached.insert(location) {
                    open.extend(outgoing[location].iter().map(|edge| code.edges[*edge].target));
                }
            }
            for (edge, step) in code.edges.enumerate().filter(|(_, step)| reached.contains(&step.source)) {
                for op in &step.ops {
                    for callee in self.callees(template, op) {
                        let kind = if matches!(op, Op::Spawn(..)) { callee } else { kind };
                        let number = known.iter().position(|other| *other == (callee, kind));
                        let number = number.unwrap_or_else(|| {
                            known.push((callee, kind));
                            known.len() - 1
                        });
                        calls.push((edge, callee, number as u32));
                    }
                }
            }
            calls.sort_unstable();
            let fact = |location| reached.contains(&location).then(ThreadFacts::default);
            let facts = code.locations.ids().map(fact).collect();
            self.proof.contexts.push(ProcedureContext {
                template,
                kind,
                facts,
                calls,
                releases: Vec::new(),
                starts: Vec::new(),
                stores: Vec::new(),
                writes: Vec::new(),
            });
        }
    }

    fn with_view<T>(&self, then: impl FnOnce(&mut View<'_>, &mut Meter<'_>) -> T) -> T {
        let budget = Budget::unlimited();
        let mut meter = Meter::new(&budget);
        let mut view =
            View::new(self.program, &self.proof, &self.points_to, &mut meter).expect("nothing is unknown");
        then(&mut view, &mut meter)
    }

    fn settle_once(&mut self) {
        self.proof.once = self.program.templates.ids().collect();
        while let Some(bad) = self.with_view(|view, meter| once::repeated(view, meter).expect("in time")) {
            self.proof.once.retain(|template| *template != bad);
        }
    }

    fn settle_private(&mut self) {
        let escapes = self.with_view(|view, meter| {
            let values = ValueFlow::of(view, meter).expect("in time");
            let guessed = escape::guessed(view, &values, meter).expect("in time");
            let escapes = Escapes::of(view, &values, &guessed, meter).expect("in time");
            escapes.escaping(None, meter).expect("in time")
        });
        let objects = self.program.objects.enumerate();
        let is_private =
            |(id, object): &(ObjectId, &ir::Object)| !escapes[*id] && object.storage != Storage::Static;
        self.proof.private = objects.filter(is_private).map(|(id, _)| id).collect();
    }

    /// What threads share with helpers that they start, for all kinds of helpers.
    fn settle_teams(&mut self) {
        for helper in self.program.templates.ids() {
            let mut of_helpers = self.proof.contexts.iter().filter(|context| context.kind == helper);
            if of_helpers.any(|context| context.starts.contains(&helper)) {
                continue;
            }
            let escapes = self.with_view(|view, meter| {
                let values = ValueFlow::of(view, meter).expect("in time");
                let guessed = escape::guessed(view, &values, meter).expect("in time");
                let escapes = Escapes::of(view, &values, &guessed, meter).expect("in time");
                escapes.escaping(Some(helper), meter).expect("in time")
            });
            let objects = self.program.objects.enumerate();
            let objects = objects.filter(|(id, one)| !escapes[*id] && one.storage != Storage::Static);
            let objects = objects.map(|(id, _)| id).collect();
            self.proof.teams.push(Team { helper, objects, apart: 0, alone: false });
        }
    }

    fn make_releases(&mut self) {
        let mut releases: Vec<BTreeSet<Target>> =
            self.proof.contexts.iter().map(|_| BTreeSet::new()).collect();
        self.with_view(|view, _| {
            loop {
                let mut changed = false;
                for (number, context) in view.contexts() {
                    let code = &self.program.templates[context.template];
                    let mut found = releases[number].clone();
                    for (edge, step) in view.steps[context.template].enumerate() {
                        if view.facts(number, code.edges[edge].source).is_none() {
                            continue;
                        }
                        found.extend(&step.breaks);
                        for touch in step.touches.iter().filter(|touch| touch.lock) {
                            if matches!(code.edges[edge].ops[touch.op], Op::Unlock(..)) {
                                for target in touch.region.iter() {
                                    let locks = view.lockable[target.object].iter().map(|(lock, _)| *lock);
                                    found.extend(locks.filter(|lock| {
                                        meeting(target, touch.bytes, lock, Some(8)) != Meeting::Never
                                    }));
                                }
                            }
                        }
                        if matches!(code.edges[edge].ops.last(), Some(Op::Call(..))) {
                            for (_, _, callee) in context.calls.iter().filter(|(call, _, _)| *call == edge) {
                                found.extend(releases[*callee as usize].clone());
                            }
                        }
                    }
                    changed |= found.len() > releases[number].len();
                    releases[number] = found;
                }
                if !changed {
                    return;
                }
            }
        });
        for (context, releases) in self.proof.contexts.iter_mut().zip(releases) {
            context.releases = releases.into_iter().collect();
        }
    }

    /// What contexts start, and where they write ids.
    fn make_starts(&mut self) {
        let mut found: Vec<(BTreeSet<TemplateId>, BTreeSet<Target>)> =
            self.proof.contexts.iter().map(|_| Default::default()).collect();
        self.with_view(|view, _| {
            let ids = ids::stored_ids(view);
            for _ in 0..=found.len() {
                for (number, context) in view.contexts() {
                    let code = &self.program.templates[context.template];
                    for (edge, step) in view.steps[context.template].enumerate() {
                        for touch in step.touches.iter().filter(|touch| touch.write) {
                            for target in touch.region.iter() {
                                let here = ids
                                    .iter()
                                    .filter(|id| meeting(target, touch.bytes, id, Some(8)) != Meeting::Never);
                                found[number].1.extend(here.copied());
                            }
                        }
                        match code.edges[edge].ops.last() {
                            Some(Op::Call(..)) => {
                                let calls = context.calls.iter().filter(|(call, _, _)| *call == edge);
                                for (_, _, callee) in calls {
                                    let (starts, stores) = found[*callee as usize].clone();
                                    found[number].0.extend(starts);
                                    found[number].1.extend(stores);
                                }
                            }
                            Some(Op::Spawn(..)) => found[number].0.extend(&step.callees),
                            _ => {}
                        }
                    }
                }
            }
        });
        for (context, (starts, stores)) in self.proof.contexts.iter_mut().zip(found) {
            context.starts = starts.into_iter().collect();
            context.stores = stores.into_iter().collect();
        }
    }

    /// Cells that starts of one kind store their ids in, and nothing else stores to.
    fn make_handles(&mut self) {
        let mut handles: BTreeSet<ThreadHandle> = BTreeSet::new();
        for (template, code) in self.program.templates.enumerate() {
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                let Op::Spawn(_, _, Some(id)) = op else { continue };
                let [kind] = self.callees(template, op)[..] else { continue };
                for place in self.stores(template, id) {
                    if let Expr::Address(object, offset) = place.address {
                        handles.insert(ThreadHandle { object, offset, kind });
                    }
                }
            }
        }
        let single = once::single(self.program, &self.proof);
        handles.retain(|handle| {
            let storage = self.program.objects[handle.object].storage;
            let cell = Target { object: handle.object, first: handle.offset, stride: 0, count: 1 };
            let others = self.with_view(|view, _| {
                self.program.templates.enumerate().any(|(template, code)| {
                    view.steps[template].enumerate().any(|(edge, step)| {
                        let op = |number: usize| &code.edges[edge].ops[number];
                        step.touches.iter().filter(|touch| touch.write).any(|touch| {
                            let is_start = match op(touch.op) {
                                Op::Spawn(..) => step.callees == [handle.kind],
                                Op::Assign(assignment) => self.stores_id(template, assignment, handle.kind),
                                _ => false,
                            };
                            !is_start
                                && touch.region.iter().any(|target| {
                                    meeting(target, touch.bytes, &cell, Some(8)) != Meeting::Never
                                })
                        })
                    })
                })
            });
            let is_once = self.proof.once.binary_search(&handle.kind).is_ok();
            single[handle.object] && storage != Storage::Site && is_once && !others
        });
        self.proof.handles = handles.into_iter().collect();
    }

    /// The places that an id is stored in.
    fn stores(&self, template: TemplateId, id: &'p Lhs) -> Vec<&'p Place> {
        let local = match id {
            Lhs::Memory(place) => return vec![place],
            Lhs::Local(local) => *local,
        };
        let code = &self.program.templates[template];
        let stored = |op: &'p Op| match op {
            Op::Assign(assignment) => match assignment.pairs.as_slice() {
                [(Lhs::Memory(place), Rhs::Value(Expr::Local(from)))] if *from == local => Some(place),
                _ => None,
            },
            _ => None,
        };
        code.edges.iter().flat_map(|edge| &edge.ops).filter_map(stored).collect()
    }

    /// Whether an assignment stores the id of a thread of a kind.
    fn stores_id(&self, template: TemplateId, assignment: &Assignment, kind: TemplateId) -> bool {
        let [(Lhs::Memory(_), Rhs::Value(Expr::Local(from)))] = assignment.pairs.as_slice() else {
            return false;
        };
        let code = &self.program.templates[template];
        code.edges.iter().flat_map(|edge| &edge.ops).any(|op| match op {
            Op::Spawn(_, _, Some(Lhs::Local(id))) => id == from && self.callees(template, op) == [kind],
            _ => false,
        })
    }

    /// A number that each local may be: the first that it is assigned, or that is passed to it.
    fn numbers(&self, template: TemplateId) -> Vec<(LocalId, i64)> {
        let code = &self.program.templates[template];
        let mut found: Vec<(LocalId, i64)> = Vec::new();
        let mut add = |local: LocalId, value: &Expr| {
            let value = Values::of(self.program, template, &ThreadFacts::default()).number(value);
            let ty = code.locals[local].ty;
            let value = value.filter(|value| ty.contains(*value) && ty != ir::IntType::BOOL);
            if let Some(value) = value.and_then(|value| i64::try_from(value).ok())
                && !found.iter().any(|(known, _)| *known == local)
            {
                found.push((local, value));
            }
        };
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            if let Op::Assign(assignment) = op {
                for (lhs, rhs) in &assignment.pairs {
                    if let (Lhs::Local(local), Rhs::Value(value)) = (lhs, rhs) {
                        add(*local, value);
                    }
                }
            }
        }
        for (caller, other) in self.program.templates.enumerate() {
            for op in other.edges.iter().flat_map(|edge| &edge.ops) {
                if let Op::Call(_, arguments, _) | Op::Spawn(_, arguments, _) = op
                    && self.callees(caller, op).contains(&template)
                {
                    code.locals.ids().take(code.parameters).zip(arguments).for_each(|(l, v)| add(l, v));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Claims everything.
    fn make_facts(&mut self) {
        let program = self.program;
        let single = once::single(program, &self.proof);
        let (candidates, lockable) = self.with_view(|view, _| (view.lockable.clone(), view.lockable.clone()));
        let mut all: Vec<ThreadFacts> = Vec::new();
        for (template, code) in program.templates.enumerate() {
            let wide: Vec<LocalId> =
                code.locals.ids().filter(|local| is_wide(program, template, *local)).collect();
            let mut locks: Vec<LockFact> = Vec::new();
            for (object, targets) in candidates.enumerate() {
                for (target, _) in targets.iter().filter(|(target, _)| target.count <= 8 && single[object]) {
                    let base = LockBase::Object(object);
                    for index in 0..target.count {
                        let offset = target.first + index * target.stride;
                        locks.extend([false, true].map(|shared| LockFact { base, offset, shared }));
                    }
                }
            }
            // Words that are compared with the thread's own id.
            for op in program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
                if let Op::Assume(condition) = op
                    && let Some((Expr::Address(object, offset), _)) = owner_test(condition)
                    && single[*object]
                {
                    let base = LockBase::Object(*object);
                    locks.push(LockFact { base, offset: *offset, shared: false });
                }
            }
            let fresh = |local: &LocalId| {
                let targets = self.points_to.targets(template, &Expr::Local(*local));
                let ir::Targets::Of(targets) = targets else { return false };
                targets.iter().any(|target| program.objects[target.object].storage == Storage::Site)
            };
            for base in &wide {
                for offset in (0..64).step_by(4) {
                    let facts =
                        [true, false].map(|shared| LockFact { base: LockBase::Local(*base), offset, shared });
                    let region = self.with_view(|view, _| view.lock_region(template, facts[0].base, offset));
                    let meets = region.expect("it is known").iter().any(|target| {
                        lockable[target.object].iter().any(|(lock, _)| is_part_of(target, lock))
                    });
                    if meets {
                        locks.extend(facts);
                    }
                }
            }
            locks.sort_unstable();
            locks.dedup();
            let mut equal = Vec::new();
            for (index, one) in wide.iter().enumerate() {
                equal.extend(wide[..index].iter().map(|other| (*one, *other, 0)));
            }
            let values = Values::of(program, template, &ThreadFacts::default());
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                if let Op::Assign(assignment) = op
                    && let [(Lhs::Local(local), Rhs::Value(value))] = assignment.pairs.as_slice()
                    && let Some(Symbol { anchor: Anchor::Local(other), offset }) = values.eval(value)
                    && offset != 0
                    && !equal.contains(&(*local, other, offset))
                {
                    equal.push((*local, other, offset));
                }
            }
            let words = words(program, template, &single);
            let ids = wide.iter().flat_map(|local| self.proof.once.iter().map(|kind| (*local, *kind)));
            all.push(ThreadFacts {
                equal,
                ids: ids.collect(),
                set: (0..self.proof.handles.len() as u32).collect(),
                locks,
                absent: program.templates.ids().collect(),
                fresh: wide.iter().copied().filter(fresh).collect(),
                started: program.templates.ids().map(none_started).collect(),
                numbers: self.numbers(template),
                words,
                ..ThreadFacts::default()
            });
        }
        for context in &mut self.proof.contexts {
            for facts in context.facts.iter_mut().flatten() {
                *facts = all[context.template.0 as usize].clone();
            }
        }
    }

    /// Takes out what does not follow.
    fn weaken(&mut self) {
        loop {
            let mut found = flaws_of(self.program, &self.points_to, &self.proof);
            if found.is_empty() {
                return;
            }
            // Where values are not yet what they will be, locks seem to be written to.
            let is_lock = |flaw: &Flaw| matches!(flaw.what, Unfounded::Lock(_));
            if !found.iter().all(is_lock) {
                found.retain(|flaw| !is_lock(flaw));
            }
            // Numbers of equalities change when one is taken out: the last ones first.
            let mut equalities: Vec<(usize, LocationId, usize)> = Vec::new();
            let mut words: Vec<(usize, LocationId, usize)> = Vec::new();
            for Flaw { context, location, what } in found {
                let Some(facts) = self.proof.contexts[context].facts[location.0 as usize].as_mut() else {
                    panic!("{location} of context {context} is reached")
                };
                match what {
                    Unfounded::Unreached => panic!("{location} of context {context} is reached"),
                    Unfounded::Equal(number) => equalities.push((context, location, number)),
                    Unfounded::Id(local, kind) => facts.ids.retain(|known| *known != (local, kind)),
                    Unfounded::Set(handle) => facts.set.retain(|known| *known != handle),
                    Unfounded::Lock(lock) => facts.locks.retain(|known| *known != lock),
                    Unfounded::Absent(kind) => facts.absent.retain(|known| *known != kind),
                    Unfounded::Number(local) => facts.numbers.retain(|(known, _)| *known != local),
                    Unfounded::Fresh(local) => facts.fresh.retain(|known| *known != local),
                    Unfounded::Started(list) => facts.started.retain(|known| (known.kind, known.own) != list),
                    Unfounded::Word(number) => words.push((context, location, number)),
                    Unfounded::Argument(_) | Unfounded::Order(_) | Unfounded::Placed(_) => {
                        panic!("they are not claimed here")
                    }
                }
            }
            words.sort_unstable();
            words.dedup();
            for (context, location, number) in words.into_iter().rev() {
                let facts = self.proof.contexts[context].facts[location.0 as usize].as_mut();
                facts.expect("it is there").words.remove(number);
            }
            equalities.sort_unstable();
            equalities.dedup();
            for (context, location, number) in equalities.into_iter().rev() {
                let facts = self.proof.contexts[context].facts[location.0 as usize].as_mut();
                facts.expect("it is there").equal.remove(number);
            }
        }
    }
}

/// All claims of a proof that do not follow, with those to hold a lock that others can break.
pub fn flaws_of(program: &Program, points_to: &PointsTo, proof: &SummariesProof) -> Vec<Flaw> {
    let budget = Budget::unlimited();
    let meter = &mut Meter::new(&budget);
    let mut view = View::new(program, proof, points_to, meter).expect("nothing is unknown");
    let during = standing_during(&mut view);
    let view = &view;
    let values = ValueFlow::of(view, meter).expect("in time");
    let guessed = escape::guessed(view, &values, meter).expect("in time");
    let locks = Locks::new(view, meter).expect("in time");
    locks::check_releases(view, meter).expect("releases are listed");
    let mut unusable: Vec<Flaw> = Vec::new();
    for (context, described) in view.contexts() {
        for location in program_locations(program, described.template) {
            let Some(facts) = view.facts(context, location) else { continue };
            for (number, lock) in facts.locks.iter().enumerate() {
                if !locks.is_usable(context, location, number) {
                    unusable.push(Flaw { context, location, what: Unfounded::Lock(*lock) });
                }
            }
        }
    }
    let writes = ids::IdWrites::of(view, meter).expect("in time");
    ids::check_summaries(view, meter).expect("starts and stores are listed");
    let cells = cells::CellWrites::of(view, meter).expect("in time");
    cells::check(view, &cells, meter).expect("writes to cells are listed");
    let words = Words::of(view, meter).expect("in time");
    let common =
        Common { locks: &locks, guessed: &guessed, id_writes: &writes, cell_writes: &cells, words: &words };
    let mut found = flaws(view, &common, &during, true, meter).expect("handles are right");
    found.extend(unusable);
    found
}

/// Words that a template loads into a local, or stores one in, with the value of that local.
fn words(program: &Program, template: TemplateId, single: &ir::IdVec<ObjectId, bool>) -> Vec<Word> {
    let code = &program.templates[template];
    let values = Values::of(program, template, &ThreadFacts::default());
    let mut found: BTreeSet<Word> = BTreeSet::new();
    for op in code.edges.iter().flat_map(|edge| &edge.ops) {
        let Op::Assign(assignment) = op else { continue };
        let [(lhs, Rhs::Value(value))] = assignment.pairs.as_slice() else { continue };
        let (address, local, plus) = match (lhs, value) {
            (Lhs::Local(local), Expr::Load(place)) => (&place.address, *local, 0),
            (Lhs::Local(local), Expr::Binary(ir::BinaryOp::Add, _, pair)) => match &**pair {
                (Expr::Load(place), Expr::Const(by, _)) => {
                    (&place.address, *local, (*by as u64).wrapping_neg())
                }
                _ => continue,
            },
            (Lhs::Memory(place), Expr::Local(local)) => (&place.address, *local, 0),
            _ => continue,
        };
        let Some(Symbol { anchor, offset }) = values.eval(address) else { continue };
        let base = match anchor {
            Anchor::Local(local) => LockBase::Local(local),
            Anchor::Object(object) if single[object] => LockBase::Object(object),
            Anchor::Object(_) | Anchor::Number | Anchor::Argument | Anchor::Unknown(_) => continue,
        };
        if is_wide(program, template, local) {
            found.insert(Word { base, offset, local, plus });
        }
    }
    found.into_iter().collect()
}

fn program_locations(program: &Program, template: TemplateId) -> impl Iterator<Item = LocationId> {
    program.templates[template].locations.ids()
}
