//! Well-formedness: the rules on which the step semantics and every pass may rely.
//!
//! [`check`] reads a whole program and reports every rule that it breaks. The rules:
//!
//! 1. *Ids and spans* are in range: objects, templates, locals, locations, start templates, targets. A span
//!    with a line names one of the program's files.
//! 2. *Types* are 1, 8, 16, 32 or 64 bits wide, a Boolean unsigned; constants are in their type's range.
//!    Operands have the type that their operation names (the right operand of a shift may have any).
//!    Conditions, constraints and the first operand of an [`Expr::IfThenElse`] are Boolean; its arms agree.
//!    An assigned value has its left-hand side's type. Addresses, sizes of memory, and thread ids have the
//!    pointer type; the byte of a fill, an argument, and the target of the result of a call or join may have
//!    any type: values are converted, as [`crate::semantics`] says.
//! 3. *Operations*: a call is the last operation of its edge and its result goes to a local; left-hand sides
//!    of one assignment are different cells; [`Expr::Old`] occurs only in constraints, and not nested;
//!    [`Expr::Overflows`] has a signed type and no comparison. A named procedure gets at least as many
//!    arguments as it has parameters (more are evaluated and dropped, as C's variable arguments and
//!    unprototyped functions need; with fewer, values would be missing), and has a result if the call uses
//!    one.
//! 4. *Memory*: an alignment is a power of two up to [`MAX_ALIGN`], a size is at most [`MAX_OBJECT_BYTES`]. A
//!    layout fits in its object's size; the members of a record and the elements of an array do not overlap.
//!    Initial values are constants (numbers, addresses, procedures, casts of them) of their type inside of
//!    the object; an allocation site has none. An [`Expr::Address`] is in its object or just past it
//!    (addresses outside are computed, not named). It never names an allocation site, and names a
//!    [`Storage::Frame`] object only in that object's template.
//! 5. *Control*: only [`LocationKind::Normal`] locations have outgoing edges. The entry is such a location: a
//!    thread that starts at an end would never be seen to end, so an empty procedure has an entry with a
//!    plain jump to its end. (A normal location without edges is allowed: control stays there for ever.)
//! 6. *Limits*: expressions and layouts nest at most [`MAX_DEPTH`] deep, so that recursive walks need little
//!    stack; a template has at most [`MAX_LOCATIONS`] locations.

mod expressions;
mod objects;
#[cfg(test)]
mod tests;

use crate::expr::Expr;
use crate::ids::{EdgeId, IdVec, LocationId, ObjectId, TemplateId};
use crate::op::{Assignment, Broadcast, Callee, Lhs, Op, Rhs};
use crate::program::{Edge, LocationKind, Program, Span, Storage, Template};
use crate::types::IntType;
use expressions::Context;
use std::fmt;

/// The deepest nesting of an expression or a layout.
pub const MAX_DEPTH: usize = 500;
/// The most locations of a template.
pub const MAX_LOCATIONS: usize = 1 << 24;
/// The largest size of an object: what user programs can address.
pub const MAX_OBJECT_BYTES: u64 = 1 << 47;
/// The largest alignment of an object.
pub const MAX_ALIGN: u64 = 1 << 32;

/// A violation of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// The part of the program.
    pub place: Where,
    /// The name of the object or template there; empty for the program itself.
    pub name: String,
    /// What is wrong.
    pub problem: String,
}

/// A part of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    /// The program itself: its start and its assumptions.
    Program,
    /// A memory object.
    Object(ObjectId),
    /// A template, apart from its edges.
    Template(TemplateId),
    /// An edge of a template.
    Edge(TemplateId, EdgeId),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, name, problem } = self;
        match place {
            Where::Program => write!(f, "program: {problem}"),
            Where::Object(object) => write!(f, "object {object} ({name}): {problem}"),
            Where::Template(template) => write!(f, "template {template} ({name}): {problem}"),
            Where::Edge(template, edge) => write!(f, "template {template} ({name}), edge {edge}: {problem}"),
        }
    }
}

