//! Copies one callee to one call site.

use super::super::liveness::live_locals;
use super::super::renumber;
use super::{Inliner, LARGE_OBJECT, OpenCall};
use crate::expr::{BinaryOp, Expr, Place};
use crate::ids::{Id, IdVec, LocalId, LocationId, ObjectId, TemplateId};
use crate::op::{Assignment, Lhs, Op, Rhs};
use crate::program::{Edge, Initial, LocationKind, Span, Storage, Template};
use crate::types::{IntType, Layout, Value};

/// The map from the parts of a callee to the caller.
struct Copied {
    first_local: u32,
    objects: Vec<(ObjectId, ObjectId)>,
    locations: IdVec<LocationId, LocationId>,
    /// Edges that lead from the callee's ends back to the caller.
    returns: Vec<Edge>,
}

impl Copied {
    fn change(&self, expr: &mut Expr) {
        match expr {
            Expr::Local(local) => local.0 += self.first_local,
            Expr::Address(object, _) => {
                if let Some((_, copy)) = self.objects.iter().find(|(old, _)| old == object) {
                    *object = *copy;
                }
            }
            Expr::Const(..)
            | Expr::Load(_)
            | Expr::Procedure(_)
            | Expr::Myself
            | Expr::Unary(..)
            | Expr::Binary(..) => {}
            Expr::Cast(..) | Expr::IfThenElse(_) | Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => {}
        }
    }
    fn local(&self, local: LocalId) -> LocalId {
        LocalId(local.0 + self.first_local)
    }
}

