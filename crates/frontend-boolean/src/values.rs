//! Variables and expressions of one procedure.
//!
//! Every `*` gets a local of its own, to which anything is assigned in the step in which it stands. The
//! balanced trees of long conjunctions keep expressions shallow.

use crate::ast::{BinaryOperator, Connective, Expr, Name, Procedure, Variable};
use crate::diagnostic::Problem;
use crate::lower::{Signature, World, cell, span};
use indexmap::IndexMap;
use ir::{Assignment, BinaryOp, IntType, Lhs, LocalId, ObjectId, Op, Rhs, Template};

type Lowered<T> = Result<T, Problem>;

impl World<'_> {
    /// The first local of a procedure's template after its variables (and the start number).
    pub(crate) fn first_internal(&self, signature: &Signature) -> u32 {
        let procedure = &self.program.procedures[signature.template.0 as usize];
        let start = usize::from(!signature.starts.is_empty());
        (procedure.parameters.len() + procedure.locals.len() + start) as u32
    }
}

/// What a name stands for.
#[derive(Clone, Copy)]
pub(crate) enum Meaning {
    Local(LocalId),
    Global(ObjectId),
}

/// Whose values an expression speaks of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Those before the step; primes are not allowed.
    Now,
    /// Those after the step where primed, else before.
    Constraint,
}

