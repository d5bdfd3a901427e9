//! Tests what proofs of `flow` claim of several threads at once, and of objects that only one thread knows.
//!
//! * Counters: a ticket plus its increment is at most the counter; tickets of two threads differ at least by
//!   the lesser of their increments; the counter is at least the sum of the weights of all threads'
//!   locations.
//! * Families: at the parent's location, there is no member, or the members' indices are different and within
//!   their bounds, and their arguments and handles are what the family says. The index of a member is the
//!   value of the parent's local at the start, unless the starting step also changes that local.
//! * Given parameters: no two live threads of a template were started with the same one.
//! * Fresh locals: no memory, and no local that another thread reads again, holds an address into their
//!   objects.

use super::memory::{is_in_memory, value_at, value_of};
use super::walk::Moment;
use crate::flow::View;
use crate::summaries::live_locations;
use ir::ids::Id;
use ir::semantics::ThreadIndex;
use ir::{Callee, Expr, IdVec, Lhs, LocalId, LocationId, Op, TemplateId, Value};
use rustc_hash::FxHashMap;
use verdict::{Bound, Counter, Family, Members};

/// The history of an execution, as far as claims need it.
#[derive(Default)]
pub struct Started {
    /// The locals that each thread started with.
    locals: Vec<Vec<u64>>,
    /// For each thread and family: the value of the family's index at the start, if the thread is a member
    /// and the value is known.
    indices: Vec<Vec<Option<Value>>>,
    /// Where each thread was in the last state.
    places: Vec<(TemplateId, LocationId)>,
    live: FxHashMap<(TemplateId, LocalId), IdVec<LocationId, bool>>,
}

/// The value of a thread's local.
fn local_of(moment: &Moment<'_, '_>, thread: ThreadIndex, local: LocalId) -> Option<Value> {
    value_of(moment.machine, moment.state, thread, &Expr::Local(local))
}

/// The live threads of a template.
fn running<'m>(moment: &'m Moment<'_, '_>, template: TemplateId) -> impl Iterator<Item = ThreadIndex> + 'm {
    let threads = moment.state.threads.iter().enumerate();
    let of = move |(_, thread): &(usize, &std::sync::Arc<ir::semantics::Thread>)| {
        thread.template == template && !thread.activations.is_empty()
    };
    threads.filter(of).map(|(number, _)| number)
}

impl Started {
    /// Records threads that were started. To be called once for each state of an execution.
    pub fn see(&mut self, view: &View<'_>, moment: &Moment<'_, '_>) {
        if moment.step == 0 {
            self.locals.clear();
            self.indices.clear();
        }
        for thread in self.locals.len()..moment.state.threads.len() {
            let started = &moment.state.threads[thread];
            let locals = started.activations.first().map_or(Vec::new(), |first| first.locals.to_vec());
            self.locals.push(locals);
            let index = |family: &Family| self.index(view, moment, family, started.template);
            let indices = view.proof.families.iter().map(index).collect();
            self.indices.push(indices);
        }
        self.places = moment.places.to_vec();
    }

    /// The index of a member of a family that was just started.
    fn index(
        &self,
        view: &View<'_>,
        moment: &Moment<'_, '_>,
        family: &Family,
        template: TemplateId,
    ) -> Option<Value> {
        let mover = moment.mover.filter(|_| moment.step > 0 && template == family.template)?;
        let (parent, before) = *self.places.get(mover)?;
        let code = &view.program.templates[parent];
        let starts = |op: &Op| matches!(op, Op::Spawn(Callee::Procedure(child), ..) if *child == template);
        let mut steps = code.edges.iter().filter(|edge| edge.source == before && edge.ops.iter().any(starts));
        let keeps =
            steps.all(|edge| edge.ops.iter().all(|op| !op.targets().contains(&&Lhs::Local(family.index))));
        if parent != family.parent || !keeps {
            return None;
        }
        local_of(moment, mover, family.index)
    }

