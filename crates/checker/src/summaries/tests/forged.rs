//! Single forgeries: claims that are put into an annotation which is right otherwise. Each is refused,
//! whatever the races.

use super::builder::{Builder, local, object, read, template, verdict};
use crate::summaries::view::Meter;
use crate::summaries::{known_to_others, listing, locations, try_on_executions, with_annotation};
use ir::{LocationKind, Op, Program, Storage, Target, TemplateId};
use testkit::random::Random;
use verdict::{
    Budget, LocationStatus, LockBase, LockFact, SharedLocation, SummariesProof, ThreadFacts, ThreadHandle,
    WhyNoRace,
};

/// Without races: locks in a static object and in allocated ones, starts, joins, callees, private and fresh
/// objects.
const PROGRAM: &str = "#include <pthread.h>
#include <stdlib.h>
#include <string.h>
extern int __VERIFIER_nondet_int(void);
struct s { pthread_mutex_t m; int x; };
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int g, h, twice;
struct s *shared; pthread_t handle;
void take(void) { pthread_mutex_lock(&m); }
void give(void) { pthread_mutex_unlock(&m); }
void inc(struct s *p) { pthread_mutex_lock(&p->m); p->x++; pthread_mutex_unlock(&p->m); }
void *child(void *a) { h = 1; return 0; }
void *many(void *a) { int own = 1; int *q = &own; *q = 2; take(); twice++; give(); return q == 0 ? 0 : a; }
void *worker(void *a) { struct s *p = a; inc(p); take(); g++; give(); pthread_t t; pthread_create(&t, 0, child, 0); pthread_join(t, 0); return 0; }
int main(void) {
  pthread_t t, u, v;
  struct s *p = malloc(sizeof *p);
  pthread_mutex_init(&p->m, 0);
  p->x = 0;
  shared = p;
  h = 2;
  pthread_create(&u, 0, many, 0);
  pthread_create(&v, 0, many, 0);
  pthread_create(&handle, 0, worker, p);
  inc(p);
  take();
  g = 1;
  give();
  pthread_join(handle, 0);
  h = 3;
  return 0;
}";

struct Forge {
    program: Program,
    proof: SummariesProof,
}

impl Forge {
    fn new() -> Self {
        let program = read(PROGRAM);
        let proof = Builder::strongest(&program);
        Self { program, proof }
    }
    fn template(&self, name: &str) -> TemplateId {
        template(&self.program, name)
    }
    /// Refused, with a reason that has these words.
    fn refuse(&self, what: &str, words: &str, change: impl FnOnce(&Program, &mut SummariesProof)) {
        let mut proof = self.proof.clone();
        change(&self.program, &mut proof);
        assert_ne!(proof, self.proof, "{what} changes something");
        match verdict(&self.program, &proof) {
            Ok(()) => panic!("{what} is accepted"),
            Err(error) => assert!(error.to_string().contains(words), "{what}: {error}"),
        }
    }
}

/// All facts of a function, in all contexts.
fn facts<'p>(
    program: &Program,
    proof: &'p mut SummariesProof,
    function: &str,
) -> impl Iterator<Item = &'p mut ThreadFacts> {
    let template = template(program, function);
    let contexts = proof.contexts.iter_mut().filter(move |context| context.template == template);
    contexts.flat_map(|context| context.facts.iter_mut().flatten())
}

fn insert<T: Ord>(list: &mut Vec<T>, item: T) {
    if let Err(at) = list.binary_search(&item) {
        list.insert(at, item);
    }
}

#[test]
fn the_right_one_is_accepted() {
    let forge = Forge::new();
    assert_eq!(verdict(&forge.program, &forge.proof), Ok(()));
    assert_eq!(try_on_executions(&forge.program, &forge.proof, &Budget::unlimited()), Ok(()));
}

