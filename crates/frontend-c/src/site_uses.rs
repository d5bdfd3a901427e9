//! What allocated memory is used for, by the pointer that its address goes to: names for reports.
//!
//! `struct pool *p = malloc(sizeof *p)` makes the site of the call a `struct pool` that is known as `p`. Only people see that
//! ([`ir::Program::site_uses`]): memory may be used as another type later, so no analysis may rely on it. What a function of the
//! program allocates for its callers has no type here, as callers may use it for different ones.

use crate::effects::called_function;
use crate::function::Function;
use ir::ids::Id;
use ir::{Layout, ObjectId, SiteUse, Storage};
use rucc_ast::UnaryOp;
use rucc_sema::{ExprId, ExprKind};
use rucc_types::{TypeId, TypeKind};

/// Functions whose result is new memory.
const ALLOCATORS: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "valloc",
    "aligned_alloc",
    "memalign",
    "__builtin_malloc",
    "__builtin_calloc",
    "__builtin_realloc",
];

impl Function<'_, '_> {
    /// How many objects there are: those that come later are made by what is evaluated next.
    pub fn objects_so_far(&self) -> usize {
        self.global.program.objects.len()
    }

    /// Takes note that the value of an expression, which was evaluated when there were so many objects, becomes a pointer type.
    pub fn note_site_type(&mut self, before: usize, value: ExprId, to: TypeId) {
        let Some(site) = self.allocated_by(before, value) else { return };
        if self.global.program.site_use(site).is_some() {
            return;
        }
        let unit = self.unit;
        let Some(element) = unit.pointee(to).filter(|_| unit.is_pointer(to)) else { return };
        let Some(size) = unit.size(element).filter(|size| *size > 0) else { return };
        if matches!(unit.kind(element), TypeKind::Void | TypeKind::Function { .. }) {
            return;
        }
        let layout: Layout = unit.layout(element, size);
        let (variable, type_name) = (String::new(), unit.spell(element));
        self.global.program.site_uses.push(SiteUse { site, variable, type_name, layout, size });
    }

    /// Takes note of what the value of an expression is stored in, by an expression or by name.
    pub fn note_site_variable(&mut self, before: usize, value: ExprId, name: Option<String>) {
        let Some(site) = self.allocated_by(before, value) else { return };
        let uses = &mut self.global.program.site_uses;
        let Some(used) = uses.iter_mut().find(|used| used.site == site) else { return };
        if let (true, Some(name)) = (used.variable.is_empty(), name) {
            used.variable = name;
        }
    }

    /// The site of the allocation that an expression is, but for conversions.
    fn allocated_by(&self, before: usize, value: ExprId) -> Option<ObjectId> {
        let objects = &self.global.program.objects;
        // Its own site comes last: arguments are evaluated before.
        let last = objects.len().checked_sub(1).filter(|last| *last >= before).map(ObjectId::new)?;
        let ExprKind::Call { callee, .. } = self.unit.tree[self.unconverted(value)].kind else { return None };
        let declared = self.global.resolve(self.unit_index, called_function(self.unit, callee)?);
        let name = self.global.units[declared.unit].name(declared.declaration);
        (ALLOCATORS.contains(&name) && objects[last].storage == Storage::Site).then_some(last)
    }

    fn unconverted(&self, mut at: ExprId) -> ExprId {
        while let ExprKind::Convert { operand, .. } | ExprKind::Cast(operand) = self.unit.tree[at].kind {
            at = operand;
        }
        at
    }

    /// The short text of an lvalue: a variable and its members. `None` for all else.
    pub fn short_text(&self, lvalue: ExprId) -> Option<String> {
        let unit = self.unit;
        let at = self.unconverted(lvalue);
        match unit.tree[at].kind {
            ExprKind::Decl(declaration) => Some(unit.name(declaration).to_owned()),
            ExprKind::Member { base, field, .. } => {
                let TypeKind::Record(record) = unit.kind(unit.tree[base].ty) else { return None };
                let name = unit.types.record_info(record).fields.get(field as usize)?.name?;
                let name = unit.session.interner.resolve(name);
                let base = self.unconverted(base);
                match unit.tree[base].kind {
                    ExprKind::Unary { op: UnaryOp::Deref, operand } => {
                        Some(format!("{}->{name}", self.short_text(operand)?))
                    }
                    _ => Some(format!("{}.{name}", self.short_text(base)?)),
                }
            }
            ExprKind::Subscript { .. } | ExprKind::Unary { .. } => None,
            _ => None,
        }
    }
}
