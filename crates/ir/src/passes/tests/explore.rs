//! Naive breadth-first exploration of small programs, to compare them before and after a pass.

use crate::EdgeId;
use crate::program::{Count, ErrorKind, Program, Storage};
use crate::semantics::{Access, Choice, Choices, Fault, Machine, State, Stuck, Taken, ThreadIndex};
use crate::types::{IntType, Value};
use rustc_hash::FxHashSet;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// The observable behaviour of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Observed {
    /// The kinds of errors that are reachable.
    pub errors: BTreeSet<ErrorKind>,
    /// The bytes of named objects that there is a race on.
    pub races: BTreeSet<(String, u64)>,
    /// The values of the global integers in states in which all threads have ended.
    pub finals: BTreeSet<Vec<Value>>,
    /// Whether some threads wait for each other's locks in some state.
    pub deadlock: bool,
    /// The faults that ended an execution.
    pub faults: Vec<Fault>,
}

/// The names of the objects whose last values are compared.
pub const OBSERVED: [&str; 3] = ["g0", "g1", "g2"];

/// Explores a program; `None` when it has more states than the limit.
pub fn observe(program: &Program, limit: usize) -> Option<Observed> {
    observe_with(program, limit, &mut |_, _| {})
}

/// Explores a program and shows each state.
pub fn observe_with(
    program: &Program,
    limit: usize,
    visit: &mut dyn FnMut(&Machine<'_>, &State),
) -> Option<Observed> {
    explore(program, limit, &[0, 1, 2], false, visit)
}

/// Explores a program in which open numbers have these values. `addresses`: those as wide as a pointer may be
/// the address of any global variable or procedure, too.
pub fn observe_choosing(
    program: &Program,
    limit: usize,
    values: &[Value],
    addresses: bool,
) -> Option<Observed> {
    explore(program, limit, values, addresses, &mut |_, _| {})
}

fn explore(
    program: &Program,
    limit: usize,
    values: &[Value],
    addresses: bool,
    visit: &mut dyn FnMut(&Machine<'_>, &State),
) -> Option<Observed> {
    let machine = Machine::new(program).expect("small programs fit");
    let copies: Vec<u32> = program
        .start
        .iter()
        .map(|(_, count)| match count {
            Count::Exactly(count) => *count,
            Count::Any => 2,
        })
        .collect();
    let initial = machine.initial(&copies).expect("few threads");
    let mut values = Values { numbers: values.to_vec(), addresses: Vec::new() };
    if addresses {
        for (id, object) in program.objects.enumerate() {
            if object.storage == Storage::Static {
                let first = machine.addresses.offset[id];
                let all = (0..object.size.min(16)).step_by(4).map(|offset| Value::from(first + offset));
                values.addresses.extend(all);
            }
        }
        let procedures = program.templates.ids().map(|id| Value::from(machine.addresses.procedure(id)));
        values.addresses.extend(procedures);
    }
    let mut observed = Observed::default();
    let mut seen = FxHashSet::default();
    let mut open = VecDeque::new();
    seen.insert(initial.clone());
    open.push_back(initial);
    while let Some(state) = open.pop_front() {
        if seen.len() > limit {
            return None;
        }
        visit(&machine, &state);
        look(&machine, &state, &values, &mut observed);
        for thread in machine.schedulable(&state) {
            for &edge in machine.edges(&state, thread) {
                each_outcome(&machine, &state, thread, edge, &values, &mut |taken| match taken.result {
                    Ok(next) => {
                        let next = forget_ended(next);
                        if seen.insert(next.clone()) {
                            open.push_back(next);
                        }
                    }
                    Err(Stuck::Fault(fault)) => {
                        if !observed.faults.contains(&fault) {
                            observed.faults.push(fault);
                        }
                    }
                    Err(Stuck::Blocked) => {}
                    Err(Stuck::Limit(limit)) => panic!("{limit:?} in a small program"),
                });
            }
        }
    }
    Some(observed)
}

/// Makes states equal that differ only in memory that an ended thread had allocated.
fn forget_ended(mut state: State) -> State {
    for thread in &mut state.threads {
        if thread.activations.is_empty() && thread.allocated != 0 {
            Arc::make_mut(thread).allocated = 0;
        }
    }
    state
}

fn look(machine: &Machine<'_>, state: &State, values: &Values, observed: &mut Observed) {
    for index in 0..state.threads.len() {
        if let Some((template, location)) = state.location(index)
            && let crate::LocationKind::Error(kind) =
                machine.program.templates[template].locations[location].kind
        {
            observed.errors.insert(kind);
        }
    }
    observed.deadlock |= machine.deadlock(state).is_some();
    races(machine, state, values, observed);
    if !state.halted && state.threads.iter().all(|thread| thread.activations.is_empty()) {
        let value = |name: &&str| {
            let (id, _) = machine.program.objects.enumerate().find(|(_, object)| object.name == **name)?;
            machine.peek_memory(state, machine.addresses.offset[id], IntType::I32)
        };
        observed.finals.insert(OBSERVED.iter().map(|name| value(name).unwrap_or(0)).collect());
    }
}

fn races(machine: &Machine<'_>, state: &State, values: &Values, observed: &mut Observed) {
    if state.halted {
        return;
    }
    // While a thread is in an atomic region, only its own accesses collide with others: two others that
    // collide did so before.
    let inside = (0..state.threads.len()).find(|thread| machine.is_atomic(state, *thread));
    let counts = |a: ThreadIndex, b: ThreadIndex| inside.is_none_or(|inside| inside == a || inside == b);
    let mut seen: Vec<(ThreadIndex, Access)> = Vec::new();
    for thread in 0..state.threads.len() {
        for &edge in machine.edges(state, thread) {
            let accesses = machine.step(state, thread, edge, &mut Script::new(Vec::new(), values)).accesses;
            for access in accesses {
                for (other, earlier) in &seen {
                    if *other != thread && counts(*other, thread) && earlier.races_with(&access) {
                        note_race(machine, state, &access, observed);
                    }
                }
                seen.push((thread, access));
            }
        }
    }
}

fn note_race(machine: &Machine<'_>, state: &State, access: &Access, observed: &mut Observed) {
    // What is accessed through a bad pointer is nothing; which load faults first differs.
    if let Some((object, offset)) = machine.describe(state, access.address) {
        observed.races.insert((machine.program.objects[object].name.clone(), offset));
    }
}

/// The values that open ones may have.
struct Values {
    numbers: Vec<Value>,
    addresses: Vec<Value>,
}

/// Chooses by a script; after its end, the first value.
struct Script<'v> {
    picks: Vec<usize>,
    used: usize,
    sizes: Vec<usize>,
    values: &'v Values,
}

impl<'v> Script<'v> {
    fn new(picks: Vec<usize>, values: &'v Values) -> Self {
        Self { picks, used: 0, sizes: Vec::new(), values }
    }
}

impl Choices for Script<'_> {
    fn choose(&mut self, choice: Choice) -> Value {
        let Values { numbers, addresses } = self.values;
        let pick = self.picks.get(self.used).copied().unwrap_or(0);
        self.used += 1;
        if choice.ty == IntType::BOOL {
            self.sizes.push(2);
            return pick as Value;
        }
        let addresses: &[Value] = if choice.ty == IntType::U64 { addresses } else { &[] };
        self.sizes.push(numbers.len() + addresses.len());
        numbers.iter().chain(addresses).copied().nth(pick).unwrap_or(0)
    }
}

/// Takes an edge with all choices of small values.
fn each_outcome(
    machine: &Machine<'_>,
    state: &State,
    thread: ThreadIndex,
    edge: EdgeId,
    values: &Values,
    then: &mut dyn FnMut(Taken),
) {
    let mut picks: Vec<usize> = Vec::new();
    loop {
        let mut script = Script::new(picks.clone(), values);
        then(machine.step(state, thread, edge, &mut script));
        picks.resize(script.sizes.len(), 0);
        // The next combination, the last choice first.
        loop {
            let Some(last) = picks.pop() else { return };
            if last + 1 < script.sizes[picks.len()] {
                picks.push(last + 1);
                break;
            }
        }
    }
}