/// Checks that a program is well-formed; returns all violations.
pub fn check(program: &Program) -> Result<(), Vec<Malformed>> {
    let mut checker = Checker { program, found: Vec::new(), place: Where::Program };
    checker.program();
    if checker.found.is_empty() { Ok(()) } else { Err(checker.found) }
}

/// The program, the violations so far, and the current part.
struct Checker<'p> {
    program: &'p Program,
    found: Vec<Malformed>,
    place: Where,
}

impl<'p> Checker<'p> {
    fn report(&mut self, problem: impl Into<String>) {
        let name = match self.place {
            Where::Program => String::new(),
            Where::Object(object) => self.program.objects[object].name.clone(),
            Where::Template(template) | Where::Edge(template, _) => {
                self.program.templates[template].name.clone()
            }
        };
        self.found.push(Malformed { place: self.place, name, problem: problem.into() });
    }

    fn program(&mut self) {
        for (template, _) in &self.program.start {
            if self.program.templates.get(*template).is_none() {
                self.report(format!("start template {template} does not exist"));
            }
        }
        for assumption in &self.program.assumptions {
            self.span(assumption.span);
        }
        let races = self.program.races_on.iter().flatten().map(|range| (range, true));
        let unordered = self.program.unordered.iter().map(|range| (range, false));
        for (range, of_any) in races.chain(unordered) {
            let inside = self.program.objects.get(range.object).is_some_and(|object| {
                let end = range.offset.checked_add(range.size);
                match object.storage {
                    Storage::Static => end.is_some_and(|end| end <= object.size),
                    // Its size is known only when it is allocated.
                    Storage::Site => of_any && end.is_some(),
                    Storage::Frame(_) | Storage::ThreadLocal => false,
                }
            });
            if !inside {
                self.report(format!("bytes of {} are named that no object has", range.object));
            }
        }
        for used in &self.program.site_uses {
            let site = self.program.objects.get(used.site);
            if used.size == 0 || site.is_none_or(|object| object.storage != Storage::Site) {
                self.report(format!("a use of {} is given, which is no allocation site", used.site));
            }
        }
        for (id, object) in self.program.objects.enumerate() {
            self.place = Where::Object(id);
            self.object(object);
        }
        for (id, template) in self.program.templates.enumerate() {
            self.place = Where::Template(id);
            self.template(template);
            let outside = |location: LocationId| template.locations.get(location).is_none();
            let incomplete = template.edges.iter().any(|edge| outside(edge.source));
            for (edge_id, edge) in template.edges.enumerate() {
                self.place = Where::Edge(id, edge_id);
                self.edge(template, edge);
            }
            if !incomplete {
                self.place = Where::Template(id);
                self.dead_ends(template);
            }
        }
    }

    fn span(&mut self, span: Span) {
        if span.line > 0 && span.file as usize >= self.program.files.len() {
            self.report(format!("a span names file {}, which does not exist", span.file));
        }
    }

    fn int_type(&mut self, ty: IntType) -> bool {
        let known = matches!((ty.bits, ty.signed), (1, false) | (8 | 16 | 32 | 64, _));
        if !known {
            self.report(format!("{ty} is not an integer type of the representation"));
        }
        known
    }

    fn template(&mut self, template: &Template) {
        self.span(template.span);
        for (id, local) in template.locals.enumerate() {
            self.span(local.span);
            if !self.int_type(local.ty) {
                self.report(format!("local {id} ({}) has no valid type", local.name));
            }
        }
        if template.parameters > template.locals.len() {
            self.report(format!(
                "{} parameters but only {} locals",
                template.parameters,
                template.locals.len()
            ));
        }
        if template.locations.len() > MAX_LOCATIONS {
            self.report(format!("{} locations are more than a template can have", template.locations.len()));
        }
        for (what, local) in [("result", template.result), ("exit value", template.exit_value)] {
            if let Some(local) = local.filter(|local| template.locals.get(*local).is_none()) {
                self.report(format!("the {what} {local} does not exist"));
            }
        }
        match template.locations.get(template.entry) {
            None => self.report(format!("the entry {} does not exist", template.entry)),
            Some(location) => match location.kind {
                LocationKind::Normal => {}
                LocationKind::End | LocationKind::Exit | LocationKind::Halt | LocationKind::Error(_) => {
                    self.report(format!("the entry {} is not a normal location", template.entry));
                }
            },
        }
    }

