//! The variables of the analysis, and the definitions of shared cells.
//!
//! A *definition* is a step that may write a shared cell, or that tests a strong one: `mod` of the paper,
//! where an assumption counts as a modification of its variables. A test of a copy counts as a test of the
//! original, if both are on one edge ([`domains::transfer`]). Any set of steps that contains all writes is
//! sound; tests are in it because the value is better known after them. Not so for packs, where definitions
//! are writes of any of their cells: a thread that tests one cell outside of all locks knows little of the
//! others, and its test would hide what the thread that wrote them knew.

use crate::coreachable::Known;
use crate::model::{Model, Node, Step};
use domains::{Memory, PackId, Scope, Thresholds, Touches, Variable};
use ir::ids::Id;
use ir::passes::bits::BitSet;
use ir::passes::liveness::live_locals;
use ir::{EdgeId, Expr, IdVec, LocalId, LocationId, TemplateId};

/// The subject of a data flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Subject {
    /// A shared cell.
    Cell(Variable),
    /// A pack of shared cells: their values together.
    Pack(PackId),
}

/// A step that defines a shared cell, or cells of a pack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Definition {
    /// The step.
    pub step: Step,
    /// What it defines.
    pub subject: Subject,
    /// Whether it may write it.
    pub writes: bool,
}

/// The number of a definition.
pub type DefinitionId = usize;

/// The fixed input of the analysis.
pub struct Setup<'a, 'p> {
    /// The program.
    pub model: &'a Model<'p>,
    /// The facts of the control side.
    pub known: &'a Known,
    /// The variables.
    pub memory: Memory<'a>,
    /// All definitions; those of one subject follow one another.
    pub definitions: Vec<Definition>,
    /// The definitions of each step.
    pub defined_by: IdVec<TemplateId, IdVec<EdgeId, Vec<DefinitionId>>>,
    /// Shared cells that are tracked, in order.
    pub shared: Vec<Variable>,
    /// Where widening stops.
    pub thresholds: Thresholds,
    /// The locals that are relevant at each location.
    live: IdVec<TemplateId, IdVec<LocationId, BitSet>>,
}

/// The locals that are relevant at each location of a template: those that are read later, and those that an
/// address in one of these is computed from, as their values say where in the object it is.
fn relevant_locals(model: &Model<'_>, known: &Known, template: TemplateId) -> IdVec<LocationId, BitSet> {
    let mut live = live_locals(&model.program.templates[template]);
    for location in model.program.templates[template].locations.ids() {
        let here = &mut live[location];
        let mut bases: Vec<LocalId> = Vec::new();
        for (local, value) in &known.facts[model.node(template, location)].equal {
            let mut is_address = false;
            value.walk(&mut |inner| is_address |= matches!(inner, Expr::Address(..)));
            if is_address && here.contains(local.index()) {
                value.walk(&mut |inner| {
                    if let Expr::Local(base) = inner {
                        bases.push(*base);
                    }
                });
            }
        }
        bases.into_iter().for_each(|base| {
            here.insert(base.index());
        });
    }
    live
}

impl<'a, 'p> Setup<'a, 'p> {
    /// Analyses a program, without relations between variables.
    pub fn new(model: &'a Model<'p>, known: &'a Known) -> Self {
        let program = model.program;
        let single = program.objects.ids().map(|object| model.is_single(object)).collect();
        let memory = Memory::new(program, model.points_to, &model.escapes, single);
        Self::with_memory(model, known, memory)
    }

    /// With these variables.
    pub fn with_memory(model: &'a Model<'p>, known: &'a Known, memory: Memory<'a>) -> Self {
        let program = model.program;
        let mut touches: IdVec<TemplateId, IdVec<EdgeId, Touches>> = IdVec::new();
        for (template, code) in program.templates.enumerate() {
            let scope = Scope::new(&memory, template);
            let of_edge = |edge: EdgeId| {
                let source = model.node(template, code.edges[edge].source);
                scope.touches(edge, &known.facts[source].equal)
            };
            touches.push(code.edges.ids().map(of_edge).collect());
        }
        let shared: Vec<Variable> =
            memory.cells().map(|(id, _)| id).filter(|id| memory.is_shared(*id)).collect();
        let mut definitions: Vec<Definition> = Vec::new();
        for (template, edges) in touches.enumerate() {
            for (edge, touches) in edges.enumerate() {
                let step = Step { template, edge };
                let mut add = |cell: Variable, writes: bool| {
                    if memory.is_shared(cell) {
                        definitions.push(Definition { step, subject: Subject::Cell(cell), writes });
                    }
                };
                touches.writes.iter().for_each(|cell| add(*cell, true));
                let tests = touches.tests.iter().filter(|cell| !touches.writes.contains(cell));
                tests.for_each(|cell| add(*cell, false));
                for (pack, cells) in memory.shared_packs() {
                    if cells.iter().any(|cell| touches.writes.contains(cell)) {
                        definitions.push(Definition { step, subject: Subject::Pack(pack), writes: true });
                    }
                }
            }
        }
        definitions.sort_by_key(|definition| (definition.subject, definition.step));
        let mut defined_by: IdVec<TemplateId, IdVec<EdgeId, Vec<DefinitionId>>> =
            program.templates.iter().map(|code| code.edges.iter().map(|_| Vec::new()).collect()).collect();
        for (id, definition) in definitions.iter().enumerate() {
            defined_by[definition.step.template][definition.step.edge].push(id);
        }
        Self {
            model,
            known,
            definitions,
            defined_by,
            shared,
            thresholds: Thresholds::of_program(program),
            live: program.templates.ids().map(|template| relevant_locals(model, known, template)).collect(),
            memory,
        }
    }

    /// The variables as a thread of a template sees them.
    pub fn scope(&self, template: TemplateId) -> Scope<'_, 'a> {
        Scope::new(&self.memory, template)
    }
    /// The equalities that are known at a location whatever other threads do.
    pub fn fixed_equal(&self, node: Node) -> &[(LocalId, Expr)] {
        &self.known.facts[node].equal
    }
    /// Where a step starts.
    pub fn source(&self, step: Step) -> Node {
        self.model.node(step.template, self.model.edge(step).source)
    }
    /// Whether a step defines something.
    pub fn defines(&self, step: Step, subject: Subject) -> bool {
        self.defined_by[step.template][step.edge].iter().any(|id| self.definitions[*id].subject == subject)
    }
    /// All subjects of data flow.
    pub fn subjects(&self) -> impl Iterator<Item = Subject> {
        let packs = self.memory.shared_packs().map(|(pack, _)| Subject::Pack(pack));
        self.shared.iter().map(|cell| Subject::Cell(*cell)).chain(packs)
    }
    /// Whether a local is relevant at a location.
    pub fn is_live(&self, template: TemplateId, location: LocationId, local: LocalId) -> bool {
        self.live[template][location].contains(local.index())
    }
    /// The local that a variable is, in its template.
    pub fn as_local(&self, variable: Variable) -> Option<LocalId> {
        variable.index().checked_sub(self.memory.count()).map(LocalId::new)
    }
}
