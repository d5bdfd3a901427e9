//! The programs.

use domains::{Linear, Number, PackId, Variable};
use engine_flow::Flow;
use engine_flow::data::coarsen::{Coarsened, coarsen};
use engine_flow::data::setup::{Setup, Subject};
use engine_flow::engine::analyse;
use engine_flow::model::{Model, Node, Step};
use ir::ids::Id;
use ir::{EdgeId, ErrorKind, LocationId, TemplateId};
use verdict::{Budget, Engine, FlowProof, Proof, Property, Silent, Task, Verdict, Views};

/// Figure 1. The location `uN` of the paper is the source of the edge with that mark.
pub const FIGURE_1: &str = "program lp64
start Producer any
start Consumer any
static lock1: mutex size 40
static lock2: mutex size 40
static counter: i32
template Producer() {
  local batch: i32
  locations 14
  end l13
  l0 -> l1: batch := any; assume 0 <= batch
  l1 -> l2: lock mutex &lock2
  l2 -> l3: lock mutex &lock1
  l3 -> l4: assume 0 < atomic i32[&counter]
  l4 -> l5: atomic i32[&counter] := atomic i32[&counter] + 1
  l5 -> l6: unlock mutex &lock1
  l6 -> l13: unlock mutex &lock2
  l3 -> l7: assume !(0 < atomic i32[&counter])
  l7 -> l8: unlock mutex &lock1
  l8 -> l9: atomic i32[&counter] := 0
  l9 -> l10: assume 0 < batch
  l10 -> l11: atomic i32[&counter] := atomic i32[&counter] + 1
  l11 -> l9: batch := batch - 1
  l9 -> l12: assume !(0 < batch)
  l12 -> l13: unlock mutex &lock2
}
template Consumer() {
  locations 8
  end l7
  error assertion l5
  l0 -> l1: lock mutex &lock1
  l1 -> l2: unlock mutex &lock1
  l2 -> l1: lock mutex &lock1
  l1 -> l3: assume 0 < atomic i32[&counter]
  l3 -> l4: atomic i32[&counter] := atomic i32[&counter] - 1
  l4 -> l5: assume !(0 <= atomic i32[&counter])
  l4 -> l6: assume 0 <= atomic i32[&counter]
  l6 -> l7: unlock mutex &lock1
}
";

/// Figure 2, from its description: a global `c` and a local `incr`, two code segments in any number of
/// threads.
pub const FIGURE_2: &str = "program lp64
start U any
start V any
static c: i32
template U() {
  local incr: i32
  locations 3
  end l2
  l0 -> l1: incr := 1
  l1 -> l2: atomic i32[&c] := atomic i32[&c] + incr
}
template V() {
  local incr: i32
  local seen: i32
  locations 5
  end l4
  error assertion l3
  l0 -> l1: incr := -7
  l1 -> l2: seen := atomic i32[&c]
  l2 -> l3: assume !(0 <= seen)
  l2 -> l4: assume 0 <= seen
}
";

/// Two counters that are changed under a lock, and a thread that compares them under it.
pub const TWO_COUNTERS: &str = "program lp64
start T any
start V any
static m: mutex size 40
static x: i32
static y: i32
template T() {
  locations 5
  end l4
  l0 -> l1: lock mutex &m
  l1 -> l2: i32[&x] := i32[&x] + 1
  l2 -> l3: i32[&y] := i32[&y] + 1
  l3 -> l4: unlock mutex &m
}
template V() {
  locations 4
  end l2
  error assertion l3
  l0 -> l1: lock mutex &m
  l1 -> l2: assume i32[&x] == i32[&y]; unlock mutex &m
  l1 -> l3: assume !(i32[&x] == i32[&y])
}
";