    fn dead_ends(&mut self, template: &Template) {
        let outgoing: IdVec<LocationId, Vec<EdgeId>> = template.outgoing();
        for (id, location) in template.locations.enumerate() {
            let kind = match location.kind {
                LocationKind::Normal => continue,
                LocationKind::End => "end",
                LocationKind::Exit => "exit",
                LocationKind::Halt => "halt",
                LocationKind::Error(_) => "error",
            };
            if let Some(edge) = outgoing[id].first() {
                self.report(format!("the {kind} location {id} has an outgoing edge, {edge}"));
            }
        }
    }

    fn edge(&mut self, template: &'p Template, edge: &Edge) {
        self.span(edge.span);
        for (what, location) in [("source", edge.source), ("target", edge.target)] {
            if template.locations.get(location).is_none() {
                self.report(format!("the {what} {location} does not exist"));
            }
        }
        for (index, op) in edge.ops.iter().enumerate() {
            if matches!(op, Op::Call(..)) && index + 1 < edge.ops.len() {
                self.report("a call is not the last operation of its edge");
            }
            self.op(template, op);
        }
    }

    fn op(&mut self, template: &'p Template, op: &Op) {
        let pointer = self.program.data_model.pointer();
        let context = Context::of(template);
        match op {
            Op::Assume(condition) => self.expect(context, condition, IntType::BOOL, "an assumed condition"),
            Op::Assign(assignment) => self.assignment(context, assignment),
            Op::Lock(_, address) => self.expect(context, address, pointer, "the address of a lock"),
            Op::Unlock(_, address) => self.expect(context, address, pointer, "the address of a lock"),
            Op::Spawn(callee, arguments, handle) => {
                self.callee(context, callee, arguments, false);
                if let Some(handle) = handle {
                    self.expect_lhs(context, handle, pointer, "the id of a thread");
                }
            }
            Op::Join(thread, result) => {
                self.expect(context, thread, pointer, "the thread to join");
                if let Some(result) = result {
                    self.lhs(context, result);
                }
            }
            Op::Allocate { site, size, zeroed: _, result } => {
                match self.program.objects.get(*site).map(|object| object.storage) {
                    Some(Storage::Site) => {}
                    Some(Storage::Static | Storage::Frame(_) | Storage::ThreadLocal) => {
                        self.report(format!("{site} is not an allocation site"));
                    }
                    None => self.report(format!("allocation site {site} does not exist")),
                }
                self.expect(context, size, pointer, "the size of an allocation");
                self.expect_lhs(context, result, pointer, "the address of an allocation");
            }
            Op::Free(address) => self.expect(context, address, pointer, "a freed address"),
            Op::Fill(to, byte, size) => {
                self.expect(context, to, pointer, "a filled address");
                self.expression(context, byte);
                self.expect(context, size, pointer, "the size of a fill");
            }
            Op::Copy(to, from, size) => {
                self.expect(context, to, pointer, "the address of a copy");
                self.expect(context, from, pointer, "the address of a copy");
                self.expect(context, size, pointer, "the size of a copy");
            }
            Op::Broadcast(broadcast) => self.broadcast(context, broadcast),
            Op::Call(callee, arguments, result) => {
                self.callee(context, callee, arguments, result.is_some());
                match result {
                    Some(Lhs::Memory(_)) => self.report("the result of a call goes to memory"),
                    Some(lhs @ Lhs::Local(_)) => {
                        self.lhs(context, lhs);
                    }
                    None => {}
                }
            }
        }
    }

    fn broadcast(&mut self, context: Context<'p>, broadcast: &Broadcast) {
        let Some(other) = self.program.templates.get(broadcast.to) else {
            self.report(format!("template {} does not exist", broadcast.to));
            return;
        };
        let others = Context::of(other);
        for (local, argument) in &broadcast.arguments {
            self.expression(context, argument);
            self.lhs(others, &Lhs::Local(*local));
        }
        if broadcast.assignment.pairs.iter().any(|(lhs, _)| matches!(lhs, Lhs::Memory(_))) {
            self.report("a broadcast assigns to memory");
        }
        self.assignment(others, &broadcast.assignment);
    }

