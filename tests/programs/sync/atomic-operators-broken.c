// n = n + 1 on an _Atomic variable is not atomic.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
_Atomic int n;
_Atomic(unsigned) u;
void *f(void *arg) {
  (void)arg;
  n = n + 1;
  u += 2;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(u == 4);
  assert(n == 2); //~ ERROR
  return 0;
}
