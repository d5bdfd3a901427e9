// Compound assignment to an atomic floating-point number is one step (C11 6.5.16.2p3).
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
_Atomic double sum;
_Atomic int whole;
void *f(void *arg) {
  (void)arg;
  sum += 1.5;
  whole += 2.0;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  sum++;
  whole *= 1.0;
  pthread_join(t, 0);
  assert(sum == 2.5 && whole == 2);
  return 0;
}
