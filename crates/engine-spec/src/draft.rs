//! Drafts of specifications, from the code of each thread.
//!
//! A state is a region of locations between which no variable is written and nothing is checked; a transition
//! is a step that writes some, to anything. If the program has a check there, the state asserts its
//! condition, if global variables can express it; otherwise the assertion never holds. So the threads conform
//! by construction (each step is a transition of its region, or idling), and the composition mostly goes
//! wrong until the user refines the draft.
//!
//! Where contexts were inferred ([`Contexts`]), the automaton of a thread says more than that ([`drafts`]);
//! whether the thread conforms to it is for the caller to check.

use crate::acfa::Automaton;
use crate::conformance::{not_ready, prepared, run_templates, system};
use crate::text::c_text;
use indexmap::IndexMap;
use ir::{IdVec, Layout, LocationId, LocationKind, TemplateId};
use smt::eliminate::eliminate;
use smt::expressions::Mode;
use smt::{Term, Variable};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;
use transitions::{Kind, Step, System, prepare};
use verdict::{Acfa, Budget, Reason, Views};

/// How long it is tried to say in terms of global variables when a check fails.
const PATIENCE: Duration = Duration::from_millis(500);

/// The text of a first specification of a lowered program.
pub fn draft(program: &Views, budget: &Budget) -> Result<String, Reason> {
    let ready = prepared(program, budget)?;
    let system = system(ready);
    let drafter = Drafter { system: &system, names: names(&system), budget };
    let mut out = String::from(
        "// A first specification: every thread conforms to it.\n// Say more in assertions and transitions (see docs/specifications.md).\n",
    );
    let functions = drafter.functions();
    out.push_str(&drafter.start(functions[0].1[0]));
    for (number, (function, templates)) in functions.iter().enumerate() {
        out.push_str(&drafter.thread(function, templates, number == 0));
    }
    Ok(out)
}

/// What another engine has inferred of the threads of a program, by contexts.
pub struct Contexts<'a> {
    /// The lowered program that it was asked about.
    pub program: &'a Views,
    /// Whether it was asked about races.
    pub races: bool,
    /// What threads of each template do to shared variables, at most: templates of the program that
    /// [`transitions::prepare`] makes.
    pub acfas: &'a IdVec<TemplateId, Acfa>,
}

/// Texts for a first specification, of which one is chosen for each function.
pub struct Drafts {
    /// The start condition.
    pub start: String,
    /// For each function that threads run its abstract threads, the best first. To the last one it conforms
    /// by construction.
    pub functions: Vec<(String, Vec<String>)>,
}

impl Drafts {
    /// The specification with the chosen text for each function, for users to continue from.
    pub fn text(&self, chosen: &[usize]) -> String {
        let heading = "// A first specification, from what threads were found to do. Every thread conforms to it.\n// Say more in assertions and transitions (see docs/specifications.md).\n";
        self.under(heading, chosen)
    }

    /// The specification with the chosen text for each function, under some heading.
    pub fn under(&self, heading: &str, chosen: &[usize]) -> String {
        let mut out = format!("{heading}{}", self.start);
        for ((_, texts), number) in self.functions.iter().zip(chosen) {
            out.push_str(&texts[*number]);
        }
        out
    }
}

