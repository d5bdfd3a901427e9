//! The engine: conformance of all threads, then the composition.

use crate::conformance::{
    Checked, Conformances, Problem, check_all, counts_fit, has_errors, prepared, system,
};
use crate::counting::{Counted, count};
use ir::composition::compose;
use ir::specification::Specification;
use ir::{Callee, ErrorKind, Op, Program, TemplateId};
use verdict::{
    Budget, Check, Composition, Conformance, Engine, Event, Events, Proof, Property, Reason, SpecProof, Task,
    Trace, Verdict, Views,
};

/// Proofs by a specification.
pub struct Spec<'a> {
    /// What the threads may do. About the program of the task.
    pub specification: &'a Specification,
    /// Decides the composition where counting does not.
    pub composer: &'a dyn Engine,
}

/// Checks that all threads of a program conform.
pub fn conform(
    specification: &Specification,
    program: &Views,
    budget: &Budget,
) -> Result<Conformances, Reason> {
    let ready = prepared(program, budget)?;
    let system = system(ready);
    if let Err((message, _)) = counts_fit(specification, &system) {
        return Err(Reason::Specification(message));
    }
    Ok(Conformances { threads: check_all(specification, program, &system, budget) })
}

/// What came of the composition of a specification's threads.
#[derive(Clone, Debug, PartialEq)]
pub enum Composed {
    /// It does not go wrong.
    Safe(Composition),
    /// It does: so.
    Wrong(Vec<String>),
    /// It is not known.
    Unknown(Reason),
}

impl Spec<'_> {
    /// Decides the composition: by counting, and then by what the engine for programs says.
    pub fn compose(&self, program: &ir::Program, budget: &Budget, events: &dyn Events) -> Composed {
        let first = budget.part(2);
        let why = match count(self.specification, program, &first) {
            Counted::Safe(invariant) => return Composed::Safe(Composition::Counting(invariant)),
            Counted::Wrong(story) => return Composed::Wrong(story),
            Counted::Unknown(why) => why,
        };
        events.event(Event::Phase(format!("threads are not counted: {why}")));
        let composition = Views::from(compose(self.specification, program));
        let property = Check::Assertions.property();
        let task = Task { program: &composition, property: &property };
        match self.composer.verify(task, budget, events) {
            Verdict::Safe(proof) => Composed::Safe(Composition::Program(Box::new(proof))),
            Verdict::Unsafe(trace) => Composed::Wrong(self.story(&composition, &trace)),
            Verdict::Unknown(reason) => Composed::Unknown(reason),
        }
    }

    /// An execution of the composition, for people: the transitions of its threads.
    fn story(&self, composition: &Program, trace: &Trace) -> Vec<String> {
        // The first thread starts all others, in order.
        let mut templates: Vec<TemplateId> = vec![TemplateId(0)];
        let mut lines = Vec::new();
        for step in &trace.steps {
            let Some(template) = templates.get(step.thread).copied() else { continue };
            let edge = &composition.templates[template].edges[step.edge];
            for op in &edge.ops {
                if let Op::Spawn(Callee::Procedure(child), ..) = op {
                    templates.push(*child);
                }
            }
            if template != TemplateId(0) && edge.span.line > 0 {
                let (file, thread) = (&self.specification.file, &composition.templates[template].name);
                lines.push(format!("{file}:{}: {thread} (thread {})", edge.span.line, step.thread));
            }
        }
        if let Some(last) = lines.last_mut() {
            *last += ": the assertion of this state does not hold";
        }
        lines
    }
}

/// The conformances of all threads, or why one is missing.
fn all_conform(threads: Vec<Checked>, program: &ir::Program) -> Result<Vec<Conformance>, Reason> {
    let one = |checked: Checked| match checked.result {
        Ok(conformance) => Ok(conformance),
        Err(Problem::Fails(failure)) => Err(Reason::Specification(failure.line(program))),
        Err(Problem::Unknown(why)) => Err(why),
    };
    threads.into_iter().map(one).collect()
}

impl Engine for Spec<'_> {
    fn name(&self) -> &'static str {
        "spec"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        // Objects of a function that has returned count as alive here.
        let supported =
            matches!(task.property, Property::NoError(kinds) if !kinds.contains(&ErrorKind::InvalidAccess));
        if !supported {
            let text =
                "specifications are for assertions, calls of the error function, and overflow".to_owned();
            return Verdict::Unknown(Reason::NotSupported(text, ir::Span::default()));
        }
        if !has_errors(task.program) {
            return Verdict::Safe(Proof::NoErrorLocation);
        }
        let first = budget.most_of(2, 3);
        let threads = match conform(self.specification, task.program, &first) {
            Ok(found) => found.threads,
            Err(reason) => return Verdict::Unknown(reason),
        };
        let threads = match all_conform(threads, task.program) {
            Ok(threads) => threads,
            Err(reason) => return Verdict::Unknown(reason),
        };
        match self.compose(task.program, budget, events) {
            Composed::Safe(composition) => {
                let specification = self.specification.clone();
                Verdict::Safe(Proof::Spec(Box::new(SpecProof { specification, threads, composition })))
            }
            Composed::Wrong(story) => Verdict::Unknown(Reason::Specification(format!(
                "the abstract threads together go wrong: {}\n  {}",
                story.last().map_or("", String::as_str),
                story.join("\n  ")
            ))),
            Composed::Unknown(reason) => Verdict::Unknown(reason),
        }
    }
}
