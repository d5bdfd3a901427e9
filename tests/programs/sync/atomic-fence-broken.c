// A fence does not protect a plain flag.
// expect: assertions=true races=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int data;
int flag;
void *f(void *arg) {
  (void)arg;
  data = 1;
  atomic_thread_fence(memory_order_release);
  flag = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  int seen = flag; //~ RACE
  atomic_thread_fence(memory_order_acquire);
  if (seen) {
    int r = data;
    assert(r == 1);
  }
  pthread_join(t, 0);
  return 0;
}
