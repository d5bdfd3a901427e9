//! The engine: analyses until no claim is broken, then looks at what is left.

use crate::coreachable::{Known, Reached, Rules};
use crate::data::coarsen::{Coarsened, coarsen};
use crate::data::evidence::evidence;
use crate::data::flows::FlowSearch;
use crate::data::knowledge::DataKnowledge;
use crate::data::packing::related;
use crate::data::setup::{Setup, Subject};
use crate::data::{DataFacts, NoData};
use crate::facts::{Banned, FactsAnalysis};
use crate::model::{Model, Node, Step};
use crate::races::{conflicts, shared_accesses};
use crate::unreliable::unreliable;
use domains::{Lattice, Variable};
use ir::ids::Id;
use ir::passes::{Goal, InlineLimits};
use ir::{Callee, EdgeId, IdVec, LocationKind, Op, Program, Span, TemplateId};
use std::fmt::Write;
use verdict::{
    Budget, DataProof, Engine, Events, Exhausted, FlowProof, Proof, Property, Reason, Task, Verdict,
};

/// The engine.
#[derive(Clone, Default, Debug)]
pub struct Flow;

/// Why there is no proof.
enum Failure {
    Exhausted(Exhausted),
    Not(String),
}

impl From<Exhausted> for Failure {
    fn from(exhausted: Exhausted) -> Self {
        Self::Exhausted(exhausted)
    }
}

impl Engine for Flow {
    fn name(&self) -> &'static str {
        "flow"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, _: &dyn Events) -> Verdict {
        if *task.property == Property::NoDeadlock {
            return Verdict::Unknown(Reason::Bounded("flow: deadlocks are not looked for".to_owned()));
        }
        // What is assumed may forbid a proof; how far one would go is still worth knowing.
        let goal = Goal { races: *task.property == Property::NoRace, faults: false };
        let program = match ir::passes::symbolic_of_lowered(task.program, goal, InlineLimits::default()) {
            Ok(program) => program,
            Err(error) => return Verdict::Unknown(Reason::Bounded(format!("flow: {error}"))),
        };
        if let Some(span) = unresolved(&program) {
            return Verdict::Unknown(Reason::Unsupported(
                "a call or start that is not resolved".to_owned(),
                span,
            ));
        }
        let result = prove(&program, task.property, budget);
        if let Some(assumption) = program.assumptions.iter().find(|assumption| assumption.limits_proof) {
            let rest = match result {
                Ok(_) => "otherwise it is proved".to_owned(),
                Err(Failure::Exhausted(exhausted)) => format!("besides, {exhausted:?} ran out"),
                Err(Failure::Not(why)) => format!("besides, {why}"),
            };
            let text = format!("{}; {rest}", assumption.text);
            return Verdict::Unknown(Reason::Unsupported(text, assumption.span));
        }
        match result {
            Ok(proof) => Verdict::Safe(Proof::Flow(Box::new(proof))),
            Err(Failure::Exhausted(exhausted)) => Verdict::Unknown(Reason::Exhausted(exhausted)),
            Err(Failure::Not(why)) => Verdict::Unknown(Reason::Bounded(format!("flow: {why}"))),
        }
    }
}

/// What the analysis works on and what it finds out, for people.
pub fn describe(program: &Program, property: &Property) -> String {
    let goal = Goal { races: *property == Property::NoRace, faults: false };
    let program = match ir::passes::symbolic_of_lowered(program, goal, InlineLimits::default()) {
        Ok(program) => program,
        Err(error) => return format!("{error}\n"),
    };
    let mut text = ir::text::print(&program);
    let model = Model::new(&program);
    let Ok((known, reached, banned)) = analyse(&model, &Budget::unlimited()) else { return text };
    for Banned { template, base, offset } in banned {
        let place = template.map_or("any template".to_owned(), |template| template.to_string());
        let _ = writeln!(text, "others may break the claim to {base:?} + {offset} in {place}");
    }
    let mut setup = Setup::new(&model, &known);
    let pairs = reached.pairs.len();
    let mut coarsened = coarsen(&setup, pairs, None, &Budget::unlimited()).ok();
    if let Some(values) = &coarsened
        && let Some(memory) = related(&setup, &values.annotation)
    {
        setup = Setup::with_memory(&model, &known, memory);
        coarsened = coarsen(&setup, pairs, Some(&values.annotation.values), &Budget::unlimited()).ok();
    }
    for (node, facts) in known.facts.enumerate() {
        let (template, location) = model.nodes[node];
        let unique = if model.unique[template] { " (one thread)" } else { "" };
        let _ = writeln!(text, "{template}:{location}{unique}");
        for (local, value) in &facts.equal {
            let _ = writeln!(text, "  {local} = {value:?}");
        }
        if let Some(coarsened) = &coarsened {
            describe_data(&setup, coarsened, node, &mut text);
        }
        for lock in &facts.locks {
            let kind = if lock.shared { "shared" } else { "exclusive" };
            let _ = writeln!(text, "  holds {:?} + {} ({kind})", lock.base, lock.offset);
        }
        for (value, thread) in &facts.threads {
            let _ = writeln!(text, "  {value:?} is the thread of {thread}");
        }
        for local in &facts.fresh {
            let _ = writeln!(text, "  {local} points to a fresh object");
        }
        let others = reached.pairs.related(node.index()).map(|other| {
            let (template, location) = model.nodes[Node::new(other)];
            format!("{template}:{location}")
        });
        let _ = writeln!(text, "  others at {}", others.collect::<Vec<_>>().join(" "));
    }
    text
}

