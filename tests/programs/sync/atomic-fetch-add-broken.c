// A separate atomic load and store lose an update.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int n;
void *f(void *arg) {
  (void)arg;
  int t = atomic_load(&n);
  atomic_store(&n, t + 1);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(atomic_load(&n) == 2); //~ ERROR
  return 0;
}
