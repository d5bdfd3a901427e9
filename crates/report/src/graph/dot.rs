//! DOT text.

use super::{edge_tooltip, location_label, location_tooltip, operations, short};
use ir::{LocationKind, Program, Template, TemplateId};
use std::fmt::Write;

/// A whole program for Graphviz: one cluster for each template.
pub fn dot(program: &Program) -> String {
    let mut out = String::from(
        "digraph program {\n  node [shape=box, style=rounded, fontname=monospace, fontsize=10];\n",
    );
    out += "  edge [fontname=monospace, fontsize=10];\n";
    for (id, template) in program.templates.enumerate() {
        cluster(&mut out, program, id, template);
    }
    out + "}\n"
}

fn cluster(out: &mut String, program: &Program, id: TemplateId, template: &Template) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "  subgraph cluster_{id} {{\n    label={};", quoted(&template.name));
    for (location_id, location) in template.locations.enumerate() {
        let mut style = vec!["rounded"];
        let mut more = String::new();
        if location.atomic {
            style.extend(["filled", "dashed"]);
            more += ", fillcolor=lightyellow";
        }
        if template.entry == location_id {
            style.push("bold");
        }
        match location.kind {
            LocationKind::Normal => {}
            LocationKind::End | LocationKind::Exit | LocationKind::Halt => more += ", peripheries=2",
            LocationKind::Error(_) => more += ", color=red, fontcolor=red",
        }
        let label = quoted(&location_label(location_id, location));
        let tooltip = quoted(&location_tooltip(template, location_id, location));
        let style = style.join(",");
        let _ = writeln!(
            out,
            "    {id}_{location_id} [label={label}, style=\"{style}\"{more}, tooltip={tooltip}];"
        );
    }
    for edge in &template.edges {
        let lines: Vec<String> = operations(program, template, edge).iter().map(|line| short(line)).collect();
        let (label, tooltip) = (quoted(&lines.join("\n")), quoted(&edge_tooltip(program, template, edge)));
        let (source, target) = (edge.source, edge.target);
        let _ = writeln!(out, "    {id}_{source} -> {id}_{target} [label={label}, edgetooltip={tooltip}];");
    }
    out.push_str("  }\n");
}

pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out + "\""
}
