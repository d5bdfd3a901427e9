//! The checker refuses a proof of the flow engine with any one fact removed or made up.

use checker::check_proof;
use ir::{Expr, ObjectId, TemplateId};
use threadproof::pipeline;
use verdict::{Budget, Check, Engine, FlowProof, HeldLock, Proof, Silent, Task, Verdict};

/// A program without races, for whose proof each fact counts.
const PROGRAMS: [(&str, &str); 7] = [
    (
        "a lock, two threads, joins",
        "#include <pthread.h>
        int x, y; pthread_mutex_t m;
        void *f(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }
        int main(void) { pthread_t t, u; pthread_mutex_init(&m, 0); y = 1;
            pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0);
            pthread_join(t, 0); pthread_join(u, 0); x = 5; y++; return 0; }",
    ),
    (
        "any number of threads",
        "#include <pthread.h>
        int x; pthread_mutex_t m; int any(void);
        void *f(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }
        extern int __VERIFIER_nondet_int(void);
        int main(void) { pthread_t t; while (__VERIFIER_nondet_int()) pthread_create(&t, 0, f, 0);
            pthread_mutex_lock(&m); x = 5; pthread_mutex_unlock(&m); return 0; }",
    ),
    (
        "readers and a writer",
        "#include <pthread.h>
        int x; pthread_rwlock_t l;
        void *r(void *a) { pthread_rwlock_rdlock(&l); int y = x; pthread_rwlock_unlock(&l); return 0; }
        void *w(void *a) { pthread_rwlock_wrlock(&l); x++; pthread_rwlock_unlock(&l); return 0; }
        int main(void) { pthread_t t, u, v; pthread_create(&t, 0, r, 0); pthread_create(&v, 0, r, 0); pthread_create(&u, 0, w, 0); return 0; }",
    ),
    (
        "a lock in each element",
        "#include <pthread.h>
        struct s { int datum; pthread_mutex_t m; } a[4]; extern int __VERIFIER_nondet_int(void);
        void *f(void *arg) { int i = __VERIFIER_nondet_int(); struct s *p = &a[i];
            pthread_mutex_lock(&p->m); p->datum++; pthread_mutex_unlock(&p->m); return 0; }
        int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); return 0; }",
    ),
    (
        "a lock that others give back protects nothing; joins do",
        "#include <pthread.h>
        int x; pthread_mutex_t m;
        void *f(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }
        void *g(void *a) { pthread_mutex_unlock(&m); return 0; }
        int main(void) { pthread_t t, u; pthread_create(&u, 0, g, 0); pthread_create(&t, 0, f, 0);
            pthread_join(t, 0); x = 5; return 0; }",
    ),
    (
        "fresh objects",
        "#include <pthread.h>
        #include <stdlib.h>
        struct n { int v; struct n *next; } *list; pthread_mutex_t m;
        void *f(void *a) { struct n *p = malloc(sizeof *p); if (!p) return 0; p->v = 1;
            pthread_mutex_lock(&m); p->next = list; list = p; pthread_mutex_unlock(&m);
            pthread_mutex_lock(&m); if (list) list->v++; pthread_mutex_unlock(&m); return 0; }
        int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); return 0; }",
    ),
    (
        "threads that start and join threads",
        "#include <pthread.h>
        int x;
        void *h(void *a) { x++; return 0; }
        void *f(void *a) { pthread_t t; x++; pthread_create(&t, 0, h, 0); pthread_join(t, 0); x++; return 0; }
        int main(void) { pthread_t t; x = 1; pthread_create(&t, 0, f, 0); pthread_join(t, 0); x = 5; return 0; }",
    ),
];

#[test]
fn every_fact_of_a_flow_proof_counts() {
    for (name, text) in PROGRAMS {
        let source = frontend_c::Source { name: format!("{name}.c"), text: text.as_bytes().to_vec() };
        let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("these are C");
        let program = pipeline::prepare(&program, Check::Races);
        let property = Check::Races.property();
        let budget = Budget::unlimited();
        let verdict =
            engine_flow::Flow.verify(Task { program: &program, property: &property }, &budget, &Silent);
        let Verdict::Safe(Proof::Flow(proof)) = verdict else { panic!("{name}: {verdict:?}") };
        let accepts = |proof: FlowProof| {
            check_proof(&program, &property, &Proof::Flow(Box::new(proof)), &budget).is_ok()
        };
        assert!(accepts((*proof).clone()), "{name}: the proof itself");
        let mutants = mutants(&proof);
        assert!(mutants.len() > 50, "{name}: {} mutants", mutants.len());
        for (what, mutant) in mutants {
            assert!(!accepts(mutant), "{name}: {what}");
        }
    }
}

fn mutants(proof: &FlowProof) -> Vec<(String, FlowProof)> {
    let mut found = Vec::new();
    let bound = proof.coreachable.bound();
    for a in 0..bound {
        for b in proof.coreachable.related(a).filter(|b| *b >= a) {
            let mut mutant = proof.clone();
            mutant.coreachable.remove(a, b);
            found.push((format!("without the pair {a}, {b}"), mutant));
        }
        if proof.reachable[a] {
            let mut mutant = proof.clone();
            mutant.reachable[a] = false;
            found.push((format!("without location {a}"), mutant));
        }
    }
    for template in (0..proof.facts.len()).map(|index| TemplateId(index as u32)) {
        if !proof.unique.contains(&template) {
            let mut mutant = proof.clone();
            mutant.unique.push(template);
            found.push((format!("{template} is called unique"), mutant));
        }
    }
    made_up_facts(proof, &mut found);
    found
}

/// Facts that are true somewhere, or could be, claimed elsewhere.
fn made_up_facts(proof: &FlowProof, found: &mut Vec<(String, FlowProof)>) {
    let all = || proof.facts.iter().flatten();
    let mut locks: Vec<HeldLock> = all().flat_map(|facts| facts.locks.clone()).collect();
    locks.extend((0..4).map(|object| HeldLock {
        base: Expr::Address(ObjectId(object), 0),
        offset: 0,
        shared: false,
    }));
    let threads: Vec<_> = all().flat_map(|facts| facts.threads.clone()).collect();
    let fresh: Vec<_> = all().flat_map(|facts| facts.fresh.clone()).collect();
    let first = proof.first_locations();
    for (template, locations) in proof.facts.iter().enumerate() {
        for (location, facts) in locations.iter().enumerate() {
            if !proof.reachable[first[template] + location] {
                continue;
            }
            let mut change = |what: String, change: &mut dyn FnMut(&mut verdict::LocationFacts)| {
                let mut mutant = proof.clone();
                change(&mut mutant.facts[template][location]);
                found.push((format!("{what} in {template} at {location}"), mutant));
            };
            for lock in &locks {
                // Who holds a lock exclusively holds it for reading too: that is no lie.
                let exclusive = HeldLock { shared: false, ..lock.clone() };
                if !facts.locks.contains(lock) && !facts.locks.contains(&exclusive) {
                    change(format!("holding {lock:?}"), &mut |facts| facts.locks.push(lock.clone()));
                }
            }
            for thread in &threads {
                if !facts.threads.contains(thread) {
                    change(format!("knowing {thread:?}"), &mut |facts| facts.threads.push(thread.clone()));
                }
            }
            for local in &fresh {
                if !facts.fresh.contains(local) {
                    change(format!("{local} is fresh"), &mut |facts| facts.fresh.push(*local));
                }
            }
        }
    }
}
