//! Words in memory that are read twice: they name the same lock where nobody writes them meanwhile.

use super::builder::{Builder, read, verdict};
use super::programs::{accepts, refuses};
use verdict::{LockBase, Word};

/// A global pointer to an object of which there may be several.
#[test]
fn a_global_pointer_that_is_loaded_again() {
    let text = |worker: &str, main: &str| {
        format!(
            "struct g {{ int n; pthread_mutex_t m; }} *g, *h; int changed;
            struct g *make(void) {{ struct g *t = malloc(sizeof *t); pthread_mutex_init(&t->m, 0); t->n = 0; return t; }}
            void nothing(void) {{ changed = 1; }}
            void swap(void) {{ struct g *o = g; g = h; h = o; }}
            void *worker(void *a) {{ {worker} return 0; }}
            int main(int c, char **v) {{ pthread_t t; g = make(); h = make(); if (c > 3) g = make();
              for (int i = 0; i < c; i++) pthread_create(&t, 0, worker, 0); {main} return 0; }}"
        )
    };
    let locked = "pthread_mutex_lock(&g->m); g->n++; pthread_mutex_unlock(&g->m);";
    accepts("locked", &text(locked, ""));
    accepts("by both", &text(locked, locked));
    accepts(
        "kept by hand",
        &text("struct g *o = g; pthread_mutex_lock(&o->m); g->n++; pthread_mutex_unlock(&o->m);", locked),
    );
    refuses("unlocked", &text("g->n++;", locked));
    refuses("another", &text("pthread_mutex_lock(&h->m); g->n++; pthread_mutex_unlock(&h->m);", locked));
    refuses("changed by main", &text(locked, "g = make();"));
    refuses("exchanged by main", &text(locked, "swap();"));
    refuses(
        "exchanged first",
        &text("swap(); pthread_mutex_lock(&g->m); g->n++; pthread_mutex_unlock(&g->m);", ""),
    );
    refuses(
        "exchanged between",
        &text("pthread_mutex_lock(&g->m); swap(); g->n++; swap(); pthread_mutex_unlock(&g->m);", ""),
    );
    refuses(
        "given back before",
        &text("pthread_mutex_lock(&g->m); pthread_mutex_unlock(&g->m); g->n++;", ""),
    );
    refuses(
        "given back by another name",
        &text("struct g *o = g; pthread_mutex_lock(&g->m); pthread_mutex_unlock(&o->m); g->n++;", ""),
    );
}

/// A main thread that writes the word while the others run, or while they do not.
#[test]
fn words_that_are_written_before_others_start() {
    let text = |before: &str, after: &str| {
        format!(
            "struct g {{ int n; pthread_mutex_t m; }} *g;
            struct g *make(void) {{ struct g *t = malloc(sizeof *t); pthread_mutex_init(&t->m, 0); t->n = 0; return t; }}
            void add(void) {{ pthread_mutex_lock(&g->m); g->n++; pthread_mutex_unlock(&g->m); }}
            void *worker(void *a) {{ add(); return 0; }}
            int main(int c, char **v) {{ pthread_t t; g = make(); {before}
              pthread_create(&t, 0, worker, 0); {after} return 0; }}"
        )
    };
    accepts("before", &text("if (c > 1) g = make(); add();", "add();"));
    accepts("after", &text("if (c > 1) g = make();", "add(); pthread_join(t, 0); g = make(); add();"));
    refuses("between", &text("if (c > 1) g = make();", "add(); g = make(); add();"));
}

/// Locks in objects of their own, which members of others point to.
#[test]
fn locks_through_a_member() {
    let text = |use_: &str, worker: &str| {
        format!(
            "struct lock {{ pthread_mutex_t mutex; long value; }};
            struct lock *new_lock(long v) {{ struct lock *b = malloc(sizeof *b); pthread_mutex_init(&b->mutex, 0);
              b->value = v; return b; }}
            void possess(struct lock *b) {{ pthread_mutex_lock(&b->mutex); }}
            void release(struct lock *b) {{ pthread_mutex_unlock(&b->mutex); }}
            struct pool {{ struct lock *have; int made; struct lock *other; }} p, q;
            void renew(struct pool *p) {{ p->have = p->other; }}
            void use(struct pool *p) {{ {use_} }}
            void *worker(void *a) {{ {worker} return 0; }}
            int main(int c, char **v) {{ pthread_t t; p.have = new_lock(0); q.have = new_lock(1);
              p.other = new_lock(2); q.other = new_lock(3);
              for (int i = 0; i < c; i++) pthread_create(&t, 0, worker, 0); return 0; }}"
        )
    };
    let both = "use(&p); use(&q);";
    accepts("possessed", &text("possess(p->have); p->made++; release(p->have);", both));
    accepts("the others", &text("possess(p->other); p->made++; release(p->other);", both));
    refuses(
        "one of two",
        &text(
            "struct lock *l = &p == &q ? p->have : p->other; possess(l); p->made++; release(l);",
            "use(&p); possess(p.other); p.made++; release(p.other);",
        ),
    );
    refuses(
        "its neighbour's",
        &text("possess(p->have); (p == &p[0] ? &q : p)->made++; release(p->have);", both),
    );
    refuses(
        "a lock each",
        &text(
            "possess(p->have); p->made++; release(p->have);",
            "use(&p); possess(p.other); p.made++; release(p.other);",
        ),
    );
    refuses("released before", &text("possess(p->have); release(p->have); p->made++;", both));
    refuses("renewed by a callee", &text("possess(p->have); p->made++; release(p->have); renew(p);", both));
    refuses("renewed between", &text("possess(p->have); renew(p); p->made++; release(p->have);", both));
}

