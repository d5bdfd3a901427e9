//! Facts about expressions and variables that are computed before lowering.

use crate::function::Function;
use crate::parse::Unit;
use crate::types::Class;
use rucc_ast::{BinaryOp, UnaryOp};
use rucc_sema::{
    AtomicOp, Conversion, DeclId, DeclKind, ExprId, ExprKind, LabelId, Linkage, Stmt, StmtId, StorageDuration,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// How an expression is lowered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Purity {
    /// To an expression that reads no memory and cannot fault.
    Total,
    /// To an expression; nothing is emitted.
    Pure,
    /// To operations.
    Emits,
}

/// What is known about an expression.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// How it is lowered.
    pub purity: Purity,
    /// The depth of the lowered expression.
    depth: u32,
    /// Whether its value goes to a local, to limit the depth of lowered expressions.
    pub is_cut: bool,
}

/// Deeper expressions are cut.
const DEEPEST: u32 = 60;

impl Function<'_, '_> {
    /// Whether lowering an expression emits operations.
    pub fn emits(&mut self, id: ExprId) -> bool {
        self.facts(id).purity == Purity::Emits
    }
    /// What is known about an expression.
    pub fn facts(&mut self, id: ExprId) -> Facts {
        if let Some(facts) = self.facts.get(&id) {
            return *facts;
        }
        let (purity, depth) = self.compute_facts(id);
        let is_cut = depth > DEEPEST;
        let facts = if is_cut {
            Facts { purity: Purity::Emits, depth: 1, is_cut }
        } else {
            Facts { purity, depth, is_cut }
        };
        self.facts.insert(id, facts);
        facts
    }
    fn with(&mut self, least: Purity, operands: &[ExprId]) -> (Purity, u32) {
        let mut purity = least;
        let mut depth = 0;
        for &operand in operands {
            let facts = self.facts(operand);
            purity = purity.max(facts.purity);
            depth = depth.max(facts.depth);
        }
        (purity, depth + 1)
    }
    /// Operands that are not total make control flow necessary.
    fn with_branches(&mut self, operands: &[ExprId]) -> (Purity, u32) {
        match self.with(Purity::Total, operands) {
            (Purity::Total, depth) => (Purity::Total, depth),
            (Purity::Pure | Purity::Emits, _) => (Purity::Emits, 1),
        }
    }
    fn compute_facts(&mut self, id: ExprId) -> (Purity, u32) {
        let unit = self.unit;
        let expr = unit.tree[id];
        let emits = (Purity::Emits, 1);
        if matches!(unit.class(expr.ty), Class::Unsupported(_)) {
            return emits;
        }
        match expr.kind {
            ExprKind::Const(_) | ExprKind::Str(_) | ExprKind::Decl(_) | ExprKind::LabelAddr(_) => {
                (Purity::Total, 1)
            }
            ExprKind::Member { base, .. } => self.with(Purity::Total, &[base]),
            ExprKind::Subscript { base, index } => {
                let is_kept = self.row_length(id).is_some() && self.facts(index).purity != Purity::Total;
                self.with(if is_kept { Purity::Emits } else { Purity::Total }, &[base, index])
            }
            ExprKind::Unary { op, operand } => match op {
                UnaryOp::Plus | UnaryOp::BitNot | UnaryOp::Minus if unit.is_float(expr.ty) => {
                    self.with(Purity::Emits, &[operand])
                }
                UnaryOp::Plus | UnaryOp::BitNot | UnaryOp::Not => self.with(Purity::Total, &[operand]),
                UnaryOp::Minus => self.with(self.arithmetic_purity(expr.ty), &[operand]),
                UnaryOp::Deref | UnaryOp::AddrOf => self.with(Purity::Total, &[operand]),
                UnaryOp::PreInc
                | UnaryOp::PreDec
                | UnaryOp::PostInc
                | UnaryOp::PostDec
                | UnaryOp::Real
                | UnaryOp::Imag => emits,
            },
            ExprKind::Binary { op, lhs, rhs } => {
                let operand = unit.tree[lhs].ty;
                if unit.is_float(operand) || unit.is_float(unit.tree[rhs].ty) {
                    return emits;
                }
                match op {
                    BinaryOp::LogAnd | BinaryOp::LogOr => self.with_branches(&[lhs, rhs]),
                    BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => {
                        self.with(Purity::Pure, &[lhs, rhs])
                    }
                    BinaryOp::Mul | BinaryOp::Add | BinaryOp::Sub => {
                        self.with(self.arithmetic_purity(expr.ty), &[lhs, rhs])
                    }
                    BinaryOp::Lt
                    | BinaryOp::Gt
                    | BinaryOp::Le
                    | BinaryOp::Ge
                    | BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::BitAnd
                    | BinaryOp::BitXor
                    | BinaryOp::BitOr => self.with(Purity::Total, &[lhs, rhs]),
                }
            }
            ExprKind::Cond { cond, then, otherwise } => {
                if unit.scalar_type(expr.ty).is_some() {
                    self.with_branches(&[cond, then, otherwise])
                } else {
                    emits
                }
            }
            ExprKind::Cast(_) if !unit.variable_lengths(expr.ty).is_empty() => emits,
            ExprKind::Cast(operand) => self.conversion_facts(id, operand),
            ExprKind::Convert { kind, operand } => match kind {
                Conversion::Lvalue if self.is_atomic_lvalue(operand) => emits,
                Conversion::Lvalue => {
                    let register =
                        matches!(unit.tree[operand].kind, ExprKind::Decl(d) if self.is_register(d));
                    let is_scalar = unit.scalar_type(expr.ty).is_some();
                    let least = if register || !is_scalar { Purity::Total } else { Purity::Pure };
                    self.with(least, &[operand])
                }
                Conversion::ArrayDecay | Conversion::FunctionDecay => self.with(Purity::Total, &[operand]),
                Conversion::Arithmetic | Conversion::Pointer | Conversion::Bool | Conversion::NullPointer => {
                    self.conversion_facts(id, operand)
                }
                Conversion::Void | Conversion::Broadcast | Conversion::Hardbool => emits,
            },
            ExprKind::Expect { value, hint, .. } => self.with(Purity::Total, &[value, hint]),
            _ => emits,
        }
    }
    /// Whether an lvalue is accessed atomically: reading it is an operation of its own.
    fn is_atomic_lvalue(&self, id: ExprId) -> bool {
        let expr = self.unit.tree[id];
        match expr.kind {
            ExprKind::Decl(declaration) if self.is_register(declaration) => false,
            ExprKind::Member { base, .. } if self.unit.is_atomic(self.unit.tree[base].ty) => true,
            _ => self.unit.is_atomic(expr.ty),
        }
    }
    fn conversion_facts(&mut self, id: ExprId, operand: ExprId) -> (Purity, u32) {
        let (from, to) = (self.unit.tree[operand].ty, self.unit.tree[id].ty);
        let changes_float = (self.unit.is_float(from) || self.unit.is_float(to))
            && self.unit.types.canonical(from) != self.unit.types.canonical(to);
        if changes_float {
            return (Purity::Emits, 1);
        }
        match (self.unit.scalar_type(from), self.unit.scalar_type(to)) {
            (Some(_), Some(_)) => self.with(Purity::Total, &[operand]),
            _ => (Purity::Emits, 1),
        }
    }
    fn arithmetic_purity(&self, ty: rucc_types::TypeId) -> Purity {
        match self.unit.class(ty) {
            Class::Integer(ty) if !ty.signed => Purity::Total,
            _ => Purity::Pure,
        }
    }
}