#[test]
fn facts_everywhere() {
    let forge = Forge::new();
    let m = object(&forge.program, "m");
    let lock = LockFact { base: LockBase::Object(m), offset: 0, shared: false };
    for function in ["main", "worker", "many", "take", "give", "inc", "child"] {
        for shared in [false, true] {
            forge.refuse("a lock that is not held", "is held", |program, proof| {
                facts(program, proof, function)
                    .for_each(|facts| insert(&mut facts.locks, LockFact { shared, ..lock }));
            });
        }
        for kind in ["worker", "many", "child", "main"] {
            let kind = forge.template(kind);
            let known = facts(&forge.program, &mut forge.proof.clone(), function)
                .all(|facts| facts.absent.contains(&kind));
            if !known {
                forge.refuse("a kind that is alive", "is alive", |program, proof| {
                    facts(program, proof, function).for_each(|facts| insert(&mut facts.absent, kind));
                });
            }
        }
    }
    for (function, name) in [("main", "p"), ("worker", "p"), ("inc", "p"), ("worker", "a"), ("many", "a")] {
        let fresh = local(&forge.program, function, name);
        for number in [0, 1] {
            forge.refuse("a number", "the value of", |program, proof| {
                facts(program, proof, function).for_each(|facts| facts.numbers = vec![(fresh, number)]);
            });
        }
        forge.refuse("a local that is not fresh", "is fresh", |program, proof| {
            facts(program, proof, function).for_each(|facts| insert(&mut facts.fresh, fresh));
        });
        let kind = forge.template("worker");
        forge.refuse("a local that is no id", "is the id", |program, proof| {
            facts(program, proof, function).for_each(|facts| insert(&mut facts.ids, (fresh, kind)));
        });
        forge.refuse("an equality", "equality", |program, proof| {
            let template = template(program, function);
            let other = program.templates[template]
                .locals
                .enumerate()
                .find(|(id, other)| other.ty.bits == 64 && *id != fresh);
            let (other, _) = other.expect("there is one");
            facts(program, proof, function).for_each(|facts| facts.equal = vec![(fresh, other, 12)]);
        });
    }
}

#[test]
fn one_fact_at_a_time() {
    let forge = Forge::new();
    let (m, kinds) = (object(&forge.program, "m"), forge.program.templates.ids());
    let lock = LockFact { base: LockBase::Object(m), offset: 0, shared: false };
    let kinds: Vec<TemplateId> = kinds.collect();
    for context in 0..forge.proof.contexts.len() {
        for location in 0..forge.proof.contexts[context].facts.len() {
            let Some(known) = &forge.proof.contexts[context].facts[location] else { continue };
            let at = |proof: &'_ mut SummariesProof| proof.contexts[context].facts[location].take();
            forge.refuse("a location that is reached", "", |_, proof| {
                at(proof);
            });
            let mut added: Vec<ThreadFacts> = Vec::new();
            if !known.locks.contains(&lock) {
                let mut facts = known.clone();
                insert(&mut facts.locks, lock);
                added.push(facts);
            }
            for kind in kinds.iter().filter(|kind| !known.absent.contains(kind)) {
                let mut facts = known.clone();
                insert(&mut facts.absent, *kind);
                added.push(facts);
            }
            let code = &forge.program.templates[forge.proof.contexts[context].template];
            let wide = code.locals.enumerate().filter(|(_, local)| local.ty.bits == 64).map(|(id, _)| id);
            for local in wide {
                for kind in forge.proof.once.iter().filter(|kind| !known.ids.contains(&(local, **kind))) {
                    let mut facts = known.clone();
                    insert(&mut facts.ids, (local, *kind));
                    added.push(facts);
                }
            }
            for facts in added {
                forge.refuse("a fact at one location", "", |_, proof| {
                    proof.contexts[context].facts[location] = Some(facts);
                });
            }
        }
    }
}

