//! An execution line by line, as all reports of a violation show it.
//!
//! Consecutive steps of one thread on one source line are one row. The violation at the end is marked: the
//! two accesses that race, the check that fails, or the threads that wait for one another.

mod folding;

use crate::Sources;
use crate::sources::position;
use crate::style::clean;
use checker::{
    Change, NamedAccess, Refutation, Replayed, ReplayedStep, ReplayedViolation, ReplayedWait, WaitTarget,
};
use ir::names::is_made_up;
use ir::semantics::Leak;
use ir::semantics::ThreadIndex;
use ir::{ErrorKind, LockKind, Op, Program, SharedObject, Span, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Large copies count by their first bytes.
const MOST_BYTES: u64 = 64;
/// The most values that are shown for a folded stretch.
const MOST_VALUES: usize = 4;

/// An execution, row by row.
#[derive(Debug)]
pub struct Interleaving {
    /// The name of each thread.
    pub threads: Vec<String>,
    /// In the order of execution.
    pub rows: Vec<Row>,
}

/// Consecutive steps of one thread on one line.
#[derive(Clone, Debug)]
pub struct Row {
    /// The thread.
    pub thread: ThreadIndex,
    /// The source position.
    pub span: Span,
    /// The procedure and the edge of the last step; `None` when the thread takes no step here.
    pub last: Option<(ir::TemplateId, ir::EdgeId)>,
    /// The source line, trimmed.
    pub code: String,
    /// Events besides changes of values: locks, starts of threads.
    pub events: Vec<String>,
    /// Changes, each name once.
    pub changes: Vec<ChangedValue>,
    /// The locks that the thread holds after it.
    pub held: Vec<String>,
    /// Whether they have changed.
    pub held_changed: bool,
    /// The violation here.
    pub mark: Option<String>,
    /// What the thread waits for here, while others run.
    pub waits: Option<String>,
    /// Whether no other thread could notice it: no memory that two threads touch, no lock, no start.
    pub alone: bool,
    /// Whether it touches memory of the violation, or starts a thread.
    pub matters: bool,
    /// Whether it starts a thread.
    pub starts: bool,
}

/// A variable's new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedValue {
    /// Its name.
    pub name: String,
    /// Whether it is private to this thread.
    pub own: bool,
    /// The value; `None` when any value is possible.
    pub value: Option<Value>,
}

impl ChangedValue {
    /// As an equation.
    pub fn text(&self) -> String {
        match self.value {
            Some(value) => format!("{} = {value}", clean(&self.name)),
            None => format!("{} may be anything", clean(&self.name)),
        }
    }
}

