/* Runs a program along the schedule in schedule.h.
 *
 * The program is compiled with -fsanitize=thread, which puts a call before every access to memory that another thread could see. The linker
 * leads these calls here (--wrap), and so it does with the functions of the thread library. Each of them asks `reach` whether the access is one of
 * the schedule's events; if so, the thread waits for its turn. A turn passes on when the thread that had it comes to its next access.
 *
 * This file is compiled without that option: what it does is no synchronisation for ThreadSanitizer. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum goal { GOAL_ERROR, GOAL_RACE, GOAL_OVERFLOW, GOAL_BOUNDS, GOAL_DEADLOCK };
enum event_kind { READ, WRITE, CREATE, FREE };
/* A variable of the schedule: of the symbol table, or allocated by a thread, or else bound when a thread is created. */
/* Which of the allocations of this size by its thread it is, from 0. */
struct object { const char *symbol; int allocated_by; unsigned long size; unsigned long rank; };
/* Whether it has ended, may go wrong in the end, or waits in the end; and its inputs. */
struct thread { int ended, important, waits, first_input, inputs; };
struct turn { int thread, first, events; };
/* One access of a step; steps of one call have one number. `other` is the created thread, or -2 for what is waited for in vain. */
struct event { int step; enum event_kind kind; int object; unsigned long offset, size; int other, line; };
/* When a thread is created, what its argument (via == -1) or a cell of a variable points to. */
struct binding { int step, object, via; unsigned long offset, target; };
#include "schedule.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof(table[0])))
#define OBJECTS (COUNT(objects) - 1)
#define TURNS (COUNT(turns) - 1)
#define BINDINGS (COUNT(bindings) - 1)
#define THREADS COUNT(threads)

static uintptr_t base[COUNT(objects)];
static char consumed[COUNT(events)];
static char ended[COUNT(threads)], blocking[COUNT(threads)], stuck[COUNT(threads)];
static int next_input[COUNT(threads)];
static volatile int current, performing, reports;
static volatile double progress;
static int lock_word;
static __thread int me = -1;

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec + at.tv_nsec * 1e-9;
}
static void nap(void) {
  struct timespec time = {0, 20000};
  nanosleep(&time, 0);
}
static void enter(void) {
  while (__atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE)) sched_yield();
}
static void leave(void) { __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE); }

void __real__exit(int);
static void say(const char *format, ...) {
  char text[512];
  va_list rest;
  va_start(rest, format);
  int length = vsnprintf(text, sizeof text, format, rest);
  va_end(rest);
  if (length > (int)sizeof text - 1) length = sizeof text - 1;
  if (write(2, text, length) < 0) __real__exit(3);
}
void __real_abort(void);
static void forever(void) {
  for (;;) pause();
}
/* The end of all: what was to be shown has happened. */
static void reproduced(const char *what) {
  static int once;
  if (__atomic_exchange_n(&once, 1, __ATOMIC_SEQ_CST)) forever();
  say("threadproof: reproduced: %s, in thread %d, at turn %d of %d\n", what, me, current, TURNS);
  if (GOAL == GOAL_ERROR) __real_abort();
  __real__exit(1);
}
static void left(const char *why) {
  say("threadproof: not reproduced: %s (thread %d, turn %d of %d)\n", why, me, current, TURNS);
  __real__exit(3);
}
static int complete(int turn) {
  for (int i = turns[turn].first; i < turns[turn].first + turns[turn].events; i++)
    if (!consumed[i]) return 0;
  return 1;
}
/* The thread may be the one that goes wrong, and all that comes before has been done. */
static int at_goal(void) {
  if (me < 0 || !threads[me].important) return 0;
  return current >= TURNS || (current == TURNS - 1 && turns[current].thread == me && complete(current));
}

static void advance(void) {
  performing = 0;
  current++;
  progress = now();
}
static int overlaps(const struct event *event, int object, unsigned long offset, unsigned long size) {
  return event->object == object && offset < event->offset + event->size && event->offset < offset + size;
}
/* How an access is looked for: reads, writes, creations, giving memory back, or whatever a step does to these bytes. */
enum mode { AS_READ = READ, AS_WRITE = WRITE, AS_CREATE = CREATE, AS_FREE = FREE, AS_STEP };

