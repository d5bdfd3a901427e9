//! Inlining: replaces all calls by copies of their callees until only thread templates remain.
//!
//! Each call site gets its own copy of the callee's locals and frame objects. On entry the parameters get the
//! arguments; where control may pass more than once, the callee's other locals and its frame objects get
//! their initial values again. An end location continues after the call with the result assigned; an exit
//! location ends the whole thread. Locations keep their atomic flags: inside of atomic regions a front end
//! calls atomic twins.
//!
//! Exact, but for these limits:
//! 1. Recursion is unfolded a number of times; deeper calls are cut off, and an assumption says so.
//! 2. A frame object outlives its call, so an access to it after the call is no longer invalid. Programs that
//!    only make valid accesses do not notice. A check for invalid accesses must consult
//!    [`Inlined::frames_outlive_calls`], unless no address is used that late
//!    ([`super::points_to::frames_are_used_late`]).
//! 3. A frame object beyond [`LARGE_OBJECT`] bytes that starts with arbitrary content keeps its last content
//!    when it is entered again; an assumption says so.

mod body;

use super::is_past;
use super::renumber;
use super::sharing::Sharing;
use crate::components::components;
use crate::expr::{Expr, Targets};
use crate::ids::{EdgeId, Id, IdVec, LocalId, LocationId, ObjectId, TemplateId};
use crate::op::{Callee, Op};
use crate::program::{Assumption, Edge, Initial, LocationKind, Program, Span, Storage, Template};
use std::collections::BTreeSet;
use std::fmt;
use std::time::Instant;

/// Frame objects larger than this are not reset to arbitrary content.
pub const LARGE_OBJECT: u64 = 4096;

/// Limits of inlining.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InlineLimits {
    /// The most simultaneous activations of one procedure.
    pub recursion: usize,
    /// The most edges of the result.
    pub edges: usize,
    /// When inlining, and the passes around it, give up.
    pub deadline: Option<Instant>,
}

impl Default for InlineLimits {
    fn default() -> Self {
        Self { recursion: 2, edges: 400_000, deadline: None }
    }
}

/// Why a program cannot be inlined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InlineError {
    /// The result would have more edges than the limit.
    TooLarge {
        /// The limit.
        edges: usize,
    },
    /// A call through a pointer that was not resolved.
    UnknownCallee(Span),
    /// A step changes the locals of other threads, which passes assume to be private.
    Broadcast(Span),
    /// The deadline passed.
    OutOfTime,
}

impl fmt::Display for InlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { edges } => write!(f, "the program has more than {edges} steps after inlining"),
            Self::OutOfTime => f.write_str("out of time"),
            Self::UnknownCallee(_) => f.write_str("a call through a pointer that is not resolved"),
            Self::Broadcast(_) => f.write_str("a step that changes local variables of other threads"),
        }
    }
}

/// An inlined program.
#[derive(Clone, Debug)]
pub struct Inlined {
    /// The program, without calls.
    pub program: Program,
    /// Whether the address of a frame object of an inlined procedure is used as a value: accesses to it after
    /// the procedure's end now count as valid.
    pub frames_outlive_calls: bool,
}

