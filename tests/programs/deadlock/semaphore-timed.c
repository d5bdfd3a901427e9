// A thread waits for a semaphore that nobody posts, until some time.
// expect: deadlock=true
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
sem_t s;
void *f(void *arg) {
  (void)arg;
  struct timespec until = {1, 0};
  sem_timedwait(&s, &until);
  return 0;
}
void *g(void *arg) {
  (void)arg;
  return 0;
}
int main(void) {
  pthread_t t, u;
  sem_init(&s, 0, 0);
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
