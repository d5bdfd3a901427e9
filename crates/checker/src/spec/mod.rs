//! Checks proofs by abstract threads ([`verdict::SpecProof`]; paper 2, sections 2 and 3).
//!
//! The checker derives the program as transitions again, without slicing. Then:
//!
//! 1. The specification is well-formed: its cells are different cells of static objects, and there are no
//!    more threads of each function than it says.
//! 2. Every template that threads run has an abstract thread; the default one changes nothing. The claims
//!    about a thread and its candidates ([`verdict::Conformance`]) hold when it starts. The steps of others
//!    preserve them (global variables get any values that the assertions of all candidates allow), and so
//!    does each of its own steps; after such a step, the candidates are the states to which a transition of
//!    some candidate, or idling, leads. From the claims it follows that there is a candidate, and that no
//!    error is reached (`conformance.rs`).
//! 3. The composition of the abstract threads does not go wrong (`composition.rs`), from any state that the
//!    start condition allows; and that holds when the first thread has started another.
//!
//! By the soundness theorem of the paper, no error is reached: an execution of the composition follows that
//! of the program step by step, with the same values of the specification's variables, until it goes wrong. A
//! thread that has not started yet is an abstract thread that idles. This rule shares with the search only
//! the meaning of steps and of specifications.

mod composition;
mod conformance;
mod owners;

use crate::ProofError;
use crate::ready::{self, claim, missing};
use ir::specification::{Specification, Thread};
use ir::{Callee, Count, ErrorKind, LocationKind, Op, Program, Storage, TemplateId};
use smt::expressions::{Mode, Untranslatable};
use smt::{Answer, NoAnswer, Term};
use transitions::System;
use verdict::{Budget, Conformance, Property, SpecProof, Views};

/// The most copies of an abstract thread, unless there are any number.
const MOST_COPIES: u32 = 10_000;

/// Checks a proof about a lowered program.
pub fn check(
    program: &Views,
    property: &Property,
    proof: &SpecProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let Property::NoError(kinds) = property else { return Err(ProofError::Violated) };
    // Objects of a function that has returned count as live.
    claim(!kinds.contains(&ErrorKind::InvalidAccess), "specifications say nothing of invalid accesses")?;
    check_conformance(program, &proof.specification, &proof.threads, budget)?;
    composition::check(&proof.specification, program, &proof.composition, budget)
}

/// Checks that the threads of a lowered program conform to a specification.
pub fn check_conformance(
    program: &Views,
    specification: &Specification,
    threads: &[Conformance],
    budget: &Budget,
) -> Result<(), ProofError> {
    let one = matches!(program.start.as_slice(), [(_, Count::Exactly(1))]);
    claim(one && !program.has_broadcasts(), "the program starts as one thread")?;
    let words = ready::whole_words(program, budget)?;
    // The claims about the first thread are about a thread that no other thread has started.
    let first = words.start.first().map(|(template, _)| *template);
    let mut ops = words.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    let again = ops.any(|op| matches!(op, Op::Spawn(Callee::Procedure(child), ..) if Some(*child) == first));
    claim(!again, "no thread starts what the first thread runs")?;
    check_specification(specification, program)?;
    let system = System::whole(words, Mode::Integers);
    let templates = run_templates(words);
    check_counts(specification, &system, &templates)?;
    claim(threads.len() == templates.len(), "each template has its conformance")?;
    for (number, template) in templates.iter().enumerate() {
        let said = threads.iter().find(|said| said.template == *template);
        let said = said.ok_or_else(|| missing("each template has its conformance"))?;
        let function = &words.templates[*template].name;
        let named = specification.threads.iter().find(|thread| thread.function == *function);
        let idle = Thread::idle(function);
        let thread = named.unwrap_or(&idle);
        let checker = conformance::Checker::new(
            specification,
            program,
            &system,
            *template,
            thread,
            number == 0,
            budget,
        )?;
        checker.check(said)?;
    }
    Ok(())
}

