//! Which objects of threads stay with their thread: their addresses are followed from local to local.
//!
//! Points-to sets merge the callers of a procedure. So where one caller passes `&x`, and another the address
//! of something that all threads know, each store through the parameter seems to put things of the one into
//! memory of the other. Here a question is asked of each value instead: does it get to where another thread
//! can read it? A local is *captured* if its value may; what a procedure gives back is followed to the
//! callers, and an argument that is given back to that call alone. Memory counts by object. The rule is
//! stated at [`verdict::SummariesProof::private`]. Over-approximates what escapes.

use ir::ids::Id;
use ir::passes::PointsTo;
use ir::{
    EdgeId, Expr, IdVec, Initial, IntType, Lhs, LocalId, LocationKind, ObjectId, Op, PointerArithmetic,
    Program, Rhs, Storage, Targets, TemplateId,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of a statement of the kind "this may get to another thread".
type Node = usize;

/// Which procedures an edge may call or start, for each procedure.
pub type Callees = IdVec<TemplateId, IdVec<EdgeId, Vec<TemplateId>>>;

/// Statements, and which follow from which.
pub struct Flows<'a> {
    program: &'a Program,
    points_to: &'a PointsTo,
    callees: &'a Callees,
    /// Whether the value of each local may be part of what its procedure gives back.
    given_back: IdVec<TemplateId, IdVec<LocalId, bool>>,
    /// The first local's statement, for each procedure.
    locals: IdVec<TemplateId, Node>,
    /// From each statement, those that follow.
    follow: Vec<Vec<Node>>,
    /// The objects that expressions may point into, as far as they were asked for.
    named: FxHashMap<(TemplateId, Expr), Arc<[ObjectId]>>,
    /// For sets of objects: that the contents of one of them get there, and that those of all do.
    sets: FxHashMap<Arc<[ObjectId]>, (Node, Node)>,
    /// Statements that hold for what is seen by other threads.
    seen: Vec<Node>,
    /// Statements that hold for what new threads of a kind are passed.
    passed: Vec<(TemplateId, Node)>,
    /// Statements that hold for what is the address of an access.
    accessed: Vec<Node>,
}

/// Where a value goes.
#[derive(Clone, Copy)]
enum Into {
    /// Into a local of the procedure.
    Local(LocalId),
    /// Where a statement says whether it gets there.
    Node(Node),
}

/// Which values may be the addresses of accesses.
pub struct Addresses<'f, 'a> {
    flows: &'f Flows<'a>,
    holds: Vec<bool>,
}

impl Addresses<'_, '_> {
    /// Whether what is assigned may be the address of an access later on.
    pub fn may_be_one(&self, template: TemplateId, lhs: &Lhs) -> bool {
        let flows = self.flows;
        match lhs {
            Lhs::Local(local) => {
                self.holds[flows.local(template, *local)]
                    || (flows.given_back[template][*local] && self.holds[flows.result(template)])
            }
            Lhs::Memory(place) => {
                let objects = flows.named(template, &place.address);
                objects.iter().any(|object| self.holds[flows.content(*object)])
            }
        }
    }
}

impl<'a> Flows<'a> {
    /// Follows all values of a program.
    pub fn new(
        program: &'a Program,
        points_to: &'a PointsTo,
        callees: &'a Callees,
        kinds: &BTreeSet<TemplateId>,
    ) -> Self {
        // Objects, their contents and results come first.
        let mut next = 2 * program.objects.len() + program.templates.len() + 1;
        let mut locals = IdVec::new();
        for code in program.templates.iter() {
            locals.push(next);
            next += code.locals.len();
        }
        let mut flows = Self {
            program,
            points_to,
            callees,
            given_back: given_back(program, callees),
            locals,
            follow: vec![Vec::new(); next],
            named: FxHashMap::default(),
            sets: FxHashMap::default(),
            seen: Vec::new(),
            passed: Vec::new(),
            accessed: Vec::new(),
        };
        for (id, object) in program.objects.enumerate() {
            if object.storage == Storage::Static {
                flows.seen.push(flows.object(id));
            }
            if let Initial::Values(values) = &object.initial {
                for (_, _, value) in values {
                    value.walk(&mut |inner| {
                        if let Expr::Address(named, _) = inner {
                            flows.seen.push(flows.object(*named));
                        }
                    });
                }
            }
        }
        flows.seen.push(flows.thread_results());
        for (id, code) in program.templates.enumerate() {
            let ended = flows.thread_results();
            if kinds.contains(&id) {
                let result = flows.result(id);
                flows.follow[ended].push(result);
                let results = code.result.map(|local| flows.local(id, local));
                flows.follow[ended].extend(results);
            }
            if code.locations.iter().any(|location| location.kind == LocationKind::Exit) {
                let results = code.exit_value.map(|local| flows.local(id, local));
                flows.follow[ended].extend(results);
            }
            for (edge, described) in code.edges.enumerate() {
                for op in &described.ops {
                    flows.step(id, edge, op);
                    flows.accesses(id, op);
                }
            }
        }
        flows
    }

