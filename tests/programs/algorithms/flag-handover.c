// Two threads take turns through one atomic turn variable.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int turn;
int x;
void *f(void *arg) {
  (void)arg;
  while (turn != 0)
    ;
  x = x + 1;
  turn = 1;
  return 0;
}
void *g(void *arg) {
  (void)arg;
  while (turn != 1)
    ;
  x = x * 10;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, g, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(x == 10);
  return 0;
}
