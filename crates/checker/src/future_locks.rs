//! Which locks a thread may be without, and which lock each static object is accessed under.
//!
//! A lock is a place in a static object that some operation acquires by a direct address. For each lock, this
//! file computes the locations where a thread *may lack* it, by reachability: threads start without it; they
//! are still without it after any step that does not acquire it; after releasing any lock that may be this
//! one, they are without it. A caller may lack it after a call if the procedure may end without it, and
//! either the caller lacked it before or the procedure may release it.
//!
//! There is only one use: if no activation of a thread is at a location that never lacks the lock, the thread
//! must acquire it, by that direct address, before it reaches such a location.

use ir::{Callee, Expr, IdVec, LocationId, LocationKind, ObjectId, Op, Program, Storage, TemplateId};

/// A place in a static object.
type Lock = (ObjectId, u64);

/// The locks of a program that objects are accessed under.
pub(crate) struct Locks {
    /// For each object, the place of its lock.
    of_object: IdVec<ObjectId, Option<(usize, Lock)>>,
    may_lack: Vec<IdVec<TemplateId, IdVec<LocationId, bool>>>,
}

/// The most locks that are analysed.
const MOST_LOCKS: usize = 64;

/// An access: its location and its object.
pub(crate) type Site = (TemplateId, LocationId, ObjectId);

impl Locks {
    /// Analyses a program. `pointees`: the procedures that pointers may lead to. `sites`: all accesses to
    /// objects.
    pub fn new(program: &Program, pointees: &[TemplateId], sites: &[Site]) -> Self {
        // One lock for each object: the first that is acquired in it.
        let mut locks: Vec<Lock> = Vec::new();
        for op in program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
            if let Op::Lock(_, address) = op
                && let Some(lock) = place(program, address)
                && locks.len() < MOST_LOCKS
                && locks.iter().all(|(object, _)| *object != lock.0)
            {
                locks.push(lock);
            }
        }
        let may_lack: Vec<_> = locks.iter().map(|lock| may_lack(program, pointees, *lock)).collect();
        let mut missed: IdVec<ObjectId, Vec<usize>> =
            program.objects.iter().map(|_| vec![0; locks.len()]).collect();
        for (template, location, object) in sites {
            for (number, lacks) in may_lack.iter().enumerate() {
                missed[*object][number] += usize::from(lacks[*template][*location]);
            }
        }
        let of_object = program.objects.enumerate().map(|(object, what)| {
            let own = locks.iter().position(|lock| lock.0 == object);
            let least = || (0..locks.len()).min_by_key(|number| missed[object][*number]);
            let number = own.or_else(least).filter(|_| what.storage == Storage::Static)?;
            Some((number, locks[number]))
        });
        Self { of_object: of_object.collect(), may_lack }
    }

    /// The lock of an object: its number and its place.
    pub fn of(&self, object: ObjectId) -> Option<(usize, Lock)> {
        self.of_object[object]
    }
    /// Whether a thread at a location may be without a lock.
    pub fn may_lack(&self, lock: usize, template: TemplateId, location: LocationId) -> bool {
        self.may_lack[lock][template][location]
    }
    /// Whether an access to an object may be made without its lock.
    pub fn is_loose(&self, template: TemplateId, location: LocationId, op: &Op, object: ObjectId) -> bool {
        match self.of(object) {
            None => true,
            Some((number, lock)) => {
                let takes =
                    matches!(op, Op::Lock(_, Expr::Address(taken, offset)) if (*taken, *offset) == lock);
                !takes && self.may_lack(number, template, location)
            }
        }
    }
}

fn place(program: &Program, address: &Expr) -> Option<Lock> {
    match address {
        Expr::Address(object, offset) if program.objects[*object].storage == Storage::Static => {
            Some((*object, *offset))
        }
        _ => None,
    }
}

fn may_lack(
    program: &Program,
    pointees: &[TemplateId],
    lock: Lock,
) -> IdVec<TemplateId, IdVec<LocationId, bool>> {
    let callees = |callee: &Callee| match callee {
        Callee::Procedure(template) => vec![*template],
        Callee::Pointer(_) => pointees.to_vec(),
    };
    let mut lacks: IdVec<TemplateId, IdVec<LocationId, bool>> =
        program.templates.iter().map(|code| code.locations.iter().map(|_| false).collect()).collect();
    let ends: IdVec<TemplateId, Vec<LocationId>> = program
        .templates
        .iter()
        .map(|code| code.locations.ids().filter(|at| code.locations[*at].kind == LocationKind::End).collect())
        .collect();
    let mut gives_back: IdVec<TemplateId, bool> = program.templates.iter().map(|_| false).collect();
    for (template, _) in &program.start {
        lacks[*template][program.templates[*template].entry] = true;
    }
    loop {
        let mut grown = false;
        let mut mark = |flag: &mut bool| {
            grown |= !*flag;
            *flag = true;
        };
        for (template, code) in program.templates.enumerate() {
            for (_, edge) in code.edges.enumerate() {
                let mut without = lacks[template][edge.source];
                for op in &edge.ops {
                    match op {
                        Op::Lock(_, address) => without &= place(program, address) != Some(lock),
                        Op::Unlock(_, address) => {
                            if place(program, address).is_none_or(|other| other == lock) {
                                without = true;
                                mark(&mut gives_back[template]);
                            }
                        }
                        Op::Spawn(callee, ..) => {
                            for callee in callees(callee) {
                                mark(&mut lacks[callee][program.templates[callee].entry]);
                            }
                        }
                        Op::Call(callee, ..) => {
                            let mut after = false;
                            for callee in callees(callee) {
                                let called = &program.templates[callee];
                                if without {
                                    mark(&mut lacks[callee][called.entry]);
                                }
                                if gives_back[callee] {
                                    mark(&mut gives_back[template]);
                                }
                                let ends_without = ends[callee].iter().any(|end| lacks[callee][*end]);
                                after |= ends_without && (without || gives_back[callee]);
                            }
                            without = after;
                        }
                        Op::Assume(_) | Op::Assign(_) | Op::Join(..) | Op::Allocate { .. } => {}
                        Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Broadcast(_) => {}
                    }
                }
                if without {
                    mark(&mut lacks[template][edge.target]);
                }
            }
        }
        if !grown {
            return lacks;
        }
    }
}
