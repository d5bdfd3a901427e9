//! The effects of evaluating an expression, to decide whether two evaluations may be swapped.
//!
//! Direction: over-approximates. Effects of a function include those of all code that it may call. An access
//! through a pointer may be to any memory, except variables whose address is never taken.

use crate::facts::{self, Uses};
use crate::function::Function;
use crate::library;
use crate::link::Declared;
use crate::lowering::Lowering;
use crate::parse::Unit;
use rucc_ast::UnaryOp;
use rucc_sema::{Conversion, DeclId, DeclKind, ExprId, ExprKind, Linkage, StorageDuration};
use rustc_hash::FxHashMap;

/// A variable that an expression names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Named {
    /// The variable.
    pub declared: Declared,
    /// Whether no pointer to it exists.
    pub is_private: bool,
}

/// The effects of an evaluation.
#[derive(Clone, Default, Debug)]
pub struct Effects {
    reads: Vec<Named>,
    writes: Vec<Named>,
    /// Whether it may read through pointers.
    reads_memory: bool,
    /// Whether it may write through pointers.
    writes_memory: bool,
    /// Whether other threads may see it, or change what it sees, without a data race.
    synchronises: bool,
    /// Whether it may end the program or the thread, or fail.
    ends: bool,
}

impl Effects {
    /// Anything at all.
    pub fn all() -> Self {
        Self { reads_memory: true, writes_memory: true, synchronises: true, ends: true, ..Self::default() }
    }
    /// Whether it has no effect on which another evaluation could depend.
    pub fn is_empty(&self) -> bool {
        self.only_reads() && self.reads.is_empty() && !self.reads_memory
    }
    /// Whether it only reads, unobserved by other threads.
    pub fn only_reads(&self) -> bool {
        self.writes.is_empty() && !self.writes_memory && !self.synchronises && !self.ends
    }
    /// Whether other threads may see it, or change what it sees, without a data race.
    pub fn synchronises(&self) -> bool {
        self.synchronises
    }
    fn touches_shared(&self) -> bool {
        let mut named = self.reads.iter().chain(&self.writes);
        self.reads_memory || self.writes_memory || self.synchronises || named.any(|named| !named.is_private)
    }
    /// Whether it matters which of two evaluations comes first.
    pub fn conflicts(&self, other: &Self) -> bool {
        let overlap = |one: (&[Named], bool), two: (&[Named], bool)| {
            let shared = |list: &[Named]| list.iter().any(|named| !named.is_private);
            one.1 && (two.1 || shared(two.0))
                || two.1 && shared(one.0)
                || one.0.iter().any(|named| two.0.contains(named))
        };
        let (reads, writes) = ((&*self.reads, self.reads_memory), (&*self.writes, self.writes_memory));
        let theirs = ((&*other.reads, other.reads_memory), (&*other.writes, other.writes_memory));
        overlap(writes, theirs.0)
            || overlap(writes, theirs.1)
            || overlap(reads, theirs.1)
            || self.synchronises && other.touches_shared()
            || other.synchronises && self.touches_shared()
            || self.ends && (other.ends || other.touches_shared())
            || other.ends && self.touches_shared()
    }
    /// Adds another evaluation's effects.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in [(&mut self.reads, &other.reads), (&mut self.writes, &other.writes)] {
            for named in theirs {
                if !mine.contains(named) {
                    mine.push(*named);
                }
            }
        }
        self.reads_memory |= other.reads_memory;
        self.writes_memory |= other.writes_memory;
        self.synchronises |= other.synchronises;
        self.ends |= other.ends;
    }
    /// Removes some automatic variables.
    fn without(mut self, unit: usize, own: &[DeclId]) -> Self {
        let stays = |named: &Named| named.declared.unit != unit || !own.contains(&named.declared.declaration);
        self.reads.retain(stays);
        self.writes.retain(stays);
        self
    }
    /// Removes the variables of one activation; `captured` are those of enclosing functions.
    fn of_others(mut self, units: &[Unit], captured: &[DeclId]) -> Self {
        let lives_on = |named: &Named| {
            let unit = &units[named.declared.unit];
            let declaration = named.declared.declaration;
            unit.tree[declaration].duration != StorageDuration::Automatic || captured.contains(&declaration)
        };
        self.reads.retain(lives_on);
        self.writes.retain(lives_on);
        self
    }
}

/// A cache of the effects of functions.
#[derive(Default)]
pub struct FunctionEffects {
    own: FxHashMap<Declared, (Effects, Vec<Declared>)>,
    all: FxHashMap<Declared, Effects>,
}

/// The place of an lvalue, as far as its syntax shows.
enum Touched {
    Nothing,
    Variable(DeclId),
    Memory,
}

