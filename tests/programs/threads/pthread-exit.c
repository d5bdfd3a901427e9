// pthread_exit ends the thread at once, also inside a called function.
// expect: assertions=true races=true
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
  assert(x == 1);
  return 0;
}
