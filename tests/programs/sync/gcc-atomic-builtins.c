// The __atomic builtins count and exchange.
// args: --memory-model sc
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
int n, m;
void *f(void *arg) {
  (void)arg;
  __atomic_fetch_add(&n, 1, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&n, 1, __ATOMIC_RELAXED);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  int old = __atomic_fetch_add(&n, 10, __ATOMIC_ACQ_REL);
  assert(old <= 2);
  pthread_join(t, 0);
  assert(n == 12);
  int e = 0;
  assert(__atomic_compare_exchange_n(&m, &e, 7, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) && m == 7);
  assert(__atomic_exchange_n(&m, 8, __ATOMIC_SEQ_CST) == 7);
  return 0;
}
