//! The variables and steps of a program.

use crate::accesses::{Access, Visibility, accesses};
use crate::follow::{Follower, follow};
use crate::memory::Cells;
use indexmap::{IndexMap, IndexSet};
use ir::passes::Unique;
use ir::{
    Callee, Count, EdgeId, IdVec, IntType, LocalId, LocationId, LocationKind, ObjectId, Op, Program,
    TemplateId,
};
use smt::expressions::Mode;
use smt::{Ghost, Operation, Symbol, Term, Variable};
use verdict::Analysed;

/// The meaning of a variable of the state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The cell at an offset of an object.
    Cell(ObjectId, u64),
    /// Several cells: a map from addresses to contents.
    Map,
    /// A local.
    Local(LocalId),
    /// The thread's id.
    Myself,
    /// The address of an object of the thread.
    FrameAddress,
    /// How many threads were started.
    Threads,
    /// The id of the one thread of a template; 0 before it starts.
    ThreadId(TemplateId),
    /// 1 when the one thread of a template has ended; else 0.
    Ended(TemplateId),
    /// The result of the one thread of a template, when it has ended.
    ThreadResult(TemplateId),
    /// The end of the heap: allocations have returned only lower addresses so far.
    HeapEnd,
    /// The first address of what a step allocates at a site, which is known before; it never changes.
    SiteStart(ObjectId, u32),
    /// The address just after it, in the same way.
    SiteEnd(ObjectId, u32),
}

/// A variable of the state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateVariable {
    /// Its name and sort. Names of shared variables and of those of one template are different.
    pub variable: Variable,
    /// The type of its values; `None` for a map.
    pub ty: Option<IntType>,
    /// Its meaning.
    pub kind: Kind,
    /// Its initial value, if unique; for an own variable, over the parameters of its thread.
    pub first: Option<Term>,
}

/// A thread that a step starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Start {
    /// Its template.
    pub template: TemplateId,
    /// The initial values of its parameters, in order, over the variables before the step and the inputs.
    pub parameters: Vec<Term>,
    /// Its id.
    pub id: Term,
}

/// A step of a thread: if the guard holds, the state may become the one with the updates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The thread's template.
    pub template: TemplateId,
    /// The edges that it takes, in order.
    pub edges: Vec<EdgeId>,
    /// Where it starts.
    pub source: LocationId,
    /// Where it ends.
    pub target: LocationId,
    /// When it can be taken: over the variables before it, and the inputs.
    pub guard: Term,
    /// The new values of the variables that it changes: over the variables before it, and the inputs.
    pub updates: IndexMap<Variable, Term>,
    /// Values that may be any that the guard allows.
    pub inputs: Vec<Variable>,
    /// The threads that it starts.
    pub starts: Vec<Start>,
}

/// A program as transitions.
#[derive(Clone, Debug)]
pub struct System<'p> {
    /// The program: inlined, compressed, its locks as words.
    pub program: &'p Program,
    /// The representation of numbers.
    pub mode: Mode,
    /// The shared variables.
    pub shared: Vec<StateVariable>,
    /// The own variables of the threads of each template.
    pub own: IdVec<TemplateId, Vec<StateVariable>>,
    /// All steps, by template and source.
    pub steps: Vec<Step>,
    /// Unique templates and single objects.
    pub unique: Unique,
    /// The accesses that may be part of races, if requested.
    pub accesses: Vec<Access>,
}

impl<'p> System<'p> {
    /// Derives the transitions of an inlined program without lock operations ([`ir::passes::lock_words`]).
    pub fn new(program: &'p Analysed, mode: Mode) -> Self {
        let mut system = Self::made(program, mode, false);
        system.drop_unread_variables();
        system
    }

    /// The same, with all variables, including those that no condition depends on.
    pub fn whole(program: &'p Analysed, mode: Mode) -> Self {
        Self::made(program, mode, false)
    }

    /// The same, with the accesses that may be part of races. The program was prepared for races.
    pub fn with_accesses(program: &'p Analysed, mode: Mode) -> Self {
        let mut system = Self::made(program, mode, true);
        system.drop_unread_variables();
        system
    }

    fn made(analysed: &'p Analysed, mode: Mode, races: bool) -> Self {
        let program = analysed.program();
        let points_to = analysed.points_to_whatever_it_takes();
        let escapes = points_to.escaping(program);
        let unique = Unique::of(program);
        let memory = domains::Memory::new(program, points_to, &escapes, unique.objects.clone());
        let cells = Cells::new(program, &memory, &unique, mode);
        let mut system = Self {
            program,
            mode,
            shared: cells.shared().into_iter().chain(ghosts(program, &unique, mode)).collect(),
            own: program
                .templates
                .enumerate()
                .map(|(template, code)| own_variables(program, template, code, &cells, mode))
                .collect(),
            steps: Vec::new(),
            unique,
            accesses: Vec::new(),
        };
        let visibility = Visibility { points_to, escapes: &escapes };
        for (template, code) in program.templates.enumerate() {
            for (edge, what) in code.edges.enumerate() {
                if races {
                    let follower = Follower::new(&system, &cells, template, edge);
                    let found = accesses(program, &visibility, follower);
                    system.accesses.extend(found);
                }
                // A program that has ended takes no steps: a thread that is about to end it might as well
                // wait.
                if code.locations[what.target].kind == LocationKind::Halt {
                    continue;
                }
                let step = follow(&system, &cells, template, edge);
                if !step.guard.is_false() {
                    system.steps.push(step);
                }
            }
        }
        system.steps.sort_by_key(|step| (step.template, step.source));
        system
    }

