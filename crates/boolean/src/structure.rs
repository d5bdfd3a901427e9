//! The first half of building a view: which activations and points there are. No functions yet, so that all
//! bits can be numbered.

use crate::evaluate::unsupported;
use crate::view::{Activation, Built, Point, PointId, Recursion};

use ir::{Callee, EdgeId, IdVec, LocationId, LocationKind, Op, Program, Span, TemplateId};
use rustc_hash::FxHashMap;
use verdict::Budget;

/// Points beyond this many are too many.
const MOST_POINTS: usize = 3_000_000;
/// And beyond this many, if recursive calls are followed: each may have a long chain of callers.
const MOST_UNFOLDED: usize = 300_000;

/// Where a step leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    /// To a point.
    Point(PointId),
    /// The thread ends.
    Ended,
    /// The program ends.
    Halted,
}

/// Activations and points.
pub(crate) struct Structure<'p> {
    pub program: &'p Program,
    pub outgoing: IdVec<TemplateId, IdVec<LocationId, Vec<EdgeId>>>,
    pub activations: Vec<Activation>,
    pub points: Vec<Point>,
    /// The recursive calls.
    pub sites: Vec<(TemplateId, EdgeId)>,
    recursion: Recursion,
    known: FxHashMap<(usize, LocationId, Option<usize>), PointId>,
    /// Where calls that go too deep lead, by where they would return to.
    cuts: FxHashMap<(usize, LocationId), PointId>,
    children: FxHashMap<(usize, EdgeId), usize>,
    roots: FxHashMap<(TemplateId, Option<usize>), usize>,
}

/// What a call does.
pub(crate) enum Called {
    /// The procedure is entered here.
    Activation(usize),
    /// It is active already: a thread starts in the activation, for the site.
    Recursive(usize, usize),
    /// It is active too often: the thread reaches this point and stays there.
    Cut(PointId),
}

impl<'p> Structure<'p> {
    pub fn new(program: &'p Program, recursion: Recursion, budget: &Budget) -> Built<Self> {
        let mut structure = Self {
            program,
            outgoing: program.templates.iter().map(|template| template.outgoing()).collect(),
            activations: Vec::new(),
            points: Vec::new(),
            sites: Vec::new(),
            recursion,
            known: FxHashMap::default(),
            cuts: FxHashMap::default(),
            children: FxHashMap::default(),
            roots: FxHashMap::default(),
        };
        for (template, _) in &program.start {
            structure.entry(*template, None)?;
        }
        let most = match recursion {
            Recursion::Approximated => MOST_POINTS,
            Recursion::Unfolded(_) => MOST_UNFOLDED,
        };
        let mut next = 0;
        while next < structure.points.len() {
            if next.is_multiple_of(1 << 12) {
                budget.check(next as u64 * 200)?;
            }
            if next > most {
                return unsupported("too many calls to take them apart", Span::default());
            }
            structure.expand(next)?;
            next += 1;
        }
        Ok(structure)
    }

    /// The point at which a thread of a template begins.
    pub fn entry(&mut self, template: TemplateId, site: Option<usize>) -> Built<PointId> {
        let next = self.activations.len();
        let root = *self.roots.entry((template, site)).or_insert(next);
        if root == next {
            let activation = Activation {
                template,
                parent: None,
                site,
                atomic: false,
                locals: Vec::new(),
                chain: Vec::new(),
            };
            self.activations.push(activation);
        }
        let code = &self.program.templates[template];
        if code.locations[code.entry].atomic {
            return unsupported("a thread that starts in an atomic region", code.span);
        }
        Ok(self.point(root, code.entry, None))
    }

    /// The point for a location of an activation.
    pub fn point(&mut self, activation: usize, location: LocationId, waits: Option<usize>) -> PointId {
        if let Some(known) = self.known.get(&(activation, location, waits)) {
            return *known;
        }
        let id = PointId(self.points.len() as u32);
        let found = self.program.templates[self.activations[activation].template].locations[location];
        let atomic = found.atomic || self.activations[activation].atomic;
        let error = match found.kind {
            LocationKind::Error(kind) if waits.is_none() => Some(kind),
            _ => None,
        };
        self.points.push(Point { activation, location, atomic, error, waits, cut: false });
        self.known.insert((activation, location, waits), id);
        id
    }

    /// The point at which a thread stays whose call would go too deep.
    fn cut(&mut self, activation: usize, location: LocationId, atomic: bool) -> PointId {
        let next = PointId(self.points.len() as u32);
        let id = *self.cuts.entry((activation, location)).or_insert(next);
        if id == next {
            self.points.push(Point { activation, location, atomic, error: None, waits: None, cut: true });
        }
        id
    }

