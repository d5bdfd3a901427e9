//! Shared-access splitting: at most one access to shared memory on each edge that starts outside of an atomic
//! region.
//!
//! An operation with several accesses becomes a chain of edges: each load goes to a fresh local on a separate
//! edge, in the order in which [`crate::semantics`] evaluates (operands from left to right; of an assignment
//! the value, then the address, then the store), so that other threads may run in between. Exact with respect
//! to the source language, where only such single accesses are indivisible; it adds behaviours to the unsplit
//! program.
//!
//! These stay one step:
//! 1. Accesses to places marked `atomic` within one operation (an atomic read-modify-write, a library model's
//!    guard). An operation with only atomic accesses is unchanged; for others that both load and store
//!    atomically, plain loads go before, and plain stores after. So a front end gives each atomic access that
//!    is a separate step its own operation.
//! 2. Edges with several operations; only plain loads of the first one go before.
//! 3. Assignments with a constraint that touch shared memory: the constraint relates both states.
//! 4. The start of a thread and the store of its id, as in libraries: the new thread finds its own id there.
//! 5. `Fill`, `Copy`, and edges that start at atomic locations.
//!
//! Whether an access happens, and where, never depends on a value that is chosen in the same step: a load in
//! an address, or in the condition of one, gets a separate edge if it may read uninitialised memory, even
//! inside atomic regions and for private memory. So a state determines which accesses its threads are about
//! to make ([`crate::semantics::Machine::race`]).
//!
//! Edges that leave one location share their common first loads: a branch reads its operands once. An
//! operation other than an assignment or a start of a thread never stores its result in shared memory; the
//! result of a call always goes to a local. The last load of an assignment to a local may stay where it is.

use super::sharing::{Sharing, base_object};
use crate::expr::{Expr, Place};
use crate::ids::{EdgeId, LocalId, LocationId};
use crate::op::{Lhs, Op, Rhs};
use crate::program::{LocationKind, Program, Span, Storage, Template, Waiting};
use crate::types::IntType;

/// Splits all shared accesses of a program.
pub fn split(program: &Program) -> Program {
    split_to(program, Amount::OneAccess)
}

/// How much to split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// An edge makes at most one access.
    OneAccess,
    /// Moreover, an edge that reads plain shared memory does nothing but store the value in a local: then
    /// other edges may use the same value without reading it again.
    OneAccessAlone,
}

/// Splits all shared accesses of a program this much.
pub fn split_to(program: &Program, amount: Amount) -> Program {
    let sharing = Sharing::of(program);
    let unset = Unset::of(program);
    let mut result = program.clone();
    for template in result.templates.iter_mut() {
        let mut splitter = Splitter {
            program,
            sharing: &sharing,
            unset: &unset,
            amount,
            template: std::mem::take(template),
        };
        splitter.run();
        *template = splitter.template;
    }
    result
}

/// Which loads get a separate edge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// All loads of shared memory.
    All,
    /// Those that are not atomic, and what their addresses need.
    Plain,
    /// Only those that an access depends on and that may read uninitialised memory.
    Unset,
}

impl Rule {
    /// The rule for the address of a load that gets an edge of its own.
    fn inside_load(self) -> Self {
        match self {
            Self::All | Self::Plain => Self::All,
            Self::Unset => Self::Unset,
        }
    }
}

/// The purpose of a part of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It is part of the address of an access.
    Address,
    /// It is a value.
    Value,
}

/// Which memory may hold uninitialised bytes.
struct Unset {
    /// Whether there is any that pointers lead to.
    pointed: bool,
    /// Whether such bytes are copied, so that they may be anywhere.
    copied: bool,
}

impl Unset {
    fn of(program: &Program) -> Self {
        let is_unset =
            |object: &crate::program::Object| object.storage == Storage::Site || object.initial.is_open();
        let pointed = program.objects.iter().any(is_unset);
        let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
        Self { pointed, copied: pointed && ops.any(|op| matches!(op, Op::Copy(..))) }
    }
    fn may_hold(&self, program: &Program, place: &Place) -> bool {
        match base_object(&place.address) {
            Some(object) => self.copied || program.objects[object].initial.is_open(),
            None => self.pointed,
        }
    }
}

