//! The program together with the proof, and facts that follow from the program's text alone.

use crate::ProofError;
use crate::ready::claim;
use ir::passes::PointsTo;
use ir::passes::footprint::{Extent, Region, accesses};
use ir::{
    BinaryOp, Callee, Count, EdgeId, Expr, IdVec, IntType, LocalId, LocationId, LocationKind, ObjectId, Op,
    Program, Storage, Targets, TemplateId,
};
use std::collections::BTreeSet;
use verdict::{Analysed, Budget, FlowProof, LARGEST_FACT, LocationFacts};

/// A location of the whole program: those of the first template come first.
pub type Node = usize;

/// The program and the proof.
pub struct View<'a> {
    pub program: &'a Program,
    pub proof: &'a FlowProof,
    pub points_to: &'a PointsTo,
    /// Objects that threads other than the owner may reach.
    pub escapes: IdVec<ObjectId, bool>,
    pub nodes: Vec<(TemplateId, LocationId)>,
    /// The edges from each node.
    pub leaving: Vec<Vec<EdgeId>>,
    first: Vec<usize>,
    single: IdVec<ObjectId, bool>,
}

impl<'a> View<'a> {
    /// Combines the two; checks that they match, and that unique templates are unique.
    pub fn new(view: &'a Analysed, proof: &'a FlowProof, budget: &Budget) -> Result<Self, ProofError> {
        let (program, points_to) =
            (view.program(), view.points_to(budget).map_err(ProofError::TooExpensive)?);
        let escapes = points_to.escaping(program);
        let mut nodes = Vec::new();
        let mut leaving: Vec<Vec<EdgeId>> = Vec::new();
        claim(proof.facts.len() == program.templates.len(), "the proof is about another program")?;
        for ((template, code), facts) in program.templates.enumerate().zip(&proof.facts) {
            claim(facts.len() == code.locations.len(), "the proof is about another program")?;
            let named = facts.iter().all(|facts| names_exist(program, proof, template, facts));
            claim(named, "a fact names nothing")?;
            nodes.extend(code.locations.ids().map(|location| (template, location)));
            leaving.extend(code.outgoing().iter().cloned());
        }
        let fits = proof.reachable.len() == nodes.len() && proof.coreachable.bound() == nodes.len();
        claim(fits, "the proof is about another program")?;
        let (first, single) = (proof.first_locations(), IdVec::new());
        let mut view = Self { program, proof, points_to, escapes, nodes, leaving, first, single };
        view.check_ops()?;
        view.check_unique()?;
        view.single = view.single_objects();
        Ok(view)
    }

