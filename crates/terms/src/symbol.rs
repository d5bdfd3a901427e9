//! Symbols: the meaning of the variables in formulas.
//!
//! A [`Symbol`] is a part of a program's state (a cell, a local, the id of a thread), something that proof
//! rules and engines need besides (an input of a step, the place of a thread), or an [`Instance`] of another
//! symbol: for one of several threads, before or after something, or at a step. Symbols are equal when their
//! structure is; no code inspects their text. A [`Name`] is a shared symbol together with its text.
//!
//! The text serves messages, the interface to the solver (which keeps symbols with the same text apart), and
//! the order of names. Evidence stores the structure. Only old evidence, which stored text, is parsed from
//! text, by [`Name::from_evidence`].

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What a variable stands for. Numbers of objects, locals, templates, edges and states are those of the
/// program or specification.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Symbol {
    /// A plain name, for instance a variable of a specification.
    Plain(String),
    /// A variable of a specification that the program does not mention.
    Unmentioned(String),
    /// The cell at an offset of an object.
    Cell {
        /// The object's name.
        name: String,
        /// The object.
        object: u32,
        /// The offset.
        offset: u64,
    },
    /// Several cells: a map from addresses to contents.
    Map {
        /// The names of the objects.
        names: Vec<String>,
        /// The number of the first cell.
        first: u32,
    },
    /// The address of an object of which each thread has its own.
    FrameAddress {
        /// The object's name.
        name: String,
        /// The object.
        object: u32,
    },
    /// The end of the heap: allocations have returned only lower addresses so far.
    HeapEnd,
    /// The first address of what a step allocates at a site.
    SiteStart {
        /// The site's name.
        name: String,
        /// The site.
        object: u32,
        /// Which of the steps that allocate there.
        number: u32,
    },
    /// The address just after it.
    SiteEnd {
        /// The site's name.
        name: String,
        /// The site.
        object: u32,
        /// Which of the steps that allocate there.
        number: u32,
    },
    /// A local of a template.
    Local {
        /// The template's name.
        template: String,
        /// The local's name.
        name: String,
        /// The local.
        local: u32,
    },
    /// The id of a thread of a template.
    Myself {
        /// The template's name.
        template: String,
    },
    /// How many threads were started.
    Threads,
    /// What other threads know of the only thread of a template.
    Ghost {
        /// What is known.
        ghost: Ghost,
        /// The template's name.
        name: String,
        /// The template.
        template: u32,
    },
    /// An input of a step: a value that may be any that the guard allows.
    Input {
        /// The number of the input within the step.
        number: u32,
        /// The template of the step.
        template: u32,
        /// The edge of the step.
        edge: u32,
    },
    /// The number of the location of a thread in a group, by its position there.
    Location(u32),
    /// The place of a thread of a product, by its number: its location, or before its start.
    Place(u32),
    /// Whether a state of an abstract thread is a candidate: whether the thread may be in it.
    Candidate {
        /// The state.
        state: u32,
        /// Its name.
        name: String,
    },
    /// How many threads are in a state of an abstract thread.
    Population {
        /// The abstract thread.
        thread: u32,
        /// The state.
        state: u32,
        /// Its name.
        name: String,
    },
    /// The value of a parameter that a thread is started with.
    Given(u32),
    /// The id that a thread is started with.
    GivenId,
    /// The id of the thread that a step starts.
    NewId,
    /// Whether a path of a product passes a node.
    Passed(u32),
    /// Whether a relation of Horn clauses is derived.
    Derived(u32),
    /// Which of two executions is taken.
    Choice(u32),
    /// Whether values differ from those that are known already.
    Outside,
    /// Something that the solver made up.
    MadeBySolver(String),
    /// Another symbol's instance.
    Instance(Name, Instance),
}

/// What is known from outside of the one thread of a template.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Ghost {
    /// Its id; 0 before it starts.
    Id,
    /// 1 when it has ended; else 0.
    End,
    /// Its result, when it has ended.
    Result,
}

