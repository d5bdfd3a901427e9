// A sum of atomic floating-point numbers that is read, computed and stored is three steps.
// expect: assertions=false
#include <assert.h>
#include <pthread.h>
_Atomic double sum;
void *f(void *arg) {
  (void)arg;
  sum = sum + 1.5;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  sum++;
  pthread_join(t, 0);
  assert(sum == 2.5); //~ ERROR
  return 0;
}
