// Abstract threads (paper 2), Figure 2: g stays positive, the assertion of thread B holds.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
extern _Bool __VERIFIER_nondet_bool(void);
atomic_int g = 1;
void *A(void *arg) {
  (void)arg;
  int x = 1;
  while (__VERIFIER_nondet_bool()) {
    if (__VERIFIER_nondet_bool())
      x = g;
    else
      x = x + 1;
  }
  g = x;
  return 0;
}
void *B(void *arg) {
  (void)arg;
  int y = 1;
  while (__VERIFIER_nondet_bool())
    y = y + 1;
  g = y;
  assert(g > 0);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, A, 0);
  pthread_create(&b, 0, B, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
