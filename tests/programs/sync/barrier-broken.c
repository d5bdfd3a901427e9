// A thread reads before it waits at the barrier.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
pthread_barrier_t bar;
int v[2];
void *f(void *arg) {
  (void)arg;
  v[0] = 1;
  pthread_barrier_wait(&bar);
  return 0;
}
void *g(void *arg) {
  (void)arg;
  v[1] = 1; //~ RACE
  pthread_barrier_wait(&bar);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_barrier_init(&bar, 0, 3);
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  int r = v[1]; //~ RACE
  pthread_barrier_wait(&bar);
  assert(r == 1); //~ ERROR
  assert(v[0] == 1);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
