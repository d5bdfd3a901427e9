//! Proofs for a fixed set of threads: the product of all threads, reduced, as Horn clauses.
//!
//! Beyond the papers; the reduction is that of sleep sets ([`graph`]), the clauses are those of a sequential
//! program ([`clauses`]). Paths between loops become one step each ([`blocks`]); simple facts and linear
//! equations are tried before the solver. Over-approximates as [`transitions`] does, and is otherwise exact.

pub mod blocks;
pub mod clauses;
pub mod graph;
pub mod independence;
pub mod needed;
pub mod split;
pub mod turns;

use crate::modular::Effort;
use crate::modular::facts::Vocabulary;
use crate::modular::weaken::{Language, is_safe, strengthened, strongest};
use blocks::{Blocks, blocks};
use clauses::Clauses;
use graph::{Graph, Manner, NoGraph, Order};
use indexmap::IndexSet;
use ir::{IdVec, LocationId};
use needed::Needed;
use smt::horn::{Derivation, HornSystem, Interpretation, RelationId, Solution, solve};
use smt::{NoAnswer, Term};

use transitions::System;
use transitions::threads::{self, NoProduct, Threads};
use verdict::{Budget, ProductNode, ProductPart, ProductProof, Reason, Schedule};

/// More nodes than this are not tried.
pub const MOST_NODES: usize = 20_000;
/// Nor more than this, if they are distinguished by values.
const MOST_SPLIT_NODES: usize = 4_000;
/// Simple facts get this fraction of the time; the solver gets the remaining time.
const FACTS: u32 = 2;

/// Why there is no proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoProof {
    /// For this reason.
    Open(Reason),
    /// An execution of the transitions reaches an error along it.
    Refuted(Schedule),
}

fn gave_up(text: String) -> NoProof {
    NoProof::Open(Reason::GaveUp(text))
}

/// By which values nodes are distinguished ([`split`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Split {
    /// By none.
    Nothing,
    /// By those of variables that have few.
    Few,
    /// The same, and only if no path of nodes leads back then: all paths to the error are one formula.
    Unrolled,
}

/// Which nodes there are, and how hard they are worked on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Method {
    /// In which order threads are preferred.
    pub order: Order,
    /// By which values nodes are distinguished.
    pub split: Split,
    /// How hard the clauses are worked on.
    pub effort: Effort,
}

/// Looks for a proof that no error is reached.
pub fn prove(system: &System<'_>, method: Method, budget: &Budget) -> Result<ProductProof, NoProof> {
    let threads = Threads::new(system).map_err(|why| {
        gave_up(match why {
            NoProduct::Unbounded => "a thread may be started any number of times".to_owned(),
            NoProduct::TooMany => format!("there are more than {} threads", threads::MOST_THREADS),
        })
    })?;
    let mut parts = Vec::new();
    for (number, thread) in threads.threads.iter().enumerate() {
        let locations = &system.program.templates[thread.template].locations;
        for location in locations.ids().filter(|at| threads.is_error(system, number, *at)) {
            parts.push(prove_one(system, &threads, (number, location), method, budget)?);
        }
    }
    Ok(ProductProof { parts })
}

/// Looks for a proof that one error is not reached.
fn prove_one(
    system: &System<'_>,
    threads: &Threads,
    error: (usize, LocationId),
    method: Method,
    budget: &Budget,
) -> Result<ProductPart, NoProof> {
    let needed = Needed::new(system, threads, error);
    let (split, most_nodes) = match method.split {
        Split::Nothing => (IndexSet::new(), MOST_NODES),
        Split::Few | Split::Unrolled => (split::with_few_values(threads), MOST_SPLIT_NODES),
    };
    if method.split != Split::Nothing && split.is_empty() {
        return Err(gave_up("there are no values to distinguish nodes by".to_owned()));
    }
    let manner = Manner { order: method.order, split: &split, most_nodes };
    let graph = Graph::new(system, threads, &needed, manner, budget).map_err(|why| match why {
        NoGraph::TooLarge => gave_up(format!("the product has more than {most_nodes} nodes")),
        NoGraph::Exhausted(why) => NoProof::Open(Reason::Exhausted(why)),
    })?;
    if method.split == Split::Unrolled && graph.has_circles() {
        return Err(gave_up("loops cannot be unrolled".to_owned()));
    }
    let clauses = Clauses::new(threads, &graph, budget);
    let relevant = graph.relevant();
    let mut solution = solution(&clauses, method.effort, budget).map_err(|why| match why {
        Unsolved::Refuted(derivation) => {
            NoProof::Refuted(clauses.schedule(system, threads, &graph, &derivation))
        }
        Unsolved::Open(NoAnswer::Exhausted(limit)) => NoProof::Open(Reason::Exhausted(limit)),
        Unsolved::Open(why) => gave_up(why.to_string()),
    })?;
    let mut moves = vec![Vec::new(); graph.nodes.len()];
    for step in &graph.moves {
        moves[step.source].push((step.thread, step.step, step.target));
    }
    let nodes = graph.nodes.iter().enumerate().map(|(number, node)| ProductNode {
        locations: node.locations.clone(),
        sleep: node.sleep,
        awake: graph.awake[number],
        first: node.first,
        moves: std::mem::take(&mut moves[number]),
        constants: graph.constants[number].iter().map(|(v, value)| (v.clone(), value.clone())).collect(),
        invariant: match clauses.relation(number).and_then(|relation| solution[relation].take()) {
            _ if graph.errors[number] => Some(Term::bool(false)),
            // From here no error is reached, whatever holds.
            _ if !relevant[number] => Some(Term::bool(true)),
            invariant => invariant,
        },
    });
    let nodes: Vec<ProductNode> = nodes.collect();
    if has_open_circle(&nodes) {
        return Err(gave_up("a circle is left without an invariant".to_owned()));
    }
    Ok(ProductPart { error, ends: needed.ends.clone(), nodes })
}

