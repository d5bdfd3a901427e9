//! Lowers one procedure to a template.
//!
//! The statements become a graph first, in which entering and leaving atomic regions are marks on edges. The
//! template has a location for each place of the graph and each of *inside* and *outside* of an atomic
//! region, as far as control can come there.

use crate::ast::{Expr, Name, Procedure, Statement, StatementKind};
use crate::diagnostic::{Position, Problem};
use crate::lower::{World, cell, each_statement, open_globals, span};
use crate::values::Scope;
use indexmap::IndexMap;
use ir::{
    Assignment, BinaryOp, Broadcast, Callee, ErrorKind, IntType, Lhs, LocalId, LocationId, LocationKind,
    LockKind, Op, Place, Rhs, Span, Template,
};

type Lowered<T> = Result<T, Problem>;

/// A place of control in the graph.
pub(crate) type Node = usize;

struct GraphEdge {
    from: Node,
    to: Node,
    ops: Vec<Op>,
    span: Span,
    /// Whether an atomic region begins (`true`) or ends with it.
    atomic: Option<bool>,
}

pub(crate) struct ProcedureLowering<'a> {
    world: &'a World<'a>,
    procedure: &'a Procedure,
    pub(crate) scope: Scope<'a>,
    kinds: Vec<LocationKind>,
    edges: Vec<GraphEdge>,
    labels: IndexMap<String, Node>,
    here: Option<Node>,
    end: Node,
    exit: Node,
    start: Option<LocalId>,
    waiting: Option<LocalId>,
}

/// The type of the number that says where a new thread begins.
const START: IntType = IntType::U16;

impl<'a> ProcedureLowering<'a> {
    pub(crate) fn new(world: &'a World<'a>, procedure: &'a Procedure) -> Self {
        let kinds = vec![LocationKind::Normal, LocationKind::End, LocationKind::Exit];
        Self {
            world,
            procedure,
            scope: Scope::new(world, procedure),
            kinds,
            edges: Vec::new(),
            labels: IndexMap::new(),
            here: None,
            end: 1,
            exit: 2,
            start: None,
            waiting: None,
        }
    }

    /// Lowers it; `first`: as what the program starts with.
    pub(crate) fn run(mut self, first: bool) -> Lowered<Template> {
        let at = span(self.procedure.name.at);
        let signature = &self.world.signatures[&self.procedure.name.text];
        self.scope.template.name = self.procedure.name.text.clone();
        self.scope.template.span = at;
        self.scope.declare()?;
        if !signature.starts.is_empty() {
            self.start = Some(self.scope.template.local("start", START, at));
        }
        self.scope.template.parameters = signature.arguments;
        if signature.waits {
            self.waiting = Some(self.scope.template.local("waiting", IntType::BOOL, at));
        }
        self.scope.declare_result();
        self.collect_labels()?;
        self.enter(first, at)?;
        for statement in &self.procedure.body {
            self.statement(statement)?;
        }
        if let Some(here) = self.here.take() {
            let op = self.scope.template.result.map(|local| Op::any(Lhs::Local(local)));
            self.edge(here, self.end, op.into_iter().collect(), at)?;
        }
        self.finish()
    }

    fn collect_labels(&mut self) -> Lowered<()> {
        let mut twice = None;
        let (labels, kinds) = (&mut self.labels, &mut self.kinds);
        each_statement(&self.procedure.body, &mut |statement| {
            if !statement.labels.is_empty() {
                kinds.push(LocationKind::Normal);
            }
            for label in &statement.labels {
                if labels.insert(label.text.clone(), kinds.len() - 1).is_some() {
                    twice.get_or_insert(label);
                }
            }
        });
        match twice {
            Some(label) => Err(Problem::new(label.at, format!("the label `{}` stands twice", label.text))),
            None => Ok(()),
        }
    }

    /// From the entry to the first statement, or to the label at which a thread starts.
    fn enter(&mut self, first: bool, at: Span) -> Lowered<()> {
        let normal = self.node();
        let mut ops = Vec::new();
        if let Some(start) = self.start {
            let is = |number: usize| {
                let number = ir::Expr::int(number as i128, START);
                Op::Assume(ir::Expr::binary(BinaryOp::Eq, START, ir::Expr::Local(start), number))
            };
            let world = self.world;
            for (index, label) in world.signatures[&self.procedure.name.text].starts.iter().enumerate() {
                let name = Name { text: label.clone(), at: self.procedure.name.at };
                let to = self.label(&name)?;
                let reset = Op::set(Lhs::Local(start), ir::Expr::int(0, START));
                self.plain_edge(0, to, vec![is(index + 1), reset], at, None);
            }
            ops.push(is(0));
        }
        let mut pairs = Vec::new();
        if first {
            pairs.extend(open_globals(self.world).into_iter().map(|id| (Lhs::Memory(cell(id)), Rhs::Any)));
            pairs.extend(self.scope.parameter_locals().map(|local| (Lhs::Local(local), Rhs::Any)));
        }
        for (local, initial) in self.scope.initial_values() {
            let rhs = match initial {
                None | Some(Expr::Choice) => Rhs::Any,
                Some(value) => self.scope.right(value)?,
            };
            pairs.push((Lhs::Local(local), rhs));
        }
        ops.extend(self.scope.take_choices());
        if !pairs.is_empty() {
            ops.push(Op::Assign(Assignment { pairs, constraint: None }));
        }
        self.plain_edge(0, normal, ops, at, None);
        self.here = Some(normal);
        Ok(())
    }

