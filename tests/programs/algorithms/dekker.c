// Dekker's mutual exclusion of two threads.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int want[2], turn;
int n;
static void enter(int i) {
  want[i] = 1;
  while (want[1 - i]) {
    if (turn != i) {
      want[i] = 0;
      while (turn != i)
        ;
      want[i] = 1;
    }
  }
}
static void leave(int i) {
  turn = 1 - i;
  want[i] = 0;
}
void *t0(void *arg) { (void)arg; enter(0); n++; leave(0); return 0; }
void *t1(void *arg) { (void)arg; enter(1); n++; leave(1); return 0; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, t0, 0);
  pthread_create(&b, 0, t1, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 2);
  return 0;
}
