//! Proofs by ownership: what threads own settles tests of memory, and another engine proves the rest.
//! Over-approximates, and refutes nothing.

use engine_flow::ownership;
use ir::{ErrorKind, LocationKind, Op, Span};
use verdict::owned::{excludes_leaks, reduced};
use verdict::{Budget, Engine, Events, OwnedProof, Proof, Property, Reason, Silent, Task, Verdict, Views};

/// The engine; the one that proves the rest of an absence of errors.
pub struct Owned<'a>(pub &'a (dyn Engine + Sync));

/// Whether a question is one about allocated memory, of a program that allocates some.
pub fn is_about_memory(task: Task<'_>) -> bool {
    let is_wanted = match task.property {
        Property::NoLeak(_) => true,
        Property::NoError(kinds) => {
            kinds.contains(&ErrorKind::InvalidAccess) || kinds.contains(&ErrorKind::InvalidFree)
        }
        Property::NoRace | Property::NoDeadlock => false,
    };
    let mut ops = task.program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    is_wanted && ops.any(|op| matches!(op, Op::Allocate { .. }))
}

fn gave_up(text: &str) -> Verdict {
    Verdict::Unknown(Reason::GaveUp(format!("owned: {text}")))
}

impl Engine for Owned<'_> {
    fn name(&self) -> &'static str {
        "owned"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, _: &dyn Events) -> Verdict {
        if !is_about_memory(task) {
            let text = "owned: only accesses, frees and leaks of allocated memory are looked for".to_owned();
            return Verdict::Unknown(Reason::NotSupported(text, Span::default()));
        }
        let base = match (task.program.sliced(false, budget), task.program.inlined(budget)) {
            (Ok(view), Ok(base)) => match view.limiting_assumption().or(base.limiting_assumption()) {
                None => base,
                Some(limit) => {
                    return Verdict::Unknown(Reason::NotSupported(limit.text.clone(), limit.span));
                }
            },
            (Err(why), _) | (_, Err(why)) => return Verdict::Unknown(why.reason("owned")),
        };
        let claims = match ownership(base, budget) {
            Ok(Some(claims)) => claims,
            Ok(None) => return gave_up("a step is not understood"),
            Err(exhausted) => return Verdict::Unknown(Reason::Exhausted(exhausted)),
        };
        let rest = match task.property {
            Property::NoRace | Property::NoDeadlock => return gave_up("not asked"),
            Property::NoLeak(leak) if excludes_leaks(base, &claims, *leak) => Proof::NoErrorLocation,
            Property::NoLeak(_) => return gave_up("memory goes to where no single thread owns it"),
            Property::NoError(kinds) => {
                let reduced = reduced(base, &claims);
                if reduced == *base {
                    return gave_up("nothing is known of what is owned");
                }
                let is_bad =
                    |kind: LocationKind| matches!(kind, LocationKind::Error(kind) if kinds.contains(&kind));
                let mut locations = reduced.templates.iter().flat_map(|code| &code.locations);
                if locations.any(|location| is_bad(location.kind)) {
                    let program = Views::from(reduced);
                    // What is proved of parts is about the reduced program, and no partial proof of this one.
                    match self.0.verify(Task { program: &program, ..task }, budget, &Silent) {
                        Verdict::Safe(rest) => rest,
                        Verdict::Unsafe(_) => return gave_up("the rest is refuted"),
                        Verdict::Unknown(reason) => return Verdict::Unknown(reason),
                    }
                } else {
                    Proof::NoErrorLocation
                }
            }
        };
        Verdict::Safe(Proof::Owned(Box::new(OwnedProof { claims, rest })))
    }
}
