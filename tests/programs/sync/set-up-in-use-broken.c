// A semaphore is set up again while the other thread posts.
// expect: races=false
#include <pthread.h>
#include <semaphore.h>
sem_t s;
void *f(void *arg) {
  (void)arg;
  sem_post(&s); //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  sem_init(&s, 0, 0);
  pthread_create(&t, 0, f, 0);
  sem_init(&s, 0, 1); //~ RACE
  pthread_join(t, 0);
  return 0;
}
