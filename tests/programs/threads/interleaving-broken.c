// It is not certain that a given thread sees the other's store.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
int a, b;
void *f(void *arg) { (void)arg; x = 1; a = y; return 0; }
void *g(void *arg) { (void)arg; y = 1; b = x; return 0; }
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  assert(a == 1); //~ ERROR
  return 0;
}
