//! The automata of a context ([`verdict::Acfa`]) as DOT text and as SVG.

use super::chart::{Arrow, Chart, Vertex};
use super::dot::quoted;
use super::{short, svg};
use ir::{Program, TemplateId};
use std::collections::BTreeSet;
use std::fmt::Write;
use verdict::{AbstractEdge, AbstractId, Acfa, ContextProof, known_name, with_source_names};

/// The automata of a proof for Graphviz: one cluster for each template that threads run. Atomic states are
/// yellow with a dashed border, the start is bold.
pub fn contexts(program: &Program, proof: &ContextProof) -> String {
    let mut out = String::from(
        "digraph context {\n  node [shape=box, style=rounded, fontname=monospace, fontsize=10];\n",
    );
    out += "  edge [fontname=monospace, fontsize=10];\n";
    for (template, acfa) in run(proof) {
        // Writing to a string cannot fail.
        let _ =
            writeln!(out, "  subgraph cluster_{template} {{\n    label={};", quoted(name(program, template)));
        cluster(&mut out, program, proof, &template.to_string(), acfa);
        out.push_str("  }\n");
    }
    out + "}\n"
}

/// The automata of a proof as one self-contained picture.
pub fn contexts_svg(program: &Program, proof: &ContextProof) -> String {
    svg::charts(run(proof).map(|(template, acfa)| chart(program, proof, template, acfa)))
}

/// The automata of the templates that threads run.
fn run(proof: &ContextProof) -> impl Iterator<Item = (TemplateId, &Acfa)> {
    let is_run = |template: TemplateId| proof.nodes.iter().any(|node| node.template == template);
    proof.acfas.enumerate().filter(move |(template, _)| is_run(*template))
}

fn name(program: &Program, template: TemplateId) -> &str {
    program.templates.get(template).map_or("", |code| code.name.as_str())
}

fn chart(program: &Program, proof: &ContextProof, template: TemplateId, acfa: &Acfa) -> Chart {
    let shown = |lines: &[String]| lines.iter().map(|line| short(line)).collect();
    let vertices = acfa.states.enumerate().map(|(id, state)| {
        let lines = state_lines(proof, acfa, id);
        Vertex {
            name: id.to_string(),
            tooltip: lines.join("\n"),
            lines: shown(&lines),
            atomic: state.atomic,
            error: false,
            end: false,
        }
    });
    let arrows = acfa.edges.iter().enumerate().map(|(number, edge)| {
        let lines = edge_lines(program, edge);
        Arrow {
            name: format!("e{number}"),
            source: edge.source.0 as usize,
            target: edge.target.0 as usize,
            tooltip: lines.join("\n"),
            lines: shown(&lines),
            guard: false,
        }
    });
    let position = program
        .templates
        .get(template)
        .map_or_else(String::new, |code| crate::text::position(program, code.span));
    Chart {
        title: name(program, template).to_owned(),
        position,
        entry: acfa.start.0 as usize,
        vertices: vertices.collect(),
        arrows: arrows.collect(),
    }
}

/// The text in the box of a state.
fn state_lines(proof: &ContextProof, acfa: &Acfa, id: AbstractId) -> Vec<String> {
    let state = &acfa.states[id];
    let mut lines = vec![id.to_string()];
    if !state.label.is_true() {
        lines.push(with_source_names(&state.label).to_string());
    }
    let accesses: BTreeSet<u32> =
        state.accesses.iter().filter_map(|access| proof.lines.get(*access as usize)).copied().collect();
    if !accesses.is_empty() {
        let accesses: Vec<String> = accesses.iter().map(u32::to_string).collect();
        lines.push(format!("next: the access in line {}", accesses.join(" or ")));
    }
    lines
}

fn cluster(out: &mut String, program: &Program, proof: &ContextProof, prefix: &str, acfa: &Acfa) {
    for (id, state) in acfa.states.enumerate() {
        let mut style = vec!["rounded"];
        if id == acfa.start {
            style.push("bold");
        }
        let mut colour = "";
        if state.atomic {
            style.extend(["filled", "dashed"]);
            colour = ", fillcolor=lightyellow";
        }
        let lines = state_lines(proof, acfa, id);
        let tooltip = quoted(&lines.join("\n"));
        let label = quoted(&lines.iter().map(|line| short(line)).collect::<Vec<_>>().join("\n"));
        let style = style.join(",");
        let _ =
            writeln!(out, "    {prefix}_{id} [label={label}, style=\"{style}\"{colour}, tooltip={tooltip}];");
    }
    for edge in &acfa.edges {
        let lines = edge_lines(program, edge);
        let tooltip = quoted(&lines.join("\n"));
        let label = quoted(&lines.iter().map(|line| short(line)).collect::<Vec<_>>().join("\n"));
        let (source, target) = (edge.source, edge.target);
        let _ = writeln!(
            out,
            "    {prefix}_{source} -> {prefix}_{target} [label={label}, edgetooltip={tooltip}];"
        );
    }
}

/// The actions of an edge, one on each line.
pub(crate) fn edge_lines(program: &Program, edge: &AbstractEdge) -> Vec<String> {
    let action = &edge.action;
    let mut lines = Vec::new();
    if !action.guard.is_true() {
        lines.push(format!("if {}", with_source_names(&action.guard)));
    }
    if !action.havoc.is_empty() {
        let names: Vec<String> = action.havoc.iter().map(|variable| known_name(&variable.name)).collect();
        lines.push(format!("changes {}", names.join(", ")));
    }
    if !action.after.is_true() {
        lines.push(format!("then {}", with_source_names(&action.after)));
    }
    for started in &action.starts {
        lines.push(format!("starts {}", name(program, *started)));
    }
    lines
}
