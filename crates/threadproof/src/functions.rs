//! A draft of the section `[functions]` of `threadproof.toml`: one line for each unknown function.
//!
//! The lines are comments: effects are guessed from the function's type, and the user has to check each
//! guess.

use frontend_c::UnknownFunction;
use std::fmt::Write;

/// The section as text.
pub fn section(functions: &[UnknownFunction]) -> String {
    let mut text = String::new();
    if functions.is_empty() {
        text.push_str("# Each function that the program calls has a definition or a model.\n");
        return text;
    }
    text.push_str(
        "# Functions that the program calls, without a definition or a model.\n\
         # The classes are guessed from their types. Check each, then remove the `#` before it:\n\
         # what a line says is taken for granted.\n\
         [functions]\n",
    );
    let mut sorted: Vec<&UnknownFunction> = functions.iter().collect();
    sorted.sort_by(|one, other| one.name.cmp(&other.name));
    for function in sorted {
        let UnknownFunction { name, prototype, guess, place } = function;
        // Writing to a string does not fail.
        let _ = writeln!(text, "# {name} = \"{guess}\"  # {prototype}, called in {place}");
    }
    text
}
