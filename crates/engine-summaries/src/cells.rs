//! Cells: variables in memory that count as further locals of procedures
//! ([`verdict::SummariesProof::cells`]). Those are chosen that loops read which start or join threads.
//!
//! Under-approximates: fewer cells say less.

use crate::flows::Callees;
use crate::model::Model;
use ir::ids::Id;
use ir::passes::bits::BitSet;
use ir::{
    BinaryOp, Callee, Expr, IdVec, IntType, Lhs, LocalId, LocationId, Op, Place, Program, Rhs, Storage,
    Template, TemplateId,
};
use std::collections::BTreeSet;
use verdict::{Cell, Handle, Index, LockBase, ThreadFacts};

/// Between a procedure that keeps lists of threads and one that starts or joins them are so many calls.
const MOST_CALLS: usize = 3;
/// So many cells are followed.
const MOST_CELLS: usize = 32;

/// The procedures that start or join threads, or call ones that do by name. In large programs many more reach
/// these somehow; lists of threads do not get far there.
pub fn with_threads(program: &Program) -> IdVec<TemplateId, bool> {
    let is_one = |op: &Op| matches!(op, Op::Spawn(..) | Op::Join(..));
    let own = program.templates.iter().map(|code| code.edges.iter().any(|edge| edge.ops.iter().any(is_one)));
    let mut found: IdVec<TemplateId, bool> = own.collect();
    for _ in 0..MOST_CALLS {
        let inner = found.clone();
        for (id, code) in program.templates.enumerate() {
            let is_call = |edge: &ir::Edge| match edge.ops.last() {
                Some(Op::Call(Callee::Procedure(callee), ..)) => inner[*callee],
                _ => false,
            };
            found[id] |= code.edges.iter().any(is_call);
        }
    }
    found
}

/// The cells that loops read which start or join threads.
pub fn cells(program: &Program, callees: &Callees, with_threads: &IdVec<TemplateId, bool>) -> Vec<Cell> {
    let mut found: BTreeSet<Cell> = BTreeSet::new();
    for (id, code) in program.templates.enumerate().filter(|(id, _)| with_threads[*id]) {
        let body = loops(code, &|edge| {
            code.edges[edge].ops.iter().any(|op| match op {
                Op::Spawn(..) | Op::Join(..) => true,
                Op::Call(..) => callees[id][edge].iter().any(|callee| with_threads[*callee]),
                Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Unlock(..) | Op::Allocate { .. } => false,
                Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Broadcast(_) => false,
            })
        });
        for edge in code.edges.iter().filter(|edge| body.contains(edge.source.index())) {
            for op in &edge.ops {
                for expr in op.expressions() {
                    expr.walk(&mut |expr| {
                        if let Expr::Load(place) = expr {
                            found.extend(cell(program, place));
                        }
                    });
                }
            }
        }
    }
    found.into_iter().take(MOST_CELLS).collect()
}

/// The cell that a place may be.
fn cell(program: &Program, place: &Place) -> Option<Cell> {
    let Expr::Address(object, offset) = place.address else { return None };
    let is_static = program.objects[object].storage == Storage::Static;
    let fits = offset.checked_add(place.ty.bytes()).is_some_and(|end| end <= program.objects[object].size);
    let counts = is_static && fits && !place.atomic && place.ty != IntType::BOOL && place.ty.bits <= 64;
    counts.then_some(Cell { object, offset, ty: place.ty })
}

/// The locations of the loops that some edges are in.
fn loops(code: &Template, is_one: &dyn Fn(ir::EdgeId) -> bool) -> BitSet {
    let outgoing = code.outgoing();
    let mut entering: IdVec<LocationId, Vec<LocationId>> =
        code.locations.iter().map(|_| Vec::new()).collect();
    code.edges.iter().for_each(|edge| entering[edge.target].push(edge.source));
    let reach = |from: LocationId, next: &dyn Fn(LocationId) -> Vec<LocationId>| {
        let mut seen = BitSet::new(code.locations.len());
        let mut open = vec![from];
        while let Some(location) = open.pop() {
            if seen.insert(location.index()) {
                open.extend(next(location));
            }
        }
        seen
    };
    let mut found = BitSet::new(code.locations.len());
    for (_, edge) in code.edges.enumerate().filter(|(id, _)| is_one(*id)) {
        if found.contains(edge.source.index()) {
            continue;
        }
        let after = |at: LocationId| outgoing[at].iter().map(|edge| code.edges[*edge].target).collect();
        let forward = reach(edge.target, &after);
        let backward = reach(edge.source, &|at| entering[at].clone());
        for location in forward.iter().filter(|location| backward.contains(*location)) {
            found.insert(location);
        }
    }
    found
}