/// What is known of data at a location, and who may write what while a thread is there.
fn describe_data(setup: &Setup<'_, '_>, coarsened: &Coarsened, node: Node, text: &mut String) {
    let program = setup.model.program;
    let template = setup.model.nodes[node].0;
    let name = |variable: Variable| match (setup.memory.cell(variable), setup.as_local(variable)) {
        (Some(cell), _) => {
            let first = match &cell.region.targets {
                ir::Targets::Of(places) => places.first().map_or(0, |place| place.first),
                ir::Targets::Any => 0,
            };
            let offset = if first == 0 { String::new() } else { format!("+{first}") };
            let many = if cell.strong { "" } else { "[..]" };
            format!("{}{offset}{many}", program.objects[cell.object].name)
        }
        (None, Some(local)) => program.templates[template].locals[local].name.clone(),
        (None, None) => variable.0.to_string(),
    };
    let values = &coarsened.annotation.values[node];
    if values.is_bottom() {
        let _ = writeln!(text, "  no thread is here");
    }
    for (variable, value) in values.numbers.iter() {
        let _ = writeln!(text, "  {} in {value:?}", name(variable));
    }
    let packs = setup.memory.packs(template);
    for (pack, octagon) in values.octagons.iter() {
        for relation in octagon.relations() {
            let Some(second) = relation.second else { continue };
            let term = |(position, negated): (usize, bool)| {
                let sign = if negated { "-" } else { "" };
                format!("{sign}{}", name(packs.variables(pack)[position]))
            };
            let _ = writeln!(text, "  {} + {} <= {}", term(relation.first), term(second), relation.bound);
        }
    }
    for (local, value) in &coarsened.annotation.copies[node] {
        let _ = writeln!(text, "  {local} = {value:?} for now");
    }
    for (id, definition) in setup.definitions.iter().enumerate() {
        if coarsened.graph.during[id].contains(node.index()) {
            let step = definition.step;
            if let Subject::Cell(cell) = definition.subject {
                let _ = writeln!(text, "  {}:{} may write {}", step.template, step.edge, name(cell));
            }
        }
    }
}

/// A call, or a start through a pointer: there are none after inlining.
fn unresolved(program: &Program) -> Option<Span> {
    let mut edges = program.templates.iter().flat_map(|code| &code.edges);
    let is_open = |op: &Op| matches!(op, Op::Call(..) | Op::Spawn(Callee::Pointer(_), ..));
    edges.find(|edge| edge.ops.iter().any(is_open)).map(|edge| edge.span)
}

fn prove(program: &Program, property: &Property, budget: &Budget) -> Result<FlowProof, Failure> {
    let model = Model::new(program);
    let (known, reached, banned) = analyse(&model, budget)?;
    let analyses = analyses(&model, &banned);
    match check(&model, &known, &analyses, &reached, property, &NoData) {
        Err(Failure::Not(_)) => {}
        Err(failure) => return Err(failure),
        Ok(()) => return Ok(proof(&model, &known, &reached, None)),
    }
    let prove_with = |setup: &Setup<'_, '_>, coarsened: &Coarsened| {
        let data = DataKnowledge::new(setup, &coarsened.annotation);
        let rules = Rules::new(&model, &known, &data);
        let reached = rules.solve(budget)?;
        let mut inhabited = Reached { nodes: reached.nodes.clone(), pairs: reached.pairs.clone() };
        for node in model.nodes.ids().filter(|node| !data.is_inhabited(*node)) {
            inhabited.nodes.remove(node.index());
        }
        check(&model, &known, &analyses, &inhabited, property, &data)?;
        let search = FlowSearch { setup, rules: &rules, reached: &reached };
        let evidence = evidence(&search, &coarsened.annotation, &coarsened.followed, budget)?;
        Ok(proof(&model, &known, &reached, Some(evidence)))
    };
    // Values of single variables first; relations between them if these do not do, on top of what is known.
    let setup = Setup::new(&model, &known);
    let coarsened = coarsen(&setup, reached.pairs.len(), None, budget)?;
    let result = prove_with(&setup, &coarsened);
    let Err(Failure::Not(_)) = result else { return result };
    let Some(memory) = related(&setup, &coarsened.annotation) else { return result };
    let setup = Setup::with_memory(&model, &known, memory);
    let values = &coarsened.annotation.values;
    let coarsened = coarsen(&setup, reached.pairs.len(), Some(values), budget)?;
    prove_with(&setup, &coarsened)
}

