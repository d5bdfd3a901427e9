//! The possible states of the interrupt flag, and of the locals that hold it, along all paths.
//!
//! Exact where every value that is stored in the flag comes from the flag itself or is a constant; else
//! over-approximates (both are possible).

use super::Interrupts;
use crate::expr::{Expr, UnaryOp};
use crate::ids::{EdgeId, Id, IdVec, LocalId, LocationId, TemplateId};
use crate::op::{Callee, Lhs, Op, Rhs};
use crate::passes::bits::BitSet;
use crate::passes::liveness::live_locals;
use crate::program::{LocationKind, Program};
use crate::semantics::apply;
use crate::types::{IntType, Value};
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};

/// A value; `None` when not known.
pub type Known = Option<Value>;
/// What is known of the locals that hold the flag.
pub type Values = BTreeMap<LocalId, Known>;

/// How a procedure is called.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Entry {
    /// The procedure.
    pub template: TemplateId,
    /// Whether the flag is set.
    pub enabled: bool,
    /// What is known of the parameters that hold the flag.
    pub parameters: Values,
}

impl Entry {
    /// A procedure without parameters.
    pub fn root(template: TemplateId, enabled: bool) -> Self {
        Self { template, enabled, parameters: Values::new() }
    }
}

/// How a procedure returns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Exit {
    /// Whether the flag is set.
    pub enabled: bool,
    /// What is known of the result, if it may hold the flag.
    pub result: Known,
}

/// A location with the flag.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State {
    /// Where control is.
    pub location: LocationId,
    /// Whether the flag is set.
    pub enabled: bool,
    /// What is known of the live locals that hold the flag.
    pub values: Values,
}

/// One outcome of an edge.
pub struct Step {
    /// Its operations, without the flag.
    pub ops: Vec<Op>,
    /// The call at its end, and how that returns.
    pub call: Option<(Entry, Exit)>,
    /// Whether the new flag is a guess.
    pub guessed: bool,
    /// Whether it ends here: the callee may never return.
    pub returns: bool,
    /// Its target.
    pub target: State,
}

/// All states.
pub struct Analysis<'p> {
    program: &'p Program,
    interrupts: &'p Interrupts,
    tracked: IdVec<TemplateId, BTreeSet<LocalId>>,
    live: IdVec<TemplateId, IdVec<LocationId, BitSet>>,
    outgoing: IdVec<TemplateId, IdVec<LocationId, Vec<EdgeId>>>,
    /// How each procedure returns, and whether the flag is set somewhere in it.
    found: IndexMap<Entry, (BTreeSet<Exit>, bool)>,
}

impl<'p> Analysis<'p> {
    /// Tracks the flag, starting with these procedures.
    pub fn of(program: &'p Program, interrupts: &'p Interrupts, roots: &[Entry]) -> Self {
        let mut analysis = Self {
            program,
            interrupts,
            tracked: tracked(program, interrupts),
            live: program.templates.iter().map(live_locals).collect(),
            outgoing: program.templates.iter().map(|template| template.outgoing()).collect(),
            found: roots.iter().map(|root| (root.clone(), Default::default())).collect(),
        };
        loop {
            let mut changed = false;
            let mut index = 0;
            while let Some((entry, before)) = analysis.found.get_index(index) {
                let (entry, before) = (entry.clone(), before.clone());
                let (after, called) = analysis.walk(&entry);
                for callee in called {
                    if !analysis.found.contains_key(&callee) {
                        changed = true;
                        analysis.found.insert(callee, Default::default());
                    }
                }
                changed |= after != before;
                analysis.found[index] = after;
                index += 1;
            }
            if !changed {
                return analysis;
            }
        }
    }
    /// How a procedure may return.
    pub fn exits(&self, entry: &Entry) -> Vec<Exit> {
        self.found.get(entry).map_or_else(Vec::new, |(exits, _)| exits.iter().copied().collect())
    }
    /// Whether the flag is set somewhere in a procedure, or in its callees.
    pub fn may_enable(&self, entry: &Entry) -> bool {
        self.found.get(entry).is_some_and(|(_, enables)| *enables)
    }
    /// Where a procedure begins.
    pub fn first(&self, entry: &Entry) -> State {
        let code = &self.program.templates[entry.template];
        let mut values = Values::new();
        for local in &self.tracked[entry.template] {
            let value = if local.index() < code.parameters {
                entry.parameters.get(local).copied().flatten()
            } else {
                Some(0)
            };
            values.insert(*local, value);
        }
        self.state(entry.template, code.entry, entry.enabled, values)
    }
    /// How a procedure returns in a state.
    pub fn exit(&self, template: TemplateId, state: &State) -> Exit {
        let result = self.program.templates[template].result;
        Exit {
            enabled: state.enabled,
            result: result.and_then(|local| state.values.get(&local).copied().flatten()),
        }
    }
    /// The edges that leave a state.
    pub fn edges(&self, template: TemplateId, state: &State) -> &[EdgeId] {
        &self.outgoing[template][state.location]
    }

