//! The targets that a view has from the program that it was derived from.
//!
//! A view says less of values than that program: code that does not matter is dropped. So its points-to sets
//! may be coarser, where the range of an amount that a pointer moves by is not known any more. Its places are
//! annotated with targets that were found before, and tested there. These hold in the view as well, in all
//! executions that count: a view may have more executions than that program, but a proof is about the latter.
//! So targets of a view that miss places of its own sets are accepted if a place of that program has the same
//! ones, but for objects that the view has dropped. Nothing is no such list.

use ir::{Expr, ObjectId, Op, Program, Target, Targets};
use rustc_hash::{FxHashMap, FxHashSet};

/// What says which object it is in a view and in the program before: its name, where it is declared, and its
/// size. Copies of the locals of a function that was inlined have these in common.
type Declaration<'p> = (&'p str, u32, u32, u32, u64);

/// A target of an object by the number of its declaration.
type Listed = (usize, u64, u64, u64);

/// The lists of targets of a program's places.
pub struct Inherited<'p> {
    declarations: FxHashMap<Declaration<'p>, usize>,
    lists: FxHashSet<Vec<Listed>>,
}

impl<'p> Inherited<'p> {
    /// Those of the program that a view was derived from, without objects that the view has dropped.
    pub fn of(base: &'p Program, view: &'p Program) -> Self {
        let mut declarations = FxHashMap::default();
        for object in view.objects.ids() {
            let number = declarations.len();
            declarations.entry(declaration(view, object)).or_insert(number);
        }
        let mut inherited = Self { declarations, lists: FxHashSet::default() };
        let mut lists = FxHashSet::default();
        for op in base.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
            each_list(op, &mut |targets| {
                lists.insert(inherited.listed(base, targets));
            });
        }
        inherited.lists = lists;
        inherited
    }

    /// Whether some place of the program before has these targets.
    pub fn has(&self, view: &Program, targets: &[Target]) -> bool {
        !targets.is_empty() && self.lists.contains(&self.listed(view, targets))
    }

    fn listed(&self, program: &Program, targets: &[Target]) -> Vec<Listed> {
        let listed = targets.iter().filter_map(|target| {
            let number = self.declarations.get(&declaration(program, target.object))?;
            Some((*number, target.first, target.stride, target.count))
        });
        let mut listed: Vec<Listed> = listed.collect();
        listed.sort_unstable();
        listed.dedup();
        listed
    }
}

fn declaration(program: &Program, object: ObjectId) -> Declaration<'_> {
    let object = &program.objects[object];
    (&object.name, object.span.file, object.span.line, object.span.column, object.size)
}

/// Visits the targets of all computed places of an operation.
fn each_list(op: &Op, visit: &mut dyn FnMut(&[Target])) {
    let mut see = |targets: &Targets| {
        if let Targets::Of(targets) = targets {
            visit(targets);
        }
    };
    for expr in op.expressions() {
        expr.walk(&mut |inner| {
            if let Expr::Load(place) = inner {
                see(&place.targets);
            }
        });
    }
    for lhs in op.targets() {
        if let ir::Lhs::Memory(place) = lhs {
            see(&place.targets);
        }
    }
}
