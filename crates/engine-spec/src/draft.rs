//! First specifications: what each thread does, as far as that is plain from its text.
//!
//! A state is a region of locations between which no variable is written and nothing is checked; a transition is a step that writes some, to anything. Where a check of the program is, the state's assertion
//! says that it does not fail, as far as it is about global variables; else it never holds. So the threads conform by construction (each step is a transition of
//! its region, or idling), and the composition mostly goes wrong until the user has said more.

use crate::conformance::{prepared, run_templates, system};
use crate::text::c_text;
use indexmap::IndexMap;
use ir::{LocationId, LocationKind, Program, TemplateId};
use smt::Variable;
use smt::eliminate::eliminate;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;
use transitions::{Kind, Step, System};
use verdict::{Budget, Reason};

/// How long it is tried to say in terms of global variables when a check fails.
const PATIENCE: Duration = Duration::from_millis(500);

/// The text of a first specification of a lowered program.
pub fn draft(program: &Program, budget: &Budget) -> Result<String, Reason> {
    let ready = prepared(program, budget)?;
    let system = system(&ready);
    let drafter = Drafter { system: &system, names: names(&system), budget };
    let mut out = String::from(
        "// A first specification: every thread conforms to it. Say more in assertions and transitions (see docs/specifications.md).\n",
    );
    let mut done: BTreeSet<String> = BTreeSet::new();
    let templates = run_templates(&ready);
    out.push_str(&drafter.start(templates[0]));
    for template in &templates {
        let function = &ready.templates[*template].name;
        if !done.insert(function.clone()) {
            continue;
        }
        let of_it: Vec<TemplateId> =
            templates.iter().copied().filter(|other| ready.templates[*other].name == *function).collect();
        out.push_str(&drafter.thread(function, &of_it, *template == templates[0]));
    }
    Ok(out)
}

/// The names that users know shared variables by, as far as specifications can speak of them.
fn names(system: &System<'_>) -> IndexMap<Variable, String> {
    let mut found = IndexMap::new();
    for shared in &system.shared {
        let Kind::Cell(object, offset) = shared.kind else { continue };
        let what = &system.program.objects[object];
        let scalar = matches!(what.layout, ir::Layout::Scalar(_)) && offset == 0;
        let same = system.program.objects.iter().filter(|other| other.name == what.name).count();
        let is_word = what.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        if scalar && same == 1 && is_word && what.storage == ir::Storage::Static {
            found.insert(shared.variable.clone(), what.name.clone());
        }
    }
    found
}

struct Drafter<'a> {
    system: &'a System<'a>,
    names: IndexMap<Variable, String>,
    budget: &'a Budget,
}

/// What leads from region to region.
type Transitions = BTreeMap<(usize, usize), BTreeSet<Vec<String>>>;

