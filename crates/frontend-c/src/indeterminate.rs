//! Uninitialised automatic variables (C11 6.2.4p6, 6.7.9p10): they may have any value.
//!
//! A variable gets an arbitrary value where its declaration is reached without an initialiser, and where a
//! jump leads into its scope past the declaration: from `goto`, and from a `switch` to its cases. A structure
//! or an array gets the bytes of freshly allocated memory. Exact, except that a variable of an atomic type
//! keeps its value, whose use is undefined (C11 7.17.2p2).

use crate::facts::is_set_first;
use crate::function::{Function, Variable};
use crate::library::always_sets;
use crate::scopes::Scopes;
use ir::ids::Id;
use ir::{
    EdgeId, Expr, Initial, Layout, Lhs, LocationId, LocationKind, Object, ObjectId, Op, Rhs, Storage,
    Template,
};
use rucc_sema::DeclId;
use rustc_hash::FxHashMap;

/// The declarations in scope, and the jumps of a function.
#[derive(Default)]
pub struct PassedDeclarations {
    /// The automatic variables whose declarations were passed in the blocks around, outermost first.
    in_scope: Vec<DeclId>,
    /// The same at each label that jumps lead to.
    at_labels: FxHashMap<LocationId, Vec<DeclId>>,
    /// The number of enclosing loops, including their conditions and steps.
    loops: usize,
    /// The edges of each jump, and what is in scope where it is made.
    jumps: Vec<(std::ops::Range<usize>, Vec<DeclId>)>,
}

impl PassedDeclarations {
    /// The number of variables in scope, to be passed to [`leave`](Self::leave).
    pub fn enter(&self) -> usize {
        self.in_scope.len()
    }
    /// Leaves a block.
    pub fn leave(&mut self, entered: usize) {
        self.in_scope.truncate(entered);
    }
    /// A loop begins: code that is lowered until [`close_loop`](Self::close_loop) may run again.
    pub fn open_loop(&mut self) {
        self.loops += 1;
    }
    /// A loop ends.
    pub fn close_loop(&mut self) {
        self.loops -= 1;
    }
    /// A declaration is passed.
    pub fn pass(&mut self, variable: DeclId) {
        self.in_scope.push(variable);
    }
    /// Control may come here by a jump.
    pub fn label(&mut self, location: LocationId) {
        self.at_labels.insert(location, self.in_scope.clone());
    }
    /// The edges from this number on are those of a jump.
    pub fn jump(&mut self, first: usize, template: &Template) {
        self.jumps.push((first..template.edges.len(), self.in_scope.clone()));
    }
}

impl Function<'_, '_> {
    /// A variable that is declared again, without an initialiser, has any value.
    pub fn forget_value(&mut self, id: DeclId) {
        let declaration = &self.unit.tree[id];
        let comes_again = self.passed.loops > 0 || self.uses.has_labels;
        // A jump may skip the statement that sets it.
        let is_set_first =
            || !self.uses.has_labels && is_set_first(self.unit, id, &self.following, always_sets);
        if comes_again && declaration.init.is_none() && !is_set_first() {
            for op in self.forgetting(id) {
                self.builder.emit(op);
            }
        }
    }
    /// The operations after which a variable has any value.
    fn forgetting(&mut self, id: DeclId) -> Vec<Op> {
        let ty = self.unit.tree[id].ty;
        match self.variables.get(&id).copied() {
            Some(Variable::Local(local)) => vec![Op::any(Lhs::Local(local))],
            Some(Variable::Object(object)) => match self.unit.scalar_type(ty) {
                Some(_) if self.unit.is_atomic(ty) => Vec::new(),
                Some(scalar) => {
                    vec![Op::any(Lhs::Memory(self.cell(Expr::Address(object, 0), scalar, false)))]
                }
                None => self.forgetting_bytes(object),
            },
            // An array of variable length is new, and no jump leads past its declaration.
            Some(Variable::Pointed(_)) | None => Vec::new(),
        }
    }
    fn forgetting_bytes(&mut self, object: ObjectId) -> Vec<Op> {
        let described = &self.global.program.objects[object];
        let (size, name) = (described.size, format!("%{}", described.name));
        self.opening(Expr::Address(object, 0), size, name)
    }
    /// The operations after which the bytes at an address have any value.
    pub fn opening(&mut self, address: Expr, size: u64, name: String) -> Vec<Op> {
        if size == 0 {
            return Vec::new();
        }
        let (pointer, span) = (self.pointer(), self.builder.span);
        let site = self.global.program.objects.push(Object {
            name,
            storage: Storage::Site,
            size: 0,
            align: 16,
            layout: Layout::Bytes(0),
            initial: Initial::Unknown,
            span,
            role: ir::ObjectRole::Program,
        });
        let bytes = self.builder.temporary(pointer);
        let size = Expr::int(ir::Value::from(size), pointer);
        vec![
            Op::Allocate { site, size: size.clone(), zeroed: false, result: Lhs::Local(bytes) },
            Op::Copy(address, Expr::Local(bytes), size),
            Op::Free(Expr::Local(bytes)),
        ]
    }
    /// At the end of a function, gives arbitrary values to the variables whose declarations jumps skip.
    pub fn forget_skipped(&mut self) {
        let PassedDeclarations { at_labels, jumps, .. } = std::mem::take(&mut self.passed);
        for (edges, in_scope) in jumps {
            for number in edges {
                let edge = EdgeId::new(number);
                let label = self.builder.template.edges[edge].target;
                let Some(there) = at_labels.get(&label) else { continue };
                let skipped: Vec<DeclId> =
                    there.iter().filter(|variable| !in_scope.contains(variable)).copied().collect();
                let mut ops: Vec<Op> = skipped.into_iter().flat_map(|id| self.forgetting(id)).collect();
                ops.retain(|op| !is_set_at(&self.builder.template, label, op, MOST_JUMPS));
                put_before_label(&mut self.builder.template, &mut self.scopes, edge, ops);
            }
        }
    }
}

/// How many edges without an operation are followed from a label.
const MOST_JUMPS: usize = 4;

/// Whether the variable that an operation would make arbitrary is completely overwritten right after a
/// location.
fn is_set_at(template: &Template, location: LocationId, forgetting: &Op, jumps: usize) -> bool {
    let Op::Assign(forgetting_pairs) = forgetting else { return false };
    let [(forgotten, Rhs::Any)] = forgetting_pairs.pairs.as_slice() else { return false };
    let mut edges = template.edges.iter().filter(|edge| edge.source == location).peekable();
    edges.peek().is_some()
        && edges.all(|edge| match edge.ops.as_slice() {
            [] => jumps > 0 && is_set_at(template, edge.target, forgetting, jumps - 1),
            [Op::Assign(assignment), ..] => match assignment.pairs.as_slice() {
                [(lhs, Rhs::Value(Expr::Const(..)))] => lhs == forgotten,
                _ => false,
            },
            _ => false,
        })
}

/// Puts operations between an edge and the label that it leads to, in the label's block.
fn put_before_label(template: &mut Template, scopes: &mut Scopes, edge: EdgeId, ops: Vec<Op>) {
    let (label, span) = (template.edges[edge].target, template.edges[edge].span);
    scopes.catch_up(template);
    let (scope, atomic) = (scopes.of_location(label), template.locations[label].atomic);
    let mut last = edge;
    for op in ops {
        let between = template.location(LocationKind::Normal, atomic);
        scopes.put_in(template, between, scope);
        template.edges[last].target = between;
        last = template.edge(between, label, vec![op], span);
    }
}