impl Inliner<'_> {
    /// Replaces a call by a copy of the callee. The copies of its edges come first, in order.
    pub(super) fn copy_body(&mut self, call: &OpenCall, callee: TemplateId) {
        let code = &self.originals[callee];
        let Edge { target, span, mut ops, .. } = self.template.edges[call.edge].clone();
        let Some(Op::Call(_, arguments, lhs)) = ops.pop() else { return };
        let mut copied = Copied {
            first_local: self.template.locals.len() as u32,
            objects: Vec::new(),
            locations: IdVec::new(),
            returns: Vec::new(),
        };
        code.locals.iter().for_each(|local| {
            self.template.locals.push(local.clone());
        });
        self.copy_frame(callee, &mut copied);
        self.copy_locations(code, target, lhs, span, &mut copied);
        for edge in &code.edges {
            let mut copy = edge.clone();
            copy.source = copied.locations[edge.source];
            copy.target = copied.locations[edge.target];
            for op in &mut copy.ops {
                let local = &mut |local: &mut LocalId| *local = copied.local(*local);
                renumber::each_mention(op, &mut |expr| copied.change(expr), &mut |_| {}, local);
            }
            self.template.edges.push(copy);
        }
        for edge in std::mem::take(&mut copied.returns) {
            self.template.edges.push(edge);
        }
        self.enter(call, callee, &copied, arguments, ops);
    }

    fn copy_frame(&mut self, callee: TemplateId, copied: &mut Copied) {
        for old in &self.frame_objects[callee] {
            let mut object = self.program.objects[*old].clone();
            object.storage = Storage::Frame(self.root);
            copied.objects.push((*old, self.program.objects.push(object)));
        }
        for (_, copy) in &copied.objects {
            if let Initial::Values(values) = &mut self.program.objects[*copy].initial {
                // Initial values have no locals.
                values.iter_mut().for_each(|(_, _, value)| value.rewrite(&mut |expr| copied.change(expr)));
            }
        }
    }

    fn copy_locations(
        &mut self,
        code: &Template,
        target: LocationId,
        lhs: Option<Lhs>,
        span: Span,
        copied: &mut Copied,
    ) {
        for location in &code.locations {
            let copy = match location.kind {
                LocationKind::Normal | LocationKind::Halt | LocationKind::Error(_) => {
                    self.template.locations.push(*location)
                }
                LocationKind::End => match &lhs {
                    None => target,
                    Some(lhs) => {
                        // Returning is no separate step: no other thread runs before an atomic target.
                        let atomic = self.template.locations[target].atomic;
                        let end = self.template.location(LocationKind::Normal, atomic);
                        let to = match lhs {
                            Lhs::Local(local) => self.template.locals[*local].ty,
                            Lhs::Memory(place) => place.ty,
                        };
                        let value = match code.result {
                            Some(result) => {
                                let from = code.locals[result].ty;
                                convert(to, from, Expr::Local(copied.local(result)))
                            }
                            None => Expr::Const(0, to),
                        };
                        let ops = vec![Op::set(lhs.clone(), value)];
                        copied.returns.push(Edge { source: end, target, ops, span });
                        end
                    }
                },
                LocationKind::Exit => {
                    let (exit, value) = self.exit();
                    let here = self.template.location(LocationKind::Normal, false);
                    let to = self.template.locals[value].ty;
                    let result = match code.exit_value {
                        // The bit pattern counts.
                        Some(local) => {
                            let bits = Expr::cast(
                                code.locals[local].ty.unsigned(),
                                Expr::Local(copied.local(local)),
                            );
                            Expr::cast(to, bits)
                        }
                        None => Expr::Const(0, to),
                    };
                    let ops = vec![Op::set(Lhs::Local(value), result)];
                    copied.returns.push(Edge { source: here, target: exit, ops, span });
                    here
                }
            };
            copied.locations.push(copy);
        }
    }

    /// The target of inlined exits, and the local that holds the thread's result there.
    fn exit(&mut self) -> (LocationId, LocalId) {
        if let Some(exit) = self.exit {
            return exit;
        }
        let widest =
            self.originals.iter().filter_map(|code| code.exit_value.map(|local| code.locals[local].ty.bits));
        let widest = widest.max().unwrap_or(0);
        let own = self.template.exit_value.filter(|local| self.template.locals[*local].ty.bits >= widest);
        let location = self.template.location(LocationKind::Exit, false);
        let value = match own {
            Some(local) => local,
            None => {
                let value = self.template.local("%exit", IntType::U64, Span::default());
                self.move_own_exits(location, value);
                self.template.exit_value = Some(value);
                value
            }
        };
        self.exit = Some((location, value));
        (location, value)
    }

    /// Makes the root's own exits use another local for the result.
    fn move_own_exits(&mut self, exit: LocationId, value: LocalId) {
        let ty = self.template.locals[value].ty;
        let result = match self.template.exit_value {
            Some(local) => {
                Expr::cast(ty, Expr::cast(self.template.locals[local].ty.unsigned(), Expr::Local(local)))
            }
            None => Expr::Const(0, ty),
        };
        let own = self.originals[self.root]
            .locations
            .enumerate()
            .filter(|(_, location)| location.kind == LocationKind::Exit);
        for (location, _) in own {
            self.template.locations[location].kind = LocationKind::Normal;
            self.template.locations[location].atomic = false;
            let ops = vec![Op::set(Lhs::Local(value), result.clone())];
            self.late_edges.push(Edge { source: location, target: exit, ops, span: Span::default() });
        }
    }

    /// Redirects the call's edge to the copy; passes arguments and initialises memory.
    fn enter(
        &mut self,
        call: &OpenCall,
        callee: TemplateId,
        copied: &Copied,
        arguments: Vec<Expr>,
        mut ops: Vec<Op>,
    ) {
        let code = &self.originals[callee];
        let span = self.template.edges[call.edge].span;
        let entry = copied.locations[code.entry];
        let mut pairs = Vec::new();
        for (index, argument) in arguments.into_iter().enumerate() {
            let from = self.program.type_in(&self.template, &argument);
            if index < code.parameters {
                let parameter = LocalId::new(index);
                let value = convert(code.locals[parameter].ty, from, argument);
                pairs.push((Lhs::Local(copied.local(parameter)), Rhs::Value(value)));
            } else if !matches!(
                argument,
                Expr::Const(..) | Expr::Local(_) | Expr::Address(..) | Expr::Procedure(_)
            ) {
                // It is evaluated and dropped.
                let unused = self.template.local("%unused", from, span);
                pairs.push((Lhs::Local(unused), Rhs::Value(argument)));
            }
        }
        if call.again {
            let passed = pairs.len().min(code.parameters);
            let live = live_locals(code);
            for (local, declared) in code.locals.enumerate() {
                if local.index() >= passed && live[code.entry].contains(local.index()) {
                    pairs.push((Lhs::Local(copied.local(local)), Rhs::Value(Expr::Const(0, declared.ty))));
                }
            }
        }
        if !pairs.is_empty() {
            ops.push(Op::Assign(Assignment { pairs, constraint: None }));
        }
        let mut inits = Vec::new();
        if call.again {
            for (old, copy) in &copied.objects {
                self.initialise(*old, *copy, &mut inits);
            }
        }
        let mut last = call.edge;
        self.template.edges[last].ops = ops;
        for op in inits {
            let atomic = self.template.locations[entry].atomic;
            let between = self.template.location(LocationKind::Normal, atomic);
            self.template.edges[last].target = between;
            last = self.template.edge(between, entry, vec![op], span);
        }
        self.template.edges[last].target = entry;
    }

    /// Resets a frame object to its initial content.
    fn initialise(&mut self, old: ObjectId, copy: ObjectId, ops: &mut Vec<Op>) {
        let object = &self.program.objects[copy];
        let size = object.size;
        if size == 0 {
            return;
        }
        match &object.initial {
            Initial::Values(values) => {
                let pointer = self.program.data_model.pointer();
                let size = Expr::int(Value::from(size), pointer);
                ops.push(Op::Fill(Expr::Address(copy, 0), Expr::Const(0, IntType::U8), size));
                for (offset, ty, value) in values {
                    ops.push(Op::set(Lhs::Memory(Place::cell(copy, *offset, *ty)), value.clone()));
                }
            }
            Initial::Unknown | Initial::NotModelled if size > LARGE_OBJECT => {
                self.large.insert(old);
            }
            Initial::Unknown | Initial::NotModelled => {
                let mut cells = Vec::new();
                scalars(&object.layout, 0, size, &mut cells);
                let any = |(offset, ty)| (Lhs::Memory(Place::cell(copy, offset, ty)), Rhs::Any);
                let pairs = cells.into_iter().map(any).collect();
                ops.push(Op::Assign(Assignment { pairs, constraint: None }));
            }
        }
    }
}

