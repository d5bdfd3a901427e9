//! The inner loop of CIRC (paper 1, algorithm 5, lines 4 to 9): a context that each thread does no more than, or a way to an error.
//!
//! At first threads are taken to do nothing. Each round explores all templates in the context of the last one; the quotients of their graphs are the next. When
//! each graph is simulated by the automaton that was assumed of its template, all is proved: circular reasoning by induction on the length of
//! executions. `k` and the abstraction are given; what to do about a way that is no execution is not decided here.
//!
//! Deviation: there are several templates, and each plays the thread in turn.

use crate::collapse::{Watched, collapse};
use crate::counts::Context;
use crate::labels::Labels;
use crate::reach::{Explored, WayStep, beside, explore};
use crate::simulate::{Simulated, simulate};
use crate::thread::Thread;
use ir::{Count, IdVec, TemplateId};
use smt::NoAnswer;
use verdict::{Acfa, Budget};

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inferred {
    /// No error: what threads of each template do, at most.
    Safe(IdVec<TemplateId, Acfa>),
    /// A way to an error, of a thread of a template, in the context of these automata.
    Way(TemplateId, Vec<WayStep>, IdVec<TemplateId, Acfa>),
}

/// Infers a context for the threads of a program.
pub fn infer<T: Thread>(
    threads: &IdVec<TemplateId, T>,
    start: &[(TemplateId, Count)],
    k: u32,
    watched: &Watched,
    budget: &Budget,
) -> Result<Inferred, NoAnswer> {
    let mut labels = Labels::default();
    let mut acfas: IdVec<TemplateId, Acfa> = threads.iter().map(|_| Acfa::empty()).collect();
    loop {
        budget.check(0).map_err(NoAnswer::Exhausted)?;
        let context = Context { acfas: &acfas, k };
        let mut next: IdVec<TemplateId, Acfa> = IdVec::new();
        let mut simulated = true;
        for (template, thread) in threads.enumerate() {
            let there = beside(&context, start, template);
            // It may also be one that is started later.
            let mut graphs = Vec::new();
            let all = context.start(start);
            for (present, counts) in there.iter().map(|counts| (true, counts)).chain([(false, &all)]) {
                match explore(thread, template, present, &context, counts, &mut labels, budget)? {
                    Explored::Way(way) => return Ok(Inferred::Way(template, way, acfas)),
                    Explored::Graph(graph) => graphs.extend(graph.map(|(acfa, _)| acfa)),
                }
            }
            for graph in &graphs {
                match simulate(graph, &acfas[template], &mut labels, budget) {
                    Simulated::Yes(_) => {}
                    Simulated::No => simulated = false,
                    Simulated::Unsure(reason) => return Err(reason),
                }
            }
            let joined = crate::graph::joined(&graphs).unwrap_or_else(Acfa::empty);
            next.push(collapse(&joined, watched, &mut labels, budget).acfa);
        }
        if simulated {
            return Ok(Inferred::Safe(acfas));
        }
        acfas = next;
    }
}
