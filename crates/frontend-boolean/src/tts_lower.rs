//! From thread transition systems to the common representation.
//!
//! A thread has its local state in a local variable; the shared state is a static object. Local variables
//! start as 0, so for each local state `k` in which threads start there is a template in which 0 and `k` have
//! changed names; else the templates are the same. A transition is one edge. The target is reached by steps
//! of its own: the threads that it names step forward one after the other, through shared states that belong
//! to no transition, so that nothing else happens between them; the last one reaches an error location. This
//! is exact: they can do so if and only if all of them are there at once.

use crate::diagnostic::{Position, Problem};
use crate::lower::span;
use crate::tts::{Initial, System, Target, Transition};
use crate::values::balanced;
use ir::{
    Assignment, Assumption, BinaryOp, Broadcast, Callee, Count, ErrorKind, Expr, IntType, Layout, Lhs,
    LocalId, LocationKind, Object, ObjectId, Op, Place, Rhs, Span, Storage, Template, TemplateId,
};

/// The shared state.
const SHARED: ObjectId = ObjectId(0);
/// A thread's local state.
const LOCAL: LocalId = LocalId(0);

struct Lowering<'a> {
    system: &'a System,
    shared: IntType,
    local: IntType,
    /// For each template the local state that it starts in.
    starts: Vec<u32>,
    /// Bits of choice that a thread needs where others move it.
    choices: u32,
}

/// Lowers a system.
pub(crate) fn lower(
    system: &System,
    target: Option<&Target>,
    initial: &Initial,
    file: &str,
) -> Result<ir::Program, Problem> {
    let at = Position { line: 1, column: 1 };
    let outside = |what: &str, number: u32| {
        Problem::new(at, format!("the initial {what} state {number} does not exist"))
    };
    if initial.shared >= system.shared {
        return Err(outside("shared", initial.shared));
    }
    if let Some(bad) = initial.one.iter().chain(&initial.any).find(|local| **local >= system.local) {
        return Err(outside("local", *bad));
    }
    let mut starts: Vec<u32> = initial.one.iter().chain(&initial.any).copied().collect();
    starts.sort_unstable();
    starts.dedup();
    if starts.is_empty() {
        starts.push(0);
    }
    let phases = target.map_or(0, |target| target.local.len() as u32);
    let width = |count: u32| match count {
        0..=0x100 => IntType::U8,
        0x101..=0x1_0000 => IntType::U16,
        _ => IntType::U32,
    };
    let most_choices = system.transitions.iter().map(choices_of).max().unwrap_or(0);
    let lowering = Lowering {
        system,
        shared: width(system.shared + phases),
        local: width(system.local + 1),
        starts,
        choices: most_choices,
    };
    let mut program = ir::Program { files: vec![file.to_owned()], ..ir::Program::default() };
    let size = lowering.shared.bytes();
    program.objects.push(Object {
        name: "shared".to_owned(),
        storage: Storage::Static,
        size,
        align: size,
        layout: Layout::Scalar(lowering.shared),
        initial: ir::Initial::Values(vec![(0, lowering.shared, lowering.shared_number(initial.shared))]),
        span: span(at),
        role: ir::ObjectRole::Program,
    });
    for (index, local) in lowering.starts.iter().enumerate() {
        let id = program.templates.push(lowering.template(index, target));
        let copies = initial.one.iter().filter(|one| *one == local).count() as u32;
        if copies > 0 {
            program.start.push((id, Count::Exactly(copies)));
        }
        if initial.any.contains(local) {
            program.start.push((id, Count::Any));
        }
    }
    if let Some(target) = target
        && (target.shared >= system.shared || target.local.iter().any(|local| *local >= system.local))
    {
        let text = "the target names a state that does not exist, so it is never reached".to_owned();
        program.assumptions.push(Assumption { text, span: span(at), limits_proof: false });
    }
    Ok(program)
}

/// How many options the other threads have, at most, in bits.
fn choices_of(transition: &Transition) -> u32 {
    let sources = transition.others.iter().map(|(source, _)| source);
    let count = |source: &u32| transition.others.iter().filter(|(other, _)| other == source).count() as u32;
    sources.map(count).max().unwrap_or(0).next_power_of_two().trailing_zeros()
}

