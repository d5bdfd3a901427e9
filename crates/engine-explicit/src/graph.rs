//! Strongly connected components.

use ir::ids::Id;
use ir::{EdgeId, IdVec, LocationId, Template};

/// The strongly connected components of a template's graph, targets before sources (Tarjan 1972, without
/// recursion).
pub fn components(code: &Template, outgoing: &IdVec<LocationId, Vec<EdgeId>>) -> Vec<Vec<LocationId>> {
    const UNSEEN: u32 = u32::MAX;
    let count = code.locations.len();
    let (mut index, mut low, mut on_stack) = (vec![UNSEEN; count], vec![0; count], vec![false; count]);
    let (mut stack, mut found, mut clock) = (Vec::new(), Vec::new(), 0);
    for root in code.locations.ids() {
        if index[root.index()] != UNSEEN {
            continue;
        }
        let mut work: Vec<(LocationId, usize)> = vec![(root, 0)];
        while let Some((at, edge)) = work.pop() {
            let me = at.index();
            if edge == 0 {
                index[me] = clock;
                low[me] = clock;
                clock += 1;
                stack.push(at);
                on_stack[me] = true;
            }
            if let Some(&id) = outgoing[at].get(edge) {
                work.push((at, edge + 1));
                let target = code.edges[id].target;
                if index[target.index()] == UNSEEN {
                    work.push((target, 0));
                } else if on_stack[target.index()] {
                    low[me] = low[me].min(index[target.index()]);
                }
                continue;
            }
            if low[me] == index[me] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member.index()] = false;
                    component.push(member);
                    if member == at {
                        break;
                    }
                }
                found.push(component);
            }
            if let Some((parent, _)) = work.last() {
                low[parent.index()] = low[parent.index()].min(low[me]);
            }
        }
    }
    found
}
