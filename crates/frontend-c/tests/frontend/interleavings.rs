//! Runs programs on the concrete semantics in all interleavings.

use crate::runner::Zeros;
use ir::semantics::Machine;
use ir::{IntType, Program, Value};
use std::collections::{BTreeSet, HashSet};

/// The values that a global variable can have when no thread can run, over all interleavings. Open values are
/// 0.
pub fn outcomes(program: &Program, name: &str, ty: IntType) -> BTreeSet<Value> {
    let machine = Machine::new(program).expect("the program fits the machine");
    let first = machine.initial(&[1]).expect("one thread starts");
    let (id, _) =
        program.objects.enumerate().find(|(_, object)| object.name == name).expect("a global variable");
    let address = machine.addresses.offset[id];
    let mut seen = HashSet::from([first.clone()]);
    let mut open = vec![first];
    let mut found = BTreeSet::new();
    while let Some(state) = open.pop() {
        assert!(seen.len() < 200_000, "the program is too large to explore");
        let mut is_last = true;
        for thread in machine.schedulable(&state) {
            for &edge in machine.edges(&state, thread) {
                let Ok(next) = machine.step(&state, thread, edge, &mut Zeros { unknown: false }).result
                else {
                    continue;
                };
                is_last = false;
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        if is_last {
            found.extend(machine.peek_memory(&state, address, ty));
        }
    }
    found
}
