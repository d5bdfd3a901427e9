//! Builds the copies of procedures in which the interrupt flag is control.

use super::flag::{Analysis, Entry, Exit, State, Step};
use crate::expr::Expr;
use crate::ids::{IdVec, LocalId, LocationId, ObjectId, TemplateId};
use crate::op::{Assignment, Callee, Lhs, LockKind, Op, Rhs};
use crate::passes::renumber::each_mention;
use crate::program::{Location, LocationKind, Program, Storage, Template};
use crate::types::IntType;
use indexmap::IndexMap;

/// The runner of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// The main procedure, which holds the lock of the processor while the flag is cleared.
    Main,
    /// A handler that can be interrupted.
    Handler,
    /// A thread that needs no lock.
    Masked,
}

type Key = (Entry, Role, Option<Exit>);

/// Makes copies on demand.
pub struct Builder<'a, 'p> {
    program: &'p Program,
    analysis: &'a Analysis<'p>,
    result: Program,
    processor: Option<ObjectId>,
    copies: IndexMap<Key, TemplateId>,
    /// The number of copies that are built so far.
    built: usize,
}

impl<'a, 'p> Builder<'a, 'p> {
    /// Appends copies to the templates of `result`, which are those of `program`.
    pub fn new(
        program: &'p Program,
        analysis: &'a Analysis<'p>,
        result: Program,
        processor: Option<ObjectId>,
    ) -> Self {
        Self { program, analysis, result, processor, copies: IndexMap::new(), built: 0 }
    }
    /// The copy for a call; with an exit, one that returns only in that way.
    pub fn clone_of(&mut self, entry: &Entry, role: Role, exit: Option<Exit>) -> TemplateId {
        let key = (entry.clone(), role, exit);
        if let Some(id) = self.copies.get(&key) {
            return *id;
        }
        let id = self.result.templates.push(Template::default());
        self.copies.insert(key, id);
        id
    }
    /// Adds a template that is no copy.
    pub fn add(&mut self, template: Template) -> TemplateId {
        self.result.templates.push(template)
    }
    /// Builds all needed copies. The originals remain as empty procedures, since pointers may name them.
    pub fn finish(mut self) -> Program {
        while let Some(((entry, role, exit), id)) = self.copies.get_index(self.built) {
            let (entry, role, exit, id) = (entry.clone(), *role, *exit, *id);
            self.built += 1;
            self.result.templates[id] = self.build(&entry, role, exit, id);
        }
        for id in self.program.templates.ids() {
            let template = &mut self.result.templates[id];
            let location = |kind| Location { kind, ..Location::default() };
            template.locations =
                [LocationKind::Normal, LocationKind::End].map(location).into_iter().collect();
            template.edges = IdVec::new();
            template.entry = LocationId(0);
            template.edge(LocationId(0), LocationId(1), vec![], template.span);
        }
        self.result
    }

    fn build(&mut self, entry: &Entry, role: Role, exit: Option<Exit>, id: TemplateId) -> Template {
        let code = &self.program.templates[entry.template];
        let mut template =
            Template { locations: IdVec::new(), edges: IdVec::new(), entry: LocationId(0), ..code.clone() };
        let frames = self.frames(entry.template, id);
        let mut states: IndexMap<State, LocationId> = IndexMap::new();
        let first = self.analysis.first(entry);
        self.location(entry, exit, &mut template, &mut states, first);
        let mut next = 0;
        let mut mark = None;
        while let Some((state, source)) = states.get_index(next) {
            let (state, source) = (state.clone(), *source);
            next += 1;
            for edge in self.analysis.edges(entry.template, &state).to_vec() {
                for step in self.analysis.steps(entry.template, &state, edge) {
                    let target = match step.returns {
                        true => self.location(entry, exit, &mut template, &mut states, step.target.clone()),
                        // Control never reaches it; while the callee runs, it determines atomicity.
                        false => template.location(LocationKind::Normal, false),
                    };
                    let span = code.edges[edge].span;
                    let (ops, pause) = self.ops(&state, step, role, &mut template, &mut mark);
                    let ops = ops.into_iter().map(|op| moved(op, &frames)).collect();
                    if pause {
                        let between = template.location(LocationKind::Normal, false);
                        template.edge(source, between, ops, span);
                        let unsure = Op::unknown(Lhs::Local(marked(&mut template, &mut mark)));
                        template.edge(between, target, vec![unsure], span);
                    } else {
                        template.edge(source, target, ops, span);
                    }
                }
            }
        }
        template
    }