/// How to split one edge.
struct Plan {
    rule: Rule,
    /// The loads (and conditional expressions with loads) that go before it, in order of evaluation.
    units: Vec<Expr>,
}

/// The loads extracted from one operation, as the chain of edges grows.
struct Extraction<'a> {
    rule: Rule,
    /// Units that are in locals already: the first ones of this operation.
    known: &'a [(Expr, LocalId)],
    taken: Vec<(Expr, LocalId)>,
    /// The number of units to extract.
    limit: usize,
    here: LocationId,
    span: Span,
}

struct Splitter<'a> {
    program: &'a Program,
    sharing: &'a Sharing,
    unset: &'a Unset,
    amount: Amount,
    template: Template,
}

impl Splitter<'_> {
    fn run(&mut self) {
        let outgoing = self.template.outgoing();
        for (location, edges) in outgoing.enumerate() {
            let atomic = self.template.locations[location].atomic;
            for edge in edges {
                if atomic || self.template.edges[*edge].ops.len() > 1 {
                    self.move_call_result(*edge, atomic);
                }
            }
            self.split_location(location, edges);
        }
    }

    /// Splits the edges that leave a location. They share their common first reads.
    fn split_location(&mut self, location: LocationId, edges: &[EdgeId]) {
        let mut plans: Vec<Option<Plan>> = edges.iter().map(|edge| self.plan(*edge)).collect();
        if plans.iter().all(Option::is_none) {
            return;
        }
        let is_branch =
            edges.iter().all(|edge| matches!(self.template.edges[*edge].ops.as_slice(), [Op::Assume(_)]));
        if is_branch {
            // An edge that reads a single cell could stay, but then it would not share its read with the
            // others.
            let ops = |edge: &EdgeId| &self.template.edges[*edge].ops[0];
            let any_atomic =
                edges.iter().any(|edge| self.sharing.accesses(ops(edge)).iter().any(|access| access.atomic));
            let only_unset = plans.iter().flatten().all(|plan| plan.rule == Rule::Unset);
            let rule = match (only_unset, any_atomic) {
                (true, _) => Rule::Unset,
                (false, true) => Rule::Plain,
                (false, false) => Rule::All,
            };
            plans =
                edges.iter().map(|edge| Some(Plan { rule, units: self.units_of(ops(edge), rule) })).collect();
        }
        let (mut here, mut known) = (location, Vec::new());
        if edges.len() > 1 {
            let common = common_prefix(&plans);
            if common > 0
                && let Some(Plan { rule, .. }) = plans[0]
            {
                let first = &self.template.edges[edges[0]];
                let mut extraction = Extraction {
                    rule,
                    known: &[],
                    taken: Vec::new(),
                    limit: common,
                    here: location,
                    span: first.span,
                };
                let mut scratch = first.ops[0].clone();
                self.extract_op(&mut extraction, &mut scratch);
                (here, known) = (extraction.here, extraction.taken);
            }
        }
        if here != location && matches!(self.template.locations[location].waiting, Waiting::For(_)) {
            let waiting = std::mem::take(&mut self.template.locations[location].waiting);
            self.template.locations[here].waiting = waiting;
        }
        for (edge, plan) in edges.iter().zip(plans) {
            self.template.edges[*edge].source = here;
            if let Some(plan) = plan {
                self.split_edge(*edge, &plan, &known);
            }
        }
    }

    /// How to split an edge; `None` when it can stay.
    fn plan(&self, edge: EdgeId) -> Option<Plan> {
        let edge = &self.template.edges[edge];
        let for_sharing = match self.template.locations[edge.source].atomic {
            true => None,
            false => self.plan_for_sharing(&edge.ops),
        };
        for_sharing.or_else(|| {
            let units = self.units_of(edge.ops.first()?, Rule::Unset);
            (!units.is_empty()).then_some(Plan { rule: Rule::Unset, units })
        })
    }

    /// How to split an edge from a location that is not atomic, so that it makes one access.
    fn plan_for_sharing(&self, ops: &[Op]) -> Option<Plan> {
        let first = ops.first()?;
        let accesses: Vec<_> = ops.iter().flat_map(|op| self.sharing.accesses(op)).collect();
        let all_atomic = accesses.iter().all(|access| access.atomic);
        let any_atomic = accesses.iter().any(|access| access.atomic);
        if ops.len() > 1 {
            if all_atomic || accesses.len() <= 1 {
                return None;
            }
            let units = self.units_of(first, Rule::Plain);
            return (!units.is_empty()).then_some(Plan { rule: Rule::Plain, units });
        }
        match first {
            Op::Assume(_) => {
                if all_atomic || (accesses.len() <= 1 && self.amount == Amount::OneAccess) {
                    return None;
                }
                let rule = if any_atomic { Rule::Plain } else { Rule::All };
                Some(Plan { rule, units: self.units_of(first, rule) })
            }
            Op::Assign(assignment) => {
                let keeps_only = match assignment.pairs.as_slice() {
                    [(_, Rhs::Value(Expr::Load(place)))] => !self.sharing.reads_shared(&place.address),
                    _ => false,
                };
                let may_stay = self.amount == Amount::OneAccess
                    || keeps_only
                    || accesses.iter().all(|access| access.write);
                if all_atomic || (accesses.len() <= 1 && may_stay) {
                    return None;
                }
                let stores_shared = assignment.pairs.iter().any(|(lhs, _)| self.sharing.is_shared_lhs(lhs));
                if let Some(constraint) = &assignment.constraint
                    && (stores_shared || self.sharing.reads_shared(constraint))
                {
                    return None;
                }
                let has_atomic = |write| accesses.iter().any(|access| access.atomic && access.write == write);
                let rule = if has_atomic(true) && has_atomic(false) { Rule::Plain } else { Rule::All };
                let mut units = self.units_of(first, rule);
                if !stores_shared
                    && (keeps_only || self.amount == Amount::OneAccess)
                    && matches!(units.last(), Some(Expr::Load(_)))
                {
                    units.pop();
                }
                Some(Plan { rule, units })
            }
            Op::Lock(..) | Op::Unlock(..) | Op::Free(_) | Op::Fill(..) | Op::Copy(..) => {
                let units = self.units_of(first, Rule::All);
                (!units.is_empty()).then_some(Plan { rule: Rule::All, units })
            }
            // It happens as a whole: in one step with the operations before it.
            Op::Broadcast(_) => None,
            Op::Spawn(..) => {
                let units = self.units_of(first, Rule::All);
                (!units.is_empty()).then_some(Plan { rule: Rule::All, units })
            }
            Op::Join(_, result) | Op::Call(_, _, result) => {
                let units = self.units_of(first, Rule::All);
                let moves =
                    result.as_ref().is_some_and(|lhs| self.moves_result(lhs, matches!(first, Op::Call(..))));
                (!units.is_empty() || moves).then_some(Plan { rule: Rule::All, units })
            }
            Op::Allocate { result, .. } => {
                let units = self.units_of(first, Rule::All);
                (!units.is_empty() || self.moves_result(result, false))
                    .then_some(Plan { rule: Rule::All, units })
            }
        }
    }

    /// Whether the result of an operation other than an assignment goes to a local first.
    fn moves_result(&self, lhs: &Lhs, is_call: bool) -> bool {
        match lhs {
            Lhs::Local(_) => false,
            // A computed address may fault, and that happens after the operation.
            Lhs::Memory(place) => is_call || self.sharing.is_shared(place) || place.as_cell().is_none(),
        }
    }

    fn split_edge(&mut self, edge: EdgeId, plan: &Plan, known: &[(Expr, LocalId)]) {
        let here = self.template.edges[edge].source;
        let span = self.template.edges[edge].span;
        let mut ops = std::mem::take(&mut self.template.edges[edge].ops);
        let mut extraction =
            Extraction { rule: plan.rule, known, taken: Vec::new(), limit: plan.units.len(), here, span };
        self.extract_op(&mut extraction, &mut ops[0]);
        let stores = match plan.rule {
            Rule::All | Rule::Plain if ops.len() == 1 => self.stores_after(&mut ops[0]),
            Rule::All | Rule::Plain | Rule::Unset => Vec::new(),
        };
        self.template.edges[edge].source = extraction.here;
        self.template.edges[edge].ops = ops;
        self.store_after(edge, stores, false);
    }

    /// Removes from an operation the stores that do not belong to its step, and returns them.
    fn stores_after(&mut self, op: &mut Op) -> Vec<(Place, LocalId)> {
        let mut stores = Vec::new();
        match op {
            Op::Assign(assignment) => {
                if assignment.constraint.is_some() {
                    return stores;
                }
                let is_atomic = |lhs: &Lhs| matches!(lhs, Lhs::Memory(place) if place.atomic);
                let mut may_stay = !assignment
                    .pairs
                    .iter()
                    .any(|(lhs, _)| self.sharing.is_shared_lhs(lhs) && is_atomic(lhs));
                let mut addresses = Vec::new();
                for (lhs, _) in &mut assignment.pairs {
                    if !self.sharing.is_shared_lhs(lhs) || is_atomic(lhs) {
                        continue;
                    }
                    if std::mem::take(&mut may_stay) {
                        continue;
                    }
                    if let Lhs::Memory(place) = lhs {
                        let mut place = place.clone();
                        let value = self.temporary(place.ty);
                        if place.as_cell().is_none() {
                            // The assignment may change locals in the address.
                            let address = self.temporary(self.program.data_model.pointer());
                            let whole = std::mem::replace(&mut place.address, Expr::Local(address));
                            addresses.push((Lhs::Local(address), Rhs::Value(whole)));
                        }
                        *lhs = Lhs::Local(value);
                        stores.push((place, value));
                    }
                }
                assignment.pairs.extend(addresses);
            }
            Op::Join(_, Some(lhs)) | Op::Allocate { result: lhs, .. } => {
                if self.moves_result(lhs, false) {
                    stores.extend(self.replace_by_local(lhs));
                }
            }
            Op::Call(_, _, Some(lhs)) => stores.extend(self.replace_by_local(lhs)),
            Op::Spawn(..) | Op::Join(_, None) | Op::Call(_, _, None) => {}
            Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Free(_) | Op::Fill(..) | Op::Copy(..) => {}
            Op::Broadcast(_) => {}
        }
        stores
    }

    fn replace_by_local(&mut self, lhs: &mut Lhs) -> Option<(Place, LocalId)> {
        let Lhs::Memory(place) = lhs else { return None };
        let place = place.clone();
        let local = self.temporary(place.ty);
        *lhs = Lhs::Local(local);
        Some((place, local))
    }

    /// The result of a call goes to a local even inside atomic regions: a return can store it nowhere else.
    fn move_call_result(&mut self, edge: EdgeId, atomic: bool) {
        let mut ops = std::mem::take(&mut self.template.edges[edge].ops);
        let store = match ops.last_mut() {
            Some(Op::Call(_, _, Some(lhs))) => self.replace_by_local(lhs),
            _ => None,
        };
        self.template.edges[edge].ops = ops;
        self.store_after(edge, store.into_iter().collect(), atomic);
    }

    /// Adds stores after an edge.
    fn store_after(&mut self, edge: EdgeId, stores: Vec<(Place, LocalId)>, atomic: bool) {
        let (target, span) = (self.template.edges[edge].target, self.template.edges[edge].span);
        let mut last = edge;
        for (place, value) in stores {
            let between = self.template.location(LocationKind::Normal, atomic);
            self.template.edges[last].target = between;
            let op = Op::set(Lhs::Memory(place), Expr::Local(value));
            last = self.template.edge(between, target, vec![op], span);
            if let Some(plan) = self.plan(last) {
                self.split_edge(last, &plan, &[]);
            }
        }
    }

    fn temporary(&mut self, ty: IntType) -> LocalId {
        let name = format!("%s{}", self.template.locals.len());
        self.template.local(name, ty, Span::default())
    }

    /// The units of an operation, in order of evaluation.
    fn units_of(&self, op: &Op, rule: Rule) -> Vec<Expr> {
        let mut units = Vec::new();
        each_operand(&mut op.clone(), &mut |expr, role| self.units(expr, (rule, role), &mut units));
        units
    }

    fn units(&self, expr: &Expr, (rule, role): (Rule, Use), found: &mut Vec<Expr>) {
        match expr {
            Expr::Load(place) if self.takes(place, (rule, role)) => {
                self.units(&place.address, (rule.inside_load(), Use::Address), found);
                found.push(expr.clone());
            }
            Expr::Load(place) => self.units(&place.address, (rule, Use::Address), found),
            Expr::IfThenElse(three) if self.takes_choice(three, (rule, role)) => {
                self.units(&three.0, (rule, Use::Value), found);
                found.push(expr.clone());
            }
            _ => expr.operands().into_iter().for_each(|operand| self.units(operand, (rule, role), found)),
        }
    }
    fn has_units(&self, expr: &Expr, what: (Rule, Use)) -> bool {
        let mut found = Vec::new();
        self.units(expr, what, &mut found);
        !found.is_empty()
    }
    fn takes(&self, place: &Place, (rule, role): (Rule, Use)) -> bool {
        let is_shared = match rule {
            Rule::All => self.sharing.is_shared(place),
            Rule::Plain => !place.atomic && self.sharing.is_shared(place),
            Rule::Unset => false,
        };
        is_shared || (role == Use::Address && self.unset.may_hold(self.program, place))
    }
    /// Whether a conditional expression becomes a branch: because of the loads in its arms, or because its
    /// condition may read uninitialised memory, so that a choice decides which accesses happen, or where.
    fn takes_choice(&self, three: &(Expr, Expr, Expr), (rule, role): (Rule, Use)) -> bool {
        let reads_unset = |expr: &Expr| {
            let mut found = false;
            expr.walk(&mut |inner| {
                found |= matches!(inner, Expr::Load(place) if self.unset.may_hold(self.program, place));
            });
            found
        };
        self.has_units(&three.1, (rule, role))
            || self.has_units(&three.2, (rule, role))
            || (reads_unset(&three.0)
                && (role == Use::Address
                    || self.sharing.reads_shared(&three.1)
                    || self.sharing.reads_shared(&three.2)))
    }

    fn extract_op(&mut self, extraction: &mut Extraction<'_>, op: &mut Op) {
        each_operand(op, &mut |expr, role| self.extract(extraction, expr, (extraction.rule, role)));
    }

    /// Extracts units from an expression, in the order of [`units`](Self::units).
    fn extract(&mut self, extraction: &mut Extraction<'_>, expr: &mut Expr, (rule, role): (Rule, Use)) {
        let takes_load = matches!(expr, Expr::Load(place) if self.takes(place, (rule, role)));
        let takes_choice = match expr {
            Expr::IfThenElse(three) => self.takes_choice(three, (rule, role)),
            _ => false,
        };
        let original = (takes_load || takes_choice).then(|| expr.clone());
        match expr {
            Expr::Load(place) => {
                let rule = if takes_load { rule.inside_load() } else { rule };
                self.extract(extraction, &mut place.address, (rule, Use::Address));
            }
            Expr::IfThenElse(three) if takes_choice => {
                self.extract(extraction, &mut three.0, (rule, Use::Value));
            }
            _ => {
                for operand in expr.operands_mut() {
                    self.extract(extraction, operand, (rule, role));
                }
            }
        }
        let Some(original) = original else { return };
        if extraction.taken.len() >= extraction.limit {
            return;
        }
        let local = match extraction.known.get(extraction.taken.len()) {
            Some((known, local)) if *known == original => *local,
            _ => {
                let local = self.temporary(self.program.type_in(&self.template, expr));
                let value = std::mem::replace(expr, Expr::Local(local));
                extraction.here = self.save(extraction.here, value, local, extraction.span);
                local
            }
        };
        *expr = Expr::Local(local);
        extraction.taken.push((original, local));
    }

    /// Stores a unit whose operands are already extracted in a local; returns the location after that.
    fn save(&mut self, here: LocationId, value: Expr, local: LocalId, span: Span) -> LocationId {
        let atomic = self.template.locations[here].atomic;
        let after = self.template.location(LocationKind::Normal, atomic);
        match value {
            Expr::IfThenElse(three) => {
                let (condition, yes, no) = *three;
                for (condition, value) in [(condition.clone(), yes), (condition.not(), no)] {
                    let chosen = self.template.location(LocationKind::Normal, atomic);
                    self.template.edge(here, chosen, vec![Op::Assume(condition)], span);
                    let edge =
                        self.template.edge(chosen, after, vec![Op::set(Lhs::Local(local), value)], span);
                    if let Some(plan) = self.plan(edge) {
                        self.split_edge(edge, &plan, &[]);
                    }
                }
            }
            other => {
                self.template.edge(here, after, vec![Op::set(Lhs::Local(local), other)], span);
            }
        }
        after
    }
}

