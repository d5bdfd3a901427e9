//! Checks what a proof claims about data ([`verdict::DataProof`]).
//!
//! The variables and the abstract meaning of steps come from `domains`, as the concrete meaning comes from
//! `ir`. No code of the search is used.
//!
//! 1. The data flow of each cell that the proof tracks is closed ([`reach`]): all steps that may write the
//!    cell are among its definitions; each definition, and the first value, reaches all locations that
//!    threads may be at while it is the latest definition.
//! 2. The invariants are inductive ([`inductive`]): the result of a step is within the invariant of its
//!    target. For a shared cell, the values that both the data flow and the steps that may change it allow
//!    are within the invariant.
//!
//! Together with the other checks of the proof, this gives an invariant of all reachable states, by induction
//! over the steps. A step is taken in a state that satisfies the invariant of its source and, for shared
//! cells, the invariants of the locations of all other threads; so a step whose assumptions contradict these
//! is never taken ([`Data::may_take`]). The state after the step satisfies the invariants again: only the
//! thread's own steps change locals and private cells. The value of a shared cell comes from its latest
//! definition, which by 1 reaches every location where a thread is. It also comes from a step to the thread's
//! location, or from a write while the thread was there. The same holds for the values of all cells of a pack
//! together; for packs with locals, see [`domains::interference`].

mod inductive;
mod reach;

use super::view::{Node, View, type_of_fact};
use crate::ProofError;
use crate::ready::claim;
use domains::{
    Bound, Congruence, Constraint, Interval, Lattice, Memory, Number, Numbers, Octagon, Octagons, PackId,
    Relational, Scope, Variable,
};
use ir::{EdgeId, Expr, LocalId, TemplateId};
use std::cell::RefCell;
use std::collections::BTreeMap;
use verdict::{Bounds, DataProof};

pub use inductive::check_inductive;
pub use reach::check_flows;

/// A proof's claims about data, prepared for queries.
pub struct Data<'v, 'a> {
    pub view: &'v View<'a>,
    pub proof: &'a DataProof,
    pub memory: Memory<'v>,
    /// The invariant of each node; bottom when no thread is ever there.
    pub invariants: Vec<Relational<Variable>>,
    /// All equalities at each node.
    pub equal: Vec<Vec<(LocalId, Expr)>>,
    /// Results for each edge of each node.
    edges: Vec<Vec<EdgeData>>,
}

/// Results for an edge.
struct EdgeData {
    edge: EdgeId,
    /// Whether it can be taken at all.
    takeable: bool,
    /// The shared cells that it reads, if it assumes anything.
    guards: Vec<Variable>,
    /// Whether it can be taken while another thread is at a location; a cache.
    answers: RefCell<BTreeMap<Node, bool>>,
}

/// The integers within bounds.
fn number(bounds: &Bounds) -> Number {
    let lower = bounds.lower.map_or(Bound::MINUS_INFINITY, Bound::finite);
    let upper = bounds.upper.map_or(Bound::PLUS_INFINITY, Bound::finite);
    let number = Number::new(Interval::new(lower, upper), Congruence::new(bounds.modulus, bounds.rest));
    let number = if bounds.nonzero { number.without(0) } else { number };
    bounds.addresses.map_or(number, |addresses| number.among(addresses))
}

/// Checks that all edges to a location establish the equalities that are claimed there. The check of the
/// invariants shows that no other thread breaks them.
fn check_copies(
    view: &View<'_>,
    proof: &DataProof,
    memory: &Memory<'_>,
) -> Result<Vec<Vec<(LocalId, Expr)>>, ProofError> {
    for template in view.program.templates.ids() {
        claim(proof.copies[view.entry(template)].is_empty(), "something is claimed where a thread starts")?;
    }
    for (node, copies) in proof.copies.iter().enumerate() {
        let template = view.nodes[node].0;
        let locals = &view.program.templates[template].locals;
        let exists = |(local, value): &(LocalId, Expr)| {
            locals
                .get(*local)
                .is_some_and(|local| type_of_fact(view.program, template, value) == Some(local.ty))
        };
        claim(copies.iter().all(exists), "a fact names nothing")?;
    }
    let all = |node: Node| -> Vec<(LocalId, Expr)> {
        view.facts(node).equal.iter().chain(&proof.copies[node]).cloned().collect()
    };
    // Locations without edges to them have no claims, so all claims come from the program's own expressions.
    let mut entered = vec![false; view.nodes.len()];
    for node in 0..view.nodes.len() {
        let template = view.nodes[node].0;
        let scope = Scope::new(memory, template);
        for edge in &view.leaving[node] {
            let target = view.node(template, view.program.templates[template].edges[*edge].target);
            entered[target] = true;
            if proof.copies[target].is_empty() {
                continue;
            }
            let after = scope.equal_after(*edge, &all(node));
            let follows = proof.copies[target].iter().all(|fact| after.contains(fact));
            claim(follows, "an equality does not follow")?;
        }
    }
    let lone = (0..view.nodes.len()).any(|node| !entered[node] && !proof.copies[node].is_empty());
    claim(!lone, "something is claimed where no step leads to")?;
    Ok((0..view.nodes.len()).map(all).collect())
}

