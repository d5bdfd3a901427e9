//! A census of random programs: how many of them contain each construct, by their text.

use crate::case::{Case, Kind};

/// A construct, and texts of which a program that has it holds one.
const CONSTRUCTS: [(&str, &[&str]); 58] = [
    ("unions", &["union U", "union {"]),
    ("bit-fields", &[" : 1;", " : 3;", " : 7;", "unsigned f : 4"]),
    ("copies of structures", &["= p1;", "= mx[1];", "struct B b1", "= turned("]),
    ("memcpy, memmove, memset", &["memcpy(", "memmove(", "memset("]),
    ("strings", &["strlen(", "strcpy(", "strcmp("]),
    ("walks of pointers", &["wp++", "++ =", "hp++", "lp +=", "< (int *)(&w + 1)"]),
    (
        "pointers of other types",
        &["*(unsigned *)&", "*(signed char *)&", "*(short *)&", "*(unsigned char *)&"],
    ),
    ("holders of members", &["offsetof("]),
    ("addresses as numbers", &["uintptr_t"]),
    ("indices that are not linear", &["i * i", "i % 2", "i / 2", "i & ~1", "i ^ 1"]),
    ("matrices", &["grid["]),
    ("allocation", &["malloc(", "calloc("]),
    ("memory given back", &["free("]),
    ("addresses used again", &["!= o", "!= s"]),
    ("resized blocks", &["realloc("]),
    ("flexible members", &["int d[];"]),
    ("kept addresses of locals", &["kept = "]),
    ("arrays of variable size", &["[(l0 & 1) + 1]"]),
    ("mutexes", &["pthread_mutex_lock("]),
    ("kinds of mutexes", &["pthread_mutexattr_settype("]),
    ("attempts to lock", &["pthread_mutex_trylock("]),
    ("waiting with a limit", &["timedlock(", "timedwait(", "timedrdlock(", "timedwrlock("]),
    ("read-write locks", &["pthread_rwlock_"]),
    ("semaphores", &["sem_wait(", "sem_post("]),
    ("condition variables", &["pthread_cond_wait("]),
    ("barriers", &["pthread_barrier_wait("]),
    ("once", &["pthread_once("]),
    ("spin locks", &["pthread_spin_lock("]),
    ("values of threads", &["pthread_setspecific("]),
    ("arrays of locks", &["&ms["]),
    ("locks in structures", &["&acc[", "->m)", "->l)"]),
    ("locks as parameters", &["enter(&", "add_under(", "with_lock("]),
    ("locks as results", &["lock_of("]),
    ("locks through pointers", &["d->lock", "->lock)", "pthread_mutex_t *m", "pthread_mutex_t *p"]),
    ("wrappers that may lock", &["begin(", "try_it("]),
    ("objects handed to threads", &["keep_it, o"]),
    ("one function in several contexts", &["inc(&"]),
    ("callbacks", &["runner", "what()"]),
    ("handles passed on", &["start_it(&"]),
    ("arguments on stacks of others", &["job, &j"]),
    ("starts in loops", &["pthread_create(&ids[j]"]),
    ("threads that start threads", &["pthread_create(&child"]),
    ("results of threads", &["&r", "return (void *)(long)l0"]),
    ("ends in the middle", &["pthread_exit(", "exit(0)", "abort()"]),
    ("detached threads", &["pthread_detach("]),
    ("C11 atomics", &["atomic_fetch_", "atomic_exchange(", "atomic_store("]),
    ("relaxed order", &["memory_order_relaxed", "__ATOMIC_RELAXED"]),
    ("acquire, release, consume", &["memory_order_acquire", "memory_order_release", "memory_order_consume"]),
    ("fences", &["atomic_thread_fence(", "__sync_synchronize("]),
    ("compiler atomics", &["__atomic_", "__sync_"]),
    ("atomic structures", &["_Atomic struct"]),
    ("atomic functions", &["__VERIFIER_atomic_step(", "void *__VERIFIER_atomic_"]),
    ("atomic regions", &["__VERIFIER_atomic_begin();"]),
    ("recursion", &["deep("]),
    ("function pointers", &["fp", "table["]),
    ("values without a model", &["long double", "mystery(", "rand()", "unseen("]),
    ("unsigned and narrow types", &["unsigned char ", "unsigned short ", "signed char ", "_Bool l1"]),
    ("inputs", &["__VERIFIER_nondet_bool();", "__VERIFIER_nondet_int();"]),
];

/// How many of the wide programs with these numbers have each construct.
pub fn census(seeds: impl Iterator<Item = u64>) -> Vec<(&'static str, u64)> {
    let mut found: Vec<(&'static str, u64)> = CONSTRUCTS.iter().map(|(name, _)| (*name, 0)).collect();
    for seed in seeds {
        let text = Case::new(Kind::Wide, seed).text;
        // Declarations that all programs have.
        let body = text.split_once("pthread_mutex_t m0").map_or(text.as_str(), |(_, body)| body);
        for ((_, signs), (_, count)) in CONSTRUCTS.iter().zip(&mut found) {
            *count += u64::from(signs.iter().any(|sign| body.contains(sign)));
        }
    }
    found
}
