//! Lvalues: the place of a value, and how it is read and written.

use crate::bitfields::Bits;
use crate::fold;
use crate::function::{Function, Variable};
use crate::link::Declared;
use crate::memory_orders::Order;
use crate::products;
use ir::{BinaryOp, ErrorKind, Expr, IntType, Lhs, LocalId, LocationKind, Place, Targets};
use rucc_ast::UnaryOp;
use rucc_sema::{Category, Conversion, DeclId, DeclKind, ExprId, ExprKind, Linkage, StorageDuration};
use rucc_types::{ArrayLen, TypeId, TypeKind};
use std::collections::BTreeSet;

/// Where a value is.
#[derive(Clone, Debug)]
pub enum Lvalue {
    /// In a local.
    Local(LocalId),
    /// In memory.
    Memory {
        /// Its first byte.
        address: Expr,
        /// Whether it is `_Atomic`.
        atomic: bool,
    },
    /// In some bits of memory.
    Bits(Bits),
}

impl Function<'_, '_> {
    /// Where an lvalue is.
    pub fn lvalue(&mut self, id: ExprId) -> Lvalue {
        if let Some(address) = self.known.get(&id) {
            return Lvalue::Memory { address: address.clone(), atomic: false };
        }
        let place = self.uncut_lvalue(id);
        match place {
            Lvalue::Memory { address, atomic } if self.facts(id).is_cut => {
                Lvalue::Memory { address: self.freeze(address), atomic }
            }
            place => place,
        }
    }
    fn uncut_lvalue(&mut self, id: ExprId) -> Lvalue {
        let unit = self.unit;
        let expr = unit.tree[id];
        let atomic = unit.is_atomic(expr.ty);
        match expr.kind {
            ExprKind::Decl(declaration) if self.is_absent_object(declaration) => {
                Lvalue::Memory { address: self.address_constant(0), atomic }
            }
            ExprKind::Decl(declaration) => match self.variable(declaration) {
                Some(Variable::Local(local)) => Lvalue::Local(local),
                Some(Variable::Object(object)) => {
                    Lvalue::Memory { address: Expr::Address(object, 0), atomic }
                }
                Some(Variable::Pointed(local)) => Lvalue::Memory { address: Expr::Local(local), atomic },
                None => {
                    self.unsupported("a variable of an enclosing function");
                    Lvalue::Memory { address: self.address_constant(0), atomic }
                }
            },
            ExprKind::Str(string) => {
                let bytes = unit.tree[string].bytes(&unit.session.target);
                let element =
                    unit.pointee(expr.ty).and_then(|ty| unit.scalar_type(ty)).unwrap_or(IntType::U8);
                let span = self.span_of(unit.tree.expr_span(id));
                let object = self.global.string(&bytes, element, span);
                let place = (self.unit_index, id.index());
                self.global.literals.note(object, &bytes, element.bytes(), place);
                Lvalue::Memory { address: Expr::Address(object, 0), atomic: false }
            }
            ExprKind::Unary { op: UnaryOp::Deref, operand } => {
                Lvalue::Memory { address: self.rvalue(operand), atomic }
            }
            ExprKind::Subscript { base, index } => {
                let is_checked = self.row_length(id).is_some();
                let (base, mut index) = self.pair(base, index);
                if is_checked {
                    if fold::has_load(&index) {
                        index = self.freeze(index);
                    }
                    self.indices.insert(id, index.clone());
                }
                let address = self.advance(BinaryOp::Add, base, index, expr.ty);
                Lvalue::Memory { address, atomic }
            }
            ExprKind::Member { base, field } => self.member(id, base, field),
            ExprKind::CompoundLiteral(declaration) => {
                let address = self.compound_literal(declaration);
                Lvalue::Memory { address, atomic }
            }
            _ if expr.category == Category::Rvalue && unit.is_aggregate(expr.ty) => {
                let mut address = self.aggregate(id);
                // A pointer into it is one to a temporary object, not to what the value was read from (C11
                // 6.2.4p8). All of it is read, whichever member is used (C11 6.3.2.1p2); an assignment has
                // read it already.
                let is_copied = match expr.kind {
                    ExprKind::Cond { .. } | ExprKind::Comma { .. } | ExprKind::StmtExpr(_) => true,
                    ExprKind::Assign { .. } => unit.has_array(expr.ty),
                    _ => false,
                };
                if is_copied {
                    address = Expr::Address(self.copy_to_temporary(address, expr.ty), 0);
                }
                Lvalue::Memory { address, atomic: false }
            }
            ExprKind::Convert { operand, .. } | ExprKind::Cast(operand) => self.lvalue(operand),
            ExprKind::Comma { lhs, rhs } => {
                self.effect(lhs);
                self.lvalue(rhs)
            }
            _ => {
                self.unsupported("this kind of lvalue");
                Lvalue::Memory { address: self.address_constant(0), atomic }
            }
        }
    }
    /// Whether this is a weak variable that no file defines.
    fn is_absent_object(&mut self, declaration: DeclId) -> bool {
        if self.unit.tree[declaration].kind != DeclKind::Object
            || self.unit.tree[declaration].linkage == Linkage::None
        {
            return false;
        }
        let declared = self.global.resolve(self.unit_index, declaration);
        self.global.is_absent(declared, self.builder.span)
    }
    /// The number of elements of a subscripted array, if leaving the array may lead to another part of the
    /// same object: the array is a part itself, or has arrays as parts.
    pub fn row_length(&self, id: ExprId) -> Option<u64> {
        let unit = self.unit;
        let ExprKind::Subscript { base, .. } = unit.tree[id].kind else { return None };
        let ExprKind::Convert { kind: Conversion::ArrayDecay, operand } = unit.tree[base].kind else {
            return None;
        };
        let TypeKind::Array { elem, len: ArrayLen::Fixed(count) } = unit.kind(unit.tree[operand].ty) else {
            return None;
        };
        match unit.tree[operand].kind {
            ExprKind::Decl(_) | ExprKind::Str(_) | ExprKind::CompoundLiteral(_) => {
                unit.has_array(elem).then_some(count)
            }
            // The last member of an allocated structure may stand for more elements than it has.
            ExprKind::Member { base, .. } if count <= 1 && self.is_reached_by_pointer(base) => None,
            _ => Some(count),
        }
    }
    /// Whether an lvalue is the whole target of a pointer: no element or member of another object.
    fn is_reached_by_pointer(&self, id: ExprId) -> bool {
        match self.unit.tree[id].kind {
            ExprKind::Unary { op: UnaryOp::Deref, .. } => true,
            ExprKind::Subscript { base, .. } => {
                !matches!(self.unit.tree[base].kind, ExprKind::Convert { kind: Conversion::ArrayDecay, .. })
            }
            _ => false,
        }
    }
    /// Adds a check: reading or writing an lvalue outside of the array of which it names an element is an
    /// invalid access (C11 6.5.6p8). Without the bounds check, the bytes at that address count.
    pub fn check_indices(&mut self, id: ExprId) {
        let unit = self.unit;
        let mut at = id;
        loop {
            at = match unit.tree[at].kind {
                ExprKind::Member { base, .. } => base,
                ExprKind::Subscript { base, .. } => {
                    if let (Some(count), Some(index)) = (self.row_length(at), self.indices.get(&at).cloned())
                    {
                        self.check_index(index, count);
                    }
                    match unit.tree[base].kind {
                        ExprKind::Convert { kind: Conversion::ArrayDecay, operand } => operand,
                        _ => return,
                    }
                }
                _ => return,
            }
        }
    }
    fn check_index(&mut self, index: Expr, count: u64) {
        // A negative index becomes a huge one.
        let index = self.cast(index, IntType::U64);
        let count = Expr::int(ir::Value::from(count), IntType::U64);
        let outside = fold::binary(BinaryOp::Lt, IntType::U64, index, count).not();
        if outside == Expr::bool(false) || !self.builder.is_reachable() {
            return;
        }
        let error = LocationKind::Error(ErrorKind::InvalidAccess);
        let location = self.builder.template.location(error, false);
        self.builder.alternative(ir::Op::Assume(outside), location);
    }
    fn member(&mut self, id: ExprId, base: ExprId, field: u32) -> Lvalue {
        let unit = self.unit;
        let is_atomic_record = unit.is_atomic(unit.tree[base].ty);
        let address = self.address_of(base);
        let TypeKind::Record(record) = unit.kind(unit.tree[base].ty) else {
            self.unsupported("a member of something that is no structure");
            return Lvalue::Memory { address, atomic: false };
        };
        let info = unit.types.record_info(record);
        if info.variable.is_some() || info.reverse {
            self.unsupported("a structure whose layout only the run knows, or in reverse byte order");
        }
        let Some(member) = info.fields.get(field as usize) else {
            self.unsupported("an unknown member");
            return Lvalue::Memory { address, atomic: false };
        };
        match member.bits {
            Some(width) => self.bit_field(address, record, member, width),
            None => {
                let offset = self.address_constant(member.offset);
                let address = fold::binary(BinaryOp::Add, self.pointer(), address, offset);
                let atomic = is_atomic_record || unit.is_atomic(unit.tree[id].ty);
                Lvalue::Memory { address, atomic }
            }
        }
    }
    /// The address of an lvalue in memory, or of a function.
    pub fn address_of(&mut self, id: ExprId) -> Expr {
        if let ExprKind::Decl(declaration) = self.unit.tree[id].kind
            && self.unit.tree[declaration].kind == DeclKind::Function
        {
            return self.function_address(declaration);
        }
        match self.lvalue(id) {
            Lvalue::Memory { address, .. } => address,
            Lvalue::Local(_) | Lvalue::Bits(_) => {
                self.unsupported("the address of something that has none");
                self.address_constant(0)
            }
        }
    }
    /// The variable of a declaration in this function.
    pub fn variable(&mut self, declaration: DeclId) -> Option<Variable> {
        if let Some(variable) = self.variables.get(&declaration) {
            return Some(*variable);
        }
        let is_automatic = self.unit.tree[declaration].duration == StorageDuration::Automatic
            && self.unit.tree[declaration].linkage == Linkage::None;
        if is_automatic {
            return None;
        }
        let declared: Declared = self.global.resolve(self.unit_index, declaration);
        let owner = self.builder.template.name.clone();
        let owner = if owner.is_empty() { None } else { Some(owner.as_str()) };
        Some(Variable::Object(self.global.object(declared, owner)))
    }

