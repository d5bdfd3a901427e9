//! Facts at each source line, for listings.
//!
//! The analysis runs once more, on a program in which each source line keeps its own steps and no data is
//! left out ([`ir::passes::listed`]). A line stands for all locations that its steps start from, in all
//! copies of its function: what is listed holds at each of them. Variables are those of the function that the
//! line is in, and the memory that the function touches.

use crate::coreachable::Reached;
use crate::data::coarsen::{Coarsened, coarsen};
use crate::data::evidence::bounds;
use crate::data::packing::related;
use crate::data::setup::{Setup, Subject};
use crate::engine::analyse;
use crate::model::{Model, Node, Step};
use crate::names::Names;
use domains::{Lattice, Number, Variable};
use ir::ids::Id;
use ir::{Callee, IdVec, IntType, Op, Program, Span, Storage, TemplateId, Value};
use std::collections::{BTreeMap, BTreeSet};
use verdict::{
    Analysed, Budget, Exhausted, Interference, KnownValue, ListedFact, ListedLine, Listing, Reason, Views,
};

/// A line: a file and a number in it.
type Line = (u32, u32);

fn line_of(span: Span) -> Line {
    (span.file, span.line)
}

/// Lists the facts at each line of a lowered program.
pub fn listing(program: &Views, budget: &Budget) -> Result<Listing, Reason> {
    let listed = program.listed(budget).map_err(|why| why.reason("flow"))?;
    let lines = lines(program, listed, budget).map_err(Reason::Exhausted)?;
    Ok(Listing { lines })
}

fn lines(program: &Program, listed: &Analysed, budget: &Budget) -> Result<Vec<ListedLine>, Exhausted> {
    let model = Model::of(listed, budget)?;
    let (known, reached, _) = analyse(&model, budget)?;
    let mut setup = Setup::new(&model, &known);
    let mut coarsened = coarsen(&setup, reached.pairs.len(), None, budget)?;
    if let Some(memory) = related(&setup, &coarsened.annotation) {
        setup = Setup::with_memory(&model, &known, memory);
        coarsened = coarsen(&setup, reached.pairs.len(), Some(&coarsened.annotation.values), budget)?;
    }
    let lister = Lister::new(program, &setup, &reached, &coarsened);
    // A stub for a function that is only named has a line, but no source code.
    let lines = lister.steps.keys().filter(|line| lister.owners.contains_key(*line));
    Ok(lines.map(|line| lister.line(*line)).collect())
}

/// That the sum of two variables, each with its sign, is at most a bound: as a variable, and what follows it.
fn inequality(one: (String, bool), other: (String, bool), bound: Value) -> (String, String) {
    let plus = |name: &str, number: Value| match number {
        0 => name.to_owned(),
        1.. => format!("{name} + {number}"),
        _ => format!("{name} - {}", -number),
    };
    match (one, other) {
        ((one, false), (other, true)) | ((other, true), (one, false)) => {
            (one, format!("<= {}", plus(&other, bound)))
        }
        ((one, false), (other, false)) => (one, format!("+ {other} <= {bound}")),
        ((one, true), (other, true)) => (one, format!("+ {other} >= {}", -bound)),
    }
}

/// A variable as the source has it: its name, and where it is declared.
type Declared = (String, Span);

/// What the source says of a function.
struct Function {
    name: String,
    locals: BTreeSet<Declared>,
    /// The memory that its steps touch.
    cells: BTreeSet<Variable>,
}

struct Lister<'l, 'a, 'p> {
    setup: &'l Setup<'a, 'p>,
    reached: &'l Reached,
    coarsened: &'l Coarsened,
    names: Names<'l, 'a, 'p>,
    functions: BTreeMap<TemplateId, Function>,
    /// The functions that each line is in, by their templates before inlining.
    owners: BTreeMap<Line, BTreeSet<TemplateId>>,
    /// The steps of each line.
    steps: BTreeMap<Line, Vec<Step>>,
    /// The steps that lead to each location.
    incoming: IdVec<Node, Vec<Step>>,
}

