//! Divides copies and fills of several cells into steps: other threads may see intermediate states.
//!
//! In a program without data races, no thread reads memory while it is copied, so this does not matter.
//! Otherwise the intermediate states are assumed to be these:
//! 1. Up to [`MOST_CELLS`] cells are copied one by one, in rising order.
//! 2. More cells are copied at once, or in two parts: the first cell, the first half or all but the last cell
//!    come first, or last. Copies whose size is not constant are one step. Both are noted in the report.
//!
//! Copies before any other thread is started stay one step; so do copies of memory to which no other thread
//! has a pointer. Overlapping ranges are copied at once, as by `memmove`.

use crate::fold;
use crate::handles::SharedWithThreads;
use ir::ids::Id;
use ir::{
    Assumption, BinaryOp, Callee, Count, Edge, Expr, IntType, Layout, LocationId, LocationKind, Op, Program,
    TemplateId,
};
use std::collections::BTreeSet;

/// The most cells that are copied one by one.
const MOST_CELLS: usize = 8;
/// The most cells of an object that are distinguished.
const MOST_LEAVES: usize = 4096;

/// Divides the copies and fills that other threads may see.
pub fn divide(program: &mut Program) {
    let starts_threads = |op: &Op| matches!(op, Op::Spawn(..));
    let mut ops = program.templates.iter().flat_map(|code| code.edges.iter()).flat_map(|edge| &edge.ops);
    if !ops.any(starts_threads) {
        return;
    }
    let later = Later::of(program);
    let seen = SharedWithThreads::of(program);
    let pointer = program.data_model.pointer();
    let mut noted = Vec::new();
    for template in program.templates.ids().collect::<Vec<_>>() {
        let mut added: Vec<Edge> = Vec::new();
        let count = program.templates[template].edges.len();
        for index in 0..count {
            let id = ir::EdgeId::new(index);
            let edge = program.templates[template].edges[id].clone();
            let [op] = edge.ops.as_slice() else { continue };
            let is_atomic = program.templates[template].locations[edge.source].atomic;
            if is_atomic || later.is_alone(template, edge.source) || !is_seen(program, &seen, op) {
                continue;
            }
            let Some(parts) = Parts::of(program, op) else {
                if matches!(op, Op::Copy(..) | Op::Fill(..)) && !is_small(op) {
                    noted.push(edge.span);
                }
                continue;
            };
            if parts.lists.len() > 1 {
                noted.push(edge.span);
            }
            let code = &mut program.templates[template];
            for list in &parts.lists {
                let mut at = edge.source;
                if let Some(guard) = &parts.guard {
                    let next = code.location(LocationKind::Normal, false);
                    let ops = vec![Op::Assume(guard.clone())];
                    added.push(Edge { source: at, target: next, ops, span: edge.span });
                    at = next;
                }
                for (position, (start, size)) in list.iter().enumerate() {
                    let target = if position + 1 == list.len() {
                        edge.target
                    } else {
                        code.location(LocationKind::Normal, false)
                    };
                    let ops = vec![part(op, *start, *size, pointer)];
                    added.push(Edge { source: at, target, ops, span: edge.span });
                    at = target;
                }
            }
            if !parts.keeps_whole {
                // The first list replaces it.
                code.edges[id].ops = vec![Op::Assume(Expr::bool(false))];
            }
        }
        for edge in added {
            program.templates[template].edges.push(edge);
        }
    }
    for span in noted {
        let text = "other threads see the middle of this copy at one point at most, if it races";
        let assumption = Assumption { text: text.to_owned(), span, limits_proof: false };
        if !program.assumptions.contains(&assumption) {
            program.assumptions.push(assumption);
        }
    }
}

/// How an operation is divided.
struct Parts {
    /// The alternatives: starts and sizes, in order.
    lists: Vec<Vec<(u64, u64)>>,
    /// The condition for dividing it: the ranges do not overlap.
    guard: Option<Expr>,
    /// Whether it may be one step, too.
    keeps_whole: bool,
}

