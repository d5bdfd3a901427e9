//! A layered layout of one chart.
//!
//! After Sugiyama, Tagawa and Toda (1981). Each vertex is a box, and the text of each arrow is a separate box
//! between two vertices, so that it never covers anything. Steps: back edges of a depth-first search from the
//! entry are reversed; boxes are put in rows by the longest path; links over several rows get a bend in each
//! row in between; the crate `rust-sugiyama` orders the rows and finds horizontal positions; rows are then
//! spread until no two boxes overlap. All traversals are iterative, so the depth of a program is no limit.
//!
//! A link over many rows is not drawn, but replaced by a small box that names its target: such lines are hard
//! to follow, and their bends would dominate the layout.

use super::chart::Chart;
use rust_sugiyama::configure::{Config, RankingType};
use std::collections::{BTreeMap, BTreeSet};

/// Links over more rows than this are replaced.
const MAX_SPAN: usize = 40;
/// With more bends than this, links over more than [`SHORT_SPAN`] rows are replaced.
const MAX_BENDS: usize = 1500;
const SHORT_SPAN: usize = 4;
/// With more boxes than this, the order of the rows is found with less effort.
const LARGE: usize = 1500;
const ROW_GAP: f64 = 26.0;
const COLUMN_GAP: f64 = 18.0;

/// The kind of a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    Vertex(usize),
    Arrow(usize),
    /// A point on a long link.
    Bend,
    /// The target of a link that is not drawn.
    Reference(usize),
}

/// A box. `x` and `y` are its middle.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub content: Content,
    pub width: f64,
    pub height: f64,
    pub x: f64,
    pub y: f64,
}

/// A line from box to box.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The arrow that it is a part of.
    pub edge: usize,
    /// The boxes that it connects and the bends between, by index.
    pub through: Vec<usize>,
    /// Whether it ends in an arrow: its last box is a vertex or names one.
    pub arrow: bool,
}

/// A picture.
#[derive(Clone, Debug, Default)]
pub(super) struct Picture {
    pub nodes: Vec<Node>,
    pub lines: Vec<Line>,
    pub width: f64,
    pub height: f64,
}

/// A link between two boxes, in the direction of the program.
#[derive(Clone, Copy)]
struct Link {
    from: usize,
    to: usize,
    edge: usize,
    arrow: bool,
    /// Whether it is reversed for the layout.
    back: bool,
}

/// Lays out a chart. `size` gives the width and height of a box.
pub(super) fn layout(chart: &Chart, size: &dyn Fn(Content) -> (f64, f64)) -> Picture {
    let mut picture = Picture::default();
    let add = |picture: &mut Picture, content| {
        let (width, height) = size(content);
        picture.nodes.push(Node { content, width, height, x: 0.0, y: 0.0 });
        picture.nodes.len() - 1
    };
    for vertex in 0..chart.vertices.len() {
        add(&mut picture, Content::Vertex(vertex));
    }
    let mut links = links(chart, &mut picture, &add);
    turn_round(&mut links, picture.nodes.len(), chart.entry);
    let mut ranks = rank(&links, picture.nodes.len());
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let mut bends = 0;
    for link in &links {
        let (upper, lower) = if link.back { (link.to, link.from) } else { (link.from, link.to) };
        let span = ranks[lower].saturating_sub(ranks[upper]);
        if span > MAX_SPAN || (bends > MAX_BENDS && span > SHORT_SPAN) {
            let Some(target) = leads_to(&picture, chart, link) else { continue };
            let reference = add(&mut picture, Content::Reference(target));
            ranks.push(ranks[link.from] + 1);
            pairs.push((link.from, reference));
            picture.lines.push(Line { edge: link.edge, through: vec![link.from, reference], arrow: true });
            continue;
        }
        let mut through = vec![upper];
        for row in ranks[upper] + 1..ranks[lower] {
            let bend = add(&mut picture, Content::Bend);
            ranks.push(row);
            pairs.push((through[through.len() - 1], bend));
            through.push(bend);
            bends += 1;
        }
        // The two halves of a self-loop would be a double link.
        let arrow = &chart.arrows[link.edge];
        if !(link.arrow && arrow.source == arrow.target) {
            pairs.push((through[through.len() - 1], lower));
        }
        through.push(lower);
        if link.back {
            through.reverse();
        }
        picture.lines.push(Line { edge: link.edge, through, arrow: link.arrow });
    }
    place(&mut picture, &ranks, &pairs);
    picture
}

/// The vertex at the end of the arrow that a link is a part of.
fn leads_to(picture: &Picture, chart: &Chart, link: &Link) -> Option<usize> {
    match picture.nodes[link.to].content {
        Content::Vertex(vertex) => Some(vertex),
        Content::Arrow(arrow) => Some(chart.arrows[arrow].target),
        Content::Bend | Content::Reference(_) => None,
    }
}

/// A link for each arrow without text; for the others a box and two links.
fn links(chart: &Chart, picture: &mut Picture, add: &dyn Fn(&mut Picture, Content) -> usize) -> Vec<Link> {
    let mut links = Vec::new();
    let mut direct = BTreeSet::new();
    for (id, arrow) in chart.arrows.iter().enumerate() {
        let (from, to) = (arrow.source, arrow.target);
        let new_link = |from, to, arrow| Link { from, to, edge: id, arrow, back: false };
        // Two lines between the same boxes would coincide: the second gets a separate box.
        if arrow.lines.is_empty() && from != to && direct.insert((from.min(to), from.max(to))) {
            links.push(new_link(from, to, true));
        } else {
            let middle = add(picture, Content::Arrow(id));
            links.push(new_link(from, middle, false));
            links.push(new_link(middle, to, true));
        }
    }
    links
}

