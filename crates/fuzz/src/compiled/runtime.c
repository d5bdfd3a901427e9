/* Runs a compiled program under many random schedules, one step of one thread at a time, and says what goes wrong.
 *
 * The program is compiled with -fsanitize=thread, which puts a call before every access to memory that another thread could see; the linker
 * leads these calls here; those of the libraries are renamed (names.h). Only the thread that has the token runs; at each call it may pass on. Synchronisation objects are our own, by
 * their addresses, as POSIX has them: nothing is shared with the models of the verifier. Races are found by vector clocks, accesses outside of objects by
 * what is allocated and by pads between variables. Each schedule runs in a process of its own.
 *
 * Arguments: the check, the first seed, how many schedules. Prints the first seed for each outcome. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum outcome { FINE, ASSERTION = 10, RACE, UNDEFINED, INVALID, DEADLOCK, LIMIT, OTHER, OUTCOMES };
enum { THREADS = 12, OBJECTS = 64, BLOCKS = 64, CELLS = 1 << 13, STEPS = 3000, KEYS = 4 };

int program_main(void);
extern char *const tp_pads[];
extern void *const tp_atomic[];

static int races_end, spurious;
static uint64_t random_state;
static unsigned often;
static unsigned draw(unsigned limit) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (unsigned)(random_state >> 20) % limit;
}
static void finish(enum outcome outcome) { _exit(outcome); }

/* --- threads --- */
typedef unsigned clocks[THREADS];
struct thread {
  int started, ended, waits;
  unsigned seen; /* the version of all synchronisation objects at which it found that it must wait */
  void *(*function)(void *);
  void *argument, *result, *values[KEYS], *condition;
  clocks clock;
  sem_t token;
  jmp_buf end;
};
static struct thread threads[THREADS];
static int count = 1, current, atomic_depth;
static unsigned version = 1, steps;
static __thread int me;

static int runnable(int t) { return threads[t].started && !threads[t].ended && !(threads[t].waits && threads[t].seen == version); }
static void hand_over(int t) {
  if (t == me) return;
  current = t;
  sem_post(&threads[t].token);
}
static void wait_for_token(void) { while (sem_wait(&threads[me].token)) ; }
static int any_runnable(void) {
  int from = draw(count);
  for (int k = 0; k < count; k++)
    if (runnable((from + k) % count)) return (from + k) % count;
  return -1;
}
/* A place where another thread may go on. */
static void point(void) {
  if (++steps > STEPS) finish(LIMIT);
  if (atomic_depth || draw(often)) return;
  int next = any_runnable();
  if (next < 0 || next == me) return;
  hand_over(next);
  wait_for_token();
}
/* Waits until synchronisation objects change. */
static void block(void) {
  if (atomic_depth) finish(FINE);
  threads[me].waits = 1;
  threads[me].seen = version;
  int next = any_runnable();
  if (next < 0) finish(DEADLOCK);
  if (next != me) {
    hand_over(next);
    wait_for_token();
  }
  threads[me].waits = 0;
}
static void changed(void) { version++; }

/* --- vector clocks --- */
static void join_clock(clocks into, const clocks from) {
  for (int t = 0; t < THREADS; t++)
    if (from[t] > into[t]) into[t] = from[t];
}
/* What comes before is known to whoever acquires. */
static void release(clocks to) {
  join_clock(to, threads[me].clock);
  threads[me].clock[me]++;
}
static void acquire(const clocks from) { join_clock(threads[me].clock, from); }
static clocks regions;