impl Lowering<'_> {
    fn shared_number(&self, number: u32) -> Expr {
        Expr::int(i128::from(number), self.shared)
    }
    /// A local state, as the template with this number calls it.
    fn coded(&self, template: usize, state: u32) -> u32 {
        let start = self.starts[template];
        if state == start {
            0
        } else if state == 0 {
            start
        } else {
            state
        }
    }
    fn local_number(&self, template: usize, state: u32) -> Expr {
        Expr::int(i128::from(self.coded(template, state)), self.local)
    }
    fn shared_cell(&self) -> Place {
        Place { atomic: true, ..Place::cell(SHARED, 0, self.shared) }
    }

    /// The shared state is `shared` and the thread is in `local`.
    fn is_at(&self, template: usize, shared: u32, local: u32) -> Op {
        let first = Expr::binary(
            BinaryOp::Eq,
            self.shared,
            Expr::load(self.shared_cell()),
            self.shared_number(shared),
        );
        Op::Assume(first.and(self.is_local(template, local)))
    }
    fn is_local(&self, template: usize, local: u32) -> Expr {
        Expr::binary(BinaryOp::Eq, self.local, Expr::Local(LOCAL), self.local_number(template, local))
    }
    /// Sets both states.
    fn go_to(&self, template: usize, shared: u32, local: u32) -> Op {
        let pairs = vec![
            (Lhs::Memory(self.shared_cell()), Rhs::Value(self.shared_number(shared))),
            (Lhs::Local(LOCAL), Rhs::Value(self.local_number(template, local))),
        ];
        Op::Assign(Assignment { pairs, constraint: None })
    }

    fn template(&self, index: usize, target: Option<&Target>) -> Template {
        let at = Span { file: 0, line: 1, column: 1 };
        let start = self.starts[index];
        let (name, local) = if start == 0 {
            ("thread".to_owned(), "local".to_owned())
        } else {
            (format!("thread.from.{start}"), format!("local.with.0.as.{start}.and.{start}.as.0"))
        };
        let mut template = Template { name, span: at, parameters: 1, ..Template::default() };
        template.local(local, self.local, at);
        for bit in 0..self.choices {
            template.local(format!("choice{bit}"), IntType::BOOL, at);
        }
        let hub = template.location(LocationKind::Normal, false);
        template.entry = hub;
        for transition in &self.system.transitions {
            let Transition { from, to, starts, others, at } = transition;
            let stays = if *starts { from.1 } else { to.1 };
            let mut ops = vec![self.is_at(index, from.0, from.1), self.go_to(index, to.0, stays)];
            ops.extend(self.others(others));
            if *starts {
                let argument = vec![self.local_number(0, to.1)];
                ops.push(Op::Spawn(Callee::Procedure(TemplateId(0)), argument, None));
            }
            template.edge(hub, hub, ops, span(*at));
        }
        if let Some(target) = target {
            let exists = target.shared < self.system.shared
                && target.local.iter().all(|local| *local < self.system.local);
            let error = template.location(LocationKind::Error(ErrorKind::ReachError), false);
            for (phase, local) in target.local.iter().enumerate().filter(|_| exists) {
                let before = if phase == 0 { target.shared } else { self.system.shared + phase as u32 - 1 };
                let last = phase + 1 == target.local.len();
                let after = self.go_to(index, self.system.shared + phase as u32, self.system.local);
                let goal = if last { error } else { hub };
                template.edge(hub, goal, vec![self.is_at(index, before, *local), after], at);
            }
            if target.local.is_empty() && exists {
                let reached = Expr::binary(
                    BinaryOp::Eq,
                    self.shared,
                    Expr::load(self.shared_cell()),
                    self.shared_number(target.shared),
                );
                template.edge(hub, error, vec![Op::Assume(reached)], at);
            }
        }
        template
    }

    /// Moves all other threads.
    fn others(&self, moves: &[(u32, u32)]) -> Vec<Op> {
        if moves.is_empty() {
            return Vec::new();
        }
        let bits: Vec<LocalId> = (1..=self.choices).map(LocalId).collect();
        let mut sources: Vec<u32> = moves.iter().map(|(source, _)| *source).collect();
        sources.sort_unstable();
        sources.dedup();
        let branching =
            sources.iter().any(|source| moves.iter().filter(|(from, _)| from == source).count() > 1);
        let mut ops = Vec::new();
        for template in 0..self.starts.len() {
            let to = TemplateId(template as u32);
            let broadcast = |pairs| {
                Op::Broadcast(Broadcast {
                    to,
                    arguments: Vec::new(),
                    assignment: Assignment { pairs, constraint: None },
                })
            };
            if branching {
                ops.push(broadcast(bits.iter().map(|bit| (Lhs::Local(*bit), Rhs::Any)).collect()));
            }
            let zero = Expr::int(0, self.local);
            let mut parts: Vec<Expr> = Vec::new();
            for source in &sources {
                let mut options: Vec<Expr> = moves
                    .iter()
                    .filter(|(from, _)| from == source)
                    .map(|(_, to)| self.local_number(template, *to))
                    .collect();
                let mut level = 0;
                while options.len() > 1 {
                    let bit = Expr::Local(bits[level]);
                    options = options
                        .chunks(2)
                        .map(|pair| match pair {
                            [a, b] => Expr::IfThenElse(Box::new((bit.clone(), b.clone(), a.clone()))),
                            _ => pair[0].clone(),
                        })
                        .collect();
                    level += 1;
                }
                let moved = options.pop().unwrap_or_else(|| zero.clone());
                parts.push(Expr::IfThenElse(Box::new((
                    self.is_local(template, *source),
                    moved,
                    zero.clone(),
                ))));
            }
            let moves_at_all =
                balanced(BinaryOp::Or, sources.iter().map(|s| self.is_local(template, *s)).collect());
            parts.push(Expr::IfThenElse(Box::new((moves_at_all, zero, Expr::Local(LOCAL)))));
            let together = fold_or(parts, self.local);
            ops.push(broadcast(vec![(Lhs::Local(LOCAL), Rhs::Value(together))]));
            if branching {
                let clear = |bit: &LocalId| (Lhs::Local(*bit), Rhs::Value(Expr::bool(false)));
                ops.push(broadcast(bits.iter().map(clear).collect()));
            }
        }
        ops
    }
}

/// The bitwise disjunction of numbers, as a tree of small depth.
fn fold_or(mut parts: Vec<Expr>, ty: IntType) -> Expr {
    while parts.len() > 1 {
        parts = parts
            .chunks(2)
            .map(|pair| match pair {
                [a, b] => Expr::binary(BinaryOp::Or, ty, a.clone(), b.clone()),
                _ => pair[0].clone(),
            })
            .collect();
    }
    parts.pop().unwrap_or_else(|| Expr::int(0, ty))
}
