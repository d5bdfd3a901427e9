// The thread that gets the only unit owns the data; who does not get it leaves it alone.
// expect: assertions=true races=true
#include <pthread.h>
#include <semaphore.h>
sem_t s;
int data;
void *f(void *arg) {
  (void)arg;
  sem_wait(&s);
  data = 1;
  sem_post(&s);
  return 0;
}
int main(void) {
  pthread_t t;
  sem_init(&s, 0, 1);
  pthread_create(&t, 0, f, 0);
  if (sem_trywait(&s) == 0) {
    data = 2;
    sem_post(&s);
  }
  pthread_join(t, 0);
  return 0;
}
