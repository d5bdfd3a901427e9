// The test and the set of the spin lock are separate.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int lock;
int n;
static void acquire(void) {
  while (atomic_load(&lock))
    ;
  atomic_store(&lock, 1);
}
void *f(void *arg) {
  (void)arg;
  acquire();
  n++; //~ RACE
  atomic_store(&lock, 0);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  f(0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 3); //~ ERROR
  return 0;
}