/// Which of its possible meanings a symbol has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Instance {
    /// That of a thread: by its number in a product, its position in a group, or its template.
    Thread(u32),
    /// That of another thread of the same template.
    Another,
    /// The value before the steps of an environment query.
    Old,
    /// The value at the start of a query to the threads from a position on.
    Kept(u32),
    /// The value before a step of an abstract thread.
    Before,
    /// The value after a step of an abstract thread.
    After,
    /// The value that other threads give it.
    New,
    /// The value after others ran.
    Others,
    /// The value after a step of another thread.
    AfterStep,
    /// The same, in the abstraction by predicates.
    Next,
    /// The initial value.
    First,
    /// The initial value for a thread, by the number of the start within the step that starts it.
    FirstOfStart(u32),
    /// The initial value for a thread, by the edge that starts it.
    FirstByEdge(u32),
    /// The value at the end of a block.
    Primed,
    /// A copy of an input, for a composed step that has it twice.
    Again(u32),
    /// An input or value after so many steps and moves of others.
    Moment(u32),
    /// The value at a node, in a relation, or after this many assignments.
    At(u32),
    /// A variable of a clause, or an input, where it is used.
    Use(u32),
    /// An input of a step that leaves a node: the node, and which of its steps.
    UseAt(u32, u32),
    /// An input of the step at a position of a path.
    AtStep(u32),
    /// An input of the step of an execution that has this number.
    InputAt(u32),
    /// The value of a shared variable after this many assignments on a path.
    Version(u32),
    /// The value of a thread's own variable: the thread, and the number of the assignment.
    VersionOf(u32, u32),
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(name) | Self::MadeBySolver(name) => f.write_str(name),
            Self::Unmentioned(name) => write!(f, "{name} of the specification"),
            Self::Cell { name, object, offset } => write!(f, "{name}+{offset}@{object}"),
            Self::Map { names, first } => write!(f, "map of {}@{first}", names.join(", ")),
            Self::FrameAddress { name, object } => write!(f, "&{name}@{object}"),
            Self::HeapEnd => f.write_str("end of the heap"),
            Self::SiteStart { name, object, number } => write!(f, "start of {name}@{object}.{number}"),
            Self::SiteEnd { name, object, number } => write!(f, "end of {name}@{object}.{number}"),
            Self::Local { template, name, local } => write!(f, "{template}.{name}%{local}"),
            Self::Myself { template } => write!(f, "{template}.myself"),
            Self::Threads => f.write_str("number of threads"),
            Self::Ghost { ghost, name, template } => {
                let what = match ghost {
                    Ghost::Id => "id",
                    Ghost::End => "end",
                    Ghost::Result => "result",
                };
                write!(f, "{what} of thread {name}#{template}")
            }
            Self::Input { number, template, edge } => write!(f, "input {number} of {template}:{edge}"),
            Self::Location(position) => write!(f, "location#{position}"),
            Self::Place(thread) => write!(f, "place of thread {thread}"),
            Self::Candidate { state, name } => write!(f, "candidate {state} {name}"),
            Self::Population { thread, state, name } => write!(f, "threads {thread}.{state} {name}"),
            Self::Given(number) => write!(f, "given {number}"),
            Self::GivenId => f.write_str("given id"),
            Self::NewId => f.write_str("new id"),
            Self::Passed(node) => write!(f, "passed {node}"),
            Self::Derived(relation) => write!(f, "derived {relation}"),
            Self::Choice(number) => write!(f, "choice@{number}"),
            Self::Outside => f.write_str("outside of what is known"),
            Self::Instance(of, instance) => match instance {
                Instance::Thread(thread) => write!(f, "{of}#{thread}"),
                Instance::Another => write!(f, "{of} of another"),
                Instance::Old => write!(f, "old {of}"),
                Instance::Kept(position) => write!(f, "kept {of} at {position}"),
                Instance::Before => write!(f, "before {of}"),
                Instance::After => write!(f, "after {of}"),
                Instance::New => write!(f, "new {of}"),
                Instance::Others => write!(f, "others' {of}"),
                Instance::AfterStep => write!(f, "{of} after the step"),
                Instance::Next => write!(f, "{of} after"),
                Instance::First => write!(f, "first {of}"),
                Instance::FirstOfStart(number) => write!(f, "first {of} of start {number}"),
                Instance::FirstByEdge(edge) => write!(f, "first {of}<{edge}"),
                Instance::Primed => write!(f, "{of}'"),
                Instance::Again(count) => write!(f, "{of}'{count}"),
                Instance::Moment(length) => write!(f, "{of}!{length}"),
                Instance::At(at) => write!(f, "{of}@{at}"),
                Instance::Use(at) => write!(f, "{of}~{at}"),
                Instance::UseAt(node, step) => write!(f, "{of}~{node}~{step}"),
                Instance::AtStep(position) => write!(f, "{of} at step {position}"),
                Instance::InputAt(number) => write!(f, "{of} at {number}"),
                Instance::Version(number) => write!(f, "{of} @{number}"),
                Instance::VersionOf(thread, number) => write!(f, "{of} of thread {thread} @{number}"),
            },
        }
    }
}

