//! The checker refuses a proof of the flow engine with any one fact removed or made up.

use checker::check_proof;
use ir::{Expr, LocalId, ObjectId, TemplateId};
use portfolio::pipeline;
use verdict::{Budget, Check, Engine, FlowProof, HeldLock, Proof, Silent, Task, Verdict};

/// A program without races, for whose proof each fact counts.
const PROGRAMS: [(&str, &str); 12] = [
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
    (
        "an element for each thread, all joined",
        "#include <pthread.h>
        int data[100]; extern int __VERIFIER_nondet_int(void);
        void *f(void *a) { int *p = a; *p = 1; return 0; }
        int main(void) { pthread_t t[100]; int n = __VERIFIER_nondet_int(); if (n < 0) return 0;
            for (int i = 0; i < n; i++) { data[i] = i; pthread_create(&t[i], 0, f, &data[i]); }
            for (int j = 0; j < n; j++) { pthread_join(t[j], 0); data[j]++; }
            data[5] = 1; return 0; }",
    ),
    (
        "an index for each thread",
        "#include <pthread.h>
        int data[100]; extern int __VERIFIER_nondet_int(void);
        void *f(void *a) { int i = (int)(long)a; data[i] = 1; data[i] = 2; return 0; }
        int main(void) { pthread_t t[100];
            for (int i = 0; i < 100; i++) pthread_create(&t[i], 0, f, (void *)(long)i);
            for (int j = 0; j < 100; j++) pthread_join(t[j], 0);
            data[5] = 1; return 0; }",
    ),
    (
        "an object for each thread",
        "#include <pthread.h>
        #include <stdlib.h>
        int *last; pthread_mutex_t m; extern int __VERIFIER_nondet_int(void);
        void *f(void *a) { int *p = a; *p = 2; pthread_mutex_lock(&m); last = 0; pthread_mutex_unlock(&m); free(p); return 0; }
        int main(void) { pthread_t t; while (__VERIFIER_nondet_int()) { int *p = malloc(sizeof *p); *p = 1;
            pthread_mutex_lock(&m); last = p; pthread_mutex_unlock(&m); pthread_create(&t, 0, f, p); } return 0; }",
    ),
    (
        "numbers from a counter",
        "#include <pthread.h>
        int data[100], next; pthread_mutex_t m; extern int __VERIFIER_nondet_int(void);
        void *f(void *a) { pthread_mutex_lock(&m); int i = next; next += 2; pthread_mutex_unlock(&m);
            data[i] = 1; data[i + 1] = 2; return 0; }
        int main(void) { pthread_t t; while (__VERIFIER_nondet_int()) pthread_create(&t, 0, f, 0); return 0; }",
    ),
    (
        "a count of threads",
        "#include <pthread.h>
        int data, running; pthread_mutex_t m; pthread_cond_t c; extern int __VERIFIER_nondet_int(void);
        void *f(void *a) { pthread_mutex_lock(&m); data = 1; running--; pthread_mutex_unlock(&m); return 0; }
        int main(void) { pthread_t t; int n = __VERIFIER_nondet_int();
            for (int i = 0; i < n; i++) {
                pthread_mutex_lock(&m); running++; pthread_mutex_unlock(&m); pthread_create(&t, 0, f, 0); }
            pthread_mutex_lock(&m); while (running) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);
            data = 2; return 0; }",
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
        if !proof.given.iter().any(|(given, _)| *given == template) {
            let mut mutant = proof.clone();
            mutant.given.push((template, LocalId(0)));
            found.push((format!("{template} has its own object"), mutant));
        }
    }
    made_up_facts(proof, &mut found);
    made_up_members(proof, &mut found);
    made_up_numbers(proof, &mut found);
    found
}

