//! Bit-fields: some bits of a storage unit, read and written with masks.
//!
//! Adjacent bit-fields are one memory location (C11 3.14); a member that is no bit-field, or a bit-field of
//! width 0, ends it. As in compilers, the storage unit is that of the declared type, unless it would touch
//! another memory location. Then it is the smallest sequence of bytes that holds the field; a unit of three
//! or five to seven bytes is read and written in parts.

use crate::fold;
use crate::function::Function;
use crate::library;
use crate::places::Lvalue;
use ir::{BinaryOp, Expr, IntType, Lhs, Op, Place, Value};
use rucc_types::{Field, RecordId};
use std::ops::Range;

/// Some bits of memory.
#[derive(Clone, Debug)]
pub struct Bits {
    /// The first byte of the storage unit.
    pub address: Expr,
    /// The unit's bytes.
    pub bytes: u64,
    /// The unsigned type that holds them all.
    pub unit: IntType,
    /// The number of bits below the field.
    pub shift: u32,
    /// The field's width.
    pub width: u32,
    /// Whether its highest bit is a sign.
    pub signed: bool,
    /// The other bytes of its memory location, as distances from the unit's first byte.
    pub others: Vec<i64>,
}

impl Bits {
    /// The parts of the storage unit that are accessed at once, and the bits below each.
    fn parts(&self, pointer: IntType) -> Vec<(Place, u64)> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.bytes {
            let size = 1 << (self.bytes - at).ilog2();
            let address = fold::binary(
                BinaryOp::Add,
                pointer,
                self.address.clone(),
                Expr::int(Value::from(at), pointer),
            );
            let ty = IntType { bits: 8 * size as u8, signed: false };
            found.push((Place::pointee(address, ty), 8 * at));
            at += size;
        }
        found
    }
    /// The content of the storage unit.
    fn word(&self, pointer: IntType) -> Expr {
        let parts = self.parts(pointer).into_iter().map(|(place, below)| {
            let part = fold::cast(Expr::load(place.clone()), place.ty, self.unit);
            fold::binary(BinaryOp::Shl, self.unit, part, Expr::int(Value::from(below), self.unit))
        });
        let joined = parts.reduce(|low, high| fold::binary(BinaryOp::Or, self.unit, low, high));
        joined.unwrap_or(Expr::int(0, self.unit))
    }
    fn distance(&self, bits: u32) -> Expr {
        Expr::int(Value::from(bits), self.unit)
    }
    fn mask(&self) -> Value {
        (1 << self.width) - 1
    }
    /// The field's value, in the unit's width.
    pub fn read(&self, pointer: IntType) -> Expr {
        self.extract(self.word(pointer), self.shift)
    }
    /// The value that a field has after `value` (in the unit's type) was stored in it.
    pub fn truncate(&self, value: Expr) -> Expr {
        self.extract(value, 0)
    }
    /// The bits from `shift` on of a word, extended as the field's type says.
    fn extract(&self, word: Expr, shift: u32) -> Expr {
        let unused = u32::from(self.unit.bits) - self.width;
        if self.signed {
            let high = fold::binary(BinaryOp::Shl, self.unit, word, self.distance(unused - shift));
            let signed = IntType { bits: self.unit.bits, signed: true };
            let high = fold::cast(high, self.unit, signed);
            return fold::binary(BinaryOp::Shr, signed, high, self.distance(unused));
        }
        let low = match shift {
            0 => word,
            _ => fold::binary(BinaryOp::Shr, self.unit, word, self.distance(shift)),
        };
        if shift + self.width == u32::from(self.unit.bits) {
            return low;
        }
        fold::binary(BinaryOp::And, self.unit, low, Expr::int(self.mask(), self.unit))
    }
    /// The unit's content with `value` (in the unit's type) in the field.
    fn combine(&self, value: Expr, pointer: IntType) -> Expr {
        if u64::from(self.width) == 8 * self.bytes {
            return value;
        }
        let mask = self.mask();
        let others = Expr::int(!(mask << self.shift), self.unit);
        let kept = Expr::binary(BinaryOp::And, self.unit, self.word(pointer), others);
        let value = fold::binary(BinaryOp::And, self.unit, value, Expr::int(mask, self.unit));
        let placed = fold::binary(BinaryOp::Shl, self.unit, value, self.distance(self.shift));
        fold::binary(BinaryOp::Or, self.unit, kept, placed)
    }
}

/// The unsigned type that holds this many bytes.
pub fn holder(bytes: u64) -> IntType {
    IntType { bits: 8 * bytes.next_power_of_two().min(8) as u8, signed: false }
}

/// The bit-fields that are one memory location with this one: the longest run of members around it that are
/// bit-fields of a width other than 0.
fn adjacent(fields: &[Field], member: usize) -> Range<usize> {
    let is_part = |field: &Field| field.bits.is_some_and(|bits| bits > 0);
    let before = fields[..member].iter().rev().take_while(|field| is_part(field)).count();
    let after = fields[member..].iter().take_while(|field| is_part(field)).count();
    member - before..member + after
}

