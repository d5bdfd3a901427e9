//! Exact translation of inline assembly for AVR processors that only computes: straight-line instructions on
//! registers, and loads from program memory.
//!
//! A register is a byte. The operands of a statement are the bytes of integers, lowest first (`%A0`, `%B0`,
//! …), or pointers in a pair of registers. A pointer is kept whole, because its width here is that of the
//! data model: adding to its low register and then the carry to its high one adds to the pointer. Program
//! memory and data memory are the same, as for pointers in C.
//!
//! Exact, up to widths of pointers (see `nesc.rs`). Other code is not translated, and stays unknown
//! (`assembly.rs`): jumps, other instructions, untracked carries.

use ir::{BinaryOp, Expr, IntType, LocalId, Place};

/// The registers of one operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registers {
    /// The bytes of an integer, lowest first.
    Bytes(Vec<LocalId>),
    /// A pair that holds a pointer.
    Pointer(LocalId),
}

/// An operand of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The registers that hold its value.
    pub registers: Registers,
    /// Its constraint, such as `+z`.
    pub constraint: String,
}

/// The machine that instructions run on.
pub struct Avr {
    operands: Vec<Operand>,
    /// The register that loads go to by default.
    scratch: LocalId,
    /// A byte that is 1 if there was a carry.
    carry: LocalId,
    /// Sixteen bits for sums.
    sum: LocalId,
    pointer: IntType,
    state: Carry,
    /// The translated operations, in order.
    pub done: Vec<(LocalId, Expr)>,
}

/// What is known of the carry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carry {
    /// It is in its register.
    Kept,
    /// It was already added to this pointer; the addition to its high register is still to come.
    Added(LocalId),
    /// Nothing.
    Lost,
}

/// A register that an instruction names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    Byte(LocalId),
    Zero,
    Low(LocalId),
    High(LocalId),
}

const BYTE: IntType = IntType::U8;
/// The type of sums.
pub const WORD: IntType = IntType { bits: 16, signed: false };

fn byte(value: i128) -> Expr {
    Expr::int(value, BYTE)
}
fn both(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, BYTE, left, right)
}

impl Avr {
    /// With these operands. The locals are for it alone: two bytes, and one of [`WORD`].
    pub fn new(operands: Vec<Operand>, [scratch, carry, sum]: [LocalId; 3], pointer: IntType) -> Self {
        Self { operands, scratch, carry, sum, pointer, state: Carry::Lost, done: Vec::new() }
    }

    /// Translates a text; `None` when that is not possible.
    pub fn run(&mut self, text: &str) -> Option<()> {
        for line in text.split(['\n', '$']) {
            // The rest is a comment.
            let line = line.split(';').next().unwrap_or(line);
            let words: Vec<&str> =
                line.split([' ', '\t', ',', '\r']).filter(|word| !word.is_empty()).collect();
            if let [instruction, operands @ ..] = words.as_slice() {
                self.instruction(&instruction.to_ascii_lowercase(), operands)?;
            }
        }
        (!matches!(self.state, Carry::Added(_)) && self.reads_are_defined()).then_some(())
    }

    /// Whether no uninitialised register is read, and all plain inputs are read before a result is written,
    /// which may be in the same register.
    fn reads_are_defined(&self) -> bool {
        let bytes = |wanted: &dyn Fn(&str) -> bool| -> Vec<LocalId> {
            let operands = self.operands.iter().filter(|operand| wanted(&operand.constraint));
            operands
                .flat_map(|operand| match &operand.registers {
                    Registers::Bytes(bytes) => bytes.clone(),
                    Registers::Pointer(pointer) => vec![*pointer],
                })
                .collect()
        };
        let inputs = bytes(&|constraint| !constraint.contains(['=', '+']));
        let early = bytes(&|constraint| constraint.contains('=') && !constraint.contains('&'));
        let mut open = bytes(&|constraint| constraint.contains('='));
        open.push(self.scratch);
        let mut is_early_written = false;
        for (target, value) in &self.done {
            let reads = |local: &LocalId| value.mentions(*local);
            if open.iter().any(reads)
                || is_early_written && inputs.iter().any(reads)
                || inputs.contains(target)
            {
                return false;
            }
            open.retain(|local| local != target);
            is_early_written |= early.contains(target);
        }
        true
    }