enum access { READ, WRITE, ATOMIC_READ, ATOMIC_WRITE };
struct cell { uintptr_t address; unsigned at[4][THREADS]; };
static struct cell cells[CELLS];
static struct cell *cell_of(uintptr_t address) {
  for (unsigned k = 0, h = (address * 2654435761u) % CELLS; k < CELLS; k++, h = (h + 1) % CELLS) {
    if (!cells[h].address) cells[h].address = address;
    if (cells[h].address == address) return &cells[h];
  }
  finish(LIMIT);
  return 0;
}
static void forget(void *from, size_t size) {
  for (size_t k = 0; k < size; k++) memset(cell_of((uintptr_t)from + k)->at, 0, sizeof cells[0].at);
}
static void track(enum access access, uintptr_t from, size_t size) {
  static const int conflicts[4][4] = {{0, 1, 0, 1}, {1, 1, 1, 1}, {0, 1, 0, 0}, {1, 1, 0, 0}};
  for (size_t k = 0; k < size; k++) {
    struct cell *cell = cell_of(from + k);
    for (int other = 0; other < 4; other++)
      for (int t = 0; t < count; t++)
        if (conflicts[access][other] && t != me && cell->at[other][t] > threads[me].clock[t]) finish(RACE);
    cell->at[access][me] = threads[me].clock[me];
  }
}

/* --- what is allocated --- */
static char arena[1 << 16] __attribute__((aligned(64)));
static struct block { char *from; size_t size, room; int live; } blocks[BLOCKS];
static int block_count;
static size_t arena_used = 64;
static struct block *block_at(const void *address) {
  for (int b = block_count; b-- > 0;)
    if (blocks[b].live && blocks[b].from == address) return &blocks[b];
  return 0;
}
static void check_valid(uintptr_t from, size_t size) {
  if (from < 4096) finish(INVALID);
  if (from >= (uintptr_t)arena && from < (uintptr_t)arena + sizeof arena) {
    for (int b = 0; b < block_count; b++)
      if (blocks[b].live && from >= (uintptr_t)blocks[b].from && from + size <= (uintptr_t)blocks[b].from + blocks[b].size) return;
    finish(INVALID);
  }
  for (char *const *pad = tp_pads; *pad; pad++)
    if (from < (uintptr_t)*pad + 64 && (uintptr_t)*pad < from + size) finish(INVALID);
}
void *tp_malloc(size_t size) {
  point();
  size_t room = (size + 15) / 16 * 16 + 16;
  int reused = -1;
  for (int b = 0; b < block_count; b++)
    if (!blocks[b].live && blocks[b].room >= room && draw(2)) reused = b;
  if (reused < 0) {
    if (block_count == BLOCKS || arena_used + room + 64 > sizeof arena) finish(LIMIT);
    reused = block_count++;
    blocks[reused] = (struct block){arena + arena_used, size, room, 1};
    arena_used += room + 48;
  }
  blocks[reused].size = size;
  blocks[reused].live = 1;
  memset(blocks[reused].from, draw(2) ? 0 : 0xA5, size);
  forget(blocks[reused].from, size);
  return blocks[reused].from;
}
void *tp_calloc(size_t n, size_t size) { return memset(tp_malloc(n * size), 0, n * size); }
void tp_free(void *address) {
  point();
  if (!address) return;
  struct block *block = block_at(address);
  if (!block) finish(OTHER);
  block->live = 0;
}
void *tp_realloc(void *address, size_t size) {
  if (!address) return tp_malloc(size);
  struct block *old = block_at(address);
  if (!old) finish(OTHER);
  size_t kept = old->size < size ? old->size : size;
  char copy[256];
  if (kept > sizeof copy) finish(LIMIT);
  memcpy(copy, address, kept);
  tp_free(address);
  return memcpy(tp_malloc(size), copy, kept);
}

