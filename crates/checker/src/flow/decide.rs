//! Decides which checks a partial proof excludes.
//!
//! The invariant of the proof is checked as always. Then a step to an error location is excluded if the
//! invariant says that no thread is ever at its source or its target, or contradicts its assumptions.
//! Assumptions about the program do not matter here: they are part of the answer.

use super::view::{Node, View};
use super::{check_invariant, symbolic};
use crate::ProofError;
use ir::{EdgeId, LocationKind, Span, TemplateId};
use std::collections::BTreeMap;
use verdict::{Attempt, Budget, Decision, Decisions, Property, Views};

/// Decides all checks of a lowered program. Without a proof, only open checks are listed.
pub fn decide(
    program: &Views,
    property: &Property,
    attempt: &Attempt,
    budget: &Budget,
) -> Result<Decisions, ProofError> {
    let mut lines: BTreeMap<Span, Decision> = BTreeMap::new();
    let mut decided = |span: Span, whys: &[&str]| {
        // A step may stand for several steps on its line.
        let span = Span { column: 0, ..span };
        let line = lines.entry(span).or_insert(Decision { span, checks: 0, proved: 0, why: Vec::new() });
        line.checks += 1;
        line.proved += usize::from(whys.is_empty());
        for why in whys {
            if line.why.iter().all(|known| known != why) {
                line.why.push((*why).to_owned());
            }
        }
    };
    let symbolic = symbolic(program, property, budget)?;
    match (&attempt.proof, property) {
        (Some(proof), Property::NoError(kinds)) => {
            let view = View::new(symbolic, proof, budget)?;
            let data = check_invariant(&view, proof, budget)?;
            let whys: BTreeMap<(TemplateId, EdgeId), &str> =
                attempt.open.iter().filter_map(|open| Some((open.step?, open.why.as_str()))).collect();
            // The steps from one line to one error location are one check.
            let mut errors: BTreeMap<(Node, Span), Vec<&str>> = BTreeMap::new();
            for node in 0..view.nodes.len() {
                let template = view.nodes[node].0;
                for edge in &view.leaving[node] {
                    let what = &symbolic.templates[template].edges[*edge];
                    let target = view.node(template, what.target);
                    let LocationKind::Error(kind) = view.location(target).kind else { continue };
                    if kinds.contains(&kind) {
                        let may_take = data.as_ref().is_none_or(|data| data.may_take(node, *edge, None));
                        let excluded = !view.is_inhabited(node) || !view.is_inhabited(target) || !may_take;
                        let why = whys.get(&(template, *edge)).copied().unwrap_or("it is not excluded");
                        let line = Span { column: 0, ..what.span };
                        errors.entry((target, line)).or_default().extend((!excluded).then_some(why));
                    }
                }
            }
            errors.iter().for_each(|((_, span), whys)| decided(*span, whys));
        }
        (_, Property::NoError(_) | Property::NoRace | Property::NoDeadlock | Property::NoLeak(_)) => {
            attempt.open.iter().for_each(|open| decided(open.span, &[&open.why]));
        }
    }
    let given = symbolic.assumptions.iter().filter(|assumption| assumption.limits_proof).cloned().collect();
    let complete = attempt.proof.is_some();
    Ok(Decisions { lines: lines.into_values().collect(), complete, given })
}
