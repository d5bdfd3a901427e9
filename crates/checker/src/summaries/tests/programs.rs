//! Whole programs: those without races are accepted, their broken twins are not.

use super::builder::{Builder, read, verdict};

const HEAD: &str = "#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\nextern int __VERIFIER_nondet_int(void);\n";

pub(super) fn accepts(name: &str, text: &str) {
    let program = read(&format!("{HEAD}{text}"));
    let proof = Builder::strongest(&program);
    if let Err(error) = verdict(&program, &proof) {
        panic!("{name}: {error}\n{}", ir::text::print(&program));
    }
}

pub(super) fn refuses(name: &str, text: &str) {
    let program = read(&format!("{HEAD}{text}"));
    let proof = Builder::strongest(&program);
    let error = verdict(&program, &proof).err().unwrap_or_else(|| panic!("{name} is accepted"));
    assert!(error.to_string().contains("may race"), "{name}: {error}");
}

#[test]
fn locks_of_static_objects() {
    let text = |worker: &str| {
        format!(
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER; int g;
            void *worker(void *a) {{ {worker} return 0; }}
            int main(void) {{ pthread_t t; pthread_create(&t, 0, worker, 0);
              pthread_mutex_lock(&m); g = 1; pthread_mutex_unlock(&m); return 0; }}"
        )
    };
    accepts("locked", &text("pthread_mutex_lock(&m); g++; pthread_mutex_unlock(&m);"));
    refuses("unlocked", &text("g++;"));
    refuses("other lock", &text("pthread_mutex_lock(&n); g++; pthread_mutex_unlock(&n);"));
    refuses("too late", &text("pthread_mutex_lock(&m); pthread_mutex_unlock(&m); g++;"));
    refuses(
        "unlocked twice",
        &text("pthread_mutex_unlock(&m); pthread_mutex_lock(&m); g++; pthread_mutex_unlock(&m);"),
    );
    refuses(
        "memset",
        &text("memset(&m, 0, sizeof m); pthread_mutex_lock(&m); g++; pthread_mutex_unlock(&m);"),
    );
    refuses(
        "init",
        &text("pthread_mutex_init(&m, 0); pthread_mutex_lock(&m); g++; pthread_mutex_unlock(&m);"),
    );
}

#[test]
fn locks_in_callees() {
    let text = |take: &str, give: &str, middle: &str| {
        format!(
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int g, h;
            void nothing(void) {{ h = 1; }}
            void take(void) {{ {take} }}
            void give(void) {{ {give} }}
            void middle(void) {{ {middle} }}
            void *worker(void *a) {{ take(); middle(); g++; give(); return 0; }}
            int main(void) {{ pthread_t t; pthread_create(&t, 0, worker, 0);
              take(); g = 1; give(); return 0; }}"
        )
    };
    let (take, give) = ("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);");
    accepts("take and give", &text(take, give, "nothing();"));
    refuses("given back in between", &text(take, give, "give(); take(); give();"));
    refuses("not taken on a path", &text("if (__VERIFIER_nondet_int()) pthread_mutex_lock(&m);", give, ""));
    refuses("lock words are overwritten by a callee", &text(take, give, "memset(&m, 0, sizeof m);"));
}

