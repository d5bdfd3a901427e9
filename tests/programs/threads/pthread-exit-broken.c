// The statement after the call of pthread_exit is not reached.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
int x;
static void leave(void) { x = 1; pthread_exit((void *)5); }
void *f(void *arg) {
  (void)arg;
  leave();
  x = 2;
  return 0;
}
int main(void) {
  pthread_t t;
  void *r;
  pthread_create(&t, 0, f, 0);
  pthread_join(t, &r);
  assert(r == (void *)5);
  assert(x == 2); //~ ERROR
  return 0;
}
