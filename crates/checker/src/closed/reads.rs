//! Where the code of a thread or procedure reads its locals.

use ir::{Edge, EdgeId, Expr, IdVec, Lhs, LocalId, LocationId, LocationKind, Template};
use rustc_hash::FxHashSet;

/// The uses of locals in a template.
pub struct Reads {
    /// The edges that leave each location.
    outgoing: IdVec<LocationId, Vec<EdgeId>>,
    /// Those of each edge, in order.
    uses: IdVec<EdgeId, Vec<Use>>,
}

/// A use of a local by an operation of an edge.
struct Use {
    local: LocalId,
    op: usize,
    /// Whether it is read, and not assigned.
    is_read: bool,
}

impl Reads {
    /// Collects the uses.
    pub fn of(code: &Template) -> Self {
        let of_edge = |edge: &Edge| {
            let mut found = Vec::new();
            for (op, operation) in edge.ops.iter().enumerate() {
                for expr in operation.expressions() {
                    expr.walk(&mut |inner| {
                        if let Expr::Local(local) = inner {
                            found.push(Use { local: *local, op, is_read: true });
                        }
                    });
                }
                for lhs in operation.targets() {
                    if let Lhs::Local(local) = lhs {
                        found.push(Use { local: *local, op, is_read: false });
                    }
                }
            }
            found
        };
        Self { outgoing: code.outgoing(), uses: code.edges.iter().map(of_edge).collect() }
    }

    /// Whether a local may be read after an operation of an edge before it is assigned again. Forward search
    /// through all edges, whether they can be taken or not.
    pub fn follow(&self, code: &Template, (edge, op): (EdgeId, usize), local: LocalId) -> bool {
        let first = |edge: EdgeId, from: usize| {
            self.uses[edge]
                .iter()
                .find(|used| used.local == local && used.op >= from)
                .map(|used| used.is_read)
        };
        let mut open = Vec::new();
        match first(edge, op + 1) {
            Some(is_read) => return is_read,
            None => open.push(code.edges[edge].target),
        }
        let mut seen: FxHashSet<LocationId> = open.iter().copied().collect();
        while let Some(location) = open.pop() {
            let is_result = match code.locations[location].kind {
                LocationKind::End => code.result == Some(local),
                LocationKind::Exit => code.exit_value == Some(local),
                LocationKind::Normal | LocationKind::Halt | LocationKind::Error(_) => false,
            };
            if is_result {
                return true;
            }
            for edge in &self.outgoing[location] {
                let target = code.edges[*edge].target;
                match first(*edge, 0) {
                    Some(true) => return true,
                    Some(false) => {}
                    None if seen.insert(target) => open.push(target),
                    None => {}
                }
            }
        }
        false
    }
}