    /// Whether each object may be touched by threads that it does not belong to, by its address or by one
    /// that is guessed; but for helpers of a kind that get it from the thread that starts them.
    pub fn captured(
        &self,
        guessed: &IdVec<ObjectId, bool>,
        helper: Option<TemplateId>,
    ) -> IdVec<ObjectId, bool> {
        let mut open = self.seen.clone();
        open.extend(self.passed.iter().filter(|(kind, _)| Some(*kind) != helper).map(|(_, node)| *node));
        open.extend(guessed.enumerate().filter(|(_, guessed)| **guessed).map(|(id, _)| self.object(id)));
        let holds = self.follow(open, true);
        self.program.objects.ids().map(|id| holds[self.object(id)]).collect()
    }

    /// Which values may be the addresses of accesses.
    pub fn addresses(&self) -> Addresses<'_, 'a> {
        Addresses { flows: self, holds: self.follow(self.accessed.clone(), false) }
    }

    /// The statements that follow from some. Others may read what is in an object that they may touch.
    fn follow(&self, mut open: Vec<Node>, is_seen: bool) -> Vec<bool> {
        let mut holds = vec![false; self.follow.len()];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut holds[node], true) {
                open.extend(&self.follow[node]);
                if is_seen && node < self.program.objects.len() {
                    open.push(self.content(ObjectId::new(node)));
                }
            }
        }
        holds
    }

    fn object(&self, object: ObjectId) -> Node {
        object.index()
    }

    fn content(&self, object: ObjectId) -> Node {
        self.program.objects.len() + object.index()
    }

    fn result(&self, template: TemplateId) -> Node {
        2 * self.program.objects.len() + template.index()
    }

    /// What threads end with.
    fn thread_results(&self) -> Node {
        2 * self.program.objects.len() + self.program.templates.len()
    }

    fn local(&self, template: TemplateId, local: LocalId) -> Node {
        self.locals[template] + local.index()
    }

    fn fresh(&mut self) -> Node {
        self.follow.push(Vec::new());
        self.follow.len() - 1
    }

    fn known(&mut self, template: TemplateId, expr: &Expr) -> Arc<[ObjectId]> {
        if let Some(known) = self.named.get(&(template, expr.clone())) {
            return known.clone();
        }
        let objects: Arc<[ObjectId]> = self.named(template, expr).into();
        self.named.insert((template, expr.clone()), objects.clone());
        objects
    }

    fn named(&self, template: TemplateId, expr: &Expr) -> Vec<ObjectId> {
        match self.points_to.targets(template, expr) {
            Targets::Of(targets) => {
                let objects: BTreeSet<ObjectId> = targets.iter().map(|target| target.object).collect();
                objects.into_iter().collect()
            }
            Targets::Any => self.program.objects.ids().collect(),
        }
    }

    /// The statements that others may read one of the objects at an address, and that they may read all.
    fn memory(&mut self, template: TemplateId, address: &Expr) -> (Node, Node) {
        let objects = self.known(template, address);
        if let Some(known) = self.sets.get(&objects) {
            return *known;
        }
        let (some, all) = (self.fresh(), self.fresh());
        for object in objects.iter() {
            let content = self.content(*object);
            self.follow[content].push(some);
            self.follow[all].push(content);
        }
        self.sets.insert(objects, (some, all));
        (some, all)
    }

    /// Whether a value may hold an address into an object of a thread.
    fn matters(&mut self, template: TemplateId, value: &Expr) -> bool {
        let program = self.program;
        let is_owned = |object: &ObjectId| program.objects[*object].storage != Storage::Static;
        self.known(template, value).iter().any(is_owned)
    }

    /// What follows if a value goes somewhere.
    fn flow(&mut self, template: TemplateId, value: &Expr, into: Into) {
        let mut parts = Vec::new();
        sources(self.program.data_model.pointer(), value, &mut parts);
        if parts.is_empty() || !self.matters(template, value) {
            return;
        }
        let (node, is_given_back) = match into {
            Into::Local(local) => (self.local(template, local), self.given_back[template][local]),
            Into::Node(node) => (node, false),
        };
        for part in parts {
            match part {
                Expr::Local(local) => {
                    let captured = self.local(template, *local);
                    self.follow[node].push(captured);
                }
                Expr::Address(object, _) => {
                    let escapes = self.object(*object);
                    self.follow[node].push(escapes);
                    if is_given_back {
                        self.seen.push(escapes);
                    }
                }
                Expr::Load(place) => {
                    let (_, all) = self.memory(template, &place.address);
                    self.follow[node].push(all);
                    if is_given_back {
                        let result = self.result(template);
                        self.follow[result].push(all);
                    }
                }
                _ => {}
            }
        }
    }

    /// Where what is assigned goes.
    fn target(&mut self, template: TemplateId, lhs: &Lhs) -> Into {
        match lhs {
            Lhs::Local(local) => Into::Local(*local),
            Lhs::Memory(place) => Into::Node(self.memory(template, &place.address).0),
        }
    }

    /// The addresses of what an operation accesses.
    fn accesses(&mut self, template: TemplateId, op: &Op) {
        let node = self.fresh();
        self.accessed.push(node);
        for expr in op.expressions() {
            let mut loaded = Vec::new();
            expr.walk(&mut |inner| {
                if let Expr::Load(place) = inner {
                    loaded.push(&place.address);
                }
            });
            loaded.into_iter().for_each(|address| self.flow(template, address, Into::Node(node)));
        }
        for lhs in op.targets() {
            if let Lhs::Memory(place) = lhs {
                self.flow(template, &place.address, Into::Node(node));
            }
        }
        match op {
            Op::Lock(_, address) | Op::Unlock(_, address) | Op::Free(address) | Op::Fill(address, ..) => {
                self.flow(template, address, Into::Node(node));
            }
            Op::Copy(to, from, _) => {
                self.flow(template, to, Into::Node(node));
                self.flow(template, from, Into::Node(node));
            }
            Op::Assume(_) | Op::Assign(_) | Op::Spawn(..) | Op::Join(..) => {}
            Op::Allocate { .. } | Op::Call(..) | Op::Broadcast(_) => {}
        }
    }

    fn step(&mut self, template: TemplateId, edge: EdgeId, op: &Op) {
        match op {
            Op::Assign(assignment) => {
                for (lhs, rhs) in &assignment.pairs {
                    let into = self.target(template, lhs);
                    match rhs {
                        Rhs::Value(value) => self.flow(template, value, into),
                        Rhs::Float(_, _, operands) => {
                            operands.iter().for_each(|operand| self.flow(template, operand, into));
                        }
                        // Guessed.
                        Rhs::Any | Rhs::Unknown => {}
                    }
                }
            }
            Op::Spawn(_, arguments, _) => {
                let seen = self.fresh();
                match self.callees[template][edge].as_slice() {
                    [] => self.seen.push(seen),
                    kinds => self.passed.extend(kinds.iter().map(|kind| (*kind, seen))),
                }
                for (index, argument) in arguments.iter().enumerate() {
                    self.flow(template, argument, Into::Node(seen));
                    for callee in self.callees[template][edge].clone() {
                        if index < self.program.templates[callee].parameters {
                            let parameter = self.local(callee, LocalId::new(index));
                            self.flow(template, argument, Into::Node(parameter));
                        }
                    }
                }
            }
            Op::Join(_, Some(lhs)) => {
                let into = self.target(template, lhs);
                self.give(template, self.thread_results(), into);
            }
            Op::Allocate { site, result, .. } => {
                let escapes = self.object(*site);
                let into = self.target(template, result);
                self.give(template, escapes, into);
            }
            Op::Copy(to, from, _) => {
                let (some, _) = self.memory(template, to);
                let (_, all) = self.memory(template, from);
                self.follow[some].push(all);
            }
            Op::Fill(to, byte, _) => {
                let (some, _) = self.memory(template, to);
                self.flow(template, byte, Into::Node(some));
            }
            Op::Call(_, arguments, result) => {
                let into = result.as_ref().map(|lhs| self.target(template, lhs));
                for callee in self.callees[template][edge].clone() {
                    for (index, argument) in arguments.iter().enumerate() {
                        if index >= self.program.templates[callee].parameters {
                            continue;
                        }
                        let parameter = LocalId::new(index);
                        let node = self.local(callee, parameter);
                        self.flow(template, argument, Into::Node(node));
                        if let Some(into) = into.filter(|_| self.given_back[callee][parameter]) {
                            self.flow(template, argument, into);
                        }
                    }
                    let given = self.result(callee);
                    if let Some(into) = into {
                        self.give(template, given, into);
                    }
                }
            }
            Op::Broadcast(_) => self.seen.extend(0..self.program.objects.len()),
            Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Join(_, None) | Op::Free(_) => {}
        }
    }

    /// What follows if something that is not a value of a local goes somewhere.
    fn give(&mut self, template: TemplateId, given: Node, into: Into) {
        match into {
            Into::Local(local) => {
                let captured = self.local(template, local);
                self.follow[captured].push(given);
                if self.given_back[template][local] {
                    let result = self.result(template);
                    self.follow[result].push(given);
                }
            }
            Into::Node(node) => self.follow[node].push(given),
        }
    }
}