    fn location(
        &self,
        entry: &Entry,
        exit: Option<Exit>,
        template: &mut Template,
        states: &mut IndexMap<State, LocationId>,
        state: State,
    ) -> LocationId {
        if let Some(location) = states.get(&state) {
            return *location;
        }
        let before = self.program.templates[entry.template].locations[state.location];
        let returns_so = exit.is_none_or(|exit| self.analysis.exit(entry.template, &state) == exit);
        // A copy that returns in another way ends here: another copy is the right one.
        let kind = match before.kind {
            LocationKind::End if !returns_so => LocationKind::Normal,
            kind => kind,
        };
        let location = template.location(kind, before.atomic || !state.enabled);
        states.insert(state, location);
        location
    }

    /// The operations of a step, and whether handlers may spuriously fire at its end.
    fn ops(
        &mut self,
        from: &State,
        step: Step,
        role: Role,
        template: &mut Template,
        mark: &mut Option<LocalId>,
    ) -> (Vec<Op>, bool) {
        let mut ops = step.ops;
        if step.guessed {
            // The constraint prevents its removal: nothing else reads the local.
            let mark = marked(template, mark);
            let pairs = vec![(Lhs::Local(mark), Rhs::Unknown)];
            ops.push(Op::Assign(Assignment { pairs, constraint: Some(Expr::Local(mark)) }));
        }
        if let Some((entry, exit)) = step.call {
            let exits = self.analysis.exits(&entry).len();
            let copy = self.clone_of(&entry, role, (exits > 1).then_some(exit));
            if let Some(Op::Call(callee, ..)) = ops.last_mut() {
                *callee = Callee::Procedure(copy);
            }
            // While the callee runs, the caller counts as being at the return location.
            return (ops, !step.target.enabled && self.analysis.may_enable(&entry));
        }
        if let (Role::Main, Some(lock)) = (role, self.processor) {
            let address = Expr::Address(lock, 0);
            match (from.enabled, step.target.enabled) {
                (true, false) => ops.insert(0, Op::Lock(LockKind::Write, address)),
                (false, true) => ops.push(Op::Unlock(LockKind::Write, address)),
                (true, true) | (false, false) => {}
            }
        }
        (ops, false)
    }

    /// Copies the frame objects of a template.
    fn frames(&mut self, from: TemplateId, to: TemplateId) -> Vec<(ObjectId, ObjectId)> {
        let objects = self.program.objects.enumerate();
        let frames = objects.filter(|(_, object)| object.storage == Storage::Frame(from));
        let copy = |(id, object): (ObjectId, &crate::program::Object)| {
            let copy = crate::program::Object { storage: Storage::Frame(to), ..object.clone() };
            (id, self.result.objects.push(copy))
        };
        frames.map(copy).collect()
    }
}

/// A local that marks an execution as no evidence from here on.
fn marked(template: &mut Template, mark: &mut Option<LocalId>) -> LocalId {
    let span = template.span;
    *mark.get_or_insert_with(|| template.local("%guess", IntType::BOOL, span))
}

/// The operation with the copy's own frame objects.
fn moved(mut op: Op, frames: &[(ObjectId, ObjectId)]) -> Op {
    let mut change = |expr: &mut Expr| {
        if let Expr::Address(object, _) = expr
            && let Some((_, copy)) = frames.iter().find(|(from, _)| from == object)
        {
            *object = *copy;
        }
    };
    each_mention(&mut op, &mut change, &mut |_| {}, &mut |_| {});
    op
}
