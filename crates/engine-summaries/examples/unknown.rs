//! Lists where values of a pointer's width come from that nothing is known of, and the accesses that they reach.

use frontend_c::{Options, Source, read};
use ir::passes::{self, Lowering, PointsTo};
use ir::{Lhs, Op, Rhs};

fn main() {
    for name in std::env::args().skip(1) {
        let text = std::fs::read(&name).expect("a file");
        let Ok(program) = read(&[Source { name: name.clone(), text }], &Options::default()) else { continue };
        let lowering = Lowering { races: true, ..Lowering::default() };
        let program = passes::interrupts::run_to_completion(&passes::concrete(&program, lowering));
        let points_to = PointsTo::of(&program);
        println!("{name}");
        for (id, code) in program.templates.enumerate() {
            let live = passes::liveness::live_locals(code);
            for edge in &code.edges {
                for op in &edge.ops {
                    if let Op::Assign(assignment) = op {
                        for (lhs, rhs) in &assignment.pairs {
                            let ty = match lhs {
                                Lhs::Local(local) => code.locals[*local].ty,
                                Lhs::Memory(place) => place.ty,
                            };
                            if let (Lhs::Local(local), Rhs::Any) = (lhs, rhs)
                                && live[edge.target].contains(local.0 as usize)
                                && ty.bits == 64
                                && let ir::Targets::Of(targets) =
                                    points_to.targets(id, &ir::Expr::Local(*local))
                                && !targets.is_empty()
                            {
                                let name = &code.locals[*local].name;
                                println!(
                                    "  input {} line {} {name} {} targets",
                                    code.name,
                                    edge.span.line,
                                    targets.len()
                                );
                            }
                            let kind = match rhs {
                                Rhs::Unknown => "unknown",
                                Rhs::Float(..) => "float",
                                Rhs::Any if assignment.constraint.is_some() => "constrained",
                                _ => continue,
                            };
                            if ty.bits == 64 {
                                println!("  source {kind} {} line {}", code.name, edge.span.line);
                            }
                        }
                    }
                    for access in passes::footprint::racing_accesses(&points_to, id, op) {
                        if points_to.is_unknown(id, access.address) {
                            println!("  access {} line {}", code.name, edge.span.line);
                        }
                    }
                }
            }
        }
    }
}