#[test]
fn locks_that_are_named_by_numbers() {
    let text = |take: &str, give: &str, middle: &str, number: &str| {
        format!(
            "pthread_mutex_t m[4], k[4]; int g, h;
            void take(unsigned char n) {{ {take} }}
            void give(unsigned char n) {{ {give} }}
            void middle(int n) {{ {middle} }}
            void first(void) {{ take(1); middle(2); g++; give(1); }}
            void *worker(void *a) {{ first(); return 0; }}
            int main(void) {{ pthread_t t; pthread_create(&t, 0, worker, 0);
              take({number}); g = 1; give({number}); return 0; }}"
        )
    };
    let (take, give) = ("pthread_mutex_lock(&m[n]);", "pthread_mutex_unlock(&m[n]);");
    accepts("one number", &text(take, give, "h = 1;", "1"));
    accepts("the same in a byte", &text(take, give, "h = 1;", "257"));
    let moved = "n = 2 * n - 1; pthread_mutex_lock(&m[n]);";
    accepts("computed", &text(moved, give, "", "1"));
    accepts(
        "another one meanwhile",
        &text(take, give, "pthread_mutex_lock(&m[n]); pthread_mutex_unlock(&m[n]);", "1"),
    );
    refuses("two numbers", &text(take, give, "h = 1;", "2"));
    refuses("two numbers in a byte", &text(take, give, "h = 1;", "258"));
    refuses(
        "two arrays",
        &text("if (n == 1) pthread_mutex_lock(&m[n]); else pthread_mutex_lock(&k[n]);", give, "", "3"),
    );
    refuses("a number that changes", &text("n += g; pthread_mutex_lock(&m[n]);", give, "", "1"));
    refuses("given back meanwhile", &text(take, give, "pthread_mutex_unlock(&m[n - 1]);", "1"));
    refuses("perhaps given back meanwhile", &text(take, give, "pthread_mutex_unlock(&m[n - h]);", "1"));
    refuses("all overwritten meanwhile", &text(take, give, "memset(m, 0, sizeof m);", "1"));
}

#[test]
fn locks_that_are_passed() {
    let text = |body: &str| {
        format!(
            "struct s {{ pthread_mutex_t m; int x; pthread_mutex_t n; int y; }};
            struct s a[4];
            void add(struct s *p) {{ {body} }}
            void *worker(void *arg) {{ add(&a[__VERIFIER_nondet_int() & 3]); return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, worker, 0); pthread_create(&u, 0, worker, 0);
              add(&a[1]); return 0; }}"
        )
    };
    accepts("own lock", &text("pthread_mutex_lock(&p->m); p->x++; pthread_mutex_unlock(&p->m);"));
    refuses("no lock", &text("p->x++;"));
    refuses(
        "another element's",
        &text(
            "pthread_mutex_lock(&a[0].m); pthread_mutex_unlock(&a[0].m); pthread_mutex_lock(&a[__VERIFIER_nondet_int() & 3].m); p->x++;",
        ),
    );
    refuses(
        "pointer moves",
        &text("struct s *q = p; pthread_mutex_lock(&p->m); q = &a[2]; q->x++; pthread_mutex_unlock(&p->m);"),
    );
    refuses(
        "pointer moves by one",
        &text("pthread_mutex_lock(&p->m); p++; p->x++; p--; pthread_mutex_unlock(&p->m);"),
    );
}

#[test]
fn partial_overlap_under_locks_at_the_same_distance() {
    let text = |at: &str| {
        format!(
            "char b[64]; struct {{ pthread_mutex_t m[64]; }} l;
            void touch(char *p, int *q) {{ pthread_mutex_lock((pthread_mutex_t *) (p + 64)); *q = 1; pthread_mutex_unlock((pthread_mutex_t *) (p + 64)); }}
            struct {{ char b[64]; pthread_mutex_t m[2]; }} r;
            void *worker(void *arg) {{ int *q = (int *) {at}; pthread_mutex_t *m = (pthread_mutex_t *) ((char *) q + 64); pthread_mutex_lock(m); *q = 1; pthread_mutex_unlock(m); return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, worker, 0); pthread_create(&u, 0, worker, 0); return 0; }}"
        )
    };
    refuses("any byte", &text("(r.b + (__VERIFIER_nondet_int() & 7))"));
}