    /// The pointer in the register pair Z.
    fn z(&self) -> Option<LocalId> {
        self.operands.iter().find_map(|operand| match operand.registers {
            Registers::Pointer(pointer) if operand.constraint.contains('z') => Some(pointer),
            _ => None,
        })
    }

    fn name(&self, word: &str) -> Option<Name> {
        match word {
            "__zero_reg__" | "r1" => return Some(Name::Zero),
            "__tmp_reg__" | "r0" => return Some(Name::Byte(self.scratch)),
            "r30" | "ZL" => return self.z().map(Name::Low),
            "r31" | "ZH" => return self.z().map(Name::High),
            _ => {}
        }
        let word = word.strip_prefix('%')?;
        let (part, number) = match word.chars().next()? {
            letter @ 'A'..='D' => (letter as usize - 'A' as usize, &word[1..]),
            _ => (0, word),
        };
        match &self.operands.get(number.parse::<usize>().ok()?)?.registers {
            Registers::Bytes(bytes) => bytes.get(part).map(|byte| Name::Byte(*byte)),
            Registers::Pointer(pointer) if part == 0 => Some(Name::Low(*pointer)),
            Registers::Pointer(pointer) if part == 1 => Some(Name::High(*pointer)),
            Registers::Pointer(_) => None,
        }
    }
    /// The value of a register. Registers of pointers have no separate value.
    fn read(&self, word: &str) -> Option<Expr> {
        match self.name(word)? {
            Name::Byte(local) => Some(Expr::Local(local)),
            Name::Zero => Some(byte(0)),
            Name::Low(_) | Name::High(_) => None,
        }
    }
    fn target(&self, word: &str) -> Option<LocalId> {
        match self.name(word)? {
            Name::Byte(local) => Some(local),
            Name::Zero | Name::Low(_) | Name::High(_) => None,
        }
    }
    fn set(&mut self, target: LocalId, value: Expr) {
        self.done.push((target, value));
    }
    /// Adds to a pointer.
    fn advance(&mut self, pointer: LocalId, distance: Expr) {
        let sum = Expr::binary(BinaryOp::Add, self.pointer, Expr::Local(pointer), distance);
        self.set(pointer, sum);
    }
    fn carry(&self) -> Option<Expr> {
        (self.state == Carry::Kept).then_some(Expr::Local(self.carry))
    }
    fn set_carry(&mut self, value: Expr) {
        self.set(self.carry, value);
        self.state = Carry::Kept;
    }
    /// Adds two bytes and a carry, with a new carry.
    fn add(&mut self, target: LocalId, other: Expr, carry: Expr) {
        let wide = |value: Expr| Expr::cast(WORD, value);
        let sum = Expr::binary(BinaryOp::Add, WORD, wide(Expr::Local(target)), wide(other));
        let sum = Expr::binary(BinaryOp::Add, WORD, sum, wide(carry));
        self.set(self.sum, sum);
        let sum = || Expr::Local(self.sum);
        let high = Expr::binary(BinaryOp::Shr, WORD, sum(), Expr::int(8, WORD));
        let (high, low) = (Expr::cast(BYTE, high), Expr::cast(BYTE, sum()));
        self.set(self.carry, high);
        self.set(target, low);
        self.state = Carry::Kept;
    }

