//! Pictures are complete, well-formed, without overlaps, and quick.

use super::chart::Chart;
use super::layout::{Content, Picture, layout};
use super::{dot, svg, svg_program, svg_reached};
use ir::{Edge, EdgeId, Location, LocationId, LocationKind, Program, Span, Template, TemplateId};
use quick_xml::events::Event;
use std::collections::BTreeSet;
use testkit::random::Random;

/// A template of random shape: mostly forward edges nearby, some loops, jumps, double edges and self-loops.
fn random_program(seed: u64, locations: usize) -> Program {
    let mut random = Random::new(seed);
    let mut template = Template { name: "f<&\"'\u{1}".into(), ..Template::default() };
    for _ in 0..locations {
        template.location(LocationKind::Normal, random.below(5) == 0);
    }
    let local = template.local("a<b", ir::IntType::BOOL, Span::default());
    let mut edge = |random: &mut Random, from: usize, to: usize| {
        let ops = match random.below(3) {
            0 => vec![],
            1 => vec![ir::Op::Assume(ir::Expr::Local(local))],
            _ => vec![ir::Op::any(ir::Lhs::Local(local)), ir::Op::any(ir::Lhs::Local(local))],
        };
        template.edge(
            LocationId(from as u32),
            LocationId(to as u32),
            ops,
            Span { file: 0, line: 3, column: 1 },
        );
    };
    for from in 0..locations {
        let next = (from + 1).min(locations - 1);
        edge(&mut random, from, next);
        match random.below(12) {
            0 => edge(&mut random, from, next),
            1 => edge(&mut random, from, from),
            2 => edge(&mut random, from, from.saturating_sub(3)),
            3 => {
                let to = random.below(locations);
                edge(&mut random, from, to);
            }
            4 | 5 => edge(&mut random, from, (from + 3).min(locations - 1)),
            _ => {}
        }
    }
    let mut program = Program { files: vec!["a<b>.c".into()], ..Program::default() };
    program.templates.push(template);
    program
}

fn size(content: Content) -> (f64, f64) {
    match content {
        Content::Vertex(_) | Content::Reference(_) => (40.0, 20.0),
        Content::Arrow(id) => (60.0 + (id % 7) as f64 * 20.0, 30.0),
        Content::Bend => (6.0, 1.0),
    }
}

fn overlaps(picture: &Picture) -> usize {
    let real: Vec<_> = picture.nodes.iter().filter(|node| node.content != Content::Bend).collect();
    let mut found = 0;
    for (index, a) in real.iter().enumerate() {
        for b in &real[index + 1..] {
            let apart = (a.x - b.x).abs() >= (a.width + b.width) / 2.0
                || (a.y - b.y).abs() >= (a.height + b.height) / 2.0;
            found += usize::from(!apart);
        }
    }
    found
}

/// The values of an attribute in an SVG, after a check that it is well-formed XML.
fn attributes(xml: &str, name: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut found = Vec::new();
    let mut depth = 0;
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Start(element) => {
                depth += 1;
                for attribute in element.attributes() {
                    let attribute = attribute.expect("a well-formed attribute");
                    if attribute.key.as_ref() == name {
                        found.push(attribute.value.into_owned());
                    }
                }
            }
            Event::End(_) => depth -= 1,
            Event::Empty(_) => {}
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "all elements are closed");
    assert!(!xml.contains(|c: char| c.is_control() && c != '\n'), "no characters that XML forbids");
    found
}

#[test]
fn pictures_are_complete() {
    for seed in 1..60 {
        let program = random_program(seed, 1 + seed as usize);
        let template = &program.templates[TemplateId(0)];
        let text = svg(&program, TemplateId(0));
        let locations: BTreeSet<String> = attributes(&text, "data-location").into_iter().collect();
        assert_eq!(locations.len(), template.locations.len());
        let edges: BTreeSet<String> = attributes(&text, "data-edge").into_iter().collect();
        assert_eq!(edges.len(), template.edges.len());
        let dot = dot(&program);
        assert_eq!(dot.matches(" -> ").count(), template.edges.len());
        assert_eq!(text, svg(&program, TemplateId(0)), "the same picture every time");
    }
}

#[test]
fn boxes_do_not_overlap() {
    for seed in 1..200 {
        let program = random_program(seed, 1 + (seed as usize * 7) % 90);
        let picture = layout(&Chart::of_template(&program, &program.templates[TemplateId(0)]), &size);
        assert_eq!(overlaps(&picture), 0, "seed {seed}");
        for node in &picture.nodes {
            assert!(node.x - node.width / 2.0 >= -0.01 && node.x + node.width / 2.0 <= picture.width + 0.01);
            assert!(
                node.y - node.height / 2.0 >= -0.01 && node.y + node.height / 2.0 <= picture.height + 0.01
            );
        }
    }
}

#[test]
fn large_templates_are_quick() {
    // A quadratic layout would not end.
    for locations in [600, 5000] {
        let program = random_program(5, locations);
        assert!(svg(&program, TemplateId(0)).contains("</svg>"), "{locations} locations");
        assert_eq!(
            overlaps(&layout(&Chart::of_template(&program, &program.templates[TemplateId(0)]), &size)),
            0
        );
    }
}

#[test]
fn odd_templates() {
    let mut program = Program::default();
    program.templates.push(Template::default());
    assert!(attributes(&svg(&program, TemplateId(0)), "data-location").is_empty());
    assert_eq!(svg(&program, TemplateId(1)), "");
    let text = "program lp64 template t() { locations 3 error overflow l2 end l1 atomic l0 l0 -> l0: l0 -> l0: l0 -> l1: l0 -> l1: }";
    let program = ir::text::parse(text).expect("it is a program");
    let text = svg(&program, TemplateId(0));
    assert_eq!(attributes(&text, "data-location"), ["l0", "l1", "l2"]);
    let edges: BTreeSet<String> = attributes(&text, "data-edge").into_iter().collect();
    assert_eq!(edges, (0..4).map(|edge| EdgeId(edge).to_string()).collect());
    assert!(text.contains("location atomic entry") && text.contains("location error"));
    assert!(dot(&program).contains("t0_l2 [label=\"l2 overflow\", style=\"rounded\", color=red"));
}

#[test]
fn one_picture_of_a_whole_program() {
    let text = "program lp64 template t() { locations 2 l0 -> l1: } template u() { locations 1 }";
    let program = ir::text::parse(text).expect("it is a program");
    let picture = svg_program(&program);
    assert_eq!(attributes(&picture, "data-location"), ["l0", "l1", "l0"]);
    assert_eq!(picture.matches("<svg").count(), 1);
    assert!(attributes(&svg_program(&Program::default()), "data-location").is_empty());
}

#[test]
fn what_cannot_be_reached_is_left_out_of_the_page() {
    let mut program = random_program(7, 12);
    let id = TemplateId(0);
    let before = attributes(&svg_reached(&program, id), "data-location").len();
    // A location that nothing leads to.
    let end = program.templates[id].locations.push(Location::default());
    let edge = program.templates[id].edges.iter().next().expect("there is one").clone();
    program.templates[id].edges.push(Edge { source: end, ..edge });
    let after = attributes(&svg_reached(&program, id), "data-location");
    assert_eq!(after.len(), before);
    assert!(!after.contains(&end.to_string()));
    assert!(attributes(&svg(&program, id), "data-location").contains(&end.to_string()));
}