#[test]
fn claims_about_the_whole_program() {
    let forge = Forge::new();
    for name in ["many", "take", "give", "inc"] {
        let template = forge.template(name);
        forge.refuse("it happens more than once", "more than once", |_, proof| {
            insert(&mut proof.once, template)
        });
    }
    for name in ["malloc in line 17", "t"] {
        let shared = object(&forge.program, name);
        if !forge.proof.private.contains(&shared) {
            forge.refuse("an object that escapes", "", |_, proof| insert(&mut proof.private, shared));
        }
    }
    for name in ["g", "m", "shared"] {
        let shared = object(&forge.program, name);
        forge.refuse("a static object", "no object of a thread", |_, proof| {
            insert(&mut proof.private, shared)
        });
    }
    let handle = object(&forge.program, "handle");
    let many = forge.template("many");
    forge.refuse("a handle of many", "", |_, proof| {
        insert(&mut proof.handles, ThreadHandle { object: handle, offset: 0, kind: many });
    });
    let (u, child) = (object(&forge.program, "u"), forge.template("child"));
    forge.refuse("a handle that another id is stored in", "", |_, proof| {
        proof.contexts.iter_mut().flat_map(|context| context.facts.iter_mut().flatten()).for_each(|facts| {
            facts.set.clear();
            facts.ids.clear();
        });
        proof.handles = vec![ThreadHandle { object: u, offset: 0, kind: child }];
    });
    forge.refuse("a handle outside of its object", "", |_, proof| {
        proof.handles = vec![ThreadHandle { object: handle, offset: 4, kind: child }];
    });
}

#[test]
fn contexts_and_calls() {
    let forge = Forge::new();
    let count = forge.proof.contexts.len();
    for context in 0..count {
        for call in 0..forge.proof.contexts[context].calls.len() {
            forge.refuse("a callee is left out", "leaves out", |_, proof| {
                proof.contexts[context].calls.remove(call);
            });
            let template = forge.proof.contexts[context].calls[call].1;
            let others = (0..count).filter(|other| forge.proof.contexts[*other].template != template);
            for other in others {
                forge.refuse("another context", "another procedure", |_, proof| {
                    proof.contexts[context].calls[call].2 = other as u32;
                });
            }
        }
        for release in 0..forge.proof.contexts[context].releases.len() {
            forge.refuse("a lock that is given back secretly", "", |_, proof| {
                proof.contexts[context].releases.remove(release);
            });
            forge.refuse("a part of it", "", |_, proof| {
                let target: &mut Target = &mut proof.contexts[context].releases[release];
                target.first += 8;
            });
        }
        forge.refuse("another kind", "", |_, proof| {
            proof.contexts[context].kind =
                TemplateId(u32::from(proof.contexts[context].kind == TemplateId(0)));
        });
        forge.refuse("fewer locations", "other locations", |_, proof| {
            proof.contexts[context].facts.pop();
        });
    }
    forge.refuse("no contexts", "no context", |_, proof| proof.contexts.clear());
}

/// The listing says what protects each location, and which pairs may race.
#[test]
fn the_listing_of_locations() {
    let forge = Forge::new();
    let found = locations(&forge.program.clone().into(), &forge.proof, &Budget::unlimited())
        .expect("the claims hold");
    let named = |name: &str| {
        let object = object(&forge.program, name);
        found.locations.iter().find(|location| location.cell.object == object)
    };
    let free = |name: &str| match &named(name).unwrap_or_else(|| panic!("{name} is shared")).status {
        LocationStatus::RaceFree(reasons) => reasons.clone(),
        LocationStatus::Open(pairs) => panic!("{name} is open: {pairs:?}"),
    };
    assert!(matches!(free("g")[..], [WhyNoRace::Lock(_)]));
    assert_eq!(free("h"), [WhyNoRace::Order]);
    assert!(named("own").is_none() && named("m").is_none());
    assert_eq!(found.reached.thread_starts, (4, 4));
    // Without any facts, all is open.
    let mut bare = forge.proof.clone();
    bare.handles.clear();
    for context in &mut bare.contexts {
        context.facts.iter_mut().flatten().for_each(|facts| *facts = ThreadFacts::default());
    }
    let found =
        locations(&forge.program.clone().into(), &bare, &Budget::unlimited()).expect("nothing is claimed");
    let open = found.locations.iter().filter(|location| matches!(location.status, LocationStatus::Open(_)));
    assert!(open.count() >= 4);
}

