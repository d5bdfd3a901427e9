// An object is published through an atomic pointer.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct msg { int a, b; } store;
struct msg *_Atomic shared;
void *f(void *arg) {
  (void)arg;
  store.a = 1;
  store.b = 2;
  shared = &store;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  struct msg *p = shared;
  if (p) {
    int r = p->b;
    assert(r == 2);
  }
  pthread_join(t, 0);
  return 0;
}
