//! Whether each thread of a program does only what its abstract thread may do.

use crate::build::{Bad, Builder, Built, Move};
use crate::explain::{Candidates, Failure, Mismatch};
use indexmap::IndexMap;
use ir::specification::{Specification, Thread};
use ir::{Callee, Count, LocationKind, Op, Program, Span, TemplateId};
use sequential::{Invariants, Node, Outcome, Path};
use smt::NoAnswer;
use smt::expressions::{Mode, Untranslatable};
use transitions::specification::Meaning;
use transitions::{NotReady, System, prepare_whole};
use verdict::{Analysed, Budget, Conformance, Reason, Views};

/// What became of the check of all threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Conformances {
    /// For each template, in order: its function, and the abstract thread if there is one.
    pub threads: Vec<Checked>,
}

/// A template and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The function that its threads run.
    pub function: String,
    /// The name of the abstract thread; `None`: the function has none, and must change no variable of the
    /// specification.
    pub thread: Option<String>,
    /// Seconds that it took.
    pub seconds: f64,
    /// What was found.
    pub result: Result<Conformance, Problem>,
}

/// Why there is no proof that a thread conforms.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// It does not.
    Fails(Box<Failure>),
    /// It is not known.
    Unknown(Reason),
}

/// Why a program cannot be looked at.
pub(crate) fn not_ready(why: NotReady) -> Reason {
    match why {
        NotReady::NoView(why) => why.reason("spec"),
        NotReady::Unresolved(span) => {
            Reason::NotSupported("a call or the start of a thread whose target is not known".to_owned(), span)
        }
    }
}

pub(crate) fn untranslatable(why: Untranslatable) -> Reason {
    Reason::NotSupported(why.0, Span::default())
}

pub(crate) fn no_answer(why: NoAnswer) -> Reason {
    match why {
        NoAnswer::Exhausted(exhausted) => Reason::Exhausted(exhausted),
        NoAnswer::GaveUp(why) => Reason::GaveUp(why),
    }
}

/// The program that conformance is about: calls inlined, locks as words, nothing left out.
pub(crate) fn prepared<'v>(program: &'v Views, budget: &Budget) -> Result<&'v Analysed, Reason> {
    match program.start.as_slice() {
        [(_, Count::Exactly(1))] => {}
        _ => {
            let text = "a program that starts as several threads".to_owned();
            return Err(Reason::NotSupported(text, Span::default()));
        }
    }
    if program.has_broadcasts() {
        return Err(Reason::NotSupported(
            "steps that change locals of other threads".to_owned(),
            Span::default(),
        ));
    }
    let words = prepare_whole(program, budget).map_err(not_ready)?;
    let first = words.start.first().map(|(template, _)| *template);
    for edge in words.templates.iter().flat_map(|code| &code.edges) {
        let again = |op: &Op| matches!(op, Op::Spawn(Callee::Procedure(child), ..) if Some(*child) == first);
        if edge.ops.iter().any(again) {
            // It would have to conform as the first thread, and as one that others run beside from its start
            // on.
            let text = "the start of a thread that runs what the first thread runs".to_owned();
            return Err(Reason::NotSupported(text, edge.span));
        }
    }
    Ok(words)
}

/// Templates that threads run, the first one first.
pub(crate) fn run_templates(program: &Program) -> Vec<TemplateId> {
    let mut found: Vec<TemplateId> = program.start.iter().map(|(template, _)| *template).collect();
    let mut next = 0;
    while let Some(template) = found.get(next).copied() {
        next += 1;
        for op in program.templates[template].edges.iter().flat_map(|edge| &edge.ops) {
            if let Op::Spawn(Callee::Procedure(child), ..) = op
                && !found.contains(child)
            {
                found.push(*child);
            }
        }
    }
    found
}

/// That there are not more threads than the specification says; else why not, with the place of the abstract
/// thread.
pub(crate) fn counts_fit(specification: &Specification, system: &System<'_>) -> Result<(), (String, Span)> {
    let templates = run_templates(system.program);
    for thread in &specification.threads {
        let of_it: Vec<TemplateId> = templates
            .iter()
            .copied()
            .filter(|template| system.program.templates[*template].name == thread.function)
            .collect();
        if of_it.is_empty() {
            return Err((format!("no thread runs `{}`", thread.function), thread.span));
        }
        if let Count::Exactly(copies) = thread.count {
            let unique = of_it.iter().all(|template| system.unique.templates[*template]);
            if !unique || of_it.len() > copies as usize {
                let text = format!(
                    "more than {copies} threads may run `{}`: say `times any`, or a larger number",
                    thread.function
                );
                return Err((text, thread.span));
            }
        }
    }
    Ok(())
}

/// Checks all threads.
pub(crate) fn check_all(
    specification: &Specification,
    original: &Program,
    system: &System<'_>,
    budget: &Budget,
) -> Vec<Checked> {
    let templates = run_templates(system.program);
    let main = templates[0];
    let mut found = Vec::new();
    for template in templates {
        let clock = std::time::Instant::now();
        let function = system.program.templates[template].name.clone();
        let thread = specification.threads.iter().find(|thread| thread.function == function);
        let idle = Thread::idle(&function);
        let checker = Checker {
            specification,
            original,
            system,
            template,
            thread: thread.unwrap_or(&idle),
            is_first: template == main,
        };
        let result = checker.check(budget);
        let thread = thread.map(|thread| thread.name.clone());
        found.push(Checked { function, thread, seconds: clock.elapsed().as_secs_f64(), result });
    }
    found
}

