// sem_trywait does not wait for the post.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
sem_t s;
int data;
void *f(void *arg) {
  (void)arg;
  data = 3; //~ RACE
  sem_post(&s);
  return 0;
}
int main(void) {
  pthread_t t;
  int r = 3;
  sem_init(&s, 0, 0);
  pthread_create(&t, 0, f, 0);
  sem_trywait(&s);
    r = data; //~ RACE
  assert(r == 3); //~ ERROR
  pthread_join(t, 0);
  return 0;
}
