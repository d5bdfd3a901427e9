//! Specifications of threads: abstract threads (paper 2, section 2), state machines over some cells of a
//! program's static memory.
//!
//! An abstract thread is in one of finitely many states. A state has an assertion over the cells; a thread
//! that is in a state whose assertion does not hold has gone wrong. A transition leads from state to state;
//! it relates the cells before it (under [`Expr::Old`]) with those after it. Cells that it does not list do
//! not change. In every state a thread may idle: nothing changes. Cells that no part of a specification names
//! may change at any time.
//!
//! Conditions are lists of Booleans that must all hold, each of which always has a value: one that C leaves
//! undefined does not hold (see [`total`]).

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::ids::ObjectId;
use crate::program::{Count, Initial, Object, Program, Span, Storage};
use crate::types::{IntType, Value};
use serde::{Deserialize, Serialize};

/// Abstract threads for the threads of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Specification {
    /// The file that its spans point into.
    pub file: String,
    /// The cells that it is about.
    pub variables: Vec<Variable>,
    /// What holds when the second thread starts; `None` when each variable has its initial value.
    pub start: Option<Vec<Expr>>,
    /// The threads.
    pub threads: Vec<Thread>,
}

/// A cell of a static object of the program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Its name in the source.
    pub name: String,
    /// The object.
    pub object: ObjectId,
    /// The cell's offset in it.
    pub offset: u64,
    /// How its bytes are read.
    pub ty: IntType,
}

/// What the threads that run a function may do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// The function of the program.
    pub function: String,
    /// The most threads.
    pub count: Count,
    /// The states.
    pub states: Vec<State>,
    /// The states that threads start in, by number.
    pub initial: Vec<usize>,
    /// The transitions, without idling.
    pub transitions: Vec<Transition>,
    /// Its position in the source.
    pub span: Span,
}

/// A state of an abstract thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Its name.
    pub name: String,
    /// What must hold whenever a thread is in it.
    pub assertion: Vec<Expr>,
    /// Where it stands.
    pub span: Span,
}

/// A step of an abstract thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// The number of the state that it leaves.
    pub source: usize,
    /// The number of the state that it leads to.
    pub target: usize,
    /// The variables that may change, by number.
    pub changes: Vec<usize>,
    /// What must hold of the variables before it (under [`Expr::Old`]) and after it.
    pub condition: Vec<Expr>,
    /// Where it stands.
    pub span: Span,
}

impl Thread {
    /// The abstract thread that changes nothing.
    pub fn idle(function: &str) -> Self {
        let state = State { name: "idle".to_owned(), assertion: Vec::new(), span: Span::default() };
        Self {
            name: function.to_owned(),
            function: function.to_owned(),
            count: Count::Any,
            states: vec![state],
            initial: vec![0],
            transitions: Vec::new(),
            span: Span::default(),
        }
    }
}

impl Specification {
    /// What holds for all variables when the second thread starts. There is no condition for a variable with
    /// an unknown initial value.
    pub fn start_condition(&self, program: &Program) -> Vec<Expr> {
        if let Some(start) = &self.start {
            return start.clone();
        }
        let first = |variable: &Variable| {
            let value = first_value(program, variable)?;
            let here = Expr::load(crate::Place::cell(variable.object, variable.offset, variable.ty));
            Some(Expr::binary(BinaryOp::Eq, variable.ty, here, Expr::Const(value, variable.ty)))
        };
        self.variables.iter().filter_map(first).collect()
    }

    /// The number of the variable at a cell.
    pub fn variable_at(&self, object: ObjectId, offset: u64) -> Option<usize> {
        self.variables.iter().position(|variable| (variable.object, variable.offset) == (object, offset))
    }

    /// Whether some condition mentions the id of the thread.
    pub fn names_threads(&self) -> bool {
        let of_threads = self.threads.iter().flat_map(|thread| {
            let states = thread.states.iter().flat_map(|state| &state.assertion);
            states.chain(thread.transitions.iter().flat_map(|transition| &transition.condition))
        });
        let mut found = false;
        for expr in of_threads.chain(self.start.iter().flatten()) {
            expr.walk(&mut |inner| found |= *inner == Expr::Myself);
        }
        found
    }
}

/// The initial value of a variable, if it is a known number.
pub fn first_value(program: &Program, variable: &Variable) -> Option<Value> {
    match &program.objects[variable.object].initial {
        Initial::Unknown | Initial::NotModelled => None,
        Initial::Values(values) => {
            let bytes = variable.ty.bytes();
            let touches = |offset: u64, ty: IntType| {
                offset < variable.offset + bytes && variable.offset < offset + ty.bytes()
            };
            let mut found = values.iter().filter(|(offset, ty, _)| touches(*offset, *ty));
            match (found.next(), found.next()) {
                (None, _) => Some(0),
                (Some((offset, ty, Expr::Const(value, _))), None)
                    if *offset == variable.offset && ty.bytes() == bytes =>
                {
                    Some(variable.ty.wrap(*value))
                }
                _ => None,
            }
        }
    }
}