/// The conversion of an argument or a result: the value modulo 2^bits.
fn convert(to: IntType, from: IntType, value: Expr) -> Expr {
    if to == from {
        value
    } else if to == IntType::BOOL {
        Expr::cast(to, Expr::binary(BinaryOp::And, from, value, Expr::Const(1, from)))
    } else {
        Expr::cast(to, value)
    }
}

/// The scalars that cover all bytes of a layout.
fn scalars(layout: &Layout, base: u64, size: u64, found: &mut Vec<(u64, IntType)>) {
    match layout {
        Layout::Scalar(ty) if ty.bytes() <= size => {
            // A Boolean's byte may hold anything.
            let whole = if *ty == IntType::BOOL { IntType::U8 } else { *ty };
            found.push((base, whole));
            bytes(base + ty.bytes(), size - ty.bytes(), found);
        }
        Layout::Array { element, count, stride } if *stride > 0 && stride.saturating_mul(*count) <= size => {
            (0..*count).for_each(|index| scalars(element, base + index * stride, *stride, found));
            bytes(base + count * stride, size - count * stride, found);
        }
        Layout::Record(fields) => {
            let mut starts: Vec<&crate::types::Field> =
                fields.iter().filter(|field| field.offset < size).collect();
            starts.sort_by_key(|field| field.offset);
            bytes(base, starts.first().map_or(size, |field| field.offset), found);
            for (index, field) in starts.iter().enumerate() {
                let end = starts.get(index + 1).map_or(size, |next| next.offset);
                scalars(&field.layout, base + field.offset, end - field.offset, found);
            }
        }
        Layout::Scalar(_) | Layout::Array { .. } | Layout::Sync(_) | Layout::Bytes(_) => {
            bytes(base, size, found)
        }
    }
}

fn bytes(base: u64, size: u64, found: &mut Vec<(u64, IntType)>) {
    found.extend((0..size).map(|offset| (base + offset, IntType::U8)));
}