/// Claims about families that go further than the proof does.
fn made_up_members(proof: &FlowProof, found: &mut Vec<(String, FlowProof)>) {
    let first = proof.first_locations();
    for (number, family) in proof.families.iter().enumerate() {
        let all = || family.at.iter().filter_map(|facts| facts.members.as_ref());
        let above: Vec<_> = all().flat_map(|members| members.above.clone()).collect();
        let below: Vec<_> = all().flat_map(|members| members.below.clone()).collect();
        let loaded: Vec<_> = all().flat_map(|members| members.loaded.clone()).collect();
        for (location, facts) in family.at.iter().enumerate() {
            let node = first[family.parent.0 as usize] + location;
            let Some(members) = facts.members.as_ref().filter(|members| !members.none) else { continue };
            if !proof.reachable[node] {
                continue;
            }
            let mut change = |what: String, change: &mut dyn FnMut(&mut verdict::ParentFacts)| {
                let mut mutant = proof.clone();
                change(&mut mutant.families[number].at[location]);
                found.push((format!("{what} at {location} of the parent of family {number}"), mutant));
            };
            let mut edit = |what: String, edit: &dyn Fn(&mut verdict::Members)| {
                change(what, &mut |facts| edit(facts.members.as_mut().expect("there are members")));
            };
            edit("no members".to_owned(), &|members| members.none = true);
            if !members.argument {
                edit("arguments".to_owned(), &|members| members.argument = true);
            }
            if !members.handle {
                edit("handles".to_owned(), &|members| members.handle = true);
            }
            // What is weaker than what is known is no lie.
            let is_above = |bound: &verdict::Bound| {
                members.above.iter().any(|known| known.of == bound.of && known.plus >= bound.plus)
            };
            let is_below = |bound: &verdict::Bound| {
                members.below.iter().any(|known| known.of == bound.of && known.plus <= bound.plus)
            };
            for bound in above.iter().filter(|bound| !is_above(bound)) {
                edit(format!("above {bound:?}"), &|members| members.above.push(*bound));
            }
            for bound in below.iter().filter(|bound| !is_below(bound)) {
                edit(format!("below {bound:?}"), &|members| members.below.push(*bound));
            }
            for handle in loaded.iter().filter(|handle| !members.loaded.contains(handle)) {
                edit(format!("handle {handle:?}"), &|members| members.loaded.push(*handle));
            }
            for (less, more, _) in facts.orders.iter() {
                let by = facts.orders.distance(less, more).expect("it is known") - 1;
                change(format!("{less:?} <= {more:?} + {by}"), &mut |facts| facts.orders.add(less, more, by));
            }
        }
        let mut change = |what: &str, change: &dyn Fn(&mut verdict::Family)| {
            let mut mutant = proof.clone();
            change(&mut mutant.families[number]);
            found.push((format!("{what} of family {number}"), mutant));
        };
        for parameter in 0..family.arguments.len() {
            change("another argument", &|family| family.arguments[parameter] = Some(Expr::Myself));
        }
        change("another parent", &|family| family.parent = family.template);
        change("other members", &|family| family.template = family.parent);
    }
}

/// Claims about counters that go further than the proof does.
fn made_up_numbers(proof: &FlowProof, found: &mut Vec<(String, FlowProof)>) {
    for (number, counter) in proof.counters.iter().enumerate() {
        let mut change = |what: String, change: &dyn Fn(&mut verdict::Counter)| {
            let mut mutant = proof.clone();
            change(&mut mutant.counters[number]);
            found.push((format!("{what} of counter {number}"), mutant));
        };
        let nodes = || (0..proof.reachable.len()).filter(|node| proof.reachable[*node]);
        for node in nodes().filter(|_| !counter.weights.is_empty()) {
            change(format!("more weight at {node}"), &|counter| counter.weights[node] += 1);
        }
        let all: Vec<_> = counter.tickets.iter().flatten().map(|(local, step)| (*local, *step)).collect();
        let first = proof.first_locations();
        let template = |node: usize| first.iter().rposition(|first| *first <= node);
        let owners: Vec<_> =
            (0..counter.tickets.len()).filter(|node| !counter.tickets[*node].is_empty()).collect();
        for node in nodes().filter(|_| !counter.tickets.is_empty()) {
            if !owners.iter().any(|owner| template(*owner) == template(node)) {
                continue;
            }
            for (local, step) in &all {
                let more = counter.tickets[node].get(local).map_or(*step, |step| step + 1);
                change(format!("ticket {local} + {more} at {node}"), &|counter| {
                    counter.tickets[node].insert(*local, more);
                });
            }
        }
    }
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
    let unspent: Vec<_> = all().flat_map(|facts| facts.unspent.clone()).collect();
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
            for local in &unspent {
                if !facts.unspent.contains(local) {
                    change(format!("{local} is unspent"), &mut |facts| facts.unspent.push(*local));
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