/// First specifications of a lowered program from contexts. They speak of the variables that the contexts
/// speak of.
pub fn drafts(program: &Views, contexts: &Contexts<'_>, budget: &Budget) -> Result<Drafts, Reason> {
    let inferred = prepare(contexts.program, contexts.races, budget).map_err(not_ready)?;
    let inferred = System::new(inferred, Mode::Integers);
    let all_names = names(&inferred);
    let spoken: BTreeSet<Variable> = contexts.acfas.iter().flat_map(variables).collect();
    let known: IndexMap<Variable, String> =
        all_names.into_iter().filter(|(variable, _)| spoken.contains(variable)).collect();
    let of_known = inferred.shared.iter().filter(|shared| known.contains_key(&shared.variable));
    let ranges = inferred.ranges(of_known);

    let ready = prepared(program, budget)?;
    let system = system(ready);
    let mut names = names(&system);
    names.retain(|_, name| known.values().any(|other| other == name));
    let drafter = Drafter { system: &system, names, budget };
    let main = run_templates(inferred.program)[0];
    let mut start = None;
    let mut functions = Vec::new();
    for (number, (function, templates)) in drafter.functions().into_iter().enumerate() {
        let is_first = number == 0;
        let of_it = contexts.acfas.enumerate().filter(|(template, _)| {
            inferred.program.templates[*template].name == function && (*template == main) == is_first
        });
        let mut texts: Vec<String> = Vec::new();
        for (_, acfa) in of_it {
            let automaton = Automaton { acfa, names: &known, ranges: &ranges, is_first };
            let Some(written) = automaton.written(budget) else { continue };
            let text = written
                .body
                .as_ref()
                .map_or_else(|| without_thread(&function), |body| drafter.frame(&function, &templates, body));
            if is_first {
                start = Some(written);
            }
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts.push(drafter.thread(&function, &templates, is_first));
        functions.push((function, texts));
    }
    let start = match start {
        Some(written) if written.changed_before.iter().any(|variable| known.contains_key(variable)) => {
            let changed = |name: &String| {
                let mut changed = written.changed_before.iter().filter_map(|variable| known.get(variable));
                changed.any(|other| other == name)
            };
            drafter.start_condition(changed, written.start.as_deref())
        }
        Some(_) => String::new(),
        None => drafter.start(run_templates(ready)[0]),
    };
    Ok(Drafts { start, functions })
}

/// The variables that an automaton speaks of.
fn variables(acfa: &Acfa) -> BTreeSet<Variable> {
    let labels = acfa.states.iter().flat_map(|state| state.label.free_variables());
    let edges = acfa.edges.iter().flat_map(|edge| {
        let formulas = [&edge.action.guard, &edge.action.after];
        let spoken = formulas.into_iter().flat_map(Term::free_variables);
        spoken.chain(edge.action.havoc.iter().cloned()).collect::<Vec<_>>()
    });
    labels.chain(edges).collect()
}

/// Elements of longer arrays are not spoken of.
const LONGEST_ARRAY: u64 = 8;

/// The names that users know shared variables by, as far as specifications can speak of them.
fn names(system: &System<'_>) -> IndexMap<Variable, String> {
    let mut found = IndexMap::new();
    for shared in &system.shared {
        let Kind::Cell(object, offset) = shared.kind else { continue };
        let what = &system.program.objects[object];
        let same = system.program.objects.iter().filter(|other| other.name == what.name).count();
        let is_word = what.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        if same == 1
            && is_word
            && what.storage == ir::Storage::Static
            && let Some(name) = cell_name(&what.layout, what.name.clone(), offset)
        {
            found.insert(shared.variable.clone(), name);
        }
    }
    found
}

/// The name of the number at an offset of an object.
fn cell_name(layout: &Layout, name: String, offset: u64) -> Option<String> {
    match layout {
        Layout::Scalar(_) => (offset == 0).then_some(name),
        Layout::Array { element, count, stride } => {
            let index = offset.checked_div(*stride)?;
            let inside = index < *count && *count <= LONGEST_ARRAY;
            inside.then(|| cell_name(element, format!("{name}[{index}]"), offset % stride))?
        }
        Layout::Record(fields) => {
            let field = fields.iter().rev().find(|field| field.offset <= offset)?;
            let named = !field.name.is_empty();
            named
                .then(|| cell_name(&field.layout, format!("{name}.{}", field.name), offset - field.offset))?
        }
        Layout::Sync(_) | Layout::Bytes(_) => None,
    }
}

/// What is written of a function that needs no abstract thread.
fn without_thread(function: &str) -> String {
    format!(
        "\n// `{function}` needs no abstract thread: it changes no variable here, and its checks do not fail.\n"
    )
}

struct Drafter<'a> {
    system: &'a System<'a>,
    names: IndexMap<Variable, String>,
    budget: &'a Budget,
}