struct Checker<'a> {
    specification: &'a Specification,
    original: &'a Program,
    system: &'a System<'a>,
    template: TemplateId,
    thread: &'a Thread,
    is_first: bool,
}

impl Checker<'_> {
    fn check(&self, budget: &Budget) -> Result<Conformance, Problem> {
        let unknown = |why: Untranslatable| Problem::Unknown(untranslatable(why));
        let meaning = Meaning::of_thread(self.specification, self.original, self.system, self.template)
            .map_err(unknown)?;
        let start = self.specification.start_condition(self.original);
        let start = if self.is_first { Some(meaning.condition(&start).map_err(unknown)?) } else { None };
        let builder = Builder {
            system: self.system,
            template: self.template,
            thread: self.thread,
            meaning: &meaning,
            start,
        };
        let built = builder.build().map_err(unknown)?;
        match sequential::check(&built.program, budget) {
            Outcome::Safe(invariants) => Ok(self.conformance(&built, &invariants)),
            Outcome::Unsafe(path) => Err(Problem::Fails(Box::new(self.failure(&built, &meaning, &path)))),
            Outcome::Unknown(why) => Err(Problem::Unknown(no_answer(why))),
        }
    }

    fn conformance(&self, built: &Built, invariants: &Invariants) -> Conformance {
        let of = |nodes: &[Option<Node>]| {
            nodes.iter().map(|node| node.and_then(|node| invariants.at(node).cloned())).collect()
        };
        Conformance {
            template: self.template,
            alone: of(&built.alone),
            starting: of(&built.starting),
            outside: of(&built.outside),
            inside: of(&built.inside),
        }
    }

    /// Where a thread and its abstract thread part.
    fn failure(&self, built: &Built, meaning: &Meaning<'_>, path: &Path) -> Failure {
        let last_others = path.steps.iter().rposition(|step| built.moves[*step] == Move::Others);
        let first = last_others.map_or(0, |position| position + 1);
        let before = &path.states[first];
        let after = path.states.last().unwrap_or(before);
        let own = |position: &usize| match built.moves[path.steps[*position]] {
            Move::Own(step) => Some(step),
            Move::Others | Move::Begin => None,
        };
        let steps: Vec<usize> = (first..path.steps.len()).filter_map(|position| own(&position)).collect();
        let writes = |step: &&usize| {
            meaning.variables().any(|variable| self.system.steps[**step].updates.contains_key(variable))
        };
        let bad = built.bad[path.forbidden];
        let telling = match bad {
            Bad::NoCandidate => steps.iter().rfind(writes).or(steps.last()),
            Bad::Error | Bad::Start => steps.last(),
        };
        let chosen = |values: &IndexMap<smt::Variable, smt::Value>| -> Vec<String> {
            let chosen = built.candidates.iter().zip(&self.thread.states);
            let holds = |variable| values.get(variable).and_then(smt::Value::as_bool) == Some(true);
            chosen.filter(|(variable, _)| holds(*variable)).map(|(_, state)| state.name.clone()).collect()
        };
        let names = self.specification.variables.iter().map(|variable| variable.name.clone());
        let shown = |values: &IndexMap<smt::Variable, smt::Value>, variable: &smt::Variable| {
            values.get(variable).map_or_else(|| "?".to_owned(), ToString::to_string)
        };
        let values = names
            .zip(meaning.variables())
            .map(|(name, variable)| (name, shown(before, variable), shown(after, variable)))
            .collect();
        Failure {
            function: self.thread.function.clone(),
            thread: (self.thread.span != Span::default()).then(|| self.thread.name.clone()),
            mismatch: match bad {
                Bad::Error => Mismatch::Assertion,
                Bad::NoCandidate => Mismatch::Step,
                Bad::Start => Mismatch::Start,
            },
            span: telling.map_or(Span::default(), |step| self.span_of(*step)),
            candidates: if bad == Bad::Start || last_others.is_none() {
                Candidates::Alone
            } else {
                Candidates::States(chosen(before))
            },
            values,
        }
    }

    /// Where a step stands.
    fn span_of(&self, step: usize) -> Span {
        let edges = &self.system.program.templates[self.template].edges;
        let mut spans = self.system.steps[step].edges.iter().map(|edge| edges[*edge].span);
        spans.rfind(|span| span.line > 0).unwrap_or_default()
    }
}

/// The system that conformance is about.
pub(crate) fn system(program: &Analysed) -> System<'_> {
    System::whole(program, Mode::Integers)
}

/// Whether some thread can reach an error location at all.
pub(crate) fn has_errors(program: &Program) -> bool {
    let mut locations = program.templates.iter().flat_map(|code| &code.locations);
    locations.any(|location| matches!(location.kind, LocationKind::Error(_)))
}
