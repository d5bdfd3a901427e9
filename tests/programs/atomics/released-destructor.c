// A destructor of a thread-specific value publishes by a release that an acquire sees.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static pthread_key_t key;
static atomic_int ready;
static int data;
static void publish(void *value) {
  data = value != 0;
  atomic_store_explicit(&ready, 1, memory_order_release);
}
static void *writer(void *unused) {
  pthread_setspecific(key, &data);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_key_create(&key, publish);
  pthread_create(&thread, 0, writer, 0);
  if (atomic_load_explicit(&ready, memory_order_acquire))
    assert(data == 1);
  return 0;
}
