//! The values that the execution's inputs took, by thread.
//!
//! The step semantics asks for a value where the program reads an input or uninitialised memory. The runtime
//! gives inputs through the functions that the program calls for them; uninitialised memory is 0 in the
//! compiled program (the compiler and the runtime ensure that), so other values are refused.

use crate::reproducer::Unforced;
use crate::reproducer::events::Execution;
use ir::semantics::ChoiceKind;
use ir::{Span, Value};

/// Functions of the C library that the runtime answers for.
pub(crate) const FUNCTIONS: [&str; 5] = ["rand", "random", "lrand48", "mrand48", "getchar"];

/// The inputs of each thread, in order. `line` gives the source line at a span.
pub(crate) fn inputs<'s>(
    execution: &Execution<'_>,
    line: impl Fn(Span) -> Option<&'s str>,
) -> Result<Vec<Vec<Value>>, Unforced> {
    let mut inputs = vec![Vec::new(); execution.creations.len()];
    for &(step, kind, value) in &execution.choices {
        let span = execution.spans[step];
        match kind {
            ChoiceKind::Any if line(span).is_some_and(reads_input) => {
                inputs[execution.threads[step]].push(value);
            }
            ChoiceKind::Any if line(span).is_some_and(asks_outside) => return Err(Unforced::Input(span)),
            // What a jump skips the declaration of keeps its bytes in the compiled program.
            ChoiceKind::Any if line(span).is_some_and(jumps) => return Err(Unforced::Uninitialised(span)),
            ChoiceKind::Any | ChoiceKind::Open if value == 0 => {}
            ChoiceKind::Any | ChoiceKind::Open => return Err(Unforced::Uninitialised(span)),
            ChoiceKind::Reuse(_) if value == 0 => {}
            ChoiceKind::Reuse(_) => return Err(Unforced::Address(span)),
            ChoiceKind::Unknown => return Err(Unforced::Input(span)),
        }
    }
    Ok(inputs)
}

/// Functions whose result the world outside decides, and the runtime does not answer for.
const OUTSIDE: [&str; 7] = ["fopen", "fopen64", "fdopen", "freopen", "tmpfile", "popen", "opendir"];

fn jumps(line: &str) -> bool {
    words(line).any(|word| ["goto", "switch"].contains(&word))
}

fn asks_outside(line: &str) -> bool {
    words(line).any(|word| OUTSIDE.contains(&word))
}

fn reads_input(line: &str) -> bool {
    words(line).any(|word| is_input(word) || FUNCTIONS.contains(&word))
}

/// Whether a function of this name gives inputs, by the custom of verifiers.
pub(crate) fn is_input(word: &str) -> bool {
    ["__VERIFIER_nondet_", "__CPROVER_nondet_", "nondet_"].iter().any(|prefix| word.starts_with(prefix))
}

/// The words of a C text, comments and strings included.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}