static int matches(const struct event *event, enum mode mode, int object, unsigned long offset, unsigned long size) {
  if (mode == AS_CREATE || event->kind == CREATE) return mode == AS_CREATE && event->kind == CREATE;
  /* Of what a race ends with, only that it is a write is known. */
  int is_mode = mode == AS_FREE ? event->kind == FREE || event->kind == WRITE : (int)mode == (int)event->kind;
  return overlaps(event, object, offset, size) && (mode == AS_STEP || is_mode);
}
static int find_in(int turn, enum mode mode, int object, unsigned long offset, unsigned long size) {
  for (int i = turns[turn].first; i < turns[turn].first + turns[turn].events; i++)
    if (!consumed[i] && matches(&events[i], mode, object, offset, size)) return i;
  return -1;
}
/* The thread's first turn from the current one on that has such an event; -1 if there is none. */
static int find_turn(enum mode mode, int object, unsigned long offset, unsigned long size) {
  for (int turn = current; turn < TURNS; turn++)
    if (turns[turn].thread == me && find_in(turn, mode, object, offset, size) >= 0) return turn;
  return -1;
}
static void consume(int first, enum mode mode, int object, unsigned long offset, unsigned long size) {
  int end = turns[current].first + turns[current].events;
  for (int i = first; i < end; i++) {
    if (consumed[i] || !matches(&events[i], mode, object, offset, size)) continue;
    if (mode == AS_STEP && events[i].step != events[first].step) continue;
    if (mode == AS_CREATE && i != first) continue;
    int again = 0;
    if (mode != AS_STEP)
      for (int k = first; k < i; k++)
        again |= consumed[k] == 2 && events[k].offset == events[i].offset && events[k].size == events[i].size;
    if (!again) consumed[i] = 2;
  }
  for (int i = first; i < end; i++)
    if (consumed[i] == 2) consumed[i] = 1;
  /* Accesses to the same bytes keep their order: what the compiler left out does not come any more. Nor does what was to
   * come before a thread is created. */
  for (int i = turns[current].first; i < first; i++)
    if (mode == AS_CREATE || (events[i].kind != CREATE && overlaps(&events[i], events[first].object, events[first].offset, events[first].size)))
      consumed[i] = 1;
  performing = 1;
  progress = now();
}
/* Whether the schedule lets another thread run within what is one access of the compiled program. */
static int is_split(int first, enum mode mode, int object, unsigned long offset, unsigned long size) {
  if (mode != AS_READ && mode != AS_WRITE) return 0;
  for (int turn = current + 1; turn < TURNS; turn++)
    for (int i = turns[turn].first; turns[turn].thread == me && i < turns[turn].first + turns[turn].events; i++)
      if (matches(&events[i], mode, object, offset, size) && events[i].offset != events[first].offset)
        return events[i].line == events[first].line && events[i].size < size;
  return 0;
}
static int has_events_left(void) {
  for (int turn = current; turn < TURNS; turn++)
    if (turns[turn].thread == me && !complete(turn)) return 1;
  return 0;
}
/* The thread has come to an access; what it did before is done. */
static void arrive(void) {
  if (current < TURNS && turns[current].thread == me && performing) {
    performing = 0;
    if (complete(current)) advance();
  }
}
/* While the thread with the turn does not come on: it has ended, waits in the library, or computes. */
static void overtake(void) {
  if (current >= TURNS) return;
  int thread = turns[current].thread;
  double idle = now() - progress;
  int done = performing && complete(current);
  if (ended[thread] || (done && idle > (blocking[thread] ? 0.02 : 1.0)) || (blocking[thread] && idle > 1.0) || idle > 4.0) advance();
}
/* Waits for the thread's turn to do this. Returns the event, or -1 if it is none of the schedule's. */
static int reach(enum mode mode, const void *address, unsigned long size) {
  if (me < 0) return -1;
  int saved = errno;
  enter();
  arrive();
  blocking[me] = 0;
  int object = -1;
  unsigned long offset = 0;
  for (int i = 0; i < OBJECTS && mode != AS_CREATE; i++) {
    if (!base[i] || (uintptr_t)address + size <= base[i] || (uintptr_t)address >= base[i] + objects[i].size) continue;
    object = i;
    offset = (uintptr_t)address > base[i] ? (uintptr_t)address - base[i] : 0;
  }
  /* Who goes wrong or waits in the end, with nothing to do in the schedule before, waits until that is over. */
  double held = now();
  while ((threads[me].important || threads[me].waits) && current < TURNS && turns[current].thread != me && !has_events_left()) {
    overtake();
    leave();
    nap();
    if (now() - held > 20) left("a thread waits for its turn for too long");
    enter();
  }
  if (GOAL == GOAL_BOUNDS && OUTSIDE >= 0 && address && at_goal() && base[OUTSIDE] && (uintptr_t)address == base[OUTSIDE] + OUTSIDE_BY)
    reproduced("an access is outside of any object");
  int event = -1;
  double since = now();
  while (object >= 0 || mode == AS_CREATE) {
    int turn = find_turn(mode, object, offset, size);
    if (turn < 0) break;
    if (turn == current) {
      event = find_in(turn, mode, object, offset, size);
      consume(event, mode, object, offset, size);
      if (is_split(event, mode, object, offset, size)) left("the compiler makes one access where the schedule has two");
      break;
    }
    if (turns[current].thread == me) {
      advance();
      continue;
    }
    overtake();
    leave();
    nap();
    if (now() - since > 20) left("a thread waits for its turn for too long");
    enter();
  }
  /* A thread that has nothing more to do in the schedule, and did not end in it, must not continue. */
  int stop = event < 0 && !threads[me].important && !threads[me].waits && !threads[me].ended && !has_events_left();
  leave();
  if (stop) forever();
  if (event < 0 && mode == AS_CREATE) forever();
  errno = saved;
  return event;
}
/* What the last event was about is done: called where that is known. */
static void done(void) {
  if (me < 0) return;
  enter();
  arrive();
  leave();
}
static void may_block(void) {
  if (me >= 0) blocking[me] = 1;
}
static void blocked_no_more(void) {
  if (me >= 0) blocking[me] = 0;
}