pub(crate) struct Scope<'a> {
    world: &'a World<'a>,
    procedure: &'a Procedure,
    pub template: Template,
    locals: IndexMap<String, LocalId>,
    /// Locals for `*`, and how many of them the current step uses.
    pub choices: Vec<LocalId>,
    pub used: usize,
    packed: Option<LocalId>,
    temporaries: Vec<LocalId>,
    pub saved: IndexMap<(String, bool), LocalId>,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(world: &'a World<'a>, procedure: &'a Procedure) -> Self {
        Self {
            world,
            procedure,
            template: Template::default(),
            locals: IndexMap::new(),
            choices: Vec::new(),
            used: 0,
            packed: None,
            temporaries: Vec::new(),
            saved: IndexMap::new(),
        }
    }

    /// Makes the parameters and local variables.
    pub(crate) fn declare(&mut self) -> Lowered<()> {
        let locals = self.procedure.locals.iter().map(|local| &local.name);
        for name in self.procedure.parameters.iter().chain(locals) {
            if self.world.locks.contains_key(&name.text) {
                return Err(Problem::new(name.at, format!("`{}` is the name of a lock", name.text)));
            }
            let local = self.template.local(name.text.clone(), IntType::BOOL, span(name.at));
            if self.locals.insert(name.text.clone(), local).is_some() {
                return Err(Problem::new(name.at, format!("`{}` is declared twice", name.text)));
            }
        }
        Ok(())
    }

    pub(crate) fn declare_result(&mut self) {
        let at = span(self.procedure.name.at);
        self.template.result = match self.procedure.returns {
            0 => None,
            1 => Some(self.template.local("result", IntType::BOOL, at)),
            many => Some(self.template.local("result", packed_type(many), at)),
        };
    }

    pub(crate) fn is_local(&self, name: &str) -> bool {
        self.locals.contains_key(name)
    }
    pub(crate) fn user_locals(&self) -> impl Iterator<Item = LocalId> + '_ {
        self.locals.values().copied()
    }
    pub(crate) fn parameter_locals(&self) -> impl Iterator<Item = LocalId> + '_ {
        self.locals.values().copied().take(self.procedure.parameters.len())
    }
    /// The local variables with what they hold at first.
    pub(crate) fn initial_values(&self) -> Vec<(LocalId, Option<&'a Expr>)> {
        let locals = self.procedure.locals.iter();
        locals.map(|local| (self.locals[&local.name.text], local.initial.as_ref())).collect()
    }

    /// What a name stands for.
    pub(crate) fn meaning(&self, name: &Name) -> Lowered<Meaning> {
        if let Some(local) = self.locals.get(&name.text) {
            return Ok(Meaning::Local(*local));
        }
        if let Some(object) = self.world.globals.get(&name.text) {
            return Ok(Meaning::Global(*object));
        }
        let text = if self.world.locks.contains_key(&name.text) {
            format!("`{}` is a lock, so it has no value", name.text)
        } else if self.passive(&name.text).is_some() {
            format!("`{}` belongs to other threads: it stands in assignments only", name.text)
        } else {
            format!("there is no variable `{}`", name.text)
        };
        Err(Problem::new(name.at, text))
    }

    /// The local variable that `x$` means in other threads.
    pub(crate) fn passive(&self, name: &str) -> Option<LocalId> {
        if self.locals.contains_key(name) || self.world.globals.contains_key(name) {
            return None;
        }
        self.locals.get(name.strip_suffix('$')?).copied()
    }

    pub(crate) fn value_of(&self, meaning: Meaning) -> ir::Expr {
        match meaning {
            Meaning::Local(local) => ir::Expr::Local(local),
            Meaning::Global(object) => ir::Expr::load(cell(object)),
        }
    }

    pub(crate) fn left(&self, meaning: Meaning) -> Lhs {
        match meaning {
            Meaning::Local(local) => Lhs::Local(local),
            Meaning::Global(object) => Lhs::Memory(cell(object)),
        }
    }

    /// Steps of numbered threads wait while another thread is in an atomic region.
    pub(crate) fn turn(&self, world: &World<'_>) -> Option<ir::Expr> {
        let name = &self.procedure.name.text;
        let numbered =
            name.strip_prefix("thread").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        if !world.atomic_flag || !numbered {
            return None;
        }
        let first = self.procedure.locals.first().filter(|first| first.name.text == "at")?;
        let (flag, at) = (world.globals.get("atomic")?, self.locals[&first.name.text]);
        let free = self.value_of(Meaning::Global(*flag)).not();
        Some(ir::Expr::binary(BinaryOp::Or, IntType::BOOL, free, ir::Expr::Local(at)))
    }

    /// A fresh `*` of this step.
    pub(crate) fn choice(&mut self) -> LocalId {
        if self.used == self.choices.len() {
            let name = format!("choice{}", self.used);
            let local = self.template.local(name, IntType::BOOL, span(self.procedure.name.at));
            self.choices.push(local);
        }
        self.used += 1;
        self.choices[self.used - 1]
    }

    /// The operation that makes the choices of this step.
    pub(crate) fn take_choices(&mut self) -> Option<Op> {
        let used = std::mem::take(&mut self.used);
        let pairs: Vec<_> = self.choices[..used].iter().map(|local| (Lhs::Local(*local), Rhs::Any)).collect();
        (!pairs.is_empty()).then_some(Op::Assign(Assignment { pairs, constraint: None }))
    }

    /// A condition on the values before the step.
    pub(crate) fn condition(&mut self, expr: &Expr) -> Lowered<ir::Expr> {
        self.expression(expr, &mut |scope, variable| scope.variable(variable, Mode::Now))
    }

    /// The value of an occurrence of a variable.
    pub(crate) fn variable(&self, variable: &Variable, mode: Mode) -> Lowered<ir::Expr> {
        let value = self.value_of(self.meaning(&variable.name)?);
        match mode {
            Mode::Now if variable.next => {
                Err(Problem::new(variable.name.at, "primed variables stand in constraints only"))
            }
            Mode::Now => Ok(value),
            Mode::Constraint if variable.next => Ok(value),
            Mode::Constraint => Ok(ir::Expr::Old(Box::new(value))),
        }
    }

    /// Lowers an expression, with the given meaning of variables.
    pub(crate) fn expression(
        &mut self,
        expr: &Expr,
        variable: &mut dyn FnMut(&Self, &Variable) -> Lowered<ir::Expr>,
    ) -> Lowered<ir::Expr> {
        let bool_binary = |op, (left, right)| ir::Expr::binary(op, IntType::BOOL, left, right);
        Ok(match expr {
            Expr::Constant(value) => ir::Expr::bool(*value),
            Expr::Choice => ir::Expr::Local(self.choice()),
            Expr::Variable(occurrence) => variable(self, occurrence)?,
            Expr::Not(operand) => self.expression(operand, variable)?.not(),
            Expr::Many(connective, operands) => {
                let mut lowered = Vec::new();
                for operand in operands {
                    lowered.push(self.expression(operand, variable)?);
                }
                let op = match connective {
                    Connective::And => BinaryOp::And,
                    Connective::Or => BinaryOp::Or,
                };
                balanced(op, lowered)
            }
            Expr::Binary(operator, pair) => {
                let left = self.expression(&pair.0, variable)?;
                let right = self.expression(&pair.1, variable)?;
                match operator {
                    BinaryOperator::Equal => bool_binary(BinaryOp::Eq, (left, right)),
                    BinaryOperator::Different | BinaryOperator::Xor => {
                        bool_binary(BinaryOp::Ne, (left, right))
                    }
                    BinaryOperator::Implies => balanced(BinaryOp::Or, vec![left.not(), right]),
                }
            }
            Expr::Conditional(three) => {
                let condition = self.expression(&three.0, variable)?;
                let yes = self.expression(&three.1, variable)?;
                let no = self.expression(&three.2, variable)?;
                ir::Expr::IfThenElse(Box::new((condition, yes, no)))
            }
            Expr::Schoose(pair) => {
                let yes = self.expression(&pair.0, variable)?;
                if yes == ir::Expr::bool(true) {
                    return Ok(yes);
                }
                let no = self.expression(&pair.1, variable)?;
                if no == ir::Expr::bool(true) {
                    return Ok(yes);
                }
                let either = balanced(BinaryOp::And, vec![no.not(), ir::Expr::Local(self.choice())]);
                balanced(BinaryOp::Or, vec![yes, either])
            }
        })
    }

    /// A right-hand side.
    pub(crate) fn right(&mut self, value: &Expr) -> Lowered<Rhs> {
        let before = self.used;
        let lowered = self.condition(value)?;
        if self.used == before + 1 && lowered == ir::Expr::Local(self.choices[before]) {
            self.used = before;
            return Ok(Rhs::Any);
        }
        Ok(Rhs::Value(lowered))
    }

    /// The operations of an assignment.
    pub(crate) fn assignment(
        &mut self,
        targets: &[Name],
        values: &[Expr],
        constrain: Option<&Expr>,
    ) -> Lowered<Vec<Op>> {
        for (index, target) in targets.iter().enumerate() {
            if targets[..index].contains(target) {
                return Err(Problem::new(target.at, format!("`{}` is assigned twice", target.text)));
            }
        }
        if self.mentions_others(targets, values, constrain) {
            return self.assignment_to_all(targets, values, constrain);
        }
        let mut pairs = Vec::new();
        for (target, value) in targets.iter().zip(values) {
            let left = self.left(self.meaning(target)?);
            pairs.push((left, self.right(value)?));
        }
        let constraint = match constrain {
            Some(condition) => {
                let lowered = self.expression(condition, &mut |scope, variable| {
                    scope.variable(variable, Mode::Constraint)
                })?;
                Some(lowered).filter(|lowered| *lowered != ir::Expr::bool(true))
            }
            None => None,
        };
        let mut ops: Vec<Op> = self.take_choices().into_iter().collect();
        ops.push(Op::Assign(Assignment { pairs, constraint }));
        Ok(ops)
    }

    /// `constrain(e)`: all visible variables get any values for which `e` holds.
    pub(crate) fn constrain(&mut self, condition: &Expr) -> Lowered<Vec<Op>> {
        let lowered =
            self.expression(condition, &mut |scope, variable| scope.variable(variable, Mode::Constraint))?;
        let globals = self.world.globals.iter().filter(|(name, _)| !self.locals.contains_key(*name));
        let globals = globals.map(|(_, object)| Lhs::Memory(cell(*object)));
        let locals = self.locals.values().map(|local| Lhs::Local(*local));
        let pairs = globals.chain(locals).map(|left| (left, Rhs::Any)).collect();
        let mut ops: Vec<Op> = self.take_choices().into_iter().collect();
        ops.push(Op::Assign(Assignment { pairs, constraint: Some(lowered) }));
        Ok(ops)
    }

    /// Puts the values of a `return` into the result.
    pub(crate) fn return_values(&mut self, values: &[Expr]) -> Lowered<Vec<Op>> {
        let Some(result) = self.template.result else { return Ok(Vec::new()) };
        let right = match values {
            [value] => self.right(value)?,
            many => {
                let ty = packed_type(many.len());
                let mut bits = Vec::new();
                for (index, value) in many.iter().enumerate() {
                    let value = self.condition(value)?;
                    let (yes, no) = (ir::Expr::int(1 << index, ty), ir::Expr::int(0, ty));
                    bits.push(ir::Expr::IfThenElse(Box::new((value, yes, no))));
                }
                Rhs::Value(fold(bits, &mut |a, b| ir::Expr::binary(BinaryOp::Or, ty, a, b)))
            }
        };
        let mut ops: Vec<Op> = self.take_choices().into_iter().collect();
        ops.push(Op::Assign(Assignment { pairs: vec![(Lhs::Local(result), right)], constraint: None }));
        Ok(ops)
    }

    /// Where the result of a call goes, and what is assigned of it in a further step.
    pub(crate) fn call_results(
        &mut self,
        targets: &[Name],
        returns: usize,
    ) -> Lowered<(Option<Lhs>, Option<Op>)> {
        let mut lefts = Vec::new();
        for (index, target) in targets.iter().enumerate() {
            if targets[..index].contains(target) {
                return Err(Problem::new(target.at, format!("`{}` is assigned twice", target.text)));
            }
            lefts.push(self.left(self.meaning(target)?));
        }
        let at = span(self.procedure.name.at);
        match lefts.as_slice() {
            [] => Ok((None, None)),
            [Lhs::Local(local)] => Ok((Some(Lhs::Local(*local)), None)),
            [global] => {
                if self.temporaries.is_empty() {
                    self.temporaries.push(self.template.local("returned", IntType::BOOL, at));
                }
                let local = self.temporaries[0];
                Ok((Some(Lhs::Local(local)), Some(Op::set(global.clone(), ir::Expr::Local(local)))))
            }
            many => {
                let ty = packed_type(returns);
                let same = self.packed.filter(|local| self.template.locals[*local].ty == ty);
                let local = same.unwrap_or_else(|| self.template.local("returned", ty, at));
                self.packed = Some(local);
                let bit = |index: usize| {
                    let mask = ir::Expr::int(1 << index, ty);
                    let masked = ir::Expr::binary(BinaryOp::And, ty, ir::Expr::Local(local), mask);
                    Rhs::Value(ir::Expr::binary(BinaryOp::Ne, ty, masked, ir::Expr::int(0, ty)))
                };
                let pairs = many.iter().enumerate().map(|(index, left)| (left.clone(), bit(index))).collect();
                Ok((Some(Lhs::Local(local)), Some(Op::Assign(Assignment { pairs, constraint: None }))))
            }
        }
    }

    pub(crate) fn procedure(&self) -> &'a Procedure {
        self.procedure
    }
    pub(crate) fn world(&self) -> &'a World<'a> {
        self.world
    }
}

