// A write after the creation is not ordered with the thread.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
int x;
void *f(void *arg) {
  (void)arg;
  int r = x; //~ RACE
  assert(r == 1); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  x = 1; //~ RACE
  pthread_join(t, 0);
  return 0;
}
