//! Tests what proofs of `flow` claim of all reachable states ([`verdict::FlowProof`]).
//!
//! In each state: no template that is claimed to be unique has two threads; each thread is at a reachable
//! location, and each two at related ones; the equalities, locks, threads, bounds and relations of each
//! thread's location hold; and so do the claims about fresh and given objects, families and counters
//! ([`flow_objects`](super::flow_objects)). Not tested: where values come from, and which objects were never
//! an argument.

use super::flow_objects::Started;
use super::memory::{address_of, value_at, value_of};
use super::try_watch;
use super::walk::{Moment, Outside, Watch};
use crate::ProofError;
use crate::flow::{Data, View};
use domains::{Memory, Variable};
use ir::semantics::ThreadIndex;
use ir::{Expr, IntType, LocalId, Storage, Targets, TemplateId, Value};
use verdict::{Bounds, Budget, HeldLock, PackRelation};

/// Cells that stand for more places than this are not tested.
const MOST_PLACES: u64 = 16;

/// Tests the claims.
pub fn try_claims(view: &View<'_>, data: Option<&Data<'_, '_>>, budget: &Budget) -> Result<(), ProofError> {
    try_watch(view.program, &mut Claims { view, data, started: Started::default() }, budget)
}

struct Claims<'a, 'v, 'p> {
    view: &'a View<'p>,
    data: Option<&'a Data<'v, 'p>>,
    started: Started,
}

/// A thread in a state.
struct Seat<'a, 'm, 'p> {
    moment: &'a Moment<'m, 'p>,
    thread: ThreadIndex,
}

impl Seat<'_, '_, '_> {
    fn value(&self, expr: &Expr) -> Option<Value> {
        value_of(self.moment.machine, self.moment.state, self.thread, expr)
    }

    /// The values that a variable has: one for each place that it stands for. `None` where they are not
    /// known.
    fn values(&self, memory: &Memory<'_>, variable: u32) -> Option<Vec<Value>> {
        let Moment { machine, state, .. } = *self.moment;
        let Some(cell) = memory.cell(Variable(variable)) else {
            let local = LocalId(variable.checked_sub(u32::try_from(memory.count()).ok()?)?);
            return Some(vec![self.value(&Expr::Local(local))?]);
        };
        let Targets::Of(targets) = &cell.region.targets else { return None };
        let mut values = Vec::new();
        for target in targets.iter() {
            let storage = machine.program.objects[target.object].storage;
            if target.count > MOST_PLACES || (!cell.strong && storage != Storage::Static) {
                return None;
            }
            let base = address_of(machine, state, Some(self.thread), target.object)?;
            // Claims about private memory are about the thread's own.
            if cell.private && !self.is_own(base) {
                return None;
            }
            for element in 0..target.count {
                let address = base + target.first + element * target.stride;
                values.push(value_at(machine, state, address, cell.ty)?);
            }
        }
        Some(values)
    }

    /// Whether an address is in the thread's stack, or in memory that it allocated.
    fn is_own(&self, address: u64) -> bool {
        let addresses = &self.moment.machine.addresses;
        let owner = addresses.stack_at(address).or_else(|| addresses.heap_at(address));
        owner.is_some_and(|(owner, _)| owner == self.thread)
    }

    fn holds_lock(&self, lock: &HeldLock) -> Option<bool> {
        let Moment { machine, state, .. } = *self.moment;
        let pointer = machine.program.data_model.pointer();
        let address = pointer.unsigned().wrap(self.value(&lock.base)? + Value::from(lock.offset));
        let address = u64::try_from(address).ok()?;
        let word = |offset: u64| machine.peek_memory(state, address.checked_add(offset)?, IntType::U32);
        let is_owner = word(0)? == self.thread as Value + 1;
        Some(is_owner || (lock.shared && word(4)? > 0))
    }

    /// Whether a value is the id of the only thread of a template.
    fn names_thread(&self, value: &Expr, template: TemplateId) -> Option<bool> {
        let value = self.value(value)?;
        let mut of =
            self.moment.state.threads.iter().enumerate().filter(|(_, thread)| thread.template == template);
        Some(of.any(|(index, _)| index as Value + 1 == value))
    }

    /// Whether a number is within bounds.
    fn is_inside(&self, memory: &Memory<'_>, bounds: &Bounds, value: Value) -> Option<bool> {
        let rest = match bounds.modulus {
            0 => value == bounds.rest,
            modulus => (value - bounds.rest).checked_rem(modulus) == Some(0),
        };
        let inside = bounds.lower.is_none_or(|lower| lower <= value)
            && bounds.upper.is_none_or(|upper| value <= upper)
            && rest
            && !(bounds.nonzero && value == 0);
        let (Some(addresses), true, true) = (bounds.addresses, inside, value != 0) else {
            return Some(inside);
        };
        let Moment { machine, state, .. } = *self.moment;
        let mut found = false;
        for (object, offset) in memory.places_of(addresses) {
            let address = address_of(machine, state, Some(self.thread), object)?;
            found |= Value::from(address + offset) == value;
        }
        Some(found)
    }

    fn is_related(&self, memory: &Memory<'_>, relation: &PackRelation) -> Option<bool> {
        let part = |(variable, negated): (u32, bool)| {
            let values = self.values(memory, variable)?;
            let [value] = values.as_slice() else { return None };
            Some(if negated { -value } else { *value })
        };
        Some(part(relation.first)? + part(relation.second)? <= relation.bound)
    }
}

