//! Programs as trees of lines, which shrink by leaving lines out.

/// A program as a tree of lines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lines(pub(super) Vec<Node>);

/// A line, or lines that belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Node {
    Line(String),
    /// What opens, what is inside, what closes.
    Block(String, Vec<Node>, String),
}

/// A line.
pub(super) fn line(text: impl Into<String>) -> Node {
    Node::Line(text.into())
}

impl Lines {
    /// The text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        print(&self.0, 0, &mut out);
        out
    }

    /// A smaller program that is still interesting, if there is one: lines and blocks are left out one by
    /// one, and blocks give way to what is inside, as long as that helps. Uses go before declarations.
    pub fn shrunk(&self, mut interesting: impl FnMut(&Self) -> bool) -> Self {
        let mut best = self.clone();
        loop {
            let before = best.clone();
            for number in (0..count(&best.0)).rev() {
                for unwrap in [false, true] {
                    let mut smaller = best.clone();
                    remove(&mut smaller.0, &mut number.clone(), unwrap);
                    if smaller != best && interesting(&smaller) {
                        best = smaller;
                        break;
                    }
                }
            }
            if best == before {
                return best;
            }
        }
    }
}

fn print(nodes: &[Node], depth: usize, out: &mut String) {
    let put = |text: &str, out: &mut String| {
        if !text.is_empty() {
            *out += &"  ".repeat(depth);
            *out += text;
            out.push('\n');
        }
    };
    for node in nodes {
        match node {
            Node::Line(text) => put(text, out),
            Node::Block(open, body, close) => {
                put(open, out);
                print(body, depth + 1, out);
                put(close, out);
            }
        }
    }
}

fn count(nodes: &[Node]) -> usize {
    let inside = |node: &Node| match node {
        Node::Line(_) => 0,
        Node::Block(_, body, _) => count(body),
    };
    nodes.iter().map(|node| 1 + inside(node)).sum()
}

/// Removes the node with a number, or only what is around it.
fn remove(nodes: &mut Vec<Node>, number: &mut usize, unwrap: bool) {
    let mut index = 0;
    while index < nodes.len() {
        if *number == 0 {
            *number = usize::MAX;
            match nodes.remove(index) {
                Node::Block(_, body, _) if unwrap => drop(nodes.splice(index..index, body)),
                line @ Node::Line(_) if unwrap => nodes.insert(index, line),
                Node::Block(..) | Node::Line(_) => {}
            }
            return;
        }
        *number -= 1;
        if let Node::Block(_, body, _) = &mut nodes[index] {
            remove(body, number, unwrap);
            if *number == usize::MAX {
                return;
            }
        }
        index += 1;
    }
}
