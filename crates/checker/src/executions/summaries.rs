//! Tests what proofs by summaries claim of all reachable states ([`verdict::SummariesProof`]).
//!
//! In each state: no template in `once` has two activations; each thread is in a context that its calls lead
//! to, at a location with facts; the equalities, values, ids, handles, locks, absent kinds, fresh locals,
//! inequalities, places in rows, lists of threads and words there hold; threads have arguments apart, or are
//! alone, where that is claimed; and nobody is about to touch a private object of another thread, or one of
//! another team. Claims that the rules leave out are not looked at. What a thread holds in locals that it
//! never reads again does not count as holding an address.

use super::memory::{address_of, is_in_memory, value_at};
use super::try_watch;
use super::walk::{Moment, Outside, Watch};
use crate::ProofError;
use crate::summaries::{Ignored, Removable, live_locations};
use ir::ids::Id;
use ir::semantics::{Activation, State, ThreadIndex};
use ir::{EdgeId, IdVec, IntType, Lhs, LocalId, LocationId, Op, Program, Storage, TemplateId, Value};
use rustc_hash::FxHashMap;
use verdict::{
    Budget, Cell, Handle, Index, LockBase, LockFact, Numbered, Row, SummariesProof, Team, ThreadFacts,
};

/// Longer lists of threads are not searched.
const MOST_NUMBERS: Value = 256;

/// Tries the claims.
pub fn try_claims(
    program: &Program,
    proof: &SummariesProof,
    ignored: Ignored<'_>,
    budget: &Budget,
) -> Result<(), ProofError> {
    let (roots, places, live) = (Vec::new(), Vec::new(), FxHashMap::default());
    let (arguments, starters) = (Vec::new(), Vec::new());
    let mut claims = Claims { program, proof, ignored, roots, arguments, starters, places, live };
    try_watch(program, &mut claims, budget)
}

struct Claims<'a> {
    program: &'a Program,
    proof: &'a SummariesProof,
    ignored: Ignored<'a>,
    /// The context that each thread started in, where that is known.
    roots: Vec<Option<usize>>,
    /// The argument that each thread was started with, where that is known.
    arguments: Vec<Option<u64>>,
    /// The thread that started each thread.
    starters: Vec<Option<ThreadIndex>>,
    /// Where each thread was in the last state.
    places: Vec<Option<(usize, LocationId)>>,
    live: FxHashMap<(TemplateId, LocalId), IdVec<LocationId, bool>>,
}

