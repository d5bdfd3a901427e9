// Two threads take two of 3 permits each, one after the other.
// expect: deadlock=true
#include <pthread.h>
#include <semaphore.h>
sem_t s;
void *f(void *arg) {
  (void)arg;
  sem_wait(&s);
  sem_wait(&s);
  sem_post(&s);
  sem_post(&s);
  return 0;
}
int main(void) {
  pthread_t t, u;
  sem_init(&s, 0, 3);
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, f, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