#[test]
fn read_write_locks() {
    let text = |worker: &str| {
        format!(
            "pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER; int g;
            void *worker(void *a) {{ {worker} return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, worker, 0); pthread_create(&u, 0, worker, 0);
              pthread_rwlock_rdlock(&m); int x = g; pthread_rwlock_unlock(&m); return x; }}"
        )
    };
    accepts("writer", &text("pthread_rwlock_wrlock(&m); g++; pthread_rwlock_unlock(&m);"));
    refuses("reader that writes", &text("pthread_rwlock_rdlock(&m); g++; pthread_rwlock_unlock(&m);"));
    refuses(
        "read lock given back twice",
        &text("pthread_rwlock_wrlock(&m); g++; pthread_rwlock_unlock(&m); pthread_rwlock_unlock(&m);"),
    );
    refuses(
        "another family",
        &text(
            "pthread_mutex_lock((pthread_mutex_t *) &m); g++; pthread_mutex_unlock((pthread_mutex_t *) &m);",
        ),
    );
}

#[test]
fn spin_locks_side_by_side() {
    let text = |index: &str| {
        format!(
            "pthread_spinlock_t s[4]; int g;
            void *worker(void *a) {{ pthread_spin_lock(&s[1]); pthread_spin_lock(&s[2]); g++; pthread_spin_unlock(&s[2]); g++; pthread_spin_unlock(&s[1]); return 0; }}
            int main(void) {{ pthread_t t; pthread_create(&t, 0, worker, 0);
              pthread_spin_lock(&s[{index}]); g = 1; pthread_spin_unlock(&s[{index}]); return 0; }}"
        )
    };
    accepts("the outer one", &text("1"));
    refuses("the inner one", &text("2"));
}

#[test]
fn threads_that_are_not_alive() {
    let text = |before: &str, between: &str, after: &str| {
        format!(
            "int g; pthread_t global;
            void *child(void *a) {{ g++; return 0; }}
            void *worker(void *a) {{ g++; {between} return 0; }}
            int main(void) {{ pthread_t t, u; g = 1; {before} pthread_create(&t, 0, worker, 0); {after} g = 2; return 0; }}"
        )
    };
    accepts("joined", &text("", "", "pthread_join(t, 0);"));
    refuses("not joined", &text("", "", ""));
    refuses("another one is joined", &text("", "", "u = t; t = 0; pthread_join(t, 0);"));
    refuses("handle is overwritten", &text("", "", "pthread_create(&t, 0, child, 0); pthread_join(t, 0);"));
    accepts(
        "child is joined",
        &text("", "pthread_t v; pthread_create(&v, 0, child, 0); pthread_join(v, 0);", "pthread_join(t, 0);"),
    );
    refuses(
        "child of a child",
        &text("", "pthread_t v; pthread_create(&v, 0, child, 0);", "pthread_join(t, 0);"),
    );
    refuses("two of a kind", &text("pthread_create(&u, 0, worker, 0);", "", "pthread_join(t, 0);"));
    refuses("joined on a path", &text("", "", "if (__VERIFIER_nondet_int()) pthread_join(t, 0);"));
    refuses(
        "a loop",
        &text("while (__VERIFIER_nondet_int()) pthread_create(&u, 0, worker, 0);", "", "pthread_join(t, 0);"),
    );
    accepts(
        "a handle in a static object",
        &text("", "", "global = t; t = 0; pthread_t w = global; pthread_join(w, 0);")
            .replace("&t, 0, worker", "&global, 0, worker")
            .replace("global = t; t = 0;", ""),
    );
}