/// An item of an execution in a report.
#[derive(Debug)]
pub enum Shown<'a> {
    /// A row.
    Row(&'a Row),
    /// Rows of one thread that concern no other.
    Folded(&'a [Row]),
    /// This many rows of all threads, in an execution that is too long.
    Gap(usize),
}

impl Row {
    /// All events, as short texts.
    pub fn effects(&self) -> Vec<String> {
        self.events.iter().cloned().chain(self.changes.iter().map(ChangedValue::text)).collect()
    }
    /// The text about the locks.
    pub fn locks(&self) -> Option<String> {
        match self.held.as_slice() {
            [] if self.mark.is_some() => Some("holds no lock".to_owned()),
            [] => None,
            held if self.held_changed || self.mark.is_some() => Some(format!("holds {}", held.join(", "))),
            _ => None,
        }
    }
}

impl Interleaving {
    /// The rows of a violation.
    pub fn of(refutation: &Refutation, sources: &Sources) -> Self {
        let Refutation { program, replayed, .. } = refutation;
        let mut builder = Builder {
            program,
            sources,
            replayed,
            contended: contended(replayed),
            essential: essential(replayed),
            held: vec![Vec::new(); replayed.threads.len()],
            rows: Vec::new(),
        };
        for (index, step) in replayed.steps.iter().enumerate() {
            builder.step(step);
            let next = replayed.steps.get(index + 1);
            if let Some(wait) =
                step.waits.as_ref().filter(|_| next.is_some_and(|next| next.thread != step.thread))
            {
                builder.wait(wait);
            }
        }
        builder.rows.retain(|row| {
            row.span.line > 0 || !row.events.is_empty() || !row.changes.is_empty() || row.waits.is_some()
        });
        builder.end();
        let threads = replayed.threads.iter().map(|thread| clean(&thread.name)).collect();
        Self { threads, rows: builder.rows }
    }

    /// The threads that do something.
    pub fn active(&self) -> Vec<ThreadIndex> {
        let mut found: Vec<ThreadIndex> = self.rows.iter().map(|row| row.thread).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Shown<'_> {
    fn count(&self) -> usize {
        match self {
            Self::Row(_) => 1,
            Self::Folded(rows) => rows.len(),
            Self::Gap(rows) => *rows,
        }
    }
}

/// The final values of folded rows, in the order of their first change. Addresses say little: they are left
/// out where there are other values.
pub fn values_after(rows: &[Row]) -> String {
    /// Numbers from here on are taken for addresses of the machine.
    const FIRST_ADDRESS: Value = 1 << 44;
    let mut last: Vec<&ChangedValue> = Vec::new();
    for change in rows.iter().flat_map(|row| &row.changes) {
        match last.iter_mut().find(|known| known.name == change.name) {
            Some(known) => *known = change,
            None => last.push(change),
        }
    }
    let is_number = |change: &&ChangedValue| change.value.is_none_or(|value| value < FIRST_ADDRESS);
    if last.iter().any(is_number) {
        last.retain(is_number);
    }
    let more = if last.len() > MOST_VALUES { ", …" } else { "" };
    let texts: Vec<String> = last.iter().take(MOST_VALUES).map(|change| change.text()).collect();
    format!("{}{more}", texts.join(", "))
}

/// The bytes that several threads touch, at any time.
fn contended(replayed: &Replayed) -> BTreeMap<u64, Option<ThreadIndex>> {
    let mut owners: BTreeMap<u64, Option<ThreadIndex>> = BTreeMap::new();
    let mut touch = |access: &NamedAccess| {
        let first = access.access.address;
        for byte in first..first.saturating_add(access.access.size.min(MOST_BYTES)) {
            let owner = owners.entry(byte).or_insert(Some(access.thread));
            if *owner != Some(access.thread) {
                *owner = None;
            }
        }
    };
    replayed.steps.iter().flat_map(|step| &step.accesses).for_each(&mut touch);
    if let ReplayedViolation::Race { accesses, .. } = &replayed.violation {
        accesses.iter().for_each(&mut touch);
    }
    owners
}

/// The bytes of a violation: those of the race, or those that the failing thread touched last.
fn essential(replayed: &Replayed) -> BTreeSet<u64> {
    /// The most steps of the failing thread that count.
    const LAST: usize = 3;
    let bytes = |access: &NamedAccess| {
        let first = access.access.address;
        first..first.saturating_add(access.access.size.min(MOST_BYTES))
    };
    match &replayed.violation {
        ReplayedViolation::Race { accesses, .. } => accesses.iter().flat_map(bytes).collect(),
        ReplayedViolation::Error { thread, .. } => {
            let own = replayed.steps.iter().rev().filter(|step| step.thread == *thread);
            own.filter(|step| !step.accesses.is_empty())
                .take(LAST)
                .flat_map(|step| &step.accesses)
                .flat_map(bytes)
                .collect()
        }
        ReplayedViolation::Deadlock(_) | ReplayedViolation::Leak(_) => BTreeSet::new(),
    }
}

struct Builder<'a> {
    program: &'a Program,
    sources: &'a Sources,
    replayed: &'a Replayed,
    contended: BTreeMap<u64, Option<ThreadIndex>>,
    essential: BTreeSet<u64>,
    held: Vec<Vec<String>>,
    rows: Vec<Row>,
}

impl Builder<'_> {
    fn row(&self, thread: ThreadIndex, span: Span) -> Row {
        Row {
            thread,
            span,
            last: None,
            code: self.sources.line(span).map(clean).unwrap_or_default(),
            events: Vec::new(),
            changes: Vec::new(),
            held: self.held[thread].clone(),
            held_changed: false,
            mark: None,
            waits: None,
            alone: true,
            matters: false,
            starts: false,
        }
    }

    fn step(&mut self, step: &ReplayedStep) {
        let thread = step.thread;
        let mut row = match self.rows.pop() {
            Some(row) if row.thread == thread && same_line(row.span, step.span) && row.waits.is_none() => row,
            other => {
                self.rows.extend(other);
                self.row(thread, step.span)
            }
        };
        row.last = Some((step.procedure, step.edge));
        if let Some(created) = step.created {
            row.events.push(format!("starts {}", name(self.replayed, created)));
            row.alone = false;
            row.matters = true;
            row.starts = true;
        }
        for freed in &step.freed {
            row.events.push(format!("frees the memory of {}", clean(freed)));
            row.alone = false;
            row.matters = true;
        }
        let meets = |access: &NamedAccess| self.contended.get(&access.access.address) == Some(&None);
        row.alone &= !step.accesses.iter().any(meets);
        row.matters |= step.accesses.iter().any(|access| self.essential.contains(&access.access.address));
        let edge = self.program.templates.get(step.procedure).and_then(|code| code.edges.get(step.edge));
        let ops = edge.map(|edge| edge.ops.as_slice()).unwrap_or_default();
        let own = step.locals.iter().map(|change| (change, true));
        let taken =
            ops.iter().find_map(|op| if let Op::Lock(kind, _) = op { Some((true, *kind)) } else { None });
        let given =
            ops.iter().find_map(|op| if let Op::Unlock(kind, _) = op { Some((false, *kind)) } else { None });
        if let Some((taken, kind)) = taken.or(given) {
            row.alone = false;
            for (index, change) in step.memory.iter().enumerate() {
                self.lock(&mut row, taken, kind, (index, change));
            }
            own.for_each(|(change, own)| changed(&mut row, change, own));
        } else {
            // Memory that others also touch is worth mentioning even if its value does not change.
            for access in step.accesses.iter().filter(|access| meets(access)) {
                let Some(name) = access.name.as_deref().filter(|name| !is_made_up(name)) else {
                    continue;
                };
                let changes = step.memory.iter().any(|change| change.name == name);
                let event = match access.access.write {
                    true if changes || !step.freed.is_empty() => continue,
                    true => format!("writes {} again", clean(name)),
                    false => match access.value {
                        Some(value) => format!("reads {} = {value}", clean(name)),
                        None => format!("reads {}", clean(name)),
                    },
                };
                if !row.events.contains(&event) {
                    row.events.push(event);
                }
            }
            let memory = step.memory.iter().map(|change| (change, false));
            memory.chain(own).for_each(|(change, own)| changed(&mut row, change, own));
        }
        row.held = self.held[thread].clone();
        self.rows.push(row);
    }

    /// Records a change to one of a lock's words, with its number among the changes of the step.
    fn lock(&mut self, row: &mut Row, taken: bool, kind: LockKind, (index, change): (usize, &Change)) {
        let (lock, is_owner) = lock_word(&change.name);
        let lock = clean(lock);
        let matters = match (kind, taken) {
            _ if numbered(&lock).is_some() => {
                // In memory without a type, the first byte that changes names the lock. If only the next word
                // changes, the lock is acquired recursively.
                let first_word = numbered(&lock).map(|(byte, rest)| (byte.wrapping_sub(4), rest.to_owned()));
                let again =
                    |held: &String| numbered(held).map(|(byte, rest)| (byte, rest.to_owned())) == first_word;
                index == 0 && !self.held[row.thread].iter().any(again)
            }
            (LockKind::Read, true) => !is_owner,
            (LockKind::Read | LockKind::Write, false) => true,
            // The recursion count of a mutex does not matter to others.
            (LockKind::Mutex | LockKind::Spin, _) | (LockKind::Write, true) => is_owner,
        };
        if !matters {
            return;
        }
        let reading = if kind == LockKind::Read && taken { " for reading" } else { "" };
        let held = &mut self.held[row.thread];
        let event = format!("{} {lock}{reading}", if taken { "locks" } else { "unlocks" });
        match held.iter().position(|held| *held == lock) {
            None if taken => held.push(lock),
            Some(index) if !taken => drop(held.remove(index)),
            // Another byte of the same word.
            Some(_) | None => return,
        }
        row.events.push(event);
        row.held_changed = true;
    }

    /// A thread waits at a line while others run.
    fn wait(&mut self, wait: &ReplayedWait) {
        let row =
            Row { waits: Some(waiting(&wait.target)), alone: false, ..self.row(wait.thread, wait.span) };
        let last = self.rows.iter().rev().find(|row| row.thread == wait.thread);
        // After a spurious wake-up, it waits again.
        let is_known = last.is_some_and(|last| last.waits == row.waits && same_line(last.span, row.span));
        if !is_known {
            self.rows.push(row);
        }
    }

    /// Marks the violation.
    fn end(&mut self) {
        match &self.replayed.violation {
            ReplayedViolation::Error { thread, kind, span } => {
                let here = |row: &Row| row.thread == *thread && same_line(row.span, *span);
                if !self.rows.last().is_some_and(here) {
                    let row = self.row(*thread, *span);
                    self.rows.push(row);
                }
                if let Some(row) = self.rows.last_mut() {
                    row.mark = Some(what_fails(*kind).to_owned());
                    row.alone = false;
                }
            }
            ReplayedViolation::Race { name, accesses, .. } => {
                for access in accesses.iter() {
                    let verb = if access.access.write { "writes" } else { "reads" };
                    let atomic = if access.access.atomic { ", atomically" } else { "" };
                    self.stand(access.thread, access.span, format!("{verb} {}{atomic}", clean(name)));
                }
            }
            ReplayedViolation::Leak(leak) => {
                let what = match leak.leak {
                    Leak::Lost => "the program ends, and memory is lost",
                    Leak::Left => "the program ends, and memory is left",
                };
                self.stand(leak.last, leak.end, format!("{what}: {}", clean(&leak.name)));
            }
            ReplayedViolation::Deadlock(waits) => {
                for wait in waits {
                    let what = match &wait.target {
                        WaitTarget::Shared(object, name) => {
                            format!("waits for {}", waited_for(*object, name.as_deref(), ""))
                        }
                        WaitTarget::Lock { .. } | WaitTarget::Thread(_) => waiting(&wait.target),
                    };
                    // It is marked here permanently.
                    let waits = |row: &Row| row.thread == wait.thread && row.waits.is_some();
                    if self.rows.last().is_some_and(waits) {
                        self.rows.pop();
                    }
                    self.stand(wait.thread, wait.span, what);
                }
            }
        }
    }

    /// A thread is at a line, about to make a violating step.
    fn stand(&mut self, thread: ThreadIndex, span: Span, mark: String) {
        let row = Row { mark: Some(mark), alone: false, ..self.row(thread, span) };
        self.rows.push(row);
    }
}