/* --- accesses --- */
#if GOAL_IS_RACE
#define REAL(call) call
#else
#define REAL(call)
#endif
#define ACCESS_AS(name, real, mode, bytes) \
  void __real_##real(void *); \
  void __wrap_##name(void *address) { \
    reach(mode, address, bytes); \
    REAL(__real_##real(address);) \
  }
#define ACCESS(name, mode, bytes) ACCESS_AS(name, name, mode, bytes)
#define ACCESSES(size) \
  ACCESS(__tsan_read##size, AS_READ, size) \
  ACCESS(__tsan_write##size, AS_WRITE, size) \
  ACCESS_AS(__tsan_volatile_read##size, __tsan_read##size, AS_READ, size) \
  ACCESS_AS(__tsan_volatile_write##size, __tsan_write##size, AS_WRITE, size)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
#define UNALIGNED(size) \
  ACCESS(__tsan_unaligned_read##size, AS_READ, size) \
  ACCESS(__tsan_unaligned_write##size, AS_WRITE, size)
UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)
#define RANGE(name, mode) \
  void __real_##name(void *, unsigned long); \
  void __wrap_##name(void *address, unsigned long size) { \
    reach(mode, address, size); \
    REAL(__real_##name(address, size);) \
  }
RANGE(__tsan_read_range, AS_READ)
RANGE(__tsan_write_range, AS_WRITE)

#if GOAL_IS_RACE
#define ATOMIC_BODY(call, own) call
#else
#define ATOMIC_BODY(call, own) own
#endif
#define ATOMICS(bits, type) \
  type __real___tsan_atomic##bits##_load(const volatile type *, int); \
  type __wrap___tsan_atomic##bits##_load(const volatile type *a, int order) { \
    reach(AS_READ, (const void *)a, sizeof(type)); \
    type old = ATOMIC_BODY(__real___tsan_atomic##bits##_load(a, order), __atomic_load_n(a, __ATOMIC_SEQ_CST)); \
    done(); \
    return old; \
  } \
  void __real___tsan_atomic##bits##_store(volatile type *, type, int); \
  void __wrap___tsan_atomic##bits##_store(volatile type *a, type v, int order) { \
    reach(AS_WRITE, (const void *)a, sizeof(type)); \
    ATOMIC_BODY(__real___tsan_atomic##bits##_store(a, v, order), __atomic_store_n(a, v, __ATOMIC_SEQ_CST)); \
    done(); \
  } \
  int __real___tsan_atomic##bits##_compare_exchange_strong(volatile type *, type *, type, int, int); \
  int __wrap___tsan_atomic##bits##_compare_exchange_strong(volatile type *a, type *c, type v, int order, int fail) { \
    reach(AS_STEP, (const void *)a, sizeof(type)); \
    int result = ATOMIC_BODY(__real___tsan_atomic##bits##_compare_exchange_strong(a, c, v, order, fail), \
                             __atomic_compare_exchange_n(a, c, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
    done(); \
    return result; \
  } \
  int __wrap___tsan_atomic##bits##_compare_exchange_weak(volatile type *a, type *c, type v, int order, int fail) { \
    return __wrap___tsan_atomic##bits##_compare_exchange_strong(a, c, v, order, fail); \
  } \
  type __wrap___tsan_atomic##bits##_compare_exchange_val(volatile type *a, type c, type v, int order, int fail) { \
    __wrap___tsan_atomic##bits##_compare_exchange_strong(a, &c, v, order, fail); \
    return c; \
  }
#define UPDATE(bits, type, operation, builtin) \
  type __real___tsan_atomic##bits##_##operation(volatile type *, type, int); \
  type __wrap___tsan_atomic##bits##_##operation(volatile type *a, type v, int order) { \
    reach(AS_STEP, (const void *)a, sizeof(type)); \
    type old = ATOMIC_BODY(__real___tsan_atomic##bits##_##operation(a, v, order), builtin(a, v, __ATOMIC_SEQ_CST)); \
    done(); \
    return old; \
  }
#define UPDATES(bits, type) \
  ATOMICS(bits, type) \
  UPDATE(bits, type, exchange, __atomic_exchange_n) \
  UPDATE(bits, type, fetch_add, __atomic_fetch_add) \
  UPDATE(bits, type, fetch_sub, __atomic_fetch_sub) \
  UPDATE(bits, type, fetch_and, __atomic_fetch_and) \
  UPDATE(bits, type, fetch_or, __atomic_fetch_or) \
  UPDATE(bits, type, fetch_xor, __atomic_fetch_xor) \
  UPDATE(bits, type, fetch_nand, __atomic_fetch_nand)
UPDATES(8, uint8_t)
UPDATES(16, uint16_t)
UPDATES(32, uint32_t)
UPDATES(64, uint64_t)

#if !GOAL_IS_RACE && !SANITIZED
void __tsan_init(void) {}
void __tsan_func_entry(void *pc) {}
void __tsan_func_exit(void) {}
void __tsan_atomic_thread_fence(int order) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int order) {}
void __tsan_vptr_update(void *a, void *b) {}
#else
/* ThreadSanitizer calls this for every race that it reports. */
void __tsan_on_report(void *report) { reports++; }
const char *__tsan_default_options(void) { return "report_thread_leaks=0 report_signal_unsafe=0 exitcode=1"; }
#endif

/* --- copies: in as many parts, and in the order, as the schedule has --- */
void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);
void *__real_memset(void *, int, size_t);
void *__real_calloc(size_t, size_t);
void __real_free(void *);
/* The part of a range of memory that an event touches; 0 if there is none. */
static int part_of(const struct event *event, const char *range, size_t size, size_t *start, size_t *end) {
  if (!range || event->object < 0 || !base[event->object]) return 0;
  uintptr_t from = base[event->object] + event->offset, to = from + event->size, first = (uintptr_t)range;
  if (to <= first || from >= first + size) return 0;
  *start = from > first ? from - first : 0;
  *end = to < first + size ? to - first : size;
  return 1;
}
static void copy_part(char *to, const char *from, int byte, size_t start, size_t end) {
  if (from) reach(AS_READ, from + start, end - start);
  reach(AS_WRITE, to + start, end - start);
  if (from) __real_memmove(to + start, from + start, end - start);
  else __real_memset(to + start, byte, end - start);
}
static void copy(char *to, const char *from, int byte, size_t size) {
  int overlap = from && to < from + size && from < to + size;
  char *copied = me >= 0 && size && !overlap ? __real_calloc(size, 1) : 0;
  if (!copied) {
    copy_part(to, from, byte, 0, size);
    return;
  }
  size_t start, end;
  for (int turn = current; turn < TURNS; turn++) {
    if (turns[turn].thread != me) continue;
    for (int i = turns[turn].first; i < turns[turn].first + turns[turn].events; i++) {
      if (consumed[i] || events[i].kind == CREATE) continue;
      if (!part_of(&events[i], to, size, &start, &end) && !part_of(&events[i], from, size, &start, &end)) goto rest;
      if (copied[start]) goto rest;
      copy_part(to, from, byte, start, end);
      for (size_t k = start; k < end; k++) copied[k] = 1;
      if (turn < current) turn = current;
    }
  }
rest:
  for (start = 0; start < size; start = end) {
    for (end = start; end < size && copied[end] == copied[start]; end++) {}
    if (!copied[start]) copy_part(to, from, byte, start, end);
  }
  __real_free(copied);
}
void *__wrap_memcpy(void *to, const void *from, size_t size) {
  copy(to, from, 0, size);
  return to;
}
void *__wrap_memmove(void *to, const void *from, size_t size) {
  copy(to, from, 0, size);
  return to;
}
void *__wrap_memset(void *to, int byte, size_t size) {
  copy(to, 0, byte, size);
  return to;
}
void *__tsan_memcpy(void *to, const void *from, size_t size) { return __wrap_memcpy(to, from, size); }
void *__tsan_memmove(void *to, const void *from, size_t size) { return __wrap_memmove(to, from, size); }
void *__tsan_memset(void *to, int byte, size_t size) { return __wrap_memset(to, byte, size); }

/* --- functions that read a string --- */
static void read_string(const char *text) {
  if (!text) return;
  for (const char *at = text;; at++) {
    __wrap___tsan_read1((void *)at);
    if (!*at) return;
  }
}
#define READS_STRING(result, name, rest, passed) \
  result __real_##name(const char *text PARAMETERS rest); \
  result __wrap_##name(const char *text PARAMETERS rest) { \
    read_string(text); \
    return __real_##name(text ARGUMENTS passed); \
  }
#define PARAMETERS(...) __VA_OPT__(,) __VA_ARGS__
#define ARGUMENTS(...) __VA_OPT__(,) __VA_ARGS__
READS_STRING(int, atoi, (), ())
READS_STRING(long, atol, (), ())
READS_STRING(long long, atoll, (), ())
READS_STRING(double, atof, (), ())
READS_STRING(long, strtol, (char **end, int base), (end, base))
READS_STRING(unsigned long, strtoul, (char **end, int base), (end, base))
READS_STRING(long long, strtoll, (char **end, int base), (end, base))
READS_STRING(unsigned long long, strtoull, (char **end, int base), (end, base))
READS_STRING(int, puts, (), ())
READS_STRING(int, fputs, (FILE *to), (to))
READS_STRING(int, unlink, (), ())
READS_STRING(int, remove, (), ())
READS_STRING(int, rmdir, (), ())
READS_STRING(int, chdir, (), ())
READS_STRING(int, access, (int mode), (mode))
READS_STRING(int, mkdir, (mode_t mode), (mode))

/* --- allocation --- */
void *__real_malloc(size_t);
/* How many allocations have passed that an object might be. */
static unsigned long passed[sizeof objects / sizeof *objects];
static void bind_allocated(void *address, size_t size) {
  if (me < 0) return;
  enter();
  for (int i = 0; i < OBJECTS; i++)
    if (objects[i].allocated_by == me && objects[i].size == size && passed[i]++ == objects[i].rank)
      base[i] = (uintptr_t)address;
  leave();
}
/* The bytes end at the end of a page with nothing after it, where accesses are checked. */
static void *fresh(size_t size) {
  void *found;
  if (GOAL == GOAL_BOUNDS && !SANITIZED) {
    size_t page = 4096, pages = (size + page - 1) / page * page;
    char *whole = mmap(0, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED) left("there is no memory");
    mprotect(whole + pages, page, PROT_NONE);
    found = whole + pages - size;
  } else {
    found = __real_calloc(1, size ? size : 1);
  }
  bind_allocated(found, size);
  return found;
}
void *__wrap_malloc(size_t size) { return fresh(size); }
void *__wrap_calloc(size_t count, size_t size) { return fresh(count * size); }
void *__wrap_aligned_alloc(size_t align, size_t size) { return fresh(size); }
/* What was freed: no address is given out twice where accesses are checked. */
enum { FREED = 1 << 16 };
static void *freed[FREED];
static int freed_before;
void __wrap_free(void *pointer) {
  if (!pointer) return;
  unsigned long size = 1;
  for (int i = 0; i < OBJECTS; i++)
    if (base[i] == (uintptr_t)pointer) size = objects[i].size;
  reach(AS_FREE, pointer, size);
  if (GOAL == GOAL_BOUNDS && !SANITIZED) {
    enter();
    for (int i = 0; i < freed_before; i++)
      if (freed[i] == pointer) {
        if (at_goal()) reproduced("memory is freed a second time");
        left("memory was freed a second time");
      }
    if (freed_before < FREED) freed[freed_before++] = pointer;
    leave();
    uintptr_t page = (uintptr_t)pointer / 4096 * 4096;
    mprotect((void *)page, 4096, PROT_NONE);
  }
  if (GOAL_IS_RACE || SANITIZED) __real_free(pointer);
  done();
}
void *__wrap_realloc(void *old, size_t size) {
  void *found = fresh(size);
  if (old) {
    size_t most = size;
    for (int i = 0; i < OBJECTS; i++)
      if (base[i] == (uintptr_t)old && objects[i].size < most) most = objects[i].size;
    if (SANITIZED && malloc_usable_size(old) < most) most = malloc_usable_size(old);
    __real_memcpy(found, old, most);
    __wrap_free(old);
  }
  return found;
}

/* --- threads --- */
struct started {
  void *(*run)(void *);
  int (*run_c11)(void *);
  void *argument;
  int index;
};
static void end_thread(void *unused) {
  if (me < 0) return;
  enter();
  arrive();
  ended[me] = 1;
  leave();
  /* A thread that did not end in the schedule is never joined: attempts to join it fail. */
  if (!threads[me].ended && !threads[me].important && !threads[me].waits) forever();
}
static void *trampoline(void *pointer) {
  struct started started = *(struct started *)pointer;
  void *result;
  me = started.index;
  pthread_cleanup_push(end_thread, 0);
  if (started.run_c11) result = (void *)(intptr_t)started.run_c11(started.argument);
  else result = started.run(started.argument);
  pthread_cleanup_pop(1);
  return result;
}
static void bind_created(int step, void *argument) {
  for (int i = 0; i < BINDINGS; i++) {
    if (bindings[i].step != step) continue;
    uintptr_t value = 0;
    if (bindings[i].via < 0) value = (uintptr_t)argument;
    else if (base[bindings[i].via]) value = *(uintptr_t *)(base[bindings[i].via] + bindings[i].offset);
    if (value) base[bindings[i].object] = value - bindings[i].target;
  }
}
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int create(pthread_t *id, const pthread_attr_t *attributes, struct started started) {
  int event = reach(AS_CREATE, 0, 0);
  struct started *kept = __real_malloc(sizeof *kept);
  started.index = events[event].other;
  *kept = started;
  enter();
  bind_created(events[event].step, started.argument);
  leave();
  /* The thread may run before its id is stored. */
  pthread_t made;
  int result = __real_pthread_create(&made, attributes, trampoline, kept);
  done();
  if (result) return result;
  __wrap___tsan_write8(id);
  *id = made;
  done();
  return result;
}
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  struct started started = {run, 0, argument, 0};
  return create(id, attributes, started);
}
int __wrap_thrd_create(thrd_t *id, thrd_start_t run, void *argument) {
  struct started started = {0, run, argument, 0};
  return create((pthread_t *)id, 0, started) ? thrd_error : thrd_success;
}
/* The thread waits for what it never gets: the end is when all do that are to. */
static void wait_in_vain(void) {
  done();
  stuck[me] = 1;
  forever();
}
/* Whether a thread that is to wait in the end has come to that. */
static int waits_now(void) { return me >= 0 && threads[me].waits && current >= TURNS; }
int __real_pthread_join(pthread_t, void **);
int __wrap_pthread_join(pthread_t thread, void **result) {
  reach(AS_READ, 0, 0);
  /* The library refuses to wait for ever where it sees that. */
  if (waits_now() && pthread_tryjoin_np(thread, 0) == EBUSY) wait_in_vain();
  may_block();
  void *value = 0;
  int status = __real_pthread_join(thread, &value);
  blocked_no_more();
  if (result && !status) {
    reach(AS_WRITE, result, sizeof *result);
    __real_memcpy(result, &value, sizeof *result);
    done();
  }
  return status;
}
int __wrap_thrd_join(thrd_t thread, int *result) {
  void *value = 0;
  int status = __wrap_pthread_join((pthread_t)thread, &value);
  if (result) *result = (int)(intptr_t)value;
  return status ? thrd_error : thrd_success;
}

