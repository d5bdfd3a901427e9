// What a new thread is told: its predicates follow from those of the thread that starts it.
// expect: assertions=true
// args: --engine states
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
static void *worker(void *argument) {
  long number = (long)argument;
  assert(number == 1 || number == 2);
  return 0;
}
int main(void) {
  pthread_t t;
  long number = 1;
  while (__VERIFIER_nondet_int()) {
    pthread_create(&t, 0, worker, (void *)number);
    number = 3 - number;
  }
  return 0;
}
