// A plain access races with an atomic one.
// expect: assertions=true races=false
#include <pthread.h>
int x;
void *f(void *arg) {
  (void)arg;
  __atomic_store_n(&x, 1, __ATOMIC_SEQ_CST); //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  int r;
  pthread_create(&t, 0, f, 0);
  r = x; //~ RACE
  pthread_join(t, 0);
  return r;
}
