//! Values that stand for all values of an input.

use ir::{EdgeId, IntType, Program, TemplateId, Value};

/// For each input of a program, values that stand for all.
pub(crate) struct Inputs {
    small: Vec<(IntType, Vec<Value>)>,
}


impl Inputs {
    pub fn new(_: &Program) -> Self {
        let types = [IntType::BOOL, IntType::I8, IntType::U8];
        let all = |ty: IntType| (ty.min()..=ty.max()).collect();
        Self { small: types.into_iter().map(|ty| (ty, all(ty))).collect() }
    }
    /// All values of a type, if they are few.
    pub fn all_of(&self, ty: IntType) -> Option<&[Value]> {
        self.small.iter().find(|(small, _)| *small == ty).map(|(_, values)| values.as_slice())
    }
    /// Values that stand for all values of the n-th input of an edge, if there are such.
    pub fn at(&self, _: TemplateId, _: EdgeId, _: usize, ty: IntType) -> Option<&[Value]> {
        self.all_of(ty)
    }
}
