//! The composition of the abstract threads of a specification as a program (paper 2, section 2). It contains
//! nothing of the concrete threads.
//!
//! Exact: the program can go wrong if and only if the composition can, for the numbers of threads that the
//! specification allows. A thread that starts later may as well have idled until then. A transition is one
//! edge; values that it determines are assigned, the others are arbitrary under a constraint.

use crate::expr::{BinaryOp, Expr, Place};
use crate::ids::{IdVec, LocationId, ObjectId, TemplateId};
use crate::op::{Assignment, Callee, Lhs, Op, Rhs};
use crate::program::{Count, ErrorKind, Initial, LocationKind, Object, Program, Span, Storage, Template};
use crate::specification::{Specification, Thread, Transition, first_value, total};
use crate::types::Layout;

/// The composition of the abstract threads for a program that they specify.
pub fn compose(specification: &Specification, program: &Program) -> Program {
    let composer = Composer { specification };
    let mut result = Program {
        data_model: program.data_model,
        files: vec![specification.file.clone()],
        ..Program::default()
    };
    for variable in &specification.variables {
        let value = first_value(program, variable).filter(|_| specification.start.is_none());
        let values = value.map(|value| vec![(0, variable.ty, Expr::Const(value, variable.ty))]);
        result.objects.push(Object {
            name: variable.name.clone(),
            storage: Storage::Static,
            size: variable.ty.bytes(),
            align: variable.ty.bytes(),
            layout: Layout::Scalar(variable.ty),
            initial: Initial::Values(values.unwrap_or_default()),
            span: Span::default(),
            role: crate::program::ObjectRole::Program,
        });
    }
    let first = TemplateId(1);
    let mut templates: IdVec<TemplateId, Template> = IdVec::new();
    templates.push(composer.main(program, first));
    for thread in &specification.threads {
        templates.push(composer.thread(thread));
    }
    result.templates = templates;
    result.start = vec![(TemplateId(0), Count::Exactly(1))];
    result
}

struct Composer<'a> {
    specification: &'a Specification,
}