    /// The number of bytes of a type, as a pointer-wide value.
    pub fn size_of(&mut self, ty: TypeId) -> Expr {
        let pointer = self.pointer();
        if let Some(size) = self.unit.size(ty) {
            return self.address_constant(size);
        }
        match self.unit.kind(ty) {
            TypeKind::Array { elem, len: ArrayLen::Variable(length) } => {
                let element = self.size_of(elem);
                let count = match self.lengths.get(&length) {
                    Some(local) => Expr::Local(*local),
                    None => {
                        self.evaluate_lengths(ty);
                        self.lengths
                            .get(&length)
                            .map_or(self.address_constant(0), |local| Expr::Local(*local))
                    }
                };
                fold::binary(BinaryOp::Mul, pointer, count, element)
            }
            TypeKind::Array { elem, len: ArrayLen::Fixed(count) } => {
                let element = self.size_of(elem);
                fold::binary(BinaryOp::Mul, pointer, self.address_constant(count), element)
            }
            // GNU C: pointers to void and to functions step by one.
            TypeKind::Void | TypeKind::Function(_) => self.address_constant(1),
            _ => {
                self.unsupported("the size of an incomplete type");
                self.address_constant(1)
            }
        }
    }
    /// A pointer moved by a number of elements.
    pub fn advance(&mut self, op: BinaryOp, base: Expr, count: Expr, element: TypeId) -> Expr {
        let pointer = self.pointer();
        let size = self.size_of(element);
        let count = self.cast(count, pointer);
        if products::is_product(&count, pointer, &BTreeSet::new()) {
            self.global.assume(products::TEXT.to_owned(), self.builder.span, true);
        }
        let distance = fold::binary(BinaryOp::Mul, pointer, count, size);
        let base = self.cast(base, pointer);
        // What is counted from a constant, as from null, may be an address that is cast.
        if matches!(base, Expr::Const(..)) || matches!(distance, Expr::Const(..)) {
            return fold::binary(op, pointer, base, distance);
        }
        let distance = fold::cast(distance, pointer, IntType { signed: true, ..pointer });
        Expr::binary(op, pointer, base, distance)
    }
    /// Evaluates the variable lengths of a type at its declaration; later uses of the type keep them.
    pub fn evaluate_lengths(&mut self, ty: TypeId) {
        let pointer = self.pointer();
        for length in self.unit.variable_lengths(ty) {
            if self.lengths.contains_key(&length) {
                continue;
            }
            let expr = self.unit.tree.vla_size(length);
            let count = self.rvalue(expr);
            let count_type = self.type_of(&count);
            let count = self.cast(count, pointer);
            let local = self.builder.save(count, pointer);
            self.lengths.insert(length, local);
            let again = self.cast(Expr::Local(local), count_type);
            self.known.insert(expr, again);
        }
    }