    pub fn node(&self, template: TemplateId, location: LocationId) -> Node {
        self.first[template.0 as usize] + location.0 as usize
    }
    pub fn entry(&self, template: TemplateId) -> Node {
        self.node(template, self.program.templates[template].entry)
    }
    pub fn location(&self, node: Node) -> ir::Location {
        let (template, location) = self.nodes[node];
        self.program.templates[template].locations[location]
    }
    pub fn facts(&self, node: Node) -> &'a LocationFacts {
        let (template, location) = self.nodes[node];
        &self.proof.facts[template.0 as usize][location.0 as usize]
    }
    pub fn has_ended(&self, node: Node) -> bool {
        matches!(self.location(node).kind, LocationKind::End | LocationKind::Exit)
    }
    /// Whether a thread may be at a node, according to the proof.
    pub fn is_inhabited(&self, node: Node) -> bool {
        let by_data = |data: &verdict::DataProof| data.invariants.get(node).is_none_or(Option::is_some);
        self.proof.reachable[node] && self.proof.data.as_ref().is_none_or(by_data)
    }
    pub fn halts(&self, node: Node) -> bool {
        self.location(node).kind == LocationKind::Halt
    }
    pub fn is_unique(&self, template: TemplateId) -> bool {
        self.proof.unique.contains(&template)
    }
    pub fn ends(&self, template: TemplateId) -> impl Iterator<Item = Node> + '_ {
        let first = self.first[template.0 as usize];
        let count = self.program.templates[template].locations.len();
        (first..first + count).filter(|node| self.has_ended(*node))
    }

    /// All operations, with their template and edge.
    fn ops(&self) -> impl Iterator<Item = (TemplateId, EdgeId, &'a Op)> + '_ {
        self.program.templates.enumerate().flat_map(|(template, code)| {
            let edges = code.edges.enumerate();
            edges.flat_map(move |(edge, what)| what.ops.iter().map(move |op| (template, edge, op)))
        })
    }

    /// This proof rule does not handle calls, nor starts through pointers.
    fn check_ops(&self) -> Result<(), ProofError> {
        let open =
            self.ops().any(|(_, _, op)| matches!(op, Op::Call(..) | Op::Spawn(Callee::Pointer(_), ..)));
        claim(!open, "a call or start is not resolved")
    }

    /// A unique template is started at most once: at the start, or by edges of which at most one is taken,
    /// once.
    fn check_unique(&self) -> Result<(), ProofError> {
        for &template in &self.proof.unique {
            claim(self.program.templates.get(template).is_some(), "a template does not exist")?;
            let mut starts: u64 = 0;
            for (started, count) in &self.program.start {
                if *started == template {
                    starts = starts.saturating_add(match count {
                        Count::Exactly(copies) => u64::from(*copies),
                        Count::Any => u64::MAX,
                    });
                }
            }
            let spawns = self
                .edges_with(|op| matches!(op, Op::Spawn(Callee::Procedure(child), ..) if *child == template));
            let spawned = u64::from(!spawns.is_empty());
            let once = spawns.is_empty() || self.happens_once(&spawns);
            claim(once && starts.saturating_add(spawned) <= 1, "a template is not unique")?;
        }
        Ok(())
    }

    /// The edges with some operation, as often as it is on them.
    fn edges_with(&self, wanted: impl Fn(&Op) -> bool) -> Vec<(TemplateId, EdgeId)> {
        let found = self.ops().filter(|(_, _, op)| wanted(op));
        found.map(|(template, edge, _)| (template, edge)).collect()
    }

    /// Whether at most one of these edges is taken, at most once in the whole run: they are all in one unique
    /// template, whose thread can take none of them after one of them. Claims of uniqueness may rely on each
    /// other: consider the first moment at which a second thread or a second step occurs; before it, all
    /// claims held.
    fn happens_once(&self, edges: &[(TemplateId, EdgeId)]) -> bool {
        let Some((only, _)) = edges.first() else { return false };
        let code = &self.program.templates[*only];
        let distinct: BTreeSet<EdgeId> = edges.iter().map(|(_, edge)| *edge).collect();
        let here = self.is_unique(*only) && edges.iter().all(|(template, _)| template == only);
        if !here || distinct.len() != edges.len() {
            return false;
        }
        let sources: BTreeSet<LocationId> = distinct.iter().map(|edge| code.edges[*edge].source).collect();
        let mut after: BTreeSet<LocationId> = BTreeSet::new();
        let mut open: Vec<LocationId> = distinct.iter().map(|edge| code.edges[*edge].target).collect();
        while let Some(location) = open.pop() {
            if after.insert(location) {
                let leaving = &self.leaving[self.node(*only, location)];
                open.extend(leaving.iter().map(|edge| code.edges[*edge].target));
            }
        }
        sources.is_disjoint(&after)
    }

    /// Whether at most one such object exists in the whole run.
    pub fn is_single(&self, object: ObjectId) -> bool {
        self.single[object]
    }

    fn single_objects(&self) -> IdVec<ObjectId, bool> {
        // The edges that allocate objects of each site, and whether all of these have the size of one
        // element.
        let mut allocations: IdVec<ObjectId, (Vec<(TemplateId, EdgeId)>, bool)> =
            self.program.objects.iter().map(|_| (Vec::new(), true)).collect();
        for (template, edge, op) in self.ops() {
            if let Op::Allocate { site, size, .. } = op {
                let one = i128::from(self.program.objects[*site].size);
                let is_one_element = matches!(size, Expr::Const(size, _) if *size == one && one > 0);
                let (edges, all) = &mut allocations[*site];
                edges.push((template, edge));
                *all &= is_one_element;
            }
        }
        let single = self.program.objects.enumerate().map(|(id, object)| match object.storage {
            Storage::Static => true,
            Storage::Frame(template) => self.is_unique(template),
            Storage::ThreadLocal => false,
            Storage::Site => allocations[id].1 && self.happens_once(&allocations[id].0),
        });
        single.collect()
    }

    /// Whether no thread but the running one, of this template, changes an object that it names.
    pub fn is_own(&self, template: TemplateId, object: ObjectId) -> bool {
        let storage = self.program.objects[object].storage;
        if matches!(storage, Storage::Frame(_) | Storage::ThreadLocal) && !self.escapes[object] {
            return true;
        }
        if !self.is_unique(template) || !matches!(storage, Storage::Static | Storage::Frame(_)) {
            return false;
        }
        let whole = Region { extent: Extent::Object, ..Region::exact(object, 0, 0) };
        self.ops().all(|(writer, _, op)| {
            writer == template
                || (accesses(self.points_to, writer, op)
                    .iter()
                    .all(|access| !access.write || !access.region.overlaps(&whole))
                    && match op {
                        Op::Lock(_, address) | Op::Unlock(_, address) => {
                            !Region::at(self.points_to, writer, address, Extent::Object).overlaps(&whole)
                        }
                        _ => true,
                    })
        })
    }
}

