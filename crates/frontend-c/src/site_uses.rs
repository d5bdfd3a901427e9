//! The use of allocated memory, by the pointer that its address is assigned to: names for reports.
//!
//! `struct pool *p = malloc(sizeof *p)` makes the site of the call a `struct pool` with the name `p`. This is
//! only for reports, and for which bytes points-to sets tell apart ([`ir::Program::site_uses`]): memory may
//! be used as another type later, so no analysis may rely on it. Memory that a function of the program
//! allocates for its callers has no type of its own, as callers may use it as different types: that is kept
//! by call, for the copies of such functions ([`ir::passes::allocators`]).

use crate::effects::called_function;
use crate::function::Function;
use crate::parse::Unit;
use ir::ids::Id;
use ir::{Field, Layout, ObjectId, SiteUse, Span, Storage};
use rucc_ast::UnaryOp;
use rucc_sema::{DeclId, ExprId, ExprKind};
use rucc_types::{RecordKind, TypeId, TypeKind};

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

/// Memory that an expression gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Of an allocation site.
    Site(ObjectId),
    /// What this call of a function of the program gives.
    Call(Span),
}

impl Unit {
    /// The members of a type by name, even if they do not cover it: for a structure with bit-fields, those
    /// that start at a byte.
    fn named_layout(&self, ty: TypeId, size: u64) -> Layout {
        let layout = self.layout(ty, size);
        let (Layout::Bytes(_), TypeKind::Record(id)) = (&layout, self.kind(ty)) else { return layout };
        let record = self.types.record_info(id);
        if record.kind != RecordKind::Struct {
            return layout;
        }
        let mut fields: Vec<Field> = Vec::new();
        for field in &record.fields {
            let name =
                field.name.map_or(String::new(), |name| self.session.interner.resolve(name).to_owned());
            let rest = size.saturating_sub(field.offset);
            let layout = match field.bits {
                Some(_) => Layout::Bytes(1),
                None => self.named_layout(field.ty, self.size(field.ty).unwrap_or(rest)),
            };
            if fields.last().is_none_or(|last| last.offset < field.offset) {
                fields.push(Field { name, offset: field.offset, layout });
            }
        }
        Layout::Record(fields)
    }
}

impl Function<'_, '_> {
    /// The number of objects: later ones come from expressions that are evaluated next.
    pub fn objects_so_far(&self) -> usize {
        self.global.program.objects.len()
    }

    /// Records that the value of an expression, whose evaluation began with this many objects, is converted
    /// to a pointer type.
    pub fn note_site_type(&mut self, before: usize, value: ExprId, to: TypeId) {
        let Some(memory) = self.allocated_by(before, value) else { return };
        let is_known = match memory {
            Memory::Site(site) => self.global.program.site_use(site).is_some(),
            Memory::Call(span) => self.global.call_uses.contains_key(&span),
        };
        if is_known {
            return;
        }
        let unit = self.unit;
        let Some(element) = unit.pointee(to).filter(|_| unit.is_pointer(to)) else { return };
        let Some(size) = unit.size(element).filter(|size| *size > 0) else { return };
        if matches!(unit.kind(element), TypeKind::Void | TypeKind::Function { .. }) {
            return;
        }
        let layout = unit.named_layout(element, size);
        let (variable, type_name) = (String::new(), unit.spell(element));
        match memory {
            Memory::Site(site) => {
                self.global.program.site_uses.push(SiteUse { site, variable, type_name, layout, size });
            }
            Memory::Call(span) => {
                let used = SiteUse { site: ObjectId::new(0), variable, type_name, layout, size };
                self.global.call_uses.insert(span, used);
            }
        }
    }

    /// Records where the value of an expression is stored: an lvalue, or a declared variable.
    pub fn note_site_variable(&mut self, before: usize, value: ExprId, name: Option<String>) {
        let Some(memory) = self.allocated_by(before, value) else { return };
        let used = match memory {
            Memory::Site(site) => self.global.program.site_uses.iter_mut().find(|used| used.site == site),
            Memory::Call(span) => self.global.call_uses.get_mut(&span),
        };
        let Some(used) = used else { return };
        if let (true, Some(name)) = (used.variable.is_empty(), name) {
            used.variable = name;
        }
    }

