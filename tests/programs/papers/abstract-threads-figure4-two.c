// Abstract threads (paper 2), Figure 4 with two workers and C11 atomics; no worker works after the stop.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
extern void __VERIFIER_assume(int);
atomic_int pendingIO = 1, stoppingFlag, stoppingEvent;
int stopped;
static int IoIncrement(void) {
  pendingIO++;
  if (stoppingFlag)
    return -1;
  return 1;
}
static void IoDecrement(void) {
  pendingIO--;
  if (!pendingIO)
    stoppingEvent = 1;
}
void *PnpStop(void *arg) {
  (void)arg;
  stoppingFlag = 1;
  IoDecrement();
  int e = stoppingEvent;
  __VERIFIER_assume(e);
  stopped = 1;
  return 0;
}
void *PnpAdd(void *arg) {
  (void)arg;
  if (IoIncrement() > 0) {
    int s = stopped;
    assert(!s);
  }
  IoDecrement();
  return 0;
}
int main(void) {
  pthread_t s, a, b;
  pthread_create(&s, 0, PnpStop, 0);
  pthread_create(&a, 0, PnpAdd, 0);
  pthread_create(&b, 0, PnpAdd, 0);
  pthread_join(s, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