/// Facts and pairs of which no claim may be broken, and the claims that are not made for that.
pub fn analyse(model: &Model<'_>, budget: &Budget) -> Result<(Known, Reached, Vec<Banned>), Exhausted> {
    let mut banned: Vec<Banned> = Vec::new();
    loop {
        budget.check(0)?;
        let known = known(model, &analyses(model, &banned));
        let rules = Rules::new(model, &known, &NoData);
        let reached = rules.solve(budget)?;
        let more = unreliable(model, &known, &rules, &reached);
        if more.is_empty() {
            return Ok((known, reached, banned));
        }
        banned.extend(more);
    }
}

fn analyses<'a, 'p>(model: &'a Model<'p>, banned: &'a [Banned]) -> IdVec<TemplateId, FactsAnalysis<'a, 'p>> {
    model.program.templates.ids().map(|id| FactsAnalysis::new(model, id, banned)).collect()
}

fn known(model: &Model<'_>, analyses: &IdVec<TemplateId, FactsAnalysis<'_, '_>>) -> Known {
    let mut facts = IdVec::new();
    let mut effects = IdVec::new();
    for (template, code) in model.program.templates.enumerate() {
        let solved = analyses[template].solve();
        let of_edge = |edge: EdgeId| {
            let source = &solved[code.edges[edge].source];
            analyses[template].walk(Step { template, edge }, source, &mut |_, _| {})
        };
        effects.push(code.edges.ids().map(of_edge).collect());
        solved.iter().for_each(|here| {
            facts.push(here.clone());
        });
    }
    Known { facts, effects }
}

fn check(
    model: &Model<'_>,
    known: &Known,
    analyses: &IdVec<TemplateId, FactsAnalysis<'_, '_>>,
    reached: &Reached,
    property: &Property,
    data: &dyn DataFacts,
) -> Result<(), Failure> {
    match property {
        Property::NoRace => {
            let found = conflicts(&shared_accesses(model, known, analyses, reached), reached);
            let Some(first) = found.first() else { return Ok(()) };
            let place = |span: Span| place(model, span);
            let object = first.object.map_or("memory", |object| model.program.objects[object].name.as_str());
            Err(Failure::Not(format!(
                "{} pairs of accesses are not proved race-free, first: {} and {} on {object}",
                found.len(),
                place(first.spans[0]),
                place(first.spans[1]),
            )))
        }
        Property::NoError(kinds) => {
            let is_error = |node: Node| matches!(model.location(node).kind, LocationKind::Error(kind) if kinds.contains(&kind));
            let steps =
                model.nodes.ids().flat_map(|node| model.steps[node].iter().map(move |step| (node, *step)));
            let checks: Vec<(Node, Step)> = steps.filter(|(_, step)| is_error(model.target(*step))).collect();
            let open = checks.iter().filter(|(node, step)| {
                reached.nodes.contains(node.index())
                    && reached.nodes.contains(model.target(*step).index())
                    && data.may_take(*step, None)
            });
            let open: Vec<&(Node, Step)> = open.collect();
            let Some((_, first)) = open.first() else { return Ok(()) };
            let (all, left) = (checks.len(), open.len());
            let place = place(model, model.edge(*first).span);
            Err(Failure::Not(format!("{left} of {all} checks are not proved, first: {place}")))
        }
        Property::NoDeadlock => Err(Failure::Not("deadlocks are not looked for".to_owned())),
    }
}

/// A position in the source, for people.
fn place(model: &Model<'_>, span: Span) -> String {
    let file = model.program.files.get(span.file as usize).map_or("?", String::as_str);
    format!("{file}:{}", span.line)
}

fn proof(model: &Model<'_>, known: &Known, reached: &Reached, data: Option<DataProof>) -> FlowProof {
    let mut facts: Vec<Vec<_>> = model.program.templates.iter().map(|_| Vec::new()).collect();
    for (node, here) in known.facts.enumerate() {
        facts[model.nodes[node].0.index()].push(here.clone());
    }
    FlowProof {
        unique: model.unique.enumerate().filter(|(_, unique)| **unique).map(|(id, _)| id).collect(),
        facts,
        reachable: model.nodes.ids().map(|node| reached.nodes.contains(node.index())).collect(),
        coreachable: reached.pairs.clone(),
        data,
    }
}