    /// A claim that does not hold.
    pub fn outside(&mut self, view: &View<'_>, moment: &Moment<'_, '_>) -> Option<String> {
        let counters = view.proof.counters.iter();
        counters
            .filter_map(|counter| broken_counter(view, moment, counter))
            .next()
            .or_else(|| self.broken_family(view, moment))
            .or_else(|| self.broken_argument(view, moment))
            .or_else(|| self.broken_fresh(view, moment))
    }

    fn broken_family(&self, view: &View<'_>, moment: &Moment<'_, '_>) -> Option<String> {
        for (number, family) in view.proof.families.iter().enumerate() {
            let Some(parent) = running(moment, family.parent).next() else { continue };
            let (_, location) = moment.places[parent];
            let facts = family.at.get(location.index())?;
            let value = |of: Option<LocalId>| of.map_or(Some(0), |of| local_of(moment, parent, of));
            let is_wrong = |(less, more, by): (Option<LocalId>, Option<LocalId>, Value)| matches!((value(less), value(more)), (Some(less), Some(more)) if less > more + by);
            if facts.orders.iter().any(is_wrong) {
                return Some(format!("family {number}: an order of the parent's locals"));
            }
            let Some(members) = &facts.members else { continue };
            let wrong = self.broken_members(moment, (number, family), members, parent);
            if let Some(what) = wrong {
                return Some(format!("family {number}: {what}"));
            }
        }
        None
    }

    fn broken_members(
        &self,
        moment: &Moment<'_, '_>,
        (number, family): (usize, &Family),
        members: &Members,
        parent: ThreadIndex,
    ) -> Option<&'static str> {
        let all: Vec<ThreadIndex> = running(moment, family.template).collect();
        if members.none {
            return (!all.is_empty()).then_some("there is no member");
        }
        let mut seen: Vec<Value> = Vec::new();
        for member in all {
            let Some(index) = self.indices[member][number] else { continue };
            if seen.contains(&index) {
                return Some("indices are different");
            }
            seen.push(index);
            let bound = |bound: &Bound| {
                Some(bound.of.map_or(Some(0), |of| local_of(moment, parent, of))? + bound.plus)
            };
            let is_low = |one: &Bound| bound(one).is_some_and(|bound| index < bound);
            let is_high = |one: &Bound| bound(one).is_some_and(|bound| index >= bound);
            if members.above.iter().any(is_low) || members.below.iter().any(is_high) {
                return Some("indices are within bounds");
            }
            let is_not = |(place, claimed): (usize, &Option<Expr>)| {
                let claimed =
                    claimed.as_ref().and_then(|claimed| of_member(moment, family, claimed, index, parent));
                let ty = moment.machine.program.templates[family.template].locals[LocalId::new(place)].ty;
                let given = self.locals[member].get(place).map(|given| ty.wrap(Value::from(*given)));
                matches!((claimed, given), (Some(claimed), Some(given)) if ty.wrap(claimed) != given)
            };
            if members.argument && family.arguments.iter().enumerate().any(is_not) {
                return Some("arguments are those of their indices");
            }
            let pointer = moment.machine.program.data_model.pointer();
            let handle = family.handle.as_ref().filter(|_| members.handle);
            let address = handle.and_then(|handle| of_member(moment, family, handle, index, parent));
            let address = address.and_then(|address| u64::try_from(pointer.unsigned().wrap(address)).ok());
            let id = address.and_then(|address| value_at(moment.machine, moment.state, address, pointer));
            if id.is_some_and(|id| id != member as Value + 1) {
                return Some("handles are where they should be");
            }
        }
        None
    }

    fn broken_argument(&self, view: &View<'_>, moment: &Moment<'_, '_>) -> Option<String> {
        for (template, local) in &view.proof.given {
            let mut seen: Vec<u64> = Vec::new();
            for thread in running(moment, *template) {
                let Some(given) = self.locals[thread].get(local.index()) else { continue };
                if seen.contains(given) {
                    return Some(format!("{local} of {template} is one thread's only"));
                }
                seen.push(*given);
            }
        }
        None
    }

    fn broken_fresh(&mut self, view: &View<'_>, moment: &Moment<'_, '_>) -> Option<String> {
        // A reused address may be known from before; nothing is proved of a program that could notice.
        if moment.machine.program.reuses_addresses {
            return None;
        }
        for (thread, (template, location)) in moment.places.iter().enumerate() {
            if moment.state.threads[thread].activations.is_empty() {
                continue;
            }
            let facts = view.facts(view.node(*template, *location));
            for local in &facts.fresh {
                if self.is_known(view, moment, thread, *local) {
                    return Some(format!("thread {thread} at {template}:{location}: {local} is fresh"));
                }
            }
        }
        None
    }

    /// Whether memory, or another thread, knows an address in the object that a local points into.
    fn is_known(
        &mut self,
        view: &View<'_>,
        moment: &Moment<'_, '_>,
        thread: ThreadIndex,
        local: LocalId,
    ) -> bool {
        let state = moment.state;
        let address = local_of(moment, thread, local).and_then(|address| u64::try_from(address).ok());
        let Some(address) = address.filter(|address| *address != 0) else { return false };
        let next = state.heap.partition_point(|block| block.address <= address);
        let Some(block) = next.checked_sub(1).and_then(|at| state.heap.get(at)) else { return false };
        let range = block.address..block.address + (block.bytes.len() as u64).max(1);
        let width = moment.machine.program.data_model.pointer().bytes() as usize;
        match is_in_memory(state, width, &range).filter(|_| range.contains(&address)) {
            None => return false,
            Some(true) => return true,
            Some(false) => {}
        }
        for (other, one) in state.threads.iter().enumerate().filter(|(other, _)| *other != thread) {
            let Some(activation) = one.activations.first() else { continue };
            let (template, location) = moment.places[other];
            let code = &view.program.templates[template];
            let naming = activation.locals.iter().enumerate().filter(|(_, value)| range.contains(value));
            for (index, _) in naming {
                let local = LocalId::new(index);
                let live = self.live.entry((template, local)).or_insert_with(|| live_locations(code, local));
                if live[location] {
                    return true;
                }
            }
        }
        false
    }
}