/// A symbol and its text: cheap to copy. Order and hash are those of the text, so they are the same in every
/// run, and lists are in the order that people expect. Equality is that of symbols.
#[derive(Clone)]
pub struct Name(Arc<Node>);

struct Node {
    symbol: Symbol,
    text: String,
}

impl Name {
    /// What it stands for.
    pub fn symbol(&self) -> &Symbol {
        &self.0.symbol
    }
    /// Its text. Different names may have the same.
    pub fn text(&self) -> &str {
        &self.0.text
    }
    /// An instance of it.
    pub fn instance(&self, instance: Instance) -> Self {
        Symbol::Instance(self.clone(), instance).into()
    }
    /// The name of which this is the given instance.
    pub fn without(&self, instance: Instance) -> Option<&Self> {
        match self.symbol() {
            Symbol::Instance(of, this) if *this == instance => Some(of),
            _ => None,
        }
    }
}

impl From<Symbol> for Name {
    fn from(symbol: Symbol) -> Self {
        let text = symbol.to_string();
        Self(Arc::new(Node { symbol, text }))
    }
}

impl From<&str> for Name {
    /// A plain name.
    fn from(name: &str) -> Self {
        Symbol::Plain(name.to_owned()).into()
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.symbol == other.0.symbol
    }
}
impl Eq for Name {}
impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.text.hash(state);
    }
}
impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        self.0.text.cmp(&other.0.text).then_with(|| self.0.symbol.cmp(&other.0.symbol))
    }
}
impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}
impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.symbol, f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.symbol.serialize(serializer)
    }
}

