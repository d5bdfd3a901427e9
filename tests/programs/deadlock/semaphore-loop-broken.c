// A worker takes what is posted; it is taken once too often.
// expect: deadlock=false
#include <pthread.h>
#include <semaphore.h>
sem_t s;
void *f(void *arg) {
  (void)arg;
  for (int i = 0; i < 4; i++)
    sem_wait(&s);
  return 0;
}
void *g(void *arg) {
  (void)arg;
  for (int i = 0; i < 3; i++)
    sem_post(&s);
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
