// The flag is tested once and the lock is entered anyway.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_flag lock = ATOMIC_FLAG_INIT;
int n;
void *f(void *arg) {
  (void)arg;
  atomic_flag_test_and_set(&lock);
  n++; //~ RACE
  atomic_flag_clear(&lock);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 2); //~ ERROR
  return 0;
}