    fn instruction(&mut self, name: &str, operands: &[&str]) -> Option<()> {
        // Until the carry is added to its high register, a pointer has a wrong value.
        if let Carry::Added(pointer) = self.state {
            let completes = name == "adc"
                && operands.len() == 2
                && self.name(operands[0]) == Some(Name::High(pointer))
                && self.name(operands[1]) == Some(Name::Zero);
            self.state = Carry::Lost;
            return completes.then_some(());
        }
        match (name, operands) {
            ("nop", []) => {}
            ("mov", [to, from]) => {
                let (target, value) = (self.target(to)?, self.read(from)?);
                self.set(target, value);
            }
            ("clr", [to]) => {
                let target = self.target(to)?;
                self.set(target, byte(0));
            }
            ("eor" | "and" | "or", [to, with]) => {
                let op = match name {
                    "eor" => BinaryOp::Xor,
                    "and" => BinaryOp::And,
                    _ => BinaryOp::Or,
                };
                let (target, value) = (self.target(to)?, self.read(with)?);
                self.set(target, both(op, Expr::Local(target), value));
            }
            ("com", [to]) => {
                let target = self.target(to)?;
                self.set(target, both(BinaryOp::Xor, Expr::Local(target), byte(0xff)));
                self.set_carry(byte(1));
            }
            ("swap", [to]) => {
                let target = self.target(to)?;
                let value = || Expr::Local(target);
                let low = both(BinaryOp::Shr, value(), byte(4));
                self.set(target, both(BinaryOp::Or, both(BinaryOp::Shl, value(), byte(4)), low));
            }
            ("inc" | "dec", [to]) => {
                let target = self.target(to)?;
                let op = if name == "inc" { BinaryOp::Add } else { BinaryOp::Sub };
                self.set(target, both(op, Expr::Local(target), byte(1)));
            }
            ("lsl" | "lsr", [to]) => {
                let target = self.target(to)?;
                let value = || Expr::Local(target);
                let (lost, op) = match name {
                    "lsl" => (both(BinaryOp::Shr, value(), byte(7)), BinaryOp::Shl),
                    _ => (both(BinaryOp::And, value(), byte(1)), BinaryOp::Shr),
                };
                self.set_carry(lost);
                self.set(target, both(op, value(), byte(1)));
            }
            ("add", [to, with]) => {
                let value = self.read(with)?;
                match self.name(to)? {
                    Name::Byte(target) => self.add(target, value, byte(0)),
                    Name::Low(pointer) => {
                        self.advance(pointer, Expr::cast(self.pointer, value));
                        self.state = Carry::Added(pointer);
                    }
                    Name::Zero | Name::High(_) => return None,
                }
            }
            ("adc", [to, with]) => {
                let (value, carry) = (self.read(with)?, self.carry()?);
                match self.name(to)? {
                    Name::Byte(target) => self.add(target, value, carry),
                    Name::High(pointer) if self.name(with) == Some(Name::Zero) => {
                        let carry = Expr::cast(self.pointer, carry);
                        let page = Expr::int(256, self.pointer);
                        self.advance(pointer, Expr::binary(BinaryOp::Mul, self.pointer, carry, page));
                        self.state = Carry::Lost;
                    }
                    Name::Zero | Name::Low(_) | Name::High(_) => return None,
                }
            }
            ("adiw", [to, distance]) => {
                let Name::Low(pointer) = self.name(to)? else { return None };
                let distance: i128 = distance.parse().ok()?;
                if !(0..64).contains(&distance) {
                    return None;
                }
                self.advance(pointer, Expr::int(distance, self.pointer));
                self.state = Carry::Lost;
            }
            ("lpm", _) => {
                let (target, after) = match operands {
                    [] => (self.scratch, false),
                    [to, "Z"] => (self.target(to)?, false),
                    [to, "Z+"] => (self.target(to)?, true),
                    _ => return None,
                };
                let pointer = self.z()?;
                self.set(target, Expr::load(Place::pointee(Expr::Local(pointer), BYTE)));
                if after {
                    self.advance(pointer, Expr::int(1, self.pointer));
                }
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::semantics::apply;
    use std::collections::BTreeMap;

    /// Runs what was translated. Loads give the low byte of their address.
    fn value(expr: &Expr, locals: &BTreeMap<LocalId, i128>) -> i128 {
        match expr {
            Expr::Const(value, _) => *value,
            Expr::Local(local) => locals[local],
            Expr::Cast(ty, operand) => value(operand, locals) & ((1 << ty.bits) - 1),
            Expr::Binary(op, ty, pair) => {
                apply(*op, *ty, value(&pair.0, locals), value(&pair.1, locals)).expect("it has a value")
            }
            Expr::Load(place) => value(&place.address, locals) & 0xff,
            other => panic!("no instruction makes {other:?}"),
        }
    }

    fn run(text: &str, operands: Vec<Operand>, first: &[(u32, i128)]) -> Option<BTreeMap<LocalId, i128>> {
        let mut avr = Avr::new(operands, [100, 101, 102].map(LocalId), IntType { bits: 32, signed: false });
        avr.run(text)?;
        let mut locals: BTreeMap<LocalId, i128> =
            first.iter().map(|(local, value)| (LocalId(*local), *value)).collect();
        for (target, expr) in &avr.done {
            let value = value(expr, &locals);
            locals.insert(*target, value);
        }
        Some(locals)
    }

    fn bytes(numbers: &[u32], constraint: &str) -> Operand {
        let registers = Registers::Bytes(numbers.iter().map(|number| LocalId(*number)).collect());
        Operand { registers, constraint: constraint.to_owned() }
    }

    /// The code of TinyOS that looks a checksum up in a table.
    #[test]
    fn a_table_of_checksums() {
        let text = "eor %1,%B3\n\tlsl %1\n\tadc %B2, __zero_reg__\n\tadd %A2, %1\n\tadc %B2, __zero_reg__\n\tlpm\n\tmov %B0, %A3\n\tmov %A0, r0\n\tadiw r30,1\n\tlpm\n\teor %B0, r0";
        for (old, new, table) in [(0x1234, 0xf1, 0x1000), (0xff00, 0x00, 0x20f3), (0, 0, 0x10)] {
            let pointer = Operand { registers: Registers::Pointer(LocalId(4)), constraint: "+z".to_owned() };
            let operands = vec![bytes(&[0, 1], "=r"), bytes(&[2], "+r"), pointer, bytes(&[5, 6], "r")];
            let first = [(2, new), (4, table), (5, old & 0xff), (6, old >> 8)];
            let locals = run(text, operands, &first).expect("all instructions are known");
            let at = table + 2 * (new ^ old >> 8);
            assert_eq!(locals[&LocalId(4)], at + 1);
            assert_eq!(locals[&LocalId(0)], at & 0xff);
            assert_eq!(locals[&LocalId(1)], (at + 1) & 0xff ^ old & 0xff);
        }
    }

    #[test]
    fn carries_go_through_bytes() {
        let operands = || vec![bytes(&[0, 1], "+r"), bytes(&[2, 3], "r")];
        let add = "add %A0,%A1 ; low\nadc %B0,%B1";
        let first = [(0, 0xff), (1, 0x12), (2, 0x02), (3, 0x30)];
        let locals = run(add, operands(), &first).expect("all instructions are known");
        assert_eq!((locals[&LocalId(0)], locals[&LocalId(1)]), (0x01, 0x43));
    }

    /// Unknown instructions, and reads of uninitialised registers, are refused.
    #[test]
    fn the_rest_is_refused() {
        let operands = || vec![bytes(&[0], "=r"), bytes(&[1], "r")];
        for text in
            ["rjmp 1b", "mov %0, r0", "adc %0, %1", "mov %1, %1", "eor %0, %1", "mov %0, %1\nadd %0, %1"]
        {
            assert_eq!(run(text, operands(), &[(1, 7)]), None, "{text}");
        }
        assert!(run("mov %0, %1", operands(), &[(1, 7)]).is_some());
        let pointer =
            || vec![Operand { registers: Registers::Pointer(LocalId(0)), constraint: "+z".to_owned() }];
        // The carry of the low register is not added to the high one.
        assert_eq!(run("add r30, __zero_reg__", pointer(), &[(0, 5)]), None);
    }
}