impl Claims<'_> {
    fn callee(&self, context: usize, edge: EdgeId, callee: TemplateId) -> Option<usize> {
        let calls = &self.proof.contexts.get(context)?.calls;
        let at = calls.binary_search_by_key(&(edge, callee), |(edge, callee, _)| (*edge, *callee)).ok()?;
        Some(calls[at].2 as usize)
    }

    /// The only context among some.
    fn only(mut contexts: Vec<usize>) -> Option<usize> {
        contexts.sort_unstable();
        contexts.dedup();
        match contexts.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Takes note of threads that were started.
    fn see_started(&mut self, moment: &Moment<'_, '_>) {
        if moment.step == 0 {
            self.roots.clear();
            self.arguments.clear();
            self.starters.clear();
            self.places.clear();
        }
        for thread in &moment.state.threads[self.roots.len()..] {
            let has_argument = self.program.templates[thread.template].parameters > 0;
            let is_started = moment.step > 0 && moment.mover.is_some() && has_argument;
            let entered = thread.activations.first().filter(|_| is_started);
            self.arguments.push(entered.and_then(|activation| activation.locals.first().copied()));
            self.starters.push(moment.mover.filter(|_| moment.step > 0));
            let mut contexts = Vec::new();
            match moment.mover.filter(|_| moment.step > 0) {
                None => {
                    let start = self.program.start.iter().enumerate();
                    let of_template = start.filter(|(_, (template, _))| *template == thread.template);
                    contexts.extend(of_template.map(|(number, _)| number));
                }
                Some(mover) => {
                    if let Some((context, location)) = self.places.get(mover).copied().flatten() {
                        let code = &self.program.templates[self.proof.contexts[context].template];
                        let starts = code.edges.enumerate().filter(|(_, edge)| {
                            let is_start = edge.ops.iter().any(|op| matches!(op, Op::Spawn(..)));
                            edge.source == location && is_start
                        });
                        contexts.extend(
                            starts.filter_map(|(edge, _)| self.callee(context, edge, thread.template)),
                        );
                    }
                }
            }
            self.roots.push(Self::only(contexts));
        }
    }

    /// The context and location of a thread that runs; `Err` when a call leads to no context.
    fn place(&self, state: &State, thread: ThreadIndex) -> Result<Option<(usize, LocationId)>, ()> {
        let Some(mut context) = self.roots[thread] else { return Ok(None) };
        let activations = &state.threads[thread].activations;
        let Some(top) = activations.last() else { return Ok(None) };
        for activation in activations.iter().skip(1) {
            let Some(edge) = activation.called_by else { return Ok(None) };
            context = self.callee(context, edge, activation.template).ok_or(())?;
        }
        Ok(Some((context, top.location)))
    }

    fn outside(&mut self, moment: &Moment<'_, '_>) -> Option<String> {
        self.see_started(moment);
        let state = moment.state;
        for template in &self.proof.once {
            let started = state.threads.iter().filter(|thread| thread.template == *template).count();
            let called = state.threads.iter().flat_map(|thread| thread.activations.iter().skip(1));
            if started + called.filter(|activation| activation.template == *template).count() > 1 {
                return Some(format!("there is one activation of {template}"));
            }
        }
        let mut places = Vec::new();
        for thread in 0..state.threads.len() {
            let Ok(place) = self.place(state, thread) else {
                return Some(format!("thread {thread}: a call leads to a context"));
            };
            places.push(place);
        }
        for (thread, place) in places.iter().enumerate() {
            let Some((context, location)) = *place else { continue };
            let at = format!("thread {thread} in context {context} at {location}");
            let facts = self.proof.contexts[context].facts.get(location.index()).and_then(Option::as_ref);
            let Some(facts) = facts else { return Some(format!("{at}: no thread is there")) };
            let seat = Seat { moment, thread, cells: &self.proof.cells };
            if let Some(claim) = self.broken(&seat, facts, (context, location)) {
                return Some(format!("{at}: {claim}"));
            }
        }
        self.places = places;
        if let Some(kind) = self.not_alone(state) {
            return Some(format!("at most one thread of {kind} is alive"));
        }
        if let Some(kind) = self.too_near(state) {
            return Some(format!("threads of {kind} have arguments apart"));
        }
        (0..state.threads.len()).find_map(|thread| self.stranger(moment, thread))
    }

    /// A claim about one thread that does not hold.
    fn broken(
        &mut self,
        seat: &Seat<'_, '_, '_>,
        facts: &ThreadFacts,
        (context, location): (usize, LocationId),
    ) -> Option<String> {
        let is_false = |holds: Option<bool>| holds == Some(false);
        let pointer = self.program.data_model.pointer();
        let differs = |(local, other, constant): &(LocalId, LocalId, u64)| {
            let (Some(one), Some(other)) = (seat.local(*local), seat.local(*other)) else { return false };
            pointer.wrap(Value::from(one)) != pointer.wrap(Value::from(other) + Value::from(*constant))
        };
        if let Some((local, other, _)) = facts.equal.iter().find(|fact| differs(fact)) {
            return Some(format!("{local} is {other} and a constant"));
        }
        for (local, value) in &facts.numbers {
            let ty = self.program.templates[self.proof.contexts[context].template].locals[*local].ty;
            if seat.local(*local).is_some_and(|bits| ty.wrap(Value::from(bits)) != Value::from(*value)) {
                return Some(format!("{local} is {value}"));
            }
        }
        for (local, kind) in &facts.ids {
            if seat.local(*local).is_some_and(|id| !seat.is_thread(Value::from(id), *kind)) {
                return Some(format!("{local} is the id of a thread"));
            }
        }
        for handle in facts.set.iter().filter_map(|handle| self.proof.handles.get(*handle as usize)) {
            let Moment { machine, state, .. } = *seat.moment;
            let value = address_of(machine, state, Some(seat.thread), handle.object)
                .and_then(|base| value_at(machine, state, base + handle.offset, pointer));
            if value.is_some_and(|id| !seat.is_thread(id, handle.kind)) {
                return Some("a handle is set".to_owned());
            }
        }
        for (number, lock) in facts.locks.iter().enumerate() {
            if !(self.ignored)(context, location, Removable::Lock(number)) && is_false(seat.holds(lock)) {
                return Some(format!("the lock {:?} + {} is held", lock.base, lock.offset));
            }
        }
        if let Some(kind) = facts.absent.iter().find(|kind| seat.is_alive(**kind)) {
            return Some(format!("no other thread of {kind} is alive"));
        }
        for (number, word) in facts.words.iter().enumerate() {
            let Moment { machine, state, .. } = *seat.moment;
            let row = Row { base: word.base, offset: word.offset, stride: 0 };
            let held = seat.row(row, 0).and_then(|address| value_at(machine, state, address, pointer));
            if let (Some(held), Some(value)) = (held, seat.local(word.local))
                && pointer.wrap(held) != pointer.wrap(Value::from(value) + Value::from(word.plus))
                && !(self.ignored)(context, location, Removable::Word(number))
            {
                return Some(format!("the word at {:?} + {} is known", word.base, word.offset));
            }
        }
        if let Some(claim) = self.broken_list(seat, facts) {
            return Some(claim);
        }
        // An old copy of an address that is given out again names nothing, but looks the same.
        let fresh = if self.program.reuses_addresses { &[][..] } else { &facts.fresh };
        fresh
            .iter()
            .find(|local| self.is_known(seat, facts, **local))
            .map(|local| format!("{local} is fresh"))
    }

    /// A kind of which two threads are alive, or two of one team, where one at a time is claimed.
    fn not_alone(&self, state: &State) -> Option<TemplateId> {
        let of_all = self.proof.alone.iter().map(|kind| (*kind, false));
        let of_teams = self.proof.teams.iter().filter(|team| team.alone).map(|team| (team.helper, true));
        of_all.chain(of_teams).find_map(|(kind, is_team)| {
            let alive = state.threads.iter().enumerate();
            let alive = alive.filter(|(_, thread)| thread.template == kind && !thread.activations.is_empty());
            let alive: Vec<ThreadIndex> = alive.map(|(number, _)| number).collect();
            let mut pairs = alive
                .iter()
                .enumerate()
                .flat_map(|(at, one)| alive[..at].iter().map(move |other| (*one, *other)));
            let is_same = |(one, other): (ThreadIndex, ThreadIndex)| {
                !is_team || self.team(state, one, kind) == self.team(state, other, kind)
            };
            pairs.any(is_same).then_some(kind)
        })
    }

    /// A kind of which two threads that are alive, or two of one team, have arguments that are nearer than is
    /// claimed.
    fn too_near(&self, state: &State) -> Option<TemplateId> {
        let pointer = self.program.data_model.pointer().unsigned();
        let of_all = self.proof.distinct.iter().map(|(kind, bytes)| (*kind, false, *bytes));
        let of_teams = self.proof.teams.iter().map(|team| (team.helper, true, team.apart));
        for (kind, is_team, bytes) in of_all.chain(of_teams.filter(|(_, _, bytes)| *bytes > 0)) {
            let alive = state.threads.iter().enumerate();
            let alive = alive.filter(|(_, thread)| thread.template == kind && !thread.activations.is_empty());
            let known = alive.filter_map(|(number, _)| Some((number, self.arguments[number]?)));
            let known: Vec<(ThreadIndex, u64)> = known.collect();
            for (index, (one, first)) in known.iter().enumerate() {
                for (other, second) in &known[..index] {
                    let apart = pointer.wrap(Value::from(first.wrapping_sub(*second)));
                    let back = pointer.wrap(Value::from(second.wrapping_sub(*first)));
                    let is_same = !is_team || self.team(state, *one, kind) == self.team(state, *other, kind);
                    if is_same && apart.min(back) < Value::from(bytes) {
                        return Some(kind);
                    }
                }
            }
        }
        None
    }

    /// A claim about the thread's argument, about integers, or about threads that were started, which does
    /// not hold.
    fn broken_list(&self, seat: &Seat<'_, '_, '_>, facts: &ThreadFacts) -> Option<String> {
        let pointer = self.program.data_model.pointer().unsigned();
        for (local, offset) in &facts.argument {
            if let (Some(value), Some(argument)) = (seat.local(*local), self.arguments[seat.thread])
                && pointer.wrap(Value::from(value))
                    != pointer.wrap(Value::from(argument) + Value::from(*offset))
            {
                return Some(format!("{local} is the argument and a constant"));
            }
        }
        for (one, two) in &facts.order {
            if let (Some(one), Some(two)) = (seat.index(*one), seat.index(*two))
                && one > two
            {
                return Some("an inequality".to_owned());
            }
        }
        for (local, row, index) in &facts.placed {
            let place = seat.index(*index).and_then(|number| seat.row(*row, number));
            if let (Some(value), Some(place)) = (seat.local(*local), place)
                && pointer.wrap(Value::from(value)) != pointer.wrap(Value::from(place))
            {
                return Some(format!("{local} is in a row"));
            }
        }
        for started in &facts.started {
            for (number, thread) in seat.moment.state.threads.iter().enumerate() {
                let is_other = number != seat.thread && !thread.activations.is_empty();
                let is_own = self.starters[number] == Some(seat.thread);
                if is_other
                    && (is_own || !started.own)
                    && thread.template == started.kind
                    && !started.members.iter().any(|members| self.is_member(seat, members, number))
                {
                    return Some(format!("thread {number} is listed"));
                }
            }
        }
        None
    }

    /// Whether a thread may be one of some that are listed.
    fn is_member(&self, seat: &Seat<'_, '_, '_>, members: &Numbered, thread: ThreadIndex) -> bool {
        let from: Option<Vec<Value>> = members.from.iter().map(|index| seat.index(*index)).collect();
        let below: Option<Vec<Value>> = members.below.iter().map(|index| seat.index(*index)).collect();
        let (Some(from), Some(below)) = (from, below) else { return true };
        let (Some(first), Some(end)) = (from.into_iter().max(), below.into_iter().min()) else { return true };
        if end - first > MOST_NUMBERS {
            return true;
        }
        let Moment { machine, state, .. } = *seat.moment;
        let pointer = self.program.data_model.pointer();
        (first..end).any(|number| {
            let has_id = match members.handle {
                None => true,
                Some(Handle::Local(local)) => seat.local(local).is_none_or(|id| id == thread as u64 + 1),
                Some(Handle::Memory(row)) => seat
                    .row(row, number)
                    .and_then(|address| value_at(machine, state, address, pointer))
                    .is_none_or(|id| id == thread as Value + 1),
            };
            let has_argument = members.argument.is_none_or(|row| {
                let claimed = seat.row(row, number);
                claimed.zip(self.arguments[thread]).is_none_or(|(claimed, argument)| claimed == argument)
            });
            has_id && has_argument
        })
    }

    /// Whether someone else knows an address in the object that a local points into.
    fn is_known(&mut self, seat: &Seat<'_, '_, '_>, facts: &ThreadFacts, local: LocalId) -> bool {
        let state = seat.moment.state;
        let Some(address) = seat.local(local).filter(|address| *address != 0) else { return false };
        let next = state.heap.partition_point(|block| block.address <= address);
        let Some(block) = next.checked_sub(1).and_then(|at| state.heap.get(at)) else { return false };
        let range = block.address..block.address + (block.bytes.len() as u64).max(1);
        let width = self.program.data_model.pointer().bytes() as usize;
        match is_in_memory(state, width, &range).filter(|_| range.contains(&address)) {
            None => return false,
            Some(true) => return true,
            Some(false) => {}
        }
        for (number, thread) in state.threads.iter().enumerate() {
            for (depth, activation) in thread.activations.iter().enumerate() {
                let is_top = depth + 1 == thread.activations.len();
                // Callers of the thread itself may have a copy.
                if number == seat.thread && !is_top {
                    continue;
                }
                // The result of a call that runs is stored when it returns, whatever stands there now.
                let result = thread.activations.get(depth + 1).and_then(|callee| {
                    let call = &self.program.templates[activation.template].edges[callee.called_by?];
                    match call.ops.last() {
                        Some(Op::Call(_, _, Some(Lhs::Local(local)))) => Some(*local),
                        _ => None,
                    }
                });
                for (index, value) in activation.locals.iter().enumerate() {
                    let Ok(index) = u32::try_from(index) else { continue };
                    if result == Some(LocalId(index)) {
                        continue;
                    }
                    let is_listed =
                        number == seat.thread && facts.fresh.binary_search(&LocalId(index)).is_ok();
                    if range.contains(value) && !is_listed && self.reads(activation, LocalId(index)) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Whether an activation may read a local again.
    fn reads(&mut self, activation: &Activation, local: LocalId) -> bool {
        let code = &self.program.templates[activation.template];
        let live =
            self.live.entry((activation.template, local)).or_insert_with(|| live_locations(code, local));
        live[activation.location]
    }

    /// The thread whose team a thread is in, if there are helpers of a kind.
    fn team(&self, state: &State, thread: ThreadIndex, helper: TemplateId) -> ThreadIndex {
        let is_helper = state.threads[thread].template == helper;
        self.starters[thread].filter(|_| is_helper).unwrap_or(thread)
    }

    /// Whether a thread is about to touch a private object of another one, or one of another team.
    fn stranger(&self, moment: &Moment<'_, '_>, thread: ThreadIndex) -> Option<String> {
        let Moment { machine, state, .. } = *moment;
        if self.proof.private.is_empty() && self.proof.teams.is_empty() {
            return None;
        }
        for edge in machine.edges(state, thread) {
            for access in machine.racing_accesses(state, thread, *edge) {
                let Some((object, _)) = machine.describe(state, access.address) else { continue };
                let owner = match self.program.objects[object].storage {
                    Storage::Static => continue,
                    Storage::Frame(_) | Storage::ThreadLocal => machine.addresses.stack_at(access.address),
                    // An address that is given out again may be of another thread's part.
                    Storage::Site if self.program.reuses_addresses => continue,
                    Storage::Site => machine.addresses.heap_at(access.address),
                };
                let is_private = self.proof.private.binary_search(&object).is_ok();
                if is_private && owner.is_some_and(|(owner, _)| owner != thread) {
                    return Some(format!("{object} is private"));
                }
                let Some((owner, _)) = owner else { continue };
                let is_of_another = |team: &&Team| {
                    let of = |thread| self.team(state, thread, team.helper);
                    team.objects.binary_search(&object).is_ok() && of(owner) != of(thread)
                };
                if let Some(team) = self.proof.teams.iter().find(is_of_another) {
                    return Some(format!("{object} is shared with {} only", team.helper));
                }
            }
        }
        None
    }
}

/// A thread in a state.
struct Seat<'a, 'm, 'p> {
    moment: &'a Moment<'m, 'p>,
    thread: ThreadIndex,
    cells: &'a [Cell],
}

impl Seat<'_, '_, '_> {
    fn local(&self, local: LocalId) -> Option<u64> {
        let own = self.moment.state.threads[self.thread].activations.last()?.locals.get(local.index());
        own.copied().or_else(|| {
            let Moment { machine, state, .. } = *self.moment;
            let cell = self.cell(local)?;
            let address = address_of(machine, state, Some(self.thread), cell.object)? + cell.offset;
            let value = value_at(machine, state, address, cell.ty)?;
            u64::try_from(cell.ty.unsigned().wrap(value)).ok()
        })
    }

    /// The cell that a local stands for.
    fn cell(&self, local: LocalId) -> Option<&Cell> {
        let activation = self.moment.state.threads[self.thread].activations.last()?;
        let locals = self.moment.machine.program.templates[activation.template].locals.len();
        self.cells.get(local.index().checked_sub(locals)?)
    }

    fn is_thread(&self, id: Value, kind: TemplateId) -> bool {
        let index = usize::try_from(id - 1).ok();
        let thread = index.and_then(|index| self.moment.state.threads.get(index));
        thread.is_some_and(|thread| thread.template == kind)
    }

    /// The value of an integer.
    fn index(&self, index: Index) -> Option<Value> {
        let Some(local) = index.local else { return Some(index.plus) };
        let activation = self.moment.state.threads[self.thread].activations.last()?;
        let own = self.moment.machine.program.templates[activation.template].locals.get(local);
        let ty = own.map(|local| local.ty).or_else(|| self.cell(local).map(|cell| cell.ty))?;
        Some(ty.wrap(Value::from(self.local(local)?)) + index.plus)
    }

    /// The value of a row for a number.
    fn row(&self, row: Row, number: Value) -> Option<u64> {
        let Moment { machine, state, .. } = *self.moment;
        let base = match row.base {
            LockBase::Object(object) => address_of(machine, state, Some(self.thread), object)?,
            LockBase::Local(local) => self.local(local)?,
        };
        let pointer = machine.program.data_model.pointer().unsigned();
        let value = Value::from(base) + Value::from(row.offset) + Value::from(row.stride) * number;
        u64::try_from(pointer.wrap(value)).ok()
    }

    fn is_alive(&self, kind: TemplateId) -> bool {
        let mut threads = self.moment.state.threads.iter().enumerate();
        threads.any(|(number, thread)| {
            number != self.thread && thread.template == kind && !thread.activations.is_empty()
        })
    }

    fn holds(&self, lock: &LockFact) -> Option<bool> {
        let Moment { machine, state, .. } = *self.moment;
        let base = match lock.base {
            LockBase::Object(object) => address_of(machine, state, Some(self.thread), object)?,
            LockBase::Local(local) => self.local(local)?,
        };
        let pointer = machine.program.data_model.pointer().unsigned();
        let address = u64::try_from(pointer.wrap(Value::from(base) + Value::from(lock.offset))).ok()?;
        let word = |offset: u64| machine.peek_memory(state, address.checked_add(offset)?, IntType::U32);
        let is_owner = word(0)? == self.thread as Value + 1;
        Some(is_owner || (lock.shared && word(4).unwrap_or(0) > 0))
    }
}

impl Watch for Claims<'_> {
    fn look(&mut self, moment: &Moment<'_, '_>) -> Option<Outside> {
        self.outside(moment).map(|claim| Outside { claim, violation: None })
    }

    fn price(&self, threads: usize) -> u64 {
        4 * threads as u64
    }
}
