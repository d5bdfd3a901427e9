//! Comparisons that may have any result.
//!
//! Beside each step with such a comparison there is another one, in which the result is not modelled
//! ([`Rhs::Unknown`](crate::Rhs::Unknown)). So proofs hold whatever the result is, and violations rest on the
//! results that the machine gives.

use crate::expr::Expr;
use crate::ids::{EdgeId, LocalId, TemplateId};
use crate::op::{Lhs, Op};
use crate::program::{LocationKind, Program, Span};
use crate::types::IntType;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// A comparison whose result is open.
pub(super) struct Opened {
    pub(super) template: TemplateId,
    /// It gives a Boolean.
    pub(super) expr: Expr,
    pub(super) span: Span,
}

/// Adds steps in which comparisons have any result.
pub(super) fn open(program: &mut Program, opened: &[Opened]) {
    for template in program.templates.ids().collect::<Vec<_>>() {
        let mut here: IndexSet<&Expr, FxBuildHasher> = IndexSet::default();
        let of_template = opened.iter().filter(|comparison| comparison.template == template);
        here.extend(of_template.map(|comparison| &comparison.expr));
        let edges: Vec<EdgeId> = program.templates[template].edges.ids().collect();
        for edge in edges.into_iter().filter(|_| !here.is_empty()) {
            open_edge(program, template, edge, &here);
        }
    }
}

fn open_edge(
    program: &mut Program,
    template: TemplateId,
    edge: EdgeId,
    opened: &IndexSet<&Expr, FxBuildHasher>,
) {
    let code = &mut program.templates[template];
    let mut copy = code.edges[edge].clone();
    let mut results: Vec<Option<LocalId>> = vec![None; opened.len()];
    for expr in copy.ops.iter_mut().flat_map(Op::expressions_mut) {
        replace(expr, opened, &mut |index| {
            *results[index].get_or_insert_with(|| code.local("%result", IntType::BOOL, copy.span))
        });
    }
    let mut source = copy.source;
    for result in results.into_iter().flatten() {
        let atomic = code.locations[copy.source].atomic;
        let next = code.location(LocationKind::Normal, atomic);
        code.edge(source, next, vec![Op::unknown(Lhs::Local(result))], copy.span);
        source = next;
    }
    if source != copy.source {
        code.edge(source, copy.target, copy.ops, copy.span);
    }
}

/// Puts locals in the place of comparisons, the outermost ones where they are nested.
fn replace(
    expr: &mut Expr,
    opened: &IndexSet<&Expr, FxBuildHasher>,
    local: &mut dyn FnMut(usize) -> LocalId,
) {
    let is_comparison = match expr {
        Expr::Binary(op, _, _) => op.is_comparison(),
        Expr::Cast(ty, _) => *ty == IntType::BOOL,
        _ => false,
    };
    match if is_comparison { opened.get_index_of(&*expr) } else { None } {
        Some(index) => *expr = Expr::Local(local(index)),
        None => expr.operands_mut().into_iter().for_each(|operand| replace(operand, opened, local)),
    }
}
