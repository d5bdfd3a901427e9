//! Looks for a race on a variable of a program in text form (`threadproof verify --show ir`) by the directed
//! search alone, and reports how far it got: `cargo run -p threadproof-engine-explicit --example directed --
//! FILE VARIABLE SECONDS`.

use engine_explicit::directed::{Directed, FoundRace, Site};
use ir::{Callee, Expr, Lhs, Op, Program, Range, TemplateId};
use std::collections::BTreeSet;
use verdict::Budget;

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, name, seconds] = words.as_slice() else { return Err("FILE VARIABLE SECONDS".to_owned()) };
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let program = ir::text::parse(&text).map_err(|error| format!("{error:?}"))?;
    let (object, described) =
        program.objects.enumerate().find(|(_, object)| object.name == *name).ok_or("no such variable")?;
    let range = Range { object, offset: 0, size: described.size };
    let mut sites: Vec<(Site, bool)> = Vec::new();
    for kind in kinds(&program) {
        for template in reached(&program, kind) {
            for (edge, step) in program.templates[template].edges.enumerate() {
                let names = |expr: &Expr| {
                    let mut found = false;
                    expr.walk(&mut |inner| {
                        found |= matches!(inner, Expr::Address(other, _) if *other == object)
                    });
                    found
                };
                let writes = step.ops.iter().flat_map(Op::targets).any(|lhs| match lhs {
                    Lhs::Memory(place) => names(&place.address),
                    Lhs::Local(_) => false,
                });
                if step.ops.iter().flat_map(Op::expressions).any(names) {
                    sites.push((Site { kind, template, edge }, writes));
                }
            }
        }
    }
    let main = program.start.first().map(|(template, _)| *template);
    let mut pairs = Vec::new();
    for (at, (one, write)) in sites.iter().enumerate() {
        for (other, other_write) in &sites[at..] {
            if (*write || *other_write) && (one.kind != other.kind || Some(one.kind) != main) {
                pairs.push([*one, *other]);
            }
        }
    }
    println!("{} sites, {} pairs", sites.len(), pairs.len());
    let mut directed = Directed::new(&program).map_err(|limit| format!("{limit:?}"))?;
    let Some(mut search) = directed.search(range, &pairs) else { return Err("nothing to search".to_owned()) };
    for _ in 0..seconds.parse::<u32>().map_err(|error| error.to_string())? {
        search.run(&mut directed, &Budget::seconds(1.0));
        println!("{:?}", search.progress());
        for (_, found) in directed.take_found() {
            match found {
                FoundRace::Race(trace) => {
                    println!("race after {} steps", trace.steps.len());
                    return Ok(());
                }
                FoundRace::Possible(trace, conditions, _) => {
                    println!("possible after {} steps: {conditions:?}", trace.steps.len());
                }
            }
        }
    }
    Ok(())
}

/// What threads are started as.
fn kinds(program: &Program) -> BTreeSet<TemplateId> {
    let started = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    let started = started.filter_map(|op| match op {
        Op::Spawn(Callee::Procedure(template), ..) => Some(*template),
        _ => None,
    });
    program.start.iter().map(|(template, _)| *template).chain(started).collect()
}

/// The procedures that a thread may enter by name.
fn reached(program: &Program, kind: TemplateId) -> BTreeSet<TemplateId> {
    let mut found = BTreeSet::from([kind]);
    let mut open = vec![kind];
    while let Some(template) = open.pop() {
        for op in program.templates[template].edges.iter().flat_map(|edge| &edge.ops) {
            if let Op::Call(Callee::Procedure(callee), ..) = op
                && found.insert(*callee)
            {
                open.push(*callee);
            }
        }
    }
    found
}