/// Inlines all calls.
pub fn inline(program: &Program, limits: InlineLimits) -> Result<Inlined, InlineError> {
    let mut result = program.clone();
    result.templates.iter_mut().for_each(forget_targets);
    let originals = result.templates.clone();
    let frame_objects = frame_objects(program);
    let sharing = Sharing::of(program);
    let mut cut = BTreeSet::new();
    let mut large = BTreeSet::new();
    let mut inlined = BTreeSet::new();
    let mut roots: BTreeSet<TemplateId> = program.start.iter().map(|(template, _)| *template).collect();
    let mut open: Vec<TemplateId> = roots.iter().copied().collect();
    let mut edges = 0;
    while let Some(root) = open.pop() {
        let mut inliner = Inliner {
            originals: &originals,
            frame_objects: &frame_objects,
            program: &mut result,
            root,
            template: originals[root].clone(),
            limits,
            other_edges: edges,
            exit: None,
            cut: &mut cut,
            large: &mut large,
            inlined: &mut inlined,
            spawned: Vec::new(),
            late_edges: Vec::new(),
        };
        inliner.run()?;
        let Inliner { template, spawned, .. } = inliner;
        edges += template.edges.len();
        result.templates[root] = template;
        for spawned in spawned {
            if roots.insert(spawned) {
                open.push(spawned);
            }
        }
    }
    for template in cut {
        let text = format!(
            "calls of `{}` inside of itself go at most {} deep",
            originals[template].name, limits.recursion
        );
        result.assumptions.push(Assumption { text, span: originals[template].span, limits_proof: true });
    }
    for object in large {
        let object = &program.objects[object];
        let text = format!("`{}` keeps its content between calls", object.name);
        result.assumptions.push(Assumption { text, span: object.span, limits_proof: true });
    }
    let frames_outlive_calls = inlined
        .iter()
        .any(|template| frame_objects[*template].iter().any(|object| !sharing.is_private(*object)));
    drop_procedures(&mut result, &roots);
    Ok(Inlined { program: result, frames_outlive_calls })
}

/// The targets of places name objects that are about to be duplicated.
fn forget_targets(template: &mut Template) {
    for op in template.edges.iter_mut().flat_map(|edge| &mut edge.ops) {
        renumber::each_mention(op, &mut |_| {}, &mut |place| place.targets = Targets::Any, &mut |_| {});
    }
}

fn frame_objects(program: &Program) -> IdVec<TemplateId, Vec<ObjectId>> {
    let mut found: IdVec<TemplateId, Vec<ObjectId>> = program.templates.iter().map(|_| Vec::new()).collect();
    for (id, object) in program.objects.enumerate() {
        if let Storage::Frame(template) = object.storage {
            found[template].push(id);
        }
    }
    found
}

/// Drops procedures that no longer run. One whose address is still used as a value stays as an empty shell.
fn drop_procedures(program: &mut Program, roots: &BTreeSet<TemplateId>) {
    let mut keep: IdVec<TemplateId, bool> = program.templates.ids().map(|id| roots.contains(&id)).collect();
    let mut mentioned = BTreeSet::new();
    let mut mention = |expr: &Expr| {
        expr.walk(&mut |inner| {
            if let Expr::Procedure(template) = inner {
                mentioned.insert(*template);
            }
        });
    };
    for root in roots {
        program.templates[*root]
            .edges
            .iter()
            .flat_map(|edge| &edge.ops)
            .for_each(|op| op.expressions().into_iter().for_each(&mut mention));
    }
    for object in &program.objects {
        if let Initial::Values(values) = &object.initial {
            values.iter().for_each(|(_, _, value)| mention(value));
        }
    }
    for template in mentioned {
        if !keep[template] {
            keep[template] = true;
            let old = &program.templates[template];
            let mut shell =
                Template { name: old.name.clone(), span: old.span, role: old.role, ..Template::default() };
            shell.entry = shell.location(LocationKind::Normal, false);
            let end = shell.location(LocationKind::End, false);
            shell.edge(shell.entry, end, vec![], old.span);
            program.templates[template] = shell;
        }
    }
    let objects = program.objects.iter().map(|object| match object.storage {
        Storage::Frame(template) => roots.contains(&template),
        Storage::Static | Storage::ThreadLocal | Storage::Site => true,
    });
    let objects = objects.collect();
    renumber::keep(program, &objects, &keep);
}

/// A call that is still to be replaced.
struct OpenCall {
    edge: EdgeId,
    /// Its position in the call stack: an index into the list of activations.
    activation: usize,
    /// Whether control may pass more than once.
    again: bool,
}