/* --- accesses --- */
static void come_to(const volatile void *address, size_t size) {
  point();
  check_valid((uintptr_t)address, size);
}
static void touch(enum access access, const volatile void *address, size_t size) {
  if (races_end) track(access, (uintptr_t)address, size);
}
static void reach(enum access access, const volatile void *address, size_t size) {
  if (!size) return;
  come_to(address, size);
  /* In an atomic region every access is atomic. */
  if (atomic_depth && access == READ) access = ATOMIC_READ;
  if (atomic_depth && access == WRITE) access = ATOMIC_WRITE;
  touch(access, address, size);
}
#define ACCESS(name, mode, bytes) void __tsan_##name(void *address) { reach(mode, address, bytes); }
#define ACCESSES(size) \
  ACCESS(read##size, READ, size) \
  ACCESS(write##size, WRITE, size) \
  ACCESS(volatile_read##size, READ, size) \
  ACCESS(volatile_write##size, WRITE, size) \
  ACCESS(unaligned_read##size, READ, size) \
  ACCESS(unaligned_write##size, WRITE, size)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(void *address, unsigned long size) { reach(READ, address, size); }
void __tsan_write_range(void *address, unsigned long size) { reach(WRITE, address, size); }
void __tsan_init(void) {}
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void *a, void *b) { (void)a, (void)b; }
void __tsan_atomic_signal_fence(int order) { (void)order; }
static clocks fences;
void __tsan_atomic_thread_fence(int order) {
  (void)order;
  point();
  acquire(fences);
  release(fences);
}

/* --- synchronisation objects, by address --- */
struct object { const volatile void *address; int set_up, kind, owner, held, readers[THREADS], value, arrived, round, once; clocks clock; };
static struct object objects[OBJECTS];
static struct object *object_of(const volatile void *address) {
  for (int k = 0; k < OBJECTS; k++) {
    if (!objects[k].address) {
      objects[k].address = address;
      objects[k].owner = -1;
    }
    if (objects[k].address == address) return &objects[k];
  }
  finish(LIMIT);
  return 0;
}
static struct object *fresh(const volatile void *address) {
  struct object *object = object_of(address);
  memset(object, 0, sizeof *object);
  object->address = address;
  object->owner = -1;
  object->set_up = 1;
  return object;
}

static int acquires(int order) { return order == 1 || order == 2 || order >= 4; }
static int releases(int order) { return order >= 3; }
/* An atomic access: what it acquires comes before it, what it releases after. */
static void atomic_access(const volatile void *address, size_t size, int order, int reads, int writes) {
  clocks *clock = &object_of(address)->clock;
  /* No atomic access is in the middle of an atomic region: it comes after the region as a whole. */
  acquire(regions);
  if (reads && acquires(order)) acquire(*clock);
  touch(writes ? ATOMIC_WRITE : ATOMIC_READ, address, size);
  if (writes && !reads) memset(*clock, 0, sizeof *clock);
  if (writes && releases(order)) release(*clock);
}
#define ATOMICS(bits, type) \
  type __tsan_atomic##bits##_load(const volatile type *a, int order) { \
    come_to(a, sizeof(type)); \
    atomic_access(a, sizeof(type), order, 1, 0); \
    return *a; \
  } \
  void __tsan_atomic##bits##_store(volatile type *a, type v, int order) { \
    come_to(a, sizeof(type)); \
    atomic_access(a, sizeof(type), order, 0, 1); \
    *a = v; \
  } \
  static int exchange##bits(volatile type *a, type *c, type v, int order, int weak) { \
    come_to(a, sizeof(type)); \
    if (*a == *c && !(weak && draw(4) == 0)) { \
      atomic_access(a, sizeof(type), order, 1, 1); \
      *a = v; \
      return 1; \
    } \
    atomic_access(a, sizeof(type), order, 1, 0); \
    *c = *a; \
    return 0; \
  } \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type *a, type *c, type v, int order, int fail) { \
    (void)fail; \
    return exchange##bits(a, c, v, order, 0); \
  } \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type *a, type *c, type v, int order, int fail) { \
    (void)fail; \
    return exchange##bits(a, c, v, order, 1); \
  } \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type c, type v, int order, int fail) { \
    (void)fail; \
    exchange##bits(a, &c, v, order, 0); \
    return c; \
  } \
  UPDATE(bits, type, exchange, v) \
  UPDATE(bits, type, fetch_add, old + v) \
  UPDATE(bits, type, fetch_sub, old - v) \
  UPDATE(bits, type, fetch_and, old & v) \
  UPDATE(bits, type, fetch_or, old | v) \
  UPDATE(bits, type, fetch_xor, old ^ v) \
  UPDATE(bits, type, fetch_nand, ~(old & v))