/// How deep instances may be nested in evidence; proof rules use two levels.
const DEEPEST: u32 = 8;

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Name;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a symbol")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Name, E> {
                Ok(Name::from_evidence(text))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Name, A::Error> {
                let name = Name::from(Symbol::deserialize(MapAccessDeserializer::new(map))?);
                let mut inner = &name;
                for _ in 0..DEEPEST {
                    match inner.symbol() {
                        Symbol::Instance(of, _) => inner = of,
                        _ => return Ok(name),
                    }
                }
                Err(A::Error::custom("an instance of an instance of too many others"))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Name {
    /// The name for a word in evidence: a symbol without parts, or the text that old evidence has in place of
    /// symbols. Parsing that text is a guess where names of the program contain special characters; a wrong
    /// guess is a name that no proof rule knows.
    fn from_evidence(text: &str) -> Self {
        let symbol = match text {
            "HeapEnd" => Symbol::HeapEnd,
            "Threads" => Symbol::Threads,
            "GivenId" => Symbol::GivenId,
            "NewId" => Symbol::NewId,
            "Outside" => Symbol::Outside,
            _ => old_text(text, DEEPEST).unwrap_or_else(|| Symbol::Plain(text.to_owned())),
        };
        symbol.into()
    }
}

/// The symbol with this text; `None` when it is none of those that proofs use.
fn old_text(text: &str, depth: u32) -> Option<Symbol> {
    let inner = |text: &str, instance: Instance| {
        let inner = old_text(text, depth.checked_sub(1)?).unwrap_or_else(|| Symbol::Plain(text.to_owned()));
        Some(Symbol::Instance(inner.into(), instance))
    };
    match text {
        "end of the heap" => return Some(Symbol::HeapEnd),
        "number of threads" => return Some(Symbol::Threads),
        _ => {}
    }
    if let Some(rest) = text.strip_prefix("old ") {
        return inner(rest, Instance::Old);
    }
    if let Some((rest, position)) = text.strip_prefix("kept ").and_then(|rest| rest.rsplit_once(" at ")) {
        return inner(rest, Instance::Kept(position.parse().ok()?));
    }
    if let Some(rest) = text.strip_prefix("before ") {
        return inner(rest, Instance::Before);
    }
    if let Some(thread) = text.strip_prefix("place of thread ") {
        return Some(Symbol::Place(thread.parse().ok()?));
    }
    if let Some((state, name)) = text.strip_prefix("candidate ").and_then(|rest| rest.split_once(' ')) {
        return Some(Symbol::Candidate { state: state.parse().ok()?, name: name.to_owned() });
    }
    if let Some((numbers, name)) = text.strip_prefix("threads ").and_then(|rest| rest.split_once(' ')) {
        let (thread, state) = numbers.split_once('.')?;
        let (thread, state) = (thread.parse().ok()?, state.parse().ok()?);
        return Some(Symbol::Population { thread, state, name: name.to_owned() });
    }
    if let Some((rest, length)) = text.rsplit_once('!')
        && let Ok(length) = length.parse()
    {
        return inner(rest, Instance::Moment(length));
    }
    if let Some((rest, number)) = text.rsplit_once('#')
        && let Ok(number) = number.parse()
    {
        let ghost = |words: &str, ghost: Ghost| {
            let name = rest.strip_prefix(words)?.to_owned();
            Some(Symbol::Ghost { ghost, name, template: number })
        };
        return ghost("id of thread ", Ghost::Id)
            .or_else(|| ghost("end of thread ", Ghost::End))
            .or_else(|| ghost("result of thread ", Ghost::Result))
            .or_else(|| (rest == "location").then_some(Symbol::Location(number)))
            .or_else(|| inner(rest, Instance::Thread(number)));
    }
    if let Some((number, step)) = text.strip_prefix("input ").and_then(|rest| rest.split_once(" of ")) {
        let (template, edge) = step.split_once(':')?;
        let (template, edge) = (template.parse().ok()?, edge.parse().ok()?);
        return Some(Symbol::Input { number: number.parse().ok()?, template, edge });
    }
    if let Some((rest, number)) = text.rsplit_once('@') {
        let object = number.parse().ok()?;
        if let Some(names) = rest.strip_prefix("map of ") {
            return Some(Symbol::Map {
                names: names.split(", ").map(str::to_owned).collect(),
                first: object,
            });
        }
        if let Some(name) = rest.strip_prefix('&') {
            return Some(Symbol::FrameAddress { name: name.to_owned(), object });
        }
        let (name, offset) = rest.rsplit_once('+')?;
        return Some(Symbol::Cell { name: name.to_owned(), object, offset: offset.parse().ok()? });
    }
    if let Some((rest, local)) = text.rsplit_once('%') {
        let (template, name) = rest.split_once('.')?;
        let (template, name) = (template.to_owned(), name.to_owned());
        return Some(Symbol::Local { template, name, local: local.parse().ok()? });
    }
    Some(Symbol::Myself { template: text.strip_suffix(".myself")?.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(name: &str) -> Symbol {
        Symbol::Cell { name: name.to_owned(), object: 3, offset: 8 }
    }
    fn local(name: &str) -> Symbol {
        Symbol::Local { template: "worker".to_owned(), name: name.to_owned(), local: 2 }
    }

    /// One of each symbol that proofs speak of.
    fn symbols() -> Vec<Symbol> {
        let own = Name::from(local("i")).instance(Instance::Thread(1));
        let ghost = |ghost| Symbol::Ghost { ghost, name: "worker".to_owned(), template: 4 };
        vec![
            Symbol::Plain("limit".to_owned()),
            cell("x"),
            Symbol::Map { names: vec!["a".to_owned(), "b".to_owned()], first: 5 },
            Symbol::FrameAddress { name: "x".to_owned(), object: 7 },
            Symbol::HeapEnd,
            Symbol::SiteStart { name: "malloc in line 3".to_owned(), object: 2, number: 0 },
            Symbol::SiteEnd { name: "malloc in line 3".to_owned(), object: 2, number: 1 },
            local("i"),
            Symbol::Myself { template: "worker".to_owned() },
            Symbol::Threads,
            ghost(Ghost::Id),
            ghost(Ghost::End),
            ghost(Ghost::Result),
            Symbol::Input { number: 0, template: 1, edge: 2 },
            Symbol::Location(0),
            Symbol::Place(2),
            Symbol::Candidate { state: 1, name: "Free".to_owned() },
            Symbol::Population { thread: 0, state: 1, name: "Free".to_owned() },
            own.symbol().clone(),
            own.instance(Instance::Old).symbol().clone(),
            own.instance(Instance::Kept(2)).symbol().clone(),
            own.instance(Instance::Moment(0)).symbol().clone(),
            Name::from(Symbol::Place(1)).instance(Instance::Kept(0)).symbol().clone(),
            Name::from(cell("x")).instance(Instance::Before).symbol().clone(),
        ]
    }

    #[test]
    fn evidence_has_the_structure() {
        for symbol in symbols() {
            let name = Name::from(symbol);
            let written = serde_json::to_string(&name).expect("symbols can be written");
            let read: Name = serde_json::from_str(&written).expect("they can be read");
            assert_eq!(read, name, "{written}");
        }
    }

    #[test]
    fn evidence_with_texts_is_read() {
        // Evidence that has texts is older than these.
        let is_new = |symbol: &Symbol| matches!(symbol, Symbol::SiteStart { .. } | Symbol::SiteEnd { .. });
        for symbol in symbols().into_iter().filter(|symbol| !is_new(symbol)) {
            let name = Name::from(symbol);
            let text = serde_json::to_string(name.text()).expect("texts can be written");
            let read: Name = serde_json::from_str(&text).expect("they can be read");
            assert_eq!(read, name, "{text}");
        }
    }

    #[test]
    fn what_looks_the_same_is_different() {
        // A global of a C program cannot have this name, but the name of a template may contain any
        // character.
        let made_up = Name::from("old x+8@3");
        let old = Name::from(cell("x")).instance(Instance::Old);
        assert_eq!(made_up.text(), old.text());
        assert_ne!(made_up, old);
        assert_ne!(made_up.cmp(&old), Ordering::Equal);
        assert_eq!(made_up.without(Instance::Old), None);
        assert_eq!(old.without(Instance::Old), Some(&Name::from(cell("x"))));
    }

    #[test]
    fn names_nested_without_end_are_refused() {
        let mut name = Name::from("x");
        for _ in 0..20 {
            name = name.instance(Instance::Old);
        }
        let written = serde_json::to_string(&name).expect("it can be written");
        assert!(serde_json::from_str::<Name>(&written).is_err());
        let text = format!("\"{}x\"", "old ".repeat(100_000));
        assert!(serde_json::from_str::<Name>(&text).is_ok());
    }
}
