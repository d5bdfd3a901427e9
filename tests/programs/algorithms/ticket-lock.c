// A ticket lock built from an atomic increment.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_uint next, serving;
int n;
void *f(void *arg) {
  (void)arg;
  unsigned mine = atomic_fetch_add(&next, 1);
  while (serving != mine)
    ;
  n++;
  atomic_fetch_add(&serving, 1);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 2);
  return 0;
}
