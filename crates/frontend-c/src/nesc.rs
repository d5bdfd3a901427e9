//! Programs that were compiled from nesC: interrupt handlers as threads of one processor.
//!
//! `ir::passes::interrupts` defines the meaning; this file maps names to it. The global interrupt enable flag
//! is a separate object. The functions that nesC's compiler relies on, the instructions that change the flag,
//! and the status register `SREG` read and write this object. It is 0 or [`ENABLED`], the flag's bit in the
//! status register; the other bits of that register read as 0.
//!
//! Handlers are the functions with the attribute `signal` (interrupts are disabled when they start) or
//! `interrupt` (enabled), and those named `__vector_` and a number; without an attribute, the latter are
//! `signal` handlers.
//!
//! Deviations: 1. `sleep` may end at any time. 2. Every handler may fire whenever interrupts are enabled:
//! bits that enable single ones are registers, and registers are inputs. 3. Integers have the widths of the
//! data model, not those of the processor.

use crate::function::Function;
use crate::library::Argument;
use crate::link::{Declared, Links};
use crate::lowering::{self, Lowering};
use crate::memory_orders::Atomics;
use crate::parse::Unit;
use crate::registers;
use ir::Draft;
use ir::diagnostic::{Diagnostic, Kind};
use ir::passes::interrupts::{self, Handler, Interrupts};
use ir::{
    Assignment, BinaryOp, DataModel, Expr, Initial, IntType, Layout, Lhs, Object, ObjectId, Op, Place,
    Program, Rhs, Span, Storage, TemplateId,
};
use rucc_types::TypeId;

/// The flag's value when interrupts are enabled.
pub const ENABLED: i128 = 0x80;

/// State for lowering such a program.
pub struct Nesc {
    /// The global interrupt enable flag.
    pub flag: ObjectId,
    /// The handlers.
    pub handlers: Vec<Handler>,
    /// Variables that are registers.
    pub registers: Vec<ObjectId>,
}

/// The effect of a known function on the flag.
#[derive(Clone, Copy)]
enum Meaning {
    /// Returns the flag, and disables interrupts.
    Start,
    /// Sets the flag to its argument.
    End,
    Enable,
    Disable,
    /// Nothing.
    Nothing,
}

/// The meaning of a function by its name.
fn meaning(name: &str) -> Option<Meaning> {
    Some(match name {
        "__nesc_atomic_start" => Meaning::Start,
        "__nesc_atomic_end" => Meaning::End,
        "__nesc_enable_interrupt" | "__nesc_atomic_sleep" | "__builtin_avr_sei" | "__stub_sei" | "sei" => {
            Meaning::Enable
        }
        "__nesc_disable_interrupt" | "__builtin_avr_cli" | "__stub_cli" | "cli" => Meaning::Disable,
        "__builtin_avr_nop" | "__builtin_avr_sleep" | "__builtin_avr_wdr" => Meaning::Nothing,
        _ => return None,
    })
}

/// The flag, as a cell.
pub fn flag_cell(flag: ObjectId) -> Place {
    Place { atomic: true, ..Place::cell(flag, 0, IntType::U8) }
}

/// The value of the flag in a value of the status register.
pub fn flag_of(value: Expr, ty: IntType) -> Expr {
    let byte = if ty == IntType::U8 { value } else { Expr::cast(IntType::U8, value) };
    Expr::binary(BinaryOp::And, IntType::U8, byte, Expr::int(ENABLED, IntType::U8))
}

/// Lowers linked files with interrupts.
pub fn lower(units: &[Unit], links: &Links, data_model: DataModel) -> Result<Program, Vec<Diagnostic>> {
    let handlers = handlers(units)?;
    let outside = lowering::Outside { is_pure: true, ..lowering::Outside::default() };
    let mut lowering = lowering::lower(
        units,
        links,
        data_model,
        Some(&handlers),
        Atomics::default(),
        outside,
        &Draft::default(),
    );
    let mut program = std::mem::take(&mut lowering.program);
    let Some(nesc) = lowering.nesc else { return Ok(program) };
    registers::are_inputs(&mut program, &nesc.registers, nesc.flag);
    let text = format!(
        "integers have the widths of the data model ({} bits for a pointer), not those of the processor",
        program.data_model.pointer().bits
    );
    program.assumptions.push(ir::Assumption { text, span: Span::default(), limits_proof: false });
    let spec = Interrupts { flag: nesc.flag, enabled: ENABLED, handlers: nesc.handlers };
    Ok(interrupts::threads(&program, &spec))
}