#[test]
fn threads_that_callees_start() {
    let text = |start: &str, main: &str| {
        format!(
            "int g; pthread_t t;
            void *worker(void *a) {{ g++; return 0; }}
            void *(*code)(void *) = worker;
            void start(void) {{ {start} }}
            void (*pointer)(void) = start;
            int main(void) {{ {main} return 0; }}"
        )
    };
    let create = "pthread_create(&t, 0, worker, 0);";
    accepts("before", &text(create, "g = 1; start();"));
    refuses("after", &text(create, "start(); g = 1;"));
    refuses("through a pointer", &text(create, "pointer(); g = 1;"));
    refuses("code through a pointer", &text("pthread_create(&t, 0, code, 0);", "start(); g = 1;"));
    accepts("joined", &text(create, "start(); pthread_join(t, 0); g = 1;"));
    refuses("two calls", &text(create, "start(); start(); pthread_join(t, 0); g = 1;"));
    refuses(
        "a loop",
        &text(create, "do { start(); } while (__VERIFIER_nondet_int()); pthread_join(t, 0); g = 1;"),
    );
    refuses(
        "recursion",
        &text(
            "if (__VERIFIER_nondet_int()) start(); pthread_create(&t, 0, worker, 0);",
            "start(); pthread_join(t, 0); g = 1;",
        ),
    );
    accepts(
        "alternatives",
        &text(create, "if (__VERIFIER_nondet_int()) start(); else start(); pthread_join(t, 0); g = 1;"),
    );
    refuses(
        "pthread_exit ends it early",
        &text(
            create,
            "start(); if (__VERIFIER_nondet_int()) { g = 1; pthread_exit(0); } pthread_join(t, 0);",
        ),
    );
}

/// A starter that was joined may have started someone after the other one had ended.
#[test]
fn starters_that_ended_meanwhile() {
    let text = |late: &str| {
        format!(
            "int g;
            void *late(void *a) {{ g++; return 0; }}
            void *one(void *a) {{ return 0; }}
            void *two(void *a) {{ {late} return 0; }}
            int main(void) {{ pthread_t s, t; pthread_create(&s, 0, one, 0); pthread_create(&t, 0, two, 0);
              pthread_join(t, 0); pthread_join(s, 0); g = 1; return 0; }}"
        )
    };
    accepts("nobody", &text(""));
    refuses("started by the one that ended first", &text("pthread_t u; pthread_create(&u, 0, late, 0);"));
}

#[test]
fn objects_of_one_thread() {
    let text = |body: &str, main: &str| {
        format!(
            "int *global; int **table; struct box {{ int *p; }} boxes[2];
            void inc(int *p) {{ (*p)++; }}
            void *child(void *a) {{ if (a) (*(int *) a)++; if (global) (*global)++; return 0; }}
            void *worker(void *a) {{ int x = 0; int *y = malloc(4); *y = 0; pthread_t t; {body} inc(&x); inc(y); x++; (*y)++; return 0; }}
            int main(void) {{ pthread_t t, u; void *r; pthread_create(&t, 0, worker, 0); pthread_create(&u, 0, worker, 0); {main} return 0; }}"
        )
    };
    accepts("nothing escapes", &text("", ""));
    refuses("stored in a global", &text("global = &x;", "if (global) (*global)++;"));
    refuses("stored in an array", &text("boxes[1].p = y;", "if (boxes[1].p) (*boxes[1].p)++;"));
    refuses("passed to a thread", &text("pthread_create(&t, 0, child, &x);", ""));
    refuses(
        "returned",
        &text(
            "if (__VERIFIER_nondet_int()) return y;",
            "pthread_join(t, &r); if (r) { pthread_create(&u, 0, child, r); *(int *) r = 1; }",
        ),
    );
    refuses(
        "exited with",
        &text(
            "if (__VERIFIER_nondet_int()) pthread_exit(y);",
            "pthread_join(t, &r); if (r) { pthread_create(&u, 0, child, r); *(int *) r = 1; }",
        ),
    );
    refuses("copied", &text("int *z = y; memcpy(&global, &z, sizeof z);", "if (global) (*global)++;"));
}

