//! SVG pictures.

use super::chart::Chart;
use super::layout::{Content, Line, Node, Picture, layout};
use ir::{Program, TemplateId};
use std::fmt::Write;

const MARGIN: f64 = 20.0;
const TITLE: f64 = 34.0;
const CHARACTER: f64 = 6.7;
const LINE_HEIGHT: f64 = 15.0;
const STYLE: &str = "text{font:11px 'DejaVu Sans Mono',Menlo,Consolas,monospace;text-anchor:middle;fill:#1f2933}\
.title{font-size:14px;font-weight:bold;text-anchor:start}.where{font-size:11px;fill:#7b8794;text-anchor:start;font-weight:normal}\
.location rect{fill:#e8eef7;stroke:#486581}.location.atomic rect{fill:#fff3c4;stroke:#b7791f;stroke-dasharray:4 2}\
.location.error rect{fill:#fde2e2;stroke:#c81e1e}.location.error text{fill:#c81e1e;font-weight:bold}\
.location.entry rect.outer{stroke-width:2.6}.location rect.inner{fill:none}\
.edge rect{fill:#fff;stroke:#d9e2ec}.edge:hover rect{stroke:#2680c2}.edge.assume text{fill:#19728a}\
.reference text{fill:#829ab1}path.line{fill:none;stroke:#7b8794;stroke-width:1.2}path.line:hover{stroke:#2680c2;stroke-width:2}";

/// A template of a well-formed program as a self-contained picture; empty if there is no such template.
pub fn svg(program: &Program, id: TemplateId) -> String {
    let Some(template) = program.templates.get(id) else { return String::new() };
    charts([Chart::of_template(program, template)])
}

/// The same without locations that are unreachable in the control flow.
pub fn svg_reached(program: &Program, id: TemplateId) -> String {
    let Some(template) = program.templates.get(id) else { return String::new() };
    charts([Chart::of_template(program, template).reached()])
}

/// All templates of a well-formed program in one picture, one below the other.
pub fn svg_program(program: &Program) -> String {
    charts(program.templates.iter().map(|template| Chart::of_template(program, template)))
}

/// Charts in one picture, one below the other.
pub(super) fn charts(charts: impl IntoIterator<Item = Chart>) -> String {
    let (mut width, mut height, mut all) = (0.0, 0.0, String::new());
    for chart in charts {
        let drawing = Drawing { chart: &chart };
        let picture = layout(&chart, &|content| drawing.size(content));
        let (own_width, own_height, drawn) = drawing.draw(&picture, height);
        width = f64::max(width, own_width);
        height += own_height;
        all += &drawn;
    }
    document(width, height, &all)
}

/// The SVG element around the drawing.
fn document(width: f64, height: f64, drawn: &str) -> String {
    let size = format!(r#"width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}""#);
    let marker = r##"<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 1 10 5 0 9z" fill="#7b8794"/></marker></defs>"##;
    let background = r##"<rect width="100%" height="100%" fill="#fff"/>"##;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {size}>\n<style>{STYLE}</style>\n{marker}\n{background}\n{drawn}</svg>\n"
    )
}

struct Drawing<'c> {
    chart: &'c Chart,
}

