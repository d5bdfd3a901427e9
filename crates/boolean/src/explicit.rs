//! Steps on single thread states.
//!
//! Shared states and the local bits of a thread are packed into 128 bits each; a view with more of them has
//! no explicit form.

use crate::bdd::{Bdd, FALSE, TRUE};
use crate::view::{Bit, Input, PointId, StepId, View};
use rustc_hash::FxHashMap;

/// A shared state: the values of the relevant shared bits, in order.
pub type Shared = u128;

/// A thread without the shared state: its point, and the values of the local bits that count there, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Local {
    /// Where it is.
    pub point: PointId,
    /// Its bits.
    pub bits: u128,
}

/// What a thread can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The step.
    pub step: StepId,
    /// The values that it asks for, from the first bit of the first one on.
    pub inputs: u64,
    /// The shared state after it.
    pub shared: Shared,
    /// The thread after it, unless it has ended.
    pub next: Option<Local>,
    /// Threads that it starts.
    pub started: Vec<Local>,
    /// The arguments of its broadcasts, from the first bit on, one number for each procedure that receives a
    /// broadcast.
    pub broadcast: Vec<u128>,
}

/// What a thread that receives a broadcast can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The thread after it.
    pub next: Local,
    /// The values that it asks for.
    pub inputs: u64,
}

/// The most bits of inputs of one step.
const MOST_INPUTS: usize = 62;
/// The most values that the inputs of one step may have in one state.
const MOST_CHOICES: u128 = 1 << 14;

/// A view of single states.
pub struct Explicit<'v, 'p> {
    /// The view.
    pub view: &'v View<'p>,
    /// The relevant shared bits, in order.
    pub shared: Vec<Bit>,
    /// Where each state bit stands among them.
    position: Vec<u8>,
}

/// The bits of inputs, in order.
fn bits_of(inputs: &[Input]) -> Vec<Bit> {
    inputs.iter().flat_map(|input| input.bits.iter().copied()).collect()
}

/// How many values of inputs satisfy a guard, in the state with most. Inputs come after all else in the order
/// of variables.
fn most_choices(view: &View<'_>, guard: Bdd, inputs: &[Bit]) -> u128 {
    // Of a function below all that is no input: the position of its first input, and how many values of those
    // from there on satisfy it.
    fn count(
        view: &View<'_>,
        function: Bdd,
        inputs: &[Bit],
        known: &mut FxHashMap<Bdd, (usize, u128)>,
    ) -> (usize, u128) {
        if function == FALSE || function == TRUE {
            return (inputs.len(), u128::from(function == TRUE));
        }
        if let Some(found) = known.get(&function) {
            return *found;
        }
        let node = view.bdds.node(function);
        let [low, high] = [node.low, node.high].map(|part| count(view, part, inputs, known));
        let from = |at: usize, (first, values): (usize, u128)| values << (first - at);
        let found = match inputs.binary_search(&Bit(node.level / 2)) {
            Ok(at) => (at, from(at + 1, low).saturating_add(from(at + 1, high))),
            Err(_) => (0, from(0, low).max(from(0, high))),
        };
        known.insert(function, found);
        found
    }
    let (first, values) = count(view, guard, inputs, &mut FxHashMap::default());
    values << first
}

/// The values of inputs that satisfy a guard, from the least on, where all else has the given values.
fn choices(view: &View<'_>, guard: Bdd, inputs: &[Bit], value: &dyn Fn(u32) -> bool) -> Vec<u64> {
    let mut found = Vec::new();
    let mut open = vec![(guard, 0, 0u64)];
    while let Some((mut function, at, chosen)) = open.pop() {
        let mut node = view.bdds.node(function);
        while function != FALSE && function != TRUE && inputs.binary_search(&Bit(node.level / 2)).is_err() {
            function = if value(node.level) { node.high } else { node.low };
            node = view.bdds.node(function);
        }
        if function == FALSE {
            continue;
        }
        let Some(input) = inputs.get(at) else {
            found.push(chosen);
            continue;
        };
        let tested = function != TRUE && node.level == input.now();
        let (low, high) = if tested { (node.low, node.high) } else { (function, function) };
        open.push((high, at + 1, chosen | 1 << at));
        open.push((low, at + 1, chosen));
    }
    found.sort_unstable();
    found
}

