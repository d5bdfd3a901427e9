//! Ids of threads that are moved: a list of threads may not rely on a copy that a callee overwrites.

use super::builder::{Builder, flaws_of, local, object, read, template, verdict};
use crate::summaries::state::Unfounded;
use ir::passes::PointsTo;
use ir::{LocationId, Program};
use verdict::{Handle, Index, LockBase, Numbered, Row, Started, SummariesProof, ThreadFacts};

/// Main starts two threads of one kind, moves the id of the first one by a local, calls something, and
/// joins both.
fn program(between: &str, joined: &str) -> Program {
    read(&format!(
        "#include <pthread.h>
        int x; pthread_t a, b, copy, other; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        void *worker(void *p) {{ pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }}
        void *quick(void *p) {{ return 0; }}
        void change(void) {{ {between} }}
        int main(void) {{
          pthread_create(&other, 0, quick, 0);
          pthread_create(&a, 0, worker, 0);
          pthread_create(&b, 0, worker, 0);
          pthread_t id = a;
          copy = id;
          change();
          pthread_join({joined}, 0);
          pthread_join(b, 0);
          x = 1;
          return 0;
        }}"
    ))
}

/// What may be claimed of workers at one location, those that are wanted first; `None` at the end: nothing.
/// The id of the first worker is wanted in a local that it was just read into, else in a variable.
fn claims(program: &Program, wanted: &str) -> Vec<Option<Vec<Numbered>>> {
    let one = |handle: Handle| {
        let index = |plus| vec![Index { local: None, plus }];
        Numbered { handle: Some(handle), argument: None, from: index(0), below: index(1) }
    };
    let memory = |name: &str| {
        let base = LockBase::Object(object(program, name));
        Handle::Memory(Row { base, offset: 0, stride: 0 })
    };
    let main = &program.templates[template(program, "main")];
    let id = local(program, "main", "id");
    let wide = main.locals.enumerate().filter(|(_, one)| one.ty.bits == 64).map(|(local, _)| local);
    let read: Vec<Handle> = wide.filter(|local| *local != id).map(Handle::Local).collect();
    let mut firsts = read.clone();
    firsts.extend([memory(wanted), Handle::Local(id), memory("a")]);
    let mut seconds = read;
    seconds.push(memory("b"));
    let mut found: Vec<Option<Vec<Numbered>>> = Vec::new();
    found.extend(firsts.iter().chain(&seconds).map(|handle| Some(vec![one(*handle)])));
    for first in &firsts {
        found.extend(seconds.iter().map(|second| Some(vec![one(*first), one(*second)])));
    }
    found.push(None);
    found
}

/// The strongest annotation with lists of workers in main that the rules allow.
fn strongest(program: &Program, wanted: &str) -> SummariesProof {
    let points_to = PointsTo::of(program);
    let mut proof = Builder::strongest(program);
    let (main, worker) = (template(program, "main"), template(program, "worker"));
    let number = proof.contexts.iter().position(|context| context.template == main).expect("main runs");
    let claims = claims(program, wanted);
    let base = proof.contexts[number].facts.clone();
    // 0: workers are absent; then the claims in order.
    let mut chosen: Vec<usize> = base.iter().map(|_| 0).collect();
    let set = |facts: &mut ThreadFacts, choice: usize| {
        facts.absent.retain(|kind| *kind != worker);
        facts.started.clear();
        match choice.checked_sub(1).map(|choice| claims[choice].clone()) {
            None => {
                facts.absent.push(worker);
                facts.absent.sort_unstable();
            }
            Some(members) => facts.started.extend(members.map(|mut members| {
                members.sort_unstable();
                Started { kind: worker, own: false, members }
            })),
        }
    };
    loop {
        for (location, facts) in proof.contexts[number].facts.iter_mut().enumerate() {
            if let Some(facts) = facts {
                set(facts, chosen[location]);
            }
        }
        let flaws = flaws_of(program, &points_to, &proof);
        let wrong: Vec<LocationId> = flaws
            .iter()
            .filter(|flaw| flaw.context == number)
            .filter(|flaw| {
                matches!(flaw.what, Unfounded::Absent(kind) | Unfounded::Started((kind, _)) if kind == worker)
            })
            .map(|flaw| flaw.location)
            .collect();
        // The first that is wrong, so that what follows is asked with what is known before.
        let Some(first) = wrong.iter().min_by_key(|location| order(program, **location)) else {
            assert!(flaws.is_empty(), "{flaws:?}");
            return proof;
        };
        chosen[first.0 as usize] += 1;
        assert!(chosen[first.0 as usize] <= claims.len(), "{first} has no claim that fits");
    }
}

/// How far a location is from the entry of main, which has no loops.
fn order(program: &Program, location: LocationId) -> usize {
    let code = &program.templates[template(program, "main")];
    let outgoing = code.outgoing();
    let mut distance = vec![0; code.locations.len()];
    let mut open = vec![code.entry];
    while let Some(at) = open.pop() {
        for edge in &outgoing[at] {
            let next = code.edges[*edge].target;
            if distance[next.0 as usize] <= distance[at.0 as usize] {
                distance[next.0 as usize] = distance[at.0 as usize] + 1;
                open.push(next);
            }
        }
    }
    distance[location.0 as usize]
}

/// Whether the best annotation is accepted.
fn accepts(between: &str, joined: &str) -> bool {
    let program = program(between, joined);
    match verdict(&program, &strongest(&program, joined)) {
        Ok(()) => true,
        Err(error) => {
            assert!(error.to_string().contains("may race"), "{error}");
            false
        }
    }
}

#[test]
fn ids_that_callees_overwrite() {
    // An id that stays where the start put it is known after a call that writes elsewhere, and not after
    // one that writes there.
    assert!(accepts("copy = other;", "a"));
    assert!(!accepts("a = other;", "a"));
    // A copy is not known after a call, whatever it writes: nobody lists who writes there.
    assert!(!accepts("copy = other;", "copy"));
    assert!(!accepts("", "copy"));
}
