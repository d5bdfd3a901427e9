// Both owners see themselves as the last one or none does.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int refs = 2, freed;
void *release(void *arg) {
  (void)arg;
  int left = refs - 1;
  refs = left;
  if (left == 0)
    freed++;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, release, 0);
  pthread_create(&b, 0, release, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(freed == 1); //~ ERROR
  return 0;
}
