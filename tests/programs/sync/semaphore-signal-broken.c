// The semaphore is posted before the write.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
sem_t s;
int data;
void *f(void *arg) {
  (void)arg;
  sem_post(&s);
  data = 3; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  sem_init(&s, 0, 0);
  pthread_create(&t, 0, f, 0);
  sem_wait(&s);
  int r = data; //~ RACE
  assert(r == 3); //~ ERROR
  pthread_join(t, 0);
  return 0;
}