/// How a function uses its variables.
#[derive(Default)]
pub struct Uses {
    address_taken: FxHashSet<DeclId>,
    mentioned: FxHashSet<DeclId>,
    /// What is declared in each block below the function's body, compound literals as well.
    declared: FxHashMap<StmtId, Vec<DeclId>>,
    /// The enclosing blocks.
    blocks: Vec<StmtId>,
    /// Whether there are labels, to which control may jump back.
    pub has_labels: bool,
    /// Labels whose address is taken: where a computed goto can go.
    pub labels: Vec<LabelId>,
    /// All expressions, each once, in the order of the text.
    pub expressions: Vec<ExprId>,
    /// The variables that are declared in it.
    pub variables: Vec<DeclId>,
    /// Whether there is code in it that is not in its expressions.
    pub is_hard_to_follow: bool,
    seen: FxHashSet<ExprId>,
}

/// The variables of enclosing functions that a nested function uses, itself or by other nested functions that
/// it mentions. They are passed by address to each call. Others have none.
pub fn captured(unit: &Unit, function: DeclId) -> Vec<DeclId> {
    let mut found = Vec::new();
    collect_captured(unit, function, &mut Vec::new(), &mut found);
    found
}

fn collect_captured(unit: &Unit, function: DeclId, active: &mut Vec<DeclId>, found: &mut Vec<DeclId>) {
    let declaration = &unit.tree[function];
    let (DeclKind::Function, Linkage::None, Some(body)) =
        (declaration.kind, declaration.linkage, declaration.body)
    else {
        return;
    };
    if active.contains(&function) {
        return;
    }
    active.push(function);
    let uses = Uses::of(unit, body);
    let mut mentioned = Vec::new();
    for id in &uses.expressions {
        let ExprKind::Decl(name) = unit.tree[*id].kind else { continue };
        let named = &unit.tree[name];
        match named.kind {
            DeclKind::Function => collect_captured(unit, name, active, &mut mentioned),
            DeclKind::Object if named.duration == StorageDuration::Automatic => mentioned.push(name),
            DeclKind::Object | DeclKind::Type => {}
        }
    }
    active.pop();
    let parameters = &unit.tree[declaration.params];
    for name in mentioned {
        if !uses.variables.contains(&name) && !parameters.contains(&name) && !found.contains(&name) {
            found.push(name);
        }
    }
}

