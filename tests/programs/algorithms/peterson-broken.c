// Peterson's algorithm with the two assignments of its entry exchanged.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int flag0, flag1, turn;
int n;
void *t0(void *arg) {
  (void)arg;
  turn = 1;
  flag0 = 1;
  while (flag1 && turn == 1)
    ;
  n++; //~ RACE
  flag0 = 0;
  return 0;
}
void *t1(void *arg) {
  (void)arg;
  turn = 0;
  flag1 = 1;
  while (flag0 && turn == 0)
    ;
  n++; //~ RACE
  flag1 = 0;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, t0, 0);
  pthread_create(&b, 0, t1, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 2); //~ ERROR
  return 0;
}