#[test]
fn objects_before_they_are_published() {
    let text = |before: &str| {
        format!(
            "struct s {{ int x; int y; }}; struct s *shared; struct s *other; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
            void fill(struct s *p) {{ p->y = 2; }}
            void leak(struct s *p) {{ other = p; }}
            struct s *new(void) {{ struct s *p = malloc(sizeof *p); p->x = 0; fill(p); return p; }}
            struct s *same(struct s *p) {{ return p; }}
            void *worker(void *a) {{ struct s *p = new(); struct s *q; {before} p->x = 1; fill(p); pthread_mutex_lock(&m); shared = p; pthread_mutex_unlock(&m); return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, worker, 0); pthread_create(&u, 0, worker, 0);
              pthread_mutex_lock(&m); struct s *p = shared; int x = p ? p->x : 0; pthread_mutex_unlock(&m);
              if (other) other->x = 3; return x; }}"
        )
    };
    accepts("made, then published", &text(""));
    refuses("published first", &text("pthread_mutex_lock(&m); shared = p; pthread_mutex_unlock(&m);"));
    refuses("leaked", &text("pthread_mutex_lock(&m); leak(p); pthread_mutex_unlock(&m);"));
    refuses(
        "leaked by a copy",
        &text("q = p; pthread_mutex_lock(&m); shared = q; q = 0; pthread_mutex_unlock(&m);"),
    );
    refuses(
        "leaked by a returned copy",
        &text("q = same(p); pthread_mutex_lock(&m); shared = q; q = 0; pthread_mutex_unlock(&m);"),
    );
    refuses(
        "another one",
        &text("pthread_mutex_lock(&m); p = shared; pthread_mutex_unlock(&m); if (!p) return 0;"),
    );
}

#[test]
fn objects_that_are_handed_over() {
    let text = |after: &str| {
        format!(
            "struct s {{ int x; }}; struct s *global;
            void *worker(void *a) {{ struct s *p = a; p->x++; return 0; }}
            int main(void) {{ pthread_t t; while (__VERIFIER_nondet_int()) {{ struct s *p = malloc(sizeof *p); p->x = 1; pthread_create(&t, 0, worker, p); {after} }} return 0; }}"
        )
    };
    accepts("never used again", &text(""));
    refuses("used again", &text("p->x = 2;"));
    refuses("given to two", &text("pthread_create(&t, 0, worker, p);"));
    refuses("kept by a copy", &text("struct s *q = p; q->x = 2;"));
    refuses("kept by the caller", "struct s { int x; };
        void *worker(void *a) { struct s *p = a; p->x++; return 0; }
        void start(struct s *p) { pthread_t t; pthread_create(&t, 0, worker, p); }
        int main(void) { while (__VERIFIER_nondet_int()) { struct s *p = malloc(sizeof *p); p->x = 1; start(p); p->x = 2; } return 0; }");
}

/// A callee may start someone who overwrites the lock, and join it, while the caller holds it.
#[test]
fn locks_that_are_overwritten_during_a_call() {
    let text = |body: &str| {
        format!(
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int g; pthread_t t;
            void *breaker(void *a) {{ {body} return 0; }}
            void *other(void *a) {{ pthread_mutex_lock(&m); g++; pthread_mutex_unlock(&m); return 0; }}
            void middle(void) {{ pthread_create(&t, 0, breaker, 0); pthread_join(t, 0); }}
            int main(void) {{ pthread_t u; pthread_create(&u, 0, other, 0); pthread_mutex_lock(&m); middle(); g = 1; pthread_mutex_unlock(&m); return 0; }}"
        )
    };
    accepts("not touched", &text(""));
    refuses("overwritten", &text("memset(&m, 0, sizeof m);"));
    refuses("given back", &text("pthread_mutex_unlock(&m);"));
    refuses("set up again", &text("pthread_mutex_init(&m, 0);"));
}

#[test]
fn locks_that_are_set_up_before_threads_start() {
    accepts(
        "init before",
        "struct s { pthread_mutex_t m; int x; }; struct s s;
        void *worker(void *a) { pthread_mutex_lock(&s.m); s.x++; pthread_mutex_unlock(&s.m); return 0; }
        int main(void) { pthread_t t, u; pthread_mutex_init(&s.m, 0); s.x = 0; pthread_create(&t, 0, worker, 0); pthread_create(&u, 0, worker, 0); return 0; }",
    );
    accepts(
        "heap objects with their own locks",
        "struct s { pthread_mutex_t m; int x; };
        void *worker(void *a) { struct s *p = a; pthread_mutex_lock(&p->m); p->x++; pthread_mutex_unlock(&p->m); return 0; }
        int main(void) { pthread_t t, u; struct s *p = malloc(sizeof *p); pthread_mutex_init(&p->m, 0); p->x = 0;
          pthread_create(&t, 0, worker, p); pthread_create(&u, 0, worker, p); pthread_mutex_lock(&p->m); p->x++; pthread_mutex_unlock(&p->m); return 0; }",
    );
}

#[test]
fn atomic_regions_and_atomics() {
    accepts(
        "atomic",
        "#include <stdatomic.h>
        atomic_int a; void *worker(void *x) { a++; return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0); a++; return 0; }",
    );
    refuses(
        "one side plain",
        "extern void __VERIFIER_atomic_begin(void); extern void __VERIFIER_atomic_end(void);
        int a; void *worker(void *x) { __VERIFIER_atomic_begin(); a++; __VERIFIER_atomic_end(); return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0); a++; return 0; }",
    );
    accepts(
        "calls in regions",
        "extern void __VERIFIER_atomic_begin(void); extern void __VERIFIER_atomic_end(void);
        int a; void inc(void) { a++; } void *worker(void *x) { __VERIFIER_atomic_begin(); inc(); __VERIFIER_atomic_end(); return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0); __VERIFIER_atomic_begin(); inc(); __VERIFIER_atomic_end(); return 0; }",
    );
    refuses(
        "one call outside of a region",
        "extern void __VERIFIER_atomic_begin(void); extern void __VERIFIER_atomic_end(void);
        int a; void inc(void) { a++; } void *worker(void *x) { __VERIFIER_atomic_begin(); inc(); __VERIFIER_atomic_end(); return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0); __VERIFIER_atomic_begin(); __VERIFIER_atomic_end(); inc(); return 0; }",
    );
}

