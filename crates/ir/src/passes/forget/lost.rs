//! Lost addresses: values that may be addresses of kept objects, but come from forgotten ones.
//!
//! A forgotten value may be anything, but it counts as an input, and inputs are no addresses (rule 2 of
//! `points_to`). So an access to a kept object through such a value would be an access to nothing. This file
//! computes which locals and which kept objects may hold such values. Over-approximates.

use super::{Keeper, Where, objects};
use crate::expr::Expr;
use crate::ids::{LocalId, ObjectId, TemplateId};
use crate::op::{Callee, Lhs, Op, Rhs};
use crate::program::Program;
use std::collections::BTreeSet;

/// The variables that may hold a lost address.
#[derive(Default)]
pub(super) struct Lost {
    locals: BTreeSet<(TemplateId, LocalId)>,
    objects: BTreeSet<ObjectId>,
}

impl Lost {
    /// All of them, as a least fixed point.
    pub fn of(keeper: &Keeper<'_>) -> Self {
        let mut lost = Self::default();
        let program = &keeper.forgetting.program;
        loop {
            let before = (lost.locals.len(), lost.objects.len());
            for (id, template) in program.templates.enumerate() {
                for op in template.edges.iter().flat_map(|edge| &edge.ops) {
                    lost.op(keeper, program, id, op);
                }
            }
            if before == (lost.locals.len(), lost.objects.len()) {
                return lost;
            }
        }
    }

    fn op(&mut self, keeper: &Keeper<'_>, program: &Program, id: TemplateId, op: &Op) {
        match op {
            Op::Assign(assignment) => {
                for (lhs, rhs) in &assignment.pairs {
                    let lost = match rhs {
                        Rhs::Value(value) => self.is_lost(keeper, id, value),
                        Rhs::Any => assignment.constraint.is_some(),
                        // Any address that is taken; forgetting only reduces these.
                        Rhs::Unknown | Rhs::Float(..) => true,
                    };
                    if lost {
                        self.mark(keeper, id, lhs);
                    }
                }
            }
            Op::Call(Callee::Procedure(callee), arguments, lhs) => {
                let code = &program.templates[*callee];
                for (parameter, argument) in arguments.iter().take(code.parameters).enumerate() {
                    if self.is_lost(keeper, id, argument) {
                        self.locals.insert((*callee, LocalId(parameter as u32)));
                    }
                }
                let result = code.result.is_some_and(|local| self.locals.contains(&(*callee, local)));
                if let Some(lhs) = lhs
                    && (result || keeper.makes_no_difference(*callee))
                {
                    self.mark(keeper, id, lhs);
                }
            }
            Op::Copy(to, from, _) => {
                let here = |address: &Expr| keeper.objects_at(id, address);
                if here(from).iter().any(|object| self.objects.contains(object)) {
                    self.objects.extend(here(to));
                }
            }
            Op::Allocate { result, .. } => self.mark(keeper, id, result),
            // A program that starts or joins threads is not reduced at all, nor is one with the other
            // operations.
            Op::Call(Callee::Pointer(_), ..) | Op::Spawn(..) | Op::Join(..) | Op::Broadcast(_) => {}
            Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Free(_) | Op::Fill(..) => {}
        }
    }

    fn mark(&mut self, keeper: &Keeper<'_>, id: TemplateId, lhs: &Lhs) {
        match lhs {
            Lhs::Local(local) => {
                self.locals.insert((id, *local));
            }
            Lhs::Memory(place) => {
                let here = keeper.objects_at(id, &place.address);
                self.objects.extend(here.into_iter().filter(|object| keeper.is_kept(*object)));
            }
        }
    }

    /// Whether a value may be a lost address of a kept object.
    pub fn is_lost(&self, keeper: &Keeper<'_>, id: TemplateId, value: &Expr) -> bool {
        let mut found = false;
        value.walk(&mut |inner| {
            let open = match inner {
                Expr::Local(local) => self.locals.contains(&(id, *local)),
                Expr::Load(place) => match keeper.place(id, place) {
                    Where::Kept => {
                        let here = keeper.objects_at(id, &place.address);
                        here.iter().any(|object| self.objects.contains(object))
                    }
                    Where::Forgotten | Where::Mixed => true,
                },
                _ => false,
            };
            found |= open && {
                let targets = keeper.forgetting.points_to.targets(id, inner);
                objects(&keeper.forgetting.program, &targets).iter().any(|object| keeper.is_kept(*object))
            };
        });
        found
    }

    /// Whether an operation accesses a kept object through a lost address.
    pub fn is_used(&self, keeper: &Keeper<'_>, id: TemplateId, op: &Op) -> bool {
        let lost = |address: &Expr| {
            !matches!(address, Expr::Address(..))
                && keeper.address(id, address) != Where::Forgotten
                && self.is_lost(keeper, id, address)
        };
        let mut found = false;
        for expr in op.expressions() {
            expr.walk(&mut |inner| found |= matches!(inner, Expr::Load(place) if lost(&place.address)));
        }
        let stores = op.targets().into_iter().any(|lhs| match lhs {
            Lhs::Local(_) => false,
            Lhs::Memory(place) => lost(&place.address),
        });
        found
            || stores
            || match op {
                Op::Lock(_, address) | Op::Unlock(_, address) | Op::Fill(address, ..) => lost(address),
                Op::Copy(to, from, _) => lost(to) || lost(from),
                Op::Assume(_)
                | Op::Assign(_)
                | Op::Spawn(..)
                | Op::Join(..)
                | Op::Allocate { .. }
                | Op::Free(_)
                | Op::Call(..)
                | Op::Broadcast(_) => false,
            }
    }
}
