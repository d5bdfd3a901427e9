// The object is filled after it is published.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct msg { int a, b; } store;
struct msg *_Atomic shared;
void *f(void *arg) {
  (void)arg;
  store.a = 1;
  shared = &store;
  store.b = 2; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  struct msg *p = shared;
  if (p) {
    int r = p->b; //~ RACE
    assert(r == 2); //~ ERROR
  }
  pthread_join(t, 0);
  return 0;
}