/// The object of a transformed program that corresponds to an object of the original. Passes keep static
/// objects, or drop those that nothing mentions.
pub fn same_object(original: &Object, passed: &Program) -> Option<ObjectId> {
    let mut found = passed.objects.enumerate().filter(|(_, object)| {
        object.storage == Storage::Static
            && object.name == original.name
            && object.span == original.span
            && object.size == original.size
    });
    match (found.next(), found.next()) {
        (Some((id, _)), None) => Some(id),
        _ => None,
    }
}

/// A Boolean that always has a value: true if and only if the expression has a value and is true.
pub fn total(expr: Expr) -> Expr {
    match defined(&expr) {
        None => expr,
        Some(defined) => and_then(defined, expr),
    }
}

/// The second operand if the first holds; otherwise it is not evaluated.
pub fn and_then(first: Expr, second: Expr) -> Expr {
    Expr::IfThenElse(Box::new((first, second, Expr::bool(false))))
}

fn both(first: Option<Expr>, second: Option<Expr>) -> Option<Expr> {
    match (first, second) {
        (Some(first), Some(second)) => Some(and_then(first, second)),
        (first, second) => first.or(second),
    }
}

/// The condition under which an expression has a value; `None` when always. Operands are those of
/// specifications: memory cells always exist.
fn defined(expr: &Expr) -> Option<Expr> {
    let of_operands = expr.operands().into_iter().map(defined).fold(None, both);
    let itself = match expr {
        Expr::Const(..)
        | Expr::Local(_)
        | Expr::Load(_)
        | Expr::Address(..)
        | Expr::Procedure(_)
        | Expr::Myself
        | Expr::Cast(..)
        | Expr::Overflows(..)
        | Expr::Valid(..)
        | Expr::Old(_) => None,
        Expr::Unary(UnaryOp::Neg, ty, operand) if ty.signed => Some(
            Expr::binary(BinaryOp::Eq, *ty, (**operand).clone(), Expr::Const(IntType::min(*ty), *ty)).not(),
        ),
        Expr::Unary(..) => None,
        Expr::Binary(op, ty, pair) => match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul if ty.signed => {
                Some(Expr::Overflows(*op, *ty, pair.clone()).not())
            }
            BinaryOp::Div | BinaryOp::Rem => {
                let is = |side: &Expr, value: Value| {
                    Expr::binary(BinaryOp::Eq, *ty, side.clone(), Expr::Const(value, *ty))
                };
                let not_zero = is(&pair.1, 0).not();
                let fits = ty.signed.then(|| is(&pair.0, IntType::min(*ty)).and(is(&pair.1, -1)).not());
                both(Some(not_zero), fits)
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                // The front end gives both operands the same type.
                let limit = Expr::Const(Value::from(ty.bits), *ty);
                let below = Expr::binary(BinaryOp::Lt, *ty, pair.1.clone(), limit);
                let above = Expr::binary(BinaryOp::Le, *ty, Expr::Const(0, *ty), pair.1.clone());
                Some(above.and(below))
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => None,
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => None,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => None,
        },
        Expr::IfThenElse(three) => {
            // Only the side that is chosen is evaluated.
            let (condition, yes, no) = (defined(&three.0), defined(&three.1), defined(&three.2));
            let sides = match (yes, no) {
                (None, None) => None,
                (yes, no) => Some(Expr::IfThenElse(Box::new((
                    three.0.clone(),
                    yes.unwrap_or_else(|| Expr::bool(true)),
                    no.unwrap_or_else(|| Expr::bool(true)),
                )))),
            };
            return both(condition, sides);
        }
    };
    both(of_operands, itself)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overflows_does_not_hold() {
        let x = || Expr::Local(crate::LocalId(0));
        let sum = Expr::binary(BinaryOp::Add, IntType::I32, x(), Expr::int(1, IntType::I32));
        let more = Expr::binary(BinaryOp::Lt, IntType::I32, x(), sum);
        assert!(matches!(total(more), Expr::IfThenElse(_)));
        let plain = Expr::binary(BinaryOp::Lt, IntType::I32, x(), Expr::int(1, IntType::I32));
        assert_eq!(total(plain.clone()), plain);
        let chosen = Expr::IfThenElse(Box::new((plain.clone(), plain.clone(), plain)));
        assert_eq!(total(chosen.clone()), chosen);
    }
}