    fn walk(&self, entry: &Entry) -> ((BTreeSet<Exit>, bool), Vec<Entry>) {
        let first = self.first(entry);
        let (mut exits, mut enables, mut called) = (BTreeSet::new(), false, Vec::new());
        let mut seen: BTreeSet<State> = [first.clone()].into();
        let mut queue = vec![first];
        while let Some(state) = queue.pop() {
            enables |= state.enabled;
            if self.program.templates[entry.template].locations[state.location].kind == LocationKind::End {
                exits.insert(self.exit(entry.template, &state));
            }
            for edge in self.edges(entry.template, &state) {
                if let Some(callee) = self.called(entry.template, &state, *edge) {
                    enables |= self.may_enable(&callee);
                    called.push(callee);
                }
                for step in self.steps(entry.template, &state, *edge).into_iter().filter(|step| step.returns)
                {
                    if seen.insert(step.target.clone()) {
                        queue.push(step.target);
                    }
                }
            }
        }
        ((exits, enables), called)
    }

    fn state(&self, template: TemplateId, location: LocationId, enabled: bool, mut values: Values) -> State {
        values.retain(|local, _| self.live[template][location].contains(local.index()));
        State { location, enabled, values }
    }

    /// The call of an edge. No operation before the call on the same edge touches the flag.
    pub fn called(&self, template: TemplateId, state: &State, edge: EdgeId) -> Option<Entry> {
        let Some(Op::Call(Callee::Procedure(callee), arguments, _)) =
            self.program.templates[template].edges[edge].ops.last()
        else {
            return None;
        };
        let parameter = |local: &LocalId| arguments.get(local.index()).map(|argument| (*local, argument));
        let parameters = self.tracked[*callee].iter().filter_map(parameter);
        let parameters =
            parameters.map(|(local, argument)| (local, self.evaluate(argument, state))).collect();
        Some(Entry { template: *callee, enabled: state.enabled, parameters })
    }

    /// All outcomes of an edge.
    pub fn steps(&self, template: TemplateId, state: &State, edge: EdgeId) -> Vec<Step> {
        let edge_id = edge;
        let edge = &self.program.templates[template].edges[edge_id];
        let (mut now, mut ops, mut guess, mut returns) = (state.clone(), Vec::new(), false, None);
        for op in &edge.ops {
            let mut changed = op.clone();
            for expr in changed.expressions_mut() {
                expr.rewrite(&mut |inner| {
                    if self.is_flag(inner) {
                        *inner = Expr::int(self.flag(now.enabled), IntType::U8);
                    }
                });
            }
            match (&mut changed, op) {
                (Op::Assign(assignment), Op::Assign(before)) => {
                    let mut next = now.clone();
                    for (lhs, rhs) in &before.pairs {
                        let value = match rhs {
                            Rhs::Value(value) => self.evaluate(value, &now),
                            Rhs::Any | Rhs::Unknown | Rhs::Float(..) => None,
                        };
                        match lhs {
                            Lhs::Local(local) if self.tracked[template].contains(local) => {
                                next.values.insert(*local, value);
                            }
                            Lhs::Local(_) => {}
                            Lhs::Memory(place) if place.as_cell() == Some((self.interrupts.flag, 0)) => {
                                guess |= value.is_none();
                                next.enabled = value.is_none_or(|value| value != 0);
                            }
                            Lhs::Memory(_) => {}
                        }
                    }
                    assignment.pairs.retain(|(lhs, _)| match lhs {
                        Lhs::Memory(place) => place.as_cell() != Some((self.interrupts.flag, 0)),
                        Lhs::Local(_) => true,
                    });
                    now = next;
                    if assignment.pairs.is_empty() && assignment.constraint.is_none() {
                        continue;
                    }
                }
                (Op::Call(_, _, lhs), _) => {
                    let Some(entry) = self.called(template, state, edge_id) else { return Vec::new() };
                    returns = Some((entry, lhs.clone()));
                }
                // Not supported together with handlers: the execution ends.
                (Op::Spawn(..), _) => changed = Op::Assume(Expr::bool(false)),
                _ => {
                    for lhs in op.targets() {
                        if let Lhs::Local(local) = lhs
                            && self.tracked[template].contains(local)
                        {
                            now.values.insert(*local, None);
                        }
                    }
                }
            }
            ops.push(changed);
        }
        let step = |enabled, values: Values, call, guessed| Step {
            ops: ops.clone(),
            call,
            guessed,
            returns: true,
            target: self.state(template, edge.target, enabled, values),
        };
        match returns {
            Some((entry, lhs)) => {
                let exits = self.exits(&entry);
                if exits.is_empty() {
                    let never = Some((entry, Exit { enabled: true, result: None }));
                    return vec![Step { returns: false, ..step(true, now.values.clone(), never, false) }];
                }
                let exits = exits.into_iter().map(|exit| {
                    let mut values = now.values.clone();
                    if let Some(Lhs::Local(local)) = &lhs
                        && self.tracked[template].contains(local)
                    {
                        values.insert(*local, exit.result);
                    }
                    step(exit.enabled, values, Some((entry.clone(), exit)), false)
                });
                exits.collect()
            }
            None if guess => {
                [true, false].map(|enabled| step(enabled, now.values.clone(), None, true)).into()
            }
            None => vec![step(now.enabled, now.values.clone(), None, false)],
        }
    }

