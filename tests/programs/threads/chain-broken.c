// A thread creates another thread and does not join it.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
int x;
void *inner(void *arg) { (void)arg; x++; return 0; } //~ RACE
void *outer(void *arg) {
  pthread_t t;
  (void)arg;
  pthread_create(&t, 0, inner, 0);
  x++; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, outer, 0);
  pthread_join(t, 0);
  int r = x; //~ RACE
  assert(r == 2); //~ ERROR
  return 0;
}
