// A second thread in the endless loop sees the flag already set.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int flag;
void *f(void *arg) {
  (void)arg;
  int old = atomic_exchange(&flag, 1);
  assert(old == 0); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  for (;;)
    pthread_create(&t, NULL, f, NULL);
}
