//! Addresses that are followed from variable to variable: those that stay in their thread, and guesses that
//! memory is never accessed at. Each broken twin differs in one thing.

use super::programs::{accepts, refuses};

#[test]
fn addresses_that_callees_give_back() {
    // Both kinds of callers pass through `pick`, so points-to sets let `box` hold the address of `x`.
    let text = |pick: &str, worker: &str| {
        format!(
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int g; int *box = &g; int *last = &g;
            struct cell {{ int *p; }}; struct cell cell;
            void *other(void *a) {{ *(int *)a = 7; return 0; }}
            int *pick(int *p) {{ {pick} }}
            void *worker(void *a) {{ int *q; pthread_t t; int *x = malloc(4); struct cell own; struct cell *c;
              if (!x) return 0; own.p = x; q = pick(x);
              pthread_mutex_lock(&m); *box = 1; pthread_mutex_unlock(&m); {worker} return 0; }}
            int main(void) {{ pthread_t t, u; box = pick(&g); cell.p = &g;
              pthread_create(&t, 0, worker, 0); pthread_create(&u, 0, worker, 0); return 0; }}"
        )
    };
    let plain = "return p;";
    accepts("kept", &text(plain, "*x = 1; *own.p = 3;"));
    accepts("moved", &text("return p + 1 - 1;", "*x = 1; if (q == x) *x = 2;"));
    accepts("in the thread's memory", &text(plain, "c = &own; c->p = q; q = pick(c->p); *x = 2;"));
    let locked = |code: &str| format!("pthread_mutex_lock(&m); {code} pthread_mutex_unlock(&m); *x = 1;");
    refuses("published", &text(plain, &locked("box = q;")));
    refuses("published by way of memory", &text(plain, &locked("box = own.p;")));
    refuses("published by a pointer", &text(plain, &locked("int **to = &box; *to = q;")));
    refuses(
        "published in a structure",
        &text(plain, &locked("box = x; cell = own; box = &g; box = cell.p;")),
    );
    refuses("copied", &text(plain, &locked("memcpy(&cell, &own, sizeof own); box = cell.p;")));
    refuses("as a number", &text(plain, &locked("box = (int *)((unsigned long)q ^ 0);")));
    refuses(
        "kept by the callee",
        &text(
            "int *o = last; pthread_mutex_lock(&m); last = p; box = p; pthread_mutex_unlock(&m); return o ? p : p;",
            "*x = 1;",
        ),
    );
    refuses(
        "the last one's",
        &text(
            "int *o; pthread_mutex_lock(&m); o = last; last = p; pthread_mutex_unlock(&m); return o;",
            "*x = 1; *q = 2;",
        ),
    );
    refuses("passed to a thread", &text(plain, "pthread_create(&t, 0, other, q); *x = 1;"));
    refuses(
        "passed by way of a structure",
        &text(
            plain,
            "c = malloc(sizeof *c); if (!c) return 0; c->p = q; pthread_mutex_lock(&m); cell = *c;
             box = cell.p; pthread_mutex_unlock(&m); *x = 1;",
        ),
    );
}

#[test]
fn results_of_threads() {
    let text = |worker: &str, main: &str| {
        format!(
            "int *pick(int *p) {{ return p; }} int *make(void) {{ return malloc(4); }}
            void *worker(void *a) {{ int *x = make(); int *q; if (!x) return 0; q = pick(x); {worker} }}
            int main(void) {{ pthread_t t; void *r; int *own = make(); pthread_create(&t, 0, worker, 0);
              if (own) *pick(own) = 1; {main} return 0; }}"
        )
    };
    let join = "pthread_join(t, &r); if (r) *(int *)r = 2;";
    accepts("nothing comes back", &text("*q = 1; *x = 2; return 0;", join));
    let two = "pthread_t u; pthread_create(&u, 0, worker, pick(own)); if (own) *own = 3;";
    refuses("passed on", &text("if (a) *(int *)a = 4; return 0;", two));
}

#[test]
fn numbers_that_are_never_addresses() {
    // What is read equals the address of `x` where it is counted. Memory is not accessed at it.
    let text = |worker: &str, other: &str| {
        format!(
            "extern unsigned long __VERIFIER_nondet_ulong(void);
            pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; unsigned long found; int count; int array[4];
            struct pair {{ unsigned long n; int *p; }} pair; int *pointer = array;
            unsigned long same(unsigned long n) {{ return n; }}
            void use(unsigned long n) {{ *(int *)n = 1; }}
            void *worker(void *a) {{ int x = 0; int *p = &x; unsigned long n = __VERIFIER_nondet_ulong();
              if (n == (unsigned long)p) {{ pthread_mutex_lock(&m); {worker} pthread_mutex_unlock(&m); }}
              *p = 1; return 0; }}
            void *other(void *a) {{ unsigned long k; pthread_mutex_lock(&m); {other} pthread_mutex_unlock(&m);
              return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, worker, 0);
              pthread_create(&u, 0, other, 0); return 0; }}"
        )
    };
    let store = "found = n;";
    accepts("counted", &text(store, "if (found) count++;"));
    accepts("computed with", &text(store, "k = same(found) * 2; if (k > 8) count++;"));
    accepts("a distance", &text(store, "array[found & 3] = 1;"));
    accepts("beside", &text("pair.n = n;", "k = pair.n; pointer[1] = (int)k;"));
    refuses("an address", &text(store, "if (found) *(int *)found = 1;"));
    refuses("a part of one", &text(store, "if (found) *(int *)(found + count) = 1;"));
    refuses("given back", &text(store, "if (found) *(int *)same(found) = 1;"));
    refuses("passed", &text(store, "if (found) use(found);"));
    refuses("in a pointer", &text("pointer = (int *)n;", "if (pointer) *pointer = 1;"));
    refuses("copied", &text("pair.n = n;", "struct pair q; memcpy(&q, &pair, sizeof q); if (q.n) use(q.n);"));
    refuses("in halves", &text(store, "if (found) use((found & 0xffff0000ul) | (found & 0xfffful));"));
    refuses("cleared", &text(store, "if (found) memset((void *)found, 0, 4);"));
    refuses("freed", &text(store, "if (found) memcpy(array, (void *)found, 4), use(found);"));
}

