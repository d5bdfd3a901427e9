//! Packs: small sets of related variables, for which an octagon is worth its cost.
//!
//! Paper 4, section 6.1, algorithm 2: disjoint sets, merged along assignments of one variable to another and
//! along guards, as long as all variables are local or all are global. Deviations:
//!
//! 1. A limit on size: sets are merged in the order of the program while they stay below it.
//! 2. Statements whose variables are not together in one set (a local beside a global, or sets too large to
//!    merge) get a separate pack. So packs may overlap; the abstract state is the conjunction of all packs.
//! 3. Sets of one variable are no packs: an interval says as much.
//! 4. An assignment with three variables, as `x = y + z`, merges nothing but may have a pack of its own (as
//!    in 2).

use crate::environment::Environment;
use crate::equalities::Known;
use crate::evaluate::Resolve;
use crate::memory::Variable;
use crate::octagon::Octagon;
use crate::transfer::Scope;
use ir::ids::{Id, IdVec};
use ir::{EdgeId, Expr, Lhs, LocalId, Op, Rhs};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A pack.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackId(pub u32);

impl Id for PackId {
    fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 packs"))
    }
    fn index(self) -> usize {
        self.0 as usize
    }
}
impl fmt::Debug for PackId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0)
    }
}

/// An octagon for each pack.
pub type Octagons = Environment<PackId, Octagon>;

/// The packs of a program.
#[derive(Clone, Debug, Default)]
pub struct Packs<V> {
    packs: IdVec<PackId, Vec<V>>,
    of: BTreeMap<V, Vec<PackId>>,
    overlaps: Vec<Overlap>,
}

/// Two packs with two or more common variables, and where these are in both.
#[derive(Clone, Debug)]
pub struct Overlap {
    /// The packs.
    pub packs: (PackId, PackId),
    /// The positions of common variables.
    pub common: Vec<(usize, usize)>,
}

/// The variables of one statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement<V> {
    /// A variable and those that its new value depends on.
    Assignment(BTreeSet<V>),
    /// The variables of a condition.
    Guard(BTreeSet<V>),
}

impl<V> Statement<V> {
    /// The variables.
    pub fn variables(&self) -> &BTreeSet<V> {
        match self {
            Self::Assignment(variables) | Self::Guard(variables) => variables,
        }
    }
}

/// How packs are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packing {
    /// The most variables in a pack.
    pub largest: usize,
    /// Whether statements whose variables are not together get packs of their own. Otherwise it is the
    /// paper's partition.
    pub mixed: bool,
}

impl Default for Packing {
    fn default() -> Self {
        Self { largest: 10, mixed: true }
    }
}

impl<V: Ord + Copy> Packs<V> {
    /// The packs for some statements.
    pub fn new(
        packing: Packing,
        statements: impl IntoIterator<Item = Statement<V>>,
        is_local: impl Fn(V) -> bool,
    ) -> Self {
        let mut sets = DisjointSets::default();
        let mut related = BTreeSet::new();
        for statement in statements {
            let (variables, merges) = match statement {
                Statement::Assignment(variables) if variables.len() > 3 => continue,
                Statement::Assignment(variables) => {
                    let two = variables.len() == 2;
                    (variables, two)
                }
                Statement::Guard(variables) => (variables, true),
            };
            if variables.len() < 2 {
                continue;
            }
            let locals = variables.iter().filter(|variable| is_local(**variable)).count();
            if merges && (locals == 0 || locals == variables.len()) {
                sets.merge(&variables, packing.largest);
            }
            related.insert(variables);
        }
        let mut packs = Self { packs: IdVec::new(), of: BTreeMap::new(), overlaps: Vec::new() };
        let mut found: Vec<Vec<V>> = sets.sets();
        if packing.mixed {
            found.extend(related.into_iter().map(|variables| variables.into_iter().collect()));
        }
        // Larger ones first, so that a pack inside of another, which says nothing more, comes after it.
        found.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        for pack in found {
            if pack.len() <= packing.largest && !packs.together(&pack) {
                packs.add(pack);
            }
        }
        packs
    }
    /// Packs as they are listed, each in rising order; the first gets the first number.
    pub fn of_lists(lists: impl IntoIterator<Item = Vec<V>>) -> Self {
        let mut packs = Self { packs: IdVec::new(), of: BTreeMap::new(), overlaps: Vec::new() };
        lists.into_iter().for_each(|list| packs.add(list));
        packs
    }
    fn add(&mut self, pack: Vec<V>) {
        for (other, members) in self.packs.enumerate() {
            let place = |(position, variable): (usize, &V)| {
                members.binary_search(variable).ok().map(|there| (there, position))
            };
            let common: Vec<(usize, usize)> = pack.iter().enumerate().filter_map(place).collect();
            if common.len() > 1 {
                let packs = (other, PackId::new(self.packs.len()));
                self.overlaps.push(Overlap { packs, common });
            }
        }
        let id = self.packs.push(pack);
        for variable in &self.packs[id] {
            self.of.entry(*variable).or_default().push(id);
        }
    }
    /// Packs that can tell each other something.
    pub fn overlaps(&self) -> &[Overlap] {
        &self.overlaps
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.packs.is_empty()
    }
    /// Whether there is a pack with all of these variables.
    pub fn together(&self, variables: &[V]) -> bool {
        let Some(first) = variables.first() else { return true };
        let holds = |pack: &PackId| variables.iter().all(|x| self.position(*pack, *x).is_some());
        self.of(*first).iter().any(holds)
    }
    /// All packs.
    pub fn ids(&self) -> impl Iterator<Item = PackId> {
        self.packs.ids()
    }
    /// The variables of a pack, in order: the dimensions of its octagon.
    pub fn variables(&self, pack: PackId) -> &[V] {
        &self.packs[pack]
    }
    /// The dimension of a variable in a pack.
    pub fn position(&self, pack: PackId, variable: V) -> Option<usize> {
        self.packs[pack].binary_search(&variable).ok()
    }
    /// The packs that a variable is in.
    pub fn of(&self, variable: V) -> &[PackId] {
        self.of.get(&variable).map_or(&[], Vec::as_slice)
    }
}

