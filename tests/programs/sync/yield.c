// sched_yield, sleep and usleep order nothing, the join does.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
int x;
void *f(void *arg) { (void)arg; sched_yield(); x = 1; return 0; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  sleep(1);
  usleep(10);
  pthread_join(t, 0);
  int r = x;
  assert(r == 1);
  return 0;
}
