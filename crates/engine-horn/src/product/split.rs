//! Variables that nodes of a product may be distinguished by: such that have few values, and conditions that
//! depend on them alone.
//!
//! Nothing rests on this but time: any set of variables is right.

use indexmap::IndexSet;
use smt::{Sort, Term, Variable};
use std::ops::ControlFlow;
use transitions::threads::Threads;

/// The variables of which it is worth a try.
///
/// * Truth values.
/// * Numbers that never depend on other variables; if they count, some condition compares them with a small
///   constant.
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

/// Loops that continue for longer are not unrolled.
const SMALL: i128 = 40;

/// The variables that some part of a condition compares with a small number, and depends on alone.
fn collect_compared(guard: &Term, found: &mut IndexSet<Variable>) {
    guard.walk(|part| {
        if *part.sort() == Sort::Bool && part.as_variable().is_none() {
            let variables = part.free_variables();
            let small = |inner: &Term| match inner.as_literal().and_then(|literal| literal.as_int()) {
                Some(2..=SMALL) => ControlFlow::Break(()),
                Some(_) | None => ControlFlow::Continue(()),
            };
            if variables.len() == 1 && part.walk(small).is_some() {
                found.extend(variables);
            }
        }
        ControlFlow::<()>::Continue(())
    });
}
