// After a look at the value, the thread still waits.
// expect: assertions=true races=true
#include <pthread.h>
#include <semaphore.h>
sem_t s;
int data;
void *f(void *arg) {
  (void)arg;
  data = 1;
  sem_post(&s);
  return 0;
}
int main(void) {
  pthread_t t;
  int value = 0;
  sem_init(&s, 0, 0);
  pthread_create(&t, 0, f, 0);
  sem_getvalue(&s, &value);
  if (value > 0) {
    sem_wait(&s);
    data = 2;
  }
  pthread_join(t, 0);
  return 0;
}
