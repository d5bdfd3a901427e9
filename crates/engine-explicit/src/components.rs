//! Components of states: each distinct content is stored once, packed into bytes.
//!
//! A content is a run of bytes in one large buffer, so that a million of them take little room and are freed
//! at once. Recently used ones are also kept unpacked.

use ir::semantics::{Activation, Block, Bytes, Page, Run, Thread};
use ir::{EdgeId, LocationId, ObjectId, TemplateId};
use std::sync::Arc;

/// Something that can be turned into bytes and back.
pub trait Pack: Sized {
    /// Appends the bytes. Different contents give different bytes.
    fn pack(&self, out: &mut Vec<u8>);
    /// Reads what [`pack`](Self::pack) wrote.
    fn unpack(input: &mut Reader<'_>) -> Self;
}

/// Contents of one kind, with their numbers.
pub struct Components<T> {
    buffer: Vec<u8>,
    /// Where each content starts; one more entry for the end of the last.
    starts: Vec<u64>,
    /// Open addressing with linear probing. The upper half of a slot comes from the hash, the lower is the
    /// number.
    slots: Vec<u64>,
    /// By the lower bits of their numbers.
    recent: Vec<Option<(u32, Arc<T>)>>,
    scratch: Vec<u8>,
}

const EMPTY: u64 = u64::MAX;
const LOW: u64 = 0xFFFF_FFFF;
/// How many contents are kept unpacked.
const RECENT: usize = 1 << 14;

impl<T: Pack> Components<T> {
    /// None yet.
    pub fn new() -> Self {
        let recent = (0..RECENT).map(|_| None).collect();
        Self { buffer: Vec::new(), starts: vec![0], slots: vec![EMPTY; 256], recent, scratch: Vec::new() }
    }
    /// The bytes that they take.
    pub fn bytes(&self) -> u64 {
        (self.buffer.capacity() + self.starts.capacity() * 8 + self.slots.capacity() * 8) as u64
    }
    fn packed(&self, number: u32) -> &[u8] {
        let at = number as usize;
        &self.buffer[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
    /// The number of a content. If an equal one is cached unpacked, it replaces the item, so that equal parts
    /// are shared.
    pub fn intern(&mut self, item: &mut Arc<T>) -> u32 {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        item.pack(&mut scratch);
        let number = self.number(&scratch);
        self.scratch = scratch;
        match &mut self.recent[number as usize % RECENT] {
            Some((kept, same)) if *kept == number => item.clone_from(same),
            other => *other = Some((number, item.clone())),
        }
        number
    }
    fn number(&mut self, packed: &[u8]) -> u32 {
        if self.starts.len() * 8 >= self.slots.len() * 6 {
            self.grow();
        }
        let hash = hash_bytes(packed);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                let number = self.starts.len() as u32 - 1;
                self.slots[at] = hash & !LOW | u64::from(number);
                self.buffer.extend_from_slice(packed);
                self.starts.push(self.buffer.len() as u64);
                return number;
            }
            if (slot ^ hash) & !LOW == 0 && self.packed(slot as u32) == packed {
                return slot as u32;
            }
            at = (at + 1) & mask;
        }
    }
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let mut slots = vec![EMPTY; size];
        for number in 0..self.starts.len() as u32 - 1 {
            let hash = hash_bytes(self.packed(number));
            let mut at = hash as usize & (size - 1);
            while slots[at] != EMPTY {
                at = (at + 1) & (size - 1);
            }
            slots[at] = hash & !LOW | u64::from(number);
        }
        self.slots = slots;
    }
    /// The content with a number.
    pub fn get(&mut self, number: u32) -> Arc<T> {
        if let Some((kept, item)) = &self.recent[number as usize % RECENT]
            && *kept == number
        {
            return item.clone();
        }
        let item = Arc::new(T::unpack(&mut Reader(self.packed(number))));
        self.recent[number as usize % RECENT] = Some((number, item.clone()));
        item
    }
}

/// A hash of bytes; long runs of them at eight to a step.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain(std::iter::once(&last)).map(|word| u64::from_le_bytes(*word));
    hash_words(std::iter::once(bytes.len() as u64).chain(words))
}

/// Mixes well in its low bits (the end is MurmurHash3's finaliser).
pub fn hash_words(words: impl Iterator<Item = u64>) -> u64 {
    let hash = words.fold(0x9E37_79B9_7F4A_7C15, |hash: u64, word| {
        let hash = (hash ^ word).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        hash ^ (hash >> 32)
    });
    let hash = hash.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    hash ^ (hash >> 33)
}

/// Bytes to read from.
pub struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> u64 {
        let mut value = 0;
        let mut shift = 0;
        while let Some((byte, rest)) = self.0.split_first() {
            self.0 = rest;
            value |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }
    fn index(&mut self) -> u32 {
        self.number() as u32
    }
}

/// Seven bits to a byte, low ones first.
fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Runs of zeros, each followed by a run of others; then, if there are any, the open bytes.
fn pack_run(run: &Run, out: &mut Vec<u8>) {
    let data = run.data();
    put(out, data.len() as u64);
    let mut at = 0;
    while at < data.len() {
        let zeros = data[at..].iter().take_while(|byte| **byte == 0).count();
        at += zeros;
        // A single zero does not end a run: it would cost two bytes.
        let mut end = at;
        while end < data.len() && (data[end] != 0 || data.get(end + 1).is_some_and(|next| *next != 0)) {
            end += 1;
        }
        put(out, zeros as u64);
        put(out, (end - at) as u64);
        out.extend_from_slice(&data[at..end]);
        at = end;
    }
    put(out, run.open_bits().len() as u64);
    for word in run.open_bits() {
        put(out, *word);
    }
}

