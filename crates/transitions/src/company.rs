//! Which threads there may be while the first one is at a location.
//!
//! If a program starts with one thread, and none is started of that thread's template, all other threads are
//! those that it has started on its way, and those that these have started. Over-approximates.

use crate::system::{Step, System};
use ir::{Count, LocationId, TemplateId};
use std::collections::{BTreeMap, BTreeSet};

/// The company of the first thread.
#[derive(Clone, Debug)]
pub struct Company {
    /// The template of the first thread.
    pub first: TemplateId,
    at: BTreeMap<LocationId, BTreeSet<TemplateId>>,
}

impl Company {
    /// Finds it; `None` where more threads run from the start, or others run the first one's template.
    pub fn of(system: &System<'_>) -> Option<Self> {
        let [(first, Count::Exactly(1))] = system.program.start[..] else { return None };
        if !system.unique.templates[first] {
            return None;
        }
        let own = |step: &&Step| step.template == first;
        let mut at = BTreeMap::from([(system.program.templates[first].entry, BTreeSet::new())]);
        loop {
            let mut changed = false;
            for step in system.steps.iter().filter(own) {
                let Some(mut there) = at.get(&step.source).cloned() else { continue };
                there.extend(step.starts.iter().flat_map(|start| with_started(system, start.template)));
                let known = at.get(&step.target);
                if known.is_none_or(|known| !there.is_subset(known)) {
                    at.entry(step.target).or_default().extend(there);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        Some(Self { first, at })
    }

    /// Whether there may be a thread of another template while the first one is at a location.
    pub fn may_meet(&self, location: LocationId, other: TemplateId) -> bool {
        self.at.get(&location).is_some_and(|there| there.contains(&other))
    }
}

/// A template, and those of which its threads start threads.
fn with_started(system: &System<'_>, template: TemplateId) -> BTreeSet<TemplateId> {
    let mut found = BTreeSet::from([template]);
    loop {
        let steps = system.steps.iter().filter(|step| found.contains(&step.template));
        let more: BTreeSet<TemplateId> =
            steps.flat_map(|step| step.starts.iter().map(|start| start.template)).collect();
        if more.is_subset(&found) {
            return found;
        }
        found.extend(more);
    }
}
