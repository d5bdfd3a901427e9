// A failed compare-and-swap is not repeated.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int n;
void *f(void *arg) {
  (void)arg;
  int old = atomic_load(&n);
  atomic_compare_exchange_strong(&n, &old, old + 1);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 2); //~ ERROR
  return 0;
}
