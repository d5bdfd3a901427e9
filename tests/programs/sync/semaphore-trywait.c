// The data is read only when sem_trywait succeeds.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
sem_t s;
int data;
void *f(void *arg) {
  (void)arg;
  data = 3;
  sem_post(&s);
  return 0;
}
int main(void) {
  pthread_t t;
  int r = 3;
  sem_init(&s, 0, 0);
  pthread_create(&t, 0, f, 0);
  if (sem_trywait(&s) == 0)
    r = data;
  assert(r == 3);
  pthread_join(t, 0);
  return 0;
}