/// The type in which a procedure returns several values.
fn packed_type(values: usize) -> IntType {
    match values {
        0..=8 => IntType::U8,
        9..=16 => IntType::U16,
        17..=32 => IntType::U32,
        _ => IntType::U64,
    }
}

/// The conjunction or disjunction of some operands, as a tree of small depth, without constants.
pub(crate) fn balanced(op: BinaryOp, operands: Vec<ir::Expr>) -> ir::Expr {
    let neutral = ir::Expr::bool(op == BinaryOp::And);
    let absorbing = ir::Expr::bool(op != BinaryOp::And);
    if operands.contains(&absorbing) {
        return absorbing;
    }
    let operands: Vec<ir::Expr> = operands.into_iter().filter(|operand| *operand != neutral).collect();
    if operands.is_empty() {
        return neutral;
    }
    fold(operands, &mut |a, b| ir::Expr::binary(op, IntType::BOOL, a, b))
}

/// Combines neighbours until one is left.
fn fold(mut operands: Vec<ir::Expr>, combine: &mut dyn FnMut(ir::Expr, ir::Expr) -> ir::Expr) -> ir::Expr {
    while operands.len() > 1 {
        let mut next = Vec::with_capacity(operands.len().div_ceil(2));
        let mut rest = operands.into_iter();
        while let Some(first) = rest.next() {
            next.push(match rest.next() {
                Some(second) => combine(first, second),
                None => first,
            });
        }
        operands = next;
    }
    operands.pop().unwrap_or_else(|| ir::Expr::bool(true))
}