    fn node(&mut self) -> Node {
        self.kinds.push(LocationKind::Normal);
        self.kinds.len() - 1
    }

    fn plain_edge(&mut self, from: Node, to: Node, ops: Vec<Op>, span: Span, atomic: Option<bool>) {
        self.edges.push(GraphEdge { from, to, ops, span, atomic });
    }

    /// An edge of a statement: what is enforced holds before it, and its choices are made first.
    fn edge(&mut self, from: Node, to: Node, ops: Vec<Op>, span: Span) -> Lowered<()> {
        let mut all = Vec::new();
        let mut conditions = Vec::new();
        if let Some(condition) = &self.procedure.enforce {
            let condition = self.scope.condition(condition)?;
            if condition != ir::Expr::bool(true) {
                conditions.push(Op::Assume(condition));
            }
        }
        conditions.extend(self.scope.turn(self.world).map(Op::Assume));
        all.extend(self.scope.take_choices());
        all.extend(conditions);
        all.extend(ops);
        self.plain_edge(from, to, all, span, None);
        Ok(())
    }

    /// Where control is; somewhere unreachable after a jump.
    fn current(&mut self) -> Node {
        match self.here {
            Some(node) => node,
            None => {
                let node = self.node();
                self.here = Some(node);
                node
            }
        }
    }

    /// One step to a new place.
    fn step(&mut self, ops: Vec<Op>, at: Span) -> Lowered<()> {
        let (from, to) = (self.current(), self.node());
        self.edge(from, to, ops, at)?;
        self.here = Some(to);
        Ok(())
    }

    fn label(&self, name: &Name) -> Lowered<Node> {
        self.labels.get(&name.text).copied().ok_or_else(|| {
            Problem::new(name.at, format!("there is no label `{}` in this procedure", name.text))
        })
    }

    fn place(&mut self, node: Node, at: Span) {
        if let Some(from) = self.here.replace(node) {
            self.plain_edge(from, node, Vec::new(), at, None);
        }
    }

