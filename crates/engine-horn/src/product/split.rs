//! Variables that nodes of a product may be told apart by: such that have few values, and conditions that depend on them alone.
//!
//! Nothing rests on this but time: any set of variables is right.

use indexmap::IndexSet;
use smt::{Sort, Term, Variable};
use std::ops::ControlFlow;
use transitions::threads::Threads;

/// The variables of which it is worth a try.
///
/// * Truth values.
/// * Numbers that never depend on other variables; if they count, some condition compares them with constants.
pub fn with_few_values(threads: &Threads) -> IndexSet<Variable> {
    let steps = || threads.threads.iter().flat_map(|thread| thread.steps.iter().flatten());
    let mut counting: IndexSet<Variable> = IndexSet::new();
    let mut depending: IndexSet<Variable> = IndexSet::new();
    let mut compared: IndexSet<Variable> = IndexSet::new();
    for step in steps() {
        for (variable, value) in &step.updates {
            for read in value.free_variables() {
                if read == *variable {
                    counting.insert(read);
                } else if !step.inputs.contains(&read) {
                    depending.insert(variable.clone());
                }
            }
        }
        collect_compared(&step.guard, &mut compared);
    }
    let few = |variable: &Variable| match variable.sort {
        Sort::Bool => true,
        Sort::Int => {
            !depending.contains(variable) && (!counting.contains(variable) || compared.contains(variable))
        }
        Sort::BitVec(_) | Sort::Array(_) => false,
    };
    threads.variables.keys().filter(|variable| few(variable)).cloned().collect()
}

/// The variables that some part of a condition depends on alone.
fn collect_compared(guard: &Term, found: &mut IndexSet<Variable>) {
    guard.walk(|part| {
        if *part.sort() == Sort::Bool && part.as_variable().is_none() {
            let variables = part.free_variables();
            if variables.len() == 1 {
                found.extend(variables);
            }
        }
        ControlFlow::<()>::Continue(())
    });
}
