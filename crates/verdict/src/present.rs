//! Equalities of locals while a step is taken.
//!
//! The data side of a proof has shown equalities that hold before the step, also with the content of shared
//! memory: in that state it is the same for all threads. All operations of a step happen at once, so only the
//! step's own writes end an equality.

use crate::flow::LARGEST_FACT;
use ir::passes::PointsTo;
use ir::passes::footprint::accesses;
use ir::{Assignment, Expr, Lhs, LocalId, Op, Rhs, Targets, TemplateId};

/// The most equalities of one local that are tried.
const MOST_WAYS: usize = 4;
/// The most rounds of replacing locals.
const MOST_EXPANSIONS: usize = 4;

/// Equalities in the middle of a step.
#[derive(Clone, Debug)]
pub struct LocalEqualities {
    equal: Vec<(LocalId, Expr)>,
    /// Whether memory may have been written.
    wrote: bool,
}

impl LocalEqualities {
    /// The equalities before a step.
    pub fn new(equal: &[(LocalId, Expr)]) -> Self {
        Self { equal: equal.to_vec(), wrote: false }
    }
    /// The expressions that a local equals.
    pub fn of(&self, local: LocalId) -> Option<&Expr> {
        self.equal.iter().find(|(known, _)| *known == local).map(|(_, value)| value)
    }
    /// Follows one operation.
    pub fn apply(&mut self, points_to: &PointsTo, template: TemplateId, op: &Op) {
        let writes = accesses(points_to, template, op).iter().any(|access| access.write);
        if writes || matches!(op, Op::Lock(..) | Op::Unlock(..)) {
            self.wrote = true;
            self.equal.retain(|(_, value)| !loads(value));
        }
        for lhs in op.targets() {
            if let Lhs::Local(local) = lhs {
                self.equal.retain(|(known, value)| known != local && !reads(value, *local));
            }
        }
        if let Op::Assign(Assignment { pairs, constraint: None }) = op
            && let [(Lhs::Local(local), Rhs::Value(value))] = pairs.as_slice()
            && !reads(value, *local)
        {
            self.equal.push((*local, value.clone()));
        }
    }
    /// Whether the loads of an expression read memory as it was before the step.
    pub fn is_unchanged(&self, expr: &Expr) -> bool {
        !self.wrote || !loads(expr)
    }
    /// The forms of an address with locals, except some, replaced by expressions that they equal; all loads
    /// in them look alike. Empty when memory may have been written: then its content is no longer that before
    /// the step.
    pub fn expand(&self, address: &Expr, keep: &dyn Fn(LocalId) -> bool) -> Vec<Expr> {
        let mut found: Vec<Expr> = Vec::new();
        for way in (0..MOST_WAYS).filter(|_| !self.wrote) {
            let expanded = self.expand_one_way(address, keep, way);
            if !found.contains(&expanded) {
                found.push(expanded);
            }
        }
        found
    }

    /// Replaces each local by the equal expression with the given number, or by its last one.
    fn expand_one_way(&self, address: &Expr, keep: &dyn Fn(LocalId) -> bool, way: usize) -> Expr {
        let value = |local: LocalId| {
            let mut values = self.equal.iter().filter(|(known, _)| *known == local).map(|(_, value)| value);
            values.clone().nth(way).or_else(|| values.next_back())
        };
        let mut address = address.clone();
        // All equalities hold at once, so they may be applied repeatedly.
        for _ in 0..MOST_EXPANSIONS {
            let (mut changed, mut parts) = (false, 0);
            address.rewrite(&mut |inner| {
                parts += 1;
                if let Expr::Local(local) = inner
                    && !keep(*local)
                    && let Some(value) = value(*local)
                {
                    *inner = value.clone();
                    changed = true;
                }
            });
            if !changed || parts > LARGEST_FACT {
                break;
            }
        }
        address.rewrite(&mut |inner| {
            if let Expr::Load(place) = inner {
                place.atomic = false;
                place.targets = Targets::Any;
            }
        });
        address
    }
}

fn loads(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| found |= matches!(inner, Expr::Load(_)));
    found
}

pub(crate) fn reads(expr: &Expr, local: LocalId) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| found |= *inner == Expr::Local(local));
    found
}