/* --- locks and the like: the schedule says when they are taken, the library takes them --- */
#define SYNC(result, name, parameters, arguments, object, bytes) \
  result __real_##name parameters; \
  result __wrap_##name parameters { \
    reach(AS_STEP, (const void *)(object), bytes); \
    may_block(); \
    result status = __real_##name arguments; \
    blocked_no_more(); \
    done(); \
    return status; \
  }
static int is_taken(int status) {
  return status == EBUSY || status == EDEADLK || (status == -1 && errno == EAGAIN) || status == thrd_busy;
}
#define LOCK(name, try_name, type) \
  int __real_##name(type *); \
  int __real_##try_name(type *); \
  int __wrap_##name(type *lock) { \
    int event = reach(AS_STEP, (const void *)lock, sizeof *lock); \
    if (event >= 0 && events[event].other == -2 && is_taken(__real_##try_name(lock))) wait_in_vain(); \
    may_block(); \
    int status = __real_##name(lock); \
    blocked_no_more(); \
    done(); \
    return status; \
  } \
  int __wrap_##try_name(type *lock) { \
    reach(AS_STEP, (const void *)lock, sizeof *lock); \
    int status = __real_##try_name(lock); \
    done(); \
    return status; \
  }
LOCK(pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_t)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_t)
LOCK(pthread_spin_lock, pthread_spin_trylock, pthread_spinlock_t)
LOCK(mtx_lock, mtx_trylock, mtx_t)
LOCK(sem_wait, sem_trywait, sem_t)
SYNC(int, pthread_mutex_unlock, (pthread_mutex_t * lock), (lock), lock, sizeof *lock)
SYNC(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock), lock, sizeof *lock)
SYNC(int, pthread_spin_unlock, (pthread_spinlock_t * lock), (lock), lock, sizeof *lock)
SYNC(int, mtx_unlock, (mtx_t * lock), (lock), lock, sizeof *lock)
SYNC(int, sem_post, (sem_t * lock), (lock), lock, sizeof *lock)
SYNC(int, sem_getvalue, (sem_t * lock, int *value), (lock, value), lock, sizeof *lock)
SYNC(int, pthread_barrier_wait, (pthread_barrier_t * lock), (lock), lock, sizeof *lock)
SYNC(int, pthread_barrier_destroy, (pthread_barrier_t * lock), (lock), lock, sizeof *lock)
SYNC(int, pthread_once, (pthread_once_t * once, void (*run)(void)), (once, run), once, sizeof *once)
void __real_call_once(once_flag *, void (*)(void));
void __wrap_call_once(once_flag *once, void (*run)(void)) {
  reach(AS_STEP, (const void *)once, sizeof *once);
  may_block();
  __real_call_once(once, run);
  blocked_no_more();
  done();
}
SYNC(int, pthread_mutex_init, (pthread_mutex_t * lock, const pthread_mutexattr_t *a), (lock, a), lock, sizeof *lock)
SYNC(int, pthread_rwlock_init, (pthread_rwlock_t * lock, const pthread_rwlockattr_t *a), (lock, a), lock, sizeof *lock)
SYNC(int, pthread_spin_init, (pthread_spinlock_t * lock, int shared), (lock, shared), lock, sizeof *lock)
SYNC(int, mtx_init, (mtx_t * lock, int type), (lock, type), lock, sizeof *lock)
SYNC(int, pthread_barrier_init, (pthread_barrier_t * lock, const pthread_barrierattr_t *a, unsigned count), (lock, a, count), lock, sizeof *lock)
SYNC(int, sem_init, (sem_t * lock, int shared, unsigned value), (lock, shared, value), lock, sizeof *lock)

