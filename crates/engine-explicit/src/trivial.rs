//! Proofs that need no search: what cannot happen because no code does it.

use ir::passes::LockOrder;
use ir::{Count, LocationKind, ObjectRole, Op, Program};
use verdict::{Proof, Property};

/// A proof that only looks at which code there is.
pub fn trivial(program: &Program, property: &Property) -> Option<Proof> {
    let mut templates = program.templates.iter();
    match property {
        Property::NoError(kinds) => {
            let is_bad =
                |kind: LocationKind| matches!(kind, LocationKind::Error(kind) if kinds.contains(&kind));
            let none = templates.all(|code| !code.locations.iter().any(|location| is_bad(location.kind)));
            none.then_some(Proof::NoErrorLocation)
        }
        Property::NoRace => {
            let one = matches!(program.start.as_slice(), [(_, Count::Exactly(1))]);
            let starts = |op: &Op| matches!(op, Op::Spawn(..));
            let none = templates.all(|code| !code.edges.iter().any(|edge| edge.ops.iter().any(starts)));
            (one && none).then_some(Proof::OneThread)
        }
        Property::NoLeak(_) => {
            let allocates = |op: &Op| matches!(op, Op::Allocate { site, .. } if program.objects[*site].role == ObjectRole::Allocated);
            let none = templates.all(|code| !code.edges.iter().any(|edge| edge.ops.iter().any(allocates)));
            none.then_some(Proof::NoErrorLocation)
        }
        Property::NoDeadlock => LockOrder::of(program)?.sorted().map(Proof::LockOrder),
    }
}