impl Claims<'_, '_, '_> {
    /// A claim about one thread that does not hold.
    fn broken(&self, seat: &Seat<'_, '_, '_>, node: usize) -> Option<String> {
        let facts = self.view.facts(node);
        let is_false = |holds: Option<bool>| holds == Some(false);
        let differs = |(local, value): &(LocalId, Expr)| {
            let known = (seat.value(&Expr::Local(*local)), seat.value(value));
            matches!(known, (Some(one), Some(other)) if one != other)
        };
        if let Some((local, _)) = facts.equal.iter().find(|fact| differs(fact)) {
            return Some(format!("{local} has the value of an expression"));
        }
        if facts.locks.iter().any(|lock| is_false(seat.holds_lock(lock))) {
            return Some("a lock is held".to_owned());
        }
        if facts.threads.iter().any(|(value, template)| is_false(seat.names_thread(value, *template))) {
            return Some("a value is the id of a thread".to_owned());
        }
        let data = self.data?;
        if let Some((local, _)) = data.proof.copies[node].iter().find(|fact| differs(fact)) {
            return Some(format!("{local} is a copy of an expression"));
        }
        for (variable, bounds) in data.proof.invariants[node].iter().flatten() {
            for value in seat.values(&data.memory, *variable).into_iter().flatten() {
                if is_false(seat.is_inside(&data.memory, bounds, value)) {
                    return Some(format!("variable {variable} is not {value}"));
                }
            }
        }
        let relations = &data.proof.relations[node];
        let broken = relations.iter().find(|relation| is_false(seat.is_related(&data.memory, relation)));
        broken.map(|relation| format!("variables {} and {} are related", relation.first.0, relation.second.0))
    }

    fn outside(&self, moment: &Moment<'_, '_>) -> Option<String> {
        let places = moment.places;
        let templates = moment.state.threads.iter().map(|thread| thread.template);
        for template in &self.view.proof.unique {
            if templates.clone().filter(|other| other == template).count() > 1 {
                return Some(format!("there is one thread of {template}"));
            }
        }
        for (thread, (template, location)) in places.iter().enumerate() {
            let node = self.view.node(*template, *location);
            let at = format!("thread {thread} at {template}:{location}");
            if !self.view.is_inhabited(node) {
                return Some(format!("{at}: no thread is there"));
            }
            for (other, (template, location)) in places.iter().enumerate().take(thread) {
                if !self.view.proof.coreachable.contains(node, self.view.node(*template, *location)) {
                    return Some(format!("{at}: thread {other} is not at {template}:{location} then"));
                }
            }
            let seat = Seat { moment, thread };
            let is_live = !moment.state.threads[thread].activations.is_empty();
            if let Some(claim) = is_live.then(|| self.broken(&seat, node)).flatten() {
                return Some(format!("{at}: {claim}"));
            }
        }
        None
    }
}

impl Watch for Claims<'_, '_, '_> {
    fn look(&mut self, moment: &Moment<'_, '_>) -> Option<Outside> {
        self.started.see(self.view, moment);
        let outside = self.outside(moment).or_else(|| self.started.outside(self.view, moment));
        outside.map(|claim| Outside { claim, violation: None })
    }

    fn price(&self, threads: usize) -> u64 {
        let each = if self.data.is_some() { 4 } else { 1 };
        each * threads as u64
    }
}