impl Uses {
    /// Collects these facts for a function's body.
    pub fn of(unit: &Unit, body: StmtId) -> Self {
        let mut uses = Self::default();
        // The parameters belong to the body itself.
        match unit.tree[body] {
            Stmt::Block(list) => unit.tree[list].iter().for_each(|inner| uses.statement(unit, *inner)),
            _ => uses.statement(unit, body),
        }
        uses.seen = FxHashSet::default();
        uses
    }
    /// Variables of enclosing functions are in memory: they are reached by their addresses.
    pub fn take_addresses(&mut self, variables: &[DeclId]) {
        self.address_taken.extend(variables);
    }
    /// Whether a pointer to a variable may exist.
    pub fn is_address_taken(&self, declaration: DeclId) -> bool {
        self.address_taken.contains(&declaration)
    }
    /// Whether the body names a variable.
    pub fn is_mentioned(&self, declaration: DeclId) -> bool {
        self.mentioned.contains(&declaration)
    }
    /// The declarations of a block, without those of inner blocks.
    pub fn declared_in(&self, block: StmtId) -> &[DeclId] {
        self.declared.get(&block).map_or(&[], Vec::as_slice)
    }
    fn declaration(&mut self, unit: &Unit, id: DeclId) {
        let declaration = &unit.tree[id];
        if let (Some(block), DeclKind::Object) = (self.blocks.last(), declaration.kind) {
            self.declared.entry(*block).or_default().push(id);
        }
        self.variables.push(id);
        if declaration.kind == DeclKind::Function {
            self.address_taken.extend(captured(unit, id));
        }
        if declaration.cleanup.is_some() {
            self.is_hard_to_follow = true;
            self.address_taken.insert(id);
        }
        for length in unit.variable_lengths(declaration.ty) {
            self.expression(unit, unit.tree.vla_size(length));
        }
        if let Some(init) = declaration.init {
            for entry in &unit.tree[init] {
                self.expression(unit, entry.value);
            }
        }
    }
    /// A statement that is a block, whether it has braces or not (C11 6.8.4, 6.8.5).
    fn block(&mut self, unit: &Unit, id: StmtId) {
        self.blocks.push(id);
        self.statement_inside(unit, id);
        self.blocks.pop();
    }
    fn statement(&mut self, unit: &Unit, id: StmtId) {
        match unit.tree[id] {
            Stmt::Block(_)
            | Stmt::If { .. }
            | Stmt::While { .. }
            | Stmt::DoWhile { .. }
            | Stmt::For { .. }
            | Stmt::Switch { .. } => self.block(unit, id),
            Stmt::Error
            | Stmt::Empty
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Goto(_)
            | Stmt::Return(_)
            | Stmt::Expr(_)
            | Stmt::IndirectGoto(_)
            | Stmt::Decls(_)
            | Stmt::Case { .. }
            | Stmt::Default { .. }
            | Stmt::Label { .. }
            | Stmt::Asm(_) => self.statement_inside(unit, id),
        }
    }
    fn statement_inside(&mut self, unit: &Unit, id: StmtId) {
        let tree = &unit.tree;
        self.has_labels |= matches!(tree[id], Stmt::Label { .. });
        match tree[id] {
            Stmt::Error | Stmt::Empty | Stmt::Break | Stmt::Continue | Stmt::Goto(_) | Stmt::Return(None) => {
            }
            Stmt::Expr(expr) | Stmt::IndirectGoto(expr) | Stmt::Return(Some(expr)) => {
                self.expression(unit, expr)
            }
            Stmt::Block(list) => tree[list].iter().for_each(|inner| self.statement(unit, *inner)),
            Stmt::Decls(list) => tree[list].iter().for_each(|inner| self.declaration(unit, *inner)),
            Stmt::If { cond, then, otherwise } => {
                self.expression(unit, cond);
                self.block(unit, then);
                if let Some(otherwise) = otherwise {
                    self.block(unit, otherwise);
                }
            }
            Stmt::While { cond, body } | Stmt::DoWhile { body, cond } | Stmt::Switch { cond, body, .. } => {
                self.expression(unit, cond);
                self.block(unit, body);
            }
            Stmt::For { init, cond, step, body } => {
                if let Some(init) = init {
                    self.statement(unit, init);
                }
                for expr in cond.into_iter().chain(step) {
                    self.expression(unit, expr);
                }
                self.block(unit, body);
            }
            Stmt::Case { body, .. } | Stmt::Default { body } | Stmt::Label { body, .. } => {
                self.statement(unit, body);
            }
            Stmt::Asm(asm) => {
                self.is_hard_to_follow = true;
                let asm = tree[asm];
                for operand in tree[asm.outputs].iter().chain(&tree[asm.inputs]) {
                    self.expression(unit, operand.value);
                }
            }
        }
    }
    fn expression(&mut self, unit: &Unit, id: ExprId) {
        // Expressions may be shared.
        if !self.seen.insert(id) {
            return;
        }
        self.expressions.push(id);
        let expr = unit.tree[id];
        match expr.kind {
            ExprKind::Unary { op: UnaryOp::AddrOf, operand } => {
                if let ExprKind::Decl(declaration) = unit.tree[operand].kind {
                    self.address_taken.insert(declaration);
                }
            }
            ExprKind::Decl(declaration) => {
                self.mentioned.insert(declaration);
            }
            ExprKind::LabelAddr(label) if !self.labels.contains(&label) => self.labels.push(label),
            // It is an object in memory, whether its address is taken here or not.
            ExprKind::CompoundLiteral(declaration) => {
                self.address_taken.insert(declaration);
                self.declaration(unit, declaration);
            }
            ExprKind::StmtExpr(body) => self.statement(unit, body),
            ExprKind::Cast(_) => {
                for length in unit.variable_lengths(expr.ty) {
                    self.expression(unit, unit.tree.vla_size(length));
                }
            }
            _ => {}
        }
        for operand in operands(unit, id) {
            self.expression(unit, operand);
        }
    }
}