/// An object whose word its new owner writes.
#[test]
fn words_of_objects_that_are_handed_over() {
    let text = |main: &str, worker: &str| {
        format!(
            "struct lock {{ pthread_mutex_t m; int n; }}; struct job {{ struct lock *lock; int x; }};
            struct lock *one, *two; int count;
            void *worker(void *a) {{ struct job *j = a; {worker} return 0; }}
            int main(int c, char **v) {{ pthread_t t;
              one = malloc(sizeof *one); two = malloc(sizeof *two);
              pthread_mutex_init(&one->m, 0); pthread_mutex_init(&two->m, 0);
              for (int i = 0; i < c; i++) {{ struct job *j = malloc(sizeof *j); j->lock = one; {main} }} return 0; }}"
        )
    };
    let worker = "pthread_mutex_lock(&j->lock->m); count++; pthread_mutex_unlock(&j->lock->m);";
    let other = "pthread_mutex_lock(&two->m); count++; pthread_mutex_unlock(&two->m);";
    refuses("changed", &text(&format!("pthread_create(&t, 0, worker, j); {other}"), worker));
    refuses(
        "by its owner",
        &text(
            "struct lock *l = j->lock; pthread_mutex_lock(&l->m); pthread_create(&t, 0, worker, j); count++;
             pthread_mutex_unlock(&l->m);",
            "j->lock = two; pthread_mutex_lock(&j->lock->m); count++; pthread_mutex_unlock(&j->lock->m);",
        ),
    );
}

/// A lock in an object whose new owner clears it.
#[test]
fn locks_in_objects_that_are_handed_over() {
    let text = |main: &str| {
        format!(
            "struct job {{ pthread_mutex_t m; int x; }}; int count;
            void *worker(void *a) {{ struct job *j = a; memset(j, 0, sizeof *j); pthread_mutex_lock(&j->m); count++;
              pthread_mutex_unlock(&j->m); return 0; }}
            int main(void) {{ pthread_t t; struct job *j = malloc(sizeof *j); pthread_mutex_init(&j->m, 0);
              {main} return 0; }}"
        )
    };
    accepts("counted before", &text("pthread_mutex_lock(&j->m); count++; pthread_create(&t, 0, worker, j);"));
    refuses("counted after", &text("pthread_mutex_lock(&j->m); pthread_create(&t, 0, worker, j); count++;"));
}

/// A word that holds another value than is claimed, at each location that others leave alone.
#[test]
fn words_that_are_made_up() {
    let program = read(
        "#include <pthread.h>
        struct g { int n; pthread_mutex_t m; } one, two, *g = &one; int *other;
        void *worker(void *a) { void *b = a; pthread_mutex_lock(&g->m); g->n++; pthread_mutex_unlock(&g->m); return b; }
        int main(int c, char **v) { pthread_t t; if (c > 1) g = &two; for (int i = 0; i < c; i++)
          pthread_create(&t, 0, worker, 0); return 0; }",
    );
    let proof = Builder::strongest(&program);
    assert_eq!(verdict(&program, &proof), Ok(()));
    let named =
        |name: &str| program.objects.enumerate().find(|(_, object)| object.name == name).map(|(id, _)| id);
    let object = named("g").expect("it is there");
    let mut refused = 0;
    for (number, context) in proof.contexts.iter().enumerate() {
        let code = &program.templates[context.template];
        let local = code.locals.enumerate().find(|(_, local)| local.name == "b").map(|(id, _)| id);
        let Some(local) = local else { continue };
        for location in 0..context.facts.len() {
            let mut forged = proof.clone();
            let Some(facts) = &mut forged.contexts[number].facts[location] else { continue };
            let word = Word { base: LockBase::Object(object), offset: 0, local, plus: 0 };
            if facts.words.binary_search(&word).is_err() {
                facts.words.push(word);
                facts.words.sort_unstable();
                let error = verdict(&program, &forged).expect_err("it is made up");
                assert!(error.to_string().contains("word"), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 5, "{refused}");
}
