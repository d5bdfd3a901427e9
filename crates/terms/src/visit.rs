//! Traversals of terms: folding, substitution, free variables. Each node is visited once, however often it is
//! shared.

use crate::construct::rebuild;
use crate::term::{Operation, Term, Variable};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The conjuncts of a formula.
pub fn conjuncts(formula: &Term) -> Vec<Term> {
    each_conjunct(formula).collect()
}

/// The conjuncts of a formula, one at a time: of a formula whose parts are shared there can be very many.
pub fn each_conjunct(formula: &Term) -> impl Iterator<Item = Term> + use<> {
    let mut pending = vec![formula.clone()];
    std::iter::from_fn(move || {
        loop {
            let term = pending.pop()?;
            match term.operation() {
                Operation::And => pending.extend(term.operands().iter().rev().cloned()),
                _ => return Some(term),
            }
        }
    })
}

/// Computes the result of a term from those of its operands, bottom-up. Results in `known` are not computed
/// again, and new ones are added to it. Stops when `combine` does.
pub fn try_fold<T: Clone, E>(
    root: &Term,
    known: &mut FxHashMap<Term, T>,
    mut combine: impl FnMut(&Term, &[T]) -> Result<T, E>,
) -> Result<T, E> {
    let mut pending = vec![(root.clone(), false)];
    let mut results = Vec::new();
    while let Some((term, operands_done)) = pending.pop() {
        if known.contains_key(&term) {
            continue;
        }
        if operands_done || term.operands().is_empty() {
            results.clear();
            results.extend(term.operands().iter().map(|operand| known[operand].clone()));
            let result = combine(&term, &results)?;
            known.insert(term, result);
        } else {
            let operands = term.operands().to_vec();
            pending.push((term, true));
            // Reversed, so that the first operand is computed first.
            pending.extend(
                operands.into_iter().rev().filter(|operand| !known.contains_key(operand)).map(|o| (o, false)),
            );
        }
    }
    Ok(known[root].clone())
}

/// Like [`try_fold`], but cannot stop early.
pub fn fold<T: Clone>(
    root: &Term,
    known: &mut FxHashMap<Term, T>,
    mut combine: impl FnMut(&Term, &[T]) -> T,
) -> T {
    let result: Result<T, std::convert::Infallible> =
        try_fold(root, known, |term, results| Ok(combine(term, results)));
    match result {
        Ok(value) => value,
    }
}

impl Term {
    /// Calls `visit` once for each different term inside this one and for itself, operands first, until it
    /// breaks.
    pub fn walk<B>(&self, mut visit: impl FnMut(&Term) -> ControlFlow<B>) -> Option<B> {
        let mut seen = FxHashSet::default();
        let mut pending = vec![(self, false)];
        while let Some((term, operands_done)) = pending.pop() {
            if operands_done {
                if let ControlFlow::Break(found) = visit(term) {
                    return Some(found);
                }
            } else if seen.insert(term) {
                pending.push((term, true));
                pending.extend(term.operands().iter().rev().map(|operand| (operand, false)));
            }
        }
        None
    }
    /// The variables inside.
    pub fn free_variables(&self) -> BTreeSet<Variable> {
        let mut found = BTreeSet::new();
        self.walk(|term| {
            found.extend(term.as_variable());
            ControlFlow::<()>::Continue(())
        });
        found
    }
    /// How many different terms are inside, this one included.
    pub fn size(&self) -> usize {
        let mut count = 0;
        self.walk(|_| {
            count += 1;
            ControlFlow::<()>::Continue(())
        });
        count
    }
    /// The variable that this term is.
    pub fn as_variable(&self) -> Option<Variable> {
        match self.operation() {
            Operation::Variable(name) => Some(Variable { name: name.clone(), sort: self.sort().clone() }),
            _ => None,
        }
    }
    /// The term with the variables of the map replaced, all at once.
    ///
    /// # Panics
    /// If a replacement has another sort than its variable.
    pub fn substitute(&self, replacements: &IndexMap<Variable, Term>) -> Term {
        if replacements.is_empty() {
            return self.clone();
        }
        let mut known = FxHashMap::default();
        for (variable, replacement) in replacements {
            assert_eq!(
                &variable.sort,
                replacement.sort(),
                "the variable {} cannot be replaced by {replacement}",
                variable.name
            );
            known.insert(variable.term(), replacement.clone());
        }
        fold(self, &mut known, |term, operands| {
            if operands == term.operands() { term.clone() } else { rebuild(term, operands.to_vec()) }
        })
    }
    /// The term with its variables renamed; those for which `rename` gives `None` are kept.
    pub fn rename(&self, mut rename: impl FnMut(&Variable) -> Option<Variable>) -> Term {
        let replacements = self
            .free_variables()
            .into_iter()
            .filter_map(|variable| rename(&variable).map(|new| (variable, new.term())))
            .collect();
        self.substitute(&replacements)
    }
}
