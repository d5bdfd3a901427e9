//! Assignments that change the variables of all other threads (`x$`), as in symmetry-aware predicate
//! abstraction.
//!
//! One step: the thread's own assignment first, then one [`Broadcast`] that hands over what the others need
//! to know (values before the step, new values of local variables), one that assigns in each of them, and one
//! that clears the copies. Conjuncts of the constraint without `x$` are about the thread itself, the others
//! must hold for every other thread.

use crate::ast::{Connective, Expr, Name, StatementKind, Variable};
use crate::diagnostic::Problem;
use crate::lower::{each_statement, span};
use crate::values::{Meaning, Mode, Scope, balanced};
use ir::{Assignment, BinaryOp, Broadcast, IntType, Lhs, LocalId, Op, Rhs};

type Lowered<T> = Result<T, Problem>;

impl Scope<'_> {
    /// Whether an expression speaks of other threads.
    fn is_about_others(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.variables(&mut |variable| found |= self.passive(&variable.name.text).is_some());
        found
    }

    /// Whether an assignment speaks of other threads.
    pub(crate) fn mentions_others(
        &self,
        targets: &[Name],
        values: &[Expr],
        constrain: Option<&Expr>,
    ) -> bool {
        targets.iter().any(|target| self.passive(&target.text).is_some())
            || values.iter().chain(constrain).any(|expr| self.is_about_others(expr))
    }

    /// The local in which a value is handed over: of a variable before the step, or after it.
    fn handed(&mut self, name: &str, next: bool) -> LocalId {
        let key = (name.to_owned(), next);
        if let Some(local) = self.saved.get(&key) {
            return *local;
        }
        let text = if next { format!("new.{name}") } else { format!("old.{name}") };
        let local = self.template.local(text, IntType::BOOL, span(self.procedure().name.at));
        self.saved.insert(key, local);
        local
    }

    /// Makes the locals in which the values of all variables of an expression are handed over.
    fn hand_over(&mut self, expr: &Expr, handed: &mut Vec<(Name, bool, LocalId)>) -> Lowered<()> {
        let mut found: Vec<&Variable> = Vec::new();
        expr.variables(&mut |variable| found.push(variable));
        for variable in found {
            if self.passive(&variable.name.text).is_some() {
                continue;
            }
            let is_new_global = variable.next && matches!(self.meaning(&variable.name)?, Meaning::Global(_));
            if !is_new_global {
                let local = self.handed(&variable.name.text, variable.next);
                if !handed.iter().any(|(_, _, known)| *known == local) {
                    handed.push((variable.name.clone(), variable.next, local));
                }
            }
        }
        Ok(())
    }

    /// An expression as another thread evaluates it.
    fn others_expression(&mut self, expr: &Expr, in_constraint: bool) -> Lowered<ir::Expr> {
        self.expression(expr, &mut |scope, variable| {
            if let Some(local) = scope.passive(&variable.name.text) {
                let value = ir::Expr::Local(local);
                return match (in_constraint, variable.next) {
                    (true, false) => Ok(ir::Expr::Old(Box::new(value))),
                    (false, true) => {
                        Err(Problem::new(variable.name.at, "primed variables stand in constraints only"))
                    }
                    _ => Ok(value),
                };
            }
            let meaning = scope.meaning(&variable.name)?;
            match scope.saved.get(&(variable.name.text.clone(), variable.next)) {
                Some(local) => Ok(ir::Expr::Local(*local)),
                None => Ok(scope.value_of(meaning)),
            }
        })
    }

    pub(crate) fn assignment_to_all(
        &mut self,
        targets: &[Name],
        values: &[Expr],
        constrain: Option<&Expr>,
    ) -> Lowered<Vec<Op>> {
        let procedure = self.procedure();
        let mut call = None;
        each_statement(&procedure.body, &mut |statement| {
            if let StatementKind::Call { callee, .. } = &statement.kind
                && !statement.labels.iter().any(|label| label.text.starts_with("ASYNC_"))
            {
                call = call.or(Some(callee.at));
            }
        });
        if let Some(at) = call {
            return Err(Problem::new(
                at,
                "a procedure that changes variables of other threads (`x$`) cannot call others",
            ));
        }
        let conjuncts: Vec<&Expr> = match constrain {
            Some(Expr::Many(Connective::And, operands)) => operands.iter().collect(),
            Some(other) => vec![other],
            None => Vec::new(),
        };
        let (theirs, mine): (Vec<&Expr>, Vec<&Expr>) =
            conjuncts.into_iter().partition(|e| self.is_about_others(e));
        let mut own = Vec::new();
        let mut others: Vec<(LocalId, &Expr)> = Vec::new();
        for (target, value) in targets.iter().zip(values) {
            match self.passive(&target.text) {
                Some(local) => others.push((local, value)),
                None => {
                    let left = self.left(self.meaning(target)?);
                    own.push((left, self.right(value)?));
                }
            }
        }
        let mut constraint = Vec::new();
        for condition in mine {
            constraint.push(self.expression(condition, &mut |scope, v| scope.variable(v, Mode::Constraint))?);
        }
        let constraint = Some(balanced(BinaryOp::And, constraint)).filter(|e| *e != ir::Expr::bool(true));
        let mut ops: Vec<Op> = self.take_choices().into_iter().collect();

        let mut handed: Vec<(Name, bool, LocalId)> = Vec::new();
        for expr in others.iter().map(|(_, value)| *value).chain(theirs.iter().copied()) {
            self.hand_over(expr, &mut handed)?;
        }
        let set = |pairs: Vec<(Lhs, Rhs)>| Op::Assign(Assignment { pairs, constraint: None });
        let mut before = Vec::new();
        let mut after = Vec::new();
        for (name, next, local) in &handed {
            let value = self.value_of(self.meaning(name)?);
            if *next { &mut after } else { &mut before }.push((Lhs::Local(*local), Rhs::Value(value)));
        }
        if !before.is_empty() {
            ops.push(set(before));
        }
        ops.push(Op::Assign(Assignment { pairs: own, constraint }));
        if !after.is_empty() {
            ops.push(set(after));
        }

        let mut pairs = Vec::new();
        for (local, value) in others {
            pairs.push((Lhs::Local(local), Rhs::Value(self.others_expression(value, false)?)));
        }
        let mut conditions = Vec::new();
        for condition in theirs {
            conditions.push(self.others_expression(condition, true)?);
        }
        let constraint = Some(balanced(BinaryOp::And, conditions)).filter(|e| *e != ir::Expr::bool(true));
        let choices: Vec<LocalId> = self.choices[..std::mem::take(&mut self.used)].to_vec();
        let to = self.world().signatures[&procedure.name.text].template;
        let arguments = handed.iter().map(|(_, _, local)| (*local, ir::Expr::Local(*local))).collect();
        let any = choices.iter().map(|local| (Lhs::Local(*local), Rhs::Any)).collect();
        let first = Assignment { pairs: any, constraint: None };
        ops.push(Op::Broadcast(Broadcast { to, arguments, assignment: first }));
        ops.push(Op::Broadcast(Broadcast {
            to,
            arguments: Vec::new(),
            assignment: Assignment { pairs, constraint },
        }));
        let copies: Vec<LocalId> = handed.iter().map(|(_, _, local)| *local).collect();
        let clear = |locals: &[LocalId]| -> Vec<(Lhs, Rhs)> {
            locals.iter().map(|local| (Lhs::Local(*local), Rhs::Value(ir::Expr::bool(false)))).collect()
        };
        if !copies.is_empty() || !choices.is_empty() {
            let all: Vec<LocalId> = copies.iter().chain(&choices).copied().collect();
            let assignment = Assignment { pairs: clear(&all), constraint: None };
            ops.push(Op::Broadcast(Broadcast { to, arguments: Vec::new(), assignment }));
        }
        if !copies.is_empty() {
            ops.push(set(clear(&copies)));
        }
        Ok(ops)
    }
}
