//! Compression: folds runs of thread-local steps into the neighbouring shared step.
//!
//! A location is *passed over* by joining each edge that enters it with each edge that leaves it. Afterwards
//! an edge from a location that is not atomic has at most one operation that others notice (a shared access,
//! an operation on locks, threads or the heap, the entry to an atomic region, or the end of a thread's
//! objects or of the program), except for atomic regions without loops, which become one edge for each path,
//! their accesses marked as atomic.
//!
//! Why errors, races, deadlocks and final values stay the same: let a location `l` be passed over, `in` one
//! of its entering edges and `out` one of its leaving edges.
//! 1. `l` is neither the entry, nor an end or an error: no property depends on a thread being at `l`.
//! 2. `l` is not atomic: others notice at most one of `in` and `out`, so the other edge commutes with all
//!    steps of other threads and may as well happen together with it. If `in` changes what others see and
//!    `out` could block, the change would have to be visible nevertheless; so in this case one of the leaving
//!    edges can always be taken (their assumptions are a condition and its negation, and nothing faults). The
//!    same is required if `in` ends an atomic region, where a blocked thread would stop all others; and then
//!    `out` makes no access, since it would count as atomic.
//! 3. `l` is atomic: no other thread runs between `in` and `out`. If `out` blocks, all others are stopped for
//!    good (and see no change); after the pass, the thread may wait before `in` instead, which it could do
//!    anyway.
//! 4. Races. The accesses of a step count at its source, up to the point where it blocks
//!    ([`crate::semantics::Machine::step`]). The joined edge makes the accesses of both edges, under the same
//!    assumptions; the state before `in` is reachable with the others at the same locations, since `in` is
//!    local or the region was entered from there. The race check chooses 0 for open values, so no choice may
//!    come before an access on one edge. If a region starts a thread, and at the entry of a thread that is
//!    started in a region, the others are at the same locations only after the region; such locations stay.
//!    While a thread is in a region, only races with it count: if two others race then, they did so before.
//! 5. Deadlocks. Operations that wait for a lock or a thread still come first on their edge, and a location
//!    with one such edge still has only one.
//! 6. Choices keep their order.

use super::dead_code::drop_unreachable;
use super::sharing::{SharedAccess, Sharing};
use super::totality::Totality;
use crate::expr::Expr;
use crate::ids::{EdgeId, IdVec, LocationId};
use crate::op::{Lhs, Op};
use crate::program::{Edge, LocationKind, Program, Storage, Template};

/// The most operations on an edge.
const MOST_OPS: usize = 48;
/// Passing over an atomic location adds at most this many edges.
const MORE_ATOMIC_EDGES: usize = 6;

/// Compresses all templates.
pub fn compress(program: &Program) -> Program {
    compressed(program, false)
}

/// Like [`compress`], but never joins steps of different source lines: for listings of the source.
pub fn compress_within_lines(program: &Program) -> Program {
    compressed(program, true)
}

fn compressed(program: &Program, keep_lines: bool) -> Program {
    let mut result = program.clone();
    let sharing = Sharing::of(program);
    let totality = Totality::of(program);
    let starts_in_region = program.templates.iter().any(|template| {
        let is_spawn = |op: &Op| matches!(op, Op::Spawn(..));
        template
            .edges
            .iter()
            .any(|edge| template.locations[edge.source].atomic && edge.ops.iter().any(is_spawn))
    });
    let ends_lifetimes = program.objects.enumerate().any(|(id, object)| match object.storage {
        Storage::Frame(_) | Storage::ThreadLocal => !sharing.is_private(id),
        Storage::Static | Storage::Site => false,
    });
    for template in result.templates.iter_mut() {
        let code = std::mem::take(template);
        let mut compressor = Compressor::new(code, &sharing, &totality);
        compressor.starts_in_region = starts_in_region;
        compressor.ends_lifetimes = ends_lifetimes;
        compressor.keep_lines = keep_lines;
        compressor.gather_facts();
        compressor.run();
        *template = compressor.finish();
    }
    result
}

/// Properties of an edge.
#[derive(Clone, Copy, Default)]
struct Facts {
    /// It makes an access that others may see.
    accesses: bool,
    /// Others may notice that it was taken.
    noticed: bool,
    /// Others may see a change.
    changes: bool,
    /// It waits for a lock or a thread.
    waits: bool,
    chooses: bool,
    /// It cannot fail, whatever the state.
    continues: bool,
    calls: bool,
    starts: bool,
    /// All its accesses can be marked as atomic.
    can_be_marked: bool,
}

