//! Drops objects, templates and locals, and gives the others new numbers.

use crate::expr::{Expr, Place, Targets};
use crate::ids::{Id, IdVec, LocalId, ObjectId, TemplateId};
use crate::op::{Callee, Lhs, Op};
use crate::program::{Initial, Program, Storage, Template};

/// The map from old numbers to new ones; `None` for dropped items.
struct Numbers<I>(IdVec<I, Option<I>>);

impl<I: Id> Numbers<I> {
    fn new(keep: &IdVec<I, bool>) -> Self {
        let mut next = 0;
        let number = |keep: &bool| {
            keep.then(|| {
                next += 1;
                I::new(next - 1)
            })
        };
        Self(keep.iter().map(number).collect())
    }
    fn change(&self, id: &mut I) {
        // Dropped items must not be mentioned any more; otherwise the result would be wrong.
        *id = self.0[*id].expect("what is still mentioned is kept");
    }
}

/// Changes all mentions of locals, objects and templates in an operation.
pub fn each_mention(
    op: &mut Op,
    expr: &mut dyn FnMut(&mut Expr),
    place: &mut dyn FnMut(&mut Place),
    local: &mut dyn FnMut(&mut LocalId),
) {
    for operand in op.expressions_mut() {
        operand.rewrite(&mut |inner| {
            if let Expr::Load(loaded) = inner {
                place(loaded);
            }
            expr(inner);
        });
    }
    for lhs in op.targets_mut() {
        match lhs {
            Lhs::Local(target) => local(target),
            Lhs::Memory(stored) => place(stored),
        }
    }
}

/// Keeps only these objects and templates. Kept items must not mention dropped ones, except in the targets of
/// places, which are then removed.
pub fn keep(program: &mut Program, objects: &IdVec<ObjectId, bool>, templates: &IdVec<TemplateId, bool>) {
    let new_objects = Numbers::new(objects);
    let new_templates = Numbers::new(templates);
    let kept_objects =
        program.objects.enumerate().filter(|(id, _)| objects[*id]).map(|(_, object)| object.clone());
    program.objects = kept_objects.collect();
    let kept_templates = program.templates.enumerate().filter(|(id, _)| templates[*id]);
    program.templates = kept_templates.map(|(_, template)| template.clone()).collect();
    let mut change = |expr: &mut Expr| match expr {
        Expr::Address(object, _) => new_objects.change(object),
        Expr::Procedure(template) => new_templates.change(template),
        Expr::Const(..)
        | Expr::Local(_)
        | Expr::Load(_)
        | Expr::Myself
        | Expr::Unary(..)
        | Expr::Binary(..) => {}
        Expr::Cast(..) | Expr::IfThenElse(_) | Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => {}
    };
    for object in program.objects.iter_mut() {
        if let Storage::Frame(template) = &mut object.storage {
            new_templates.change(template);
        }
        if let Initial::Values(values) = &mut object.initial {
            values.iter_mut().for_each(|(_, _, value)| value.rewrite(&mut change));
        }
    }
    let mut change_place = |place: &mut Place| {
        if let Targets::Of(targets) = &place.targets {
            let kept = targets.iter().filter_map(|target| {
                new_objects.0[target.object].map(|object| crate::Target { object, ..*target })
            });
            place.targets = Targets::Of(kept.collect());
        }
    };
    for template in program.templates.iter_mut() {
        for op in template.edges.iter_mut().flat_map(|edge| &mut edge.ops) {
            each_mention(op, &mut change, &mut change_place, &mut |_| {});
            match op {
                Op::Spawn(Callee::Procedure(callee), ..) | Op::Call(Callee::Procedure(callee), ..) => {
                    new_templates.change(callee);
                }
                Op::Allocate { site, .. } => new_objects.change(site),
                Op::Spawn(Callee::Pointer(_), ..) | Op::Call(Callee::Pointer(_), ..) => {}
                Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Unlock(..) | Op::Join(..) => {}
                Op::Free(_) | Op::Fill(..) | Op::Copy(..) => {}
                Op::Broadcast(broadcast) => new_templates.change(&mut broadcast.to),
            }
        }
    }
    for (template, _) in &mut program.start {
        new_templates.change(template);
    }
    program.unordered.retain(|range| objects[range.object]);
    program.unordered.iter_mut().for_each(|range| new_objects.change(&mut range.object));
    program.site_uses.retain(|used| objects[used.site]);
    program.site_uses.iter_mut().for_each(|used| new_objects.change(&mut used.site));
    if let Some(ranges) = &mut program.races_on {
        // An object that is never mentioned is never accessed.
        ranges.retain(|range| objects[range.object]);
        ranges.iter_mut().for_each(|range| new_objects.change(&mut range.object));
    }
}

/// Keeps only these locals of a template. No others may be mentioned.
pub fn keep_locals(template: &mut Template, keep: &IdVec<LocalId, bool>) {
    let numbers = Numbers::new(keep);
    let kept = template.locals.enumerate().filter(|(id, _)| keep[*id]).map(|(_, local)| local.clone());
    template.locals = kept.collect();
    template.result.iter_mut().for_each(|local| numbers.change(local));
    template.exit_value.iter_mut().for_each(|local| numbers.change(local));
    let mut change = |expr: &mut Expr| {
        if let Expr::Local(local) = expr {
            numbers.change(local);
        }
    };
    for op in template.edges.iter_mut().flat_map(|edge| &mut edge.ops) {
        each_mention(op, &mut change, &mut |_| {}, &mut |local| numbers.change(local));
    }
}
