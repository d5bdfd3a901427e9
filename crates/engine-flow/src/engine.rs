//! The engine: repeats the analysis until no lock claim is broken, then checks the open obligations.

use crate::checks;
use crate::coreachable::{Known, Reached, Rules};
use crate::counters::{Equal, candidates, find_tickets, weigh};
use crate::data::coarsen::{Coarsened, coarsen};
use crate::data::evidence::evidence;
use crate::data::flows::FlowSearch;
use crate::data::knowledge::DataKnowledge;
use crate::data::packing::related;
use crate::data::setup::{Setup, Subject};
use crate::data::{DataFacts, NoData};
use crate::facts::{FactsAnalysis, RetractedLockClaim};
use crate::families::{families, owned_parameters};
use crate::model::{Model, Node, Step};
use crate::races::{Conflict, conflicts, shared_accesses};
use crate::reasons::{forbidding, not_modelled, open_races, place};
use crate::unreliable::unreliable;
use domains::{Lattice, Variable};
use ir::ids::Id;
use ir::{Callee, EdgeId, IdVec, Op, Program, Span, TemplateId};
use std::collections::BTreeSet;
use std::fmt::Write;
use verdict::{
    Attempt, Budget, Counter, DataProof, Engine, Event, Events, Exhausted, FlowProof, NoView, Proof,
    Property, Reason, Task, Verdict, Views,
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
            let text = "flow: deadlocks are not looked for".to_owned();
            return Verdict::Unknown(Reason::NotSupported(text, Span::default()));
        }
        if let Property::NoLeak(_) = task.property {
            let text = "flow: allocated memory is not followed".to_owned();
            return Verdict::Unknown(Reason::NotSupported(text, Span::default()));
        }
        // An assumption may forbid a proof; a partial result is still useful.
        let program = match task.program.sliced(*task.property == Property::NoRace, budget) {
            Ok(view) => view,
            Err(why) => return Verdict::Unknown(why.reason("flow")),
        };
        if let Some(span) = unresolved(program) {
            return Verdict::Unknown(Reason::NotSupported(
                "a call or start that is not resolved".to_owned(),
                span,
            ));
        }
        let result = prove(program, task.property, budget, events);
        if let Some((text, span)) = forbidding(program) {
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
            return Verdict::Unknown(Reason::NotSupported(format!("{text}; {rest}"), span));
        }
        match result {
            Ok(proof) => Verdict::Safe(Proof::Flow(Box::new(proof))),
            Err(Failure::Exhausted(exhausted)) => Verdict::Unknown(Reason::Exhausted(exhausted)),
            Err(Failure::Not(why)) => {
                let why = format!("flow: {why}{}", not_modelled(task.program, program));
                Verdict::Unknown(Reason::GaveUp(why))
            }
        }
    }
}

/// The analysed program and the results, as text.
pub fn describe(program: &Views, property: &Property) -> String {
    let unlimited = Budget::unlimited();
    let view = match program.sliced(*property == Property::NoRace, &unlimited) {
        Ok(view) => view,
        Err(NoView::Impossible(error)) => return format!("{error}\n"),
        Err(NoView::Exhausted(exhausted)) => return format!("{exhausted:?} ran out\n"),
    };
    let program = view.program();
    let mut text = ir::text::print(program);
    let Ok(model) = Model::of(view, &unlimited) else { return text };
    let Ok((known, reached, retracted)) = analyse(&model, &Budget::unlimited()) else { return text };
    for RetractedLockClaim { template, base, offset } in retracted {
        let place = template.map_or("any template".to_owned(), |template| template.to_string());
        let _ = writeln!(text, "others may break the claim to {base:?} + {offset} in {place}");
    }
    for family in &known.families {
        let (template, parent, index) = (family.template, family.parent, family.index);
        let _ = writeln!(text, "{template} is a family of {parent} by {index}");
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
        for family in known.families.iter().filter(|family| family.parent == template) {
            let _ = writeln!(text, "  {:?}", family.at[location.index()]);
        }
        let others = reached.pairs.related(node.index()).map(|other| {
            let (template, location) = model.nodes[Node::new(other)];
            format!("{template}:{location}")
        });
        let _ = writeln!(text, "  others at {}", others.collect::<Vec<_>>().join(" "));
    }
    text
}

/// The data invariant at a location, and the possible interference there.
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

/// Rounds of the analysis: facts use the steps that data excluded in the round before.
const ROUNDS: usize = 3;

