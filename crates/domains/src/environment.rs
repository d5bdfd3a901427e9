//! Environments: what is known of each variable.
//!
//! A persistent trie over the indices of variables. Cloning increments a reference count; changing one
//! variable copies the few nodes above it; and an environment shares most nodes with the one that it was
//! derived from, so join and comparison skip the shared parts. The shape depends on the content alone.

use crate::lattice::{Lattice, Thresholds};
use ir::ids::Id;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A value for each variable; no information about variables that are not in it. Or bottom: no state at all.
pub struct Environment<V, D> {
    /// `None` for bottom.
    tree: Option<Tree<D>>,
    variable: PhantomData<fn(V) -> V>,
}

/// The children of a node.
const FAN_OUT: usize = 8;
/// The bits of an index that one level of the trie looks at.
const LEVEL_BITS: u32 = 3;

type Link<D> = Option<Arc<Node<D>>>;

enum Node<D> {
    Leaf(D),
    /// Not all of them absent.
    Branch([Link<D>; FAN_OUT]),
}

/// A trie that looks at the highest bits first.
struct Tree<D> {
    root: Link<D>,
    /// The levels of branches: the fewest that are needed.
    height: u32,
}

impl<V: Id, D: Lattice> Environment<V, D> {
    /// No information.
    pub fn top() -> Self {
        Self::from_tree(Some(Tree { root: None, height: 0 }))
    }
    /// No state.
    pub fn bottom() -> Self {
        Self::from_tree(None)
    }
    fn from_tree(tree: Option<Tree<D>>) -> Self {
        Self { tree, variable: PhantomData }
    }
    /// What is known of a variable; `None` when it is not there.
    pub fn get(&self, variable: V) -> Option<&D> {
        self.tree.as_ref()?.get(variable.index())
    }
    /// Replaces what is known of a variable. A value without members makes the whole environment bottom.
    pub fn set(&mut self, variable: V, value: D) {
        if value.is_bottom() {
            self.tree = None;
        } else if value.is_top() {
            self.forget(variable);
        } else if let Some(tree) = &mut self.tree {
            if tree.get(variable.index()) == Some(&value) {
                return;
            }
            tree.raise_to(variable.index());
            tree.root = Some(with(tree.root.as_ref(), tree.height, variable.index(), value));
        }
    }
    /// Drops what is known of a variable.
    pub fn forget(&mut self, variable: V) {
        if let Some(tree) = &mut self.tree
            && tree.reaches(variable.index())
        {
            tree.root = without(tree.root.as_ref(), tree.height, variable.index());
            tree.lower();
        }
    }
    /// All that is known, by rising variable.
    pub fn iter(&self) -> impl Iterator<Item = (V, &D)> {
        let mut stack: Vec<(usize, &Node<D>)> = Vec::new();
        stack.extend(self.tree.iter().filter_map(|tree| Some((0, tree.root.as_deref()?))));
        std::iter::from_fn(move || {
            while let Some((prefix, node)) = stack.pop() {
                match node {
                    Node::Leaf(value) => return Some((V::new(prefix), value)),
                    Node::Branch(children) => {
                        let found = children.iter().enumerate().rev();
                        stack.extend(
                            found.filter_map(|(at, child)| Some((prefix * FAN_OUT + at, child.as_deref()?))),
                        );
                    }
                }
            }
            None
        })
    }
    /// Whether both are one and the same in memory: a fast, sufficient test for equality.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.tree, &other.tree) {
            (None, None) => true,
            (Some(a), Some(b)) => a.height == b.height && same(a.root.as_ref(), b.root.as_ref()),
            _ => false,
        }
    }
    fn merge(&self, other: &Self, how: &Merge<'_, D>) -> Self {
        let (Some(a), Some(b)) = (&self.tree, &other.tree) else {
            debug_assert!(false, "the callers treat bottom themselves");
            return Self::top();
        };
        let (mut a, mut b) = (a.clone(), b.clone());
        while a.height < b.height {
            a.raise();
        }
        while b.height < a.height {
            b.raise();
        }
        match merge(a.root.as_ref(), b.root.as_ref(), how) {
            Ok(root) => {
                let mut tree = Tree { root, height: a.height };
                tree.lower();
                Self::from_tree(Some(tree))
            }
            Err(Contradiction) => Self::bottom(),
        }
    }
}