fn bit_of(packed: u128, index: usize) -> bool {
    packed >> index & 1 == 1
}

impl<'v, 'p> Explicit<'v, 'p> {
    /// The explicit form of a view, if it is small enough.
    pub fn new(view: &'v View<'p>) -> Option<Self> {
        let shared: Vec<Bit> = (0..view.shared.len() as u32)
            .map(Bit)
            .filter(|bit| view.is_shared(*bit) && view.relevant[bit.0 as usize])
            .collect();
        let fits = shared.len() <= 128
            && view.live.iter().all(|bits| bits.len() <= 128)
            && view.steps.iter().all(|step| {
                let few = |guard: Bdd, inputs: &[Input]| {
                    let inputs = bits_of(inputs);
                    inputs.is_empty()
                        || (inputs.len() <= MOST_INPUTS && most_choices(view, guard, &inputs) <= MOST_CHOICES)
                };
                let mut reactions = step.broadcast.iter().flat_map(|broadcast| broadcast.reactions.values());
                few(step.guard, &step.inputs)
                    && reactions.all(|reaction| few(reaction.guard, &reaction.inputs))
            });
        let mut position = vec![u8::MAX; view.shared.len()];
        for (index, bit) in shared.iter().enumerate() {
            position[bit.0 as usize] = index.min(254) as u8;
        }
        fits.then_some(Self { view, shared, position })
    }

    /// The value of a shared bit.
    pub fn shared_value(&self, shared: Shared, bit: Bit) -> bool {
        bit_of(shared, usize::from(self.position[bit.0 as usize]))
    }
    fn local_value(&self, local: &Local, bit: Bit) -> bool {
        let live = &self.view.live[local.point.0 as usize];
        live.binary_search(&bit).is_ok_and(|index| bit_of(local.bits, index))
    }
    /// Whether a thread holds a lock.
    pub fn holds(&self, local: &Local, bit: Bit) -> bool {
        self.local_value(local, bit)
    }

    /// Whether a set contains a thread state.
    pub fn contains(&self, set: Bdd, shared: Shared, local: &Local) -> bool {
        self.view.bdds.value(set, &|level| {
            let bit = Bit(level / 2);
            if self.view.is_shared(bit) {
                self.shared_value(shared, bit)
            } else {
                self.local_value(local, bit)
            }
        })
    }

    /// Packs the local bits of a point.
    pub fn pack(&self, point: PointId, value: &dyn Fn(Bit) -> bool) -> Local {
        let live = &self.view.live[point.0 as usize];
        let bits = live.iter().enumerate().map(|(index, bit)| u128::from(value(*bit)) << index);
        Local { point, bits: bits.fold(0, |a, b| a | b) }
    }

    /// All moves of a thread; empty for a waiting one. The order is fixed.
    pub fn moves(&self, shared: Shared, local: &Local) -> Vec<Move> {
        let mut found = Vec::new();
        for id in self.view.steps_at(local.point) {
            self.moves_by(*id, shared, local, &mut found);
        }
        found
    }

