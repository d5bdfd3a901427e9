//! The first listing of shared memory: every static variable that two threads may access by its name, and one
//! may write, all open.
//!
//! It takes one pass over the program, so it exists before any other result, and the report shows it if the
//! time is up before pointers are analysed. It proves nothing, and accesses through pointers are missing:
//! [`SharedMemory::incomplete`] says so.
//!
//! [`SharedMemory::incomplete`]: report::SharedMemory::incomplete

use ir::{
    Callee, Edge, EdgeId, Expr, IdVec, Layout, Lhs, ObjectId, Op, Place, Program, Storage, Target, TemplateId,
};
use std::collections::{BTreeMap, BTreeSet};
use verdict::{LocationAccess, LocationStatus, Locations, Reached, SharedLocation};

/// The note in reports.
pub const INCOMPLETE: &str = "pointers were not followed in time: only variables that are accessed by their names are listed, and nothing is proved of them";
/// The note in reports about programs that were not read to the end.
pub const UNREAD: &str = "the program was not read to the end in time: only variables that are accessed by their names are listed, and nothing is proved of them";
/// The most accesses of one location that are listed; the number of pairs is quadratic.
const MOST_ACCESSES: usize = 64;

/// An access by name: the object, its first byte in it, how many bytes, whether it writes, and whether it is
/// atomic.
type Named = (ObjectId, u64, u64, bool, bool);

/// Lists what is accessed by name.
pub fn by_name(program: &Program) -> Locations {
    let threads = Threads::of(program);
    let mut found: BTreeMap<(ObjectId, u64), (u64, Vec<LocationAccess>)> = BTreeMap::new();
    for (kind, templates) in &threads.reached {
        for template in templates {
            for (edge, step) in program.templates[*template].edges.enumerate() {
                for (object, offset, size, write, atomic) in accesses(program, step) {
                    let entry = found.entry((object, offset)).or_default();
                    entry.0 = entry.0.max(size);
                    let access = LocationAccess {
                        template: *template,
                        edge,
                        kind: *kind,
                        write,
                        atomic,
                        locks: Vec::new(),
                    };
                    if entry.1.len() < MOST_ACCESSES && !entry.1.contains(&access) {
                        entry.1.push(access);
                    }
                }
            }
        }
    }
    let mut locations = Vec::new();
    for ((object, offset), (size, accesses)) in found {
        let mut pairs = Vec::new();
        for (first, one) in accesses.iter().enumerate() {
            for (second, other) in accesses.iter().enumerate().skip(first) {
                let may_race = (one.write || other.write) && !(one.atomic && other.atomic);
                // A thread that runs from the start is unique; of other kinds there may be several.
                let are_two = one.kind != other.kind || !threads.once.contains(&one.kind);
                if may_race && are_two {
                    pairs.push((first, second));
                }
            }
        }
        if !pairs.is_empty() {
            let cell = Target { object, first: offset, stride: 0, count: 1 };
            let status = LocationStatus::Open(pairs);
            locations.push(SharedLocation { cell, size, accesses, more: 0, status });
        }
    }
    Locations { locations, reached: threads.counts }
}

/// The kinds of threads of a program.
struct Threads {
    /// The procedures that each kind may enter.
    reached: BTreeMap<TemplateId, BTreeSet<TemplateId>>,
    /// The kinds with only one thread.
    once: BTreeSet<TemplateId>,
    counts: Reached,
}