    /// Where control is once a location is reached, with the activations that end meanwhile.
    pub fn arrive(&mut self, activation: usize, location: LocationId) -> (Arrival, Vec<usize>) {
        let (mut activation, mut location) = (activation, location);
        let mut ended = Vec::new();
        loop {
            let code = &self.program.templates[self.activations[activation].template];
            match code.locations[location].kind {
                LocationKind::Normal | LocationKind::Error(_) => {
                    return (Arrival::Point(self.point(activation, location, None)), ended);
                }
                LocationKind::Halt => return (Arrival::Halted, ended),
                LocationKind::Exit => return (Arrival::Ended, Vec::new()),
                LocationKind::End => {
                    ended.push(activation);
                    match self.activations[activation].parent {
                        None => return (Arrival::Ended, ended),
                        Some((parent, _, back)) => (activation, location) = (parent, back),
                    }
                }
            }
        }
    }

    /// What a call by an edge leads to.
    pub fn call(&mut self, activation: usize, edge: EdgeId, callee: TemplateId) -> Built<Called> {
        let mut at = Some(activation);
        let mut active = 0;
        while let Some(one) = at {
            active += u32::from(self.activations[one].template == callee);
            at = self.activations[one].parent.map(|(parent, _, _)| parent);
        }
        let caller = self.activations[activation].template;
        let code = &self.program.templates[caller];
        let back = code.edges[edge].target;
        let atomic = self.activations[activation].atomic || code.locations[back].atomic;
        let approximated = match self.recursion {
            Recursion::Approximated => active > 0,
            Recursion::Unfolded(depth) if active >= depth => {
                return Ok(Called::Cut(self.cut(activation, back, atomic)));
            }
            Recursion::Unfolded(_) => false,
        };
        if approximated {
            if atomic {
                return unsupported("recursion in an atomic region", code.edges[edge].span);
            }
            let site = match self.sites.iter().position(|site| *site == (caller, edge)) {
                Some(site) => site,
                None => {
                    self.sites.push((caller, edge));
                    self.sites.len() - 1
                }
            };
            let entry = self.entry(callee, Some(site))?;
            return Ok(Called::Recursive(self.points[entry.0 as usize].activation, site));
        }
        let next = self.activations.len();
        let child = *self.children.entry((activation, edge)).or_insert(next);
        if child == next {
            let parent = Some((activation, edge, back));
            let new = Activation {
                template: callee,
                parent,
                site: None,
                atomic,
                locals: Vec::new(),
                chain: Vec::new(),
            };
            self.activations.push(new);
        }
        Ok(Called::Activation(child))
    }

    fn expand(&mut self, point: usize) -> Built<()> {
        let Point { activation, location, waits, error, cut, .. } = self.points[point];
        if error.is_some() || cut {
            return Ok(());
        }
        let template = self.activations[activation].template;
        if let Some(site) = waits {
            let target = self.program.templates[template].edges[self.sites[site].1].target;
            self.arrive(activation, target);
            return Ok(());
        }
        for index in 0..self.outgoing[template][location].len() {
            let edge = self.outgoing[template][location][index];
            let program = self.program;
            let step = &program.templates[template].edges[edge];
            for op in &step.ops {
                match op {
                    Op::Spawn(Callee::Procedure(callee), ..) => {
                        self.entry(*callee, None)?;
                    }
                    Op::Spawn(Callee::Pointer(_), ..) | Op::Call(Callee::Pointer(_), ..) => {
                        return unsupported("calls through pointers", step.span);
                    }
                    _ => {}
                }
            }
            match step.ops.last() {
                Some(Op::Call(Callee::Procedure(callee), ..)) => {
                    match self.call(activation, edge, *callee)? {
                        Called::Activation(child) => {
                            self.point(child, program.templates[*callee].entry, None);
                        }
                        Called::Recursive(_, site) => {
                            self.point(activation, step.target, Some(site));
                        }
                        Called::Cut(_) => {}
                    }
                }
                _ => {
                    self.arrive(activation, step.target);
                }
            }
        }
        Ok(())
    }

    /// The number of the first template's entry and so on: where the threads of the start are.
    pub fn entries(&mut self) -> Built<Vec<PointId>> {
        let program = self.program;
        program.start.iter().map(|(template, _)| self.entry(*template, None)).collect()
    }
}