#define UPDATE(bits, type, operation, new) \
  type __tsan_atomic##bits##_##operation(volatile type *a, type v, int order) { \
    come_to(a, sizeof(type)); \
    atomic_access(a, sizeof(type), order, 1, 1); \
    type old = *a; \
    *a = (type)(new); \
    return old; \
  }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

static void take(struct object *lock) {
  lock->owner = me;
  lock->held++;
  acquire(lock->clock);
}
static void give(struct object *lock) {
  if (--lock->held) return;
  lock->owner = -1;
  release(lock->clock);
  changed();
}
static int lock_it(struct object *lock, int try) {
  point();
  if (lock->owner == me && lock->kind == PTHREAD_MUTEX_RECURSIVE) {
    lock->held++;
    return 0;
  }
  if (lock->owner == me && lock->kind == PTHREAD_MUTEX_ERRORCHECK && !try) return EDEADLK;
  while (lock->owner >= 0) {
    if (try) return EBUSY;
    block();
  }
  take(lock);
  return 0;
}
static int unlock_it(struct object *lock) {
  point();
  if (lock->owner != me && lock->kind == PTHREAD_MUTEX_NORMAL) finish(OTHER);
  if (lock->owner != me) return EPERM;
  give(lock);
  return 0;
}
int tp_pthread_mutexattr_init(pthread_mutexattr_t *a) { return fresh(a)->kind = 0; }
int tp_pthread_mutexattr_settype(pthread_mutexattr_t *a, int kind) {
  object_of(a)->kind = kind;
  return 0;
}
int tp_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a) {
  fresh(m)->kind = a ? object_of(a)->kind : 0;
  return 0;
}
int tp_pthread_mutex_destroy(pthread_mutex_t *m) { return object_of(m)->owner >= 0 ? EBUSY : 0; }
int tp_pthread_mutex_lock(pthread_mutex_t *m) { return lock_it(object_of(m), 0); }
int tp_pthread_mutex_trylock(pthread_mutex_t *m) { return lock_it(object_of(m), 1); }
/* The time of what is limited is over when it would have to wait. */
int tp_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *t) {
  return (void)t, lock_it(object_of(m), 1) ? ETIMEDOUT : 0;
}
int tp_pthread_mutex_unlock(pthread_mutex_t *m) { return unlock_it(object_of(m)); }
int tp_pthread_spin_init(pthread_spinlock_t *s, int shared) { return (void)shared, fresh(s)->kind; }
int tp_pthread_spin_lock(pthread_spinlock_t *s) { return lock_it(object_of(s), 0); }
int tp_pthread_spin_trylock(pthread_spinlock_t *s) { return lock_it(object_of(s), 1); }
int tp_pthread_spin_unlock(pthread_spinlock_t *s) { return unlock_it(object_of(s)); }

static int read_it(struct object *lock, int try) {
  point();
  if (lock->owner == me && !try) return EDEADLK;
  while (lock->owner >= 0) {
    if (try) return EBUSY;
    block();
  }
  lock->readers[me]++;
  acquire(lock->clock);
  return 0;
}
static int any_reader(struct object *lock) {
  for (int t = 0; t < THREADS; t++)
    if (lock->readers[t]) return 1;
  return 0;
}
static int write_it(struct object *lock, int try) {
  point();
  if (lock->owner == me && !try) return EDEADLK;
  while (lock->owner >= 0 || any_reader(lock)) {
    if (try) return EBUSY;
    block();
  }
  take(lock);
  return 0;
}
int tp_pthread_rwlock_rdlock(pthread_rwlock_t *l) { return read_it(object_of(l), 0); }
int tp_pthread_rwlock_tryrdlock(pthread_rwlock_t *l) { return read_it(object_of(l), 1); }
int tp_pthread_rwlock_wrlock(pthread_rwlock_t *l) { return write_it(object_of(l), 0); }
int tp_pthread_rwlock_trywrlock(pthread_rwlock_t *l) { return write_it(object_of(l), 1); }
int tp_pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *t) {
  return (void)t, read_it(object_of(l), 1) ? ETIMEDOUT : 0;
}
int tp_pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *t) {
  return (void)t, write_it(object_of(l), 1) ? ETIMEDOUT : 0;
}
int tp_pthread_rwlock_unlock(pthread_rwlock_t *l) {
  point();
  struct object *lock = object_of(l);
  if (lock->owner == me) {
    give(lock);
  } else if (lock->readers[me]) {
    lock->readers[me]--;
    release(lock->clock);
    changed();
  } else {
    finish(OTHER);
  }
  return 0;
}