impl<V: Id, D: Lattice> Lattice for Environment<V, D> {
    fn is_bottom(&self) -> bool {
        self.tree.is_none()
    }
    fn is_top(&self) -> bool {
        self.tree.as_ref().is_some_and(|tree| tree.root.is_none())
    }
    fn less_or_equal(&self, other: &Self) -> bool {
        match (&self.tree, &other.tree) {
            (None, _) => true,
            (_, None) => false,
            (Some(a), Some(b)) => {
                // A higher tree has a variable that the other has not.
                if b.height > a.height {
                    return false;
                }
                let mut b = b.clone();
                while b.height < a.height {
                    b.raise();
                }
                less_or_equal(a.root.as_ref(), b.root.as_ref())
            }
        }
    }
    fn join(&self, other: &Self) -> Self {
        match (self.is_bottom(), other.is_bottom()) {
            (true, _) => other.clone(),
            (_, true) => self.clone(),
            _ => self.merge(other, &Merge { keep: Keep::Both, adopt: true, combine: &|a, b| a.join(b) }),
        }
    }
    fn meet(&self, other: &Self) -> Self {
        if self.is_bottom() || other.is_bottom() {
            return Self::bottom();
        }
        self.merge(other, &Merge { keep: Keep::Either, adopt: true, combine: &|a, b| a.meet(b) })
    }
    fn widen(&self, next: &Self, thresholds: &Thresholds) -> Self {
        match (self.is_bottom(), next.is_bottom()) {
            (true, _) => next.clone(),
            (_, true) => self.clone(),
            _ => {
                let combine = &|a: &D, b: &D| a.widen(b, thresholds);
                self.merge(next, &Merge { keep: Keep::Both, adopt: false, combine })
            }
        }
    }
    fn narrow(&self, next: &Self) -> Self {
        if self.is_bottom() || next.is_bottom() {
            return Self::bottom();
        }
        self.merge(next, &Merge { keep: Keep::Either, adopt: true, combine: &|a, b| a.narrow(b) })
    }
}

/// The sign that no state is left.
struct Contradiction;

/// Which variables are in the result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Those that both know.
    Both,
    /// Those that one knows.
    Either,
}

/// How two environments are put together.
struct Merge<'a, D> {
    keep: Keep,
    /// Whether a result that equals the second value may be stored as the second value. Not so for widening,
    /// whose results must stay in the form that they were made in (see [`crate::Octagon`]).
    adopt: bool,
    /// Given the same value twice, it gives that value.
    combine: &'a dyn Fn(&D, &D) -> D,
}

impl<D> Tree<D> {
    fn get(&self, index: usize) -> Option<&D> {
        let mut node = self.root.as_deref().filter(|_| self.reaches(index))?;
        let mut level = self.height;
        loop {
            match node {
                Node::Leaf(value) => return Some(value),
                Node::Branch(children) => {
                    level -= 1;
                    node = children[digit(index, level)].as_deref()?;
                }
            }
        }
    }
    fn reaches(&self, index: usize) -> bool {
        index.checked_shr(LEVEL_BITS * self.height).unwrap_or(0) == 0
    }
    fn raise(&mut self) {
        self.height += 1;
        if let Some(root) = self.root.take() {
            let mut children = [const { None }; FAN_OUT];
            children[0] = Some(root);
            self.root = Some(Arc::new(Node::Branch(children)));
        }
    }
    fn raise_to(&mut self, index: usize) {
        while !self.reaches(index) {
            self.raise();
        }
    }
    /// Drops levels that only lead to small indices.
    fn lower(&mut self) {
        loop {
            match self.root.as_deref() {
                None => self.height = 0,
                Some(Node::Branch(children)) if children[1..].iter().all(Option::is_none) => {
                    let only = children[0].clone();
                    self.root = only;
                    self.height -= 1;
                    continue;
                }
                Some(_) => {}
            }
            return;
        }
    }
}

fn digit(index: usize, level: u32) -> usize {
    (index >> (LEVEL_BITS * level)) % FAN_OUT
}