/// Accepted proofs with up to three random changes are never accepted for a program with a race, and
/// nothing crashes.
#[test]
fn random_changes_against_broken_twins() {
    let broken = [
        PROGRAM.replace("take();\n  g = 1;\n  give();", "g = 1;\n  take();\n  give();"),
        PROGRAM.replace("pthread_join(handle, 0);", "pthread_join(u, 0);"),
        PROGRAM.replace("void give(void) {", "void give(void) { pthread_mutex_unlock(&m);"),
        PROGRAM.replace("h = 1; return 0;", "h = 1; g = 2; return 0;"),
        PROGRAM.replace(
            "p->x = 0;\n  shared = p;\n  h = 2;",
            "p->x = 0;\n  shared = p;\n  pthread_create(&t, 0, worker, p); h = 2;",
        ),
        PROGRAM.replace("inc(p);\n  take();", "p->x++;\n  take();"),
    ];
    let mut random = Random::new(7);
    for (number, text) in broken.iter().enumerate() {
        assert_ne!(text, PROGRAM, "twin {number} differs");
        let program = read(text);
        let strongest = Builder::strongest(&program);
        assert!(verdict(&program, &strongest).is_err(), "twin {number} is accepted");
        for round in 0..250 {
            let mut proof = strongest.clone();
            for _ in 0..1 + round % 3 {
                mutate(&program, &mut proof, &mut random);
            }
            let accepted = crate::check_proof(
                &program.clone().into(),
                &verdict::Property::NoRace,
                &verdict::Proof::Summaries(Box::new(proof.clone())),
                &Budget::unlimited(),
            );
            assert!(accepted.is_err(), "twin {number} is accepted in round {round}: {proof:?}");
        }
    }
}

/// Changes a proof in one place.
fn mutate(program: &Program, proof: &mut SummariesProof, random: &mut Random) {
    let mut any = |bound: usize| if bound == 0 { 0 } else { random.below(bound) };
    let templates = program.templates.len();
    let context = any(proof.contexts.len());
    let kind = TemplateId(any(templates + 1) as u32);
    match any(12) {
        0 => insert(&mut proof.once, kind),
        1 => insert(&mut proof.private, ir::ObjectId(any(program.objects.len()) as u32)),
        2 => {
            let context = &mut proof.contexts[context];
            let (at, other) = (any(context.calls.len()), any(12) as u32);
            if let Some(call) = context.calls.get_mut(at) {
                call.2 = other;
            }
        }
        3 => {
            let context = &mut proof.contexts[context];
            let at = any(context.calls.len());
            if at < context.calls.len() {
                context.calls.remove(at);
            }
        }
        4 => proof.contexts[context].releases.clear(),
        5 => {
            let at = any(proof.contexts[context].facts.len());
            proof.contexts[context].facts[at] = None;
        }
        what => {
            let code = &program.templates[proof.contexts[context].template];
            let local = ir::LocalId(any(code.locals.len() + 1) as u32);
            let other = ir::LocalId(any(code.locals.len() + 1) as u32);
            let object = ir::ObjectId(any(program.objects.len()) as u32);
            let (everywhere, at) = (any(2) == 0, any(proof.contexts[context].facts.len()));
            for (number, facts) in proof.contexts[context].facts.iter_mut().enumerate() {
                let Some(facts) = facts.as_mut().filter(|_| everywhere || number == at) else { continue };
                match what {
                    6 => insert(&mut facts.absent, kind),
                    7 => insert(&mut facts.fresh, local),
                    8 => insert(&mut facts.ids, (local, kind)),
                    9 => facts.equal.push((local, other, 8)),
                    10 => {
                        let base = LockBase::Local(local);
                        insert(&mut facts.locks, LockFact { base, offset: 0, shared: false });
                    }
                    _ => {
                        let base = LockBase::Object(object);
                        insert(&mut facts.locks, LockFact { base, offset: 0, shared: false });
                    }
                }
            }
        }
    }
}

