// A test-and-set spin lock for any number of threads.
// expect: assertions=true races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
extern _Bool __VERIFIER_nondet_bool(void);
atomic_int lock;
int inside;
void *f(void *arg) {
  (void)arg;
  while (atomic_exchange(&lock, 1))
    ;
  int r = inside;
  assert(r == 0);
  inside = 1;
  inside = 0;
  atomic_store(&lock, 0);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, f, 0);
  return 0;
}
