// An atomic flag is a spin lock.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_flag lock = ATOMIC_FLAG_INIT;
int n;
void *f(void *arg) {
  (void)arg;
  while (atomic_flag_test_and_set(&lock))
    ;
  n++;
  atomic_flag_clear(&lock);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 2);
  return 0;
}
