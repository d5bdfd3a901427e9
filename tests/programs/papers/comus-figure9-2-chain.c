// CoMuS (paper 5), Figure 9.2: fib_bench with three threads in a chain; the upper bound holds.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int v0 = 1, v1 = 1, v2 = 1;
void *t0(void *arg) {
  (void)arg;
  v0 += v1;
  v0 += v1;
  return 0;
}
void *t1(void *arg) {
  (void)arg;
  v1 += v2;
  v1 += v2;
  return 0;
}
void *t2(void *arg) {
  (void)arg;
  v2 += 1;
  v2 += 1;
  return 0;
}
int main(void) {
  pthread_t a, b, c;
  pthread_create(&a, 0, t0, 0);
  pthread_create(&b, 0, t1, 0);
  pthread_create(&c, 0, t2, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
  assert(v0 <= 15);
  return 0;
}
