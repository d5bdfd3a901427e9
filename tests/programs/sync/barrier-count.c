// A barrier for two threads lets none through before both have come.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
pthread_barrier_t bar;
int x;
void *f(void *arg) {
  (void)arg;
  x = 1;
  pthread_barrier_wait(&bar);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_barrier_init(&bar, 0, 2);
  pthread_create(&t, 0, f, 0);
  pthread_barrier_wait(&bar);
  int r = x;
  assert(r == 1);
  pthread_join(t, 0);
  return 0;
}
