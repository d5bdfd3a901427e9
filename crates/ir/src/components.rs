//! Strongly connected components of graphs.

/// The strongly connected components of a graph, and the component of each node.
pub struct Components {
    /// The number of the component of each node.
    pub of: Vec<u32>,
    /// The nodes of each component, in reverse topological order: a component comes after its successors.
    pub members: Vec<Vec<u32>>,
}

/// The strongly connected components of a graph with nodes from 0 on (Tarjan 1972, without recursion).
pub fn components<I: Iterator<Item = u32>>(count: u32, targets: impl Fn(u32) -> I) -> Components {
    const NONE: u32 = u32::MAX;
    let (mut number, mut low) = (vec![NONE; count as usize], vec![NONE; count as usize]);
    let mut found = Components { of: vec![NONE; count as usize], members: Vec::new() };
    let (mut stack, mut next) = (Vec::new(), 0);
    let mut calls: Vec<(u32, I)> = Vec::new();
    for root in 0..count {
        if number[root as usize] != NONE {
            continue;
        }
        calls.push((root, targets(root)));
        (number[root as usize], low[root as usize]) = (next, next);
        next += 1;
        stack.push(root);
        while let Some((node, rest)) = calls.last_mut() {
            let node = *node;
            if let Some(target) = rest.next() {
                if number[target as usize] == NONE {
                    (number[target as usize], low[target as usize]) = (next, next);
                    next += 1;
                    stack.push(target);
                    calls.push((target, targets(target)));
                } else if found.of[target as usize] == NONE {
                    low[node as usize] = low[node as usize].min(number[target as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some((caller, _)) = calls.last() {
                low[*caller as usize] = low[*caller as usize].min(low[node as usize]);
            }
            if low[node as usize] == number[node as usize] {
                let mut members = Vec::new();
                while let Some(member) = stack.pop() {
                    found.of[member as usize] = found.members.len() as u32;
                    members.push(member);
                    if member == node {
                        break;
                    }
                }
                found.members.push(members);
            }
        }
    }
    found
}