/// The type of an expression in a fact about threads of a template; `None` when it names what does not exist,
/// has operands of wrong types, or is no expression of facts.
pub fn type_of_fact(program: &Program, template: TemplateId, expr: &Expr) -> Option<IntType> {
    let code = program.templates.get(template)?;
    let pointer = program.data_model.pointer();
    let of = |expr: &Expr| type_of_fact(program, template, expr);
    match expr {
        Expr::Const(value, ty) => ty.contains(*value).then_some(*ty),
        Expr::Local(local) => code.locals.get(*local).map(|local| local.ty),
        Expr::Load(place) => {
            let exists = match &place.targets {
                Targets::Any => true,
                Targets::Of(targets) => targets.iter().all(|one| program.objects.get(one.object).is_some()),
            };
            (exists && of(&place.address) == Some(pointer)).then_some(place.ty)
        }
        Expr::Address(object, offset) => {
            let object = program.objects.get(*object)?;
            let reached = match object.storage {
                Storage::Frame(owner) => owner == template && *offset <= object.size,
                Storage::Static | Storage::ThreadLocal => *offset <= object.size,
                Storage::Site => true,
            };
            reached.then_some(pointer)
        }
        Expr::Procedure(procedure) => program.templates.get(*procedure).map(|_| pointer),
        Expr::Myself => Some(pointer),
        Expr::Unary(_, ty, operand) => (of(operand) == Some(*ty)).then_some(*ty),
        Expr::Binary(op, ty, pair) => {
            let (left, right) = (of(&pair.0)?, of(&pair.1)?);
            let fits = left == *ty && (right == *ty || matches!(op, BinaryOp::Shl | BinaryOp::Shr));
            fits.then_some(if op.is_comparison() { IntType::BOOL } else { *ty })
        }
        Expr::Cast(ty, operand) => of(operand).map(|_| *ty),
        Expr::IfThenElse(three) => {
            let arms = of(&three.1)?;
            (of(&three.0) == Some(IntType::BOOL) && of(&three.2) == Some(arms)).then_some(arms)
        }
        Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => None,
    }
}

/// Whether an expression is small enough for facts, and has no points-to sets on its loads: these are never
/// trusted.
pub fn is_fact(expr: &Expr) -> bool {
    let (mut parts, mut plain) = (0, true);
    expr.walk(&mut |inner| {
        parts += 1;
        plain &= !matches!(inner, Expr::Load(place) if place.targets != Targets::Any);
    });
    plain && parts <= LARGEST_FACT + 2
}

/// Whether everything that facts name exists in the template, and they are small enough. A lock may be in the
/// frame of another template if that is unique: then its address is the same for all threads.
fn names_exist(program: &Program, proof: &FlowProof, template: TemplateId, facts: &LocationFacts) -> bool {
    let pointer = program.data_model.pointer();
    let is = |expr: &Expr, ty: IntType| is_fact(expr) && type_of_fact(program, template, expr) == Some(ty);
    let locals = &program.templates[template].locals;
    let is_local = |local: &LocalId| locals.get(*local).is_some();
    let is_single = |expr: &Expr| match expr {
        Expr::Address(object, offset) => program.objects.get(*object).is_some_and(|object| {
            matches!(object.storage, Storage::Frame(owner) if proof.unique.contains(&owner))
                && *offset <= object.size
        }),
        _ => false,
    };
    facts.equal.iter().all(|(local, value)| locals.get(*local).is_some_and(|local| is(value, local.ty)))
        && facts.locks.iter().all(|lock| is(&lock.base, pointer) || is_single(&lock.base))
        && facts
            .threads
            .iter()
            .all(|(value, started)| is(value, pointer) && program.templates.get(*started).is_some())
        && facts.fresh.iter().chain(&facts.unspent).all(is_local)
}
