//! Reasons for the lack of a proof, as text.

use crate::model::Model;
use crate::races::Conflict;
use ir::ids::Id;
use ir::passes::liveness::live_locals;
use ir::{Lhs, Op, Program, Rhs, Span};
use verdict::OpenCheck;

/// The assumptions that forbid a proof, in words, and where the first of them is made. Those that say the
/// same of several names are said once.
pub fn forbidding(program: &Program) -> Option<(String, Span)> {
    let mut groups: Vec<((&str, &str), Vec<&str>)> = Vec::new();
    let limits = program.assumptions.iter().filter(|assumption| assumption.limits_proof);
    for assumption in limits.clone() {
        let quoted = assumption.text.split_once('\'').and_then(|(before, rest)| {
            let (name, after) = rest.split_once('\'')?;
            Some((before, name, after))
        });
        let (before, name, after) = quoted.unwrap_or((&assumption.text, "", ""));
        match groups.iter_mut().find(|(around, _)| *around == (before, after)) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => groups.push(((before, after), vec![name])),
        }
    }
    let texts = groups.iter().map(|((before, after), names)| match names.as_slice() {
        [""] => (*before).to_owned(),
        names => {
            let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
            format!("{before}{}{after}", quoted.join(", "))
        }
    });
    let texts: Vec<String> = texts.collect();
    limits.map(|assumption| assumption.span).next().map(|span| (texts.join("; "), span))
}

/// The most places that a reason names.
const MOST_PLACES: usize = 4;

/// Where values come from that are not modelled, if the property may depend on any: in the program before it
/// is inlined, where each has its own line.
pub fn not_modelled(lowered: &Program, symbolic: &Program) -> String {
    let is_open = |op: &Op, counts: &dyn Fn(&Lhs) -> bool| match op {
        Op::Assign(assignment) => {
            assignment.pairs.iter().any(|(lhs, rhs)| *rhs == Rhs::Unknown && counts(lhs))
        }
        Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Spawn(..) | Op::Join(..) => false,
        Op::Allocate { .. } | Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Call(..) => false,
        Op::Broadcast(_) => false,
    };
    let mut left = symbolic.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    if !left.any(|op| is_open(op, &|_| true)) {
        return String::new();
    }
    let mut places: Vec<String> = Vec::new();
    for code in &lowered.templates {
        let live = live_locals(code);
        for edge in &code.edges {
            let counts = |lhs: &Lhs| match lhs {
                Lhs::Local(local) => live[edge.target].contains(local.index()),
                Lhs::Memory(_) => true,
            };
            let place = place(lowered, edge.span);
            if edge.ops.iter().any(|op| is_open(op, &counts)) && !places.contains(&place) {
                places.push(place);
            }
        }
    }
    let more = places.len().saturating_sub(MOST_PLACES);
    places.truncate(MOST_PLACES);
    match (places.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!("; values are not modelled at {}", places.join(", ")),
        (false, more) => format!("; values are not modelled at {} and {more} more lines", places.join(", ")),
    }
}

/// Accesses that may race, each with the other one.
pub fn open_races(model: &Model<'_>, conflicts: &[Conflict]) -> Vec<OpenCheck> {
    let mut open = Vec::new();
    for conflict in conflicts {
        let names = conflict.objects.iter().map(|object| model.program.objects[*object].name.clone());
        let names: Vec<String> = names.collect();
        let object = names.first().map_or("memory", String::as_str);
        for (span, other) in [(0, 1), (1, 0)].map(|(a, b)| (conflict.spans[a], conflict.spans[b])) {
            let why = format!("may race on `{object}` with {}", place(model.program, other));
            open.push(OpenCheck { span, step: None, objects: names.clone(), why });
        }
    }
    open
}

/// A position in the source, for people.
pub fn place(program: &Program, span: Span) -> String {
    let file = program.files.get(span.file as usize).map_or("?", String::as_str);
    format!("{file}:{}", span.line)
}
