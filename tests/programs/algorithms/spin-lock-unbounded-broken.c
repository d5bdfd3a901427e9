// The spin lock is released before the critical section.
// expect: assertions=false races=false
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
  atomic_store(&lock, 0);
  int r = inside; //~ RACE
  assert(r == 0); //~ ERROR
  inside = 1; //~ RACE
  inside = 0; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, f, 0);
  return 0;
}