impl Parts {
    /// `None` if it stays one step.
    fn of(program: &Program, op: &Op) -> Option<Self> {
        let (addresses, size) = match op {
            Op::Copy(to, from, size) => (vec![to, from], size),
            Op::Fill(to, _, size) => (vec![to], size),
            _ => return None,
        };
        let Expr::Const(size, _) = size else { return None };
        let size = u64::try_from(*size).ok()?;
        if addresses.iter().any(|address| fold::has_load(address)) {
            return None;
        }
        let starts = cells(program, &addresses, size)?;
        if starts.len() < 2 {
            return None;
        }
        let guard = match addresses.as_slice() {
            [Expr::Address(to, _), Expr::Address(from, _)] if to != from => None,
            [to, from] => Some(disjoint(to, from, size, program.data_model.pointer())),
            _ => None,
        };
        let lists = if starts.len() <= MOST_CELLS {
            let ends = starts.iter().skip(1).copied().chain([size]);
            vec![starts.iter().copied().zip(ends).map(|(start, end)| (start, end - start)).collect()]
        } else {
            let mut splits = vec![starts[1], starts[starts.len() / 2], starts[starts.len() - 1]];
            splits.dedup();
            splits
                .into_iter()
                .flat_map(|split| {
                    let (low, high) = ((0, split), (split, size - split));
                    [vec![low, high], vec![high, low]]
                })
                .collect()
        };
        let keeps_whole = lists.len() > 1 || guard.is_some();
        Some(Self { lists, guard, keeps_whole })
    }
}

/// Whether an operation touches at most one cell.
fn is_small(op: &Op) -> bool {
    match op {
        Op::Copy(_, _, Expr::Const(size, _)) | Op::Fill(_, _, Expr::Const(size, _)) => *size <= 8,
        _ => false,
    }
}

/// A part of a copy or fill.
fn part(op: &Op, start: u64, size: u64, pointer: IntType) -> Op {
    let number = |value: u64| Expr::int(i128::from(value), pointer);
    let at = |address: &Expr| fold::binary(BinaryOp::Add, pointer, address.clone(), number(start));
    match op {
        Op::Copy(to, from, _) => Op::Copy(at(to), at(from), number(size)),
        Op::Fill(to, byte, _) => Op::Fill(at(to), byte.clone(), number(size)),
        other => other.clone(),
    }
}

/// Whether two ranges have no byte in common, or are the same.
fn disjoint(to: &Expr, from: &Expr, size: u64, pointer: IntType) -> Expr {
    let end = |address: &Expr| {
        let size = Expr::int(i128::from(size), pointer);
        fold::binary(BinaryOp::Add, pointer, address.clone(), size)
    };
    let before = |one: &Expr, other: &Expr| Expr::binary(BinaryOp::Le, pointer, end(one), other.clone());
    let same = Expr::binary(BinaryOp::Eq, pointer, to.clone(), from.clone());
    let or = |one: Expr, other: Expr| Expr::binary(BinaryOp::Or, IntType::BOOL, one, other);
    or(or(before(to, from), before(from, to)), same)
}

/// Where the cells of a range start; those of a named object if there is one.
fn cells(program: &Program, addresses: &[&Expr], size: u64) -> Option<Vec<u64>> {
    for address in addresses {
        let Expr::Address(object, offset) = address else { continue };
        let mut found = Vec::new();
        leaves(&program.objects[*object].layout, 0, &mut found);
        if found.len() >= MOST_LEAVES {
            break;
        }
        let inside = found.into_iter().filter(|start| (*offset..offset + size).contains(start));
        let mut starts: Vec<u64> = inside.map(|start| start - offset).collect();
        starts.push(0);
        starts.sort_unstable();
        starts.dedup();
        return Some(starts);
    }
    let width = [8, 4, 2, 1].into_iter().find(|width| size.is_multiple_of(*width))?;
    let count = size / width;
    if count > MOST_LEAVES as u64 {
        // Only the ends and the middle are needed.
        let mut starts: Vec<u64> = (0..MOST_CELLS as u64).map(|index| index * width).collect();
        starts.extend([count / 2 * width, size - width]);
        return Some(starts);
    }
    Some((0..count).map(|index| index * width).collect())
}