/// The locals of more than 32 bits that count something: a constant is added to them, or they are compared
/// with such.
pub fn counters(code: &Template) -> BitSet {
    let mut found = BitSet::new(code.locals.len());
    for op in code.edges.iter().flat_map(|edge| &edge.ops) {
        let Op::Assign(assignment) = op else { continue };
        for (lhs, rhs) in &assignment.pairs {
            if let (Lhs::Local(local), Rhs::Value(Expr::Binary(BinaryOp::Add | BinaryOp::Sub, _, pair))) =
                (lhs, rhs)
                && matches!((&pair.0, &pair.1), (Expr::Local(same), Expr::Const(..)) if same == local)
            {
                found.insert(local.index());
            }
        }
    }
    for op in code.edges.iter().flat_map(|edge| &edge.ops) {
        let Op::Assume(condition) = op else { continue };
        let mut compared = Vec::new();
        condition.walk(&mut |expr| {
            if let Expr::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Ne | BinaryOp::Eq, _, pair) = expr
                && let (Expr::Local(one), Expr::Local(other)) = (&pair.0, &pair.1)
            {
                compared.push((*one, *other));
            }
        });
        for (one, other) in compared {
            if found.contains(one.index()) || found.contains(other.index()) {
                found.insert(one.index());
                found.insert(other.index());
            }
        }
    }
    found
}

impl Model<'_> {
    /// The type of a local, or of a cell.
    pub fn ty(&self, template: TemplateId, local: LocalId) -> IntType {
        let own = self.program.templates[template].locals.get(local).map(|local| local.ty);
        own.or_else(|| Some(self.cell(template, local)?.ty)).unwrap_or(IntType::BOOL)
    }

    /// The cell that a local stands for.
    pub fn cell(&self, template: TemplateId, local: LocalId) -> Option<&Cell> {
        self.cells.get(self.cell_number(template, local)?)
    }

    /// The number of the cell that a local stands for.
    pub fn cell_number(&self, template: TemplateId, local: LocalId) -> Option<usize> {
        local.index().checked_sub(self.program.templates[template].locals.len())
    }

    /// The local that stands for a cell.
    pub fn cell_local(&self, template: TemplateId, cell: usize) -> LocalId {
        LocalId::new(self.program.templates[template].locals.len() + cell)
    }

    /// The cell that a place is.
    pub fn read(&self, template: TemplateId, place: &Place) -> Option<LocalId> {
        let Expr::Address(object, offset) = place.address else { return None };
        let is_it = |cell: &Cell| (cell.object, cell.offset, cell.ty) == (object, offset, place.ty);
        self.cells.iter().position(is_it).map(|cell| self.cell_local(template, cell))
    }

    /// The cells that facts speak of.
    pub fn mentioned(&self, template: TemplateId, facts: &ThreadFacts) -> BTreeSet<usize> {
        let base = |base: LockBase| match base {
            LockBase::Local(local) => Some(local),
            LockBase::Object(_) => None,
        };
        let index = |index: &Index| index.local;
        let mut locals: Vec<Option<LocalId>> = Vec::new();
        facts.order.iter().for_each(|(one, two)| locals.extend([index(one), index(two)]));
        facts.placed.iter().for_each(|(_, row, at)| locals.extend([base(row.base), index(at)]));
        for members in facts.started.iter().flat_map(|started| &started.members) {
            locals.extend(members.from.iter().chain(&members.below).map(index));
            locals.extend(members.argument.map(|row| base(row.base)));
            if let Some(Handle::Memory(row)) = members.handle {
                locals.push(base(row.base));
            }
        }
        locals.into_iter().flatten().filter_map(|local| self.cell_number(template, local)).collect()
    }
}
