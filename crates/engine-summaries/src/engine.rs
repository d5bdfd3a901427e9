//! The engine: annotates a program, and compares the accesses that may conflict.

use crate::analysis::Analysis;
use crate::model::Model;
use crate::races::{self, Location};
use ir::ids::Id;
use ir::{ObjectId, Program, Span, Target, TemplateId};
use verdict::{
    Budget, Engine, Events, ProcedureContext, Proof, Property, Reason, SummariesProof, Task, Team, Verdict,
};

/// The engine.
#[derive(Clone, Default, Debug)]
pub struct Summaries;

impl Engine for Summaries {
    fn name(&self) -> &'static str {
        "summaries"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, _: &dyn Events) -> Verdict {
        match answer(task, budget) {
            Ok(verdict) => verdict,
            Err(reason) => Verdict::Unknown(reason),
        }
    }
}

fn answer(task: Task<'_>, budget: &Budget) -> Result<Verdict, Reason> {
    let model = model(task, budget)?;
    let analysis = Analysis::run(&model, budget).map_err(Reason::Exhausted)?;
    let locations = races::locations(&analysis, budget).map_err(Reason::Exhausted)?;
    let open: Vec<&Location> = locations.iter().filter(|location| !location.open.is_empty()).collect();
    let rest = match open.first() {
        None => "otherwise it is proved".to_owned(),
        Some(first) => format!(
            "besides, {} of {} shared locations may have races, the first in {}",
            open.len(),
            locations.len(),
            task.program.objects[first.cell.object].name
        ),
    };
    if let Some(assumption) = task.program.limiting_assumption() {
        return Err(Reason::NotSupported(format!("{}; {rest}", assumption.text), assumption.span));
    }
    if open.is_empty() {
        return Ok(Verdict::Safe(Proof::Summaries(Box::new(proof(analysis)))));
    }
    Err(Reason::GaveUp(format!("summaries: {rest}")))
}

fn model<'p>(task: Task<'p>, budget: &Budget) -> Result<Model<'p>, Reason> {
    if *task.property != Property::NoRace {
        let text = "summaries: only data races are looked for".to_owned();
        return Err(Reason::NotSupported(text, Span::default()));
    }
    if task.program.has_broadcasts() {
        let text = "a step that changes the locals of other threads".to_owned();
        return Err(Reason::NotSupported(text, Span::default()));
    }
    let points_to = task.program.points_to(budget).map_err(Reason::Exhausted)?;
    budget.check(0).map_err(Reason::Exhausted)?;
    Ok(Model::new(task.program, points_to))
}

/// What holds at each location of each procedure and context, whether or not that excludes all races.
pub fn annotate(task: Task<'_>, budget: &Budget) -> Result<SummariesProof, Reason> {
    annotate_without(task, &[], budget)
}

/// What holds where nothing is claimed to keep these objects from other threads.
pub fn annotate_without(
    task: Task<'_>,
    shared: &[ObjectId],
    budget: &Budget,
) -> Result<SummariesProof, Reason> {
    let mut model = model(task, budget)?;
    for object in shared {
        model.private[*object] = false;
        model.ownable[*object] = false;
        model.helpers.iter_mut().for_each(|helpers| helpers.shared[*object] = false);
    }
    let analysis = Analysis::run(&model, budget).map_err(Reason::Exhausted)?;
    Ok(proof(analysis))
}

/// The annotation: contexts that no thread is ever in are left out.
pub fn proof(mut analysis: Analysis<'_, '_>) -> SummariesProof {
    let model = analysis.model;
    let reached = analysis.reached();
    let mut numbers = vec![u32::MAX; analysis.contexts.len()];
    for (new, old) in reached.iter().enumerate() {
        numbers[*old as usize] = new as u32;
    }
    let distinct = analysis.distinct(false);
    let handles = std::mem::take(&mut analysis.transfer.handles);
    let contexts = reached.iter().map(|number| {
        let context = &mut analysis.contexts[*number as usize];
        let calls =
            context.calls.iter().map(|((edge, callee), number)| (*edge, *callee, numbers[*number as usize]));
        let releases = context.releases.iter().map(|lock| model.lock_targets[lock]);
        let mut releases: Vec<Target> = releases.collect();
        releases.sort_unstable();
        ProcedureContext {
            template: context.template,
            kind: context.kind,
            // They take most of the memory.
            facts: std::mem::take(&mut context.facts).iter_mut().map(Option::take).collect(),
            calls: calls.collect(),
            releases,
            starts: context.starts.iter().copied().collect(),
            stores: context.stores.iter().map(|id| model.id_targets[id]).collect(),
            writes: context.writes.iter().map(|cell| cell as u32).collect(),
        }
    });
    let contexts = contexts.collect();
    let teams = model.helpers.iter().map(|helpers| {
        let is_shared = |id: &ObjectId| helpers.shared[*id] && !model.private[*id];
        Team {
            helper: helpers.kind,
            objects: model.program.objects.ids().filter(is_shared).collect(),
            apart: analysis.apart_in_teams.get(&helpers.kind).copied().unwrap_or(0),
            alone: analysis.alone_in_teams.contains(&helpers.kind),
        }
    });
    let teams = teams.collect();
    SummariesProof {
        once: ids(model.program, |id| model.once[id]),
        private: model.program.objects.ids().filter(|id| model.private[*id]).collect(),
        handles,
        cells: model.cells.clone(),
        distinct,
        alone: analysis.alone.iter().copied().collect(),
        teams,
        contexts,
    }
}

fn ids(program: &Program, is_in: impl Fn(TemplateId) -> bool) -> Vec<TemplateId> {
    (0..program.templates.len()).map(TemplateId::new).filter(|id| is_in(*id)).collect()
}
