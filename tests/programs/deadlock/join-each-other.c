// Two threads do not join each other.
// expect: deadlock=true
#include <pthread.h>
pthread_t t, u;
pthread_barrier_t b;
void *f(void *arg) {
  (void)arg;
  pthread_barrier_wait(&b);
  return 0;
}
void *g(void *arg) {
  (void)arg;
  pthread_barrier_wait(&b);
  return 0;
}
int main(void) {
  pthread_barrier_init(&b, 0, 3);
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_barrier_wait(&b);
  pthread_exit(0);
}
