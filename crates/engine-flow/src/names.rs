//! Variables and values with source names.

use crate::data::setup::Setup;
use domains::Variable;
use ir::passes::footprint::Extent;
use ir::{BinaryOp, Expr, Op, Targets, TemplateId};
use std::collections::BTreeSet;

/// The bytes of the words that any kind of lock has.
const LOCK_BYTES: u64 = 8;

/// Names of what a program has.
pub struct Names<'l, 'a, 'p> {
    setup: &'l Setup<'a, 'p>,
    /// The words of locks: the source does not know them.
    locks: BTreeSet<Variable>,
}

impl<'l, 'a, 'p> Names<'l, 'a, 'p> {
    /// The names that a program's source has for its variables.
    pub fn new(setup: &'l Setup<'a, 'p>) -> Self {
        let memory = &setup.memory;
        let mut locks = BTreeSet::new();
        for (template, code) in setup.model.program.templates.enumerate() {
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                if let Op::Lock(_, address) | Op::Unlock(_, address) = op {
                    let words = memory.region(template, address, Extent::Bytes(LOCK_BYTES));
                    locks.extend(memory.touched(&words));
                }
            }
        }
        Self { setup, locks }
    }

    /// A cell of memory; `None` when it is no variable of the source: part of a lock, or made by the tool.
    pub fn cell(&self, variable: Variable) -> Option<String> {
        let program = self.setup.model.program;
        let cell = self.setup.memory.cell(variable)?;
        let Targets::Of(places) = &cell.region.targets else { return None };
        let first = places.first()?;
        let is_hidden = program.objects[cell.object].name.starts_with('%') || self.locks.contains(&variable);
        let summary = places.len() > 1 || first.count > 1;
        (!is_hidden).then(|| ir::names::cell(program, cell.object, first.first, summary))
    }

    /// A variable, as a thread of a template sees it.
    pub fn variable(&self, template: TemplateId, variable: Variable) -> Option<String> {
        match self.setup.as_local(variable) {
            None => self.cell(variable),
            Some(local) => {
                let name = &self.setup.model.program.templates[template].locals[local].name;
                (!name.starts_with('%')).then(|| name.clone())
            }
        }
    }

    /// What an address points to, so many bytes further on.
    pub fn pointee(&self, template: TemplateId, address: &Expr, offset: u64) -> Option<String> {
        let program = self.setup.model.program;
        match address {
            Expr::Address(object, start) => {
                let name = &program.objects[*object].name;
                let at = start.wrapping_add(offset);
                (!name.starts_with('%')).then(|| ir::names::cell(program, *object, at, false))
            }
            _ => {
                let pointer = self.term(template, address)?;
                Some(if offset == 0 { format!("*{pointer}") } else { format!("*({pointer} + {offset})") })
            }
        }
    }

    /// A simple expression: a variable, an address, or one of them and a constant.
    pub fn term(&self, template: TemplateId, expr: &Expr) -> Option<String> {
        let program = self.setup.model.program;
        match expr {
            Expr::Local(local) => {
                let name = &program.templates[template].locals[*local].name;
                (!name.starts_with('%')).then(|| name.clone())
            }
            Expr::Load(place) => {
                let (object, offset) = self.setup.memory.exact_place(template, &place.address)?;
                let name = &program.objects[object].name;
                (!name.starts_with('%')).then(|| ir::names::cell(program, object, offset, false))
            }
            Expr::Address(object, offset) => {
                let name = &program.objects[*object].name;
                (!name.starts_with('%'))
                    .then(|| format!("&{}", ir::names::cell(program, *object, *offset, false)))
            }
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), _, pair) => {
                let Expr::Const(value, ty) = &pair.1 else { return None };
                let left = self.term(template, &pair.0)?;
                let value = ir::IntType { signed: true, ..*ty }.wrap(*value);
                let minus = (*op == BinaryOp::Sub) != (value < 0);
                Some(format!("{left} {} {}", if minus { "-" } else { "+" }, value.unsigned_abs()))
            }
            Expr::Const(..)
            | Expr::Procedure(_)
            | Expr::Myself
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Cast(..)
            | Expr::IfThenElse(_)
            | Expr::Overflows(..)
            | Expr::Valid(..)
            | Expr::Old(_) => None,
        }
    }
}
