//! One first thread.

use crate::expr::Expr;
use crate::ids::TemplateId;
use crate::op::{Callee, Op};
use crate::program::{Count, LocationKind, Program, Span, Template};

/// The program as one that starts as one thread: where several are there at the start, a thread of its own starts them all before any other step is taken, in their order. It comes first, and touches
/// nothing. Exact: its steps are made
/// while all others are where they start.
pub fn started_by_one(mut program: Program) -> Program {
    if matches!(program.start.as_slice(), [(_, Count::Exactly(1))]) {
        return program;
    }
    let mut code = Template { name: "start".to_owned(), ..Template::default() };
    let mut here = code.location(LocationKind::Normal, true);
    for (template, count) in &program.start {
        let started = &program.templates[*template];
        let span = started.span;
        let zeros = started.locals.iter().take(started.parameters).map(|local| Expr::Const(0, local.ty));
        let spawn = Op::Spawn(Callee::Procedure(*template), zeros.collect(), None);
        match count {
            Count::Any => {
                let next = code.location(LocationKind::Normal, true);
                code.edge(here, next, vec![], span);
                code.edge(next, next, vec![spawn], span);
                here = next;
            }
            Count::Exactly(copies) => {
                for _ in 0..*copies {
                    let next = code.location(LocationKind::Normal, true);
                    code.edge(here, next, vec![spawn.clone()], span);
                    here = next;
                }
            }
        }
    }
    let end = code.location(LocationKind::End, false);
    code.edge(here, end, vec![], Span::default());
    let first: TemplateId = program.templates.push(code);
    program.start = vec![(first, Count::Exactly(1))];
    program
}
