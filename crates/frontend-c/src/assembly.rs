//! Inline assembly: templates that do nothing, and templates that can only change their operands.
//!
//! By the compiler's contract a template changes its outputs, and memory only if it says so. One without a
//! memory clobber and without operands in memory is therefore over-approximated by unknown outputs. All
//! else ends the execution. Operands are computed in any case, and those in registers are read: `asm("" :
//! "+r"(x))` reads `x` and writes it back. For programs from nesC, instructions that only compute are exact
//! (`avr.rs`).

use crate::avr::{self, Avr, Operand, Registers};
use crate::function::Function;
use crate::places::Lvalue;
use ir::ids::Id;
use ir::passes::liveness::live_locals;
use ir::{BinaryOp, Expr, IntType, Lhs, LocalId, Op};
use rucc_sema::{AsmId, AsmOperand, StrId};

/// Instructions and prefixes without an effect that a program could observe.
const IDLE: [&str; 8] = ["nop", "mfence", "lfence", "sfence", "pause", "rep", "yield", "sleep"];

/// Whether a constraint allows nothing but memory.
fn is_in_memory(constraint: &str) -> bool {
    let mut letters = constraint.chars().filter(|letter| !"=+&%#*!?, \t".contains(*letter)).peekable();
    letters.peek().is_some() && letters.all(|letter| "moV<>".contains(letter))
}

fn result_text(shown: &str) -> String {
    format!("inline assembly {shown:?}: its results are arbitrary, and it changes nothing else")
}