struct Inliner<'a> {
    originals: &'a IdVec<TemplateId, Template>,
    frame_objects: &'a IdVec<TemplateId, Vec<ObjectId>>,
    /// Receives the copies of frame objects.
    program: &'a mut Program,
    root: TemplateId,
    template: Template,
    limits: InlineLimits,
    /// The edges of templates that are done.
    other_edges: usize,
    /// Where inlined exits lead, and the local that holds the thread's result there.
    exit: Option<(LocationId, LocalId)>,
    cut: &'a mut BTreeSet<TemplateId>,
    large: &'a mut BTreeSet<ObjectId>,
    inlined: &'a mut BTreeSet<TemplateId>,
    spawned: Vec<TemplateId>,
    /// Edges to add when all numbers are known.
    late_edges: Vec<Edge>,
}

impl Inliner<'_> {
    fn run(&mut self) -> Result<(), InlineError> {
        // Procedures under way: each with the one that called it.
        let mut activations: Vec<(TemplateId, Option<usize>)> = vec![(self.root, None)];
        let mut open = self.open_calls(self.root, 0, false, 0)?;
        while let Some(call) = open.pop() {
            if is_past(self.limits.deadline) {
                return Err(InlineError::OutOfTime);
            }
            let Some(Op::Call(Callee::Procedure(callee), ..)) = self.template.edges[call.edge].ops.last()
            else {
                continue;
            };
            let callee = *callee;
            let mut depth = 0;
            let mut at = Some(call.activation);
            while let Some(index) = at {
                depth += usize::from(activations[index].0 == callee);
                at = activations[index].1;
            }
            if depth >= self.limits.recursion {
                self.cut.insert(callee);
                let ops = &mut self.template.edges[call.edge].ops;
                ops.pop();
                ops.push(Op::Assume(Expr::bool(false)));
                continue;
            }
            if self.other_edges + self.template.edges.len() + self.originals[callee].edges.len()
                > self.limits.edges
            {
                return Err(InlineError::TooLarge { edges: self.limits.edges });
            }
            self.inlined.insert(callee);
            activations.push((callee, Some(call.activation)));
            let first = self.template.edges.len();
            self.copy_body(&call, callee);
            open.extend(self.open_calls(callee, activations.len() - 1, call.again, first)?);
        }
        for edge in std::mem::take(&mut self.late_edges) {
            self.template.edges.push(edge);
        }
        Ok(())
    }

    /// The calls in a body that was just copied, from edge number `first` on.
    fn open_calls(
        &mut self,
        body: TemplateId,
        activation: usize,
        again: bool,
        first: usize,
    ) -> Result<Vec<OpenCall>, InlineError> {
        let original = &self.originals[body];
        let in_cycle = edges_in_cycles(original);
        let mut calls = Vec::new();
        for (id, edge) in original.edges.enumerate() {
            for op in &edge.ops {
                match op {
                    Op::Call(Callee::Pointer(_), ..) | Op::Spawn(Callee::Pointer(_), ..) => {
                        return Err(InlineError::UnknownCallee(edge.span));
                    }
                    Op::Call(Callee::Procedure(_), ..) => {
                        let edge = EdgeId::new(first + id.index());
                        calls.push(OpenCall { edge, activation, again: again || in_cycle[id] });
                    }
                    Op::Spawn(Callee::Procedure(callee), ..) => self.spawned.push(*callee),
                    Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Unlock(..) | Op::Join(..) => {}
                    Op::Allocate { .. } | Op::Free(_) | Op::Fill(..) | Op::Copy(..) => {}
                    Op::Broadcast(_) => return Err(InlineError::Broadcast(edge.span)),
                }
            }
        }
        // The last one is processed first, so that early calls get low numbers.
        calls.reverse();
        Ok(calls)
    }
}

/// The edges that control may take more than once.
pub fn edges_in_cycles(template: &Template) -> IdVec<EdgeId, bool> {
    let outgoing = template.outgoing();
    let targets =
        |location: u32| outgoing[LocationId(location)].iter().map(|edge| template.edges[*edge].target.0);
    let of = components(template.locations.len() as u32, targets).of;
    template.edges.iter().map(|edge| of[edge.source.index()] == of[edge.target.index()]).collect()
}
