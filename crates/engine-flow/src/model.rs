//! The program as the analysis sees it: numbered locations, unique templates and single objects, and which
//! templates write which objects.
//!
//! * Which templates are *unique* and which objects *single*, [`ir::passes::Unique`] says.
//! * An object is *stable* for a template if only the running thread's own steps change it: it belongs to the
//!   thread and does not escape, or only this template writes it, and the template is unique.

use ir::ids::Id;
use ir::passes::footprint::{Extent, Region, accesses};
use ir::passes::{PointsTo, Unique};
use ir::{EdgeId, Expr, IdVec, LocationId, LocationKind, ObjectId, Op, Program, Storage, TemplateId};

use verdict::{Analysed, Budget, Exhausted};

/// A location of the whole program. Those of the first template come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Node(pub u32);

impl Id for Node {
    fn new(index: usize) -> Self {
        Self(index as u32)
    }
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// An edge of the whole program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step {
    /// The template that it is in.
    pub template: TemplateId,
    /// Which one.
    pub edge: EdgeId,
}

/// A program, prepared for the analysis.
pub struct Model<'p> {
    /// The program: inlined and compressed.
    pub program: &'p Program,
    /// What addresses may point to.
    pub points_to: &'p PointsTo,
    /// Which objects other threads than their owner may reach.
    pub escapes: IdVec<ObjectId, bool>,
    /// The template and location of each node.
    pub nodes: IdVec<Node, (TemplateId, LocationId)>,
    /// The steps from each node.
    pub steps: IdVec<Node, Vec<Step>>,
    /// Templates of which at most one thread ever runs.
    pub unique: IdVec<TemplateId, bool>,
    /// Where threads of each template are when they have ended.
    pub ends: IdVec<TemplateId, Vec<Node>>,
    first: IdVec<TemplateId, u32>,
    single: IdVec<ObjectId, bool>,
    /// The templates that write each object; `None` when it may be any.
    writers: IdVec<ObjectId, Option<Vec<TemplateId>>>,
}

impl<'p> Model<'p> {
    /// Prepares a program.
    pub fn of(view: &'p Analysed, budget: &Budget) -> Result<Self, Exhausted> {
        Ok(Self::with(view.program(), view.points_to(budget)?))
    }

    fn with(program: &'p Program, points_to: &'p PointsTo) -> Self {
        let escapes = points_to.escaping(program);
        let mut nodes = IdVec::new();
        let mut first = IdVec::new();
        let mut ends = IdVec::new();
        for (template, code) in program.templates.enumerate() {
            first.push(nodes.len() as u32);
            let mut here = Vec::new();
            for (location, what) in code.locations.enumerate() {
                let node = nodes.push((template, location));
                if matches!(what.kind, LocationKind::End | LocationKind::Exit) {
                    here.push(node);
                }
            }
            ends.push(here);
        }
        let mut steps: IdVec<Node, Vec<Step>> = nodes.iter().map(|_| Vec::new()).collect();
        for (template, code) in program.templates.enumerate() {
            for (edge, what) in code.edges.enumerate() {
                steps[Node(first[template] + what.source.0)].push(Step { template, edge });
            }
        }
        let Unique { templates: unique, objects: single, .. } = Unique::of(program);
        let writers = writers(program, points_to);
        Self { program, points_to, escapes, nodes, steps, unique, ends, first, single, writers }
    }

    /// The number of a location.
    pub fn node(&self, template: TemplateId, location: LocationId) -> Node {
        Node(self.first[template] + location.0)
    }
    /// Where a thread of a template starts.
    pub fn entry(&self, template: TemplateId) -> Node {
        self.node(template, self.program.templates[template].entry)
    }
    /// Where a step leads to.
    pub fn target(&self, step: Step) -> Node {
        self.node(step.template, self.edge(step).target)
    }
    /// The edge of a step.
    pub fn edge(&self, step: Step) -> &'p ir::Edge {
        &self.program.templates[step.template].edges[step.edge]
    }
    /// What a node is.
    pub fn location(&self, node: Node) -> ir::Location {
        let (template, location) = self.nodes[node];
        self.program.templates[template].locations[location]
    }
    /// Whether a thread at a node has ended.
    pub fn is_end(&self, node: Node) -> bool {
        matches!(self.location(node).kind, LocationKind::End | LocationKind::Exit)
    }
    /// Whether there is at most one of an object in the whole run.
    pub fn is_single(&self, object: ObjectId) -> bool {
        self.single[object]
    }
    /// Whether only the running thread's own steps change an object that a template names directly.
    pub fn is_stable(&self, template: TemplateId, object: ObjectId) -> bool {
        let alone = self.unique[template]
            && self.writers[object]
                .as_ref()
                .is_some_and(|writers| writers.iter().all(|writer| *writer == template));
        match self.program.objects[object].storage {
            Storage::Static => alone,
            Storage::Frame(_) => alone || !self.escapes[object],
            Storage::ThreadLocal => !self.escapes[object],
            Storage::Site => false,
        }
    }
    /// The object and offset that an access through an address is at, if it is valid, there is one only, and
    /// the object is single.
    pub fn exact_cell(&self, template: TemplateId, address: &Expr) -> Option<(ObjectId, u64)> {
        let region = Region::at(self.points_to, template, address, Extent::Bytes(1));
        let ir::Targets::Of(targets) = &region.targets else { return None };
        let [target] = &**targets else { return None };
        let object = &self.program.objects[target.object];
        let exact = target.count == 1 || (object.storage == Storage::Site && target.stride == object.size);
        (exact
            && self.single[target.object]
            && (object.storage != Storage::Site || target.first < object.size))
            .then_some((target.object, target.first))
    }
}

fn writers(program: &Program, points_to: &PointsTo) -> IdVec<ObjectId, Option<Vec<TemplateId>>> {
    let mut writers: IdVec<ObjectId, Option<Vec<TemplateId>>> =
        program.objects.iter().map(|_| Some(Vec::new())).collect();
    let mut add = |template: TemplateId, region: &Region| match region.objects() {
        None => writers.iter_mut().for_each(|writers| *writers = None),
        Some(objects) => {
            for object in objects {
                if let Some(writers) = &mut writers[object]
                    && !writers.contains(&template)
                {
                    writers.push(template);
                }
            }
        }
    };
    for (template, code) in program.templates.enumerate() {
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            for access in accesses(points_to, template, op).iter().filter(|access| access.write) {
                add(template, &access.region);
            }
            if let Op::Lock(_, address) | Op::Unlock(_, address) = op {
                add(template, &Region::at(points_to, template, address, Extent::Bytes(8)));
            }
        }
    }
    writers
}