impl Drafter<'_> {
    /// The start condition, where the first thread writes variables while it is alone: the others have their first values.
    fn start(&self, main: TemplateId) -> String {
        let entry = self.system.program.templates[main].entry;
        let runs = self.runs(main);
        let alone = reachable(BTreeSet::from([entry]), &runs, |run| !run.starts);
        let written: BTreeSet<&String> =
            runs.iter().filter(|run| alone.contains(&run.source)).flat_map(|run| &run.writes).collect();
        if written.is_empty() {
            return String::new();
        }
        let mut facts = vec!["1".to_owned()];
        for shared in &self.system.shared {
            let name = self.names.get(&shared.variable).filter(|name| !written.contains(name));
            let first = shared.first.as_ref().and_then(|first| c_text(first, &|_| None));
            facts.extend(name.zip(first).map(|(name, first)| format!("{name} == {first}")));
        }
        format!("start {};\n", facts.join(" && "))
    }

    fn thread(&self, function: &str, templates: &[TemplateId], is_first: bool) -> String {
        let copies = if templates.iter().all(|template| self.system.unique.templates[*template]) {
            templates.len().to_string()
        } else {
            "any".to_owned()
        };
        let mut out = String::new();
        // All templates of one function have the same text.
        let template = templates[0];
        let regions = self.regions(template);
        let mut assertions: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        let mut lines: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        let mut transitions: Transitions = BTreeMap::new();
        let runs = self.runs(template);
        // The first thread begins to count when it starts another.
        let entries: BTreeSet<LocationId> = if is_first {
            runs.iter().filter(|run| run.starts && !run.error).map(|run| run.target).collect()
        } else {
            BTreeSet::from([self.system.program.templates[template].entry])
        };
        let together = reachable(entries.clone(), &runs, |_| true);
        let initial: BTreeSet<usize> = entries.iter().map(|entry| regions[entry.0 as usize]).collect();
        let mut reached = initial.clone();
        for run in runs.into_iter().filter(|run| together.contains(&run.source)) {
            let (from, to) = (regions[run.source.0 as usize], regions[run.target.0 as usize]);
            lines.entry(from).or_default().extend(run.line);
            if run.error {
                assertions.entry(from).or_default().insert(self.assertion(&run));
            } else if from != to || !run.writes.is_empty() {
                transitions.entry((from, to)).or_default().insert(run.writes.into_iter().collect());
                reached.insert(to);
            }
        }
        let is_plain = transitions.is_empty() && assertions.is_empty();
        if is_plain {
            let _ = writeln!(
                out,
                "\n// `{function}` writes no global variable and checks nothing: it needs no abstract thread."
            );
            return out;
        }
        let _ = writeln!(out, "\nthread {}_spec runs {function} times {copies} {{", capital(function));
        for region in &reached {
            let start = if initial.contains(region) { "start " } else { "" };
            let said: Vec<String> = assertions.get(region).into_iter().flatten().cloned().collect();
            let asserts =
                if said.is_empty() { String::new() } else { format!(" asserts {}", said.join(" && ")) };
            let at: Vec<String> = lines.get(region).into_iter().flatten().map(u32::to_string).collect();
            let comment = if at.is_empty() { String::new() } else { format!(" // lines {}", at.join(", ")) };
            let _ = writeln!(out, "  {start}state S{region}{asserts};{comment}");
        }
        for ((from, to), ways) in &transitions {
            for writes in ways {
                let changes =
                    if writes.is_empty() { String::new() } else { format!(" changes {}", writes.join(", ")) };
                let _ = writeln!(out, "  S{from} -> S{to}{changes};");
            }
        }
        out.push_str("}\n");
        out
    }

    fn is_inside(&self, template: TemplateId, location: LocationId) -> bool {
        let place = self.system.program.templates[template].locations[location];
        place.atomic && place.kind == LocationKind::Normal
    }

    /// Steps, with those through atomic regions put together: what may be written on the way from where others run to where others run.
    fn runs(&self, template: TemplateId) -> Vec<Run> {
        let code = &self.system.program.templates[template];
        let mut found = Vec::new();
        for source in code.locations.ids().filter(|at| !self.is_inside(template, *at) || *at == code.entry) {
            // Where the run may be, with what it has written.
            let mut open: Vec<(LocationId, BTreeSet<String>, Option<u32>, bool)> =
                vec![(source, BTreeSet::new(), None, false)];
            let mut seen: BTreeSet<(LocationId, BTreeSet<String>, bool)> = BTreeSet::new();
            while let Some((at, writes, line, started)) = open.pop() {
                let steps =
                    self.system.steps.iter().filter(|step| step.template == template && step.source == at);
                for step in steps {
                    let mut writes = writes.clone();
                    writes
                        .extend(step.updates.keys().filter_map(|variable| self.names.get(variable).cloned()));
                    let span =
                        step.edges.iter().map(|edge| code.edges[*edge].span.line).find(|line| *line > 0);
                    let line = line.or(span);
                    let starts = started || !step.starts.is_empty();
                    let error = matches!(code.locations[step.target].kind, LocationKind::Error(_));
                    if self.is_inside(template, step.target)
                        && seen.insert((step.target, writes.clone(), starts))
                    {
                        open.push((step.target, writes, line, starts));
                    } else if error || !self.is_inside(template, step.target) {
                        let alone = (at == source).then(|| step.clone());
                        let target = if error { source } else { step.target };
                        found.push(Run { source, target, writes, line, error, starts, alone });
                    }
                }
            }
        }
        found
    }

    /// The regions of locations: numbers of their first locations.
    fn regions(&self, template: TemplateId) -> Vec<usize> {
        let count = self.system.program.templates[template].locations.ids().count();
        let mut regions: Vec<usize> = (0..count).collect();
        let runs = self.runs(template);
        let checks: BTreeSet<LocationId> =
            runs.iter().filter(|run| run.error).map(|run| run.source).collect();
        let silent: Vec<(usize, usize)> = runs
            .iter()
            .filter(|run| run.writes.is_empty() && !run.error)
            // Where something is checked is a region of its own.
            .filter(|run| !checks.contains(&run.source) && !checks.contains(&run.target))
            .map(|run| (run.source.0 as usize, run.target.0 as usize))
            .collect();
        loop {
            let before = regions.clone();
            for (from, to) in &silent {
                let least = regions[*from].min(regions[*to]);
                (regions[*from], regions[*to]) = (least, least);
            }
            if regions == before {
                return regions;
            }
        }
    }

    /// What must hold for a check not to fail, as far as it is about global variables that users know; else nothing does.
    fn assertion(&self, run: &Run) -> String {
        let never = "0".to_owned();
        let Some(step) = &run.alone else { return never };
        let local: Vec<Variable> = step
            .guard
            .free_variables()
            .into_iter()
            .filter(|variable| !self.names.contains_key(variable))
            .collect();
        let fails = if local.is_empty() {
            step.guard.clone()
        } else {
            match eliminate(&step.guard, &local, &self.budget.within(PATIENCE)) {
                Ok(formula) => formula,
                Err(_) => return never,
            }
        };
        let name = |variable: &Variable| self.names.get(variable).cloned();
        c_text(&fails, &name).map_or(never, |text| format!("!({text})"))
    }
}

/// Steps of a thread from a place where others run to the next one.
struct Run {
    source: LocationId,
    target: LocationId,
    writes: BTreeSet<String>,
    line: Option<u32>,
    error: bool,
    /// Whether another thread is started.
    starts: bool,
    /// The step, if it is one.
    alone: Option<Step>,
}

/// The places that some runs lead to from some places.
fn reachable(
    from: BTreeSet<LocationId>,
    runs: &[Run],
    wanted: impl Fn(&Run) -> bool,
) -> BTreeSet<LocationId> {
    let mut found = from;
    loop {
        let next: Vec<LocationId> = runs
            .iter()
            .filter(|run| {
                wanted(run) && !run.error && found.contains(&run.source) && !found.contains(&run.target)
            })
            .map(|run| run.target)
            .collect();
        if next.is_empty() {
            return found;
        }
        found.extend(next);
    }
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}