/// The direct operands of an expression that are evaluated with it; those of a compound literal are its
/// entries.
pub fn evaluated_operands(unit: &Unit, id: ExprId) -> Vec<ExprId> {
    match unit.tree[id].kind {
        ExprKind::CompoundLiteral(declaration) => match unit.tree[declaration].init {
            Some(init) => unit.tree[init].iter().map(|entry| entry.value).collect(),
            None => vec![],
        },
        ExprKind::ConstantP { .. } | ExprKind::ObjectSize { .. } => vec![],
        _ => operands(unit, id),
    }
}

/// Whether an expression makes a pointer into a structure that is no lvalue: an object that lives until the
/// full expression ends (C11 6.2.4p8).
pub fn points_into_temporary(unit: &Unit, id: ExprId) -> bool {
    let tree = &unit.tree;
    let is_temporary = |array: ExprId| {
        let mut at = array;
        loop {
            at = match tree[at].kind {
                ExprKind::Member { base, .. } => base,
                ExprKind::Subscript { base, .. } => match tree[base].kind {
                    ExprKind::Convert { kind: Conversion::ArrayDecay, operand } => operand,
                    _ => return false,
                },
                ExprKind::Call { .. }
                | ExprKind::Assign { .. }
                | ExprKind::Cond { .. }
                | ExprKind::Comma { .. }
                | ExprKind::StmtExpr(_)
                | ExprKind::VaArg { .. } => return true,
                _ => return false,
            };
        }
    };
    let mut stack = vec![id];
    while let Some(at) = stack.pop() {
        if let ExprKind::Convert { kind: Conversion::ArrayDecay, operand } = tree[at].kind
            && is_temporary(operand)
        {
            return true;
        }
        stack.extend(evaluated_operands(unit, at));
    }
    false
}

