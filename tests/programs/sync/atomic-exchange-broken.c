// A load and a store let both threads win.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int taken, winners;
void *f(void *arg) {
  (void)arg;
  int t = atomic_load(&taken);
  atomic_store(&taken, 1);
  if (t == 0)
    atomic_fetch_add(&winners, 1);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(winners == 1); //~ ERROR
  return 0;
}
