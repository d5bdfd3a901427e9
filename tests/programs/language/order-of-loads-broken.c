// Atomic loads that macros make may be in either order.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int first, second;
static void *writer(void *unused) {
  atomic_store(&first, 1);
  atomic_store(&second, 1);
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  int difference = atomic_load(&second) - atomic_load(&first);
  assert(difference <= 0); //~ ERROR
  pthread_join(thread, 0);
  return 0;
}
