//! The initial content of objects, and initialisers that run.

use crate::bitfields::{Bits, holder, storage_unit};
use crate::evaluation_order::Settled;
use crate::fold;
use crate::function::Function;
use ir::{BinaryOp, Expr, Initial, IntType, Lhs, ObjectId, Op, Value};
use rucc_base::Symbol;
use rucc_sema::{Const, DeclId, Eval, ExprId, ExprKind, InitEntry};
use rucc_types::{ArrayLen, Field, RecordInfo, RecordKind, TypeId, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Aggregates with at most this many scalars are zeroed scalar by scalar.
const MOST_LEAVES: usize = 16;
/// The most unions of which an initialiser may leave bytes open.
const MOST_RESTS: usize = 32;

/// An initialiser whose meaning depends on what exactly a later part of it replaces.
const UNCLEAR: &str = "an initialiser that sets a part of an object twice";

/// The elements of a string as initial values from `offset` on, without the zeros.
pub fn characters(bytes: &[u8], element: IntType, offset: u64) -> Vec<(u64, IntType, Expr)> {
    let width = element.bytes() as usize;
    let value =
        |bytes: &[u8]| bytes.iter().rev().fold(0, |value: Value, byte| value << 8 | Value::from(*byte));
    bytes
        .chunks_exact(width)
        .enumerate()
        .map(|(index, bytes)| (offset + (index * width) as u64, value(bytes)))
        .filter(|(_, value)| *value != 0)
        .map(|(offset, value)| (offset, element, Expr::int(value, element)))
        .collect()
}

impl Function<'_, '_> {
    /// The text of a string that initialises an array: its elements, cut to the array.
    fn string_initialiser(&self, entry: &InitEntry) -> Option<(Vec<u8>, IntType)> {
        let unit = self.unit;
        let expr = unit.tree[entry.value];
        let ExprKind::Str(string) = expr.kind else { return None };
        let TypeKind::Array { elem, .. } = unit.kind(expr.ty) else { return None };
        let element = unit.scalar_type(elem)?;
        let mut bytes = unit.tree[string].bytes(&unit.session.target);
        if let Some(size) = unit.size(expr.ty) {
            bytes.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        }
        Some((bytes, element))
    }

    /// The initial content of a static object.
    pub fn static_initialiser(&mut self, declaration: DeclId, object: ObjectId) -> Initial {
        let unit = self.unit;
        self.builder.span = self.global.program.objects[object].span;
        let mut values: BTreeMap<u64, (IntType, Expr)> = BTreeMap::new();
        let mut bits: BTreeMap<(u64, u64), Value> = BTreeMap::new();
        let entries: Vec<InitEntry> = match unit.tree[declaration].init {
            Some(init) => unit.tree[init].to_vec(),
            None => Vec::new(),
        };
        if self.is_unclear(unit.tree[declaration].ty, &entries) {
            self.global.assume(format!("unsupported: {UNCLEAR}"), self.builder.span, true);
            return Initial::NotModelled;
        }
        let fields = BitFields::of(self, unit.tree[declaration].ty, entries.iter().any(|e| e.bit_width > 0));
        for entry in &entries {
            let end = entry.offset + unit.size(unit.tree[entry.value].ty).unwrap_or(0);
            if entry.bit_width == 0 && unit.is_aggregate(unit.tree[entry.value].ty) {
                // Later entries replace earlier ones, zeros included.
                let covered: Vec<u64> = values.range(entry.offset..end).map(|(offset, _)| *offset).collect();
                covered.iter().for_each(|offset| drop(values.remove(offset)));
                bits.retain(|(start, _), _| !(entry.offset..end).contains(start));
            }
            if let Some((bytes, element)) = self.string_initialiser(entry) {
                for (offset, ty, value) in characters(&bytes, element, entry.offset) {
                    values.insert(offset, (ty, value));
                }
                continue;
            }
            let ty = unit.tree[entry.value].ty;
            if unit.is_aggregate(ty) {
                match self.constant_aggregate(entry.value) {
                    Some(inner) => {
                        for (offset, ty, value) in inner {
                            values.insert(entry.offset + offset, (ty, value));
                        }
                    }
                    None => return self.not_constant(object),
                }
                continue;
            }
            let Some(value) = self.constant(entry.value) else { return self.not_constant(object) };
            if entry.bit_width > 0 {
                let (start, size, shift) = fields.unit_of(entry);
                let Expr::Const(value, _) = value else { return self.not_constant(object) };
                let mask: Value = (1 << entry.bit_width) - 1;
                let word = bits.entry((start, size)).or_insert(0);
                *word = *word & !(mask << shift) | (value & mask) << shift;
            } else {
                let ty = self.type_of(&value);
                values.insert(entry.offset, (ty, value));
            }
        }
        let mut found: Vec<(u64, IntType, Expr)> =
            values.into_iter().map(|(offset, (ty, value))| (offset, ty, value)).collect();
        // Units of bit-fields with different sizes may overlap: they are merged byte by byte.
        let mut bytes: BTreeMap<u64, Value> = BTreeMap::new();
        for ((start, size), word) in bits {
            for index in 0..size {
                *bytes.entry(start + index).or_insert(0) |= word >> (8 * index) & 0xff;
            }
        }
        found.extend(
            bytes.into_iter().map(|(offset, byte)| (offset, IntType::U8, Expr::int(byte, IntType::U8))),
        );
        found.retain(|(_, _, value)| !matches!(value, Expr::Const(0, _)));
        Initial::Values(found)
    }
    /// Whether it is unclear which earlier parts of an initialiser later ones replace: braces that may
    /// replace something, or several members of one union, of which only the last one counts.
    fn is_unclear(&self, ty: TypeId, entries: &[InitEntry]) -> bool {
        let unit = self.unit;
        let begins = |entry: &InitEntry| unit.tree.expr_span(entry.value).lo;
        let unclear = &unit.unclear_initialisers;
        if entries.iter().any(|entry| unclear.tokens.contains(&begins(entry))) {
            return true;
        }
        for later in &unclear.members {
            let offsets = |tokens: &FxHashSet<u32>| -> Vec<u64> {
                let own = entries.iter().filter(|entry| tokens.contains(&begins(entry)));
                own.map(|entry| entry.offset).collect()
            };
            match (offsets(&later.before).iter().max(), offsets(&later.value).iter().min()) {
                (None, None) => {}
                (Some(before), Some(value)) if self.begins_after(ty, later.name, *value, *before) => {}
                _ => return true,
            }
        }
        let mut rests = Rests::default();
        if entries.len() > 1 && self.has_union(ty) {
            self.rests_of_unions(ty, 0, entries, &mut rests);
        }
        rests.has_several
    }
    /// Whether the members with a name that hold what is at an offset begin after another offset, at whatever
    /// depth, and there is one.
    fn begins_after(&self, ty: TypeId, name: Symbol, offset: u64, before: u64) -> bool {
        let unit = self.unit;
        let (mut at, mut start, mut found) = (ty, 0, false);
        loop {
            match unit.kind(at) {
                TypeKind::Array { elem, .. } => {
                    let Some(stride) = unit.size(elem).filter(|stride| *stride > 0) else { return found };
                    start += (offset - start) / stride * stride;
                    at = elem;
                }
                TypeKind::Record(id) => {
                    let info = unit.types.record_info(id);
                    let holds = |field: &&rucc_types::Field| {
                        let first = start + field.offset;
                        (first..first + unit.size(field.ty).unwrap_or(0)).contains(&offset)
                    };
                    let mut fields = info.fields.iter().filter(holds);
                    // In a union, which member is meant is not looked for.
                    let (Some(field), None) = (fields.next(), fields.next()) else { return false };
                    start += field.offset;
                    if field.name == Some(name) {
                        if start <= before {
                            return false;
                        }
                        found = true;
                    }
                    at = field.ty;
                }
                _ => return found,
            }
        }
    }
    fn not_constant(&mut self, object: ObjectId) -> Initial {
        let name = self.global.program.objects[object].name.clone();
        let span = self.builder.span;
        self.global.assume(format!("unsupported: the initialiser of '{name}' is no constant"), span, true);
        Initial::Unknown
    }
    /// The value of a constant expression, if it is one.
    fn constant(&mut self, id: ExprId) -> Option<Expr> {
        let ty = self.unit.scalar_type(self.unit.tree[id].ty)?;
        if !self.emits(id) || self.is_address_of_literal(id) {
            let edges = self.builder.template.edges.len();
            let value = self.rvalue(id);
            let value = self.cast(value, ty);
            if self.builder.template.edges.len() == edges && fold::is_constant(&value) {
                return Some(value);
            }
        }
        // Floating-point arithmetic, and objects whose constant value counts.
        let unit = self.unit;
        let (target, names) = (&unit.session.target, &unit.session.interner);
        let mut eval = Eval::new(&unit.tree, &unit.types, target, names).objects(true);
        match eval.initializer(id).ok()? {
            Const::Int(value) => Some(Expr::int(value, ty)),
            Const::Float(value) => Some(Expr::int(value.to_bits() as u64 as i128, ty)),
            Const::Complex { .. } | Const::ComplexInt { .. } | Const::Address(_) | Const::Apart { .. } => {
                None
            }
        }
    }
    fn is_address_of_literal(&self, id: ExprId) -> bool {
        let mut at = id;
        loop {
            at = match self.unit.tree[at].kind {
                ExprKind::Convert { operand, .. }
                | ExprKind::Cast(operand)
                | ExprKind::Unary { operand, .. } => operand,
                ExprKind::Member { base, .. } => base,
                ExprKind::CompoundLiteral(_) => return true,
                _ => return false,
            }
        }
    }
    /// The values of an aggregate constant: a compound literal, or a constant object.
    fn constant_aggregate(&mut self, id: ExprId) -> Option<Vec<(u64, IntType, Expr)>> {
        let mut at = id;
        loop {
            at = match self.unit.tree[at].kind {
                ExprKind::Convert { operand, .. } | ExprKind::Cast(operand) => operand,
                ExprKind::CompoundLiteral(declaration) | ExprKind::Decl(declaration) => {
                    let object = match self.variable(declaration) {
                        Some(crate::function::Variable::Object(object)) => object,
                        _ => return None,
                    };
                    return match self.static_initialiser(declaration, object) {
                        Initial::Values(values) => Some(values),
                        Initial::Unknown | Initial::NotModelled => None,
                    };
                }
                _ => return None,
            }
        }
    }

    /// Runs the initialiser of an automatic object.
    pub fn initialise(&mut self, declaration: DeclId, address: Expr) {
        let unit = self.unit;
        let Some(init) = unit.tree[declaration].init else { return };
        let entries: Vec<InitEntry> = unit.tree[init].to_vec();
        let ty = unit.tree[declaration].ty;
        let pointer = self.pointer();
        let address = self.freeze(address);
        let at = |this: &Self, offset: u64| {
            fold::binary(BinaryOp::Add, pointer, address.clone(), this.address_constant(offset))
        };
        let values: Vec<ExprId> = entries.iter().map(|entry| entry.value).collect();
        if unit.has_reverse_order(ty) {
            self.unsupported("a structure in reverse byte order");
        }
        if self.is_unclear(ty, &entries) {
            self.unsupported(UNCLEAR);
        }
        let settled = if values.len() > 1 { self.settle_entries(&values) } else { Settled::default() };
        self.zero_rest(declaration, &entries, &address);
        let fields = BitFields::of(self, ty, entries.iter().any(|entry| entry.bit_width > 0));
        // One value may initialise several elements; it is evaluated once.
        let mut shared: FxHashMap<ExprId, Expr> = FxHashMap::default();
        for (index, entry) in entries.iter().enumerate() {
            let value_type = unit.tree[entry.value].ty;
            if let Some((bytes, element)) = self.string_initialiser(entry) {
                for (offset, ty, value) in characters(&bytes, element, entry.offset) {
                    let cell = self.cell(at(self, offset), ty, false);
                    self.builder.set(Lhs::Memory(cell), value);
                }
                continue;
            }
            if unit.is_aggregate(value_type) {
                let from = self.aggregate(entry.value);
                let to = at(self, entry.offset);
                self.copy(to, from, value_type);
                continue;
            }
            let value = match shared.get(&entry.value) {
                Some(value) => value.clone(),
                None => {
                    let value = self.rvalue(entry.value);
                    let is_used_again = entries.get(index + 1).is_some_and(|next| next.value == entry.value);
                    if is_used_again {
                        let value = self.freeze(value);
                        shared.insert(entry.value, value.clone());
                        value
                    } else {
                        value
                    }
                }
            };
            if entry.bit_width > 0 {
                let (start, bytes, shift) = fields.unit_of(entry);
                let (unit, width) = (holder(bytes), entry.bit_width);
                let others = Vec::new();
                let address = at(self, start);
                let bits = Bits { address, bytes, unit, shift, width, signed: false, others };
                self.store_bits(&bits, value);
            } else {
                let scalar = self.scalar(value_type);
                let atomic = unit.is_atomic(ty);
                let cell = self.cell(at(self, entry.offset), scalar, atomic);
                self.builder.set(Lhs::Memory(cell), value);
            }
        }
        self.unsettle(settled);
    }
    /// Zeroes the parts without an entry.
    fn zero_rest(&mut self, declaration: DeclId, entries: &[InitEntry], address: &Expr) {
        let unit = self.unit;
        let ty = unit.tree[declaration].ty;
        if !unit.is_aggregate(ty) {
            return;
        }
        let is_scalar = |entry: &InitEntry| unit.scalar_type(unit.tree[entry.value].ty).is_some();
        let pointer = self.pointer();
        match unit.leaves(ty, MOST_LEAVES) {
            Some(leaves) if entries.iter().all(is_scalar) => {
                for leaf in leaves {
                    let is_set = entries.iter().any(|entry| entry.offset == leaf.offset);
                    if !is_set {
                        let offset = self.address_constant(leaf.offset);
                        let cell = fold::binary(BinaryOp::Add, pointer, address.clone(), offset);
                        let cell = self.cell(cell, leaf.ty, false);
                        self.builder.set(Lhs::Memory(cell), Expr::int(0, leaf.ty));
                    }
                }
            }
            Some(_) | None => {
                // One entry covers the whole object.
                if let [only] = entries
                    && unit.types.canonical(unit.tree[only.value].ty) == unit.types.canonical(ty)
                    && !matches!(unit.tree[only.value].kind, ExprKind::Str(_))
                {
                    return;
                }
                let size = match unit.tree.extent(declaration) {
                    0 => self.size_of(ty),
                    extent => self.address_constant(extent),
                };
                self.builder.emit(Op::Fill(address.clone(), Expr::int(0, IntType::U8), size));
                self.leave_rests(ty, entries, address);
            }
        }
    }
    /// Of a union that has an entry, only the member that is initialised has a known value (C11 6.2.6.1p7).
    fn leave_rests(&mut self, ty: TypeId, entries: &[InitEntry], address: &Expr) {
        let mut rests = Rests::default();
        self.rests_of_unions(ty, 0, entries, &mut rests);
        if rests.is_vague || rests.found.len() > MOST_RESTS {
            let text = "unsupported: bytes of unions that an initialiser leaves open".to_owned();
            return self.global.assume(text, self.builder.span, true);
        }
        for (offset, size) in rests.found {
            let offset = self.address_constant(offset);
            let at = fold::binary(BinaryOp::Add, self.pointer(), address.clone(), offset);
            for op in self.opening(at, size, "%rest".to_owned()) {
                self.builder.emit(op);
            }
        }
    }
    /// The bytes of unions with an entry that are not in the initialised member: offset and number.
    fn rests_of_unions(&self, ty: TypeId, offset: u64, entries: &[InitEntry], rests: &mut Rests) {
        let unit = self.unit;
        let size = unit.size(ty).unwrap_or(0);
        let inside = |entry: &&InitEntry| (offset..offset + size).contains(&entry.offset);
        if rests.found.len() > MOST_RESTS
            || unit.sync_kind(ty).is_some()
            || !self.has_union(ty)
            || !entries.iter().any(|entry| inside(&entry))
        {
            return;
        }
        match unit.kind(ty) {
            TypeKind::Array { elem, len: ArrayLen::Fixed(count) } => {
                let stride = unit.size(elem).unwrap_or(0);
                if matches!(unit.kind(elem), TypeKind::Record(_) | TypeKind::Array { .. }) {
                    let mut elements: BTreeMap<u64, Vec<InitEntry>> = BTreeMap::new();
                    for entry in entries.iter().filter(inside) {
                        let at = (entry.offset - offset).checked_div(stride).unwrap_or(0);
                        elements.entry(at).or_default().push(*entry);
                    }
                    for (at, entries) in elements.range(..count) {
                        self.rests_of_unions(elem, offset + at * stride, entries, rests);
                    }
                }
            }
            TypeKind::Record(id) => {
                let info = unit.types.record_info(id);
                let fields = info.fields.iter().map(|field| (field.ty, unit.size(field.ty).unwrap_or(0)));
                if info.kind == RecordKind::Union {
                    let inside_entries: Vec<InitEntry> = entries.iter().filter(inside).copied().collect();
                    rests.has_several |= self.sets_several(info, &inside_entries);
                    let fits = fields.filter(|(member, _)| {
                        entries.iter().filter(inside).all(|entry| {
                            let mut of = unit.tree[entry.value].ty;
                            // A string may be shorter than its array.
                            while let TypeKind::Array { elem, .. } = unit.kind(of) {
                                of = elem;
                            }
                            entry.bit_width > 0 || self.has_part(*member, entry.offset - offset, of)
                        })
                    });
                    let fits: Vec<(TypeId, u64)> = fits.collect();
                    let Some((_, covered)) = fits.first() else {
                        rests.has_several |= entries.iter().filter(inside).count() > 1;
                        rests.is_vague = true;
                        return;
                    };
                    let mut inner = Rests::default();
                    for (member, _) in &fits {
                        self.rests_of_unions(*member, offset, entries, &mut inner);
                    }
                    // Which member is meant may not be seen here.
                    let is_one = fits.len() == 1
                        || inner.found.is_empty() && fits.iter().all(|(_, size)| size == covered);
                    rests.is_vague |= !is_one || inner.is_vague;
                    rests.has_several |= inner.has_several;
                    rests.found.extend(inner.found);
                    if *covered < size {
                        rests.found.push((offset + covered, size - covered));
                    }
                    return;
                }
                for field in &info.fields {
                    self.rests_of_unions(field.ty, offset + field.offset, entries, rests);
                }
            }
            _ => {}
        }
    }
    /// Whether a list that entries come from names several members of the union that they are in.
    fn sets_several(&self, union: &RecordInfo, entries: &[InitEntry]) -> bool {
        let unit = self.unit;
        let lists = &unit.unclear_initialisers.designated;
        if entries.len() < 2 || lists.is_empty() {
            return false;
        }
        let mut members = FxHashMap::default();
        for (number, field) in union.fields.iter().enumerate() {
            self.name_members(field, number, &mut members);
        }
        let begins = |entry: &InitEntry| unit.tree.expr_span(entry.value).lo;
        lists.iter().any(|list| {
            entries.iter().any(|entry| list.contains(begins(entry))) && list.sets_several(&members)
        })
    }
    /// The names that designators of a union's member begin with.
    fn name_members(&self, field: &Field, number: usize, found: &mut FxHashMap<u32, usize>) {
        match (field.name, self.unit.kind(field.ty)) {
            (Some(name), _) => {
                found.insert(name.raw(), number);
            }
            (None, TypeKind::Record(id)) => {
                let fields = &self.unit.types.record_info(id).fields;
                fields.iter().for_each(|inner| self.name_members(inner, number, found));
            }
            (None, _) => {}
        }
    }
    fn has_union(&self, ty: TypeId) -> bool {
        match self.unit.kind(ty) {
            TypeKind::Array { elem, .. } => self.has_union(elem),
            TypeKind::Record(id) => {
                let info = self.unit.types.record_info(id);
                info.kind == RecordKind::Union || info.fields.iter().any(|field| self.has_union(field.ty))
            }
            _ => false,
        }
    }
    /// Whether a type has a part of another one at an offset.
    fn has_part(&self, ty: TypeId, offset: u64, part: TypeId) -> bool {
        let unit = self.unit;
        let is_same = match unit.scalar_type(ty) {
            Some(scalar) => unit.scalar_type(part) == Some(scalar),
            None => unit.types.canonical(ty) == unit.types.canonical(part),
        };
        if offset == 0 && is_same {
            return true;
        }
        if unit.size(ty).is_none_or(|size| offset >= size) {
            return false;
        }
        match unit.kind(ty) {
            TypeKind::Array { elem, .. } => match unit.size(elem) {
                Some(stride) if stride > 0 => self.has_part(elem, offset % stride, part),
                _ => false,
            },
            TypeKind::Record(id) => {
                unit.types.record_info(id).fields.iter().any(|field| {
                    field.offset <= offset && self.has_part(field.ty, offset - field.offset, part)
                })
            }
            _ => false,
        }
    }
}

/// The bytes of unions that an initialiser leaves open.
#[derive(Default)]
struct Rests {
    /// Their offsets and numbers.
    found: Vec<(u64, u64)>,
    /// Whether these may not be all.
    is_vague: bool,
    /// Whether several members of one union have an entry.
    has_several: bool,
}

/// The storage units of the bit-fields of a type, by the first bit of the field.
struct BitFields {
    units: BTreeMap<u64, (u64, u64, u32)>,
}

impl BitFields {
    fn of(function: &Function<'_, '_>, ty: TypeId, are_needed: bool) -> Self {
        let mut found = Self { units: BTreeMap::new() };
        if are_needed {
            found.collect(function, ty, 0);
        }
        found
    }
    fn collect(&mut self, function: &Function<'_, '_>, ty: TypeId, offset: u64) {
        let unit = function.unit;
        match unit.kind(ty) {
            TypeKind::Array { elem, len } => {
                let count = match len {
                    ArrayLen::Fixed(count) => count,
                    ArrayLen::Unknown | ArrayLen::Star | ArrayLen::Variable(_) => 0,
                };
                let stride = unit.size(elem).unwrap_or(0);
                if matches!(unit.kind(elem), TypeKind::Record(_) | TypeKind::Array { .. }) {
                    // Beyond this many elements the fallback of `unit_of` serves.
                    for index in 0..count.min(4096) {
                        self.collect(function, elem, offset + index * stride);
                    }
                }
            }
            TypeKind::Record(id) => {
                let info = unit.types.record_info(id);
                let sizes: Vec<u64> =
                    info.fields.iter().map(|field| unit.size(field.ty).unwrap_or(0)).collect();
                let size = info.layout.map_or(0, |layout| layout.size);
                for (index, field) in info.fields.iter().enumerate() {
                    if field.bits.is_some() {
                        if let Some((start, bytes, shift)) = storage_unit(&info.fields, &sizes, size, index) {
                            let first = (offset + field.offset) * 8 + u64::from(field.bit);
                            self.units.insert(first, (offset + start, bytes, shift));
                        }
                    } else {
                        self.collect(function, field.ty, offset + field.offset);
                    }
                }
            }
            _ => {}
        }
    }
    /// The unit of an initialised bit-field: its first byte, its bytes, and the bits below the field.
    fn unit_of(&self, entry: &InitEntry) -> (u64, u64, u32) {
        let first = entry.offset * 8 + u64::from(entry.bit_offset);
        if let Some(unit) = self.units.get(&first) {
            return *unit;
        }
        let start = first / 8;
        let bytes = (first + u64::from(entry.bit_width)).div_ceil(8) - start;
        (start, bytes.min(8), (first - start * 8) as u32)
    }
}