/// Marks the links that close a cycle in a depth-first search from the entry, then from all other vertices in
/// order.
fn turn_round(links: &mut [Link], nodes: usize, entry: usize) {
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (index, link) in links.iter().enumerate() {
        outgoing[link.from].push(index);
    }
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Never,
        Open,
        Done,
    }
    let mut seen = vec![Visit::Never; nodes];
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for root in std::iter::once(entry).chain(0..nodes) {
        if root >= nodes || seen[root] != Visit::Never {
            continue;
        }
        seen[root] = Visit::Open;
        stack.push((root, 0));
        while let Some((node, next)) = stack.last_mut() {
            let Some(&index) = outgoing[*node].get(*next) else {
                seen[*node] = Visit::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            let to = links[index].to;
            match seen[to] {
                Visit::Never => {
                    seen[to] = Visit::Open;
                    stack.push((to, 0));
                }
                Visit::Open => links[index].back = true,
                Visit::Done => {}
            }
        }
    }
}

/// The row of each box: the longest path from above; a box without predecessors is just above its successors.
fn rank(links: &[Link], nodes: usize) -> Vec<usize> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    let mut waiting = vec![0usize; nodes];
    for link in links {
        let (upper, lower) = if link.back { (link.to, link.from) } else { (link.from, link.to) };
        below[upper].push(lower);
        waiting[lower] += 1;
    }
    let sources: Vec<usize> = (0..nodes).filter(|node| waiting[*node] == 0).collect();
    let mut ready = sources.clone();
    let mut ranks = vec![0usize; nodes];
    while let Some(node) = ready.pop() {
        for &lower in &below[node] {
            ranks[lower] = ranks[lower].max(ranks[node] + 1);
            waiting[lower] -= 1;
            if waiting[lower] == 0 {
                ready.push(lower);
            }
        }
    }
    for source in sources {
        if let Some(next) = below[source].iter().map(|lower| ranks[*lower]).min() {
            ranks[source] = next.saturating_sub(1);
        }
    }
    ranks
}

/// Gives every box its place.
fn place(picture: &mut Picture, ranks: &[usize], pairs: &[(usize, usize)]) {
    let nodes = picture.nodes.len();
    let vertices: Vec<(u32, (f64, f64))> = picture
        .nodes
        .iter()
        .enumerate()
        .map(|(index, node)| (index as u32, (node.width, node.height)))
        .collect();
    let edges: Vec<(u32, u32)> = pairs.iter().map(|(from, to)| (*from as u32, *to as u32)).collect();
    let config = Config {
        vertex_spacing: COLUMN_GAP,
        ranking_type: RankingType::Up,
        transpose: nodes < LARGE,
        ..Config::default()
    };
    let mut components = rust_sugiyama::from_vertices_and_edges(&vertices, &edges, &config);
    // The crate iterates over hash maps: nothing may depend on their order.
    for (component, _, _) in &mut components {
        component.sort_by_key(|(index, _)| *index);
    }
    components.sort_by_key(|(component, _, _)| component.first().map(|(index, _)| *index));
    let mut left = 0.0;
    for (component, _, _) in components {
        let edge_of = |index: usize, x: f64, sign: f64| x + sign * picture.nodes[index].width / 2.0;
        let least =
            component.iter().map(|(index, (x, _))| edge_of(*index, *x, -1.0)).fold(f64::INFINITY, f64::min);
        let most = component
            .iter()
            .map(|(index, (x, _))| edge_of(*index, *x, 1.0))
            .fold(f64::NEG_INFINITY, f64::max);
        for (index, (x, _)) in component {
            picture.nodes[index].x = x - least + left;
        }
        if most > least {
            left += most - least + 2.0 * COLUMN_GAP;
        }
    }
    let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, rank) in ranks.iter().enumerate() {
        rows.entry(*rank).or_default().push(index);
    }
    let mut top = 0.0;
    for row in rows.values_mut() {
        row.sort_by(|a, b| picture.nodes[*a].x.total_cmp(&picture.nodes[*b].x).then(a.cmp(b)));
        spread(picture, row);
        let height = row.iter().map(|index| picture.nodes[*index].height).fold(0.0, f64::max);
        for index in row.iter() {
            picture.nodes[*index].y = top + height / 2.0;
        }
        top += height + ROW_GAP;
    }
    let least = picture.nodes.iter().map(|node| node.x - node.width / 2.0).fold(f64::INFINITY, f64::min);
    for node in &mut picture.nodes {
        node.x -= least;
    }
    picture.width = picture.nodes.iter().map(|node| node.x + node.width / 2.0).fold(0.0, f64::max);
    picture.height = (top - ROW_GAP).max(0.0);
}

/// Moves the boxes of a row, which is in order, to the right until no two overlap.
fn spread(picture: &mut Picture, row: &[usize]) {
    let mut free = f64::NEG_INFINITY;
    for &index in row {
        let node = &mut picture.nodes[index];
        node.x = node.x.max(free + node.width / 2.0);
        free = node.x + node.width / 2.0 + COLUMN_GAP / 3.0;
    }
}