/// What a thread waits for, in words.
fn waiting(target: &WaitTarget) -> String {
    match target {
        WaitTarget::Lock { name, owner: Some(owner) } => {
            format!("waits for {}, held by thread {owner}", lock_name(name))
        }
        WaitTarget::Lock { name, owner: None } => format!("waits for {}, held for reading", lock_name(name)),
        WaitTarget::Thread(owner) => format!("waits for thread {owner} to end"),
        WaitTarget::Shared(object, name) => {
            let what = shared_word(*object);
            match name {
                Some(name) => format!("waits for {what} {}", lock_name(name)),
                None => format!("waits for a {what}"),
            }
        }
    }
}

fn shared_word(object: SharedObject) -> &'static str {
    match object {
        SharedObject::Semaphore => "semaphore",
        SharedObject::Condition => "condition",
        SharedObject::Barrier => "barrier",
        SharedObject::Once => "initialisation",
    }
}

/// The number in the name of a byte of memory that was allocated without a type, and what follows it.
fn numbered(cell: &str) -> Option<(u64, &str)> {
    let (number, rest) = cell.strip_prefix("byte ")?.split_once(' ')?;
    Some((number.parse().ok()?, rest))
}

/// The name of the lock that a cell belongs to, and whether the cell is its first word, which says who holds
/// it.
fn lock_word(cell: &str) -> (&str, bool) {
    if numbered(cell).is_some() {
        return (cell, true);
    }
    if let Some((lock, word @ ("owner" | "readers" | "count"))) = cell.rsplit_once('.') {
        return (lock, word == "owner");
    }
    // Where the type of the lock is a union, its bytes have numbers.
    match cell.rsplit_once('+').and_then(|(lock, byte)| Some((lock, byte.parse::<u32>().ok()?))) {
        Some((lock, byte)) => (lock, byte < 4),
        None => (cell, true),
    }
}