/// The parts of an expression whose values its value may be an address by: locals, loads and addresses. A
/// pointer that is moved stays in its object, whatever the distance.
fn sources<'e>(pointer: IntType, expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Local(_) | Expr::Load(_) | Expr::Address(..) => found.push(expr),
        Expr::Const(..) | Expr::Procedure(_) | Expr::Myself => {}
        Expr::Overflows(..) | Expr::Valid(..) => {}
        Expr::Binary(op, ty, pair) => match PointerArithmetic::of(pointer, *op, *ty, pair) {
            _ if op.is_comparison() => {}
            Some(PointerArithmetic::Move) => sources(pointer, &pair.0, found),
            Some(PointerArithmetic::Difference) | None => {
                sources(pointer, &pair.0, found);
                sources(pointer, &pair.1, found);
            }
        },
        Expr::IfThenElse(three) => {
            sources(pointer, &three.1, found);
            sources(pointer, &three.2, found);
        }
        Expr::Unary(_, _, operand) | Expr::Cast(_, operand) | Expr::Old(operand) => {
            sources(pointer, operand, found);
        }
    }
}

/// Whether the value of each local may be part of what its procedure gives back.
fn given_back(program: &Program, callees: &Callees) -> IdVec<TemplateId, IdVec<LocalId, bool>> {
    let mut given: IdVec<TemplateId, IdVec<LocalId, bool>> = program
        .templates
        .iter()
        .map(|code| code.locals.ids().map(|local| code.result == Some(local)).collect())
        .collect();
    let pointer = program.data_model.pointer();
    let mut changed = true;
    while changed {
        changed = false;
        for (id, code) in program.templates.enumerate() {
            for (edge, described) in code.edges.enumerate() {
                for op in &described.ops {
                    let mut values: Vec<&Expr> = Vec::new();
                    match op {
                        Op::Assign(assignment) => {
                            for (lhs, rhs) in &assignment.pairs {
                                let Lhs::Local(local) = lhs else { continue };
                                match rhs {
                                    _ if !given[id][*local] => {}
                                    Rhs::Value(value) => values.push(value),
                                    Rhs::Float(_, _, operands) => values.extend(operands),
                                    Rhs::Any | Rhs::Unknown => {}
                                }
                            }
                        }
                        Op::Call(_, arguments, Some(Lhs::Local(local))) if given[id][*local] => {
                            for callee in &callees[id][edge] {
                                let parameters = program.templates[*callee].parameters;
                                let passed = arguments.iter().take(parameters).enumerate();
                                let back = passed.filter(|(index, _)| given[*callee][LocalId::new(*index)]);
                                values.extend(back.map(|(_, argument)| argument));
                            }
                        }
                        _ => {}
                    }
                    let mut parts = Vec::new();
                    values.into_iter().for_each(|value| sources(pointer, value, &mut parts));
                    for part in parts {
                        if let Expr::Local(local) = part {
                            changed |= !std::mem::replace(&mut given[id][*local], true);
                        }
                    }
                }
            }
        }
    }
    given
}