fn same<D>(a: Option<&Arc<Node<D>>>, b: Option<&Arc<Node<D>>>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

fn with<D>(node: Option<&Arc<Node<D>>>, level: u32, index: usize, value: D) -> Arc<Node<D>> {
    if level == 0 {
        return Arc::new(Node::Leaf(value));
    }
    let mut children = match node.map(|node| &**node) {
        Some(Node::Branch(children)) => children.clone(),
        Some(Node::Leaf(_)) | None => [const { None }; FAN_OUT],
    };
    let child = &mut children[digit(index, level - 1)];
    *child = Some(with(child.as_ref(), level - 1, index, value));
    Arc::new(Node::Branch(children))
}

fn without<D>(node: Option<&Arc<Node<D>>>, level: u32, index: usize) -> Link<D> {
    match &**node? {
        Node::Leaf(_) => None,
        Node::Branch(children) => {
            let at = digit(index, level - 1);
            let child = without(children[at].as_ref(), level - 1, index);
            if same(child.as_ref(), children[at].as_ref()) {
                return node.cloned();
            }
            let mut children = children.clone();
            children[at] = child;
            branch(children)
        }
    }
}

fn branch<D>(children: [Link<D>; FAN_OUT]) -> Link<D> {
    children.iter().any(Option::is_some).then(|| Arc::new(Node::Branch(children)))
}

fn merge<D: Lattice>(
    a: Option<&Arc<Node<D>>>,
    b: Option<&Arc<Node<D>>>,
    how: &Merge<'_, D>,
) -> Result<Link<D>, Contradiction> {
    let (left, right) = match (a, b) {
        (Some(left), Some(right)) if !Arc::ptr_eq(left, right) => (left, right),
        (Some(left), Some(_)) => return Ok(Some(left.clone())),
        (one, other) => return Ok(if how.keep == Keep::Both { None } else { one.or(other).cloned() }),
    };
    match (&**left, &**right) {
        (Node::Leaf(x), Node::Leaf(y)) => {
            let value = (how.combine)(x, y);
            if value.is_bottom() {
                Err(Contradiction)
            } else if value.is_top() {
                Ok(None)
            } else if value == *x {
                Ok(Some(left.clone()))
            } else if how.adopt && value == *y {
                Ok(Some(right.clone()))
            } else {
                Ok(Some(Arc::new(Node::Leaf(value))))
            }
        }
        (Node::Branch(xs), Node::Branch(ys)) => {
            let mut children = [const { None }; FAN_OUT];
            for (at, child) in children.iter_mut().enumerate() {
                *child = merge(xs[at].as_ref(), ys[at].as_ref(), how)?;
            }
            // Nodes that stay as they were are shared, which makes the next comparison fast.
            for (old, node) in [(xs, left), (ys, right)] {
                if children.iter().zip(old).all(|(new, old)| same(new.as_ref(), old.as_ref())) {
                    return Ok(Some(node.clone()));
                }
            }
            Ok(branch(children))
        }
        // Both trees have the same height, so leaves are on one level.
        (Node::Leaf(_), Node::Branch(_)) | (Node::Branch(_), Node::Leaf(_)) => Ok(None),
    }
}

fn less_or_equal<D: Lattice>(a: Option<&Arc<Node<D>>>, b: Option<&Arc<Node<D>>>) -> bool {
    let (left, right) = match (a, b) {
        (_, None) => return true,
        (None, Some(_)) => return false,
        (Some(left), Some(right)) => (left, right),
    };
    if Arc::ptr_eq(left, right) {
        return true;
    }
    match (&**left, &**right) {
        (Node::Leaf(x), Node::Leaf(y)) => x.less_or_equal(y),
        (Node::Branch(xs), Node::Branch(ys)) => {
            xs.iter().zip(ys).all(|(x, y)| less_or_equal(x.as_ref(), y.as_ref()))
        }
        (Node::Leaf(_), Node::Branch(_)) | (Node::Branch(_), Node::Leaf(_)) => false,
    }
}

impl<D> Clone for Tree<D> {
    fn clone(&self) -> Self {
        Self { root: self.root.clone(), height: self.height }
    }
}
impl<V, D> Clone for Environment<V, D> {
    fn clone(&self) -> Self {
        Self { tree: self.tree.clone(), variable: PhantomData }
    }
}
impl<V: Id, D: Lattice> PartialEq for Environment<V, D> {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || (self.less_or_equal(other) && other.less_or_equal(self))
    }
}
impl<V: Id, D: Lattice> Default for Environment<V, D> {
    fn default() -> Self {
        Self::top()
    }
}
impl<V: Id, D: Lattice> FromIterator<(V, D)> for Environment<V, D> {
    fn from_iter<I: IntoIterator<Item = (V, D)>>(items: I) -> Self {
        let mut environment = Self::top();
        for (variable, value) in items {
            environment.set(variable, value);
        }
        environment
    }
}
impl<V: Id, D: Lattice + fmt::Debug> fmt::Debug for Environment<V, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_bottom() {
            return f.write_str("⊥");
        }
        f.debug_map().entries(self.iter()).finish()
    }
}