/// An end location is where callees return from: claims there reach the caller.
#[test]
fn ends_of_callees() {
    let forge = Forge::new();
    let m = object(&forge.program, "m");
    let give = forge.template("give");
    let lock = LockFact { base: LockBase::Object(m), offset: 0, shared: false };
    forge.refuse("the lock is still held at the end", "is held", |program, proof| {
        let code = &program.templates[give];
        for context in proof.contexts.iter_mut().filter(|context| context.template == give) {
            for (location, facts) in code.locations.iter().zip(&mut context.facts) {
                if let (LocationKind::End, Some(facts)) = (location.kind, facts) {
                    insert(&mut facts.locks, lock);
                }
            }
        }
    });
    let has_start = |op: &Op| matches!(op, Op::Spawn(..));
    let starts = forge.program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    assert_eq!(starts.filter(|op| has_start(op)).count(), 4);
}

#[test]
fn what_others_know_is_named_and_no_more() {
    let forge = Forge::new();
    let views = forge.program.clone().into();
    let known = |proof: &SummariesProof| known_to_others(&views, proof, &Budget::unlimited());
    assert_eq!(known(&forge.proof), Ok(Vec::new()));
    // The allocated object is passed to a thread.
    let shared = forge.program.objects.enumerate().find(|(_, object)| object.storage == Storage::Site);
    let (shared, _) = shared.expect("there is an allocation");
    let mut proof = forge.proof.clone();
    proof.private.push(shared);
    proof.private.sort_unstable();
    proof.private.dedup();
    assert_eq!(known(&proof), Ok(vec![shared]));
    assert!(locations(&views, &proof, &Budget::unlimited()).is_err());
}

#[test]
fn what_is_not_compared_in_time_is_open() {
    let lines = "pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m);\n".repeat(260);
    let text = format!(
        "#include <pthread.h>\nint x, y; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *worker(void *a) {{ pthread_mutex_lock(&m); y++; pthread_mutex_unlock(&m); {lines} return 0; }}
int main(void) {{ pthread_t t, u; pthread_create(&t, 0, worker, 0); pthread_create(&u, 0, worker, 0); return 0; }}"
    );
    let program = read(&text);
    let proof = Builder::strongest(&program);
    let views = program.clone().into();
    let stopped = Budget::unlimited();
    stopped.cancel.cancel();
    let found = with_annotation(&views, &proof, &Budget::unlimited(), |view, (locks, _), accesses, meter| {
        let all = listing::list(view, locks, accesses, meter)?;
        Ok((all, listing::list(view, locks, accesses, &mut Meter::new(&stopped))?))
    });
    let (all, early) = found.expect("the annotation is right");
    let (all, early) = (all.locations, early.locations);
    let is_free = |location: &SharedLocation| matches!(location.status, LocationStatus::RaceFree(_));
    assert!(all.len() == 2 && all.iter().all(is_free), "{all:?}");
    // What takes long comes last; of that nothing is said.
    assert_eq!(early.len(), 2);
    let [x, y] = [object(&program, "x"), object(&program, "y")];
    let of = |object| early.iter().find(|location| location.cell.object == object);
    assert!(of(y).is_some_and(is_free), "{early:?}");
    assert!(of(x).is_some_and(|location| location.status == LocationStatus::Open(Vec::new())), "{early:?}");
}