fn prove(
    program: &verdict::Analysed,
    property: &Property,
    budget: &Budget,
    events: &dyn Events,
) -> Result<FlowProof, Failure> {
    let model = Model::of(program, budget)?;
    let nothing: Equal = model.nodes.iter().map(|_| Vec::new()).collect();
    let mut pruned: BTreeSet<Step> = BTreeSet::new();
    let mut before: Option<Known> = None;
    for round in 1.. {
        let (known, reached, retracted) = analyse_without(&model, &pruned, budget)?;
        let analyses = analyses(&model, &retracted, &pruned);
        let view = Analysed { model: &model, known: &known, analyses: &analyses };
        if round == 1
            && open_obligations(&view, &reached, property, &NoData, &[], &nothing).why(&model).is_none()
        {
            return Ok(proof(&model, &known, &reached, Vec::new(), None));
        }
        // Values of single variables first; then relations between them, if these do not suffice.
        let setup = Setup::new(&model, &known);
        let coarsened = coarsen(&setup, reached.pairs.len(), None, budget)?;
        let mut open = match attempt(&view, property, &setup, &coarsened, budget)? {
            Attempted::Proved(proof) => return Ok(*proof),
            Attempted::Open(open) => *open,
        };
        let mut exhausted = None;
        if let Some(memory) = related(&setup, &coarsened.annotation) {
            let setup = Setup::with_memory(&model, &known, memory);
            let values = &coarsened.annotation.values;
            let more = coarsen(&setup, reached.pairs.len(), Some(values), budget)
                .and_then(|coarsened| attempt(&view, property, &setup, &coarsened, budget));
            match more {
                Ok(Attempted::Proved(proof)) => return Ok(*proof),
                Ok(Attempted::Open(rest)) => open = *rest,
                // The result without relations is still useful.
                Err(reason) => exhausted = Some(reason),
            }
        }
        let is_new = open.excluded.iter().any(|step| !pruned.contains(step));
        let learnt = before.as_ref().is_none_or(|before| before.facts != known.facts);
        if *property == Property::NoRace && round < ROUNDS && is_new && learnt && exhausted.is_none() {
            pruned = open.excluded;
            before = Some(known);
            continue;
        }
        if let Some(attempt) = open.partial {
            events.event(Event::Attempt(Box::new(attempt)));
        }
        return Err(exhausted.map_or(Failure::Not(open.why), Failure::Exhausted));
    }
    Err(Failure::Not("there is no end of rounds".to_owned()))
}

/// The result of an annotation.
enum Attempted {
    /// The property is proved.
    Proved(Box<FlowProof>),
    /// It is not.
    Open(Box<Open>),
}

/// Why the property is not proved, and how far it is.
struct Open {
    why: String,
    partial: Option<Attempt>,
    /// The steps that data excludes.
    excluded: BTreeSet<Step>,
}

/// Checks the open obligations under an annotation.
fn attempt(
    view: &Analysed<'_, '_, '_>,
    property: &Property,
    setup: &Setup<'_, '_>,
    coarsened: &Coarsened,
    budget: &Budget,
) -> Result<Attempted, Exhausted> {
    let (model, known) = (view.model, view.known);
    let Coarsened { annotation, followed, .. } = coarsened;
    let data = DataKnowledge::new(setup, annotation);
    let rules = Rules::new(model, known, &data);
    let reached = rules.solve(budget)?;
    let (rules, reached, counters) = with_counters(view, rules, reached, &annotation.equal, budget)?;
    let mut inhabited = Reached { nodes: reached.nodes.clone(), pairs: reached.pairs.clone() };
    for node in model.nodes.ids().filter(|node| !data.is_inhabited(*node)) {
        inhabited.nodes.remove(node.index());
    }
    let open = open_obligations(view, &inhabited, property, &data, &counters, &annotation.equal);
    let proof = |counters: Vec<Counter>| {
        let search = FlowSearch { setup, rules: &rules, reached: &reached };
        let evidence = evidence(&search, annotation, followed, budget)?;
        Ok::<FlowProof, Exhausted>(proof(model, known, &reached, counters, Some(evidence)))
    };
    let Some(why) = open.why(model) else { return Ok(Attempted::Proved(Box::new(proof(counters)?))) };
    let steps = model.nodes.ids().flat_map(|node| model.steps[node].iter().copied());
    let excluded = steps.filter(|step| !data.may_take(*step, None)).collect();
    let partial = match &open {
        OpenObligations::Races(conflicts) => {
            Some(Attempt { proof: None, open: open_races(model, conflicts) })
        }
        OpenObligations::Errors { open, .. } => {
            // Also where nothing is excluded: it says which checks there are.
            Some(Attempt { proof: Some(proof(counters)?), open: checks::explained(setup, coarsened, open) })
        }
        OpenObligations::Deadlocks => None,
    };
    Ok(Attempted::Open(Box::new(Open { why, partial, excluded })))
}

/// The control facts of a round.
struct Analysed<'v, 'a, 'p> {
    model: &'v Model<'p>,
    known: &'v Known,
    analyses: &'v IdVec<TemplateId, FactsAnalysis<'a, 'p>>,
}