/// The handlers that the files define, in order.
fn handlers(units: &[Unit]) -> Result<Vec<(Declared, bool)>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        for &id in unit.tree.top_level() {
            let declaration = &unit.tree[id];
            let name = unit.name(id);
            let by_attribute =
                unit.handlers.iter().find(|(handler, _)| handler == name).map(|(_, enables)| *enables);
            let is_vector = name
                .strip_prefix("__vector_")
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
            let (Some(enables), Some(_)) = (by_attribute.or(is_vector.then_some(false)), declaration.body)
            else {
                continue;
            };
            if !unit.tree[declaration.params].is_empty() {
                let (file, line, column) = unit.position(unit.tree.definition_span(id));
                let message = format!("the interrupt handler '{name}' has parameters");
                problems.push(Diagnostic::at(file, (line, column), Kind::Link, message));
            }
            let declared = Declared { unit: index, declaration: id };
            if found.iter().all(|(other, _)| *other != declared) {
                found.push((declared, enables));
            }
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

impl Lowering<'_> {
    /// Adds the flag and the handlers.
    pub fn interrupts(&mut self, handlers: &[(Declared, bool)]) {
        let flag = self.program.objects.push(Object {
            name: "$interrupts".to_owned(),
            storage: Storage::Static,
            size: 1,
            align: 1,
            layout: Layout::Scalar(IntType::U8),
            initial: Initial::Values(Vec::new()),
            span: Span::default(),
            role: ir::ObjectRole::Program,
        });
        let templates: Vec<Handler> = handlers
            .iter()
            .map(|(declared, enables)| Handler {
                template: self.handler_template(*declared),
                enables: *enables,
            })
            .collect();
        self.nesc = Some(Nesc { flag, handlers: templates, registers: Vec::new() });
    }
    fn handler_template(&mut self, declared: Declared) -> TemplateId {
        self.template(declared, false)
    }
}

impl Function<'_, '_> {
    fn set_flag(&mut self, flag: ObjectId, value: Expr) {
        self.builder.set(Lhs::Memory(flag_cell(flag)), value);
    }
    /// Lowers a call of a function that changes the flag. Returns `None` when it is no such function; else
    /// its result, if it has one.
    pub fn interrupt_call(
        &mut self,
        name: &str,
        arguments: &[Argument],
        result: TypeId,
    ) -> Option<Option<Expr>> {
        let flag = self.global.nesc.as_ref()?.flag;
        let meaning = meaning(name)?;
        if let (Meaning::End, []) = (meaning, arguments) {
            return None;
        }
        match (meaning, arguments) {
            (Meaning::Start, _) => {
                // Reading and disabling are two instructions; a handler in between leaves the flag as it was.
                let old = self.builder.temporary(IntType::U8);
                let pairs = vec![
                    (Lhs::Local(old), Rhs::Value(Expr::load(flag_cell(flag)))),
                    (Lhs::Memory(flag_cell(flag)), Rhs::Value(Expr::int(0, IntType::U8))),
                ];
                self.builder.emit(Op::Assign(Assignment { pairs, constraint: None }));
                let ty = self.unit.scalar_type(result);
                return Some(ty.map(|ty| self.cast(Expr::Local(old), ty)));
            }
            (Meaning::End, [first, ..]) => {
                let value = flag_of(first.value.clone(), first.ty);
                self.set_flag(flag, value);
            }
            (Meaning::Enable, _) => self.set_flag(flag, Expr::int(ENABLED, IntType::U8)),
            (Meaning::Disable, _) => self.set_flag(flag, Expr::int(0, IntType::U8)),
            (Meaning::End | Meaning::Nothing, _) => {}
        }
        Some(self.unit.scalar_type(result).map(|ty| Expr::int(0, ty)))
    }
    /// Lowers instructions that change the flag, if the text has no others.
    pub fn interrupt_assembly(&mut self, text: &str) -> bool {
        let Some(flag) = self.global.nesc.as_ref().map(|nesc| nesc.flag) else { return false };
        let words: Vec<&str> =
            text.split([';', '\n', '\t', ' ', '\r']).filter(|word| !word.is_empty()).collect();
        let known = |word: &&str| matches!(*word, "sei" | "cli" | "nop" | "sleep" | "wdr");
        if words.is_empty() || !words.iter().all(known) {
            return false;
        }
        for word in words {
            match word {
                "sei" => self.set_flag(flag, Expr::int(ENABLED, IntType::U8)),
                "cli" => self.set_flag(flag, Expr::int(0, IntType::U8)),
                _ => {}
            }
        }
        true
    }
}
