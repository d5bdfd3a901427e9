// Main joins the child only and reads too early.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
pthread_t grandchild;
int x;
void *g(void *arg) { (void)arg; x = 1; return 0; } //~ RACE
void *f(void *arg) {
  (void)arg;
  pthread_create(&grandchild, 0, g, 0);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_join(t, 0);
  int r = x; //~ RACE
  assert(r == 1); //~ ERROR
  return 0;
}