/* A condition wait may return at any time: the schedule says when. Most schedules do not know of conditions. */
static void reach_condition(const void *condition) {
  if (me < 0) return;
  for (int turn = current; turn < TURNS; turn++)
    for (int i = turns[turn].first; turns[turn].thread == me && i < turns[turn].first + turns[turn].events; i++) {
      if (consumed[i]) continue;
      if (events[i].object < 0 || base[events[i].object] != (uintptr_t)condition) return;
      int event = reach(AS_STEP, condition, 4);
      if (event >= 0 && events[event].other == -2) wait_in_vain();
      return;
    }
}
SYNC(int, pthread_cond_signal, (pthread_cond_t * condition), (condition), condition, 4)
SYNC(int, pthread_cond_broadcast, (pthread_cond_t * condition), (condition), condition, 4)
SYNC(int, cnd_signal, (cnd_t * condition), (condition), condition, 4)
SYNC(int, cnd_broadcast, (cnd_t * condition), (condition), condition, 4)
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock) {
  reach_condition(condition);
  __wrap_pthread_mutex_unlock(lock);
  reach_condition(condition);
  return __wrap_pthread_mutex_lock(lock);
}
int __wrap_cnd_wait(cnd_t *condition, mtx_t *lock) {
  reach_condition(condition);
  __wrap_mtx_unlock(lock);
  reach_condition(condition);
  return __wrap_mtx_lock(lock);
}

