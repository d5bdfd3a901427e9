//! Wide random C programs: each combines a few topics of C with threads, chosen by the seed from tables.
//!
//! Where [`wild`](super::wild) programs mix a few constructs freely, these have what goes wrong in the
//! corners: types and signedness, unions, bit-fields, walks over whole objects, numbers that are addresses,
//! heap that is used again, all synchronisation objects, families of threads with their own elements,
//! functions that are atomic, values without a model. A [`Topic`] is data: declarations, cells (what can be
//! read and written), statements and functions, with choices and holes that [`Writer::expand`] fills.
//! Programs are small enough for naive exploration, mostly.
//!
//! A program is a tree of lines, so that [`Lines::shrunk`] can leave out what a disagreement does not need.

mod atomics;
mod calls;
mod expand;
mod language;
mod memory;
mod shapes;
mod statements;
mod sync;

use super::Random;
use super::lines::{Lines, Node, line};
use verdict::Check;

/// A program, and what it is asked about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wide {
    /// What the program is about.
    pub check: Check,
    /// The program.
    pub lines: Lines,
}

/// Something to write about. All texts are templates, see [`Writer::expand`]; a text may have several lines.
struct Topic {
    /// What is included.
    headers: &'static [&'static str],
    /// Declarations.
    globals: &'static [&'static str],
    /// What can be read and written, with its type.
    cells: &'static [(&'static str, &'static str)],
    /// Functions, before the threads.
    functions: &'static [&'static str],
    /// What `main` does before it starts threads.
    set_up: &'static [&'static str],
    /// Statements. One that starts with `!` may wait: it is never put under a lock or into an atomic region.
    actions: &'static [&'static str],
    /// What `main` may do at last.
    finally: &'static [&'static str],
}

/// A topic about which nothing is said.
const NOTHING: Topic =
    Topic { headers: &[], globals: &[], cells: &[], functions: &[], set_up: &[], actions: &[], finally: &[] };

/// Something that can be read and written.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Cell {
    name: String,
    ty: String,
}

/// How shared variables are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Manners {
    /// Anything goes.
    Rude,
    /// All is done under the first lock.
    Locked,
    /// All is done in atomic regions.
    Atomic,
}

/// Chooses lines, and remembers what there is.
struct Writer {
    random: Random,
    manners: Manners,
    /// Whether extreme values and all operators are used.
    extremes: bool,
    /// Whether threads do little, so that there is time for more programs.
    brief: bool,
    headers: Vec<&'static str>,
    globals: Vec<Node>,
    functions: Vec<Node>,
    set_up: Vec<Node>,
    finally: Vec<Node>,
    cells: Vec<Cell>,
    /// Variables of the function that is written.
    locals: Vec<Cell>,
    actions: Vec<&'static str>,
    /// What was chosen under a number in the templates of a topic.
    bound: Vec<(char, String)>,
    /// Choices of each action's topic, by the action's place.
    bindings: Vec<Vec<(char, String)>>,
    /// Makes names.
    names: usize,
    /// Where the program is about one cell: it is read plainly, and written indirectly only.
    target: Option<Cell>,
    /// What the names of threads' functions start with.
    prefix: &'static str,
}

/// The parts of memory safety.
const MEMORY: [Check; 4] = [Check::Deref, Check::Free, Check::Memtrack, Check::Memcleanup];

impl Wide {
    /// The program with this number.
    pub fn new(seed: u64) -> Self {
        // Not the numbers of wild programs with the same seed.
        let mut random = Random::new(seed ^ 0x5EED_0F0A_11D1_F0A0);
        let check = match random.below(12) {
            0..=3 => Check::Assertions,
            4..=7 => Check::Races,
            8 => Check::Bounds,
            9 => MEMORY[(seed % 4) as usize],
            10 => Check::Overflow,
            _ => Check::Deadlock,
        };
        let topics: [&[Topic]; 5] = match check {
            Check::Deadlock => [sync::TOPICS, sync::TOPICS, calls::TOPICS, language::TOPICS, atomics::TOPICS],
            Check::Bounds | Check::Deref | Check::Free | Check::Memtrack | Check::Memcleanup => {
                [memory::TOPICS, memory::TOPICS, memory::TOPICS, calls::TOPICS, language::TOPICS]
            }
            Check::Races => [memory::TOPICS, sync::TOPICS, calls::TOPICS, calls::TOPICS, atomics::TOPICS],
            Check::Assertions | Check::ReachError | Check::Overflow => {
                [memory::TOPICS, sync::TOPICS, calls::TOPICS, atomics::TOPICS, language::TOPICS]
            }
        };
        let manners = match random.below(6) {
            0 | 1 => Manners::Locked,
            2 => Manners::Atomic,
            _ => Manners::Rude,
        };
        let extremes = check == Check::Overflow || random.once_in(3);
        let mut writer = Writer::new(random, manners, extremes);
        writer.brief = !writer.random.once_in(4);
        let focused = writer.random.once_in(2);
        let count =
            if focused || writer.brief { 1 + writer.random.below(6) / 5 } else { 1 + writer.random.below(3) };
        let mut chosen: Vec<(usize, usize)> = Vec::new();
        for _ in 0..count {
            let family = writer.random.below(topics.len());
            let topic = writer.random.below(topics[family].len());
            let same = |&(other, number): &(usize, usize)| {
                number == topic && std::ptr::eq(topics[other].as_ptr(), topics[family].as_ptr())
            };
            if !chosen.iter().any(same) {
                chosen.push((family, topic));
                writer.introduce(&topics[family][topic]);
            }
        }
        if focused && writer.cells.len() > 1 {
            let last = writer.cells.len() - 1;
            let target = writer.random.pick(&[0, last, 1 + writer.random.clone().below(last)]);
            writer.target = Some(writer.cells.remove(target));
        }
        if writer.random.once_in(16) {
            writer.prefix = "__VERIFIER_atomic_";
        }
        let lines = Lines(writer.program());
        Self { check, lines }
    }
}

