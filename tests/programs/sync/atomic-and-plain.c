// All accesses to the variable are atomic.
// expect: assertions=true races=true
#include <pthread.h>
int x;
void *f(void *arg) {
  (void)arg;
  __atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);
  return 0;
}
int main(void) {
  pthread_t t;
  int r;
  pthread_create(&t, 0, f, 0);
  r = __atomic_load_n(&x, __ATOMIC_SEQ_CST);
  pthread_join(t, 0);
  return r;
}