/* Whether a time is one. */
static int is_time(const struct timespec *until) { return until->tv_nsec >= 0 && until->tv_nsec < 1000000000; }
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until) {
  return is_time(until) ? __wrap_pthread_cond_wait(condition, lock) : EINVAL;
}
int __wrap_cnd_timedwait(cnd_t *condition, mtx_t *lock, const struct timespec *until) {
  return is_time(until) ? __wrap_cnd_wait(condition, lock) : thrd_error;
}
/* Waiting until a time is trying when the schedule says so. */
int __wrap_pthread_mutex_timedlock(pthread_mutex_t *lock, const struct timespec *until) {
  int status = __wrap_pthread_mutex_trylock(lock);
  return status != EBUSY ? status : is_time(until) ? ETIMEDOUT : EINVAL;
}
int __wrap_sem_timedwait(sem_t *lock, const struct timespec *until) {
  int status = __wrap_sem_trywait(lock);
  if (status) errno = is_time(until) ? ETIMEDOUT : EINVAL;
  return status;
}

/* --- inputs --- */
unsigned long long threadproof_input(void) {
  if (me < 0) return 0;
  reach(AS_READ, 0, 0);
  if (next_input[me] >= threads[me].inputs) return 0;
  return inputs[threads[me].first_input + next_input[me]++];
}