    fn flag(&self, enabled: bool) -> Value {
        if enabled { self.interrupts.enabled } else { 0 }
    }
    fn is_flag(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Load(place) if place.as_cell() == Some((self.interrupts.flag, 0)))
    }
    /// The value of an expression, if it is known and a possible value of the flag.
    fn evaluate(&self, expr: &Expr, state: &State) -> Known {
        self.value(expr, state).filter(|value| *value == 0 || *value == self.interrupts.enabled)
    }
    fn value(&self, expr: &Expr, state: &State) -> Known {
        match expr {
            Expr::Const(value, _) => Some(*value),
            Expr::Local(local) => state.values.get(local).copied().flatten(),
            Expr::Load(_) => self.is_flag(expr).then(|| self.flag(state.enabled)),
            Expr::Cast(IntType::BOOL, operand) => {
                self.value(operand, state).map(|value| Value::from(value != 0))
            }
            Expr::Cast(ty, operand) => self.value(operand, state).map(|value| ty.wrap(value)),
            Expr::Unary(UnaryOp::Not, IntType::BOOL, operand) => {
                self.value(operand, state).map(|value| 1 - value)
            }
            Expr::Binary(op, ty, pair) => {
                apply(*op, *ty, self.value(&pair.0, state)?, self.value(&pair.1, state)?).ok()
            }
            Expr::IfThenElse(three) => match self.value(&three.0, state)? {
                0 => self.value(&three.2, state),
                _ => self.value(&three.1, state),
            },
            Expr::Unary(..)
            | Expr::Address(..)
            | Expr::Procedure(_)
            | Expr::Myself
            | Expr::Overflows(..)
            | Expr::Valid(..)
            | Expr::Old(_) => None,
        }
    }
}

/// The locals that an expression reads.
fn locals_in(expr: &Expr) -> impl Iterator<Item = LocalId> + use<> {
    let mut found = Vec::new();
    expr.walk(&mut |inner| {
        if let Expr::Local(local) = inner {
            found.push(*local);
        }
    });
    found.into_iter()
}

/// The locals of each template whose values may flow to the flag.
fn tracked(program: &Program, interrupts: &Interrupts) -> IdVec<TemplateId, BTreeSet<LocalId>> {
    let mut tracked: IdVec<TemplateId, BTreeSet<LocalId>> =
        program.templates.iter().map(|_| BTreeSet::new()).collect();
    loop {
        let mut found: Vec<(TemplateId, LocalId)> = Vec::new();
        for (id, template) in program.templates.enumerate() {
            for op in template.edges.iter().flat_map(|edge| &edge.ops) {
                match op {
                    Op::Assign(assignment) => {
                        for (lhs, rhs) in &assignment.pairs {
                            let matters = match lhs {
                                Lhs::Local(local) => tracked[id].contains(local),
                                Lhs::Memory(place) => place.as_cell() == Some((interrupts.flag, 0)),
                            };
                            if let (true, Rhs::Value(value)) = (matters, rhs) {
                                found.extend(locals_in(value).map(|local| (id, local)));
                            }
                        }
                    }
                    Op::Call(Callee::Procedure(callee), arguments, lhs) => {
                        if let Some(Lhs::Local(local)) = lhs
                            && tracked[id].contains(local)
                        {
                            found.extend(program.templates[*callee].result.map(|result| (*callee, result)));
                        }
                        for local in &tracked[*callee] {
                            let Some(argument) = arguments.get(local.index()) else { continue };
                            found.extend(locals_in(argument).map(|inner| (id, inner)));
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut changed = false;
        for (id, local) in found {
            changed |= tracked[id].insert(local);
        }
        if !changed {
            return tracked;
        }
    }
}