pub(super) fn untranslatable(why: Untranslatable) -> ProofError {
    ProofError::Claim(why.0)
}

/// Checks that a formula follows from others.
pub(super) fn follows(facts: &[Term], formula: &Term, text: &str, budget: &Budget) -> Result<(), ProofError> {
    let question = Term::all(facts.iter().cloned()).implies(formula);
    match smt::can_fail(&question, budget) {
        Answer::Unsat => Ok(()),
        Answer::Sat => Err(missing(text)),
        Answer::Unknown(NoAnswer::Exhausted(exhausted)) => Err(ProofError::TooExpensive(exhausted)),
        Answer::Unknown(NoAnswer::GaveUp(why)) => Err(ProofError::Claim(format!("{text}: {why}"))),
    }
}

fn check_specification(specification: &Specification, program: &Program) -> Result<(), ProofError> {
    for (number, variable) in specification.variables.iter().enumerate() {
        let object = program.objects.get(variable.object);
        let end = variable.offset.checked_add(variable.ty.bytes());
        let is_static = object.is_some_and(|object| {
            object.storage == Storage::Static && end.is_some_and(|end| end <= object.size)
        });
        claim(is_static, "a variable of the specification is static memory")?;
        for other in &specification.variables[..number] {
            let apart = other.name != variable.name
                && (other.object != variable.object
                    || other.offset + other.ty.bytes() <= variable.offset
                    || variable.offset + variable.ty.bytes() <= other.offset);
            claim(apart, "the variables of the specification are different")?;
        }
    }
    for thread in &specification.threads {
        let states = thread.states.len();
        let fits = thread.initial.iter().all(|state| *state < states)
            && thread.transitions.iter().all(|transition| {
                transition.source < states
                    && transition.target < states
                    && transition.changes.iter().all(|variable| *variable < specification.variables.len())
            });
        claim(fits, "the specification speaks of its own states and variables")?;
        let few = match thread.count {
            Count::Any => true,
            Count::Exactly(copies) => copies <= MOST_COPIES,
        };
        // Without a start state, the composition would have no initial state, and everything would hold
        // vacuously.
        claim(
            few && !thread.initial.is_empty(),
            "an abstract thread starts in a state, and has few copies or any number",
        )?;
    }
    owners::check(specification)?;
    let composition = ir::composition::compose(specification, program);
    claim(ir::check::check(&composition).is_ok(), "the conditions of the specification have their types")
}

/// The templates that threads run, that of the first thread first.
fn run_templates(program: &Program) -> Vec<TemplateId> {
    let mut found: Vec<TemplateId> = program.start.iter().map(|(template, _)| *template).collect();
    loop {
        let started = found.iter().flat_map(|template| &program.templates[*template].edges);
        let next = started.flat_map(|edge| &edge.ops).find_map(|op| match op {
            Op::Spawn(Callee::Procedure(child), ..) if !found.contains(child) => Some(*child),
            _ => None,
        });
        match next {
            Some(child) => found.push(child),
            None => return found,
        }
    }
}

/// Checks that there are no more threads than the specification says.
fn check_counts(
    specification: &Specification,
    system: &System<'_>,
    templates: &[TemplateId],
) -> Result<(), ProofError> {
    for thread in &specification.threads {
        let Count::Exactly(copies) = thread.count else { continue };
        let mut threads: u64 = 0;
        for template in templates {
            if system.program.templates[*template].name == thread.function {
                claim(system.unique.templates[*template], "threads that are counted are started once")?;
                threads += 1;
            }
        }
        claim(threads <= u64::from(copies), "there are no more threads than the specification says")?;
    }
    Ok(())
}

/// The condition that an existing thread has gone wrong.
pub(super) fn is_error(system: &System<'_>, template: TemplateId, location: ir::LocationId) -> bool {
    matches!(system.program.templates[template].locations[location].kind, LocationKind::Error(_))
}