impl Composer<'_> {
    fn place(&self, variable: usize) -> Place {
        let what = &self.specification.variables[variable];
        Place { atomic: true, ..Place::cell(ObjectId(variable as u32), 0, what.ty) }
    }

    /// A condition over the objects of the composition.
    fn translated(&self, expr: &Expr) -> Expr {
        let mut result = expr.clone();
        result.rewrite(&mut |inner| {
            if let Expr::Load(place) = inner
                && let Some((object, offset)) = place.as_cell()
                && let Some(variable) = self.specification.variable_at(object, offset)
            {
                **place = Place { ty: place.ty, ..self.place(variable) };
            }
        });
        result
    }

    /// The first thread sets open values and starts the others.
    fn main(&self, program: &Program, first: TemplateId) -> Template {
        let mut code = Template { name: "start".to_owned(), ..Template::default() };
        let mut here = code.location(LocationKind::Normal, false);
        let open = |variable: &usize| {
            self.specification.start.is_some()
                || first_value(program, &self.specification.variables[*variable]).is_none()
        };
        let pairs: Vec<(Lhs, Rhs)> = (0..self.specification.variables.len())
            .filter(open)
            .map(|variable| (Lhs::Memory(self.place(variable)), Rhs::Any))
            .collect();
        if !pairs.is_empty() {
            let conditions = self.specification.start.iter().flatten();
            let constraint = conditions.map(|condition| self.translated(condition)).reduce(Expr::and);
            let next = code.location(LocationKind::Normal, false);
            code.edge(here, next, vec![Op::Assign(Assignment { pairs, constraint })], Span::default());
            here = next;
        }
        for (number, thread) in self.specification.threads.iter().enumerate() {
            let template = TemplateId(first.0 + number as u32);
            let spawn = || vec![Op::Spawn(Callee::Procedure(template), vec![], None)];
            match thread.count {
                Count::Any => {
                    code.edge(here, here, spawn(), thread.span);
                    let next = code.location(LocationKind::Normal, false);
                    code.edge(here, next, vec![], thread.span);
                    here = next;
                }
                Count::Exactly(copies) => {
                    for _ in 0..copies {
                        let next = code.location(LocationKind::Normal, false);
                        code.edge(here, next, spawn(), thread.span);
                        here = next;
                    }
                }
            }
        }
        let end = code.location(LocationKind::End, false);
        code.edge(here, end, vec![], Span::default());
        code
    }

    fn thread(&self, thread: &Thread) -> Template {
        let mut code = Template { name: thread.name.clone(), span: thread.span, ..Template::default() };
        let entry = code.location(LocationKind::Normal, false);
        let states: Vec<LocationId> =
            thread.states.iter().map(|_| code.location(LocationKind::Normal, false)).collect();
        let error = code.location(LocationKind::Error(ErrorKind::Assertion), false);
        for state in &thread.initial {
            code.edge(entry, states[*state], vec![], thread.states[*state].span);
        }
        for (number, state) in thread.states.iter().enumerate() {
            for condition in &state.assertion {
                let fails = self.translated(condition).not();
                code.edge(states[number], error, vec![Op::Assume(fails)], state.span);
            }
        }
        for transition in &thread.transitions {
            let ops = self.operations(transition);
            code.edge(states[transition.source], states[transition.target], ops, transition.span);
        }
        code
    }

    /// The operations of a transition: conditions on the old values first, then the assignment of the values
    /// that it determines, then the rest.
    fn operations(&self, transition: &Transition) -> Vec<Op> {
        let mut ops = Vec::new();
        let mut values: Vec<Option<Expr>> = transition.changes.iter().map(|_| None).collect();
        let mut rest = Vec::new();
        for condition in &transition.condition {
            match self.determined(transition, condition, &values) {
                Some((which, value)) => values[which] = Some(value),
                None if !speaks_of_new(condition) => {
                    ops.push(Op::Assume(without_old(&self.translated(condition))))
                }
                None => rest.push(self.translated(condition)),
            }
        }
        let pairs: Vec<(Lhs, Rhs)> = transition
            .changes
            .iter()
            .zip(values)
            .map(|(variable, value)| {
                let rhs = value.map_or(Rhs::Any, |value| Rhs::Value(without_old(&self.translated(&value))));
                (Lhs::Memory(self.place(*variable)), rhs)
            })
            .collect();
        let constraint = rest.into_iter().reduce(Expr::and);
        if !pairs.is_empty() || constraint.is_some() {
            ops.push(Op::Assign(Assignment { pairs, constraint }));
        }
        ops
    }

    /// The variable, as its position among those that change, and its new value, if a condition determines it
    /// from old values.
    fn determined(
        &self,
        transition: &Transition,
        condition: &Expr,
        known: &[Option<Expr>],
    ) -> Option<(usize, Expr)> {
        // A condition that may lack a value is wrapped: where it does not hold, evaluating the value may
        // fault, but the step is not taken in either case.
        let inner = match condition {
            Expr::IfThenElse(three) if total(three.1.clone()) == *condition => &three.1,
            other => other,
        };
        let Expr::Binary(BinaryOp::Eq, ty, pair) = inner else { return None };
        let variable = |side: &Expr| match side {
            Expr::Load(place) => {
                let (object, offset) = place.as_cell()?;
                let number = self.specification.variable_at(object, offset)?;
                let which = transition.changes.iter().position(|changed| *changed == number)?;
                (self.specification.variables[number].ty == *ty && known[which].is_none()).then_some(which)
            }
            _ => None,
        };
        let (left, right) = (&pair.0, &pair.1);
        match (variable(left), variable(right)) {
            (Some(which), _) if !speaks_of_new(right) => Some((which, right.clone())),
            (_, Some(which)) if !speaks_of_new(left) => Some((which, left.clone())),
            _ => None,
        }
    }
}

/// Whether an expression reads memory as it is after a step.
fn speaks_of_new(expr: &Expr) -> bool {
    match expr {
        Expr::Old(_) => false,
        Expr::Load(_) => true,
        other => other.operands().into_iter().any(speaks_of_new),
    }
}

/// An expression over old values only, evaluated before the step.
fn without_old(expr: &Expr) -> Expr {
    let mut result = expr.clone();
    result.rewrite(&mut |inner| {
        if let Expr::Old(operand) = inner {
            *inner = std::mem::replace(operand, Expr::bool(false));
        }
    });
    result
}
