// A weak exchange is tried again until it succeeds.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int taken;
int n;
void *f(void *arg) {
  (void)arg;
  int expected = 0;
  while (!atomic_compare_exchange_weak(&taken, &expected, 1))
    expected = 0;
  n++;
  atomic_store(&taken, 0);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  f(0);
  pthread_join(t, 0);
  assert(n == 2);
  int expected = 0;
  assert(__atomic_compare_exchange_n(&n, &(int){2}, 5, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  assert(atomic_compare_exchange_strong(&taken, &expected, 1));
  return 0;
}
