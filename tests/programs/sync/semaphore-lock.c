// A semaphore with initial value one is a lock.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
sem_t s;
int n;
void *f(void *arg) {
  (void)arg;
  sem_wait(&s);
  n++;
  sem_post(&s);
  return 0;
}
int main(void) {
  pthread_t a, b;
  sem_init(&s, 0, 1);
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  sem_destroy(&s);
  assert(n == 2);
  return 0;
}
