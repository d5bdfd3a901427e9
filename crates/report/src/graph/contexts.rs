//! The automata of a context ([`verdict::Acfa`]) as DOT text.

use super::dot::quoted;
use super::short;
use ir::Program;
use std::collections::BTreeSet;
use std::fmt::Write;
use verdict::{AbstractEdge, Acfa, ContextProof, for_people, known_name};

/// The automata of a proof for Graphviz: one cluster for each template that threads run. Atomic states are yellow with a dashed border, the start is bold.
pub fn contexts(program: &Program, proof: &ContextProof) -> String {
    let mut out = String::from(
        "digraph context {\n  node [shape=box, style=rounded, fontname=monospace, fontsize=10];\n",
    );
    out += "  edge [fontname=monospace, fontsize=10];\n";
    for (template, acfa) in proof.acfas.enumerate() {
        if proof.nodes.iter().any(|node| node.template == template) {
            let name = program.templates.get(template).map_or("", |code| code.name.as_str());
            // Writing to a string cannot fail.
            let _ = writeln!(out, "  subgraph cluster_{template} {{\n    label={};", quoted(name));
            cluster(&mut out, program, proof, &template.to_string(), acfa);
            out.push_str("  }\n");
        }
    }
    out + "}\n"
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
        let mut lines = vec![id.to_string()];
        if !state.label.is_true() {
            lines.push(for_people(&state.label).to_string());
        }
        let accesses: BTreeSet<u32> =
            state.accesses.iter().filter_map(|access| proof.lines.get(*access as usize)).copied().collect();
        if !accesses.is_empty() {
            let accesses: Vec<String> = accesses.iter().map(u32::to_string).collect();
            lines.push(format!("next: the access in line {}", accesses.join(" or ")));
        }
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

/// What an edge does, one thing on each line.
fn edge_lines(program: &Program, edge: &AbstractEdge) -> Vec<String> {
    let action = &edge.action;
    let mut lines = Vec::new();
    if !action.guard.is_true() {
        lines.push(format!("if {}", for_people(&action.guard)));
    }
    if !action.havoc.is_empty() {
        let names: Vec<&str> = action.havoc.iter().map(|variable| known_name(&variable.name)).collect();
        lines.push(format!("changes {}", names.join(", ")));
    }
    if !action.behind.is_true() {
        lines.push(format!("then {}", for_people(&action.behind)));
    }
    for started in &action.starts {
        let name = program.templates.get(*started).map_or("", |code| code.name.as_str());
        lines.push(format!("starts {name}"));
    }
    lines
}
