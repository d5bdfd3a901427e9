// Abstract threads (paper 2), Figure 6: battery driver with any number of workers, one of which may have been dispatched; no access after the removal.
// todo: assertions=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
extern _Bool __VERIFIER_nondet_bool(void);
atomic_int WorkerActive, InUseCount = 2, NumQueuedWorkers;
atomic_bool WantToRemove, ReadyToRemove, stopped;
static void access(void) {
  bool s = stopped;
  assert(!s);
}
static void drop(void) {
  access();
  __VERIFIER_atomic_begin();
  if (0 == --InUseCount)
    ReadyToRemove = true;
  __VERIFIER_atomic_end();
}
void *unload(void *arg) {
  (void)arg;
  WantToRemove = true;
  access();
  if (1 == ++WorkerActive) {
    if (__VERIFIER_nondet_bool())
      drop();
    else
      ++NumQueuedWorkers;
  }
  access();
  if (0 < --InUseCount) {
    bool ready = ReadyToRemove;
    __VERIFIER_assume(ready);
  }
  stopped = true;
  return 0;
}
void *worker(void *arg) {
  int i;
  (void)arg;
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(NumQueuedWorkers > 0);
  NumQueuedWorkers--;
  __VERIFIER_atomic_end();
  while (1) {
    access();
    if (WantToRemove) {
      drop();
      break;
    }
    if (__VERIFIER_nondet_bool()) {
      access();
      ++InUseCount;
      access();
      if (WantToRemove) {
        access();
        --InUseCount;
      } else {
        access();
        --InUseCount;
      }
    }
    access();
    i = --WorkerActive;
    if (0 == i)
      break;
    if (1 != i) {
      access();
      WorkerActive = 1;
    }
  }
  return 0;
}
int main(void) {
  pthread_t t;
  if (__VERIFIER_nondet_bool()) {
    WorkerActive = 1;
    NumQueuedWorkers = 1;
  }
  pthread_create(&t, 0, unload, 0);
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, worker, 0);
  pthread_exit(0);
}
