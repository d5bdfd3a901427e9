//! The end of the lifetimes of automatic objects (C11 6.2.4).
//!
//! A frame object lives as long as its activation, and its address may name one of a later activation, or of
//! the same block when it is entered again. That makes no difference if no copy of the address exists after
//! the object's lifetime; points-to sets show this ([`ir::passes::PointsTo::outliving`]). This pass turns all
//! other frame objects into allocated objects: memory is allocated where control enters the block, and freed
//! where control leaves it, by whatever edge. So each entry creates a new object, and an access to an object
//! after its block has ended is invalid. Variable-length arrays, which are allocated at their declaration,
//! and memory from `alloca`, are freed in the same way.
//!
//! Exact, with these exceptions, which produce an assumption, and with which no violation is reported:
//! 1. `alloca` in a loop: only the memory of the last call is freed.
//! 2. A thread that exits inside a function does not end the objects of its callers. Those of the function
//!    that the thread was started with end all the same, but not by an access that could race.

use crate::scopes::{Allocated, BODY, OUTSIDE, ScopeId, Scopes};
use ir::passes::points_to::{Holder, called};
use ir::passes::{PointsTo, Sharing, edges_in_cycles};
use ir::{
    Assumption, BinaryOp, EdgeId, Expr, IntType, Lhs, LocalId, LocationId, LocationKind, Object, ObjectId,
    ObjectRole, Op, Program, Span, Storage, Template, TemplateId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Turns all automatic objects whose address may be used after their lifetime into allocated ones.
/// `runs_after_main`: code may run after `main` has returned. Returns the program's points-to sets, if they
/// were computed and no object has changed.
pub fn end(
    program: &mut Program,
    scopes: &BTreeMap<TemplateId, Scopes>,
    runs_after_main: bool,
) -> Option<PointsTo> {
    let sharing = Sharing::of(program);
    let mut candidates = Vec::new();
    for (template, scopes) in scopes {
        let shared = scopes.objects.keys().filter(|object| !sharing.is_private(**object));
        candidates.extend(shared.map(|object| (*object, *template)));
        candidates.extend(scopes.allocated.iter().map(|allocated| (allocated.site, *template)));
    }
    if candidates.is_empty() {
        return None;
    }
    let points_to = PointsTo::of(program);
    let called = called(program, &points_to);
    // Locals of the first thread's own function end where that function calls `pthread_exit`: where it
    // returns, the program ends.
    let (candidates, lasting): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|(object, template)| {
        let is_first = program.start.iter().any(|(first, _)| first == template);
        !is_first
            || called.contains(template)
            || exits(&program.templates[*template]).next().is_some()
            || program.objects[*object].storage == Storage::Site
            || scopes[template].objects.get(object) != Some(&BODY)
    });
    let ends_before = |template: TemplateId, object: ObjectId, holder: Holder| {
        let (scopes, code) = (&scopes[&template], &program.templates[template]);
        let own = scopes.of_object(object);
        if scopes.allocated.iter().any(|allocated| allocated.site == object && allocated.comes_again) {
            return false;
        }
        match holder {
            Holder::Local(local) => {
                Some(local) != code.result
                    && Some(local) != code.exit_value
                    && scopes.is_within(scopes.of_local(local), own)
            }
            Holder::Object(other) => scopes.is_within(scopes.of_object(other), own),
        }
    };
    let found = points_to.outliving(program, &candidates, &ends_before);
    // After `main` has returned, its locals no longer exist.
    let late =
        if runs_after_main { points_to.outliving(program, &lasting, &ends_before) } else { BTreeSet::new() };
    if let Some(object) = late.first() {
        let Object { name, span, .. } = &program.objects[*object];
        let (text, span) = (format!("'{name}' is taken to live on while the program exits"), *span);
        note(program, text, span);
    }
    if found.is_empty() {
        return Some(points_to);
    }
    let mut outliving = BTreeMap::new();
    for (object, template) in candidates {
        if found.contains(&object) {
            outliving.entry(template).or_insert_with(BTreeSet::new).insert(object);
        }
    }
    keep_frames(program, &points_to, (&called, scopes), &mut outliving);
    note_exits(program, &points_to, &outliving);
    for (template, objects) in &outliving {
        Ending::new(program, *template, &scopes[template], objects).run();
    }
    None
}

impl Scopes {
    /// The block of an object; if not known, the outermost one.
    fn of_object(&self, object: ObjectId) -> ScopeId {
        let is_site = |allocated: &&Allocated| allocated.site == object;
        let known = self.objects.get(&object).copied();
        known.or(self.allocated.iter().find(is_site).map(|found| found.scope)).unwrap_or(OUTSIDE)
    }
}