fn touched(unit: &Unit, lvalue: ExprId) -> Touched {
    let tree = &unit.tree;
    let mut at = lvalue;
    loop {
        at = match tree[at].kind {
            ExprKind::Decl(declaration) => return Touched::Variable(declaration),
            ExprKind::Member { base, .. } => base,
            ExprKind::Subscript { base, .. } => match tree[base].kind {
                ExprKind::Convert { kind: Conversion::ArrayDecay, operand } => operand,
                _ => return Touched::Memory,
            },
            ExprKind::Unary { op: UnaryOp::Deref, operand } => match tree[operand].kind {
                ExprKind::Convert { kind: Conversion::ArrayDecay, operand }
                | ExprKind::Unary { op: UnaryOp::AddrOf, operand } => operand,
                _ => return Touched::Memory,
            },
            // New in each evaluation, or never written.
            ExprKind::CompoundLiteral(_) | ExprKind::Str(_) | ExprKind::Call { .. } => {
                return Touched::Nothing;
            }
            _ => return Touched::Memory,
        };
    }
}

/// The function that a call names.
pub fn called_function(unit: &Unit, callee: ExprId) -> Option<DeclId> {
    let tree = &unit.tree;
    let mut at = callee;
    loop {
        at = match tree[at].kind {
            ExprKind::Decl(declaration) if tree[declaration].kind == DeclKind::Function => {
                return Some(declaration);
            }
            ExprKind::Convert { kind: Conversion::FunctionDecay, operand }
            | ExprKind::Unary { op: UnaryOp::Deref | UnaryOp::AddrOf, operand } => operand,
            _ => return None,
        }
    }
}

/// The effects of an expression itself, without its operands. For a call, these include the callee's effects
/// if its definition is not known; otherwise the definition goes to `calls`.
fn own_effects(
    lowering: &Lowering<'_>,
    unit_index: usize,
    id: ExprId,
    is_private: &dyn Fn(DeclId) -> bool,
    calls: &mut Vec<Declared>,
) -> Effects {
    let unit = &lowering.units[unit_index];
    let tree = &unit.tree;
    let mut effects = Effects::default();
    let mut access = |lvalue: ExprId, reads: bool, writes: bool| {
        let is_atomic = unit.is_atomic(tree[lvalue].ty)
            || matches!(tree[lvalue].kind, ExprKind::Member { base, .. } if unit.is_atomic(tree[base].ty));
        match touched(unit, lvalue) {
            Touched::Nothing => {}
            Touched::Variable(declaration) => {
                let is_constant = unit.is_const(tree[declaration].ty) && !writes;
                let is_private = tree[declaration].linkage == Linkage::None && is_private(declaration);
                let named = Named { declared: lowering.resolve(unit_index, declaration), is_private };
                effects.reads.extend((reads && !is_constant).then_some(named));
                effects.writes.extend(writes.then_some(named));
                effects.synchronises |= is_atomic && !is_private;
            }
            Touched::Memory => {
                effects.reads_memory |= reads;
                effects.writes_memory |= writes;
                effects.synchronises |= is_atomic;
            }
        }
    };
    match tree[id].kind {
        ExprKind::Convert { kind: Conversion::Lvalue, operand } => access(operand, true, false),
        ExprKind::Assign { op, lhs, .. } => access(lhs, op.is_some(), true),
        ExprKind::Unary {
            op: UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec,
            operand,
        } => access(operand, true, true),
        ExprKind::Call { callee, .. } => match called_function(unit, callee) {
            Some(declaration) => {
                let declared = lowering.resolve(unit_index, declaration);
                let found = &lowering.units[declared.unit];
                let name = found.name(declared.declaration);
                if lowering.runs_body(declared) {
                    calls.push(declared);
                    effects.synchronises |= crate::function::is_atomic_by_name(name);
                } else {
                    return match library::swap(name) {
                        library::Swap::Free => Effects::default(),
                        library::Swap::Reads => Effects { reads_memory: true, ..Effects::default() },
                        library::Swap::Ends => Effects { ends: true, ..Effects::default() },
                        library::Swap::Never => Effects::all(),
                    };
                }
            }
            None => return Effects::all(),
        },
        ExprKind::Const(_)
        | ExprKind::Str(_)
        | ExprKind::Decl(_)
        | ExprKind::LabelAddr(_)
        | ExprKind::Member { .. }
        | ExprKind::Subscript { .. }
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Cond { .. }
        | ExprKind::Comma { .. }
        | ExprKind::Cast(_)
        | ExprKind::Convert { .. }
        | ExprKind::StmtExpr(_)
        | ExprKind::CompoundLiteral(_)
        | ExprKind::Expect { .. }
        | ExprKind::ConstantP { .. }
        | ExprKind::Abs { .. }
        | ExprKind::ByteSwap { .. }
        | ExprKind::BitCount { .. }
        | ExprKind::Alloca { .. }
        | ExprKind::ObjectSize { .. }
        | ExprKind::Prefetch { .. } => {}
        ExprKind::Atomic { .. } => {
            return Effects { ends: false, ..Effects::all() };
        }
        // It stores its result through a pointer.
        ExprKind::Overflow { .. } => return Effects { writes_memory: true, ..Effects::default() },
        _ => return Effects::all(),
    }
    effects
}

