// Main reads the local variable before it joins the thread.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
void *f(void *arg) {
  *(int *)arg = 42; //~ RACE
  return 0;
}
int main(void) {
  int x = 0, r;
  pthread_t t;
  pthread_create(&t, 0, f, &x);
  r = x; //~ RACE
  pthread_join(t, 0);
  assert(r == 42); //~ ERROR
  return 0;
}
