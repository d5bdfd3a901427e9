//! Charts: boxes with text, and arrows between them. Control-flow automata are charts, and so are the
//! automata of contexts.

use super::{edge_tooltip, location_label, location_tooltip, operations, short};
use ir::{LocationKind, Program, Template};

/// A chart.
#[derive(Clone, Debug, Default)]
pub(super) struct Chart {
    pub title: String,
    /// Its source position.
    pub position: String,
    /// The topmost box.
    pub entry: usize,
    pub vertices: Vec<Vertex>,
    pub arrows: Vec<Arrow>,
}

/// A box.
#[derive(Clone, Debug, Default)]
pub(super) struct Vertex {
    pub name: String,
    pub lines: Vec<String>,
    pub tooltip: String,
    pub atomic: bool,
    pub error: bool,
    /// Whether it has two frames.
    pub end: bool,
}

/// An arrow from box to box.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrow {
    pub name: String,
    pub source: usize,
    pub target: usize,
    pub lines: Vec<String>,
    pub tooltip: String,
    /// Whether it is only a test.
    pub guard: bool,
}

impl Chart {
    /// The control-flow automaton of a template.
    pub fn of_template(program: &Program, template: &Template) -> Self {
        let vertices = template.locations.enumerate().map(|(id, location)| Vertex {
            name: id.to_string(),
            lines: vec![location_label(id, location)],
            tooltip: location_tooltip(template, id, location),
            atomic: location.atomic,
            error: matches!(location.kind, LocationKind::Error(_)),
            end: match location.kind {
                LocationKind::Normal | LocationKind::Error(_) => false,
                LocationKind::End | LocationKind::Exit | LocationKind::Halt => true,
            },
        });
        let arrows = template.edges.enumerate().map(|(id, edge)| Arrow {
            name: id.to_string(),
            source: edge.source.0 as usize,
            target: edge.target.0 as usize,
            lines: operations(program, template, edge).iter().map(|line| short(line)).collect(),
            tooltip: edge_tooltip(program, template, edge),
            guard: matches!(edge.ops.as_slice(), [ir::Op::Assume(_)]),
        });
        Self {
            title: template.name.clone(),
            position: crate::text::position(program, template.span),
            entry: template.entry.0 as usize,
            vertices: vertices.collect(),
            arrows: arrows.collect(),
        }
    }

    /// The chart without the boxes that are not reachable from the topmost one.
    pub fn reached(self) -> Self {
        let mut reached = vec![false; self.vertices.len()];
        let mut pending = vec![self.entry];
        while let Some(vertex) = pending.pop() {
            if reached.get(vertex).is_some_and(|known| !known) {
                reached[vertex] = true;
                let leaving = self.arrows.iter().filter(|arrow| arrow.source == vertex);
                pending.extend(leaving.map(|arrow| arrow.target));
            }
        }
        // The new index of each remaining box.
        let place = |vertex: usize| reached[..vertex].iter().filter(|known| **known).count();
        let arrows = self.arrows.into_iter().filter(|arrow| reached[arrow.source]);
        let arrows =
            arrows.map(|arrow| Arrow { source: place(arrow.source), target: place(arrow.target), ..arrow });
        let (entry, arrows) = (place(self.entry), arrows.collect());
        let vertices = self.vertices.into_iter().zip(&reached).filter(|(_, known)| **known);
        let vertices = vertices.map(|(vertex, _)| vertex).collect();
        Self { title: self.title, position: self.position, entry, vertices, arrows }
    }
}