/// The source name of the lock that a thread waits for.
pub(crate) fn lock_name(cell: &str) -> String {
    clean(lock_word(cell).0)
}

/// An object without an owner that a thread waits for, with its name in quotes.
pub(crate) fn waited_for(object: SharedObject, name: Option<&str>, quote: &str) -> String {
    let what = shared_word(object);
    let then = match object {
        SharedObject::Semaphore => ", which nobody posts",
        SharedObject::Condition => ", which nobody signals",
        SharedObject::Barrier => ", where too few threads arrive",
        SharedObject::Once => ", which is not completed",
    };
    match name {
        Some(name) => format!("{what} {quote}{}{quote}{then}", lock_name(name)),
        None => format!("a {what}{then}"),
    }
}

fn changed(row: &mut Row, change: &Change, own: bool) {
    if is_made_up(&change.name) {
        return;
    }
    let new = ChangedValue { name: change.name.clone(), own, value: change.new };
    match row.changes.iter_mut().find(|known| known.name == new.name && known.own == own) {
        Some(known) => *known = new,
        None => row.changes.push(new),
    }
}

/// What fails at an error location.
pub fn what_fails(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::ReachError => "the error function is called",
        ErrorKind::Assertion => "the assertion fails",
        ErrorKind::InvalidAccess => "an access is outside of any live object",
        ErrorKind::Overflow => "a signed operation overflows",
        ErrorKind::InvalidFree => "memory is freed that was not allocated, or was freed before",
    }
}

/// The name of a thread in reports.
pub fn name(replayed: &Replayed, thread: ThreadIndex) -> String {
    let what = replayed.threads.get(thread).map_or("?", |thread| thread.name.as_str());
    format!("thread {thread} ({})", clean(what))
}

/// The short source position of a row: its line, and its file if there are several.
pub fn place(program: &Program, span: Span, several_files: bool) -> String {
    if !several_files {
        return if span.line > 0 { span.line.to_string() } else { String::new() };
    }
    let at = position(program, Span { column: 0, ..span });
    clean(at.rsplit('/').next().unwrap_or(&at))
}

fn same_line(a: Span, b: Span) -> bool {
    (a.file, a.line) == (b.file, b.line)
}