/* One that must have been set up. */
static struct object *set_up(const volatile void *address) {
  struct object *object = object_of(address);
  if (!object->set_up) finish(OTHER);
  return object;
}
int tp_sem_init(sem_t *s, int shared, unsigned value) {
  (void)shared;
  fresh(s)->value = value;
  return 0;
}
int tp_sem_post(sem_t *s) {
  point();
  set_up(s)->value++;
  release(set_up(s)->clock);
  changed();
  return 0;
}
int tp_sem_wait(sem_t *s) {
  point();
  while (set_up(s)->value == 0) block();
  set_up(s)->value--;
  acquire(set_up(s)->clock);
  return 0;
}
int tp_sem_trywait(sem_t *s) {
  point();
  if (set_up(s)->value) return tp_sem_wait(s);
  errno = EAGAIN;
  return -1;
}
int tp_sem_timedwait(sem_t *s, const struct timespec *t) {
  (void)t;
  if (!tp_sem_trywait(s)) return 0;
  errno = ETIMEDOUT;
  return -1;
}
int tp_sem_getvalue(sem_t *s, int *value) {
  point();
  *value = set_up(s)->value;
  return 0;
}

int tp_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
  point();
  struct object *lock = object_of(m);
  if (lock->owner != me) finish(OTHER);
  threads[me].condition = c;
  int held = lock->held;
  lock->held = 1;
  give(lock);
  while (threads[me].condition && !(spurious && draw(3) == 0)) block();
  threads[me].condition = 0;
  while (lock->owner >= 0) block();
  take(lock);
  lock->held = held;
  return 0;
}
int tp_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t) {
  (void)c, (void)t;
  point();
  struct object *lock = object_of(m);
  if (lock->owner != me) finish(OTHER);
  int held = lock->held;
  lock->held = 1;
  give(lock);
  point();
  while (lock->owner >= 0) block();
  take(lock);
  lock->held = held;
  return draw(2) ? ETIMEDOUT : 0;
}
static void wake(void *c, int all) {
  point();
  int from = draw(count);
  for (int k = 0; k < count; k++) {
    struct thread *thread = &threads[(from + k) % count];
    if (thread->condition != c) continue;
    thread->condition = 0;
    changed();
    if (!all) break;
  }
}
int tp_pthread_cond_signal(pthread_cond_t *c) { return wake(c, 0), 0; }
int tp_pthread_cond_broadcast(pthread_cond_t *c) { return wake(c, 1), 0; }

int tp_pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *a, unsigned n) {
  (void)a;
  fresh(b)->value = n;
  return 0;
}
int tp_pthread_barrier_wait(pthread_barrier_t *b) {
  point();
  struct object *barrier = set_up(b);
  release(barrier->clock);
  int round = barrier->round;
  if (++barrier->arrived == barrier->value) {
    barrier->arrived = 0;
    barrier->round++;
    changed();
    acquire(barrier->clock);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  while (barrier->round == round) block();
  acquire(barrier->clock);
  return 0;
}
int tp_pthread_once(pthread_once_t *o, void (*function)(void)) {
  point();
  struct object *once = object_of(o);
  if (once->once == 0) {
    once->once = 1;
    function();
    once->once = 2;
    release(once->clock);
    changed();
  }
  while (once->once != 2) block();
  acquire(once->clock);
  return 0;
}

static void (*destructors[KEYS])(void *);
static int keys;
int tp_pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
  if (keys == KEYS) finish(LIMIT);
  destructors[keys] = destructor;
  *key = keys++;
  return 0;
}
int tp_pthread_setspecific(pthread_key_t key, const void *value) {
  if ((int)key >= keys) finish(OTHER);
  threads[me].values[key] = (void *)value;
  return 0;
}
void *tp_pthread_getspecific(pthread_key_t key) {
  if ((int)key >= keys) finish(OTHER);
  return threads[me].values[key];
}

