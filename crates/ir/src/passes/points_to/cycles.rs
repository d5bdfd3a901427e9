//! Nodes that hold the same for sure are made one.
//!
//! Nodes on a cycle of copies hold the same in the solution. Finding such cycles now and then while the
//! solution grows keeps a dense part of the graph from being gone through once for each of its nodes.

use super::solve::{Constraints, Node, Solver};
use crate::components::components;

impl Solver {
    /// The node that stands for a node.
    pub(super) fn find(&self, mut node: Node) -> Node {
        while self.representative[node as usize] != node {
            node = self.representative[node as usize];
        }
        node
    }

    /// Makes all nodes on cycles of copies one; says whether there were any.
    pub(super) fn collapse_cycles(&mut self) -> bool {
        let cycles = self.cycles();
        let found = !cycles.is_empty();
        for group in cycles {
            let Some((first, others)) = group.split_first() else { continue };
            for other in others {
                self.union(*first, *other);
            }
            self.refresh(*first);
        }
        for node in 0..self.nodes.len() as Node {
            let end = self.find(node);
            self.representative[node as usize] = end;
        }
        for node in 0..self.nodes.len() {
            let mut copies = std::mem::take(&mut self.nodes[node].copies);
            copies.iter_mut().for_each(|to| *to = self.find(*to));
            copies.sort_unstable();
            copies.dedup();
            copies.retain(|to| *to != node as Node);
            self.nodes[node].copies = copies;
        }
        let copies = |(from, node): (usize, &Constraints)| {
            node.copies.iter().map(move |to| (from as Node, *to)).collect::<Vec<_>>()
        };
        self.known_copies = self.nodes.iter().enumerate().flat_map(copies).collect();
        found
    }

    fn union(&mut self, first: Node, other: Node) {
        let taken = std::mem::take(&mut self.nodes[other as usize]);
        self.representative[other as usize] = first;
        self.add_all(first, &taken.pointees);
        let into = &mut self.nodes[first as usize];
        into.copies.extend(taken.copies);
        into.shifts.extend(taken.shifts);
        into.loads.extend(taken.loads);
        into.stores.extend(taken.stores);
        into.copies_to.extend(taken.copies_to);
        into.copies_from.extend(taken.copies_from);
        into.calls.extend(taken.calls);
        into.compared.extend(taken.compared);
        into.parts.extend(taken.parts);
    }

    /// The strongly connected components with more than one node.
    fn cycles(&self) -> Vec<Vec<Node>> {
        let targets = |node: Node| {
            let is_found = self.find(node) == node;
            let copies = if is_found { self.nodes[node as usize].copies.as_slice() } else { &[] };
            copies.iter().map(|to| self.find(*to))
        };
        let found = components(self.nodes.len() as Node, targets).members;
        found.into_iter().filter(|group| group.len() > 1).collect()
    }
}
