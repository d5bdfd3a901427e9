//! Control-flow automata as pictures: DOT text for Graphviz, and our own SVG. Also the automata of contexts.
//!
//! Both show every location and every edge with its operations; the page omits unreachable ones. Atomic
//! locations are yellow with a dashed border, error locations red, ends doubly framed, the entry bold; the
//! source position is in the tooltip.

mod chart;
mod contexts;
mod dot;
mod layout;
mod svg;
#[cfg(test)]
mod tests;

use ir::{Edge, ErrorKind, Location, LocationId, LocationKind, Program, Template};

pub(crate) use contexts::edge_lines;
pub use contexts::{contexts, contexts_svg};
pub use dot::dot;
pub use svg::{svg, svg_program, svg_reached};

/// The most characters of a line in a picture; the whole line is in the tooltip.
const MAX_LINE: usize = 64;

/// A line cut to what fits in a picture.
fn short(line: &str) -> String {
    if line.chars().count() <= MAX_LINE {
        return line.to_owned();
    }
    line.chars().take(MAX_LINE - 1).chain(['…']).collect()
}

/// The operations of an edge, one on each line.
fn operations(program: &Program, template: &Template, edge: &Edge) -> Vec<String> {
    edge.ops.iter().map(|op| crate::text::op(program, template, op)).collect()
}

/// The text in a location's box.
fn location_label(id: LocationId, location: &Location) -> String {
    match location.kind {
        LocationKind::Normal => id.to_string(),
        LocationKind::End => format!("{id} end"),
        LocationKind::Exit => format!("{id} exit"),
        LocationKind::Halt => format!("{id} halt"),
        LocationKind::Error(kind) => {
            let what = match kind {
                ErrorKind::ReachError => "error",
                ErrorKind::Assertion => "assertion fails",
                ErrorKind::InvalidAccess => "invalid access",
                ErrorKind::Overflow => "overflow",
                ErrorKind::InvalidFree => "invalid free",
            };
            format!("{id} {what}")
        }
    }
}

/// A location's tooltip.
fn location_tooltip(template: &Template, id: LocationId, location: &Location) -> String {
    let mut text = format!("{}: {}", template.name, location_label(id, location));
    if template.entry == id {
        text += ", entry";
    }
    if location.atomic {
        text += ", atomic: no other thread runs here";
    }
    text
}

/// An edge's tooltip: its source position, and all of its operations.
fn edge_tooltip(program: &Program, template: &Template, edge: &Edge) -> String {
    let position = crate::text::position(program, edge.span);
    let lines = std::iter::once(position).filter(|position| !position.is_empty());
    lines.chain(operations(program, template, edge)).collect::<Vec<_>>().join("\n")
}
