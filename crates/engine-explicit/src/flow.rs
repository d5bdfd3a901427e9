//! Where the values of locals go: into comparisons with constants only, or elsewhere too.
//!
//! A graph whose nodes are all locals of all templates, with an edge where one is copied to another unchanged (by
//! assignment, as an argument, as a result). What a local is compared with, and whether it is used in any other
//! way, flows against the edges. Over-approximates the uses.

use ir::ids::Id;
use ir::{Callee, Expr, IntType, Lhs, LocalId, Op, Program, Rhs, TemplateId, Value};
use std::collections::BTreeSet;

/// What becomes of the values of locals.
pub struct Flow {
    first: Vec<usize>,
    exact: Vec<bool>,
    constants: Vec<BTreeSet<Value>>,
}

struct Builder<'p> {
    program: &'p Program,
    flow: Flow,
    /// From a local to those that it is copied to.
    copies: Vec<Vec<usize>>,
    template: TemplateId,
}

impl Flow {
    /// Follows all locals of a program.
    pub fn new(program: &Program) -> Self {
        let mut first = Vec::new();
        let mut count = 0;
        for code in &program.templates {
            first.push(count);
            count += code.locals.len();
        }
        let flow = Self { first, exact: vec![true; count], constants: vec![BTreeSet::new(); count] };
        let mut builder = Builder { program, flow, copies: vec![Vec::new(); count], template: TemplateId(0) };
        for (template, code) in program.templates.enumerate() {
            builder.template = template;
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                builder.op(op);
            }
        }
        builder.results();
        builder.solve();
        builder.flow
    }
    /// Whether a local's value goes into comparisons with constants only, and the constants.
    pub fn of(&self, template: TemplateId, local: LocalId) -> (bool, &BTreeSet<Value>) {
        let node = self.first[template.index()] + local.index();
        (self.exact[node], &self.constants[node])
    }
}

