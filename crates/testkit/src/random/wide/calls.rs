//! Topics about calls: the cases that an interprocedural analysis of whole programs has to distinguish. Locks
//! that come through pointers, parameters and results, wrappers, objects that are handed to threads, one
//! function in several contexts, threads that are started in one function and joined in another.

use super::{NOTHING, Topic};

/// What can be written about.
pub(super) const TOPICS: &[Topic] = &[
    // Locks as parameters.
    Topic {
        globals: &["int ca«¦ = 1»;"],
        functions: &[
            "static void enter(pthread_mutex_t *m) {\npthread_mutex_lock(m);\n}",
            "static void leave(pthread_mutex_t *m) {\n«pthread_mutex_unlock(m);¦pthread_mutex_unlock(m);¦pthread_mutex_unlock(m);¦pthread_mutex_unlock(&m1);»\n}",
            "static void add_under(pthread_mutex_t *m, int *to) {\nenter(m);\n«*to += 1;¦ca = *to;¦*to = ca + 1;»\nleave(m);\n}",
        ],
        cells: &[("ca", "int")],
        actions: &[
            "!>enter(&«m0¦m1»);\n$b\n<leave(&«m0¦m0¦m1»);",
            "!>enter(&m0);\nca++;\n<leave(&m0);",
            "!add_under(&«m0¦m0¦m1», &«ca¦ca¦g0»);",
            "!pthread_mutex_t *m$k = «&m0¦&m1¦$i & 1 ? &m0 : &m1¦l0 ? &m1 : &m0»;\n>enter(m$k);\n«ca++;¦$b»\n<leave(m$k);",
            "!add_under(&m0, &l0);",
        ],
        ..NOTHING
    },
    // Functions that take a lock, or do not, or give it back.
    Topic {
        globals: &["int cb;"],
        functions: &[
            "static int begin(int when) {\nif (when«¦ & 1¦ > 1») {\npthread_mutex_lock(&m0);\nreturn 1;\n}\nreturn «0¦0¦1»;\n}",
            "static void end(int was) {\nif (was) pthread_mutex_unlock(&m0);\n}",
            "static int try_it(void) {\nreturn pthread_mutex_trylock(&m0) «== 0¦== 0¦!= 0»;\n}",
            "static void reopened(void) {\npthread_mutex_unlock(&m0);\n«cb = cb;¦»\npthread_mutex_lock(&m0);\n}",
        ],
        cells: &[("cb", "int")],
        actions: &[
            "!int b$k = begin(«1¦$i¦l0¦0»);\ncb++;\nend(b$k);",
            "!if (begin(«1¦$i»)) {\n$b\ncb = $n;\nend(1);\n}",
            "!if (try_it()) {\ncb++;\npthread_mutex_unlock(&m0);\n}",
            "!>pthread_mutex_lock(&m0);\n$l = cb;\n«reopened();¦»\ncb = $l + 1;\n<pthread_mutex_unlock(&m0);",
            "!>pthread_mutex_lock(&m0);\ncb++;\n<pthread_mutex_unlock(&m0);",
        ],
        ..NOTHING
    },
    // Structures that know their lock.
    Topic {
        globals: &[
            "struct D { pthread_mutex_t *lock; int v; };",
            "struct D d0 = { &m0, 0 };",
            "struct D d1 = { &«m1¦m0», 0 };",
        ],
        functions: &[
            "static void touch(struct D *d) {\npthread_mutex_lock(d->lock);\nd->v«++;¦ = d->v + 1;»\npthread_mutex_unlock(d->lock);\n}",
            "static pthread_mutex_t *lock_of(int which) {\nreturn which ? &m1 : &m0;\n}",
            "static struct D *choose(int which) {\nreturn which ? &d1 : &d0;\n}",
        ],
        cells: &[("d0.v", "int"), ("d1.v", "int")],
        actions: &[
            "!touch(&d«0¦1»);",
            "!touch(choose(«0¦1¦$i & 1»));",
            "!>pthread_mutex_lock(lock_of(«0¦1¦$i & 1»));\nd«0¦1».v = $e;\n<pthread_mutex_unlock(lock_of(«0¦1¦$i & 1»));",
            "!struct D *s$k = choose($i & 1);\n>pthread_mutex_lock(s$k->lock);\ns$k->v = $n;\n<pthread_mutex_unlock(s$k->lock);",
            "d1.lock = &m0;",
            "!struct D o$k = { &m0, $n };\ntouch(&o$k);\nassert(o$k.v «==¦!=» $n);",
        ],
        ..NOTHING
    },
    // Objects that are allocated, handed to a thread, and perhaps kept.
    Topic {
        headers: &["stdlib.h"],
        globals: &["struct O { int v; int w; };", "struct O *shown;"],
        functions: &[
            "static struct O *make(int v) {\nstruct O *o = malloc(sizeof *o);\no->v = v;\no->w = 0;\nreturn o;\n}",
            "static void change(struct O *o) {\no->v«++¦ = o->w»;\n}",
            "static void *keep_it(void *argument) {\nstruct O *o = argument;\nchange(o);\n«free(o);¦¦g0 = o->v;»\nreturn 0;\n}",
        ],
        actions: &[
            "!struct O *o$k = make($n);\npthread_t t$k;\npthread_create(&t$k, 0, keep_it, o$k);\n«¦o$k->w = 1;¦change(o$k);¦$l = o$k->w;»\n«pthread_join(t$k, 0);¦»",
            "!struct O *o$k = make($n);\n«¦shown = o$k;»\nchange(o$k);\n«free(o$k);¦$l = o$k->v;»",
            "struct O *o$k = make(1);\n«¦change(o$k);»\n«shown = o$k;¦if (!shown) shown = o$k;»\n«¦o$k->w = 2;»",
            "if (shown) «change(shown)¦shown->v = $n¦$l = shown->v»;",
            "struct O *o$k = make($n);\nstruct O *c$k = o$k;\nchange(c$k);\nassert(o$k->v «==¦>=¦!=» $n);",
        ],
        ..NOTHING
    },
    // One function in several contexts.
    Topic {
        globals: &["int cc, cd;"],
        functions: &[
            "static void inc(int *p) {\n(*p)++;\n}",
            "static void inc_both(int *p, int *q) {\ninc(p);\ninc(q);\n}",
            "static int peek(const int *p) {\nreturn *p;\n}",
        ],
        set_up: &["«inc(&cc);¦¦inc_both(&cc, &cd);»"],
        cells: &[("cc", "int"), ("cd", "int")],
        actions: &[
            "inc(&«l0¦l0¦cc»);",
            "!>pthread_mutex_lock(&«m0¦m0¦m1»);\ninc(&«cc¦cd»);\n<pthread_mutex_unlock(&«m0¦m0¦m1»);",
            "!>pthread_mutex_lock(&m0);\ninc_both(&«cc¦l0», &«cd¦l0»);\n<pthread_mutex_unlock(&m0);",
            "$l = peek(&«cc¦cd¦l0»);",
            "!>pthread_mutex_lock(&m0);\n$l = peek(&cc);\n<pthread_mutex_unlock(&m0);\nassert($l «>=¦<=» $n);",
            "inc_both(&l0, &«cc¦l0»);",
        ],
        finally: &["«inc(&cc);\n¦»assert(peek(&cc) «>=¦==¦<=» $n);"],
        ..NOTHING
    },
    // Functions as parameters.
    Topic {
        globals: &["int ce;"],
        functions: &[
            "static void one(void) {\nce++;\n}",
            "static void other(void) {\n«ce = 0;¦g0 = ce;»\n}",
            "static void with_lock(pthread_mutex_t *m, void (*what)(void)) {\npthread_mutex_lock(m);\nwhat();\npthread_mutex_unlock(m);\n}",
            "static void *runner(void *what) {\n((void (*)(void))what)();\nreturn 0;\n}",
        ],
        cells: &[("ce", "int")],
        actions: &[
            "!with_lock(&«m0¦m0¦m1», «one¦one¦other»);",
            "«one¦other»();",
            "void (*w$k)(void) = $q ? one : other;\nw$k();",
            "!pthread_t t$k;\npthread_create(&t$k, 0, runner, (void *)«one¦other»);\n«¦one();»\npthread_join(t$k, 0);",
        ],
        ..NOTHING
    },
    // Threads that are started here and joined there.
    Topic {
        globals: &["pthread_t handle;", "int cf;"],
        functions: &[
            "static void *helper(void *argument) {\n«cf++;¦cf = (int)(long)argument;¦*(int *)argument = 1;»\nreturn argument;\n}",
            "static void start_it(pthread_t *to, void *with) {\npthread_create(to, 0, helper, with);\n}",
            "static void wait_for(pthread_t who) {\npthread_join(who, 0);\n}",
        ],
        set_up: &[
            "«cf = 1;\nstart_it(&handle, &g0);\n«wait_for(handle);\n¦»cf = 2;¦start_it(&handle, &cf);\nwait_for(handle);»",
        ],
        cells: &[("cf", "int")],
        actions: &[
            "!pthread_t t$k;\nstart_it(&t$k, &«g0¦l0¦cf»);\n«¦cf++;¦l0++;»\nwait_for(t$k);\n«¦cf++;»",
            "!>pthread_mutex_lock(&m0);\ncf++;\n<pthread_mutex_unlock(&m0);",
            "$l = cf;",
        ],
        finally: &["assert(cf «>=¦==» $n);"],
        ..NOTHING
    },
    // Readers, writers and semaphores in wrappers.
    Topic {
        headers: &["semaphore.h"],
        globals: &["pthread_rwlock_t wl = PTHREAD_RWLOCK_INITIALIZER;", "sem_t slot;", "int cg;"],
        functions: &[
            "static void for_reading(pthread_rwlock_t *l) {\npthread_rwlock_«rd¦rd¦wr»lock(l);\n}",
            "static void for_writing(pthread_rwlock_t *l) {\npthread_rwlock_«wr¦wr¦wr¦rd»lock(l);\n}",
            "static void sem_down(sem_t *s) {\nsem_wait(s);\n}",
            "static void sem_up(sem_t *s) {\nsem_post(s);\n}",
        ],
        set_up: &["sem_init(&slot, 0, «1¦1¦2¦0»);"],
        cells: &[("cg", "int")],
        actions: &[
            "!>for_reading(&wl);\n$l = cg;\n<pthread_rwlock_unlock(&wl);",
            "!>for_writing(&wl);\ncg = $e;\n<pthread_rwlock_unlock(&wl);",
            "!>sem_down(&slot);\n«cg++;¦$b»\n<sem_up(&slot);",
            "!>for_«reading¦writing»(&wl);\ncg«++¦ = $n»;\n<pthread_rwlock_unlock(&wl);",
        ],
        ..NOTHING
    },
    // Lists of objects, each with its lock.
    Topic {
        headers: &["stdlib.h"],
        globals: &["struct I { pthread_mutex_t l; int v; struct I *next; } *items;"],
        functions: &[
            "static struct I *new_item(int v) {\nstruct I *item = malloc(sizeof *item);\npthread_mutex_init(&item->l, 0);\nitem->v = v;\nitem->next = items;\nreturn item;\n}",
            "static void add_to(struct I *item, int v) {\npthread_mutex_lock(&item->l);\nitem->v += v;\npthread_mutex_unlock(«&item->l¦&item->l¦&items->l»);\n}",
        ],
        set_up: &["items = new_item(0);\n«items = new_item(1);¦»"],
        actions: &[
            "!add_to(items, $n);",
            "!if (items->next) add_to(items->next, 1);",
            "!struct I *n$k = items«¦->next»;\nif (n$k) {\npthread_mutex_lock(&n$k->l);\nn$k->v = $n;\npthread_mutex_unlock(&n$k->l);\n}",
            "$l = items->v;",
            "!struct I *n$k = new_item($n);\nadd_to(n$k, 1);\n«items = n$k;¦free(n$k);¦»",
        ],
        finally: &["assert(items->v «>=¦!=» $n);"],
        ..NOTHING
    },
];
