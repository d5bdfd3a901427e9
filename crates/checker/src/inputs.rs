//! Values that stand for all values of an input.
//!
//! If a value is never used, one value stands for all. If an input is only compared with constants, directly
//! or through copies from local to local, then two values that compare alike with all of those constants
//! behave alike: the constants, and one value between each two neighbouring constants, stand for all. The
//! constraint of the operation that reads the input (`0 <= argc`) counts as such a comparison. Types
//! of at most eight bits have few enough values to try all of them. For all other inputs there is no list,
//! and a proof that needs one is refused.

use ir::{
    BinaryOp, Callee, EdgeId, Expr, IntType, Lhs, LocalId, LocationId, LocationKind, Op, Program, Rhs,
    TemplateId, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// For each input of a program, values that stand for all.
pub(crate) struct Inputs {
    small: Vec<(IntType, Vec<Value>)>,
    edges: BTreeMap<(TemplateId, EdgeId), Vec<Option<Vec<Value>>>>,
}

impl Inputs {
    pub fn new(program: &Program) -> Self {
        let types = [IntType::BOOL, IntType::I8, IntType::U8];
        let all = |ty: IntType| (ty.min()..=ty.max()).collect();
        let small: Vec<_> = types.into_iter().map(|ty| (ty, all(ty))).collect();
        let mut inputs = Self { small, edges: BTreeMap::new() };
        for (template, code) in program.templates.enumerate() {
            for (edge, step) in code.edges.enumerate() {
                let pairs = step.ops.iter().enumerate().flat_map(|(index, op)| match op {
                    Op::Assign(assignment) => assignment.pairs.iter().map(|pair| (index, pair)).collect(),
                    _ => Vec::new(),
                });
                let open = pairs.filter(|(_, (_, rhs))| matches!(rhs, Rhs::Any | Rhs::Unknown));
                let list = |(index, (lhs, _)): (usize, &(Lhs, Rhs))| {
                    let (now, later) = step.ops[index..].split_first()?;
                    match lhs {
                        // The edge itself already reads it; the analysis, which starts at the end of the
                        // edge, would miss that.
                        Lhs::Local(local)
                            if later.iter().flat_map(Op::expressions).any(|expr| expr.mentions(*local)) =>
                        {
                            inputs.all_of(code.locals[*local].ty).map(<[Value]>::to_vec)
                        }
                        Lhs::Local(_) | Lhs::Memory(_) => {
                            inputs.list(program, template, lhs, step.target, constraint(now))
                        }
                    }
                };
                let lists: Vec<_> = open.map(list).collect();
                if !lists.is_empty() {
                    inputs.edges.insert((template, edge), lists);
                }
            }
        }
        inputs
    }
    /// `target`: the location after the value is stored. `constraint`: what the operation that stores it asks
    /// of it; a comparison there distinguishes values as one after it does.
    fn list(
        &self,
        program: &Program,
        template: TemplateId,
        lhs: &Lhs,
        target: LocationId,
        constraint: Option<&Expr>,
    ) -> Option<Vec<Value>> {
        match lhs {
            Lhs::Memory(place) => self.all_of(place.ty).map(<[Value]>::to_vec),
            Lhs::Local(local) => {
                let ty = program.templates[template].locals[*local].ty;
                let (seen, constants) = (BTreeSet::new(), BTreeSet::new());
                let mut uses = Uses { program, seen, constants, used: false };
                let asked = constraint.map_or(Some(()), |asked| uses.compared(template, *local, asked));
                match asked.and_then(|()| uses.follow(template, *local, target)) {
                    Some(()) if !uses.used => Some(vec![0]),
                    Some(()) if self.all_of(ty).is_none() => Some(one_of_each(ty, &uses.constants)),
                    Some(()) | None => self.all_of(ty).map(<[Value]>::to_vec),
                }
            }
        }
    }
    /// All values of a type, if they are few.
    pub fn all_of(&self, ty: IntType) -> Option<&[Value]> {
        self.small.iter().find(|(small, _)| *small == ty).map(|(_, values)| values.as_slice())
    }
    /// Values that stand for all values of the n-th value of a type that a step on an edge asks for, if any.
    /// An edge without inputs asks where an operation on floating-point numbers has no modelled result.
    pub fn at(&self, at: (TemplateId, EdgeId), index: usize, ty: IntType) -> Option<&[Value]> {
        match self.edges.get(&at) {
            Some(lists) => lists.get(index)?.as_deref(),
            None => self.all_of(ty),
        }
    }
}

/// The constraint of an operation that stores inputs.
fn constraint(op: &Op) -> Option<&Expr> {
    match op {
        Op::Assign(assignment) => assignment.constraint.as_ref(),
        _ => None,
    }
}

/// The constants of a type, and one value from each gap between them.
fn one_of_each(ty: IntType, constants: &BTreeSet<Value>) -> Vec<Value> {
    let mut values = BTreeSet::from([ty.min(), ty.max()]);
    for constant in constants {
        values.extend([constant - 1, *constant, constant + 1]);
    }
    values.into_iter().filter(|value| ty.contains(*value)).collect()
}

/// Follows a value through a program.
struct Uses<'p> {
    program: &'p Program,
    /// The pairs of location and local from which a value was already followed.
    seen: BTreeSet<(TemplateId, LocalId, LocationId)>,
    constants: BTreeSet<Value>,
    used: bool,
}

