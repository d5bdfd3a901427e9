// A post that comes under a condition which can never hold.
// expect: deadlock=false
#include <pthread.h>
#include <semaphore.h>
sem_t s;
int open;
void *f(void *arg) {
  (void)arg;
  sem_wait(&s);
  return 0;
}
void *g(void *arg) {
  (void)arg;
  for (;;) {
    if (open == 1) {
      sem_post(&s);
      break;
    }
  }
  return 0;
}
int main(void) {
  pthread_t t, u;
  sem_init(&s, 0, 0);
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  return 0;
}
