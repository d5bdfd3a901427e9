// An attempt to lock that fails orders nothing, so the relaxed store may not be seen yet: the assertion holds in
// interleavings, but is not proved.
// expect: races=true
// todo: assertions=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int ready;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *set(void *argument) {
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  pthread_mutex_lock(&lock);
  return 0;
}
void *look(void *argument) {
  if (pthread_mutex_trylock(&lock)) assert(atomic_load_explicit(&ready, memory_order_relaxed) == 1);
  return 0;
}
int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, set, 0);
  pthread_create(&other, 0, look, 0);
  return 0;
}