/// The length of the common prefix of units of all edges.
fn common_prefix(plans: &[Option<Plan>]) -> usize {
    let Some(Some(first)) = plans.first() else { return 0 };
    let shared = |plan: &Option<Plan>| match plan {
        Some(plan) => plan.units.iter().zip(&first.units).take_while(|(mine, other)| mine == other).count(),
        None => 0,
    };
    plans.iter().map(shared).min().unwrap_or(0)
}

/// Visits what an operation evaluates before it does anything, in order of evaluation. Skips addresses for
/// results of operations other than assignments, and constraints: these are evaluated afterwards.
fn each_operand(op: &mut Op, visit: &mut dyn FnMut(&mut Expr, Use)) {
    match op {
        Op::Assume(operand) | Op::Join(operand, _) | Op::Allocate { size: operand, .. } => {
            visit(operand, Use::Value);
        }
        Op::Lock(_, operand) | Op::Unlock(_, operand) | Op::Free(operand) => visit(operand, Use::Address),
        Op::Assign(assignment) => {
            for (lhs, rhs) in &mut assignment.pairs {
                if let Rhs::Value(value) = rhs {
                    visit(value, Use::Value);
                }
                if let Lhs::Memory(place) = lhs {
                    visit(&mut place.address, Use::Address);
                }
            }
        }
        Op::Spawn(callee, arguments, handle) => {
            if let crate::op::Callee::Pointer(pointer) = callee {
                visit(pointer, Use::Value);
            }
            arguments.iter_mut().for_each(|argument| visit(argument, Use::Value));
            if let Some(Lhs::Memory(place)) = handle {
                visit(&mut place.address, Use::Address);
            }
        }
        Op::Call(callee, arguments, _) => {
            if let crate::op::Callee::Pointer(pointer) = callee {
                visit(pointer, Use::Value);
            }
            arguments.iter_mut().for_each(|argument| visit(argument, Use::Value));
        }
        // The number of bytes determines the extent of the access.
        Op::Fill(to, byte, size) => {
            visit(to, Use::Address);
            visit(byte, Use::Value);
            visit(size, Use::Address);
        }
        Op::Copy(to, from, size) => {
            for operand in [to, from, size] {
                visit(operand, Use::Address);
            }
        }
        Op::Broadcast(broadcast) => {
            broadcast.arguments.iter_mut().for_each(|(_, argument)| visit(argument, Use::Value));
        }
    }
}