/// A word that holds the thread's id is no lock, unless it is taken as one.
#[test]
fn words_that_hold_the_own_id() {
    let text = "program lp64
start main 1

static owner: u32
static g: i32

template main() {
  locations 4
  end l1
  l0 -> l2: spawn worker(0u64)
  l2 -> l3: spawn worker(0u64)
  l3 -> l1:
}

template worker(a: u64) {
  locations 5
  end l1
  l0 -> l2: atomic u32[&owner] := u32(myself)
  l2 -> l3: assume atomic u32[&owner] == u32(myself)
  l2 -> l1: assume !(atomic u32[&owner] == u32(myself))
  l3 -> l4: i32[&g] := 1
  l4 -> l1:
}
";
    let program = ir::text::parse(text).expect("it is a program");
    assert_eq!(ir::check::check(&program), Ok(()));
    let proof = Builder::strongest(&program);
    let error = verdict(&program, &proof).expect_err("g is written by two threads");
    assert!(error.to_string().contains("accesses to g may race"), "{error}");
}

#[test]
fn locks_in_frames_and_freed_objects() {
    let text = |worker: &str| {
        format!(
            "struct s {{ pthread_mutex_t m; int x; }}; int g;
            void *worker(void *a) {{ struct s *p = a; {worker} return 0; }}
            int main(void) {{ pthread_t t; struct s s; pthread_mutex_init(&s.m, 0); s.x = 0; pthread_create(&t, 0, worker, &s);
              pthread_mutex_lock(&s.m); s.x++; g++; pthread_mutex_unlock(&s.m); pthread_join(t, 0); return 0; }}"
        )
    };
    accepts(
        "in the frame of main",
        &text("pthread_mutex_lock(&p->m); p->x++; g++; pthread_mutex_unlock(&p->m);"),
    );
    refuses("not taken", &text("p->x++;"));
    refuses(
        "another instance",
        &text(
            "struct s own; pthread_mutex_init(&own.m, 0); pthread_mutex_lock(&own.m); g++; pthread_mutex_unlock(&own.m);",
        ),
    );
    refuses(
        "either instance",
        &text(
            "struct s own; pthread_mutex_init(&own.m, 0); if (__VERIFIER_nondet_int()) p = &own; pthread_mutex_lock(&p->m); g++; pthread_mutex_unlock(&p->m);",
        ),
    );
}