impl Writer {
    fn new(random: Random, manners: Manners, extremes: bool) -> Self {
        let mut writer = Self {
            random,
            manners,
            extremes,
            brief: false,
            headers: vec!["assert.h", "pthread.h"],
            globals: vec![],
            functions: vec![],
            set_up: vec![],
            finally: vec![],
            cells: vec![],
            locals: vec![],
            actions: vec![],
            bound: vec![],
            bindings: vec![],
            names: 0,
            target: None,
            prefix: "",
        };
        writer.cell("int g0«¦ = 1¦ = -1»;", "g0", "int");
        if writer.random.once_in(2) {
            let ty = writer.expand("$t");
            writer.cell(&format!("{ty} g1«¦ = 1¦ = 3»;"), "g1", &ty);
        }
        writer
    }

    fn cell(&mut self, declaration: &str, name: &str, ty: &str) {
        let shown = self.expand(declaration);
        self.globals.push(line(shown));
        self.cells.push(Cell { name: name.to_owned(), ty: ty.to_owned() });
    }

    /// Declares what belongs to a topic; from then on it is written about.
    fn introduce(&mut self, topic: &Topic) {
        self.bound.clear();
        for &header in topic.headers {
            if !self.headers.contains(&header) {
                self.headers.push(header);
            }
        }
        for text in topic.globals {
            let made = self.lines(text);
            self.globals.extend(made);
        }
        for (name, ty) in topic.cells {
            let (name, ty) = (self.expand(name), self.expand(ty));
            self.cells.push(Cell { name, ty });
        }
        self.locals = vec![Cell { name: "g0".to_owned(), ty: "int".to_owned() }];
        for text in topic.functions {
            let mut made = self.lines(text);
            made.iter_mut().for_each(give_locals);
            self.functions.extend(made);
        }
        for text in topic.set_up {
            let made = self.lines(text);
            self.set_up.extend(made);
        }
        for text in topic.finally {
            if self.random.once_in(2) {
                let made = self.lines(text);
                self.finally.extend(made);
            }
        }
        for text in topic.actions {
            self.actions.push(text);
            self.bindings.push(self.bound.clone());
        }
    }
}

/// How often a name stands in some lines.
fn mentions(nodes: &[Node], name: &str) -> usize {
    let text = Lines(nodes.to_vec()).text();
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split(|letter: char| !is_part(letter)).filter(|word| *word == name).count()
}

/// Leaves out the variables that every thread has where a body does not use them: each would be a step that
/// interleaves with all others.
fn drop_unused(body: &mut Vec<Node>) {
    for name in ["i", "l0", "l1"] {
        let declares = |node: &Node| match node {
            Node::Line(text) => {
                text.split(" = ").next().is_some_and(|left| left.ends_with(&format!(" {name}")))
            }
            Node::Block(..) => false,
        };
        if mentions(body, name) == 1
            && let Some(at) = body.iter().position(declares)
        {
            body.remove(at);
        }
    }
}

/// A function that mentions what threads have has one of its own.
fn give_locals(function: &mut Node) {
    let all = vec![function.clone()];
    let mentions = |name| mentions(&all, name) > 0;
    if let Node::Block(_, body, _) = function {
        for (name, declaration) in [("i", "int i = 1;"), ("l0", "int l0 = 0;")] {
            if mentions(name) {
                body.insert(0, line(declaration));
            }
        }
    }
}
