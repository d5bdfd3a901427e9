//! The control-flow automata in the page, and the inferred automata of other threads.

use super::{anchor, escape};
use crate::graph;
use ir::{LocationId, Program, Span, Template};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Larger automata are not drawn.
const MOST_EDGES: usize = 400;
/// The most automata.
const MOST_AUTOMATA: usize = 40;

/// Draws the automata. Returns the source positions of their parts, for the script.
pub fn render(out: &mut String, program: &Program) -> Value {
    out.push_str("<section id=\"automata\"><h2>Control-flow automata</h2>\n<p class=\"faint\">A click on a location or an edge shows its line.</p>\n");
    let mut places = Map::new();
    let small = program.templates.enumerate().filter(|(_, code)| code.edges.len() <= MOST_EDGES);
    for (id, code) in small.take(MOST_AUTOMATA) {
        // The script finds marks by name in the whole page.
        let svg = graph::svg_reached(program, id)
            .replace("id=\"arrow\"", &format!("id=\"arrow-{id}\""))
            .replace("url(#arrow)", &format!("url(#arrow-{id})"));
        let _ = writeln!(
            out,
            "<details><summary>{}</summary><figure class=\"automaton\" data-template=\"{id}\">{svg}</figure></details>",
            escape(&code.name)
        );
        places.insert(id.to_string(), places_of(code));
    }
    let left_out = program.templates.len() - places.len();
    if left_out > 0 {
        let _ = writeln!(out, "<p>{left_out} more are left out: they are too large, or too many.</p>");
    }
    out.push_str("</section>\n");
    Value::Object(places)
}

/// Shows the automata of proofs by contexts, one picture for each proof.
pub fn contexts(out: &mut String, contexts: &[(String, String)]) {
    if contexts.is_empty() {
        return;
    }
    out.push_str(
        "<section id=\"context\"><h2>What other threads may do</h2>\n<p class=\"faint\">The context that was inferred: for each function that threads run, its states as the others see them, \
         what holds there, and what a step may change. Any number of threads may be in each state, unless the proof says otherwise.</p>\n",
    );
    for (number, (title, svg)) in contexts.iter().enumerate() {
        let svg = svg
            .replace("id=\"arrow\"", &format!("id=\"arrow-context-{number}\""))
            .replace("url(#arrow)", &format!("url(#arrow-context-{number})"));
        let _ = writeln!(
            out,
            "<details><summary>{}</summary><figure class=\"context\">{svg}</figure></details>",
            escape(title)
        );
    }
    out.push_str("</section>\n");
}

fn places_of(code: &Template) -> Value {
    let known = |span: &Span| span.line > 0;
    let edges = code.edges.enumerate().filter(|(_, edge)| known(&edge.span));
    let edges: Map<String, Value> =
        edges.map(|(id, edge)| (id.to_string(), json!(anchor(edge.span)))).collect();
    let line = |location: LocationId| {
        let leaves = code.edges.iter().find(|edge| edge.source == location && known(&edge.span));
        let comes = || code.edges.iter().find(|edge| edge.target == location && known(&edge.span));
        leaves.or_else(comes).map(|edge| anchor(edge.span))
    };
    let locations = code.locations.ids().filter_map(|id| Some((id.to_string(), json!(line(id)?))));
    json!({ "edges": edges, "locations": locations.collect::<Map<String, Value>>() })
}