/// Whether the first of some statements that mentions a variable just sets it: by an assignment, or by a call
/// of a function that always sets the target of this argument.
pub fn is_set_first(
    unit: &Unit,
    variable: DeclId,
    statements: &[StmtId],
    always_sets: impl Fn(&str, usize) -> bool,
) -> bool {
    let tree = &unit.tree;
    let mentions = |statement: StmtId| {
        let mut uses = Uses::default();
        uses.statement(unit, statement);
        uses.is_mentioned(variable)
    };
    let Some(first) = statements.iter().find(|statement| mentions(**statement)) else { return true };
    let Stmt::Expr(mut at) = tree[*first] else { return false };
    let is_variable = |id: ExprId| matches!(tree[id].kind, ExprKind::Decl(found) if found == variable);
    let reads = |id: ExprId| {
        let mut uses = Uses::default();
        uses.expression(unit, id);
        uses.is_mentioned(variable)
    };
    loop {
        at = match tree[at].kind {
            ExprKind::Convert { kind: Conversion::Void, operand } => operand,
            ExprKind::Comma { lhs, rhs } if !reads(lhs) => rhs,
            _ => break,
        };
    }
    let is_address = |argument: ExprId| {
        let mut at = argument;
        while let ExprKind::Convert { operand, .. } | ExprKind::Cast(operand) = tree[at].kind {
            at = operand;
        }
        matches!(tree[at].kind, ExprKind::Unary { op: UnaryOp::AddrOf, operand } if is_variable(operand))
    };
    match tree[at].kind {
        ExprKind::Assign { op: None, lhs, rhs, .. } => is_variable(lhs) && !reads(rhs),
        ExprKind::Call { callee, args } => {
            let mut callee = callee;
            while let ExprKind::Convert { operand, .. } = tree[callee].kind {
                callee = operand;
            }
            let ExprKind::Decl(function) = tree[callee].kind else { return false };
            let is_library = tree[function].body.is_none();
            tree[args].iter().enumerate().all(|(index, &argument)| {
                (is_address(argument) && is_library && always_sets(unit.name(function), index))
                    || !reads(argument)
            })
        }
        ExprKind::Atomic { op, args, .. } => {
            let result = match op {
                AtomicOp::LoadInto => 1,
                AtomicOp::ExchangeInto => 2,
                _ => return false,
            };
            tree[args]
                .iter()
                .enumerate()
                .all(|(index, &argument)| (is_address(argument) && index == result) || !reads(argument))
        }
        _ => false,
    }
}