struct Compressor<'a> {
    sharing: &'a Sharing,
    totality: &'a Totality<'a>,
    starts_in_region: bool,
    /// Whether others can see that the objects of a thread or an activation have ended.
    ends_lifetimes: bool,
    /// Whether to keep steps of different source lines separate.
    keep_lines: bool,
    template: Template,
    /// Remaining edges, each with its properties.
    facts: IdVec<EdgeId, Option<Facts>>,
    incoming: IdVec<LocationId, Vec<EdgeId>>,
    outgoing: IdVec<LocationId, Vec<EdgeId>>,
}

impl<'a> Compressor<'a> {
    fn new(template: Template, sharing: &'a Sharing, totality: &'a Totality<'a>) -> Self {
        let outgoing = template.outgoing();
        let mut incoming: IdVec<LocationId, Vec<EdgeId>> =
            template.locations.iter().map(|_| Vec::new()).collect();
        for (id, edge) in template.edges.enumerate() {
            incoming[edge.target].push(id);
        }
        Self {
            sharing,
            totality,
            starts_in_region: false,
            ends_lifetimes: false,
            keep_lines: false,
            template,
            facts: IdVec::new(),
            incoming,
            outgoing,
        }
    }

    fn gather_facts(&mut self) {
        self.facts = self.template.edges.iter().map(|edge| Some(self.facts_of(edge))).collect();
    }