fn unpack_run(length: usize, input: &mut Reader<'_>) -> Run {
    let mut data = vec![0; length];
    let mut at = 0;
    while at < length {
        at += input.number() as usize;
        let count = input.number() as usize;
        let (run, rest) = input.0.split_at(count);
        data[at..at + count].copy_from_slice(run);
        input.0 = rest;
        at += count;
    }
    let words = input.number();
    Run::new(data, (0..words).map(|_| input.number()).collect())
}

impl Pack for Bytes {
    /// Their number; what is held of them; then, if some bytes are open, those that share their value.
    fn pack(&self, out: &mut Vec<u8>) {
        if Self::is_long(self.len()) {
            put(out, self.len() as u64);
            put(out, u64::from(self.rest_is_open()));
            put(out, self.pages().len() as u64);
            for (number, page) in self.pages() {
                put(out, number as u64);
                match page {
                    Page::Zero => put(out, 0),
                    Page::Open => put(out, 1),
                    Page::Held(run) => {
                        put(out, 2);
                        pack_run(run, out);
                    }
                }
            }
        } else {
            pack_run(self.short(), out);
        }
        if Self::is_long(self.len()) || !self.short().open_bits().is_empty() {
            put(out, self.shared().len() as u64);
            for (at, number) in self.shared() {
                put(out, *at as u64);
                put(out, u64::from(*number));
            }
        }
    }
    fn unpack(input: &mut Reader<'_>) -> Self {
        let length = input.number() as usize;
        let mut bytes;
        if Self::is_long(length) {
            bytes = Self::long(length, input.number() == 1);
            for _ in 0..input.number() {
                let number = input.number() as usize;
                let page = match input.number() {
                    0 => Page::Zero,
                    1 => Page::Open,
                    _ => {
                        let size = input.number() as usize;
                        Page::Held(Arc::new(unpack_run(size, input)))
                    }
                };
                bytes.set_page(number, page);
            }
        } else {
            bytes = Self::of_run(unpack_run(length, input));
        }
        if Self::is_long(length) || !bytes.short().open_bits().is_empty() {
            for _ in 0..input.number() {
                let at = input.number() as usize;
                bytes.share(at, input.index());
            }
        }
        bytes
    }
}

impl Pack for Block {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, self.address);
        put(out, u64::from(self.site.0));
        self.bytes.pack(out);
    }
    fn unpack(input: &mut Reader<'_>) -> Self {
        let address = input.number();
        let site = ObjectId(input.index());
        Self { address, site, bytes: Bytes::unpack(input) }
    }
}

impl Pack for Thread {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, u64::from(self.template.0));
        put(out, self.allocated);
        put(out, self.result);
        put(out, self.activations.len() as u64);
        for activation in &self.activations {
            put(out, u64::from(activation.template.0));
            put(out, u64::from(activation.location.0));
            put(out, activation.frame);
            put(out, activation.called_by.map_or(0, |edge| u64::from(edge.0) + 1));
            put(out, activation.locals.len() as u64);
            for local in &activation.locals {
                put(out, *local);
            }
        }
        self.stack.pack(out);
    }
    fn unpack(input: &mut Reader<'_>) -> Self {
        let template = TemplateId(input.index());
        let (allocated, result) = (input.number(), input.number());
        let mut activations = Vec::new();
        for _ in 0..input.number() {
            let (template, location) = (TemplateId(input.index()), LocationId(input.index()));
            let frame = input.number();
            let called_by = input.number().checked_sub(1).map(|edge| EdgeId(edge as u32));
            let locals = (0..input.number()).map(|_| input.number()).collect();
            activations.push(Activation { template, location, locals, frame, called_by });
        }
        Self { template, activations, stack: Bytes::unpack(input), allocated, result }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        let mut stack = Bytes::zeros(200);
        stack.write_slice(3, &[1, 0, 2, 0, 0, 7]);
        stack.write_slice(150, &[9; 50]);
        stack.reopen(20, 70);
        stack.share(33, 200);
        stack.share(31, 0);
        let activation = Activation {
            template: TemplateId(300),
            location: LocationId(0),
            locals: vec![0, u64::MAX, 1 << 40],
            frame: 16,
            called_by: Some(EdgeId(0)),
        };
        let other = Activation { called_by: None, ..activation.clone() };
        let thread = Thread {
            template: TemplateId(1),
            activations: vec![activation, other],
            stack,
            allocated: 77,
            result: 128,
        };
        let mut out = Vec::new();
        thread.pack(&mut out);
        let mut reader = Reader(&out);
        assert_eq!(Thread::unpack(&mut reader), thread);
        assert!(reader.0.is_empty());
        let mut components = Components::new();
        let numbers: Vec<u32> = (0..40_000u64)
            .map(|result| components.intern(&mut Arc::new(Thread { result, ..thread.clone() })))
            .collect();
        assert_eq!(numbers, (0..40_000).collect::<Vec<u32>>());
        assert!((0..40_000).all(|number| components.get(number).result == u64::from(number)));
        assert_eq!(components.intern(&mut Arc::new(Thread { result: 5, ..thread })), 5);
    }
}