/// The value of an expression of a family for a member, with the parent's values now.
fn of_member(
    moment: &Moment<'_, '_>,
    family: &Family,
    expr: &Expr,
    index: Value,
    parent: ThreadIndex,
) -> Option<Value> {
    let ty = moment.machine.program.templates[family.parent].locals[family.index].ty;
    let mut expr = expr.clone();
    expr.rewrite(&mut |inner| {
        if *inner == Expr::Local(family.index) {
            *inner = Expr::Const(ty.wrap(index), ty);
        }
    });
    value_of(moment.machine, moment.state, parent, &expr)
}

fn broken_counter(view: &View<'_>, moment: &Moment<'_, '_>, counter: &Counter) -> Option<String> {
    let address = moment.machine.addresses.offset[counter.object] + counter.offset;
    let value = value_at(moment.machine, moment.state, address, counter.ty)?;
    let nodes = || moment.places.iter().map(|(template, location)| view.node(*template, *location));
    if !counter.weights.is_empty() {
        let sum: Value = nodes().filter_map(|node| counter.weights.get(node)).sum();
        if value < sum {
            return Some("a counter is at least the sum of the weights".to_owned());
        }
    }
    let mut tickets: Vec<(ThreadIndex, Value, Value)> = Vec::new();
    for (thread, node) in nodes().enumerate() {
        if moment.state.threads[thread].activations.is_empty() {
            continue;
        }
        for (local, step) in counter.tickets.get(node).into_iter().flatten() {
            let Some(ticket) = local_of(moment, thread, *local) else { continue };
            let is_taken = |(other, theirs, far): &(ThreadIndex, Value, Value)| {
                *other != thread && (ticket - theirs).abs() < *step.min(far)
            };
            if ticket + step > value || tickets.iter().any(is_taken) {
                return Some(format!("{local} of thread {thread} is a ticket"));
            }
            tickets.push((thread, ticket, *step));
        }
    }
    None
}
