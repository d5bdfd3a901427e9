//! C types as machine integers, sizes and layouts.

use crate::parse::Unit;
use ir::{Field, IntType, Layout, SyncKind};
use rucc_types::{ArrayLen, FloatKind, FunctionType, IntKind, RecordKind, TypeId, TypeKind, VlaId};

/// The lowering's classification of C types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// No value.
    Void,
    /// An integer, enumeration or pointer.
    Integer(IntType),
    /// An integer of a width that no machine type has, in the next wider one.
    Odd(IntType, u32),
    /// A float, as the bit pattern of (the first eight bytes of) its representation.
    Float(IntType),
    /// A structure, union or array: bytes in memory.
    Aggregate,
    /// A function.
    Function,
    /// Not supported, and what it is.
    Unsupported(&'static str),
}

/// A scalar inside an aggregate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// Its offset.
    pub offset: u64,
    /// Its type.
    pub ty: IntType,
}

impl Unit {
    /// A type without typedefs; atomic types are kept.
    fn written_kind(&self, ty: TypeId) -> TypeKind {
        self.types.kind(self.types.canonical(ty))
    }
    /// A type without typedefs and `_Atomic`.
    pub fn kind(&self, ty: TypeId) -> TypeKind {
        match self.written_kind(ty) {
            TypeKind::Atomic(inner) => self.kind(inner),
            kind => kind,
        }
    }
    /// Whether the type is volatile.
    pub fn is_volatile(&self, ty: TypeId) -> bool {
        self.types.quals(ty).has(rucc_types::Qualifiers::VOLATILE)
    }
    /// Whether the type is constant.
    pub fn is_const(&self, ty: TypeId) -> bool {
        self.types.quals(ty).has(rucc_types::Qualifiers::CONST)
    }
    /// Whether a part of a type is stored in reverse byte order.
    pub fn has_reverse_order(&self, ty: TypeId) -> bool {
        match self.kind(ty) {
            TypeKind::Array { elem, .. } => self.has_reverse_order(elem),
            TypeKind::Record(id) => {
                let info = self.types.record_info(id);
                info.reverse || info.fields.iter().any(|field| self.has_reverse_order(field.ty))
            }
            _ => false,
        }
    }
    /// Whether an object of a type is constant, as a whole.
    pub fn is_const_object(&self, ty: TypeId) -> bool {
        match self.kind(ty) {
            TypeKind::Array { elem, .. } => self.is_const(ty) || self.is_const_object(elem),
            _ => self.is_const(ty),
        }
    }
    /// Whether a type is `_Atomic`.
    pub fn is_atomic(&self, ty: TypeId) -> bool {
        matches!(self.written_kind(ty), TypeKind::Atomic(_))
    }
    /// The type of a pointer.
    pub fn pointer(&self) -> IntType {
        let bits = self.integer_kind(IntKind::ULong).bits;
        IntType { bits, signed: false }
    }
    fn integer_kind(&self, kind: IntKind) -> IntType {
        let bits = rucc_types::int_width(kind, &self.session.target) as u8;
        let info = rucc_types::integer_info(&self.types, self.types.int(kind), &self.session.target);
        IntType { bits, signed: info.is_some_and(|info| info.signed) }
    }
    /// What a type is.
    pub fn class(&self, ty: TypeId) -> Class {
        match self.kind(ty) {
            TypeKind::Void => Class::Void,
            TypeKind::Bool => Class::Integer(IntType::BOOL),
            TypeKind::Int(IntKind::Int128 | IntKind::UInt128) => Class::Unsupported("__int128"),
            TypeKind::Int(kind) => Class::Integer(self.integer_kind(kind)),
            TypeKind::Float(kind) => Class::Float(match kind {
                FloatKind::Float16 => IntType::U16,
                FloatKind::Float | FloatKind::Float32 | FloatKind::Decimal32 => IntType::U32,
                FloatKind::Double
                | FloatKind::Float32x
                | FloatKind::Float64
                | FloatKind::LongDouble
                | FloatKind::Float64x
                | FloatKind::Float128
                | FloatKind::Decimal64
                | FloatKind::Decimal128 => IntType::U64,
            }),
            TypeKind::Complex(_) => Class::Unsupported("a complex number"),
            TypeKind::BitInt { signed, width } => match width {
                8 | 16 | 32 | 64 => Class::Integer(IntType { bits: width as u8, signed }),
                1..64 => {
                    let bits = width.next_power_of_two().max(8) as u8;
                    Class::Odd(IntType { bits, signed }, width)
                }
                _ => Class::Unsupported("_BitInt of more than 64 bits"),
            },
            TypeKind::Pointer(_) => Class::Integer(self.pointer()),
            TypeKind::Atomic(_) | TypeKind::Typedef { .. } => Class::Unsupported("an unknown type"),
            TypeKind::Array { .. } | TypeKind::Record(_) => Class::Aggregate,
            TypeKind::Function(_) => Class::Function,
            TypeKind::Vector { .. } => Class::Unsupported("a vector"),
            TypeKind::Enum(id) => match self.types.enum_info(id).underlying {
                Some(underlying) => self.class(underlying),
                None => Class::Integer(IntType::I32),
            },
        }
    }
    /// The machine type of a scalar, including floats; `None` for any other type.
    pub fn scalar_type(&self, ty: TypeId) -> Option<IntType> {
        match self.class(ty) {
            Class::Integer(ty) | Class::Odd(ty, _) | Class::Float(ty) => Some(ty),
            Class::Void | Class::Aggregate | Class::Function | Class::Unsupported(_) => None,
        }
    }
    /// Whether a type is a float.
    pub fn is_float(&self, ty: TypeId) -> bool {
        matches!(self.class(ty), Class::Float(_))
    }
    /// Whether values of a type are kept in memory only.
    pub fn is_aggregate(&self, ty: TypeId) -> bool {
        self.class(ty) == Class::Aggregate
    }
    /// The size of a type; `None` when it is not known.
    pub fn size(&self, ty: TypeId) -> Option<u64> {
        rucc_types::layout(&self.types, ty, &self.session.target).ok().map(|layout| layout.size)
    }
    /// The alignment of a type.
    pub fn align(&self, ty: TypeId) -> u64 {
        rucc_types::align(&self.types, ty, &self.session.target).unwrap_or(1).max(1)
    }
    /// What a pointer or array type points to.
    pub fn pointee(&self, ty: TypeId) -> Option<TypeId> {
        match self.kind(ty) {
            TypeKind::Pointer(to) => Some(to),
            TypeKind::Array { elem, .. } => Some(elem),
            _ => None,
        }
    }
    /// Whether a type is a pointer.
    pub fn is_pointer(&self, ty: TypeId) -> bool {
        matches!(self.kind(ty), TypeKind::Pointer(_))
    }
    /// Whether a pointer is in a value of a type.
    pub fn has_pointer(&self, ty: TypeId) -> bool {
        match self.kind(ty) {
            TypeKind::Pointer(_) => true,
            TypeKind::Array { elem, .. } => self.has_pointer(elem),
            TypeKind::Record(id) => {
                self.types.record_info(id).fields.iter().any(|field| self.has_pointer(field.ty))
            }
            _ => false,
        }
    }
    /// Whether a type is an array, or has one as a part.
    pub fn has_array(&self, ty: TypeId) -> bool {
        match self.kind(ty) {
            TypeKind::Array { .. } => true,
            TypeKind::Record(id) => {
                self.types.record_info(id).fields.iter().any(|field| self.has_array(field.ty))
            }
            _ => false,
        }
    }
    /// The size expressions of the variable lengths in a type, innermost first.
    pub fn variable_lengths(&self, ty: TypeId) -> Vec<VlaId> {
        match self.kind(ty) {
            TypeKind::Array { elem, len } => {
                let mut found = self.variable_lengths(elem);
                if let ArrayLen::Variable(id) = len {
                    found.push(id);
                }
                found
            }
            TypeKind::Pointer(to) => self.variable_lengths(to),
            _ => Vec::new(),
        }
    }
    /// Whether the size of a type is known only at run time.
    pub fn is_variable(&self, ty: TypeId) -> bool {
        match self.kind(ty) {
            TypeKind::Array { elem, len } => matches!(len, ArrayLen::Variable(_)) || self.is_variable(elem),
            TypeKind::Record(id) => self.types.record_info(id).variable.is_some(),
            _ => false,
        }
    }
    /// The signature of a function, or of what a pointer to a function points to.
    pub fn signature(&self, ty: TypeId) -> Option<&FunctionType> {
        match self.kind(ty) {
            TypeKind::Function(id) => Some(self.types.signature(id)),
            TypeKind::Pointer(to) => self.signature(to),
            _ => None,
        }
    }
    /// The type as the source spells it.
    pub fn spell(&self, ty: TypeId) -> String {
        rucc_types::spell(&self.types, &self.session.interner, ty)
    }

