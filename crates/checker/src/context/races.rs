//! Checks that no two threads are at accesses that race.

use super::{Check, Spot, counts};
use crate::ProofError;
use smt::Term;
use transitions::accesses::Access;
use transitions::scopes::other;
use verdict::ContextView;

impl Check<'_, '_> {
    /// Obligation 5: races.
    pub(super) fn races(&self) -> Result<(), ProofError> {
        for (position, one) in self.scoped.accesses.iter().enumerate() {
            for two in &self.scoped.accesses[position..] {
                let race = self.scoped.race(one, two);
                if !race.is_false() {
                    let race = race.and(&self.scoped.apart(one.template, two.template));
                    self.no_race(one, two, &race)?;
                }
            }
        }
        Ok(())
    }

    /// What holds of another thread.
    fn of_another(&self, formula: &Term) -> Term {
        formula.rename(|variable| (!self.scoped.shared.contains_key(variable)).then(|| other(variable)))
    }

    fn no_race(&self, one: &Access, two: &Access, race: &Term) -> Result<(), ProofError> {
        for (here, first) in self.nodes_at(one) {
            for (there, second) in self.nodes_at(two) {
                let formulas = &self.proof.nodes;
                let both = formulas[here].formula.and(&self.of_another(&formulas[there].formula)).and(race);
                match self.impossible(&both, "no two threads race") {
                    Ok(()) => continue,
                    Err(ProofError::Claim(_)) => {}
                    Err(error) => return Err(error),
                }
                for mine in &self.views[here] {
                    for theirs in &self.views[there] {
                        if self.sees(mine, second) && self.sees(theirs, first) {
                            let both = self.seen(mine).and(&self.of_another(&self.seen(theirs))).and(race);
                            self.impossible(&both, "no two threads race")?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The nodes at which an access is next, with their states.
    fn nodes_at(&self, access: &Access) -> Vec<(usize, Spot)> {
        let nodes = self.proof.nodes.iter().enumerate();
        nodes
            .filter(|(_, node)| (node.template, node.location) == (access.template, access.source))
            .map(|(number, node)| (number, (node.template, node.state)))
            .collect()
    }

    /// Whether a view may have a thread in the given state, and no other atomic state certainly contains a
    /// thread: otherwise only the accesses of the latter would count.
    fn sees(&self, view: &ContextView, spot: Spot) -> bool {
        let others = counts(view);
        let alone = self.occupied(&others).all(|other| other == spot);
        others.get(&spot).is_some_and(|count| *count != Some(0)) && alone
    }
}
