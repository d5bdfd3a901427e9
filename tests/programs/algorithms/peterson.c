// Peterson's mutual exclusion of two threads.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int flag0, flag1, turn;
int n;
void *t0(void *arg) {
  (void)arg;
  flag0 = 1;
  turn = 1;
  while (flag1 && turn == 1)
    ;
  n++;
  flag0 = 0;
  return 0;
}
void *t1(void *arg) {
  (void)arg;
  flag1 = 1;
  turn = 0;
  while (flag0 && turn == 0)
    ;
  n++;
  flag1 = 0;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, t0, 0);
  pthread_create(&b, 0, t1, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 2);
  return 0;
}