/// A function that only threads are started with, and in a call of which they exit: the objects of its body
/// stay in its frame, which ends with the thread.
fn keep_frames(
    program: &mut Program,
    points_to: &PointsTo,
    (called, scopes): (&BTreeSet<TemplateId>, &BTreeMap<TemplateId, Scopes>),
    outliving: &mut BTreeMap<TemplateId, BTreeSet<ObjectId>>,
) {
    let started = outliving.keys().copied().filter(|template| !called.contains(template));
    for (template, callees) in points_to.calls(program, started) {
        let exit = |callee: &TemplateId| {
            let code = &program.templates[*callee];
            exits(code).next().map(|edge| code.edges[edge].span)
        };
        let Some(span) = callees.iter().find_map(exit) else { continue };
        let Some(objects) = outliving.get_mut(&template) else { continue };
        let all = objects.len();
        objects.retain(|object| scopes[&template].objects.get(object) != Some(&BODY));
        if objects.len() < all {
            let name = &program.templates[template].name;
            let text =
                format!("unsupported: the end of locals of '{name}', where a thread exits, is no access");
            note(program, text, span);
        }
    }
}

/// Threads that exit inside a call leave objects of the callers alive that should end.
fn note_exits(
    program: &mut Program,
    points_to: &PointsTo,
    outliving: &BTreeMap<TemplateId, BTreeSet<ObjectId>>,
) {
    let mut called: Option<Vec<(TemplateId, BTreeSet<TemplateId>)>> = None;
    for id in program.templates.ids().collect::<Vec<_>>() {
        let code = &program.templates[id];
        let exits: Vec<EdgeId> = exits(code).collect();
        if exits.is_empty() {
            continue;
        }
        let called = called.get_or_insert_with(|| points_to.calls(program, outliving.keys().copied()));
        let Some((caller, _)) = called.iter().find(|(_, called)| called.contains(&id)) else { continue };
        let text = format!(
            "unsupported: a thread that exits in a function called by '{}' does not end the locals there",
            program.templates[*caller].name
        );
        for edge in exits {
            let code = &mut program.templates[id];
            let span = code.edges[edge].span;
            lose_track(code, edge);
            note(program, text.clone(), span);
        }
    }
}

/// The steps by which a thread exits.
fn exits(code: &Template) -> impl Iterator<Item = EdgeId> {
    let is_exit = |edge: &ir::Edge| code.locations[edge.target].kind == LocationKind::Exit;
    code.edges.enumerate().filter(move |(_, edge)| is_exit(edge)).map(|(edge, _)| edge)
}

fn note(program: &mut Program, text: String, span: Span) {
    let assumption = Assumption { text, span, limits_proof: true };
    if !program.assumptions.contains(&assumption) {
        program.assumptions.push(assumption);
    }
}

/// Marks an execution through an edge as no evidence.
fn lose_track(code: &mut Template, edge: EdgeId) {
    let span = code.edges[edge].span;
    let local = code.local("%lost", IntType::BOOL, span);
    append(code, edge, vec![Op::unknown(Lhs::Local(local))]);
}

/// Appends operations to an edge.
fn append(code: &mut Template, edge: EdgeId, ops: Vec<Op>) {
    let (source, target, span) = {
        let edge = &code.edges[edge];
        (edge.source, edge.target, edge.span)
    };
    let atomic = code.locations[source].atomic && code.locations[target].atomic;
    let mut last = edge;
    for op in ops {
        let between = code.location(LocationKind::Normal, atomic);
        code.edges[last].target = between;
        last = code.edge(between, target, vec![op], span);
    }
}

/// The objects of one function, and how they change.
struct Ending<'a> {
    program: &'a mut Program,
    template: TemplateId,
    scopes: &'a Scopes,
    /// The block, and the local with the address, of each frame object that becomes an allocated one.
    frames: BTreeMap<ObjectId, (ScopeId, LocalId)>,
    /// What is allocated where it is declared.
    allocated: Vec<Allocated>,
}

impl<'a> Ending<'a> {
    fn new(
        program: &'a mut Program,
        template: TemplateId,
        scopes: &'a Scopes,
        objects: &BTreeSet<ObjectId>,
    ) -> Self {
        let pointer = program.data_model.pointer();
        let mut frames = BTreeMap::new();
        for (object, scope) in &scopes.objects {
            if objects.contains(object) {
                let described = &mut program.objects[*object];
                described.storage = Storage::Site;
                if described.role == ObjectRole::Program {
                    described.role = ObjectRole::Automatic;
                }
                let name = format!("&{}", described.name);
                let span = described.span;
                let local = program.templates[template].local(name, pointer, span);
                frames.insert(*object, (*scope, local));
            }
        }
        let is_ended = |allocated: &&Allocated| objects.contains(&allocated.site);
        let allocated = scopes.allocated.iter().filter(is_ended).copied().collect();
        Self { program, template, scopes, frames, allocated }
    }