/* --- errors --- */
static void wait_for_the_end(void);
static void failed(const char *what) {
  if (me < 0) return;
  if (GOAL != GOAL_ERROR) wait_for_the_end();
  if (!threads[me].important) left("another thread than expected went wrong");
  reproduced(what);
}
#define WEAK __attribute__((weak))
WEAK void reach_error(void) { failed("the error function is called"); abort(); }
WEAK void __VERIFIER_error(void) { failed("the error function is called"); abort(); }
/* The program may have an error function of its own, and it may be static: found by name. */
static uintptr_t error_functions[8];
void __cyg_profile_func_enter(void *function, void *caller) {
  for (int i = 0; i < COUNT(error_functions); i++)
    if (error_functions[i] && error_functions[i] == (uintptr_t)function) failed("the error function is called");
}
void __cyg_profile_func_exit(void *function, void *caller) {}
WEAK void __VERIFIER_assert(int condition) { if (!condition) { failed("an assertion fails"); abort(); } }
WEAK void __CPROVER_assert(int condition, const char *text) { if (!condition) { failed(text); abort(); } }
WEAK void assert(int condition) { if (!condition) { failed("an assertion fails"); abort(); } }
void __real___assert_fail(const char *, const char *, unsigned, const char *);
void __wrap___assert_fail(const char *text, const char *file, unsigned line, const char *function) {
  say("%s:%u: %s: assertion `%s' fails\n", file, line, function ? function : "?", text);
  failed("an assertion fails");
  abort();
}
static void outside(void) { left("an assumption of the program does not hold"); }
WEAK void __VERIFIER_assume(int condition) { if (!condition) outside(); }
WEAK void __CPROVER_assume(int condition) { if (!condition) outside(); }
WEAK void assume_abort_if_not(int condition) { if (!condition) outside(); }
WEAK void __VERIFIER_atomic_begin(void) {}
WEAK void __VERIFIER_atomic_end(void) {}
WEAK void __CPROVER_atomic_begin(void) {}
WEAK void __CPROVER_atomic_end(void) {}

#if SANITIZED
/* AddressSanitizer calls this for every invalid access that it reports. */
void __asan_on_error(void) {
  if (at_goal()) reproduced("an access is outside of any object");
  left("another thread than expected went wrong");
}
const char *__asan_default_options(void) { return "detect_leaks=0:detect_stack_use_after_return=1"; }
#endif
static void trapped(int number) {
  if (GOAL == GOAL_OVERFLOW && number == SIGILL && at_goal()) reproduced("a signed operation overflows");
  if (GOAL == GOAL_BOUNDS && at_goal()) reproduced("an access is outside of any object");
  left("the program crashed");
}