impl Builder<'_> {
    fn node(&self, template: TemplateId, local: LocalId) -> usize {
        self.flow.first[template.index()] + local.index()
    }
    fn ty(&self, template: TemplateId, local: LocalId) -> IntType {
        self.program.templates[template].locals[local].ty
    }

    /// The local whose value an expression has.
    fn view(&self, expr: &Expr) -> Option<LocalId> {
        match expr {
            Expr::Local(local) => Some(*local),
            Expr::Cast(wide, operand) if *wide != IntType::BOOL => {
                let local = self.view(operand)?;
                fits(self.ty(self.template, local), *wide).then_some(local)
            }
            _ => None,
        }
    }

    fn copy(&mut self, expr: &Expr, to: TemplateId, local: LocalId) {
        match self.view(expr) {
            Some(from) if fits(self.ty(self.template, from), self.ty(to, local)) => {
                let (from, to) = (self.node(self.template, from), self.node(to, local));
                self.copies[from].push(to);
            }
            _ => self.used(expr),
        }
    }

    /// Takes note of comparisons in an expression; all else that it does with locals is another use.
    fn used(&mut self, expr: &Expr) {
        match expr {
            Expr::Local(local) => {
                let node = self.node(self.template, *local);
                self.flow.exact[node] = false;
            }
            Expr::Cast(IntType::BOOL, operand) => match self.view(operand) {
                Some(local) => self.compared(local, 0),
                None => self.used(operand),
            },
            Expr::Binary(op, _, pair) if op.is_comparison() => {
                match (self.view(&pair.0), self.view(&pair.1), &**pair) {
                    (Some(local), _, (_, Expr::Const(constant, _)))
                    | (_, Some(local), (Expr::Const(constant, _), _)) => {
                        self.compared(local, *constant);
                    }
                    _ => {
                        self.used(&pair.0);
                        self.used(&pair.1);
                    }
                }
            }
            Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => {}
            Expr::Load(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Cast(..) | Expr::IfThenElse(_) => {
                self.operands(expr)
            }
            Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => self.operands(expr),
        }
    }
    fn operands(&mut self, expr: &Expr) {
        for operand in expr.operands() {
            self.used(operand);
        }
    }
    fn compared(&mut self, local: LocalId, constant: Value) {
        let node = self.node(self.template, local);
        self.flow.constants[node].insert(constant);
    }

    fn op(&mut self, op: &Op) {
        for lhs in op.targets() {
            if let Lhs::Memory(place) = lhs {
                self.used(&place.address);
            }
        }
        match op {
            Op::Assign(assignment) => {
                for (lhs, rhs) in &assignment.pairs {
                    match (lhs, rhs) {
                        (Lhs::Local(local), Rhs::Value(value)) => self.copy(value, self.template, *local),
                        (Lhs::Memory(_), Rhs::Value(value)) => self.used(value),
                        (_, Rhs::Any | Rhs::Unknown) => {}
                    }
                }
                if let Some(constraint) = &assignment.constraint {
                    self.used(constraint);
                }
            }
            Op::Call(Callee::Procedure(callee), arguments, _)
            | Op::Spawn(Callee::Procedure(callee), arguments, _) => {
                for (index, argument) in arguments.iter().enumerate() {
                    if index < self.program.templates[*callee].parameters {
                        self.copy(argument, *callee, LocalId::new(index));
                    } else {
                        self.used(argument);
                    }
                }
            }
            Op::Call(Callee::Pointer(_), ..) | Op::Spawn(Callee::Pointer(_), ..) => self.all(op),
            Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Join(..) | Op::Allocate { .. } => {
                self.all(op)
            }
            Op::Free(_) | Op::Fill(..) | Op::Copy(..) => self.all(op),
        }
    }
    fn all(&mut self, op: &Op) {
        for expr in op.expressions() {
            self.used(expr);
        }
    }

    /// Results go to callers; a thread's to whoever joins it.
    fn results(&mut self) {
        let program = self.program;
        let mut asked = false;
        for (template, code) in program.templates.enumerate() {
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                match op {
                    Op::Call(Callee::Procedure(callee), _, Some(lhs)) => {
                        let Some(result) = program.templates[*callee].result else { continue };
                        let from = self.node(*callee, result);
                        match lhs {
                            Lhs::Local(local)
                                if fits(self.ty(*callee, result), self.ty(template, *local)) =>
                            {
                                let to = self.node(template, *local);
                                self.copies[from].push(to);
                            }
                            Lhs::Local(_) | Lhs::Memory(_) => self.flow.exact[from] = false,
                        }
                    }
                    Op::Call(Callee::Pointer(_), _, Some(_)) | Op::Join(_, Some(_)) => asked = true,
                    Op::Call(..)
                    | Op::Join(..)
                    | Op::Assume(_)
                    | Op::Assign(_)
                    | Op::Lock(..)
                    | Op::Unlock(..) => {}
                    Op::Spawn(..) | Op::Allocate { .. } | Op::Free(_) | Op::Fill(..) | Op::Copy(..) => {}
                }
            }
        }
        if asked {
            for (template, code) in program.templates.enumerate() {
                for local in code.result.iter().chain(&code.exit_value) {
                    let node = self.node(template, *local);
                    self.flow.exact[node] = false;
                }
            }
        }
    }

    fn solve(&mut self) {
        let mut sources: Vec<Vec<usize>> = vec![Vec::new(); self.copies.len()];
        for (from, copies) in self.copies.iter().enumerate() {
            copies.iter().for_each(|to| sources[*to].push(from));
        }
        let mut work: Vec<usize> = (0..self.copies.len()).collect();
        while let Some(node) = work.pop() {
            for &source in &sources[node] {
                let before = (self.flow.exact[source], self.flow.constants[source].len());
                self.flow.exact[source] &= self.flow.exact[node];
                if source != node {
                    let constants = self.flow.constants[node].clone();
                    self.flow.constants[source].extend(constants);
                }
                if before != (self.flow.exact[source], self.flow.constants[source].len()) {
                    work.push(source);
                }
            }
        }
    }
}

/// Whether all values of one type are values of another.
fn fits(narrow: IntType, wide: IntType) -> bool {
    wide.contains(narrow.min()) && wide.contains(narrow.max())
}