    fn moves_by(&self, id: StepId, shared: Shared, local: &Local, found: &mut Vec<Move>) {
        let view = self.view;
        let step = view.step(id);
        let inputs = bits_of(&step.inputs);
        let state = |level: u32| {
            let bit = Bit(level / 2);
            if view.is_shared(bit) { self.shared_value(shared, bit) } else { self.local_value(local, bit) }
        };
        for chosen in choices(view, step.guard, &inputs, &state) {
            let value = |level: u32| match inputs.binary_search(&Bit(level / 2)) {
                Ok(index) => chosen >> index & 1 == 1,
                Err(_) => state(level),
            };
            let mut next_shared = shared;
            for (bit, function) in step.updates.iter().filter(|(bit, _)| view.is_shared(*bit)) {
                let mask = 1 << self.position[bit.0 as usize];
                if view.bdds.value(*function, &value) { next_shared |= mask } else { next_shared &= !mask }
            }
            let next = step.target.map(|target| {
                self.pack(target, &|bit| match step.updates.binary_search_by_key(&bit, |(set, _)| *set) {
                    Ok(index) => view.bdds.value(step.updates[index].1, &value),
                    Err(_) => self.local_value(local, bit),
                })
            });
            let started = step.started.iter().map(|started| {
                self.pack(started.entry, &|bit| {
                    let found = started.bits.iter().find(|(set, _)| *set == bit);
                    found.is_some_and(|(_, function)| view.bdds.value(*function, &value))
                })
            });
            let broadcast = step.broadcast.iter().map(|broadcast| {
                let bits = broadcast.arguments.iter().enumerate();
                bits.fold(0, |all, (index, (_, function))| {
                    all | u128::from(view.bdds.value(*function, &value)) << index
                })
            });
            let (started, broadcast) = (started.collect(), broadcast.collect());
            found.push(Move { step: id, inputs: chosen, shared: next_shared, next, started, broadcast });
        }
    }

    /// The reactions of another thread in the same step: it changes only if it receives a broadcast. If there
    /// is none, the step cannot be taken.
    pub fn answers(
        &self,
        step: StepId,
        broadcast: &[u128],
        shared: (Shared, Shared),
        other: &Local,
    ) -> Vec<Answer> {
        let view = self.view;
        let activation = view.point(other.point).activation;
        let parts = view.step(step).broadcast.iter().zip(broadcast);
        let Some((reaction, arguments, handed)) = parts
            .filter_map(|(part, handed)| Some((part.reactions.get(&activation)?, &part.arguments, *handed)))
            .next()
        else {
            return vec![Answer { next: *other, inputs: 0 }];
        };
        let inputs = bits_of(&reaction.inputs);
        let state = |level: u32| {
            let bit = Bit(level / 2);
            if view.is_shared(bit) {
                self.shared_value(if level % 2 == 1 { shared.1 } else { shared.0 }, bit)
            } else if view.is_state(bit) {
                self.local_value(other, bit)
            } else {
                let at = arguments.iter().position(|(argument, _)| *argument == bit);
                at.is_some_and(|at| bit_of(handed, at))
            }
        };
        let mut found: Vec<Answer> = Vec::new();
        for chosen in choices(view, reaction.guard, &inputs, &state) {
            let value = |level: u32| match inputs.binary_search(&Bit(level / 2)) {
                Ok(index) => chosen >> index & 1 == 1,
                Err(_) => state(level),
            };
            let next = self.pack(other.point, &|bit| match reaction
                .updates
                .binary_search_by_key(&bit, |(set, _)| *set)
            {
                Ok(index) => view.bdds.value(reaction.updates[index].1, &value),
                Err(_) => self.local_value(other, bit),
            });
            if !found.iter().any(|known| known.next == next) {
                found.push(Answer { next, inputs: chosen });
            }
        }
        found
    }

    /// The shared states at the start; `None` when there are too many.
    pub fn initial_shared(&self) -> Option<Vec<Shared>> {
        let mut found: Vec<Shared> = vec![0];
        for (index, bit) in self.shared.iter().enumerate() {
            match self.view.initial.binary_search_by_key(bit, |(known, _)| *known) {
                Ok(at) => {
                    let value = u128::from(self.view.initial[at].1) << index;
                    found.iter_mut().for_each(|shared| *shared |= value);
                }
                Err(_) => {
                    let set: Vec<Shared> = found.iter().map(|shared| shared | 1 << index).collect();
                    found.extend(set);
                }
            }
            if found.len() > 1 << 16 {
                return None;
            }
        }
        Some(found)
    }
}