/// Figure 1 with a global `batch`, so that it may be grouped with the counter (section 5.1).
pub fn figure_1_with_a_global_batch() -> String {
    let changes = [
        ("static counter: i32", "static counter: i32\nstatic batch: i32"),
        ("  local batch: i32\n", ""),
        ("l0 -> l1: batch := any; assume 0 <= batch", "l0 -> l1:"),
        ("l1 -> l2: lock mutex &lock2", "l1 -> l2: lock mutex &lock2; atomic i32[&batch] := any"),
        ("assume 0 < batch", "assume 0 < atomic i32[&batch]"),
        ("batch := batch - 1", "atomic i32[&batch] := atomic i32[&batch] - 1"),
        ("assume !(0 < batch)", "assume !(0 < atomic i32[&batch])"),
    ];
    changes.iter().fold(FIGURE_1.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

/// What is asked of all of them.
pub fn property() -> Property {
    Property::NoError([ErrorKind::Assertion].into())
}

/// The program of a text.
pub fn parse(text: &str) -> Views {
    ir::text::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")).into()
}

/// The proof that the engine finds, if any.
pub fn proof(program: &Views) -> Option<FlowProof> {
    let property = property();
    let task = Task { program, property: &property };
    match Flow.verify(task, &Budget::unlimited(), &Silent) {
        Verdict::Safe(Proof::Flow(proof)) => Some(*proof),
        _ => None,
    }
}

/// Runs the analysis on a program as it is, without compression.
pub fn with_analysis<T>(text: &str, ask: impl FnOnce(&Analysed<'_, '_, '_>) -> T) -> T {
    with_group(text, &[], ask)
}

/// Runs it with a group of globals that are related to each other.
pub fn with_group<T>(text: &str, group: &[&str], ask: impl FnOnce(&Analysed<'_, '_, '_>) -> T) -> T {
    let program = verdict::Analysed::from(parse(text).program().clone());
    let model = Model::of(&program, &Budget::unlimited()).expect("there is no limit");
    let (known, reached, _) = analyse(&model, &Budget::unlimited()).expect("there is no limit");
    let setup = Setup::new(&model, &known);
    let mut memory = setup.memory.clone();
    let named = |cell: &domains::Cell| group.contains(&program.objects[cell.object].name.as_str());
    let cells: Vec<Variable> = memory.cells().filter(|(_, cell)| named(cell)).map(|(id, _)| id).collect();
    assert_eq!(cells.len(), group.len());
    let packs = if cells.is_empty() { vec![] } else { vec![cells] };
    assert!(memory.relate(&packs, &vec![vec![]; program.templates.len()]));
    let setup = Setup::with_memory(&model, &known, memory);
    let result = coarsen(&setup, reached.pairs.len(), None, &Budget::unlimited()).expect("there is no limit");
    ask(&Analysed { setup: &setup, result })
}

/// A result to ask questions of.
pub struct Analysed<'s, 'a, 'p> {
    pub setup: &'s Setup<'a, 'p>,
    pub result: Coarsened,
}

impl Analysed<'_, '_, '_> {
    fn template(&self, name: &str) -> TemplateId {
        let templates = &self.setup.model.program.templates;
        templates.ids().find(|id| templates[*id].name == name).expect("the template exists")
    }
    pub fn node(&self, name: &str, location: u32) -> Node {
        self.setup.model.node(self.template(name), LocationId(location))
    }
    fn cell(&self, name: &str) -> Variable {
        let named = |object: ir::ObjectId| self.setup.model.program.objects[object].name == name;
        let mut cells = self.setup.memory.cells();
        cells.find(|(_, cell)| named(cell.object)).expect("the cell exists").0
    }
    /// What is known of a cell at a location.
    pub fn known(&self, cell: &str, name: &str, location: u32) -> Option<Number> {
        self.result.annotation.values[self.node(name, location)].numbers.get(self.cell(cell)).copied()
    }
    /// What is known of a local at a location.
    pub fn local(&self, local: u32, name: &str, location: u32) -> Option<Number> {
        let variable = self.setup.memory.local(ir::LocalId(local));
        self.result.annotation.values[self.node(name, location)].numbers.get(variable).copied()
    }
    /// Whether there is a data flow of a cell from the edge between two locations to a location.
    pub fn flows(&self, cell: &str, name: &str, edge: (u32, u32), to: Node) -> bool {
        self.flows_of(Subject::Cell(self.cell(cell)), name, edge, to)
    }
    /// Whether there is a data flow of the group.
    pub fn group_flows(&self, name: &str, edge: (u32, u32), to: Node) -> bool {
        self.flows_of(Subject::Pack(PackId(0)), name, edge, to)
    }
    /// Whether the first value of a cell may be there at a location.
    pub fn is_first(&self, cell: &str, at: Node) -> bool {
        self.result.graph.first[&Subject::Cell(self.cell(cell))].contains(at.index())
    }
    /// The values of the first variable of the group minus the second one at a location.
    pub fn difference(&self, name: &str, location: u32) -> domains::Interval {
        let node = self.node(name, location);
        let packs = self.setup.memory.packs(self.setup.model.nodes[node].0);
        let octagon = self.result.annotation.values[node].octagon(packs, PackId(0));
        let form = Linear::variable(0).subtract(&Linear::variable(1)).expect("it is small");
        octagon.range(&form)
    }
    fn flows_of(&self, subject: Subject, name: &str, edge: (u32, u32), to: Node) -> bool {
        let template = self.template(name);
        let code = &self.setup.model.program.templates[template];
        let is_it = |id: &EdgeId| {
            code.edges[*id].source == LocationId(edge.0) && code.edges[*id].target == LocationId(edge.1)
        };
        let step = Step { template, edge: code.edges.ids().find(is_it).expect("the edge exists") };
        let definitions = self.setup.definitions.iter().enumerate();
        let mut of_step = definitions.filter(|(_, found)| found.step == step && found.subject == subject);
        of_step.any(|(id, _)| self.result.graph.reach[id].contains(to.index()))
    }
}