impl Threads {
    fn of(program: &Program) -> Self {
        let pointed = program.addressed_procedures();
        let targets = |callee: &Callee, arguments: usize| -> Vec<TemplateId> {
            match callee {
                Callee::Procedure(template) => vec![*template],
                Callee::Pointer(_) => {
                    let fits = |template: &&TemplateId| program.templates[**template].parameters <= arguments;
                    pointed.iter().filter(fits).copied().collect()
                }
            }
        };
        let mut calls: IdVec<TemplateId, Vec<TemplateId>> =
            program.templates.iter().map(|_| Vec::new()).collect();
        let mut starts: IdVec<TemplateId, Vec<(EdgeId, Vec<TemplateId>)>> =
            program.templates.iter().map(|_| Vec::new()).collect();
        for (template, code) in program.templates.enumerate() {
            for (edge, op) in
                code.edges.enumerate().flat_map(|(id, edge)| edge.ops.iter().map(move |op| (id, op)))
            {
                match op {
                    Op::Call(callee, arguments, _) => {
                        calls[template].extend(targets(callee, arguments.len()))
                    }
                    Op::Spawn(callee, arguments, _) => {
                        starts[template].push((edge, targets(callee, arguments.len())));
                    }
                    _ => {}
                }
            }
        }
        let first: Vec<TemplateId> = program.start.iter().map(|(template, _)| *template).collect();
        let mut once: BTreeSet<TemplateId> = program
            .start
            .iter()
            .filter(|(_, count)| *count == ir::Count::Exactly(1))
            .map(|(template, _)| *template)
            .collect();
        let mut reached: BTreeMap<TemplateId, BTreeSet<TemplateId>> = BTreeMap::new();
        let mut open = first;
        while let Some(kind) = open.pop() {
            if reached.contains_key(&kind) {
                continue;
            }
            let mut entered = BTreeSet::from([kind]);
            let mut next = vec![kind];
            while let Some(template) = next.pop() {
                next.extend(calls[template].iter().filter(|callee| entered.insert(**callee)).copied());
            }
            for started in entered.iter().flat_map(|template| &starts[*template]).flat_map(|(_, kinds)| kinds)
            {
                once.remove(started);
                open.push(*started);
            }
            reached.insert(kind, entered);
        }
        let all: BTreeSet<TemplateId> = reached.values().flatten().copied().collect();
        let taken = all.iter().map(|template| starts[*template].len()).sum();
        let counts = Reached {
            functions: (program.functions(all), program.functions(program.templates.ids())),
            thread_starts: (taken, starts.iter().map(Vec::len).sum()),
        };
        Self { reached, once, counts }
    }
}

/// The accesses of a step by name.
fn accesses(program: &Program, step: &Edge) -> Vec<Named> {
    let mut found = Vec::new();
    let mut add = |place: &Place, write: bool| {
        let part = named(program, &place.address, place.ty.bytes());
        found.extend(part.map(|(object, offset, size)| (object, offset, size, write, place.atomic)));
    };
    for op in &step.ops {
        for expr in op.expressions() {
            expr.walk(&mut |inner| {
                if let Expr::Load(place) = inner {
                    add(place, false);
                }
            });
        }
        for lhs in op.targets() {
            if let Lhs::Memory(place) = lhs {
                add(place, true);
            }
        }
    }
    found
}

/// The variable that an address names: a part of it, or all of it where an index is added.
fn named(program: &Program, address: &Expr, bytes: u64) -> Option<(ObjectId, u64, u64)> {
    let (object, exact) = match address {
        Expr::Address(object, offset) => (*object, Some(*offset)),
        Expr::Binary(_, _, pair) => match &pair.0 {
            Expr::Address(object, _) => (*object, None),
            _ => return None,
        },
        _ => return None,
    };
    let described = &program.objects[object];
    let is_variable = described.storage == Storage::Static
        && !matches!(described.layout, Layout::Sync(_))
        && !described.name.starts_with('"');
    let range = match exact {
        Some(offset) => (object, offset, bytes),
        None => (object, 0, described.size),
    };
    is_variable.then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> (Vec<String>, Reached) {
        let source = frontend_c::Source { name: "a.c".to_owned(), text: text.into() };
        let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
        let prepared = crate::pipeline::prepare(&program, verdict::Check::Races);
        let listed = by_name(&prepared);
        let name = |location: &SharedLocation| prepared.objects[location.cell.object].name.clone();
        (listed.locations.iter().map(name).collect(), listed.reached)
    }

    #[test]
    fn what_two_threads_access_by_name_is_open() {
        let (found, reached) = names(
            "#include <pthread.h>\nint x, y, z, r;\nvoid help(void) { y = y + 1; }\n\
             void *worker(void *a) { x = 1; help(); return (void *)(long)r; }\n\
             int main(void) { pthread_t t; z = 1; pthread_create(&t, 0, worker, 0); return x + r; }\n",
        );
        // Threads of one kind may be several; `r` is read only, and `z` belongs to one thread.
        assert_eq!(found, ["x", "y"]);
        assert_eq!((reached.functions, reached.thread_starts), ((3, 3), (1, 1)));
    }

    #[test]
    fn a_program_that_is_not_read_to_the_end_has_a_listing() {
        let text = "#include <pthread.h>\nint x, *p = &x;\nvoid *worker(void *a) { x = *p; return 0; }\n\
             int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0); return x; }\n";
        let source = frontend_c::Source { name: "a.c".to_owned(), text: text.into() };
        let options = frontend_c::Options::default();
        frontend_c::read(&[source], &options).expect("it is C");
        let live = crate::live::Live::default();
        live.reads(&options.draft);
        let (_, memory) = live.first_listing().expect("all functions are lowered");
        assert!(memory.locations.iter().any(|location| location.name == "x"));
        assert_eq!(memory.incomplete.as_deref(), Some(UNREAD));
        assert!(live.first_listing().is_none());
    }
}