impl Drawing<'_> {
    /// The lines of text in a box.
    fn lines(&self, content: Content) -> Vec<String> {
        match content {
            Content::Vertex(vertex) => self.chart.vertices[vertex].lines.clone(),
            Content::Arrow(arrow) => self.chart.arrows[arrow].lines.clone(),
            Content::Bend => vec![],
            Content::Reference(vertex) => vec![format!("to {}", self.chart.vertices[vertex].name)],
        }
    }

    fn size(&self, content: Content) -> (f64, f64) {
        let lines = self.lines(content);
        let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) as f64;
        let text = (longest * CHARACTER, lines.len().max(1) as f64 * LINE_HEIGHT);
        match content {
            Content::Vertex(_) => (text.0 + 20.0, text.1 + 9.0),
            Content::Arrow(_) => (text.0 + 14.0, text.1 + 7.0),
            Content::Bend => (6.0, 1.0),
            Content::Reference(_) => (text.0 + 6.0, text.1),
        }
    }

    fn draw(&self, picture: &Picture, top: f64) -> (f64, f64, String) {
        let Chart { title, position, .. } = self.chart;
        let (name, place) = (title.chars().count() as f64, position.chars().count() as f64);
        let width = picture.width.max(name * 8.6 + place * CHARACTER + 20.0) + 2.0 * MARGIN;
        let height = picture.height + 2.0 * MARGIN + TITLE;
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            r#"<text class="title" x="{MARGIN}" y="{:.1}">{} <tspan class="where" dx="6">{}</tspan></text>"#,
            top + 26.0,
            escape(title),
            escape(position)
        );
        let _ = writeln!(out, r#"<g transform="translate({MARGIN} {:.1})">"#, top + MARGIN + TITLE);
        for line in &picture.lines {
            self.line(&mut out, picture, line);
        }
        for node in &picture.nodes {
            self.node(&mut out, node);
        }
        out.push_str("</g>\n");
        (width, height, out)
    }

    fn line(&self, out: &mut String, picture: &Picture, line: &Line) {
        let points = points(picture, line);
        let Some((first, rest)) = points.split_first() else { return };
        let mut path = format!("M{:.1} {:.1}", first.0, first.1);
        let mut at = *first;
        for point in rest {
            let middle = (at.1 + point.1) / 2.0;
            let _ = write!(
                path,
                " C{:.1} {middle:.1} {:.1} {middle:.1} {:.1} {:.1}",
                at.0, point.0, point.0, point.1
            );
            at = *point;
        }
        let arrow = if line.arrow { r#" marker-end="url(#arrow)""# } else { "" };
        let chart = self.chart;
        let edge = &chart.arrows[line.edge];
        let title = escape(&edge.tooltip);
        let (id, source, target) =
            (&edge.name, &chart.vertices[edge.source].name, &chart.vertices[edge.target].name);
        let _ = writeln!(
            out,
            r#"<path class="line" data-edge="{id}" data-from="{source}" data-to="{target}" d="{path}"{arrow}><title>{title}</title></path>"#
        );
    }

    fn node(&self, out: &mut String, node: &Node) {
        let (class, attribute, title) = match node.content {
            Content::Bend => return,
            Content::Vertex(vertex) => {
                let shown = &self.chart.vertices[vertex];
                let mut class = "location".to_owned();
                for (name, applies) in
                    [("atomic", shown.atomic), ("entry", self.chart.entry == vertex), ("error", shown.error)]
                {
                    if applies {
                        class = format!("{class} {name}");
                    }
                }
                (class, format!(r#"data-location="{}""#, shown.name), shown.tooltip.clone())
            }
            Content::Arrow(arrow) => {
                let shown = &self.chart.arrows[arrow];
                let class = if shown.guard { "edge assume" } else { "edge" };
                (class.to_owned(), format!(r#"data-edge="{}""#, shown.name), shown.tooltip.clone())
            }
            Content::Reference(vertex) => {
                let name = &self.chart.vertices[vertex].name;
                (
                    "reference".to_owned(),
                    format!(r#"data-reference="{name}""#),
                    format!("continues at {name}"),
                )
            }
        };
        let _ = write!(out, r#"<g class="{class}" {attribute}><title>{}</title>"#, escape(&title));
        let rectangle = |inset: f64, class: &str, radius: f64| {
            let (x, y) = (node.x - node.width / 2.0 + inset, node.y - node.height / 2.0 + inset);
            let (width, height) = (node.width - 2.0 * inset, node.height - 2.0 * inset);
            format!(
                r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="{radius}"/>"#
            )
        };
        match node.content {
            Content::Vertex(vertex) => {
                out.push_str(&rectangle(0.0, "outer", 11.0));
                if self.chart.vertices[vertex].end {
                    out.push_str(&rectangle(2.5, "inner", 9.0));
                }
            }
            Content::Arrow(_) => out.push_str(&rectangle(0.0, "outer", 3.0)),
            Content::Bend | Content::Reference(_) => {}
        }
        let lines = self.lines(node.content);
        let first = node.y - (lines.len() as f64 - 1.0) * LINE_HEIGHT / 2.0 + 4.0;
        for (index, line) in lines.iter().enumerate() {
            let y = first + index as f64 * LINE_HEIGHT;
            let _ = write!(out, r#"<text x="{:.1}" y="{y:.1}">{}</text>"#, node.x, escape(line));
        }
        out.push_str("</g>\n");
    }
}

/// The points of a line, from the border of its first box to that of its last.
fn points(picture: &Picture, line: &Line) -> Vec<(f64, f64)> {
    let boxes: Vec<&Node> = line.through.iter().map(|index| &picture.nodes[*index]).collect();
    let (Some(first), Some(last)) = (boxes.first(), boxes.last()) else { return vec![] };
    let direct = boxes.len() == 2;
    let loop_back = line.arrow && direct && first.y > last.y && is_self_loop(picture, line);
    let mut points = Vec::new();
    for (index, node) in boxes.iter().enumerate() {
        let down = match boxes.get(index + 1) {
            Some(next) => next.y > node.y,
            None => node.y > boxes[index.saturating_sub(1)].y,
        };
        let half = node.height / 2.0;
        // Upward lines keep to one side of a box, to distinguish them from downward ones.
        let other = boxes[if index == 0 { 1.min(boxes.len() - 1) } else { index - 1 }];
        let x = match (down, index == 0 || index + 1 == boxes.len()) {
            (false, true) if loop_back => node.x + first.width.min(last.width) / 3.0,
            (false, true) => node.x + (other.x - node.x).clamp(-node.width / 3.0, node.width / 3.0),
            (true, _) | (_, false) => node.x,
        };
        if index == 0 {
            points.push((x, if down { node.y + half } else { node.y - half }));
        } else if index + 1 == boxes.len() {
            points.push((x, if down { node.y - half } else { node.y + half }));
        } else {
            points.push((x, node.y));
        }
    }
    points
}

/// Whether a line leads back to the source of the only line to its first box.
fn is_self_loop(picture: &Picture, line: &Line) -> bool {
    let (Some(from), Some(to)) = (line.through.first(), line.through.last()) else { return false };
    picture.lines.iter().any(|other| other.edge == line.edge && other.through == [*to, *from])
}

/// Text inside of XML. Characters that XML does not allow are replaced.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
