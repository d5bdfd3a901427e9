// Other threads run while destructors do.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
static int shared;
static void *work(void *unused) {
  shared = 1; //~ RACE
  return unused;
}
__attribute__((destructor)) static void check(void) {
  int seen = shared; //~ RACE
  assert(seen == 0); //~ ERROR
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  return 0;
}
