// Sleeping does not order two threads.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
int x;
void *f(void *arg) { (void)arg; sched_yield(); x = 1; return 0; } //~ RACE
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  sleep(1);
  usleep(10);
  int r = x; //~ RACE
  assert(r == 1); //~ ERROR
  return 0;
}
