//! Inline assembly: what is known to do nothing, and what can only change its operands.
//!
//! By the compiler's contract a template changes its outputs, and memory only if it says so. One without a memory
//! clobber and without operands in memory is therefore over-approximated by unknown outputs. All else ends the
//! execution.

use crate::function::Function;
use crate::places::Lvalue;
use ir::ids::Id;
use ir::passes::liveness::live_locals;
use ir::{IntType, Lhs, Op};
use rucc_sema::{AsmId, AsmOperand, StrId};

/// Instructions and prefixes that change nothing that a program sees.
const IDLE: [&str; 8] = ["nop", "mfence", "lfence", "sfence", "pause", "rep", "yield", "sleep"];

fn result_text(shown: &str) -> String {
    format!("inline assembly {shown:?}: its results are arbitrary, and it changes nothing else")
}

impl Function<'_, '_> {
    /// Arbitrary pointers that are looked at forbid proofs.
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
        let is_basic = outputs.is_empty() && inputs.is_empty() && unit.tree[asm.clobbers].is_empty();
        let touches_memory =
            clobbers_memory || is_basic || outputs.iter().chain(&inputs).any(|operand| operand.memory);
        let changes_structure =
            outputs.iter().any(|output| unit.scalar_type(unit.tree[output.value].ty).is_none());
        if (!is_idle && touches_memory) || changes_structure || !unit.tree[asm.labels].is_empty() {
            return self.unsupported(&format!("inline assembly {shown:?}"));
        }
        let span = self.builder.span;
        if !is_idle {
            // What an arbitrary pointer points to is not modelled; below, one that nobody looks at is not counted.
            self.global.assume(result_text(&shown), span, false);
            // Also without a result: an execution through here is no evidence.
            let mark = self.builder.temporary(IntType::BOOL);
            self.builder.emit(Op::unknown(Lhs::Local(mark)));
        }
        for input in &inputs {
            if !input.memory && unit.scalar_type(unit.tree[input.value].ty).is_some() {
                let value = self.rvalue(input.value);
                self.freeze(value);
            }
        }
        for (index, output) in outputs.iter().enumerate() {
            if is_idle && self.text(output.constraint).starts_with('+') {
                continue;
            }
            let same =
                inputs.iter().find(|input| is_idle && self.text(input.constraint) == index.to_string());
            let ty = unit.tree[output.value].ty;
            let scalar = self.scalar(ty);
            let place = self.lvalue(output.value);
            let place = self.freeze_lvalue(place);
            let value = match same {
                Some(input) if unit.scalar_type(unit.tree[input.value].ty).is_some() => {
                    let value = self.rvalue(input.value);
                    self.cast(value, scalar)
                }
                Some(_) | None => self.unknown(scalar),
            };
            self.builder.span = span;
            self.store(&place, ty, value);
            if !is_idle && unit.is_pointer(ty) {
                match (place, self.builder.template.edges.ids().next_back()) {
                    (Lvalue::Local(local), Some(edge)) => {
                        self.arbitrary.push((local, edge, result_text(&shown)))
                    }
                    _ => self.global.assume(result_text(&shown), span, true),
                }
            }
        }
    }
}