static void end_thread(void) {
  if (atomic_depth) release(regions);
  atomic_depth = 0;
  for (int round = 0; round < 4; round++)
    for (int key = 0; key < keys; key++) {
      void *value = threads[me].values[key];
      threads[me].values[key] = 0;
      if (value && destructors[key]) destructors[key](value);
    }
  point();
  threads[me].ended = 1;
  threads[me].clock[me]++;
  changed();
  int next = any_runnable();
  if (next >= 0) {
    hand_over(next);
    return;
  }
  for (int t = 0; t < count; t++)
    if (!threads[t].ended) finish(DEADLOCK);
  finish(FINE);
}
static void *run(void *number) {
  me = (int)(long)number;
  wait_for_token();
  if (!setjmp(threads[me].end)) threads[me].result = threads[me].function(threads[me].argument);
  end_thread();
  for (;;) pause();
  return 0;
}
int tp_pthread_create(pthread_t *id, const pthread_attr_t *given, void *(*function)(void *), void *argument) {
  (void)given;
  point();
  if (count == THREADS) finish(LIMIT);
  int number = count++;
  struct thread *thread = &threads[number];
  thread->function = function;
  thread->argument = argument;
  sem_init(&thread->token, 0, 0);
  join_clock(thread->clock, threads[me].clock);
  thread->clock[number] = 1;
  threads[me].clock[me]++;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  void *stack = mmap(0, 1 << 18, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_setstack(&attributes, stack, 1 << 18);
  pthread_t real;
  if (pthread_create(&real, &attributes, run, (void *)(long)number)) finish(LIMIT);
  thread->started = 1;
  reach(WRITE, id, sizeof *id);
  *id = number + 1;
  return 0;
}
int tp_pthread_join(pthread_t id, void **result) {
  point();
  if (id == 0 || id > (pthread_t)count) finish(OTHER);
  struct thread *thread = &threads[id - 1];
  while (!thread->ended) block();
  acquire(thread->clock);
  if (result) {
    reach(WRITE, result, sizeof *result);
    *result = thread->result;
  }
  return 0;
}
int tp_pthread_detach(pthread_t id) { return (void)id, 0; }
pthread_t tp_pthread_self(void) { return me + 1; }
int tp_pthread_equal(pthread_t a, pthread_t b) { return a == b; }
void tp_pthread_exit(void *result) {
  threads[me].result = result;
  longjmp(threads[me].end, 1);
}
void tp_exit(int status) {
  (void)status;
  finish(FINE);
}
void tp_abort(void) { finish(FINE); }
void tp___assert_fail(const char *a, const char *b, unsigned c, const char *d) {
  (void)a, (void)b, (void)c, (void)d;
  finish(ASSERTION);
}

/* --- copies and strings --- */
void *tp_memcpy(void *to, const void *from, size_t size) {
  reach(READ, from, size);
  reach(WRITE, to, size);
  return memmove(to, from, size);
}
void *tp_memmove(void *to, const void *from, size_t size) { return tp_memcpy(to, from, size); }
void *tp_memset(void *to, int byte, size_t size) {
  reach(WRITE, to, size);
  return memset(to, byte, size);
}
int tp_memcmp(const void *a, const void *b, size_t size) {
  reach(READ, a, size);
  reach(READ, b, size);
  return memcmp(a, b, size);
}
static size_t length(const char *text) {
  size_t n = 0;
  do reach(READ, text + n, 1);
  while (text[n++]);
  return n - 1;
}
size_t tp_strlen(const char *text) { return length(text); }
int tp_strcmp(const char *a, const char *b) {
  for (;; a++, b++) {
    reach(READ, a, 1);
    reach(READ, b, 1);
    if (*a != *b || !*a) return (unsigned char)*a - (unsigned char)*b;
  }
}
char *tp_strcpy(char *to, const char *from) {
  size_t size = length(from) + 1;
  reach(WRITE, to, size);
  return memmove(to, from, size);
}
char *tp_strncpy(char *to, const char *from, size_t size) {
  size_t k = 0;
  for (; k < size; k++) {
    reach(READ, from + k, 1);
    if (!from[k]) break;
  }
  reach(WRITE, to, size);
  memmove(to, from, k);
  memset(to + k, 0, size - k);
  return to;
}

/* --- what the verifier gives --- */
_Bool __VERIFIER_nondet_bool(void) { return draw(2); }
int __VERIFIER_nondet_int(void) { return draw(4) ? (int)draw(3) : (int)random_state; }
void __VERIFIER_assume(int condition) {
  if (!condition) finish(FINE);
}
void __VERIFIER_atomic_begin(void) {
  point();
  acquire(regions);
  atomic_depth++;
}
void __VERIFIER_atomic_end(void) {
  if (!atomic_depth) return;
  release(regions);
  atomic_depth--;
  point();
}
static int is_atomic(void *function) {
  for (void *const *at = tp_atomic; *at; at++)
    if (*at == function) return 1;
  return 0;
}
void __cyg_profile_func_enter(void *function, void *site) {
  (void)site;
  if (is_atomic(function)) __VERIFIER_atomic_begin();
}
void __cyg_profile_func_exit(void *function, void *site) {
  (void)site;
  if (is_atomic(function)) __VERIFIER_atomic_end();
}
int mystery(int value) { return draw(2) ? (int)draw(3) : value; }
void outside(void) {}

static void caught(int signal) { _exit(signal == SIGSEGV || signal == SIGBUS ? INVALID : signal == SIGFPE ? OTHER : UNDEFINED); }
static void child(uint64_t seed) {
  random_state = seed * 0x9E3779B97F4A7C15u ^ 0xD1B54A32D192ED03u;
  for (int k = 0; k < 4; k++) draw(2);
  often = 1 + draw(6);
  signal(SIGSEGV, caught);
  signal(SIGBUS, caught);
  signal(SIGILL, caught);
  signal(SIGTRAP, caught);
  signal(SIGFPE, caught);
  struct rlimit limit = {2, 2};
  setrlimit(RLIMIT_CPU, &limit);
  sem_init(&threads[0].token, 0, 0);
  threads[0].started = 1;
  threads[0].clock[0] = 1;
  if (!setjmp(threads[0].end)) {
    program_main();
    point();
    finish(FINE);
  }
  end_thread();
  for (;;) pause();
}

int main(int number, char **arguments) {
  static const char *const names[] = {"assertions", "races", "overflow", "bounds", "deadlock"};
  if (number < 4) return 2;
  races_end = !strcmp(arguments[1], "races");
  spurious = strcmp(arguments[1], "deadlock") != 0;
  uint64_t first = strtoull(arguments[2], 0, 10), schedules = strtoull(arguments[3], 0, 10);
  unsigned long seen[OUTCOMES] = {0}, at[OUTCOMES] = {0};
  for (uint64_t k = 0; k < schedules; k++) {
    pid_t process = fork();
    if (process == 0) child(first + k);
    int status = 0;
    if (process < 0 || waitpid(process, &status, 0) < 0) return 2;
    int outcome = WIFEXITED(status) ? WEXITSTATUS(status) : LIMIT;
    if (outcome < 0 || outcome >= OUTCOMES) outcome = LIMIT;
    if (!seen[outcome]++) at[outcome] = first + k;
  }
  for (int k = 0; k < 5; k++) printf("%s %lu %lu\n", names[k], seen[ASSERTION + k], at[ASSERTION + k]);
  printf("fine %lu limit %lu\n", seen[FINE], seen[LIMIT]);
  return 0;
}