/// What leads from region to region.
type Transitions = BTreeMap<(usize, usize), BTreeSet<Vec<String>>>;

impl Drafter<'_> {
    /// The start condition, where the first thread writes variables while it is alone: the others have their
    /// first values.
    fn start(&self, main: TemplateId) -> String {
        let entry = self.system.program.templates[main].entry;
        let runs = self.runs(main);
        let alone = reachable(BTreeSet::from([entry]), &runs, |run| !run.starts);
        let written: BTreeSet<&String> =
            runs.iter().filter(|run| alone.contains(&run.source)).flat_map(|run| &run.writes).collect();
        if written.is_empty() {
            return String::new();
        }
        self.start_condition(|name| written.contains(name), None)
    }

    /// That variables that are not written have their first values, and what else is known.
    fn start_condition(&self, written: impl Fn(&String) -> bool, known: Option<&str>) -> String {
        let mut facts: Vec<String> = Vec::new();
        for shared in &self.system.shared {
            let name = self.names.get(&shared.variable).filter(|name| !written(name));
            let first = shared.first.as_ref().and_then(|first| c_text(first, &|_| None));
            facts.extend(name.zip(first).map(|(name, first)| format!("{name} == {first}")));
        }
        facts.extend(known.map(|known| format!("({known})")));
        if facts.is_empty() {
            facts.push("1".to_owned());
        }
        format!("start {};\n", facts.join(" && "))
    }

    /// The functions that threads run, the first thread's first, each with its templates.
    fn functions(&self) -> Vec<(String, Vec<TemplateId>)> {
        let mut found: IndexMap<String, Vec<TemplateId>> = IndexMap::new();
        for template in run_templates(self.system.program) {
            let function = self.system.program.templates[template].name.clone();
            found.entry(function).or_default().push(template);
        }
        found.into_iter().collect()
    }

    /// An abstract thread with some states and transitions.
    fn frame(&self, function: &str, templates: &[TemplateId], body: &str) -> String {
        let copies = if templates.iter().all(|template| self.system.unique.templates[*template]) {
            templates.len().to_string()
        } else {
            "any".to_owned()
        };
        format!("\nthread {}_spec runs {function} times {copies} {{\n{body}}}\n", capital(function))
    }

    fn thread(&self, function: &str, templates: &[TemplateId], is_first: bool) -> String {
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
            return without_thread(function);
        }
        for region in &reached {
            let start = if initial.contains(region) { "start " } else { "" };
            let said: Vec<String> = assertions.get(region).into_iter().flatten().cloned().collect();
            let asserts =
                if said.is_empty() { String::new() } else { format!(" asserts {}", said.join(" && ")) };
            let at: Vec<String> = lines.get(region).into_iter().flatten().map(u32::to_string).collect();
            let comment = if at.is_empty() { String::new() } else { format!(" // lines {}", at.join(", ")) };
            let _ = writeln!(out, "  {start}state S{region}{asserts};{comment}");
        }
        for ((from, to), all_writes) in &transitions {
            for writes in all_writes {
                let changes =
                    if writes.is_empty() { String::new() } else { format!(" changes {}", writes.join(", ")) };
                let _ = writeln!(out, "  S{from} -> S{to}{changes};");
            }
        }
        self.frame(function, templates, &out)
    }

    fn is_inside(&self, template: TemplateId, location: LocationId) -> bool {
        self.system.program.templates[template].locations[location].runs_alone()
    }

    /// Steps, with those through atomic regions put together: what may be written from where others run to
    /// where others run.
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

    /// What must hold for a check not to fail, as far as it is about global variables that users know; else
    /// nothing does.
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
            match eliminate(&step.guard, &local, &self.budget.patient_for(PATIENCE)) {
                Ok(formula) => formula,
                Err(_) => return never,
            }
        };
        let name = |variable: &Variable| self.names.get(variable).cloned();
        c_text(&fails.not(), &name).unwrap_or(never)
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
