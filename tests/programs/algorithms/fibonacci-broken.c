// The largest Fibonacci number is reached.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int i = 1, j = 1;
void *f(void *arg) {
  (void)arg;
  for (int k = 0; k < 2; k++)
    i = i + j;
  return 0;
}
void *g(void *arg) {
  (void)arg;
  for (int k = 0; k < 2; k++)
    j = j + i;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, g, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(i < 8 && j < 8); //~ ERROR
  return 0;
}