impl FunctionEffects {
    /// The effects of a function, including its callees.
    pub fn of(&mut self, lowering: &Lowering<'_>, function: Declared) -> Effects {
        if let Some(known) = self.all.get(&function) {
            return known.clone();
        }
        let mut effects = Effects::default();
        let mut seen = vec![function];
        let mut next = 0;
        while let Some(&at) = seen.get(next) {
            next += 1;
            let (own, calls) = self.own.entry(at).or_insert_with(|| own(lowering, at));
            effects.add(own);
            for callee in calls {
                if !seen.contains(callee) {
                    seen.push(*callee);
                }
            }
        }
        self.all.insert(function, effects.clone());
        effects
    }
}

/// The effects of a function's body itself, and its callees.
fn own(lowering: &Lowering<'_>, function: Declared) -> (Effects, Vec<Declared>) {
    let unit = &lowering.units[function.unit];
    let (mut effects, mut calls) = (Effects::default(), Vec::new());
    let Some(body) = unit.tree[function.declaration].body else { return (Effects::all(), calls) };
    let uses = Uses::of(unit, body);
    if uses.is_hard_to_follow {
        return (Effects::all(), calls);
    }
    for &id in &uses.expressions {
        effects.add(&own_effects(lowering, function.unit, id, &|_| false, &mut calls));
    }
    let captured = facts::captured(unit, function.declaration);
    (effects.of_others(lowering.units, &captured), calls)
}

impl Function<'_, '_> {
    /// The effects of an expression itself, without its operands.
    pub fn own_effects(&mut self, id: ExprId) -> Effects {
        let mut calls = Vec::new();
        let is_private = |declaration| self.is_register(declaration);
        let mut effects = own_effects(self.global, self.unit_index, id, &is_private, &mut calls);
        for callee in calls {
            let mut known = std::mem::take(&mut self.global.function_effects);
            effects.add(&known.of(self.global, callee));
            self.global.function_effects = known;
        }
        effects
    }
    /// The effects of an expression with all its operands, one by one.
    pub fn all_effects(&mut self, id: ExprId) -> Vec<Effects> {
        let mut found = Vec::new();
        let mut stack = vec![id];
        while let Some(at) = stack.pop() {
            match self.unit.tree[at].kind {
                ExprKind::StmtExpr(body) => {
                    let uses = Uses::of(self.unit, body);
                    if uses.is_hard_to_follow {
                        found.push(Effects::all());
                    }
                    // Its own variables are new in each evaluation.
                    let mut own = uses.variables;
                    own.retain(|id| self.unit.tree[*id].duration == StorageDuration::Automatic);
                    // These are the operands, too.
                    for inner in uses.expressions {
                        let effects = self.own_effects(inner).without(self.unit_index, &own);
                        found.extend((!effects.is_empty()).then_some(effects));
                    }
                }
                // Only one of the two arms is evaluated.
                ExprKind::Cond { cond, then, otherwise } => {
                    stack.push(cond);
                    let (one, other) = (self.all_effects(then), self.all_effects(otherwise));
                    let (mut longer, shorter) =
                        if one.len() < other.len() { (other, one) } else { (one, other) };
                    for (effects, other) in longer.iter_mut().zip(&shorter) {
                        effects.add(other);
                    }
                    found.extend(longer);
                }
                ExprKind::ConstantP { .. } | ExprKind::ObjectSize { .. } => {}
                _ => {
                    let own = self.own_effects(at);
                    if !own.is_empty() {
                        found.push(own);
                    }
                    stack.extend(facts::evaluated_operands(self.unit, at));
                }
            }
        }
        found
    }
    /// The variable that an expression reads or writes directly, as a scalar that it names.
    pub fn direct_target(&self, id: ExprId) -> Option<DeclId> {
        let tree = &self.unit.tree;
        let lvalue = match tree[id].kind {
            ExprKind::Convert { kind: Conversion::Lvalue, operand } => operand,
            ExprKind::Assign { lhs, .. } => lhs,
            ExprKind::Unary {
                op: UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec,
                operand,
            } => operand,
            _ => return None,
        };
        match tree[lvalue].kind {
            ExprKind::Decl(declaration) if self.unit.scalar_type(tree[lvalue].ty).is_some() => {
                Some(declaration)
            }
            _ => None,
        }
    }
}