/// What comes back from a callee: its result may be an object that the caller still has by another name.
#[test]
fn fresh_results() {
    let text = |body: &str| {
        format!(
            "struct s {{ int x; }}; struct s *shared; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
            struct s *renew(struct s *p) {{ struct s *q = p; p = 0; return q; }}
            struct s *swap(struct s *p) {{ struct s *q = malloc(sizeof *q); pthread_mutex_lock(&m); shared = p; pthread_mutex_unlock(&m); p = q; return p; }}
            void *worker(void *a) {{ struct s *p = malloc(sizeof *p), *q = 0; {body} return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, worker, 0); pthread_create(&u, 0, worker, 0);
              pthread_mutex_lock(&m); if (shared) shared->x = 3; pthread_mutex_unlock(&m); return 0; }}"
        )
    };
    accepts(
        "published last",
        &text("p->x = 1; q = renew(p); pthread_mutex_lock(&m); shared = q; pthread_mutex_unlock(&m);"),
    );
    refuses(
        "published by its other name",
        &text("q = renew(p); pthread_mutex_lock(&m); shared = q; pthread_mutex_unlock(&m); p->x = 1;"),
    );
    refuses(
        "published by its first name",
        &text("q = renew(p); pthread_mutex_lock(&m); shared = p; pthread_mutex_unlock(&m); q->x = 1;"),
    );
    refuses("the parameter is another object at the end", &text("q = swap(p); p->x = 1;"));
}

#[test]
fn threads_that_procedures_start_for_others() {
    let text = |start: &str, main: &str| {
        format!(
            "int g, h; typedef void *(*run)(void *); int pick;
            void *one(void *a) {{ g++; return 0; }}
            void *other(void *a) {{ h++; return 0; }}
            void start(run f, int n) {{ pthread_t t; {start} }}
            void first(int n, run f) {{ start(f, n); }}
            run kept = one;
            int main(void) {{ {main} return 0; }}"
        )
    };
    let plain = "pthread_create(&t, 0, f, 0);";
    accepts("each once", &text(plain, "start(one, 0); start(other, 0);"));
    accepts("two procedures", &text(plain, "first(0, one); start(other, 0);"));
    accepts("alternatives", &text(plain, "if (pick) start(one, 0); else first(1, one);"));
    refuses("twice", &text(plain, "start(one, 0); start(other, 0); start(one, 0);"));
    refuses("two ways", &text(plain, "start(one, 0); first(0, one);"));
    refuses("repeated", &text(plain, "for (int i = 0; i < 2; i++) start(one, 0);"));
    refuses(
        "repeated inside",
        &text("for (int i = 0; i < n; i++) pthread_create(&t, 0, f, 0);", "start(one, 2);"),
    );
    refuses(
        "two steps inside",
        &text("pthread_create(&t, 0, f, 0); pthread_create(&t, 0, f, 0);", "start(one, 2);"),
    );
    refuses("called, too", &text("pthread_create(&t, 0, f, 0); f(0);", "start(one, 2);"));
    refuses(
        "named, too",
        &text(
            "pthread_create(&t, 0, f, 0); if (n) pthread_create(&t, 0, one, 0);",
            "start(one, 0); start(other, 1);",
        ),
    );
    refuses(
        "assigned",
        &text("if (n) f = one; pthread_create(&t, 0, f, 0);", "start(one, 0); start(other, 1);"),
    );
    refuses("recursive", &text("pthread_create(&t, 0, f, 0); if (n) start(f, 0);", "start(one, 1);"));
    refuses("from memory", &text(plain, "start(one, 0); start(kept, 0);"));
    refuses("either", &text(plain, "start(one, 0); start(pick ? one : other, 0);"));
    refuses("by a pointer", &text(plain, "void (*by)(run, int) = start; by(one, 0); start(one, 0);"));
}