    /// Records that a variable has the address of a new allocation, so that a later cast of it gives the
    /// type: `void *p = malloc(n); T *q = p;`.
    pub fn note_site_holder(&mut self, before: usize, value: ExprId, variable: DeclId) {
        match self.allocated_by(before, value) {
            Some(memory) => {
                self.site_holders.insert(variable, memory);
            }
            None => {
                self.site_holders.remove(&variable);
            }
        }
    }

    /// The variable that an lvalue is.
    pub fn variable_of(&self, lvalue: ExprId) -> Option<DeclId> {
        match self.unit.tree[self.unconverted(lvalue)].kind {
            ExprKind::Decl(declaration) => Some(declaration),
            _ => None,
        }
    }

    /// The memory that an expression gives, ignoring conversions: a call, or a variable with its result.
    fn allocated_by(&mut self, before: usize, value: ExprId) -> Option<Memory> {
        let at = self.unconverted(value);
        let callee = match self.unit.tree[at].kind {
            ExprKind::Call { callee, .. } => callee,
            ExprKind::Decl(declaration) => return self.site_holders.get(&declaration).copied(),
            _ => return None,
        };
        let declared = self.global.resolve(self.unit_index, called_function(self.unit, callee)?);
        let name = self.global.units[declared.unit].name(declared.declaration);
        if !ALLOCATORS.contains(&name) {
            let span = self.unit.tree.expr_span(at);
            return (!span.is_dummy()).then(|| Memory::Call(self.span_of(span)));
        }
        // Its own site comes last: arguments are evaluated before.
        let objects = &self.global.program.objects;
        let last = objects.len().checked_sub(1).filter(|last| *last >= before).map(ObjectId::new)?;
        (objects[last].storage == Storage::Site).then_some(Memory::Site(last))
    }

    fn unconverted(&self, mut at: ExprId) -> ExprId {
        while let ExprKind::Convert { operand, .. } | ExprKind::Cast(operand) = self.unit.tree[at].kind {
            at = operand;
        }
        at
    }

    /// The short text of an lvalue: a variable and its members. `None` for any other.
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
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, Source, read};

    #[test]
    fn allocated_memory_has_the_type_of_the_pointer_that_it_goes_to() {
        let text = "#include <stdlib.h>\n\
            struct pool { unsigned used : 3, free : 5; int size; int slots[4]; };\n\
            struct holder { struct pool *inner; } h;\n\
            static void *wrapped(size_t n) { return malloc(n); }\n\
            int main(void) {\n\
              struct pool *p = malloc(sizeof *p);\n\
              h.inner = (struct pool *)calloc(3, sizeof(struct pool));\n\
              struct holder *q = &h;\n\
              q->inner = malloc(sizeof(struct pool));\n\
              char *text = malloc(p->size);\n\
              int *number = wrapped(4);\n\
              void *raw = malloc(4);\n\
              void *temporary = malloc(8);\n\
              h.inner = (struct pool *)temporary;\n\
              return raw != 0 && text && number;\n\
            }\n";
        let source = Source { name: "a.c".to_owned(), text: text.into() };
        let program = read(&[source], &Options::default()).expect("it is C");
        let name = |used: &ir::SiteUse| {
            let line = program.objects[used.site].span.line;
            (line, ir::names::in_allocated(used, used.size.min(4)), used.type_name.clone())
        };
        let found: Vec<(u32, String, String)> = program.site_uses.iter().map(name).collect();
        let expected = [
            (6, "p->size", "struct pool"),
            (7, "h.inner->size", "struct pool"),
            (9, "q->inner->size", "struct pool"),
            (10, "text[1]", "char"),
            (13, "h.inner->size", "struct pool"),
        ];
        let expected = expected.map(|(line, name, ty)| (line, name.to_owned(), ty.to_owned()));
        assert_eq!(found, expected, "what a function of the program allocates may be anything");
    }
}