/// The statements of an operation, as [`Packs::new`] wants them.
pub fn statements<R: Resolve>(op: &Op, resolve: &R) -> Vec<Statement<R::Variable>> {
    match op {
        Op::Assume(condition) => vec![Statement::Guard(variables(condition, resolve))],
        Op::Assign(assignment) => {
            let constraint = assignment.constraint.iter().map(|c| Statement::Guard(variables(c, resolve)));
            let pairs = assignment.pairs.iter().filter_map(|(lhs, rhs)| match rhs {
                Rhs::Value(value) => {
                    let target = match lhs {
                        Lhs::Local(local) => resolve.variable(&Expr::Local(*local)),
                        Lhs::Memory(place) => resolve.variable(&Expr::load(place.clone())),
                    };
                    let mut set = variables(value, resolve);
                    set.insert(target?);
                    Some(Statement::Assignment(set))
                }
                Rhs::Any | Rhs::Unknown | Rhs::Float(..) => None,
            });
            pairs.chain(constraint).collect()
        }
        Op::Lock(..)
        | Op::Unlock(..)
        | Op::Spawn(..)
        | Op::Join(..)
        | Op::Allocate { .. }
        | Op::Free(_)
        | Op::Broadcast(_)
        | Op::Fill(..)
        | Op::Copy(..)
        | Op::Call(..) => vec![],
    }
}

impl Scope<'_, '_> {
    /// The statements of an edge: of its operations as they are, and with what locals are known to be equal
    /// to in their place.
    pub fn statements(&self, edge: EdgeId, equal: &[(LocalId, Expr)]) -> Vec<Statement<Variable>> {
        let mut known = Known::new(equal);
        let mut found = Vec::new();
        for op in &self.memory.program.templates[self.template].edges[edge].ops {
            found.extend(statements(op, self));
            let expanded: Vec<Op> = match op {
                Op::Assume(condition) => known.expansions(condition).into_iter().map(Op::Assume).collect(),
                Op::Assign(assignment) => match assignment.pairs.as_slice() {
                    [(lhs, Rhs::Value(value))] => {
                        let values = known.expansions(value).into_iter();
                        values.map(|value| Op::set(lhs.clone(), value)).collect()
                    }
                    _ => Vec::new(),
                },
                _ => Vec::new(),
            };
            found.extend(expanded.iter().flat_map(|op| statements(op, self)));
            known.follow(self, op);
        }
        found
    }
}

/// The variables in an expression. Those in addresses do not count: an octagon cannot follow a pointer.
fn variables<R: Resolve>(expr: &Expr, resolve: &R) -> BTreeSet<R::Variable> {
    let mut found = BTreeSet::new();
    let mut open = vec![expr];
    while let Some(part) = open.pop() {
        match part {
            Expr::Local(_) | Expr::Load(_) | Expr::Old(_) => found.extend(resolve.variable(part)),
            Expr::Const(..)
            | Expr::Address(..)
            | Expr::Procedure(_)
            | Expr::Myself
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Cast(..)
            | Expr::IfThenElse(_)
            | Expr::Overflows(..)
            | Expr::Valid(..) => open.extend(part.operands()),
        }
    }
    found
}

/// Sets that grow together.
struct DisjointSets<V> {
    /// The set that each variable is in, and the members of each set.
    set_of: BTreeMap<V, usize>,
    members: Vec<Vec<V>>,
}

impl<V> Default for DisjointSets<V> {
    fn default() -> Self {
        Self { set_of: BTreeMap::new(), members: Vec::new() }
    }
}

impl<V: Ord + Copy> DisjointSets<V> {
    /// Puts variables into one set, unless that gets too large. Sets are small, so members are simply moved.
    fn merge(&mut self, variables: &BTreeSet<V>, largest: usize) {
        let mut sets = BTreeSet::new();
        let mut size = 0;
        for variable in variables {
            match self.set_of.get(variable) {
                Some(set) if sets.insert(*set) => size += self.members[*set].len(),
                Some(_) => {}
                None => size += 1,
            }
        }
        if size > largest {
            return;
        }
        let mut merged: Vec<V> = variables.iter().copied().filter(|x| !self.set_of.contains_key(x)).collect();
        for set in sets {
            merged.append(&mut self.members[set]);
        }
        let target = self.members.len();
        for variable in &merged {
            self.set_of.insert(*variable, target);
        }
        self.members.push(merged);
    }
    fn sets(self) -> Vec<Vec<V>> {
        let mut sets: Vec<Vec<V>> = self.members.into_iter().filter(|set| set.len() > 1).collect();
        for set in &mut sets {
            set.sort_unstable();
        }
        sets
    }
}
