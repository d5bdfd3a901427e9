//! The rules for memory objects.

use super::expressions::Context;
use super::{Checker, MAX_ALIGN, MAX_DEPTH, MAX_OBJECT_BYTES};
use crate::expr::Expr;
use crate::program::{Initial, Object, Storage};
use crate::semantics::mutex_kind_offset;
use crate::types::{DataModel, Layout, SyncKind};

impl<'p> Checker<'p> {
    pub(super) fn object(&mut self, object: &Object) {
        self.span(object.span);
        if !object.align.is_power_of_two() || object.align > MAX_ALIGN {
            self.report(format!("alignment {} is no power of two up to 2^32", object.align));
        }
        if object.size > MAX_OBJECT_BYTES {
            self.report(format!("{} bytes are more than an object can have", object.size));
        }
        if let Storage::Frame(template) = object.storage
            && self.program.templates.get(template).is_none()
        {
            self.report(format!("it belongs to template {template}, which does not exist"));
        }
        let extent = self.layout(&object.layout, 0);
        let unknown_size = object.storage == Storage::Site && object.size == 0;
        if let Some(extent) = extent.filter(|extent| *extent > object.size && !unknown_size) {
            self.report(format!("its layout takes {extent} bytes but it has {}", object.size));
        }
        match &object.initial {
            Initial::Unknown | Initial::NotModelled => {}
            Initial::Values(values) => {
                if object.storage == Storage::Site && !values.is_empty() {
                    self.report("an allocation site has initial values");
                }
                for (offset, ty, value) in values {
                    if !self.int_type(*ty) {
                        continue;
                    }
                    if offset.checked_add(ty.bytes()).is_none_or(|end| end > object.size) {
                        self.report(format!(
                            "an initial value at offset {offset} is outside of its {} bytes",
                            object.size
                        ));
                    }
                    if is_constant(value) {
                        self.expect(Context::constant(), value, *ty, "an initial value");
                    } else {
                        self.report("an initial value is not constant");
                    }
                }
            }
        }
    }

    /// Checks a layout. Returns its extent in bytes, if it is known.
    fn layout(&mut self, layout: &Layout, depth: usize) -> Option<u64> {
        if depth >= MAX_DEPTH {
            self.report(format!("a layout nests more than {MAX_DEPTH} deep"));
            return None;
        }
        match layout {
            Layout::Scalar(ty) => self.int_type(*ty).then(|| ty.bytes()),
            Layout::Array { element, count, stride } => {
                let element = self.layout(element, depth + 1)?;
                if *count > 1 && element > *stride {
                    self.report(format!("array elements of {element} bytes are {stride} bytes apart"));
                }
                let Some(last) = count.checked_sub(1) else { return Some(0) };
                let extent = last.checked_mul(*stride).and_then(|start| start.checked_add(element));
                if extent.is_none() {
                    self.report("an array is larger than any memory");
                }
                extent
            }
            Layout::Record(fields) => {
                let mut members = Vec::new();
                for field in fields {
                    let extent = self.layout(&field.layout, depth + 1)?;
                    let Some(end) = field.offset.checked_add(extent) else {
                        self.report(format!("member {:?} is outside of any memory", field.name));
                        return None;
                    };
                    if extent > 0 {
                        members.push((field.offset, end, &field.name));
                    }
                }
                members.sort();
                for pair in members.windows(2) {
                    if pair[0].1 > pair[1].0 {
                        self.report(format!("members {:?} and {:?} overlap", pair[0].2, pair[1].2));
                    }
                }
                Some(members.iter().map(|member| member.1).max().unwrap_or(0))
            }
            Layout::Sync(kind) => Some(used_bytes(*kind, self.program.data_model)),
            Layout::Bytes(count) => Some(*count),
        }
    }
}

/// The bytes of a synchronisation object that lock operations use; the object may be larger.
fn used_bytes(kind: SyncKind, model: DataModel) -> u64 {
    match kind {
        SyncKind::Mutex => mutex_kind_offset(model) + 4,
        SyncKind::Spin => 4,
        SyncKind::ReadWrite => 8,
        SyncKind::Other => 0,
    }
}

/// Whether an expression needs no state, as in initial values. Deep nesting is refused later.
fn is_constant(mut expr: &Expr) -> bool {
    loop {
        match expr {
            Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_) => return true,
            Expr::Cast(_, operand) => expr = operand,
            Expr::Local(_)
            | Expr::Load(_)
            | Expr::Myself
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::IfThenElse(_)
            | Expr::Overflows(..)
            | Expr::Valid(..)
            | Expr::Old(_) => return false,
        }
    }
}