fn leaves(layout: &Layout, offset: u64, found: &mut Vec<u64>) {
    if found.len() >= MOST_LEAVES {
        return;
    }
    match layout {
        Layout::Scalar(_) | Layout::Sync(_) | Layout::Bytes(_) => found.push(offset),
        Layout::Array { element, count, stride } => {
            for index in 0..(*count).min(MOST_LEAVES as u64) {
                leaves(element, offset + index * stride, found);
            }
        }
        Layout::Record(fields) => {
            fields.iter().for_each(|field| leaves(&field.layout, offset + field.offset, found));
        }
    }
}

/// Whether others may see the memory of a copy or fill.
fn is_seen(program: &Program, seen: &SharedWithThreads, op: &Op) -> bool {
    let sees = |address: &Expr| seen.sees(address, |object| program.objects[object].storage);
    match op {
        Op::Copy(to, from, _) => sees(to) || sees(from),
        Op::Fill(to, ..) => sees(to),
        _ => false,
    }
}

/// Where other threads may have been started.
struct Later {
    /// Procedures that may run concurrently with other threads from their entry on.
    beside: BTreeSet<TemplateId>,
    /// For each template, the locations after a step that may start a thread.
    after: Vec<BTreeSet<LocationId>>,
}

impl Later {
    fn of(program: &Program) -> Self {
        let starting = starting(program);
        let after: Vec<BTreeSet<LocationId>> =
            program.templates.ids().map(|template| after_starts(program, template, &starting)).collect();
        let mut beside = BTreeSet::new();
        let is_first = matches!(program.start.as_slice(), [(_, Count::Exactly(1))]);
        if !is_first {
            beside.extend(program.templates.ids());
        }
        // A procedure whose address is taken may be called or started from anywhere.
        let mut take = |expr: &Expr| {
            expr.walk(&mut |inner| {
                if let Expr::Procedure(template) = inner {
                    beside.insert(*template);
                }
            });
        };
        for op in program.templates.iter().flat_map(|code| code.edges.iter()).flat_map(|edge| &edge.ops) {
            op.expressions().into_iter().for_each(&mut take);
        }
        for object in program.objects.iter() {
            if let ir::Initial::Values(values) = &object.initial {
                values.iter().for_each(|(_, _, value)| take(value));
            }
        }
        let mut result = Self { beside, after };
        loop {
            let before = result.beside.len();
            for template in program.templates.ids() {
                for edge in program.templates[template].edges.iter() {
                    for op in &edge.ops {
                        match op {
                            Op::Spawn(Callee::Procedure(callee), ..) => {
                                result.beside.insert(*callee);
                            }
                            Op::Call(Callee::Procedure(callee), ..)
                                if !result.is_alone(template, edge.source) =>
                            {
                                result.beside.insert(*callee);
                            }
                            _ => {}
                        }
                    }
                }
            }
            if result.beside.len() == before {
                return result;
            }
        }
    }
    /// Whether no other thread exists yet where control is.
    fn is_alone(&self, template: TemplateId, location: LocationId) -> bool {
        !self.beside.contains(&template) && !self.after[template.index()].contains(&location)
    }
}

/// The procedures that may start a thread, themselves or through callees.
fn starting(program: &Program) -> BTreeSet<TemplateId> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for template in program.templates.ids() {
            let mut ops = program.templates[template].edges.iter().flat_map(|edge| &edge.ops);
            if ops.any(|op| starts(op, &found)) {
                found.insert(template);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn starts(op: &Op, starting: &BTreeSet<TemplateId>) -> bool {
    match op {
        Op::Spawn(..) | Op::Call(Callee::Pointer(_), ..) => true,
        Op::Call(Callee::Procedure(callee), ..) => starting.contains(callee),
        _ => false,
    }
}

/// The locations that control may reach after a step that may start a thread.
fn after_starts(
    program: &Program,
    template: TemplateId,
    starting: &BTreeSet<TemplateId>,
) -> BTreeSet<LocationId> {
    let code = &program.templates[template];
    let outgoing = code.outgoing();
    let is_start = |edge: &&Edge| edge.ops.iter().any(|op| starts(op, starting));
    let mut open: Vec<LocationId> = code.edges.iter().filter(is_start).map(|edge| edge.target).collect();
    let mut found = BTreeSet::new();
    while let Some(location) = open.pop() {
        if found.insert(location) {
            open.extend(outgoing[location].iter().map(|edge| code.edges[*edge].target));
        }
    }
    found
}