    fn run(&mut self) {
        self.rename();
        let code = &self.program.templates[self.template];
        let edges: Vec<EdgeId> = code.edges.ids().collect();
        let cycles = edges_in_cycles(code);
        let mut lost = None;
        for edge in edges {
            self.again(edge, cycles[edge], &mut lost);
        }
        if let Some(span) = lost {
            let text = "unsupported: memory from alloca in a loop outlives its function".to_owned();
            note(self.program, text, span);
        }
        self.enter();
    }
    /// Frame objects are named by their address from now on.
    fn rename(&mut self) {
        let pointer = self.program.data_model.pointer();
        let frames = &self.frames;
        for edge in self.program.templates[self.template].edges.iter_mut() {
            for expr in edge.ops.iter_mut().flat_map(Op::expressions_mut) {
                expr.rewrite(&mut |inner| {
                    let Expr::Address(object, offset) = inner else { return };
                    let Some((_, local)) = frames.get(object) else { return };
                    let offset = *offset;
                    *inner = match offset {
                        0 => Expr::Local(*local),
                        _ => Expr::binary(
                            BinaryOp::Add,
                            pointer,
                            Expr::Local(*local),
                            Expr::int(ir::Value::from(offset), pointer),
                        ),
                    };
                });
            }
        }
    }
    /// The effects of an edge on the blocks that it leaves and enters.
    fn again(&mut self, edge: EdgeId, is_in_cycle: bool, lost: &mut Option<Span>) {
        let code = &self.program.templates[self.template];
        let step = &code.edges[edge];
        let span = step.span;
        let made = step.ops.iter().find_map(|op| match op {
            Op::Allocate { site, .. } => self.allocated.iter().find(|allocated| allocated.site == *site),
            _ => None,
        });
        let made = made.copied();
        let to = match code.locations[step.target].kind {
            LocationKind::Normal => self.scopes.of_location(step.target),
            LocationKind::End | LocationKind::Exit => OUTSIDE,
            // Nothing runs any more.
            LocationKind::Halt | LocationKind::Error(_) => return,
        };
        let from = self.scopes.of_location(step.source);
        let (left, entered) = (self.scopes.path(from), self.scopes.path(to));
        let mut ops = Vec::new();
        for scope in left.iter().filter(|scope| !entered.contains(scope)) {
            ops.extend(self.leave(*scope));
        }
        for scope in entered.iter().rev().filter(|scope| !left.contains(scope)) {
            ops.extend(self.allocate(*scope));
        }
        let code = &mut self.program.templates[self.template];
        append(code, edge, ops);
        let Some(made) = made else { return };
        if made.is_alloca && is_in_cycle {
            *lost = Some(span);
            lose_track(code, edge);
        } else if !made.is_alloca {
            // An earlier instance, in the same block, ends here.
            let atomic = code.locations[code.edges[edge].source].atomic;
            let between = code.location(LocationKind::Normal, atomic);
            let source = std::mem::replace(&mut code.edges[edge].source, between);
            code.edge(source, between, vec![Op::Free(Expr::Local(made.address))], span);
        }
    }
    fn leave(&self, scope: ScopeId) -> Vec<Op> {
        let pointer = self.program.data_model.pointer();
        let mut ops = Vec::new();
        for (own, local) in self.frames.values() {
            if *own == scope {
                ops.push(Op::Free(Expr::Local(*local)));
            }
        }
        for allocated in self.allocated.iter().filter(|allocated| allocated.scope == scope) {
            ops.push(Op::Free(Expr::Local(allocated.address)));
            ops.push(Op::set(Lhs::Local(allocated.address), Expr::int(0, pointer)));
        }
        ops
    }
    fn allocate(&self, scope: ScopeId) -> Vec<Op> {
        let pointer = self.program.data_model.pointer();
        let own = self.frames.iter().filter(|(_, (own, _))| *own == scope);
        let allocate = |(object, (_, local)): (&ObjectId, &(ScopeId, LocalId))| Op::Allocate {
            site: *object,
            size: Expr::int(ir::Value::from(self.program.objects[*object].size), pointer),
            zeroed: false,
            result: Lhs::Local(*local),
        };
        own.map(allocate).collect()
    }
    /// The lifetimes of the body's objects begin when the function is called.
    fn enter(&mut self) {
        let ops = self.allocate(BODY);
        let code = &mut self.program.templates[self.template];
        let entry: LocationId = code.entry;
        let (atomic, span) = (code.locations[entry].atomic, code.span);
        if !ops.is_empty() {
            let first = code.location(LocationKind::Normal, atomic);
            let edge = code.edge(first, entry, vec![], span);
            append(code, edge, ops);
            code.entry = first;
        }
    }
}