/// Where the storage unit of a bit-field is: its first byte, its bytes, and the bits below the field.
pub fn storage_unit(fields: &[Field], sizes: &[u64], size: u64, member: usize) -> Option<(u64, u64, u32)> {
    let field = &fields[member];
    let width = u64::from(field.bits?);
    let first_bit = field.offset * 8 + u64::from(field.bit);
    let location = adjacent(fields, member);
    let is_free = |start: u64, bytes: u64| {
        let overlaps = |index: usize| {
            let other = &fields[index];
            let end = match other.bits {
                Some(bits) => other.offset + (u64::from(other.bit) + u64::from(bits)).div_ceil(8),
                None => other.offset + sizes[index],
            };
            let is_apart = location.contains(&index) || other.bits == Some(0);
            !is_apart && other.offset < start + bytes && start < end
        };
        start + bytes <= size && !(0..fields.len()).any(overlaps)
    };
    let holds = |start: u64, bytes: u64| start * 8 <= first_bit && first_bit + width <= (start + bytes) * 8;
    let declared = sizes[member].clamp(1, 8);
    let aligned = first_bit / 8 / declared * declared;
    let mut candidates = vec![(aligned, declared)];
    for bytes in [1, 2, 4, 8] {
        let lowest = ((first_bit + width).div_ceil(8)).saturating_sub(bytes);
        let highest = first_bit / 8;
        candidates.push((first_bit / 8 / bytes * bytes, bytes));
        candidates.extend((lowest..=highest).rev().map(|start| (start, bytes)));
    }
    let (start, bytes) = candidates
        .iter()
        .copied()
        .find(|&(start, bytes)| holds(start, bytes) && is_free(start, bytes))
        .or_else(|| {
            let start = first_bit / 8;
            let bytes = (first_bit + width).div_ceil(8) - start;
            (bytes <= 8).then_some((start, bytes))
        })?;
    Some((start, bytes, (first_bit - start * 8) as u32))
}

impl Function<'_, '_> {
    /// The bits of a member of the record at an address.
    pub fn bit_field(&mut self, record: Expr, id: RecordId, field: &Field, width: u32) -> Lvalue {
        let unit = self.unit;
        let info = unit.types.record_info(id);
        let sizes: Vec<u64> = info.fields.iter().map(|field| unit.size(field.ty).unwrap_or(0)).collect();
        let size = info.layout.map_or(0, |layout| layout.size);
        let member = info.fields.iter().position(|other| std::ptr::eq(other, field)).unwrap_or(0);
        let Some((start, bytes, shift)) = storage_unit(&info.fields, &sizes, size, member) else {
            self.unsupported("a bit-field that spans more than eight bytes");
            return Lvalue::Memory { address: record, atomic: false };
        };
        let declared = unit.scalar_type(field.ty).unwrap_or(IntType::U32);
        let ends = |field: &Field| field.offset + u64::from(field.bit + field.bits.unwrap_or(0)).div_ceil(8);
        let location = &info.fields[adjacent(&info.fields, member)];
        let first =
            location.iter().map(|field| field.offset + u64::from(field.bit / 8)).min().unwrap_or(start);
        let end = location.iter().map(ends).max().unwrap_or(start + bytes);
        let is_other = |at: &u64| !(start..start + bytes).contains(at);
        let others = (first..end).filter(is_other).map(|at| at as i64 - start as i64).collect();
        let offset = self.address_constant(start);
        let address = fold::binary(BinaryOp::Add, self.pointer(), record, offset);
        Lvalue::Bits(Bits {
            address,
            bytes,
            unit: holder(bytes),
            shift,
            width,
            signed: declared.signed,
            others,
        })
    }
    /// Stores a value in a bit-field.
    pub fn store_bits(&mut self, bits: &Bits, value: Expr) {
        self.may_store_others(bits);
        let pointer = self.pointer();
        let value = self.cast(value, bits.unit);
        let combined = bits.combine(value, pointer);
        let parts = bits.parts(pointer);
        if let [(place, _)] = parts.as_slice() {
            return self.builder.set(Lhs::Memory(place.clone()), combined);
        }
        let combined = self.freeze(combined);
        for (place, below) in parts {
            let below = Expr::int(Value::from(below), bits.unit);
            let part = fold::binary(BinaryOp::Shr, bits.unit, combined.clone(), below);
            let part = self.cast(part, place.ty);
            self.builder.set(Lhs::Memory(place), part);
        }
    }
    /// Adjacent bit-fields are one memory location, though they may be in several storage units, and
    /// compilers write only one of these: two accesses to them race (C11 3.14, 5.1.2.4p25). The other checks
    /// take for granted that there is no data race, so only the race check sees the rest of the location
    /// written.
    fn may_store_others(&mut self, bits: &Bits) {
        let pointer = self.pointer();
        for &at in &bits.others {
            let at = Expr::int(pointer.wrap(Value::from(at)), pointer);
            let address = fold::binary(BinaryOp::Add, pointer, bits.address.clone(), at);
            let place = Place::pointee(address, IntType::U8);
            let (builder, program) = (&mut self.builder, &mut self.global.program);
            let mut context = library::Context { builder, program, failures: false };
            context.in_races(Op::set(Lhs::Memory(place.clone()), Expr::load(place)));
        }
    }
}