    fn run(&mut self) {
        loop {
            let mut changed = false;
            for location in self.template.locations.ids() {
                if self.can_pass_over(location) {
                    self.pass_over(location);
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn finish(mut self) -> Template {
        let left = self.template.edges.enumerate().filter(|(id, _)| self.facts[*id].is_some());
        self.template.edges = left.map(|(_, edge)| edge.clone()).collect();
        drop_unreachable(&mut self.template);
        self.template
    }

    fn facts_of(&self, edge: &Edge) -> Facts {
        let target = self.template.locations[edge.target];
        let noticed = match target.kind {
            // A thread that enters an atomic region stops all others.
            LocationKind::Normal => target.atomic && !self.template.locations[edge.source].atomic,
            LocationKind::Halt => true,
            LocationKind::End | LocationKind::Exit => self.ends_lifetimes,
            LocationKind::Error(_) => false,
        };
        let mut facts = Facts { noticed, continues: true, can_be_marked: true, ..Facts::default() };
        for op in &edge.ops {
            let accesses = self.sharing.accesses(op);
            let writes = accesses.iter().any(|SharedAccess { write, .. }| *write);
            facts.accesses |= !accesses.is_empty();
            facts.noticed |= !accesses.is_empty();
            facts.changes |= writes;
            facts.chooses |= self.totality.chooses(op);
            facts.continues &= self.totality.always_goes_on(op);
            match op {
                Op::Assume(_) | Op::Assign(_) => {}
                Op::Lock(..) => {
                    facts.waits = true;
                    facts.noticed = true;
                    facts.changes = true;
                }
                Op::Unlock(..) | Op::Allocate { .. } => {
                    facts.noticed = true;
                    facts.changes = true;
                }
                Op::Spawn(..) => {
                    facts.starts = true;
                    facts.noticed = true;
                    facts.changes = true;
                }
                Op::Join(..) => {
                    facts.waits = true;
                    facts.noticed = true;
                }
                Op::Free(_) => {
                    facts.noticed = true;
                    facts.changes = true;
                    facts.can_be_marked = false;
                }
                Op::Fill(..) | Op::Copy(..) => facts.can_be_marked &= accesses.is_empty(),
                Op::Call(..) | Op::Broadcast(_) => {
                    facts.calls = true;
                    facts.noticed = true;
                    facts.changes = true;
                }
            }
        }
        facts
    }

    fn facts(&self, edge: EdgeId) -> Facts {
        self.facts[edge].unwrap_or_default()
    }

    fn can_pass_over(&self, location: LocationId) -> bool {
        let (entering, leaving) = (&self.incoming[location], &self.outgoing[location]);
        if self.template.locations[location].kind != LocationKind::Normal
            || location == self.template.entry
            || entering.is_empty()
            || leaving.is_empty()
            || leaving.iter().any(|edge| self.template.edges[*edge].target == location)
        {
            return false;
        }
        let more = if self.template.locations[location].atomic { MORE_ATOMIC_EDGES } else { 0 };
        if entering.len() * leaving.len() > entering.len() + leaving.len() + more {
            return false;
        }
        let continues = self.go_on_always(leaving);
        entering
            .iter()
            .all(|before| leaving.iter().all(|after| self.can_join(location, *before, *after, continues)))
    }

    /// Whether one of the edges can always be taken.
    fn go_on_always(&self, edges: &[EdgeId]) -> bool {
        let ops = |edge: EdgeId| self.template.edges[edge].ops.as_slice();
        let all_go_on = |ops: &[Op]| ops.iter().all(|op| self.totality.always_goes_on(op));
        match edges {
            [only] => self.facts(*only).continues,
            [one, other] => match (ops(*one), ops(*other)) {
                ([Op::Assume(yes), then @ ..], [Op::Assume(no), or_else @ ..]) => {
                    (*no == yes.clone().not() || *yes == no.clone().not())
                        && self.totality.is_total(yes)
                        && all_go_on(then)
                        && all_go_on(or_else)
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn can_join(&self, location: LocationId, before: EdgeId, after: EdgeId, continues: bool) -> bool {
        let (first, second) = (self.facts(before), self.facts(after));
        let (enter, leave) = (&self.template.edges[before], &self.template.edges[after]);
        let from_atomic = self.template.locations[enter.source].atomic;
        let same_line = (enter.span.file, enter.span.line) == (leave.span.file, leave.span.line);
        if self.keep_lines && !same_line && !enter.ops.is_empty() && !leave.ops.is_empty() {
            return false;
        }
        if enter.ops.len() + leave.ops.len() > MOST_OPS
            || first.calls
            || (first.waits && self.outgoing[location].len() > 1)
            || (second.waits && (!enter.ops.is_empty() || self.outgoing[enter.source].len() > 1))
            || (first.chooses && second.accesses)
            || (first.starts && (second.accesses || !continues))
        {
            return false;
        }
        if self.template.locations[location].atomic {
            return from_atomic || second.can_be_marked;
        }
        if from_atomic {
            return continues && !second.noticed;
        }
        if self.starts_in_region && enter.source == self.template.entry && second.accesses {
            return false;
        }
        !(first.noticed && second.noticed) && (continues || !first.changes)
    }

    fn pass_over(&mut self, location: LocationId) {
        let entering = std::mem::take(&mut self.incoming[location]);
        let leaving = std::mem::take(&mut self.outgoing[location]);
        let atomic = self.template.locations[location].atomic;
        for before in &entering {
            let source = self.template.edges[*before].source;
            for after in &leaving {
                let edge = self.joined(*before, *after, atomic && !self.template.locations[source].atomic);
                let facts = self.facts_of(&edge);
                let target = edge.target;
                let id = self.template.edges.push(edge);
                self.facts.push(Some(facts));
                self.outgoing[source].push(id);
                self.incoming[target].push(id);
            }
            self.outgoing[source].retain(|edge| edge != before);
            self.facts[*before] = None;
        }
        for after in leaving {
            let target = self.template.edges[after].target;
            self.incoming[target].retain(|edge| *edge != after);
            self.facts[after] = None;
        }
    }

    fn joined(&self, before: EdgeId, after: EdgeId, mark: bool) -> Edge {
        let (enter, leave) = (&self.template.edges[before], &self.template.edges[after]);
        let mut ops = enter.ops.clone();
        let first_after = ops.len();
        ops.extend(leave.ops.iter().cloned());
        if mark {
            ops[first_after..].iter_mut().for_each(mark_atomic);
        }
        // The line of the error, or else of the step that others notice, is the most useful.
        let facts = (self.facts(before), self.facts(after));
        let is_error = matches!(self.template.locations[leave.target].kind, LocationKind::Error(_));
        let from_after = is_error || enter.ops.is_empty() || (facts.1.noticed && !facts.0.noticed);
        let span = if from_after { leave.span } else { enter.span };
        Edge { source: enter.source, target: leave.target, ops, span }
    }
}

/// Marks all accesses of an operation as atomic.
fn mark_atomic(op: &mut Op) {
    for expr in op.expressions_mut() {
        expr.rewrite(&mut |inner| {
            if let Expr::Load(place) = inner {
                place.atomic = true;
            }
        });
    }
    for lhs in op.targets_mut() {
        if let Lhs::Memory(place) = lhs {
            place.atomic = true;
        }
    }
}