/* --- the end --- */
/* The program may end only after what is to be shown: this waits for it. */
static void wait_for_the_end(void) {
  enter();
  arrive();
  if (me >= 0) ended[me] = threads[me].ended, blocking[me] = 1;
  leave();
  forever();
}
/* What the program does at its end is a part of it: then this comes afterwards. */
void __real_exit(int);
void __wrap_exit(int status) {
  if (ACTS_AT_EXIT && me >= 0) {
    enter();
    int goes_on = threads[me].important || has_events_left();
    leave();
    if (goes_on) __real_exit(status);
  }
  wait_for_the_end();
}
#if ACTS_AT_EXIT
__attribute__((destructor(101))) static void after_all(void) {
  if (me >= 0) wait_for_the_end();
}
#endif
void __wrap__exit(int status) { wait_for_the_end(); }
void __wrap_abort(void) {
  if (me >= 0) wait_for_the_end();
  __real_abort();
}
/* ThreadSanitizer may miss a race: then all is done again, a few times. */
static void again(void) {
  const char *before = getenv("THREADPROOF_ATTEMPT");
  int attempt = before ? atoi(before) : 1;
  char number[16];
  if (attempt >= 3) return;
  snprintf(number, sizeof number, "%d", attempt + 1);
  setenv("THREADPROOF_ATTEMPT", number, 1);
  execl("/proc/self/exe", "repro", (char *)0);
}
/* Sees that there is an end. */
static void *watch(void *unused) {
  double finished = 0, start = now();
  for (;;) {
    nap();
    if (current >= TURNS && !finished) finished = now();
    if (GOAL == GOAL_RACE && reports && current >= TURNS) reproduced("ThreadSanitizer reports a race");
    int missing = 0;
    for (int i = 0; i < THREADS; i++) missing += threads[i].waits && !stuck[i] && !blocking[i];
    if (GOAL == GOAL_DEADLOCK && finished && now() - finished > 0.5 && !missing) reproduced("these threads wait for ever");
    enter();
    overtake();
    leave();
    if (finished && now() - finished > 10) {
      if (GOAL == GOAL_RACE) again();
      left("the end of the schedule was reached, and nothing went wrong");
    }
    if (now() - start > 60) left("it took too long");
  }
}

/* --- the variables of the schedule --- */
static int is_called(const char *symbol, const char *name) {
  size_t length = strlen(name);
  if (!strncmp(symbol, name, length)) {
    if (!symbol[length]) return 1;
    if (symbol[length] == '.' && strspn(symbol + length + 1, "0123456789") == strlen(symbol + length + 1)) return 1;
  }
  size_t all = strlen(symbol);
  return all > length && symbol[all - length - 1] == '.' && !strcmp(symbol + all - length, name);
}
extern char __executable_start;
static void bind_symbols(void) {
  /* The program may have variables with the names of the library's functions. */
  int file = syscall(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status)) left("the program cannot read its symbols");
  char *image = mmap(0, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  Elf64_Ehdr *head = (Elf64_Ehdr *)image;
  Elf64_Shdr *sections = (Elf64_Shdr *)(image + head->e_shoff);
  uintptr_t moved = head->e_type == ET_DYN ? (uintptr_t)&__executable_start : 0;
  for (int s = 0; s < head->e_shnum; s++) {
    if (sections[s].sh_type != SHT_SYMTAB) continue;
    const char *names = image + sections[sections[s].sh_link].sh_offset;
    Elf64_Sym *symbol = (Elf64_Sym *)(image + sections[s].sh_offset);
    int errors = 0;
    for (unsigned long k = 0; k < sections[s].sh_size / sizeof *symbol; k++) {
      const char *name = names + symbol[k].st_name;
      if (ELF64_ST_TYPE(symbol[k].st_info) == STT_FUNC && errors < COUNT(error_functions))
        if (!strcmp(name, "reach_error") || !strcmp(name, "__VERIFIER_error"))
          error_functions[errors++] = moved + symbol[k].st_value;
      if (ELF64_ST_TYPE(symbol[k].st_info) == STT_OBJECT)
        for (int i = 0; i < OBJECTS; i++)
          if (objects[i].symbol && is_called(name, objects[i].symbol))
            base[i] = moved + symbol[k].st_value;
    }
  }
  syscall(SYS_close, file);
}
int __real_main(int, char **, char **);
int __wrap_main(int count, char **words, char **environment) {
  pthread_t watcher;
  bind_symbols();
  progress = now();
  if (GOAL == GOAL_OVERFLOW || GOAL == GOAL_BOUNDS) {
    signal(SIGILL, trapped);
    signal(SIGTRAP, trapped);
    signal(SIGSEGV, trapped);
    signal(SIGBUS, trapped);
  }
  __real_pthread_create(&watcher, 0, watch, 0);
  me = 0;
  __wrap_exit(__real_main(count, words, environment));
  return 0;
}
