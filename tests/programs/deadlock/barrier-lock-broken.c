// A thread is at a barrier with the lock that the other needs to get there.
// expect: deadlock=false
#include <pthread.h>
pthread_barrier_t b;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  pthread_barrier_wait(&b);
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_barrier_init(&b, 0, 2);
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, f, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