impl Uses<'_> {
    /// Collects the constants that the value of a local at a location is compared with; `None` when it is
    /// used in another way.
    fn follow(&mut self, template: TemplateId, local: LocalId, from: LocationId) -> Option<()> {
        let code = &self.program.templates[template];
        let mut work = vec![from];
        while let Some(location) = work.pop() {
            if !self.seen.insert((template, local, location)) {
                continue;
            }
            match code.locations[location].kind {
                LocationKind::End if code.result == Some(local) => self.returned(template, local)?,
                LocationKind::Exit if code.exit_value == Some(local) => self.returned(template, local)?,
                LocationKind::Normal
                | LocationKind::End
                | LocationKind::Exit
                | LocationKind::Halt
                | LocationKind::Error(_) => {}
            }
            for edge in code.edges.iter().filter(|edge| edge.source == location) {
                // A copy made by one operation may be read by the next: that is not followed.
                let expressions = || edge.ops.iter().flat_map(Op::expressions);
                if edge.ops.len() > 1 && expressions().any(|expr| expr.mentions(local)) {
                    return None;
                }
                let mut alive = true;
                for op in &edge.ops {
                    if alive {
                        self.op(template, local, op, edge.target)?;
                        alive = !op.targets().contains(&&Lhs::Local(local));
                    }
                }
                if alive {
                    work.push(edge.target);
                }
            }
        }
        Some(())
    }

    fn op(&mut self, template: TemplateId, local: LocalId, op: &Op, target: LocationId) -> Option<()> {
        let program = self.program;
        for lhs in op.targets() {
            if let Lhs::Memory(place) = lhs {
                self.compared(template, local, &place.address)?;
            }
        }
        match op {
            Op::Assign(assignment) => {
                for (lhs, rhs) in &assignment.pairs {
                    let value = match rhs {
                        Rhs::Value(value) => value,
                        Rhs::Float(_, _, operands) => {
                            for operand in operands {
                                self.compared(template, local, operand)?;
                            }
                            continue;
                        }
                        Rhs::Any | Rhs::Unknown => continue,
                    };
                    match lhs {
                        Lhs::Local(to) if self.is_copy(template, local, value) => {
                            self.copied(template, local, (template, *to, target))?;
                        }
                        Lhs::Local(_) | Lhs::Memory(_) => self.compared(template, local, value)?,
                    }
                }
                if let Some(constraint) = &assignment.constraint {
                    self.compared(template, local, constraint)?;
                }
            }
            Op::Call(Callee::Procedure(callee), arguments, _)
            | Op::Spawn(Callee::Procedure(callee), arguments, _) => {
                for (index, argument) in arguments.iter().enumerate() {
                    let called = &program.templates[*callee];
                    if !self.is_copy(template, local, argument) {
                        self.compared(template, local, argument)?;
                    } else if index < called.parameters {
                        self.copied(template, local, (*callee, LocalId(index as u32), called.entry))?;
                    }
                }
            }
            _ => {
                for expr in op.expressions() {
                    self.compared(template, local, expr)?;
                }
            }
        }
        Some(())
    }

    /// A procedure's result goes to its callers. A thread's result goes nowhere if no join takes it.
    fn returned(&mut self, from: TemplateId, local: LocalId) -> Option<()> {
        let program = self.program;
        for (template, code) in program.templates.enumerate() {
            for edge in &code.edges {
                for op in &edge.ops {
                    match op {
                        Op::Call(Callee::Procedure(callee), _, Some(Lhs::Local(to))) if *callee == from => {
                            self.copied(from, local, (template, *to, edge.target))?;
                        }
                        Op::Call(Callee::Procedure(callee), _, lhs) if *callee != from || lhs.is_none() => {}
                        Op::Call(_, _, Some(_)) | Op::Join(_, Some(_)) => return None,
                        _ => {}
                    }
                }
            }
        }
        Some(())
    }

    fn copied(
        &mut self,
        from: TemplateId,
        local: LocalId,
        to: (TemplateId, LocalId, LocationId),
    ) -> Option<()> {
        let narrow = self.program.templates[from].locals[local].ty;
        let wide = self.program.templates[to.0].locals[to.1].ty;
        (wide.contains(narrow.min()) && wide.contains(narrow.max())).then_some(())?;
        self.follow(to.0, to.1, to.2)
    }

    /// Whether an expression has the value of a local.
    fn is_copy(&self, template: TemplateId, local: LocalId, expr: &Expr) -> bool {
        let ty = self.program.templates[template].locals[local].ty;
        match expr {
            Expr::Local(found) => *found == local,
            Expr::Cast(wide, operand) => {
                *wide != IntType::BOOL
                    && wide.contains(ty.min())
                    && wide.contains(ty.max())
                    && self.is_copy(template, local, operand)
            }
            _ => false,
        }
    }

    /// Collects the constants that a local is compared with in an expression; `None` when it is used in
    /// another way.
    fn compared(&mut self, template: TemplateId, local: LocalId, expr: &Expr) -> Option<()> {
        match expr {
            Expr::Local(found) if *found == local => {
                self.used = true;
                None
            }
            Expr::Cast(IntType::BOOL, operand) if self.is_copy(template, local, operand) => {
                self.used = true;
                self.constants.insert(0);
                Some(())
            }
            Expr::Binary(BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le, _, pair) => {
                match (&pair.0, &pair.1) {
                    (Expr::Const(constant, _), side) | (side, Expr::Const(constant, _))
                        if self.is_copy(template, local, side) =>
                    {
                        self.used = true;
                        self.constants.insert(*constant);
                        Some(())
                    }
                    (left, right) => {
                        self.compared(template, local, left)?;
                        self.compared(template, local, right)
                    }
                }
            }
            other => {
                for operand in other.operands() {
                    self.compared(template, local, operand)?;
                }
                Some(())
            }
        }
    }
}
