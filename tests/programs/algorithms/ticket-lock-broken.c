// The ticket is drawn by a load and a store.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_uint next, serving;
int n;
void *f(void *arg) {
  (void)arg;
  unsigned mine = next;
  next = mine + 1;
  while (serving != mine)
    ;
  n++; //~ RACE
  atomic_fetch_add(&serving, 1);
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
