//! Structures of which the program has objects of its own, as far as its text shows.
//!
//! A program that calls a library mostly has pointers to the library's structures only, though headers define
//! them. What an unknown function gives as such a pointer is none of the program's objects: an access to one
//! as such a structure would be undefined (C11 6.5p7). Nothing is proved of programs with such calls; their
//! reports say what is taken for granted.
//!
//! A structure counts as the program's own if anything but a dereferenced pointer has its type; if a
//! pointer to it comes from another type, an integer that is no constant, or a list of arguments; if a
//! pointer to such pointers becomes something else; or if a function with a model, or one that the user
//! classified, takes or gives it. Over-approximates, but for pointers that are copied byte by byte, through
//! members of unions, or to functions without a prototype.

use crate::facts::{Uses, operands};
use crate::library;
use crate::lowering::Outside;
use crate::parse::Unit;
use rucc_ast::UnaryOp;
use rucc_sema::{DeclKind, ExprId, ExprKind};
use rucc_types::{RecordId, TypeId, TypeKind};
use rustc_hash::FxHashSet;

/// The tags of structures and unions of which the program may have objects.
pub fn tags(units: &[Unit], outside: &Outside) -> FxHashSet<String> {
    let mut found = FxHashSet::default();
    for unit in units {
        let mut finder = Finder { unit, outside, found: &mut found, seen: FxHashSet::default() };
        let mut bodies = Vec::new();
        for &id in unit.tree.top_level() {
            let declaration = &unit.tree[id];
            bodies.extend(declaration.body);
            if declaration.kind == DeclKind::Object {
                finder.whole(declaration.ty);
                let entries = declaration.init.into_iter().flat_map(|init| &unit.tree[init]);
                entries.for_each(|entry| finder.expression_with_operands(entry.value));
            }
        }
        while let Some(body) = bodies.pop() {
            let uses = Uses::of(unit, body);
            uses.expressions.iter().for_each(|id| finder.expression(*id));
            bodies.extend(uses.variables.iter().filter_map(|id| unit.tree[*id].body));
        }
    }
    found
}

/// The tag of a structure or union.
pub fn tag(unit: &Unit, ty: TypeId) -> Option<&str> {
    let TypeKind::Record(id) = unit.kind(ty) else { return None };
    unit.types.record_info(id).tag.map(|tag| unit.session.interner.resolve(tag))
}

struct Finder<'u> {
    unit: &'u Unit,
    outside: &'u Outside,
    found: &'u mut FxHashSet<String>,
    seen: FxHashSet<RecordId>,
}

impl Finder<'_> {
    fn expression_with_operands(&mut self, id: ExprId) {
        let mut stack = vec![id];
        while let Some(at) = stack.pop() {
            self.expression(at);
            match self.unit.tree[at].kind {
                ExprKind::CompoundLiteral(literal) => {
                    let entries =
                        self.unit.tree[literal].init.into_iter().flat_map(|init| &self.unit.tree[init]);
                    stack.extend(entries.map(|entry| entry.value));
                }
                _ => stack.extend(operands(self.unit, at)),
            }
        }
    }

    fn expression(&mut self, id: ExprId) {
        let expr = self.unit.tree[id];
        match expr.kind {
            ExprKind::Unary { op: UnaryOp::Deref, .. } | ExprKind::Subscript { .. } => {}
            ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } => {
                self.whole(expr.ty);
                if !self.is_constant(operand) {
                    self.conversion(self.unit.tree[operand].ty, expr.ty);
                }
            }
            ExprKind::VaArg { .. } => self.mentioned(expr.ty),
            ExprKind::Decl(declaration) => {
                self.whole(expr.ty);
                let name = self.unit.name(declaration);
                let is_given = self.outside.functions.iter().any(|(known, _)| known == name);
                if is_given || library::is_known(name) {
                    self.mentioned(expr.ty);
                }
            }
            _ => self.whole(expr.ty),
        }
    }

    fn is_constant(&self, mut at: ExprId) -> bool {
        loop {
            at = match self.unit.tree[at].kind {
                ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } => operand,
                kind => return matches!(kind, ExprKind::Const(_)),
            };
        }
    }

    /// There is an object of a type, with all its members.
    fn whole(&mut self, ty: TypeId) {
        match self.unit.kind(ty) {
            TypeKind::Array { elem, .. } => self.whole(elem),
            TypeKind::Record(id) => {
                if !self.seen.insert(id) {
                    return;
                }
                let unit = self.unit;
                self.found.extend(tag(unit, ty).map(str::to_owned));
                unit.types.record_info(id).fields.iter().for_each(|field| self.whole(field.ty));
            }
            _ => {}
        }
    }

    /// There may be objects of what a type points to, takes or gives.
    fn mentioned(&mut self, ty: TypeId) {
        let (_, base) = self.base(ty);
        self.whole(base);
        if let TypeKind::Function(id) = self.unit.kind(base) {
            let signature = self.unit.types.signature(id);
            for ty in signature.params.iter().chain([&signature.ret]) {
                let (_, base) = self.base(*ty);
                self.whole(base);
            }
        }
    }

    /// How often a type is a pointer, and to what in the end.
    fn base(&self, mut ty: TypeId) -> (usize, TypeId) {
        let mut depth = 0;
        while let Some(pointee) = self.unit.pointee(ty) {
            (depth, ty) = (depth + 1, pointee);
        }
        (depth, ty)
    }

    /// A value of one type is used as another one.
    fn conversion(&mut self, from: TypeId, to: TypeId) {
        let ((from_depth, from), (to_depth, to)) = (self.base(from), self.base(to));
        let is_same = self.unit.kind(from) == self.unit.kind(to);
        let is_function = matches!(self.unit.kind(to), TypeKind::Function(_));
        if to_depth == 0 || is_same && (from_depth == to_depth || is_function) {
            return;
        }
        for (depth, base) in [(from_depth, from), (to_depth, to)] {
            if matches!(self.unit.kind(base), TypeKind::Function(_)) {
                self.mentioned(base);
            }
            // A pointer that is given away is not used as its type.
            if depth > 1 || base == to && depth == 1 {
                self.whole(base);
            }
        }
    }
}
