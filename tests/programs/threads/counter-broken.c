// Two threads increment a counter without a lock.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
int counter;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  counter++; //~ RACE
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, f, NULL);
  pthread_create(&b, NULL, f, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  assert(counter == 2); //~ ERROR
  return 0;
}