/// Whether there is a circle of nodes without an invariant: then nothing is proved.
fn has_open_circle(nodes: &[ProductNode]) -> bool {
    let is_open = |number: usize| nodes[number].invariant.is_none();
    let open = || (0..nodes.len()).filter(|number| is_open(*number));
    let mut entering = vec![0usize; nodes.len()];
    for (_, _, target) in open().flat_map(|number| &nodes[number].moves) {
        entering[*target] += 1;
    }
    let mut ready: Vec<usize> = open().filter(|number| entering[*number] == 0).collect();
    let mut passed = 0;
    while let Some(number) = ready.pop() {
        passed += 1;
        for (_, _, target) in &nodes[number].moves {
            entering[*target] -= 1;
            if entering[*target] == 0 && is_open(*target) {
                ready.push(*target);
            }
        }
    }
    passed < open().count()
}

enum Unsolved {
    Refuted(Derivation),
    Open(NoAnswer),
}

/// What holds of relations; without those that are only between others.
type Invariants = IdVec<RelationId, Option<Term>>;

/// Simple facts first; then, if that is asked for, the solver with what they say.
fn solution(clauses: &Clauses, effort: Effort, budget: &Budget) -> Result<Invariants, Unsolved> {
    let system = &clauses.system;
    let part = budget.part(FACTS);
    let facts = blocks(system, budget).map(|blocks| {
        let facts = facts(system, &blocks, if effort == Effort::Facts { budget } else { &part });
        (blocks, facts)
    });
    let facts = match facts {
        Some((blocks, Ok(facts))) => {
            let mut invariants: Invariants = system.relations.iter().map(|_| None).collect();
            for (relation, kept) in blocks.kept.enumerate() {
                invariants[*kept] = Some(facts.formulas[relation].clone());
            }
            if is_safe(&blocks.system, &facts, budget) {
                return Ok(invariants);
            }
            Ok(invariants)
        }
        Some((_, Err(why))) => Err(why),
        None => Err(NoAnswer::GaveUp("there are too many paths".to_owned())),
    };
    if effort == Effort::Facts {
        let weak = NoAnswer::GaveUp("simple facts are not enough".to_owned());
        return Err(Unsolved::Open(facts.err().unwrap_or(weak)));
    }
    let known = facts.as_ref().ok().map(|facts| {
        let all = facts.iter().map(|fact| fact.clone().unwrap_or(Term::bool(true)));
        Interpretation { formulas: all.collect() }
    });
    let strong = known.as_ref().map(|known| strengthened(system, known));
    match solve(strong.as_ref().unwrap_or(system), budget) {
        Solution::Solved(more) => Ok(match facts {
            // Between two relations that facts are about, what is needed follows.
            Ok(facts) => {
                let both = facts.iter().zip(more.formulas.iter());
                both.map(|(fact, more)| Some(fact.as_ref()?.and(more))).collect()
            }
            Err(_) => more.formulas.iter().cloned().map(Some).collect(),
        }),
        Solution::Refuted(derivation) => Err(Unsolved::Refuted(derivation)),
        Solution::Unknown(why) => Err(Unsolved::Open(why)),
    }
}

fn facts(system: &HornSystem, blocks: &Blocks, budget: &Budget) -> Result<Interpretation, NoAnswer> {
    let vocabulary = Vocabulary::new(system).of_some(&blocks.kept);
    strongest(&blocks.system, &vocabulary, Language::Equations, budget)
}
