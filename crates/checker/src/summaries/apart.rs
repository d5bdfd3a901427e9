//! What is claimed of the threads of a kind, or of a team, at each step that starts one: that their arguments
//! are apart, and that one at a time is alive.
//!
//! Under-approximates: what is accepted here holds.

use super::calls::Call;
use super::started::KnownRange;
use super::state::{Known, Stepper};
use super::symbols::mask;
use super::view::claim;
use crate::ProofError;

impl<'a> Stepper<'_, 'a> {
    /// Whether a new thread's argument is far enough from those of all other threads of its kind, or of its
    /// team, where that is claimed.
    pub fn check_distinct(&self, known: &Known<'a>, call: &Call<'_>) -> Result<(), ProofError> {
        let mask = mask(self.view.program);
        let proof = self.view.proof;
        let of_all = proof.distinct.iter().map(|(kind, bytes)| (*kind, false, *bytes));
        let of_teams = proof.teams.iter().map(|team| (team.helper, true, team.apart));
        let callees = &self.view.steps[self.template][call.edge].callees;
        for (kind, own, bytes) in of_all.chain(of_teams.filter(|(_, _, bytes)| *bytes > 0)) {
            if callees.binary_search(&kind).is_err() {
                continue;
            }
            let address = call.arguments.first().and_then(|argument| self.linear(known, argument));
            let is_apart = |range: &KnownRange| {
                range.argument.zip(address).is_some_and(|(row, address)| {
                    let number = row.number(&address, mask).flatten();
                    row.stride >= bytes
                        && number.is_some_and(|number| range.is_outside(&known.integers, number))
                })
            };
            let fits = match known.started.get(&(kind, own)) {
                _ if known.absent.contains(&kind) => true,
                Some(list) => list.iter().all(is_apart),
                None => false,
            };
            if !fits || kind == self.kind {
                let source = self.view.program.templates[self.template].edges[call.edge].source;
                let name = &self.view.program.templates[kind].name;
                let at = self.view.at(self.context, source);
                return claim(format!("{at}: threads of {name} have arguments apart from one another"));
            }
        }
        Ok(())
    }

    /// Whether no other thread of a kind is alive, or none of the team, where one is started and that is
    /// claimed.
    pub fn check_alone(&self, known: &Known<'a>, call: &Call<'_>) -> Result<(), ProofError> {
        let proof = self.view.proof;
        for kind in &self.view.steps[self.template][call.edge].callees {
            let is_alone = proof.alone.binary_search(kind).is_ok();
            let is_alone_in_team = proof.teams.iter().any(|team| team.helper == *kind && team.alone);
            let fits = (!is_alone || known.absent.contains(kind))
                && (!is_alone_in_team || self.has_no_own(known, *kind));
            if (is_alone || is_alone_in_team) && (!fits || *kind == self.kind) {
                let source = self.view.program.templates[self.template].edges[call.edge].source;
                let name = &self.view.program.templates[*kind].name;
                let at = self.view.at(self.context, source);
                return claim(format!("{at}: at most one thread of {name} is alive"));
            }
        }
        Ok(())
    }
}
