//! Lists of threads across calls: what a callee knows of its caller's threads, and the caller of those that
//! the callee has started.
//!
//! Numbers, arrays and bounds are named by parameters, cells and objects that there is one of.
//! Under-approximates what is known.

use crate::model::Model;
use crate::numbers::{Numbers, is_small, plus};
use ir::ids::Id;
use ir::{Expr, LocalId, Storage, TemplateId};
use verdict::{Handle, Index, LockBase, Numbered, Row, Started, ThreadFacts};

/// A call.
pub struct Passed<'a, 'p> {
    /// The program.
    pub model: &'a Model<'p>,
    /// Who calls.
    pub caller: TemplateId,
    /// Who is called.
    pub callee: TemplateId,
    /// What is passed.
    pub arguments: &'a [Expr],
    /// What the caller knows before the call.
    pub before: &'a ThreadFacts,
}

impl Passed<'_, '_> {
    fn numbers(&self) -> Numbers<'_, '_> {
        Numbers { model: self.model, template: self.caller }
    }

    /// The parameters, with what is passed of the same type.
    fn parameters(&self) -> impl Iterator<Item = (LocalId, &Expr)> {
        let code = &self.model.program.templates[self.callee];
        let passed = code.locals.ids().take(code.parameters).zip(self.arguments);
        passed.filter(|(local, argument)| {
            self.model.program.type_of(self.caller, argument) == code.locals[*local].ty
        })
    }

    /// A cell is the same in both.
    fn cell(&self, from: TemplateId, local: LocalId, to: TemplateId) -> Option<LocalId> {
        Some(self.model.cell_local(to, self.model.cell_number(from, local)?))
    }

    fn is_in_frame(&self, template: TemplateId, base: LockBase) -> bool {
        match base {
            LockBase::Object(object) => {
                self.model.program.objects[object].storage == Storage::Frame(template)
            }
            LockBase::Local(_) => false,
        }
    }

    /// A list of the caller, for the callee.
    pub fn to_callee(&self, started: &Started) -> Option<Started> {
        let index = |index: &Index| {
            let Some(local) = index.local else { return vec![*index] };
            let cell = self.cell(self.caller, local, self.callee);
            let cell = cell.map(|cell| Index { local: Some(cell), ..*index });
            let passed = self.parameters().filter_map(|(parameter, argument)| {
                let value = self.numbers().value(self.before, argument)?;
                let is_it = value.local == Some(local);
                let found = plus(Index { local: Some(parameter), plus: index.plus }, -value.plus);
                (is_it && is_small(found)).then_some(found)
            });
            cell.into_iter().chain(passed).collect()
        };
        let row = |row: Row| {
            let passed = self.parameters().find_map(|(parameter, argument)| {
                let linear = self.numbers().linear(self.before, argument)?;
                let offset = self.model.wrap(i128::from(row.offset) - i128::from(linear.offset));
                let is_it = linear.base == row.base && linear.index.is_none();
                is_it.then_some(Row { base: LockBase::Local(parameter), offset, ..row })
            });
            if passed.is_some() {
                return passed;
            }
            let is_object = match row.base {
                LockBase::Object(object) => {
                    self.model.is_single(object) && !self.is_in_frame(self.callee, row.base)
                }
                LockBase::Local(_) => false,
            };
            if is_object {
                return Some(row);
            }
            let LockBase::Local(local) = row.base else { return None };
            let cell = self.cell(self.caller, local, self.callee)?;
            Some(Row { base: LockBase::Local(cell), ..row })
        };
        translated(started, &index, (&row, &row))
    }

    /// A list at the callee's end, for the caller.
    pub fn back(&self, started: &Started) -> Option<Started> {
        let assigned = &self.model.procedures[self.callee].assigned;
        let passed = |local: LocalId| {
            let mut kept = self.parameters().filter(|(local, _)| !assigned.contains(local.index()));
            kept.find(|(parameter, _)| *parameter == local).map(|(_, argument)| argument)
        };
        let index = |index: &Index| {
            let Some(local) = index.local else { return vec![*index] };
            if let Some(cell) = self.cell(self.callee, local, self.caller) {
                return vec![Index { local: Some(cell), ..*index }];
            }
            let value = passed(local).and_then(|argument| self.numbers().value(self.before, argument));
            let found = value.map(|value| plus(value, index.plus));
            found.into_iter().filter(|found| is_small(*found)).collect()
        };
        let row = |row: Row| match row.base {
            LockBase::Object(_) => (!self.is_in_frame(self.callee, row.base)).then_some(row),
            LockBase::Local(local) => {
                if let Some(cell) = self.cell(self.callee, local, self.caller) {
                    return Some(Row { base: LockBase::Local(cell), ..row });
                }
                let linear = self.numbers().linear(self.before, passed(local)?)?;
                let offset = self.model.wrap(i128::from(row.offset) + i128::from(linear.offset));
                linear.index.is_none().then_some(Row { base: linear.base, offset, ..row })
            }
        };
        // Its frame is gone.
        let handle = |at: Row| {
            let region = Numbers { model: self.model, template: self.callee }.region(at);
            let mut objects = region.objects()?;
            let is_gone = |object| self.is_in_frame(self.callee, LockBase::Object(object));
            if objects.any(is_gone) { None } else { row(at) }
        };
        translated(started, &index, (&row, &handle))
    }
}

/// What a row is called elsewhere.
type InOtherTerms<'a> = dyn Fn(Row) -> Option<Row> + 'a;

/// A list in other terms.
fn translated(
    started: &Started,
    index: &dyn Fn(&Index) -> Vec<Index>,
    (row, handle): (&InOtherTerms<'_>, &InOtherTerms<'_>),
) -> Option<Started> {
    let bounds = |bounds: &[Index]| {
        let mut found: Vec<Index> = bounds.iter().flat_map(index).collect();
        found.sort_unstable();
        found.dedup();
        (!found.is_empty()).then_some(found)
    };
    let members = started.members.iter().map(|members| {
        let handle = match members.handle {
            Some(Handle::Memory(at)) => handle(at).map(Handle::Memory),
            Some(Handle::Local(_)) | None => None,
        };
        let argument = members.argument.and_then(row);
        let (from, below) = (bounds(&members.from)?, bounds(&members.below)?);
        (handle.is_some() || argument.is_some()).then_some(Numbered { handle, argument, from, below })
    });
    Some(Started { kind: started.kind, own: started.own, members: members.collect::<Option<_>>()? })
}