impl<'l, 'a, 'p> Lister<'l, 'a, 'p> {
    fn new(
        program: &Program,
        setup: &'l Setup<'a, 'p>,
        reached: &'l Reached,
        coarsened: &'l Coarsened,
    ) -> Self {
        let mut owners: BTreeMap<Line, BTreeSet<TemplateId>> = BTreeMap::new();
        let mut functions = BTreeMap::new();
        for (id, code) in program.templates.enumerate() {
            for edge in &code.edges {
                owners.entry(line_of(edge.span)).or_default().insert(id);
            }
            let locals = code.locals.iter().map(|local| (local.name.clone(), local.span)).collect();
            functions.insert(id, Function { name: code.name.clone(), locals, cells: BTreeSet::new() });
        }
        let mut steps: BTreeMap<Line, Vec<Step>> = BTreeMap::new();
        let mut incoming: IdVec<Node, Vec<Step>> = setup.model.nodes.iter().map(|_| Vec::new()).collect();
        for (template, code) in setup.model.program.templates.enumerate() {
            for (edge, what) in code.edges.enumerate() {
                let step = Step { template, edge };
                incoming[setup.model.target(step)].push(step);
                if what.span.line > 0 {
                    steps.entry(line_of(what.span)).or_default().push(step);
                }
            }
        }
        let names = Names::new(setup);
        let mut lister = Self { setup, reached, coarsened, names, functions, owners, steps, incoming };
        lister.gather_cells(program);
        lister
    }

