//! The engine: analyses until no claim is broken, then looks at what is left.

use crate::checks;
use crate::coreachable::{Known, Reached, Rules};
use crate::data::coarsen::{Coarsened, coarsen};
use crate::data::evidence::evidence;
use crate::data::flows::FlowSearch;
use crate::data::knowledge::DataKnowledge;
use crate::data::setup::Setup;
use crate::data::{DataFacts, NoData};
use crate::facts::{Banned, FactsAnalysis};
use crate::model::{Model, Node, Step};
use crate::races::{Conflict, conflicts, shared_accesses};
use crate::reasons::{forbidding, not_modelled, open_races, place};
use crate::unreliable::unreliable;
use domains::{Lattice, Variable};
use ir::ids::Id;
use ir::passes::{Goal, InlineError, InlineLimits};
use ir::{Callee, EdgeId, IdVec, Op, Program, Span, TemplateId};
use std::fmt::Write;
use verdict::{
    Attempt, Budget, DataProof, Engine, Event, Events, Exhausted, FlowProof, Proof, Property, Reason, Task,
    Verdict,
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
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        if *task.property == Property::NoDeadlock {
            return Verdict::Unknown(Reason::Bounded("flow: deadlocks are not looked for".to_owned()));
        }
        // What is assumed may forbid a proof; how far one would go is still worth knowing.
        let goal = Goal { races: *task.property == Property::NoRace, faults: false };
        let limits = InlineLimits { deadline: budget.deadline, ..InlineLimits::default() };
        let program = match ir::passes::symbolic_of_lowered(task.program, goal, limits) {
            Ok(program) => program,
            Err(InlineError::OutOfTime) => return Verdict::Unknown(Reason::Exhausted(Exhausted::Time)),
            Err(error) => return Verdict::Unknown(Reason::Bounded(format!("flow: {error}"))),
        };
        if let Some(span) = unresolved(&program) {
            return Verdict::Unknown(Reason::Unsupported(
                "a call or start that is not resolved".to_owned(),
                span,
            ));
        }
        let result = prove(&program, task.property, budget, events);
        if let Some((text, span)) = forbidding(&program) {
            let rest = match result {
                Ok(proof) => {
                    if matches!(task.property, Property::NoError(_)) {
                        let attempt = Attempt { proof: Some(proof), open: Vec::new() };
                        events.event(Event::Attempt(Box::new(attempt)));
                    }
                    "otherwise it is proved".to_owned()
                }
                Err(Failure::Exhausted(exhausted)) => format!("besides, {exhausted:?} ran out"),
                Err(Failure::Not(why)) => format!("besides, {why}"),
            };
            return Verdict::Unknown(Reason::Unsupported(format!("{text}; {rest}"), span));
        }
        match result {
            Ok(proof) => Verdict::Safe(Proof::Flow(Box::new(proof))),
            Err(Failure::Exhausted(exhausted)) => Verdict::Unknown(Reason::Exhausted(exhausted)),
            Err(Failure::Not(why)) => {
                let why = format!("flow: {why}{}", not_modelled(task.program, &program));
                Verdict::Unknown(Reason::Bounded(why))
            }
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
    let setup = Setup::new(&model, &known);
    let coarsened = coarsen(&setup, reached.pairs.len(), &Budget::unlimited()).ok();
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
    for (variable, value) in values.iter() {
        let _ = writeln!(text, "  {} in {value:?}", name(variable));
    }
    for (local, value) in &coarsened.annotation.copies[node] {
        let _ = writeln!(text, "  {local} = {value:?} for now");
    }
    for (id, definition) in setup.definitions.iter().enumerate() {
        if coarsened.graph.during[id].contains(node.index()) {
            let step = definition.step;
            let _ = writeln!(text, "  {}:{} may write {}", step.template, step.edge, name(definition.cell));
        }
    }
}

/// A call, or a start through a pointer: there are none after inlining.
fn unresolved(program: &Program) -> Option<Span> {
    let mut edges = program.templates.iter().flat_map(|code| &code.edges);
    let is_open = |op: &Op| matches!(op, Op::Call(..) | Op::Spawn(Callee::Pointer(_), ..));
    edges.find(|edge| edge.ops.iter().any(is_open)).map(|edge| edge.span)
}

fn prove(
    program: &Program,
    property: &Property,
    budget: &Budget,
    events: &dyn Events,
) -> Result<FlowProof, Failure> {
    let model = Model::until(program, budget.deadline).ok_or(Exhausted::Time)?;
    let (known, reached, banned) = analyse(&model, budget)?;
    let analyses = analyses(&model, &banned);
    let left = left(&model, &known, &analyses, &reached, property, &NoData);
    if left.why(&model).is_none() {
        return Ok(proof(&model, &known, &reached, None));
    }
    let setup = Setup::new(&model, &known);
    let coarsened = coarsen(&setup, reached.pairs.len(), budget)?;
    let Coarsened { annotation, followed, .. } = &coarsened;
    let data = DataKnowledge::new(&setup, annotation);
    let rules = Rules::new(&model, &known, &data);
    let reached = rules.solve(budget)?;
    let mut inhabited = Reached { nodes: reached.nodes.clone(), pairs: reached.pairs.clone() };
    for node in model.nodes.ids().filter(|node| !data.is_inhabited(*node)) {
        inhabited.nodes.remove(node.index());
    }
    let left = self::left(&model, &known, &analyses, &inhabited, property, &data);
    let proof = || {
        let search = FlowSearch { setup: &setup, rules: &rules, reached: &reached };
        let evidence = evidence(&search, annotation, followed, budget)?;
        Ok::<FlowProof, Exhausted>(proof(&model, &known, &reached, Some(evidence)))
    };
    let Some(why) = left.why(&model) else { return Ok(proof()?) };
    let attempt = match &left {
        Left::Races(conflicts) => Attempt { proof: None, open: open_races(&model, conflicts) },
        Left::Errors { open, .. } => {
            // Also where nothing is excluded: it says which checks there are.
            Attempt { proof: Some(proof()?), open: checks::explained(&setup, &coarsened, open) }
        }
        Left::Deadlocks => return Err(Failure::Not(why)),
    };
    events.event(Event::Attempt(Box::new(attempt)));
    Err(Failure::Not(why))
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

/// What is left to be proved of a property.
enum Left {
    Races(Vec<Conflict>),
    Errors { open: Vec<Step>, all: usize },
    Deadlocks,
}

impl Left {
    /// What is left, in words.
    fn why(&self, model: &Model<'_>) -> Option<String> {
        match self {
            Self::Races(found) => {
                let first = found.first()?;
                let object =
                    first.object.map_or("memory", |object| model.program.objects[object].name.as_str());
                Some(format!(
                    "{} pairs of accesses are not proved race-free, first: {} and {} on {object}",
                    found.len(),
                    place(model.program, first.spans[0]),
                    place(model.program, first.spans[1]),
                ))
            }
            Self::Errors { open, all } => {
                let first = open.first()?;
                let left = checks::errors(model, open);
                let place = place(model.program, model.edge(*first).span);
                Some(format!("{left} of {all} checks are not proved, first: {place}"))
            }
            Self::Deadlocks => Some("deadlocks are not looked for".to_owned()),
        }
    }
}

fn left(
    model: &Model<'_>,
    known: &Known,
    analyses: &IdVec<TemplateId, FactsAnalysis<'_, '_>>,
    reached: &Reached,
    property: &Property,
    data: &dyn DataFacts,
) -> Left {
    match property {
        Property::NoRace => {
            Left::Races(conflicts(&shared_accesses(model, known, analyses, reached), reached))
        }
        Property::NoError(kinds) => {
            let all = checks::checks(model, kinds);
            Left::Errors { open: checks::open(model, &all, reached, data), all: checks::errors(model, &all) }
        }
        Property::NoDeadlock => Left::Deadlocks,
    }
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