    /// The place at an address.
    pub fn cell(&self, address: Expr, ty: IntType, atomic: bool) -> Place {
        Place { address, ty, atomic, targets: Targets::Any }
    }
    /// The value at an lvalue of a C type.
    pub fn load(&mut self, place: &Lvalue, ty: TypeId) -> Expr {
        match place {
            Lvalue::Local(local) => Expr::Local(*local),
            Lvalue::Memory { address, atomic } => {
                let scalar = self.scalar(ty);
                // Atomic accesses of one operation are one step: each gets its own.
                if *atomic {
                    return self.load_cell(address.clone(), scalar, Order::SEQUENTIAL);
                }
                Expr::load(self.cell(address.clone(), scalar, false))
            }
            Lvalue::Bits(bits) => {
                let scalar = self.scalar(ty);
                let value = bits.read(self.pointer());
                self.cast(value, scalar)
            }
        }
    }
    /// Stores a value of the lvalue's own type.
    pub fn store(&mut self, place: &Lvalue, ty: TypeId, value: Expr) {
        match place {
            Lvalue::Local(local) => self.builder.set(Lhs::Local(*local), value),
            Lvalue::Memory { address, atomic } => {
                let scalar = self.scalar(ty);
                if *atomic {
                    return self.store_cell(address.clone(), scalar, Order::SEQUENTIAL, value);
                }
                let cell = self.cell(address.clone(), scalar, false);
                self.builder.set(Lhs::Memory(cell), value);
            }
            Lvalue::Bits(bits) => self.store_bits(bits, value),
        }
    }
    /// The lvalue with a frozen address.
    pub fn freeze_lvalue(&mut self, place: Lvalue) -> Lvalue {
        match place {
            Lvalue::Local(local) => Lvalue::Local(local),
            Lvalue::Memory { address, atomic } => Lvalue::Memory { address: self.freeze(address), atomic },
            Lvalue::Bits(bits) => {
                let address = self.freeze(bits.address.clone());
                Lvalue::Bits(Bits { address, ..bits })
            }
        }
    }
}