    /// Each function's cells are those that its steps touch, and those of the functions that it calls.
    fn gather_cells(&mut self, program: &Program) {
        for (line, steps) in &self.steps {
            let touched: BTreeSet<Variable> =
                steps.iter().flat_map(|step| touched(self.setup, *step)).collect();
            for owner in self.owners.get(line).into_iter().flatten() {
                if let Some(function) = self.functions.get_mut(owner) {
                    function.cells.extend(&touched);
                }
            }
        }
        let mut calls: BTreeSet<(TemplateId, TemplateId)> = BTreeSet::new();
        for (id, code) in program.templates.enumerate() {
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                if let Op::Call(Callee::Procedure(callee), ..) = op {
                    calls.insert((id, *callee));
                }
            }
        }
        loop {
            let mut grew = false;
            for (caller, callee) in &calls {
                let cells = self.functions[callee].cells.clone();
                if let Some(function) = self.functions.get_mut(caller) {
                    let before = function.cells.len();
                    function.cells.extend(cells);
                    grew |= function.cells.len() > before;
                }
            }
            if !grew {
                return;
            }
        }
    }

    fn is_reached(&self, node: Node) -> bool {
        self.reached.nodes.contains(node.index()) && !self.coarsened.annotation.values[node].is_bottom()
    }

    /// Where threads reach a line: from another one, or to begin with.
    fn entries(&self, line: Line) -> BTreeSet<Node> {
        let model = self.setup.model;
        let sources = self.steps[&line].iter().map(|step| self.setup.source(*step));
        let all: BTreeSet<Node> = sources.filter(|node| self.is_reached(*node)).collect();
        let from_elsewhere = |node: &Node| {
            let incoming = &self.incoming[*node];
            incoming.is_empty() || incoming.iter().any(|step| line_of(model.edge(*step).span) != line)
        };
        let entries: BTreeSet<Node> = all.iter().copied().filter(from_elsewhere).collect();
        if entries.is_empty() { all } else { entries }
    }

    fn line(&self, line: Line) -> ListedLine {
        let steps = &self.steps[&line];
        let empty = BTreeSet::new();
        let owners = self.owners.get(&line).unwrap_or(&empty);
        let functions: Vec<&Function> = owners.iter().filter_map(|owner| self.functions.get(owner)).collect();
        let nodes = self.entries(line);
        ListedLine {
            span: Span { file: line.0, line: line.1, column: 0 },
            function: functions.first().map(|function| function.name.clone()).unwrap_or_default(),
            reached: !nodes.is_empty(),
            facts: self.facts(&functions, &nodes),
            locks: self.locks(&nodes),
            interference: self.interference(steps),
        }
    }

    fn facts(&self, functions: &[&Function], nodes: &BTreeSet<Node>) -> Vec<ListedFact> {
        let mut values: BTreeMap<(String, Span), (Number, IntType)> = BTreeMap::new();
        let mut relations: Option<BTreeSet<(String, String)>> = None;
        for node in nodes {
            for (declared, value, ty) in self.values(functions, *node) {
                let known = values.entry(declared).or_insert((Number::BOTTOM, ty));
                known.0 = known.0.join(&value);
            }
            let here = self.relations(functions, *node);
            relations = Some(match relations {
                None => here,
                Some(before) => before.intersection(&here).cloned().collect(),
            });
        }
        let mut facts: Vec<ListedFact> = Vec::new();
        for ((variable, _), (value, ty)) in values {
            let known = match value.less_or_equal(&Number::of_type(ty)) && value != Number::of_type(ty) {
                true => KnownValue::Among(bounds(&value), ty),
                false => KnownValue::Any,
            };
            facts.push(ListedFact { variable, known });
        }
        for (variable, relation) in relations.unwrap_or_default() {
            facts.push(ListedFact { variable, known: KnownValue::Related(relation) });
        }
        facts
    }

    /// The variables of some functions, as far as they are in use at a location.
    fn values(&self, functions: &[&Function], node: Node) -> Vec<(Declared, Number, IntType)> {
        let environment = &self.coarsened.annotation.values[node];
        let (template, location) = self.setup.model.nodes[node];
        let program = self.setup.model.program;
        let mut found = Vec::new();
        for (id, local) in program.templates[template].locals.enumerate() {
            let declared = (local.name.clone(), local.span);
            let is_named = !local.name.starts_with('%')
                && functions.iter().any(|function| function.locals.contains(&declared));
            if is_named && self.setup.is_live(template, location, id) {
                let variable = self.setup.memory.local(id);
                let value = environment.numbers.get(variable).copied().unwrap_or(Number::TOP);
                found.push((declared, value.meet(&Number::of_type(local.ty)), local.ty));
            }
        }
        let cells: BTreeSet<Variable> =
            functions.iter().flat_map(|function| &function.cells).copied().collect();
        for variable in cells {
            let Some(cell) = self.setup.memory.cell(variable).filter(|cell| cell.tracked) else { continue };
            let object = &program.objects[cell.object];
            let is_here = match object.storage {
                Storage::Frame(owner) => owner == template || !cell.private,
                Storage::Static | Storage::ThreadLocal | Storage::Site => true,
            };
            if let Some(name) = self.names.cell(variable).filter(|_| is_here) {
                let value = environment.numbers.get(variable).copied().unwrap_or(Number::TOP);
                found.push(((name, object.span), value.meet(&Number::of_type(cell.ty)), cell.ty));
            }
        }
        found
    }

    /// Equalities between variables, as the left-hand side and the rest.
    fn relations(&self, functions: &[&Function], node: Node) -> BTreeSet<(String, String)> {
        let template = self.setup.model.nodes[node].0;
        let locals = &self.setup.model.program.templates[template].locals;
        let mut found = BTreeSet::new();
        for (local, value) in &self.coarsened.annotation.equal[node] {
            let declared = (locals[*local].name.clone(), locals[*local].span);
            let location = self.setup.model.nodes[node].1;
            if declared.0.starts_with('%')
                || !functions.iter().any(|function| function.locals.contains(&declared))
                || !self.setup.is_live(template, location, *local)
            {
                continue;
            }
            if let Some(text) = self.names.term(template, value) {
                found.insert((declared.0, format!("== {text}")));
            }
        }
        let packs = self.setup.memory.packs(template);
        for (pack, octagon) in self.coarsened.annotation.values[node].octagons.iter() {
            for relation in octagon.relations() {
                let Some(second) = relation.second else { continue };
                let named = |position: usize| self.in_use(functions, node, packs.variables(pack)[position]);
                if let (Some(one), Some(other)) = (named(relation.first.0), named(second.0)) {
                    found.insert(inequality((one, relation.first.1), (other, second.1), relation.bound));
                }
            }
        }
        // Two that are at most each other are equal.
        let opposite = |(one, rest): &(String, String)| {
            rest.strip_prefix("<= ").map(|other| (other.to_owned(), format!("<= {one}")))
        };
        let both: Vec<(String, String)> = found
            .iter()
            .filter(|fact| opposite(fact).is_some_and(|other| found.contains(&other)))
            .cloned()
            .collect();
        for (one, rest) in both {
            found.remove(&(one.clone(), rest.clone()));
            let other = rest.trim_start_matches("<= ").to_owned();
            if one < other && !found.contains(&(other.clone(), format!("== {one}"))) {
                found.insert((one, format!("== {other}")));
            }
        }
        found
    }

    /// The name of a variable of some functions that is in use at a location.
    fn in_use(&self, functions: &[&Function], node: Node, variable: Variable) -> Option<String> {
        let (template, location) = self.setup.model.nodes[node];
        let is_here = match self.setup.as_local(variable) {
            Some(local) => {
                let what = &self.setup.model.program.templates[template].locals[local];
                let declared = (what.name.clone(), what.span);
                self.setup.is_live(template, location, local)
                    && functions.iter().any(|function| function.locals.contains(&declared))
            }
            None => functions.iter().any(|function| function.cells.contains(&variable)),
        };
        self.names.variable(template, variable).filter(|_| is_here)
    }

    /// The locks that are held at all these locations; for reading only, if at any.
    fn locks(&self, nodes: &BTreeSet<Node>) -> Vec<(String, bool)> {
        let mut held: Option<BTreeMap<String, bool>> = None;
        for node in nodes {
            let template = self.setup.model.nodes[*node].0;
            let mut here = BTreeMap::new();
            for lock in &self.setup.known.facts[*node].locks {
                if let Some(name) = self.names.pointee(template, &lock.base, lock.offset) {
                    here.insert(name, lock.shared);
                }
            }
            held = Some(match held {
                None => here,
                Some(before) => before
                    .into_iter()
                    .filter_map(|(name, shared)| here.get(&name).map(|also| (name, shared || *also)))
                    .collect(),
            });
        }
        held.unwrap_or_default().into_iter().collect()
    }

    /// The variables of a line that others may write while a thread is in the middle of it.
    fn interference(&self, steps: &[Step]) -> Vec<Interference> {
        let mut found: BTreeMap<String, BTreeSet<(String, Span)>> = BTreeMap::new();
        for step in steps {
            let node = self.setup.source(*step);
            if !self.is_reached(node) {
                continue;
            }
            for cell in touched(self.setup, *step) {
                let Some(name) = self.names.cell(cell) else { continue };
                for writer in self.writers(cell, node) {
                    found.entry(name.clone()).or_default().insert(writer);
                }
            }
        }
        let found = found
            .into_iter()
            .map(|(variable, writers)| Interference { variable, writers: writers.into_iter().collect() });
        found.collect()
    }

    /// Who may write a cell while another thread is at a location.
    fn writers(&self, cell: Variable, node: Node) -> Vec<(String, Span)> {
        let definitions = &self.setup.definitions;
        let first = definitions.partition_point(|definition| definition.subject < Subject::Cell(cell));
        let of_cell = definitions[first..]
            .iter()
            .enumerate()
            .take_while(|(_, found)| found.subject == Subject::Cell(cell));
        let writing = of_cell.filter(|(index, definition)| {
            definition.writes && self.coarsened.graph.during[first + index].contains(node.index())
        });
        let writing = writing.map(|(_, definition)| {
            let step = definition.step;
            let span = Span { column: 0, ..self.setup.model.edge(step).span };
            (self.setup.model.program.templates[step.template].name.clone(), span)
        });
        writing.collect()
    }
}

/// The cells that a step reads or writes.
fn touched(setup: &Setup<'_, '_>, step: Step) -> BTreeSet<Variable> {
    let scope = setup.scope(step.template);
    let ops = &setup.model.edge(step).ops;
    let reads = ops.iter().flat_map(ir::Op::expressions).flat_map(|expr| scope.loads(expr));
    let mut found: BTreeSet<Variable> = reads.collect();
    let equal = setup.fixed_equal(setup.source(step));
    found.extend(scope.touches(step.edge, equal).writes);
    found
}