    /// The scalars of an aggregate in order of their offsets, if there are at most `most` and its structure
    /// is fully known: no union, no bit-field, no flexible or variable array, no float that is wider than its
    /// pattern.
    pub fn leaves(&self, ty: TypeId, most: usize) -> Option<Vec<Leaf>> {
        let mut found = Vec::new();
        self.collect_leaves(ty, 0, most, &mut found)?;
        Some(found)
    }
    fn collect_leaves(&self, ty: TypeId, offset: u64, most: usize, found: &mut Vec<Leaf>) -> Option<()> {
        if let Some(scalar) = self.scalar_type(ty) {
            if self.size(ty)? != scalar.bytes() || found.len() >= most || self.is_atomic(ty) {
                return None;
            }
            found.push(Leaf { offset, ty: scalar });
            return Some(());
        }
        match self.kind(ty) {
            TypeKind::Array { elem, len: ArrayLen::Fixed(count) } => {
                let stride = self.size(elem)?;
                if count > most as u64 {
                    return None;
                }
                for index in 0..count {
                    self.collect_leaves(elem, offset + index * stride, most, found)?;
                }
                Some(())
            }
            TypeKind::Record(id) => {
                let record = self.types.record_info(id);
                if record.kind == RecordKind::Union || record.variable.is_some() || record.layout.is_none() {
                    return None;
                }
                for field in &record.fields {
                    if field.bits.is_some() {
                        return None;
                    }
                    self.collect_leaves(field.ty, offset + field.offset, most, found)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    /// The layout of an object of a type that takes `size` bytes.
    pub fn layout(&self, ty: TypeId, size: u64) -> Layout {
        if let Some(kind) = self.sync_kind(ty) {
            return Layout::Sync(kind);
        }
        match self.class(ty) {
            Class::Integer(scalar) | Class::Odd(scalar, _) if scalar.bytes() == size => {
                Layout::Scalar(scalar)
            }
            Class::Aggregate => match self.kind(ty) {
                TypeKind::Array { elem, len } => {
                    let stride = self.size(elem).unwrap_or(0);
                    let count = match len {
                        ArrayLen::Fixed(count) => count,
                        ArrayLen::Unknown | ArrayLen::Star | ArrayLen::Variable(_) => {
                            size.checked_div(stride).unwrap_or(0)
                        }
                    };
                    if stride == 0 || count == 0 {
                        return Layout::Bytes(size);
                    }
                    Layout::Array { element: Box::new(self.layout(elem, stride)), count, stride }
                }
                TypeKind::Record(id) => {
                    let record = self.types.record_info(id);
                    let plain = record.kind == RecordKind::Struct
                        && record.variable.is_none()
                        && record.fields.iter().all(|field| field.bits.is_none());
                    if !plain || record.fields.is_empty() {
                        return Layout::Bytes(size);
                    }
                    let fields = record.fields.iter().map(|field| {
                        let rest = size.saturating_sub(field.offset);
                        Field {
                            name: field
                                .name
                                .map_or(String::new(), |name| self.session.interner.resolve(name).to_owned()),
                            offset: field.offset,
                            layout: self.layout(field.ty, self.size(field.ty).unwrap_or(rest)),
                        }
                    });
                    Layout::Record(fields.collect())
                }
                _ => Layout::Bytes(size),
            },
            Class::Integer(_)
            | Class::Odd(..)
            | Class::Float(_)
            | Class::Void
            | Class::Function
            | Class::Unsupported(_) => Layout::Bytes(size),
        }
    }

    /// Which synchronisation object of the libraries a type is.
    pub fn sync_kind(&self, ty: TypeId) -> Option<SyncKind> {
        let mut at = ty;
        while let TypeKind::Typedef { name, underlying, .. } = self.types.kind(at) {
            match self.session.interner.resolve(name) {
                "pthread_mutex_t" | "mtx_t" => return Some(SyncKind::Mutex),
                "pthread_spinlock_t" => return Some(SyncKind::Spin),
                "pthread_rwlock_t" => return Some(SyncKind::ReadWrite),
                "pthread_cond_t" | "cnd_t" | "sem_t" | "pthread_barrier_t" | "pthread_once_t"
                | "once_flag" => {
                    return Some(SyncKind::Other);
                }
                _ => at = underlying,
            }
        }
        None
    }
}