    fn statements(&mut self, statements: &'a [Statement]) -> Lowered<()> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &'a Statement) -> Lowered<()> {
        let at = span(statement.at);
        if let Some(label) = statement.labels.first() {
            let node = self.label(label)?;
            self.place(node, span(label.at));
        }
        if let Some(label) =
            statement.labels.iter().find(|label| self.world.options.is_error_label(&label.text))
        {
            let error = self.error(ErrorKind::ReachError);
            let from = self.current();
            self.edge(from, error, Vec::new(), span(label.at))?;
        }
        let asynchronous = statement.labels.iter().any(|label| {
            label.text.strip_prefix("ASYNC_").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
        });
        match &statement.kind {
            StatementKind::Skip => self.step(Vec::new(), at),
            StatementKind::Print(values) => {
                for value in values {
                    self.scope.condition(value)?;
                }
                self.scope.take_choices();
                self.step(Vec::new(), at)
            }
            StatementKind::Goto(labels) => {
                let from = self.current();
                for label in labels {
                    let to = self.label(label)?;
                    self.edge(from, to, Vec::new(), at)?;
                }
                self.here = None;
                Ok(())
            }
            StatementKind::Return(values) => self.return_statement(values, statement.at),
            StatementKind::Assign { targets, values, constrain } => {
                let ops = self.scope.assignment(targets, values, constrain.as_ref())?;
                self.step(ops, at)
            }
            StatementKind::Constrain(condition) => {
                let ops = self.scope.constrain(condition)?;
                self.step(ops, at)
            }
            StatementKind::Call { targets, callee, arguments } if asynchronous => {
                if let Some(target) = targets.first() {
                    return Err(Problem::new(target.at, "a call that starts a thread gives no result"));
                }
                self.start_call(callee, arguments, at)
            }
            StatementKind::StartCall(callee, arguments) => self.start_call(callee, arguments, at),
            StatementKind::Call { targets, callee, arguments } => self.call(targets, callee, arguments, at),
            StatementKind::StartAt(label) => {
                self.label(label)?;
                let number = self.world.signatures[&self.procedure.name.text].starts.iter();
                let number =
                    number.zip(1..).find(|(known, _)| **known == label.text).map_or(0, |(_, number)| number);
                let mut arguments: Vec<ir::Expr> = self.scope.user_locals().map(ir::Expr::Local).collect();
                arguments.push(ir::Expr::int(number, START));
                let me = self.world.signatures[&self.procedure.name.text].template;
                self.step(vec![Op::Spawn(Callee::Procedure(me), arguments, None)], at)
            }
            StatementKind::Assume(condition) => {
                let condition = self.scope.condition(condition)?;
                self.step(vec![Op::Assume(condition)], at)
            }
            StatementKind::AbortIf(condition) => {
                let condition = self.scope.condition(condition)?.not();
                self.step(vec![Op::Assume(condition)], at)
            }
            StatementKind::Assert(condition) => {
                let error = self.error(ErrorKind::Assertion);
                let (from, next) = (self.current(), self.node());
                self.branch(condition, from, (next, error), at)?;
                self.here = Some(next);
                Ok(())
            }
            StatementKind::If(branches, otherwise) => self.conditional(branches, otherwise, at),
            StatementKind::While(condition, body) => {
                let (head, inside, after) = (self.node(), self.node(), self.node());
                self.place(head, at);
                self.branch(condition, head, (inside, after), at)?;
                self.here = Some(inside);
                self.statements(body)?;
                if let Some(from) = self.here.take() {
                    self.plain_edge(from, head, Vec::new(), at, None);
                }
                self.here = Some(after);
                Ok(())
            }
            StatementKind::EndThread => {
                let from = self.current();
                self.edge(from, self.exit, Vec::new(), at)?;
                self.here = None;
                Ok(())
            }
            StatementKind::AtomicBegin | StatementKind::AtomicEnd => {
                self.step(Vec::new(), at)?;
                if let Some(edge) = self.edges.last_mut() {
                    edge.atomic = Some(statement.kind == StatementKind::AtomicBegin);
                }
                Ok(())
            }
            StatementKind::Lock(lock) => {
                let address = self.lock(lock)?;
                self.step(vec![Op::Lock(LockKind::Spin, address)], at)
            }
            StatementKind::Unlock(lock) => {
                let address = self.lock(lock)?;
                let owner = Place { atomic: true, ..Place::pointee(address.clone(), IntType::U32) };
                let me = ir::Expr::cast(IntType::U32, ir::Expr::Myself);
                let mine = ir::Expr::binary(BinaryOp::Eq, IntType::U32, ir::Expr::load(owner), me);
                self.step(vec![Op::Assume(mine), Op::Unlock(LockKind::Spin, address)], at)
            }
            StatementKind::Wait => {
                let Some(waiting) = self.waiting else { return self.step(Vec::new(), at) };
                self.step(vec![Op::set(Lhs::Local(waiting), ir::Expr::bool(true))], at)?;
                self.step(vec![Op::Assume(ir::Expr::Local(waiting).not())], at)
            }
            StatementKind::Broadcast => {
                let ops =
                    self.world.signatures.values().filter(|signature| signature.waits).map(|signature| {
                        // The flag stands right after the arguments.
                        let flag = Lhs::Local(LocalId(self.world.first_internal(signature)));
                        let pairs = vec![(flag, Rhs::Value(ir::Expr::bool(false)))];
                        let assignment = Assignment { pairs, constraint: None };
                        Op::Broadcast(Broadcast { to: signature.template, arguments: Vec::new(), assignment })
                    });
                let ops = ops.collect();
                self.step(ops, at)
            }
        }
    }

    fn error(&mut self, kind: ErrorKind) -> Node {
        self.kinds.push(LocationKind::Error(kind));
        self.kinds.len() - 1
    }

    fn lock(&self, name: &Name) -> Lowered<ir::Expr> {
        match self.world.locks.get(&name.text) {
            Some(object) if !self.scope.is_local(&name.text) => Ok(ir::Expr::Address(*object, 0)),
            _ => {
                Err(Problem::new(name.at, format!("`{}` is no global variable, so it is no lock", name.text)))
            }
        }
    }

    /// Edges to the first place where the condition can hold, and to the second where it can fail.
    fn branch(&mut self, condition: &Expr, from: Node, (yes, no): (Node, Node), at: Span) -> Lowered<()> {
        for (to, holds) in [(yes, true), (no, false)] {
            let condition = self.scope.condition(condition)?;
            let condition = if holds { condition } else { condition.not() };
            if condition == ir::Expr::bool(false) {
                self.scope.take_choices();
            } else {
                self.edge(from, to, vec![Op::Assume(condition)], at)?;
            }
        }
        Ok(())
    }

