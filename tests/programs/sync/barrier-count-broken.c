// A barrier for one thread separates nothing.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
pthread_barrier_t bar;
int x;
void *f(void *arg) {
  (void)arg;
  x = 1; //~ RACE
  pthread_barrier_wait(&bar);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_barrier_init(&bar, 0, 1);
  pthread_create(&t, 0, f, 0);
  pthread_barrier_wait(&bar);
  int r = x; //~ RACE
  assert(r == 1); //~ ERROR
  pthread_join(t, 0);
  return 0;
}