/// Counters with claims, and the possible steps under these.
fn with_counters<'k, 'p>(
    view: &Analysed<'_, '_, 'p>,
    mut rules: Rules<'k, 'p>,
    mut reached: Reached,
    equal: &Equal,
    budget: &Budget,
) -> Result<(Rules<'k, 'p>, Reached, Vec<Counter>), Exhausted> {
    let mut counters = candidates(view.model);
    for counter in &mut counters {
        budget.check(0)?;
        match weigh(view.model, counter, equal, &rules, &reached) {
            Some(guards) => {
                rules = rules.with_counter(counter, guards);
                reached = rules.solve(budget)?;
            }
            None => counter.weights.clear(),
        }
    }
    counters.retain_mut(|counter| {
        find_tickets(view.model, counter, equal, &rules, &reached) || !counter.weights.is_empty()
    });
    Ok((rules, reached, counters))
}

/// Facts and pairs without breakable lock claims, and the retracted claims.
pub fn analyse(
    model: &Model<'_>,
    budget: &Budget,
) -> Result<(Known, Reached, Vec<RetractedLockClaim>), Exhausted> {
    analyse_without(model, &BTreeSet::new(), budget)
}

/// The same, without steps that data excludes.
fn analyse_without(
    model: &Model<'_>,
    pruned: &BTreeSet<Step>,
    budget: &Budget,
) -> Result<(Known, Reached, Vec<RetractedLockClaim>), Exhausted> {
    let mut retracted: Vec<RetractedLockClaim> = Vec::new();
    loop {
        budget.check(0)?;
        let known = known(model, &analyses(model, &retracted, pruned));
        let rules = Rules::new(model, &known, &NoData);
        let reached = rules.solve(budget)?;
        let more = unreliable(model, &known, &rules, &reached);
        if more.is_empty() {
            return Ok((known, reached, retracted));
        }
        retracted.extend(more);
    }
}

fn analyses<'a, 'p>(
    model: &'a Model<'p>,
    retracted: &'a [RetractedLockClaim],
    pruned: &'a BTreeSet<Step>,
) -> IdVec<TemplateId, FactsAnalysis<'a, 'p>> {
    model.program.templates.ids().map(|id| FactsAnalysis::new(model, id, retracted, pruned)).collect()
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
    let families = families(model, analyses, &facts);
    let owned_parameters = owned_parameters(model, analyses, &facts);
    Known { facts, effects, families, owned_parameters }
}

/// The open obligations of a property.
enum OpenObligations {
    Races(Vec<Conflict>),
    Errors { open: Vec<Step>, all: usize },
    Deadlocks,
}

impl OpenObligations {
    /// The open obligations, as text.
    fn why(&self, model: &Model<'_>) -> Option<String> {
        match self {
            Self::Races(found) => {
                let first = found.first()?;
                let object = first
                    .objects
                    .first()
                    .map_or("memory", |object| model.program.objects[*object].name.as_str());
                Some(format!(
                    "{} pairs of accesses are not proved race-free, first: {} and {} on {object}",
                    found.len(),
                    place(model.program, first.spans[0]),
                    place(model.program, first.spans[1]),
                ))
            }
            Self::Errors { open, all } => {
                let first = open.first()?;
                let remaining = checks::errors(model, open);
                let place = place(model.program, model.edge(*first).span);
                Some(format!("{remaining} of {all} checks are not proved, first: {place}"))
            }
            Self::Deadlocks => Some("deadlocks are not looked for".to_owned()),
        }
    }
}

fn open_obligations(
    view: &Analysed<'_, '_, '_>,
    reached: &Reached,
    property: &Property,
    data: &dyn DataFacts,
    counters: &[Counter],
    equal: &Equal,
) -> OpenObligations {
    let Analysed { model, known, analyses } = *view;
    match property {
        Property::NoRace => {
            let accesses = shared_accesses(model, known, analyses, reached, counters, equal);
            OpenObligations::Races(conflicts(model, known, &accesses, reached))
        }
        Property::NoError(kinds) => {
            let all = checks::checks(model, kinds);
            OpenObligations::Errors {
                open: checks::open(model, &all, reached, data),
                all: checks::errors(model, &all),
            }
        }
        Property::NoDeadlock | Property::NoLeak(_) => OpenObligations::Deadlocks,
    }
}

fn proof(
    model: &Model<'_>,
    known: &Known,
    reached: &Reached,
    counters: Vec<Counter>,
    data: Option<DataProof>,
) -> FlowProof {
    let mut facts: Vec<Vec<_>> = model.program.templates.iter().map(|_| Vec::new()).collect();
    for (node, here) in known.facts.enumerate() {
        facts[model.nodes[node].0.index()].push(here.clone());
    }
    FlowProof {
        unique: model.unique.enumerate().filter(|(_, unique)| **unique).map(|(id, _)| id).collect(),
        facts,
        reachable: model.nodes.ids().map(|node| reached.nodes.contains(node.index())).collect(),
        coreachable: reached.pairs.clone(),
        given: known.owned_parameters.clone(),
        families: known.families.clone(),
        counters,
        data,
    }
}