impl<'v, 'a> Data<'v, 'a> {
    pub fn new(view: &'v View<'a>, proof: &'a DataProof) -> Result<Self, ProofError> {
        claim(proof.invariants.len() == view.nodes.len(), "the proof is about another program")?;
        claim(proof.copies.len() == view.nodes.len(), "the proof is about another program")?;
        let single = view.program.objects.ids().map(|object| view.is_single(object)).collect();
        let mut memory = Memory::new(view.program, view.points_to, &view.escapes, single);
        let variables = |packs: &Vec<Vec<u32>>| -> Vec<Vec<Variable>> {
            packs.iter().map(|pack| pack.iter().map(|variable| Variable(*variable)).collect()).collect()
        };
        let of_template: Vec<_> = proof.packs.of_template.iter().map(variables).collect();
        let good = memory.relate(&variables(&proof.packs.shared), &of_template);
        claim(good, "something is related that is no variable")?;
        claim(proof.relations.len() == view.nodes.len(), "the proof is about another program")?;
        let equal = check_copies(view, proof, &memory)?;
        let mut invariants = Vec::new();
        for (node, known) in proof.invariants.iter().enumerate() {
            let Some(known) = known else {
                invariants.push(Relational::bottom());
                continue;
            };
            let locals = view.program.templates[view.nodes[node].0].locals.len();
            let mut environment = Numbers::top();
            for (variable, bounds) in known {
                claim((*variable as usize) < memory.count() + locals, "a variable does not exist")?;
                environment.set(Variable(*variable), number(bounds));
            }
            let packs = memory.packs(view.nodes[node].0);
            let mut state = Relational { numbers: environment, octagons: Octagons::top() };
            for relation in &proof.relations[node] {
                let pack = PackId(relation.pack);
                claim(packs.ids().any(|known| known == pack), "a pack does not exist")?;
                let place = |(variable, negated)| {
                    packs.position(pack, Variable(variable)).map(|position| (position, negated))
                };
                let (Some(first), Some(second)) = (place(relation.first), place(relation.second)) else {
                    return Err(ProofError::Claim("a variable is not in its pack".to_owned()));
                };
                claim(first.0 != second.0, "a variable is related to itself")?;
                let constraint = Constraint { first, second: Some(second), bound: relation.bound };
                let known = state.octagon(packs, pack);
                let both = known.meet(&Octagon::of_constraints(known.dimension(), &[constraint]));
                state.octagons.set(pack, both);
            }
            invariants.push(state.reduced(packs));
        }
        let mut data = Self { view, proof, memory, invariants, equal, edges: Vec::new() };
        for node in 0..view.nodes.len() {
            let of_edge = |edge: &EdgeId| {
                let mut guards = data.scope(view.nodes[node].0).touches(*edge, &data.equal[node]).guards;
                guards.retain(|cell| data.memory.is_shared(*cell));
                EdgeData {
                    edge: *edge,
                    takeable: !data.after(node, *edge).environment.is_bottom(),
                    guards,
                    answers: RefCell::default(),
                }
            };
            let edges = view.leaving[node].iter().map(of_edge).collect();
            data.edges.push(edges);
        }
        Ok(data)
    }

    pub fn scope(&self, template: TemplateId) -> Scope<'_, 'v> {
        Scope::new(&self.memory, template)
    }

    /// The state after an edge.
    pub fn after(&self, node: Node, edge: EdgeId) -> domains::After {
        self.scope(self.view.nodes[node].0).after(edge, &self.equal[node], self.invariants[node].clone())
    }

    /// Whether an edge can be taken, while another thread is at a location.
    pub fn may_take(&self, node: Node, edge: EdgeId, other: Option<Node>) -> bool {
        let Some(known) = self.edges[node].iter().find(|known| known.edge == edge) else { return true };
        match other {
            Some(other) if known.takeable && !known.guards.is_empty() => {
                if let Some(answer) = known.answers.borrow().get(&other) {
                    return *answer;
                }
                let answer = self.agrees(node, known, other);
                known.answers.borrow_mut().insert(other, answer);
                answer
            }
            Some(_) | None => known.takeable,
        }
    }

    /// Whether the assumptions of an edge are consistent with the invariants of both locations.
    fn agrees(&self, node: Node, known: &EdgeData, other: Node) -> bool {
        let mut here = self.invariants[node].clone();
        let theirs = &self.invariants[other];
        for cell in &known.guards {
            if let Some(theirs) = theirs.numbers.get(*cell) {
                let mine = here.numbers.get(*cell).copied().unwrap_or(Number::TOP);
                here.numbers.set(*cell, mine.meet(theirs));
            }
        }
        let scope = self.scope(self.view.nodes[node].0);
        for (pack, cells) in self.memory.shared_packs() {
            if let Some(theirs) = theirs.octagons.get(pack)
                && cells.iter().any(|cell| known.guards.contains(cell))
                && !here.is_bottom()
            {
                let both = here.octagon(scope.packs(), pack).meet(theirs);
                here.octagons.set(pack, both);
            }
        }
        let here = here.reduced(scope.packs());
        !scope.after(known.edge, &self.equal[node], here).environment.is_bottom()
    }
}
