// A thread writes to a local variable of main that is read after the join.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
void *f(void *arg) {
  *(int *)arg = 42;
  return 0;
}
int main(void) {
  int x = 0, r;
  pthread_t t;
  pthread_create(&t, 0, f, &x);
  pthread_join(t, 0);
  r = x;
  assert(r == 42);
  return 0;
}
