// The third thread is told a 3.
// expect: assertions=false
// args: --engine states
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
static void *worker(void *argument) {
  long number = (long)argument;
  assert(number == 1 || number == 2); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  long number = 1;
  while (__VERIFIER_nondet_int()) {
    pthread_create(&t, 0, worker, (void *)number);
    number = number + 1;
  }
  return 0;
}