#[test]
fn memory_that_is_new_where_freed_addresses_are_compared() {
    // The program compares the address of a node that may have been freed: it may be that of another one.
    let text = |worker: &str, make: &str| {
        format!(
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; struct node {{ int v; struct node *next; }};
            struct item {{ int v; }}; struct node *head; struct item *shown; int again;
            void put(struct item *i) {{ pthread_mutex_lock(&m); shown = i; pthread_mutex_unlock(&m); }}
            void *worker(void *a) {{ struct node *n = malloc(sizeof *n), *old; struct item *i; int v;
              if (!n) return 0; pthread_mutex_lock(&m); old = head; n->v = 0; n->next = 0; head = n;
              if (old == n) again = 1; if (old) free(old); pthread_mutex_unlock(&m);
              {make} if (!i) return 0; {worker} return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, worker, 0);
              pthread_create(&u, 0, worker, 0); return 0; }}"
        )
    };
    let make = "i = malloc(sizeof *i);";
    let show = "pthread_mutex_lock(&m); if (shown) v = shown->v; pthread_mutex_unlock(&m);";
    accepts("filled and shown", &text(&format!("i->v = 1; put(i); {show}"), make));
    refuses("filled too late", &text(&format!("put(i); i->v = 1; {show}"), make));
    refuses(
        "compared itself",
        &text(
            &format!(
                "i->v = 1; put(i); pthread_mutex_lock(&m); if (shown == i) again++; pthread_mutex_unlock(&m); {show}"
            ),
            make,
        ),
    );
    refuses("a node", &text(&format!("i->v = 1; put(i); {show}"), "i = (struct item *)n;"));
    refuses("changed later", &text(&format!("i->v = 1; put(i); {show} i->v = 2;"), make));
}

#[test]
fn memory_that_is_new_where_it_is_copied() {
    // What is copied may be the same object or overlap, and that is looked at first: where the copy follows
    // in any case, an old copy of an address tells nothing.
    let text = |worker: &str| {
        format!(
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; struct node {{ int v; struct node *next; }};
            struct item {{ long v[3]; }}; struct node *head; struct item *shown; int again;
            void put(struct item *i) {{ pthread_mutex_lock(&m); shown = i; pthread_mutex_unlock(&m); }}
            void fill(struct item *to, struct item *from) {{ memcpy(to, from, sizeof *to); }}
            void *worker(void *a) {{ struct node *n = malloc(sizeof *n), *old; struct item *i, *o; long v;
              pthread_mutex_lock(&m); old = head; n->v = 0; n->next = 0; head = n;
              if (old == n) again = 1; if (old) free(old); pthread_mutex_unlock(&m);
              i = malloc(sizeof *i); o = malloc(sizeof *o); o->v[0] = 1; o->v[1] = 2; o->v[2] = 3;
              {worker} pthread_mutex_lock(&m); if (shown) v = shown->v[0]; pthread_mutex_unlock(&m); return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, worker, 0);
              pthread_create(&u, 0, worker, 0); return 0; }}"
        )
    };
    accepts("copied", &text("fill(i, o); free(o); put(i);"));
    refuses("copied too late", &text("put(i); fill(i, o); free(o);"));
    refuses("compared", &text("if (i != o) fill(i, o); free(o); put(i);"));
}

#[test]
fn numbers_that_are_kept_where_addresses_are() {
    // `q` is declared in a loop without a value, so it may be any number before it is the address of `x`.
    let text = |worker: &str, other: &str| {
        format!(
            "extern unsigned long __VERIFIER_nondet_ulong(void);
            pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; unsigned long found; int count;
            void add(int **p) {{ **p = **p + 1; }}
            void work(int *own) {{ for (int i = 0; i < 2; i++) {{ int *q;
              if (i == 0) q = own; if (i == 1) q = own; add(&q); {worker} }} }}
            void *worker(void *a) {{ int x = 0; work(&x); return 0; }}
            void *other(void *a) {{ unsigned long k = __VERIFIER_nondet_ulong();
              pthread_mutex_lock(&m); {other} pthread_mutex_unlock(&m); return 0; }}
            int main(void) {{ pthread_t t, u; pthread_create(&t, 0, worker, 0);
              pthread_create(&u, 0, other, 0); return 0; }}"
        )
    };
    let compare = |condition: &str| {
        format!(
            "unsigned long n = __VERIFIER_nondet_ulong();
             if ({condition}) {{ pthread_mutex_lock(&m); found = n; pthread_mutex_unlock(&m); }}"
        )
    };
    let follow = "if (found) *(int *)found = 1;";
    accepts("not compared", &text("", "if (k > 8) count++;"));
    accepts("compared with numbers", &text(&compare("n == found"), follow));
    accepts("compared and counted", &text(&compare("n == (unsigned long)q"), "if (found) count++;"));
    refuses("compared and followed", &text(&compare("n == (unsigned long)q"), follow));
    refuses("equal up to a constant", &text(&compare("n + 4 == (unsigned long)q"), follow));
    refuses("by a difference", &text(&compare("!(n - (unsigned long)q)"), follow));
}
