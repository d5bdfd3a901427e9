// A plain global variable is shared by the threads.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
int x = 5;
void *f(void *arg) {
  (void)arg;
  x++; //~ RACE
  int r = x; //~ RACE
  assert(r == 6); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  x++; //~ RACE
  pthread_join(t, 0);
  return 0;
}
