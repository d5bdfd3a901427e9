// A compare-and-swap lock that is not taken in a loop.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
int lock, n;
void *f(void *arg) {
  (void)arg;
  __sync_bool_compare_and_swap(&lock, 0, 1);
  n++; //~ RACE
  __sync_synchronize();
  __sync_lock_release(&lock);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 2); //~ ERROR
  assert(__sync_fetch_and_add(&n, 5) == 2 && __sync_val_compare_and_swap(&n, 7, 1) == 7 && n == 1);
  return 0;
}
