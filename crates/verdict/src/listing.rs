//! What an analysis knows at each source line, in terms of the source.

use crate::Bounds;
use ir::{IntType, Span};

/// What is known at each line that has code, in the order of files and lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// The lines.
    pub lines: Vec<ListedLine>,
}

/// What is known at one line.
///
/// It holds whenever any thread is about to run the line, by whatever path the thread got there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedLine {
    /// The file and line.
    pub span: Span,
    /// Its function.
    pub function: String,
    /// Whether a thread may reach the line at all.
    pub reached: bool,
    /// What is known of variables.
    pub facts: Vec<ListedFact>,
    /// The locks that a thread holds there, each with whether other readers may share it.
    pub locks: Vec<(String, bool)>,
    /// The variables of the line that other threads may write meanwhile.
    pub interference: Vec<Interference>,
}

/// Something that is known of a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedFact {
    /// The variable's name in the source.
    pub variable: String,
    /// What is known.
    pub known: KnownValue,
}

/// What is known of a variable's value.
#[derive(Clone, Debug, PartialEq)]
pub enum KnownValue {
    /// Nothing but its type.
    Any,
    /// It is in this set, among the values of its type.
    Among(Bounds, IntType),
    /// A relation to other variables, as text: what follows the variable's name.
    Related(String),
}

/// A variable that other threads may write while a thread is at a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Interference {
    /// The variable.
    pub variable: String,
    /// The writers: the function that the thread runs, and the place of the write.
    pub writers: Vec<(String, Span)>,
}

/// What is known of a variable, as a condition in C; ranges are written as `x: 0..9`. `None` when its type
/// says the same.
pub fn known_text(variable: &str, bounds: &Bounds, ty: IntType) -> Option<String> {
    let lower = bounds.lower.filter(|lower| *lower > ty.min());
    let upper = bounds.upper.filter(|upper| *upper < ty.max());
    let mut parts = Vec::new();
    match (lower, upper) {
        (Some(lower), Some(upper)) if lower == upper => return Some(format!("{variable} == {lower}")),
        (None, Some(upper)) if upper == ty.min() => return Some(format!("{variable} == {upper}")),
        (Some(lower), None) if lower == ty.max() => return Some(format!("{variable} == {lower}")),
        (Some(1), None) if !ty.signed => parts.push(format!("{variable} != 0")),
        (Some(lower), Some(upper)) => parts.push(format!("{variable}: {lower}..{upper}")),
        (None, Some(upper)) if !ty.signed => parts.push(format!("{variable}: 0..{upper}")),
        (None, Some(upper)) => parts.push(format!("{variable} <= {upper}")),
        (Some(lower), None) => parts.push(format!("{variable} >= {lower}")),
        (None, None) => {}
    }
    let least = bounds.lower.unwrap_or(ty.min());
    let most = bounds.upper.unwrap_or(ty.max());
    if bounds.nonzero && least < 0 && most > 0 {
        parts.push(format!("{variable} != 0"));
    }
    // In C, the remainder of a negative number differs.
    if bounds.modulus > 1 && least >= 0 {
        parts.push(format!("{variable} % {} == {}", bounds.modulus, bounds.rest));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}
