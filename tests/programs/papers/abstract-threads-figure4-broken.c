// Abstract threads (paper 2), Figure 4, broken: a worker looks at stoppingFlag before it increments pendingIO.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
extern _Bool __VERIFIER_nondet_bool(void);
int pendingIO = 1, stoppingFlag, stoppingEvent, stopped;
static int flag_is_set(void) {
  __VERIFIER_atomic_begin();
  int f = stoppingFlag;
  __VERIFIER_atomic_end();
  return f;
}
static void add(int d) {
  __VERIFIER_atomic_begin();
  pendingIO += d;
  __VERIFIER_atomic_end();
}
static int IoIncrement(void) {
  int status;
  status = flag_is_set() ? -1 : 1;
  add(1);
  return status;
}
static void IoDecrement(void) {
  add(-1);
  __VERIFIER_atomic_begin();
  if (!pendingIO)
    stoppingEvent = 1;
  __VERIFIER_atomic_end();
}
void *PnpStop(void *arg) {
  (void)arg;
  __VERIFIER_atomic_begin();
  stoppingFlag = 1;
  __VERIFIER_atomic_end();
  IoDecrement();
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(stoppingEvent);
  __VERIFIER_atomic_end();
  stopped = 1; //~ RACE
  return 0;
}
void *PnpAdd(void *arg) {
  (void)arg;
  int status = IoIncrement();
  if (status > 0) {
    int s = stopped; //~ RACE
    assert(!s); //~ ERROR
  }
  IoDecrement();
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, PnpStop, 0);
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, PnpAdd, 0);
  pthread_exit(0);
}