impl Function<'_, '_> {
    /// Arbitrary pointers that are dereferenced forbid proofs.
    pub fn arbitrary_pointers(&mut self) {
        if self.arbitrary.is_empty() {
            return;
        }
        let live = live_locals(&self.builder.template);
        for (local, edge, text) in std::mem::take(&mut self.arbitrary) {
            let edge = &self.builder.template.edges[edge];
            let (target, span) = (edge.target, edge.span);
            if live[target].contains(local.index()) {
                self.global.assume(text, span, true);
            }
        }
    }
    fn text(&self, string: StrId) -> String {
        self.unit.tree[string].elements.iter().map(|&c| char::from_u32(c).unwrap_or('?')).collect()
    }
    /// An inline assembly statement.
    pub fn assembly(&mut self, id: AsmId) {
        self.global.atomics.fence();
        if !self.builder.is_reachable() {
            return;
        }
        let unit = self.unit;
        let asm = unit.tree[id];
        let text = self.text(asm.template);
        if self.interrupt_assembly(&text) {
            return;
        }
        let shown: String = text.chars().take(40).collect();
        let outputs: Vec<AsmOperand> = unit.tree[asm.outputs].to_vec();
        let inputs: Vec<AsmOperand> = unit.tree[asm.inputs].to_vec();
        let is_idle = text.split([';', '\n', '\t', ' ']).all(|word| word.is_empty() || IDLE.contains(&word));
        let clobbers_memory = unit.tree[asm.clobbers].iter().any(|name| self.text(*name) == "memory");
        // `rdtsc` gives 32 bits in each of its registers, where addresses have 64 bits.
        let is_counter = text.trim() == "rdtsc" && inputs.is_empty() && self.pointer().bits == 64;
        let is_basic = outputs.is_empty() && inputs.is_empty() && unit.tree[asm.clobbers].is_empty();
        let touches_memory =
            clobbers_memory || is_basic || outputs.iter().chain(&inputs).any(|operand| operand.memory);
        let changes_structure =
            outputs.iter().any(|output| unit.scalar_type(unit.tree[output.value].ty).is_none());
        if (!is_idle && touches_memory) || changes_structure || !unit.tree[asm.labels].is_empty() {
            return self.unsupported(&format!("inline assembly {shown:?}"));
        }
        if !is_idle && unit.tree[asm.clobbers].is_empty() && self.avr_assembly(&text, &outputs, &inputs) {
            return;
        }
        let span = self.builder.span;
        if !is_idle {
            // What an arbitrary pointer points to is not modelled; the code below ignores pointers that are
            // never used.
            self.global.assume(result_text(&shown), span, false);
        }
        // All operands are known before the template runs, and outputs are stored after it.
        let mut passed: Vec<(String, Expr)> = Vec::new();
        for input in &inputs {
            let constraint = self.text(input.constraint);
            if let Some(value) = self.operand(input, &constraint) {
                passed.push((constraint, value));
            }
        }
        let reads = outputs.iter().any(|output| self.text(output.constraint).contains('+'));
        let mut results = Vec::new();
        for (index, output) in outputs.iter().enumerate() {
            let constraint = self.text(output.constraint);
            let ty = unit.tree[output.value].ty;
            let scalar = self.scalar(ty);
            let place = self.lvalue(output.value);
            let place = self.freeze_lvalue(place);
            let value = if is_idle && constraint.starts_with('+') {
                if let Lvalue::Local(_) = place {
                    continue;
                }
                // In memory it stays as it is; otherwise it is read, and written back.
                if is_in_memory(&constraint) {
                    self.discard_place(place);
                    continue;
                }
                let value = self.load(&place, ty);
                Some(Expr::Local(self.builder.save(value, scalar)))
            } else {
                let number = index.to_string();
                let same = passed.iter().find(|(constraint, _)| is_idle && *constraint == number);
                same.map(|(_, value)| self.cast(value.clone(), scalar))
            };
            results.push((place, ty, scalar, value));
        }
        for (place, ty, scalar, value) in results {
            let is_known = value.is_some();
            let value = match value {
                Some(value) => value,
                // The halves of a counter of time: an input.
                None if is_counter => self.half_of_counter(scalar),
                // What was given no value of the program gives no address.
                None if inputs.is_empty() && !reads => self.unknown_number(scalar),
                None => self.unknown(scalar),
            };
            self.builder.span = span;
            self.store(&place, ty, value);
            if !is_known && !is_idle && unit.is_pointer(ty) {
                match (place, self.builder.template.edges.ids().next_back()) {
                    (Lvalue::Local(local), Some(edge)) => {
                        self.arbitrary.push((local, edge, result_text(&shown)))
                    }
                    _ => self.global.assume(result_text(&shown), span, true),
                }
            }
        }
    }
    /// Any number of 32 bits, in a type.
    fn half_of_counter(&mut self, scalar: IntType) -> Expr {
        let half = self.builder.temporary(IntType::U32);
        self.builder.emit(Op::any(Lhs::Local(half)));
        self.cast(Expr::Local(half), scalar)
    }
    /// The value of an input that is passed in a register. Of one in memory, only its address is computed.
    fn operand(&mut self, input: &AsmOperand, constraint: &str) -> Option<Expr> {
        let ty = self.unit.tree[input.value].ty;
        if input.memory && is_in_memory(constraint) {
            let place = self.lvalue(input.value);
            self.discard_place(place);
            return None;
        }
        if input.memory {
            self.unsupported("inline assembly with a structure in registers");
            return None;
        }
        let Some(scalar) = self.unit.scalar_type(ty) else {
            self.effect(input.value);
            return None;
        };
        let value = self.rvalue(input.value);
        Some(Expr::Local(self.builder.save(value, scalar)))
    }
    /// An address that nobody uses: it is computed all the same, where that can be noticed.
    fn discard_place(&mut self, place: Lvalue) {
        match place {
            Lvalue::Local(_) => {}
            Lvalue::Memory { address, .. } => self.discard(address),
            Lvalue::Bits(bits) => self.discard(bits.address),
        }
    }
    /// Instructions of AVR processors that only compute, in a program from nesC. Says whether all of them
    /// are known.
    fn avr_assembly(&mut self, text: &str, outputs: &[AsmOperand], inputs: &[AsmOperand]) -> bool {
        if self.global.nesc.is_none() {
            return false;
        }
        // A dry run with hypothetical locals comes first: a failed translation must leave no traces.
        let all = || outputs.iter().chain(inputs);
        let is_known = |constraint: &str| constraint.chars().all(|letter| "=+&rdlaewxyzbq".contains(letter));
        let mut operands = Vec::new();
        let mut types = Vec::new();
        for operand in all() {
            let ty = self.unit.tree[operand.value].ty;
            let constraint = self.text(operand.constraint);
            let Some(scalar) = self.unit.scalar_type(ty).filter(|_| is_known(&constraint)) else {
                return false;
            };
            let is_pointer = self.unit.is_pointer(ty);
            if is_pointer && constraint.contains('=') || !is_pointer && !matches!(scalar.bits, 8 | 16 | 32) {
                return false;
            }
            let fresh = |part: usize| LocalId((4 * operands.len() + part) as u32);
            let registers = match is_pointer {
                true => Registers::Pointer(fresh(0)),
                false => Registers::Bytes((0..usize::from(scalar.bits / 8)).map(fresh).collect()),
            };
            operands.push(Operand { registers, constraint });
            types.push((ty, scalar));
        }
        let own = [0, 1, 2].map(|number| LocalId((4 * operands.len() + number) as u32));
        if Avr::new(operands.clone(), own, self.pointer()).run(text).is_none() {
            return false;
        }
        let span = self.builder.span;
        let mut places = Vec::new();
        for (operand, (number, asked)) in operands.iter_mut().zip(all().enumerate()) {
            let (ty, scalar) = types[number];
            let value = if number < outputs.len() {
                let place = self.lvalue(asked.value);
                let place = self.freeze_lvalue(place);
                let reads = operand.constraint.contains('+');
                let value = reads.then(|| self.load(&place, ty));
                places.push(place);
                value
            } else {
                Some(self.rvalue(asked.value))
            };
            let value = value.map(|value| self.freeze(value));
            match &mut operand.registers {
                Registers::Pointer(pointer) => {
                    *pointer = self.builder.temporary(scalar);
                    if let Some(value) = value {
                        self.builder.set(Lhs::Local(*pointer), value);
                    }
                }
                Registers::Bytes(bytes) => {
                    let whole = IntType { signed: false, ..scalar };
                    for (part, byte) in bytes.iter_mut().enumerate() {
                        *byte = self.builder.temporary(IntType::U8);
                        if let Some(value) = &value {
                            let value = self.cast(value.clone(), whole);
                            let distance = Expr::int(8 * part as i128, whole);
                            let shifted = Expr::binary(BinaryOp::Shr, whole, value, distance);
                            let value = self.cast(shifted, IntType::U8);
                            self.builder.set(Lhs::Local(*byte), value);
                        }
                    }
                }
            }
        }
        let own = [IntType::U8, IntType::U8, avr::WORD].map(|ty| self.builder.temporary(ty));
        let mut avr = Avr::new(operands.clone(), own, self.pointer());
        // The dry run succeeded.
        let _ = avr.run(text);
        for (target, value) in avr.done {
            self.builder.span = span;
            self.builder.set(Lhs::Local(target), value);
        }
        for ((operand, place), (ty, scalar)) in operands.iter().zip(&places).zip(types) {
            let whole = IntType { signed: false, ..scalar };
            let value = match &operand.registers {
                Registers::Pointer(pointer) => Expr::Local(*pointer),
                Registers::Bytes(bytes) => {
                    let mut value = Expr::int(0, whole);
                    for (part, byte) in bytes.iter().enumerate() {
                        let byte = self.cast(Expr::Local(*byte), whole);
                        let distance = Expr::int(8 * part as i128, whole);
                        let shifted = Expr::binary(BinaryOp::Shl, whole, byte, distance);
                        value = Expr::binary(BinaryOp::Or, whole, value, shifted);
                    }
                    self.cast(value, scalar)
                }
            };
            self.builder.span = span;
            self.store(place, ty, value);
        }
        true
    }
}
