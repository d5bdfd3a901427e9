// The new thread may run before its id is stored.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
pthread_t t;
void *f(void *arg) {
  (void)arg;
  pthread_t seen = t; //~ RACE
  assert(pthread_equal(seen, pthread_self())); //~ ERROR
  return 0;
}
int main(void) {
  pthread_create(&t, 0, f, 0); //~ RACE
  pthread_join(t, 0);
  return 0;
}