    /// A number of a type.
    pub fn number(&self, value: i128, ty: IntType) -> Term {
        self.mode.constant(ty.wrap(value), ty)
    }

    /// The condition that a term is a value of a type.
    pub fn in_range(&self, term: &Term, ty: IntType) -> Term {
        self.mode.range(term, ty)
    }

    /// The condition that a term is the id of a thread: ids fit into the words of locks (assumption 16 of
    /// `SOUNDNESS.md`).
    pub fn is_thread_id(&self, term: &Term) -> Term {
        let (one, most) = (1, IntType::I32.max());
        let pointer = self.program.data_model.pointer();
        let (one, most) = (self.number(one, pointer), self.number(most, pointer));
        match self.mode {
            Mode::Integers => one.at_most(term).and(&term.at_most(&most)),
            Mode::Bits => {
                let at_most = |a: &Term, b: &Term| Term::binary(Operation::UnsignedLessOrEqual, a, b);
                at_most(&one, term).and(&at_most(term, &most))
            }
        }
    }

    /// The invariant of some variables: each has a value of its type.
    pub fn ranges<'a>(&self, variables: impl IntoIterator<Item = &'a StateVariable>) -> Term {
        Term::all(
            variables
                .into_iter()
                .filter_map(|variable| variable.ty.map(|ty| self.in_range(&variable.variable.term(), ty))),
        )
    }

    /// What holds of the shared variables at the start.
    pub fn initial(&self) -> Term {
        let first = self.shared.iter().filter_map(|variable| {
            variable.first.as_ref().map(|first| variable.variable.term().equals(first))
        });
        Term::all(first).and(&self.ranges(&self.shared))
    }

    /// What holds of the variables of a thread when it starts, given the values of its parameters and its id.
    pub fn entry(&self, template: TemplateId, parameters: &[Term], id: &Term) -> Term {
        let mut facts = Vec::new();
        let given = self.program.templates[template].parameters;
        for variable in &self.own[template] {
            let here = variable.variable.term();
            match &variable.kind {
                Kind::Local(local) if (local.0 as usize) < given => {
                    if let Some(value) = parameters.get(local.0 as usize) {
                        facts.push(here.equals(value));
                    }
                }
                Kind::Myself => facts.push(here.equals(id)),
                Kind::Cell(..)
                | Kind::Map
                | Kind::Local(_)
                | Kind::FrameAddress
                | Kind::Threads
                | Kind::ThreadId(_)
                | Kind::Ended(_)
                | Kind::ThreadResult(_)
                | Kind::SiteStart(..)
                | Kind::SiteEnd(..)
                | Kind::HeapEnd => facts.extend(variable.first.as_ref().map(|first| here.equals(first))),
            }
        }
        Term::all(facts).and(&self.ranges(&self.own[template]))
    }

    /// The ids that the threads of an entry of [`Program::start`] may have: the first, and their number.
    pub fn first_ids(&self, entry: usize) -> (Option<i128>, Count) {
        let mut next = Some(1i128);
        for (_, count) in &self.program.start[..entry] {
            next = match count {
                Count::Exactly(copies) => next.map(|next| next + i128::from(*copies)),
                Count::Any => None,
            };
        }
        (next, self.program.start[entry].1)
    }

    /// The variable of a kind among the shared ones.
    pub fn shared_of(&self, kind: &Kind) -> Option<&Variable> {
        self.shared.iter().find(|variable| variable.kind == *kind).map(|variable| &variable.variable)
    }
    /// The variable of a kind among those of a thread.
    pub fn own_of(&self, template: TemplateId, kind: &Kind) -> Option<&Variable> {
        self.own[template].iter().find(|variable| variable.kind == *kind).map(|variable| &variable.variable)
    }
    /// Whether end locations of a template's threads count as ends.
    pub fn is_end(&self, template: TemplateId, location: LocationId) -> bool {
        matches!(
            self.program.templates[template].locations[location].kind,
            LocationKind::End | LocationKind::Exit
        )
    }

    /// Removes variables that no condition depends on.
    fn drop_unread_variables(&mut self) {
        let mut needed: IndexSet<(Option<TemplateId>, Variable)> = IndexSet::new();
        let own: IdVec<TemplateId, IndexSet<Variable>> = self
            .own
            .iter()
            .map(|variables| variables.iter().map(|variable| variable.variable.clone()).collect())
            .collect();
        let owner = |template: TemplateId, variable: Variable| {
            (own[template].contains(&variable).then_some(template), variable)
        };
        for step in &self.steps {
            needed.extend(step.guard.free_variables().into_iter().map(|v| owner(step.template, v)));
        }
        for access in &self.accesses {
            let terms = access.address.iter().chain([&access.condition]);
            let read = terms.flat_map(Term::free_variables);
            needed.extend(read.map(|v| owner(access.template, v)));
        }
        let mut at = 0;
        while at < needed.len() {
            let (template, variable) = needed[at].clone();
            at += 1;
            for step in &self.steps {
                if template.is_none_or(|template| template == step.template)
                    && let Some(value) = step.updates.get(&variable)
                {
                    needed.extend(value.free_variables().into_iter().map(|v| owner(step.template, v)));
                }
                for start in step.starts.iter().filter(|start| Some(start.template) == template) {
                    let kind = self.own[start.template].iter().find(|own| own.variable == variable);
                    let read: Vec<&Term> = match kind.map(|own| &own.kind) {
                        Some(Kind::Local(local)) => {
                            start.parameters.get(local.0 as usize).into_iter().collect()
                        }
                        Some(Kind::Myself) => vec![&start.id],
                        _ => vec![],
                    };
                    for term in read {
                        needed.extend(term.free_variables().into_iter().map(|v| owner(step.template, v)));
                    }
                }
            }
            let all = self.shared.iter().chain(template.iter().flat_map(|template| &self.own[*template]));
            for first in
                all.filter(|state| state.variable == variable).filter_map(|state| state.first.as_ref())
            {
                needed.extend(first.free_variables().into_iter().map(|v| match template {
                    Some(template) => owner(template, v),
                    None => (None, v),
                }));
            }
        }
        self.shared.retain(|variable| needed.contains(&(None, variable.variable.clone())));
        for template in self.program.templates.ids() {
            self.own[template]
                .retain(|variable| needed.contains(&(Some(template), variable.variable.clone())));
        }
        for step in &mut self.steps {
            let template = step.template;
            step.updates.retain(|variable, _| needed.contains(&owner(template, variable.clone())));
            let mut read = step.guard.free_variables();
            for value in step.updates.values() {
                read.extend(value.free_variables());
            }
            for start in &step.starts {
                start
                    .parameters
                    .iter()
                    .chain([&start.id])
                    .for_each(|term| read.extend(term.free_variables()));
            }
            step.inputs.retain(|input| read.contains(input));
        }
    }
}

