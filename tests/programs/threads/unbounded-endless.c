// Main creates threads in an endless loop and the exchanged flag is always zero or one.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int flag;
void *f(void *arg) {
  (void)arg;
  int old = atomic_exchange(&flag, 1);
  assert(old == 0 || old == 1);
  return 0;
}
int main(void) {
  pthread_t t;
  for (;;)
    pthread_create(&t, NULL, f, NULL);
}