    fn conditional(
        &mut self,
        branches: &'a [(Expr, Vec<Statement>)],
        otherwise: &'a [Statement],
        at: Span,
    ) -> Lowered<()> {
        let after = self.node();
        for (condition, body) in branches {
            let (from, inside, next) = (self.current(), self.node(), self.node());
            self.branch(condition, from, (inside, next), at)?;
            self.here = Some(inside);
            self.statements(body)?;
            if let Some(end) = self.here.take() {
                self.plain_edge(end, after, Vec::new(), at, None);
            }
            self.here = Some(next);
        }
        self.statements(otherwise)?;
        self.place(after, at);
        Ok(())
    }

    fn return_statement(&mut self, values: &[Expr], at: Position) -> Lowered<()> {
        if values.len() != self.procedure.returns {
            let message =
                format!("{} values are returned, the procedure has {}", values.len(), self.procedure.returns);
            return Err(Problem::new(at, message));
        }
        let ops = self.scope.return_values(values)?;
        let from = self.current();
        self.edge(from, self.end, ops, span(at))?;
        self.here = None;
        Ok(())
    }

    /// The arguments of a call or a start.
    fn arguments(&mut self, callee: &Name, arguments: &[Expr]) -> Lowered<(Callee, Vec<ir::Expr>)> {
        let Some(signature) = self.world.signatures.get(&callee.text) else {
            return Err(Problem::new(callee.at, format!("there is no procedure `{}`", callee.text)));
        };
        if signature.parameters != arguments.len() {
            let (wanted, found) = (signature.parameters, arguments.len());
            let message = format!("`{}` has {wanted} parameters, here are {found} arguments", callee.text);
            return Err(Problem::new(callee.at, message));
        }
        let mut lowered = Vec::new();
        for argument in arguments {
            lowered.push(self.scope.condition(argument)?);
        }
        while lowered.len() + 1 < signature.arguments {
            lowered.push(ir::Expr::bool(false));
        }
        if lowered.len() < signature.arguments {
            lowered.push(ir::Expr::int(0, START));
        }
        Ok((Callee::Procedure(signature.template), lowered))
    }

    fn start_call(&mut self, callee: &Name, arguments: &[Expr], at: Span) -> Lowered<()> {
        let (callee, arguments) = self.arguments(callee, arguments)?;
        self.step(vec![Op::Spawn(callee, arguments, None)], at)
    }

    fn call(&mut self, targets: &[Name], callee: &Name, arguments: &[Expr], at: Span) -> Lowered<()> {
        let (procedure, arguments) = self.arguments(callee, arguments)?;
        let returns = self.world.signatures[&callee.text].returns;
        if !targets.is_empty() && targets.len() != returns {
            let message =
                format!("`{}` returns {returns} values, for {} variables", callee.text, targets.len());
            return Err(Problem::new(callee.at, message));
        }
        let (result, after) = self.scope.call_results(targets, returns)?;
        self.step(vec![Op::Call(procedure, arguments, result)], at)?;
        match after {
            Some(op) => self.step(vec![op], at),
            None => Ok(()),
        }
    }

    /// Makes the template of the graph.
    fn finish(self) -> Lowered<Template> {
        let Self { scope, kinds, edges, procedure, .. } = self;
        let mut template = scope.template;
        let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); kinds.len()];
        for (index, edge) in edges.iter().enumerate() {
            outgoing[edge.from].push(index);
        }
        let mut known: Vec<[Option<LocationId>; 2]> = vec![[None; 2]; kinds.len()];
        let mut work = std::collections::VecDeque::from([(0, false)]);
        known[0][0] = Some(template.location(LocationKind::Normal, false));
        while let Some((node, inside)) = work.pop_front() {
            let source = known[node][usize::from(inside)].unwrap_or_default();
            for &index in &outgoing[node] {
                let edge = &edges[index];
                let inside = edge.atomic.unwrap_or(inside);
                let is_end = kinds[edge.to] == LocationKind::End;
                if is_end && inside {
                    let at = Position { line: edge.span.line, column: edge.span.column };
                    let message = format!("`{}` returns inside of an atomic region", procedure.name.text);
                    return Err(Problem::new(at, message));
                }
                let inside = inside && kinds[edge.to] == LocationKind::Normal;
                let target = match known[edge.to][usize::from(inside)] {
                    Some(target) => target,
                    None => {
                        let target = template.location(kinds[edge.to], inside);
                        known[edge.to][usize::from(inside)] = Some(target);
                        work.push_back((edge.to, inside));
                        target
                    }
                };
                template.edge(source, target, edge.ops.clone(), edge.span);
            }
        }
        Ok(template)
    }
}
