//! Topics about synchronisation objects.

use super::{NOTHING, Topic};

/// What can be written about.
pub(super) const TOPICS: &[Topic] = &[
    // Threads that one loop starts, with an element each, and that another one joins.
    Topic {
        globals: &["struct E { pthread_t id; int in, out; } es[3];"],
        functions: &[
            "static void *each(void *p) {\nstruct E *e = p;\ne->out = e->in + «1¦1¦e->out¦es[0].out»;\nreturn 0;\n}",
        ],
        set_up: &[
            "int n = «2¦2¦3¦1»;\nint j;\nfor (j = 0; j < n; j++) {\nes[«j¦j¦j¦0»].in = «1¦j»;\npthread_create(&es[«j¦j¦j¦j¦0¦j / 2»].id, 0, each, &es[«j¦j¦j¦j¦0¦j / 2»]);\n}",
            "«¦¦¦¦es[1].in = 1;¦es[0].id = es[1].id;»",
            "for (j = «0¦0¦0¦0¦1»; j < n«¦¦¦¦ - 1»; j++) {\npthread_join(es[«j¦j¦j¦j¦0»].id, 0);\n«¦g0 += es[j].out;¦g0 += es[0].out;¦es[j].out = 0;»\n}",
            "«g0 += es[0].out;¦es[n - 1].out = 1;¦for (j = 0; j < n; j++) g0 += es[j].out;»",
        ],
        ..NOTHING
    },
    // Kinds of mutexes.
    Topic {
        globals: &["pthread_mutex_t mk;"],
        set_up: &[
            "pthread_mutexattr_t kind;\npthread_mutexattr_init(&kind);\npthread_mutexattr_settype(&kind, PTHREAD_MUTEX_«RECURSIVE¦ERRORCHECK¦NORMAL¦DEFAULT¦RECURSIVE»);\npthread_mutex_init(&mk, «&kind¦&kind¦0»);",
        ],
        actions: &[
            "!>pthread_mutex_lock(&mk);\n$b\n<pthread_mutex_unlock(&mk);",
            "!>pthread_mutex_lock(&mk);\n>pthread_mutex_lock(&mk);\n$b\n<pthread_mutex_unlock(&mk);\n<pthread_mutex_unlock(&mk);",
            "!if (pthread_mutex_trylock(&mk) == 0) {\n$b\npthread_mutex_unlock(&mk);\n}",
            "!l0 = pthread_mutex_trylock(&mk);",
            "!l0 = pthread_mutex_unlock(&mk);",
            "!l0 = pthread_mutex_lock(&mk);",
        ],
        ..NOTHING
    },
    // Trying to lock.
    Topic {
        actions: &[
            "!if (!pthread_mutex_trylock(&«m0¦m1»)) {\n$b\npthread_mutex_unlock(&m0);\n}",
            "!if (!pthread_mutex_trylock(&m1)) {\n$b\npthread_mutex_unlock(&m1);\n}\nelse {\n$b\n}",
            "!while (pthread_mutex_trylock(&m1)) ;\n$b\npthread_mutex_unlock(&m1);",
            "!>pthread_mutex_lock(&m1);\n$b\n<pthread_mutex_unlock(&m1);",
            "!>pthread_mutex_lock(&m1);\n>pthread_mutex_lock(&m0);\n$b\n<pthread_mutex_unlock(&m0);\n<pthread_mutex_unlock(&m1);",
        ],
        ..NOTHING
    },
    // Locks for reading and writing.
    Topic {
        globals: &["pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;"],
        actions: &[
            "!>pthread_rwlock_wrlock(&rw);\n$b\n<pthread_rwlock_unlock(&rw);",
            "!>pthread_rwlock_rdlock(&rw);\n$b\n<pthread_rwlock_unlock(&rw);",
            "!>pthread_rwlock_rdlock(&rw);\n$l = $c;\nassert($c «==¦<=» $l);\n<pthread_rwlock_unlock(&rw);",
            "!if (!pthread_rwlock_try«rd¦wr»lock(&rw)) {\n$b\npthread_rwlock_unlock(&rw);\n}",
            "!>pthread_rwlock_rdlock(&rw);\nif ($q) l0 = pthread_rwlock_«try¦»wrlock(&rw);\n<pthread_rwlock_unlock(&rw);",
            "!>pthread_rwlock_rdlock(&rw);\n>pthread_rwlock_rdlock(&rw);\n$b\n<pthread_rwlock_unlock(&rw);\n<pthread_rwlock_unlock(&rw);",
            "!>pthread_rwlock_rdlock(&rw);\n>pthread_mutex_lock(&m0);\n$b\n<pthread_mutex_unlock(&m0);\n<pthread_rwlock_unlock(&rw);",
            "!>pthread_mutex_lock(&m0);\n>pthread_rwlock_«wr¦rd»lock(&rw);\n$b\n<pthread_rwlock_unlock(&rw);\n<pthread_mutex_unlock(&m0);",
        ],
        ..NOTHING
    },
    // Semaphores.
    Topic {
        headers: &["semaphore.h"],
        globals: &["sem_t sem, full;"],
        set_up: &["sem_init(&sem, 0, «0¦1¦1¦2»);\nsem_init(&full, 0, «0¦0¦1»);"],
        actions: &[
            "!>sem_wait(&sem);\n$b\n<sem_post(&sem);",
            "!sem_post(&«sem¦full»);",
            "!sem_wait(&«sem¦full»);",
            "!$b\nsem_post(&full);",
            "!sem_wait(&full);\n$b",
            "!if (!sem_trywait(&sem)) {\n$b\nsem_post(&sem);\n}",
            "!int v$k;\nsem_getvalue(&sem, &v$k);\nassert(v$k «>=¦<=» «0¦1¦2»);",
        ],
        ..NOTHING
    },
    // Condition variables.
    Topic {
        globals: &["pthread_cond_t cv = PTHREAD_COND_INITIALIZER;", "int ready;"],
        cells: &[("ready", "int")],
        actions: &[
            "!>pthread_mutex_lock(&m0);\n«while¦while¦if» (!ready) pthread_cond_wait(&cv, &m0);\n$b\n<pthread_mutex_unlock(&m0);",
            "!>pthread_mutex_lock(&m0);\nready = 1;\npthread_cond_«signal¦broadcast»(&cv);\n<pthread_mutex_unlock(&m0);",
            "!>pthread_mutex_lock(&m0);\nready = 1;\n<pthread_mutex_unlock(&m0);\npthread_cond_signal(&cv);",
            "!pthread_cond_signal(&cv);",
            "!>pthread_mutex_lock(&m0);\nready «= 0¦+= 1»;\npthread_cond_broadcast(&cv);\nwhile (ready «< 2¦== 0») pthread_cond_wait(&cv, &m0);\n<pthread_mutex_unlock(&m0);",
            "!>pthread_mutex_lock(&m0);\nwhile (!ready) pthread_cond_wait(&cv, &m0);\nready = 0;\npthread_cond_signal(&cv);\n<pthread_mutex_unlock(&m0);",
            "!>pthread_mutex_lock(&m0);\npthread_cond_wait(&cv, &m0);\nassert(ready);\n<pthread_mutex_unlock(&m0);",
        ],
        ..NOTHING
    },
    // Barriers.
    Topic {
        globals: &["pthread_barrier_t bar;", "int serial;"],
        set_up: &["pthread_barrier_init(&bar, 0, 2);"],
        cells: &[("serial", "int")],
        actions: &[
            "!pthread_barrier_wait(&bar);",
            "!$b\npthread_barrier_wait(&bar);\n$b",
            "!if (pthread_barrier_wait(&bar) == PTHREAD_BARRIER_SERIAL_THREAD) {\nserial++;\n}",
            "!pthread_barrier_wait(&bar);\n$l = $c;",
        ],
        finally: &["assert(serial <= 1);"],
        ..NOTHING
    },
    // A semaphore for each element, and turns.
    Topic {
        headers: &["semaphore.h"],
        globals: &["sem_t turns[2];", "int at;"],
        set_up: &["sem_init(&turns[0], 0, «1¦1¦0»);\nsem_init(&turns[1], 0, «0¦0¦1»);"],
        cells: &[("at", "int")],
        actions: &[
            "!>sem_wait(&turns[$i & 1]);\nat «= $n¦+= 1¦= $i»;\n<sem_post(&turns[($i & 1) ^ 1]);",
            "!sem_wait(&turns[«$i & 1¦0»]);\n$b\nsem_post(&turns[«$i & 1¦($i & 1) ^ 1¦1»]);",
            "!sem_post(&turns[«0¦1¦$i & 1»]);",
            "!if (sem_trywait(&turns[$i & 1])) {\n$b\n}",
        ],
        ..NOTHING
    },
    // What is done once.
    Topic {
        globals: &["pthread_once_t once = PTHREAD_ONCE_INIT;", "int done;"],
        functions: &["static void initialise(void) {\ndone++;\n$b\n}"],
        cells: &[("done", "int")],
        actions: &[
            "!pthread_once(&once, initialise);",
            "!pthread_once(&once, initialise);\nassert(done == 1);",
            "!$b\npthread_once(&once, initialise);",
        ],
        ..NOTHING
    },
    // Values of each thread.
    Topic {
        globals: &["pthread_key_t key;", "int freed;"],
        functions: &["static void ended(void *value) {\nfreed += (int)(long)value;\n}"],
        set_up: &["pthread_key_create(&key, «ended¦0»);"],
        cells: &[("freed", "int")],
        actions: &[
            "pthread_setspecific(key, (void *)(long)«1¦$i¦2¦0»);",
            "assert(pthread_getspecific(key) == (void *)«0¦1»);",
            "$l = (int)(long)pthread_getspecific(key);",
            "if (!pthread_getspecific(key)) pthread_setspecific(key, &g0);",
        ],
        finally: &["assert(freed «>=¦==¦<=» $n);"],
        ..NOTHING
    },
    // Spin locks.
    Topic {
        globals: &["pthread_spinlock_t spin;"],
        set_up: &["pthread_spin_init(&spin, 0);"],
        actions: &[
            "!>pthread_spin_lock(&spin);\n$b\n<pthread_spin_unlock(&spin);",
            "!if (!pthread_spin_trylock(&spin)) {\n$b\npthread_spin_unlock(&spin);\n}",
            "!>pthread_spin_lock(&spin);\n>pthread_mutex_lock(&m0);\n$b\n<pthread_mutex_unlock(&m0);\n<pthread_spin_unlock(&spin);",
            "!>pthread_mutex_lock(&m0);\n>pthread_spin_lock(&spin);\n$b\n<pthread_spin_unlock(&spin);\n<pthread_mutex_unlock(&m0);",
        ],
        ..NOTHING
    },
    // Arrays of locks.
    Topic {
        globals: &[
            "pthread_mutex_t ms[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };",
            "int vs[4];",
        ],
        cells: &[("vs[«$i & 1¦$i / 2¦$i¦0»]", "int")],
        actions: &[
            "!>pthread_mutex_lock(&ms[$i & 1]);\nvs[«$i & 1¦$i¦$i - $i % 2¦$i & ~1¦$i / 2»]++;\n<pthread_mutex_unlock(&ms[$i & 1]);",
            "!>pthread_mutex_lock(&ms[«$i / 2¦$i % 2¦$i * $i & 1¦0»]);\nvs[«$i & 1¦$i / 2¦$i % 2¦$i * $i & 1»]++;\n<pthread_mutex_unlock(&ms[«$i / 2¦$i % 2¦0»]);",
            "!pthread_mutex_t *p$k = &ms[«$i & 1¦($i + 1) & 1¦l0 & 1»];\n>pthread_mutex_lock(p$k);\n$b\n<pthread_mutex_unlock(p$k);",
            "!>pthread_mutex_lock(&ms[$i & 1]);\n>pthread_mutex_lock(&ms[«($i & 1) ^ 1¦1¦0»]);\n$b\n<pthread_mutex_unlock(&ms[«($i & 1) ^ 1¦1¦0»]);\n<pthread_mutex_unlock(&ms[$i & 1]);",
            "!>pthread_mutex_lock(&ms[0]);\n$b\n<pthread_mutex_unlock(&ms[0]);",
        ],
        ..NOTHING
    },
    // Locks inside of structures.
    Topic {
        headers: &["string.h", "stdlib.h"],
        globals: &["struct A { pthread_mutex_t m; int v; } acc[2], *now = &acc[0];"],
        set_up: &[
            "«pthread_mutex_init(&acc[0].m, 0);\npthread_mutex_init(&acc[1].m, 0);¦memset(acc, 0, sizeof acc);¦¦now = malloc(sizeof *now);\npthread_mutex_init(&now->m, 0);\nnow->v = 0;»",
        ],
        cells: &[("acc[«0¦$i & 1»].v", "int"), ("now->v", "int")],
        actions: &[
            "!>pthread_mutex_lock(&acc[$i & 1].m);\nacc[«$i & 1¦$i & 1¦0»].v++;\n<pthread_mutex_unlock(&acc[$i & 1].m);",
            "!>pthread_mutex_lock(&now->m);\nnow->v = $e;\n<pthread_mutex_unlock(&now->m);",
            "!struct A *a$k = &acc[«$i & 1¦0»];\n>pthread_mutex_lock(&a$k->m);\n$b\n<pthread_mutex_unlock(&a$k->m);",
            "now = &acc[«0¦1¦$i & 1»];",
            "!>pthread_mutex_lock(&acc[«0¦$i & 1»].m);\n>pthread_mutex_lock(&acc[«1¦($i + 1) & 1»].m);\n$b\n<pthread_mutex_unlock(&acc[«1¦($i + 1) & 1»].m);\n<pthread_mutex_unlock(&acc[«0¦$i & 1»].m);",
        ],
        ..NOTHING
    },
    // Threads that end in the middle, and their results.
    Topic {
        headers: &["stdlib.h"],
        actions: &[
            "!if ($q) pthread_exit(«0¦(void *)1»);",
            "!if ($q) {\npthread_mutex_lock(&m1);\nreturn 0;\n}",
            "!pthread_t t$k = pthread_self();\nassert(pthread_equal(t$k, pthread_self()));",
            "!pthread_detach(pthread_self());",
            "!if ($q) exit(0);",
            "!if ($q) abort();",
        ],
        ..NOTHING
    },
    // Waiting with a time limit.
    Topic {
        headers: &["semaphore.h", "time.h"],
        globals: &[
            "pthread_cond_t tc = PTHREAD_COND_INITIALIZER;",
            "pthread_rwlock_t tr = PTHREAD_RWLOCK_INITIALIZER;",
            "sem_t ts;",
            "struct timespec limit = { 1, «0¦0¦999999999¦1000000000» };",
            "int late;",
        ],
        set_up: &["sem_init(&ts, 0, «0¦1»);"],
        cells: &[("late", "int")],
        actions: &[
            "!if (!pthread_mutex_timedlock(&«m1¦m0», &limit)) {\n$b\npthread_mutex_unlock(&«m1¦m0»);\n}\nelse {\nlate++;\n}",
            "!if (!sem_timedwait(&ts, &limit)) {\n$b\nsem_post(&ts);\n}",
            "!>pthread_mutex_lock(&m0);\nif (!late) if (pthread_cond_timedwait(&tc, &m0, &limit)) late = 1;\n<pthread_mutex_unlock(&m0);",
            "!>pthread_mutex_lock(&m0);\nlate = 1;\npthread_cond_«signal¦broadcast»(&tc);\n<pthread_mutex_unlock(&m0);",
            "!if (!pthread_rwlock_timed«rd¦wr»lock(&tr, &limit)) {\n$b\npthread_rwlock_unlock(&tr);\n}",
            "!sem_post(&ts);",
        ],
        ..NOTHING
    },
];
