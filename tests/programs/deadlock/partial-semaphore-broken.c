// A thread waits for a semaphore that nobody posts, while main runs in an endless loop.
// expect: deadlock=false
#include <pthread.h>
#include <semaphore.h>
sem_t s;
int n;
void *f(void *arg) {
  (void)arg;
  sem_wait(&s);
  return 0;
}
int main(void) {
  pthread_t t;
  sem_init(&s, 0, 0);
  pthread_create(&t, 0, f, 0);
  for (;;) {
    n = !n;
  }
}