/// The variables that record the starts and ends of threads.
fn ghosts(program: &Program, unique: &Unique, mode: Mode) -> Vec<StateVariable> {
    let pointer = program.data_model.pointer();
    let number = |value: i128| mode.constant(value, pointer);
    let ghost = |symbol: Symbol, kind: Kind, first: Option<i128>| StateVariable {
        variable: Variable::new(symbol, mode.sort(pointer)),
        ty: Some(pointer),
        kind,
        first: first.map(number),
    };
    let mut exact = Some(0i128);
    for (_, count) in &program.start {
        exact = match count {
            Count::Exactly(copies) => exact.map(|sum| sum + i128::from(*copies)),
            Count::Any => None,
        };
    }
    let mut found = vec![ghost(Symbol::Threads, Kind::Threads, exact)];
    for (template, code) in program.templates.enumerate().filter(|(template, _)| unique.templates[*template])
    {
        let started = program.start.iter().any(|(started, _)| *started == template);
        let spawned = program
            .templates
            .iter()
            .flat_map(|code| code.edges.iter())
            .flat_map(|edge| &edge.ops)
            .any(|op| matches!(op, Op::Spawn(Callee::Procedure(child), ..) if *child == template));
        if spawned && !started {
            let symbol =
                |ghost: Ghost| Symbol::Ghost { ghost, name: code.name.clone(), template: template.0 };
            found.push(ghost(symbol(Ghost::Id), Kind::ThreadId(template), Some(0)));
            found.push(ghost(symbol(Ghost::End), Kind::Ended(template), Some(0)));
            found.push(ghost(symbol(Ghost::Result), Kind::ThreadResult(template), Some(0)));
        }
    }
    found
}

fn own_variables(
    program: &Program,
    template: TemplateId,
    code: &ir::Template,
    cells: &Cells<'_, '_>,
    mode: Mode,
) -> Vec<StateVariable> {
    let pointer = program.data_model.pointer();
    let mut found = Vec::new();
    for (id, local) in code.locals.enumerate() {
        let first = (id.0 as usize >= code.parameters).then(|| mode.constant(0, local.ty));
        let (template, name) = (code.name.clone(), local.name.clone());
        let variable = Variable::new(Symbol::Local { template, name, local: id.0 }, mode.sort(local.ty));
        found.push(StateVariable { variable, ty: Some(local.ty), kind: Kind::Local(id), first });
    }
    let me = Variable::new(Symbol::Myself { template: code.name.clone() }, mode.sort(pointer));
    found.push(StateVariable { variable: me, ty: Some(pointer), kind: Kind::Myself, first: None });
    found.extend(cells.own(template));
    found
}
