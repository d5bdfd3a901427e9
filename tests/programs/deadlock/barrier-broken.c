// Two threads meet at a barrier for three.
// expect: deadlock=false
#include <pthread.h>
pthread_barrier_t b;
void *f(void *arg) {
  (void)arg;
  pthread_barrier_wait(&b);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_barrier_init(&b, 0, 3);
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, f, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
