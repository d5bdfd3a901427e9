//! Lists where values of a pointer's width come from that nothing is known of, with the line of the source,
//! what inputs may be the address of, and the accesses at unknown addresses.

use frontend_c::{Options, Source, read};
use ir::passes::{self, Lowering, PointsTo};
use ir::{Expr, Lhs, Op, Rhs, Targets};

fn main() {
    for name in std::env::args().skip(1) {
        let text = std::fs::read(&name).expect("a file");
        let lines: Vec<String> = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
        let line = |span: ir::Span| lines.get(span.line as usize - 1).map_or("", |line| line.trim());
        let Ok(program) = read(&[Source { name: name.clone(), text }], &Options::default()) else { continue };
        let lowering = Lowering { races: true, ..Lowering::default() };
        let program = passes::interrupts::run_to_completion(&passes::concrete(&program, lowering));
        println!("{name}");
        let mut open = Vec::new();
        for (id, code) in program.templates.enumerate() {
            let live = passes::liveness::live_locals(code);
            for edge in &code.edges {
                for (index, op) in edge.ops.iter().enumerate() {
                    let Op::Assign(assignment) = op else { continue };
                    for (lhs, rhs) in &assignment.pairs {
                        let (ty, value, is_read) = match lhs {
                            Lhs::Local(local) => {
                                let is_live = live[edge.target].contains(local.0 as usize);
                                let is_read = is_live || edge.reads_later(index, *local);
                                (code.locals[*local].ty, Expr::Local(*local), is_read)
                            }
                            Lhs::Memory(place) => (place.ty, Expr::load(place.clone()), true),
                        };
                        if is_read && ty.bits == 64 && matches!(rhs, Rhs::Any | Rhs::Unknown) {
                            open.push((id, value, edge.span, rhs));
                        }
                    }
                }
            }
        }
        for (id, _, span, rhs) in &open {
            if **rhs == Rhs::Unknown {
                println!("  unknown {} {}: {}", program.templates[*id].name, span.line, line(*span));
            }
        }
        let points_to = PointsTo::of(&program);
        for (id, value, span, rhs) in &open {
            let is_unknown = points_to.is_unknown(*id, value);
            let Targets::Of(targets) = points_to.targets(*id, value) else { continue };
            if !targets.is_empty() && (**rhs == Rhs::Any || !is_unknown) {
                let code = &program.templates[*id].name;
                let objects: std::collections::BTreeSet<_> =
                    targets.iter().map(|target| program.objects[target.object].name.clone()).collect();
                let shown: Vec<_> = objects.iter().take(6).collect();
                println!(
                    "  guess {code} {}: {} {shown:?} {}",
                    span.line,
                    objects.len(),
                    if is_unknown { "and anything" } else { "" }
                );
            }
        }
        for (id, code) in program.templates.enumerate() {
            for edge in &code.edges {
                for op in &edge.ops {
                    for access in passes::footprint::racing_accesses(&points_to, id, op) {
                        if points_to.is_unknown(id, access.address) {
                            println!("  access {} {}: {}", code.name, edge.span.line, line(edge.span));
                        }
                    }
                }
            }
        }
    }
}