/// The direct operands of an expression.
pub fn operands(unit: &Unit, id: ExprId) -> Vec<ExprId> {
    let tree = &unit.tree;
    match tree[id].kind {
        ExprKind::Error
        | ExprKind::Const(_)
        | ExprKind::Str(_)
        | ExprKind::Decl(_)
        | ExprKind::CompoundLiteral(_)
        | ExprKind::StmtExpr(_)
        | ExprKind::LabelAddr(_)
        | ExprKind::Unreachable
        | ExprKind::Trap
        | ExprKind::FrameAddress { .. }
        | ExprKind::ThreadPointer
        | ExprKind::SpEntry
        | ExprKind::CpuModel { .. }
        | ExprKind::ApplyArgs => vec![],
        ExprKind::Member { base, .. } => vec![base],
        ExprKind::Subscript { base, index } => vec![base, index],
        ExprKind::Call { callee, args } => {
            std::iter::once(callee).chain(tree[args].iter().copied()).collect()
        }
        ExprKind::Unary { operand, .. }
        | ExprKind::Cast(operand)
        | ExprKind::Convert { operand, .. }
        | ExprKind::ConvertVector { operand }
        | ExprKind::Abs { operand }
        | ExprKind::ByteSwap { operand }
        | ExprKind::BitCount { operand, .. } => vec![operand],
        ExprKind::Binary { lhs, rhs, .. }
        | ExprKind::Assign { lhs, rhs, .. }
        | ExprKind::Comma { lhs, rhs } => {
            vec![lhs, rhs]
        }
        ExprKind::Cond { cond, then, otherwise } => vec![cond, then, otherwise],
        ExprKind::VaArg { list } | ExprKind::VaStart { list } | ExprKind::VaEnd { list } => vec![list],
        ExprKind::VaCopy { dst, src } => vec![dst, src],
        ExprKind::Classify { lhs, rhs, .. }
        | ExprKind::Sign { lhs, rhs, .. }
        | ExprKind::Elementwise { lhs, rhs, .. } => std::iter::once(lhs).chain(rhs).collect(),
        ExprKind::FpClassify { value, answers } => {
            std::iter::once(value).chain(tree[answers].iter().copied()).collect()
        }
        ExprKind::Complex { real, imag } => vec![real, imag],
        ExprKind::Shuffle { lhs, rhs, mask } => std::iter::once(lhs).chain(rhs).chain([mask]).collect(),
        ExprKind::ShuffleVector { operands } => tree[operands].to_vec(),
        ExprKind::Overflow { args, .. } | ExprKind::Atomic { args, .. } => tree[args].to_vec(),
        ExprKind::Expect { value, hint, .. } => vec![value, hint],
        ExprKind::Prefetch { address, .. } | ExprKind::ObjectSize { address, .. } => vec![address],
        ExprKind::TimeStamp { aux } => aux.into_iter().collect(),
        ExprKind::Eflags { value } => value.into_iter().collect(),
        ExprKind::XState { address, mask, .. } => vec![address, mask],
        ExprKind::Apply { function, args, .. } => vec![function, args],
        ExprKind::ConstantP { value } => vec![value],
        ExprKind::Alloca { size } => vec![size],
        ExprKind::Jump { buffer, .. } => vec![buffer],
    }
}