    fn assignment(&mut self, context: Context<'p>, assignment: &Assignment) {
        for (index, (lhs, rhs)) in assignment.pairs.iter().enumerate() {
            let ty = self.lhs(context, lhs);
            match rhs {
                Rhs::Value(value) => {
                    let found = self.expression(context, value);
                    if let (Some(ty), Some(found)) = (ty, found)
                        && ty != found
                    {
                        self.report(format!(
                            "a value of type {found} is assigned to a left-hand side of type {ty}"
                        ));
                    }
                }
                Rhs::Any | Rhs::Unknown => {}
                Rhs::Float(op, format, operands) => {
                    for operand in operands {
                        self.expression(context, operand);
                    }
                    if operands.len() != op.operands() || ty.is_some_and(|ty| ty != op.result(*format)) {
                        self.report("a floating-point operation has other operands, or another result");
                    }
                }
            }
            if assignment.pairs[..index].iter().any(|(earlier, _)| overlap(earlier, lhs)) {
                self.report("one assignment sets the same cell twice");
            }
        }
        if let Some(constraint) = &assignment.constraint {
            self.expect(
                context.in_constraint(),
                constraint,
                IntType::BOOL,
                "the constraint of an assignment",
            );
        }
    }

    fn callee(&mut self, context: Context<'p>, callee: &Callee, arguments: &[Expr], wants_result: bool) {
        match callee {
            Callee::Pointer(pointer) => {
                self.expect(context, pointer, self.program.data_model.pointer(), "a pointer to a procedure");
            }
            Callee::Procedure(id) => match self.program.templates.get(*id) {
                None => self.report(format!("procedure {id} does not exist")),
                Some(procedure) => {
                    if arguments.len() < procedure.parameters {
                        self.report(format!(
                            "{} gets {} arguments but has {} parameters",
                            procedure.name,
                            arguments.len(),
                            procedure.parameters
                        ));
                    }
                    if wants_result && procedure.result.is_none() {
                        self.report(format!("the result of {} is used, but it has none", procedure.name));
                    }
                }
            },
        }
        for argument in arguments {
            self.expression(context, argument);
        }
    }

    fn lhs(&mut self, context: Context<'p>, lhs: &Lhs) -> Option<IntType> {
        match lhs {
            Lhs::Local(local) => {
                let found =
                    context.template.and_then(|template| template.locals.get(*local)).map(|local| local.ty);
                if found.is_none() {
                    self.report(format!("local {local} does not exist"));
                }
                found
            }
            Lhs::Memory(place) => self.memory(context, place),
        }
    }

    fn expect_lhs(&mut self, context: Context<'p>, lhs: &Lhs, ty: IntType, what: &str) {
        if let Some(found) = self.lhs(context, lhs)
            && found != ty
        {
            self.report(format!("{what} has type {ty} but goes to a left-hand side of type {found}"));
        }
    }

    fn expect(&mut self, context: Context<'p>, expr: &Expr, ty: IntType, what: &str) {
        if let Some(found) = self.expression(context, expr)
            && found != ty
        {
            self.report(format!("{what} has type {found} instead of {ty}"));
        }
    }
}

/// Whether two left-hand sides surely name a common cell.
fn overlap(left: &Lhs, right: &Lhs) -> bool {
    match (left, right) {
        (Lhs::Local(left), Lhs::Local(right)) => left == right,
        (Lhs::Memory(left), Lhs::Memory(right)) => match (left.as_cell(), right.as_cell()) {
            (Some((object, from)), Some((other, at))) => {
                object == other
                    && from < at.saturating_add(right.ty.bytes())
                    && at < from.saturating_add(left.ty.bytes())
            }
            _ => left == right,
        },
        (Lhs::Local(_), Lhs::Memory(_)) | (Lhs::Memory(_), Lhs::Local(_)) => false,
    }
}
